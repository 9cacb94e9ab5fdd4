//! `assay import`: the results of another benchmark tool, beside our own.

use super::run::StoragePaths;
use super::{DONE, screen};
use anyhow::Result;
use assay_lab::history::import::{self, ImportFormat, ImportRequest};
use assay_lab::lead::Misuse;
use assay_lab::store::Ledger;
use assay_pure::figures::origin;
use assay_pure::words;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use std::path::PathBuf;

/// Read the results of another benchmark tool into the ledger
#[derive(clap::Args, Clone, Debug)]
#[command(after_help = include_str!("help/import.txt"))]
pub struct ImportArguments {
    /// google-benchmark, criterion, hyperfine, go or bmf
    #[arg(value_name = "FORMAT", value_parser = formats(), hide_possible_values = true)]
    pub format: ImportFormat,
    /// The file, or criterion's folder
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// History that it belongs to; default: the tool's name
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// When it was measured, as 2026-11-22 or 2026-11-22T08:00:00Z; default: as the file says, or when it was changed last
    #[arg(long, value_name = "TIME", value_parser = moment)]
    pub at: Option<f64>,
    /// Machine that measured it; default: as the file says
    #[arg(long, value_name = "NAME")]
    pub machine: Option<String>,
    /// Commit that was measured
    #[arg(long, value_name = "COMMIT")]
    pub revision: Option<String>,
    #[command(flatten)]
    pub places: StoragePaths,
}

/// By their names, which shells complete.
fn formats() -> impl TypedValueParser<Value = ImportFormat> {
    PossibleValuesParser::new(ImportFormat::ALL.map(|(name, _)| name)).map(|word| {
        let known = ImportFormat::ALL.iter().find(|(name, _)| *name == word);
        known.expect("only these names are let through").1
    })
}

fn moment(text: &str) -> Result<f64, String> {
    origin::unix(text).ok_or_else(|| "write it as 2026-11-22 or 2026-11-22T08:00:00Z".to_owned())
}

/// Runs the verb.
///
/// # Errors
/// See [`import::import`].
pub fn run(arguments: &ImportArguments) -> Result<u8> {
    if !arguments.file.exists() {
        return Err(Misuse(format!("there is no {}", arguments.file.display())).into());
    }
    let name = arguments.name.clone().unwrap_or_else(|| arguments.format.name().to_owned());
    let asked = ImportRequest {
        format: arguments.format,
        file: arguments.file.clone(),
        name: name.clone(),
        machine: arguments.machine.clone(),
        revision: arguments.revision.clone(),
        at: arguments.at,
    };
    let ledger = Ledger::open(&arguments.places.ledger)?;
    let found = import::import(&ledger, &asked)?;
    let file = arguments.file.display();
    let mut text = if found.known {
        format!("{file} was imported before, as import {} of {name}; nothing was added.\n", found.id)
    } else {
        format!(
            "Import {} of {name}: {} with {} from {file}.\nnext  `assay history {name}` shows it over time\n",
            found.id,
            words::plural(found.benchmarks as u64, "benchmark"),
            words::plural(found.numbers as u64, "number")
        )
    };
    for note in &found.notes {
        text += &format!("! {note}\n");
    }
    screen::print(&text);
    Ok(DONE)
}
