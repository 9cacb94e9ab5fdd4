//! Eight small weights, each chosen by the address and another stretch of history, vote by their sum.
//!
//! Sources: D. Tarjan and K. Skadron, "Merging path and gshare indexing in perceptron branch prediction", TACO 2(3),
//! 2005 (a table per stretch of history, indexed by it and the address, instead of a weight per outcome); D. A. Jiménez
//! and C. Lin, "Dynamic branch prediction with perceptrons", HPCA 2001 (training on a mistake or a small sum);
//! A. Seznec, "Analysis of the O-GEometric History Length branch predictor", ISCA 2005 (the threshold that adapts itself).
//! Sizes and stretches are ours: the first few begin at the newest outcome, the others overlap, which on the golden streams
//! is worth 3 % to 10 % of the mispredictions against stretches side by side.
//!
//! History is of conditional branches alone. Sixteen geometric lengths folded to an index would see further (2 % to 10 % fewer
//! mispredictions there), but cost three times as much per branch as eight stretches, which are shifts.
//! Checked: against a second implementation (tests/golden_textbook); learning by hand.

use super::block::{BLOCK, Block, BlockPredictor, MISSED};
use super::counters::zeros;
use super::{Conditionals, DirectionPredictor, PredictionKind, PredictorEntry};
use crate::trace::Branch;

/// The names of this family.
pub const ENTRIES: &[PredictorEntry] = &[PredictorEntry {
    name: "perceptron",
    what: "hashed perceptron: 8 tables of 4096 8-bit weights by stretches of the last 56 outcomes (32 KB)",
    source: "Tarjan and Skadron, TACO 2(3), 2005; Jiménez and Lin, HPCA 2001; Seznec, ISCA 2005",
    judges: &[PredictionKind::Direction],
    make: || Box::new(Conditionals(Perceptron::default())),
}];

const TABLES: usize = 8;
const ROW_BITS: u32 = 12;
const ROWS: usize = 1 << ROW_BITS;

/// Of each table: how many of the newest outcomes its stretch is without, and a bit for each that it has.
const STRETCHES: [(u32, u64); TABLES] =
    [(0, 0), (0, 0xf), (0, 0xff), (0, 0xfff), (8, 0xfff), (18, 0xfff), (30, 0xfff), (44, 0xfff)];

/// Which row of a table a branch takes, of all rows of all tables, by its stretch of history.
#[inline(always)]
fn row(table: usize, address: u32, stretch: u32) -> u16 {
    let address = address ^ address >> 2;
    let address = address ^ address >> ROW_BITS;
    (table * ROWS) as u16 + (address ^ stretch) as u16 % ROWS as u16
}

/// How far mistakes and corrections may get apart before the threshold moves.
const BALANCE: i32 = 64;

/// The weights, the history, and the threshold under which a sum is too small to be sure.
#[derive(Clone, Debug)]
pub struct Perceptron {
    /// Table after table, with room for any place of 16 bits, which then needs no check.
    weights: Box<[i8; 1 << 16]>,
    /// Outcomes, the newest lowest.
    history: u64,
    /// Of the branch predicted last.
    sum: i32,
    threshold: i32,
    /// Mistakes less needless corrections since the threshold last moved.
    balance: i32,
}

impl Default for Perceptron {
    fn default() -> Perceptron {
        Perceptron { weights: zeros(), history: 0, sum: 0, threshold: TABLES as i32, balance: 0 }
    }
}

impl Perceptron {
    #[inline(always)]
    fn sum(&self, rows: [u16; TABLES]) -> i32 {
        rows.iter().map(|row| i32::from(self.weights[usize::from(*row)])).sum()
    }

    #[inline(always)]
    fn learn(&mut self, rows: [u16; TABLES], sum: i32, taken: bool) {
        let wrong = (sum >= 0) != taken;
        // One condition and one branch: whether the prediction was wrong would be mispredicted as often as the simulated
        // machine is. Writing the weights in any case was slower on all streams but a coin's.
        let learns = wrong | (sum.abs() < self.threshold);
        if !learns {
            return;
        }
        let (step, last) = if taken { (1, i8::MAX) } else { (-1, i8::MIN) };
        for row in rows {
            let weight = &mut self.weights[usize::from(row)];
            *weight = if *weight == last { last } else { weight.wrapping_add(step) };
        }
        self.balance += if wrong { 1 } else { -1 };
        if self.balance.abs() == BALANCE {
            self.threshold = (self.threshold + self.balance.signum()).max(0);
            self.balance = 0;
        }
    }

    /// The rows of a branch at `pc` after the history so far.
    #[inline(always)]
    fn rows(&self, pc: u64) -> [u16; TABLES] {
        std::array::from_fn(|table| {
            let (without, outcomes) = STRETCHES[table];
            row(table, pc as u32, (self.history >> without & outcomes) as u32)
        })
    }
}

impl DirectionPredictor for Perceptron {
    #[inline(always)]
    fn predict(&mut self, pc: u64, _: u64) -> bool {
        self.sum = self.sum(self.rows(pc));
        self.sum >= 0
    }

    #[inline(always)]
    fn train(&mut self, branch: &Branch, _: bool) {
        self.learn(self.rows(branch.pc), self.sum, branch.taken());
    }

    #[inline(always)]
    fn track(&mut self, branch: &Branch) {
        if branch.class().is_conditional() {
            self.history = self.history << 1 | u64::from(branch.taken());
        }
    }

    fn storage_bits(&self) -> u64 {
        // Beside the weights and the history, a threshold and a balance of a byte each.
        (TABLES * ROWS * 8) as u64 + 56 + 16
    }
}

impl BlockPredictor for Perceptron {
    #[inline(always)]
    fn judge(&mut self, block: &Block, missed: &mut [u8; BLOCK]) {
        let mut rows = [[0; BLOCK]; TABLES];
        for (table, (rows, (without, outcomes))) in rows.iter_mut().zip(STRETCHES).enumerate() {
            let histories = block.histories(self.history, without);
            for ((place, history), address) in rows.iter_mut().zip(histories).zip(block.addresses) {
                *place = row(table, address, history & outcomes as u32);
            }
        }
        self.history = block.history_after(self.history);
        block.for_each(missed, |nth, outcome| {
            let rows = std::array::from_fn(|table| rows[table][nth % BLOCK]);
            let (sum, taken) = (self.sum(rows), outcome != 0);
            self.learn(rows, sum, taken);
            MISSED * u8::from((sum >= 0) != taken)
        });
    }

    fn storage_bits(&self) -> u64 {
        DirectionPredictor::storage_bits(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::BranchClass;

    fn walk(predictor: &mut Perceptron, outcomes: impl Iterator<Item = bool>) -> usize {
        let missed = outcomes.filter(|taken| {
            let branch = Branch::new(0x40_1000, 0x40_2000, 0, BranchClass::CONDITIONAL, *taken, 1);
            let predicted = predictor.predict(branch.pc, branch.target);
            predictor.train(&branch, predicted);
            predictor.track(&branch);
            predicted != *taken
        });
        missed.count()
    }

    #[test]
    fn learns_a_period_that_fits_its_history_and_then_errs_no_more() {
        for period in [2, 7, 12, 30, 50, 56] {
            let mut predictor = Perceptron::default();
            let pattern = |nth: usize| nth % period == 1;
            walk(&mut predictor, (0..400 * period).map(pattern));
            assert_eq!(walk(&mut predictor, (400 * period..420 * period).map(pattern)), 0, "{period}");
        }
    }

    #[test]
    fn does_not_learn_a_period_that_is_longer_than_its_history() {
        let mut predictor = Perceptron::default();
        let pattern = |nth: usize| nth % 70 == 1;
        walk(&mut predictor, (0..28_000).map(pattern));
        assert_eq!(walk(&mut predictor, (28_000..35_000).map(pattern)), 100);
    }

    #[test]
    fn the_first_guess_is_taken_and_one_mistake_turns_every_weight() {
        let mut predictor = Perceptron::default();
        assert_eq!(walk(&mut predictor, [false].into_iter()), 1);
        let sum: i32 = predictor.weights.iter().map(|weight| i32::from(*weight)).sum();
        assert_eq!(sum, -(TABLES as i32));
    }

    #[test]
    fn weights_saturate() {
        for taken in [false, true] {
            let mut predictor = Perceptron { threshold: i32::MAX, ..Perceptron::default() };
            walk(&mut predictor, std::iter::repeat_n(taken, 300));
            let bound = if taken { i8::MAX } else { i8::MIN };
            assert_eq!(predictor.weights[..ROWS].iter().filter(|weight| **weight == bound).count(), 1);
        }
    }
}
