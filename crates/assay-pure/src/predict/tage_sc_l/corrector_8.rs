//! The statistical corrector's components in 8 KB.

use super::component::{Component, Shape};
use super::corrector::{Components, Question};
use super::local::{Iterations, Local};
use crate::trace::Branch;

const GLOBAL: Shape<2> = Shape { log: 7, lengths: [6, 3], tapers: false };
const BACKWARD: Shape<2> = Shape { log: 7, lengths: [16, 8], tapers: false };
const LOCAL: Shape<2> = Shape { log: 7, lengths: [6, 3], tapers: false };
const ITERATION: Shape<1> = Shape { log: 7, lengths: [8], tapers: false };

/// Four components and the histories that they look at.
pub struct Components8 {
    global: Component<2>,
    backward: Component<2>,
    local: Component<2>,
    iteration: Component<1>,
    global_history: u32,
    backward_history: u32,
    locals: Local<64, 2>,
    iterations: Iterations,
}

impl Components for Components8 {
    const BIAS_LOG: u32 = 7;
    const BANK_BIAS_BY_ADDRESS: bool = false;

    fn new() -> Components8 {
        Components8 {
            global: Component::new(7),
            backward: Component::new(7),
            local: Component::new(7),
            iteration: Component::new(7),
            global_history: 0,
            backward_history: 0,
            locals: Local::default(),
            iterations: Iterations::default(),
        }
    }

    #[inline(always)]
    fn weigh(&mut self, question: &Question) -> i32 {
        let pc = question.pc;
        self.global.weigh(&GLOBAL, pc, self.global_history)
            + self.backward.weigh(&BACKWARD, pc, self.backward_history)
            + self.local.weigh(&LOCAL, pc, self.locals.of(pc))
            + self.iteration.weigh(&ITERATION, pc, u32::from(self.iterations.number()))
    }

    #[inline(always)]
    fn raise(&self, _pc: u64, _bias_doubled: i32) -> i32 {
        0
    }

    #[inline(always)]
    fn learn(&mut self, taken: bool, total: i32) {
        self.global.learn(taken, total);
        self.backward.learn(taken, total);
        self.local.learn(taken, total);
        self.iteration.learn(taken, total);
    }

    #[inline(always)]
    fn track(&mut self, branch: &Branch, backward: bool) {
        let taken = branch.taken();
        self.iterations.track(taken, backward);
        self.global_history = self.global_history << 1 | u32::from(taken);
        self.backward_history = self.backward_history << 1 | u32::from(taken && backward);
        self.locals.track(branch.pc, taken, 0);
    }

    fn storage_bits(&self) -> u64 {
        let counters =
            GLOBAL.storage_bits() + BACKWARD.storage_bits() + LOCAL.storage_bits() + ITERATION.storage_bits();
        counters + 6 + 16 + 64 * 6 + 8
    }
}
