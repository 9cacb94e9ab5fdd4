//! What is wrong with a machine, an experiment or a program, why it matters, and what to change?
//!
//! All three go the same way: [`machine`], [`experiment`] and [`program`] each gather facts and have their checks, grouped by topic;
//! every check has one shape ([`check`]), and [`compose`] makes one kind of page of what they found.
//!
//! The rules and their limits: docs/methodology/doctor.md. Checked by planted faults and their passing twins (`fixtures/doctor`) and
//! by facts made up on both sides of every threshold.

pub mod check;
pub mod compose;
pub mod experiment;
pub mod machine;
pub mod program;

use anyhow::{Context, Result};
use std::path::{Path, PathBuf};

/// The folder, until it is dropped.
#[derive(Debug)]
pub struct Scratch(PathBuf);

impl Scratch {
    /// A folder of this process's own below `parent`.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn new(parent: &Path) -> Result<Scratch> {
        let path = parent.join(format!("assay-examined-{}", std::process::id()));
        std::fs::create_dir_all(&path).with_context(|| format!("cannot make {}", path.display()))?;
        // The kernel names mappings by their full paths.
        Ok(Scratch(path.canonicalize()?))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
