//! `assay clean`: how much the store holds that can be built again, and away with it.

use super::help::OUTPUT;
use super::run::StoragePaths;
use super::{DONE, screen};
use anyhow::Result;
use assay_lab::compare::clean::{CleanRequest, clean};
use assay_lab::view::pages_folder;
use assay_pure::event::Event;
use assay_report::render_clean;
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

/// Remove builds that can be rebuilt, and show what the store holds
#[derive(clap::Args, Clone, Debug)]
#[command(after_help = include_str!("help/clean.txt"))]
pub struct CleanArguments {
    /// Show what would be removed, without removing it
    #[arg(long, short = 'n')]
    pub dry_run: bool,
    /// Only builds unused for this many days
    #[arg(long, value_name = "DAYS")]
    pub older_than: Option<f64>,
    /// Write what was removed as JSON (schema/clean-1.schema.json); - is standard output
    #[arg(long, help_heading = OUTPUT, value_name = "FILE")]
    pub json: Option<PathBuf>,
    #[command(flatten)]
    pub places: StoragePaths,
}

/// Runs the verb.
///
/// # Errors
/// Another assay is at work with the store; something cannot be removed.
pub fn run(arguments: &CleanArguments) -> Result<u8> {
    if let Some(file) = &arguments.json {
        screen::find_place(file, &[])?;
    }
    let store = arguments.places.store();
    let asked = CleanRequest {
        ledger: &arguments.places.ledger,
        store: &store,
        pages: &pages_folder(&arguments.places.ledger),
        older_than_days: arguments.older_than,
        dry_run: arguments.dry_run,
    };
    let page = clean(asked, &mut |event| {
        if let Event::Warning(text) = event {
            screen::tell(&format!("assay: {text}"));
        }
    })?;
    if !arguments.json.as_deref().is_some_and(screen::is_stdout) {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64());
        screen::show(&render_clean(&page, now, screen::width(), screen::look()));
    }
    if let Some(path) = &arguments.json {
        screen::write(path, &page.to_json())?;
    }
    Ok(DONE)
}
