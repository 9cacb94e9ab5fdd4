//! A folder for the files of one examination, which vanish when it ends.

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
