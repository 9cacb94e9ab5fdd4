//! `assay run`: measure the matrix, give verdicts.

use super::{DONE, FAILED, UNABLE, screen};
use anyhow::Result;
use assay_lab::campaign::{self, Asked, compose, prepare};
use assay_lab::doctor::experiment;
use assay_lab::lead::Misuse;
use assay_lab::store::Ledger;
use assay_report::page::{FailureKind, Page, StoppedBecause};
use assay_report::{Detail, Progress, Show, render};
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Measure an experiment's matrix and give verdicts with their causes
#[derive(clap::Args, Clone, Debug)]
#[command(after_help = "Examples:\n  \
    assay run casebook/varint/experiment.toml\n  \
    assay run --quick casebook/varint/experiment.toml\n  \
    assay run experiment.toml --input 'log*' --compiler gcc --json result.json\n  \
    assay run experiment.toml --resume\n\n\
    Times are compared as ratios over placements: the program is relinked so that every function visits every phase\n\
    of the 64-byte cache line, and the verdict rests on the mean over them.\n\n\
    Exit codes: 0 done, 1 a cell failed, 2 misuse, 3 nothing could be measured.")]
pub struct Arguments {
    /// The experiment file
    pub experiment: PathBuf,
    /// A first answer within about 20 seconds: less measuring, no added rotations
    #[arg(long)]
    pub quick: bool,
    /// Go on with the newest unfinished campaign of this experiment
    #[arg(long)]
    pub resume: bool,
    /// Write the page as JSON (schema/campaign-1.schema.json); - is standard output
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Every contrast, with its reasons
    #[arg(long)]
    pub all: bool,
    /// No progress
    #[arg(long, short)]
    pub quiet: bool,
    /// Seconds of measuring, instead of the file's budget
    #[arg(long, value_name = "SECONDS", value_parser = positive)]
    pub budget: Option<f64>,
    /// Only inputs with these names (globs)
    #[arg(long = "input", value_name = "GLOB")]
    pub inputs: Vec<String>,
    /// Only these compilers (names or globs), instead of the file's
    #[arg(long = "compiler", value_name = "NAME")]
    pub compilers: Vec<String>,
    /// Seed of the plan: orders, shuffles, environments
    #[arg(long)]
    pub seed: Option<u64>,
    /// The processor to measure on; the last one allowed if not given
    #[arg(long)]
    pub cpu: Option<usize>,
    /// Seconds a measured program may take for one reply
    #[arg(long, default_value_t = 20.0, value_parser = positive)]
    pub timeout: f64,
    #[command(flatten)]
    pub places: Places,
}

/// Where things are kept.
#[derive(clap::Args, Clone, Debug)]
pub struct Places {
    /// The ledger that keeps every sample
    #[arg(long, value_name = "FILE", default_value = ".assay/ledger.db")]
    pub ledger: PathBuf,
    /// Inputs and binaries by content; `store` beside the ledger if not given
    #[arg(long, value_name = "DIR")]
    pub store: Option<PathBuf>,
}

impl Places {
    /// The store.
    pub fn store(&self) -> PathBuf {
        self.store.clone().unwrap_or_else(|| self.ledger.with_file_name("store"))
    }
}

impl Places {
    /// The ledger, for what only reads it: opening would make an empty one.
    ///
    /// # Errors
    /// [`Misuse`]: it is not there, and which command makes one.
    pub fn find_ledger(&self, maker: &str) -> Result<&Path, Misuse> {
        if self.ledger.is_file() {
            return Ok(&self.ledger);
        }
        let path = self.ledger.display();
        Err(Misuse(format!("no ledger at {path}; `{maker}` makes one, --ledger FILE names another")))
    }
}

/// A positive finite number.
pub(super) fn positive(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() && number > 0.0 => Ok(number),
        _ => Err(format!("`{text}` is not a positive number of seconds")),
    }
}

impl Arguments {
    /// As the lab is asked.
    pub fn asked(&self) -> Asked {
        Asked {
            experiment: self.experiment.clone(),
            ledger: self.places.ledger.clone(),
            store: self.places.store(),
            quick: self.quick,
            resume: self.resume,
            cpu: self.cpu,
            patience: Duration::from_secs_f64(self.timeout),
            budget: self.budget,
            inputs: self.inputs.clone(),
            compilers: self.compilers.clone(),
            seed: self.seed,
        }
    }
}

/// Runs the verb.
///
/// # Errors
/// See [`campaign::run`].
pub fn run(arguments: &Arguments) -> Result<u8> {
    assay_linux::interrupt::catch();
    if let Some(path) = &arguments.json {
        // Said before a minute of measuring, not after it.
        screen::find_place(path)?;
    }
    let asked = arguments.asked();
    let mut progress = Progress::new(Show::choose(arguments.quiet, std::io::stderr().is_terminal()));
    let ended = campaign::run(&asked, &mut |event| progress.event(&event))?;
    drop(progress);
    let ledger = Ledger::open(&asked.ledger)?;
    let page = compose::page(&ledger, ended.campaign)?;
    if arguments.json.as_deref().is_none_or(|path| path.as_os_str() != "-") {
        let detail = if arguments.all { Detail::Full } else { Detail::Brief };
        screen::print(&render(&page, screen::width(), screen::colour(), detail));
    }
    if let Some(hint) = sweeps_hint(&ledger, ended.campaign, &asked)? {
        screen::tell(&hint);
    }
    let measured = page.campaign.stopped_because != StoppedBecause::NothingToMeasure;
    if let Some(found) = hint(&asked).filter(|_| measured && !arguments.quiet) {
        let file = arguments.experiment.display();
        screen::tell(&format!(
            "assay: its inputs hide something ({found}): `assay doctor {file}` says what, why it matters and what to change"
        ));
    }
    if ended.interrupted {
        screen::tell("assay: interrupted; every finished round is kept. `--resume` goes on from there.");
    }
    if let Some(path) = &arguments.json {
        screen::write(path, &page.to_json())?;
    }
    Ok(exit_code(&page))
}

/// A word on the sweeps of a file, which are measured by another verb.
fn sweeps_hint(ledger: &Ledger, campaign: i64, asked: &Asked) -> Result<Option<String>> {
    let Some(row) = ledger.campaign(campaign)? else { return Ok(None) };
    let names: Vec<&str> = row.spec["sweeps"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|sweep| sweep["name"].as_str())
        .collect();
    let file = asked.experiment.display();
    Ok((!names.is_empty()).then(|| {
        format!("assay: `assay sweep {file}` measures the sweeps of this file: {}", names.join(", "))
    }))
}

/// What the doctor finds without building or measuring anything, in a line.
fn hint(asked: &Asked) -> Option<String> {
    let outline = prepare::outline(asked).ok()?;
    let facts = experiment::outlined(&outline, &assay_linux::machine::facts(), None).ok()?;
    experiment::in_short(&facts, &outline.experiment.accept)
}

/// 0 done, 1 some cell failed or it was interrupted, 3 nothing could be measured.
pub fn exit_code(page: &Page) -> u8 {
    let failed = page.failures.iter().any(|failure| failure.kind == FailureKind::Failed);
    match page.campaign.stopped_because {
        StoppedBecause::NothingToMeasure => UNABLE,
        StoppedBecause::Interrupted => FAILED,
        _ if failed => FAILED,
        _ => DONE,
    }
}
