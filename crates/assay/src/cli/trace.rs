//! `assay trace`: streams of branches in files: recorded, described, converted, put through predictors.

mod convert;
mod info;
mod record;
mod simulate;
mod stored;
mod walk;

use assay_pure::trace::TraceFormat;

/// Record, describe, convert and simulate branch traces
#[derive(clap::Args, Clone, Debug)]
#[command(after_help = include_str!("help/trace.txt"))]
pub struct TraceArguments {
    #[command(subcommand)]
    verb: TraceVerb,
}

#[derive(clap::Subcommand, Clone, Debug)]
enum TraceVerb {
    Record(record::RecordArguments),
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

/// A format's name on the command line.
fn parse_format(name: &str) -> Result<TraceFormat, String> {
    TraceFormat::named(name).ok_or_else(|| {
        let names: Vec<&str> = TraceFormat::ALL.iter().map(|format| format.name()).collect();
        format!("the formats are {}", names.join(", "))
    })
}

/// 1234567 as `1,234,567`.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_stand_in_groups_of_three() {
        assert_eq!([0, 999, 1000, 1_234_567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
    }
}
