//! Two builds of somebody else's, told apart by their own benchmark command: in which order to run it, what its figures
//! say of each benchmark, and what a gate makes of that.
//!
//! A visit is one run of the command with the binaries of one side at one placement. The benchmarks of a visit are
//! contrasts of one experiment, judged at once by `verdict`.

mod gate;
mod gates;
mod observe;
mod order;

pub use gate::{Gate, GateError};
pub use gates::{Gates, GatesError};
pub use observe::{Benchmark, Missing, VisitResult, benchmarks, contrasts};
pub use order::{PHASES, Visit, round};

/// The two sides, in the order of their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Side {
    /// What it is compared with.
    Baseline,
    /// What is in question.
    Candidate,
}

impl Side {
    /// Both, the baseline first.
    pub const BOTH: [Side; 2] = [Side::Baseline, Side::Candidate];

    /// 0 for the baseline, 1 for the candidate.
    pub fn number(self) -> usize {
        self as usize
    }
}

/// Where the code lay during a visit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum VisitPlacement {
    /// The link that the build made.
    AsBuilt,
    /// A link of ours.
    Placed {
        /// Number of the shuffle, from 0; the seed of its order follows from it.
        rotation: u32,
        /// Padding ahead of all code, bytes.
        phase_bytes: u32,
    },
}
