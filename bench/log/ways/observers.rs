//! What is done with records that are read.

use assay_pure::predict::{Steps, Tally, Zoo};
use assay_pure::trace::{Branch, BranchSite};
use assay_trace::{BranchForm, Observer};

/// Counts conditional branches.
#[derive(Default)]
pub struct Counter(pub u64);

impl Observer for Counter {
    fn wanted(&self) -> BranchForm {
        BranchForm::Steps { all: false }
    }

    fn branches(&mut self, _: &[BranchSite], _: &[Branch]) {}

    fn steps(&mut self, steps: Steps<'_>) {
        self.0 += steps.branches() as u64;
    }
}

/// Has predictors judge them.
pub struct Judge(Zoo, Tally);

impl Judge {
    /// By a predictor of this name.
    pub fn new(predictor: &str) -> Judge {
        Judge(Zoo::new(&[predictor]).expect("a predictor"), Tally::new(1))
    }
}

impl Observer for Judge {
    fn wanted(&self) -> BranchForm {
        BranchForm::Steps { all: self.0.sees_all() }
    }

    fn branches(&mut self, _: &[BranchSite], _: &[Branch]) {}

    fn steps(&mut self, steps: Steps<'_>) {
        self.0.observe_steps(steps, &mut self.1);
    }
}
