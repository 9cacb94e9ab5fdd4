//! What does a mispredicted branch cost here, and how many outcomes does this CPU memorise? From clocks alone.
//!
//! Method: a loop of five instructions, one of them a conditional branch on the next byte of a buffer, written in assembly so
//! that no compiler can turn it into a conditional move. The bytes are fair coin tosses. **Fresh** ones, too many to be
//! remembered, are mispredicted half the time; a short stretch repeated over a buffer of the same size is **learned**, never
//! mispredicted, and executes the same instructions with the same memory traffic. The difference is the penalty alone.
//! A sweep over growing periods shows up to which length a repeated sequence is memorised; sweeps are repeated until they agree.
//! Who times a window is the caller's business, and what disturbs one: such a window is made again. What follows
//! from the figures is computed in assay-numbers (`stats::penalty`, `stats::predictor_memory`).
//! Known limits: the branch waits for a load from the nearest cache only, so it is resolved as early as any; one whose
//! condition takes longer costs more.

use crate::window::{WindowOutcome, WindowValues};
use assay_pure::stats::predictor_memory::is_settled;
use assay_pure::stats::quantile::median;
use std::io;

/// Outcomes in a buffer of fresh tosses: many times what any known predictor remembers.
const FRESH: usize = 1 << 20;
/// Outcomes after which the learned buffer repeats.
const LEARNED_PERIOD: usize = 512;
/// Outcomes in one timed window: 0.2 ms of fresh ones at 3 ns.
const WINDOW: usize = 1 << 16;
/// Windows tried for each one that is wanted, where other work interrupts them or shares the core.
const TRIES: usize = 4;
/// With fewer on an unshared core, those of a shared one are used.
const ENOUGH: usize = 3;

/// How much to measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimingEffort {
    /// Series, each with tosses of its own: what the interval rests on.
    pub series: usize,
    /// Pairs of windows per series.
    pub pairs: usize,
    /// Windows per period of a sweep.
    pub windows: usize,
    /// Sweeps at most.
    pub sweeps: usize,
}

impl TimingEffort {
    /// About two seconds on a machine that is left alone.
    pub const USUAL: TimingEffort = TimingEffort { series: 12, pairs: 12, windows: 3, sweeps: 10 };
}

/// A pair of neighbouring windows, nanoseconds per outcome.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WindowPair {
    /// Of tosses never seen.
    pub fresh_ns: f64,
    /// Of memorised outcomes.
    pub learned_ns: f64,
}

/// By growing period, the outcomes after which the sequence repeats, and the nanoseconds per outcome of each usable window,
/// after the sequence was walked several times.
pub type PeriodSweep = Vec<(u64, Vec<f64>)>;

/// What was measured.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BranchTiming {
    /// Usable pairs of each series; empty where every window was interrupted.
    pub series: Vec<Vec<WindowPair>>,
    /// In the order in which they were made.
    pub sweeps: Vec<PeriodSweep>,
    /// Pairs and windows of a shared core that are among them, for want of others.
    pub shared: u64,
}

impl BranchTiming {
    /// The series as pairs of numbers: fresh, learned.
    pub fn pairs(&self) -> Vec<Vec<(f64, f64)>> {
        let pairs = |of: &Vec<WindowPair>| of.iter().map(|pair| (pair.fresh_ns, pair.learned_ns)).collect();
        self.series.iter().map(pairs).collect()
    }

    /// The time of tosses never seen; 0 where every window was interrupted.
    pub fn fresh_ns(&self) -> f64 {
        let of =
            |pairs: &Vec<WindowPair>| median(&pairs.iter().map(|pair| pair.fresh_ns).collect::<Vec<_>>());
        median(&self.series.iter().filter_map(of).collect::<Vec<_>>()).unwrap_or_default()
    }
}

/// Times one window: does the work once, and tells the nanoseconds and what disturbed it.
pub type TimedWindow<'a> = dyn FnMut(&mut dyn FnMut()) -> WindowOutcome<f64> + 'a;

/// Measures on the calling thread, which should be bound to one processor.
///
/// # Errors
/// No such loop is written for this architecture.
pub fn measure(effort: TimingEffort, window: &mut TimedWindow<'_>) -> io::Result<BranchTiming> {
    if !cfg!(any(target_arch = "x86_64", target_arch = "aarch64")) {
        return Err(io::Error::new(
            io::ErrorKind::Unsupported,
            format!("timing branches is not supported on {}", std::env::consts::ARCH),
        ));
    }
    Ok(Meter { window, shared: 0 }.run(effort))
}

/// The periods of a sweep: 1024 outcomes to a million, four steps per doubling.
fn periods() -> Vec<usize> {
    (0..=40).map(|step| [1024, 1218, 1448, 1722][step % 4] << (step / 4)).collect()
}

/// Times windows, and counts those that are used although the core was shared.
struct Meter<'a, 'b> {
    window: &'a mut TimedWindow<'b>,
    shared: u64,
}

impl Meter<'_, '_> {
    fn run(mut self, effort: TimingEffort) -> BranchTiming {
        let mut tosses = Tosses(0x9e37_79b9_7f4a_7c15);
        let series = (0..effort.series).map(|_| self.series(&mut tosses, effort.pairs)).collect();
        let mut timing = BranchTiming { series, ..BranchTiming::default() };
        let fresh_ns = timing.fresh_ns();
        while timing.sweeps.len() < effort.sweeps && !is_settled(&timing.sweeps, fresh_ns) {
            let of = |period| self.period(&mut tosses, period, effort.windows);
            timing.sweeps.push(periods().into_iter().map(of).collect());
        }
        BranchTiming { shared: self.shared, ..timing }
    }

    /// Pairs over tosses of their own. The learned buffer is as long as the fresh one: the memory sees no difference.
    fn series(&mut self, tosses: &mut Tosses, pairs: usize) -> Vec<WindowPair> {
        let fresh = tosses.fill(FRESH);
        let stretch = tosses.fill(LEARNED_PERIOD);
        let learned: Vec<u8> = stretch.iter().copied().cycle().take(FRESH).collect();
        walk(&learned[..WINDOW]);
        let mut found = WindowValues::default();
        for at in 0..pairs * TRIES {
            if found.counts().0 == pairs {
                break;
            }
            let from = at * WINDOW % FRESH;
            let fresh_ns = self.window(&fresh[from..from + WINDOW], 1);
            // The first half of a window brings the predictor back to what it had learned.
            walk(&learned[..WINDOW / 2]);
            let learned_ns = self.window(&learned[from..from + WINDOW], 1);
            found.push(
                fresh_ns.with(learned_ns).map(|(fresh_ns, learned_ns)| WindowPair { fresh_ns, learned_ns }),
            );
        }
        self.settle(found, pairs)
    }

    /// Windows of whole repetitions of one sequence, after it was walked often enough to be learned if it can be.
    fn period(&mut self, tosses: &mut Tosses, outcomes: usize, windows: usize) -> (u64, Vec<f64>) {
        let sequence = tosses.fill(outcomes);
        let repeats = WINDOW.div_ceil(outcomes);
        // A predictor learns a sequence in several passes, each of which finds more of its histories known.
        let passes = (FRESH / outcomes).clamp(3, 24);
        let (mut found, mut walked) = (WindowValues::default(), false);
        for _ in 0..windows * TRIES {
            if found.counts().0 == windows {
                break;
            }
            // Whatever ran in between has taken a part of it away.
            for _ in 0..if walked { passes.div_ceil(4) } else { passes } {
                walk(&sequence);
            }
            let timed = self.window(&sequence, repeats);
            // Only a window that nobody interrupted has found the sequence learned.
            walked |= timed != WindowOutcome::Interrupted;
            found.push(timed);
        }
        (outcomes as u64, self.settle(found, windows))
    }

    /// Nanoseconds per outcome of walking `outcomes` some times.
    fn window(&mut self, outcomes: &[u8], repeats: usize) -> WindowOutcome<f64> {
        let mut work = || {
            for _ in 0..repeats {
                walk(outcomes);
            }
        };
        (self.window)(&mut work).map(|ns| ns / (repeats * outcomes.len()) as f64)
    }

    fn settle<T>(&mut self, found: WindowValues<T>, wanted: usize) -> Vec<T> {
        let (used, shared) = found.settle(wanted.min(ENOUGH));
        self.shared += shared;
        used
    }
}

/// Fair coin tosses, one per byte, from a seed (xorshift64*; Vigna, ACM TOMS 42(4), 2016).
struct Tosses(u64);

impl Tosses {
    fn fill(&mut self, count: usize) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(count + 64);
        while bytes.len() < count {
            self.0 ^= self.0 >> 12;
            self.0 ^= self.0 << 25;
            self.0 ^= self.0 >> 27;
            let word = self.0.wrapping_mul(0x2545_f491_4f6c_dd1d);
            bytes.extend((8..56).map(|bit| (word >> bit & 1) as u8));
        }
        bytes.truncate(count);
        bytes
    }
}

/// Branches on every byte: taken over one addition where it is 0. Returns how many were not 0.
#[inline(never)]
fn walk(outcomes: &[u8]) -> u64 {
    let mut ones = 0u64;
    if outcomes.is_empty() {
        return ones;
    }
    #[cfg(target_arch = "x86_64")]
    // SAFETY: reads the slice's bytes, all of them and no other: the loop ends when the address is that of its end.
    unsafe {
        std::arch::asm!(
            "2:",
            "cmp byte ptr [{at}], 0",
            "je 3f",
            "inc {ones}",
            "3:",
            "inc {at}",
            "cmp {at}, {end}",
            "jne 2b",
            at = inout(reg) outcomes.as_ptr() => _,
            end = in(reg) outcomes.as_ptr().add(outcomes.len()),
            ones = inout(reg) ones,
            options(nostack, readonly)
        );
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: reads the slice's bytes, all of them and no other: the loop ends when the address is that of its end.
    unsafe {
        std::arch::asm!(
            "2:",
            "ldrb {byte:w}, [{at}], #1",
            "cbz {byte:w}, 3f",
            "add {ones}, {ones}, #1",
            "3:",
            "cmp {at}, {end}",
            "b.ne 2b",
            at = inout(reg) outcomes.as_ptr() => _,
            end = in(reg) outcomes.as_ptr().add(outcomes.len()),
            ones = inout(reg) ones,
            byte = out(reg) _,
            options(nostack, readonly)
        );
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    {
        ones = outcomes.iter().map(|&byte| u64::from(byte)).sum();
    }
    ones
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loop_visits_every_byte_once() {
        assert_eq!(walk(&[]), 0);
        assert_eq!(walk(&[0]), 0);
        assert_eq!(walk(&[1]), 1);
        assert_eq!(walk(&[1, 0, 0, 1, 1]), 3);
        let long: Vec<u8> = (0..100_000).map(|at| u8::from(at % 7 == 3)).collect();
        assert_eq!(walk(&long), 14_286);
    }

    #[test]
    fn tosses_are_fair_independent_and_repeatable() {
        let (first, again) = (Tosses(7).fill(1 << 20), Tosses(7).fill(1 << 20));
        assert!(first == again && first.iter().all(|&byte| byte <= 1));
        // Of a fair coin the share of ones lies within 5 standard deviations (0.0005 each) of a half, and so does the
        // share of tosses equal to the one before.
        let near_half = |count: usize| (count as f64 / (1u32 << 20) as f64 - 0.5).abs() < 0.0025;
        assert!(near_half(first.iter().filter(|&&byte| byte == 1).count()));
        for lag in [1, 2, 3, 48] {
            assert!(near_half(first.windows(lag + 1).filter(|pair| pair[0] == pair[lag]).count()), "{lag}");
        }
    }

    #[test]
    fn periods_grow_from_a_thousand_to_a_million() {
        let periods = periods();
        assert_eq!((periods[0], periods[2], periods[40], periods.len()), (1024, 1448, 1 << 20, 41));
        assert!(periods.windows(2).all(|pair| pair[0] < pair[1]));
    }

    const EFFORT: TimingEffort = TimingEffort { series: 2, pairs: 4, windows: 2, sweeps: 2 };

    /// Measures with windows that take as many nanoseconds as their number says, disturbed as `disturbed` says of it.
    fn scripted(disturbed: impl Fn(u64, f64) -> WindowOutcome<f64>) -> BranchTiming {
        let mut nth = 0;
        let found = measure(EFFORT, &mut |work| {
            work();
            nth += 1;
            disturbed(nth, nth as f64 * WINDOW as f64)
        });
        found.expect("the loop is written for this processor")
    }

    #[test]
    fn every_figure_asked_for_is_there() {
        let found = scripted(|_, ns| WindowOutcome::Own(ns));
        assert_eq!((found.series.len(), found.sweeps.len(), found.shared), (2, 2, 0));
        let pair = |fresh_ns, learned_ns| WindowPair { fresh_ns, learned_ns };
        assert_eq!(found.series[0], [pair(1.0, 2.0), pair(3.0, 4.0), pair(5.0, 6.0), pair(7.0, 8.0)]);
        assert!(found.sweeps.iter().all(|sweep| sweep.len() == 41), "{found:?}");
        assert!(found.sweeps.iter().flatten().all(|(_, ns)| ns.len() == 2), "{found:?}");
        // Windows 17 and 18: 64 repeats of 1024 outcomes are as many as a window of the series has.
        assert_eq!(found.sweeps[0][0], (1024, vec![17.0, 18.0]));
    }

    #[test]
    fn a_window_of_a_shared_core_is_made_again_and_its_pair_with_it() {
        // The 4th window is the learned one of the second pair.
        let found =
            scripted(|nth, ns| if nth == 4 { WindowOutcome::Shared(ns) } else { WindowOutcome::Own(ns) });
        let firsts: Vec<f64> = found.series[0].iter().map(|pair| pair.fresh_ns).collect();
        assert_eq!((firsts, found.shared), (vec![1.0, 5.0, 7.0, 9.0], 0));
    }

    #[test]
    fn a_core_that_is_shared_all_the_time_gives_what_there_is_and_says_so() {
        let found = scripted(|_, ns| WindowOutcome::Shared(ns));
        // Each series all its tries, each of 41 periods of both sweeps all of its: 2 * 16 pairs and 2 * 41 * 8 windows.
        assert_eq!(found.series.iter().map(Vec::len).collect::<Vec<_>>(), [16, 16]);
        assert_eq!(found.shared, 2 * 16 + 2 * 41 * 8);
    }

    #[test]
    fn what_was_interrupted_all_the_time_is_absent() {
        let found = scripted(|_, _| WindowOutcome::Interrupted);
        assert!(
            found.series.iter().all(Vec::is_empty)
                && found.sweeps.iter().flatten().all(|(_, ns)| ns.is_empty())
        );
        assert_eq!(found.shared, 0);
    }
}
