//! The statistical corrector's components in 64 KB.

use super::component::{ComponentShape, ComponentTables};
use super::corrector::{CorrectorComponents, CorrectorInput};
use super::local::{Iterations, Local};
use crate::trace::Branch;

/// Taken backward branches. The longest was meant to be 40, which the reference shifts modulo 32.
const BACKWARD: ComponentShape<3> = ComponentShape { log: 10, lengths: [8, 24, 10], tapers: true };
const PATH: ComponentShape<3> = ComponentShape { log: 9, lengths: [25, 16, 9], tapers: true };
const LOCAL: ComponentShape<3> = ComponentShape { log: 10, lengths: [11, 6, 3], tapers: true };
const SECOND: ComponentShape<3> = ComponentShape { log: 9, lengths: [16, 11, 6], tapers: true };
const THIRD: ComponentShape<2> = ComponentShape { log: 10, lengths: [9, 4], tapers: true };
const ITERATED: ComponentShape<2> = ComponentShape { log: 9, lengths: [10, 4], tapers: true };
const ITERATION: ComponentShape<1> = ComponentShape { log: 8, lengths: [8], tapers: true };

/// Seven components and the histories that they look at.
pub struct Components64 {
    backward: ComponentTables<3>,
    path: ComponentTables<3>,
    local: ComponentTables<3>,
    second: ComponentTables<3>,
    third: ComponentTables<2>,
    iterated: ComponentTables<2>,
    iteration: ComponentTables<1>,
    backward_history: u32,
    locals: Local<256, 2>,
    seconds: Local<16, 5>,
    thirds: Local<16, 10>,
    iterations: Iterations,
    /// What branches did in iterations of such a number.
    by_iteration: [u16; 256],
}

impl CorrectorComponents for Components64 {
    const BIAS_LOG: u32 = 8;
    const BANK_BIAS_BY_ADDRESS: bool = true;

    fn new() -> Components64 {
        Components64 {
            backward: ComponentTables::new(7),
            path: ComponentTables::new(7),
            local: ComponentTables::new(7),
            second: ComponentTables::new(7),
            third: ComponentTables::new(7),
            iterated: ComponentTables::new(0),
            iteration: ComponentTables::new(7),
            backward_history: 0,
            locals: Local::default(),
            seconds: Local::default(),
            thirds: Local::default(),
            iterations: Iterations::default(),
            by_iteration: [0; 256],
        }
    }

    #[inline(always)]
    fn weigh(&mut self, question: &CorrectorInput) -> i32 {
        let pc = question.pc;
        let iteration = self.iterations.number();
        self.backward.weigh(&BACKWARD, pc << 1 | u64::from(question.prediction), self.backward_history)
            + self.path.weigh(&PATH, pc, question.path)
            + self.local.weigh(&LOCAL, pc, self.locals.of(pc))
            + self.second.weigh(&SECOND, pc, self.seconds.of(pc))
            + self.third.weigh(&THIRD, pc, self.thirds.of(pc))
            + self.iterated.weigh(&ITERATED, pc, u32::from(self.by_iteration[usize::from(iteration)]))
            + self.iteration.weigh(&ITERATION, pc, u32::from(iteration))
    }

    #[inline(always)]
    fn raise(&self, pc: u64, bias_doubled: i32) -> i32 {
        let doubled = bias_doubled
            + self.backward.is_doubled(pc)
            + self.path.is_doubled(pc)
            + self.local.is_doubled(pc)
            + self.second.is_doubled(pc)
            + self.third.is_doubled(pc)
            + self.iteration.is_doubled(pc);
        12 * doubled
    }

    #[inline(always)]
    fn learn(&mut self, taken: bool, total: i32) {
        self.backward.learn(taken, total);
        self.path.learn(taken, total);
        self.local.learn(taken, total);
        self.second.learn(taken, total);
        self.third.learn(taken, total);
        self.iterated.learn(taken, total);
        self.iteration.learn(taken, total);
    }

    #[inline(always)]
    fn track(&mut self, branch: &Branch, backward: bool) {
        let (pc, taken) = (branch.pc, branch.taken());
        let iteration = &mut self.by_iteration[usize::from(self.iterations.number())];
        *iteration = *iteration << 1 | u16::from(taken);
        self.iterations.track(taken, backward);
        self.backward_history = self.backward_history << 1 | u32::from(taken && backward);
        self.locals.track(pc, taken, 0);
        self.seconds.track(pc, taken, pc as u32 & 15);
        self.thirds.track(pc, taken, 0);
    }

    fn storage_bits(&self) -> u64 {
        let counters = BACKWARD.storage_bits()
            + PATH.storage_bits()
            + LOCAL.storage_bits()
            + SECOND.storage_bits()
            + THIRD.storage_bits()
            + ITERATED.storage_bits()
            + ITERATION.storage_bits();
        counters + 24 + 256 * 11 + 16 * 16 + 16 * 9 + 8 + 256 * 10
    }
}
