//! What can this machine detect, and what spoils it?
//!
//! [`facts`] is what the kernel's files say and what was measured; [`measure`] and [`pair`] measure, [`checks`] judge.
//!
//! The rules and their limits: docs/methodology/doctor.md. Checked by folders of such files (`fixtures/doctor/machines`) and by
//! made-up measurements.

pub mod checks;
pub mod facts;
pub mod measure;
pub mod pair;

use super::compose;
use crate::lead::{Misuse, measuring_cpu, turn};
use crate::limits::{kept, machine_of};
use anyhow::Result;
use assay_link::build;
use assay_pure::event::Event;
use assay_pure::words::{duration, fraction, list};
use assay_report::doctor::{CheckState, DoctorFigure, Examination, ExaminedSubject};
use checks::CHECKS;
use facts::{MachineFacts, MachineMeasurements};
use std::path::{Path, PathBuf};

/// The share of the time for identical functions over placements.
const PAIR_SHARE: f64 = 0.5;
/// The check that the others explain: it is the answer's figure, and no problem to fix by itself.
const MEASURE_OF_ALL: &str = "smallest-effect";

/// What to do on a machine on which nothing is wrong.
const NOTHING_WRONG: &str =
    "check an experiment with `assay doctor FILE`, or measure it with `assay run FILE`";

/// What is asked for.
#[derive(Clone, Debug)]
pub struct MachineRequest {
    /// The processor to measure on; the last one allowed if not given.
    pub cpu: Option<usize>,
    /// Seconds of measuring; building comes on top.
    pub seconds: f64,
    /// The tracer's plugin, where it is not the lab's own.
    pub plugin: Option<PathBuf>,
}

/// Examines this machine.
///
/// # Errors
/// [`Misuse`]: a processor that this process may not use, or an interruption.
pub fn examine(request: &MachineRequest, events: &mut dyn FnMut(Event)) -> Result<Examination> {
    // Before assay keeps off the measuring processor, which would then be missing from what is allowed.
    let machine = assay_linux::machine::facts();
    let cpu = measuring_cpu(request.cpu)?;
    let kernel = facts::read(Path::new("/"), cpu, machine.cpus.clone());
    events(Event::Phase { name: "machine".into() });
    let turn = turn::take(cpu, events)?;
    if turn.is_none() {
        return Err(Misuse("interrupted before anything was measured".to_owned()).into());
    }
    let seconds = request.seconds * (1.0 - PAIR_SHARE);
    events(Event::Doing { what: format!("timing known work on core {cpu}, about {}", duration(seconds)) });
    let mut measured = measure::measure(&kernel, seconds);
    // The campaign takes turns by itself.
    drop(turn);
    measured.known_width = kept::of(&machine_of(&machine)).and_then(|limits| limits.width);
    measured.tracing =
        Some(assay_trace::available(request.plugin.as_deref()).map_err(|refusal| refusal.to_string()));
    let found = build::find_compilers(&["all".to_owned()]).unwrap_or_default();
    measured.compilers = found.iter().map(|found| format!("{} {}", found.name, found.version)).collect();
    measured.linkers = linkers();
    let subject = format!("{}, Linux {}", machine.cpu, machine.kernel);
    let two_places = pair::measure(cpu, machine, &found, request.seconds * PAIR_SHARE, events);
    measured.two_places = Some(two_places.map_err(|error| format!("{error:#}")));
    Ok(compose(&MachineFacts { kernel, measured }, &subject))
}

/// Linkers on PATH that programs can be placed with.
fn linkers() -> Vec<String> {
    const NAMES: [&str; 5] = ["ld", "ld.lld", "ld.gold", "ld.mold", "mold"];
    let path = std::env::var_os("PATH").unwrap_or_default();
    let is_there = |name: &&&str| std::env::split_paths(&path).any(|folder| folder.join(name).is_file());
    NAMES.iter().filter(is_there).map(|name| (*name).to_owned()).collect()
}

/// The page. `subject` is the machine in a line.
pub fn compose(facts: &MachineFacts, subject: &str) -> Examination {
    let MachineFacts { kernel, measured } = facts;
    let results = compose::run(&CHECKS, facts, &[]);
    let problems = results.problems();
    let cause = problems.iter().find(|finding| finding.check != MEASURE_OF_ALL).or(problems.first());
    let next = cause.map_or(NOTHING_WRONG, |finding| finding.remedy.as_str()).to_owned();
    let answer = answer(measured, &results);
    let pair_seconds = measured.two_places.iter().flatten().map(|two| two.seconds).sum::<f64>();
    Examination {
        method: vec![format!(
            "the kernel's files, and {} of measuring on processor {}",
            duration(measured.seconds + pair_seconds),
            kernel.cpu
        )],
        figures: figures(measured),
        ..results.page(ExaminedSubject::Machine, subject, answer, next)
    }
}

/// What 60 s detect, and what makes that worse.
fn answer(measured: &MachineMeasurements, results: &compose::Results) -> String {
    let detects = match (&measured.two_places, measured.same_place) {
        (Some(Ok(two)), _) => {
            format!("In 60 s this machine detects differences of {} and more", fraction(two.smallest))
        }
        (_, Some(same)) => format!(
            "In 60 s this machine detects differences of {} and more, without the effect of placement",
            fraction(same.smallest)
        ),
        (_, None) => "The smallest difference that this machine detects could not be measured".to_owned(),
    };
    let causes = |state: CheckState| -> Vec<&str> {
        let open = results.open().filter(|finding| finding.state == state && finding.check != MEASURE_OF_ALL);
        open.map(|finding| finding.check.as_str()).collect()
    };
    let is_large = results.problems().iter().any(|finding| finding.check == MEASURE_OF_ALL);
    let problems = match causes(CheckState::Warning).as_slice() {
        [] if is_large => "no cause found".to_owned(),
        [] => "no problems found".to_owned(),
        [one] => format!("1 problem found: {one}"),
        several => format!("{} problems found, the first to fix: {}", several.len(), several[0]),
    };
    let notes = match causes(CheckState::Note).as_slice() {
        [] => String::new(),
        some => format!(" Notes: {}.", list(some)),
    };
    format!("{detects}; {problems}.{notes}")
}

fn figures(measured: &MachineMeasurements) -> Vec<DoctorFigure> {
    let all = [differences(measured).to_vec(), sharing(measured).to_vec(), interruptions(measured).to_vec()];
    all.into_iter().flatten().flatten().collect()
}

fn figure(name: &str, value: Option<f64>, unit: &str, meaning: &str) -> Option<DoctorFigure> {
    let (name, unit, meaning) = (name.to_owned(), unit.to_owned(), meaning.to_owned());
    value.map(|value| DoctorFigure { name, value, unit, meaning })
}

/// What differences can be detected.
fn differences(measured: &MachineMeasurements) -> [Option<DoctorFigure>; 3] {
    let two = measured.two_places.as_ref().and_then(|two| two.as_ref().ok());
    [
        figure(
            "smallest_effect",
            two.map(|two| two.smallest),
            "fraction",
            "the smallest difference that 60 s of one contrast on one input would detect (95 % confidence, 80 % power) over \
             placements; from two identical functions measured as assay run does",
        ),
        figure(
            "smallest_effect_in_place",
            measured.same_place.map(|same| same.smallest),
            "fraction",
            "the same, from pairs of identical code at one place: without the effect of placement",
        ),
        figure(
            "null_difference",
            two.map(|two| two.estimate),
            "fraction",
            "the measured difference of the identical functions over placements",
        ),
    ]
}

/// What the sibling thread does.
fn sharing(measured: &MachineMeasurements) -> [Option<DoctorFigure>; 4] {
    let shared = measured.sharing.filter(|sharing| sharing.bursts > 0);
    [
        figure(
            "core_shared",
            measured.sharing.map(|sharing| sharing.share),
            "fraction",
            "time in which the core's other hardware thread was busy",
        ),
        figure(
            "shared_burst",
            shared.map(|sharing| sharing.burst_ns),
            "ns",
            "the length of a burst of that; half of the shared time lies in longer ones",
        ),
        figure(
            "shared_slowdown",
            shared.map(|sharing| sharing.slowdown),
            "ratio",
            "time of throughput-limited code while the core was shared, over its time while it was not",
        ),
        figure(
            "core_width",
            measured.sharing.map(|sharing| sharing.width),
            "additions a cycle",
            "of independent ones, at best; on an unshared core a property of the processor",
        ),
    ]
}

/// What takes time away, and what the clock costs.
fn interruptions(measured: &MachineMeasurements) -> [Option<DoctorFigure>; 7] {
    let (gaps, timer) = (measured.gaps, measured.timer);
    [
        figure(
            "interrupted",
            measured.same_place.map(|same| same.interrupted),
            "fraction",
            "samples that were discarded",
        ),
        figure(
            "taken_away",
            gaps.filter(|gaps| gaps.lasted_ns > 0.0).map(|gaps| gaps.taken_ns / gaps.lasted_ns),
            "fraction",
            "time taken from a loop that only reads the clock",
        ),
        figure(
            "longest_gap",
            gaps.map(|gaps| gaps.longest_ns),
            "ns",
            "the longest time taken from it at once",
        ),
        figure("steal", measured.steal, "fraction", "time of the measuring processor that was stolen"),
        figure("clock_read", timer.map(|timer| timer.read_ns), "ns", "one read of the wall clock"),
        figure("clock_step", timer.map(|timer| timer.step_ns), "ns", "its smallest step seen"),
        figure(
            "thread_clock_read",
            timer.map(|timer| timer.cpu_read_ns),
            "ns",
            "one read of the thread's clock",
        ),
    ]
}
