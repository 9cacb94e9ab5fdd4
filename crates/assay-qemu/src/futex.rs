//! Waiting on a word of shared memory.

use std::sync::atomic::AtomicU32;

/// Sleeps while `word` is `seen`, `milliseconds` at most; may wake early.
pub(crate) fn wait(word: &AtomicU32, seen: u32, milliseconds: u32) {
    let timeout = libc::timespec {
        tv_sec: i64::from(milliseconds / 1000),
        tv_nsec: i64::from(milliseconds % 1000) * 1_000_000,
    };
    // SAFETY: the word and the time outlive the call.
    unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAIT, seen, &raw const timeout) };
}

/// Wakes all that sleep on `word`.
pub(crate) fn wake(word: &AtomicU32) {
    // SAFETY: the word outlives the call.
    unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAKE, i32::MAX) };
}
