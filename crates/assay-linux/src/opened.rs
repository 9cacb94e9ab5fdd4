//! Which of some files are opened, and which are read meanwhile, by whomever: executing a file or loading a library does both.
//!
//! That a program was opened is not enough to say that it was executed: cargo opens each build script under both of its names to
//! see whether they are one file, and a dozen programs that no benchmark executes were then linked again in every placement.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Bytes of an event without a name (inotify(7)); files that are watched themselves have none.
const EVENT: usize = size_of::<libc::inotify_event>();

/// Files under watch.
#[derive(Debug)]
pub struct Openings {
    descriptor: OwnedFd,
    watched: Vec<(i32, PathBuf)>,
}

impl Openings {
    /// Watches files from now on. Two names of one file are both reported.
    ///
    /// # Errors
    /// A file is not there or not readable, or the user's limit of watches is reached; the message names the file.
    pub fn watch(files: &[PathBuf]) -> io::Result<Openings> {
        // SAFETY: plain numbers; the descriptor is ours from here on.
        let descriptor = unsafe {
            let descriptor = libc::inotify_init1(libc::IN_NONBLOCK | libc::IN_CLOEXEC);
            if descriptor < 0 {
                let error = io::Error::last_os_error();
                let what = format!("inotify_init1 (see fs.inotify.max_user_instances): {error}");
                return Err(io::Error::new(error.kind(), what));
            }
            OwnedFd::from_raw_fd(descriptor)
        };
        let watched = files
            .iter()
            .map(|file| Ok((add(&descriptor, file)?, file.clone())))
            .collect::<io::Result<Vec<(i32, PathBuf)>>>()?;
        Ok(Openings { descriptor, watched })
    }

    /// What became of them since the last call or the first, in the order they were given.
    pub fn seen(&self) -> Seen {
        let mut events = Vec::new();
        let mut buffer = [0u8; 4096];
        loop {
            // SAFETY: the buffer outlives the call and its size is passed.
            let count =
                unsafe { libc::read(self.descriptor.as_raw_fd(), buffer.as_mut_ptr().cast(), buffer.len()) };
            let Ok(count @ 1..) = usize::try_from(count) else { break };
            events.extend(watches(&buffer[..count]));
        }
        // Too many events for the queue: the kernel says so by a watch of -1, and anything may have become of any of the files.
        let any = events.iter().any(|(number, _)| *number == -1);
        let with = |wanted: u32| {
            let has = |number: i32| events.iter().any(|(own, mask)| *own == number && mask & wanted != 0);
            let files = self.watched.iter().filter(|(number, _)| any || has(*number));
            files.map(|(_, file)| file.clone()).collect()
        };
        Seen { opened: with(libc::IN_OPEN | libc::IN_ACCESS), read: with(libc::IN_ACCESS) }
    }
}

/// What became of files under watch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// Those that were opened. Whoever maps a file into memory only opens it.
    pub opened: Vec<PathBuf>,
    /// Those of them that were read.
    pub read: Vec<PathBuf>,
}

fn add(descriptor: &OwnedFd, file: &Path) -> io::Result<i32> {
    let name = std::ffi::CString::new(file.as_os_str().as_bytes())?;
    // SAFETY: a string with its end, alive during the call.
    let number = unsafe {
        libc::inotify_add_watch(descriptor.as_raw_fd(), name.as_ptr(), libc::IN_OPEN | libc::IN_ACCESS)
    };
    if number < 0 {
        let error = io::Error::last_os_error();
        return Err(io::Error::new(error.kind(), format!("watching {}: {error}", file.display())));
    }
    Ok(number)
}

/// The watches that events are of, and what happened.
fn watches(mut events: &[u8]) -> Vec<(i32, u32)> {
    let word = |bytes: &[u8], at: usize| {
        i32::from_ne_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
    };
    let mut found = Vec::new();
    while events.len() >= EVENT {
        // inotify_event: wd, mask, cookie, len, then `len` bytes of name.
        let name = word(events, 12) as usize;
        found.push((word(events, 0), word(events, 4) as u32));
        events = events.get(EVENT + name..).unwrap_or_default();
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_executed_or_read_is_seen_and_nothing_else() {
        let folder = std::env::temp_dir().join(format!("assay-opened-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let files = ["executed", "linked", "read", "idle"].map(|name| folder.join(name));
        std::fs::copy("/bin/true", &files[0]).unwrap();
        std::fs::hard_link(&files[0], &files[1]).unwrap();
        for file in &files[2..] {
            std::fs::write(file, "x").unwrap();
        }
        let openings = Openings::watch(&files).unwrap();
        assert_eq!(openings.seen(), Seen::default());
        // A thread that forks meanwhile holds the copy open for writing for a moment, and then it cannot be executed.
        let mut tries = (0..2000).map(|_| {
            std::thread::sleep(std::time::Duration::from_millis(5));
            crate::family::start(&[files[0].clone().into()])
        });
        let started = tries.find(
            |started| !matches!(started, Err(busy) if busy.kind() == io::ErrorKind::ExecutableFileBusy),
        );
        started.expect("tried").unwrap().wait().unwrap();
        assert_eq!(openings.seen().read, files[..2]);
        std::fs::metadata(&files[3]).unwrap();
        std::fs::File::open(&files[3]).unwrap();
        std::fs::read(&files[2]).unwrap();
        assert_eq!(openings.seen(), Seen { opened: files[2..].to_vec(), read: files[2..3].to_vec() });
        assert_eq!(openings.seen(), Seen::default());
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn what_cannot_be_watched_is_named() {
        let error = Openings::watch(&["/no/such/file".into()]).unwrap_err().to_string();
        assert!(error.contains("/no/such/file"), "{error}");
    }

    #[test]
    fn an_overflow_may_have_been_any_file() {
        let mut bytes = Vec::new();
        for word in [-1, libc::IN_Q_OVERFLOW as i32, 0, 0, 7, libc::IN_ACCESS as i32, 0, 16] {
            bytes.extend(word.to_ne_bytes());
        }
        bytes.extend([0; 16]);
        assert_eq!(watches(&bytes), [(-1, libc::IN_Q_OVERFLOW), (7, libc::IN_ACCESS)]);
        assert!(watches(&bytes[..8]).is_empty());
    }
}
