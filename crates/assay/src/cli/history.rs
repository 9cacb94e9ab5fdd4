//! `assay history`: what changed since when, and what the ledger knows of it.

use super::help::OUTPUT;
use super::run::StoragePaths;
use super::{DONE, FAILED, UNABLE, screen};
use anyhow::Result;
use assay_lab::history::{self, HistoryRequest};
use assay_lab::lead::Misuse;
use assay_lab::store::Ledger;
use assay_lab::view;
use assay_pure::compare::Gate;
use assay_pure::history::GateReading;
use assay_report::html::{Served, document};
use assay_report::render_history;
use std::path::PathBuf;

/// Show an experiment's figures over its campaigns, and where they changed
#[derive(clap::Args, Clone, Debug)]
#[command(after_help = include_str!("help/history.txt"))]
pub struct HistoryArguments {
    /// Name of the experiment or the beginning of one, its file, a campaign's number, or the name of imported files; default: the
    /// newest campaign's
    #[arg(value_name = "EXPERIMENT")]
    pub name: Option<String>,
    /// Further ledgers with campaigns of the same experiment, as of other machines
    #[arg(long, value_name = "LEDGER")]
    pub also: Vec<PathBuf>,
    /// Only runs from this one on
    #[arg(long, value_name = "RUN")]
    pub since: Option<String>,
    /// Leave out what this machine measured, as one that is out of line; can be repeated
    #[arg(long, value_name = "MACHINE")]
    pub leave_out: Vec<String>,
    /// Exit with 1 if the newest run is slower than the earlier ones: `slower` or `slower:2%`
    #[arg(long, value_name = "GATE")]
    pub gate: Option<Gate>,
    /// Show every change, series and run
    #[arg(long, help_heading = OUTPUT)]
    pub all: bool,
    /// Write the history as a page of charts (FILE.html)
    #[arg(long, short, help_heading = OUTPUT, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Write the history as JSON (schema/history-1.schema.json); - is standard output
    #[arg(long, help_heading = OUTPUT, value_name = "FILE")]
    pub json: Option<PathBuf>,
    #[command(flatten)]
    pub places: StoragePaths,
}

/// The experiment that is meant, by the rule of all verbs that read; one that the first ledger does not have may be in another.
fn name(text: &str, paths: &[PathBuf]) -> Result<String> {
    let mut ledgers = vec![Ledger::open(&paths[0])?];
    for path in &paths[1..] {
        ledgers.push(Ledger::open_to_read(path)?);
    }
    view::experiment_named(&ledgers, text)
}

/// Runs the verb.
///
/// # Errors
/// See [`history::page`].
pub fn run(arguments: &HistoryArguments) -> Result<u8> {
    if arguments.output.as_deref().is_some_and(screen::is_stdout) {
        return Err(Misuse("the page is a file: -o FILE.html".into()).into());
    }
    for file in arguments.json.iter().chain(&arguments.output) {
        screen::find_place(file, &arguments.also)?;
    }
    let mut ledgers = vec![arguments.places.find_ledger("assay run")?.to_owned()];
    for path in &arguments.also {
        if !path.is_file() {
            return Err(
                Misuse(format!("there is no ledger at {}, which --also names", path.display())).into()
            );
        }
        ledgers.push(path.clone());
    }
    let asked = HistoryRequest {
        name: arguments.name.as_deref().map(|text| name(text, &ledgers)).transpose()?,
        ledgers,
        store: arguments.places.store(),
        since: arguments.since.clone(),
        leave_out: arguments.leave_out.clone(),
        gate: arguments.gate,
    };
    let page = history::page(&asked)?;
    if let Some(file) = &arguments.json {
        screen::write(file, &page.to_json())?;
    }
    if let Some(file) = &arguments.output {
        let shown = view::of_history(&Ledger::open_to_read(&asked.ledgers[0])?, &page)?;
        screen::write(file, &document(&[shown], Served::default()))?;
        screen::tell(&format!("assay: wrote {}", file.display()));
    }
    if !arguments.json.as_deref().is_some_and(screen::is_stdout) {
        screen::show(&render_history(&page, screen::width(), screen::colour(), arguments.all));
    }
    Ok(match page.gate.map(|gate| gate.reading) {
        None | Some(GateReading::Passed) => DONE,
        Some(GateReading::Failed) => FAILED,
        Some(GateReading::Undecided) => UNABLE,
    })
}
