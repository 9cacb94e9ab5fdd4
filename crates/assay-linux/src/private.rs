//! Folders of this process's own, where others may write too: in `/tmp`, in memory, in a store.
//!
//! A name that can be guessed may be taken already, by a folder in which another user swaps what is executed, or by a link. So a
//! folder is only used that was made here, for this user alone; another name is taken where one is there. It holds a lock as long as
//! its process lives: what a process that was killed left is found by the next one.

use crate::{identity, lock};
use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// What a living process has locked in its folder.
const ALIVE: &str = "alive.lock";

/// A folder of this user's alone, `PREFIX` and then the process id and a number. It goes when this is dropped.
#[derive(Debug)]
pub struct PrivateFolder {
    path: PathBuf,
    /// Locked as long as the process lives.
    _alive: File,
}

impl PrivateFolder {
    /// Makes one, after removing those of processes that were killed.
    ///
    /// # Errors
    /// It cannot be made or locked.
    pub fn new(parent: &Path, prefix: &str) -> io::Result<PrivateFolder> {
        drop(PrivateFolder::abandoned(parent, prefix));
        PrivateFolder::make(parent, prefix)
    }

    /// Makes one.
    ///
    /// # Errors
    /// It cannot be made or locked.
    pub fn make(parent: &Path, prefix: &str) -> io::Result<PrivateFolder> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        // The kernel names mappings by their full paths.
        let parent = parent.canonicalize()?;
        loop {
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            let path = parent.join(format!("{prefix}{}-{number}", std::process::id()));
            match DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => {
                    let alive = lock::open(&path.join(ALIVE))?;
                    alive.lock()?;
                    return Ok(PrivateFolder { path, _alive: alive });
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Those of processes of this user that are gone, which are now this one's. One lives if a process of its number does, or, as
    /// numbers mean nothing in another container, if its lock is held.
    pub fn abandoned(parent: &Path, prefix: &str) -> Vec<PrivateFolder> {
        let mut found = Vec::new();
        for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
            let (name, path) = (entry.file_name().to_string_lossy().into_owned(), entry.path());
            let number = name.strip_prefix(prefix).and_then(|rest| rest.split_once('-'));
            let Some(pid) = number.and_then(|(pid, _)| pid.parse::<u32>().ok()) else { continue };
            let is_lock = |path: &Path| fs::symlink_metadata(path).is_ok_and(|found| found.is_file());
            let alive = path.join(ALIVE);
            if Path::new(&format!("/proc/{pid}")).exists() || !is_own(&path) || !is_lock(&alive) {
                continue;
            }
            let alive = lock::open_own(&alive).ok().filter(|alive| alive.try_lock().is_ok());
            found.extend(alive.map(|alive| PrivateFolder { path, _alive: alive }));
        }
        found
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A file of this user's, empty, whose number and time the kernel gave it when the folder was made: nobody else can make
    /// another with the same.
    pub fn mark(&self) -> PathBuf {
        self.path.join(ALIVE)
    }
}

impl Drop for PrivateFolder {
    fn drop(&mut self) {
        let entries = fs::read_dir(&self.path).into_iter().flatten().flatten().map(|entry| entry.path());
        // What says whose it is goes last, as a kill may leave the rest.
        for entry in entries.filter(|entry| !entry.ends_with(ALIVE)) {
            let is_folder = fs::symlink_metadata(&entry).is_ok_and(|found| found.is_dir());
            let _ = if is_folder { fs::remove_dir_all(&entry) } else { fs::remove_file(&entry) };
        }
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// A folder, no link to one, that is this user's and nobody else can write to.
fn is_own(path: &Path) -> bool {
    fs::symlink_metadata(path)
        .is_ok_and(|found| found.is_dir() && found.uid() == identity::user() && found.mode() & 0o077 == 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    fn place(name: &str) -> PathBuf {
        let path = std::env::temp_dir().join(format!("assay-private-{name}-{}", std::process::id()));
        fs::create_dir(&path).expect("a new folder");
        path
    }

    fn gone() -> u32 {
        let mut gone = std::process::Command::new("true").spawn().expect("started");
        gone.wait().expect("waited");
        gone.id()
    }

    /// As a process left it that was killed.
    fn left(path: &Path) {
        DirBuilder::new().mode(0o700).create(path).expect("a new folder");
        fs::write(path.join(ALIVE), "").expect("written");
    }

    #[test]
    fn what_a_killed_process_left_is_removed_by_the_next_and_no_more() {
        let (here, gone) = (place("left"), gone());
        let named = |rest: &str| here.join(format!("assay-{rest}"));
        let dead = named(&format!("{gone}-0"));
        left(&dead);
        fs::create_dir(dead.join("deep")).expect("a new folder");
        // Of a process in another container; one that others can write to; a link to one; one that merely has such a name.
        let other = named(&format!("{gone}-1"));
        left(&other);
        let held = lock::open(&other.join(ALIVE)).expect("a lock");
        held.lock().expect("locked");
        let open = named(&format!("{gone}-2"));
        left(&open);
        fs::set_permissions(&open, fs::Permissions::from_mode(0o777)).expect("set");
        let elsewhere = here.join("elsewhere");
        left(&elsewhere);
        symlink("elsewhere", named(&format!("{gone}-3"))).expect("a link");
        fs::create_dir(named("notes")).expect("a new folder");
        let own = PrivateFolder::new(&here, "assay-").expect("a folder");
        assert!(!dead.exists());
        assert!(other.exists() && open.join(ALIVE).exists() && elsewhere.join(ALIVE).exists());
        assert!(named("notes").exists() && own.path().exists());
        assert_eq!(fs::metadata(own.path()).expect("there").permissions().mode() & 0o777, 0o700);
        drop(own);
        fs::remove_dir_all(here).expect("it is ours");
    }

    #[test]
    fn a_folder_or_a_link_that_has_its_name_already_is_not_entered() {
        let here = place("taken");
        let elsewhere = here.join("elsewhere");
        fs::create_dir(&elsewhere).expect("a new folder");
        let named = |number: usize| here.join(format!("assay-x-{}-{number}", std::process::id()));
        // Whatever numbers the other tests of this process take.
        for number in 0..40 {
            if number % 2 == 0 {
                fs::create_dir(named(number)).expect("a new folder");
            } else {
                symlink("elsewhere", named(number)).expect("a link");
            }
        }
        let own = PrivateFolder::new(&here, "assay-x-").expect("a folder");
        fs::write(own.path().join("program"), "").expect("written");
        assert!((0..40).all(|number| own.path() != named(number)));
        assert!((0..40).all(|number| fs::read_dir(named(number)).expect("there").next().is_none()));
        drop(own);
        assert_eq!(fs::read_dir(&here).expect("there").count(), 41);
        fs::remove_dir_all(here).expect("it is ours");
    }
}
