//! What is true of each pair, from its expect.toml.

use crate::lead::Misuse;
use anyhow::{Context, Result, bail};
use assay_pure::experiment::pattern::matches;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Null or real.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PairKind {
    /// The same function twice.
    Null,
    /// Functions that differ by known work.
    Real,
}

/// The true verdict on one input.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Truth {
    /// equivalent, faster or slower.
    pub verdict: String,
    /// Time of b / time of a - 1.
    pub nominal_effect: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Expectation {
    kind: PairKind,
    #[allow(dead_code)] // for readers of the file
    why: String,
    inputs: BTreeMap<String, Truth>,
}

/// One pair.
#[derive(Clone, Debug, PartialEq)]
pub struct KnownPair {
    /// Its folder's name.
    pub name: String,
    /// Its folder.
    pub folder: PathBuf,
    /// Null or real.
    pub kind: PairKind,
    /// The truth by input.
    pub inputs: BTreeMap<String, Truth>,
}

impl KnownPair {
    /// Its experiment.
    pub fn experiment(&self) -> PathBuf {
        self.folder.join("experiment.toml")
    }
}

/// The pairs of a folder whose names match one of the globs (all, if there are none), by name.
///
/// # Errors
/// The folder cannot be read, a pair's file is wrong, or nothing matches.
pub fn read_pairs(folder: &Path, globs: &[String]) -> Result<Vec<KnownPair>> {
    let wrong = |why: String| {
        Misuse(format!(
            "{}: {why}; a pair is a folder with expect.toml, as in fixtures/verdicts",
            folder.display()
        ))
    };
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .map_err(|error| wrong(error.to_string()))?
        .flatten()
        .filter(|entry| entry.path().join("expect.toml").is_file())
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names.retain(|name| globs.is_empty() || globs.iter().any(|glob| matches(glob, name)));
    if names.is_empty() {
        return Err(wrong("there is no pair of that name".into()).into());
    }
    names.into_iter().map(|name| read_pair(folder, name)).collect()
}

fn read_pair(folder: &Path, name: String) -> Result<KnownPair> {
    let folder = folder.join(&name);
    let file = folder.join("expect.toml");
    let text = std::fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
    let found: Expectation =
        toml_edit::de::from_str(&text).with_context(|| format!("in {}", file.display()))?;
    for truth in found.inputs.values() {
        if !["equivalent", "faster", "slower"].contains(&truth.verdict.as_str()) {
            bail!("{}: no verdict `{}`", file.display(), truth.verdict);
        }
    }
    Ok(KnownPair { name, folder, kind: found.kind, inputs: found.inputs })
}
