//! What a branch leaves in the history that tagged tables are looked up with.

use crate::trace::Branch;

/// A kind of history: which branches enter it, and as what.
pub trait Rule {
    /// Bits the registers move by for each branch that enters them.
    fn shift(&self) -> u32;

    /// Bits of the widest footprint in each of the two registers; 0 for a register that is not there.
    fn footprint_bits(&self) -> [u32; 2];

    /// What this branch xors into the newest bits of each register; `None` for one that leaves no trace.
    fn footprints(&mut self, branch: &Branch) -> Option<[u64; 2]>;
}

/// Direction history: two bits per branch that mix its direction with its place and target.
#[derive(Clone, Copy, Debug, Default)]
pub struct Directions;

impl Rule for Directions {
    fn shift(&self) -> u32 {
        2
    }

    fn footprint_bits(&self) -> [u32; 2] {
        [2, 0]
    }

    #[inline]
    fn footprints(&mut self, branch: &Branch) -> Option<[u64; 2]> {
        let place = branch.pc ^ branch.pc >> 2;
        Some([(place ^ u64::from(branch.taken())) & 3, 0])
    }
}
