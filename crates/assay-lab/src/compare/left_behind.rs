//! The build's own binaries, where a comparison was killed before it could put them back.
//!
//! Each side's folder lists what it displaces ahead of the first placed binary. The next comparison of the same store finds
//! the list of a process that is gone. A file that was built again since, which its time of change tells, is left alone.
//!
//! Who lives is told by a lock, which the kernel takes from whoever dies: a number says nothing across containers, nor when it
//! is given again. Folders are made and put back one at a time per store, so nobody builds while another puts back.

use serde::{Deserialize, Serialize};
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

/// What a process of ours works in, within the store.
const PREFIX: &str = "comparing-";
/// The list's name in a side's folder.
const LIST: &str = "displaced";
/// What a living process has locked, in its folder;
const ALIVE: &str = "alive.lock";
/// and whoever makes or removes such folders, in the store.
const ONE: &str = "comparing.lock";

/// The folder that a process of ours works in. As long as it is there nobody puts back what its lists name.
#[derive(Debug)]
pub struct Workplace {
    folder: PathBuf,
    _alive: File,
}

impl Workplace {
    /// Makes one in the store.
    ///
    /// # Errors
    /// The store cannot be written.
    pub fn new(store: &Path) -> io::Result<Workplace> {
        fs::create_dir_all(store)?;
        let _one = one(store)?;
        // In another container another process can have the same number.
        let mut names = (0..).map(|nth| format!("{PREFIX}{}-{nth}", std::process::id()));
        let folder = loop {
            let folder = store.join(names.next().expect("there is no end of them"));
            match fs::create_dir(&folder) {
                Ok(()) => break folder.canonicalize()?,
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => (),
                Err(error) => return Err(error),
            }
        };
        let alive = opened(&folder.join(ALIVE))?;
        alive.lock()?;
        Ok(Workplace { folder, _alive: alive })
    }

    /// Where it is.
    pub fn folder(&self) -> &Path {
        &self.folder
    }
}

impl Drop for Workplace {
    fn drop(&mut self) {
        // Nobody looks into it while it goes.
        let _one = self.folder.parent().map(one);
        let _ = fs::remove_dir_all(&self.folder);
    }
}

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
/// file in the place of the first. Another that does so is waited for. Returns what was put back.
///
/// # Errors
/// A file cannot be put back; its folder is then kept.
pub fn put_back(store: &Path, replace: impl Fn(&Path, &Path) -> io::Result<()>) -> io::Result<Vec<PathBuf>> {
    let mut done = Vec::new();
    if !store.is_dir() {
        return Ok(done);
    }
    let _one = one(store)?;
    for folder in entries(store) {
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if !name.starts_with(PREFIX) || !folder.is_dir() {
            continue;
        }
        // Held until the folder is gone.
        let alive = opened(&folder.join(ALIVE))?;
        match alive.try_lock() {
            Ok(()) => (),
            Err(TryLockError::WouldBlock) => continue,
            Err(TryLockError::Error(error)) => return Err(error),
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

/// The right to make such folders and to put back, until it is dropped. The file stays: were it removed, another could be locked.
fn one(store: &Path) -> io::Result<File> {
    let file = opened(&store.join(ONE))?;
    file.lock()?;
    Ok(file)
}

fn opened(path: &Path) -> io::Result<File> {
    File::options().create(true).truncate(false).write(true).open(path)
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

    /// In which store the second process works, if this is one.
    const SECOND: &str = "ASSAY_TEST_SECOND_PROCESS";

    /// Displaces a file by a placed one from the folder of a process; returns the file.
    fn displace(root: &Path, folder: &Path) -> PathBuf {
        let side = folder.join("side-0");
        fs::create_dir_all(&side).unwrap();
        let (path, kept) = (root.join("program"), side.join("own-0-0"));
        fs::write(&kept, "built").unwrap();
        fs::write(&path, "placed").unwrap();
        let built = fs::metadata(&kept).unwrap().modified().unwrap();
        File::options().write(true).open(&path).unwrap().set_modified(built).unwrap();
        note(&side, &[Displaced { path: path.clone(), kept }]).unwrap();
        path
    }

    /// A store in which a process was killed, with the file it displaced: its path and the store.
    fn killed(root: &Path) -> (PathBuf, PathBuf) {
        let store = root.join("store");
        let workplace = Workplace::new(&store).unwrap();
        let path = displace(root, workplace.folder());
        // Its lock goes, its folder stays.
        let Workplace { folder: _, _alive: alive } = &*std::mem::ManuallyDrop::new(workplace);
        alive.unlock().unwrap();
        (path, store)
    }

    /// Folders of processes in a store.
    fn folders(store: &Path) -> usize {
        entries(store).iter().filter(|path| path.is_dir()).count()
    }

    #[test]
    fn what_a_killed_process_displaced_is_put_back_once() {
        let root = tempfile::tempdir().unwrap();
        let (path, store) = killed(root.path());
        assert_eq!(put_back(&store, replace).unwrap(), std::slice::from_ref(&path));
        assert_eq!(fs::read_to_string(&path).unwrap(), "built");
        assert_eq!(folders(&store), 0);
        assert!(put_back(&store, replace).unwrap().is_empty());
        assert!(put_back(&root.path().join("none"), replace).unwrap().is_empty());
        assert!(!root.path().join("none").exists(), "a store is not made for it");
    }

    #[test]
    fn a_file_that_was_built_again_is_left_alone() {
        let root = tempfile::tempdir().unwrap();
        let (path, store) = killed(root.path());
        let later = std::time::SystemTime::now() + std::time::Duration::from_secs(60);
        File::options().write(true).open(&path).unwrap().set_modified(later).unwrap();
        assert!(put_back(&store, replace).unwrap().is_empty());
        assert_eq!(fs::read_to_string(&path).unwrap(), "placed");
    }

    #[test]
    fn of_many_that_put_back_at_once_one_does_and_the_others_wait_for_it() {
        let root = tempfile::tempdir().unwrap();
        let (path, store) = killed(root.path());
        let slow = |path: &Path, kept: &Path| {
            std::thread::sleep(std::time::Duration::from_millis(50));
            replace(path, kept)
        };
        let all = || {
            let done = put_back(&store, slow).unwrap();
            // Whoever returns finds it done.
            assert_eq!(fs::read_to_string(&path).unwrap(), "built");
            done.len()
        };
        let done: usize = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(all)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).sum()
        });
        assert_eq!((done, folders(&store)), (1, 0));
    }

    #[test]
    fn each_process_has_a_folder_of_its_own_and_leaves_none() {
        let root = tempfile::tempdir().unwrap();
        let [first, second] = [(); 2].map(|()| Workplace::new(root.path()).unwrap());
        assert_ne!(first.folder(), second.folder());
        assert!(put_back(root.path(), replace).unwrap().is_empty());
        assert!(first.folder().is_dir() && second.folder().is_dir());
        drop((first, second));
        assert_eq!(folders(root.path()), 0);
    }

    #[test]
    fn another_process_keeps_what_it_displaced_until_it_dies() {
        if let Some(root) = std::env::var_os(SECOND).map(PathBuf::from) {
            let workplace = Workplace::new(&root.join("store")).unwrap();
            displace(&root, workplace.folder());
            fs::write(root.join("displaced"), "").unwrap();
            // Until it is killed.
            let _ = io::Read::read(&mut io::stdin(), &mut [0]);
            return;
        }
        let root = tempfile::tempdir().unwrap();
        let own = "compare::left_behind::tests::another_process_keeps_what_it_displaced_until_it_dies";
        let mut second = std::process::Command::new(std::env::current_exe().unwrap())
            .args([own, "--exact"])
            .env(SECOND, root.path())
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap();
        while !root.path().join("displaced").exists() {
            assert_eq!(second.try_wait().unwrap(), None, "the second process has ended");
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        let (store, path) = (root.path().join("store"), root.path().join("program"));
        assert!(put_back(&store, replace).unwrap().is_empty());
        assert_eq!(fs::read_to_string(&path).unwrap(), "placed");
        second.kill().unwrap();
        second.wait().unwrap();
        assert_eq!(put_back(&store, replace).unwrap(), std::slice::from_ref(&path));
        assert_eq!(fs::read_to_string(&path).unwrap(), "built");
    }
}
