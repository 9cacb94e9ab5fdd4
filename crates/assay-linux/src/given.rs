//! Files that somebody names to be read: read whole, or refused before they cost time or memory.
//!
//! A named pipe that nobody writes to would hold the lab for ever, and a file of ten gigabytes end it. Pipes that the process
//! already has (`<(...)`, `/dev/stdin`) are read, as somebody writes to them.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read as _};
use std::os::unix::fs::{FileTypeExt as _, OpenOptionsExt as _};
use std::path::Path;

/// Bytes of a text that a person writes: an experiment, a diary, sources.
pub const TEXT: u64 = 4 << 20;
/// Bytes of data or of a program, which are kept in memory several times.
pub const DATA: u64 = 1 << 30;

/// Opens a file to be read.
///
/// # Errors
/// It cannot be opened; it is a named pipe, a socket or a folder.
pub fn open(path: &Path) -> io::Result<File> {
    if path.starts_with("/dev/fd") || path.starts_with("/dev/stdin") || path.starts_with("/proc") {
        return File::open(path);
    }
    refuse(&std::fs::metadata(path)?)?;
    // What was a file a moment ago may be a pipe now: opening it must not wait.
    let file = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(path)?;
    refuse(&file.metadata()?)?;
    Ok(file)
}

fn refuse(found: &Metadata) -> io::Result<()> {
    let kind = found.file_type();
    let what = match () {
        () if kind.is_fifo() => "a named pipe",
        () if kind.is_socket() => "a socket",
        () if kind.is_block_device() => "a disk",
        () if kind.is_dir() => return Err(io::ErrorKind::IsADirectory.into()),
        () => return Ok(()),
    };
    Err(io::Error::other(format!("it is {what}; give a regular file")))
}

/// Reads a file of at most so many bytes.
///
/// # Errors
/// As of [`open`]; it is larger.
pub fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let file = open(path)?;
    let size = file.metadata()?.len();
    let large = |what: String| io::Error::new(io::ErrorKind::FileTooLarge, what);
    if size > most {
        return Err(large(format!("it has {}, and at most {} are read", told(size), told(most))));
    }
    let mut bytes = Vec::with_capacity(size as usize);
    file.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(large(format!("it is larger than {}, the most that is read", told(most))));
    }
    Ok(bytes)
}

/// Reads a text of at most [`TEXT`] bytes.
///
/// # Errors
/// As of [`read`]; it is not UTF-8.
pub fn read_text(path: &Path) -> io::Result<String> {
    String::from_utf8(read(path, TEXT)?)
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8 text"))
}

fn told(bytes: u64) -> String {
    let units = [(30, "GiB"), (20, "MiB"), (10, "KiB")];
    match units.into_iter().find(|(shift, _)| bytes >> shift > 0) {
        Some((shift, unit)) => {
            format!("{} {unit}", (bytes as f64 / f64::from(1_u32 << shift) * 10.0).round() / 10.0)
        }
        None => format!("{bytes} bytes"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn what_is_no_regular_file_or_too_large_is_refused_at_once() {
        let folder = std::env::temp_dir().join(format!("assay-given-{}", std::process::id()));
        std::fs::create_dir(&folder).expect("a new folder");
        let file = |name: &str| folder.join(name);
        assert!(Command::new("mkfifo").arg(file("pipe")).status().expect("mkfifo").success());
        File::create(file("sparse")).and_then(|file| file.set_len(10 << 30)).expect("a sparse file");
        std::fs::write(file("text"), "text").expect("a file");
        std::fs::write(file("bytes"), [0xff]).expect("a file");
        let said = |path: &Path| read(path, DATA).expect_err("refused").to_string();
        assert_eq!(said(&file("pipe")), "it is a named pipe; give a regular file");
        assert_eq!(said(&file("sparse")), "it has 10 GiB, and at most 1 GiB are read");
        assert_eq!(said(&folder), "is a directory");
        assert_eq!(read_text(&file("text")).expect("a text"), "text");
        assert!(read_text(&file("bytes")).expect_err("no text").to_string().contains("UTF-8"));
        let endless = read(Path::new("/dev/zero"), TEXT).expect_err("too large").to_string();
        assert_eq!(endless, "it is larger than 4 MiB, the most that is read");
        assert_eq!(read(&file("text"), 3).expect_err("too large").kind(), io::ErrorKind::FileTooLarge);
        std::fs::remove_dir_all(&folder).expect("it is ours");
    }

    #[test]
    fn a_pipe_that_the_process_has_is_read() {
        let (reader, mut writer) = io::pipe().expect("a pipe");
        io::Write::write_all(&mut writer, b"text").expect("a short text");
        drop(writer);
        use std::os::fd::AsRawFd as _;
        let path = format!("/dev/fd/{}", reader.as_raw_fd());
        assert_eq!(read_text(Path::new(&path)).expect("a text"), "text");
    }
}
