//! When does a misprediction get new entries, how many, and in whose place?
//!
//! Whether is learnt: where entries that were guesses have seldom been right, by neighbourhood and everywhere, new ones are
//! made rarely. A new entry takes the place of one that is not useful, in either way of its table; where both are useful,
//! one of them moves to its own other way if what is there is not. Useful ones that are guesses give way a little.

use super::dice::Dice;
use super::hash::{WAYS, other_way};
use super::past::TABLES;
use super::tables::Tables;
use crate::predict::tage_sc_l::component::nudge;

/// Failed allocations, less successful ones, at which useful entries age.
const PATIENCE: i32 = 4096;
/// The largest of the counters of guesses.
const GUESSES_TOP: i8 = 63;
/// Neighbourhoods of addresses, as a binary logarithm.
const NEAR_LOG: u32 = 6;
/// Groups of four tables, with one of three before the first.
const GROUPS: usize = TABLES / 4 + 1;

/// Three standards for guesses: right in more than 1/2, 16/31 and 8/15 of all cases.
type Guesses = [[i8; GROUPS]; 3];

/// How the branch at hand ended.
#[derive(Clone, Copy)]
pub struct Ending {
    /// Which way it went.
    pub taken: bool,
    /// Whether a sum without local histories had it right.
    pub foreseen: bool,
    /// Its neighbourhood.
    pub word: u64,
}

/// What decides about new entries.
pub struct Allocation {
    /// The random numbers.
    pub dice: Dice,
    near: [Guesses; 1 << NEAR_LOG],
    all: Guesses,
    /// Not negative while the tables mispredict more than a ninth.
    misses: i8,
    pressure: i32,
}

impl Allocation {
    /// One that has seen nothing.
    pub fn new() -> Allocation {
        let mut near = [[[0; GROUPS]; 3]; 1 << NEAR_LOG];
        let mut first = [[0; GROUPS]; 3];
        // Only the first element of each table is set; so is it published.
        first.iter_mut().for_each(|standard| standard[0] = 7);
        near[0] = first;
        Allocation { dice: Dice::default(), near, all: first, misses: -64, pressure: 0 }
    }

    /// Learns what the guess was worth, and gives a mispredicted branch new entries.
    #[inline(always)]
    pub fn learn(&mut self, tables: &mut Tables, ending: Ending) {
        let longest = tables.found.longest;
        let wrong = longest.taken != ending.taken;
        let step = if wrong { 1 } else { -i8::from(self.dice.roll() & 31 < 4) };
        self.misses = self.misses.saturating_add(step);
        let near = Self::near(ending.word);
        if longest.table > 0 && longest.sureness == 0 {
            self.judge_guess(near, longest.table, !wrong);
        }
        let mut allocates = longest.table < TABLES as u32 && wrong && !ending.foreseen;
        if longest.sureness < 2 {
            let group = (longest.table as usize + 1) / 4;
            let sureness = u32::from(longest.sureness);
            if let Some(standard) = (0..3).find(|standard| self.fails(*standard, near, group)) {
                allocates &= self.dice.zeros([4, 2, 1][standard] - sureness);
            }
        }
        if allocates {
            self.allocate(tables, ending.taken, near);
        }
    }

    fn near(word: u64) -> usize {
        (word ^ word >> NEAR_LOG) as usize % (1 << NEAR_LOG)
    }

    /// The higher standards leave out some of the guesses that were right.
    fn judge_guess(&mut self, near: usize, table: u32, right: bool) {
        for group in table as usize / 4..GROUPS {
            self.judge(0, near, group, right, true);
            for (standard, left_out) in [(1, 1), (2, 3)] {
                let counts = !right || self.dice.roll() & 31 > left_out;
                self.judge(standard, near, group, right, counts);
            }
        }
    }

    #[inline(always)]
    fn judge(&mut self, standard: usize, near: usize, group: usize, right: bool, counts: bool) {
        for counters in [&mut self.near[near], &mut self.all] {
            let counter = &mut counters[standard][group];
            let moved = nudge(*counter, right, GUESSES_TOP);
            // Chosen without a branch: whether it counts is left to chance.
            *counter = if counts { moved } else { *counter };
        }
    }

    fn fails(&self, standard: usize, near: usize, group: usize) -> bool {
        self.near[near][standard][group] < 0 && self.all[standard][group] < 0
    }

    fn allocate(&mut self, tables: &mut Tables, taken: bool, near: usize) {
        let longest = tables.found.longest;
        let group = (longest.table as usize + 1) / 4;
        let passed = (0..3).filter(|standard| !self.fails(*standard, near, group)).count();
        let mut left = i32::from(longest.sureness) + passed as i32;
        let (mut made, mut failed) = (0, 0);
        let mut table = longest.table as usize + 1;
        table += usize::from(self.dice.zeros(1));
        table += usize::from(self.dice.zeros(2));
        while table <= TABLES {
            if self.make(tables, table - 1, taken, made == 0) {
                left -= i32::from(table >= 3 || made > 0);
                made += 1;
                table += 2;
                table -= usize::from(self.dice.zeros(1));
                table += usize::from(self.dice.zeros(1));
                table += usize::from(self.dice.zeros(2));
                if left < 0 {
                    break;
                }
            } else {
                failed += 1;
            }
            table += 1;
        }
        let price = if self.misses >= 0 { 4 } else { 2 };
        self.pressure = (self.pressure + failed - price * made).max(0);
        if self.pressure >= PATIENCE {
            tables.age();
            self.pressure = 0;
        }
    }

    /// Makes an entry in a table if it has room, else frees some for later. The first one of a branch is useful from the
    /// beginning.
    fn make(&mut self, tables: &mut Tables, table: usize, taken: bool, first: bool) -> bool {
        let start = (self.dice.roll() & 1) as usize ^ 1;
        let places = [0, 1].map(|way| usize::from(tables.found.places.place[way][table]));
        let mut others = [0; WAYS];
        for way in [start, start ^ 1] {
            let place = places[way];
            if tables.entries[place].useful > 0 {
                let other = usize::from(other_way(place as u16, tables.tags[place]));
                others[way] = other;
                if tables.entries[other].useful > 0 {
                    continue;
                }
                tables.entries[other] = tables.entries[place];
                tables.tags[other] = tables.tags[place];
            }
            let entry = &mut tables.entries[place];
            (entry.value, entry.useful) = (if taken { 0 } else { -1 }, u8::from(first));
            tables.tags[place] = tables.found.places.tag[table];
            return true;
        }
        for way in 0..WAYS {
            for place in [places[way], others[way]] {
                let entry = &mut tables.entries[place];
                if self.dice.zeros(3) && entry.sureness() == 0 && entry.useful == 1 {
                    entry.useful = 0;
                }
            }
        }
        false
    }

    /// Bits in hardware, as published: three standards of seven groups and one counter more, the counter of misses, the
    /// random numbers, the pressure.
    pub fn storage_bits() -> u64 {
        3 * 7 * (7 * (1 << NEAR_LOG) + 1) + 8 + 36 + 12
    }
}
