//! Sixteen small weights, each chosen by the address and another length of history, vote by their sum.
//!
//! Sources: D. Tarjan and K. Skadron, "Merging path and gshare indexing in perceptron branch prediction", TACO 2(3),
//! 2005 (tables of weights by hashes instead of a weight per history bit); D. A. Jiménez and C. Lin, "Dynamic branch
//! prediction with perceptrons", HPCA 2001 (training on a mistake or a small sum); A. Seznec, "Analysis of the O-GEometric
//! History Length branch predictor", ISCA 2005 (lengths in geometric progression; the threshold that adapts itself).
//! Sizes are ours.
//!
//! History is of conditional branches alone. A history of up to 256 outcomes is folded to 12 bits, one outcome at a time:
//! move on, take in the newest, take out the one that leaves, as P. Michaud does ("A PPM-like, tag-based branch
//! predictor", JILP 7, 2005). His folds rotate, so outcomes 12 apart cancel and a lone one is known by its age modulo 12
//! only; ours are remainders of the history as a polynomial, in which it has 4095 places. The sixteen folds are lanes of
//! one array and move together.
//! Checked: the folds against ones made from the whole history; learning by hand.

use super::bimodal::address_bits;
use super::{Conditionals, DirectionPredictor, Entry, Judged};
use crate::trace::Branch;

/// The names of this family.
pub const ENTRIES: &[Entry] = &[Entry {
    name: "perceptron",
    what: "hashed perceptron: 16 tables of 4096 8-bit weights by histories of 0 to 256 outcomes (64 KB)",
    source: "Tarjan and Skadron, TACO 2(3), 2005; Jiménez and Lin, HPCA 2001; Seznec, ISCA 2005",
    judges: &[Judged::Direction],
    make: || Box::new(Conditionals(Perceptron::default())),
}];

const TABLES: usize = 16;
const FOLD_BITS: usize = 12;
const ROWS: usize = 1 << FOLD_BITS;

/// Outcomes that each table's index sees: none, then 3 to 256 in geometric progression.
const LENGTHS: [usize; TABLES] = [0, 3, 4, 6, 8, 11, 15, 20, 28, 38, 52, 72, 99, 136, 187, 256];
const LONGEST: usize = LENGTHS[TABLES - 1];

/// x^12 + x^6 + x^4 + x + 1 without its first term: primitive, so that powers of x repeat after 4095.
const POLYNOMIAL: u16 = 0b101_0011;

/// A fold, times x.
#[inline]
const fn moved_on(fold: u16) -> u16 {
    ((fold << 1) % ROWS as u16) ^ ((fold >> (FOLD_BITS - 1)) * POLYNOMIAL)
}

/// What the outcome that leaves a history has become in its fold: x to the power of the length.
const LEAVES: [u16; TABLES] = {
    let mut leaves = [1; TABLES];
    let mut table = 0;
    while table < TABLES {
        let mut power = 0;
        while power < LENGTHS[table] {
            leaves[table] = moved_on(leaves[table]);
            power += 1;
        }
        table += 1;
    }
    leaves
};

/// Room for the outcomes: the longest history and some, so that it is moved back but seldom.
const RING: usize = 2048;

/// The outcomes of the past and their folds.
#[derive(Clone, Debug)]
struct Folds {
    /// Outcomes as 0 or 1, the newest at `newest`, older ones behind it.
    outcomes: Box<[u16; RING]>,
    newest: usize,
    folds: [u16; TABLES],
}

impl Folds {
    fn new() -> Folds {
        Folds { outcomes: Box::new([0; RING]), newest: RING - LONGEST - 1, folds: [0; TABLES] }
    }

    #[inline]
    fn push(&mut self, taken: bool) {
        if self.newest == 0 {
            self.newest = RING - LONGEST - 1;
            self.outcomes.copy_within(..LONGEST + 1, self.newest);
        }
        self.newest -= 1;
        let history: &mut [u16] = &mut self.outcomes[self.newest..][..LONGEST + 1];
        history[0] = u16::from(taken);
        // A history of length 0 loses what it has just taken in, so its fold stays 0.
        let leaving: [u16; TABLES] = std::array::from_fn(|table| history[LENGTHS[table]]);
        for table in 0..TABLES {
            let left = leaving[table] * LEAVES[table];
            self.folds[table] = moved_on(self.folds[table]) ^ u16::from(taken) ^ left;
        }
    }
}

/// The weights, the history, and the threshold under which a sum is too small to be sure.
#[derive(Clone, Debug)]
pub struct Perceptron {
    weights: Box<[[i8; ROWS]; TABLES]>,
    history: Folds,
    rows: [u16; TABLES],
    sum: i32,
    threshold: i32,
    /// Mistakes against needless corrections since the threshold last moved.
    balance: i32,
}

/// How far mistakes and corrections may get apart before the threshold moves.
const BALANCE: i32 = 64;

impl Default for Perceptron {
    fn default() -> Perceptron {
        let weights = vec![[0; ROWS]; TABLES].try_into().expect("as many tables as there are");
        Perceptron {
            weights,
            history: Folds::new(),
            rows: [0; TABLES],
            sum: 0,
            threshold: TABLES as i32,
            balance: 0,
        }
    }
}

impl DirectionPredictor for Perceptron {
    #[inline]
    fn predict(&mut self, pc: u64, _: u64) -> bool {
        let address = address_bits(pc);
        let address = (address ^ address >> FOLD_BITS) as u16;
        for (row, fold) in self.rows.iter_mut().zip(&self.history.folds) {
            *row = (address ^ fold) % ROWS as u16;
        }
        let weights = self.weights.iter().zip(&self.rows);
        self.sum = weights.map(|(table, row)| i32::from(table[usize::from(*row) % ROWS])).sum();
        self.sum >= 0
    }

    #[inline]
    fn train(&mut self, branch: &Branch, predicted: bool) {
        let taken = branch.taken();
        let wrong = predicted != taken;
        if !wrong && self.sum.abs() >= self.threshold {
            return;
        }
        let step = if taken { 1 } else { -1 };
        for (table, row) in self.weights.iter_mut().zip(&self.rows) {
            let weight = &mut table[usize::from(*row) % ROWS];
            *weight = weight.saturating_add(step);
        }
        self.balance += if wrong { 1 } else { -1 };
        if self.balance.abs() == BALANCE {
            self.threshold = (self.threshold + self.balance.signum()).max(0);
            self.balance = 0;
        }
    }

    #[inline]
    fn track(&mut self, branch: &Branch) {
        if branch.class().is_conditional() {
            self.history.push(branch.taken());
        }
    }

    fn storage_bits(&self) -> u64 {
        let registers = LONGEST + 12 + 8;
        (TABLES * ROWS * 8 + registers) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::Class;

    /// The newest `length` outcomes, `outcomes[0]` the newest, as a polynomial, divided by long division.
    fn fold(outcomes: &[bool], length: usize) -> u16 {
        let mut rest: Vec<bool> = outcomes.iter().take(length).copied().collect();
        let divisor = [12, 6, 4, 1, 0];
        while rest.len() > 12 {
            if rest[rest.len() - 1] {
                let low = rest.len() - 13;
                divisor.iter().for_each(|term| rest[low + term] ^= true);
            }
            rest.pop();
        }
        rest.iter().rev().fold(0, |fold, bit| fold << 1 | u16::from(*bit))
    }

    #[test]
    fn a_lone_outcome_is_known_by_its_age() {
        let mut seen: Vec<u16> =
            std::iter::successors(Some(1), |fold| Some(moved_on(*fold))).take(4095).collect();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), 4095);
    }

    #[test]
    fn folds_are_those_of_the_whole_history_through_many_moves_of_the_ring() {
        let mut folds = Folds::new();
        let mut outcomes = Vec::new();
        let mut state = 1_u32;
        for nth in 0..3 * RING {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let taken = state >> 31 != 0;
            folds.push(taken);
            outcomes.insert(0, taken);
            outcomes.truncate(LONGEST);
            if nth < 600 || nth % 97 == 0 || nth % (RING - LONGEST) < 3 {
                assert_eq!(folds.folds, LENGTHS.map(|length| fold(&outcomes, length)), "{nth}");
            }
        }
    }

    fn walk(predictor: &mut Perceptron, outcomes: impl Iterator<Item = bool>) -> usize {
        let missed = outcomes.filter(|taken| {
            let branch = Branch::new(0x40_1000, 0x40_2000, 0, Class::CONDITIONAL, *taken, 1);
            let predicted = predictor.predict(branch.pc, branch.target);
            predictor.train(&branch, predicted);
            predictor.track(&branch);
            predicted != *taken
        });
        missed.count()
    }

    #[test]
    fn learns_a_period_that_fits_its_history_and_then_errs_no_more() {
        let mut predictor = Perceptron::default();
        let pattern = |nth: usize| nth % 200 == 77;
        walk(&mut predictor, (0..16_000).map(pattern));
        assert_eq!(walk(&mut predictor, (16_000..20_000).map(pattern)), 0);
    }

    #[test]
    fn the_first_guess_is_taken_and_one_mistake_turns_every_weight() {
        let mut predictor = Perceptron::default();
        assert_eq!(walk(&mut predictor, [false].into_iter()), 1);
        let sum: i32 = predictor.weights.iter().flatten().map(|weight| i32::from(*weight)).sum();
        assert_eq!(sum, -16);
    }
}
