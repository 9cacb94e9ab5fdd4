//! The program's memory, read without believing its pointers.

use crate::blocks;
use std::ffi::{CString, c_void};

/// The most words of an argument list, and the most bytes of one: the kernel's own limits are near.
const MOST_WORDS: usize = 1 << 20;
const MOST_BYTES: usize = 1 << 20;

/// Copies bytes from the program's address; false where there is no such memory.
fn copy(address: u64, into: &mut [u8]) -> bool {
    let from = blocks::host(address);
    let local = libc::iovec { iov_base: into.as_mut_ptr().cast::<c_void>(), iov_len: into.len() };
    let remote = libc::iovec { iov_base: from as *mut c_void, iov_len: into.len() };
    // SAFETY: the kernel checks the remote side, the local one is ours.
    let got = unsafe { libc::process_vm_readv(libc::getpid(), &raw const local, 1, &raw const remote, 1, 0) };
    if got == into.len() as isize {
        return true;
    }
    let denied = matches!(
        std::io::Error::last_os_error().raw_os_error(),
        Some(libc::EPERM | libc::ENOSYS | libc::EACCES)
    );
    if got < 0 && denied && from >= 4096 {
        // SAFETY: a container forbids the careful way; the program is about to hand this address to the kernel itself.
        unsafe { std::ptr::copy_nonoverlapping(from as *const u8, into.as_mut_ptr(), into.len()) };
        return true;
    }
    false
}

/// The word at an address.
pub(crate) fn word(address: u64) -> Option<u64> {
    let mut bytes = [0; 8];
    copy(address, &mut bytes).then(|| u64::from_le_bytes(bytes))
}

/// The text that ends in a zero byte.
pub(crate) fn text(mut address: u64) -> Option<CString> {
    let mut bytes = Vec::new();
    while bytes.len() < MOST_BYTES {
        // Not across a border of pages: the next page need not be there.
        let piece = (64 - (address % 64)) as usize;
        let from = bytes.len();
        bytes.resize(from + piece, 0);
        if !copy(address, &mut bytes[from..]) {
            return None;
        }
        if let Some(end) = bytes[from..].iter().position(|byte| *byte == 0) {
            bytes.truncate(from + end);
            return CString::new(bytes).ok();
        }
        address += piece as u64;
    }
    None
}

/// A list of texts that ends in a null pointer; a null list is empty, as for the kernel.
pub(crate) fn texts(address: u64) -> Option<Vec<CString>> {
    let mut found = Vec::new();
    if address == 0 {
        return Some(found);
    }
    for at in 0..MOST_WORDS as u64 {
        match word(address.wrapping_add(8 * at))? {
            0 => return Some(found),
            pointer => found.push(text(pointer)?),
        }
    }
    None
}
