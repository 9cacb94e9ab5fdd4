//! `assay trace`: streams of branches in files: recorded, described, converted, put through predictors.

mod ahead;
mod convert;
mod info;
mod read_so_far;
mod record;
mod second_thread;
mod simulate;
mod stored;
mod walk;

use assay_pure::trace::TraceFormat;
use assay_pure::trace::stored::BlockCoding;

/// Record, describe, convert and simulate branch traces
#[derive(clap::Args, Clone, Debug)]
#[command(after_help = include_str!("help/trace.txt"))]
pub struct TraceArguments {
    #[command(subcommand)]
    verb: TraceVerb,
}

#[derive(clap::Subcommand, Clone, Debug)]
enum TraceVerb {
    Record(record::TraceRecordArguments),
    Info(info::InfoArguments),
    Convert(convert::ConvertArguments),
    Simulate(simulate::SimulateArguments),
}

/// Runs the verb.
///
/// # Errors
/// A file that is no whole trace, a command that cannot be traced, a machine without an emulator.
pub fn run(arguments: &TraceArguments) -> anyhow::Result<u8> {
    match &arguments.verb {
        TraceVerb::Record(arguments) => record::run(arguments),
        TraceVerb::Info(arguments) => info::run(arguments),
        TraceVerb::Convert(arguments) => convert::run(arguments),
        TraceVerb::Simulate(arguments) => simulate::run(arguments),
    }
}

/// What `--compact` asks for.
fn coding_of(is_compact: bool) -> BlockCoding {
    if is_compact { BlockCoding::Compact } else { BlockCoding::Columns }
}

/// A format's name on the command line.
fn parse_format(name: &str) -> Result<TraceFormat, String> {
    TraceFormat::named(name).ok_or_else(|| {
        let names: Vec<&str> = TraceFormat::ALL.iter().map(|format| format.name()).collect();
        format!("the formats are {}", names.join(", "))
    })
}
