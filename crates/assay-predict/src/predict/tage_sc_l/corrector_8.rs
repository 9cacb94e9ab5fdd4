//! The statistical corrector's components in 8 KB.

use super::component::{ComponentShape, ComponentTables};
use super::corrector::{CorrectorComponents, CorrectorInput};
use super::local::{Iterations, Local};
use crate::trace::Branch;

const GLOBAL: ComponentShape<2> = ComponentShape { log: 7, lengths: [6, 3], tapers: false };
const BACKWARD: ComponentShape<2> = ComponentShape { log: 7, lengths: [16, 8], tapers: false };
const LOCAL: ComponentShape<2> = ComponentShape { log: 7, lengths: [6, 3], tapers: false };
const ITERATION: ComponentShape<1> = ComponentShape { log: 7, lengths: [8], tapers: false };

/// Four components and the histories that they look at.
pub struct Components8 {
    global: ComponentTables<2>,
    backward: ComponentTables<2>,
    local: ComponentTables<2>,
    iteration: ComponentTables<1>,
    global_history: u32,
    backward_history: u32,
    locals: Local<64, 2>,
    iterations: Iterations,
}

impl CorrectorComponents for Components8 {
    const BIAS_LOG: u32 = 7;
    const BANK_BIAS_BY_ADDRESS: bool = false;

    fn new() -> Components8 {
        Components8 {
            global: ComponentTables::new(7),
            backward: ComponentTables::new(7),
            local: ComponentTables::new(7),
            iteration: ComponentTables::new(7),
            global_history: 0,
            backward_history: 0,
            locals: Local::default(),
            iterations: Iterations::default(),
        }
    }

    #[inline(always)]
    fn weigh(&mut self, question: &CorrectorInput) -> i32 {
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
