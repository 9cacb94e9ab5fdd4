//! Estimates and intervals: the arithmetic under every verdict, each function checked against an independent source.
//!
//! Nothing here knows of variants, inputs or placements; those words belong to `verdict`.

pub mod components;
pub mod disturbed;
pub mod foresight;
pub mod interval;
pub mod mann_whitney;
pub mod margin;
pub mod moderation;
pub mod modes;
pub mod multiplicity;
pub mod paired;
pub mod penalty;
pub mod predictor_memory;
pub mod quantile;
pub mod regression;
pub mod rotation;
pub mod rounds;
pub mod share;
pub mod sharing;
pub mod student;

use crate::words::plural;
use std::fmt;

/// Why an estimate or its interval cannot be given.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum StatsError {
    /// An interval over rotations needs at least three of them.
    TooFewRotations {
        /// Rotations there are.
        have: usize,
        /// Rotations it takes.
        need: usize,
    },
    /// A location needs at least one usable (finite, positive) sample on each side.
    NoUsableSamples {
        /// Usable samples of the candidate.
        candidate: usize,
        /// Usable samples of the baseline.
        baseline: usize,
    },
    /// A probability outside the open interval (0, 1).
    ProbabilityOutOfRange {
        /// What was given.
        given: f64,
    },
}

impl fmt::Display for StatsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StatsError::TooFewRotations { have, need } => {
                let have = plural(*have as u64, "complete rotation");
                write!(f, "only {have}, and an interval needs at least {need}")
            }
            StatsError::NoUsableSamples { candidate, baseline } => write!(
                f,
                "{candidate} usable samples of the candidate and {baseline} of the baseline, at least one of each is needed"
            ),
            StatsError::ProbabilityOutOfRange { given } => {
                write!(f, "{given} is not a probability between 0 and 1")
            }
        }
    }
}

impl std::error::Error for StatsError {}
