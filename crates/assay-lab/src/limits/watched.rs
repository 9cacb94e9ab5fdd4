//! Windows of the clock between pulses: those with a busy sibling thread are marked.
//!
//! Used for the speed of light and for what a misprediction costs. Clocks and pulses come from [`Clocks`], so that tests can
//! play them.

use assay_linux::pulse::Ticking;
use assay_linux::window::{WindowOutcome, WindowTimer};
use assay_pure::pulse::{OwnCore, Pulse};
use std::time::Duration;

/// Pairs of pulses in one look at whether the core is shared, about 60 µs.
const PAIRS: usize = 20;
/// Pairs of so many looks are one stretch to learn from. Of the pulses of one look the lowest twentieth is two, and of a thousand
/// looks the lowest such end is an accident: 4.3 additions a cycle on a core that can make 4.
const STRETCH: usize = 10 * PAIRS;
/// Looks before anything is measured, and the pause after each: a burst of somebody else lasts milliseconds to a second.
const LOOKS: (usize, Duration) = (40, Duration::from_millis(10));
/// A long window has a pulse so often; with the kernel's work for it this costs 0.3 % of the time, half of which is taken off.
const EVERY: Duration = Duration::from_millis(1);
/// So many windows of a shared core in a row, and it is left alone for a while: bursts of 12 ms were seen.
const IN_ROW: u64 = 8;
const PAUSE: Duration = Duration::from_millis(5);
/// All pauses together: somebody who stays is not waited for.
const PATIENCE: Duration = Duration::from_secs(5);

/// Clocks and pulses of the thread that measures.
pub trait Clocks {
    /// Nanoseconds of the wall clock that `work` takes; none where the thread was interrupted.
    fn wall(&mut self, work: impl FnOnce()) -> Option<f64>;
    /// Nanoseconds of the thread's own clock.
    fn cpu(&mut self, work: impl FnOnce()) -> f64;
    /// The same, and the pulses taken in the midst of it.
    fn long(&mut self, work: impl FnOnce()) -> (f64, Vec<Pulse>);
    /// Whose is the core just now? None where no loops are written for the processor.
    fn pulse(&mut self) -> Option<Pulse>;
    /// Leaves the core alone.
    fn pause(&mut self, time: Duration);
}

/// Those of this machine.
#[derive(Debug, Default)]
pub struct Here {
    /// Windows timed and interrupted.
    pub windows: WindowTimer,
    /// Why long windows have pulses at their ends alone, where the kernel gave no timer.
    pub no_timer: Option<String>,
}

impl Clocks for Here {
    fn wall(&mut self, work: impl FnOnce()) -> Option<f64> {
        self.windows.wall(work)
    }

    fn cpu(&mut self, work: impl FnOnce()) -> f64 {
        self.windows.cpu(work)
    }

    fn long(&mut self, work: impl FnOnce()) -> (f64, Vec<Pulse>) {
        let ticking = Ticking::start(EVERY).map_err(|error| self.no_timer = Some(error.to_string())).ok();
        let ns = self.windows.cpu(work);
        (ns, ticking.map(Ticking::stop).unwrap_or_default().into_iter().map(of).collect())
    }

    fn pulse(&mut self) -> Option<Pulse> {
        assay_linux::pulse::take().map(of)
    }

    fn pause(&mut self, time: Duration) {
        std::thread::sleep(time);
    }
}

fn of((chain_ns, wide_ns): (u64, u64)) -> Pulse {
    Pulse::of_additions(chain_ns, wide_ns)
}

/// Times windows, and knows what an unshared core looks like.
#[derive(Debug)]
pub struct WatchedTimer<C = Here> {
    /// What times them.
    pub clocks: C,
    /// Of the windows timed, those beside which the core was shared.
    pub shared: u64,
    own_core: OwnCore,
    looked: Vec<[Pulse; 2]>,
    shared_now: bool,
    in_row: u64,
    paused: Duration,
}

impl<C: Clocks> WatchedTimer<C> {
    /// One that knows nothing yet.
    pub fn new(clocks: C) -> WatchedTimer<C> {
        WatchedTimer {
            clocks,
            shared: 0,
            own_core: OwnCore::default(),
            looked: Vec::new(),
            shared_now: false,
            in_row: 0,
            paused: Duration::ZERO,
        }
    }

    /// Learns what an unshared core looks like, over half a second: 1600 pulses.
    pub fn look_around(&mut self) {
        for _ in 0..LOOKS.0 {
            self.look();
            self.clocks.pause(LOOKS.1);
        }
    }

    /// Looks at the core now; each ten looks are learned from.
    pub fn look(&mut self) {
        let clocks = &mut self.clocks;
        self.looked.extend((0..PAIRS).map_while(|_| Some([clocks.pulse()?, clocks.pulse()?])));
        if self.looked.len() >= STRETCH {
            self.own_core.learn(self.looked.drain(..));
        }
    }

    /// Nanoseconds of one window.
    pub fn window(&mut self, work: impl FnOnce()) -> WindowOutcome<f64> {
        let before = self.clocks.pulse();
        let Some(ns) = self.clocks.wall(work) else { return WindowOutcome::Interrupted };
        let after = self.clocks.pulse();
        self.judge(ns, before.into_iter().chain(after))
    }

    /// The same by the thread's own clock, with pulses in its midst too: for windows too long to be left alone.
    pub fn long(&mut self, work: impl FnOnce()) -> WindowOutcome<f64> {
        let before = self.clocks.pulse();
        let (ns, between) = self.clocks.long(work);
        let after = self.clocks.pulse();
        let pulsing: u64 = between.iter().map(|pulse| pulse.chain_ns + pulse.wide_ns).sum();
        let ns = (ns - pulsing as f64).max(0.0);
        self.judge(ns, before.into_iter().chain(between).chain(after))
    }

    /// Independent additions per cycle on an unshared core, as far as it is known.
    pub fn width(&self) -> Option<f64> {
        self.own_core.width()
    }

    /// Whether the core was shared at the last pulse.
    pub fn is_shared_now(&self) -> bool {
        self.shared_now
    }

    fn judge(&mut self, ns: f64, pulses: impl Iterator<Item = Pulse>) -> WindowOutcome<f64> {
        let mut shared = false;
        for pulse in pulses {
            // One pulse stands for both sides of itself.
            self.shared_now = self.own_core.is_shared(Some([pulse; 2]));
            shared |= self.shared_now;
        }
        if !shared {
            self.in_row = 0;
            return WindowOutcome::Own(ns);
        }
        self.shared += 1;
        self.in_row += 1;
        if self.in_row.is_multiple_of(IN_ROW) && self.paused < PATIENCE {
            self.clocks.pause(PAUSE);
            self.paused += PAUSE;
        }
        WindowOutcome::Shared(ns)
    }
}

#[cfg(test)]
pub mod scripted {
    //! Clocks that play a script.
    #![allow(missing_docs, reason = "of tests")]

    use super::*;

    /// What the core's pulses show, by their number.
    pub type ScriptedPulses = fn(usize) -> Pulse;

    pub const OWN: Pulse = Pulse { chain_ns: 1000, wide_ns: 1600, jumps_ns: None };
    pub const SHARED: Pulse = Pulse { chain_ns: 1000, wide_ns: 2400, jumps_ns: None };

    /// Every window takes 100 µs, a long one 5 ms with four pulses in it.
    pub struct ScriptedClocks {
        pub shows: ScriptedPulses,
        pub pulses: usize,
        pub windows: usize,
        pub pauses: Vec<Duration>,
    }

    impl ScriptedClocks {
        pub fn new(shows: ScriptedPulses) -> ScriptedClocks {
            ScriptedClocks { shows, pulses: 0, windows: 0, pauses: Vec::new() }
        }
    }

    impl Clocks for ScriptedClocks {
        fn wall(&mut self, work: impl FnOnce()) -> Option<f64> {
            work();
            self.windows += 1;
            Some(100_000.0)
        }

        fn cpu(&mut self, work: impl FnOnce()) -> f64 {
            work();
            1e5
        }

        fn long(&mut self, work: impl FnOnce()) -> (f64, Vec<Pulse>) {
            work();
            self.windows += 1;
            (5e6, (0..4).filter_map(|_| self.pulse()).collect())
        }

        fn pulse(&mut self) -> Option<Pulse> {
            self.pulses += 1;
            Some((self.shows)(self.pulses))
        }

        fn pause(&mut self, time: Duration) {
            self.pauses.push(time);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::scripted::{OWN, SHARED, ScriptedClocks, ScriptedPulses};
    use super::*;
    use std::time::Instant;

    /// One that has looked ten times: 400 pulses, and then those of the script.
    fn watched(shows: ScriptedPulses) -> WatchedTimer<ScriptedClocks> {
        let mut watched = WatchedTimer::new(ScriptedClocks::new(shows));
        for _ in 0..10 {
            watched.look();
        }
        assert_eq!(watched.clocks.pulses, 400);
        watched
    }

    #[test]
    fn one_look_is_not_enough_to_know_a_core_of_ones_own() {
        // Three of 40 pulses are too fast to be true: of 400 they are not the lowest twentieth.
        let mut watched = WatchedTimer::new(ScriptedClocks::new(|nth| {
            if nth <= 3 { Pulse { wide_ns: 1300, ..OWN } } else { OWN }
        }));
        watched.look();
        assert_eq!(watched.width(), None);
        watched.look_around();
        assert_eq!(watched.width(), Some(6.25 / 1.6));
        assert_eq!((watched.clocks.pulses, watched.clocks.pauses.len()), (41 * 40, 40));
    }

    #[test]
    fn a_window_is_shared_when_a_pulse_on_either_side_of_it_was() {
        // Pulses 401 and 402 stand around the first window, 403 and 404 around the second, 405 and 406 around the third.
        let mut watched = watched(|nth| if [402, 405].contains(&nth) { SHARED } else { OWN });
        let found: Vec<_> = (0..4).map(|_| watched.window(|| ())).collect();
        let (own, shared) = (WindowOutcome::Own(1e5), WindowOutcome::Shared(1e5));
        assert_eq!((found, watched.shared), (vec![shared, own, shared, own], 2));
    }

    #[test]
    fn a_long_window_is_shared_when_a_pulse_in_its_midst_was_and_has_their_time_taken_off() {
        // 401 to 406 are the first's: one before, four in its midst, one after.
        let mut watched = watched(|nth| if nth == 404 { SHARED } else { OWN });
        assert_eq!(watched.long(|| ()), WindowOutcome::Shared(5e6 - 3.0 * 2600.0 - 3400.0));
        assert_eq!(watched.long(|| ()), WindowOutcome::Own(5e6 - 4.0 * 2600.0));
        assert_eq!(watched.shared, 1);
    }

    #[test]
    fn somebody_who_stays_is_waited_for_now_and_then_but_not_for_ever() {
        let mut watched = watched(|nth| if nth > 400 { SHARED } else { OWN });
        for _ in 0..7 {
            watched.window(|| ());
        }
        assert_eq!(watched.clocks.pauses, []);
        watched.window(|| ());
        assert_eq!(watched.clocks.pauses, [PAUSE]);
        for _ in 0..20_000 {
            watched.window(|| ());
        }
        assert_eq!(watched.clocks.pauses.iter().sum::<Duration>(), PATIENCE);
    }

    #[test]
    fn a_processor_without_pulses_has_no_shared_windows() {
        struct Without;
        impl Clocks for Without {
            fn wall(&mut self, _: impl FnOnce()) -> Option<f64> {
                Some(1.0)
            }
            fn cpu(&mut self, _: impl FnOnce()) -> f64 {
                3.0
            }
            fn long(&mut self, _: impl FnOnce()) -> (f64, Vec<Pulse>) {
                (2.0, Vec::new())
            }
            fn pulse(&mut self) -> Option<Pulse> {
                None
            }
            fn pause(&mut self, _: Duration) {}
        }
        let mut watched = WatchedTimer::new(Without);
        watched.look_around();
        assert_eq!(
            (watched.window(|| ()), watched.long(|| ())),
            (WindowOutcome::Own(1.0), WindowOutcome::Own(2.0))
        );
    }

    #[test]
    fn this_machines_clocks_time_what_is_done_and_count_it() {
        let (mut watched, mut done) = (WatchedTimer::new(Here::default()), 0);
        watched.look();
        watched.window(|| done += 1);
        let begun = Instant::now();
        let long = watched.long(|| while begun.elapsed() < Duration::from_millis(20) {});
        assert!(matches!(long, WindowOutcome::Own(ns) | WindowOutcome::Shared(ns) if ns > 0.0), "{long:?}");
        assert_eq!((done, watched.clocks.windows.timed, watched.clocks.no_timer), (1, 2, None));
    }
}
