//! One lab at a time works on what is led: `--resume` must not go on with what is still being measured elsewhere.
//!
//! A file beside the ledger is locked as long as it is worked on. A lab that is killed frees the lock with
//! its descriptors, so what the file says is only whether somebody lives.

use anyhow::{Context, Result};
use std::ffi::OsString;
use std::fs::{File, Metadata, TryLockError};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// The right to work on something, until it is dropped.
#[derive(Debug)]
pub struct Hold {
    path: PathBuf,
    _locked: File,
}

/// Takes hold of something by its name beside a ledger or another path; None if another lab has it.
///
/// # Errors
/// The lock file cannot be made there.
pub fn take(beside: &Path, what: &str) -> Result<Option<Hold>> {
    let path = lock_file(beside, what);
    let context = || format!("cannot lock {}, the lock file of {what}", path.display());
    loop {
        let file = assay_linux::lock::open(&path).with_context(context)?;
        match file.try_lock() {
            // Whoever held it may have removed it since it was opened: then this lock keeps nobody out.
            Ok(()) if !is_at(&file, &path) => (),
            Ok(()) => return Ok(Some(Hold { path, _locked: file })),
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(error).with_context(context),
        }
    }
}

/// The process that works on something, as far as the kernel tells: not where it runs in another container.
pub fn holder(beside: &Path, what: &str) -> Option<u32> {
    assay_linux::lock::holder(&lock_file(beside, what))
}

fn lock_file(beside: &Path, what: &str) -> PathBuf {
    let mut name = real(beside);
    name.push(format!(".{what}.lock"));
    PathBuf::from(name)
}

/// A path without links: a ledger that is reached by two names is one ledger. What is not there yet keeps its name.
fn real(path: &Path) -> OsString {
    if let Ok(found) = path.canonicalize() {
        return found.into_os_string();
    }
    let folder = path.parent().and_then(|folder| folder.canonicalize().ok());
    match (folder, path.file_name()) {
        (Some(folder), Some(name)) => folder.join(name).into_os_string(),
        _ => path.as_os_str().to_owned(),
    }
}

/// Whether a path still leads to an open file.
fn is_at(file: &File, path: &Path) -> bool {
    let place = |found: std::io::Result<Metadata>| found.map(|found| (found.dev(), found.ino())).ok();
    place(file.metadata()).is_some_and(|own| place(std::fs::metadata(path)) == Some(own))
}

impl Drop for Hold {
    fn drop(&mut self) {
        // Only tidiness: a file that nobody locks holds nothing.
        let _ = std::fs::remove_file(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_of_a_file_that_was_removed_is_known_for_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let file = File::create(&path).unwrap();
        assert!(is_at(&file, &path));
        std::fs::remove_file(&path).unwrap();
        assert!(!is_at(&file, &path));
        let _other = File::create(&path).unwrap();
        assert!(!is_at(&file, &path), "another file of that name");
    }

    #[test]
    fn a_ledger_that_is_reached_by_a_link_is_the_same_ledger() {
        let [folder, other] = [(); 2].map(|()| tempfile::tempdir().unwrap());
        let (ledger, link) = (folder.path().join("ledger.db"), other.path().join("other.db"));
        std::fs::write(&ledger, "").unwrap();
        std::os::unix::fs::symlink(&ledger, &link).unwrap();
        let through = other.path().join("folder");
        std::os::unix::fs::symlink(folder.path(), &through).unwrap();
        let _first = take(&link, "campaign-3").unwrap().unwrap();
        assert!(take(&ledger, "campaign-3").unwrap().is_none());
        assert!(take(&through.join("ledger.db"), "campaign-3").unwrap().is_none());
    }

    #[test]
    fn a_lock_that_is_a_link_is_refused_and_nothing_is_made_elsewhere() {
        let folder = tempfile::tempdir().unwrap();
        let (ledger, elsewhere) = (folder.path().join("ledger.db"), folder.path().join("elsewhere"));
        std::os::unix::fs::symlink(&elsewhere, folder.path().join("ledger.db.campaign-3.lock")).unwrap();
        let refused = format!("{:#}", take(&ledger, "campaign-3").unwrap_err());
        assert!(refused.contains("not a regular file"), "{refused}");
        assert!(!elsewhere.exists());
    }

    #[test]
    fn lets_only_one_hold_a_thing_and_leaves_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let ledger = folder.path().join("ledger.db");
        assert_eq!(holder(&ledger, "campaign-3"), None);
        let first = take(&ledger, "campaign-3").unwrap();
        assert!(first.is_some());
        if std::fs::read_to_string("/proc/locks").is_ok_and(|locks| locks.contains("FLOCK")) {
            assert_eq!(holder(&ledger, "campaign-3"), Some(std::process::id()));
        }
        assert!(take(&ledger, "campaign-3").unwrap().is_none());
        assert!(take(&ledger, "campaign-4").unwrap().is_some(), "another campaign is another matter");
        assert!(take(&ledger, "comparison-3").unwrap().is_some(), "and so is a comparison");
        drop(first);
        assert!(take(&ledger, "campaign-3").unwrap().is_some());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
