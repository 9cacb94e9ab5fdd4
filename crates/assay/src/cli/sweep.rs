//! `assay sweep`: a number of an input varied over a range.

use super::help::{OUTPUT, SELECTION};
use super::on::{OnArguments, SharedQuestion};
use super::picture::PictureArguments;
use super::run::{StoragePaths, positive};
use super::{DONE, FAILED, UNABLE, reads, screen};
use anyhow::Result;
use assay_lab::campaign::{CampaignRequest, prepare};
use assay_lab::lead::Resume;
use assay_lab::store::{Kept, Ledger};
use assay_lab::sweep::{self, AdHoc, SweepRequest, compose, preview};
use assay_lab::view::{self, AnyPage, named};
use assay_report::page::FailureKind;
use assay_report::sweep::page::Stopped;
use assay_report::sweep::{SweepPage, columns, render_preview, render_sweep};
use assay_report::{Detail, Progress, Show, picture};
use std::io::IsTerminal as _;
use std::path::PathBuf;
use std::time::Duration;

/// Heading of options that describe a sweep.
const RANGE: &str = "Range";

/// Vary a number of an input: where does the winner flip?
#[derive(clap::Args, Clone, Debug)]
#[command(after_help = include_str!("help/sweep.txt"))]
pub struct SweepArguments {
    /// The experiment file
    #[arg(required_unless_present = "show")]
    pub experiment: Option<PathBuf>,
    /// Names of sweeps in the file; default: all
    pub names: Vec<String>,
    /// Key to vary, instead of the file's sweeps
    #[arg(long, help_heading = RANGE, value_name = "PATH", requires = "from", requires = "to", conflicts_with = "names")]
    pub key: Option<String>,
    /// Smallest value: 1000, 1k, 64Ki, '5 %'
    #[arg(long, help_heading = RANGE, value_name = "VALUE", requires = "key")]
    pub from: Option<String>,
    /// Largest value
    #[arg(long, help_heading = RANGE, value_name = "VALUE", requires = "key")]
    pub to: Option<String>,
    /// Points of the first step
    #[arg(long, help_heading = RANGE, value_name = "N", requires = "key")]
    pub points: Option<u32>,
    /// Equal differences or equal ratios between points
    #[arg(long, help_heading = RANGE, value_name = "SCALE", requires = "key", value_parser = ["linear", "geometric"])]
    pub scale: Option<String>,
    /// Target width of the crossover interval: a number in the key's unit, or '5 %'
    #[arg(long, help_heading = RANGE, value_name = "WIDTH", requires = "key")]
    pub tolerance: Option<String>,
    /// Maximum number of points added after the first step; overrides the file
    #[arg(long, help_heading = RANGE, value_name = "N")]
    pub refine: Option<u32>,
    /// Time to measure all steps of a sweep, instead of the file's budget
    #[arg(long, value_name = "SECONDS", value_parser = positive)]
    pub budget: Option<f64>,
    /// Only variants whose name matches, and the baseline; can be repeated
    #[arg(long = "variant", value_name = "GLOB", help_heading = SELECTION)]
    pub variants: Vec<String>,
    /// Only compilers whose name matches, instead of the file's; can be repeated
    #[arg(long = "compiler", value_name = "GLOB", help_heading = SELECTION)]
    pub compilers: Vec<String>,
    /// Compare every pair of variants, not only with the baseline
    #[arg(long, help_heading = OUTPUT)]
    pub all: bool,
    /// Show what would be measured and how long it would take, then stop
    #[arg(long)]
    pub plan: bool,
    /// Continue the sweeps that are unfinished or were not reached
    #[arg(long)]
    pub resume: bool,
    /// Show a sweep of the ledger by its number or name, or `last`, without measuring
    #[arg(long, help_heading = OUTPUT, value_name = "SWEEP", conflicts_with_all = ["experiment", "resume", "plan", "key"])]
    pub show: Option<String>,
    /// Write the report as JSON (schema/sweep-2.schema.json), one document per sweep; - is standard output
    #[arg(long, help_heading = OUTPUT, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Write the points as CSV, for a spreadsheet or gnuplot; - is standard output
    #[arg(long, help_heading = OUTPUT, value_name = "FILE")]
    pub csv: Option<PathBuf>,
    #[command(flatten)]
    pub pictures: PictureArguments,
    /// Show no progress
    #[arg(long, short, help_heading = OUTPUT)]
    pub quiet: bool,
    /// Seed of orders, placements and environments
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// CPU to measure on; default: the last one allowed
    #[arg(long, value_name = "N")]
    pub cpu: Option<usize>,
    /// Time that a measured program may take for one reply
    #[arg(long, value_name = "SECONDS", default_value_t = 20.0, value_parser = positive)]
    pub timeout: f64,
    #[command(flatten)]
    pub on: OnArguments,
    #[command(flatten)]
    pub places: StoragePaths,
}

impl SweepArguments {
    fn asked(&self) -> SweepRequest {
        SweepRequest {
            campaign: CampaignRequest {
                experiment: self.experiment.clone().unwrap_or_default(),
                ledger: self.places.ledger.clone(),
                store: self.places.store(),
                quick: false,
                resume: Resume::No,
                cpu: self.cpu,
                patience: Duration::from_secs_f64(self.timeout),
                budget: self.budget,
                inputs: Vec::new(),
                compilers: self.compilers.clone(),
                seed: self.seed,
                one_of: 1,
                measured_only: false,
                examine: false,
                source: assay_lab::campaign::CountingSource::Best,
                predictors: Vec::new(),
            },
            names: self.names.clone(),
            ad_hoc: self.ad_hoc(),
            refine: self.refine,
            variants: self.variants.clone(),
            every_pair: self.all,
            resume: self.resume,
        }
    }

    /// Measures on other machines.
    fn shared(&self, asked: &SweepRequest) -> Result<u8> {
        // What is wrong with the file is said here, not by each machine.
        let name = prepare::outline(&asked.campaign)?.experiment.name;
        SharedQuestion {
            verb: "sweep",
            name,
            // A file may have several sweeps, each with a budget of its own.
            budget: self.budget,
            parts: Vec::new(),
            on: &self.on,
            places: &self.places,
            resume: self.resume,
            quiet: self.quiet,
            all: self.all,
            of_one: &[
                ("--json", self.json.is_some()),
                ("--csv", self.csv.is_some()),
                ("--picture", !self.pictures.pictures.is_empty()),
            ],
        }
        .run()
    }

    /// The sweep that the options describe, as the lines of a file.
    fn ad_hoc(&self) -> Option<AdHoc> {
        let text = |text: &str| format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""));
        let key = self.key.as_deref()?;
        let mut keys = vec![("key", text(key))];
        let given =
            [("from", &self.from), ("to", &self.to), ("scale", &self.scale), ("tolerance", &self.tolerance)];
        keys.extend(given.iter().filter_map(|(name, value)| Some((*name, text(value.as_deref()?)))));
        keys.extend(self.points.map(|points| ("points", points.to_string())));
        Some(AdHoc { keys })
    }
}

/// Runs the verb.
///
/// # Errors
/// See [`sweep::run`].
pub fn run(arguments: &SweepArguments) -> Result<u8> {
    let reads = arguments.experiment.as_deref().map(reads::of_text).unwrap_or_default();
    for path in [&arguments.json, &arguments.csv].into_iter().flatten() {
        // Said before minutes of measuring, not after them.
        screen::find_place(path, &reads)?;
    }
    let files = [&arguments.json, &arguments.csv].into_iter().flatten().chain(&reads);
    arguments.pictures.check(files.chain([&arguments.places.ledger]).map(PathBuf::as_path))?;
    if let Some(wanted) = &arguments.show {
        let ledger = Ledger::open(arguments.places.find_ledger("assay sweep FILE")?)?;
        let row = named(&ledger, Some(wanted), &[Kept::Sweep])?;
        return show(arguments, &[compose::page(&ledger, row.id)?]);
    }
    let asked = arguments.asked();
    if arguments.plan {
        return plan(arguments, &asked);
    }
    if arguments.on.on.is_some() {
        return arguments.shared(&asked);
    }
    assay_linux::interrupt::catch();
    let mut progress = Progress::new(Show::choose(arguments.quiet, std::io::stderr().is_terminal()));
    let ended = sweep::run(&asked, &mut |event| progress.event(&event))?;
    drop(progress);
    let ledger = Ledger::open(&asked.campaign.ledger)?;
    let mut pages = Vec::new();
    for one in &ended {
        let began = !ledger.sweep_steps(one.sweep)?.is_empty();
        let page = began.then(|| compose::page(&ledger, one.sweep)).transpose()?;
        if let Some(page) = &page {
            let kept = AnyPage::Sweep(Box::new(page.clone()));
            view::keep(&ledger, Kept::Sweep, |row| row.id == one.sweep, &kept)?;
        }
        pages.extend(page);
    }
    let code = show(arguments, &pages)?;
    if ended.iter().any(|one| one.interrupted) {
        screen::tell("assay: interrupted. Every finished round is kept; `--resume` continues from there.");
        return Ok(FAILED);
    }
    Ok(code)
}

fn plan(arguments: &SweepArguments, asked: &SweepRequest) -> Result<u8> {
    let previews = preview::previews(asked)?;
    if let Some(path) = &arguments.json {
        screen::write(path, &format!("{}\n", serde_json::to_string_pretty(&previews)?))?;
        return Ok(DONE);
    }
    let texts: Vec<String> =
        previews.iter().map(|preview| render_preview(preview, screen::width(), screen::colour())).collect();
    screen::show(&texts.join("\n"));
    Ok(DONE)
}

/// Prints and writes the pages; 1 if a cell failed, 3 if nothing could be measured.
fn show(arguments: &SweepArguments, pages: &[SweepPage]) -> Result<u8> {
    let detail = if arguments.all { Detail::Full } else { Detail::Brief };
    if !arguments.json.iter().chain(&arguments.csv).any(|file| screen::is_stdout(file)) {
        let texts: Vec<String> =
            pages.iter().map(|page| render_sweep(page, screen::width(), screen::colour(), detail)).collect();
        screen::show(&texts.join("\n"));
    }
    if let Some(path) = &arguments.json {
        screen::write(path, &pages.iter().map(SweepPage::to_json).collect::<String>())?;
    }
    if let Some(path) = &arguments.csv {
        screen::write(path, &pages.iter().map(columns).collect::<Vec<_>>().join("\n"))?;
    }
    arguments.pictures.write(|| picture::of_sweeps(pages))?;
    Ok(exit_code(pages))
}

/// 0 done, 1 if a cell failed, 3 if nothing could be measured.
pub fn exit_code(pages: &[SweepPage]) -> u8 {
    let failed =
        pages.iter().flat_map(|page| &page.failures).any(|failure| failure.kind == FailureKind::Failed);
    let nothing = pages.iter().any(|page| page.measured.stopped_because == Some(Stopped::Nothing));
    match (nothing, failed) {
        (true, _) => UNABLE,
        (false, true) => FAILED,
        (false, false) => DONE,
    }
}
