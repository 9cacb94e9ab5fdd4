//! Two builds of somebody else's, told apart by their own benchmark command: in which order to run it, what its figures
//! say of each benchmark, and what a gate makes of that.
//!
//! A visit is one run of the command with the binaries of one side at one placement. The benchmarks of a visit are
//! contrasts of one experiment, judged at once by `verdict`.

mod gate;
mod gates;
mod limit;
mod memory;
mod observe;
mod order;

pub use crate::verdict::build::Side;
pub use gate::{Gate, GateError};
pub use gates::{Gates, GatesError};
pub use limit::{GateLimits, LimitReading, Rise};
pub use memory::{MemoryContrast, RunPeak, memory_contrast};
pub use observe::{Benchmark, Missing, VisitResult, benchmarks, contrasts};
pub use order::{PHASES, Visit, round};

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

impl VisitPlacement {
    /// As a ledger keeps it: without rotation or padding as built.
    pub fn of(rotation: Option<u32>, phase_bytes: Option<u32>) -> VisitPlacement {
        match (rotation, phase_bytes) {
            (Some(rotation), Some(phase_bytes)) => VisitPlacement::Placed { rotation, phase_bytes },
            _ => VisitPlacement::AsBuilt,
        }
    }

    /// Is it the link that the build made?
    pub fn is_as_built(self) -> bool {
        self == VisitPlacement::AsBuilt
    }

    /// Number of the shuffle; none as built.
    pub fn rotation(self) -> Option<u32> {
        match self {
            VisitPlacement::AsBuilt => None,
            VisitPlacement::Placed { rotation, .. } => Some(rotation),
        }
    }

    /// Padding; none as built.
    pub fn phase_bytes(self) -> Option<u32> {
        match self {
            VisitPlacement::AsBuilt => None,
            VisitPlacement::Placed { phase_bytes, .. } => Some(phase_bytes),
        }
    }
}
