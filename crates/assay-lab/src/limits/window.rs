//! Many short windows of one thing: how much goes into one, and how often it is tried where other work interrupts.

use super::plan::LimitsEffort;
use super::watched::{Clocks, Here, WatchedTimer};
use assay_linux::limits::instructions::{self, InstructionLoop, Shows};
use assay_linux::window::{WindowOutcome, WindowValues};
use std::time::Instant;

/// Nanoseconds that a window should take at least: long against reading the clock, short against other work's turns.
const LONG_ENOUGH_NS: f64 = 60_000.0;
/// A window beyond this is seldom left alone on a shared machine: the thread's own clock times it.
const TOO_LONG_NS: f64 = 1_000_000.0;
/// Windows tried for each one that is wanted, where other work interrupts them;
const TRIES: usize = 8;
/// so many where a sibling thread is busy, and the same of long ones.
const SHARED_TRIES: usize = 2;
/// Even what is late is measured so often; with fewer on an unshared core those of a shared one are used.
const LEAST_WINDOWS: usize = 3;
/// Turns of the additions that watch the clock: about 20 µs.
const WATCH_TURNS: u64 = 1000;

/// The thread that measures.
#[derive(Debug)]
pub struct LimitsMeter<C = Here> {
    /// What times windows.
    pub watched: WatchedTimer<C>,
    /// Figures that hold windows of a shared core, for want of others.
    pub despite: u64,
    /// Nanoseconds per dependent addition, between all that is measured.
    pub cycles: Vec<f64>,
    effort: LimitsEffort,
    deadline: Instant,
}

impl<C: Clocks> LimitsMeter<C> {
    /// One that measures less often from `deadline` on.
    pub fn new(clocks: C, effort: LimitsEffort, deadline: Instant) -> LimitsMeter<C> {
        LimitsMeter { watched: WatchedTimer::new(clocks), despite: 0, cycles: Vec::new(), effort, deadline }
    }

    /// Whether it takes longer than it may.
    pub fn late(&self) -> bool {
        Instant::now() >= self.deadline
    }

    /// Nanoseconds of each usable window of `work`, divided by `parts`.
    pub fn repeat(&mut self, parts: f64, mut work: impl FnMut()) -> Vec<f64> {
        let found = self.repeat_prepared(parts, |_| (), |()| work());
        self.settle(found)
    }

    /// The same, with something made ahead of each window that is not timed; it is told whether a disturbance is over: ahead
    /// of the first window, and after interrupted and shared ones. To be settled when all rounds are over.
    pub fn repeat_prepared<T>(
        &mut self,
        parts: f64,
        mut prepare: impl FnMut(bool) -> T,
        mut work: impl FnMut(T),
    ) -> WindowValues<f64> {
        let wanted = self.effort.windows;
        self.gather(wanted, wanted * TRIES, |watched, disturbed| {
            let prepared = prepare(disturbed);
            watched.window(|| work(prepared)).map(|ns| ns / parts)
        })
    }

    /// The same by the thread's own clock, fewer times: for windows that are long.
    pub fn repeat_long(&mut self, parts: f64, mut work: impl FnMut()) -> WindowValues<f64> {
        let wanted = self.effort.windows.div_ceil(2);
        self.gather(wanted, wanted * SHARED_TRIES, |watched, _| watched.long(&mut work).map(|ns| ns / parts))
    }

    /// Windows until `wanted` on an unshared core are there, or enough was tried.
    fn gather(
        &mut self,
        wanted: usize,
        most: usize,
        mut window: impl FnMut(&mut WatchedTimer<C>, bool) -> WindowOutcome<f64>,
    ) -> WindowValues<f64> {
        self.watch_the_clock();
        self.watched.look();
        // What a disturbance drove out is brought back when it is over, not while it lasts.
        let (mut found, mut driven_out) = (WindowValues::default(), true);
        for tried in 0..most {
            let (own, shared) = found.counts();
            let enough = own == wanted || shared >= wanted * SHARED_TRIES;
            if enough || (tried >= LEAST_WINDOWS && self.late()) {
                break;
            }
            let near = driven_out && !self.watched.is_shared_now();
            let timed = window(&mut self.watched, near);
            driven_out = (driven_out && !near) || !matches!(timed, WindowOutcome::Own(_));
            found.push(timed);
        }
        found
    }

    /// The values of a figure, when all its windows were tried.
    pub fn settle(&mut self, found: WindowValues<f64>) -> Vec<f64> {
        let (values, shared) = found.settle(LEAST_WINDOWS);
        self.despite += u64::from(shared > 0);
        values
    }

    /// Whether `once` takes so long that it should be timed by [`LimitsMeter::repeat_long`].
    pub fn is_long(&mut self, mut once: impl FnMut()) -> bool {
        self.watched.clocks.cpu(&mut once) > TOO_LONG_NS
    }

    /// How often `once` must be done for a window that is long enough: found by doubling.
    pub fn enough(&mut self, mut once: impl FnMut(u64)) -> u64 {
        let mut times = 1;
        loop {
            let ns = self.watched.clocks.cpu(|| once(times));
            if ns >= LONG_ENOUGH_NS || times >= 1 << 40 {
                return times;
            }
            times *= if ns < LONG_ENOUGH_NS / 16.0 { 8 } else { 2 };
        }
    }

    /// Nanoseconds per dependent addition in one short window; nothing where it was interrupted.
    pub fn cycle(&mut self) -> Option<f64> {
        let chain = add_chain()?;
        let ns = self.watched.clocks.wall(|| {
            std::hint::black_box(chain.run(WATCH_TURNS));
        })?;
        Some(ns / (WATCH_TURNS * chain.per_turn) as f64)
    }

    fn watch_the_clock(&mut self) {
        let ns = self.cycle();
        self.cycles.extend(ns);
    }
}

/// The loop whose turn takes a known number of cycles.
pub fn add_chain() -> Option<&'static InstructionLoop> {
    instructions::all().iter().find(|own| own.shows == Shows::DependentAdd)
}

#[cfg(test)]
mod tests {
    use super::super::watched::scripted::{OWN, SHARED, ScriptedClocks, ScriptedPulses};
    use super::*;
    use std::time::Duration;

    const WINDOWS: LimitsEffort = LimitsEffort { windows: 5, rounds: 1, between: false };

    fn meter(windows: usize, seconds: u64) -> LimitsMeter {
        let deadline = Instant::now() + Duration::from_secs(seconds);
        LimitsMeter::new(Here::default(), LimitsEffort { windows, ..WINDOWS }, deadline)
    }

    /// One that wants five windows, knows an unshared core, and whose pulses show this after the 40 of its first look.
    fn scripted(shows: ScriptedPulses) -> LimitsMeter<ScriptedClocks> {
        let mut meter = LimitsMeter::new(
            ScriptedClocks::new(|_| OWN),
            WINDOWS,
            Instant::now() + Duration::from_secs(600),
        );
        meter.watched.look_around();
        meter.watched.clocks = ScriptedClocks::new(shows);
        meter
    }

    #[test]
    fn as_many_windows_as_wanted_or_all_that_were_tried() {
        let mut meter = meter(5, 600);
        let found = meter.repeat(2.0, || {
            std::hint::black_box((0..1000).fold(0u64, |sum, at| sum ^ std::hint::black_box(at)));
        });
        let watched = &meter.watched;
        assert!(found.len() == 5 || watched.clocks.windows.interrupted + watched.shared > 0, "{found:?}");
        assert!(found.iter().all(|ns| *ns > 0.0));
    }

    #[test]
    fn a_window_beside_which_the_core_was_shared_is_made_again() {
        // Of windows with two pulses each, those from the 41st on, the second and third are shared.
        let mut meter = scripted(|nth| if (43..47).contains(&nth) { SHARED } else { OWN });
        let mut made = 0;
        let found = meter.repeat(2.0, || made += 1);
        assert_eq!((found, made, meter.watched.shared, meter.despite), (vec![50_000.0; 5], 7, 2, 0));
    }

    #[test]
    fn a_core_that_is_shared_from_some_time_on_gives_shared_windows_and_says_so() {
        let mut meter = scripted(|nth| if nth > 44 { SHARED } else { OWN });
        let mut made = 0;
        let found = meter.repeat(1.0, || made += 1);
        // Two unshared ones, then twice as many shared ones as are wanted.
        assert_eq!((found.len(), made, meter.despite), (12, 12, 1));
        // With three unshared ones the others are left out.
        let mut meter = scripted(|nth| if nth > 46 { SHARED } else { OWN });
        let found = meter.repeat(1.0, || ());
        assert_eq!((found.len(), meter.watched.shared, meter.despite), (3, 10, 0));
    }

    #[test]
    fn what_another_round_found_on_a_core_of_ones_own_is_enough() {
        let mut meter = scripted(|nth| if nth > 40 && nth < 80 { SHARED } else { OWN });
        let mut found = meter.repeat_prepared(1.0, |_| (), |()| ());
        assert_eq!(found.counts(), (0, 10));
        found.extend(meter.repeat_prepared(1.0, |_| (), |()| ()));
        let values = meter.settle(found);
        assert_eq!((values.len(), meter.despite), (5, 0));
    }

    #[test]
    fn a_long_window_with_a_shared_pulse_in_its_midst_is_made_again() {
        // Six pulses each, from the 41st on: one in the midst of the second window is shared.
        let mut meter = scripted(|nth| if nth == 50 { SHARED } else { OWN });
        let found = meter.repeat_long(1.0, || ());
        assert_eq!((found.counts(), meter.watched.clocks.windows), ((3, 1), 1 + 4), "and one of the clock");
        let mut meter = scripted(|nth| if nth > 40 { SHARED } else { OWN });
        let found = meter.repeat_long(1.0, || ());
        assert_eq!(found.counts(), (0, 6));
        assert_eq!((meter.settle(found).len(), meter.despite), (6, 1));
    }

    #[test]
    fn what_a_disturbance_drove_out_is_brought_back_ahead_of_the_next_window() {
        let mut meter = scripted(|nth| if (43..45).contains(&nth) { SHARED } else { OWN });
        let mut told = Vec::new();
        meter.repeat_prepared(1.0, |disturbed| told.push(disturbed), |()| ());
        // The second window was shared to its end, so ahead of the third it was too early.
        assert_eq!(told, [true, false, false, true, false, false]);
    }

    #[test]
    fn what_is_late_is_measured_a_few_times_only() {
        let mut meter = meter(1000, 0);
        let mut tried = 0;
        meter.repeat(1.0, || tried += 1);
        assert_eq!(tried, 3);
        let mut long = 0;
        meter.repeat_long(1.0, || long += 1);
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
