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
//!
//! Over a history that a profile's other predictors look at, [`Tage`] goes branch by branch; alone it is [`TageAhead`].

pub mod ahead;
pub mod folds;
pub mod geometry;
pub mod history;
pub mod prefix;
pub mod tables;
pub mod tape;

pub use ahead::TageAhead;
pub use folds::FoldSet;
pub use geometry::{Forget, Geometry, TaggedTable};
pub use history::{Directions, HistoryRule};
pub use tape::Tape;

use super::family::{Configured, Parameter, PredictorFamily};
use super::{DirectionPredictor, PredictionKind, PredictorEntry};
use crate::trace::Branch;
use assay_numbers::words;
use folds::HistoryWindow;
use tables::{HELD, Lookup, TageTables};

/// The names of this family.
pub const ENTRIES: &[PredictorEntry] = &[PredictorEntry {
    name: "tage",
    what: "TAGE: 12 tagged tables over histories of 2 to 450 branches and a base table (64 KB)",
    source: "Seznec and Michaud, JILP 8, 2006; Seznec, MICRO 2011 and INRIA RR-9561, 2024; sizes are ours",
    judges: &[PredictionKind::Direction],
    make: || Box::new(TageAhead::new(Geometry::class_64_kb())),
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
            member: Box::new(TageAhead::new(geometry)),
        })
    },
};

/// The width that histories are folded to for an index: a prime, and wider than most indices. Each iteration of a loop
/// turns a fold by the same number of bits; where that and the width have a divisor in common, different histories come
/// to the same few sets: with 12 bits, 120 of a real loop to 76 of 4096 (docs/methodology/branches.md).
const INDEX_FOLD: u32 = 13;
/// What an index has no room for is laid over its bits from this far down.
const INDEX_LAPS: u32 = 6;

/// A TAGE predictor with up to N tables of up to W entries per set, branch by branch; N at most 16.
pub struct Tage<R, const N: usize, const W: usize> {
    rule: R,
    folds: FoldSet<N>,
    hash: TableHash<N>,
    tables: TageTables<W>,
    lookup: LaneLookup<N>,
}

/// How folds and addresses become sets and tags, for each table.
#[derive(Clone, Debug)]
struct TableHash<const N: usize> {
    first_set: [u16; N],
    index_mask: [u16; N],
    tag_mask: [u16; N],
    /// Bits of the address that count.
    index_place: u64,
    tag_place: u64,
    base_mask: u32,
}

impl<const N: usize> TableHash<N> {
    fn new(geometry: &Geometry) -> TableHash<N> {
        let mut hash = TableHash {
            first_set: [0; N],
            index_mask: [0; N],
            tag_mask: [0; N],
            index_place: geometry.index_place,
            tag_place: geometry.tag_place,
            base_mask: (1 << geometry.base_log2) - 1,
        };
        let mut sets = 0;
        for (i, table) in geometry.tables.iter().enumerate() {
            assert!(table.tag_bits < 16 && table.sets_log2 <= INDEX_FOLD, "{table:?}");
            hash.first_set[i] = sets as u16;
            hash.index_mask[i] = (1 << table.sets_log2) - 1;
            hash.tag_mask[i] = (1 << table.tag_bits) - 1;
            sets += 1 << table.sets_log2;
        }
        hash
    }

    /// What an address gives to all indices, to all tags, and to the base table.
    #[inline(always)]
    fn of_address(&self, pc: u64) -> (u16, u16, u32) {
        let index = spread(pc & self.index_place) as u16;
        let tag = (spread(pc & self.tag_place) >> 16) as u16;
        (index, tag, (pc & self.tag_place ^ pc >> 2) as u32 & self.base_mask)
    }

    #[inline(always)]
    fn index(&self, table: usize, fold: u16, address: u16) -> u16 {
        let fold = fold ^ fold >> INDEX_LAPS;
        ((fold ^ address) & self.index_mask[table]).wrapping_add(self.first_set[table])
    }

    #[inline(always)]
    fn tag(&self, table: usize, folds: [u16; 2], address: u16) -> u16 {
        (folds[0] ^ folds[1] << 1 ^ address) & self.tag_mask[table] | HELD
    }
}

/// Where the branch being predicted is looked up, a lane for each table.
struct LaneLookup<const N: usize> {
    index: [u16; N],
    tags: [u16; N],
    base: u32,
}

impl<const N: usize> Lookup for LaneLookup<N> {
    #[inline(always)]
    fn index(&self, table: usize) -> u16 {
        self.index[table % N]
    }

    #[inline(always)]
    fn tag(&self, table: usize) -> u16 {
        self.tags[table % N]
    }

    #[inline(always)]
    fn base(&self) -> u32 {
        self.base
    }
}

impl<R: HistoryRule, const N: usize, const W: usize> Tage<R, N, W> {
    /// Untrained.
    ///
    /// Input: at most N tables of at most W ways, 2^13 sets in each and 2^16 in all, tags below 16 bits.
    pub fn new(geometry: Geometry, rule: R) -> Self {
        let tables = geometry.tables.len();
        assert!(tables > 0 && tables <= N && N <= 16, "{tables} tables in {N} lanes");
        let windows: Vec<HistoryWindow> = geometry.tables.iter().map(window).collect();
        Tage {
            folds: FoldSet::new(&windows, rule.shift(), rule.footprint_bits()),
            rule,
            hash: TableHash::new(&geometry),
            tables: TageTables::new(geometry),
            lookup: LaneLookup { index: [0; N], tags: [0; N], base: 0 },
        }
    }

    /// The history, the first register of two.
    pub fn register(&self) -> &Tape {
        self.folds.tape()
    }

    /// Sets and tags of all tables; returns a bit per table, 1 where it matches.
    #[inline(always)]
    fn look_up(&mut self, pc: u64) -> u32 {
        let (index, tag, base) = self.hash.of_address(pc);
        let [folds, tag_folds, more_tag_folds] = self.folds.lanes();
        let lookup = &mut self.lookup;
        for i in 0..N {
            lookup.index[i] = self.hash.index(i, folds[i], index);
            lookup.tags[i] = self.hash.tag(i, [tag_folds[i], more_tag_folds[i]], tag);
        }
        lookup.base = base;
        let mut matching = 0;
        for i in 0..self.tables.number().min(N) {
            matching |= u32::from(self.tables.holds(lookup.index[i], lookup.tags[i])) << i;
        }
        matching
    }
}

impl<R: HistoryRule, const N: usize, const W: usize> DirectionPredictor for Tage<R, N, W> {
    #[inline(always)]
    fn predict(&mut self, pc: u64, _target: u64) -> bool {
        let matching = self.look_up(pc);
        self.tables.predict(&self.lookup, matching)
    }

    #[inline(always)]
    fn train(&mut self, branch: &Branch, predicted: bool) {
        self.tables.train(&self.lookup, branch.taken(), predicted, |_| ());
    }

    #[inline(always)]
    fn track(&mut self, branch: &Branch) {
        if let Some(footprints) = self.rule.footprints(branch) {
            self.folds.push(footprints);
        }
    }

    fn storage_bits(&self) -> u64 {
        self.tables.storage_bits()
    }
}

/// The folds a table needs: its index, and two of different widths for the tag.
fn window(table: &TaggedTable) -> HistoryWindow {
    let widths = [INDEX_FOLD, table.tag_bits, table.tag_bits - 1];
    HistoryWindow { length: table.length, second: table.second, widths }
}

/// The address's bits over the upper half of a word: Fibonacci hashing.
#[inline(always)]
fn spread(place: u64) -> u32 {
    (place.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as u32
}

#[cfg(test)]
mod tests;
