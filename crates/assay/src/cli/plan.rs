//! `assay plan`: what would be measured, and how long it would take.

use super::help::OUTPUT;
use super::run::StoragePaths;
use super::{DONE, screen};
use anyhow::Result;
use assay_lab::campaign::{CampaignRequest, left_out, outlook, prepare};
use assay_lab::lead::Resume;
use assay_lab::store::Ledger;
use assay_report::render_plan;
use std::path::PathBuf;
use std::time::Duration;

/// Show what `assay run` would measure and how long it would take
#[derive(clap::Args, Clone, Debug)]
#[command(after_help = include_str!("help/plan.txt"))]
pub struct PlanArguments {
    /// The experiment file
    pub experiment: PathBuf,
    /// Plan for `assay run --quick`
    #[arg(long)]
    pub quick: bool,
    /// Print JSON (schema/plan-1.schema.json) instead of the report
    #[arg(long, help_heading = OUTPUT)]
    pub json: bool,
    #[command(flatten)]
    pub places: StoragePaths,
}

/// Runs the verb.
///
/// # Errors
/// The file has mistakes, or a recorded input cannot be read.
pub fn run(arguments: &PlanArguments) -> Result<u8> {
    let asked = CampaignRequest {
        experiment: arguments.experiment.clone(),
        ledger: arguments.places.ledger.clone(),
        store: arguments.places.store(),
        quick: arguments.quick,
        resume: Resume::No,
        cpu: None,
        patience: Duration::from_secs(1),
        budget: None,
        inputs: Vec::new(),
        compilers: Vec::new(),
        seed: None,
        one_of: 1,
        measured_only: false,
        examine: false,
        source: assay_lab::campaign::CountingSource::Best,
        predictors: Vec::new(),
    };
    // Commands that make inputs are executed.
    assay_linux::interrupt::catch();
    let outline = prepare::outline(&asked)?;
    let machine = assay_linux::machine::facts();
    let (runnable, variants) = left_out::variants(&outline.experiment, &machine);
    let skipped: Vec<_> = outline.skipped.iter().chain(&variants).map(outlook::skipped).collect();
    // A plan makes no ledger where there is none.
    let ledger = asked.ledger.is_file().then(|| Ledger::open(&asked.ledger)).transpose()?;
    let plan = outlook::outlook(&outline, &machine, &runnable, &skipped, ledger.as_ref(), &asked.store)?;
    if arguments.json {
        screen::print(&format!("{}\n", serde_json::to_string_pretty(&plan)?));
    } else {
        screen::show(&render_plan(&plan, screen::width(), screen::colour()));
    }
    Ok(DONE)
}
