//! What a cell's calls allocate, per unit.

use crate::experiment::CountedEvent;
use crate::experiment::matrix::CellId;

/// One cell's allocations, counted exactly by a run of its own.
#[derive(Clone, Debug, PartialEq)]
pub struct CellAllocations {
    /// Whose they are.
    pub cell: CellId,
    /// Blocks per unit.
    pub allocations: f64,
    /// Bytes asked for, per unit.
    pub bytes: f64,
    /// The most bytes at once in each call, per unit.
    pub peak_bytes: f64,
}

impl CellAllocations {
    /// The figure of an event; none where it is not of memory.
    #[must_use]
    pub fn of(&self, event: CountedEvent) -> Option<f64> {
        match event {
            CountedEvent::Allocations => Some(self.allocations),
            CountedEvent::AllocatedBytes => Some(self.bytes),
            CountedEvent::PeakBytes => Some(self.peak_bytes),
            _ => None,
        }
    }
}
