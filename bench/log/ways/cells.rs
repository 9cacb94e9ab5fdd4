//! Cells of an experiment: each flag set, variant and input that this machine can run.

use crate::observers::{Counter, Judge};
use assay_lab::campaign::inputs::{self, ReadyInput};
use assay_lab::run::lineup::environment;
use assay_lab::run::worker::{Announced, WalkRequest, Worker};
use assay_lab::store::Ledger;
use assay_link::build::{Builder, Link, LoggingProgram, find_compilers};
use assay_linux::process::Launch;
use assay_pure::experiment::Experiment;
use assay_pure::protocol::VariantKind;
use assay_trace::{LogSession, Observer};
use std::path::Path;
use std::time::{Duration, Instant};

/// What a walk of the program as built should take, nanoseconds.
const WALK: u64 = 40_000_000;
/// What a reply may take.
const PATIENCE: Duration = Duration::from_secs(60);
/// What is asked for at most: passes of kinds of variants that know no windows, calls of others.
const MOST_PASSES: u64 = 100_000;
const MOST_CALLS: u64 = 1 << 40;

/// A cell, as a program is asked for it.
struct Cell<'a> {
    input: &'a ReadyInput,
    variant: &'a Announced,
}

/// Prints a line for each turn of each cell.
pub fn measure(file: &str, compiler: &str, turns: u64, predictors: &[String]) {
    let store = tempfile::tempdir().expect("a folder");
    let text = std::fs::read_to_string(file).expect("an experiment");
    let experiment = Experiment::from_toml(&text, file).unwrap_or_else(|why| panic!("{why:?}")).experiment;
    let folder = Path::new(file).parent().expect("a folder").canonicalize().expect("it is there");
    let ledger = Ledger::open(&store.path().join("ledger")).expect("a ledger");
    let ready = |input| inputs::ready(input, &folder, store.path(), &ledger).expect("an input");
    let inputs: Vec<ReadyInput> =
        experiment.inputs.iter().filter(|input| input.usage.is_plain()).map(ready).collect();
    let builder = Builder::new(store.path()).expect("a store");
    let compilers = find_compilers(&[compiler.to_owned()]).unwrap_or_else(|error| panic!("{error}"));
    for flags in &experiment.flags {
        let built = builder.compile(&folder, &experiment.program, flags, &compilers[0]);
        let built = built.map_err(|why| why.to_string()).and_then(|recipe| {
            let measured = builder.link(&recipe, Link::AsBuilt).map_err(|why| why.to_string())?;
            builder.instrument(&recipe, &measured).map_err(|why| why.to_string())
        });
        match built {
            Ok(program) => cells(&experiment, flags.name.as_str(), &inputs, &program, turns, predictors),
            Err(why) => eprintln!("refused {} {}", flags.name, why.lines().next().unwrap_or_default()),
        }
    }
}

fn cells(
    experiment: &Experiment,
    flags: &str,
    inputs: &[ReadyInput],
    program: &LoggingProgram,
    turns: u64,
    predictors: &[String],
) {
    let announced = start(&program.plain, None).variants.clone();
    for variant in &experiment.variants {
        let own = announced.iter().find(|own| own.name == variant.name);
        let Some(own) = own.filter(|own| own.unavailable.is_none()) else { continue };
        for input in inputs {
            let cell = Cell { input, variant: own };
            let request = request(&cell, &program.plain);
            for _ in 0..turns {
                match turn(&cell, &request, program, predictors) {
                    Ok(line) => eprintln!("cell {flags} {} {} {line}", own.name, input.name),
                    Err(why) => {
                        eprintln!("refused {flags} {} {} {why}", own.name, input.name);
                        break;
                    }
                }
            }
        }
    }
}

/// The request that takes about [`WALK`].
fn request(cell: &Cell<'_>, program: &Path) -> WalkRequest {
    let windowed = cell.variant.kind.is_windowed() || cell.variant.kind == VariantKind::Loop;
    let most = if windowed { MOST_CALLS } else { MOST_PASSES };
    let mut calls = if windowed { cell.input.windows.len() as u64 } else { 1 };
    loop {
        let (windows, passes) = if windowed { (calls, 1) } else { (1, calls as u32) };
        let request = WalkRequest { input: 0, window: 0, windows, passes };
        let took = walk(cell, &request, program, None).took.max(1);
        if 2 * took >= WALK || calls >= most {
            break request;
        }
        calls = (calls * (WALK / took).clamp(2, 16)).min(most);
    }
}

/// Each way once. Returns what it took, or why its log cannot be read.
fn turn(
    cell: &Cell<'_>,
    request: &WalkRequest,
    program: &LoggingProgram,
    predictors: &[String],
) -> Result<String, String> {
    let native = walk(cell, request, &program.plain, None);
    let thrown = walk(cell, request, &program.logging, None);
    let (counted, Counter(branches)) = read(cell, request, program, Counter::default())?;
    let mut ways = vec![(native.took, native.took), (thrown.took, thrown.took), counted];
    for predictor in predictors {
        ways.push(read(cell, request, program, Judge::new(predictor))?.0);
    }
    let ways: Vec<String> = ways.iter().map(|(own, whole)| format!("{own} {whole}")).collect();
    Ok(format!("{branches} {}", ways.join(" ")))
}

/// What one walk took, nanoseconds.
struct Walked {
    worker: Worker,
    began: Instant,
    /// The program's processor time.
    took: u64,
}

fn start(program: &Path, variable: Option<(String, String)>) -> Worker {
    let mut environment = environment(0);
    environment.extend(variable);
    let launch = Launch { prefix: &[], program, environment: &environment, cpu: Some(0) };
    Worker::start(&launch, PATIENCE).unwrap_or_else(|fault| panic!("{}: {fault}", program.display()))
}

fn walk(
    cell: &Cell<'_>,
    request: &WalkRequest,
    program: &Path,
    variable: Option<(String, String)>,
) -> Walked {
    let mut worker = start(program, variable);
    worker.load(&cell.input.loaded(0).request).unwrap_or_else(|fault| panic!("{fault}"));
    let (before, began) = (used(worker.id()), Instant::now());
    worker.walk(cell.variant.index, request).unwrap_or_else(|fault| panic!("{fault}"));
    let took = used(worker.id()) - before;
    Walked { worker, began, took }
}

/// With a reader: the program's processor time, and the time until all was read.
fn read<O: Observer>(
    cell: &Cell<'_>,
    request: &WalkRequest,
    program: &LoggingProgram,
    observer: O,
) -> Result<((u64, u64), O), String> {
    let session =
        LogSession::open(&program.plain, &program.table, observer).map_err(|why| why.to_string())?;
    let walked = walk(cell, request, &program.logging, Some(session.variable()));
    let ended = walked.worker.stop();
    let (observer, followed) = session.finish();
    let whole = walked.began.elapsed().as_nanos() as u64;
    followed?;
    ended.map_err(|fault| fault.to_string())?;
    Ok(((walked.took, whole), observer))
}

/// Processor time of a process's first thread, nanoseconds.
fn used(process: u32) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{process}/schedstat")).expect("the kernel counts it");
    text.split_whitespace().next().and_then(|number| number.parse().ok()).expect("a number")
}
