//! `assay report`: what was measured before, again, from the ledger: on the terminal, as a page, as data.

mod files;

use super::help::OUTPUT;
use super::picture::PictureArguments;
use super::run::{StoragePaths, exit_code};
use super::{DONE, screen};
use anyhow::Result;
use assay_lab::campaign::compose;
use assay_lab::lead::Misuse;
use assay_lab::store::{Kept, Ledger};
use assay_lab::view::Thing;
use assay_pure::ledger::Stopped;
use assay_report::markdown::markdown;
use assay_report::{Detail, render};
use std::path::{Path, PathBuf};

/// Show what was measured before, or write it as a page or as data
#[derive(clap::Args, Clone, Debug)]
#[command(after_help = include_str!("help/report.txt"))]
pub struct ReportArguments {
    /// Number of a campaign, or comparison/1, sweep/2, diary/NAME, or a JSON file of assay's; two for -o stand side by side;
    /// default: the newest campaign
    #[arg(value_name = "WHAT", num_args = 0..=2)]
    pub what: Vec<String>,
    /// List what the ledger has
    #[arg(long)]
    pub list: bool,
    /// Show every contrast, with all reasons
    #[arg(long, help_heading = OUTPUT)]
    pub all: bool,
    /// Write a summary for a pull request as Markdown; - is standard output
    #[arg(long, help_heading = OUTPUT, value_name = "FILE")]
    pub markdown: Option<PathBuf>,
    /// Write the report as JSON (schema/campaign-1.schema.json); - is standard output
    #[arg(long, help_heading = OUTPUT, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Write it as a page of pictures (.html), as data (.json) or its samples as a table (.csv)
    #[arg(long, short, help_heading = OUTPUT, value_name = "FILE", conflicts_with_all = ["list", "json", "markdown", "all"])]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub pictures: PictureArguments,
    #[command(flatten)]
    pub places: StoragePaths,
}

/// The campaign that is meant; what else there is has a verb of its own on the terminal.
fn campaign(what: &[String]) -> Result<Option<i64>, Misuse> {
    let [only] = what else {
        return if what.is_empty() {
            Ok(None)
        } else {
            Err(Misuse("two side by side are a page: add -o FILE.html".into()))
        };
    };
    let thing: Thing = only.parse().map_err(|error: String| {
        Misuse(if Path::new(only).is_file() {
            format!("show {only} as a page: add -o FILE.html")
        } else {
            error
        })
    })?;
    let elsewhere = |text: String| {
        Err(Misuse(format!("{text} shows it here, `assay report {only} -o FILE.html` as a page")))
    };
    match thing.kind {
        Kept::Campaign => Ok(thing.name.parse().ok()),
        Kept::Comparison => elsewhere(format!("`assay compare --show {}`", thing.name)),
        Kept::Sweep => elsewhere(format!("`assay sweep --show {}`", thing.name)),
        Kept::Diary => elsewhere("`assay stages STAGES.toml --show`".into()),
    }
}

/// What the ledger has beside campaigns, by the names that -o takes.
fn others(ledger: &Ledger) -> Result<String> {
    let mut text = String::new();
    for kind in [Kept::Comparison, Kept::Sweep, Kept::Diary] {
        for row in ledger.kept(kind)? {
            let state = row.stopped.map_or("unfinished", Stopped::word);
            text.push_str(&format!("{:<14} {:<24} {state}\n", Thing::from(&row).to_string(), row.name));
        }
    }
    Ok(text)
}

/// Runs the verb.
///
/// # Errors
/// No ledger, or no such campaign.
pub fn run(arguments: &ReportArguments) -> Result<u8> {
    let written = || arguments.json.iter().chain(&arguments.markdown).chain(&arguments.output);
    for file in written() {
        screen::find_place(file)?;
    }
    arguments.pictures.check(written().chain([&arguments.places.ledger]).map(PathBuf::as_path))?;
    let drawn = files::draw(&arguments.pictures, &arguments.what, &arguments.places)?;
    if let Some(file) = &arguments.output {
        return files::write(file, &arguments.what, &arguments.places);
    }
    if drawn && campaign(&arguments.what).is_err() {
        // What has no page here was asked for its picture.
        return Ok(DONE);
    }
    let path = arguments.places.find_ledger("assay run")?;
    let ledger = Ledger::open(path)?;
    let campaigns = ledger.campaigns()?;
    if arguments.list {
        let mut text = String::new();
        for campaign in &campaigns {
            let state = campaign.stopped.map_or("unfinished", Stopped::word);
            text.push_str(&format!("{:>5}  {:<24} {state}\n", campaign.id, campaign.experiment));
        }
        text.push_str(&others(&ledger)?);
        screen::print(&text);
        return Ok(DONE);
    }
    let asked = campaign(&arguments.what)?;
    let Some(id) = asked.or_else(|| campaigns.first().map(|campaign| campaign.id)) else {
        return Err(Misuse(format!(
            "the ledger {} has no campaigns yet; `assay run` adds one",
            path.display()
        ))
        .into());
    };
    if campaigns.iter().all(|campaign| campaign.id != id) {
        let known: Vec<String> = campaigns.iter().map(|campaign| campaign.id.to_string()).collect();
        return Err(Misuse(format!(
            "there is no campaign {id} in {}; its campaigns are: {}",
            path.display(),
            known.join(", ")
        ))
        .into());
    }
    let page = compose::page(&ledger, id)?;
    if let Some(file) = &arguments.json {
        screen::write(file, &page.to_json())?;
    }
    if let Some(file) = &arguments.markdown {
        screen::write(file, &markdown(&page, &arguments.pictures.beside(file)))?;
    }
    let is_alone = |path: &PathBuf| path.as_os_str() == "-";
    if !arguments.json.iter().chain(&arguments.markdown).any(is_alone) {
        let detail = if arguments.all { Detail::Full } else { Detail::Brief };
        screen::show(&render(&page, screen::width(), screen::colour(), detail));
    }
    Ok(exit_code(&page))
}
