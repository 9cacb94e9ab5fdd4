//! `assay trace simulate`: stored traces through predictors, here or shared out over machines.

mod crew;
mod shared;
mod task;

use super::parse_format;
use crate::cli::help::OUTPUT;
use crate::cli::on::MACHINES;
use crate::cli::stat::predictors;
use crate::cli::{DONE, FAILED, screen, version};
use anyhow::Result;
use assay_lab::lead::Misuse;
use assay_lab::shards::ClusterName;
use assay_pure::predict::{self, zoo};
use assay_pure::simulation::{Gathered, ShardResult, SimulationPlan, share_out};
use assay_pure::trace::TraceFormat;
use assay_report::simulation::SimulatedPredictor;
use assay_report::{SimulationPage, render_simulation};
use std::num::NonZeroUsize;
use std::path::PathBuf;

/// Simulate branch predictors on traces and count their mispredictions
#[derive(clap::Args, Clone, Debug)]
#[command(after_help = include_str!("../help/simulate.txt"))]
pub struct SimulateArguments {
    /// Trace files
    #[arg(value_name = "TRACE")]
    files: Vec<String>,
    /// Predictors to simulate, with parameters and ranges; `help` for a list; can be repeated
    #[arg(
        long,
        value_name = "NAME[:KEY=N,...],...",
        default_value = "bimodal,gshare-32k,tage,ittage,return-stack-16"
    )]
    predictor: Vec<String>,
    /// Format of the traces if it is not recognised: assay, bt9, sbbt, sbbt-stale, champsim, cbp, jiegec
    #[arg(long, value_name = "FORMAT", value_parser = parse_format)]
    from: Option<TraceFormat>,
    /// Only this stream of each trace
    #[arg(long, value_name = "N")]
    stream: Option<u32>,
    /// Traces at a time (default: as many as there are processors)
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
    /// Print JSON instead of the report (schema/trace-simulate-2.schema.json)
    #[arg(long, help_heading = OUTPUT)]
    json: bool,
    /// Show no progress
    #[arg(long, short, help_heading = OUTPUT)]
    quiet: bool,
    #[command(flatten)]
    machines: MachineArguments,
    #[command(flatten)]
    shard: ShardArguments,
}

/// Who simulates instead of this machine.
#[derive(clap::Args, Clone, Debug)]
struct MachineArguments {
    /// Simulate on other machines: `slurm`, or `ssh:FILE` with a list of hosts
    #[arg(long, value_name = "CLUSTER", help_heading = MACHINES)]
    on: Option<ClusterName>,
    /// Only on machines of this kind (default: any; the results are the same); can be repeated
    #[arg(long, value_name = "FEATURE", help_heading = MACHINES, requires = "on", value_delimiter = ',')]
    per: Vec<String>,
    /// Jobs to share the work out to (default: by the sizes of the traces, at most 1000)
    #[arg(long, value_name = "N", help_heading = MACHINES, requires = "on")]
    shards: Option<NonZeroUsize>,
    /// Wait for the jobs of the same command again; those that left no result are handed in again
    #[arg(long, help_heading = MACHINES, requires = "on")]
    resume: bool,
}

/// What the job of a shard is told.
#[derive(clap::Args, Clone, Debug)]
struct ShardArguments {
    /// The file of all tasks
    #[arg(long, value_name = "FILE", hide = true, requires = "result", conflicts_with = "files")]
    tasks: Option<PathBuf>,
    /// Which shard's tasks are done
    #[arg(long = "shard", value_name = "N", hide = true, requires = "tasks", default_value_t = 0)]
    number: usize,
    /// Where its results go
    #[arg(long, value_name = "FILE", hide = true, requires = "tasks")]
    result: Option<PathBuf>,
    /// One after the other with other shards on this machine
    #[arg(long, hide = true, requires = "tasks")]
    turn: bool,
}

/// Runs the verb.
///
/// # Errors
/// An unknown predictor, no trace at all; of one trace that cannot be read, why.
pub fn run(arguments: &SimulateArguments) -> Result<u8> {
    // `list` is what it was called before.
    if predictors::is_list_asked(&arguments.predictor)
        || arguments.predictor.iter().any(|name| name == "list")
    {
        screen::print(&predictors::list());
        return Ok(DONE);
    }
    if let (Some(tasks), Some(result)) = (&arguments.shard.tasks, &arguments.shard.result) {
        return shared::do_shard(arguments, tasks, result);
    }
    if arguments.files.is_empty() {
        return Err(Misuse("which traces? `assay trace simulate TRACE...` names them".into()).into());
    }
    let unknown = |unknown| Misuse(format!("{unknown} (`--predictor help` lists them)"));
    let names = predict::expand(&arguments.predictor).map_err(unknown)?;
    let bytes: Vec<u64> = arguments.files.iter().map(|file| bytes_of(file)).collect();
    let plan = SimulationPlan {
        version: version::of_build(),
        traces: arguments.files.clone(),
        from: arguments.from.map(|format| format.name().to_owned()),
        stream: arguments.stream,
        shards: share_out(&bytes, names.len(), 1),
        predictors: names,
    };
    if let Some(cluster) = &arguments.machines.on {
        return shared::on_machines(arguments, plan, &bytes, cluster);
    }
    let outcomes = crew::all(&plan, &plan.shards[0], threads(arguments), arguments.quiet)?;
    let mut gathered = Gathered::new(&plan);
    gathered.add(ShardResult { version: plan.version.clone(), outcomes }).map_err(anyhow::Error::msg)?;
    let page = page(&plan, &gathered)?;
    if let ([_], [broken]) = (&plan.traces[..], &page.broken[..]) {
        return Err(Misuse(broken.why.clone()).into());
    }
    show(arguments, &page);
    Ok(if page.is_whole() { DONE } else { FAILED })
}

fn threads(arguments: &SimulateArguments) -> usize {
    let processors = || std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    arguments.threads.unwrap_or_else(processors).get()
}

/// Bytes of a file; none of one that cannot be looked at, whose reason is told as it is opened.
fn bytes_of(file: &str) -> u64 {
    std::fs::metadata(file).map_or(0, |facts| facts.len())
}

/// The page of what has come together.
fn page(plan: &SimulationPlan, gathered: &Gathered) -> Result<SimulationPage> {
    let predictor = |name: &String| -> Result<SimulatedPredictor> {
        let found = zoo::describe(name)?;
        Ok(SimulatedPredictor { name: name.clone(), definition: found.definition, judges: found.judges })
    };
    let predictors: Result<Vec<SimulatedPredictor>> = plan.predictors.iter().map(predictor).collect();
    Ok(SimulationPage::of(plan, &predictors?, gathered))
}

/// Shows a page; what is wrong with traces is told on standard error as well, where the page is for programs.
fn show(arguments: &SimulateArguments, page: &SimulationPage) {
    if arguments.json || page.traces.len() == 1 {
        for trace in &page.traces {
            if let Some(warning) = &trace.warning {
                screen::tell(&format!("assay: {}: {warning}", trace.file));
            }
        }
    }
    if arguments.json {
        for broken in &page.broken {
            screen::complain(&format!("assay: {}", broken.why));
        }
        screen::print(&page.to_json());
    } else {
        screen::show(&render_simulation(page, screen::width(), screen::look()));
    }
}
