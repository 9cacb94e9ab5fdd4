//! The pairs of a folder, each with what is true of it.

use super::kernels;
use super::pair::{Expectation, KnownPair, PairSource};
use crate::lead::Misuse;
use anyhow::{Context, Result};
use assay_linux::given;
use assay_pure::experiment::Experiment;
use assay_pure::experiment::pattern::matches;
use std::path::{Path, PathBuf};

impl KnownPair {
    /// The file of its experiment, which is written into `to` where it is made from a template.
    ///
    /// # Errors
    /// The template is wrong, or the file cannot be written.
    pub fn experiment(&self, to: &Path) -> Result<PathBuf> {
        match &self.source {
            PairSource::File(file) => Ok(file.clone()),
            PairSource::Kernel { template, kernel } => {
                kernels::write_experiment(template, kernel, &self.name, to)
            }
        }
    }

    /// The experiment, or the one that its own is made from.
    ///
    /// # Errors
    /// It cannot be read, or is wrong.
    pub fn outline(&self) -> Result<Experiment> {
        let file = match &self.source {
            PairSource::File(file) => file,
            PairSource::Kernel { template, .. } => template,
        };
        let text =
            std::fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
        match Experiment::from_toml(&text, &file.display().to_string()) {
            Ok(parsed) => Ok(parsed.experiment),
            Err(problems) => {
                let said: Vec<String> = problems.iter().map(ToString::to_string).collect();
                Err(Misuse(said.join("\n")).into())
            }
        }
    }
}

/// The pairs of a folder whose names match one of the globs (all, if there are none), by name.
///
/// # Errors
/// The folder cannot be read, a pair's file is wrong, or nothing matches.
pub fn read_pairs(folder: &Path, globs: &[String]) -> Result<Vec<KnownPair>> {
    let wrong = |why: String| {
        Misuse(format!(
            "{}: {why}; a pair is a folder with expect.toml, as in fixtures/verdicts, or a kernel, as in fixtures/nulls",
            folder.display()
        ))
    };
    let mut folders: Vec<PathBuf> = std::fs::read_dir(folder)
        .map_err(|error| wrong(error.to_string()))?
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.join(EXPECTATION).is_file())
        .collect();
    folders.sort();
    let mut pairs: Vec<KnownPair> = folders.iter().map(|folder| read_pair(folder)).collect::<Result<_>>()?;
    pairs.extend(kernels::read(folder)?);
    pairs.retain(|pair| globs.is_empty() || globs.iter().any(|glob| matches(glob, &pair.name)));
    if pairs.is_empty() {
        return Err(wrong("there is no pair of that name".into()).into());
    }
    Ok(pairs)
}

/// What a pair's folder says of it.
const EXPECTATION: &str = "expect.toml";

fn read_pair(folder: &Path) -> Result<KnownPair> {
    let file = folder.join(EXPECTATION);
    let text = given::read_text(&file).with_context(|| format!("cannot read {}", file.display()))?;
    let found: Expectation =
        toml_edit::de::from_str(&text).with_context(|| format!("in {}", file.display()))?;
    let name = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let experiment = PairSource::File(folder.join(&found.experiment));
    found.known(name, folder.to_owned(), experiment, &file)
}
