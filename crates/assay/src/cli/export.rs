//! `assay export`: a campaign in the formats of other tools.

use super::help::OUTPUT;
use super::run::StoragePaths;
use super::{DONE, screen};
use anyhow::{Context, Result};
use assay_lab::export;
use assay_lab::lead::Misuse;
use assay_lab::store::{Kept, Ledger};
use assay_lab::view::named;
use assay_linux::output;
use assay_report::export::{Export, TextFormat, criterion, csv, parquet, text};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use std::path::{Path, PathBuf};

/// Write a campaign in the format of another tool
#[derive(clap::Args, Clone, Debug)]
#[command(after_help = include_str!("help/export.txt"))]
pub struct ExportArguments {
    /// google-benchmark, criterion, hyperfine, go, bmf, github-action-benchmark, csv or parquet
    #[arg(value_name = "FORMAT", value_parser = formats(), hide_possible_values = true)]
    pub format: ExportFormat,
    /// Number of the campaign, or its experiment's name for the newest of it, NAME~1 for the one before; default: the newest
    pub campaign: Option<String>,
    /// File to write, for criterion a folder; default: standard output
    #[arg(long, short, help_heading = OUTPUT, value_name = "FILE")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub places: StoragePaths,
}

/// A format that is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExportFormat {
    /// One text.
    Text(TextFormat),
    /// criterion's folder.
    Criterion,
    /// Raw samples as text.
    Csv,
    /// Raw samples packed.
    Parquet,
}

const FORMATS: [(&str, ExportFormat); 8] = [
    ("google-benchmark", ExportFormat::Text(TextFormat::GoogleBenchmark)),
    ("criterion", ExportFormat::Criterion),
    ("hyperfine", ExportFormat::Text(TextFormat::Hyperfine)),
    ("go", ExportFormat::Text(TextFormat::Go)),
    ("bmf", ExportFormat::Text(TextFormat::Bmf)),
    ("github-action-benchmark", ExportFormat::Text(TextFormat::GithubActionBenchmark)),
    ("csv", ExportFormat::Csv),
    ("parquet", ExportFormat::Parquet),
];

/// By their names, which shells complete.
fn formats() -> impl TypedValueParser<Value = ExportFormat> {
    PossibleValuesParser::new(FORMATS.map(|(name, _)| name)).map(|word| {
        let known = FORMATS.iter().find(|(name, _)| *name == word);
        known.expect("only these names are let through").1
    })
}

/// Runs the verb.
///
/// # Errors
/// No ledger, no such campaign, or a file that cannot be written.
pub fn run(arguments: &ExportArguments) -> Result<u8> {
    let place = arguments.output.clone().unwrap_or_else(|| PathBuf::from("-"));
    let needs_place = matches!(arguments.format, ExportFormat::Criterion | ExportFormat::Parquet);
    if needs_place && screen::is_stdout(&place) {
        let what = if arguments.format == ExportFormat::Criterion {
            "criterion's files need a folder: -o DIR"
        } else {
            "Parquet is binary: -o FILE.parquet"
        };
        return Err(Misuse(what.into()).into());
    }
    if arguments.format != ExportFormat::Criterion {
        screen::find_place(&place, std::slice::from_ref(&arguments.places.ledger))?;
    }
    let ledger = Ledger::open(arguments.places.find_ledger("assay run")?)?;
    let campaign = named(&ledger, arguments.campaign.as_deref(), &[Kept::Campaign])?.id;
    match arguments.format {
        ExportFormat::Text(format) => screen::write(&place, &text(format, &figures(&ledger, campaign)?))?,
        ExportFormat::Criterion => write_folder(&place, &criterion(&figures(&ledger, campaign)?))?,
        ExportFormat::Csv => screen::write(&place, &csv(&export::samples(&ledger, campaign)?))?,
        ExportFormat::Parquet => {
            let bytes = parquet(&export::samples(&ledger, campaign)?);
            output::write(&place, &bytes).with_context(|| format!("cannot write {}", place.display()))?;
        }
    }
    Ok(DONE)
}

fn figures(ledger: &Ledger, campaign: i64) -> Result<Export> {
    let found = export::figures(ledger, campaign)?;
    if found.cells.is_empty() {
        let why = format!("campaign {campaign} has no usable figures; csv has its samples");
        return Err(Misuse(why).into());
    }
    Ok(found)
}

fn write_folder(folder: &Path, files: &[(String, String)]) -> Result<()> {
    for (name, text) in files {
        let path = folder.join(name);
        let parent = path.parent().unwrap_or(folder);
        std::fs::create_dir_all(parent).with_context(|| format!("cannot make {}", parent.display()))?;
        output::write(&path, text.as_bytes()).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}
