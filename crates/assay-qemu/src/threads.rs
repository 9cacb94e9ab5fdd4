//! Threads of the program: one thread of the emulator each, called by an index that is used again after its end.

use crate::api::{Api, PluginId};
use crate::{blocks, log};
use std::ffi::c_uint;
use std::sync::atomic::{AtomicU32, Ordering};

/// The index of the process's first thread: not 0 in a child that another thread than the first forked.
static FIRST: AtomicU32 = AtomicU32::new(0);
/// Threads that have begun and not ended.
static ALIVE: AtomicU32 = AtomicU32::new(0);

pub(crate) fn watch(api: &Api, id: PluginId) {
    // SAFETY: QEMU's own id, functions of the right type.
    unsafe {
        (api.on_thread_start)(id, started);
        (api.on_thread_end)(id, ended);
    }
}

/// Called before the new thread runs, by its creator.
extern "C" fn started(_: PluginId, index: c_uint) {
    ALIVE.fetch_add(1, Ordering::Relaxed);
    if index != FIRST.load(Ordering::Relaxed) {
        blocks::several_threads();
    }
    log::begin(index);
}

extern "C" fn ended(_: PluginId, index: c_uint) {
    ALIVE.fetch_sub(1, Ordering::Relaxed);
    log::end(index);
}

/// Whether the calling thread is the only one that is left.
pub(crate) fn alone() -> bool {
    ALIVE.load(Ordering::Relaxed) <= 1
}

/// In a new child: the thread that forked is its only one.
pub(crate) fn only(index: u32) {
    FIRST.store(index, Ordering::Relaxed);
    ALIVE.store(1, Ordering::Relaxed);
    log::begin(index);
}
