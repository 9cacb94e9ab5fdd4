//! `assay stages`: what did each step of an optimisation bring, and how far is the reference?

use super::run::{Places, positive};
use super::stat::predictors;
use super::{DONE, FAILED, UNABLE, screen};
use anyhow::Result;
use assay_lab::lead::Misuse;
use assay_lab::stages::{self, Asked, compose};
use assay_lab::store::Ledger;
use assay_pure::predict::profile::MODERN;
use assay_pure::stages::Diary;
use assay_report::page::StoppedBecause;
use assay_report::stages::page::StagesPage;
use assay_report::stages::{markdown, render_stages};
use assay_report::{Detail, Progress, Show};
use assay_trace::sites::SimulatedPredictor;
use std::io::IsTerminal as _;
use std::path::PathBuf;
use std::time::Duration;

/// Keep an optimisation diary: what each stage brought, which brought nothing, how far the reference is
///
/// Builds every stage of a STAGES.toml that the ledger does not have yet, counts what its commands execute, and times them in
/// turns over many placements against the stage before, the first stage and the references.
#[derive(clap::Args, Clone, Debug)]
#[command(args_conflicts_with_subcommands = true, after_help = HELP)]
pub struct Arguments {
    #[command(subcommand)]
    verb: Option<Verb>,
    /// The diary's file
    #[arg(value_name = "STAGES.toml", required = true)]
    file: Option<PathBuf>,
    #[command(flatten)]
    wishes: Wishes,
}

const HELP: &str = "Examples:\n  \
    assay stages STAGES.toml                       measure what is new, show all of it\n  \
    assay stages add STAGES.toml --stage release   measure this stage alone, with what it is held against\n  \
    assay stages STAGES.toml --show --markdown d.md  the page again, without measuring\n  \
    assay stages STAGES.toml --no-time             exact counts alone\n\n\
    A file to start from:\n  \
    [diary]\n  \
    name = \"allocator\"\n  \
    unit = \"operation\"\n  \
    [build]                                   # per stage; {out} is a folder of its own\n  \
    command = \"make -s FLAGS='{flags}' OUT={out}\"\n  \
    program = \"{out}/bench\"\n  \
    [[roles]]\n  \
    name = \"mixed\"\n  \
    command = \"{program} mixed 100000\"\n  \
    units = 100000\n  \
    [[references]]                            # optional: the distance to it is told\n  \
    name = \"glibc\"\n  \
    command = \"{program} --glibc mixed 100000\"\n  \
    [components]                              # optional: exact branches per component\n  \
    allocation = [\"tiny_alloc*\", \"malloc\"]\n  \
    [[stages]]\n  \
    name = \"debug\"\n  \
    flags = \"-O0 -DGUARDS\"\n  \
    [[stages]]                                # a step from the one above, or from `after`\n  \
    name = \"release\"\n  \
    flags = \"-O2\"                             # or revision = \"v1.2\", source = \"folder\", env, command\n  \
    [[claims]]                                # optional: what somebody says of a step\n  \
    text = \"47 % fewer branches\"\n  \
    stage = \"release\"\n  \
    of = \"branches\"\n  \
    change = \"-47 %\"\n\n\
    All keys: docs/stages.md. A wrong key is reported with the nearest right one.\n\n\
    Exit codes: 0 done, 1 a stage failed or it was interrupted (--resume goes on), 2 misuse, 3 nothing could be\n\
    measured.";

#[derive(clap::Subcommand, Clone, Debug)]
enum Verb {
    /// Measure new stages into the diary, each with what it is held against
    Add {
        /// The diary's file
        #[arg(value_name = "STAGES.toml")]
        file: PathBuf,
        /// Which of the stages that are not in the diary yet; all if not given
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
    /// Go on with the newest unfinished session of the same builds, inputs and options
    #[arg(long, conflicts_with = "show")]
    resume: bool,
    /// Show the diary without measuring
    #[arg(long)]
    show: bool,
    /// Put stages of another machine or input into the same table
    #[arg(long)]
    mixed: bool,
    /// Counts alone, no times
    #[arg(long)]
    no_time: bool,
    /// Predictors or CPU profiles to simulate, the one of the table first; `none`, or `help` for a list
    #[arg(long, value_name = "NAME,...")]
    predictor: Vec<String>,
    /// Seconds of measuring, instead of the file's budget
    #[arg(long, value_name = "SECONDS", value_parser = positive)]
    budget: Option<f64>,
    /// Write a summary as Markdown; - is standard output
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
    /// Write the page as JSON (schema/stages-1.schema.json); - is standard output
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Every step, with all reasons
    #[arg(long)]
    all: bool,
    /// No progress
    #[arg(long, short)]
    quiet: bool,
    /// The processor to measure on; the last one allowed if not given
    #[arg(long)]
    cpu: Option<usize>,
    /// Let commands use every processor: for programs with threads
    #[arg(long)]
    no_pin: bool,
    /// Seconds that one command may take
    #[arg(long, value_name = "SECONDS", default_value_t = 600.0, value_parser = positive)]
    timeout: f64,
    /// Seconds that one command may take while it is traced
    #[arg(long, value_name = "SECONDS", default_value_t = 600.0, value_parser = positive)]
    trace_limit: f64,
    /// The tracer's plugin, if it is not beside assay itself
    #[arg(long, value_name = "FILE")]
    plugin: Option<PathBuf>,
    #[command(flatten)]
    places: Places,
}

/// Runs the verb.
///
/// # Errors
/// See [`stages::run`].
pub fn run(arguments: &Arguments) -> Result<u8> {
    let (file, only, wishes) = match &arguments.verb {
        Some(Verb::Add { file, stages, wishes }) => (file, stages.as_slice(), wishes),
        None => {
            let file = arguments.file.as_ref().ok_or_else(|| Misuse("give the diary's file".into()))?;
            (file, [].as_slice(), &arguments.wishes)
        }
    };
    if wishes.predictor.iter().any(|names| names == "help") {
        screen::print(&predictors::list());
        return Ok(DONE);
    }
    for path in wishes.json.iter().chain(&wishes.markdown) {
        // Said before minutes of measuring, not after them.
        screen::find_place(path)?;
    }
    let mut opened = stages::open(file)?;
    if let Some(budget) = wishes.budget {
        opened.diary.budget_seconds = budget;
    }
    let diary = opened.diary.clone();
    let mut interrupted = false;
    if !wishes.show {
        assay_linux::interrupt::catch();
        let asked = asked(wishes, opened, only)?;
        let mut progress = Progress::new(Show::choose(wishes.quiet, std::io::stderr().is_terminal()));
        let ended = stages::run(&asked, &mut |event| progress.event(&event))?;
        drop(progress);
        interrupted = ended.interrupted;
        if ended.session.is_none() && !wishes.quiet {
            screen::tell("assay: every stage is in the diary already; --again measures all of them anew.");
        }
    }
    let page = compose::page(&Ledger::open(&wishes.places.ledger)?, &diary)?;
    let code = show(wishes, &page)?;
    if interrupted {
        screen::tell("assay: interrupted; every finished run is kept. `--resume` goes on from there.");
    }
    Ok(code)
}

fn asked(wishes: &Wishes, opened: stages::Opened, only: &[String]) -> Result<Asked> {
    Ok(Asked {
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
    let model = |model: predictors::Model| SimulatedPredictor {
        name: model.name,
        what: model.what,
        definition: model.definition,
        judges: model.judges,
    };
    Ok(found.into_iter().map(model).collect())
}

fn show(wishes: &Wishes, page: &StagesPage) -> Result<u8> {
    let to_stdout = |path: &Option<PathBuf>| path.as_deref().is_some_and(|path| path.as_os_str() == "-");
    if !to_stdout(&wishes.json) && !to_stdout(&wishes.markdown) {
        let detail = if wishes.all { Detail::Full } else { Detail::Brief };
        screen::print(&render_stages(page, screen::width(), screen::colour(), detail));
    }
    if let Some(path) = &wishes.json {
        screen::write(path, &page.to_json())?;
    }
    if let Some(path) = &wishes.markdown {
        screen::write(path, &markdown(page))?;
    }
    Ok(exit_code(page))
}

/// 0 done, 1 a stage failed or the last session was interrupted, 3 nothing was measured.
fn exit_code(page: &StagesPage) -> u8 {
    let stopped = page.sessions.last().map(|session| session.stopped_because);
    let failed = page.entrants.iter().any(|entrant| entrant.failed.is_some())
        || page.roles.iter().flat_map(|role| &role.cells).any(|cell| cell.failed.is_some());
    match stopped {
        Some(StoppedBecause::NothingToMeasure) | None => UNABLE,
        Some(StoppedBecause::Interrupted) => FAILED,
        Some(_) if failed => FAILED,
        Some(_) => DONE,
    }
}
