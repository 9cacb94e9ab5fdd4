//! Lock files that nobody can lay as a trap: where this user's own lie, and how any is opened.
//!
//! In a folder that others can write to, a name that can be guessed may be a named pipe (opening it waits for ever) or a
//! link (opening it makes a file elsewhere). So locks of a user lie in a folder that is this user's alone, and every lock
//! file is opened without following a link, without waiting, and refused if it is no regular file.

use crate::identity::user;
use std::fs::{DirBuilder, File, Metadata, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Opens a lock file for writing, making it where there is none (mode 0600), never changing what is in it.
///
/// # Errors
/// It cannot be made, or is a link, a named pipe or anything else but a regular file; the message names it.
pub fn open(path: &Path) -> io::Result<File> {
    let flags = libc::O_NOFOLLOW | libc::O_CLOEXEC | libc::O_NONBLOCK;
    let opened = OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .mode(0o600)
        .custom_flags(flags)
        .open(path);
    let trap = || {
        let what =
            format!("{} is not a regular file, so it is not used as a lock: remove it", path.display());
        io::Error::other(what)
    };
    let file = opened.map_err(|error| match error.raw_os_error() {
        // A link; a named pipe that nobody reads.
        Some(libc::ELOOP | libc::ENXIO) => trap(),
        _ => io::Error::new(error.kind(), format!("opening {}: {error}", path.display())),
    })?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(trap()) }
}

/// [`open`], refusing a file of another user too.
///
/// # Errors
/// As [`open`]; the file is another user's.
pub fn open_own(path: &Path) -> io::Result<File> {
    let file = open(path)?;
    if file.metadata()?.uid() == user() {
        return Ok(file);
    }
    Err(io::Error::other(format!("{} belongs to another user: remove it", path.display())))
}

/// Who tells that somebody else is waited for: locks are taken far below whoever prints.
static TOLD_BY: OnceLock<fn(&str)> = OnceLock::new();

/// From now on this is called with a sentence when a lock is not to be had within a second.
pub fn told_by(tell: fn(&str)) {
    let _ = TOLD_BY.set(tell);
}

/// Tells that somebody else is waited for.
pub fn tell(sentence: &str) {
    if let Some(tell) = TOLD_BY.get() {
        tell(sentence);
    }
}

/// How often the list of locks is read before a lock that is not in it counts as held by nobody.
const READS: u32 = 3;

/// The process that holds a lock of this file, as far as the kernel tells (/proc/locks).
pub fn holder(path: &Path) -> Option<u32> {
    let inode = std::fs::metadata(path).ok()?.ino();
    // The kernel writes the list in pieces: one that is locked or unlocked meanwhile can make it miss another.
    (0..READS).find_map(|_| holder_in(&std::fs::read_to_string("/proc/locks").ok()?, inode))
}

/// A line is "2: FLOCK  ADVISORY  WRITE 4711 fe:00:131090 0 EOF", with "->" ahead of the kind for one who waits; proc_locks(5).
fn holder_in(locks: &str, inode: u64) -> Option<u32> {
    locks.lines().find_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [_, "FLOCK", _, _, process, file, ..] = words[..] else { return None };
        let is_it = file.rsplit(':').next()?.parse() == Ok(inode);
        process.parse().ok().filter(|&process: &u32| is_it && process > 0)
    })
}

/// The command that a process was started with, its program without folders, at most 60 characters.
pub fn command_of(process: u32) -> Option<String> {
    const MOST: usize = 60;
    let bytes = std::fs::read(format!("/proc/{process}/cmdline")).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let mut words = text.split('\0').filter(|word| !word.is_empty());
    let program = words.next()?;
    let program = program.rsplit('/').next().unwrap_or(program);
    let whole: Vec<&str> = std::iter::once(program).chain(words).collect();
    let whole = whole.join(" ");
    Some(if whole.chars().count() > MOST {
        whole.chars().take(MOST - 1).chain(['…']).collect()
    } else {
        whole
    })
}

/// The folder for locks of this user on this machine: `$XDG_RUNTIME_DIR` or else `/run/user/UID`, if it is a folder of
/// this user's with mode 0700; else `assay-UID` in the folder for temporary files.
///
/// # Errors
/// The latter cannot be made, or is not a folder of this user's with mode 0700; the message names the remedy.
pub fn runtime_folder() -> io::Result<PathBuf> {
    let named = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from).filter(|folder| folder.is_absolute());
    let usual = PathBuf::from(format!("/run/user/{}", user()));
    // A folder that the user names may be reached by a link: who owns what it leads to counts.
    let private = |folder: &PathBuf| std::fs::metadata(folder).is_ok_and(|found| is_private(&found));
    match named.into_iter().chain([usual]).find(private) {
        Some(folder) => Ok(folder),
        None => own_folder(&std::env::temp_dir()),
    }
}

/// `assay-UID` in a folder that others may write to.
fn own_folder(shared: &Path) -> io::Result<PathBuf> {
    let folder = shared.join(format!("assay-{}", user()));
    match DirBuilder::new().mode(0o700).create(&folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            let what = format!(
                "making {}: {error}; set XDG_RUNTIME_DIR or TMPDIR to a folder that can be written",
                folder.display()
            );
            return Err(io::Error::new(error.kind(), what));
        }
        _ => {}
    }
    if is_private(&std::fs::symlink_metadata(&folder)?) {
        return Ok(folder);
    }
    Err(io::Error::other(format!(
        "{} is not a folder of yours with mode 0700: remove it, or set XDG_RUNTIME_DIR to a folder that is",
        folder.display()
    )))
}

fn is_private(found: &Metadata) -> bool {
    found.is_dir() && found.uid() == user() && found.mode() & 0o777 == 0o700
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_holder_of_a_lock_is_read_from_the_kernel_s_table_and_who_waits_is_not_it() {
        let table = "1: POSIX  ADVISORY  WRITE 11 fe:00:77 0 EOF\n2: -> FLOCK  ADVISORY  WRITE 12 fe:00:77 0 EOF\n\
                     3: FLOCK  ADVISORY  WRITE 4711 fe:00:77 0 EOF\n4: FLOCK  ADVISORY  WRITE 0 fe:00:78 0 EOF\n";
        assert_eq!(
            (holder_in(table, 77), holder_in(table, 78), holder_in(table, 7)),
            (Some(4711), None, None)
        );
        assert!(command_of(std::process::id()).is_some_and(|command| !command.contains('/')));
    }

    use std::os::unix::fs::{PermissionsExt as _, symlink};

    /// A folder that goes with the test.
    struct Scratch(PathBuf);

    impl Scratch {
        fn new(name: &str) -> Scratch {
            let folder = std::env::temp_dir().join(format!("assay-lock-{name}-{}", std::process::id()));
            std::fs::create_dir(&folder).expect("a new folder");
            Scratch(folder)
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn a_named_pipe_is_refused_at_once() {
        let folder = Scratch::new("pipe");
        let path = folder.0.join("lock");
        let name = std::ffi::CString::new(path.to_str().expect("UTF-8")).expect("no zero");
        // SAFETY: a string with its end, alive during the call.
        assert_eq!(unsafe { libc::mkfifo(name.as_ptr(), 0o600) }, 0);
        let refused = open(&path).expect_err("a trap").to_string();
        assert!(refused.contains("not a regular file") && refused.contains("remove it"), "{refused}");
        // With a reader it would open.
        let _reader = File::options().read(true).write(true).open(&path).expect("both ends");
        assert!(open(&path).expect_err("a trap").to_string().contains("not a regular file"));
    }

    #[test]
    fn a_link_is_not_followed() {
        let folder = Scratch::new("link");
        let (path, elsewhere) = (folder.0.join("lock"), folder.0.join("elsewhere"));
        symlink(&elsewhere, &path).expect("a link");
        assert!(open(&path).expect_err("a trap").to_string().contains("not a regular file"));
        assert!(!elsewhere.exists(), "nothing is made where it leads");
    }

    #[test]
    fn a_lock_is_the_users_alone() {
        let folder = Scratch::new("own");
        let file = open_own(&folder.0.join("lock")).expect("a new file");
        assert_eq!(file.metadata().expect("open").mode() & 0o777, 0o600);
        assert!(open(&folder.0).is_err(), "a folder is no lock");
    }

    #[test]
    fn a_folder_that_others_can_enter_is_refused_with_the_remedy() {
        let folder = Scratch::new("folder");
        let own = own_folder(&folder.0).expect("a new folder");
        assert_eq!(std::fs::metadata(&own).expect("made").mode() & 0o777, 0o700);
        assert_eq!(own_folder(&folder.0).expect("the same again"), own);
        std::fs::set_permissions(&own, std::fs::Permissions::from_mode(0o755)).expect("ours");
        let refused = own_folder(&folder.0).expect_err("open to others").to_string();
        assert!(refused.contains("remove it") && refused.contains("XDG_RUNTIME_DIR"), "{refused}");
        std::fs::remove_dir(&own).expect("empty");
        let elsewhere = folder.0.join("elsewhere");
        DirBuilder::new().mode(0o700).create(&elsewhere).expect("a folder");
        symlink(&elsewhere, &own).expect("a link");
        assert!(own_folder(&folder.0).is_err(), "a link to a folder of this user's");
        assert!(
            own_folder(&folder.0.join("none")).expect_err("no such folder").to_string().contains("set XDG")
        );
    }
}
