//! A timed window of the calling thread: both clocks stand around it, so that one in which the thread did not run all the time
//! is told apart.
//!
//! Whether somebody else had a part of the core is not told here, but by whoever takes pulses ([`crate::pulse`]).
//! Limits: what a hypervisor takes away is seen by neither clock of the guest. Checked: in the callers, and by hand.

use std::time::Duration;

/// A window whose CPU time is less than this share of its wall time was interrupted.
const RAN_ALL_THE_TIME: f64 = 0.98;

/// What became of a window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum WindowOutcome<T> {
    /// Its value, on an unshared core as far as is known.
    Own(T),
    /// Its value, but a sibling thread was busy meanwhile.
    Shared(T),
    /// The thread did not run all the time: there is no value.
    Interrupted,
}

impl<T> WindowOutcome<T> {
    /// The same of another value.
    pub fn map<U>(self, of: impl FnOnce(T) -> U) -> WindowOutcome<U> {
        match self {
            WindowOutcome::Own(value) => WindowOutcome::Own(of(value)),
            WindowOutcome::Shared(value) => WindowOutcome::Shared(of(value)),
            WindowOutcome::Interrupted => WindowOutcome::Interrupted,
        }
    }

    /// Two windows that belong together: what disturbed one disturbed both.
    pub fn with<U>(self, other: WindowOutcome<U>) -> WindowOutcome<(T, U)> {
        match (self, other) {
            (WindowOutcome::Own(one), WindowOutcome::Own(other)) => WindowOutcome::Own((one, other)),
            (WindowOutcome::Interrupted, _) | (_, WindowOutcome::Interrupted) => WindowOutcome::Interrupted,
            (
                WindowOutcome::Own(one) | WindowOutcome::Shared(one),
                WindowOutcome::Own(other) | WindowOutcome::Shared(other),
            ) => WindowOutcome::Shared((one, other)),
        }
    }
}

/// Values of several windows of one thing. Those of a shared core are kept aside, for where there is nothing else.
#[derive(Clone, Debug, PartialEq)]
pub struct WindowValues<T> {
    own: Vec<T>,
    shared: Vec<T>,
}

impl<T> Default for WindowValues<T> {
    fn default() -> WindowValues<T> {
        WindowValues { own: Vec::new(), shared: Vec::new() }
    }
}

impl<T> WindowValues<T> {
    /// Adds what became of one more window.
    pub fn push(&mut self, timed: WindowOutcome<T>) {
        match timed {
            WindowOutcome::Own(value) => self.own.push(value),
            WindowOutcome::Shared(value) => self.shared.push(value),
            WindowOutcome::Interrupted => (),
        }
    }

    /// Adds what was found at another time.
    pub fn extend(&mut self, other: WindowValues<T>) {
        self.own.extend(other.own);
        self.shared.extend(other.shared);
    }

    /// Values on an unshared core so far, and of a shared one.
    pub fn counts(&self) -> (usize, usize) {
        (self.own.len(), self.shared.len())
    }

    /// The values to be used, and how many of them are of a shared core: none where `enough` others are there, else all.
    pub fn settle(mut self, enough: usize) -> (Vec<T>, u64) {
        if self.own.len() >= enough {
            return (self.own, 0);
        }
        let shared = self.shared.len() as u64;
        self.own.append(&mut self.shared);
        (self.own, shared)
    }
}

/// Times windows and counts them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WindowTimer {
    /// Timed in all.
    pub timed: u64,
    /// Of them interrupted: they have no time.
    pub interrupted: u64,
}

impl WindowTimer {
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
    fn what_disturbed_one_window_of_a_pair_disturbed_the_pair() {
        use WindowOutcome::{Interrupted, Own, Shared};
        assert_eq!(Own(1).with(Own(2)), Own((1, 2)));
        for pair in [Own(1).with(Shared(2)), Shared(1).with(Own(2)), Shared(1).with(Shared(2))] {
            assert_eq!(pair, Shared((1, 2)));
        }
        assert_eq!(Interrupted::<u8>.with(Own(2)), Interrupted);
        assert_eq!(Shared(1).with(Interrupted::<u8>), Interrupted);
        assert_eq!((Own(1).map(|n| n + 1), Shared(1).map(|n| n + 1)), (Own(2), Shared(2)));
    }

    #[test]
    fn windows_of_a_shared_core_are_used_only_where_there_are_not_enough_others() {
        let mut found = WindowValues::default();
        for timed in [
            WindowOutcome::Own(1),
            WindowOutcome::Shared(9),
            WindowOutcome::Interrupted,
            WindowOutcome::Own(2),
        ] {
            found.push(timed);
        }
        assert_eq!(found.counts(), (2, 1));
        assert_eq!(found.clone().settle(2), (vec![1, 2], 0));
        assert_eq!(found.clone().settle(3), (vec![1, 2, 9], 1));
        let mut later = WindowValues::default();
        later.push(WindowOutcome::Own(3));
        found.extend(later);
        assert_eq!(found.settle(3), (vec![1, 2, 3], 0));
    }

    #[test]
    fn a_window_in_which_the_thread_slept_is_left_out_and_counted() {
        let mut windows = WindowTimer::default();
        assert_eq!(windows.wall(|| std::thread::sleep(Duration::from_millis(20))), None);
        assert_eq!(windows, WindowTimer { timed: 1, interrupted: 1 });
        // The thread's own clock stands still meanwhile, but for the call itself.
        assert!(windows.cpu(|| std::thread::sleep(Duration::from_millis(50))) < 25e6);
        assert_eq!(windows, WindowTimer { timed: 2, interrupted: 1 });
    }
}
