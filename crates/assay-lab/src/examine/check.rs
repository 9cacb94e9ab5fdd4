//! The one shape of a check: what it looked at, what it saw there, why that matters, what to change.
//!
//! A check looks at plain data (the [`Facts`] of a machine, an experiment or a program) and measures nothing, so that each can be
//! tested on facts made up on both sides of its thresholds.

use assay_report::doctor::{CheckState, CodePlace};
use std::borrow::Cow;

/// What must be known before a check can look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// Files: the kernel's, the experiment's with its inputs, the program's.
    Files,
    /// The variants of an experiment, built and called.
    Calls,
    /// What was executed.
    Trace,
}

/// What is known of a subject.
pub trait Facts {
    /// Why something that a check needs is not known, if so.
    fn lacks(&self, _: Needs) -> Option<String> {
        None
    }

    /// What a part of the program costs, of the whole.
    fn shares(&self, _: &TracedCost) -> Shares {
        Shares::default()
    }
}

/// Something to look for.
pub struct Check<F> {
    /// Its name, as in findings and in files that accept it.
    pub name: &'static str,
    /// What is looked for, as a heading.
    pub title: &'static str,
    /// What must be known.
    pub needs: Needs,
    /// Looks.
    pub look: fn(&F) -> CheckOutcome,
}

impl<F> Check<F> {
    /// A check of this name, which looks if what it needs is known.
    pub const fn new(
        name: &'static str,
        title: &'static str,
        needs: Needs,
        look: fn(&F) -> CheckOutcome,
    ) -> Check<F> {
        Check { name, title, needs, look }
    }
}

impl<F: Facts> Check<F> {
    /// Looks, if what it needs is known.
    pub fn run(&self, facts: &F) -> CheckOutcome {
        match facts.lacks(self.needs) {
            Some(reason) => CheckOutcome::CannotTell(reason),
            None => (self.look)(facts),
        }
    }
}

/// What came of looking.
#[derive(Clone, Debug, PartialEq)]
pub enum CheckOutcome {
    /// It is there.
    Found(Vec<CheckFinding>),
    /// It is not; what was seen instead, where that says something.
    Clear(Option<String>),
    /// It could not be looked for.
    CannotTell(String),
    /// The file does not set what is needed to look for it.
    NotAsked(String),
}

impl CheckOutcome {
    /// Found, or clear where nothing was.
    pub fn found_or(found: Vec<CheckFinding>, saw: Option<String>) -> CheckOutcome {
        if found.is_empty() { CheckOutcome::Clear(saw) } else { CheckOutcome::Found(found) }
    }

    /// Clear, with what was seen.
    pub fn clear(saw: impl Into<String>) -> CheckOutcome {
        CheckOutcome::Clear(Some(saw.into()))
    }

    /// It could not be looked for.
    pub fn cannot_tell(reason: impl Into<String>) -> CheckOutcome {
        CheckOutcome::CannotTell(reason.into())
    }

    /// Figures of the whole machine are worse for it, or wrong.
    pub fn warning(saw: impl Into<String>, advice: Advice) -> CheckOutcome {
        CheckOutcome::Found(vec![CheckFinding::new(FindingPlace::Machine, saw, advice)])
    }

    /// Worth knowing of the whole machine.
    pub fn note(saw: impl Into<String>, advice: Advice) -> CheckOutcome {
        let found = CheckFinding::new(FindingPlace::Machine, saw, advice);
        CheckOutcome::Found(vec![CheckFinding { state: CheckState::Note, ..found }])
    }
}

/// Why something matters, and what to change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Advice {
    /// Why it matters.
    pub why: &'static str,
    /// What to change.
    pub remedy: Cow<'static, str>,
}

impl Advice {
    /// The same for every finding.
    pub const fn new(why: &'static str, remedy: &'static str) -> Advice {
        Advice { why, remedy: Cow::Borrowed(remedy) }
    }

    /// With a remedy of this finding's own.
    pub fn with(why: &'static str, remedy: String) -> Advice {
        Advice { why, remedy: Cow::Owned(remedy) }
    }
}

/// What a check found.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckFinding {
    /// How bad it is.
    pub state: CheckState,
    /// Where.
    pub place: FindingPlace,
    /// Other places of the same.
    pub also: Vec<String>,
    /// What is there.
    pub saw: String,
    /// What it costs.
    pub cost: TracedCost,
    /// Why it matters, what to change.
    pub advice: Advice,
}

impl CheckFinding {
    /// A warning whose cost is unknown.
    pub fn new(place: FindingPlace, saw: impl Into<String>, advice: Advice) -> CheckFinding {
        let (state, saw) = (CheckState::Warning, saw.into());
        CheckFinding { state, place, also: Vec::new(), saw, cost: TracedCost::default(), advice }
    }
}

/// Where something was found.
#[derive(Clone, Debug, PartialEq)]
pub enum FindingPlace {
    /// The machine, in the part that the check is about.
    Machine,
    /// An experiment.
    Experiment {
        /// For readers: "sum on long".
        label: String,
        /// The variant, if it concerns one.
        variant: Option<String>,
        /// The inputs that show it.
        inputs: Vec<String>,
    },
    /// A program's code.
    Code(CodePlace),
}

impl FindingPlace {
    /// The place in a program's code.
    pub fn code(&self) -> Option<&CodePlace> {
        match self {
            FindingPlace::Code(code) => Some(code),
            FindingPlace::Machine | FindingPlace::Experiment { .. } => None,
        }
    }
}

/// What something costs a traced program.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TracedCost {
    /// Times executed; none where nothing was traced.
    pub executed: Option<u64>,
    /// Branches that it executes.
    pub branches: u64,
    /// Mispredictions of these, the mean over the predictors.
    pub misses: f64,
}

impl TracedCost {
    /// Of something that is no branch itself, or whose branches are unknown.
    pub fn executed(times: u64) -> TracedCost {
        TracedCost { executed: Some(times), ..TracedCost::default() }
    }

    /// Both together.
    pub fn plus(&self, other: &TracedCost) -> TracedCost {
        TracedCost {
            executed: self.executed.zip(other.executed).map(|(one, other)| one + other),
            branches: self.branches + other.branches,
            misses: self.misses + other.misses,
        }
    }
}

/// A cost as shares of the whole command's.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Shares {
    /// Executions per unit of work.
    pub per_unit: Option<f64>,
    /// The share of all branches.
    pub branches: Option<f64>,
    /// The share of all mispredictions.
    pub misses: Option<f64>,
}
