//! What a build made earlier, moved aside so that it is made again, and put back where it was not.
//!
//! Each file goes to a new name beside its own, and a list in the store says so before it moves: what a lab that was killed left aside
//! is back when the next one begins. A list is believed only where assay made it: it lies in a folder of this user's alone, and
//! says the number and the time of change of the empty lock in it, which the kernel gave when that was made.

use assay_linux::private::PrivateFolder;
use serde::{Deserialize, Serialize};
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// In a store, the folders of lists.
const PLACE: &str = "aside";
/// A list in such a folder.
const LIST: &str = "moved";

/// Files that were moved aside.
#[derive(Debug)]
pub struct Cleared {
    /// Where the lists lie.
    place: PathBuf,
    /// That of this process's list, once there is one.
    folder: Option<PrivateFolder>,
    moved: Vec<FileSetAside>,
}

/// A file and its name meanwhile.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct FileSetAside {
    file: PathBuf,
    aside: PathBuf,
}

/// The list as it is written.
#[derive(Serialize, Deserialize)]
struct Noted {
    /// Of the folder's lock: number, seconds and nanoseconds of its change.
    mark: (u64, i64, i64),
    moved: Vec<FileSetAside>,
}

impl Cleared {
    /// None yet, to be listed in this store.
    pub fn new(store: &Path) -> Cleared {
        Cleared { place: store.join(PLACE), folder: None, moved: Vec::new() }
    }

    /// Moves a file aside, if it is a plain one.
    ///
    /// # Errors
    /// The list cannot be written; the file is then where it was.
    pub fn take(&mut self, file: &Path) -> io::Result<()> {
        let is_plain = |file: &Path| file.symlink_metadata().is_ok_and(|data| data.is_file());
        let (Some(name), true) = (file.file_name(), is_plain(file)) else { return Ok(()) };
        // Whoever puts it back may be in another folder.
        let file = std::path::absolute(file)?;
        let process = std::process::id();
        let aside = (0..)
            .map(|number| {
                let mut hidden = std::ffi::OsString::from(".");
                hidden.push(name);
                hidden.push(format!(".assay-{process}-{number}"));
                file.with_file_name(hidden)
            })
            .find(|aside| aside.symlink_metadata().is_err())
            .expect("there is no end of them");
        self.moved.push(FileSetAside { file: file.clone(), aside: aside.clone() });
        let moved = self.note().map(|()| fs::rename(&file, &aside).is_ok());
        if !matches!(moved, Ok(true)) {
            self.moved.pop();
        }
        moved.map(drop)
    }

    /// Writes the list.
    fn note(&mut self) -> io::Result<()> {
        if self.folder.is_none() {
            let made = || {
                fs::create_dir_all(&self.place)?;
                PrivateFolder::make(&self.place, "")
            };
            // Another process may have removed it in between, as there was nothing in it.
            self.folder = Some(made().or_else(|_| made())?);
        }
        let folder = self.folder.as_ref().expect("made just now");
        let noted = Noted { mark: mark(folder)?, moved: self.moved.clone() };
        let draft = folder.path().join(format!(".{LIST}"));
        fs::write(&draft, serde_json::to_vec(&noted)?)?;
        fs::rename(draft, folder.path().join(LIST))
    }

    /// Puts back those of these files that are missing; returns how many.
    pub fn put_back(&mut self, which: impl Fn(&Path) -> bool) -> usize {
        let missing = self.moved.extract_if(.., |moved| which(&moved.file) && !moved.file.exists());
        missing.map(|moved| settle(&moved)).count()
    }

    /// Puts back what was not built again, and removes the rest.
    pub fn settle(mut self) {
        self.moved.iter().for_each(settle);
        if self.folder.take().is_some() {
            leave(&self.place);
        }
    }
}

/// Removes the folder of lists if there is none; another process's stays.
fn leave(place: &Path) {
    let _ = fs::remove_dir(place);
}

/// Settles what labs that were killed left aside.
pub fn settle_abandoned(store: &Path) {
    for folder in PrivateFolder::abandoned(&store.join(PLACE), "") {
        let list = folder.path().join(LIST);
        let is_plain = list.symlink_metadata().is_ok_and(|found| found.is_file());
        let text = if is_plain { fs::read(list).unwrap_or_default() } else { Vec::new() };
        let noted = serde_json::from_slice::<Noted>(&text).ok();
        let own = noted.filter(|noted| mark(&folder).is_ok_and(|found| found == noted.mark));
        own.map(|noted| noted.moved).unwrap_or_default().iter().for_each(settle);
    }
    leave(&store.join(PLACE));
}

fn mark(folder: &PrivateFolder) -> io::Result<(u64, i64, i64)> {
    let found = fs::symlink_metadata(folder.mark())?;
    Ok((found.ino(), found.ctime(), found.ctime_nsec()))
}

fn settle(FileSetAside { file, aside }: &FileSetAside) {
    if !aside.symlink_metadata().is_ok_and(|found| found.is_file()) {
        return;
    }
    // Where either fails, the file stays under its other name: nothing of it is lost.
    let _ = if file.exists() { fs::remove_file(aside) } else { fs::rename(aside, file) };
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder with two programs, and the store in it.
    fn built() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().expect("a temporary folder");
        for name in ["kept", "built"] {
            fs::write(folder.path().join(name), name).expect("written");
        }
        let store = folder.path().join("store");
        (folder, store)
    }

    fn read(folder: &tempfile::TempDir, name: &str) -> String {
        fs::read_to_string(folder.path().join(name)).expect("there")
    }

    #[test]
    fn what_was_moved_aside_comes_back_unless_it_was_built_again() {
        let (folder, store) = built();
        let file = |name: &str| folder.path().join(name);
        // A file of the user's, as earlier versions called theirs.
        fs::write(file(".kept.assay-aside"), "mine").expect("written");
        fs::write(file(&format!(".kept.assay-{}-0", std::process::id())), "mine").expect("written");
        let mut cleared = Cleared::new(&store);
        for name in ["kept", "built", "missing"] {
            cleared.take(&file(name)).expect("moved");
        }
        assert!(!file("kept").exists() && !file("built").exists());
        fs::write(file("built"), "anew").expect("written");
        cleared.settle();
        assert_eq!((read(&folder, "kept"), read(&folder, "built")), ("kept".into(), "anew".into()));
        assert_eq!(read(&folder, ".kept.assay-aside"), "mine");
        assert_eq!(fs::read_dir(folder.path()).expect("there").count(), 5);
        assert!(!store.join(PLACE).exists());
    }

    /// As it is when the process is killed now: the number of a process that is gone, its lock free.
    fn kill(cleared: Cleared) -> PathBuf {
        let mut gone = std::process::Command::new("true").spawn().expect("started");
        gone.wait().expect("waited");
        let folder = cleared.folder.expect("something was moved");
        let left = folder.path().with_file_name(format!("{}-0", gone.id()));
        fs::rename(folder.path(), &left).expect("renamed");
        left
    }

    #[test]
    fn what_a_killed_lab_left_aside_is_back_when_the_next_begins() {
        let (folder, store) = built();
        let mut cleared = Cleared::new(&store);
        for name in ["kept", "built"] {
            cleared.take(&folder.path().join(name)).expect("moved");
        }
        fs::write(folder.path().join("built"), "anew").expect("written");
        // Whoever lives keeps what it moved.
        settle_abandoned(&store);
        assert!(!folder.path().join("kept").exists());
        kill(cleared);
        settle_abandoned(&store);
        assert_eq!((read(&folder, "kept"), read(&folder, "built")), ("kept".into(), "anew".into()));
        assert_eq!(fs::read_dir(folder.path()).expect("there").count(), 3);
        assert!(!store.join(PLACE).exists());
    }

    #[test]
    fn a_list_that_came_with_the_store_is_not_believed() {
        let (folder, store) = built();
        let mut cleared = Cleared::new(&store);
        cleared.take(&folder.path().join("kept")).expect("moved");
        let left = kill(cleared);
        // As a copy has it.
        let text = fs::read(left.join(LIST)).expect("there");
        fs::remove_file(left.join("alive.lock")).expect("removed");
        fs::write(left.join("alive.lock"), "").expect("written");
        fs::write(left.join(LIST), text).expect("written");
        settle_abandoned(&store);
        assert!(!folder.path().join("kept").exists());
    }
}
