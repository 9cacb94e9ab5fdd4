//! Where inputs are kept, by content.

use anyhow::{Context, Result};
use assay_linux::output::Output;
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// Where inputs come from, and where they are kept.
#[derive(Clone, Copy, Debug)]
pub struct InputPlaces<'a> {
    /// The experiment file's folder.
    pub folder: &'a Path,
    /// Where inputs lie by content, as [`kept_in`] a store.
    pub kept: &'a Path,
}

/// Where a store has its inputs.
pub fn kept_in(store: &Path) -> PathBuf {
    store.join("inputs")
}

/// Where the store has what has this digest.
pub(super) fn stored(store: &Path, digest: &str) -> PathBuf {
    store.join(digest)
}

/// Writes a file under a name that is its content: two writers write the same, and none sees half of it.
pub(super) fn write_once(file: &Path, bytes: &[u8]) -> Result<()> {
    if std::fs::metadata(file).is_ok_and(|found| found.len() == bytes.len() as u64)
        && std::fs::read(file).is_ok_and(|found| found == bytes)
    {
        return Ok(());
    }
    let folder = file.parent().expect("a stored input lies in the store");
    let context = || format!("cannot write the input {} (is the disk full?)", file.display());
    std::fs::create_dir_all(folder).with_context(context)?;
    let written = Output::create(file).and_then(|mut output| {
        output.write_all(bytes)?;
        output.sync()?;
        output.finish()
    });
    written.with_context(context)
}
