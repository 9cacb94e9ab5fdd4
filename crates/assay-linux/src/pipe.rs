//! Named pipes from measured programs to the lab.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

/// Makes a named pipe and opens both of its ends, so that it has no end while nobody writes. Reading does not wait.
///
/// # Errors
/// It cannot be made or opened.
pub fn named(path: &Path) -> io::Result<File> {
    let context = |what: &str, error: io::Error| {
        io::Error::new(error.kind(), format!("{what} the named pipe {}: {error}", path.display()))
    };
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(context("replacing", error)),
        _ => {}
    }
    let name = std::ffi::CString::new(path.as_os_str().as_bytes())?;
    // SAFETY: a string with its end, alive during the call.
    if unsafe { libc::mkfifo(name.as_ptr(), 0o600) } != 0 {
        return Err(context("making", io::Error::last_os_error()));
    }
    let opened = File::options().read(true).write(true).custom_flags(libc::O_NONBLOCK).open(path);
    let file = opened.map_err(|error| context("opening", error))?;
    // A benchmark should not wait for the lab to read; refused where the user's limit is lower.
    // SAFETY: plain numbers of a descriptor that is open.
    unsafe { libc::fcntl(file.as_raw_fd(), libc::F_SETPIPE_SZ, 1 << 20) };
    Ok(file)
}
