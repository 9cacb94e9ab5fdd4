//! One component of the statistical corrector: rows of counters over growing lengths of one kind of history (GEHL).
//!
//! Each row's index mixes the address with its length of the history; the component's say is the sum of the counters
//! found, doubled while a weight says that it has been worth it.

use std::hint::select_unpredictable;

/// Counters per row, at most.
const ROW: usize = 1024;
/// The largest counter.
const COUNTER_TOP: i8 = 31;
/// The largest weight.
const WEIGHT_TOP: i8 = 31;

/// Where addresses of the statistical corrector's small tables are looked up.
#[inline(always)]
pub fn spot(pc: u64, entries: usize) -> usize {
    (pc ^ pc >> 2) as usize % entries
}

/// The fixed part of a component.
pub struct ComponentShape<const N: usize> {
    /// Binary logarithm of the counters in a row.
    pub log: u32,
    /// Bits of history that each row sees, at most 25: what further foldings would bring down is not there.
    pub lengths: [u32; N],
    /// Whether the last two rows have half as many counters.
    pub tapers: bool,
}

impl<const N: usize> ComponentShape<N> {
    #[inline(always)]
    fn mask(&self, row: usize) -> u32 {
        let halves = self.tapers && row + 2 >= N;
        (1 << (self.log - halves as u32)) - 1
    }

    /// Where a row is looked up. Later rows fold their history into fewer bits.
    #[inline(always)]
    fn index(&self, row: usize, pc: u32, history: u32) -> u16 {
        let length = self.lengths[row];
        let history = history & ((1 << length) - 1);
        let i = row as u32;
        let mut index = pc ^ history;
        for shift in [8 - i, 16 - 2 * i, 24 - 3 * i] {
            if shift < length {
                index ^= history >> shift;
            }
        }
        (index & self.mask(row)) as u16
    }

    /// Bits in hardware.
    pub fn storage_bits(&self) -> u64 {
        let counters: u64 = (0..N).map(|row| u64::from(self.mask(row)) + 1).sum();
        6 * (counters + 8)
    }
}

/// Its counters, and what it said last.
pub struct ComponentTables<const N: usize> {
    rows: [[i8; ROW]; N],
    weights: [i8; 8],
    found: [u16; N],
    weight: usize,
    sum: i32,
}

impl<const N: usize> ComponentTables<N> {
    /// Undecided everywhere, with such a weight.
    pub fn new(weight: i8) -> ComponentTables<N> {
        let row = std::array::from_fn(|at| if at % 2 == 0 { -1 } else { 0 });
        ComponentTables { rows: [row; N], weights: [weight; 8], found: [0; N], weight: 0, sum: 0 }
    }

    /// What it says of the branch at `pc`, for taken if not negative.
    #[inline(always)]
    pub fn weigh(&mut self, shape: &ComponentShape<N>, pc: u64, history: u32) -> i32 {
        let mut sum = 0;
        for row in 0..N {
            let index = shape.index(row, pc as u32, history);
            self.found[row] = index;
            sum += 2 * i32::from(self.rows[row][usize::from(index) % ROW]) + 1;
        }
        self.sum = sum;
        self.weight = spot(pc, 8);
        sum << (self.weights[self.weight] >= 0) as u32
    }

    /// Whether its say is doubled for the branch at `pc`; 1 or 0.
    #[inline(always)]
    pub fn is_doubled(&self, pc: u64) -> i32 {
        i32::from(self.weights[spot(pc, 8)] >= 0)
    }

    /// Learns the direction of the branch of which it said something last; `total` is what all together said.
    #[inline(always)]
    pub fn learn(&mut self, taken: bool, total: i32) {
        for row in 0..N {
            let counter = &mut self.rows[row][usize::from(self.found[row]) % ROW];
            *counter = nudge(*counter, taken, COUNTER_TOP);
        }
        reconsider(&mut self.weights[self.weight % 8], self.sum, taken, total);
    }
}

/// Moves a weight if doubling `sum` or not decides what all together say.
#[inline(always)]
pub fn reconsider(weight: &mut i8, sum: i32, taken: bool, total: i32) {
    // Not the compiler's choice, which may be a branch on all eight weights.
    let single = total - select_unpredictable(*weight >= 0, sum, 0);
    if (single + sum >= 0) != (single >= 0) {
        *weight = nudge(*weight, (sum >= 0) == taken, WEIGHT_TOP);
    }
}

/// Moves a signed counter by one, within `-top - 1 ..= top`.
#[inline(always)]
pub fn nudge(counter: i8, up: bool, top: i8) -> i8 {
    if up { counter + i8::from(counter < top) } else { counter - i8::from(counter > !top) }
}
