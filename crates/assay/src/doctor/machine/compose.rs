//! From facts to the page.

use super::checks::percent;
use super::checks::{CHECKS, Looked};
use super::facts::{Kernel, Measured};
use crate::report::doctor::examination::page::{EXAMINATION_SCHEMA, Kind};
use crate::report::doctor::examination::{Examination, Examined, Figure, State, Symptom};
use crate::report::prose::{list, plural};

/// Looks for everything. `subject` is the machine in a line.
pub fn compose(kernel: &Kernel, measured: &Measured, subject: &str) -> Examination {
    let mut findings = Vec::new();
    let mut checks = Vec::new();
    for check in &CHECKS {
        let (state, saw) = match (check.look)(kernel, measured) {
            Looked::Well(saw) => (State::Ok, Some(saw)),
            Looked::CannotTell(reason) => (State::CannotTell, Some(reason)),
            Looked::Found(found) => {
                findings.push(Symptom {
                    check: check.name.to_owned(),
                    state: found.state,
                    place: check.title.to_lowercase(),
                    variant: None,
                    inputs: Vec::new(),
                    saw: found.saw,
                    why: found.why.to_owned(),
                    remedy: found.remedy,
                    accepted: None,
                });
                (found.state, None)
            }
        };
        let findings = u64::from(state > State::CannotTell);
        let (name, title) = (check.name.to_owned(), check.title.to_owned());
        checks.push(Examined { name, title, state, saw, findings, accepted: 0 });
    }
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.state));
    Examination {
        schema: EXAMINATION_SCHEMA.to_owned(),
        kind: Kind::Machine,
        answer: answer(measured, &findings),
        subject: subject.to_owned(),
        method: vec![format!(
            "the kernel's own files, and {:.1} s of measuring on processor {}",
            measured.seconds, kernel.cpu
        )],
        warnings: Vec::new(),
        figures: figures(measured),
        checks,
        findings,
    }
}

fn answer(measured: &Measured, findings: &[Symptom]) -> String {
    let told = match measured.null {
        Some(null) => {
            format!("Placement aside, this machine can tell {} apart in 60 s", percent(null.smallest))
        }
        None => "What this machine can tell apart could not be measured".to_owned(),
    };
    let names = |state: State| -> Vec<&str> {
        let own =
            findings.iter().filter(|finding| finding.state == state && finding.check != "smallest-effect");
        own.map(|finding| finding.check.as_str()).collect()
    };
    let (worse, notes) = (names(State::Warning), names(State::Note));
    let worse = match worse.as_slice() {
        [] => "nothing makes it worse".to_owned(),
        [one] => format!("one thing makes it worse: {one}"),
        several => format!("{} make it worse: {}", plural(several.len() as u64, "thing"), list(several)),
    };
    let notes = match notes.as_slice() {
        [] => String::new(),
        some => format!(" Worth knowing: {}.", list(some)),
    };
    format!("{told}; {worse}.{notes}")
}

fn figures(measured: &Measured) -> Vec<Figure> {
    let figure = |name: &str, value: Option<f64>, unit: &str, meaning: &str| {
        let (name, unit, meaning) = (name.to_owned(), unit.to_owned(), meaning.to_owned());
        value.map(|value| Figure { name, value, unit, meaning })
    };
    let (gaps, timer) = (measured.gaps, measured.timer);
    [
        figure(
            "smallest_effect",
            measured.null.map(|null| null.smallest),
            "fraction",
            "the smallest difference that 60 s of one contrast on one input would show at 95 %, four times of five; from pairs of \
             identical code, placement's own spread not included",
        ),
        figure(
            "null_difference",
            measured.null.map(|null| null.estimate),
            "fraction",
            "by what the identical codes seemed to differ",
        ),
        figure("interrupted", measured.null.map(|null| null.interrupted), "fraction", "samples that were left out"),
        figure(
            "taken_away",
            gaps.filter(|gaps| gaps.lasted_ns > 0.0).map(|gaps| gaps.taken_ns / gaps.lasted_ns),
            "fraction",
            "time that a loop which only reads the clock was denied",
        ),
        figure("longest_gap", gaps.map(|gaps| gaps.longest_ns), "ns", "the longest time it was denied at once"),
        figure("steal", measured.steal, "fraction", "time of the measuring processor that was stolen"),
        figure("clock_read", timer.map(|timer| timer.read_ns), "ns", "one read of the wall clock"),
        figure("clock_step", timer.map(|timer| timer.step_ns), "ns", "the least step that it was seen to make"),
        figure("thread_clock_read", timer.map(|timer| timer.cpu_read_ns), "ns", "one read of the thread's clock"),
    ]
    .into_iter()
    .flatten()
    .collect()
}
