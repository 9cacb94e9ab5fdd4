//! The base table: counters of three bits by address, two of them sharing all but the direction.

/// Binary logarithm of its directions.
const LOG: u32 = 15;
/// Counters that share their distance from the border between the directions, as a binary logarithm.
const SHARED_LOG: u32 = 1;

/// The table.
pub struct BaseTable {
    direction: Vec<bool>,
    sureness: Vec<i8>,
}

impl BaseTable {
    /// Not taken everywhere, one step from weakly.
    pub fn new() -> BaseTable {
        BaseTable { direction: vec![false; 1 << LOG], sureness: vec![1; 1 << (LOG - SHARED_LOG)] }
    }

    /// Where the branch at this word is found.
    #[inline(always)]
    pub fn place(word: u64) -> usize {
        word as usize & ((1 << LOG) - 1)
    }

    /// The counter there: taken from 0 up, -4 to 3.
    #[inline(always)]
    pub fn counter(&self, place: usize) -> i8 {
        let sureness = self.sureness[place >> SHARED_LOG];
        sureness ^ if self.direction[place] { 0 } else { !0 }
    }

    /// Moves the counter there by one.
    #[inline(always)]
    pub fn learn(&mut self, place: usize, taken: bool) {
        let direction = self.direction[place];
        let sureness = &mut self.sureness[place >> SHARED_LOG];
        if direction == taken {
            *sureness = (*sureness + 1).min(3);
        } else if *sureness > 0 {
            *sureness -= 1;
        } else {
            self.direction[place] = taken;
        }
    }

    /// Bits in hardware.
    pub fn storage_bits() -> u64 {
        (1 << LOG) + (2 << (LOG - SHARED_LOG))
    }
}
