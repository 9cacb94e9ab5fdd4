//! `assay run`: measure the matrix, give verdicts.

mod parts;
mod several;

use super::gates::{GivenGates, gates};
use super::help::{OUTPUT, SELECTION, STORAGE};
use super::on::{MACHINES, OnArguments, SharedQuestion};
use super::picture::PictureArguments;
use super::stat::predictors;
use super::{DONE, FAILED, UNABLE, reads, screen};
use anyhow::Result;
use assay_lab::campaign::examination;
use assay_lab::campaign::inputs::{self, InputPlaces};
use assay_lab::campaign::{self, CampaignRequest, compose, prepare, workspace};
use assay_lab::doctor::experiment;
use assay_lab::lead::{Misuse, Resume};
use assay_lab::store::{Kept, KeptRow, Ledger};
use assay_lab::view::{self, AnyPage};
use assay_pure::compare::Gates;
use assay_pure::words;
use assay_report::gate::GateResult;
use assay_report::markdown::markdown;
use assay_report::page::{FailureKind, Page, Stopped};
use assay_report::{Detail, Progress, Show, picture, render};
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Measure an experiment: which variant is faster, where and why?
#[derive(clap::Args, Clone, Debug)]
#[command(after_help = include_str!("help/run.txt"))]
pub struct RunArguments {
    /// Experiment files, or files that list them; default: assay.toml
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Give a first answer in about 20 s: fewer rounds, no added placements
    #[arg(long)]
    pub quick: bool,
    /// Continue the newest unfinished campaign; of several files keep what ended, and measure what was not reached
    #[arg(long)]
    pub resume: bool,
    /// Exit with 1 if a variant is slower than the baseline, with 3 if that is not decided: `slower`, `slower:2%`, or a .toml
    /// file with one for each pattern
    #[arg(long, value_name = "GATE|FILE", value_parser = gates)]
    pub gate: Option<GivenGates>,
    /// Write a summary for a pull request as Markdown; - is standard output
    #[arg(long, help_heading = OUTPUT, value_name = "FILE")]
    pub markdown: Option<PathBuf>,
    /// Write the report as JSON (schema/campaign-1.schema.json), a list of them for several files; - is standard output
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub json: Option<PathBuf>,
    #[command(flatten)]
    pub pictures: PictureArguments,
    /// Show every contrast, with all reasons
    #[arg(long, help_heading = OUTPUT)]
    pub all: bool,
    /// Show no progress
    #[arg(long, short, help_heading = OUTPUT)]
    pub quiet: bool,
    /// Time to measure, instead of the file's budget; with several files, for all of them together
    #[arg(long, value_name = "SECONDS", value_parser = positive)]
    pub budget: Option<f64>,
    /// Only inputs whose name matches; can be repeated
    #[arg(long = "input", value_name = "GLOB", help_heading = SELECTION)]
    pub inputs: Vec<String>,
    /// Only compilers whose name matches, instead of the file's; can be repeated
    #[arg(long = "compiler", value_name = "GLOB", help_heading = SELECTION)]
    pub compilers: Vec<String>,
    /// Seed of orders, placements and environments
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// CPU to measure on; default: the last one allowed
    #[arg(long, value_name = "N")]
    pub cpu: Option<usize>,
    /// What counts instructions, branches and mispredictions
    #[arg(long, value_name = "SOURCE", default_value = "auto")]
    pub source: GivenSource,
    /// Predictors or CPU profiles that judge the branches, the first to explain times; `help` for a list; default: this CPU's
    /// counters, or the profiles nearest to it
    #[arg(long, value_name = "NAME[:KEY=N,...],...")]
    pub predictor: Vec<String>,
    /// Time that a measured program may take for one reply
    #[arg(long, value_name = "SECONDS", default_value_t = 20.0, value_parser = positive)]
    pub timeout: f64,
    #[command(flatten)]
    pub on: OnArguments,
    /// Share each kind of machine's part out among jobs: one for each input, or for each compiler
    #[arg(long, value_name = "AXIS", help_heading = MACHINES, requires = "on")]
    pub shard_by: Option<parts::ShardBy>,
    /// Measure as one of N parts: with its share of the budget, and of the error that all verdicts may make together
    #[arg(long, value_name = "N", hide = true, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..1000))]
    pub one_of: u32,
    #[command(flatten)]
    pub places: StoragePaths,
}

/// What counts instructions and branches.
#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum GivenSource {
    /// Counters of the processor where the kernel allows them, else an instrumented build, else tracing
    Auto,
    /// Under emulation: exact counts, simulated predictors
    Traced,
    /// A build of gcc or clang that logs its branches, exactly and without emulation; the emulator where there can be none
    Instrumented,
}

impl From<GivenSource> for campaign::CountingSource {
    fn from(given: GivenSource) -> campaign::CountingSource {
        match given {
            GivenSource::Auto => campaign::CountingSource::Best,
            GivenSource::Traced => campaign::CountingSource::Traced,
            GivenSource::Instrumented => campaign::CountingSource::Instrumented,
        }
    }
}

/// Where things are kept.
#[derive(clap::Args, Clone, Debug)]
pub struct StoragePaths {
    /// SQLite file that keeps every sample
    #[arg(long, value_name = "FILE", help_heading = STORAGE, default_value = ".assay/ledger.db")]
    pub ledger: PathBuf,
    /// Folder of inputs and binaries, assay's alone; default: `store` beside the ledger
    #[arg(long, value_name = "DIR", help_heading = STORAGE)]
    pub store: Option<PathBuf>,
}

impl StoragePaths {
    /// The store.
    pub fn store(&self) -> PathBuf {
        self.store.clone().unwrap_or_else(|| self.ledger.with_file_name("store"))
    }
}

impl StoragePaths {
    /// The ledger, for what only reads it: opening would make an empty one.
    ///
    /// # Errors
    /// [`Misuse`]: it is not there, and which command makes one.
    pub fn find_ledger(&self, maker: &str) -> Result<&Path, Misuse> {
        if self.ledger.is_file() {
            return Ok(&self.ledger);
        }
        let path = self.ledger.display();
        Err(Misuse(format!(
            "there is no ledger at {path}: `{maker}` creates one, --ledger FILE names another"
        )))
    }
}

/// A positive finite number.
pub(super) fn positive(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() && number > 0.0 => Ok(number),
        _ => Err(format!("`{text}` is not a positive number of seconds, such as 10 or 0.5")),
    }
}

impl RunArguments {
    /// As the lab is asked for one of the files.
    pub fn asked(&self, experiment: &Path, budget: Option<f64>) -> CampaignRequest {
        CampaignRequest {
            experiment: experiment.to_owned(),
            ledger: self.places.ledger.clone(),
            store: self.places.store(),
            quick: self.quick,
            resume: Resume::No,
            cpu: self.cpu,
            patience: Duration::from_secs_f64(self.timeout),
            budget,
            inputs: self.inputs.clone(),
            compilers: self.compilers.clone(),
            seed: self.seed,
            one_of: self.one_of,
            measured_only: false,
            examine: true,
            source: self.source.into(),
            predictors: self.predictor.clone(),
        }
    }

    /// Whether a page takes standard output for itself.
    fn prints_data(&self) -> bool {
        self.json.iter().chain(&self.markdown).any(|file| screen::is_stdout(file))
    }
}

/// Runs the verb.
///
/// # Errors
/// See [`campaign::run`].
pub fn run(arguments: &RunArguments) -> Result<u8> {
    if predictors::is_list_asked(&arguments.predictor) {
        screen::print(&predictors::list());
        return Ok(DONE);
    }
    assay_linux::interrupt::catch();
    let arguments =
        &RunArguments { predictor: predictors::named(&arguments.predictor)?, ..arguments.clone() };
    let listed = workspace::listed(&arguments.files, arguments.budget)?;
    let gates = arguments.gate.as_ref().and_then(|given| given.file.clone());
    let texts = listed.experiments.iter().chain(&arguments.files).flat_map(|file| reads::of_text(file));
    let reads: Vec<PathBuf> = texts.chain(gates).collect();
    for path in arguments.json.iter().chain(&arguments.markdown) {
        // Said before a minute of measuring, not after it.
        screen::find_place(path, &reads)?;
    }
    let files = reads.iter().chain([&arguments.places.ledger]).chain(&arguments.json);
    arguments.pictures.check(files.chain(&arguments.markdown).map(PathBuf::as_path))?;
    match &listed.experiments[..] {
        [one] if arguments.on.on.is_some() => shared(arguments, one, listed.budget),
        _ if arguments.on.on.is_some() => {
            Err(Misuse("--on measures one experiment at a time: name one file".into()).into())
        }
        [one] => {
            let page = measure(arguments, one, listed.budget, Resume::one(arguments.resume))?;
            if let Some(path) = &arguments.json {
                screen::write(path, &page.to_json())?;
            }
            if let Some(path) = &arguments.markdown {
                screen::write(path, &markdown(&page, &arguments.pictures.beside(path)))?;
            }
            arguments.pictures.write(|| picture::of_campaign(&page))?;
            Ok(exit_code(&page))
        }
        _ => several::run(arguments, &listed),
    }
}

/// Measures one experiment on other machines.
fn shared(arguments: &RunArguments, file: &Path, budget: Option<f64>) -> Result<u8> {
    let outline = prepare::outline(&arguments.asked(file, budget))?;
    let parts = arguments.shard_by.map_or(Ok(Vec::new()), |axis| parts::of(axis, &outline))?;
    SharedQuestion {
        verb: "run",
        budget: Some(outline.experiment.budget_seconds / parts.len().max(1) as f64),
        name: outline.experiment.name,
        parts,
        on: &arguments.on,
        places: &arguments.places,
        resume: arguments.resume,
        quiet: arguments.quiet,
        all: arguments.all,
        of_one: &[
            ("--gate", arguments.gate.is_some()),
            ("--markdown", arguments.markdown.is_some()),
            ("--json", arguments.json.is_some()),
            ("--picture", !arguments.pictures.pictures.is_empty()),
        ],
    }
    .run()
}

/// Measures one experiment and shows its page.
fn measure(arguments: &RunArguments, file: &Path, budget: Option<f64>, resume: Resume) -> Result<Page> {
    let asked = CampaignRequest { resume, ..arguments.asked(file, budget) };
    let mut progress = Progress::new(Show::choose(arguments.quiet, std::io::stderr().is_terminal()));
    let ended = campaign::run(&asked, &mut |event| progress.event(&event))?;
    drop(progress);
    let ledger = Ledger::open(&asked.ledger)?;
    let mut page = compose::page(&ledger, ended.campaign)?;
    let is_it = |row: &KeptRow| row.id == ended.campaign;
    view::keep(&ledger, Kept::Campaign, is_it, &AnyPage::Campaign(Box::new(page.clone())))?;
    page.gate = arguments.gate.as_ref().map(|given| GateResult::of_campaign(&page, &given.gates));
    let hidden = arguments.gate.as_ref().and_then(|given| finer_than_measured(&page, &given.gates));
    if !arguments.prints_data() {
        let detail = if arguments.all { Detail::Full } else { Detail::Brief };
        screen::show(&render(&page, screen::width(), screen::look(), detail));
    }
    if let Some(hint) = sweeps_hint(&ledger, ended.campaign, &asked)? {
        screen::tell(&hint);
    }
    let measured = page.campaign.stopped_because != Stopped::Nothing;
    if let Some(found) = hint(&asked).filter(|_| measured && !arguments.quiet) {
        screen::tell(&format!(
            "assay: the inputs may mislead ({found}): `assay doctor {}` explains and says what to change",
            file.display()
        ));
    }
    if let Some(why) = hidden {
        screen::tell(&why);
    }
    if ended.kept {
        let (id, started) = (&page.campaign.id, &page.campaign.started);
        screen::tell(&format!(
            "assay: {}: campaign {id} of {started} is at its end and kept",
            file.display()
        ));
    }
    if ended.interrupted {
        screen::tell("assay: interrupted. Every finished round is kept; `--resume` continues from there.");
    }
    Ok(page)
}

/// Why a gate may stay undecided however long it is measured: measuring ends where the minimum effect is decided.
fn finer_than_measured(page: &Page, gates: &Gates) -> Option<String> {
    let gate = gates.finest()?;
    let margin = page.campaign.minimum_effect;
    let open = page.gate.as_ref().is_some_and(|found| !found.undecided.is_empty());
    (open && gate.slower < margin).then(|| {
        format!(
            "assay: the gate {gate} is finer than the experiment's minimum effect ({}), at which measuring ends: set \
             minimum_effect = \"{}\" in the file",
            words::asked(margin),
            words::asked(gate.slower)
        )
    })
}

/// A word on the sweeps of a file, which are measured by another verb.
fn sweeps_hint(ledger: &Ledger, campaign: i64, asked: &CampaignRequest) -> Result<Option<String>> {
    let Some(row) = ledger.campaign(campaign)? else { return Ok(None) };
    let names: Vec<&str> = row.spec["sweeps"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|sweep| sweep["name"].as_str())
        .collect();
    let file = asked.experiment.display();
    Ok((!names.is_empty()).then(|| {
        format!("assay: this file also has sweeps ({}): `assay sweep {file}` measures them", names.join(", "))
    }))
}

/// What the doctor finds without building or measuring anything, in a line.
fn hint(asked: &CampaignRequest) -> Option<String> {
    let outline = prepare::outline(asked).ok()?;
    let machine = assay_linux::machine::facts();
    let kept = inputs::kept_in(&asked.store);
    let places = InputPlaces { folder: &outline.folder, kept: &kept };
    let facts = examination::outlined(&outline.experiment, places, &machine, None).ok()?;
    experiment::in_short(&facts, &outline.experiment.accept)
}

/// 0 done, 1 the gate or some cell failed or it was interrupted, 3 nothing could be measured or the gate is undecided, as it is of
/// what was interrupted.
pub fn exit_code(page: &Page) -> u8 {
    let failed = page.failures.iter().any(|failure| failure.kind == FailureKind::Failed);
    code_of(page.campaign.stopped_because, failed, page.gate.as_ref())
}

fn code_of(stopped: Stopped, has_failures: bool, gate: Option<&GateResult>) -> u8 {
    match (stopped, gate) {
        (Stopped::Nothing, _) => UNABLE,
        (_, Some(gate)) if !gate.failed.is_empty() => FAILED,
        (Stopped::Interrupted, None) => FAILED,
        _ if has_failures => FAILED,
        (_, Some(gate)) if !gate.passed => UNABLE,
        _ => DONE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_tells_a_failed_gate_from_an_undecided_one() {
        let gate = |failed: &[&str], undecided: &[&str]| GateResult {
            gate: "slower:2%".into(),
            passed: failed.is_empty() && undecided.is_empty(),
            failed: failed.iter().map(|&name| name.to_owned()).collect(),
            undecided: undecided.iter().map(|&name| name.to_owned()).collect(),
            unmatched: Vec::new(),
        };
        let (passed, failed) = (gate(&[], &[]), gate(&["slow"], &["wide"]));
        let undecided = gate(&[], &["wide"]);
        for (stopped, has_failures, gate, code) in [
            (Stopped::Decided, false, None, DONE),
            (Stopped::Decided, false, Some(&passed), DONE),
            (Stopped::Decided, true, None, FAILED),
            (Stopped::Decided, true, Some(&passed), FAILED),
            (Stopped::Decided, false, Some(&failed), FAILED),
            (Stopped::Budget, false, Some(&failed), FAILED),
            (Stopped::Budget, false, Some(&undecided), UNABLE),
            (Stopped::Budget, false, None, DONE),
            (Stopped::Interrupted, false, None, FAILED),
            (Stopped::Interrupted, false, Some(&undecided), UNABLE),
            (Stopped::Interrupted, false, Some(&failed), FAILED),
            (Stopped::Nothing, true, Some(&failed), UNABLE),
            (Stopped::Nothing, true, None, UNABLE),
        ] {
            assert_eq!(code_of(stopped, has_failures, gate), code, "{stopped:?}, {has_failures}, {gate:?}");
        }
    }
}
