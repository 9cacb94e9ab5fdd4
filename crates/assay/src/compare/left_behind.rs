//! The build's own binaries, where a comparison was killed before it could put them back.
//!
//! Each side's folder lists what it displaces ahead of the first placed binary. The next comparison of the same store finds
//! the list of a process that is gone. A file that was built again since, which its time of change tells, is left alone.

use serde::{Deserialize, Serialize};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// What a process of ours works in, within the store.
pub const PREFIX: &str = "comparing-";
/// The list's name in a side's folder.
const LIST: &str = "displaced";

/// A file of the build's, kept under another name while placed ones take its place.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Displaced {
    /// Where the build left it.
    pub path: PathBuf,
    /// Where it is kept.
    pub kept: PathBuf,
}

/// Writes a side's list.
///
/// # Errors
/// It cannot be written.
pub fn note(folder: &Path, displaced: &[Displaced]) -> io::Result<()> {
    let draft = folder.join(format!(".{LIST}"));
    fs::write(&draft, serde_json::to_vec(displaced)?)?;
    fs::rename(draft, folder.join(LIST))
}

/// Puts back what processes that are gone left displaced in this store, and removes their folders; `replace` puts the second
/// file in the place of the first. Returns what was put back.
///
/// # Errors
/// A file cannot be put back; its folder is then kept.
pub fn put_back(store: &Path, replace: impl Fn(&Path, &Path) -> io::Result<()>) -> io::Result<Vec<PathBuf>> {
    let mut done = Vec::new();
    for folder in entries(store) {
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let Some(process) = name.strip_prefix(PREFIX).filter(|id| id.parse::<u32>().is_ok()) else {
            continue;
        };
        if Path::new("/proc").join(process).exists() {
            continue;
        }
        for own in entries(&folder).iter().flat_map(|side| listed(side)) {
            if modified(&own.path).is_some() && modified(&own.path) == modified(&own.kept) {
                replace(&own.path, &own.kept)?;
                done.push(own.path);
            }
        }
        fs::remove_dir_all(&folder)?;
    }
    Ok(done)
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
}

fn listed(side: &Path) -> Vec<Displaced> {
    let text = fs::read(side.join(LIST)).unwrap_or_default();
    serde_json::from_slice(&text).unwrap_or_default()
}

fn modified(path: &Path) -> Option<std::time::SystemTime> {
    fs::metadata(path).and_then(|found| found.modified()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replace(path: &Path, kept: &Path) -> io::Result<()> {
        fs::copy(kept, path).map(drop)
    }

    /// A store in which a process was killed, with the file it displaced: its path and the store.
    fn killed(process: &str, root: &Path) -> PathBuf {
        let side = root.join(format!("store/{PREFIX}{process}/side-0"));
        fs::create_dir_all(&side).unwrap();
        let (path, kept) = (root.join("program"), side.join("own-0-0"));
        fs::write(&kept, "built").unwrap();
        fs::write(&path, "placed").unwrap();
        let built = fs::metadata(&kept).unwrap().modified().unwrap();
        fs::File::options().write(true).open(&path).unwrap().set_modified(built).unwrap();
        note(&side, &[Displaced { path: path.clone(), kept }]).unwrap();
        path
    }

    /// No process has such a number: the kernel's largest is 4,194,304.
    const GONE: &str = "4000000000";

    #[test]
    fn what_a_killed_process_displaced_is_put_back_once() {
        let root = tempfile::tempdir().unwrap();
        let path = killed(GONE, root.path());
        let store = root.path().join("store");
        assert_eq!(put_back(&store, replace).unwrap(), std::slice::from_ref(&path));
        assert_eq!(fs::read_to_string(&path).unwrap(), "built");
        assert!(entries(&store).is_empty());
        assert!(put_back(&store, replace).unwrap().is_empty());
    }

    #[test]
    fn a_file_that_was_built_again_is_left_alone() {
        let root = tempfile::tempdir().unwrap();
        let path = killed(GONE, root.path());
        let later = std::time::SystemTime::now() + std::time::Duration::from_secs(60);
        fs::File::options().write(true).open(&path).unwrap().set_modified(later).unwrap();
        assert!(put_back(&root.path().join("store"), replace).unwrap().is_empty());
        assert_eq!(fs::read_to_string(&path).unwrap(), "placed");
    }

    #[test]
    fn a_process_that_lives_keeps_what_it_displaced() {
        let root = tempfile::tempdir().unwrap();
        let path = killed(&std::process::id().to_string(), root.path());
        assert!(put_back(&root.path().join("store"), replace).unwrap().is_empty());
        assert_eq!(fs::read_to_string(&path).unwrap(), "placed");
        assert_eq!(entries(&root.path().join("store")).len(), 1);
    }
}
