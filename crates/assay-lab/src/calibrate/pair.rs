//! A pair of known truth, and the file that says it.

use anyhow::{Result, bail};
use assay_pure::verdict::Verdict;
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
    pub verdict: Verdict,
    /// Time of b / time of a - 1.
    pub nominal_effect: f64,
}

/// What a file says of a pair.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Expectation {
    /// The experiment beside it.
    #[serde(default = "experiment_file")]
    pub(super) experiment: String,
    kind: PairKind,
    #[allow(dead_code)] // for readers of the file
    why: String,
    inputs: BTreeMap<String, Truth>,
}

fn experiment_file() -> String {
    "experiment.toml".into()
}

impl Expectation {
    /// As a pair.
    ///
    /// # Errors
    /// A verdict that is none, named with `file`.
    pub(super) fn known(
        self,
        name: String,
        folder: PathBuf,
        source: PairSource,
        file: &Path,
    ) -> Result<KnownPair> {
        for truth in self.inputs.values() {
            if truth.verdict == Verdict::Undecided {
                bail!("{}: no verdict `{}`", file.display(), truth.verdict.word());
            }
        }
        Ok(KnownPair { name, folder, kind: self.kind, inputs: self.inputs, change: None, source })
    }
}

/// Where a pair's experiment comes from.
#[derive(Clone, Debug, PartialEq)]
pub enum PairSource {
    /// It is a file.
    File(PathBuf),
    /// It is made from a template that other kernels share.
    Kernel {
        /// The experiment of one of them.
        template: PathBuf,
        /// The source that takes the place of the template's first.
        kernel: PathBuf,
    },
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
    /// How the sides of a kernel differ, as its file says: copy, names, cold or helper.
    pub change: Option<String>,
    /// Where its experiment comes from.
    pub source: PairSource,
}

impl KnownPair {
    /// The name of its experiment, by which campaigns of it are found.
    ///
    /// # Errors
    /// As of [`Self::outline`].
    pub fn experiment_name(&self) -> Result<String> {
        match &self.source {
            PairSource::File(_) => {
                let mut experiment = self.outline()?;
                experiment.name_after(&self.folder);
                Ok(experiment.name)
            }
            PairSource::Kernel { .. } => Ok(self.name.clone()),
        }
    }
}
