//! As whom does this process act, and would a program act as somebody else?

use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// The effective user.
pub fn user() -> u32 {
    // SAFETY: no arguments, cannot fail.
    unsafe { libc::geteuid() }
}

/// The effective group.
pub fn group() -> u32 {
    // SAFETY: no arguments, cannot fail.
    unsafe { libc::getegid() }
}

/// Whether a file has capabilities that the kernel gives to whoever executes it (capabilities(7)).
pub fn gives_capabilities(file: &Path) -> bool {
    let Ok(path) = CString::new(file.as_os_str().as_bytes()) else { return false };
    // SAFETY: two valid strings; nothing is written where the size is 0.
    unsafe { libc::getxattr(path.as_ptr(), c"security.capability".as_ptr(), std::ptr::null_mut(), 0) > 0 }
}
