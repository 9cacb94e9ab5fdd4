//! Many short windows of one thing: how much goes into one, and how often it is tried where other work interrupts.

use super::plan::Effort;
use assay_linux::limits::instructions::{self, Loop, Shows};
use assay_linux::window::Windows;
use assay_pure::pulse::{Pulse, Sharing};
use std::time::{Duration, Instant};

/// Nanoseconds that a window should take at least: long against reading the clock, short against other work's turns.
const LONG_ENOUGH_NS: f64 = 60_000.0;
/// A window beyond this is seldom left alone on a shared machine: the thread's own clock times it.
const TOO_LONG_NS: f64 = 1_000_000.0;
/// Windows tried for each one that is wanted.
const TRIES: usize = 8;
/// Pairs of pulses in one look at whether the core is shared, about 60 µs.
const PAIRS: usize = 20;
/// Looks before anything is measured, and the pause after each: a burst of somebody else lasts milliseconds to a second.
const LOOKS: (usize, Duration) = (40, Duration::from_millis(10));
/// Even what is late is measured so often.
const LEAST_WINDOWS: usize = 3;
/// Turns of the additions that watch the clock: about 20 µs.
const WATCH_TURNS: u64 = 1000;

/// The thread that measures.
#[derive(Debug)]
pub struct Meter {
    /// Windows timed and interrupted.
    pub windows: Windows,
    /// Of the windows timed, those beside which somebody ran on the core's other hardware thread.
    pub shared: u64,
    sharing: Sharing,
    /// Nanoseconds per dependent addition, between all that is measured.
    pub cycles: Vec<f64>,
    effort: Effort,
    deadline: Instant,
}

impl Meter {
    /// One that measures less often from `deadline` on.
    pub fn new(effort: Effort, deadline: Instant) -> Meter {
        let (windows, sharing) = (Windows::default(), Sharing::default());
        Meter { windows, shared: 0, sharing, cycles: Vec::new(), effort, deadline }
    }

    /// Learns what a core of one's own looks like, over half a second; to be called by the thread that measures.
    pub fn look_around(&mut self) {
        for _ in 0..LOOKS.0 {
            self.look();
            std::thread::sleep(LOOKS.1);
        }
    }

    fn look(&mut self) {
        self.sharing.learn((0..PAIRS).map_while(|_| Some([pulse()?, pulse()?])));
    }

    /// Nanoseconds of one window; nothing where it was interrupted or the core was shared.
    fn window(&mut self, work: impl FnOnce()) -> Option<f64> {
        let before = pulse();
        let ns = self.windows.wall(work)?;
        if self.sharing.is_shared(before.zip(pulse()).map(|(before, after)| [before, after])) {
            self.shared += 1;
            return None;
        }
        Some(ns)
    }

    /// Whether it takes longer than it may.
    pub fn late(&self) -> bool {
        Instant::now() >= self.deadline
    }

    /// Nanoseconds of each usable window of `work`, divided by `parts`.
    pub fn repeat(&mut self, parts: f64, mut work: impl FnMut()) -> Vec<f64> {
        self.repeat_prepared(parts, |_| (), |()| work())
    }

    /// The same, with something made ahead of each window that is not timed; it is told whether it follows upon a disturbance:
    /// the first window, or one after an interrupted one.
    pub fn repeat_prepared<T>(
        &mut self,
        parts: f64,
        mut prepare: impl FnMut(bool) -> T,
        mut work: impl FnMut(T),
    ) -> Vec<f64> {
        self.watch_the_clock();
        self.look();
        let (mut found, mut disturbed) = (Vec::with_capacity(self.effort.windows), true);
        for tried in 0..self.effort.windows * TRIES {
            if found.len() == self.effort.windows || (tried >= LEAST_WINDOWS && self.late()) {
                break;
            }
            let prepared = prepare(disturbed);
            let ns = self.window(|| work(prepared));
            disturbed = ns.is_none();
            found.extend(ns.map(|ns| ns / parts));
        }
        found
    }

    /// The same by the thread's own clock, fewer times: for windows that are long.
    pub fn repeat_long(&mut self, parts: f64, mut work: impl FnMut()) -> Vec<f64> {
        self.watch_the_clock();
        let mut found = Vec::new();
        while found.len() < self.effort.windows.div_ceil(2) && !(found.len() >= LEAST_WINDOWS && self.late())
        {
            found.push(self.windows.cpu(&mut work) / parts);
        }
        found
    }

    /// Whether `once` takes so long that it should be timed by [`Meter::repeat_long`].
    pub fn is_long(&mut self, mut once: impl FnMut()) -> bool {
        self.windows.cpu(&mut once) > TOO_LONG_NS
    }

    /// How often `once` must be done for a window that is long enough: found by doubling.
    pub fn enough(&mut self, mut once: impl FnMut(u64)) -> u64 {
        let mut times = 1;
        loop {
            let ns = self.windows.cpu(|| once(times));
            if ns >= LONG_ENOUGH_NS || times >= 1 << 40 {
                return times;
            }
            times *= if ns < LONG_ENOUGH_NS / 16.0 { 8 } else { 2 };
        }
    }

    /// One window of dependent additions.
    fn watch_the_clock(&mut self) {
        if let Some(chain) = add_chain() {
            self.cycles.extend(cycle(&mut self.windows, chain));
        }
    }
}

/// Whose is the core just now? None where no loops are written for the processor.
fn pulse() -> Option<Pulse> {
    assay_linux::pulse::take().map(|(chain_ns, wide_ns)| Pulse { chain_ns, wide_ns })
}

/// The loop whose turn takes a known number of cycles.
pub fn add_chain() -> Option<&'static Loop> {
    instructions::all().iter().find(|own| own.shows == Shows::DependentAdd)
}

/// Nanoseconds per dependent addition in one short window; nothing where it was interrupted.
pub fn cycle(windows: &mut Windows, chain: &Loop) -> Option<f64> {
    let ns = windows.wall(|| {
        std::hint::black_box(chain.run(WATCH_TURNS));
    })?;
    Some(ns / (WATCH_TURNS * chain.per_turn) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn meter(windows: usize, seconds: u64) -> Meter {
        Meter::new(
            Effort { windows, rounds: 1, between: false },
            Instant::now() + Duration::from_secs(seconds),
        )
    }

    #[test]
    fn as_many_windows_as_wanted_or_all_that_were_tried() {
        let mut meter = meter(5, 600);
        let found = meter.repeat(2.0, || {
            std::hint::black_box((0..1000).fold(0u64, |sum, at| sum ^ std::hint::black_box(at)));
        });
        assert!(found.len() == 5 || meter.windows.interrupted + meter.shared > 0, "{found:?}");
        assert!(found.iter().all(|ns| *ns > 0.0));
        assert_eq!(meter.repeat_long(1.0, || ()).len(), 3);
    }

    #[test]
    fn what_an_interruption_drove_out_is_brought_back_ahead_of_the_next_window() {
        let mut meter = meter(3, 600);
        let (mut at, mut told) = (0, Vec::new());
        meter.repeat_prepared(
            1.0,
            |disturbed| told.push(disturbed),
            |()| {
                at += 1;
                // The second window is interrupted for sure.
                if at == 2 {
                    std::thread::sleep(Duration::from_millis(20));
                }
            },
        );
        assert_eq!((told[0], told[2]), (true, true), "{told:?}");
        assert!(told.len() >= 4);
    }

    #[test]
    fn what_is_late_is_measured_a_few_times_only() {
        let mut meter = meter(1000, 0);
        let mut tried = 0;
        meter.repeat(1.0, || tried += 1);
        assert_eq!(tried, 3);
        let mut long = 0;
        assert_eq!(meter.repeat_long(1.0, || long += 1).len(), 3);
        assert_eq!(long, 3);
    }

    #[test]
    fn a_window_is_filled_by_doubling() {
        let mut meter = meter(1, 600);
        let mut asked = Vec::new();
        let times = meter.enough(|times| {
            asked.push(times);
            std::thread::sleep(Duration::ZERO);
            for at in 0..times * 100 {
                std::hint::black_box(at);
            }
        });
        assert_eq!(asked.first(), Some(&1));
        assert_eq!(asked.last(), Some(&times));
        assert!(asked.windows(2).all(|pair| pair[1] == 2 * pair[0] || pair[1] == 8 * pair[0]), "{asked:?}");
    }
}
