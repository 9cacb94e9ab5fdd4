//! What the reader of a trace must know, as sentences.

mod dispatch;
mod identity;
mod lacking;
mod place;

pub(super) use dispatch::dispatch;
pub(super) use identity::identity;
pub(super) use lacking::lacking;

use assay_linux::shared::SharedMemory;
use assay_pure::trace::channel::{MAX_BLOCKS, MAX_THREADS, NoteCode, process};
use assay_pure::words;
use std::sync::atomic::Ordering;

/// All that is to be said of a process.
pub(super) fn of(shared: &SharedMemory, damaged: u64) -> Vec<String> {
    let word = |offset: usize| shared.u32(offset).load(Ordering::Acquire);
    let mut notes = from_the_plugin(shared);
    let lost = word(process::LOST_THREADS);
    if lost > 0 {
        notes.push(format!(
            "{lost} threads were not traced: more than {MAX_THREADS} were alive at once. Their instructions and branches are missing."
        ));
    }
    if word(process::LOST_BLOCKS) > 0 {
        notes.push(format!(
            "Some code is missing from the counts: the program has more than {MAX_BLOCKS} blocks of code, or \
             memory ran out."
        ));
    }
    if damaged > 0 {
        notes.push(format!(
            "{} of the trace left out as invalid: the program may have overwritten them.",
            words::plural(damaged, "word")
        ));
    }
    notes
}

/// Code that changed while it was mapped: how often, and where first.
pub(super) fn changed_code(shared: &SharedMemory) -> Option<(u32, u64)> {
    let times = shared.u32(process::CHANGED).load(Ordering::Acquire);
    (times > 0).then(|| (times, shared.u64(process::CHANGED_AT).load(Ordering::Acquire)))
}

fn from_the_plugin(shared: &SharedMemory) -> Vec<String> {
    let used = (shared.u32(process::NOTES_USED).load(Ordering::Acquire) as usize).min(process::NOTES_SIZE);
    let mut notes = Vec::new();
    let mut at = 0;
    while at + 8 <= used {
        let place = process::NOTES + at;
        let length = (shared.u32(place + 4).load(Ordering::Relaxed) as usize).min(used - at - 8);
        let text = String::from_utf8_lossy(&shared.bytes(place + 8, length)).into_owned();
        if let Some(code) = NoteCode::from_code(shared.u32(place).load(Ordering::Relaxed)) {
            notes.push(sentence(code, &text));
        }
        at += 8 + length.next_multiple_of(8);
    }
    notes
}

fn sentence(code: NoteCode, text: &str) -> String {
    match code {
        NoteCode::OtherArchitecture => {
            format!("{text} was executed and not traced: it is for another architecture than the command.")
        }
        NoteCode::NotFollowed => {
            format!("{text} was executed and not traced: the emulator could not be started for it.")
        }
        NoteCode::NotAsked => {
            format!("{text} was executed and not traced: only the command itself is followed.")
        }
    }
}
