//! Rows of counters over growing lengths of nine kinds of history (GEHL).
//!
//! Row r of every kind is hashed by the same shifts, so the kinds are lanes, sorted so that those with more rows come first.
//! Lengths beyond 31 bits (the published program writes 53, 45 and 39) are what x86 makes of them: that modulo 32.

use crate::predict::tage_sc_l::component::nudge;

/// Kinds of history, each a lane.
pub const KINDS: usize = 9;
/// Lanes, some of them empty: a whole number of vectors.
const LANES: usize = 12;
/// Rows of all kinds together.
const ROWS: usize = STARTS[5];
/// The counters of a row.
const ROW: usize = 1 << 11;
/// The largest counter.
const TOP: i8 = 31;

/// Kinds, in the order of lanes: all branches; the same with what TAGE says; the branch's own past; that of its block;
/// that with its address; that with the way to it; forward branches; regions; backward branches.
#[derive(Clone, Copy)]
pub enum Kind {
    /// All branches.
    Global,
    /// All branches, at addresses that what TAGE says is laid over.
    Told,
    /// The branch's own past.
    Own,
    /// The past of the block that it is in.
    Block,
    /// Its past, with the address.
    Marked,
    /// Its past, with two bits of that of all.
    Way,
    /// Forward branches.
    Forward,
    /// Regions of 256 bytes.
    Region,
    /// Backward branches.
    Backward,
}

/// How many lanes have so many rows: each row is the first lanes of it.
const WIDE: [usize; 5] = [9, 6, 6, 4, 1];
/// Where each row's counters begin, in rows, and their end.
const STARTS: [usize; 6] = [0, 9, 15, 21, 25, 26];
/// Bits of history, by row and lane.
const LENGTHS: [[u32; LANES]; 5] = [
    [53, 31, 25, 30, 17, 45, 10, 12, 11, 0, 0, 0],
    [39, 17, 16, 18, 8, 24, 0, 0, 0, 0, 0, 0],
    [24, 7, 10, 9, 3, 12, 0, 0, 0, 0, 0, 0],
    [11, 2, 5, 4, 0, 0, 0, 0, 0, 0, 0, 0],
    [4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
];
/// The same as masks.
const MASKS: [[u32; LANES]; 5] = {
    let mut masks = [[0; LANES]; 5];
    let mut at = 0;
    while at < 5 * LANES {
        masks[at / LANES][at % LANES] = (1 << (LENGTHS[at / LANES][at % LANES] % 32)) - 1;
        at += 1;
    }
    masks
};

/// What the rows are asked: address and history by kind.
#[derive(Clone, Copy, Default)]
pub struct Question {
    /// Words, differently mixed.
    pub words: [u32; LANES],
    /// Histories, newest bit lowest.
    pub histories: [u32; LANES],
}

impl Question {
    /// Sets a kind's.
    #[inline(always)]
    pub fn set(&mut self, kind: Kind, word: u64, history: u32) {
        (self.words[kind as usize], self.histories[kind as usize]) = (word as u32, history);
    }
}

/// The counters, and what was found last.
pub struct Rows {
    counters: Box<[[i8; ROW]; ROWS]>,
    found: [u16; ROWS],
}

impl Rows {
    /// Undecided everywhere.
    pub fn new() -> Rows {
        let row = std::array::from_fn(|at| if at % 2 == 0 { -1 } else { 0 });
        let counters =
            vec![row; ROWS].try_into().unwrap_or_else(|_| unreachable!("as many as were asked for"));
        Rows { counters, found: [0; ROWS] }
    }

    /// What each kind says: the sum of its counters.
    #[inline(always)]
    pub fn weigh(&mut self, question: &Question) -> [i32; KINDS] {
        let mut sums = [0; KINDS];
        self.weigh_row::<0>(question, &mut sums);
        self.weigh_row::<1>(question, &mut sums);
        self.weigh_row::<2>(question, &mut sums);
        self.weigh_row::<3>(question, &mut sums);
        self.weigh_row::<4>(question, &mut sums);
        sums
    }

    #[inline(always)]
    fn weigh_row<const R: u32>(&mut self, question: &Question, sums: &mut [i32; KINDS]) {
        const { assert!(R < 5) };
        let row = R as usize;
        let mut index = [0; LANES];
        for lane in 0..WIDE[row].next_multiple_of(4) {
            let history = question.histories[lane] & MASKS[row][lane];
            // Shifts of 32 and more leave nothing.
            let further = [
                history >> (8 - R),
                history >> (16 - 2 * R),
                history >> (24 - 3 * R),
                history.checked_shr(32 - 3 * R).unwrap_or(0),
                history.checked_shr(40 - 4 * R).unwrap_or(0),
            ];
            let folded = further.into_iter().fold(history, |folded, further| folded ^ further);
            index[lane] = (question.words[lane] ^ folded) & (ROW as u32 - 1);
        }
        if row == 0 {
            index[Kind::Region as usize] &= ROW as u32 / 2 - 1;
        }
        for lane in 0..WIDE[row] {
            self.found[STARTS[row] + lane] = index[lane] as u16;
            sums[lane] += 2 * i32::from(self.counters[STARTS[row] + lane][index[lane] as usize % ROW]) + 1;
        }
    }

    /// All that were asked learn a direction; those of backward branches if `backward`.
    #[inline(always)]
    pub fn learn(&mut self, taken: bool, backward: bool) {
        for (row, (counters, found)) in self.counters.iter_mut().zip(self.found).enumerate() {
            if row == Kind::Backward as usize && !backward {
                continue;
            }
            let counter = &mut counters[usize::from(found) % ROW];
            *counter = nudge(*counter, taken, TOP);
        }
    }

    /// Bits in hardware: of 6-bit counters, where regions have half a row.
    pub fn storage_bits() -> u64 {
        6 * (ROWS * ROW - ROW / 2) as u64
    }
}
