//! Ctrl-C as a wish to stop: the first SIGINT or SIGTERM sets a flag that the runner reads between visits, the second
//! ends the process at once.

use std::sync::atomic::{AtomicBool, Ordering};

static ASKED: AtomicBool = AtomicBool::new(false);

extern "C" fn on_signal(signal: libc::c_int) {
    if ASKED.swap(true, Ordering::SeqCst) {
        // SAFETY: _exit and signal numbers are async-signal-safe; children die with us by their death signal.
        unsafe { libc::_exit(128 + signal) };
    }
}

/// From now on SIGINT and SIGTERM only ask.
pub fn catch() {
    for signal in [libc::SIGINT, libc::SIGTERM] {
        // SAFETY: the handler only touches an atomic and calls _exit, both async-signal-safe.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = on_signal as extern "C" fn(libc::c_int) as usize;
            action.sa_flags = libc::SA_RESTART;
            libc::sigaction(signal, &action, std::ptr::null_mut());
        }
    }
}

/// Has anybody asked to stop since [`catch`]?
pub fn asked() -> bool {
    ASKED.load(Ordering::SeqCst)
}
