//! What lies in a checkout.

use std::fs::FileType;
use std::path::{Path, PathBuf};

/// The regular files of a tree, git's own left out. What a link names is either among them or the same for both sides.
pub(super) fn files(root: &Path) -> Vec<PathBuf> {
    entries(root, |kind| kind.is_file())
}

/// What is wanted of a tree, git's own left out.
pub(super) fn entries(root: &Path, wanted: impl Fn(FileType) -> bool) -> Vec<PathBuf> {
    let (mut folders, mut found) = (vec![root.to_owned()], Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() && entry.file_name() != ".git" => folders.push(entry.path()),
                Ok(kind) if wanted(kind) => found.push(entry.path()),
                _ => {}
            }
        }
    }
    found
}
