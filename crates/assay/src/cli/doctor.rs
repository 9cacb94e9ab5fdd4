//! `assay doctor`: what is wrong with this machine, with an experiment, or with a program.

use super::help::{OUTPUT, SELECTION};
use super::run::StoragePaths;
use super::stat::{predictors, program};
use super::{DONE, FAILED, reads, screen};
use anyhow::Result;
use assay_lab::campaign;
use assay_lab::doctor::program::{ProgramFacts, TracedCommand};
use assay_lab::doctor::{experiment, machine, program as examined};
use assay_lab::lead::{Misuse, Resume, Unable};
use assay_link::build::text::split;
use assay_pure::event::Event;
use assay_pure::predict::{PredictionKind, Zoo};
use assay_report::doctor::{CheckState, Examination, ExaminedSubject, render_examination};
use assay_report::ink::Palette;
use assay_report::{Progress, Show};
use assay_trace::sites::gather::SiteCounts;
use assay_trace::sites::image::ModuleImage;
use assay_trace::sites::{Watch, gather};
use assay_trace::{Blame, Trace, TraceOptions, command};
use std::ffi::OsString;
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Seconds of measuring a machine by default.
const MACHINE_SECONDS: f64 = 6.0;
/// Seconds of tracing an experiment by default.
const TRACE_SECONDS: f64 = 120.0;
/// How long a program may take for one reply; under the emulator it is slower.
const PATIENCE: Duration = Duration::from_secs(60);

/// Find what is wrong with this machine, an experiment or a program, and what to change
#[derive(clap::Args, Clone, Debug)]
#[command(after_help = include_str!("help/doctor.txt"))]
pub struct DoctorArguments {
    /// Experiment file; without it and without --program, this machine is examined
    pub experiment: Option<PathBuf>,
    /// Program or command, split into words as a shell does
    #[arg(long, value_name = "PROGRAM|COMMAND", conflicts_with = "experiment")]
    pub program: Option<String>,
    /// Program: units of work that the command does, for figures per unit
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), requires = "program")]
    pub units: Option<u64>,
    /// Program: read the file alone, execute nothing
    #[arg(long = "static", requires = "program")]
    pub still: bool,
    /// Program: predictors or CPU profiles to simulate, `none`, or `help` for a list
    #[arg(long, value_name = "NAME,...")]
    pub predictor: Vec<String>,
    /// Experiment: units that production processes before it meets the same data again
    #[arg(long, value_name = "N", value_parser = whole, requires = "experiment")]
    pub production: Option<u64>,
    /// Experiment: seconds of tracing. Machine: seconds of measuring
    #[arg(long, value_name = "SECONDS", value_parser = super::run::positive)]
    pub budget: Option<f64>,
    /// Experiment: only inputs whose name matches; can be repeated
    #[arg(long = "input", value_name = "GLOB", help_heading = SELECTION, requires = "experiment")]
    pub inputs: Vec<String>,
    /// Experiment: only compilers whose name matches, instead of the file's; can be repeated
    #[arg(long = "compiler", value_name = "GLOB", help_heading = SELECTION, requires = "experiment")]
    pub compilers: Vec<String>,
    /// CPU to measure on; default: the last one allowed
    #[arg(long, value_name = "N")]
    pub cpu: Option<usize>,
    /// Exit with 1 if a problem is found
    #[arg(long)]
    pub strict: bool,
    /// One JSON object (schema/doctor-3.schema.json) instead of the report, or into FILE; - is standard output
    #[arg(long, value_name = "FILE", help_heading = OUTPUT, num_args = 0..=1, default_missing_value = "", value_parser = super::screen::path_or_nothing())]
    pub json: Option<PathBuf>,
    /// Write the report to FILE
    #[arg(short, long, value_name = "FILE", help_heading = OUTPUT)]
    pub output: Option<PathBuf>,
    /// Program: end the command after this time
    #[arg(long, value_name = "SECONDS", value_parser = super::run::positive)]
    pub time_limit: Option<f64>,
    /// QEMU plugin to use instead of assay's own; default: $ASSAY_QEMU_PLUGIN, if set
    #[arg(long, value_name = "FILE")]
    pub plugin: Option<PathBuf>,
    #[command(flatten)]
    pub places: StoragePaths,
}

/// A whole number from 1, with `_` between thousands if wanted.
fn whole(text: &str) -> Result<u64, String> {
    match text.replace('_', "").parse::<u64>() {
        Ok(number) if number > 0 => Ok(number),
        _ => Err(format!("`{text}` is not a whole number from 1")),
    }
}

/// Runs the verb.
///
/// # Errors
/// What was named can't be found or read, an unknown predictor, a folder that is not there.
pub fn run(arguments: &DoctorArguments) -> Result<u8> {
    if predictors::is_list_asked(&arguments.predictor) {
        screen::print(&predictors::list());
        return Ok(DONE);
    }
    let reads = match (&arguments.program, &arguments.experiment) {
        (Some(line), _) => reads::of_line(line),
        (None, Some(file)) => reads::of_text(file),
        (None, None) => Vec::new(),
    };
    for file in [&arguments.json, &arguments.output].into_iter().flatten() {
        screen::find_place(file, &reads)?;
    }
    let page = match (&arguments.program, &arguments.experiment) {
        (Some(text), _) => of_program(arguments, text)?,
        (None, Some(file)) => of_experiment(arguments, file)?,
        (None, None) => of_machine(arguments)?,
    };
    show(arguments, &page)?;
    let is_wrong = match page.kind {
        ExaminedSubject::Program => !page.findings.is_empty(),
        _ => arguments.strict && page.open().any(|finding| finding.state == CheckState::Warning),
    };
    Ok(if is_wrong { FAILED } else { DONE })
}

/// Shows a page as it is asked for: as text, as JSON, in a file.
fn show(arguments: &DoctorArguments, page: &Examination) -> Result<()> {
    let json_alone = arguments.json.as_ref().is_some_and(|file| file.as_os_str().is_empty());
    if let Some(file) = arguments.json.as_ref().filter(|_| !json_alone) {
        screen::write(file, &page.to_json())?;
    }
    let to_screen = arguments.output.is_none();
    let text = if json_alone {
        page.to_json()
    } else {
        let look = match page.kind {
            _ if !to_screen => Palette::default(),
            ExaminedSubject::Program => screen::look_of(&std::io::stderr()),
            _ => screen::look(),
        };
        render_examination(page, screen::width(), look)
    };
    match &arguments.output {
        Some(file) => screen::write(file, &text),
        None if page.kind != ExaminedSubject::Program => {
            screen::show(&text);
            Ok(())
        }
        // A program's own output goes to standard output.
        None => {
            screen::show_beside(&text);
            Ok(())
        }
    }
}

/// Does something with its progress on the screen.
fn with_progress<T>(act: impl FnOnce(&mut dyn FnMut(Event)) -> Result<T>) -> Result<T> {
    let mut progress = Progress::new(Show::choose(false, std::io::stderr().is_terminal()));
    act(&mut |event| progress.event(&event))
}

fn of_machine(arguments: &DoctorArguments) -> Result<Examination> {
    assay_linux::interrupt::catch();
    let request = machine::MachineRequest {
        cpu: arguments.cpu,
        seconds: arguments.budget.unwrap_or(MACHINE_SECONDS),
        plugin: arguments.plugin.clone(),
    };
    with_progress(|events| machine::examine(&request, events))
}

fn of_experiment(arguments: &DoctorArguments, file: &Path) -> Result<Examination> {
    if is_program(file) {
        let file = file.display();
        return Err(
            Misuse(format!("{file} is a program, not an experiment: assay doctor --program {file}")).into()
        );
    }
    assay_linux::interrupt::catch();
    let request = experiment::ExperimentRequest {
        asked: campaign::CampaignRequest {
            experiment: file.to_owned(),
            ledger: arguments.places.ledger.clone(),
            store: arguments.places.store(),
            quick: false,
            resume: Resume::No,
            cpu: arguments.cpu,
            patience: PATIENCE,
            budget: None,
            inputs: arguments.inputs.clone(),
            compilers: arguments.compilers.clone(),
            seed: None,
            one_of: 1,
            measured_only: false,
            examine: false,
            source: campaign::CountingSource::Best,
            predictors: Vec::new(),
        },
        plugin: arguments.plugin.clone(),
        trace_seconds: arguments.budget.unwrap_or(TRACE_SECONDS),
        production_units: arguments.production,
    };
    with_progress(|events| experiment::examine(&request, events))
}

fn is_program(file: &Path) -> bool {
    use std::io::Read as _;
    let mut first = [0; 4];
    let read = assay_linux::given::open(file).and_then(|mut file| file.read_exact(&mut first));
    read.is_ok() && first == *b"\x7fELF"
}

/// Reads a program, and traces it unless that was declined.
fn of_program(arguments: &DoctorArguments, text: &str) -> Result<Examination> {
    let line = line(text)?;
    let path = program::find(&line[0], std::env::var_os("PATH").as_deref())?;
    let architecture = program::machine(&path).map(program::architecture);
    let models = predictors::choose(&arguments.predictor, architecture.as_deref())?;
    assay_linux::interrupt::catch();
    if arguments.still {
        return still(arguments, &path, "--static: nothing was executed");
    }
    let zoo: Vec<String> = models.iter().map(|model| model.name.clone()).collect();
    let options = TraceOptions {
        follow: true,
        plugin: arguments.plugin.clone(),
        time_limit: arguments
            .time_limit
            .map(|limit| Duration::try_from_secs_f64(limit).unwrap_or(Duration::MAX)),
        ..TraceOptions::default()
    };
    let watch = move || Watch::new(Zoo::new(&zoo).expect("the names were looked up before")).with_calls();
    match command(&line, &options, watch) {
        Ok(trace) => Ok(traced(arguments, &line, &path, &models, &trace)),
        Err(refusal) if refusal.blame == Blame::Machine => still(arguments, &path, &refusal.to_string()),
        Err(refusal) => Err(Misuse(refusal.to_string()).into()),
    }
}

fn line(text: &str) -> Result<Vec<OsString>, Misuse> {
    // A file whose name has blanks is a program, not a command.
    if Path::new(text).is_file() {
        return Ok(vec![text.into()]);
    }
    let words = split(text).filter(|words| !words.is_empty());
    let words = words.ok_or_else(|| {
        Misuse(format!("--program `{text}` is not a command: a quote is open, or it is empty"))
    })?;
    Ok(words.into_iter().map(OsString::from).collect())
}

/// Only what the file says, and why.
fn still(arguments: &DoctorArguments, path: &Path, reason: &str) -> Result<Examination> {
    let image = ModuleImage::open(path).map_err(Unable)?;
    let facts = ProgramFacts::still(image, arguments.units, reason.to_owned());
    Ok(examined::compose(&facts, &path.display().to_string(), None))
}

fn traced(
    arguments: &DoctorArguments,
    line: &[OsString],
    path: &Path,
    models: &[predictors::SimulatedModel],
    trace: &Trace<Watch>,
) -> Examination {
    let gathered = gather(trace, false);
    let traced = TracedCommand {
        command: line.iter().map(|word| word.to_string_lossy().into_owned()).collect(),
        emulator: trace.emulator.clone(),
        predictors: models.iter().map(|model| model.name.clone()).collect(),
        warnings: warnings(trace, &gathered.notes),
    };
    let costs = gathered.seen.iter().map(|seen| cost(models, seen)).collect();
    let threads = trace.processes.iter().flat_map(|process| &process.threads);
    let system_calls = threads.map(|thread| thread.counts.system_calls).sum();
    let started = trace.processes.first().map_or(path, |process| &process.program);
    let facts = ProgramFacts::traced(gathered, started, costs, system_calls, arguments.units);
    examined::compose(&facts, &path.display().to_string(), Some(traced))
}

/// Mispredictions of a site: the mean over the predictors that judge branches of its class.
fn cost(models: &[predictors::SimulatedModel], seen: &SiteCounts) -> f64 {
    let about = PredictionKind::of(seen.class);
    let judges =
        |model: &predictors::SimulatedModel| about.is_some_and(|about| model.judges.contains(&about));
    let judged: Vec<u64> = models
        .iter()
        .zip(&seen.missed)
        .filter(|(model, _)| judges(model))
        .map(|(_, missed)| *missed)
        .collect();
    judged.iter().sum::<u64>() as f64 / judged.len().max(1) as f64
}

fn warnings(trace: &Trace<Watch>, notes: &[String]) -> Vec<String> {
    let mut said: Vec<String> = trace.processes.iter().flat_map(|process| process.notes.clone()).collect();
    said.extend_from_slice(notes);
    said.dedup();
    said.extend(trace.unusual_end());
    said
}
