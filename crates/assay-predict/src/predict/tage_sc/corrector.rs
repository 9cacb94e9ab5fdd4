//! The statistical corrector: the sum of many small tables decides, unless it is close to 0 and TAGE is sure.

use super::biases::Biases;
use super::histories::Histories;
use super::rows::{Kind, Rows};
use super::tables::Found;
use crate::predict::tage_sc_l::component::nudge;
use crate::trace::Branch;

/// The largest weight.
const WEIGHT_TOP: i8 = 31;
/// A weight of 0 counts this much.
const ONE: i32 = 64;
/// The largest threshold for all branches, and of those for some.
const THRESHOLD_TOP: i32 = (1 << 15) - 1;
const LOCAL_THRESHOLD_TOP: i32 = (1 << 11) - 1;
/// Thresholds and weights that branches share.
const SHARED: usize = 32;

/// What counts more or less where it has been worth it: two weights are multiplied, each shared by other branches.
#[derive(Clone)]
struct Weighted {
    weights: [[i8; SHARED]; 2],
    sum: i32,
}

impl Weighted {
    fn new() -> Weighted {
        Weighted { weights: [[0; SHARED]; 2], sum: 0 }
    }

    #[inline(always)]
    fn weigh(&mut self, shared: [usize; 2], sum: i32) -> i32 {
        let weight = |nth: usize| ONE + i32::from(self.weights[nth][shared[nth]]);
        self.sum = (weight(0) * weight(1) * sum) >> 11;
        self.sum
    }

    /// Moves the weights if leaving this sum out would turn the `total`.
    #[inline(always)]
    fn learn(&mut self, shared: [usize; 2], taken: bool, total: i32) {
        if (self.sum >= 0) != (total - self.sum >= 0) {
            for (weights, at) in self.weights.iter_mut().zip(shared) {
                weights[at] = nudge(weights[at], (self.sum >= 0) == taken, WEIGHT_TOP);
            }
        }
    }
}

/// What the corrector made of a branch.
#[derive(Clone, Copy, Default)]
pub struct Correction {
    /// The prediction.
    pub prediction: bool,
    /// What its sum says.
    pub sum_says: bool,
    /// What it says without iterations and histories that are not of all branches.
    pub early_says: bool,
}

/// The corrector.
pub struct Corrector {
    histories: Histories,
    biases: Biases,
    rows: Rows,
    locals: Weighted,
    iterations: Weighted,
    threshold: i32,
    thresholds: [[i32; SHARED]; 2],
    shared: [usize; 2],
    backward: bool,
    total: i32,
    bar: i32,
}

impl Corrector {
    /// One that has seen nothing.
    pub fn new() -> Corrector {
        Corrector {
            histories: Histories::new(),
            biases: Biases::new(),
            rows: Rows::new(),
            locals: Weighted::new(),
            iterations: Weighted::new(),
            threshold: 23,
            thresholds: [[0; SHARED]; 2],
            shared: [0; 2],
            backward: false,
            total: 0,
            bar: 0,
        }
    }

    /// What it makes of the branch at this word.
    #[inline(always)]
    pub fn correct(&mut self, word: u64, found: &Found) -> Correction {
        let (question, backward) = self.histories.question(word, found);
        let (biases, iterations) = self.biases.weigh(word, found, &self.histories.iterations);
        let says = self.rows.weigh(&question);
        let say = |kind: Kind| says[kind as usize];
        let early = biases + say(Kind::Global) + say(Kind::Told);
        let behind = if backward { say(Kind::Backward) } else { 0 };
        let locals = say(Kind::Own) + say(Kind::Block) + say(Kind::Marked) + say(Kind::Way);
        self.backward = backward;
        self.shared = [word ^ word >> 2, word ^ word >> 5 ^ word >> 3].map(|at| at as usize % SHARED);
        self.total = early
            + say(Kind::Forward)
            + say(Kind::Region)
            + behind
            + self.locals.weigh(self.shared, locals)
            + self.iterations.weigh(self.shared, iterations);
        self.bar = self.threshold + self.thresholds[0][self.shared[0]] + self.thresholds[1][self.shared[1]];
        let sum_says = self.total >= 0;
        let decides = found.longest.sureness != 3 || self.total.abs() >= self.bar / 2;
        let prediction = if decides { sum_says } else { found.longest.taken };
        Correction { prediction, sum_says, early_says: early >= 0 }
    }

    /// Learns the direction of the branch that it was asked about last.
    #[inline(always)]
    pub fn learn(&mut self, taken: bool) {
        let wrong = (self.total >= 0) != taken;
        if !wrong && self.total.abs() >= self.bar {
            return;
        }
        self.locals.learn(self.shared, taken, self.total);
        self.iterations.learn(self.shared, taken, self.total);
        if self.total.abs() >= self.bar / 2 {
            let step = if wrong { 1 } else { -1 };
            self.threshold = (self.threshold + step).clamp(0, THRESHOLD_TOP);
            for (thresholds, at) in self.thresholds.iter_mut().zip(self.shared) {
                thresholds[at] = (thresholds[at] + step).clamp(0, LOCAL_THRESHOLD_TOP);
            }
        }
        self.biases.learn(taken);
        self.rows.learn(taken, self.backward);
    }

    /// Takes in a branch.
    #[inline(always)]
    pub fn track(&mut self, branch: &Branch) {
        self.histories.track(branch);
    }

    /// Bits in hardware, as published: thresholds and biases; rows of all branches; iterations; local rows.
    pub fn storage_bits() -> u64 {
        let shared = SHARED as u64;
        let weights = 2 * 6 * shared;
        let thresholds = 15 + 2 * 11 * shared;
        let histories = 53 + 11 + 10 + 12;
        let iterations = 4 * 11 + 2 * 10 + 2 * 14;
        let locals = 128 * 25 + 32 * 30 + 16 * 45 + 32 * 17;
        thresholds
            + Biases::storage_bits()
            + Rows::storage_bits()
            + histories
            + Biases::storage_bits_by_iteration()
            + iterations
            + weights
            + locals
            + weights
    }
}
