//! TAGE-SC-L, the winner of the fifth branch prediction championship, in its sizes of 8 and 64 KB.
//!
//! TAGE predicts; a loop predictor overrules it where a loop always runs as often; a statistical corrector overrules
//! both where branches like this one have gone the other way. Also TAGE alone, in the same sizes.
//!
//! Sources: A. Seznec's predictor of CBP-5 ("TAGE-SC-L branch predictors again", 2016) as gem5's models of both sizes
//! (src/cpu/pred, BSD-3-Clause), Scarab's template (MIT) and CBP-NG's descendant of it (MIT-style) describe it; which of
//! them is right where they differ was decided by the golden streams and, for the random numbers of 8 KB, by the state
//! of the published program while it ran. The structure, the vector-friendly folds and the code are our own.
//!
//! Known limits: updates are immediate, as in the championship; a real pipeline learns later.
//!
//! Checked: `golden_tage_sc_l` compares every prediction with those of the published programs on the golden streams,
//! and counts and hashes on streams of random programs, which have what those lack (docs/methodology/branches.md).
#![allow(clippy::needless_range_loop, reason = "lanes of several arrays in step, for vector instructions")]

pub mod base;
pub mod budget;
pub mod component;
pub mod corrector;
pub mod corrector_64;
pub mod corrector_8;
pub mod dice;
pub mod folds;
pub mod history;
pub mod kb64;
pub mod kb8;
pub mod lanes;
pub mod local;
pub mod loops;
pub mod tage;

pub use budget::Budget;
pub use kb8::Kb8;
pub use kb64::Kb64;
pub use tage::PublishedTage;

use super::{DirectionPredictor, PredictionKind, PredictorEntry, Simulated};
use crate::trace::Branch;
use corrector::{Corrector, CorrectorInput};
use loops::Loops;

/// The names of this family.
pub const ENTRIES: &[PredictorEntry] = &[
    PredictorEntry {
        name: "tage-sc-l-64k",
        what: "TAGE-SC-L of 64 KB: TAGE over histories of 6 to 3000 bits, loop predictor, statistical corrector",
        source: SOURCE,
        judges: &[PredictionKind::Direction],
        make: || Box::new(Simulated(TageScL::<Kb64>::new())),
    },
    PredictorEntry {
        name: "tage-sc-l-8k",
        what: "TAGE-SC-L of 8 KB: TAGE over histories of 4 to 1000 bits, loop predictor, statistical corrector",
        source: SOURCE,
        judges: &[PredictionKind::Direction],
        make: || Box::new(Simulated(TageScL::<Kb8>::new())),
    },
    PredictorEntry {
        name: "tage-64k",
        what: "the TAGE part of tage-sc-l-64k alone: 21 tagged tables and a base table",
        source: SOURCE,
        judges: &[PredictionKind::Direction],
        make: || Box::new(Simulated(PublishedTage::<Kb64>::new())),
    },
    PredictorEntry {
        name: "tage-8k",
        what: "the TAGE part of tage-sc-l-8k alone: 22 tagged tables and a base table",
        source: SOURCE,
        judges: &[PredictionKind::Direction],
        make: || Box::new(Simulated(PublishedTage::<Kb8>::new())),
    },
];

const SOURCE: &str = "Seznec, \"TAGE-SC-L branch predictors again\", CBP-5, 2016";

/// A TAGE-SC-L predictor of size B.
pub struct TageScL<B: Budget> {
    tage: PublishedTage<B>,
    loops: Loops<B>,
    corrector: Corrector<B::Components>,
}

impl<B: Budget> Default for TageScL<B> {
    fn default() -> Self {
        TageScL::new()
    }
}

impl<B: Budget> TageScL<B> {
    /// One that has seen nothing.
    pub fn new() -> TageScL<B> {
        TageScL { tage: PublishedTage::new(), loops: Loops::default(), corrector: Corrector::default() }
    }
}

impl<B: Budget> DirectionPredictor for TageScL<B> {
    #[inline(always)]
    fn predict(&mut self, pc: u64, _target: u64) -> bool {
        let tage = self.tage.look_up(pc);
        let prediction = self.loops.predict(pc).unwrap_or(tage);
        let question = CorrectorInput { pc, prediction, path: self.tage.path() };
        self.corrector.correct(question, self.tage.found())
    }

    #[inline(always)]
    fn train(&mut self, branch: &Branch, predicted: bool) {
        let taken = branch.taken();
        let tage = self.tage.found().prediction;
        self.loops.learn(taken, tage, predicted, || self.tage.roll());
        self.corrector.learn(taken, self.tage.found());
        self.tage.learn(taken, predicted);
    }

    #[inline(always)]
    fn track(&mut self, branch: &Branch) {
        self.corrector.track(branch);
        self.tage.track(branch);
    }

    fn storage_bits(&self) -> u64 {
        self.tage.storage_bits() + self.loops.storage_bits() + self.corrector.storage_bits()
    }
}
