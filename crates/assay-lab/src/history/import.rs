//! `assay import`: a file of another benchmark tool becomes rows of the ledger, under the name of a history.

use crate::lead::Misuse;
use crate::store::{ImportedFigure, Ledger, NewImport};
use anyhow::{Context, Result};
use assay_linux::given;
use assay_pure::figures::origin::Origin;
use assay_pure::figures::{Adapter, BenchmarkOutput, Document, ExecutionFigures, bencher, origin};
use assay_pure::inputs::digest::digest;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
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
    let read = documents(asked)?;
    let (digest, origin) = match (asked.format, read.documents.as_slice()) {
        // Several files: what is in them, and which is which.
        (ImportFormat::Criterion, all) => {
            let named: Vec<String> = all.iter().map(|one| format!("{}\n{}", one.name, one.text)).collect();
            (digest(named.concat().as_bytes()), Origin::default())
        }
        (_, [only]) => (digest(only.text.as_bytes()), origin::of(&only.text)),
        (_, all) => unreachable!("one file is read as {} documents", all.len()),
    };
    let (figures, notes) =
        figures(asked.format, read.documents).map_err(|error| Misuse(format!("{shown}: {error}")))?;
    let mut names = BTreeMap::new();
    for figure in &figures {
        if !names.entry(figure.benchmark.as_str()).or_insert_with(BTreeSet::new).insert(figure.repetition) {
            let name = &figure.benchmark;
            return Err(Misuse(format!(
                "{shown}: two benchmarks are called `{name}`; import each file separately, with its own --name"
            ))
            .into());
        }
    }
    let (benchmarks, numbers) = (names.len(), figures.len());
    if let Some(id) = ledger.known_import(&asked.name, &digest, asked.revision.as_deref())? {
        return Ok(Imported { id, benchmarks, numbers, notes, known: true });
    }
    let new = NewImport {
        name: asked.name.clone(),
        tool: asked.format.name().into(),
        file: shown.to_string(),
        digest,
        machine: asked.machine.clone().or(origin.machine).unwrap_or_default(),
        revision: asked.revision.clone(),
        notes: notes.clone(),
        measured_at: asked.at.or(origin.unix).unwrap_or(read.changed),
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

/// What was read of a file or folder.
#[derive(Default)]
struct ImportedDocuments {
    documents: Vec<Document>,
    /// When the newest of them was changed, Unix seconds; a folder's own time is that of its last new entry.
    changed: f64,
}

impl ImportedDocuments {
    fn add(&mut self, path: &Path, name: String) -> io::Result<()> {
        let bytes = given::read(path, MOST)?;
        let text = String::from_utf8(bytes)
            .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8 text"))?;
        self.documents.push(Document { name, text });
        self.changed = self.changed.max(changed(path));
        Ok(())
    }
}

/// Bytes of one file: Google Benchmark writes some hundred for each repetition.
const MOST: u64 = 256 << 20;

/// The file, or what of criterion's folder is read.
fn documents(asked: &ImportRequest) -> Result<ImportedDocuments> {
    let shown = asked.file.display();
    let mut found = ImportedDocuments::default();
    if asked.format != ImportFormat::Criterion {
        found
            .add(&asked.file, shown.to_string())
            .map_err(|error| Misuse(format!("cannot read {shown}: {error}")))?;
        return Ok(found);
    }
    if !asked.file.is_dir() {
        return Err(Misuse(format!(
            "{shown} is not a folder: give the one that criterion writes, target/criterion"
        ))
        .into());
    }
    collect(&asked.file, "", 0, &mut found).with_context(|| format!("reading {shown}"))?;
    found.documents.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(found)
}

/// criterion nests a benchmark's folder three deep.
const DEEPEST: usize = 8;

fn collect(folder: &Path, below: &str, depth: usize, found: &mut ImportedDocuments) -> Result<()> {
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
            found.add(&entry.path(), format!("{below}{name}"))?;
        }
    }
    Ok(())
}

fn figures(
    format: ImportFormat,
    mut documents: Vec<Document>,
) -> Result<(Vec<ImportedFigure>, Vec<String>), String> {
    let mut output = BenchmarkOutput::default();
    // Every format but criterion's is one file.
    let text = if format == ImportFormat::Criterion { None } else { documents.pop() };
    let text = text.map_or(String::new(), |document| document.text);
    let adapter = match format {
        ImportFormat::Bmf => {
            let read = bencher::read(&text).map_err(|error| error.to_string())?;
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
            output.google_benchmark = text;
            Adapter::GoogleBenchmark
        }
        ImportFormat::Criterion => {
            output.criterion = documents;
            Adapter::Criterion
        }
        ImportFormat::Hyperfine => {
            output.stdout = text;
            Adapter::Hyperfine
        }
        ImportFormat::Go => {
            output.stdout = text;
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, SystemTime};

    fn asked(format: ImportFormat, file: PathBuf) -> ImportRequest {
        ImportRequest { format, file, name: "sums".into(), machine: None, revision: None, at: None }
    }

    /// A folder of criterion's with two benchmarks of these names.
    fn criterion(root: &Path, names: [&str; 2]) {
        for (number, name) in names.iter().enumerate() {
            let folder = root.join(format!("{number}/new"));
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join("benchmark.json"), format!("{{\"full_id\": \"{name}\"}}")).unwrap();
            fs::write(folder.join("sample.json"), "{\"iters\": [1.0, 2.0], \"times\": [5.0, 10.0]}").unwrap();
        }
    }

    #[test]
    fn a_folder_is_as_old_as_the_newest_of_its_files() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("criterion");
        criterion(&root, ["a", "b"]);
        let then = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000);
        for name in ["0/new/benchmark.json", "0/new/sample.json", "1/new/benchmark.json", "1/new/sample.json"]
        {
            fs::File::options().write(true).open(root.join(name)).unwrap().set_modified(then).unwrap();
        }
        let read = documents(&asked(ImportFormat::Criterion, root)).unwrap();
        assert_eq!((read.documents.len(), read.changed), (4, 1_700_000_000.0));
    }

    #[test]
    fn two_benchmarks_of_one_name_are_refused_by_name() {
        let folder = tempfile::tempdir().unwrap();
        let ledger = Ledger::open(&folder.path().join("ledger.db")).unwrap();
        let root = folder.path().join("criterion");
        criterion(&root, ["a", "a"]);
        let error = import(&ledger, &asked(ImportFormat::Criterion, root)).unwrap_err();
        assert!(error.to_string().contains("two benchmarks are called `a`"), "{error:#}");
        assert!(ledger.imported_names().unwrap().is_empty());
    }

    #[test]
    fn a_file_of_ten_megabytes_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("go.txt");
        let line = "BenchmarkSum-8 100 250 ns/op\n";
        fs::write(&file, line.repeat((10 << 20) / line.len())).unwrap();
        assert_eq!(documents(&asked(ImportFormat::Go, file)).unwrap().documents.len(), 1);
    }
}
