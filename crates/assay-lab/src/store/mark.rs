//! Is a folder a store of assay's? It says so by a file in it, which whoever makes the store writes.
//!
//! `--ledger results.db` makes `./store` the store, and that is a usual name for a folder of one's own. Nothing is kept, and
//! nothing removed, in a folder that is not empty and not marked. What earlier versions of assay made has no mark: it is known by
//! what only they left there.
//!
//! Known limits: an earlier version that was once given a folder of the user's as a store left the same in it.

use super::Unusable;
use anyhow::{Context, Result};
use std::fs::{self, File};
use std::io;
use std::path::Path;

/// The file that says it.
pub const MARK: &str = ".assay-store";
/// The lock that comparisons and diaries have in a store.
const LOCK: &str = "comparing.lock";
/// What was recorded of a build that is held, below `sides/KEY/links/REVISION`.
const RECORD: &str = "side.json";
/// Folders that every campaign makes, all of them.
const OF_CAMPAIGNS: [&str; 6] = ["include", "objects", "artifacts", "orders", "records", "unfinished"];

/// Makes the store where there is none, and marks it; before anything is written in it.
///
/// # Errors
/// [`Unusable`]: the folder holds what is not assay's; it cannot be made.
pub fn claim(store: &Path) -> Result<()> {
    let cannot = || format!("cannot make the store {}; choose another with --store DIR", store.display());
    if is_marked(store) {
        return Ok(());
    }
    if is_of_earlier_version(store) {
        // One that cannot be written may still be read.
        let _ = mark(store);
        return Ok(());
    }
    fs::create_dir_all(store).with_context(cannot)?;
    let is_empty = fs::read_dir(store).with_context(cannot)?.next().is_none();
    // Another process may have made it meanwhile.
    if !is_empty && !is_marked(store) {
        return Err(foreign(store).into());
    }
    mark(store).with_context(cannot)?;
    Ok(())
}

/// Whether what is in a folder is assay's.
pub fn is_store(store: &Path) -> bool {
    is_marked(store) || is_of_earlier_version(store)
}

/// Refuses a folder that holds what is not assay's; one that is empty or not there does no harm.
///
/// # Errors
/// [`Unusable`].
pub fn refuse_foreign(store: &Path) -> Result<()> {
    let holds_something = fs::read_dir(store).is_ok_and(|mut entries| entries.next().is_some());
    if holds_something && !is_store(store) { Err(foreign(store).into()) } else { Ok(()) }
}

fn foreign(store: &Path) -> Unusable {
    let shown = store.display();
    Unusable(format!(
        "{shown} holds files and is not a store of assay's, so nothing is written or removed there: name a new or an empty \
         folder with --store DIR. If an earlier assay made it, an empty file {} says so.",
        store.join(MARK).display()
    ))
}

fn mark(store: &Path) -> io::Result<()> {
    match File::create_new(store.join(MARK)) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    }
}

fn is_marked(store: &Path) -> bool {
    is_file(&store.join(MARK))
}

fn is_of_earlier_version(store: &Path) -> bool {
    let is_usual = || {
        let (name, above) = (store.file_name(), store.parent().and_then(Path::file_name));
        name.is_some_and(|name| name == "store")
            && above.is_some_and(|above| above == ".assay")
            && is_folder(store)
    };
    let has_builds = || {
        let sides = folders(&store.join("sides")).into_iter();
        let mut links = sides.flat_map(|side| folders(&side.join("links")));
        links.any(|link| is_file(&link.join(RECORD)))
    };
    is_usual()
        || is_file(&store.join(LOCK))
        || OF_CAMPAIGNS.iter().all(|name| is_folder(&store.join(name)))
        || has_builds()
}

fn folders(folder: &Path) -> Vec<std::path::PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).filter(|path| is_folder(path)).collect()
}

fn is_file(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| found.is_file())
}

fn is_folder(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| found.is_dir())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_new_and_an_empty_folder_become_a_store_and_stay_one() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("empty")).unwrap();
        for name in ["new/deep", "empty"] {
            let store = root.path().join(name);
            assert!(!is_store(&store) && refuse_foreign(&store).is_ok());
            claim(&store).unwrap();
            fs::write(store.join("file"), "").unwrap();
            claim(&store).unwrap();
            assert!(is_store(&store) && refuse_foreign(&store).is_ok());
        }
    }

    #[test]
    fn a_folder_of_the_user_s_is_refused_and_nothing_is_written_in_it() {
        let root = tempfile::tempdir().unwrap();
        let store = root.path().join("store");
        for name in ["links/mine", "sides/notes", "objects"] {
            fs::create_dir_all(store.join(name)).unwrap();
        }
        // A link is no mark: whoever made it need not be assay.
        symlink("links", store.join(MARK)).unwrap();
        symlink("links", store.join(LOCK)).unwrap();
        let refused = claim(&store).unwrap_err().to_string();
        assert!(
            refused.contains("is not a store of assay's") && refused.contains("--store DIR"),
            "{refused}"
        );
        assert!(!is_store(&store) && refuse_foreign(&store).is_err());
        assert_eq!(fs::read_dir(&store).unwrap().count(), 5);
    }

    #[test]
    fn what_earlier_versions_made_is_known_and_marked() {
        let root = tempfile::tempdir().unwrap();
        let folder = |name: &str| {
            let store = root.path().join(name);
            fs::create_dir_all(store.join("inputs")).unwrap();
            store
        };
        let (usual, compared) = (folder(".assay/store"), folder("compared"));
        fs::write(compared.join(LOCK), "").unwrap();
        let (measured, built) = (folder("measured"), folder("built"));
        OF_CAMPAIGNS.iter().for_each(|name| fs::create_dir(measured.join(name)).unwrap());
        fs::create_dir_all(built.join("sides/0123/links/abcd")).unwrap();
        fs::write(built.join("sides/0123/links/abcd").join(RECORD), "").unwrap();
        for store in [usual, compared, measured, built] {
            assert!(is_store(&store) && !is_marked(&store), "{}", store.display());
            claim(&store).unwrap();
            assert!(is_marked(&store));
        }
        assert!(!is_store(&folder("results")));
    }
}
