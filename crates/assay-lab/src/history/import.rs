//! `assay import`: a file of another benchmark tool becomes rows of the ledger, under the name of a history.

use crate::lead::Misuse;
use crate::store::{ImportedFigure, Ledger, NewImport};
use anyhow::{Context, Result};
use assay_linux::given;
use assay_pure::figures::{Adapter, Document, ExecutionFigures, Output, bencher, origin};
use assay_pure::inputs::digest::digest;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// A format that is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImportFormat {
    /// Google Benchmark's JSON.
    GoogleBenchmark,
    /// criterion's folder, `target/criterion`.
    Criterion,
    /// hyperfine's JSON.
    Hyperfine,
    /// Lines of Go's benchmarks.
    Go,
    /// Bencher's metrics.
    Bmf,
}

impl ImportFormat {
    /// All, as they are named.
    pub const ALL: [(&'static str, ImportFormat); 5] = [
        ("google-benchmark", ImportFormat::GoogleBenchmark),
        ("criterion", ImportFormat::Criterion),
        ("hyperfine", ImportFormat::Hyperfine),
        ("go", ImportFormat::Go),
        ("bmf", ImportFormat::Bmf),
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        ImportFormat::ALL.iter().find(|(_, format)| *format == self).map_or("", |(name, _)| name)
    }
}

/// What is imported.
#[derive(Clone, Debug)]
pub struct ImportRequest {
    /// Whose format it is.
    pub format: ImportFormat,
    /// The file, or criterion's folder.
    pub file: PathBuf,
    /// The history it belongs to.
    pub name: String,
    /// What the user calls the machine; none: as the file does.
    pub machine: Option<String>,
    /// What was measured.
    pub revision: Option<String>,
    /// Unix seconds; none: as the file says, else when it was changed last.
    pub at: Option<f64>,
}

/// What became of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Imported {
    /// Its number in the ledger.
    pub id: i64,
    /// Benchmarks in it.
    pub benchmarks: usize,
    /// Numbers in it.
    pub numbers: usize,
    /// Sentences of the reader.
    pub notes: Vec<String>,
    /// It was there already, with the same content.
    pub known: bool,
}

/// Reads the file and keeps its figures.
///
/// # Errors
/// [`Misuse`]: it cannot be read, or is not of the format; or the ledger cannot be written.
pub fn import(ledger: &Ledger, asked: &ImportRequest) -> Result<Imported> {
    let shown = asked.file.display();
    let documents = documents(asked)?;
    let text = documents.iter().map(|document| document.text.as_str()).collect::<Vec<_>>().join("\n");
    let named =
        documents.iter().map(|document| format!("{}\n{}", document.name, document.text)).collect::<String>();
    let digest = digest(if asked.format == ImportFormat::Criterion { &named } else { &text }.as_bytes());
    let (figures, notes) =
        figures(asked.format, &text, documents).map_err(|error| Misuse(format!("{shown}: {error}")))?;
    let mut names: Vec<&str> = figures.iter().map(|figure| figure.benchmark.as_str()).collect();
    names.dedup();
    let (benchmarks, numbers) = (names.len(), figures.len());
    if let Some(id) = ledger.known_import(&asked.name, &digest, asked.revision.as_deref())? {
        return Ok(Imported { id, benchmarks, numbers, notes, known: true });
    }
    let origin = origin::of(&text);
    let new = NewImport {
        name: asked.name.clone(),
        tool: asked.format.name().into(),
        file: shown.to_string(),
        digest,
        machine: asked.machine.clone().or(origin.machine).unwrap_or_default(),
        revision: asked.revision.clone(),
        notes: notes.clone(),
        measured_at: asked.at.or(origin.unix).unwrap_or_else(|| changed(&asked.file)),
        figures,
    };
    let id = ledger.put_import(&new)?;
    Ok(Imported { id, benchmarks, numbers, notes, known: false })
}

/// When a file was changed last, Unix seconds.
fn changed(file: &Path) -> f64 {
    let time = fs::metadata(file).and_then(|facts| facts.modified()).ok();
    time.and_then(|time| time.duration_since(UNIX_EPOCH).ok()).map_or(0.0, |since| since.as_secs_f64())
}

/// The file, or what of criterion's folder is read.
fn documents(asked: &ImportRequest) -> Result<Vec<Document>> {
    let shown = asked.file.display();
    if asked.format != ImportFormat::Criterion {
        let text =
            given::read_text(&asked.file).map_err(|error| Misuse(format!("cannot read {shown}: {error}")))?;
        return Ok(vec![Document { name: shown.to_string(), text }]);
    }
    if !asked.file.is_dir() {
        return Err(Misuse(format!(
            "{shown} is no folder: give the one that criterion writes, target/criterion"
        ))
        .into());
    }
    let mut found = Vec::new();
    collect(&asked.file, "", 0, &mut found).with_context(|| format!("reading {shown}"))?;
    found.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(found)
}

/// criterion nests a benchmark's folder three deep.
const DEEPEST: usize = 8;

fn collect(folder: &Path, below: &str, depth: usize, found: &mut Vec<Document>) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let kind = entry.file_type()?;
        if kind.is_dir() && depth < DEEPEST {
            collect(&entry.path(), &format!("{below}{name}/"), depth + 1, found)?;
        } else if kind.is_file()
            && below.ends_with("new/")
            && ["benchmark.json", "sample.json", "estimates.json"].contains(&name.as_str())
        {
            found.push(Document { name: format!("{below}{name}"), text: given::read_text(&entry.path())? });
        }
    }
    Ok(())
}

fn figures(
    format: ImportFormat,
    text: &str,
    documents: Vec<Document>,
) -> Result<(Vec<ImportedFigure>, Vec<String>), String> {
    let mut output = Output::default();
    let adapter = match format {
        ImportFormat::Bmf => {
            let read = bencher::read(text).map_err(|error| error.to_string())?;
            let kept = read.metrics.into_iter().map(|metric| ImportedFigure {
                benchmark: metric.name,
                repetition: 0,
                value: metric.value,
                unit: metric.unit,
                interval: metric.interval,
            });
            return Ok((kept.collect(), read.notes));
        }
        ImportFormat::GoogleBenchmark => {
            text.clone_into(&mut output.google_benchmark);
            Adapter::GoogleBenchmark
        }
        ImportFormat::Criterion => {
            output.criterion = documents;
            Adapter::Criterion
        }
        ImportFormat::Hyperfine => {
            text.clone_into(&mut output.stdout);
            Adapter::Hyperfine
        }
        ImportFormat::Go => {
            text.clone_into(&mut output.stdout);
            Adapter::Go
        }
    };
    let ExecutionFigures { figures, notes } = adapter.read(&output).map_err(|error| error.to_string())?;
    let kept = figures.into_iter().flat_map(|figure| {
        let unit = figure.unit.to_string();
        let numbers: Vec<ImportedFigure> = figure
            .values
            .iter()
            .enumerate()
            .map(|(repetition, &value)| ImportedFigure {
                benchmark: figure.name.clone(),
                repetition: repetition as u32,
                value,
                unit: unit.clone(),
                interval: None,
            })
            .collect();
        numbers
    });
    Ok((kept.collect(), notes))
}
