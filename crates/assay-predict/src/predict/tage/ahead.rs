//! TAGE over a stream whose outcomes are known: where the next branches will be looked up is computed ahead of predicting the
//! first of them.
//!
//! Why it is worth it: what a predictor decides depends on the outcomes, so that the CPU that simulates it mispredicts as
//! often as the simulated one, and drops the work behind such a branch. Branch by branch, that is the hashing of the next
//! ones, most of the cost. Ahead there is no branch on an outcome, and loops run over a block of branches for one table
//! after the other.
//! Which tables hold a branch is found ahead, too. An entry given meanwhile changes that for the rest of the block: it is
//! looked at again in the table that gave it.
//! Known limits: one way per set, and nobody else may look at the history; [`Tage`](super::Tage) is for the rest.
//! Checked: errs where [`Tage`](super::Tage) errs, branch by branch, below.

#![allow(clippy::needless_range_loop, reason = "columns of several arrays in step, for vector instructions")]

use super::prefix::{BLOCK, Column, FoldWindow, PrefixFolds};
use super::tables::{Lookup, TageTables};
use super::{Directions, Geometry, HistoryRule, INDEX_FOLD, TableHash, TaggedTable};
use crate::predict::Member;
use crate::predict::member::BranchStretch;
use crate::predict::widest::{Pass, widest};
use crate::trace::Branch;

/// Tables at most.
const TABLES: usize = 16;

/// A TAGE predictor of one way over [`Directions`], block by block.
pub struct TageAhead {
    folds: PrefixFolds,
    hash: TableHash<TABLES>,
    tables: TageTables<1>,
    /// Of each table: the folds for its index and its tags.
    windows: Vec<[FoldWindow; 3]>,
    places: Box<BlockPlaces>,
    /// The tables that hold each branch of the block, a bit for each.
    matching: Column,
}

/// Where the branches of a block are looked up: for each table their sets and tags.
struct BlockPlaces {
    index: [Column; TABLES],
    tags: [Column; TABLES],
    base: [u32; BLOCK],
}

/// One of them.
struct NthPlace<'a> {
    places: &'a BlockPlaces,
    nth: usize,
}

impl Lookup for NthPlace<'_> {
    #[inline(always)]
    fn index(&self, table: usize) -> u16 {
        self.places.index[table % TABLES][self.nth]
    }

    #[inline(always)]
    fn tag(&self, table: usize) -> u16 {
        self.places.tags[table % TABLES][self.nth]
    }

    #[inline(always)]
    fn base(&self) -> u32 {
        self.places.base[self.nth]
    }
}

impl TageAhead {
    /// Untrained.
    ///
    /// Input: at most 16 tables of one way over one register, windows of at most [`PrefixFolds::REACH`] bits, tags of 6 to 15.
    pub fn new(geometry: Geometry) -> TageAhead {
        assert!(geometry.tables.len() <= TABLES, "{} tables", geometry.tables.len());
        assert!(geometry.tables.iter().all(|table| table.second == 0 && table.length <= PrefixFolds::REACH));
        let widths = |table: &TaggedTable| [INDEX_FOLD, table.tag_bits, table.tag_bits - 1];
        let folds = PrefixFolds::new(&geometry.tables.iter().flat_map(widths).collect::<Vec<u32>>());
        let window = |table: &TaggedTable| widths(table).map(|width| folds.window(table.length, width));
        let empty = [[0; BLOCK]; TABLES];
        TageAhead {
            windows: geometry.tables.iter().map(window).collect(),
            folds,
            hash: TableHash::new(&geometry),
            tables: TageTables::new(geometry),
            places: Box::new(BlockPlaces { index: empty, tags: empty, base: [0; BLOCK] }),
            matching: [0; BLOCK],
        }
    }

    /// Predicts and learns; tells of each conditional branch whether its prediction was wrong.
    #[inline(always)]
    fn over(&mut self, branches: &[Branch], mut tell: impl FnMut(&Branch, bool)) {
        for block in branches.chunks(BLOCK) {
            self.look_ahead(block);
            for (nth, branch) in block.iter().enumerate() {
                if branch.class().is_conditional() {
                    tell(branch, self.judge(nth, branch.taken()));
                }
            }
        }
    }

    /// Finds the places of a block of branches and the tables that hold them, and moves the history over it.
    #[inline(always)]
    fn look_ahead(&mut self, block: &[Branch]) {
        let (mut for_index, mut for_tag, mut footprints) = ([0; BLOCK], [0; BLOCK], [0; BLOCK]);
        let places = &mut *self.places;
        for (n, branch) in block.iter().enumerate() {
            (for_index[n], for_tag[n], places.base[n]) = self.hash.of_address(branch.pc);
            let [footprint, _] = Directions.footprints(branch).unwrap_or_default();
            footprints[n] = footprint as u16;
        }
        self.folds.push(&footprints[..block.len()]);
        self.matching = [0; BLOCK];
        for (table, windows) in self.windows.iter().enumerate().take(TABLES) {
            let index = self.folds.fold(&windows[0]);
            let (first, second) = (self.folds.fold(&windows[1]), self.folds.fold(&windows[2]));
            for n in 0..BLOCK {
                places.index[table][n] = self.hash.index(table, index[n], for_index[n]);
                places.tags[table][n] = self.hash.tag(table, [first[n], second[n]], for_tag[n]);
            }
            let mut held = [0; BLOCK];
            for n in 0..BLOCK {
                held[n] = self.tables.tag_at(places.index[table][n]);
            }
            for n in 0..BLOCK {
                self.matching[n] |= u16::from(held[n] == places.tags[table][n]) << table;
            }
        }
    }

    /// Predicts and learns one of the block; says whether that was wrong.
    #[inline(always)]
    fn judge(&mut self, nth: usize, taken: bool) -> bool {
        let at = NthPlace { places: &self.places, nth };
        let predicted = self.tables.predict(&at, u32::from(self.matching[nth]));
        let matching = &mut self.matching;
        self.tables.train(&at, taken, predicted, |table| at.look_again(table, matching));
        predicted != taken
    }
}

impl NthPlace<'_> {
    /// A table has given this branch its entry: it holds those of the same set and tag, and no others of that set.
    fn look_again(&self, table: usize, matching: &mut Column) {
        let (index, tags) = (&self.places.index[table % TABLES], &self.places.tags[table % TABLES]);
        let (set, tag, bit) = (index[self.nth], tags[self.nth], 1 << table);
        // In whole vectors from this branch's on; what has been predicted is not asked for again.
        let first = self.nth / 16 * 16;
        let (index, tags) = (&index[first..], &tags[first..]);
        for ((matching, index), tags) in matching[first..].iter_mut().zip(index).zip(tags) {
            let same = if *index == set { bit } else { 0 };
            let holds = if *tags == tag { bit } else { 0 };
            *matching = *matching & !same | same & holds;
        }
    }
}

/// The predictor over a stretch of stream.
struct AheadPass<'a> {
    tage: &'a mut TageAhead,
    branches: &'a [Branch],
    missed: &'a mut [u64],
}

impl Pass for AheadPass<'_> {
    #[inline(always)]
    fn run(self) {
        self.tage.over(self.branches, |branch, wrong| self.missed[branch.site as usize] += u64::from(wrong));
    }
}

impl Member for TageAhead {
    fn walk(&mut self, batch: &BranchStretch<'_>, missed: &mut [u64]) {
        widest(AheadPass { tage: self, branches: batch.branches, missed });
    }

    fn storage_bits(&self) -> u64 {
        self.tables.storage_bits()
    }
}

#[cfg(test)]
mod tests {
    use super::super::Tage;
    use super::*;
    use crate::predict::DirectionPredictor;
    use crate::trace::BranchClass;

    /// Few sites, so that branches of a block come to the same sets: patterns, coins, a call and a return.
    fn stream() -> Vec<Branch> {
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let branch = |nth: u64| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            let class = match nth % 11 {
                3 => BranchClass::CALL,
                7 => BranchClass::RETURN,
                _ => BranchClass::CONDITIONAL,
            };
            let taken = class != BranchClass::CONDITIONAL || nth % 5 < 2 || state & 2 == 0;
            Branch::new(0x40_1000 + (nth % 11) * 9 + (state >> 62) * 64, 0x40_1800, 0, class, taken, 3)
        };
        (0..20_000).map(branch).collect()
    }

    fn slowly(geometry: Geometry, stream: &[Branch]) -> Vec<bool> {
        let mut tage = Tage::<_, TABLES, 1>::new(geometry, Directions);
        let mut wrong = Vec::new();
        for branch in stream {
            if branch.class().is_conditional() {
                let predicted = tage.predict(branch.pc, branch.target);
                tage.train(branch, predicted);
                wrong.push(predicted != branch.taken());
            }
            tage.track(branch);
        }
        wrong
    }

    #[test]
    fn errs_where_the_same_predictor_errs_branch_by_branch_however_the_stream_is_cut() {
        let stream = stream();
        let small = Geometry::geometric(4, 5, 6, (1, 40));
        let long = Geometry::geometric(16, 7, 15, (3, PrefixFolds::REACH as u32));
        for geometry in [Geometry::class_64_kb(), small, long] {
            let expected = slowly(geometry.clone(), &stream);
            assert!(expected.contains(&true) && expected.contains(&false));
            for cut in [1, BLOCK - 1, BLOCK, 1000, stream.len()] {
                let (mut tage, mut wrong) = (TageAhead::new(geometry.clone()), Vec::new());
                stream.chunks(cut).for_each(|piece| tage.over(piece, |_, missed| wrong.push(missed)));
                let differs = wrong.iter().zip(&expected).position(|(a, b)| a != b);
                assert_eq!((differs, wrong.len()), (None, expected.len()), "cut by {cut}");
            }
        }
    }
}
