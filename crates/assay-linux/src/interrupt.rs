//! Ctrl-C as a wish to stop: the first SIGINT, SIGTERM or SIGHUP sets a flag that the runner reads between visits. Whatever
//! does not end by itself is ended within two seconds, the second signal ends all at once.
//!
//! A thread sleeps until the first signal. After [`GRACE`] it kills all that this process has started, so that nobody waits any
//! longer for a compiler, or for a program that is stopped or hangs; the lab then ends in its own way, and is ended where it
//! does not. Processes whose parent has ended are adopted ([`family::adopt_orphans`]), so those of another session are found
//! too.

use crate::family;
use std::os::fd::RawFd;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::time::{Duration, Instant};

static ASKED: AtomicBool = AtomicBool::new(false);
/// The end of the pipe that signals are written to; -1: nobody reads it.
static BELL: AtomicI32 = AtomicI32::new(-1);

/// What asks to stop.
const SIGNALS: [libc::c_int; 3] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP];
/// How far the lab may be behind a program that the same signal was sent to: it is scheduled when the machine has time.
const BEHIND: Duration = Duration::from_secs(2);
/// How long everything has to end in its own way.
const GRACE: Duration = Duration::from_millis(1000);
/// How long the lab then has to end: it keeps what it measured and shows it.
const LAST: Duration = Duration::from_millis(600);
/// An unoptimised lab takes longer, unless this is set.
const STRICT: &str = "ASSAY_STRICT_INTERRUPT";
const UNOPTIMISED: Duration = Duration::from_secs(20);
/// How often what was started meanwhile is killed, too.
const LOOK: Duration = Duration::from_millis(50);

extern "C" fn on_signal(signal: libc::c_int) {
    let again = ASKED.swap(true, Ordering::SeqCst);
    let bell = BELL.load(Ordering::SeqCst);
    // SAFETY: _exit, write and signal numbers are async-signal-safe; children die with us by their death signal. What write
    // does to errno is undone.
    unsafe {
        if bell < 0 && again {
            libc::_exit(128 + signal);
        }
        if bell >= 0 {
            let errno = libc::__errno_location();
            let before = *errno;
            let number = signal as u8;
            libc::write(bell, (&raw const number).cast(), 1);
            *errno = before;
        }
    }
}

/// From now on SIGINT, SIGTERM and SIGHUP only ask at first.
pub fn catch() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        family::adopt_orphans();
        if let Some(bell) = watch() {
            BELL.store(bell, Ordering::SeqCst);
        }
        for signal in SIGNALS {
            if !is_ignored(signal) {
                // SAFETY: the handler only touches atomics and calls async-signal-safe functions.
                unsafe {
                    let mut action: libc::sigaction = std::mem::zeroed();
                    action.sa_sigaction = on_signal as extern "C" fn(libc::c_int) as usize;
                    action.sa_flags = libc::SA_RESTART;
                    libc::sigaction(signal, &action, std::ptr::null_mut());
                }
            }
        }
    });
}

/// Has anybody asked to stop since [`catch`]?
pub fn asked() -> bool {
    ASKED.load(Ordering::SeqCst)
}

/// To be called when a measured program was ended by a signal: Ctrl-C and a cluster's end of a job go to all processes of a group,
/// and which of them has it first is chance. If it is one that asks the lab to stop, waits until the lab has it, too
/// ([`wait_for_own`]), and says whether it has.
pub fn wait_behind(signal: i32) -> bool {
    let asks = SIGNALS.contains(&signal) && !is_ignored(signal);
    if asks {
        wait_for_own();
    }
    asks && asked()
}

/// Waits until somebody has asked to stop, for at most [`BEHIND`]: where a signal has ended something that was started. Once this
/// was in vain nobody waits again: what ends itself by such a signal does so each time, and a comparison starts it often.
pub fn wait_for_own() {
    static IN_VAIN: AtomicBool = AtomicBool::new(false);
    if IN_VAIN.load(Ordering::SeqCst) {
        return;
    }
    let deadline = Instant::now() + BEHIND;
    while !asked() && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(5));
    }
    IN_VAIN.store(!asked(), Ordering::SeqCst);
}

/// Ends what this process has started and left behind, if somebody has asked to stop: to be called last.
pub fn finish() {
    if asked() {
        family::kill_below(std::process::id());
    }
}

/// `nohup` has SIGHUP ignored, which holds.
fn is_ignored(signal: libc::c_int) -> bool {
    // SAFETY: a struct to fill.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        signal == libc::SIGHUP
            && libc::sigaction(signal, std::ptr::null(), &mut action) == 0
            && action.sa_sigaction == libc::SIG_IGN
    }
}

/// Starts the thread that waits for signals; the end of the pipe to write them to.
fn watch() -> Option<RawFd> {
    let mut ends: [RawFd; 2] = [-1; 2];
    // SAFETY: the array has room for two descriptors.
    if unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC | libc::O_NONBLOCK) } != 0 {
        return None;
    }
    let [read, write] = ends;
    std::thread::Builder::new().name("interrupt".into()).spawn(move || end_all(read)).ok()?;
    Some(write)
}

/// Sleeps until the first signal and then ends everything.
fn end_all(bell: RawFd) {
    let mut first = None;
    while first.is_none() {
        first = rung(bell, None);
    }
    let me = std::process::id();
    let kill_at = Instant::now() + GRACE;
    let patient = cfg!(debug_assertions) && std::env::var_os(STRICT).is_none();
    let end_at = kill_at + if patient { UNOPTIMISED } else { LAST };
    loop {
        let until = kill_at.max(Instant::now() + LOOK);
        if let Some(signal) = rung(bell, Some(until.saturating_duration_since(Instant::now()))) {
            family::kill_below(me);
            // SAFETY: it does not return.
            unsafe { libc::_exit(128 + signal) };
        }
        if Instant::now() < kill_at {
            // The wait itself was cut short.
            continue;
        }
        family::kill_below(me);
        if Instant::now() >= end_at {
            let said = b"assay: interrupted; the running step was killed. Earlier measurements are kept.\n";
            // SAFETY: bytes that outlive the call; _exit does not return.
            unsafe {
                libc::write(2, said.as_ptr().cast(), said.len());
                libc::_exit(1);
            }
        }
    }
}

/// Waits for a signal, at most `patience`; its number.
fn rung(bell: RawFd, patience: Option<Duration>) -> Option<libc::c_int> {
    let mut entry = libc::pollfd { fd: bell, events: libc::POLLIN, revents: 0 };
    let milliseconds = patience.map_or(-1, |patience| patience.as_millis() as libc::c_int);
    let mut number = 0u8;
    // SAFETY: one entry and one byte, which outlive the calls.
    let count = unsafe {
        libc::poll(&raw mut entry, 1, milliseconds);
        libc::read(bell, (&raw mut number).cast(), 1)
    };
    (count == 1).then_some(libc::c_int::from(number))
}
