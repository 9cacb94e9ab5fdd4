//! The checks of an experiment, by topic. The rules and their limits: docs/methodology/doctor.md.

mod inputs;
mod region;
mod work;

pub use inputs::hardest;
pub use region::FEWEST_WINDOWS;

use super::facts::{ExperimentFacts, TracedCell};
use crate::examine::check::{Advice, Check, CheckFinding, CheckOutcome, Needs};

/// All checks, in the order of the report; their names are `assay_pure::experiment::acceptance::CHECKS`.
pub const CHECKS: [Check<ExperimentFacts>; 12] = [
    Check::new("dead-code", "Dead code", Needs::Calls, work::dead_code),
    Check::new("hoisted-work", "Work hoisted out of the measured calls", Needs::Calls, work::hoisted_work),
    Check::new("sub-cycle", "Times shorter than the work can take", Needs::Calls, work::sub_cycle),
    Check::new(
        "unused-answers",
        "Answers that do not depend on the input",
        Needs::Calls,
        work::unused_answers,
    ),
    Check::new("unequal-work", "Unequal work per call", Needs::Trace, region::unequal_work),
    Check::new("setup-inside", "Setup inside the measured region", Needs::Trace, region::setup_inside),
    Check::new("too-few-units", "Samples too short for the timer", Needs::Calls, region::too_few_units),
    Check::new(
        "first-touch",
        "Memory touched for the first time in each call",
        Needs::Calls,
        region::first_touch,
    ),
    Check::new("memorised", "Inputs that the predictor memorises", Needs::Calls, inputs::memorised),
    Check::new(
        "smaller-than-production",
        "Inputs smaller than production's",
        Needs::Files,
        inputs::smaller_than_production,
    ),
    Check::new("all-in-l1", "All inputs fit the L1 cache", Needs::Files, inputs::all_in_l1),
    Check::new("unpaired-sizes", "Sizes that cannot be compared", Needs::Calls, inputs::unpaired_sizes),
];

/// Finds in each cell what `of_cell` sees there.
fn in_cells(
    facts: &ExperimentFacts,
    of_cell: impl Fn(&TracedCell) -> Option<(String, Advice)>,
) -> CheckOutcome {
    let found = facts.cells.iter().filter_map(|cell| {
        let (saw, advice) = of_cell(cell)?;
        Some(CheckFinding::new(facts.place(cell), saw, advice))
    });
    CheckOutcome::found_or(found.collect(), None)
}
