//! `assay stages`: what did each step of an optimisation bring, and how far is the reference?

use super::help::OUTPUT;
use super::on::{OnArguments, SharedQuestion};
use super::picture::PictureArguments;
use super::run::{StoragePaths, positive};
use super::stat::predictors;
use super::{DONE, FAILED, UNABLE, reads, screen};
use anyhow::Result;
use assay_lab::lead::Misuse;
use assay_lab::stages::{self, StagesRequest, compose};
use assay_lab::store::{Kept, Ledger};
use assay_lab::view::{self, AnyPage};
use assay_pure::predict::profile::MODERN;
use assay_pure::stages::Diary;
use assay_report::page::Stopped;
use assay_report::stages::page::DiaryPage;
use assay_report::stages::{markdown, render_stages};
use assay_report::{Detail, Progress, Show, picture};
use assay_trace::sites::SimulatedPredictor;
use std::io::IsTerminal as _;
use std::path::PathBuf;
use std::time::Duration;

/// Keep an optimisation diary: what did each stage bring?
#[derive(clap::Args, Clone, Debug)]
#[command(args_conflicts_with_subcommands = true, after_help = include_str!("help/stages.txt"))]
pub struct StagesArguments {
    #[command(subcommand)]
    verb: Option<StagesVerb>,
    /// The diary file
    #[arg(value_name = "STAGES.toml", required = true)]
    file: Option<PathBuf>,
    #[command(flatten)]
    wishes: Wishes,
}

#[derive(clap::Subcommand, Clone, Debug)]
enum StagesVerb {
    /// Measure new stages, each with the stages and references it is compared with
    Add {
        /// The diary file
        #[arg(value_name = "STAGES.toml")]
        file: PathBuf,
        /// Only this new stage; can be repeated; default: all new stages
        #[arg(long = "stage", value_name = "NAME")]
        stages: Vec<String>,
        #[command(flatten)]
        wishes: Wishes,
    },
}

/// How it is measured and shown.
#[derive(clap::Args, Clone, Debug)]
struct Wishes {
    /// Measure all stages again
    #[arg(long, conflicts_with = "show")]
    again: bool,
    /// Continue the newest unfinished session of the same builds, inputs and options
    #[arg(long, conflicts_with = "show")]
    resume: bool,
    /// Show the diary without measuring
    #[arg(long, help_heading = OUTPUT)]
    show: bool,
    /// Mix stages of several machines or inputs in one table
    #[arg(long)]
    mixed: bool,
    /// Count only, measure no times
    #[arg(long)]
    no_time: bool,
    /// Predictors or CPU profiles to simulate, the table's first; `none`, or `help` for a list
    #[arg(long, value_name = "NAME,...")]
    predictor: Vec<String>,
    /// Time to measure, instead of the file's budget
    #[arg(long, value_name = "SECONDS", value_parser = positive)]
    budget: Option<f64>,
    /// Write a summary as Markdown; - is standard output
    #[arg(long, help_heading = OUTPUT, value_name = "FILE")]
    markdown: Option<PathBuf>,
    /// Write the report as JSON (schema/stages-1.schema.json); - is standard output
    #[arg(long, help_heading = OUTPUT, value_name = "FILE")]
    json: Option<PathBuf>,
    #[command(flatten)]
    pictures: PictureArguments,
    /// Show every step, with all reasons
    #[arg(long, help_heading = OUTPUT)]
    all: bool,
    /// Show no progress
    #[arg(long, short, help_heading = OUTPUT)]
    quiet: bool,
    /// CPU to measure on; default: the last one allowed
    #[arg(long, value_name = "N")]
    cpu: Option<usize>,
    /// Let the command use every CPU, for programs with threads
    #[arg(long)]
    no_pin: bool,
    /// Time that one run of a command may take
    #[arg(long, value_name = "SECONDS", default_value_t = 600.0, value_parser = positive)]
    timeout: f64,
    /// Time that one run of a command may take while it is traced
    #[arg(long, value_name = "SECONDS", default_value_t = 600.0, value_parser = positive)]
    trace_limit: f64,
    /// QEMU plugin to use instead of assay's own; default: $ASSAY_QEMU_PLUGIN, if set
    #[arg(long, value_name = "FILE")]
    plugin: Option<PathBuf>,
    #[command(flatten)]
    on: OnArguments,
    #[command(flatten)]
    places: StoragePaths,
}

impl Wishes {
    /// Measures on other machines.
    fn shared(&self, verb: &'static str, diary: &Diary) -> Result<u8> {
        SharedQuestion {
            verb,
            name: diary.name.clone(),
            budget: Some(diary.budget_seconds),
            parts: Vec::new(),
            on: &self.on,
            places: &self.places,
            resume: self.resume,
            quiet: self.quiet,
            all: self.all,
            of_one: &[
                ("--show", self.show),
                ("--json", self.json.is_some()),
                ("--markdown", self.markdown.is_some()),
                ("--picture", !self.pictures.pictures.is_empty()),
            ],
        }
        .run()
    }
}

/// Runs the verb.
///
/// # Errors
/// See [`stages::run`].
pub fn run(arguments: &StagesArguments) -> Result<u8> {
    let (file, only, wishes) = match &arguments.verb {
        Some(StagesVerb::Add { file, stages, wishes }) => (file, stages.as_slice(), wishes),
        None => {
            let file = arguments
                .file
                .as_ref()
                .ok_or_else(|| Misuse("give the diary file: assay stages STAGES.toml".into()))?;
            (file, [].as_slice(), &arguments.wishes)
        }
    };
    if predictors::is_list_asked(&wishes.predictor) {
        screen::print(&predictors::list());
        return Ok(DONE);
    }
    let reads = reads::of_text(file);
    for path in wishes.json.iter().chain(&wishes.markdown) {
        // Said before minutes of measuring, not after them.
        screen::find_place(path, &reads)?;
    }
    let files = wishes.json.iter().chain(&wishes.markdown).chain([&wishes.places.ledger]).chain(&reads);
    wishes.pictures.check(files.map(PathBuf::as_path))?;
    let mut opened = stages::open(file)?;
    if let Some(budget) = wishes.budget {
        opened.diary.budget_seconds = budget;
    }
    let diary = opened.diary.clone();
    if wishes.on.on.is_some() {
        let verb = if arguments.verb.is_some() { "stages add" } else { "stages" };
        return wishes.shared(verb, &diary);
    }
    let mut interrupted = false;
    if !wishes.show {
        assay_linux::interrupt::catch();
        let asked = asked(wishes, opened, only)?;
        let mut progress = Progress::new(Show::choose(wishes.quiet, std::io::stderr().is_terminal()));
        let ended = stages::run(&asked, &mut |event| progress.event(&event))?;
        drop(progress);
        interrupted = ended.interrupted;
        if ended.session.is_none() && !wishes.quiet {
            screen::tell(
                "assay: nothing was measured: every stage is in the diary already. --again measures them all again.",
            );
        }
    }
    let ledger = Ledger::open(&wishes.places.ledger)?;
    let page = compose::page(&ledger, &diary)?;
    if !wishes.show {
        let kept = AnyPage::Diary(Box::new(page.clone()));
        view::keep(&ledger, Kept::Diary, |row| row.name == diary.name, &kept)?;
    }
    let code = show(wishes, &page)?;
    if interrupted {
        screen::tell("assay: interrupted. Every finished run is kept; `--resume` continues from there.");
    }
    Ok(code)
}

fn asked(wishes: &Wishes, opened: stages::OpenedDiary, only: &[String]) -> Result<StagesRequest> {
    Ok(StagesRequest {
        models: models(wishes, &opened.diary)?,
        opened,
        ledger: wishes.places.ledger.clone(),
        store: wishes.places.store(),
        only: only.to_vec(),
        again: wishes.again,
        resume: wishes.resume,
        mixed: wishes.mixed,
        plugin: wishes.plugin.clone(),
        time: !wishes.no_time,
        cpu: wishes.cpu,
        pin: !wishes.no_pin,
        patience: Duration::from_secs_f64(wishes.timeout),
        trace_patience: Duration::from_secs_f64(wishes.trace_limit),
    })
}

/// The predictors asked for, or those of `assay stat` with the one that stands for a CPU of today first.
fn models(wishes: &Wishes, diary: &Diary) -> Result<Vec<SimulatedPredictor>, Misuse> {
    let asked = if wishes.predictor.is_empty() { &diary.predictors } else { &wishes.predictor };
    let architecture = match std::env::consts::ARCH {
        "x86_64" => "x86-64",
        other => other,
    };
    let mut found = predictors::choose(asked, Some(architecture))?;
    if asked.is_empty() {
        found.sort_by_key(|model| model.name != MODERN);
    }
    let model = |model: predictors::SimulatedModel| SimulatedPredictor {
        name: model.name,
        what: model.what,
        definition: model.definition,
        judges: model.judges,
    };
    Ok(found.into_iter().map(model).collect())
}

fn show(wishes: &Wishes, page: &DiaryPage) -> Result<u8> {
    if !wishes.json.iter().chain(&wishes.markdown).any(|file| screen::is_stdout(file)) {
        let detail = if wishes.all { Detail::Full } else { Detail::Brief };
        screen::show(&render_stages(page, screen::width(), screen::colour(), detail));
    }
    if let Some(path) = &wishes.json {
        screen::write(path, &page.to_json())?;
    }
    if let Some(path) = &wishes.markdown {
        screen::write(path, &markdown(page, &wishes.pictures.beside(path)))?;
    }
    wishes.pictures.write(|| picture::of_diary(page))?;
    Ok(exit_code(page))
}

/// 0 done, 1 a stage failed or the last session was interrupted, 3 nothing was measured.
pub fn exit_code(page: &DiaryPage) -> u8 {
    let stopped = page.sessions.last().map(|session| session.stopped_because);
    let failed = page.entrants.iter().any(|entrant| entrant.failed.is_some())
        || page.roles.iter().flat_map(|role| &role.cells).any(|cell| cell.failed.is_some());
    match stopped {
        Some(Stopped::Nothing) | None => UNABLE,
        Some(Stopped::Interrupted) => FAILED,
        Some(_) if failed => FAILED,
        Some(_) => DONE,
    }
}
