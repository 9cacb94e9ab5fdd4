//! Files that a link read: recognised when they are unchanged, and kept where the build may change or remove them.
//!
//! A file is known by its number, size and times, because hashing all inputs of all links would cost the build more than
//! its linkers. What the build made itself, or found in its own folder or among temporary files, is copied at once, before
//! the linker runs: drivers remove temporary objects, and compilers rewrite objects. Not linked: tools that rewrite in
//! place (`objcopy`, `cp`) would change the kept file too. A copy costs no reading of the disk, as the linker needs the
//! file anyway, and on some filesystems no space.

use serde::{Deserialize, Serialize};
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Files are stamped with the time of the last tick, so they may look this much older than they are, ns. Linux ticks at
/// least 100 times a second.
const TICK: i64 = 10_000_000;

/// By what a file is known to be unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stamp {
    device: u64,
    number: u64,
    size: u64,
    /// Last change of the content, ns since 1970.
    modified: i64,
    /// Last change of content or name, ns since 1970.
    changed: i64,
}

impl Stamp {
    /// That of a plain file; nothing if there is none at this path.
    pub fn of(path: &Path) -> Option<Self> {
        let data = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
        let nanoseconds =
            |seconds: i64, rest: i64| seconds.saturating_mul(1_000_000_000).saturating_add(rest);
        Some(Self {
            device: data.dev(),
            number: data.ino(),
            size: data.size(),
            modified: nanoseconds(data.mtime(), data.mtime_nsec()),
            changed: nanoseconds(data.ctime(), data.ctime_nsec()),
        })
    }

    /// Whether the content is the same, as far as size and time tell; a new name or owner does not count.
    pub fn same_content(&self, other: &Stamp) -> bool {
        let told = |stamp: &Stamp| (stamp.device, stamp.number, stamp.size, stamp.modified);
        told(self) == told(other)
    }

    /// The same where it may be another file, as one that was copied away and back with its time.
    pub fn same_size_and_time(&self, other: &Stamp) -> bool {
        (self.size, self.modified) == (other.size, other.modified)
    }

    /// Bytes.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Whether it was changed at or after a time, ns since 1970.
    pub fn is_since(&self, time: i64) -> bool {
        self.modified.saturating_add(TICK) >= time
    }

    /// A name for the kept file's folder.
    fn folder_name(&self) -> String {
        format!("{:x}-{:x}-{:x}-{:x}", self.number, self.size, self.modified, self.changed)
    }
}

/// A folder of kept files.
pub struct Keeper<'a> {
    /// The folder.
    pub folder: &'a Path,
}

impl Keeper<'_> {
    /// Copies a file, unless it is there; returns where. Its name stays, because linker scripts know files by name.
    ///
    /// # Errors
    /// It cannot be read, or the copy cannot be written.
    pub fn keep(&self, file: &Path, stamp: &Stamp) -> io::Result<PathBuf> {
        let name = file.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        self.copy(file, &self.folder.join(stamp.folder_name()).join(name))
    }

    /// Copies an archive that only names its members, and them, in the tree in which it lies; returns where it is now.
    ///
    /// # Errors
    /// One of them cannot be read, or a copy cannot be written.
    pub fn keep_tree(&self, archive: &Path, stamp: &Stamp, members: &[PathBuf]) -> io::Result<PathBuf> {
        let root = self.folder.join(stamp.folder_name()).join("tree");
        // Names are relative to the archive, so the tree must look the same from there.
        let place = |file: &Path| root.join(plain(file).strip_prefix("/").unwrap_or(file));
        for member in members {
            self.copy(member, &place(member))?;
        }
        self.copy(archive, &place(archive))
    }

    fn copy(&self, file: &Path, place: &Path) -> io::Result<PathBuf> {
        if !place.exists() {
            let folder = place.parent().ok_or(io::ErrorKind::InvalidInput)?;
            fs::create_dir_all(folder)?;
            // Two linkers of one build may keep one file at the same time.
            let beside = folder.join(format!(".{}", std::process::id()));
            fs::copy(file, &beside)?;
            fs::rename(&beside, place)?;
        }
        Ok(place.to_owned())
    }
}

/// The path without `.` and `..`, as text: links are not followed.
pub fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            std::path::Component::CurDir => {}
            std::path::Component::ParentDir => {
                plain.pop();
            }
            other => plain.push(other),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kept_file_survives_a_change_in_place_and_each_content_is_kept() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let file = folder.path().join("a.o");
        let kept = folder.path().join("kept");
        let keeper = Keeper { folder: &kept };
        fs::write(&file, "one").expect("written");
        let stamp = Stamp::of(&file).expect("there");
        let first = keeper.keep(&file, &stamp).expect("kept");
        fs::write(&file, "two, longer").expect("written");
        let later = Stamp::of(&file).expect("there");
        assert!(!stamp.same_content(&later) && stamp.number == later.number);
        let second = keeper.keep(&file, &later).expect("kept");
        assert_eq!(fs::read_to_string(&first).expect("there"), "one");
        assert_eq!(fs::read_to_string(second).expect("there"), "two, longer");
        assert_eq!(first.file_name(), file.file_name());
        assert_eq!(Stamp::of(folder.path()), None, "a folder");
    }

    #[test]
    fn a_file_made_within_the_tick_is_not_older() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        let stamp = Stamp::of(file.path()).expect("there");
        assert!(stamp.is_since(stamp.modified) && stamp.is_since(stamp.modified + TICK));
        assert!(!stamp.is_since(stamp.modified + TICK + 1));
    }

    #[test]
    fn a_tree_is_kept_with_the_way_from_the_archive_to_its_members() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let root = folder.path();
        fs::create_dir_all(root.join("lib")).expect("made");
        fs::create_dir_all(root.join("obj")).expect("made");
        fs::write(root.join("lib/x.a"), "archive").expect("written");
        fs::write(root.join("obj/m.o"), "member").expect("written");
        let kept = root.join("kept");
        let stamp = Stamp::of(&root.join("lib/x.a")).expect("there");
        let member = root.join("lib/../obj/m.o");
        let archive = Keeper { folder: &kept }.keep_tree(&root.join("lib/x.a"), &stamp, &[member]);
        let beside = archive.expect("kept").parent().expect("a folder").join("../obj/m.o");
        assert_eq!(fs::read_to_string(beside).expect("there"), "member");
    }

    #[test]
    fn dots_are_taken_out_of_a_path() {
        assert_eq!(plain(Path::new("/a/./b/../c")), Path::new("/a/c"));
    }
}
