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
use assay_linux::private::PrivateFolder;
use std::path::Path;

/// What folders are called in which variants are tried.
const PREFIX: &str = "assay-examined-";

/// A folder of this process's own below `parent`, until it is dropped.
///
/// # Errors
/// It cannot be made.
pub fn scratch(parent: &Path) -> Result<PrivateFolder> {
    std::fs::create_dir_all(parent).with_context(|| format!("cannot make {}", parent.display()))?;
    PrivateFolder::new(parent, PREFIX)
        .with_context(|| format!("cannot make a folder in {}", parent.display()))
}
