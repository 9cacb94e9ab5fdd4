//! Branches on their way to an observer, in the form that it wants, and how many of each class there were.

use super::runs::Run;
use crate::{BranchForm, ClassCounts, Observer};
use assay_pure::predict::{IS_RUN, Repeated, RunTable, Steps};
use assay_pure::trace::{Branch, BranchSite};

/// Branches that are handed on at once.
pub(super) const BATCH: usize = 8192;

/// Which forms are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum WrittenForms {
    /// Each branch by itself.
    #[default]
    Branches,
    /// Events and runs of conditional ones.
    Conditionals,
    /// These, and events of all.
    Steps,
    /// Every form, for a run that may be wanted in any.
    Every,
}

/// Branches that wait.
#[derive(Default)]
pub(super) struct Batch {
    forms: WrittenForms,
    pub(super) branches: Vec<Branch>,
    pub(super) conditionals: Vec<u32>,
    pub(super) all: Vec<u32>,
    pub(super) targets: Vec<u64>,
    /// Events and runs that wait in repeated ones.
    repeated: usize,
    /// What was executed on all ways that were walked.
    pub(super) counts: ClassCounts,
}

impl Batch {
    /// Its counts know how many branches were taken.
    pub(super) fn counting() -> Batch {
        Batch { counts: ClassCounts::with_taken(), ..Batch::default() }
    }

    /// In every form.
    pub(super) fn in_every_form() -> Batch {
        Batch { forms: WrittenForms::Every, ..Batch::counting() }
    }

    /// What an observer wants from now on.
    pub(super) fn want(&mut self, form: BranchForm) {
        self.forms = match form {
            BranchForm::Branches => WrittenForms::Branches,
            BranchForm::Steps { all: false } => WrittenForms::Conditionals,
            BranchForm::Steps { all: true } => WrittenForms::Steps,
        };
    }

    #[inline]
    pub(super) fn is_full(&self) -> bool {
        let conditionals = self.conditionals.len() + self.repeated;
        self.branches.len().max(conditionals).max(self.all.len()) >= BATCH
    }

    /// One more.
    #[inline]
    pub(super) fn push(&mut self, branch: Branch) {
        let (class, event) = (branch.class(), branch.site << 1 | u32::from(branch.taken()));
        if matches!(self.forms, WrittenForms::Branches | WrittenForms::Every) {
            self.branches.push(branch);
        }
        if self.forms != WrittenForms::Branches && class.is_conditional() {
            self.conditionals.push(event);
        }
        if matches!(self.forms, WrittenForms::Steps | WrittenForms::Every) {
            self.all.push(event);
            if class.is_indirect() {
                self.targets.push(branch.target);
            }
        }
    }

    /// Direct jumps and calls in a row, where so many instructions were executed since the last branch before them. Returns how many
    /// were since the last of these.
    #[inline]
    pub(super) fn pass(&mut self, passed: &[Branch], carry: u32) -> u32 {
        let Some((first, others)) = passed.split_first() else { return carry };
        if self.forms != WrittenForms::Conditionals {
            self.push(first.again(first.target, true, first.instructions() + carry));
            others.iter().for_each(|branch| self.push(*branch));
        }
        0
    }

    /// Runs with conditional branches, at most [`Repeated::ELEMENTS`], so often in a row. They alone are wanted.
    pub(super) fn repeat(&mut self, runs: impl Iterator<Item = u32>, times: usize) {
        let place = self.conditionals.len();
        self.conditionals.push(0);
        self.conditionals.extend(runs.map(|run| IS_RUN | run));
        let elements = self.conditionals.len() - place - 1;
        self.conditionals[place] = Repeated { elements, times }.element();
        self.repeated += elements * times;
    }

    /// Whether conditional branches alone are wanted.
    pub(super) fn is_of_conditionals(&self) -> bool {
        self.forms == WrittenForms::Conditionals
    }

    /// Those of a run, which has conditional branches or not.
    #[inline]
    pub(super) fn extend(&mut self, number: u32, run: &Run, conditional: bool) {
        if self.forms != WrittenForms::Branches && conditional {
            self.conditionals.push(IS_RUN | number);
        }
        match self.forms {
            WrittenForms::Branches => self.branches.extend_from_slice(&run.branches),
            WrittenForms::Conditionals => {}
            WrittenForms::Steps | WrittenForms::Every => {
                self.all.extend_from_slice(&run.all);
                self.targets.extend_from_slice(&run.targets);
            }
        }
    }

    /// To the observer.
    pub(super) fn hand_on(
        &mut self,
        sites: &[BranchSite],
        step_sites: &[Branch],
        runs: &RunTable,
        observer: &mut dyn Observer,
    ) {
        if self.forms == WrittenForms::Branches {
            if !self.branches.is_empty() {
                observer.branches(sites, &self.branches);
            }
        } else if !self.conditionals.is_empty() || !self.all.is_empty() {
            observer.steps(Steps {
                sites: step_sites,
                conditionals: &self.conditionals,
                runs,
                all: &self.all,
                targets: &self.targets,
            });
        }
        self.branches.clear();
        self.conditionals.clear();
        self.repeated = 0;
        self.all.clear();
        self.targets.clear();
    }
}
