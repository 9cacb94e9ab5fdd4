//! The conversation with a program whose events are counted: the same whoever counts.

use super::walks::WalkedCell;
use crate::campaign::inputs::ReadyInput;
use crate::run::ProgramFault;
use crate::run::lineup::environment;
use crate::run::worker::{Announced, Worker};
use assay_linux::process::Launch;
use assay_pure::protocol::VariantKind;
use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::ExitStatus;
use std::time::{Duration, Instant};

/// What is to be counted.
#[derive(Clone)]
pub(super) struct Job<'a> {
    /// The executable.
    pub program: &'a Path,
    /// Its variant.
    pub variant: &'a str,
    /// Inputs to walk through.
    pub inputs: Vec<NumberedInput<'a>>,
    /// Units per pass, about, at most.
    pub most_units: u64,
    /// Predictors, all known to the zoo.
    pub predictors: &'a [String],
    /// The processor that the program is bound to.
    pub cpu: usize,
    /// How long a reply may take.
    pub patience: Duration,
    /// When to stop.
    pub deadline: Instant,
    /// The tracer's plugin, where it is not the lab's own.
    pub plugin: Option<&'a Path>,
    /// Variables of its environment besides the usual ones.
    pub variables: Vec<(String, String)>,
}

/// An input by its number in the experiment.
#[derive(Clone, Copy)]
pub(super) struct NumberedInput<'a> {
    pub number: usize,
    pub ready: &'a ReadyInput,
}

impl NumberedInput<'_> {
    /// Has the worker read it.
    pub fn load(&self, worker: &mut Worker) -> Result<(), CutShort> {
        worker.load(&self.ready.loaded(self.number).request).map(drop).map_err(|fault| why(&fault))
    }
}

/// What came of one input.
#[derive(Clone, Debug)]
pub(super) struct CountedInput {
    /// Number of the input.
    pub input: usize,
    /// Kind of the variant.
    pub kind: VariantKind,
    /// The combined answers of all walks: equal for all variants of the kind.
    pub check: u64,
    /// Counts, or why there are none.
    pub walked: Result<WalkedCell, String>,
    /// What the reader must know of them.
    pub note: Option<String>,
}

/// What came of a conversation.
pub(super) struct Conversation<T> {
    /// Of each input that was walked through.
    pub done: Vec<T>,
    /// Why no more was.
    pub stopped: Option<CutShort>,
    /// How the program ended, if it ended well.
    pub ended: Option<ExitStatus>,
}

/// What came of a program.
#[derive(Debug, Default)]
pub(super) struct ProgramCounts {
    /// One per input that was tried.
    pub cells: Vec<CountedInput>,
    /// Why no more was counted.
    pub stopped: Option<CutShort>,
}

/// Why a program was not counted to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum CutShort {
    /// The time is up.
    Late,
    /// It uses an instruction that the emulator lacks.
    Instruction(String),
    /// Anything else.
    Other(String),
}

/// What is done with one input.
pub(super) type Each<'a, T> =
    &'a mut dyn FnMut(&mut Worker, &Announced, NumberedInput<'_>) -> Result<T, CutShort>;

/// Starts the program and has `each` done with every input, `told` after each.
pub(super) fn converse<T>(
    job: &Job<'_>,
    prefix: &[OsString],
    each: Each<'_, T>,
    told: &mut dyn FnMut(),
) -> Conversation<T> {
    let mut environment = environment(0);
    environment.extend(job.variables.iter().cloned());
    let launch = Launch { prefix, program: job.program, environment: &environment, cpu: Some(job.cpu) };
    let mut done = Vec::new();
    let started = Worker::start(&launch, job.patience).map_err(|fault| why(&fault));
    let started = started.and_then(|worker| Ok((announced(&worker, job, prefix.is_empty())?, worker)));
    let (variant, mut worker) = match started {
        Ok(started) => started,
        Err(stopped) => return Conversation { done, stopped: Some(stopped), ended: None },
    };
    let mut stopped = None;
    for input in &job.inputs {
        if Instant::now() >= job.deadline {
            stopped = Some(CutShort::Late);
            break;
        }
        match each(&mut worker, &variant, *input) {
            Ok(one) => done.push(one),
            Err(stopped) => return Conversation { done, stopped: Some(stopped), ended: None },
        }
        told();
    }
    let ended = worker.stop().is_ok().then(|| ExitStatus::from_raw(0));
    Conversation { done, stopped, ended }
}

fn announced(worker: &Worker, job: &Job<'_>, by_itself: bool) -> Result<Announced, CutShort> {
    let variant = worker.variants.iter().find(|variant| variant.name == job.variant).cloned();
    let variant =
        variant.ok_or_else(|| CutShort::Other(format!("the program does not register `{}`", job.variant)))?;
    let Some(reason) = &variant.unavailable else { return Ok(variant) };
    let where_to = if by_itself { "where it is counted" } else { "under emulation" };
    Err(CutShort::Other(format!("{where_to} `{}` cannot run: {reason}", job.variant)))
}

/// A fault as the reason to stop.
pub(super) fn why(fault: &ProgramFault) -> CutShort {
    let said = fault.to_string();
    if fault.what.contains("SIGILL") { CutShort::Instruction(said) } else { CutShort::Other(said) }
}
