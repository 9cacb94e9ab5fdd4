//! `assay sites`: the branches of a command that are mispredicted most, and whether its hints are right.

use super::help::OUTPUT;
use super::instrumented::BuildArguments;
use super::picture::PictureArguments;
use super::stat::{predictors, program};
use super::{DONE, FAILED, cannot_trace, reads, screen};
use anyhow::Result;
use assay_lab::lead::Misuse;
use assay_pure::outcomes::LoggingProgram;
use assay_pure::predict::Zoo;
use assay_report::ink::Palette;
use assay_report::picture;
use assay_report::sites::page::SiteOrder;
use assay_report::sites::{SitesPage, render_sites};
use assay_trace::logged::streams;
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
fn order() -> impl TypedValueParser<Value = SiteOrder> {
    let values = SiteOrder::ALL.map(|order| PossibleValue::new(order.name()).help(order.meaning()));
    PossibleValuesParser::new(values).map(|name| {
        SiteOrder::ALL
            .into_iter()
            .find(|order| order.name() == name)
            .expect("only names of orders are possible")
    })
}

/// Heading of options on the components of a program.
const COMPONENTS: &str = "Components";

/// Show the most mispredicted branches of a command by source line
#[derive(clap::Args, Clone, Debug)]
#[command(after_help = include_str!("help/sites.txt"))]
pub struct SitesArguments {
    /// The command and its arguments
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
    /// Predictors or CPU profiles to simulate; `none`, or `help` for a list
    #[arg(long, value_name = "NAME,...")]
    pub predictor: Vec<String>,
    /// Number of sites to show
    #[arg(long, help_heading = OUTPUT, default_value_t = 20, value_name = "N")]
    pub top: usize,
    /// Number of sites to show with source and machine code
    #[arg(long, help_heading = OUTPUT, default_value_t = 3, value_name = "N")]
    pub closeups: usize,
    /// Sort order: mispredictions, executions, taken, rate (mispredictions per execution), excess (what a better predictor could win), address
    #[arg(long, help_heading = OUTPUT, value_parser = order(), hide_possible_values = true, default_value = SiteOrder::default().name())]
    pub sort: SiteOrder,
    /// Only functions whose name matches; * is any text, ? one character
    #[arg(long, help_heading = OUTPUT, value_name = "GLOB")]
    pub function: Option<String>,
    /// Compare hints (likely, unlikely, cold) with what the branches did
    #[arg(long)]
    pub hints: bool,
    /// Sum the branches of matching functions: NAME=GLOB[,GLOB...]; FILE:GLOB is limited to one file, such as libc.so.6:*; can be repeated
    #[arg(long, help_heading = COMPONENTS, value_name = "NAME=GLOB")]
    pub component: Vec<String>,
    /// Units of work that the command does, for figures per unit
    #[arg(long, help_heading = COMPONENTS, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub units: Option<u64>,
    /// Second command to show side by side; split into words as a shell does
    #[arg(long, help_heading = COMPONENTS, value_name = "CMD", requires = "component")]
    pub reference: Option<String>,
    /// Components of the reference, if its functions differ
    #[arg(long, help_heading = COMPONENTS, value_name = "NAME=GLOB", requires = "reference")]
    pub reference_component: Vec<String>,
    /// Units of work that the reference does, if their number differs
    #[arg(long, help_heading = COMPONENTS, value_name = "N", requires = "reference", value_parser = clap::value_parser!(u64).range(1..))]
    pub reference_units: Option<u64>,
    /// List a site once per process instead of summing over processes
    #[arg(long, help_heading = OUTPUT)]
    pub per_process: bool,
    /// Ignore programs that the command starts
    #[arg(long)]
    pub no_follow: bool,
    /// Print JSON (schema/sites-1.schema.json) instead of the report, or write it to FILE; - is standard output
    #[arg(long, help_heading = OUTPUT, value_name = "FILE", num_args = 0..=1, default_missing_value = "", value_parser = super::screen::path_or_nothing())]
    pub json: Option<PathBuf>,
    /// Write the report to FILE
    #[arg(short, long, help_heading = OUTPUT, value_name = "FILE")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub pictures: PictureArguments,
    /// Stop the command after this time
    #[arg(long, value_name = "SECONDS", value_parser = super::run::positive)]
    pub time_limit: Option<f64>,
    /// QEMU plugin to use instead of assay's own; default: $ASSAY_QEMU_PLUGIN, if set
    #[arg(long, value_name = "FILE")]
    pub plugin: Option<PathBuf>,
    #[command(flatten)]
    pub building: BuildArguments,
}

/// Runs the verb.
///
/// # Errors
/// No command, an unknown predictor, a folder that is not there, nothing that can be traced.
pub fn run(arguments: &SitesArguments) -> Result<u8> {
    if predictors::is_list_asked(&arguments.predictor) {
        screen::print(&predictors::list());
        return Ok(DONE);
    }
    assay_linux::interrupt::catch();
    let instrumented = arguments.building.prepare(&arguments.command, false)?;
    let mut wish = wish(arguments)?;
    let beside = reference(arguments)?;
    let reads = arguments.reference.as_deref().map(reads::of_line).unwrap_or_default().into_iter();
    let reads: Vec<PathBuf> = reads.chain(reads::of_command(&arguments.command)).collect();
    for file in [&arguments.json, &arguments.output].into_iter().flatten() {
        screen::find_place(file, &reads)?;
    }
    let files = [&arguments.json, &arguments.output].into_iter().flatten().chain(&reads);
    arguments.pictures.check(files.map(PathBuf::as_path))?;
    let trace = trace(arguments, &arguments.command, &wish, instrumented.as_ref())?;
    if let (Some(beside), Some(wanted)) = (beside, &mut wish.components) {
        wanted.reference = Some(measure(arguments, &beside, &wish.models)?);
    }
    let page = compose(&trace, &wish);
    show(arguments, &page)?;
    arguments.pictures.write(|| picture::of_sites(&page))?;
    Ok(exit_code(&trace))
}

/// What is wanted, with everything refused that can be refused before the command is started.
fn wish(arguments: &SitesArguments) -> Result<SiteSelection, Misuse> {
    let Some(name) = arguments.command.first() else {
        let hint = match arguments.json.as_ref().filter(|file| !file.as_os_str().is_empty()) {
            Some(file) => {
                format!(". `{0}` was taken as the file of --json; write `--json -- {0}`", file.display())
            }
            None => String::new(),
        };
        return Err(Misuse(format!("give a command: assay sites -- COMMAND [ARGUMENT...]{hint}")));
    };
    let program = program::find(name, std::env::var_os("PATH").as_deref())?;
    let architecture = program::machine(&program).map(program::architecture);
    let models = predictors::choose(&arguments.predictor, architecture.as_deref())?;
    let model = |model: predictors::SimulatedModel| SimulatedPredictor {
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

fn components(arguments: &SitesArguments) -> Result<Option<BudgetRequest>, Misuse> {
    let spec =
        ComponentSpecs::parse(&arguments.component).map_err(|bad| Misuse(format!("--component: {bad}")))?;
    if spec.is_empty() && arguments.units.is_some() {
        return Err(Misuse("--units needs --component: it divides the figures of components".to_owned()));
    }
    Ok((!spec.is_empty()).then_some(BudgetRequest { spec, units: arguments.units, reference: None }))
}

/// The second command, and its components.
struct ReferenceCommand {
    words: Vec<OsString>,
    components: ComponentSpecs,
}

/// The reference with its components, before anything is started.
fn reference(arguments: &SitesArguments) -> Result<Option<ReferenceCommand>, Misuse> {
    let Some(line) = &arguments.reference else { return Ok(None) };
    let words = assay_link::build::text::split(line).filter(|words| !words.is_empty());
    let words = words.ok_or_else(|| {
        Misuse(format!("--reference `{line}` is not a command: it is empty or a quote is not closed"))
    })?;
    let own = &arguments.reference_component;
    let spec = ComponentSpecs::parse(if own.is_empty() { &arguments.component } else { own });
    let components = spec.map_err(|bad| Misuse(format!("--reference-component: {bad}")))?;
    let words: Vec<OsString> = words.into_iter().map(OsString::from).collect();
    program::find(&words[0], std::env::var_os("PATH").as_deref())?;
    Ok(Some(ReferenceCommand { words, components }))
}

/// Traces the reference; its output is not the command's.
fn measure(
    arguments: &SitesArguments,
    reference: &ReferenceCommand,
    models: &[SimulatedPredictor],
) -> Result<OtherBudget> {
    let wish = SiteSelection { models: models.to_vec(), ..SiteSelection::default() };
    let trace = trace(arguments, &reference.words, &wish, None)?;
    Ok(OtherBudget {
        command: reference.words.iter().map(|word| word.to_string_lossy().into_owned()).collect(),
        budget: of_trace(&trace, &reference.components),
        units: arguments.reference_units.or(arguments.units),
    })
}

fn trace(
    arguments: &SitesArguments,
    line: &[OsString],
    wish: &SiteSelection,
    instrumented: Option<&LoggingProgram>,
) -> Result<Trace<Watch>> {
    let limit = arguments.time_limit;
    let options = TraceOptions {
        follow: !arguments.no_follow,
        plugin: arguments.plugin.clone(),
        time_limit: limit.map(|limit| Duration::try_from_secs_f64(limit).unwrap_or(Duration::MAX)),
        ..TraceOptions::default()
    };
    let names: Vec<String> = wish.models.iter().map(|model| model.name.clone()).collect();
    let watch = move || Watch::new(Zoo::new(&names).expect("the names were looked up before"));
    let traced = match instrumented {
        Some(program) => streams::run(program, line, options.time_limit, watch),
        None => command(line, &options, watch),
    };
    traced.map_err(|refusal| cannot_trace(&refusal, refusal.to_string()))
}

fn show(arguments: &SitesArguments, page: &SitesPage) -> Result<()> {
    let json_alone = arguments.json.as_ref().is_some_and(|file| file.as_os_str().is_empty());
    if let Some(file) = arguments.json.as_ref().filter(|_| !json_alone) {
        screen::write(file, &page.to_json())?;
    }
    let to_screen = arguments.output.is_none();
    let text = if json_alone {
        page.to_json()
    } else {
        let look = if to_screen { screen::look_of(&std::io::stderr()) } else { Palette::default() };
        render_sites(page, screen::width(), look)
    };
    match &arguments.output {
        Some(file) => screen::write(file, &text),
        None => {
            screen::show_beside(&text);
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
