//! Rules that learn nothing: the least that any predictor must beat.
//!
//! Source: J. E. Smith, "A study of branch prediction strategies", ISCA 1981 (strategies 1 and 3).
//! Checked: by hand below; counts must equal the taken ratio of a stream.

use super::block::{BLOCK, Block, BlockPredictor};
use super::{Conditionals, DirectionPredictor, PredictionKind, PredictorEntry, Simulated};
use crate::trace::Branch;

/// The names of this family.
pub const ENTRIES: &[PredictorEntry] = &[
    PredictorEntry {
        name: "always-taken",
        what: "every conditional branch is taken",
        source: "Smith, ISCA 1981, strategy 1",
        judges: &[PredictionKind::Direction],
        make: || Box::new(Conditionals(AlwaysTaken)),
    },
    PredictorEntry {
        name: "backward-taken",
        what: "a conditional branch is taken if its target lies before it",
        source: "Smith, ISCA 1981, strategy 3",
        judges: &[PredictionKind::Direction],
        make: || Box::new(Simulated(BackwardTaken)),
    },
];

/// Every conditional branch is taken.
#[derive(Clone, Copy, Debug, Default)]
pub struct AlwaysTaken;

impl BlockPredictor for AlwaysTaken {
    #[inline(always)]
    fn judge(&mut self, block: &Block, missed: &mut [u8; BLOCK]) {
        *missed = block.outcomes.map(|outcome| !(outcome << 4));
    }

    fn storage_bits(&self) -> u64 {
        0
    }
}

/// A conditional branch is taken if its target lies before it: loops go on, exceptions are skipped.
///
/// Blocks have no targets, so it sees all branches.
#[derive(Clone, Copy, Debug, Default)]
pub struct BackwardTaken;

impl DirectionPredictor for BackwardTaken {
    #[inline]
    fn predict(&mut self, pc: u64, target: u64) -> bool {
        target < pc
    }

    #[inline]
    fn train(&mut self, _: &Branch, _: bool) {}

    #[inline]
    fn track(&mut self, _: &Branch) {}

    fn storage_bits(&self) -> u64 {
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn always_taken_errs_where_a_branch_is_not() {
        let wrong = |outcomes: &[bool]| {
            let (block, mut missed) = (Block::new(outcomes.iter().map(|taken| (8, *taken))), [0; BLOCK]);
            AlwaysTaken.judge(&block, &mut missed);
            block.missed(&missed)
        };
        assert_eq!(wrong(&[true, false, true, true, false]), 0b01001 << 59);
        assert_eq!((wrong(&[false; 64]), wrong(&[true; 64]), wrong(&[])), (u64::MAX, 0, 0));
    }

    #[test]
    fn backward_taken_compares_the_target_with_the_branch_itself() {
        assert!(BackwardTaken.predict(200, 199));
        assert!(!BackwardTaken.predict(200, 200), "a jump to itself is not backward");
        assert!(!BackwardTaken.predict(200, 201));
        assert!(!BackwardTaken.predict(1, u64::MAX), "addresses have no sign");
    }
}
