//! `assay report`: the page of a campaign again, from the ledger.

use super::help::OUTPUT;
use super::run::{StoragePaths, exit_code};
use super::{DONE, screen};
use anyhow::Result;
use assay_lab::campaign::compose;
use assay_lab::lead::Misuse;
use assay_lab::store::Ledger;
use assay_pure::ledger::Stopped;
use assay_report::{Detail, render};
use std::path::PathBuf;

/// Show the report of an earlier campaign, or list the campaigns
#[derive(clap::Args, Clone, Debug)]
#[command(after_help = include_str!("help/report.txt"))]
pub struct ReportArguments {
    /// Number of the campaign; default: the newest
    #[arg(value_parser = number)]
    pub campaign: Option<i64>,
    /// List the campaigns of the ledger
    #[arg(long)]
    pub list: bool,
    /// Show every contrast, with all reasons
    #[arg(long, help_heading = OUTPUT)]
    pub all: bool,
    /// Write the report as JSON (schema/campaign-1.schema.json); - is standard output
    #[arg(long, help_heading = OUTPUT, value_name = "FILE")]
    pub json: Option<PathBuf>,
    #[command(flatten)]
    pub places: StoragePaths,
}

fn number(text: &str) -> Result<i64, String> {
    text.parse().map_err(|_| "give the campaign's number; `assay report --list` shows the numbers".to_owned())
}

/// Runs the verb.
///
/// # Errors
/// No ledger, or no such campaign.
pub fn run(arguments: &ReportArguments) -> Result<u8> {
    if let Some(file) = &arguments.json {
        screen::find_place(file)?;
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
        screen::print(&text);
        return Ok(DONE);
    }
    let Some(id) = arguments.campaign.or_else(|| campaigns.first().map(|campaign| campaign.id)) else {
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
    if arguments.json.as_deref().is_none_or(|path| path.as_os_str() != "-") {
        let detail = if arguments.all { Detail::Full } else { Detail::Brief };
        screen::show(&render(&page, screen::width(), screen::colour(), detail));
    }
    Ok(exit_code(&page))
}
