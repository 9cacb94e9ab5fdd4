//! `assay doctor`: what is in the way of a program's speed that nobody meant to be there.

use super::stat::{predictors, program};
use super::{DONE, FAILED, screen};
use crate::build::text::split;
use crate::campaign::{Misuse, Unable};
use crate::doctor::{Asked, Subject, compose};
use crate::report::doctor::{DoctorPage, render_doctor};
use crate::sites::gather::Seen;
use crate::sites::image::Image;
use crate::sites::{Watch, gather};
use crate::trace::{Blame, Ended, Options, Trace, command};
use anyhow::Result;
use assay_pure::predict::{Judged, Zoo};
use std::ffi::OsString;
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Find what is in the way of a program's speed: debug code, guards, clocks, configuration in hot places
#[derive(clap::Args, Clone, Debug)]
#[command(after_help = "Examples:\n  \
    assay doctor --program ./bench                            trace it and look for all that is known\n  \
    assay doctor --program './bench 100000 42' --units 100000 with figures per unit of work\n  \
    assay doctor --program ./bench --static                   only what the file says, nothing is executed\n  \
    assay doctor --program ./bench --json found.json          for another program\n\n\
    Looked for: unoptimised code; assertions and debug guards; getenv, clocks, rdtsc, text and random numbers in a hot\n\
    place; hints that contradict what happens; branches on a value that never changes; indirect calls that always go to\n\
    one function; a system call per unit. Each finding has its function, line, executions, shares and remedy.\n\n\
    A place is hot if it is executed once in twenty units, or, without --units, a hundredth as often as the program's hottest\n\
    branch. Build with -O2 -g for lines. The command's own output is left alone; the report goes\n\
    to standard error, or to -o FILE.\n\n\
    Exit codes: 0 nothing found, 1 something found, 2 misuse, 3 the program cannot be read or traced.")]
pub struct Arguments {
    /// The program, or a command with arguments; split into words as a shell does
    #[arg(long, value_name = "PROGRAM|COMMAND")]
    pub program: Option<String>,
    /// Units of work that the command does, for figures per unit
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub units: Option<u64>,
    /// Execute nothing: look at the file alone
    #[arg(long = "static")]
    pub still: bool,
    /// Predictors or CPU profiles to simulate, `none`, or `help` for a list
    #[arg(long, value_name = "NAME,...")]
    pub predictor: Vec<String>,
    /// One JSON object (schema/doctor-1.schema.json), instead of the report, or into FILE; - is standard output
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "", value_parser = super::screen::path_or_nothing())]
    pub json: Option<PathBuf>,
    /// Write the report to a file
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// End the command after so many seconds
    #[arg(long, value_name = "SECONDS", value_parser = super::run::positive)]
    pub time_limit: Option<f64>,
    /// The tracer's plugin, if it is not beside assay itself
    #[arg(long, value_name = "FILE")]
    pub plugin: Option<PathBuf>,
}

/// Runs the verb.
///
/// # Errors
/// No program, one that can't be found or read, an unknown predictor, a folder that is not there.
pub fn run(arguments: &Arguments) -> Result<u8> {
    if arguments.predictor.iter().any(|names| names == "help") {
        screen::print(&predictors::list());
        return Ok(DONE);
    }
    let line = line(arguments)?;
    for file in [&arguments.json, &arguments.output].into_iter().flatten() {
        screen::find_folder(file)?;
    }
    let path = program::find(&line[0], std::env::var_os("PATH").as_deref())?;
    let architecture = program::machine(&path).map(program::architecture);
    let models = predictors::choose(&arguments.predictor, architecture.as_deref())?;
    assay_linux::interrupt::catch();
    let page = examine(arguments, &line, &path, &models)?;
    show(arguments, &page)?;
    Ok(if page.findings.is_empty() { DONE } else { FAILED })
}

fn line(arguments: &Arguments) -> Result<Vec<OsString>, Misuse> {
    let Some(text) = &arguments.program else {
        return Err(Misuse(
            "assay doctor needs a program: assay doctor --program './bench 100000'".to_owned(),
        ));
    };
    // A file whose name has blanks is a program, not a command.
    if Path::new(text).is_file() {
        return Ok(vec![text.into()]);
    }
    let words = split(text).filter(|words| !words.is_empty());
    let words = words.ok_or_else(|| {
        Misuse(format!("--program `{text}` is no command: a quote is open, or it is empty"))
    })?;
    Ok(words.into_iter().map(OsString::from).collect())
}

fn examine(
    arguments: &Arguments,
    line: &[OsString],
    path: &Path,
    models: &[predictors::Model],
) -> Result<DoctorPage> {
    let mut asked = Asked { program: path.display().to_string(), ..Asked::default() };
    if arguments.still {
        asked.not_traced = Some("--static: nothing was executed".to_owned());
        return still(arguments, path, &asked);
    }
    let names: Vec<String> = models.iter().map(|model| model.name.clone()).collect();
    let zoo = names.clone();
    let options = Options {
        follow: true,
        plugin: arguments.plugin.clone(),
        time_limit: arguments
            .time_limit
            .map(|limit| Duration::try_from_secs_f64(limit).unwrap_or(Duration::MAX)),
        ..Options::default()
    };
    let watch = move || Watch::new(Zoo::new(&zoo).expect("the names were looked up before")).with_calls();
    let trace = match command(line, &options, watch) {
        Ok(trace) => trace,
        Err(refusal) if refusal.blame == Blame::Machine => {
            asked.not_traced = Some(refusal.to_string());
            return still(arguments, path, &asked);
        }
        Err(refusal) => return Err(Misuse(refusal.to_string()).into()),
    };
    asked.command = line.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    asked.emulator = Some(trace.emulator.clone());
    asked.predictors = names;
    let gathered = gather(&trace, false);
    asked.warnings = warnings(&trace, &gathered.notes);
    let costs = gathered.seen.iter().map(|seen| cost(models, seen)).collect();
    let threads = trace.processes.iter().flat_map(|process| &process.threads);
    let system_calls = threads.map(|thread| thread.counts.system_calls).sum();
    let started = trace.processes.first().map_or(path, |process| &process.program);
    Ok(compose(&Subject::traced(gathered, started, costs, system_calls, arguments.units), &asked))
}

/// Only what the file says.
fn still(arguments: &Arguments, path: &Path, asked: &Asked) -> Result<DoctorPage> {
    let image = Image::open(path).map_err(Unable)?;
    Ok(compose(&Subject::still(image, arguments.units), asked))
}

/// Mispredictions of a site: the mean over the predictors that judge branches of its class.
fn cost(models: &[predictors::Model], seen: &Seen) -> f64 {
    let about = Judged::of(seen.class);
    let judges = |model: &predictors::Model| about.is_some_and(|about| model.judges.contains(&about));
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
    match trace.processes.first().map(|process| process.ended) {
        Some(Ended::Exited(code)) if code != 0 => said.push(format!("The command exited with code {code}.")),
        Some(Ended::Signalled(signal)) => {
            said.push(format!("The command was ended by signal {signal}; the figures end there."));
        }
        Some(Ended::TimeLimit) => {
            said.push("The command was ended at the time limit; the figures end there.".to_owned());
        }
        _ => {}
    }
    said
}

fn show(arguments: &Arguments, page: &DoctorPage) -> Result<()> {
    let json_alone = arguments.json.as_ref().is_some_and(|file| file.as_os_str().is_empty());
    if let Some(file) = arguments.json.as_ref().filter(|_| !json_alone) {
        screen::write(file, &page.to_json())?;
    }
    let to_screen = arguments.output.is_none();
    let text = if json_alone {
        page.to_json()
    } else {
        let colour = to_screen
            && std::io::stderr().is_terminal()
            && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        render_doctor(page, screen::width(), colour)
    };
    match &arguments.output {
        Some(file) => screen::write(file, &text),
        None => {
            screen::tell(text.trim_end_matches('\n'));
            Ok(())
        }
    }
}
