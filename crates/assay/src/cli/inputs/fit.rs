//! `assay inputs fit`: a generator fitted to recorded data, and whether it may stand for them.

use super::{experiment, read};
use crate::cli::run::{Places, positive};
use crate::cli::stat::predictors;
use crate::cli::{DONE, FAILED, screen};
use anyhow::{Context as _, Result};
use assay_lab::campaign;
use assay_lab::fit::{Asked, conclude, examine, variants};
use assay_lab::lead::Misuse;
use assay_pure::inputs::fit::kind;
use assay_report::{FitPage, Progress, Show, render_fit};
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Fit a generator to recorded data, so that the input can be shared without them
#[derive(clap::Args, Clone, Debug)]
#[command(after_help = "Examples:\n  \
    assay inputs fit traffic.bin                                fit, compare in simulation, print the table\n  \
    assay inputs fit traffic.bin -o traffic.toml                the table into a file\n  \
    assay inputs fit traffic.bin --experiment experiment.toml   and measure its variants on both inputs\n\n\
    The fit is a table of what length follows which lengths, with the weights of the values' bit lengths; no value is in\n\
    it. Simulated predictors of several CPUs decode the recorded and the fitted stream; with --experiment its variants are\n\
    measured on both, interleaved and over placements. The fit is refused, and no table given, where the figures differ by\n\
    more than the margin, cannot be told to agree, or where such a table cannot hold the data: too few units, a stretch\n\
    repeated, sorted lengths, a recording that changes as it goes (--changing takes it for its means).\n\n\
    Of anything but varints, write the numbers that the branches depend on one per line and encode them:\n  \
    awk '{ print length($0) }' access.log | assay inputs encode - lengths.bin && assay inputs fit lengths.bin\n\n\
    Exit codes: 0 the fit is close, 1 refused, 2 misuse, 3 nothing could be measured.")]
pub struct Arguments {
    /// The recorded file, LEB128 varints
    file: PathBuf,
    /// How units are found; only varint is fitted, and saying so takes bytes for varints whatever they look like
    #[arg(long)]
    format: Option<String>,
    /// Write the table to a file, instead of printing it; - prints nothing else
    #[arg(short, long, value_name = "FILE.toml")]
    output: Option<PathBuf>,
    /// The input's name in the table; the file's own if not given
    #[arg(long)]
    name: Option<String>,
    /// Units of the input in the table; as many as recorded if not given
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    units: Option<u64>,
    /// Seed of the input in the table
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// By how much figures may differ: a fraction, or a text as in "5 %"
    #[arg(long, default_value = "5 %", value_parser = share)]
    margin: f64,
    /// Predictors or CPU profiles that decode both streams, or `help` for a list
    #[arg(long, value_name = "NAME,...")]
    predictor: Vec<String>,
    /// Give the table of a refused fit all the same; the exit code stays 1
    #[arg(long)]
    anyway: bool,
    /// Take a fit of the means, though the recording changes as it goes and no fit does
    #[arg(long)]
    changing: bool,
    /// Measure this experiment's variants on the recorded and on the fitted input
    #[arg(long, value_name = "EXPERIMENT.toml")]
    experiment: Option<PathBuf>,
    /// Seconds of measuring, instead of the experiment's budget
    #[arg(long, value_name = "SECONDS", value_parser = positive, requires = "experiment")]
    budget: Option<f64>,
    /// Only these compilers (names or globs), instead of the experiment's
    #[arg(long = "compiler", value_name = "NAME", requires = "experiment")]
    compilers: Vec<String>,
    /// The processor to measure on; the last one allowed if not given
    #[arg(long, requires = "experiment")]
    cpu: Option<usize>,
    /// No progress
    #[arg(long, short)]
    quiet: bool,
    /// One JSON object (schema/fit-2.schema.json), instead of the report, or into FILE; - is standard output
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "", value_parser = screen::path_or_nothing())]
    json: Option<PathBuf>,
    #[command(flatten)]
    places: Places,
}

/// Decodes beside the range of CPUs: what it cannot exploit, they cannot either.
const STRONGEST: &str = "tage-sc-l-64k";

/// Why anything else is not fitted, and what to do.
const ONLY: &str = "only varints are fitted, since generators make nothing else. Write what the branches depend on, such as \
                    the length or the kind of each line or record, one number per line and one file per field, encode it \
                    with `assay inputs encode` and fit that; or share the recording itself as an input with a path";

/// A share above 0, as a fraction or with a per cent sign.
fn share(text: &str) -> Result<f64, String> {
    let number = match text.trim().strip_suffix('%') {
        Some(percent) => percent.trim().parse::<f64>().map(|percent| percent / 100.0),
        None => text.trim().parse(),
    };
    number
        .ok()
        .filter(|share| *share > 0.0 && *share < 1.0)
        .ok_or_else(|| format!("`{text}` is no share above 0 and below 1, such as 0.05 or \"5 %\""))
}

/// Runs the verb.
///
/// # Errors
/// The file cannot be read or is no stream of varints; what [`campaign::run`] cannot do.
pub(super) fn run(arguments: &Arguments) -> Result<u8> {
    if arguments.predictor.iter().any(|names| names == "help") {
        screen::print(&predictors::list());
        return Ok(DONE);
    }
    let asked = asked(arguments)?;
    for file in [&arguments.output, &arguments.json].into_iter().flatten() {
        screen::find_place(file)?;
    }
    if let Some(file) = &arguments.experiment {
        // Before anything takes its time.
        variants::like(&experiment(file)?)?;
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
            "{} is empty, so there is nothing to fit: record the bytes that the decoder reads into it",
            asked.file
        ))
        .into());
    }
    if let Some(kind) = arguments.format.is_none().then(|| kind(&bytes)).flatten() {
        return Err(Misuse(format!(
            "{} looks like {kind}: {ONLY}; if it is varints all the same, say so with --format varint",
            asked.file
        ))
        .into());
    }
    if std::io::stderr().is_terminal() && !arguments.quiet {
        screen::tell(
            "fitting, and decoding with simulated predictors: up to half a minute for a million units",
        );
    }
    let examined = examine(&asked, &bytes)?;
    drop(bytes);
    let measured = match (&arguments.experiment, examined.to_measure()) {
        (Some(experiment), Some((markov, units))) => {
            Some(measure(arguments, experiment, (markov, asked.units.unwrap_or(units)), asked.margin)?)
        }
        _ => None,
    };
    let mut page = conclude(&asked, examined, measured);
    match (&arguments.output, &page.table) {
        (Some(output), Some(table)) => {
            screen::write(output, table)?;
            page.written = Some(output.display().to_string());
        }
        (Some(output), None) => page.notes.push(format!(
            "Nothing was written to {}, as the fit is refused; --anyway writes it all the same.",
            output.display()
        )),
        (None, _) => {}
    }
    show(arguments, &page)?;
    Ok(if page.close { DONE } else { FAILED })
}

/// A table is written over a table, and over nothing else: an experiment file has the same ending.
fn spare(output: &Path) -> Result<(), Misuse> {
    if output.as_os_str() == "-" || !output.is_file() {
        return Ok(());
    }
    let there = read(output)?;
    if there.is_empty() || there.starts_with(b"[inputs.") {
        return Ok(());
    }
    Err(Misuse(format!(
        "{} is there already and is no table of a fit: name another file, and paste the table from it",
        output.display()
    )))
}

fn asked(arguments: &Arguments) -> Result<Asked, Misuse> {
    match arguments.format.as_deref() {
        None | Some("varint") => {}
        Some(other @ ("lines" | "bytes" | "whole")) => {
            return Err(Misuse(format!(
                "--format {other}: {ONLY}; describe it with `assay inputs describe --format {other}`"
            )));
        }
        Some(other) => return Err(Misuse(format!("no format `{other}`; only varint is fitted"))),
    }
    let mut predictors: Vec<String> = predictors::choose(&arguments.predictor, Some(architecture()))?
        .into_iter()
        .map(|model| model.name)
        .collect();
    if arguments.predictor.is_empty() {
        predictors.push(STRONGEST.to_owned());
    }
    if predictors.is_empty() {
        return Err(Misuse("--predictor none leaves nothing to compare the streams by".into()));
    }
    Ok(Asked {
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

/// This machine's, as files of programs name it.
fn architecture() -> &'static str {
    if cfg!(target_arch = "aarch64") { "aarch64" } else { "x86-64" }
}

/// A name that needs no quotes in TOML.
fn name(arguments: &Arguments) -> Result<String, Misuse> {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if let Some(name) = &arguments.name {
        if !name.is_empty() && name.chars().all(plain) {
            return Ok(name.clone());
        }
        return Err(Misuse(format!("--name {name}: a name has letters, digits, _ and -")));
    }
    let stem = arguments.file.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let name: String = stem.chars().map(|c| if plain(c) { c } else { '-' }).collect();
    Ok(if name.is_empty() { "fitted".to_owned() } else { name })
}

fn measure(
    arguments: &Arguments,
    experiment: &Path,
    (markov, units): (&assay_pure::inputs::Markov, u64),
    margin: f64,
) -> Result<assay_report::fit::page::Variants> {
    assay_linux::interrupt::catch();
    let file =
        arguments.file.canonicalize().with_context(|| format!("cannot find {}", arguments.file.display()))?;
    let asked = campaign::Asked {
        experiment: experiment.to_owned(),
        ledger: arguments.places.ledger.clone(),
        store: arguments.places.store(),
        quick: false,
        resume: false,
        cpu: arguments.cpu,
        patience: Duration::from_secs(20),
        budget: arguments.budget,
        inputs: Vec::new(),
        compilers: arguments.compilers.clone(),
        seed: None,
    };
    let mut progress = Progress::new(Show::choose(arguments.quiet, std::io::stderr().is_terminal()));
    variants::measure(&asked, &file, (markov, units, arguments.seed), margin, &mut |event| {
        progress.event(&event)
    })
}

/// Standard output; `--json` alone has no name.
fn is_screen(file: &Path) -> bool {
    file.as_os_str().is_empty() || file.as_os_str() == "-"
}

fn show(arguments: &Arguments, page: &FitPage) -> Result<()> {
    match &arguments.json {
        Some(path) if is_screen(path) => screen::print(&page.to_json()),
        json => {
            // The table alone stands where the page would.
            if page.written.as_deref() == Some("-") {
                screen::tell(&page.answer);
            } else {
                screen::print(&render_fit(page, screen::width(), screen::colour()));
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
