//! From an experiment file to everything that is known before anything is built: the matrix, the compilers, the
//! inputs, and what this machine cannot run.

use super::inputs::{self, ReadyInput};
use super::{CampaignRequest, left_out, sources};
use crate::lead::Misuse;
use crate::store::{FailureRow, Ledger};
use anyhow::{Context, Result};
use assay_link::build::{Compiler, ToolchainError};
use assay_link::program::find_toolchains;
use assay_linux::given;
use assay_linux::machine::Machine;
use assay_pure::event::Event;
use assay_pure::experiment::matrix::{Cell, CellId};
use assay_pure::experiment::spec::{InputSource, OwnBuild};
use assay_pure::experiment::{Diagnostic, Experiment, ParsedExperiment};
use assay_pure::ledger::Stage;
use std::path::{Path, PathBuf};

/// An experiment ready to be built.
#[derive(Debug)]
pub struct PreparedExperiment {
    /// With every default filled in and the command line's wishes applied.
    pub experiment: Experiment,
    /// The file as it was.
    pub text: String,
    /// The folder that its paths are relative to.
    pub folder: PathBuf,
    /// The compiler axis.
    pub compilers: Vec<Compiler>,
    /// The machine.
    pub machine: Machine,
    /// The inputs, in file order.
    pub inputs: Vec<ReadyInput>,
    /// Variants that this machine can run, by number.
    pub runnable: Vec<usize>,
    /// The others, with reasons.
    pub skipped: Vec<FailureRow>,
}

impl PreparedExperiment {
    /// What the campaign's samples depend on beside the file's text: a campaign that goes on must find it unchanged.
    ///
    /// # Errors
    /// A source cannot be read.
    pub fn contents(&self) -> Result<Vec<String>> {
        let mut contents = vec![self.machine.cpu.clone()];
        for source in sources::of(&self.experiment.program, &self.folder) {
            let bytes = given::read(&source, given::DATA)
                .with_context(|| format!("cannot read {}", source.display()))?;
            contents.push(assay_pure::inputs::digest::digest(&bytes));
        }
        contents.extend(self.inputs.iter().map(|input| input.row.digest.clone()));
        Ok(contents)
    }

    /// A cell by name.
    pub fn id(&self, cell: Cell) -> CellId {
        cell.id(&self.experiment, &self.compilers[cell.compiler].name)
    }

    /// A failure of a cell, on its input or on all.
    pub fn failure(&self, stage: Stage, cell: Cell, everywhere: bool, reason: String) -> FailureRow {
        let CellId { variant, input, compiler, flags } = self.id(cell);
        FailureRow {
            stage,
            variant: Some(variant),
            input: (!everywhere).then_some(input),
            compiler: Some(compiler),
            flags: Some(flags),
            reason,
        }
    }

    /// Number of the baseline on the variant axis.
    pub fn baseline(&self) -> usize {
        self.experiment
            .baseline_index()
            .expect("an experiment without its baseline is refused when it is read")
    }
}

/// What can be known of an experiment without touching its inputs.
#[derive(Clone, Debug)]
pub struct Outline {
    /// With every default filled in and the command line's wishes applied.
    pub experiment: Experiment,
    /// The file as it was.
    pub text: String,
    /// The folder that its paths are relative to.
    pub folder: PathBuf,
    /// The compiler axis.
    pub compilers: Vec<Compiler>,
    /// Compilers that were asked for and are left out, with reasons.
    pub skipped: Vec<FailureRow>,
}

/// Reads the file, checks what it names, and finds the compilers.
///
/// # Errors
/// [`Misuse`] with every problem of the file.
pub fn outline(asked: &CampaignRequest) -> Result<Outline> {
    outline_of(asked, text_of(asked)?)
}

/// The text of the experiment file.
///
/// # Errors
/// [`Misuse`]: it cannot be read.
pub fn text_of(asked: &CampaignRequest) -> Result<String, Misuse> {
    let file = asked.experiment.display();
    if asked.experiment.is_dir() {
        return Err(Misuse(format!("{file} is a folder; {}", files_in(&asked.experiment))));
    }
    given::read_text(&asked.experiment)
        .map_err(|error| Misuse(format!("cannot read the experiment {file}: {error}\n{}", NEW_HINT)))
}

/// Which experiment files a folder may mean, as advice.
fn files_in(folder: &Path) -> String {
    let names = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut files: Vec<PathBuf> =
        names.filter(|file| file.extension().is_some_and(|ending| ending == "toml")).collect();
    files.sort();
    match &files[..] {
        [] => format!("it holds no .toml file\n{NEW_HINT}"),
        files => {
            let names: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
            format!("name the experiment file in it: {}", names.join(", "))
        }
    }
}

/// [`outline`] of a text that takes the file's place.
///
/// # Errors
/// [`Misuse`] with every problem of the text.
pub fn outline_of(asked: &CampaignRequest, text: String) -> Result<Outline> {
    let file = asked.experiment.display().to_string();
    let mut parsed = Experiment::from_toml(&text, &file).map_err(|problems| misuse(&problems))?;
    let folder = asked.experiment.parent().map_or_else(PathBuf::new, Path::to_owned);
    let folder = if folder.as_os_str().is_empty() { PathBuf::from(".") } else { folder };
    let folder = folder.canonicalize().with_context(|| format!("cannot enter {}", folder.display()))?;
    for place in [&folder, &asked.store] {
        if std::path::absolute(place)?.to_str().is_none() {
            let what =
                "is not UTF-8, as the words of a compiler and of the protocol must be; rename the folder";
            return Err(Misuse(format!("{} {what}", place.display())).into());
        }
    }
    parsed.experiment.name_after(&folder);
    let mut problems = missing_files(&parsed, &folder);
    if !asked.compilers.is_empty() {
        // Complaints then are about the command line, not about a place in the file.
        find_toolchains(&parsed.experiment.program, &folder, &asked.compilers)
            .map_err(|error| Misuse(format!("--compiler: {error}")))?;
        parsed.experiment.compilers = asked.compilers.clone();
    }
    let compilers = compilers(&parsed, &folder).unwrap_or_else(|problem| {
        problems.push(*problem);
        Vec::new()
    });
    if !problems.is_empty() {
        return Err(misuse(&problems).into());
    }
    let mut experiment = parsed.experiment;
    asked.apply(&mut experiment)?;
    let (compilers, mut skipped) = left_out::compilers(&experiment, compilers);
    skipped.extend(left_out::baselines(&experiment, &compilers));
    Ok(Outline { experiment, text, folder, compilers, skipped })
}

const NEW_HINT: &str = "`assay new NAME` writes one to start from";

fn misuse(problems: &[Diagnostic]) -> Misuse {
    Misuse(assay_pure::experiment::diagnostic::shown(problems))
}

fn missing_files(parsed: &ParsedExperiment, folder: &Path) -> Vec<Diagnostic> {
    let experiment = &parsed.experiment;
    let mut problems = Vec::new();
    let mut look = |key: String, path: &String, is_folder: bool| {
        let full = folder.join(path);
        let there = if is_folder { full.is_dir() } else { full.is_file() };
        if !there {
            let kind = if is_folder { "folder" } else { "file" };
            let looked = full.display();
            let message = match full.metadata() {
                Ok(found) if !found.is_dir() && !is_folder => {
                    format!("{looked} is a pipe or a device, not a regular file: it cannot be read twice")
                }
                _ => format!("there is no {kind} `{path}` beside the experiment file (looked for {looked})"),
            };
            let nearest = nearest_file(folder, path);
            problems.push(parsed.diagnostic(&key, &message, nearest.as_deref(), None));
        }
    };
    for (index, source) in experiment.program.sources.iter().enumerate() {
        look(format!("program.sources[{index}]"), source, false);
    }
    match &experiment.program.build {
        Some(OwnBuild::Cargo { manifest, .. }) if !folder.join(manifest).is_dir() => {
            look("program.cargo".into(), manifest, false);
        }
        Some(OwnBuild::Cmake { folder, .. }) => look("program.cmake".into(), folder, true),
        Some(OwnBuild::Zig { files }) => {
            for (index, file) in files.iter().enumerate() {
                look(format!("program.zig[{index}]"), file, false);
            }
        }
        Some(OwnBuild::ZigBuild { file, .. }) if !folder.join(file).is_dir() => {
            look("program.zig".into(), file, false);
        }
        _ => {}
    }
    for (index, include) in experiment.program.include_dirs.iter().enumerate() {
        look(format!("program.include_dirs[{index}]"), include, true);
    }
    for (index, input) in experiment.file_inputs().iter().enumerate() {
        if let InputSource::Recorded { path } = &input.source {
            look(format!("inputs[{index}].path"), path, false);
        }
    }
    problems
}

/// The file whose name is nearest to the one that is missing, in the folder where it should be.
fn nearest_file(folder: &Path, path: &str) -> Option<String> {
    let wanted = Path::new(path);
    let parent = wanted.parent().unwrap_or(Path::new(""));
    let names: Vec<String> = std::fs::read_dir(folder.join(parent))
        .ok()?
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    let name = wanted.file_name()?.to_string_lossy();
    let nearest = assay_pure::experiment::diagnostic::nearest(&name, names.iter().map(String::as_str))?;
    Some(parent.join(nearest).to_string_lossy().into_owned())
}

fn compilers(parsed: &ParsedExperiment, folder: &Path) -> Result<Vec<Compiler>, Box<Diagnostic>> {
    let experiment = &parsed.experiment;
    find_toolchains(&experiment.program, folder, &experiment.compilers).map_err(|error| {
        let (key, nearest) = match &error {
            ToolchainError::Unknown { index, nearest, .. } => {
                (format!("compilers[{index}]"), nearest.clone())
            }
            ToolchainError::NoZig { index: Some(index), .. } => (format!("compilers[{index}]"), None),
            _ => ("compilers".to_owned(), None),
        };
        let example = match experiment.program.build {
            Some(OwnBuild::Cargo { .. }) => "compilers = [\"stable\"]",
            Some(OwnBuild::Zig { .. } | OwnBuild::ZigBuild { .. }) => "compilers = [\"zig\"]",
            _ => "compilers = [\"gcc\"]",
        };
        Box::new(parsed.diagnostic(&key, error.to_string(), nearest.as_deref(), Some(example)))
    })
}

/// Makes the inputs, and says which variants this machine cannot run.
///
/// # Errors
/// An input cannot be made.
pub fn prepare(
    outline: Outline,
    machine: Machine,
    store: &Path,
    ledger: &Ledger,
    events: &mut dyn FnMut(Event),
) -> Result<PreparedExperiment> {
    let Outline { experiment, text, folder, compilers, mut skipped } = outline;
    let (runnable, variants) = left_out::variants(&experiment, &machine);
    skipped.extend(variants);
    events(Event::Phase { name: "inputs".into() });
    let total = experiment.inputs.len() as u64;
    let mut inputs = Vec::new();
    for spec in &experiment.inputs {
        inputs.push(inputs::ready(spec, &folder, &inputs::kept_in(store), ledger)?);
        events(Event::InputReady { done: inputs.len() as u64, total });
    }
    Ok(PreparedExperiment { experiment, text, folder, compilers, machine, inputs, runnable, skipped })
}
