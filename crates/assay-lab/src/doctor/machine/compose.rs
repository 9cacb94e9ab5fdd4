//! From facts to the page.

use super::checks::percent;
use super::checks::{CHECKS, Looked};
use super::facts::{Kernel, Measured};
use assay_report::doctor::examination::page::{EXAMINATION_SCHEMA, Kind};
use assay_report::doctor::examination::{Examination, Examined, Figure, State, Symptom};
use assay_report::prose::{list, plural};

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
            measured.seconds + seconds_over_placements(measured),
            kernel.cpu
        )],
        warnings: Vec::new(),
        figures: figures(measured),
        checks,
        findings,
    }
}

fn seconds_over_placements(measured: &Measured) -> f64 {
    measured.pair.as_ref().and_then(|pair| pair.as_ref().ok()).map_or(0.0, |pair| pair.seconds)
}

fn answer(measured: &Measured, findings: &[Symptom]) -> String {
    let told = match (&measured.pair, measured.null) {
        (Some(Ok(pair)), _) => format!("This machine can tell {} apart in 60 s", percent(pair.smallest)),
        (_, Some(null)) => {
            format!("Placement aside, this machine can tell {} apart in 60 s", percent(null.smallest))
        }
        (_, None) => "What this machine can tell apart could not be measured".to_owned(),
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
    let pair = measured.pair.as_ref().and_then(|pair| pair.as_ref().ok());
    [
        figure(
            "smallest_effect",
            pair.map(|pair| pair.smallest),
            "fraction",
            "the smallest difference that 60 s of one contrast on one input would show at 95 %, four times of five, over \
             placements; from two identical functions measured as assay run does",
        ),
        figure(
            "smallest_effect_in_place",
            measured.null.map(|null| null.smallest),
            "fraction",
            "the same of pairs of identical code at one place: what is left if placement did nothing",
        ),
        figure(
            "null_difference",
            pair.map(|pair| pair.estimate),
            "fraction",
            "by what the identical functions seemed to differ over placements",
        ),
        figure(
            "core_shared",
            measured.sharing.map(|sharing| sharing.share),
            "fraction",
            "time that somebody ran on the core's other hardware thread",
        ),
        figure(
            "shared_burst",
            measured.sharing.filter(|sharing| sharing.bursts > 0).map(|sharing| sharing.burst_ns),
            "ns",
            "the length of a stretch of that; half of the shared time lies in longer ones",
        ),
        figure(
            "shared_slowdown",
            measured.sharing.filter(|sharing| sharing.bursts > 0).map(|sharing| sharing.slowdown),
            "ratio",
            "time of code limited by throughput while the core was shared, over its time while it was not",
        ),
        figure(
            "core_width",
            measured.sharing.map(|sharing| sharing.width),
            "additions a cycle",
            "of those that need not wait, at best; on a core of one's own a property of the processor",
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
