//! The kernel's clocks, read as they are: for who looks at the clocks themselves.

use std::time::Duration;

/// A clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KernelClock {
    /// Monotonic time, its rate steered by the network's.
    Monotonic,
    /// Monotonic time by the hardware's own rate.
    Raw,
    /// CPU time of the calling thread.
    ThreadCpu,
}

/// The time on a clock.
pub fn now(clock: KernelClock) -> Duration {
    let clock = match clock {
        KernelClock::Monotonic => libc::CLOCK_MONOTONIC,
        KernelClock::Raw => libc::CLOCK_MONOTONIC_RAW,
        KernelClock::ThreadCpu => libc::CLOCK_THREAD_CPUTIME_ID,
    };
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `now` is a timespec that outlives the call, and all three clocks exist on every kernel since 2.6.28.
    unsafe { libc::clock_gettime(clock, &mut now) };
    Duration::new(now.tv_sec as u64, now.tv_nsec as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_clock_goes_backwards() {
        for clock in [KernelClock::Monotonic, KernelClock::Raw, KernelClock::ThreadCpu] {
            let before = now(clock);
            assert!(now(clock) >= before, "{clock:?}");
        }
    }
}
