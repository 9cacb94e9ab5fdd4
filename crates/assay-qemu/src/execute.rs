//! Another program is executed in place of this one: under the emulator too.

use crate::{blocks, notes, session};
use assay_pure::trace::channel::{NoteCode, process};
use std::ffi::c_void;
use std::sync::atomic::Ordering;

/// `execve` or `execveat`: addresses are the program's.
pub(crate) struct Call {
    pub(crate) folder: Option<i32>,
    pub(crate) path: u64,
    pub(crate) arguments: u64,
    pub(crate) environment: u64,
    pub(crate) flags: i32,
}

/// Copies a value out of the program's memory; false where there is none.
pub(crate) fn read_memory<T: Copy>(address: u64, value: &mut T) -> bool {
    let size = size_of::<T>();
    let local = libc::iovec { iov_base: std::ptr::from_mut(value).cast::<c_void>(), iov_len: size };
    let remote = libc::iovec { iov_base: blocks::host(address) as *mut c_void, iov_len: size };
    // SAFETY: the kernel checks the remote side, the local one is ours.
    let got = unsafe { libc::process_vm_readv(libc::getpid(), &raw const local, 1, &raw const remote, 1, 0) };
    got == size as isize
}

/// Says that this process goes on as another program.
pub(crate) fn execute(call: Call) {
    let _ = (call.folder, call.path, call.arguments, call.environment, call.flags);
    let own = &session::get().own;
    own.u32(process::STATE).store(process::REPLACED, Ordering::Release);
    notes::add(NoteCode::NotFollowed, b"");
}
