//! A timed window of the calling thread: both clocks stand around it, so that one in which the thread did not run all the time
//! is told apart.
//!
//! Limits: what a hypervisor takes away is seen by neither clock of the guest. Checked: in the callers, and by hand.

use std::time::Duration;

/// A window whose CPU time is less than this share of its wall time was interrupted.
const RAN_ALL_THE_TIME: f64 = 0.98;

/// Times windows and counts them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Windows {
    /// Timed in all.
    pub timed: u64,
    /// Of them interrupted: they have no time.
    pub interrupted: u64,
}

impl Windows {
    /// Nanoseconds of the wall clock that `work` takes; nothing where the thread was interrupted meanwhile.
    ///
    /// The thread's clock costs 25 times as much to read and stands outside: CPU time below wall time then means waiting.
    pub fn wall(&mut self, work: impl FnOnce()) -> Option<f64> {
        let before = (switches(), clock(libc::CLOCK_THREAD_CPUTIME_ID));
        let began = clock(libc::CLOCK_MONOTONIC);
        work();
        let wall = clock(libc::CLOCK_MONOTONIC).saturating_sub(began).as_nanos() as f64;
        let cpu = clock(libc::CLOCK_THREAD_CPUTIME_ID).saturating_sub(before.1).as_nanos() as f64;
        self.timed += 1;
        if switches() != before.0 || cpu < RAN_ALL_THE_TIME * wall {
            self.interrupted += 1;
            return None;
        }
        Some(wall)
    }

    /// Nanoseconds of the thread's own clock: for windows too long to be left alone on a shared machine.
    pub fn cpu(&mut self, work: impl FnOnce()) -> f64 {
        let began = clock(libc::CLOCK_THREAD_CPUTIME_ID);
        work();
        self.timed += 1;
        clock(libc::CLOCK_THREAD_CPUTIME_ID).saturating_sub(began).as_nanos() as f64
    }
}

/// Reads one of the kernel's clocks.
pub(crate) fn clock(clock: libc::clockid_t) -> Duration {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the struct outlives the call; the clocks asked for exist on every Linux, so it cannot fail.
    unsafe { libc::clock_gettime(clock, &mut now) };
    Duration::new(now.tv_sec as u64, now.tv_nsec as u32)
}

/// Involuntary context switches of this thread so far.
fn switches() -> i64 {
    // SAFETY: an all-zero rusage is one, and it outlives the call.
    unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_THREAD, &mut usage);
        usage.ru_nivcsw
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_in_which_the_thread_slept_is_left_out_and_counted() {
        let mut windows = Windows::default();
        assert_eq!(windows.wall(|| std::thread::sleep(Duration::from_millis(20))), None);
        assert_eq!(windows, Windows { timed: 1, interrupted: 1 });
        // The thread's own clock stands still meanwhile, but for the call itself.
        assert!(windows.cpu(|| std::thread::sleep(Duration::from_millis(50))) < 25e6);
        assert_eq!(windows, Windows { timed: 2, interrupted: 1 });
    }
}
