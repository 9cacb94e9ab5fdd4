//! `assay stat`: what a command executed, like `perf stat`, with or without performance counters.

mod compared;
mod compose;
mod counted;
mod crew;
pub(super) mod predictors;
pub(super) mod program;
mod progress;
mod source;
mod traced;
mod wanted;

use super::help::OUTPUT;
use super::instrumented::BuildArguments;
use super::{DONE, cannot_trace, reads, screen};
use anyhow::Result;
use assay_lab::lead::Misuse;
use assay_linux::perf::RefusalContext;
use assay_pure::outcomes::LoggingProgram;
use assay_report::stat::page::{EndedBy, Execution, FigureSource};
use assay_report::stat::{StatPage, lines_of_json, render_stat, separated};
use assay_trace::{TraceOptions, TraceRefusal};
use compose::{CommandExecution, StatQuestion, compose};
use progress::StatProgress;
use source::SourceChoice;
use std::ffi::OsString;
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::time::Duration;
use wanted::StatRequest;

/// Exit code of a command that was ended at the time limit, as `timeout` has it.
const TIME_LIMIT: u8 = 124;
/// Added to a signal's number, as shells do.
const SIGNALLED: i32 = 128;
/// SIGINT.
const INTERRUPT: i32 = 2;

/// Count instructions, branches and mispredictions, like perf stat
#[derive(clap::Args, Clone, Debug)]
#[command(after_help = include_str!("help/stat.txt"))]
pub struct StatArguments {
    /// The command and its arguments
    #[arg(trailing_var_arg = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
    /// Executions per source
    #[arg(short, long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=100_000))]
    pub repeat: u64,
    /// auto: counters if the kernel allows, else traced; counted: kernel and hardware counters only; traced: exact counts under emulation, simulated predictors; both: one execution each
    #[arg(long, value_enum, default_value_t = SourceChoice::Auto, hide_possible_values = true)]
    pub source: SourceChoice,
    /// Predictors or CPU profiles to simulate; `none`, or `help` for a list
    #[arg(long, value_name = "NAME,...")]
    pub predictor: Vec<String>,
    /// Events to count, by perf's names
    #[arg(short, long, value_name = "EVENT,...")]
    pub event: Vec<String>,
    /// Extrapolate events that had to share a counter
    #[arg(long)]
    pub scale: bool,
    /// Print JSON (schema/stat-1.schema.json) instead of the report, or write it to FILE; - is standard output
    #[arg(long, help_heading = OUTPUT, value_name = "FILE", num_args = 0..=1)]
    pub json: Option<Option<PathBuf>>,
    /// Print fields with this separator, as perf stat -x
    #[arg(short = 'x', long, help_heading = OUTPUT, value_name = "SEPARATOR")]
    pub field_separator: Option<String>,
    /// Print one JSON object per line, as perf stat -j
    #[arg(short = 'j', long, help_heading = OUTPUT, conflicts_with = "field_separator")]
    pub json_output: bool,
    /// Write the report to FILE
    #[arg(short, long, help_heading = OUTPUT, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Stop each execution after this time
    #[arg(long, value_name = "SECONDS", value_parser = super::run::positive)]
    pub time_limit: Option<f64>,
    /// Include programs that the command starts (the default)
    #[arg(long, overrides_with = "no_follow")]
    pub follow: bool,
    /// Ignore programs that the command starts
    #[arg(long)]
    pub no_follow: bool,
    /// List each traced thread
    #[arg(long, help_heading = OUTPUT)]
    pub per_thread: bool,
    /// QEMU plugin to use instead of assay's own; default: $ASSAY_QEMU_PLUGIN, if set
    #[arg(long, value_name = "FILE")]
    pub plugin: Option<PathBuf>,
    /// Show no progress
    #[arg(long, short, help_heading = OUTPUT)]
    pub quiet: bool,
    #[command(flatten)]
    pub building: BuildArguments,
}

impl StatArguments {
    fn limit(&self) -> Option<Duration> {
        self.time_limit.map(|seconds| Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX))
    }

    /// The file that `--json` names, if it names one.
    fn json_file(&self) -> Option<&Path> {
        self.json.as_ref().and_then(|file| file.as_deref())
    }

    fn follows(&self) -> bool {
        !self.no_follow
    }
}

/// Runs the verb.
///
/// # Errors
/// No such command, an unknown event or predictor, counters refused, nothing that can be traced.
pub fn run(arguments: &StatArguments) -> Result<u8> {
    if predictors::is_list_asked(&arguments.predictor) {
        screen::print(&predictors::list());
        return Ok(DONE);
    }
    let reads = reads::of_command(&arguments.command);
    for file in [arguments.json_file(), arguments.output.as_deref()].into_iter().flatten() {
        screen::find_place(file, &reads)?;
    }
    let mut arguments = arguments.clone();
    if arguments.building.build.is_some() {
        arguments.source = match arguments.source {
            SourceChoice::Auto | SourceChoice::Traced => SourceChoice::Traced,
            _ => return Err(Misuse("--build is for traced figures: leave --source out".to_owned()).into()),
        };
    }
    let arguments = &arguments;
    assay_linux::interrupt::catch();
    let instrumented = arguments.building.prepare(&arguments.command, arguments.quiet)?;
    let question = ask(arguments)?;
    let executed = execute(arguments, &question, instrumented.as_ref())?;
    let page = compose(&question, &executed);
    show(arguments, &page)?;
    Ok(exit_code(&page.executions))
}

/// Everything that can be known and refused before the command is started.
fn ask(arguments: &StatArguments) -> Result<StatQuestion> {
    let Some(name) = arguments.command.first() else {
        let hint = match arguments.json_file() {
            Some(file) => {
                format!(". `{0}` was taken as the file of --json; write `--json -- {0}`", file.display())
            }
            None => String::new(),
        };
        return Err(Misuse(format!("give a command: assay stat -- COMMAND [ARGUMENT...]{hint}")).into());
    };
    let program = program::find(name, std::env::var_os("PATH").as_deref())?;
    let architecture = program::machine(&program).map(program::architecture);
    let wanted = StatRequest::read(&arguments.event)?;
    let conditions = RefusalContext::here();
    let simulated = arguments.predictor.iter().any(|names| names != "none");
    let choice = source::choose(arguments.source, &wanted, simulated, &conditions, &source::probe)?;
    let traces = choice.sources.contains(&FigureSource::Traced);
    let models = if traces && (wanted.mispredictions || !arguments.predictor.is_empty()) {
        predictors::choose(&arguments.predictor, architecture.as_deref())?
    } else {
        Vec::new()
    };
    Ok(StatQuestion {
        command: arguments.command.iter().map(|word| word.to_string_lossy().into_owned()).collect(),
        asked_source: arguments.source.word().to_owned(),
        choice,
        wanted,
        models,
        repeats: arguments.repeat,
        scale: arguments.scale,
        per_thread: arguments.per_thread,
        conditions,
        architecture,
        input_is_consumed: arguments.repeat > 1 && !std::io::stdin().is_terminal(),
    })
}

/// The executions, sources in turn, until all are done or somebody interrupts.
fn execute(
    arguments: &StatArguments,
    question: &StatQuestion,
    instrumented: Option<&LoggingProgram>,
) -> Result<Vec<CommandExecution>> {
    let options = TraceOptions {
        follow: arguments.follows(),
        plugin: arguments.plugin.clone(),
        time_limit: arguments.limit(),
        ..TraceOptions::default()
    };
    let mut executed = Vec::new();
    for _ in 0..arguments.repeat {
        for source in &question.choice.sources {
            let one = if *source == FigureSource::Counted {
                let groups = &question.choice.groups;
                CommandExecution::Counted(counted::execute(
                    &arguments.command,
                    groups,
                    options.follow,
                    options.time_limit,
                )?)
            } else {
                let progress = StatProgress::new(!arguments.quiet && std::io::stderr().is_terminal());
                let how = traced::HowTraced { options: &options, instrumented };
                let figures = traced::execute(&arguments.command, how, &question.models, progress.ticker());
                CommandExecution::Traced(
                    figures.map_err(|refusal| cannot_trace(&refusal, refusal_text(question, &refusal)))?,
                )
            };
            executed.push(one);
            if assay_linux::interrupt::asked() {
                return Ok(executed);
            }
        }
    }
    Ok(executed)
}

/// Why nothing is traced, after why nothing is counted.
fn refusal_text(question: &StatQuestion, refusal: &TraceRefusal) -> String {
    let mut text = question.choice.reasons.join(" ");
    if !text.is_empty() {
        text.push(' ');
    }
    text + &format!("It cannot be traced: {refusal}")
}

/// Prints or writes the page in the form asked for.
fn show(arguments: &StatArguments, page: &StatPage) -> Result<()> {
    let to_screen = arguments.output.is_none();
    let own_json = arguments.json == Some(None);
    let text = if own_json {
        page.to_json()
    } else if let Some(separator) = &arguments.field_separator {
        separated(page, separator)
    } else if arguments.json_output {
        lines_of_json(page)
    } else {
        let colour = to_screen && screen::colour_of(&std::io::stderr());
        let text = render_stat(page, screen::width(), colour);
        if to_screen { format!("\n{text}") } else { text }
    };
    match &arguments.output {
        Some(file) => screen::write(file, &text)?,
        None => screen::show_beside(&text),
    }
    match arguments.json_file() {
        Some(file) => screen::write(file, &page.to_json()),
        None => Ok(()),
    }
}

/// The command's own: of the first execution that did not end with 0.
fn exit_code(executions: &[Execution]) -> u8 {
    executions.iter().map(code_of).find(|code| *code != DONE).unwrap_or(DONE)
}

fn code_of(execution: &Execution) -> u8 {
    let code = match (execution.ended_by, execution.code, execution.signal) {
        (EndedBy::TimeLimit, ..) => return TIME_LIMIT,
        (EndedBy::Interrupt, ..) => SIGNALLED + INTERRUPT,
        (_, Some(code), _) => code,
        (_, None, Some(signal)) => SIGNALLED + signal,
        (_, None, None) => i32::from(super::FAILED),
    };
    // An exit code is a byte already; a signal's number stays below 128.
    u8::try_from(code & 0xff).unwrap_or(super::FAILED)
}

#[cfg(test)]
mod tests;
