//! What the user must be told, in shared memory.

use crate::session;
use assay_predict::trace::channel::{NoteCode, process};
use std::sync::atomic::{AtomicBool, Ordering};

static BUSY: AtomicBool = AtomicBool::new(false);

/// Adds a note about `text`, cut to 4000 bytes; dropped when there is no room.
pub(crate) fn add(code: NoteCode, text: &[u8]) {
    while BUSY.swap(true, Ordering::Acquire) {
        std::hint::spin_loop();
    }
    let own = &session::get().own;
    let used = own.u32(process::NOTES_USED).load(Ordering::Relaxed) as usize;
    let text = &text[..text.len().min(4000)];
    let size = 8 + text.len().next_multiple_of(8);
    if used + size <= process::NOTES_SIZE {
        let place = process::NOTES + used;
        own.u32(place).store(code.code(), Ordering::Relaxed);
        own.u32(place + 4).store(text.len() as u32, Ordering::Relaxed);
        own.write(place + 8, text);
        own.u32(process::NOTES_USED).store((used + size) as u32, Ordering::Release);
    }
    BUSY.store(false, Ordering::Release);
}
