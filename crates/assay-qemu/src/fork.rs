//! Forks: the child writes to a file of its own, at the same addresses, with counters at zero.

use crate::blocks::{self, RecordedCode};
use crate::session::KnownCode;
use crate::{calls, session, threads};
use std::cell::RefCell;
use std::sync::MutexGuard;

thread_local! {
    /// Held over the fork, so that the child's copy of what it protects is whole.
    static HELD: RefCell<Option<MutexGuard<'static, Option<RecordedCode>>>> = const { RefCell::new(None) };
}

/// Installs the handlers. The emulator forks through the C library, for the program's fork and vfork alike.
pub(crate) fn watch() {
    // SAFETY: functions that live as long as the process.
    unsafe { libc::pthread_atfork(Some(before), Some(in_parent), Some(in_child)) };
}

unsafe extern "C" fn before() {
    let guard = blocks::code();
    HELD.with(|held| *held.borrow_mut() = Some(guard));
}

unsafe extern "C" fn in_parent() {
    HELD.with(|held| held.borrow_mut().take());
}

unsafe extern "C" fn in_child() {
    HELD.with(|held| held.borrow_mut().take());
    let known = KnownCode { blocks: blocks::recorded(), lengths_bytes: blocks::lengths_used() };
    if session::reopen_after_fork(known) {
        threads::only(calls::index());
    }
}
