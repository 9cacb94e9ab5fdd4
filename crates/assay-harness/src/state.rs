//! The state of a loop of the program's own: one decrement and one jump per iteration.

use crate::clock::{Region, RegionStart};
use crate::system;

/// A traced pass over an input of a variant, by the numbers that the lab knows them by.
#[derive(Clone, Copy)]
pub(crate) struct Pass {
    pub(crate) variant: u64,
    pub(crate) input: u64,
    pub(crate) pass: u64,
}

/// One run of a loop, timed or traced.
pub(crate) struct LoopRun {
    iterations: u64,
    pub(crate) answer: u64,
    phase: RunPhase,
}

enum RunPhase {
    Before,
    Inside(RegionStart),
    After(Region),
    /// Traced: marks stand where the clocks are otherwise.
    Unmarked(Pass),
    Marked,
    Traced,
}

impl LoopRun {
    pub(crate) fn new(iterations: u64) -> Self {
        Self { iterations, answer: 0, phase: RunPhase::Before }
    }

    /// So many iterations, at least one, between marks.
    pub(crate) fn traced(pass: Pass, iterations: u64) -> Self {
        Self { iterations, answer: 0, phase: RunPhase::Unmarked(pass) }
    }

    /// Whether a traced run went on until [`State::next`] returned false.
    pub(crate) fn is_traced(&self) -> bool {
        matches!(self.phase, RunPhase::Traced)
    }

    /// What was timed; `None` where the loop did not go on until [`State::next`] returned false.
    pub(crate) fn region(&self) -> Option<Region> {
        if let RunPhase::After(region) = self.phase { Some(region) } else { None }
    }

    /// An edge of the region: how many iterations follow. Takes the run, not the state, so that the state need not
    /// have an address and its counter stays in a register whatever the loop does to memory.
    #[inline(never)]
    fn edge(&mut self) -> u64 {
        match self.phase {
            RunPhase::Inside(opened) => {
                self.phase = RunPhase::After(opened.close());
                0
            }
            RunPhase::Marked => {
                system::mark_end();
                self.phase = RunPhase::Traced;
                0
            }
            RunPhase::After(_) | RunPhase::Traced => 0,
            RunPhase::Unmarked(Pass { variant, input, pass }) => {
                self.phase = RunPhase::Marked;
                system::mark_begin(variant, input, pass);
                self.iterations
            }
            RunPhase::Before => {
                self.phase = RunPhase::Inside(RegionStart::now());
                self.iterations
            }
        }
    }
}

/// Handed to a loop, which must call [`State::next`] until it returns false.
pub struct State<'run> {
    run: &'run mut LoopRun,
    left: u64,
}

impl<'run> State<'run> {
    pub(crate) fn new(run: &'run mut LoopRun) -> Self {
        Self { run, left: 1 }
    }

    /// True while the loop must go on. The first call starts the timed region, the last one ends it.
    #[expect(
        clippy::should_implement_trait,
        reason = "not an iterator: there is no item, and `while` is the point"
    )]
    #[inline(always)]
    pub fn next(&mut self) -> bool {
        // SAFETY: no instruction is executed; but a loop around it cannot be counted out and dropped.
        unsafe { std::arch::asm!("", options(nomem, nostack, preserves_flags)) }
        self.left = self.left.wrapping_sub(1);
        if self.left != 0 {
            return true;
        }
        self.left = self.run.edge();
        if self.left != 0 {
            return true;
        }
        self.left = 1;
        false
    }

    /// Gives the loop's answer, which must not depend on the number of iterations.
    #[inline(always)]
    pub fn answer(&mut self, answer: u64) {
        self.run.answer = answer;
    }
}

#[cfg(test)]
mod tests {
    use super::{LoopRun, Pass, State};

    #[test]
    fn a_loop_runs_exactly_the_iterations_asked_for() {
        for iterations in [1, 2, 3, 1000] {
            let mut run = LoopRun::new(iterations);
            let mut state = State::new(&mut run);
            let mut counted = 0;
            while state.next() {
                counted += 1;
            }
            assert!(!state.next(), "it stays over");
            assert_eq!(counted, iterations);
            assert!(run.region().is_some());
        }
    }

    #[test]
    fn a_traced_loop_runs_once_and_is_not_timed() {
        let mut run = LoopRun::traced(Pass { variant: 0, input: 0, pass: 0 }, 1);
        let mut state = State::new(&mut run);
        assert!(state.next());
        assert!(!state.next() && !state.next(), "it stays over");
        assert!(run.is_traced() && run.region().is_none());
        let mut run = LoopRun::traced(Pass { variant: 0, input: 0, pass: 0 }, 1);
        assert!(State::new(&mut run).next());
        assert!(!run.is_traced(), "it did not go on to its end");
    }

    #[test]
    fn a_loop_that_stops_early_has_no_region() {
        let mut run = LoopRun::new(2);
        assert!(run.region().is_none());
        assert!(State::new(&mut run).next());
        assert!(run.region().is_none());
    }
}
