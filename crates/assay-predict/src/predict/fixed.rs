//! Rules that learn nothing: the least that any predictor must beat.
//!
//! Source: J. E. Smith, "A study of branch prediction strategies", ISCA 1981 (strategies 1 and 3).
//! Checked: by hand below; counts must equal the taken ratio of a stream.

use super::{Conditionals, DirectionPredictor, PredictionKind, PredictorEntry};
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
        make: || Box::new(Conditionals(BackwardTaken)),
    },
];

/// Every conditional branch is taken.
#[derive(Clone, Copy, Debug, Default)]
pub struct AlwaysTaken;

impl DirectionPredictor for AlwaysTaken {
    #[inline]
    fn predict(&mut self, _: u64, _: u64) -> bool {
        true
    }

    #[inline]
    fn train(&mut self, _: &Branch, _: bool) {}

    #[inline]
    fn track(&mut self, _: &Branch) {}

    fn storage_bits(&self) -> u64 {
        0
    }
}

/// A conditional branch is taken if its target lies before it: loops go on, exceptions are skipped.
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
    fn always_taken_says_so_of_any_branch() {
        assert!(AlwaysTaken.predict(100, 200) && AlwaysTaken.predict(200, 100) && AlwaysTaken.predict(0, 0));
    }

    #[test]
    fn backward_taken_compares_the_target_with_the_branch_itself() {
        assert!(BackwardTaken.predict(200, 199));
        assert!(!BackwardTaken.predict(200, 200), "a jump to itself is not backward");
        assert!(!BackwardTaken.predict(200, 201));
        assert!(!BackwardTaken.predict(1, u64::MAX), "addresses have no sign");
    }
}
