//! Finished pages, kept beside the ledger so that a first look at a million samples need not judge them anew: the folder
//! `LEDGER.pages`, a JSON file for each of the newest.
//!
//! Only copies: a page is made from the ledger wherever its file is missing, of another build of assay (its rules may be others),
//! older than the measurement's end, of a ledger that lies elsewhere, or made with other limits of the machine than those that are
//! known now. So the folder may be removed, and one that cannot be written costs time only.

use super::Thing;
use super::answers::{is_free, this_build};
use crate::campaign::compose::limits_used;
use crate::store::{Kept, KeptRow, Ledger};
use assay_linux::{given, output};
use assay_report::html::Shown;
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::{Path, PathBuf};

/// Pages that are kept, the newest: with the samples that they draw they have up to 2 MB each.
const MOST: usize = 50;
/// How every file of ours begins.
const BEGINS: &[u8] = b"{\"assay_page\":";

#[derive(Debug, Serialize, Deserialize)]
struct KeptPage<S> {
    /// The build of assay that made it.
    assay_page: String,
    /// Where the ledger lay.
    ledger: PathBuf,
    /// When the measurement ended, Unix seconds.
    ended: f64,
    shown: S,
}

/// The page of a thing as it was kept, if it would be made in the same way now.
pub fn get(ledger: &Ledger, row: &KeptRow) -> Option<Shown> {
    let file = file_of(&folder_of(ledger.path()), row);
    let own = is_folder(file.parent()?) && fs::symlink_metadata(&file).is_ok_and(|found| found.is_file());
    let bytes = own.then(|| given::read(&file, given::DATA).ok()).flatten()?;
    let kept: KeptPage<Shown> = serde_json::from_slice(&bytes).ok()?;
    let is_same = kept.assay_page == this_build()
        && Some(kept.ended) == row.finished_at
        && Some(kept.ledger) == fs::canonicalize(ledger.path()).ok();
    (is_same && has_todays_limits(ledger, row, &kept.shown)).then_some(kept.shown)
}

/// Limits that were measured after a campaign are on its page, too.
fn has_todays_limits(ledger: &Ledger, row: &KeptRow, shown: &Shown) -> bool {
    if row.kind != Kept::Campaign {
        return true;
    }
    let Ok(Some(campaign)) = ledger.campaign(row.id) else { return false };
    serde_json::to_value(limits_used(&campaign)).is_ok_and(|limits| limits == shown.page["limits"])
}

/// Keeps a page, as far as that can be done: in a folder of our own, over nothing but pages. A ledger that somebody else sent may
/// come with links of these names.
pub fn keep(ledger: &Path, row: &KeptRow, shown: &Shown) {
    let (Some(ended), Ok(place)) = (row.finished_at, fs::canonicalize(ledger)) else { return };
    let folder = folder_of(ledger);
    if is_free(&folder) {
        let _ = fs::create_dir(&folder);
    }
    let file = file_of(&folder, row);
    let is_ours = || {
        let own = fs::symlink_metadata(&file).is_ok_and(|found| found.is_file());
        own && given::read(&file, given::DATA).is_ok_and(|bytes| bytes.starts_with(BEGINS))
    };
    let kept = KeptPage { assay_page: this_build(), ledger: place, ended, shown };
    if is_folder(&folder)
        && (is_free(&file) || is_ours())
        && let Ok(text) = serde_json::to_vec(&kept)
    {
        let _ = output::write(&file, &text);
        make_room(&folder);
    }
}

/// The folder beside a ledger.
pub fn folder_of(ledger: &Path) -> PathBuf {
    let mut name = ledger.as_os_str().to_owned();
    name.push(".pages");
    PathBuf::from(name)
}

fn file_of(folder: &Path, row: &KeptRow) -> PathBuf {
    folder.join(format!("{}.json", Thing::from(row).to_string().replace('/', "-")))
}

/// No link to one.
fn is_folder(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| found.is_dir())
}

/// Removes the oldest pages beyond [`MOST`].
fn make_room(folder: &Path) {
    let names = |name: &str| Kept::ALL.iter().any(|kind| name.starts_with(&format!("{}-", kind.name())));
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut pages: Vec<_> = entries
        .filter(|entry| entry.file_name().to_str().is_some_and(|name| names(name) && name.ends_with(".json")))
        .filter_map(|entry| {
            Some((entry.metadata().ok().filter(fs::Metadata::is_file)?.modified().ok()?, entry.path()))
        })
        .collect();
    pages.sort();
    for (_, path) in pages.iter().rev().skip(MOST) {
        let _ = fs::remove_file(path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn comparison(id: i64, finished_at: Option<f64>) -> KeptRow {
        let (kind, name, question) = (Kept::Comparison, "a".into(), String::new());
        KeptRow { kind, id, name, question, started_at: 1.0, finished_at, stopped: None }
    }

    fn shown() -> Shown {
        Shown {
            command: Some("assay compare".into()),
            ..Shown::alone(json!({"schema": "assay.comparison/1", "a": 0.1}))
        }
    }

    #[test]
    fn a_page_is_kept_until_its_measurement_goes_on_and_a_broken_file_is_no_obstacle() {
        let folder = tempfile::tempdir().unwrap();
        let ledger = Ledger::open(&folder.path().join("l.db")).unwrap();
        let row = comparison(3, Some(2.0));
        keep(ledger.path(), &comparison(4, None), &shown());
        assert!(get(&ledger, &comparison(4, None)).is_none(), "it has not ended");
        keep(ledger.path(), &row, &shown());
        let kept = get(&ledger, &row).unwrap();
        assert_eq!((kept.page, kept.command), (shown().page, shown().command));
        assert!(get(&ledger, &comparison(3, Some(5.0))).is_none(), "it went on");
        let file = folder.path().join("l.db.pages/comparison-3.json");
        let text = fs::read_to_string(&file).unwrap();
        fs::write(&file, text.replacen("{\"assay_page\":\"", "{\"assay_page\":\"0", 1)).unwrap();
        assert!(get(&ledger, &row).is_none(), "another build's rules may be others");
        fs::write(&file, "rubbish").unwrap();
        assert!(get(&ledger, &row).is_none());
        keep(ledger.path(), &row, &shown());
        assert_eq!(fs::read_to_string(&file).unwrap(), "rubbish", "only pages are written over");
    }

    #[test]
    fn no_link_is_followed() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let ledger = Ledger::open(&at("l.db")).unwrap();
        let row = comparison(1, Some(2.0));
        fs::create_dir(at("elsewhere")).unwrap();
        std::os::unix::fs::symlink(at("elsewhere"), at("l.db.pages")).unwrap();
        keep(ledger.path(), &row, &shown());
        assert_eq!(fs::read_dir(at("elsewhere")).unwrap().count(), 0);
        fs::remove_file(at("l.db.pages")).unwrap();
        fs::create_dir(at("l.db.pages")).unwrap();
        for target in ["notes.txt", "nowhere"] {
            let _ = fs::remove_file(at("l.db.pages/comparison-1.json"));
            if target == "notes.txt" {
                fs::write(at(target), "{\"assay_page\":").unwrap();
            }
            std::os::unix::fs::symlink(at(target), at("l.db.pages/comparison-1.json")).unwrap();
            keep(ledger.path(), &row, &shown());
        }
        assert_eq!(fs::read_to_string(at("notes.txt")).unwrap(), "{\"assay_page\":");
        assert!(!at("nowhere").exists());
    }

    #[test]
    fn only_the_newest_are_kept_and_what_others_put_there_stays() {
        let folder = tempfile::tempdir().unwrap();
        for number in 0..MOST + 2 {
            let file = folder.path().join(format!("sweep-{number}.json"));
            fs::write(&file, "").unwrap();
            let at = std::time::UNIX_EPOCH + std::time::Duration::from_secs(number as u64);
            fs::File::options().write(true).open(&file).unwrap().set_modified(at).unwrap();
        }
        fs::write(folder.path().join("notes.json"), "").unwrap();
        make_room(folder.path());
        let has = |name: &str| folder.path().join(name).exists();
        assert!(!has("sweep-0.json") && !has("sweep-1.json") && has("sweep-2.json") && has("notes.json"));
    }
}
