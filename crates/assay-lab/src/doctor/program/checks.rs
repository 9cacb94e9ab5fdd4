//! The checks of a program, by topic. The rules and their limits: docs/methodology/doctor.md.

mod branches;
mod build;
mod hot_calls;

use super::facts::ProgramFacts;
use crate::examine::check::{Check, CheckFinding, Needs};

/// All checks, in the order of the report.
pub const CHECKS: [Check<ProgramFacts>; 10] = [
    Check::new("unoptimised", "Unoptimised code", Needs::Files, build::unoptimised),
    Check::new("guards", "Assertions and debug checks in a hot place", Needs::Trace, build::guards),
    Check::new(
        "environment",
        "Environment variables read in a hot place",
        Needs::Trace,
        hot_calls::environment,
    ),
    Check::new("clock", "Clocks read in a hot place", Needs::Trace, hot_calls::clock),
    Check::new("text", "Text formatted or written in a hot place", Needs::Trace, hot_calls::text),
    Check::new("random", "Random numbers drawn in a hot place", Needs::Trace, hot_calls::random),
    Check::new("hints", "Wrong branch hints", Needs::Trace, branches::hints),
    Check::new(
        "configuration",
        "Branches on a value that never changes",
        Needs::Trace,
        branches::configuration,
    ),
    Check::new("dispatch", "Indirect calls with a single target", Needs::Trace, branches::dispatch),
    Check::new("system-calls", "A system call per unit", Needs::Trace, hot_calls::system_calls),
];

/// Whether two findings are of one line of source.
fn on_one_line(one: &CheckFinding, other: &CheckFinding) -> bool {
    let line =
        |found: &CheckFinding| found.place.code().and_then(|code| Some((code.file.clone(), code.line?)));
    line(one).is_some_and(|known| Some(known) == line(other))
}

/// Findings of the same source line made one: copies that were inlined, parts of one condition.
fn by_line(found: Vec<CheckFinding>) -> Vec<CheckFinding> {
    let mut merged: Vec<CheckFinding> = Vec::new();
    for one in found {
        match merged.iter_mut().find(|known| known.saw == one.saw && on_one_line(known, &one)) {
            Some(known) => known.cost = known.cost.plus(&one.cost),
            None => merged.push(one),
        }
    }
    merged
}
