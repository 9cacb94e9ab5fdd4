//! The checks of an experiment, a file each. The rules and their limits: docs/methodology/doctor.md.

mod all_in_l1;
mod dead_code;
mod hoisted_work;
mod memorised;
mod setup_inside;
mod smaller_than_production;
mod sub_cycle;
#[cfg(test)]
mod tests;
mod too_few_units;
mod unequal_work;
mod unpaired_sizes;
mod unused_answers;

pub use unequal_work::FEWEST_WINDOWS;

use super::facts::{Cell, Facts};
use assay_report::doctor::examination::State;

/// Something to look for.
pub struct Check {
    /// Its name, as in files that accept it.
    pub name: &'static str,
    /// What is looked for, as a heading.
    pub title: &'static str,
    /// It needs the file and the inputs only: nothing is built, timed or traced.
    pub is_cheap: bool,
    /// Looks.
    pub look: fn(&Facts) -> Looked,
}

/// What came of looking.
#[derive(Clone, Debug, PartialEq)]
pub enum Looked {
    /// It is there.
    Found(Vec<Found>),
    /// It is not; what was seen instead, where that says something.
    Well(Option<String>),
    /// It could not be looked for.
    CannotTell(String),
    /// Nobody said what is needed to look for it.
    NotAsked(String),
}

/// What a check found.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// How bad it is.
    pub state: State,
    /// Where, for readers.
    pub place: String,
    /// The variant, where it is of one.
    pub variant: Option<String>,
    /// The inputs that show it.
    pub inputs: Vec<String>,
    /// What is there.
    pub saw: String,
    /// Why it matters.
    pub why: &'static str,
    /// What to change.
    pub remedy: String,
}

impl Found {
    /// A finding of one cell.
    fn of(facts: &Facts, cell: &Cell, saw: String, (why, remedy): (&'static str, &str)) -> Found {
        Found {
            state: State::Warning,
            place: facts.place(cell),
            variant: Some(cell.variant.clone()),
            inputs: facts.inputs.get(cell.input).map(|input| input.name.clone()).into_iter().collect(),
            saw,
            why,
            remedy: remedy.to_owned(),
        }
    }

    /// A finding of the experiment's inputs.
    fn of_inputs(
        inputs: Vec<String>,
        place: String,
        saw: String,
        (why, remedy): (&'static str, String),
    ) -> Found {
        Found { state: State::Warning, place, variant: None, inputs, saw, why, remedy }
    }
}

/// Found, or well where nothing was.
fn found_or_well(found: Vec<Found>, saw: Option<String>) -> Looked {
    if found.is_empty() { Looked::Well(saw) } else { Looked::Found(found) }
}

/// Why nothing of the program is known.
fn nothing_examined() -> Looked {
    Looked::CannotTell("no variant could be built and started".to_owned())
}

/// All checks, in the order of the report; their names are `assay_pure::experiment::acceptance::CHECKS`.
pub const CHECKS: [Check; 11] = [
    Check { name: "dead-code", title: "Dead code", is_cheap: false, look: dead_code::look },
    Check {
        name: "hoisted-work",
        title: "Work done ahead of the loop",
        is_cheap: false,
        look: hoisted_work::look,
    },
    Check {
        name: "sub-cycle",
        title: "Times shorter than the work can take",
        is_cheap: false,
        look: sub_cycle::look,
    },
    Check {
        name: "unused-answers",
        title: "Answers that say nothing",
        is_cheap: false,
        look: unused_answers::look,
    },
    Check {
        name: "unequal-work",
        title: "Unequal work per iteration",
        is_cheap: false,
        look: unequal_work::look,
    },
    Check {
        name: "setup-inside",
        title: "A setup inside the region",
        is_cheap: false,
        look: setup_inside::look,
    },
    Check {
        name: "too-few-units",
        title: "Too few units for the timer",
        is_cheap: false,
        look: too_few_units::look,
    },
    Check {
        name: "memorised",
        title: "Inputs that the predictor has memorised",
        is_cheap: false,
        look: memorised::look,
    },
    Check {
        name: "smaller-than-production",
        title: "Inputs smaller than what production has",
        is_cheap: true,
        look: smaller_than_production::look,
    },
    Check {
        name: "all-in-l1",
        title: "Everything in the first-level cache",
        is_cheap: true,
        look: all_in_l1::look,
    },
    Check { name: "unpaired-sizes", title: "Unpaired sizes", is_cheap: true, look: unpaired_sizes::look },
];
