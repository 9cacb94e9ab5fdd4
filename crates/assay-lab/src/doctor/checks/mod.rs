//! What is looked for, a file each.

mod configuration;
mod dispatch;
mod guards;
mod hints;
mod libraries;
mod system_calls;
mod unoptimised;

use super::subject::Subject;
use assay_report::doctor::page::{Finding, Place};

/// Something to look for.
pub struct Check {
    /// Its name.
    pub name: &'static str,
    /// What is looked for, as a heading.
    pub title: &'static str,
    /// It needs to know what was executed.
    pub needs_trace: bool,
    look: fn(&Subject) -> Vec<Found>,
}

impl Check {
    /// What is there, the greatest share of branches first.
    pub fn look(&self, subject: &Subject) -> Vec<Finding> {
        let mut found = (self.look)(subject);
        found.sort_by(|one, other| {
            let share = |found: &Found| found.branches.max(found.executed.unwrap_or(0));
            share(other).cmp(&share(one)).then_with(|| key(&one.place).cmp(&key(&other.place)))
        });
        found.into_iter().map(|found| found.finding(self.name, subject)).collect()
    }
}

fn key(place: &Place) -> (Option<&str>, Option<u32>, &str) {
    (place.file.as_deref(), place.line, &place.address)
}

/// All checks, in the order of the report.
pub const CHECKS: [Check; 10] = [
    Check { name: "unoptimised", title: "Unoptimised code", needs_trace: false, look: unoptimised::look },
    Check { name: "guards", title: "Assertions and debug guards", needs_trace: true, look: guards::look },
    Check {
        name: "environment",
        title: "The environment read in a hot place",
        needs_trace: true,
        look: libraries::environment,
    },
    Check { name: "clock", title: "Clocks read in a hot place", needs_trace: true, look: libraries::clock },
    Check {
        name: "text",
        title: "Text made or written in a hot place",
        needs_trace: true,
        look: libraries::text,
    },
    Check {
        name: "random",
        title: "Random numbers drawn in a hot place",
        needs_trace: true,
        look: libraries::random,
    },
    Check {
        name: "hints",
        title: "Hints that contradict what happens",
        needs_trace: true,
        look: hints::look,
    },
    Check {
        name: "configuration",
        title: "Branches on a value that never changes",
        needs_trace: true,
        look: configuration::look,
    },
    Check {
        name: "dispatch",
        title: "Indirect calls that always go to one function",
        needs_trace: true,
        look: dispatch::look,
    },
    Check {
        name: "system-calls",
        title: "A system call per unit",
        needs_trace: true,
        look: system_calls::look,
    },
];

/// What a check found, before it is put into words of shares.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Found {
    saw: String,
    place: Place,
    also: Vec<String>,
    executed: Option<u64>,
    branches: u64,
    misses: f64,
    why: String,
    remedy: String,
}

impl Found {
    fn finding(self, check: &str, subject: &Subject) -> Finding {
        Finding {
            check: check.to_owned(),
            saw: self.saw,
            place: self.place,
            also: self.also,
            executed: self.executed,
            per_unit: self.executed.and_then(|executed| subject.heat.per_unit(executed)),
            share_of_branches: subject.share_of_branches(self.branches).filter(|_| self.executed.is_some()),
            share_of_misses: subject.share_of_misses(self.misses).filter(|_| self.executed.is_some()),
            why: self.why,
            remedy: self.remedy,
        }
    }
}

/// `function at file:line`.
fn said(place: &Place) -> String {
    assay_report::doctor::place(place)
}

/// Findings of the same source line made one: copies that were inlined, parts of one condition.
fn by_line(found: Vec<Found>) -> Vec<Found> {
    let mut merged: Vec<Found> = Vec::new();
    for one in found {
        let same = |known: &&mut Found| {
            known.place.line.is_some()
                && (&known.place.file, known.place.line) == (&one.place.file, one.place.line)
                && known.saw == one.saw
        };
        match merged.iter_mut().find(same) {
            Some(known) => {
                known.executed = known.executed.zip(one.executed).map(|(a, b)| a + b);
                known.branches += one.branches;
                known.misses += one.misses;
            }
            None => merged.push(one),
        }
    }
    merged
}
