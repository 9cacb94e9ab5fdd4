//! What a store holds that can be built again, told and removed. What was measured and what was recorded stays.

use super::held::{self, size};
use super::places::put_back;
use crate::lead::Unable;
use crate::store::mark;
use anyhow::{Context, Result};
use assay_pure::event::Event;
use assay_report::clean::{CleanPage, CleanRow};
use std::fs::{self, TryLockError};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// Folders of a store, as its readers know them, which hold what a build left: checkouts of earlier versions of assay, links of
/// builds in place, builds of diaries, links made again.
const REBUILT: [(&str, &str); 5] = [
    ("trees", "checkouts of an earlier version"),
    ("dirty", "checkouts of an earlier version"),
    ("links", "links of builds in place"),
    ("stages", "builds of diaries"),
    ("replays", "programs in other placements"),
];

/// What is to go.
#[derive(Clone, Copy, Debug)]
pub struct CleanRequest<'a> {
    /// The ledger, beside which labs that are at work have their locks.
    pub ledger: &'a Path,
    /// The store.
    pub store: &'a Path,
    /// The folder of pages that are kept beside the ledger: they are made from it again.
    pub pages: &'a Path,
    /// Only builds that were not used for as many days.
    pub older_than_days: Option<f64>,
    /// Nothing is removed.
    pub dry_run: bool,
}

/// Removes what can be built again, and tells what that was and what stays.
///
/// # Errors
/// The store is a folder that is not assay's; somebody is at work with it; something cannot be removed.
pub fn clean(asked: CleanRequest<'_>, on: &mut dyn FnMut(Event)) -> Result<CleanPage> {
    if let Some(lock) = busy(asked) {
        return Err(Unable(format!(
            "another assay is at work with {} (it has locked {}); wait for it to end",
            asked.store.display(),
            lock.display()
        ))
        .into());
    }
    mark::refuse_foreign(asked.store)?;
    // Without it the build's own files would go with what a killed comparison put in their place.
    put_back(asked.store, on)?;
    let now = SystemTime::now();
    let days = |used: SystemTime| now.duration_since(used).unwrap_or_default().as_secs_f64() / 86_400.0;
    let old = |used: SystemTime| asked.older_than_days.is_none_or(|least| days(used) >= least);
    let mut page = CleanPage::new(asked.store.display().to_string(), asked.dry_run);
    for side in held::stored(asked.store) {
        let row = CleanRow {
            what: format!("build of {}", side.name),
            commit: Some(side.commit.clone()),
            bytes: side.bytes,
            used_at: seconds(side.used),
        };
        let goes = old(side.used) && (asked.dry_run || side.remove()?);
        page.put(row, goes);
    }
    let rebuilt = REBUILT.iter().map(|(name, what)| (asked.store.join(name), *what));
    let pages = fs::symlink_metadata(asked.pages).is_ok_and(|found| found.is_dir());
    let pages = pages.then(|| (asked.pages.to_owned(), "pages to be shown"));
    for (folder, what) in rebuilt.chain(pages) {
        let Some(used) = used(&folder) else { continue };
        let row = CleanRow { what: what.into(), commit: None, bytes: size(&folder), used_at: seconds(used) };
        let goes = old(used);
        if goes && !asked.dry_run {
            fs::remove_dir_all(&folder).with_context(|| format!("cannot remove {}", folder.display()))?;
        }
        page.put(row, goes);
    }
    let known = |name: &str| REBUILT.iter().any(|(known, _)| *known == name) || name == held::SIDES;
    let mut rest: Vec<PathBuf> = entries(asked.store);
    rest.retain(|path| path.is_dir() && !known(&path.file_name().unwrap_or_default().to_string_lossy()));
    rest.push(asked.ledger.to_owned());
    for path in rest {
        let Some(used) = used(&path) else { continue };
        let bytes = if path.is_dir() { size(&path) } else { path.metadata().map_or(0, |facts| facts.len()) };
        let what = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        page.put(CleanRow { what, commit: None, bytes, used_at: seconds(used) }, false);
    }
    Ok(page)
}

/// A lock that somebody has, beside the ledger or in the store.
fn busy(asked: CleanRequest<'_>) -> Option<PathBuf> {
    let beside = asked.ledger.parent().map(entries).unwrap_or_default();
    let deeper =
        entries(asked.store).into_iter().filter(|path| path.is_dir()).flat_map(|folder| entries(&folder));
    let locks = beside.into_iter().chain(entries(asked.store)).chain(deeper);
    locks.filter(|path| path.extension().is_some_and(|ending| ending == "lock")).find(|lock| {
        let open =
            fs::symlink_metadata(lock).is_ok_and(|found| found.is_file()).then(|| fs::File::open(lock));
        open.and_then(Result::ok).is_some_and(|file| matches!(file.try_lock(), Err(TryLockError::WouldBlock)))
    })
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> =
        fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    all.sort();
    all
}

fn used(path: &Path) -> Option<SystemTime> {
    path.metadata().and_then(|facts| facts.modified()).ok()
}

fn seconds(time: SystemTime) -> f64 {
    time.duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request<'a>(store: &'a Path, ledger: &'a Path) -> CleanRequest<'a> {
        CleanRequest { ledger, store, pages: Path::new("nowhere"), older_than_days: None, dry_run: false }
    }

    /// A store with links of a build in place, inputs, and a ledger beside it.
    fn store() -> (tempfile::TempDir, PathBuf, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let (store, ledger) = (folder.path().join("store"), folder.path().join("ledger.db"));
        mark::claim(&store).unwrap();
        for name in ["links/here/kept", "inputs"] {
            fs::create_dir_all(store.join(name)).unwrap();
            fs::write(store.join(name).join("file"), vec![1; 10_000]).unwrap();
        }
        fs::write(&ledger, "samples").unwrap();
        (folder, store, ledger)
    }

    #[test]
    fn what_can_be_built_again_goes_and_what_was_recorded_stays() {
        let (_folder, store, ledger) = store();
        let asked = CleanRequest { dry_run: true, ..request(&store, &ledger) };
        let told = clean(asked, &mut |_| ()).unwrap();
        assert!(store.join("links").exists(), "nothing is removed");
        let done = clean(CleanRequest { dry_run: false, ..asked }, &mut |_| ()).unwrap();
        assert_eq!(done.removed, told.removed);
        assert_eq!(done.removed.len(), 1);
        assert!(done.freed_bytes >= 10_000, "{done:?}");
        let kept: Vec<&str> = done.kept.iter().map(|row| row.what.as_str()).collect();
        assert_eq!(kept, ["inputs", "ledger.db"]);
        assert!(!store.join("links").exists() && store.join("inputs/file").exists() && ledger.exists());
    }

    #[test]
    fn kept_pages_go_and_what_a_link_of_their_name_leads_to_stays() {
        let (folder, store, ledger) = store();
        let (pages, others) = (folder.path().join("ledger.db.pages"), folder.path().join("others"));
        for folder in [&pages, &others] {
            fs::create_dir(folder).unwrap();
            fs::write(folder.join("campaign-1.json"), "{}").unwrap();
        }
        clean(CleanRequest { pages: &pages, ..request(&store, &ledger) }, &mut |_| ()).unwrap();
        assert!(!pages.exists());
        std::os::unix::fs::symlink(&others, &pages).unwrap();
        clean(CleanRequest { pages: &pages, ..request(&store, &ledger) }, &mut |_| ()).unwrap();
        assert!(others.join("campaign-1.json").exists());
    }

    #[test]
    fn what_was_used_lately_stays_where_only_the_old_is_to_go() {
        let (_folder, store, ledger) = store();
        let asked = CleanRequest { older_than_days: Some(7.0), ..request(&store, &ledger) };
        assert!(clean(asked, &mut |_| ()).unwrap().removed.is_empty());
        assert!(store.join("links").exists());
    }

    #[test]
    fn a_folder_that_is_no_store_is_refused_and_stays_as_it_was() {
        let (_folder, store, ledger) = store();
        fs::remove_file(store.join(mark::MARK)).unwrap();
        let refused = clean(request(&store, &ledger), &mut |_| ()).unwrap_err().to_string();
        assert!(refused.contains("is not a store of assay's"), "{refused}");
        assert_eq!(entries(&store), [store.join("inputs"), store.join("links")]);
    }

    #[test]
    fn a_store_at_which_somebody_is_at_work_is_left_alone() {
        let (_folder, store, ledger) = store();
        let lock = fs::File::create(store.join("links/here.tree.lock")).unwrap();
        lock.lock().unwrap();
        let asked = request(&store, &ledger);
        let refused = clean(asked, &mut |_| ()).unwrap_err().to_string();
        assert!(refused.contains("another assay is at work"), "{refused}");
        assert!(store.join("links").exists());
    }
}
