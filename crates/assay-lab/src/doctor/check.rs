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
    fn shares(&self, _: &Cost) -> Shares {
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
    pub look: fn(&F) -> Looked,
}

impl<F: Facts> Check<F> {
    /// Looks, if what it needs is known.
    pub fn run(&self, facts: &F) -> Looked {
        match facts.lacks(self.needs) {
            Some(reason) => Looked::CannotTell(reason),
            None => (self.look)(facts),
        }
    }
}

/// What came of looking.
#[derive(Clone, Debug, PartialEq)]
pub enum Looked {
    /// It is there.
    Found(Vec<Found>),
    /// It is not; what was seen instead, where that says something.
    Clear(Option<String>),
    /// It could not be looked for.
    CannotTell(String),
    /// The file does not set what is needed to look for it.
    NotAsked(String),
}

impl Looked {
    /// Found, or clear where nothing was.
    pub fn found_or(found: Vec<Found>, saw: Option<String>) -> Looked {
        if found.is_empty() { Looked::Clear(saw) } else { Looked::Found(found) }
    }

    /// Clear, with what was seen.
    pub fn clear(saw: impl Into<String>) -> Looked {
        Looked::Clear(Some(saw.into()))
    }

    /// It could not be looked for.
    pub fn cannot_tell(reason: impl Into<String>) -> Looked {
        Looked::CannotTell(reason.into())
    }

    /// Figures of the whole machine are worse for it, or wrong.
    pub fn warning(saw: impl Into<String>, advice: Advice) -> Looked {
        Looked::Found(vec![Found::new(Place::Machine, saw, advice)])
    }

    /// Worth knowing of the whole machine.
    pub fn note(saw: impl Into<String>, advice: Advice) -> Looked {
        let found = Found::new(Place::Machine, saw, advice);
        Looked::Found(vec![Found { state: CheckState::Note, ..found }])
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
pub struct Found {
    /// How bad it is.
    pub state: CheckState,
    /// Where.
    pub place: Place,
    /// Other places of the same.
    pub also: Vec<String>,
    /// What is there.
    pub saw: String,
    /// What it costs.
    pub cost: Cost,
    /// Why it matters, what to change.
    pub advice: Advice,
}

impl Found {
    /// A warning whose cost is unknown.
    pub fn new(place: Place, saw: impl Into<String>, advice: Advice) -> Found {
        let (state, saw) = (CheckState::Warning, saw.into());
        Found { state, place, also: Vec::new(), saw, cost: Cost::default(), advice }
    }
}

/// Where something was found.
#[derive(Clone, Debug, PartialEq)]
pub enum Place {
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

impl Place {
    /// The place in a program's code.
    pub fn code(&self) -> Option<&CodePlace> {
        match self {
            Place::Code(code) => Some(code),
            Place::Machine | Place::Experiment { .. } => None,
        }
    }
}

/// What something costs a traced program.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cost {
    /// Times executed; none where nothing was traced.
    pub executed: Option<u64>,
    /// Branches that it executes.
    pub branches: u64,
    /// Mispredictions of these, the mean over the predictors.
    pub misses: f64,
}

impl Cost {
    /// Of something that is no branch itself, or whose branches are unknown.
    pub fn executed(times: u64) -> Cost {
        Cost { executed: Some(times), ..Cost::default() }
    }

    /// Both together.
    pub fn plus(&self, other: &Cost) -> Cost {
        Cost {
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
