//! TAGE: tagged tables over geometric history lengths, with its parameters as data.
//!
//! The table with the longest history whose tag matches predicts; a new entry that is still unsure yields to the next
//! match if that has paid lately. After a misprediction the branch gets entries in longer tables, where those there
//! have not been useful. Which branches enter the history and as what is a [`HistoryRule`]; sizes, ways, widths, lengths and
//! policies are a [`Geometry`].
//!
//! Sources: A. Seznec and P. Michaud, "A case for (partially) TAgged GEometric history length branch prediction" (JILP 8,
//! 2006); A. Seznec, "A new case for the TAGE branch predictor" (MICRO 2011) and "TAGE: an engineering cookbook" (INRIA
//! RR-9561, 2024). Hash functions are our own. Checked: near the published predictor's counts on two streams
//! (`golden_tage`), histories and hashes against definitions, decisions one by one below.

pub mod folds;
pub mod geometry;
pub mod history;
pub mod tape;

pub use folds::FoldSet;
pub use geometry::{Forget, Geometry, TaggedTable};
pub use history::{Directions, HistoryRule};
pub use tape::Tape;

use super::family::{Configured, Parameter, PredictorFamily};
use super::{DirectionPredictor, PredictionKind, PredictorEntry, Simulated};
use crate::trace::Branch;
use assay_numbers::words;
use folds::HistoryWindow;

/// The names of this family.
pub const ENTRIES: &[PredictorEntry] = &[PredictorEntry {
    name: "tage",
    what: "TAGE: 12 tagged tables over histories of 2 to 450 branches and a base table (64 KB)",
    source: "Seznec and Michaud, JILP 8, 2006; Seznec, MICRO 2011 and INRIA RR-9561, 2024; sizes are ours",
    judges: &[PredictionKind::Direction],
    // 16 lanes for 12 tables: what is written in pieces of 8 and 4 lanes and read in pieces of 4 and 8 waits.
    make: || Box::new(Simulated(Tage::<_, 16, 1>::new(Geometry::class_64_kb(), Directions))),
}];

/// `tage:tables=12,sets=11,tag=11,shortest=4,longest=900`: tables of one size, where those of `tage` differ.
pub const FAMILY: PredictorFamily = PredictorFamily {
    name: "tage",
    source: "Seznec and Michaud, JILP 8, 2006; Seznec, MICRO 2011 and INRIA RR-9561, 2024",
    judges: &[PredictionKind::Direction],
    parameters: &[
        Parameter { name: "tables", what: "tagged tables", domain: (2, 16), usual: "12" },
        Parameter { name: "sets", what: "2^sets entries in each", domain: (5, 12), usual: "11" },
        Parameter { name: "tag", what: "bits of a tag", domain: (6, 15), usual: "11" },
        Parameter {
            name: "shortest",
            what: "history bits of the first table, 2 a branch",
            domain: (1, 1000),
            usual: "4",
        },
        Parameter {
            name: "longest",
            what: "history bits of the last table",
            domain: (2, 4000),
            usual: "900",
        },
    ],
    make: |values| {
        let [tables, sets, tag, shortest, longest] =
            [(0, 12), (1, 11), (2, 11), (3, 4), (4, 900)].map(|(at, usual)| values[at].unwrap_or(usual));
        if longest < shortest + tables - 1 {
            return Err(format!(
                "longest={longest} leaves no room for {tables} lengths from shortest={shortest} on: at least {}",
                shortest + tables - 1
            ));
        }
        let geometry = Geometry::geometric(tables, sets, tag, (shortest, longest));
        let bits = geometry.storage_bits();
        Ok(Configured {
            what: format!(
                "TAGE: {tables} tagged tables of 2^{sets} entries with tags of {tag} bits over histories of {shortest} to {longest} \
                 bits, and a base table ({})",
                words::bytes(bits / 8)
            ),
            member: Box::new(Simulated(Tage::<_, 16, 1>::new(geometry, Directions))),
        })
    },
};

/// Set in the tags of entries, so that an entry never written matches nothing.
const HELD: u16 = 0x8000;
/// The width that histories are folded to for an index: a prime, and wider than most indices. Each iteration of a loop
/// turns a fold by the same number of bits; where that and the width have a divisor in common, different histories come
/// to the same few sets: with 12 bits, 120 of a real loop to 76 of 4096 (docs/methodology/branches.md).
const INDEX_FOLD: u32 = 13;
/// What an index has no room for is laid over its bits from this far down.
const INDEX_LAPS: u32 = 6;
/// Sets of all tables together, at most: an index of 16 bits cannot miss.
const SETS: usize = 1 << 16;

/// The entries that one index leads to.
#[derive(Clone, Copy)]
struct TableSet<const W: usize> {
    tags: [u16; W],
    counters: [i8; W],
    useful: [u8; W],
}

/// A TAGE predictor with up to N tables of up to W entries per set; N at most 16.
pub struct Tage<R, const N: usize, const W: usize> {
    rule: R,
    geometry: Geometry,
    folds: FoldSet<N>,
    /// All tables' sets, one table after the other.
    sets: Box<[TableSet<W>; SETS]>,
    base: Vec<i8>,
    first_set: [u16; N],
    index_mask: [u16; N],
    tag_mask: [u16; N],
    /// A byte of ones for each table, none for lanes without one.
    real: u128,
    counter_top: i8,
    useful_top: u8,
    /// How far an unsure longest match is to be mistrusted; from 0 on it is. By whether there is a shorter match.
    mistrust: [i8; 2],
    pressure: i32,
    until_forget: u32,
    random: u32,
    lookup: Lookup<N>,
}

/// What was found for the branch being predicted.
struct Lookup<const N: usize> {
    index: [u16; N],
    tags: [u16; N],
    base: usize,
    /// How many tables are no longer than the longest match; 0 without one. The same of the next match.
    matched: u32,
    alternate: u32,
    longest_taken: bool,
    alternate_taken: bool,
    unsure: bool,
}

impl<R: HistoryRule, const N: usize, const W: usize> Tage<R, N, W> {
    /// Untrained.
    ///
    /// Input: at most N tables of at most W ways, 2^13 sets in each and 2^16 in all, tags below 16 bits.
    pub fn new(geometry: Geometry, rule: R) -> Self {
        let tables = &geometry.tables;
        assert!(!tables.is_empty() && tables.len() <= N && N <= 16, "{} tables in {N} lanes", tables.len());
        let windows: Vec<HistoryWindow> = tables.iter().map(window).collect();
        let (mut first_set, mut index_mask, mut tag_mask) = ([0; N], [0; N], [0; N]);
        let mut sets = 0;
        for (i, table) in tables.iter().enumerate() {
            assert!(table.ways <= W && table.tag_bits < 16 && table.sets_log2 <= INDEX_FOLD, "{table:?}");
            first_set[i] = sets as u16;
            index_mask[i] = (1 << table.sets_log2) - 1;
            tag_mask[i] = (1 << table.tag_bits) - 1;
            sets += 1 << table.sets_log2;
        }
        assert!(sets <= SETS, "{sets} sets");
        let set = TableSet { tags: [0; W], counters: [0; W], useful: [0; W] };
        let all = vec![set; SETS].into_boxed_slice();
        let until_forget = if let Forget::Period(branches) = geometry.forget { branches } else { u32::MAX };
        Tage {
            folds: FoldSet::new(&windows, rule.shift(), rule.footprint_bits()),
            rule,
            sets: all.try_into().unwrap_or_else(|_| unreachable!("as many as were made")),
            base: vec![0; 1 << geometry.base_log2],
            first_set,
            index_mask,
            tag_mask,
            real: u128::MAX >> (8 * (16 - tables.len())),
            counter_top: (1 << (geometry.counter_bits - 1)) - 1,
            useful_top: (1 << geometry.useful_bits) - 1,
            mistrust: [0; 2],
            pressure: 0,
            until_forget,
            random: 0x2545_f491,
            lookup: Lookup {
                index: [0; N],
                tags: [0; N],
                base: 0,
                matched: 0,
                alternate: 0,
                longest_taken: false,
                alternate_taken: false,
                unsure: false,
            },
            geometry,
        }
    }

    /// The history, the first register of two.
    pub fn register(&self) -> &Tape {
        self.folds.tape()
    }

    /// Sets and tags of all tables; returns a byte per table, not 0 where it matches.
    #[inline]
    #[allow(clippy::needless_range_loop, reason = "lane i of several arrays at once")]
    fn look_up(&mut self, pc: u64) -> u128 {
        let index = spread(pc & self.geometry.index_place) as u16;
        let tag = (spread(pc & self.geometry.tag_place) >> 16) as u16;
        let [folds, tag_folds, more_tag_folds] = self.folds.lanes();
        let lookup = &mut self.lookup;
        for i in 0..N {
            let fold = folds[i] ^ folds[i] >> INDEX_LAPS;
            lookup.index[i] = ((fold ^ index) & self.index_mask[i]).wrapping_add(self.first_set[i]);
            lookup.tags[i] = (tag_folds[i] ^ more_tag_folds[i] << 1 ^ tag) & self.tag_mask[i] | HELD;
        }
        lookup.base = (pc & self.geometry.tag_place ^ pc >> 2) as usize & (self.base.len() - 1);
        let mut hits = [0; 16];
        if W == 1 {
            let mut held = [0; N];
            for i in 0..N {
                held[i] = self.sets[lookup.index[i] as usize].tags[0];
            }
            for i in 0..N {
                hits[i] = u8::from(held[i] == lookup.tags[i]);
            }
        } else {
            for i in 0..self.geometry.tables.len().min(N) {
                let set = &self.sets[lookup.index[i] as usize];
                hits[i] = set.tags.iter().fold(0, |hit, &held| hit | u8::from(held == lookup.tags[i]));
            }
        }
        u128::from_le_bytes(hits) & self.real
    }

    /// The entry with the branch's tag in the longest of the first `matched` tables, which has one.
    #[inline]
    fn found(&self, matched: u32) -> (u16, usize) {
        let table = (matched as usize - 1) % N;
        let index = self.lookup.index[table];
        if W == 1 {
            return (index, 0);
        }
        let tags = &self.sets[index as usize].tags;
        let way = (1..W).fold(0, |way, i| if tags[i] == self.lookup.tags[table] { i } else { way });
        (index, way)
    }

    /// The counter that one of the matches goes by; the base table's for a match of 0.
    #[inline]
    fn counter(&mut self, matched: u32) -> &mut i8 {
        if matched == 0 {
            return &mut self.base[self.lookup.base];
        }
        let (index, way) = self.found(matched);
        &mut self.sets[index as usize].counters[way % W]
    }

    #[inline]
    fn draw(&mut self) -> u32 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 17;
        self.random ^= self.random << 5;
        self.random
    }

    /// Gives the branch entries in tables with a longer history than the one that failed.
    fn allocate(&mut self, taken: bool) {
        let tables = self.geometry.tables.len();
        let mut table = self.lookup.matched as usize;
        if self.draw() & 3 == 0 && table + 1 < tables {
            table += 1;
        }
        let (mut found, mut refused) = (0, 0);
        while table < tables && found < self.geometry.allocations as i32 {
            if self.replace(table, taken) {
                found += 1;
                table += 2;
            } else {
                refused += 1;
                table += 1;
            }
        }
        self.pressure = (self.pressure + refused - 2 * found).max(0);
        if let Forget::Pressure(limit) = self.geometry.forget
            && self.pressure >= limit
        {
            self.forget();
        }
    }

    /// A period over: forgets, or just counts on where usefulness is forgotten under pressure.
    #[cold]
    fn period_ends(&mut self) {
        self.until_forget = u32::MAX;
        if let Forget::Period(branches) = self.geometry.forget {
            self.until_forget = branches;
            self.forget();
        }
    }

    /// Puts the branch in the place of an entry of its set that has not been useful; says whether there was one.
    fn replace(&mut self, table: usize, taken: bool) -> bool {
        let ways = self.geometry.tables[table].ways;
        let start = if ways > 1 { self.draw() as usize } else { 0 };
        let tag = self.lookup.tags[table];
        let set = &mut self.sets[self.lookup.index[table] as usize];
        let free = (0..ways).map(|way| (start + way) % ways).find(|&way| set.useful[way] == 0);
        if let Some(way) = free {
            set.tags[way] = tag;
            set.counters[way] = if taken { 0 } else { -1 };
        }
        free.is_some()
    }

    #[cold]
    fn forget(&mut self) {
        for set in self.sets.iter_mut() {
            set.useful.iter_mut().for_each(|useful| *useful >>= 1);
        }
        self.pressure = 0;
    }
}

impl<R: HistoryRule, const N: usize, const W: usize> DirectionPredictor for Tage<R, N, W> {
    #[inline]
    fn predict(&mut self, pc: u64, _target: u64) -> bool {
        let hits = self.look_up(pc);
        let matched = (128 - hits.leading_zeros()).div_ceil(8);
        self.lookup.matched = matched;
        if matched == 0 {
            return self.base[self.lookup.base] >= 0;
        }
        let rest = hits & !(1 << (8 * (matched - 1)));
        let alternate = (128 - rest.leading_zeros()).div_ceil(8);
        let counter = *self.counter(matched);
        let alternate_taken = *self.counter(alternate) >= 0;
        let unsure = (-1..=0).contains(&counter);
        let lookup = &mut self.lookup;
        lookup.alternate = alternate;
        lookup.longest_taken = counter >= 0;
        lookup.alternate_taken = alternate_taken;
        lookup.unsure = unsure;
        let mistrusted = self.mistrust[usize::from(alternate > 0)] >= 0;
        if unsure & mistrusted { alternate_taken } else { counter >= 0 }
    }

    #[inline]
    fn train(&mut self, branch: &Branch, predicted: bool) {
        let taken = branch.taken();
        self.until_forget -= 1;
        if self.until_forget == 0 {
            self.period_ends();
        }
        let mut wants_entry = predicted != taken;
        if self.lookup.matched == 0 {
            if wants_entry {
                self.allocate(taken);
            }
            step(&mut self.base[self.lookup.base], taken, 1);
            return;
        }
        let (matched, alternate) = (self.lookup.matched, self.lookup.alternate);
        let right = self.lookup.longest_taken == taken;
        let alternate_right = self.lookup.alternate_taken == taken;
        if self.lookup.unsure {
            // Not the entry's fault: it was right, but too new to be believed.
            wants_entry &= !right;
            if right != alternate_right {
                step(&mut self.mistrust[usize::from(alternate > 0)], alternate_right, 15);
            }
            if !right {
                let top = if alternate == 0 { 1 } else { self.counter_top };
                step(self.counter(alternate), taken, top);
            }
        }
        if wants_entry && (matched as usize) < self.geometry.tables.len() {
            self.allocate(taken);
        }
        let (index, way) = self.found(matched);
        let set = &mut self.sets[index as usize];
        step(&mut set.counters[way % W], taken, self.counter_top);
        let useful = &mut set.useful[way % W];
        let more = (*useful + 1).min(self.useful_top);
        let less = useful.saturating_sub(1);
        let moved = if right { more } else { less };
        *useful = if right == alternate_right { *useful } else { moved };
    }

    #[inline]
    fn track(&mut self, branch: &Branch) {
        if let Some(footprints) = self.rule.footprints(branch) {
            self.folds.push(footprints);
        }
    }

    fn storage_bits(&self) -> u64 {
        let reach =
            |length: fn(&TaggedTable) -> usize| self.geometry.tables.iter().map(length).max().unwrap_or(0);
        let registers = reach(|table| table.length) + reach(|table| table.second);
        self.geometry.storage_bits() + registers as u64 + 2 * 5 + 12
    }
}

/// The folds a table needs: its index, and two of different widths for the tag.
fn window(table: &TaggedTable) -> HistoryWindow {
    let widths = [INDEX_FOLD, table.tag_bits, table.tag_bits - 1];
    HistoryWindow { length: table.length, second: table.second, widths }
}

/// One up or down, within -`top` - 1 to `top`.
#[inline]
fn step(counter: &mut i8, up: bool, top: i8) {
    let moved = *counter + if up { 1 } else { -1 };
    *counter = moved.clamp(-top - 1, top);
}

/// The address's bits over the upper half of a word: Fibonacci hashing.
#[inline]
fn spread(place: u64) -> u32 {
    (place.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as u32
}

#[cfg(test)]
mod tests;
