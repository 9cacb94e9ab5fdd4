//! Files that somebody asked for: written whole or not at all, and nothing beside them is touched.
//!
//! A regular file is made in the same folder and put in its place whole: without a name where the file system can, so that
//! nothing is left of one whose writer was killed, else under a name of its own. Devices, pipes and sockets are written to as
//! they are; a symlink stays, and what it leads to is written.

use std::ffi::CString;
use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Write};
use std::os::fd::AsRawFd as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// Symlinks that are followed, as the kernel does.
const LINKS: usize = 40;

/// A file being written. Dropped before [`Output::finish`], it leaves everything as it was.
#[derive(Debug)]
pub struct Output {
    file: File,
    /// What it is called until the end, and then; none where the place itself is written.
    renamed: Option<(DraftName, PathBuf)>,
}

#[derive(Debug)]
enum DraftName {
    Unnamed,
    Named(PathBuf),
}

impl Output {
    /// Begins to write a file.
    ///
    /// # Errors
    /// It cannot be written: a folder, a file that is read-only, a folder where nothing can be made.
    pub fn create(path: &Path) -> io::Result<Output> {
        Output::begin(path, false)
    }

    /// The same for what can be read as far as it got: where there is nothing yet, it has its own name from the beginning, and
    /// a kill leaves it there.
    ///
    /// # Errors
    /// As of [`Output::create`].
    pub fn growing(path: &Path) -> io::Result<Output> {
        Output::begin(path, true)
    }

    fn begin(path: &Path, grows: bool) -> io::Result<Output> {
        let Some(target) = target(path)? else {
            return Ok(Output { file: OpenOptions::new().append(true).open(path)?, renamed: None });
        };
        let before = match std::fs::metadata(&target) {
            Ok(found) if found.is_dir() => return Err(io::ErrorKind::IsADirectory.into()),
            Ok(found) if !found.is_file() => {
                return Ok(Output { file: OpenOptions::new().write(true).open(&target)?, renamed: None });
            }
            Ok(found) => {
                // A file that its owner has made read-only is not replaced.
                OpenOptions::new().write(true).open(&target)?;
                refuse_database(&target)?;
                Some(found.permissions())
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        let (file, draft) = if grows && before.is_none() {
            (File::create_new(&target)?, DraftName::Named(target.clone()))
        } else {
            unnamed(&target).map_or_else(|_| named(&target), Ok)?
        };
        let output = Output { file, renamed: Some((draft, target)) };
        if let Some(permissions) = before {
            output.file.set_permissions(permissions)?;
        }
        Ok(output)
    }

    /// Waits until what was written is on the disk; devices and pipes have none.
    ///
    /// # Errors
    /// The disk's own.
    pub fn sync(&self) -> io::Result<()> {
        if self.renamed.is_some() { self.file.sync_all() } else { Ok(()) }
    }

    /// Puts the file in its place.
    ///
    /// # Errors
    /// It cannot be renamed.
    pub fn finish(mut self) -> io::Result<()> {
        self.file.flush()?;
        let Some((draft, target)) = self.renamed.take() else { return Ok(()) };
        let draft = match draft {
            DraftName::Named(draft) => draft,
            DraftName::Unnamed => match link(&self.file, &target) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    beside(&target, |draft| link(&self.file, draft))?.1
                }
                done => return done,
            },
        };
        std::fs::rename(&draft, target).inspect_err(|_| {
            let _ = std::fs::remove_file(&draft);
        })
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        if let Some((DraftName::Named(draft), _)) = &self.renamed {
            let _ = std::fs::remove_file(draft);
        }
    }
}

/// Writes a file whole or not at all.
///
/// # Errors
/// As of [`Output`].
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut output = Output::create(path)?;
    output.write_all(bytes)?;
    output.finish()
}

/// Can this file be written, as far as can be said without opening a device or a pipe?
///
/// # Errors
/// Why not.
pub fn check(path: &Path) -> io::Result<()> {
    if std::fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir()) {
        return Ok(());
    }
    Output::create(path).map(drop)
}

/// Are both names those of one regular file?
pub fn same_file(one: &Path, other: &Path) -> bool {
    let identity = |path: &Path| {
        std::fs::metadata(path).ok().filter(|found| found.is_file()).map(|found| (found.dev(), found.ino()))
    };
    identity(one).is_some_and(|one| identity(other) == Some(one))
}

/// Months of measuring are in a ledger, and no page is worth one: `-o .assay/ledger.db` is a slip.
fn refuse_database(path: &Path) -> io::Result<()> {
    /// How every SQLite file begins.
    const MAGIC: &[u8; 16] = b"SQLite format 3\0";
    let mut head = Vec::new();
    // What cannot be read is no ledger that we could have written.
    let read = File::open(path).and_then(|file| file.take(MAGIC.len() as u64).read_to_end(&mut head));
    if read.is_ok() && head == MAGIC {
        return Err(io::Error::other(
            "it is a database, as ledgers are, and is not replaced; choose another file",
        ));
    }
    Ok(())
}

/// What a path leads to, where there is nothing yet too; none if it is a descriptor of a process (`/dev/stdout`).
fn target(path: &Path) -> io::Result<Option<PathBuf>> {
    let mut target = path.to_owned();
    for _ in 0..LINKS {
        if target.starts_with("/proc") {
            return Ok(None);
        }
        if !std::fs::symlink_metadata(&target).is_ok_and(|found| found.is_symlink()) {
            return Ok(Some(target));
        }
        let link = std::fs::read_link(&target)?;
        target = target.parent().unwrap_or(Path::new("")).join(link);
    }
    Err(io::Error::other("too many symlinks"))
}

/// A new file in the target's folder that has no name yet.
fn unnamed(target: &Path) -> io::Result<(File, DraftName)> {
    // It gets its name by this.
    std::fs::metadata("/proc/self/fd")?;
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let file = OpenOptions::new().write(true).custom_flags(libc::O_TMPFILE).open(folder)?;
    Ok((file, DraftName::Unnamed))
}

/// A new file beside the target.
fn named(target: &Path) -> io::Result<(File, DraftName)> {
    let new = |draft: &Path| OpenOptions::new().write(true).create_new(true).open(draft);
    let (file, draft) = beside(target, new)?;
    Ok((file, DraftName::Named(draft)))
}

/// Gives an open file a name that nobody has.
fn link(file: &File, name: &Path) -> io::Result<()> {
    let open = CString::new(format!("/proc/self/fd/{}", file.as_raw_fd()))?;
    let name = CString::new(name.as_os_str().as_bytes())?;
    // SAFETY: both names end with a nul and live until the call returns.
    let done = unsafe {
        libc::linkat(libc::AT_FDCWD, open.as_ptr(), libc::AT_FDCWD, name.as_ptr(), libc::AT_SYMLINK_FOLLOW)
    };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Makes something beside the target, under a name that nobody has: `make` must refuse one that is taken.
///
/// # Errors
/// Those of `make`.
pub fn beside<T>(target: &Path, make: impl Fn(&Path) -> io::Result<T>) -> io::Result<(T, PathBuf)> {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    loop {
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let draft = target.with_file_name(format!(".assay-{}-{number}", std::process::id()));
        match make(&draft) {
            Ok(made) => return Ok((made, draft)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
}

/// Lets two files of one file system, both there, change their names at once.
///
/// # Errors
/// One is not there, they are on two file systems, the file system cannot do it (`InvalidInput`, `Unsupported`).
pub fn exchange(one: &Path, other: &Path) -> io::Result<()> {
    let name = |path: &Path| CString::new(path.as_os_str().as_bytes()).map_err(io::Error::from);
    let (one, other) = (name(one)?, name(other)?);
    // SAFETY: both names end with a nul and live until the call returns.
    let done = unsafe {
        libc::renameat2(libc::AT_FDCWD, one.as_ptr(), libc::AT_FDCWD, other.as_ptr(), libc::RENAME_EXCHANGE)
    };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _, symlink};
    use std::process::Command;

    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Folder {
            let path = std::env::temp_dir().join(format!("assay-output-{name}-{}", std::process::id()));
            std::fs::create_dir(&path).unwrap();
            Folder(path)
        }

        fn file(&self, name: &str) -> PathBuf {
            self.0.join(name)
        }

        fn names(&self) -> Vec<String> {
            let entries = std::fs::read_dir(&self.0).unwrap();
            let mut names: Vec<String> =
                entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
            names.sort();
            names
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    fn text(path: &Path) -> String {
        std::fs::read_to_string(path).unwrap()
    }

    #[test]
    fn a_file_is_whole_or_as_it_was_and_drafts_of_others_stay() {
        let folder = Folder::new("whole");
        let (file, theirs) = (folder.file("x.json"), folder.file("x.draft"));
        let next = folder.file(&format!(".assay-{}-0", std::process::id()));
        std::fs::write(&theirs, "theirs").unwrap();
        std::fs::write(&next, "theirs").unwrap();
        write(&file, b"one").unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
        let mut begun = Output::create(&file).unwrap();
        begun.write_all(b"half").unwrap();
        assert_eq!(text(&file), "one");
        let is_unnamed = unnamed(&file).is_ok();
        assert_eq!(folder.names().len(), if is_unnamed { 3 } else { 4 }, "what a kill would leave here");
        drop(begun);
        assert_eq!(text(&file), "one");
        write(&file, b"two").unwrap();
        assert_eq!(text(&file), "two");
        assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        check(&file).unwrap();
        assert_eq!((text(&theirs), text(&next)), ("theirs".to_owned(), "theirs".to_owned()));
        assert_eq!(folder.names().len(), 3, "{:?}", folder.names());
    }

    #[test]
    fn a_named_draft_is_as_good_as_one_without_a_name() {
        let folder = Folder::new("named");
        let file = folder.file("x");
        let by = |make: fn(&Path) -> io::Result<(File, DraftName)>| {
            let (file, draft) = make(&folder.file("x"))?;
            Ok::<_, io::Error>(Output { file, renamed: Some((draft, folder.file("x"))) })
        };
        for make in [unnamed, named] {
            let Ok(mut output) = by(make) else { continue };
            output.write_all(b"new").unwrap();
            output.finish().unwrap();
            assert_eq!((text(&file).as_str(), folder.names().len()), ("new", 1));
            by(make).unwrap().finish().unwrap();
            assert_eq!((text(&file).as_str(), folder.names().len()), ("", 1));
            std::fs::remove_file(&file).unwrap();
        }
    }

    #[test]
    fn what_grows_has_its_name_from_the_beginning_and_replaces_only_whole() {
        let folder = Folder::new("grows");
        let file = folder.file("x");
        let mut output = Output::growing(&file).unwrap();
        output.write_all(b"one").unwrap();
        assert_eq!((text(&file).as_str(), folder.names().len()), ("one", 1));
        output.finish().unwrap();
        let mut output = Output::growing(&file).unwrap();
        output.write_all(b"two").unwrap();
        assert_eq!(text(&file), "one");
        drop(output);
        assert_eq!((text(&file).as_str(), folder.names().len()), ("one", 1));
        std::fs::remove_file(&file).unwrap();
        drop(Output::growing(&file).unwrap());
        assert!(folder.names().is_empty());
    }

    #[test]
    fn a_symlink_stays_and_its_target_is_written() {
        let folder = Folder::new("symlink");
        std::fs::create_dir(folder.file("sub")).unwrap();
        for (link, target) in [("there", "sub/there"), ("dangling", "sub/dangling")] {
            symlink(target, folder.file(link)).unwrap();
        }
        std::fs::write(folder.file("sub/there"), "old").unwrap();
        for link in ["there", "dangling"] {
            write(&folder.file(link), b"new").unwrap();
            assert!(std::fs::symlink_metadata(folder.file(link)).unwrap().is_symlink());
            assert_eq!(text(&folder.file("sub").join(link)), "new");
        }
        symlink("circle", folder.file("circle")).unwrap();
        assert!(write(&folder.file("circle"), b"x").is_err());
    }

    #[test]
    fn a_device_and_a_pipe_stay_what_they_are() {
        let folder = Folder::new("device");
        let pipe = folder.file("pipe");
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        check(&pipe).unwrap();
        let reader = std::thread::spawn({
            let pipe = pipe.clone();
            move || text(&pipe)
        });
        write(&pipe, b"page").unwrap();
        assert_eq!(reader.join().unwrap(), "page");
        assert!(std::fs::symlink_metadata(&pipe).unwrap().file_type().is_fifo());
        // A device of the test's own: a mistake here would cost the machine one of its.
        let (full, link) = (folder.file("full"), folder.file("link"));
        if Command::new("mknod").arg(&full).args(["c", "1", "7"]).status().is_ok_and(|made| made.success()) {
            symlink("full", &link).unwrap();
            for name in [&full, &link] {
                check(name).unwrap();
                assert!(write(name, b"page").is_err(), "the device was written to");
                assert!(std::fs::metadata(name).unwrap().file_type().is_char_device());
            }
            assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
        }
        assert!(folder.names().iter().all(|name| ["full", "link", "pipe"].contains(&name.as_str())));
    }

    #[test]
    fn a_database_is_never_replaced() {
        let folder = Folder::new("database");
        let ledger = folder.file("ledger.db");
        let content = "SQLite format 3\0 and months of measuring";
        std::fs::write(&ledger, content).unwrap();
        symlink("ledger.db", folder.file("link")).unwrap();
        for name in [&ledger, &folder.file("link")] {
            assert!(check(name).unwrap_err().to_string().contains("database"));
            assert!(write(name, b"page").is_err() && Output::growing(name).is_err());
        }
        assert_eq!(text(&ledger), content);
    }

    #[test]
    fn one_file_is_known_by_all_its_names() {
        let folder = Folder::new("same");
        let file = folder.file("x");
        std::fs::write(&file, "x").unwrap();
        std::fs::hard_link(&file, folder.file("hard")).unwrap();
        symlink("x", folder.file("soft")).unwrap();
        std::fs::write(folder.file("y"), "x").unwrap();
        assert!(same_file(&file, &folder.file("hard")) && same_file(&file, &folder.file("soft")));
        assert!(!same_file(&file, &folder.file("y")) && !same_file(&file, &folder.file("none")));
        assert!(write(&folder.0, b"x").is_err(), "a folder");
    }
}
