//! Would a campaign that ended measure the same machine code today?
//!
//! A campaign is found again by its question, which knows the files that an experiment names, but neither the headers that
//! these include nor what a build of its own reads. So what is kept instead of being measured has to be built again, which
//! costs little where nothing changed: the links as built must be the files that were measured.

use super::prepare::{Outline, PreparedExperiment};
use crate::store::Ledger;
use anyhow::Result;
use assay_link::build::{Compiler, Link};
use assay_link::program::ProgramBuilder;
use assay_pure::experiment::Experiment;
use std::collections::BTreeSet;
use std::path::Path;

/// What is built of an experiment: its programs by compiler and flag set.
#[derive(Clone, Copy)]
pub struct Builds<'a> {
    experiment: &'a Experiment,
    compilers: &'a [Compiler],
    folder: &'a Path,
}

impl<'a> From<&'a Outline> for Builds<'a> {
    fn from(of: &'a Outline) -> Self {
        Self { experiment: &of.experiment, compilers: &of.compilers, folder: &of.folder }
    }
}

impl<'a> From<&'a PreparedExperiment> for Builds<'a> {
    fn from(of: &'a PreparedExperiment) -> Self {
        Self { experiment: &of.experiment, compilers: &of.compilers, folder: &of.folder }
    }
}

/// Whether the links as built are those that a campaign measured.
///
/// Returns: also false where it measured none as built. What does not build now may not have been measured then.
///
/// # Errors
/// The ledger cannot be read, or the store not be written.
pub fn has_the_same_code(builds: Builds<'_>, ledger: &Ledger, campaign: i64, store: &Path) -> Result<bool> {
    let measured: BTreeSet<BuiltFile> = ledger
        .processes(campaign)?
        .into_iter()
        .filter(|process| process.rotation.is_none())
        .map(|process| BuiltFile { compiler: process.compiler, flags: process.flags, hash: process.artifact })
        .collect();
    Ok(!measured.is_empty() && built(builds, store)? == measured)
}

/// A link as built, by what built it.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct BuiltFile {
    compiler: String,
    flags: String,
    hash: String,
}

fn built(builds: Builds<'_>, store: &Path) -> Result<BTreeSet<BuiltFile>> {
    let builder = ProgramBuilder::new(store)?;
    let mut found = BTreeSet::new();
    for compiler in builds.compilers {
        for set in &builds.experiment.flags {
            let program = &builds.experiment.program;
            let recipe = builder.compile(builds.folder, program, set, compiler, &|_| {});
            let linked = recipe.and_then(|recipe| builder.link(&recipe, Link::AsBuilt));
            // A build that fails has no file to be measured.
            found.extend(linked.ok().map(|artifact| BuiltFile {
                compiler: compiler.name.clone(),
                flags: set.name.clone(),
                hash: artifact.hash,
            }));
        }
    }
    Ok(found)
}
