//! Pulses in the midst of a long stretch of work that nobody can cut: a timer's signal takes them.
//!
//! The handler runs on the thread that works, between two of its instructions, so its pulses tell of the core that works.
//! It does what a signal handler may: reads a clock, adds in registers, stores to atomics.
//! Limits: the kernel's own work for a signal, some microseconds, is in the stretch's time.

use std::io;
use std::mem::zeroed;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Pulses of a stretch that are kept: a second's worth at one a millisecond.
const MOST: usize = 1024;

static TAKEN: [[AtomicU64; 2]; MOST] = [const { [const { AtomicU64::new(0) }; 2] }; MOST];
static COUNT: AtomicUsize = AtomicUsize::new(0);
/// There is one place for pulses: one stretch at a time.
static ONE: Mutex<()> = Mutex::new(());

/// A timer that makes the calling thread take pulses, until it is stopped or dropped.
#[derive(Debug)]
pub struct Ticking {
    timer: libc::timer_t,
    _one: MutexGuard<'static, ()>,
}

impl Ticking {
    /// Starts: a pulse each time `every` has passed. Another thread's stretch is waited for.
    ///
    /// # Errors
    /// The kernel gives no timer.
    pub fn start(every: Duration) -> io::Result<Ticking> {
        let one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
        COUNT.store(0, Relaxed);
        let timer = create().map_err(|error| told("timer_create", &error))?;
        let ticking = Ticking { timer, _one: one };
        let time = libc::timespec {
            tv_sec: every.as_secs() as libc::time_t,
            tv_nsec: every.subsec_nanos() as libc::c_long,
        };
        let spec = libc::itimerspec { it_interval: time, it_value: time };
        // SAFETY: the timer is there until `ticking` is dropped; the struct outlives the call.
        if unsafe { libc::timer_settime(timer, 0, &spec, null_mut()) } != 0 {
            return Err(told("timer_settime", &io::Error::last_os_error()));
        }
        Ok(ticking)
    }

    /// Pulses so far, at most 1024.
    #[must_use]
    pub fn count(&self) -> usize {
        COUNT.load(Relaxed).min(MOST)
    }

    /// Ends it: the pulses in their order, as of [`super::take`].
    #[must_use]
    pub fn stop(self) -> Vec<(u64, u64)> {
        // A pulse that comes after this line is not among them.
        let taken = TAKEN.iter().take(self.count());
        taken.map(|[chain, wide]| (chain.load(Relaxed), wide.load(Relaxed))).collect()
    }
}

impl Drop for Ticking {
    fn drop(&mut self) {
        // SAFETY: the timer was created and is deleted once. A signal of it that is pending is delivered when this call returns,
        // to the handler, which stays.
        unsafe { libc::timer_delete(self.timer) };
    }
}

fn told(call: &str, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{call} for pulses: {error}"))
}

/// A timer whose signal comes to the calling thread.
fn create() -> io::Result<libc::timer_t> {
    // SAFETY: an all-zero sigaction and sigevent are valid ones and are filled in; the handler does only what one may; the
    // thread named is the calling one; the structs outlive the calls.
    unsafe {
        let mut action: libc::sigaction = zeroed();
        action.sa_sigaction = tick as extern "C" fn(libc::c_int) as usize;
        action.sa_flags = libc::SA_RESTART;
        if libc::sigaction(libc::SIGALRM, &action, null_mut()) != 0 {
            return Err(io::Error::last_os_error());
        }
        let mut event: libc::sigevent = zeroed();
        event.sigev_notify = libc::SIGEV_THREAD_ID;
        event.sigev_signo = libc::SIGALRM;
        event.sigev_notify_thread_id = libc::gettid();
        let mut timer: libc::timer_t = zeroed();
        if libc::timer_create(libc::CLOCK_MONOTONIC, &mut event, &mut timer) != 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(timer)
    }
}

extern "C" fn tick(_signal: libc::c_int) {
    let Some((chain, wide)) = super::take() else { return };
    let nth = COUNT.load(Relaxed);
    if let Some(place) = TAKEN.get(nth) {
        place[0].store(chain, Relaxed);
        place[1].store(wide, Relaxed);
        // Last: what is counted is there.
        COUNT.store(nth + 1, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    #[test]
    fn work_that_takes_long_is_pulsed_in_its_midst() {
        if super::super::take().is_none() {
            return println!("skipped: no loops for this processor");
        }
        let ticking = Ticking::start(Duration::from_millis(1)).unwrap();
        let begun = Instant::now();
        while ticking.count() < 5 && begun.elapsed() < Duration::from_secs(60) {
            std::hint::spin_loop();
        }
        let taken = ticking.stop();
        assert!(taken.len() >= 5 && taken.iter().all(|(chain, wide)| *chain > 0 && *wide > 0), "{taken:?}");
    }

    #[test]
    fn work_that_ends_first_has_no_pulses_of_the_work_before() {
        let ticking = Ticking::start(Duration::from_secs(3600)).unwrap();
        assert_eq!(ticking.stop(), []);
    }
}
