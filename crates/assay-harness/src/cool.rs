//! Making cold: lines flushed from all caches, caches filled with memory that is used for nothing else, a branch predictor
//! that has learned something else.

use crate::system::{self, Reserved};
use std::sync::Mutex;

pub(crate) use crate::flush::FLUSHES;
use crate::flush::{OTHER_BLOCKS, flush_code, flush_lines, write_other_work};

const LINE: usize = 64;
/// Stretches of memory that a program may declare.
const DECLARED_MAX: usize = 64;
/// Their code, bytes at most.
const OTHER_BYTES: usize = 524_288;
/// Of a function, fetched by a wrong guess before it is found out.
const ENTRY_BYTES: usize = 256;
/// Of the code around a call, generously.
const AROUND_BYTES: usize = 512;

/// Where the declared memory starts, as an address, and its bytes.
static DECLARED: Mutex<Vec<(usize, usize)>> = Mutex::new(Vec::new());

/// See [`crate::reads`].
pub(crate) fn declare(start: *const u8, bytes: usize) {
    let mut declared = DECLARED.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    match declared.iter_mut().find(|(known, _)| *known == start.addr()) {
        Some(found) => found.1 = bytes,
        None => declared.push((start.expose_provenance(), bytes)),
    }
}

/// All that is declared.
pub(crate) fn declared() -> Vec<(usize, usize)> {
    DECLARED.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clone()
}

/// Declares this and nothing else.
pub(crate) fn declare_only(declared: Vec<(usize, usize)>) {
    *DECLARED.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = declared;
}

/// Flushes what the program declared; false where it declared nothing.
fn flush_declared() -> Result<bool, String> {
    let declared = DECLARED.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if declared.len() > DECLARED_MAX {
        return Err("the program declared more stretches of memory by assay_harness::reads than can be kept"
            .to_owned());
    }
    for &(start, bytes) in declared.iter() {
        flush_lines(std::ptr::with_exposed_provenance(start), bytes, false);
    }
    Ok(!declared.is_empty())
}

/// Makes the bytes of calls cold, and what the program declared. `warm` makes all around the calls warm again.
pub(crate) fn data(listed: &[&[u8]], evict_bytes: usize, warm: &mut dyn FnMut()) -> Result<(), String> {
    if !FLUSHES {
        return everything(evict_bytes, warm);
    }
    flush_declared()?;
    listed.iter().for_each(|data| flush_lines(data.as_ptr(), data.len(), false));
    Ok(())
}

/// Makes a prepared state cold. Only the program knows where it lies: flushes what it declared, or empties all caches.
pub(crate) fn prepared_data(input: &[u8], evict_bytes: usize, warm: &mut dyn FnMut()) -> Result<(), String> {
    if FLUSHES && flush_declared()? {
        flush_lines(input.as_ptr(), input.len(), false);
        return Ok(());
    }
    everything(evict_bytes, warm)
}

/// Makes all cold, where what calls read lies who knows where; what the program declared lies there too.
pub(crate) fn everything(evict_bytes: usize, warm: &mut dyn FnMut()) -> Result<(), String> {
    evict(evict_bytes)?;
    warm();
    Ok(())
}

/// Where a call goes and where it comes from, as addresses of code.
#[derive(Clone, Copy)]
pub(crate) struct CallPlace {
    pub(crate) entry: *const u8,
    /// The code around the call, where it is known.
    pub(crate) around: Option<*const u8>,
}

/// Makes cold the program's code and what the branch predictor knows of it, but for the code around the call; the bytes
/// that the call gets stay warm.
///
/// The call of nothing that warms its surroundings may be predicted to go where the last sample's call went, and a wrong
/// guess fetches the first lines of that code (without more ado they were warm half of the time on Zen 4). So the predictor
/// is filled and led astray once before the code is flushed, and the first lines are flushed once more at the end.
pub(crate) fn code(listed: &[&[u8]], place: CallPlace, warm: &mut dyn FnMut()) -> Result<(), String> {
    let mut fill_predictor = || {
        do_other_work()?;
        listed.iter().for_each(|data| walk(data));
        warm();
        Ok::<(), String>(())
    };
    fill_predictor()?;
    flush_code();
    fill_predictor()?;
    let around = place.around.map_or(0, <*const u8>::addr);
    for line in (0..ENTRY_BYTES).step_by(LINE) {
        let line = place.entry.map_addr(|entry| entry & !(LINE - 1)).wrapping_add(line);
        if line.addr() + LINE <= around || line.addr() >= around + AROUND_BYTES {
            flush_lines(line, LINE, true);
        }
    }
    Ok(())
}

/// Reads one byte of each line.
fn walk(bytes: &[u8]) {
    bytes.iter().step_by(LINE).chain(bytes.last()).for_each(|byte| _ = system::read(byte));
}

/// What all caches are filled with: its memory, and whether it has been written since it was released.
static OTHER_MEMORY: Mutex<Option<(Reserved, bool)>> = Mutex::new(None);

/// Fills all caches with memory that is used for nothing else.
fn evict(bytes: usize) -> Result<(), String> {
    let mut memory = OTHER_MEMORY.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if memory.as_ref().is_none_or(|(memory, _)| memory.len() < bytes) {
        let fresh =
            Reserved::new(bytes).map_err(|error| format!("no memory to empty the caches with: {error}"))?;
        *memory = Some((fresh, false));
    }
    let (memory, written) = memory.as_mut().expect("made above");
    if !std::mem::replace(written, true) {
        memory.fill(1); // pages that were never written are all the same page of zeros
    }
    walk(memory.bytes(0, bytes));
    Ok(())
}

/// Memory that is held to fill the caches with, bytes.
pub(crate) fn held_bytes() -> u64 {
    let memory = OTHER_MEMORY.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    memory.as_ref().filter(|(_, written)| *written).map_or(0, |(memory, _)| memory.len() as u64)
}

/// Gives back what a request needed to empty the caches.
pub(crate) fn release() {
    let mut memory = OTHER_MEMORY.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if let Some((memory, written)) = memory.as_mut().filter(|(_, written)| *written) {
        memory.release();
        *written = false;
    }
}

/// splitmix64.
pub(crate) fn mix(seed: &mut u64) -> u64 {
    *seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mixed = (*seed ^ (*seed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// Executes branches on outcomes that never come again. Their code is made at run time, so that a program
/// that does not use them is linked the same.
fn do_other_work() -> Result<(), String> {
    static WORK: Mutex<Option<(extern "C" fn(*const u32), u64)>> = Mutex::new(None);
    let mut work = WORK.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if work.is_none() {
        let made = system::executable(OTHER_BYTES, write_other_work).map_err(|error| {
            format!(
                "this system executes no code generated at run time ({error}), so the branch predictor \
                     cannot be filled"
            )
        })?;
        *work = Some((made, 42));
    }
    let (function, seed) = work.as_mut().expect("made above");
    let outcomes: Vec<u32> = (0..OTHER_BLOCKS).map(|_| (mix(seed) >> 32) as u32).collect();
    function(outcomes.as_ptr());
    Ok(())
}
