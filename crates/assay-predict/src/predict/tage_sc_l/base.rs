//! The base table: two-bit counters by address, four of them sharing the weaker bit.

/// The table, with 2^LOG directions.
pub struct BaseTable {
    direction: Vec<u8>,
    hysteresis: Vec<u8>,
}

impl BaseTable {
    /// Weakly not taken everywhere.
    pub fn new(log: u32) -> BaseTable {
        BaseTable { direction: vec![0; 1 << log], hysteresis: vec![1; 1 << (log - 2)] }
    }

    /// Where the branch at `pc` is found.
    #[inline(always)]
    pub fn place(&self, pc: u64) -> usize {
        (pc ^ pc >> 2) as usize & (self.direction.len() - 1)
    }

    /// The counter there: 0 surely not taken to 3 surely taken.
    #[inline(always)]
    pub fn counter(&self, place: usize) -> u8 {
        self.direction[place] << 1 | self.hysteresis[place >> 2]
    }

    /// Moves the counter there by one.
    #[inline(always)]
    pub fn learn(&mut self, place: usize, taken: bool) {
        let counter = self.counter(place);
        let counter = if taken { (counter + 1).min(3) } else { counter.saturating_sub(1) };
        self.direction[place] = counter >> 1;
        self.hysteresis[place >> 2] = counter & 1;
    }

    /// Bits in hardware.
    pub fn storage_bits(&self) -> u64 {
        (self.direction.len() + self.hysteresis.len()) as u64
    }
}
