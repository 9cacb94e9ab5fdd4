//! What does a benchmark command of somebody else's say, executed once under drawn surroundings?
//!
//! Method: the command runs by `sh -c` in its folder, in a process group of its own, pinned where asked. Libraries are asked
//! for their results by the environment that they read themselves, so scripts and `make bench` work unchanged: Google
//! Benchmark through a named pipe, so that several programs of one command do not overwrite each other's results;
//! criterion into a folder of ours, so that the user's baselines stay as they are. What it printed is kept and read by the
//! [`Adapter`]. Padding in the environment moves the stack; address randomisation is on or off.
//! Limits: a command that cleans its environment (sudo, some containers) is not reached by any of this. The time of a
//! whole command includes the start of the shell.
//! Checked by: scripts and small programs as commands, below and in tests/adopt_bench.rs.

mod error;
mod files;
mod fixed_time;
mod request;

pub use assay_pure::experiment::Surroundings;
pub use assay_pure::figures::{Adapter, BenchmarkClock, Figure, FigureError, Unit};
pub use error::VisitError;
pub use files::FileIdentity;
pub use fixed_time::runs_for_fixed_time;

use assay_linux::command::{self, CommandResult, CommandSpec};
use assay_linux::opened::{Openings, Seen};
use assay_pure::figures::{BenchmarkOutput, ExecutionFigures};
use assay_pure::words;
use regex::Regex;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::{Duration, SystemTime};

/// How long each benchmark of an execution is to take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BenchmarkTime {
    /// What gives most in the same time: many short executions tell more than few long ones, as a process differs from the next by
    /// more than the samples in it (docs/methodology/builds.md).
    Usual,
    /// So many seconds.
    Seconds(f64),
}

impl BenchmarkTime {
    /// Seconds for a library. divan takes few iterations for a sample where there is little time, and the clock then is a part of
    /// what it measures.
    pub fn seconds(self, library: &Adapter) -> f64 {
        match self {
            BenchmarkTime::Seconds(seconds) => seconds,
            BenchmarkTime::Usual if *library == Adapter::GoogleBenchmark => 0.002,
            BenchmarkTime::Usual if *library == Adapter::Criterion => 0.004,
            BenchmarkTime::Usual => 0.01,
        }
    }
}

/// A benchmark command.
#[derive(Clone, Debug)]
pub struct BenchCommand {
    /// For `sh -c`.
    pub command: String,
    /// Where it is executed.
    pub folder: PathBuf,
    /// How its figures are read.
    pub adapter: Adapter,
    /// Time that each benchmark is to take, where the library can be asked ([`Adapter::takes_seconds`]).
    pub seconds_per_benchmark: Option<BenchmarkTime>,
    /// Repetitions of each benchmark, where the library can be asked: Google Benchmark.
    pub repetitions: Option<u32>,
    /// A regular expression; benchmarks whose name it does not match are left out.
    pub filter: Option<String>,
    /// The processor that all of it is bound to.
    pub cpu: Option<usize>,
    /// Added to the environment.
    pub environment: Vec<(String, String)>,
    /// Files of which it is to be told whether they were executed or opened.
    pub watched: Vec<PathBuf>,
    /// How long one execution may take.
    pub limit: Option<Duration>,
}

/// What one execution gave.
#[derive(Clone, Debug, PartialEq)]
pub struct BenchRun {
    /// Names are unique.
    pub figures: Vec<Figure>,
    /// Time from its launch to its end.
    pub elapsed: Duration,
    /// CPU time of all its processes.
    pub cpu: Duration,
    /// The most memory that one of its processes had at once, bytes; none where it was not more than the lab's own.
    pub peak_resident: Option<u64>,
    /// Whether the kernel did place things at random; it may refuse not to.
    pub aslr: bool,
    /// Those of the watched files that were executed or read.
    pub opened: Vec<PathBuf>,
    /// Those that were opened, as by who maps them into memory; with those that were read.
    pub touched: Vec<PathBuf>,
    /// Those of the watched files that are not the same file any more: the command built them anew.
    pub rewritten: Vec<PathBuf>,
    /// What the reader must know, as benchmarks that failed. Whole sentences.
    pub notes: Vec<String>,
}

impl BenchCommand {
    /// A command with everything else left open; its time as a whole.
    pub fn new(command: &str, folder: &Path) -> BenchCommand {
        BenchCommand {
            command: command.to_owned(),
            folder: folder.to_owned(),
            adapter: Adapter::Wall,
            seconds_per_benchmark: None,
            repetitions: None,
            filter: None,
            cpu: None,
            environment: Vec::new(),
            watched: Vec::new(),
            limit: None,
        }
    }
}

/// Whether address randomisation can be drawn here: the kernel uses it and lets it be switched off.
pub fn aslr_can_be_drawn() -> bool {
    static CAN: OnceLock<bool> = OnceLock::new();
    *CAN.get_or_init(|| command::kernel_randomises() && command::can_fix_addresses())
}

/// Executes the command once and reads its figures.
///
/// Input: `scratch`, a folder for what libraries write; it is made, and overwritten by the next visit.
///
/// # Errors
/// The command cannot be started, fails, takes too long, is interrupted, or what it says cannot be read.
pub fn visit(
    bench: &BenchCommand,
    surroundings: &Surroundings,
    scratch: &Path,
) -> Result<BenchRun, VisitError> {
    let filter = request::filter(bench)?;
    let executed = execute(bench, Some(&bench.adapter), surroundings, scratch, None)?;
    finish(&bench.adapter, filter.as_ref(), executed)
}

/// Executes the command once, finds out which adapter fits, and reads its figures by that one, or by `otherwise`;
/// `bench.adapter` is not used.
///
/// # Errors
/// As [`visit`]; and no library is recognised where there is no `otherwise` ([`FigureError::Unrecognised`]).
pub fn detect(
    bench: &BenchCommand,
    otherwise: Option<Adapter>,
    surroundings: &Surroundings,
    scratch: &Path,
) -> Result<(Adapter, BenchRun), VisitError> {
    let filter = request::filter(bench)?;
    let executed = execute(bench, None, surroundings, scratch, None)?;
    let adapter = Adapter::detect(&executed.output)
        .or(otherwise)
        .ok_or_else(|| FigureError::unrecognised(executed.output.printed()))?;
    let visit = finish(&adapter, filter.as_ref(), executed)?;
    Ok((adapter, visit))
}

/// What an execution left behind, before anything of it is understood.
struct BenchExecution {
    output: BenchmarkOutput,
    elapsed: Duration,
    cpu: Duration,
    peak_resident: Option<u64>,
    paused: Duration,
    aslr: bool,
    seen: Seen,
    rewritten: Vec<PathBuf>,
    notes: Vec<String>,
}

fn execute(
    bench: &BenchCommand,
    adapter: Option<&Adapter>,
    surroundings: &Surroundings,
    scratch: &Path,
    pauses: Option<Duration>,
) -> Result<BenchExecution, VisitError> {
    let places = request::ReportPlaces::new(scratch).map_err(VisitError::Start)?;
    let environment = request::environment(bench, adapter, surroundings, &places);
    let before: Vec<Option<FileIdentity>> = bench.watched.iter().map(|file| FileIdentity::of(file)).collect();
    let openings = Openings::watch(&bench.watched).map_err(VisitError::Start)?;
    let random_addresses = surroundings.aslr || !aslr_can_be_drawn();
    let begun = SystemTime::now();
    let ran = command::run(&CommandSpec {
        command: &bench.command,
        folder: &bench.folder,
        environment: &environment,
        cpu: bench.cpu,
        random_addresses,
        limit: bench.limit,
        side: Some(&places.google_benchmark),
        pauses,
    })
    .map_err(VisitError::Start)?;
    let seen = openings.seen();
    let same = |file: &PathBuf, before: &Option<FileIdentity>| FileIdentity::of(file) == *before;
    let changed = bench.watched.iter().zip(&before).filter(|(file, before)| !same(file, before));
    let rewritten = changed.map(|(file, _)| file.clone()).collect();
    error::judge(&ran, bench.limit)?;
    let mut output = output(&ran);
    output.criterion = files::criterion(&places.criterion);
    if adapter.is_none_or(Adapter::writes_json) {
        output.json = files::json_written_since(&bench.folder, begun);
    }
    Ok(BenchExecution {
        output,
        elapsed: ran.elapsed,
        cpu: ran.cpu,
        peak_resident: ran.peak_resident,
        paused: ran.paused,
        aslr: random_addresses && command::kernel_randomises(),
        seen,
        rewritten,
        notes: notes(&ran),
    })
}

fn output(ran: &CommandResult) -> BenchmarkOutput {
    let text = |kept: &command::CapturedStream| String::from_utf8_lossy(&kept.bytes).into_owned();
    BenchmarkOutput {
        stdout: text(&ran.stdout),
        stderr: text(&ran.stderr),
        google_benchmark: text(&ran.side),
        elapsed_ns: ran.elapsed.as_nanos() as f64,
        cpu_ns: ran.cpu.as_nanos() as f64,
        ..BenchmarkOutput::default()
    }
}

fn notes(ran: &CommandResult) -> Vec<String> {
    let mut notes = Vec::new();
    if ran.left_processes {
        notes.push("The command left processes running; they were stopped.".to_owned());
    }
    let lost = ran.stdout.lost + ran.stderr.lost + ran.side.lost;
    if lost > 0 {
        notes
            .push(format!("{} of its output not read: the limit was exceeded.", words::plural(lost, "byte")));
    }
    notes
}

fn finish(
    adapter: &Adapter,
    filter: Option<&Regex>,
    executed: BenchExecution,
) -> Result<BenchRun, VisitError> {
    let mut reading: ExecutionFigures = adapter.read(&executed.output)?;
    // Google Benchmark filters by itself, by its own names; ours may begin with the program's.
    if let Some(filter) = filter.filter(|_| *adapter != Adapter::GoogleBenchmark) {
        reading = reading.keep(filter)?;
    }
    let mut notes = executed.notes;
    notes.append(&mut reading.notes);
    Ok(BenchRun {
        figures: reading.figures,
        elapsed: executed.elapsed,
        cpu: executed.cpu,
        peak_resident: executed.peak_resident,
        aslr: executed.aslr,
        opened: executed.seen.read,
        touched: executed.seen.opened,
        rewritten: executed.rewritten,
        notes,
    })
}
