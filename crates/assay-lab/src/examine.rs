//! Do the variants do the work that their times are divided by? What a measured program shows before it is measured: called by
//! itself and under the emulator, on pieces of the inputs.
//!
//! [`facts`] is what is known; [`specimen`] cuts the inputs into pieces, [`started`] and [`traced`] try the variants on them,
//! [`called`] leads that, [`checks`] judge, each in the shape of [`check`]. A campaign examines what it is about to measure;
//! the doctor shows all that can be found. Neither builds nor stores anything here.
//!
//! The rules and their limits: docs/methodology/doctor.md. Checked by experiments with planted faults and their passing twins
//! (`fixtures/doctor/experiments`, `fixtures/lies`), and by facts made up on both sides of every threshold.

pub mod called;
pub mod check;
pub mod checks;
pub mod facts;
pub mod names;
pub mod specimen;
pub mod started;
pub mod traced;

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
