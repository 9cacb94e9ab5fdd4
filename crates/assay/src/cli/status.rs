//! `assay status` and `assay cancel`: what jobs on other machines do, and their end.

use super::help::OUTPUT;
use super::{DONE, FAILED, on, screen};
use anyhow::Result;
use assay_lab::shards::{self, HandedIn};
use assay_lab::store::Ledger;
use assay_report::render_status;
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

/// Show what the jobs of `--on` do: waiting, measuring where since when, ended, and the time left
#[derive(clap::Args, Clone, Debug)]
#[command(after_help = include_str!("help/status.txt"))]
pub struct StatusArguments {
    /// Folder of the jobs, or one above it; the newest question in it is shown
    #[arg(value_name = "DIR", default_value = ".")]
    pub folder: PathBuf,
    /// Write it as JSON (schema/status-1.schema.json); - is standard output
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub json: Option<PathBuf>,
}

/// End the jobs of `--on`, and keep what they measured
#[derive(clap::Args, Clone, Debug)]
#[command(after_help = include_str!("help/cancel.txt"))]
pub struct CancelArguments {
    /// Folder of the jobs, or one above it; the newest question in it is cancelled
    #[arg(value_name = "DIR", default_value = ".")]
    pub folder: PathBuf,
    /// Show no progress
    #[arg(long, short, help_heading = OUTPUT)]
    pub quiet: bool,
}

/// Runs `assay status`.
///
/// # Errors
/// [`assay_lab::lead::Misuse`]: nothing was handed in from there. The JSON cannot be written.
pub fn run(arguments: &StatusArguments) -> Result<u8> {
    if let Some(file) = &arguments.json {
        screen::find_place(file, &[])?;
    }
    let question = shards::newest(&arguments.folder)?;
    let cluster = question.cluster.open()?;
    let page = shards::status(&question, cluster.as_ref());
    if let Some(file) = &arguments.json {
        screen::write(file, &page.to_json())?;
    }
    if !arguments.json.as_deref().is_some_and(screen::is_stdout) {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64());
        screen::show(&render_status(&page, now, screen::width(), screen::look()));
    }
    Ok(DONE)
}

/// Runs `assay cancel`.
///
/// # Errors
/// [`assay_lab::lead::Misuse`]: nothing was handed in from there. The folder or the ledger cannot be written.
pub fn cancel(arguments: &CancelArguments) -> Result<u8> {
    assay_linux::interrupt::catch();
    let question = shards::newest(&arguments.folder)?;
    let cluster = question.cluster.open()?;
    let handed = HandedIn { question, cluster };
    let mut tell = on::teller(arguments.quiet);
    let ends = if shards::is_simulation(&handed.question.verb) {
        // What it leaves are files, which whoever waits collects.
        shards::cancel(&handed, &mut |_, _| None, &mut tell)?
    } else {
        let ledger = Ledger::open(&handed.question.ledger)?;
        shards::cancel(&handed, shards::to_ledger(&ledger, &handed.question).as_mut(), &mut tell)?
    };
    let page = shards::status(&handed.question, handed.cluster.as_ref());
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64());
    screen::show(&render_status(&page, now, screen::width(), screen::look()));
    let kept = ends.iter().all(|one| one.state.is_over() && one.unmerged.is_none());
    if !kept {
        on::told(&ends, &handed.question.ledger);
    }
    Ok(if kept { DONE } else { FAILED })
}
