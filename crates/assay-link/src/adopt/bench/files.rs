//! Files that an execution wrote, and whether a file is still the same.

use assay_pure::figures::Document;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// A file larger than this is nobody's results, bytes.
const LARGEST: u64 = 64 << 20;
/// Entries of folders that are looked at.
const MOST_ENTRIES: usize = 20_000;
/// How deep below the folder results are looked for.
const DEEPEST: usize = 4;
/// The kernel stamps files by a clock that is read some milliseconds late.
const STAMP_LATE: Duration = Duration::from_millis(50);

/// What tells a file from one that was written anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileIdentity {
    device: u64,
    inode: u64,
    bytes: u64,
    written: (i64, i64),
}

impl FileIdentity {
    /// Of a file that is there.
    pub fn of(file: &Path) -> Option<FileIdentity> {
        let facts = std::fs::metadata(file).ok()?;
        let written = (facts.mtime(), facts.mtime_nsec());
        Some(FileIdentity { device: facts.dev(), inode: facts.ino(), bytes: facts.len(), written })
    }
}

/// criterion's files of what was just executed, in the order of their names.
pub(super) fn criterion(home: &Path) -> Vec<Document> {
    const READ: [&str; 3] = ["new/benchmark.json", "new/sample.json", "new/estimates.json"];
    let wanted = |file: &Path| READ.iter().any(|end| file.ends_with(end));
    documents(home, &below(home, usize::MAX, &wanted))
}

/// JSON files below a folder that were written since.
pub(super) fn json_written_since(folder: &Path, begun: SystemTime) -> Vec<Document> {
    let since = begun - STAMP_LATE;
    let written = |file: &Path| {
        let stamp = std::fs::metadata(file).and_then(|facts| facts.modified());
        file.extension().is_some_and(|end| end == "json") && stamp.is_ok_and(|stamp| stamp >= since)
    };
    documents(folder, &below(folder, DEEPEST, &written))
}

/// Files that are wanted, sorted; hidden folders and links are passed over.
fn below(folder: &Path, deepest: usize, wanted: &dyn Fn(&Path) -> bool) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![(folder.to_owned(), 0)];
    let mut seen = 0;
    while let Some((folder, depth)) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            seen += 1;
            if seen > MOST_ENTRIES {
                break;
            }
            let Ok(kind) = entry.file_type() else { continue };
            let hidden = entry.file_name().to_string_lossy().starts_with('.');
            if kind.is_dir() && !hidden && depth < deepest {
                folders.push((entry.path(), depth + 1));
            } else if kind.is_file() && wanted(&entry.path()) {
                found.push(entry.path());
            }
        }
    }
    found.sort();
    found
}

fn documents(folder: &Path, files: &[PathBuf]) -> Vec<Document> {
    let small = |file: &&PathBuf| std::fs::metadata(file).is_ok_and(|facts| facts.len() <= LARGEST);
    let read = |file: &PathBuf| {
        let text = String::from_utf8_lossy(&std::fs::read(file).ok()?).into_owned();
        let name = file.strip_prefix(folder).unwrap_or(file).to_string_lossy().into_owned();
        Some(Document { name, text })
    };
    files.iter().filter(small).filter_map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(folder: &Path, name: &str, text: &str) {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn names(documents: &[Document]) -> Vec<&str> {
        documents.iter().map(|document| document.name.as_str()).collect()
    }

    #[test]
    fn only_what_criterion_has_just_measured_is_read() {
        let folder = tempfile::tempdir().unwrap();
        for name in
            ["g/f/64/new/sample.json", "g/f/64/base/sample.json", "a/new/benchmark.json", "a/new/tukey.json"]
        {
            write(folder.path(), name, "{}");
        }
        assert_eq!(names(&criterion(folder.path())), ["a/new/benchmark.json", "g/f/64/new/sample.json"]);
        assert!(criterion(&folder.path().join("none")).is_empty());
    }

    #[test]
    fn only_fresh_json_is_read() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), "old.json", "[1]");
        let past = SystemTime::now() - Duration::from_secs(3600);
        let old = std::fs::File::options().write(true).open(folder.path().join("old.json")).unwrap();
        old.set_modified(past).unwrap();
        for name in ["out/new.json", "new.txt", ".hidden/new.json", "a/b/c/d/e/deep.json"] {
            write(folder.path(), name, "[2]");
        }
        let found = json_written_since(folder.path(), SystemTime::now() - Duration::from_secs(60));
        assert_eq!((names(&found), found[0].text.as_str()), (vec!["out/new.json"], "[2]"));
    }

    #[test]
    fn a_file_written_anew_is_another() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("f");
        assert_eq!(FileIdentity::of(&file), None);
        std::fs::write(&file, "one").unwrap();
        let before = FileIdentity::of(&file);
        assert_eq!(FileIdentity::of(&file), before);
        std::fs::write(folder.path().join("g"), "one").unwrap();
        std::fs::rename(folder.path().join("g"), &file).unwrap();
        assert_ne!(FileIdentity::of(&file), before);
    }
}
