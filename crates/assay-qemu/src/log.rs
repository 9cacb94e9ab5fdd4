//! The stream of a thread: an id per executed block, written by the emulator's generated code through one short function.

use crate::futex;
use crate::heads::HEADS;
use crate::session;
use assay_predict::trace::channel::{self, ESCAPE, MAX_THREADS, StreamEvent, head, process, ring};
use std::ffi::{c_uint, c_void};
use std::sync::atomic::{AtomicU32, Ordering};

/// The two words that are used for each block, and those for repeated string instructions, which the lab does not read.
#[repr(C)]
struct Hot {
    cursor: *mut u32,
    end: *mut u32,
    /// Where the cursor stood behind the repeated instruction logged last, in which round of the ring, and its block.
    repeated_at: *mut u32,
    repeated_round: u32,
    repeated: u32,
}

fn hot(index: u32) -> *mut Hot {
    // SAFETY: index is below MAX_THREADS (checked by the callers).
    unsafe { HEADS.place().add(index as usize * head::SIZE).cast() }
}

fn word(index: u32, offset: usize) -> &'static AtomicU32 {
    // SAFETY: within the head; heads live as long as the plugin.
    unsafe { AtomicU32::from_ptr(HEADS.place().add(index as usize * head::SIZE + offset).cast()) }
}

/// Called by generated code at the beginning of each block.
pub(crate) extern "C" fn executed(index: c_uint, id: *mut c_void) {
    if index < MAX_THREADS {
        // SAFETY: the head is this thread's own.
        unsafe { put(index, id as usize as u32) };
    }
}

/// Called likewise for a block that is a repeated string instruction alone, which QEMU executes once per iteration: logged
/// unless it goes on with the word before. A copy of megabytes would fill the ring with what the lab throws away.
pub(crate) extern "C" fn repeated(index: c_uint, id: *mut c_void) {
    if index >= MAX_THREADS {
        return;
    }
    let id = id as usize as u32;
    let round = || word(index, head::FILLED).load(Ordering::Relaxed);
    // SAFETY: as above.
    unsafe {
        let hot = hot(index);
        // The same place is passed again a whole ring later, so the round is looked at too.
        if (*hot).repeated_at == (*hot).cursor && (*hot).repeated == id && (*hot).repeated_round == round() {
            return;
        }
        put(index, id);
        (*hot).repeated_at = (*hot).cursor;
        (*hot).repeated_round = round();
        (*hot).repeated = id;
    }
}

/// # Safety
/// Called on the thread that `index` belongs to, with `index` below the limit.
#[inline(always)]
unsafe fn put(index: u32, value: u32) {
    // SAFETY: cursor points into this head's ring; `full` keeps it there.
    unsafe {
        let hot = hot(index);
        let cursor = (*hot).cursor;
        if cursor.is_null() {
            return;
        }
        store(cursor, value);
        let next = cursor.add(1);
        (&raw mut (*hot).cursor).write_volatile(next);
        if next == (*hot).end {
            full(index);
        }
    }
}

/// Writes a word past the caches: the lab has read this line a round ago, and taking it back from the other processor's
/// cache costs more than the block (6 ns against 2 on the developing machine).
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn store(place: *mut u32, value: u32) {
    // SAFETY: the caller's.
    unsafe { std::arch::x86_64::_mm_stream_si32(place.cast(), value.cast_signed()) };
}

#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
unsafe fn store(place: *mut u32, value: u32) {
    // SAFETY: the caller's.
    unsafe { place.write_volatile(value) };
}

/// Words written past the caches are seen by others before what is written next.
fn publish() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 has it.
    unsafe {
        std::arch::x86_64::_mm_sfence();
    }
    std::sync::atomic::fence(Ordering::SeqCst);
}

/// Adds an event to the stream of the calling thread.
pub(crate) fn event(index: u32, event: StreamEvent) {
    if index >= MAX_THREADS {
        return;
    }
    let (words, count) = event.to_words();
    // SAFETY: called from callbacks that run on the thread itself.
    unsafe {
        put(index, ESCAPE);
        for value in &words[..count] {
            put(index, *value);
        }
    }
}

/// A chunk is full: publish it, wait for room, go on with the next one.
#[cold]
extern "C" fn full(index: u32) {
    publish();
    let ring = ring(index);
    let filled = word(index, head::FILLED).load(Ordering::Relaxed).wrapping_add(1);
    if session::muted() {
        return point(index, filled.wrapping_sub(1));
    }
    word(index, head::FILLED).store(filled, Ordering::SeqCst);
    let drained = word(index, head::DRAINED);
    let behind = || filled.wrapping_sub(drained.load(Ordering::SeqCst));
    if behind() >= ring.chunks / 2 {
        session::ring_bell();
    }
    while behind() >= ring.chunks {
        if !session::lab_listens() {
            session::mute();
            break;
        }
        word(index, head::WAITING).store(1, Ordering::SeqCst);
        let seen = drained.load(Ordering::SeqCst);
        if filled.wrapping_sub(seen) >= ring.chunks {
            session::ring_bell();
            futex::wait(drained, seen, 100);
        }
        word(index, head::WAITING).store(0, Ordering::Relaxed);
    }
    point(index, filled);
}

/// Sets cursor and end to the chunk that comes after `filled` ones.
fn point(index: u32, filled: u32) {
    let ring = ring(index);
    let base = session::get().own.base();
    let offset = ring.offset + (filled % ring.chunks) as usize * ring.chunk_bytes;
    // SAFETY: the ring lies within the process's file; the head is this thread's own.
    unsafe {
        let hot = hot(index);
        let start = base.add(offset).cast::<u32>();
        (*hot).end = start.add(ring.chunk_bytes / 4);
        (&raw mut (*hot).cursor).write_volatile(start);
    }
}

/// Gives a head to a new thread. The one before it on this head has ended; the lab is waited for, if it has not read
/// everything of it.
pub(crate) fn begin(index: u32) {
    let own = &session::get().own;
    if index >= MAX_THREADS {
        own.u32(process::LOST_THREADS).fetch_add(1, Ordering::Relaxed);
        return;
    }
    end(index);
    let state = word(index, head::STATE);
    while state.load(Ordering::SeqCst) == head::ENDED && session::lab_listens() && !session::muted() {
        session::ring_bell();
        futex::wait(state, head::ENDED, 100);
    }
    let number = own.u32(process::THREADS).fetch_add(1, Ordering::Relaxed);
    word(index, head::THREAD).store(number, Ordering::Relaxed);
    word(index, head::FILLED).store(0, Ordering::Relaxed);
    word(index, head::DRAINED).store(0, Ordering::Relaxed);
    // SAFETY: the head is the calling thread's own from here on.
    unsafe { (*hot(index)).repeated_at = std::ptr::null_mut() };
    point(index, 0);
    own.u32(process::HEADS_USED).fetch_max(index + 1, Ordering::Relaxed);
    state.store(head::LIVE, Ordering::SeqCst);
}

/// The thread of this head writes no more.
pub(crate) fn end(index: u32) {
    publish();
    if index < MAX_THREADS
        && word(index, head::STATE)
            .compare_exchange(head::LIVE, head::ENDED, Ordering::SeqCst, Ordering::SeqCst)
            .is_ok()
    {
        session::ring_bell();
    }
}

/// The layout that the words above rely on.
const _: () = {
    assert!(head::CURSOR == 0 && head::END == 8 && size_of::<Hot>() <= head::FILLED);
    assert!(channel::ESCAPE == u32::MAX);
};
