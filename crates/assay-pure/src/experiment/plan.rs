//! The order of execution as data: seeded, interleaved rounds, balanced for the predecessor.
//!
//! **Question.** In which order are the live processes visited in a round, and where in the input does each start?
//!
//! **Method.** Blocks (one artifact with one input) come in random order. Within a block the subjects come in a row of a
//! Williams design ([`super::williams`]), because in a cyclic order each variant always runs after the same
//! neighbour, and what that one leaves in caches and predictors then looks like an effect: 1.5 points on a real
//! effect of 9 %, 0.5 points on none (docs/methodology/calibration.md). A block meets every row of its design once in each
//! *cycle* of as many rounds as the design has rows (n for an even number n of subjects, 2n for an odd one), in an order drawn anew per cycle. Blocks whose
//! ids are neighbours start at different rows, so that a single round is balanced too as far as its blocks allow.
//!
//! **Stability.** A ledger stores the seed, not the order, so the order must never change: see [`super::order`] for the
//! algorithms, and the pinned round in the tests. A block's own order depends on its id and number of subjects only, so it
//! stays what it is when other blocks come (more rotations) or go (decided contrasts).
//!
//! **Limits.** The last subject of a block precedes the first of the next, which is balanced only by chance. The balance is
//! exact over whole cycles; a campaign that stops inside one is off by less than one count per pair and block.

use super::williams;
use assay_numbers::choices::SeededChoices;

/// What is visited together: the live processes of one artifact on one input.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct VisitBlock {
    /// Number of the block in the campaign; distinct, and best counted without gaps.
    pub id: usize,
    /// The processes (or variants) in it, in an order that stays the same from round to round.
    pub subjects: Vec<usize>,
}

/// One step of a round: one subject measured in one block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct CellVisit {
    /// The block's id.
    pub block: usize,
    /// The subject, as named in the block.
    pub subject: usize,
}

/// Purposes of random choices, so that none shares numbers with another. Never renumber.
const BLOCKS: u64 = 1;
const ROWS: u64 = 2;
const STARTS: u64 = 3;
const WINDOWS: u64 = 4;
const SHUFFLES: u64 = 5;
const ENVIRONMENTS: u64 = 6;
pub(super) const SURROUNDINGS: u64 = 7;

/// Sizes of the environment's padding are drawn below this, bytes: a page, beyond which the stack's offset repeats.
const ENVIRONMENT_BYTES: u64 = 4096;

/// The seed by which a rotation's sections are shuffled; 0, the order of the sources, for the first rotation.
///
/// Input: the campaign's seed; the rotation, from 0. Returns: below 2^32, because lld takes no more.
pub fn shuffle_seed(seed: u64, rotation: u32) -> u64 {
    match rotation {
        0 => 0,
        rotation => {
            1 + SeededChoices::new(seed, &[SHUFFLES, u64::from(rotation)]).below(u64::from(u32::MAX) - 1)
        }
    }
}

/// Bytes of padding in the environment of a process, which moves its stack.
///
/// Input: the campaign's seed; numbers that tell the process from all others.
pub fn environment_bytes(seed: u64, process: &[u64]) -> u64 {
    let path: Vec<u64> = [ENVIRONMENTS].iter().chain(process).copied().collect();
    SeededChoices::new(seed, &path).below(ENVIRONMENT_BYTES)
}

/// The visits of one round, in order: every subject of every block exactly once, blocks not interleaved with each other.
///
/// Input: blocks with distinct ids, in any order (it does not matter); the campaign's seed; the round, from 0.
/// Cost: linear in the number of visits.
pub fn round(blocks: &[VisitBlock], seed: u64, round: u32) -> Vec<CellVisit> {
    let mut order: Vec<&VisitBlock> = blocks.iter().collect();
    order.sort_by_key(|block| block.id);
    SeededChoices::new(seed, &[BLOCKS, u64::from(round)]).shuffle(&mut order);
    let visits = order.iter().flat_map(|block| {
        let row = row_of(block, seed, round as usize);
        row.into_iter().map(|place| CellVisit { block: block.id, subject: block.subjects[place] })
    });
    visits.collect()
}

/// Rounds after which a block of `subjects` subjects has met every row of its design: 1, n, or 2n for an odd n above 1.
pub fn cycle_rounds(subjects: usize) -> usize {
    williams::rows(subjects)
}

/// The row of its design that a block has in a round.
fn row_of(block: &VisitBlock, seed: u64, round: usize) -> Vec<usize> {
    let count = block.subjects.len();
    let rows = williams::rows(count);
    if rows == 0 {
        return Vec::new();
    }
    let (cycle, step) = (round / rows, round % rows);
    let (group, member) = (block.id / rows, block.id % rows);
    let design = count as u64;
    // Members of a group of `rows` blocks start at different places, hence have different rows in every round.
    let starts = SeededChoices::new(seed, &[STARTS, design, group as u64, cycle as u64]).permutation(rows);
    let sequence = SeededChoices::new(seed, &[ROWS, design, cycle as u64]).permutation(rows);
    williams::row(count, sequence[(starts[member] + step) % rows])
}

/// The window of an input at which all samples of a round start, so that all variants measure the same bytes.
///
/// Input: the campaign's seed, the round, the input's index, its number of windows. Returns: a number below `windows`,
/// uniform over seeds and rounds; 0 if there are none.
pub fn start_window(seed: u64, round: u32, input: usize, windows: u64) -> u64 {
    SeededChoices::new(seed, &[WINDOWS, u64::from(round), input as u64]).below(windows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shuffles_every_rotation_but_the_first_differently() {
        let seeds: std::collections::HashSet<u64> =
            (0..32).map(|rotation| shuffle_seed(7, rotation)).collect();
        assert_eq!(shuffle_seed(7, 0), 0);
        assert_eq!(seeds.len(), 32);
        assert!(seeds.iter().all(|&seed| seed <= u64::from(u32::MAX)));
    }

    #[test]
    fn gives_each_process_its_own_environment() {
        let sizes: std::collections::HashSet<u64> = (0..100).map(|n| environment_bytes(7, &[n, 1])).collect();
        assert!(sizes.len() > 90 && sizes.iter().all(|&size| size < 4096));
        assert_eq!(environment_bytes(7, &[3, 1]), environment_bytes(7, &[3, 1]));
    }
    use std::collections::{HashMap, HashSet};

    fn blocks(count: usize, subjects: usize) -> Vec<VisitBlock> {
        (0..count)
            .map(|id| VisitBlock { id, subjects: (0..subjects).map(|s| 100 * id + s).collect() })
            .collect()
    }

    /// The subjects of one block in the order of a round, as places in the block.
    fn order_of(visits: &[CellVisit], block: &VisitBlock) -> Vec<usize> {
        let place = |visit: &CellVisit| block.subjects.iter().position(|&s| s == visit.subject);
        visits.iter().filter(|v| v.block == block.id).map(|v| place(v).expect("its own subject")).collect()
    }

    #[test]
    fn visits_each_subject_exactly_once_in_each_round() {
        for subjects in 0..=7 {
            let blocks = blocks(5, subjects);
            for number in 0..20 {
                let visits = round(&blocks, 9, number);
                assert_eq!(visits.len(), 5 * subjects);
                assert_eq!(visits.iter().collect::<HashSet<_>>().len(), 5 * subjects);
            }
        }
    }

    #[test]
    fn keeps_the_subjects_of_a_block_together() {
        let visits = round(&blocks(6, 4), 1, 3);
        for four in visits.chunks(4) {
            assert!(four.iter().all(|visit| visit.block == four[0].block));
        }
    }

    #[test]
    fn gives_each_block_each_ordered_pair_of_neighbours_equally_often_within_a_cycle() {
        for subjects in 2..=9 {
            let cycle = cycle_rounds(subjects);
            let blocks = blocks(3, subjects);
            // The second cycle: its rows come in another order, the balance is the same.
            let rounds: Vec<_> = (cycle..2 * cycle).map(|r| round(&blocks, 5, r as u32)).collect();
            for block in &blocks {
                let mut found = HashMap::new();
                for visits in &rounds {
                    for pair in order_of(visits, block).windows(2) {
                        *found.entry((pair[0], pair[1])).or_insert(0) += 1;
                    }
                }
                assert_eq!(found.len(), subjects * (subjects - 1), "all ordered pairs of {subjects}");
                assert!(found.values().all(|&times| times == cycle / subjects), "{found:?}");
            }
        }
    }

    #[test]
    fn balances_a_single_round_over_as_many_blocks_as_the_design_has_rows() {
        let blocks = blocks(cycle_rounds(4), 4);
        for number in 0..9 {
            let visits = round(&blocks, 77, number);
            let mut found = HashMap::new();
            for block in &blocks {
                for pair in order_of(&visits, block).windows(2) {
                    *found.entry((pair[0], pair[1])).or_insert(0) += 1;
                }
            }
            assert_eq!(found.len(), 12);
            assert!(found.values().all(|&times| times == 1), "{found:?}");
        }
    }

    #[test]
    fn puts_each_subject_first_equally_often_within_a_cycle() {
        for subjects in 1..=8 {
            let block = &blocks(1, subjects)[0];
            let cycle = cycle_rounds(subjects);
            let mut first = vec![0; subjects];
            for number in 0..cycle {
                let visits = round(std::slice::from_ref(block), 3, number as u32);
                first[order_of(&visits, block)[0]] += 1;
            }
            assert_eq!(first, vec![cycle / subjects; subjects]);
        }
    }

    #[test]
    fn repeats_itself_with_the_same_seed_and_not_with_another() {
        let blocks = blocks(8, 5);
        assert_eq!(round(&blocks, 11, 4), round(&blocks, 11, 4));
        assert_ne!(round(&blocks, 11, 4), round(&blocks, 12, 4));
    }

    #[test]
    fn differs_from_round_to_round() {
        let blocks = blocks(8, 5);
        let rounds: HashSet<_> = (0..50).map(|number| round(&blocks, 11, number)).collect();
        assert_eq!(rounds.len(), 50);
    }

    #[test]
    fn meets_blocks_in_another_order_in_each_round() {
        let blocks = blocks(8, 1);
        let orders: HashSet<_> = (0..50).map(|number| round(&blocks, 2, number)).collect();
        assert_eq!(orders.len(), 50);
    }

    #[test]
    fn draws_the_order_of_rows_anew_in_each_cycle() {
        let blocks = blocks(1, 4);
        let cycle = |c: u32| (4 * c..4 * c + 4).map(|r| round(&blocks, 1, r)).collect::<Vec<_>>();
        let cycles: HashSet<_> = (0..20).map(cycle).collect();
        assert!(cycles.len() > 10, "{} of 20 differ", cycles.len());
    }

    #[test]
    fn keeps_a_blocks_own_order_when_other_blocks_come_and_go() {
        let all = blocks(9, 4);
        for number in 0..8 {
            let whole = round(&all, 6, number);
            let mut fewer = round(&all[3..5], 6, number);
            fewer.retain(|visit| visit.block == 4);
            assert_eq!(order_of(&fewer, &all[4]), order_of(&whole, &all[4]));
        }
    }

    #[test]
    fn does_not_depend_on_the_order_in_which_blocks_are_given() {
        let mut backwards = blocks(6, 3);
        backwards.reverse();
        assert_eq!(round(&backwards, 8, 2), round(&blocks(6, 3), 8, 2));
    }

    #[test]
    fn plans_the_rounds_that_ledgers_already_hold() {
        // Source: this module's rules written a second time in Python. A change here makes old ledgers wrong.
        let blocks = [
            VisitBlock { id: 0, subjects: vec![10, 11, 12, 13] },
            VisitBlock { id: 1, subjects: vec![20, 21, 22, 23] },
            VisitBlock { id: 2, subjects: vec![30, 31, 32] },
        ];
        let subjects = |number| round(&blocks, 42, number).iter().map(|v| v.subject).collect::<Vec<_>>();
        assert_eq!(subjects(0), [11, 12, 10, 13, 30, 31, 32, 23, 20, 22, 21]);
        assert_eq!(subjects(7), [32, 30, 31, 11, 12, 10, 13, 22, 23, 21, 20]);
        let windows: Vec<_> = (0..6).map(|number| start_window(42, number, 1, 245)).collect();
        assert_eq!(windows, [221, 185, 13, 31, 199, 39]);
    }

    #[test]
    fn starts_inside_the_input_and_elsewhere_in_each_round() {
        let starts: Vec<_> = (0..1000).map(|number| start_window(4, number, 0, 10)).collect();
        assert!(starts.iter().all(|&start| start < 10));
        for window in 0..10 {
            let times = starts.iter().filter(|&&start| start == window).count();
            // Five standard deviations of a binomial count with n = 1000, p = 0.1: 5 * 9.5.
            assert!(times.abs_diff(100) < 48, "window {window} {times} times");
        }
        assert_ne!(start_window(4, 0, 0, 1 << 40), start_window(4, 0, 1, 1 << 40));
        assert_eq!(start_window(4, 0, 0, 0), 0);
    }
}
