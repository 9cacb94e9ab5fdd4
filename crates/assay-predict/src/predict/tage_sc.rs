//! TAGE-SC of 192 KB, the second of the branch prediction championship of 2025: the best there that needs nothing but
//! branches. The first, RUNLTS, correlates with the values of registers, which a trace of branches does not have.
//!
//! TAGE predicts; a statistical corrector overrules it where a sum of many small tables says otherwise. All tagged tables
//! share one memory; an entry in the way may move to the other way of its table; whether a misprediction gets new entries
//! depends on what new entries have been worth. Histories of nine kinds correct.
//!
//! Source: A. Seznec's predictor of CBP2025 as it stands in CBP-NG (PierreMichaud-Inria/cbp-ng, 2025), whose licence is
//! beside these files (LICENSE.cbp-ng.txt): Copyright (c) 2025 INRIA, Pierre Michaud, Ampere Computing; that permission
//! notice applies to what they owe to it. The structure, the turning frame of the folds and the code are our own.
//!
//! Known limits: as in the published program a branch that was not taken goes on 4 bytes later, whatever its length.
//! Updates are immediate; a real pipeline learns later.
//!
//! Checked: `golden_tage_sc` compares every prediction with those of the published program on the golden streams, and
//! counts and hashes on streams of random programs (docs/methodology/branches.md).

#![allow(clippy::needless_range_loop, reason = "lanes of several arrays in step, for vector instructions")]

mod allocation;
mod base;
mod biases;
mod corrector;
mod dice;
mod hash;
mod histories;
mod past;
mod rows;
mod tables;

use super::{DirectionPredictor, PredictionKind, PredictorEntry, Simulated};
use crate::trace::Branch;
use allocation::{Allocation, Ending};
use corrector::{Correction, Corrector};
use past::{BITS, Past, Step};
use tables::Tables;

/// The names of this family.
pub const ENTRIES: &[PredictorEntry] = &[PredictorEntry {
    name: "tage-sc-192k",
    what: "TAGE-SC of 192 KB: TAGE over 3 to 1000 branches in 28 tables, statistical corrector over nine histories",
    source: "Seznec, predictor of CBP2025, as in CBP-NG, MIT-style licence, 2025",
    judges: &[PredictionKind::Direction],
    make: || Box::new(Simulated(TageSc::new())),
}];

/// The table whose tag of the branch at hand stirs the random numbers.
const STIRRING_TABLE: usize = 4;

/// The predictor.
pub struct TageSc {
    past: Past,
    tables: Tables,
    allocation: Allocation,
    corrector: Corrector,
    correction: Correction,
}

impl Default for TageSc {
    fn default() -> TageSc {
        TageSc::new()
    }
}

impl TageSc {
    /// One that has seen nothing.
    pub fn new() -> TageSc {
        TageSc {
            past: Past::new(),
            tables: Tables::new(),
            allocation: Allocation::new(),
            corrector: Corrector::new(),
            correction: Correction::default(),
        }
    }
}

impl DirectionPredictor for TageSc {
    #[inline]
    fn predict(&mut self, pc: u64, _target: u64) -> bool {
        let word = pc >> 2;
        self.tables.look_up(&self.past, word);
        self.correction = self.corrector.correct(word, &self.tables.found);
        self.correction.prediction
    }

    #[inline]
    fn train(&mut self, branch: &Branch, _predicted: bool) {
        let taken = branch.taken();
        self.corrector.learn(taken);
        // The published program takes the branch into its past first, which stirs the random numbers.
        let tag = self.tables.found.places.tag[STIRRING_TABLE - 1];
        let bits = BITS.wrapping_mul(self.past.pushed() as u32 + 1);
        self.allocation.dice.stir(self.past.path_after(Step::of(branch)), bits, tag);
        let foreseen = self.correction.early_says == taken;
        self.allocation.learn(&mut self.tables, Ending { taken, foreseen, word: branch.pc >> 2 });
        self.tables.learn(taken, self.correction.sum_says == taken);
    }

    #[inline]
    fn track(&mut self, branch: &Branch) {
        self.corrector.track(branch);
        self.past.push(Step::of(branch));
    }

    fn storage_bits(&self) -> u64 {
        Tables::storage_bits() + Allocation::storage_bits() + Corrector::storage_bits()
    }
}
