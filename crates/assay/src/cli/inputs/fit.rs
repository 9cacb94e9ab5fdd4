//! `assay inputs fit`: a generator fitted to recorded data, and whether it may stand for them.

use super::{experiment, read};
use crate::cli::help::OUTPUT;
use crate::cli::run::{StoragePaths, positive};
use crate::cli::stat::predictors;
use crate::cli::{DONE, FAILED, reads, screen};
use anyhow::{Context as _, Result};
use assay_lab::campaign;
use assay_lab::fit::variants::FittedInput;
use assay_lab::fit::{FitRequest, conclude, conclude_numbers, examine, examine_numbers, variants};
use assay_lab::lead::{Misuse, Resume};
use assay_pure::inputs::fit::kind;
use assay_pure::inputs::{Format, Generator, NumberType, guess};
use assay_report::{FitPage, Progress, Show, render_fit};
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Heading of options that only matter if the fit is measured.
const MEASUREMENT: &str = "Measurement";

/// Fit a generator to recorded data: can it stand for the recording?
#[derive(clap::Args, Clone, Debug)]
#[command(after_help = include_str!("../help/fit.txt"))]
pub struct FitArguments {
    /// Recorded file of numbers (u8 to f64) or of LEB128 varints
    file: PathBuf,
    /// Format of a unit: varint, or u8 to f64; default: guessed from the file
    #[arg(long, value_name = "FORMAT")]
    format: Option<String>,
    /// Write the table to a file instead of printing it; - prints the table only
    #[arg(short, long, help_heading = OUTPUT, value_name = "FILE.toml")]
    output: Option<PathBuf>,
    /// Name of the input in the table; default: the file's name
    #[arg(long, value_name = "NAME", help_heading = OUTPUT)]
    name: Option<String>,
    /// Units of the input in the table; default: as many as recorded
    #[arg(long, value_name = "N", help_heading = OUTPUT, value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    units: Option<u64>,
    /// Seed of the input in the table
    #[arg(long, value_name = "N", help_heading = OUTPUT, default_value_t = 1)]
    seed: u64,
    /// Largest difference of the figures: a fraction, or as in "5 %"
    #[arg(long, value_name = "SHARE", default_value = "5 %", value_parser = share)]
    margin: f64,
    /// Predictors or CPU profiles that decode both streams; `help` for a list
    #[arg(long, value_name = "NAME,...")]
    predictor: Vec<String>,
    /// Write the table even if the fit is refused; the exit code stays 1
    #[arg(long)]
    anyway: bool,
    /// Accept a fit of the mean although the recording's statistics drift
    #[arg(long)]
    changing: bool,
    /// Measure this experiment's variants on the recorded and the fitted input
    #[arg(long, help_heading = MEASUREMENT, value_name = "EXPERIMENT.toml")]
    experiment: Option<PathBuf>,
    /// Time to measure, instead of the file's budget
    #[arg(long, help_heading = MEASUREMENT, value_name = "SECONDS", value_parser = positive, requires = "experiment")]
    budget: Option<f64>,
    /// Only compilers whose name matches, instead of the file's; can be repeated
    #[arg(long = "compiler", value_name = "GLOB", help_heading = MEASUREMENT, requires = "experiment")]
    compilers: Vec<String>,
    /// CPU to measure on; default: the last one allowed
    #[arg(long, value_name = "N", help_heading = MEASUREMENT, requires = "experiment")]
    cpu: Option<usize>,
    /// Continue the newest unfinished measurement of the variants
    #[arg(long, help_heading = MEASUREMENT, requires = "experiment")]
    resume: bool,
    /// Show no progress
    #[arg(long, short, help_heading = OUTPUT)]
    quiet: bool,
    /// Print JSON (schema/fit-2.schema.json) instead of the report, or write it to FILE; - is standard output
    #[arg(long, help_heading = OUTPUT, value_name = "FILE", num_args = 0..=1, default_missing_value = "", value_parser = screen::path_or_nothing())]
    json: Option<PathBuf>,
    #[command(flatten)]
    places: StoragePaths,
}

/// Decodes beside the range of CPUs: what it cannot exploit, they cannot either.
const STRONGEST: &str = "tage-sc-l-64k";

/// Why anything else is not fitted, and what to do.
const ONLY: &str = "only numbers (--format u8 to f64) and varints can be fitted. Write the numbers that the branches \
                    depend on, such as the length or kind of each record, one per line and one file per field. Encode \
                    them with `assay inputs encode` and fit the result, or share the recording itself as an input with a path";

/// A share above 0, as a fraction or with a per cent sign.
fn share(text: &str) -> Result<f64, String> {
    let number = match text.trim().strip_suffix('%') {
        Some(percent) => percent.trim().parse::<f64>().map(|percent| percent / 100.0),
        None => text.trim().parse(),
    };
    number
        .ok()
        .filter(|share| *share > 0.0 && *share < 1.0)
        .ok_or_else(|| format!("`{text}` is not between 0 and 1; write it as 0.05 or \"5 %\""))
}

/// Runs the verb.
///
/// # Errors
/// The file cannot be read or is no stream of varints; what [`campaign::run`] cannot do.
pub(super) fn run(arguments: &FitArguments) -> Result<u8> {
    if predictors::is_list_asked(&arguments.predictor) {
        screen::print(&predictors::list());
        return Ok(DONE);
    }
    let asked = asked(arguments)?;
    let mut reads = arguments.experiment.as_deref().map(reads::of_text).unwrap_or_default();
    reads.push(arguments.file.clone());
    for file in [&arguments.output, &arguments.json].into_iter().flatten() {
        screen::find_place(file, &reads)?;
    }
    if let Some(output) = &arguments.output {
        if is_screen(output) && arguments.json.as_deref().is_some_and(is_screen) {
            return Err(Misuse(
                "-o - and --json both go to standard output: name a file for one of them".into(),
            )
            .into());
        }
        spare(output)?;
    }
    let bytes = read(&arguments.file)?;
    if bytes.is_empty() {
        return Err(Misuse(format!(
            "{} is empty: record the bytes that the decoder reads into it",
            asked.file
        ))
        .into());
    }
    let numbers = number_type(arguments, &bytes);
    if let Some(file) = &arguments.experiment {
        // Before anything takes its time.
        let format = numbers.as_ref().map_or(Format::Varint, |(number, _)| Format::Numbers(*number));
        variants::like(&experiment(file)?, format)?;
    }
    let is_unknown = arguments.format.is_none() && numbers.is_none();
    if let Some(kind) = is_unknown.then(|| kind(&bytes)).flatten() {
        return Err(Misuse(format!(
            "{} looks like {kind}: {ONLY}. If it does hold varints, add --format varint",
            asked.file
        ))
        .into());
    }
    if std::io::stderr().is_terminal() && !arguments.quiet {
        screen::tell("fitting and simulating predictors: up to 30 s for a million units");
    }
    let measured = |fitted: Option<(Generator, u64)>| match (&arguments.experiment, fitted) {
        (Some(experiment), Some((generator, units))) => {
            let units = asked.units.unwrap_or(units);
            let fitted = FittedInput { generator: &generator, units, seed: arguments.seed };
            measure(arguments, experiment, fitted, asked.margin).map(Some)
        }
        _ => Ok(None),
    };
    let mut page = match numbers {
        Some((number, from)) => {
            let examined = examine_numbers(&asked, &bytes, number, from)?;
            let measured = measured(examined.to_measure())?;
            conclude_numbers(&asked, examined, measured)
        }
        None => {
            let examined = examine(&asked, &bytes)?;
            let measured = measured(examined.to_measure())?;
            conclude(&asked, examined, measured)
        }
    };
    match (&arguments.output, &page.table) {
        (Some(output), Some(table)) => {
            screen::write(output, table)?;
            page.written = Some(output.display().to_string());
        }
        (Some(output), None) => page.notes.push(format!(
            "Nothing was written to {} because the fit is refused; --anyway writes it.",
            output.display()
        )),
        (None, _) => {}
    }
    show(arguments, &page)?;
    Ok(if page.close { DONE } else { FAILED })
}

/// A table is written over a table, and over nothing else: an experiment file has the same ending.
fn spare(output: &Path) -> Result<(), Misuse> {
    if screen::is_stdout(output) || !output.is_file() {
        return Ok(());
    }
    let there = read(output)?;
    if there.is_empty() || there.starts_with(b"[inputs.") {
        return Ok(());
    }
    Err(Misuse(format!(
        "{} exists and is not a fitted table, so it is kept: name another file and paste the table from there",
        output.display()
    )))
}

fn asked(arguments: &FitArguments) -> Result<FitRequest, Misuse> {
    match arguments.format.as_deref() {
        None | Some("varint") => {}
        Some(other) if matches!(Format::parse(other), Some(Format::Numbers(_))) => {}
        Some(other) if Format::parse(other).is_some() => {
            return Err(Misuse(format!(
                "--format {other}: {ONLY}; describe it with `assay inputs describe --format {other}`"
            )));
        }
        Some(other) => {
            return Err(Misuse(format!("there is no format `{other}`; varint and u8 to f64 can be fitted")));
        }
    }
    let mut predictors: Vec<String> = predictors::choose(&arguments.predictor, Some(architecture()))?
        .into_iter()
        .map(|model| model.name)
        .collect();
    if arguments.predictor.is_empty() {
        predictors.push(STRONGEST.to_owned());
    }
    if predictors.is_empty() {
        return Err(Misuse("--predictor none leaves nothing to compare: name a predictor".into()));
    }
    Ok(FitRequest {
        file: arguments.file.display().to_string(),
        name: name(arguments)?,
        margin: arguments.margin,
        predictors,
        units: arguments.units,
        seed: arguments.seed,
        anyway: arguments.anyway,
        changing: arguments.changing,
    })
}

/// The type of the file's numbers, and what it was guessed from where nobody said it; none of varints and all else.
fn number_type(arguments: &FitArguments, bytes: &[u8]) -> Option<(NumberType, Option<String>)> {
    let (format, from) = match arguments.format.as_deref() {
        Some(word) => (Format::parse(word)?, None),
        None => {
            let guess = guess(bytes, &arguments.file.to_string_lossy());
            (guess.format, Some(guess.from))
        }
    };
    match format {
        Format::Numbers(number) => Some((number, from)),
        _ => None,
    }
}

/// This machine's, as files of programs name it.
fn architecture() -> &'static str {
    if cfg!(target_arch = "aarch64") { "aarch64" } else { "x86-64" }
}

/// A name that needs no quotes in TOML.
fn name(arguments: &FitArguments) -> Result<String, Misuse> {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if let Some(name) = &arguments.name {
        if !name.is_empty() && name.chars().all(plain) {
            return Ok(name.clone());
        }
        return Err(Misuse(format!("--name {name}: a name can have letters, digits, _ and -")));
    }
    let stem = arguments.file.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let name: String = stem.chars().map(|c| if plain(c) { c } else { '-' }).collect();
    Ok(if name.is_empty() { "fitted".to_owned() } else { name })
}

fn measure(
    arguments: &FitArguments,
    experiment: &Path,
    fitted: FittedInput<'_>,
    margin: f64,
) -> Result<assay_report::fit::page::Variants> {
    assay_linux::interrupt::catch();
    let file =
        arguments.file.canonicalize().with_context(|| format!("cannot find {}", arguments.file.display()))?;
    let asked = campaign::CampaignRequest {
        experiment: experiment.to_owned(),
        ledger: arguments.places.ledger.clone(),
        store: arguments.places.store(),
        quick: false,
        resume: Resume::one(arguments.resume),
        cpu: arguments.cpu,
        patience: Duration::from_secs(20),
        budget: arguments.budget,
        inputs: Vec::new(),
        compilers: arguments.compilers.clone(),
        seed: None,
        one_of: 1,
        measured_only: false,
        examine: false,
        source: campaign::CountingSource::Best,
        predictors: Vec::new(),
    };
    let mut progress = Progress::new(Show::choose(arguments.quiet, std::io::stderr().is_terminal()));
    variants::measure(&asked, &file, fitted, margin, &mut |event| progress.event(&event))
}

/// Standard output; `--json` alone has no name.
fn is_screen(file: &Path) -> bool {
    file.as_os_str().is_empty() || screen::is_stdout(file)
}

fn show(arguments: &FitArguments, page: &FitPage) -> Result<()> {
    match &arguments.json {
        Some(path) if is_screen(path) => screen::print(&page.to_json()),
        json => {
            // The table alone stands where the page would.
            if page.written.as_deref() == Some("-") {
                screen::tell(&page.answer);
            } else {
                screen::show(&render_fit(page, screen::width(), screen::colour()));
            }
            if let Some(path) = json {
                screen::write(path, &page.to_json())?;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_margin_is_a_fraction_or_a_per_cent() {
        assert_eq!((share("5 %"), share("0.1"), share("2.5%")), (Ok(0.05), Ok(0.1), Ok(0.025)));
        for wrong in ["0", "-1", "1", "120 %", "nan", "x", ""] {
            assert!(share(wrong).is_err(), "{wrong}");
        }
    }
}
