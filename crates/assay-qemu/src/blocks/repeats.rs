//! Repeated string instructions (`rep movs`, ...) where blocks are only counted.
//!
//! QEMU executes a block that holds the instruction alone once per iteration. It is one instruction, so only the block's
//! first execution in a row counts. What comes between (a block behind such an instruction) ends the row.
//! Known limit: a signal that arrives inside a row, and whose handler repeats another instruction, begins a new row.

use crate::api::OnExecute;
use crate::session;
use assay_predict::trace::channel::{BlockRecord, process};
use assay_predict::trace::classify::{Flow, may_follow_repeat};
use std::ffi::{c_uint, c_void};
use std::sync::atomic::{AtomicU64, Ordering};

/// Address of the string instruction executed last, 0 when a block came behind it. Used while there is one thread.
static LAST: AtomicU64 = AtomicU64::new(0);

/// What a block has to call, if anything.
pub(super) fn callback(record: &BlockRecord, host_pc: u64, flow: Flow) -> Option<OnExecute> {
    match flow {
        Flow::Repeat if record.pc == record.last => Some(alone),
        Flow::Repeat => Some(at_the_end),
        _ => follows(host_pc).then_some(behind as OnExecute),
    }
}

/// Whether the bytes in front of the block may be such an instruction. Across a page's border nothing is read: perhaps.
fn follows(host_pc: u64) -> bool {
    let in_page = (host_pc & 4095) as usize;
    if in_page < 6 {
        return true;
    }
    // SAFETY: on the same page as the block, which QEMU has just read.
    let before = unsafe { std::slice::from_raw_parts((host_pc - 6) as *const u8, 6) };
    may_follow_repeat(before)
}

fn record_word(id: *mut c_void, offset: usize) -> u64 {
    session::get()
        .own
        .u64(process::RECORDS + id as usize * BlockRecord::SIZE + offset)
        .load(Ordering::Relaxed)
}

/// The block is the instruction alone: counts unless it goes on with the one executed last.
extern "C" fn alone(_: c_uint, id: *mut c_void) {
    let pc = record_word(id, 0);
    if LAST.load(Ordering::Relaxed) != pc {
        session::get().own.u64(process::COUNTERS + 8 * id as usize).fetch_add(1, Ordering::Relaxed);
        LAST.store(pc, Ordering::Relaxed);
    }
}

/// The block ends with the instruction; generated code counts it.
extern "C" fn at_the_end(_: c_uint, id: *mut c_void) {
    LAST.store(record_word(id, 8), Ordering::Relaxed);
}

/// The block may follow such an instruction.
extern "C" fn behind(_: c_uint, _: *mut c_void) {
    LAST.store(0, Ordering::Relaxed);
}
