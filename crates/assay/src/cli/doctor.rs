//! `assay doctor`: what is wrong with this machine, with an experiment, or with a program.

mod experiment;
mod machine;
mod program;

use super::run::Places;
use super::stat::predictors;
use super::{DONE, FAILED, screen};
use anyhow::Result;
use assay_lab::lead::Misuse;
use assay_report::doctor::examination::{Examination, State, render_examination};
use std::path::PathBuf;

/// Say what is wrong with this machine, an experiment or a program, why it matters and what to change
#[derive(clap::Args, Clone, Debug)]
#[command(after_help = "Examples:\n  \
    assay doctor                                  what can be told apart here?\n  \
    assay doctor e.toml                           does it measure what it asks?\n  \
    assay doctor e.toml --production 5_000_000    held against real data's size\n  \
    assay doctor --program ./bench                traced, for all that is known\n  \
    assay doctor --program './b 500' --units 500  with figures per unit of work\n  \
    assay doctor --program ./bench --static       the file alone, not executed\n  \
    assay doctor --json found.json                for another program\n\n\
    Of a machine: clock frequency, SMT, isolation, neighbours, timer, counters, ASLR, containers, memory, tools, and the\n\
    smallest effect that can be told apart in 60 s, measured.\n\n\
    Of an experiment: dead code, hoisted work, times shorter than the work, answers that say nothing, unequal work, a setup\n\
    inside the region, too few units for the timer, memorised inputs, inputs smaller than production's, everything in L1,\n\
    unpaired sizes. What is meant is accepted in the file, by [[accept]] with check and because.\n\n\
    Of a program: unoptimised code; assertions and debug guards; getenv, clocks, rdtsc, text and random numbers in a hot\n\
    place; hints that contradict what happens; branches on a value that never changes; indirect calls that always go to\n\
    one function; a system call per unit. A place is hot if it is executed once in twenty units, or, without --units, a\n\
    hundredth as often as the program's hottest branch. Build with -O2 -g for lines. The command's own output is left alone;\n\
    the report goes to standard error, or to -o FILE.\n\n\
    Exit codes: 0 done, of a program nothing found; 1 something found in a program, or anywhere with --strict;\n\
    2 misuse; 3 nothing could be looked at.")]
pub struct Arguments {
    /// The experiment file; without it and without --program, this machine
    pub experiment: Option<PathBuf>,
    /// A program, or a command with arguments; split into words as a shell does
    #[arg(long, value_name = "PROGRAM|COMMAND", conflicts_with = "experiment")]
    pub program: Option<String>,
    /// Of a program: units of work that the command does, for figures per unit
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), requires = "program")]
    pub units: Option<u64>,
    /// Of a program: execute nothing, look at the file alone
    #[arg(long = "static", requires = "program")]
    pub still: bool,
    /// Of a program: predictors or CPU profiles to simulate, `none`, or `help` for a list
    #[arg(long, value_name = "NAME,...")]
    pub predictor: Vec<String>,
    /// Of an experiment: units that production goes through before it meets the same data again
    #[arg(long, value_name = "N", value_parser = whole, requires = "experiment")]
    pub production: Option<u64>,
    /// Of an experiment: seconds of tracing; of the machine: seconds of measuring
    #[arg(long, value_name = "SECONDS", value_parser = super::run::positive)]
    pub budget: Option<f64>,
    /// Of an experiment: only inputs with these names (globs)
    #[arg(long = "input", value_name = "GLOB", requires = "experiment")]
    pub inputs: Vec<String>,
    /// Of an experiment: only these compilers (names or globs)
    #[arg(long = "compiler", value_name = "NAME", requires = "experiment")]
    pub compilers: Vec<String>,
    /// The processor to measure on; the last one allowed if not given
    #[arg(long)]
    pub cpu: Option<usize>,
    /// Exit with 1 where a warning was found
    #[arg(long)]
    pub strict: bool,
    /// One JSON object (schema/doctor-2.schema.json; of a program doctor-1), instead of the report, or into FILE; - is standard
    /// output
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "", value_parser = super::screen::path_or_nothing())]
    pub json: Option<PathBuf>,
    /// Write the report to a file
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// End a program's command after so many seconds
    #[arg(long, value_name = "SECONDS", value_parser = super::run::positive)]
    pub time_limit: Option<f64>,
    /// The tracer's plugin, if it is not beside assay itself
    #[arg(long, value_name = "FILE")]
    pub plugin: Option<PathBuf>,
    #[command(flatten)]
    pub places: Places,
}

/// A whole number from 1, its thousands set apart by `_` if one likes.
fn whole(text: &str) -> Result<u64, String> {
    match text.replace('_', "").parse::<u64>() {
        Ok(number) if number > 0 => Ok(number),
        _ => Err(format!("`{text}` is not a whole number from 1")),
    }
}

/// Runs the verb.
///
/// # Errors
/// What was named can't be found or read, an unknown predictor, a folder that is not there.
pub fn run(arguments: &Arguments) -> Result<u8> {
    if arguments.predictor.iter().any(|names| names == "help") {
        screen::print(&predictors::list());
        return Ok(DONE);
    }
    for file in [&arguments.json, &arguments.output].into_iter().flatten() {
        screen::find_place(file)?;
    }
    if let Some(text) = &arguments.program {
        return program::run(arguments, text);
    }
    if let Some(file) = arguments.experiment.as_deref().filter(|file| is_program(file)) {
        let file = file.display();
        return Err(
            Misuse(format!("{file} is a program, not an experiment: assay doctor --program {file}")).into()
        );
    }
    assay_linux::interrupt::catch();
    let page = match &arguments.experiment {
        Some(file) => experiment::examine(arguments, file)?,
        None => machine::examine(arguments)?,
    };
    show(arguments, &page.to_json(), &|colour| render_examination(&page, screen::width(), colour))?;
    let is_wrong = |page: &Examination| page.open().any(|finding| finding.state == State::Warning);
    Ok(if arguments.strict && is_wrong(&page) { FAILED } else { DONE })
}

fn is_program(file: &std::path::Path) -> bool {
    use std::io::Read as _;
    let mut first = [0; 4];
    let read = std::fs::File::open(file).and_then(|mut file| file.read_exact(&mut first));
    read.is_ok() && first == *b"\x7fELF"
}

/// Shows a page as it is asked for: as text, as JSON, in a file.
fn show(arguments: &Arguments, json: &str, text: &dyn Fn(bool) -> String) -> Result<()> {
    let json_alone = arguments.json.as_ref().is_some_and(|file| file.as_os_str().is_empty());
    if let Some(file) = arguments.json.as_ref().filter(|_| !json_alone) {
        screen::write(file, json)?;
    }
    let to_screen = arguments.output.is_none();
    let text =
        if json_alone { json.to_owned() } else { text(to_screen && screen::colour_of(&std::io::stderr())) };
    match &arguments.output {
        Some(file) => screen::write(file, &text),
        None if arguments.program.is_none() => {
            screen::print(&text);
            Ok(())
        }
        // A program's own output goes to standard output.
        None => {
            screen::tell(text.trim_end_matches('\n'));
            Ok(())
        }
    }
}
