//! Would a campaign that was begun measure the same machine code today?
//!
//! A campaign is found again by its question, which knows the files that an experiment names, but neither the headers that
//! these include nor what a build of its own reads. So what is kept instead of being measured, or goes on, is built again, which
//! costs little where nothing changed: the links as built must be the files that were measured. A build of its own that makes
//! another file each time is never the same.

use super::prepare::{Outline, PreparedExperiment};
use crate::store::Ledger;
use anyhow::{Result, bail};
use assay_link::build::{Compiler, Link};
use assay_link::program::ProgramBuilder;
use assay_pure::experiment::Experiment;
use assay_pure::ledger::Stage;
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

/// The links as built of today.
pub struct LinksOfToday {
    files: BTreeSet<BuiltFile>,
}

/// A link as built, by what built it.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct BuiltFile {
    compiler: String,
    flags: String,
    hash: String,
}

impl LinksOfToday {
    /// Builds them.
    ///
    /// # Errors
    /// The store cannot be written; somebody asks to stop, which ends compilers, too.
    pub fn of(builds: Builds<'_>, store: &Path) -> Result<LinksOfToday> {
        let builder = ProgramBuilder::new(store)?;
        let mut files = BTreeSet::new();
        for compiler in builds.compilers {
            for set in &builds.experiment.flags {
                let program = &builds.experiment.program;
                let recipe = builder.compile(builds.folder, program, set, compiler, &|_| {});
                let linked = recipe.and_then(|recipe| builder.link(&recipe, Link::AsBuilt));
                // A build that fails has no file to be measured.
                files.extend(linked.ok().map(|artifact| BuiltFile {
                    compiler: compiler.name.clone(),
                    flags: set.name.clone(),
                    hash: artifact.hash,
                }));
            }
        }
        if assay_linux::interrupt::asked() {
            bail!("interrupted while looking whether the code has changed");
        }
        Ok(LinksOfToday { files })
    }

    /// Whether all that a campaign measured as built is among them, and what it could not compile still does not compile.
    ///
    /// # Errors
    /// The ledger cannot be read.
    pub fn are_those_of(&self, ledger: &Ledger, campaign: i64) -> Result<bool> {
        let measured = ledger.processes(campaign)?.into_iter().filter(|process| process.rotation.is_none());
        let mut measured = measured.map(|process| BuiltFile {
            compiler: process.compiler,
            flags: process.flags,
            hash: process.artifact,
        });
        if !measured.all(|file| self.files.contains(&file)) {
            return Ok(false);
        }
        let failures = ledger.failures(campaign)?;
        let failed = |file: &BuiltFile| {
            let is_its = |own: &Option<String>, name: &String| own.as_ref().is_none_or(|own| own == name);
            failures.iter().filter(|failure| failure.stage == Stage::Compile).any(|failure| {
                is_its(&failure.compiler, &file.compiler) && is_its(&failure.flags, &file.flags)
            })
        };
        Ok(!self.files.iter().any(failed))
    }
}
