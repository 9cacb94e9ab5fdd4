//! The last outcomes of each branch by itself.

use super::block::{BLOCK, Block};
use super::counters::zeros;

/// A history of 16 outcomes for each of the low bits of an address; all start as never taken. They have no tags: branches
/// that share these bits share a history.
#[derive(Clone, Debug)]
pub struct OwnHistories {
    /// With room for any place of 16 bits, which then needs no check.
    histories: Box<[u16; 1 << 16]>,
    number: u32,
}

impl OwnHistories {
    /// As many as `number`, a power of two, at most 2^16.
    pub fn new(number: u32) -> OwnHistories {
        assert!(number.is_power_of_two() && number <= 1 << 16, "{number} histories");
        OwnHistories { histories: zeros(), number }
    }

    /// Where the histories of a block's branches are.
    #[inline(always)]
    pub fn places(&self, block: &Block) -> [u32; BLOCK] {
        block.addresses.map(|address| (address ^ address >> 2) & (self.number - 1))
    }

    /// The outcomes before this one at this place, the newest lowest; this one is remembered.
    #[inline(always)]
    pub fn before(&mut self, place: u32, outcome: u8) -> u16 {
        let history = &mut self.histories[usize::from(place as u16)];
        let before = *history;
        *history = before << 1 | u16::from(outcome >> 3);
        before
    }
}
