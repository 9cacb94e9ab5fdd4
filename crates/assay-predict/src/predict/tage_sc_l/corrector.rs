//! The statistical corrector: overrules the prediction where branches like this one have gone the other way.
//!
//! It adds up what many small tables of counters say, indexed by the address, by what TAGE thinks, and by histories that
//! TAGE does not keep: local ones, loop iterations, backward branches. Where the sum is far enough from 0, given how sure
//! TAGE is, it decides.

use super::component::{nudge, reconsider, spot};
use super::tage::TageLookup;
use crate::trace::Branch;

/// What the corrector is asked.
#[derive(Clone, Copy, Default)]
pub struct CorrectorInput {
    /// Address of the branch.
    pub pc: u64,
    /// The prediction so far.
    pub prediction: bool,
    /// TAGE's path register.
    pub path: u32,
}

/// The tables and histories that the sizes do not share.
pub trait CorrectorComponents {
    /// Binary logarithm of the entries of each bias table.
    const BIAS_LOG: u32;
    /// Whether the bias by tables is also one by address.
    const BANK_BIAS_BY_ADDRESS: bool;

    /// Of no history.
    fn new() -> Self;

    /// The sum of what they say.
    fn weigh(&mut self, question: &CorrectorInput) -> i32;

    /// By how much the threshold rises because components, or the bias, count double.
    fn raise(&self, pc: u64, bias_doubled: i32) -> i32;

    /// They learn a direction; `total` is what all together said.
    fn learn(&mut self, taken: bool, total: i32);

    /// Takes a conditional branch into the histories; `backward` if its target lies before it.
    fn track(&mut self, branch: &Branch, backward: bool);

    /// Bits in hardware, without the bias tables.
    fn storage_bits(&self) -> u64;
}

/// The largest counter of a bias table, and the largest weight.
const BIAS_TOP: i8 = 31;
/// The largest counter of the choosers.
const CHOOSER_TOP: i8 = 63;
/// The largest threshold, in eighths.
const THRESHOLD_TOP: i32 = 2047;

/// The bias tables: what such predictions were worth, by address and sureness of TAGE.
struct Bias {
    /// Low sureness with disagreement; high sureness; the matching tables.
    tables: [[i8; 256]; 3],
    weights: [i8; 8],
    found: [usize; 3],
    sum: i32,
}

impl Bias {
    /// In favour of the prediction, less so where it is expected to be unsure.
    fn new() -> Bias {
        let fill = |four: [i8; 4]| std::array::from_fn(|at| four[at % 4]);
        let tables = [fill([-32, 31, -1, 0]), fill([-8, 7, -32, 31]), fill([-32, 31, -1, 0])];
        Bias { tables, weights: [4; 8], found: [0; 3], sum: 0 }
    }

    #[inline(always)]
    fn weigh<C: CorrectorComponents>(&mut self, question: &CorrectorInput, found: &TageLookup) -> i32 {
        let pc = question.pc as usize;
        let (low, high) = (found.sureness == 0, found.sureness == 3);
        let disagrees = low && found.longest != found.alternate;
        let prediction = usize::from(question.prediction);
        let mixed = pc ^ pc >> 2;
        let by_tables = ((found.longest_table as usize + 1) / 4) << 4
            | usize::from(found.alternate_table != 0) << 3
            | usize::from(low) << 2
            | usize::from(high) << 1;
        let by_address = if C::BANK_BIAS_BY_ADDRESS { mixed << 7 } else { 0 };
        let mask = (1 << C::BIAS_LOG) - 1;
        self.found = [
            (mixed << 2 ^ usize::from(disagrees) << 1 | prediction) & mask,
            ((pc ^ pc >> (C::BIAS_LOG - 2)) << 2 ^ usize::from(high) << 1 | prediction) & mask,
            (by_tables + by_address + prediction) & mask,
        ];
        self.sum = 0;
        for (table, found) in self.tables.iter().zip(self.found) {
            self.sum += 2 * i32::from(table[found % 256]) + 1;
        }
        self.sum << self.is_doubled(question.pc)
    }

    #[inline(always)]
    fn is_doubled(&self, pc: u64) -> i32 {
        i32::from(self.weights[spot(pc, 8)] >= 0)
    }

    #[inline(always)]
    fn learn(&mut self, pc: u64, taken: bool, total: i32) {
        reconsider(&mut self.weights[spot(pc, 8)], self.sum, taken, total);
        for (table, found) in self.tables.iter_mut().zip(self.found) {
            let counter = &mut table[found % 256];
            *counter = nudge(*counter, taken, BIAS_TOP);
        }
    }
}

/// A statistical corrector with the components C.
pub struct Corrector<C> {
    bias: Bias,
    components: C,
    /// In eighths; learnt from all branches.
    threshold: i32,
    /// What is added for some branches.
    thresholds: [i8; 64],
    /// Whether TAGE was right where it was fairly sure and where it was sure, and the sum was close to 0.
    choosers: [i8; 2],
    question: CorrectorInput,
    total: i32,
    bar: i32,
}

impl<C: CorrectorComponents> Default for Corrector<C> {
    /// One that has seen nothing.
    fn default() -> Corrector<C> {
        Corrector {
            bias: Bias::new(),
            components: C::new(),
            threshold: 35 << 3,
            thresholds: [0; 64],
            choosers: [0; 2],
            question: CorrectorInput::default(),
            total: 0,
            bar: 0,
        }
    }
}

impl<C: CorrectorComponents> Corrector<C> {
    /// The prediction, corrected or not.
    #[inline(always)]
    pub fn correct(&mut self, question: CorrectorInput, found: &TageLookup) -> bool {
        let pc = question.pc;
        self.total = self.bias.weigh::<C>(&question, found) + self.components.weigh(&question);
        self.bar = (self.threshold >> 3)
            + i32::from(self.thresholds[spot(pc, 64)])
            + self.components.raise(pc, self.bias.is_doubled(pc));
        self.question = question;
        let says = self.total >= 0;
        let close = self.total.abs();
        let overrules = match found.sureness {
            3 if close < self.bar / 4 => false,
            3 if close < self.bar / 2 => self.choosers[1] < 0,
            2 if close < self.bar / 4 => self.choosers[0] < 0,
            _ => true,
        };
        if overrules { says } else { question.prediction }
    }

    /// Learns the direction of the branch that it was asked about last.
    #[inline(always)]
    pub fn learn(&mut self, taken: bool, found: &TageLookup) {
        let says = self.total >= 0;
        let close = self.total.abs();
        if says != self.question.prediction {
            self.judge_choosers(self.question.prediction == taken, close, found.sureness);
        }
        if says != taken || close < self.bar {
            let wrong = says != taken;
            let step = if wrong { 1 } else { -1 };
            self.threshold = (self.threshold + step).clamp(!THRESHOLD_TOP, THRESHOLD_TOP);
            let own = &mut self.thresholds[spot(self.question.pc, 64)];
            *own = own.saturating_add(step as i8);
            self.bias.learn(self.question.pc, taken, self.total);
            self.components.learn(taken, self.total);
        }
    }

    #[inline(always)]
    fn judge_choosers(&mut self, was_right: bool, close: i32, sureness: u8) {
        let near = close < self.bar / 4;
        let chooser = match sureness {
            3 if close < self.bar && close < self.bar / 2 && !near => 1,
            2 if near => 0,
            _ => return,
        };
        self.choosers[chooser] = nudge(self.choosers[chooser], was_right, CHOOSER_TOP);
    }

    /// Takes a branch into the histories.
    #[inline(always)]
    pub fn track(&mut self, branch: &Branch) {
        if branch.class().is_conditional() {
            self.components.track(branch, branch.target < branch.pc);
        }
    }

    /// Bits in hardware.
    pub fn storage_bits(&self) -> u64 {
        let bias = 3 * (6 << C::BIAS_LOG) + 6 * 8;
        bias + 12 + 8 * 64 + 2 * 7 + self.components.storage_bits()
    }
}
