//! One program under emulation, walked through its inputs.

use super::walks::{self, Executed, Walk, Walked, Walker};
use crate::campaign::inputs::ReadyInput;
use crate::run::Fault;
use crate::run::lineup::environment;
use crate::run::worker::Worker;
use crate::trace::{Detail, Options, Session};
use assay_linux::process::Launch;
use assay_pure::protocol::Kind;
use std::collections::HashMap;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::ExitStatus;
use std::time::{Duration, Instant};

/// What is to be traced.
pub(super) struct Job<'a> {
    /// The executable.
    pub program: &'a Path,
    /// Its variant.
    pub variant: &'a str,
    /// Inputs by their number in the experiment.
    pub inputs: Vec<(usize, &'a ReadyInput)>,
    /// Units per pass, about, at most.
    pub most_units: u64,
    /// Predictors, all known to the zoo.
    pub predictors: &'a [String],
    /// The processor that the emulated program is bound to.
    pub cpu: usize,
    /// How long a reply may take.
    pub patience: Duration,
    /// When to stop.
    pub deadline: Instant,
}

/// What came of one input.
#[derive(Clone, Debug)]
pub(super) struct Cell {
    /// Number of the input.
    pub input: usize,
    /// Kind of the variant and the combined answers of all walks: equal for all variants of the kind.
    pub check: (Kind, u64),
    /// Counts, or why there are none.
    pub walked: Result<Walked, String>,
}

/// What came of a program.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    /// One per input that was tried.
    pub cells: Vec<Cell>,
    /// Why no more was traced.
    pub stopped: Option<Stopped>,
}

/// Why a program was not traced to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Stopped {
    /// The time is up.
    Late,
    /// It uses an instruction that the emulator lacks.
    Instruction(String),
    /// Anything else.
    Other(String),
}

/// Traces a program; `told` is called after each input.
pub(super) fn trace(job: &Job<'_>, told: &mut dyn FnMut()) -> Outcome {
    let left = job.deadline.saturating_duration_since(Instant::now());
    let options =
        Options { detail: Detail::Branches, time_limit: Some(left + job.patience), ..Options::default() };
    let predictors = job.predictors.to_vec();
    let session = match Session::open(job.program, &options, move || Walker::new(&predictors)) {
        Ok(session) => session,
        Err(refusal) => return stopped(Stopped::Other(refusal.to_string())),
    };
    let (walked, ended) = converse(job, session.prefix(), told);
    let Walks { done: walked, mut stopped } = walked;
    let trace = match session.finish(ended) {
        Ok(trace) => trace,
        Err(refusal) => {
            // What the program said of itself tells more than what was not heard of it.
            let reason = stopped.unwrap_or_else(|| Stopped::Other(refusal.to_string()));
            return Outcome { cells: Vec::new(), stopped: Some(reason) };
        }
    };
    let process = trace.processes.into_iter().next();
    let notes = process.as_ref().map(|process| process.notes.join(" ")).unwrap_or_default();
    if let Some(Stopped::Instruction(reason)) = &mut stopped
        && !notes.is_empty()
    {
        *reason = notes;
    }
    let passes = process
        .and_then(|process| process.threads.into_iter().next())
        .map(|thread| thread.observer.passes)
        .unwrap_or_default();
    Outcome { cells: cells(walked, passes), stopped }
}

fn stopped(why: Stopped) -> Outcome {
    Outcome { cells: Vec::new(), stopped: Some(why) }
}

/// An input whose walks were all answered.
struct Done {
    input: usize,
    kind: Kind,
    walks: Vec<Walk>,
    units: Vec<u64>,
    check: u64,
}

struct Walks {
    done: Vec<Done>,
    stopped: Option<Stopped>,
}

/// Speaks to the program: returns what was walked, and how it ended if it ended well.
fn converse(
    job: &Job<'_>,
    prefix: &[std::ffi::OsString],
    told: &mut dyn FnMut(),
) -> (Walks, Option<ExitStatus>) {
    let environment = environment(0);
    let launch = Launch { prefix, program: job.program, environment: &environment, cpu: Some(job.cpu) };
    let mut walks = Walks { done: Vec::new(), stopped: None };
    let mut worker = match Worker::start(&launch, job.patience) {
        Ok(worker) => worker,
        Err(fault) => {
            walks.stopped = Some(why(&fault));
            return (walks, None);
        }
    };
    let announced = worker.variants.iter().find(|variant| variant.name == job.variant).cloned();
    let variant = match announced {
        Some(variant) if variant.unavailable.is_none() => variant,
        Some(variant) => {
            let reason = variant.unavailable.unwrap_or_default();
            walks.stopped =
                Some(Stopped::Other(format!("under emulation `{}` cannot run: {reason}", job.variant)));
            return (walks, None);
        }
        None => {
            walks.stopped = Some(Stopped::Other(format!("the program does not register `{}`", job.variant)));
            return (walks, None);
        }
    };
    for (number, input) in &job.inputs {
        if Instant::now() >= job.deadline {
            walks.stopped = Some(Stopped::Late);
            break;
        }
        match walk(&mut worker, (variant.index, variant.kind), (*number, input), job.most_units) {
            Ok(done) => walks.done.push(done),
            Err(fault) => {
                walks.stopped = Some(why(&fault));
                return (walks, None);
            }
        }
        told();
    }
    let ended = worker.stop().is_ok().then(|| ExitStatus::from_raw(0));
    (walks, ended)
}

fn walk(
    worker: &mut Worker,
    (variant, kind): (u32, Kind),
    (number, input): (usize, &ReadyInput),
    most_units: u64,
) -> Result<Done, Fault> {
    worker.load(&input.loaded(number).request)?;
    let walks = walks::walks(number as u32, kind, &input.windows, most_units);
    let (mut units, mut check) = (Vec::new(), 0);
    for walk in &walks {
        let walked = worker.walk(variant, &walk.request)?;
        units.push(walked.units);
        check = assay_pure::protocol::combine(check, walked.check);
    }
    Ok(Done { input: number, kind, walks, units, check })
}

fn why(fault: &Fault) -> Stopped {
    let said = fault.to_string();
    if fault.what.contains("SIGILL") { Stopped::Instruction(said) } else { Stopped::Other(said) }
}

/// The passes of each input, read by its walks.
fn cells(walked: Vec<Done>, passes: Vec<(u32, Executed)>) -> Vec<Cell> {
    let mut by_input: HashMap<u32, Vec<Executed>> = HashMap::new();
    for (input, executed) in passes {
        by_input.entry(input).or_default().push(executed);
    }
    walked
        .into_iter()
        .map(|done| {
            let passes = by_input.remove(&(done.input as u32)).unwrap_or_default();
            let found = walks::read(&done.walks, &done.units, &passes);
            let lost = || format!("the tracer saw {} passes of this input, not all of them", passes.len());
            let walked = found.ok_or_else(lost).and_then(|walked| {
                if walked.first.units == 0 {
                    Err("the input has no unit to divide by".to_owned())
                } else {
                    Ok(walked)
                }
            });
            Cell { input: done.input, check: (done.kind, done.check), walked }
        })
        .collect()
}
