//! `assay doctor --program`: what is in the way of a program's speed that nobody meant to be there.

use super::super::stat::{predictors, program};
use super::super::{DONE, FAILED, screen};
use super::Arguments;
use anyhow::Result;
use assay_lab::doctor::{Asked, Subject, compose};
use assay_lab::lead::{Misuse, Unable};
use assay_link::build::text::split;
use assay_pure::predict::{Judged, Zoo};
use assay_report::doctor::{DoctorPage, render_doctor};
use assay_trace::sites::gather::SiteCounts;
use assay_trace::sites::image::ModuleImage;
use assay_trace::sites::{Watch, gather};
use assay_trace::{Blame, Trace, TraceOptions, TracedExit, command};
use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

/// Looks at a program, and traces it unless that was declined.
///
/// # Errors
/// A program that can't be found or read, an unknown predictor.
pub fn run(arguments: &Arguments, text: &str) -> Result<u8> {
    let line = line(text)?;
    let path = program::find(&line[0], std::env::var_os("PATH").as_deref())?;
    let architecture = program::machine(&path).map(program::architecture);
    let models = predictors::choose(&arguments.predictor, architecture.as_deref())?;
    assay_linux::interrupt::catch();
    let page = examine(arguments, &line, &path, &models)?;
    super::show(arguments, &page.to_json(), &|colour| render_doctor(&page, screen::width(), colour))?;
    Ok(if page.findings.is_empty() { DONE } else { FAILED })
}

fn line(text: &str) -> Result<Vec<OsString>, Misuse> {
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
    let options = TraceOptions {
        follow: true,
        plugin: arguments.plugin.clone(),
        time_limit: arguments
            .time_limit
            .map(|limit| Duration::try_from_secs_f64(limit).unwrap_or(Duration::MAX)),
        ..TraceOptions::default()
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
    let image = ModuleImage::open(path).map_err(Unable)?;
    Ok(compose(&Subject::still(image, arguments.units), asked))
}

/// Mispredictions of a site: the mean over the predictors that judge branches of its class.
fn cost(models: &[predictors::Model], seen: &SiteCounts) -> f64 {
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
        Some(TracedExit::Exited(code)) if code != 0 => {
            said.push(format!("The command exited with code {code}."))
        }
        Some(TracedExit::Signalled(signal)) => {
            said.push(format!("The command was ended by signal {signal}; the figures end there."));
        }
        Some(TracedExit::TimeLimit) => {
            said.push("The command was ended at the time limit; the figures end there.".to_owned());
        }
        _ => {}
    }
    said
}
