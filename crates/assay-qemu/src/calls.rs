//! Calls of the system that matter: the end, marks of the harness, handlers of signals, code that is unmapped, programs
//! executed in place of this one.

use crate::api::{Api, PluginId};
use crate::{blocks, execute, futex, log, memory, session, threads};
use assay_predict::trace::channel::{MARK_OPTION, StreamEvent, process};
use std::cell::Cell;
use std::ffi::c_uint;
use std::sync::atomic::Ordering;

/// Numbers of the calls, by architecture.
struct Numbers {
    exit: i64,
    exit_group: i64,
    prctl: i64,
    signal_action: i64,
    signal_return: i64,
    map: i64,
    unmap: i64,
    remap: i64,
    execute: i64,
    execute_at: i64,
}

/// Linux, arch/x86/entry/syscalls/syscall_64.tbl.
const X86_64: Numbers = Numbers {
    exit: 60,
    exit_group: 231,
    prctl: 157,
    signal_action: 13,
    signal_return: 15,
    map: 9,
    unmap: 11,
    remap: 25,
    execute: 59,
    execute_at: 322,
};

/// Linux, include/uapi/asm-generic/unistd.h.
const AARCH64: Numbers = Numbers {
    exit: 93,
    exit_group: 94,
    prctl: 167,
    signal_action: 134,
    signal_return: 139,
    map: 222,
    unmap: 215,
    remap: 216,
    execute: 221,
    execute_at: 281,
};

/// `MAP_FIXED` and `MAP_FIXED_NOREPLACE` of both architectures; the latter replaces nothing.
const MAP_FIXED: u64 = 0x10;

/// Signals that an instruction itself causes: SIGILL, SIGTRAP, SIGBUS, SIGFPE, SIGSEGV.
const FAULTS: [u64; 5] = [4, 5, 7, 8, 11];

thread_local! {
    static INDEX: Cell<u32> = const { Cell::new(0) };
}

/// The index of the calling thread, as of its last call of the system.
pub(crate) fn index() -> u32 {
    INDEX.get()
}

pub(crate) fn watch(api: &Api, id: PluginId) {
    // SAFETY: QEMU's own id, a function of the right type.
    unsafe { (api.on_call)(id, called) };
}

#[rustfmt::skip]
extern "C" fn called(
    id: PluginId, index: c_uint, number: i64, a: u64, b: u64, c: u64, d: u64, e: u64, _: u64, _: u64, _: u64,
) {
    INDEX.set(index);
    if session::muted() {
        return;
    }
    let numbers = if session::get().architecture == process::X86_64 { &X86_64 } else { &AARCH64 };
    match number {
        n if n == numbers.exit || n == numbers.exit_group => exits(n == numbers.exit_group || threads::alone(), a as u32),
        n if n == numbers.prctl && a == MARK_OPTION => mark(index, b, [c as u32, d as u32, e as u32]),
        n if n == numbers.signal_return && blocks::logging() => log::event(index, StreamEvent::SignalReturns),
        n if n == numbers.signal_action && b != 0 => handler(id, a, b),
        n if n == numbers.unmap => blocks::forget(a, b),
        n if n == numbers.map && d & MAP_FIXED != 0 => blocks::forget(a, b),
        n if n == numbers.remap => {
            blocks::forget(a, b);
            blocks::forget(e, c);
        }
        n if n == numbers.execute => {
            execute::execute(&execute::ExecCall { folder: None, path: a, arguments: b, environment: c, flags: 0 });
        },
        n if n == numbers.execute_at => {
            execute::execute(&execute::ExecCall {
                folder: Some(a as i32),
                path: b,
                arguments: c,
                environment: d,
                flags: e as i32,
            });
        }
        _ => {}
    }
}

/// One thread's exit is the process's when it is the last; the lab takes the code for that only once the process is gone.
fn exits(whole: bool, code: u32) {
    let own = &session::get().own;
    own.u32(process::EXIT_CODE).store(code & 0xff, Ordering::Relaxed);
    if whole {
        own.u32(process::STATE).store(process::EXITING, Ordering::Release);
    }
}

/// Adds the handler's address to those that the lab knows. A fault that is handled leaves a block before its end; only the
/// order of blocks can tell where, so from here on it is logged.
fn handler(id: PluginId, signal: u64, action: u64) {
    // The first word of the kernel's `struct sigaction` is the handler on both architectures; 0 and 1 are no handlers.
    let Some(address) = memory::word(action).filter(|address| *address > 1) else {
        return;
    };
    if FAULTS.contains(&signal) {
        blocks::log_from_now_on(id);
    }
    let _one_at_a_time = blocks::code();
    let own = &session::get().own;
    let used = own.u32(process::HANDLERS_USED).load(Ordering::Relaxed);
    let place = |at: u32| own.u64(process::HANDLERS + 8 * at as usize);
    let known = (0..used).any(|at| place(at).load(Ordering::Relaxed) == address);
    if !known && used < process::MAX_HANDLERS {
        place(used).store(address, Ordering::Relaxed);
        own.u32(process::HANDLERS_USED).store(used + 1, Ordering::Release);
    }
}

/// The harness says where a region begins and ends. Where blocks are counted, not logged, the lab reads the counters now.
fn mark(index: u32, what: u64, [variant, input, pass]: [u32; 3]) {
    if what != 1 && what != 2 {
        return;
    }
    if blocks::logging() {
        let begins = StreamEvent::RegionBegins { variant, input, pass };
        return log::event(index, if what == 1 { begins } else { StreamEvent::RegionEnds });
    }
    let own = &session::get().own;
    for (at, word) in [what as u32, variant, input, pass].into_iter().enumerate() {
        own.u32(process::MARK + 4 * at).store(word, Ordering::Relaxed);
    }
    let marks = own.u32(process::MARKS).fetch_add(1, Ordering::SeqCst).wrapping_add(1);
    let read = own.u32(process::MARKS_READ);
    session::ring_bell();
    while read.load(Ordering::Acquire) != marks && session::lab_listens() {
        futex::wait(read, marks.wrapping_sub(1), 20);
        session::ring_bell();
    }
}
