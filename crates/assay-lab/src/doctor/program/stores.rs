//! Places in memory that a program wrote to, and whether one of them stayed as it was.

use super::origin::{Base, MemoryCell};
use std::collections::BTreeMap;

/// Writes that start-up may make: beyond these a place is written while the program works.
const SOME: u64 = 16;
/// Of executions of the branch, the part that writes may be.
const FEW: f64 = 1e-3;

/// Writes of a program.
#[derive(Debug, Default)]
pub struct Stores {
    /// By file and place, with how often.
    pub(super) cells: BTreeMap<(usize, MemoryCell), u64>,
    /// Writes to a displacement from an address that is not known: file, displacement, size.
    pub(super) fields: BTreeMap<(u64, u64), u64>,
}

impl Stores {
    /// Whether a place stayed as it was while a branch was executed so often.
    pub fn is_steady(&self, image: usize, cell: &MemoryCell, executed: u64) -> bool {
        let limit = SOME.max((executed as f64 * FEW) as u64);
        let written: u64 = self
            .cells
            .iter()
            .filter(|((of, other), _)| *of == image && other.overlaps(cell))
            .map(|(_, times)| times)
            .sum();
        if written > limit {
            return false;
        }
        let Base::Pointed(pointer) = cell.base else { return true };
        // Other pointers may lead there too: then the displacement is the same.
        let through: u64 = self
            .fields
            .iter()
            .filter(|((displacement, size), _)| {
                let same = MemoryCell { base: Base::File, offset: *displacement, size: (*size).max(1) };
                same.overlaps(&MemoryCell { base: Base::File, ..*cell })
            })
            .map(|(_, times)| times)
            .sum();
        let own = MemoryCell { base: Base::File, offset: pointer, size: 8 };
        through <= limit && self.is_steady(image, &own, executed)
    }
}
