//! `assay sites`: the branches of a command that are mispredicted most, and whether its hints are right.

use super::stat::{predictors, program};
use super::{DONE, FAILED, cannot_trace, screen};
use anyhow::Result;
use assay_lab::lead::Misuse;
use assay_pure::predict::Zoo;
use assay_report::sites::page::Order;
use assay_report::sites::{SitesPage, render_sites};
use assay_trace::sites::components::{ComponentSpecs, of_trace};
use assay_trace::sites::{BudgetRequest, OtherBudget, SimulatedPredictor, SiteSelection, Watch, compose};
use assay_trace::{Trace, TraceOptions, TracedExit, command};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// Exit code of a command that was ended at the time limit, as `timeout` has it.
const TIME_LIMIT: u8 = 124;
/// Added to a signal's number, as shells do.
const SIGNALLED: i32 = 128;

/// The sort orders, each with what it means.
fn order() -> impl TypedValueParser<Value = Order> {
    let values = Order::ALL.map(|order| PossibleValue::new(order.name()).help(order.meaning()));
    PossibleValuesParser::new(values).map(|name| {
        Order::ALL.into_iter().find(|order| order.name() == name).expect("only names of orders are possible")
    })
}

/// Show which branches of a command are mispredicted most, by source line
#[derive(clap::Args, Clone, Debug)]
#[command(after_help = "Examples:\n  \
    assay sites -- ./program input                   the 20 sites that cost most\n  \
    assay sites --hints -- ./program                 are its likely() and unlikely() right?\n  \
    assay sites --function 'decode*' -- ./program    in some functions only\n  \
    assay sites --sort excess -- ./program           where a better predictor would win most\n  \
    assay sites --predictor gshare,tage -- ./program by these predictors\n  \
    assay sites --json sites.json -- ./program       all of it for another program\n  \
    assay sites --component 'alloc=tiny_alloc*,malloc' --component 'free=tiny_free*' --units 100000 \\\n      \
    --reference './bench-glibc 100000' --reference-component 'alloc=malloc,_int_malloc' -- ./bench 100000\n\
    \x20                                                branches per unit and call, two programs side by side\n\n\
    The program runs under emulation: executions are exact, mispredictions simulated. Build it with -O2 -g for lines.\n\
    The command's own output is left alone; the report goes to standard error, or to -o FILE.\n\n\
    Exit codes: that of the command, 128 + n if signal n ended it, 124 at the time limit. Of assay itself: 2 misuse,\n\
    3 this machine cannot trace it.")]
pub struct Arguments {
    /// The command and its arguments
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
    /// Predictors or CPU profiles to simulate, `none`, or `help` for a list
    #[arg(long, value_name = "NAME,...")]
    pub predictor: Vec<String>,
    /// How many sites
    #[arg(long, default_value_t = 20, value_name = "N")]
    pub top: usize,
    /// How many of them with source and code around
    #[arg(long, default_value_t = 3, value_name = "N")]
    pub closeups: usize,
    /// Sort order
    #[arg(long, value_parser = order(), default_value = Order::default().name())]
    pub sort: Order,
    /// Only functions that fit; * stands for any text, ? for one character
    #[arg(long, value_name = "GLOB")]
    pub function: Option<String>,
    /// Hold hints (likely, unlikely, cold) against what the branches did
    #[arg(long)]
    pub hints: bool,
    /// Sum exact branches over functions that fit: NAME=GLOB[,GLOB...]; a glob may name a file, as in libc.so.6:*
    #[arg(long, value_name = "NAME=GLOB")]
    pub component: Vec<String>,
    /// Units of work that the command does, for figures per unit
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub units: Option<u64>,
    /// Another command, whose components stand beside; split into words as a shell does
    #[arg(long, value_name = "CMD", requires = "component")]
    pub reference: Option<String>,
    /// Components of the reference, where they are other functions
    #[arg(long, value_name = "NAME=GLOB", requires = "reference")]
    pub reference_component: Vec<String>,
    /// Units of work that the reference does, where they are not as many
    #[arg(long, value_name = "N", requires = "reference", value_parser = clap::value_parser!(u64).range(1..))]
    pub reference_units: Option<u64>,
    /// The same site in several processes is several
    #[arg(long)]
    pub per_process: bool,
    /// Look at the command's own process alone
    #[arg(long)]
    pub no_follow: bool,
    /// One JSON object (schema/sites-1.schema.json), instead of the report, or into FILE; - is standard output
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "", value_parser = super::screen::path_or_nothing())]
    pub json: Option<PathBuf>,
    /// Write the report to a file
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// End the command after so many seconds
    #[arg(long, value_name = "SECONDS", value_parser = super::run::positive)]
    pub time_limit: Option<f64>,
    /// The tracer's plugin, if it is not beside assay itself
    #[arg(long, value_name = "FILE")]
    pub plugin: Option<PathBuf>,
}

/// Runs the verb.
///
/// # Errors
/// No command, an unknown predictor, a folder that is not there, nothing that can be traced.
pub fn run(arguments: &Arguments) -> Result<u8> {
    if arguments.predictor.iter().any(|names| names == "help") {
        screen::print(&predictors::list());
        return Ok(DONE);
    }
    let mut wish = wish(arguments)?;
    let beside = reference(arguments)?;
    for file in [&arguments.json, &arguments.output].into_iter().flatten() {
        screen::find_place(file)?;
    }
    assay_linux::interrupt::catch();
    let trace = trace(arguments, &arguments.command, &wish)?;
    if let (Some(beside), Some(wanted)) = (beside, &mut wish.components) {
        wanted.reference = Some(measure(arguments, beside, &wish.models)?);
    }
    let page = compose(&trace, &wish);
    show(arguments, &page)?;
    Ok(exit_code(&trace))
}

/// What is wanted, with everything refused that can be refused before the command is started.
fn wish(arguments: &Arguments) -> Result<SiteSelection, Misuse> {
    let Some(name) = arguments.command.first() else {
        let hint = match arguments.json.as_ref().filter(|file| !file.as_os_str().is_empty()) {
            Some(file) => {
                format!("; `{0}` was taken as the file of --json, `--json -- {0}` traces it", file.display())
            }
            None => String::new(),
        };
        return Err(Misuse(format!(
            "assay sites needs a command: assay sites -- COMMAND [ARGUMENT...]{hint}"
        )));
    };
    let program = program::find(name, std::env::var_os("PATH").as_deref())?;
    let architecture = program::machine(&program).map(program::architecture);
    let models = predictors::choose(&arguments.predictor, architecture.as_deref())?;
    let model = |model: predictors::Model| SimulatedPredictor {
        name: model.name,
        what: model.what,
        definition: model.definition,
        judges: model.judges,
    };
    Ok(SiteSelection {
        command: arguments.command.iter().map(|word| word.to_string_lossy().into_owned()).collect(),
        models: models.into_iter().map(model).collect(),
        top: arguments.top,
        detailed: arguments.closeups,
        order: arguments.sort,
        function: arguments.function.clone(),
        per_process: arguments.per_process,
        hints: arguments.hints,
        components: components(arguments)?,
    })
}

fn components(arguments: &Arguments) -> Result<Option<BudgetRequest>, Misuse> {
    let spec =
        ComponentSpecs::parse(&arguments.component).map_err(|bad| Misuse(format!("--component: {bad}")))?;
    if spec.is_empty() && arguments.units.is_some() {
        return Err(Misuse(
            "--units divides the figures of components: name one with --component".to_owned(),
        ));
    }
    Ok((!spec.is_empty()).then_some(BudgetRequest { spec, units: arguments.units, reference: None }))
}

/// The reference with its components, before anything is started.
fn reference(arguments: &Arguments) -> Result<Option<(Vec<OsString>, ComponentSpecs)>, Misuse> {
    let Some(line) = &arguments.reference else { return Ok(None) };
    let words = assay_link::build::text::split(line).filter(|words| !words.is_empty());
    let words = words.ok_or_else(|| {
        Misuse(format!("--reference `{line}` is no command: a quote is open, or it is empty"))
    })?;
    let own = &arguments.reference_component;
    let spec = ComponentSpecs::parse(if own.is_empty() { &arguments.component } else { own });
    let spec = spec.map_err(|bad| Misuse(format!("--reference-component: {bad}")))?;
    let words: Vec<OsString> = words.into_iter().map(OsString::from).collect();
    program::find(&words[0], std::env::var_os("PATH").as_deref())?;
    Ok(Some((words, spec)))
}

/// Traces the reference; its output is not the command's.
fn measure(
    arguments: &Arguments,
    (command, spec): (Vec<OsString>, ComponentSpecs),
    models: &[SimulatedPredictor],
) -> Result<OtherBudget> {
    let wish = SiteSelection { models: models.to_vec(), ..SiteSelection::default() };
    let trace = trace(arguments, &command, &wish)?;
    Ok(OtherBudget {
        command: command.iter().map(|word| word.to_string_lossy().into_owned()).collect(),
        budget: of_trace(&trace, &spec),
        units: arguments.reference_units.or(arguments.units),
    })
}

fn trace(arguments: &Arguments, line: &[OsString], wish: &SiteSelection) -> Result<Trace<Watch>> {
    let limit = arguments.time_limit;
    let options = TraceOptions {
        follow: !arguments.no_follow,
        plugin: arguments.plugin.clone(),
        time_limit: limit.map(|limit| Duration::try_from_secs_f64(limit).unwrap_or(Duration::MAX)),
        ..TraceOptions::default()
    };
    let names: Vec<String> = wish.models.iter().map(|model| model.name.clone()).collect();
    let watch = move || Watch::new(Zoo::new(&names).expect("the names were looked up before"));
    command(line, &options, watch).map_err(|refusal| cannot_trace(&refusal, refusal.to_string()))
}

fn show(arguments: &Arguments, page: &SitesPage) -> Result<()> {
    let json_alone = arguments.json.as_ref().is_some_and(|file| file.as_os_str().is_empty());
    if let Some(file) = arguments.json.as_ref().filter(|_| !json_alone) {
        screen::write(file, &page.to_json())?;
    }
    let to_screen = arguments.output.is_none();
    let text = if json_alone {
        page.to_json()
    } else {
        render_sites(page, screen::width(), to_screen && screen::colour_of(&std::io::stderr()))
    };
    match &arguments.output {
        Some(file) => screen::write(file, &text),
        None => {
            screen::tell(text.trim_end_matches('\n'));
            Ok(())
        }
    }
}

/// The command's own; of one that executed another in its place, that one's.
fn exit_code(trace: &Trace<Watch>) -> u8 {
    let Some(first) = trace.processes.first() else { return FAILED };
    let last = trace.processes.iter().rfind(|process| process.pid == first.pid);
    let code = match last.map_or(first.ended, |process| process.ended) {
        TracedExit::Exited(code) => code,
        TracedExit::Signalled(signal) => SIGNALLED + signal,
        TracedExit::TimeLimit => return TIME_LIMIT,
        TracedExit::Replaced | TracedExit::Unknown => return FAILED,
    };
    u8::try_from(code & 0xff).unwrap_or(FAILED)
}
