//! What does a mispredicted branch cost here, and how many outcomes does this CPU learn by heart? From clocks alone.
//!
//! Method: a loop of five instructions, one of them a conditional branch on the next byte of a buffer, written in assembly so
//! that no compiler can turn it into a conditional move. The bytes are fair coin tosses. **Fresh** ones, too many to be
//! remembered, are mispredicted half the time; a short stretch repeated over a buffer of the same size is **learned**, never
//! mispredicted, and executes the same instructions with the same memory traffic. The difference is the penalty alone.
//! A sweep over growing periods shows up to which length a repeated sequence is known by heart.
//! Both clocks and the involuntary switches stand around each window, as in a measured program; a window in which the
//! thread did not run all the time is told apart. What follows from the figures is computed in assay-pure (`stats::penalty`).
//! Known limits: the branch waits for a load from the nearest cache only, so it is resolved as early as any; one whose
//! condition takes longer costs more.

use crate::window::Windows;
use std::io;

/// Outcomes in a buffer of fresh tosses: many times what any known predictor remembers.
const FRESH: usize = 1 << 20;
/// Outcomes after which the learned buffer repeats.
const LEARNED_PERIOD: usize = 512;
/// Outcomes in one timed window: 0.2 ms of fresh ones at 3 ns.
const WINDOW: usize = 1 << 16;
/// Windows tried for each one that is wanted, where other work interrupts them.
const TRIES: usize = 4;

/// How much to measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// Series, each with tosses of its own: what the interval rests on.
    pub series: usize,
    /// Pairs of windows per series.
    pub pairs: usize,
    /// Windows per period of the sweep.
    pub windows: usize,
}

impl Effort {
    /// About a second on a machine that is left alone.
    pub const USUAL: Effort = Effort { series: 12, pairs: 12, windows: 5 };
}

/// A pair of neighbouring windows, nanoseconds per outcome.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pair {
    /// Of tosses never seen.
    pub fresh_ns: f64,
    /// Of tosses known by heart.
    pub learned_ns: f64,
}

/// One period of the sweep.
#[derive(Clone, Debug, PartialEq)]
pub struct Period {
    /// Outcomes after which the sequence repeats.
    pub outcomes: u64,
    /// Nanoseconds per outcome of each usable window, after the sequence was walked several times.
    pub ns: Vec<f64>,
}

/// What was measured.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BranchTiming {
    /// Usable pairs of each series; empty where every window was interrupted.
    pub series: Vec<Vec<Pair>>,
    /// By growing period.
    pub sweep: Vec<Period>,
    /// Windows in all, and how many of them were interrupted and left out.
    pub windows: (u64, u64),
}

/// Measures on one processor, in a thread of its own that is bound to it.
///
/// # Errors
/// The processor cannot be had; no such loop is written for this architecture.
pub fn measure(cpu: usize, effort: Effort) -> io::Result<BranchTiming> {
    if !cfg!(any(target_arch = "x86_64", target_arch = "aarch64")) {
        return Err(io::Error::new(
            io::ErrorKind::Unsupported,
            format!("no timing loop is written for {}", std::env::consts::ARCH),
        ));
    }
    let thread = std::thread::Builder::new().name("branch timing".into()).spawn(move || {
        crate::pin::pin(0, cpu)?;
        Ok(Meter::default().run(effort))
    })?;
    thread.join().unwrap_or_else(|_| Err(io::Error::other("the thread that times branches panicked")))
}

/// The periods of the sweep: 1024 outcomes to a million, two steps per doubling.
fn periods() -> Vec<usize> {
    (0..=20).map(|step| if step % 2 == 0 { 1024 << (step / 2) } else { 1448 << (step / 2) }).collect()
}

/// Counts windows while it measures.
#[derive(Default)]
struct Meter {
    windows: Windows,
}

impl Meter {
    fn run(mut self, effort: Effort) -> BranchTiming {
        let mut tosses = Tosses(0x9e37_79b9_7f4a_7c15);
        let series = (0..effort.series).map(|_| self.series(&mut tosses, effort.pairs)).collect();
        let sweep =
            periods().into_iter().map(|period| self.period(&mut tosses, period, effort.windows)).collect();
        BranchTiming { series, sweep, windows: (self.windows.timed, self.windows.interrupted) }
    }

    /// Pairs over tosses of their own. The learned buffer is as long as the fresh one: the memory sees no difference.
    fn series(&mut self, tosses: &mut Tosses, pairs: usize) -> Vec<Pair> {
        let fresh = tosses.fill(FRESH);
        let stretch = tosses.fill(LEARNED_PERIOD);
        let learned: Vec<u8> = stretch.iter().copied().cycle().take(FRESH).collect();
        walk(&learned[..WINDOW]);
        let mut found = Vec::with_capacity(pairs);
        for at in 0..pairs * TRIES {
            if found.len() == pairs {
                break;
            }
            let from = at * WINDOW % FRESH;
            let fresh_ns = self.window(&fresh[from..from + WINDOW], 1);
            // The first half of a window brings the predictor back to what it had learned.
            walk(&learned[..WINDOW / 2]);
            let learned_ns = self.window(&learned[from..from + WINDOW], 1);
            if let (Some(fresh_ns), Some(learned_ns)) = (fresh_ns, learned_ns) {
                found.push(Pair { fresh_ns, learned_ns });
            }
        }
        found
    }

    /// Windows of whole repetitions of one sequence, after it was walked often enough to be learned if it can be.
    fn period(&mut self, tosses: &mut Tosses, outcomes: usize, windows: usize) -> Period {
        let sequence = tosses.fill(outcomes);
        let repeats = WINDOW.div_ceil(outcomes);
        // A predictor learns a sequence in several passes, each of which finds more of its histories known.
        let passes = (FRESH / outcomes).clamp(3, 24);
        let mut ns = Vec::new();
        for _ in 0..windows * TRIES {
            if ns.len() == windows {
                break;
            }
            // Whatever ran in between has taken a part of it away.
            for _ in 0..if ns.is_empty() { passes } else { passes.div_ceil(4) } {
                walk(&sequence);
            }
            ns.extend(self.window(&sequence, repeats));
        }
        Period { outcomes: outcomes as u64, ns }
    }

    /// Nanoseconds per outcome of walking `outcomes` some times; nothing where the thread was interrupted.
    fn window(&mut self, outcomes: &[u8], repeats: usize) -> Option<f64> {
        let wall = self.windows.wall(|| {
            for _ in 0..repeats {
                walk(outcomes);
            }
        })?;
        Some(wall / (repeats * outcomes.len()) as f64)
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
        assert_eq!((periods[0], periods[1], periods[20]), (1024, 1448, 1 << 20));
        assert!(periods.windows(2).all(|pair| pair[0] < pair[1]));
    }

    #[test]
    fn every_figure_asked_for_is_there_or_was_interrupted() {
        let cpu = crate::pin::allowed_cpus().unwrap()[0];
        let effort = Effort { series: 2, pairs: 2, windows: 1 };
        let found = measure(cpu, effort).unwrap();
        assert_eq!((found.series.len(), found.sweep.len()), (2, 21));
        let all = found.series.iter().map(Vec::len).sum::<usize>()
            + found.sweep.iter().map(|p| p.ns.len()).sum::<usize>();
        assert!(all == 4 + 21 || found.windows.1 > 0, "{found:?}");
        assert!(found.series.iter().flatten().all(|pair| pair.fresh_ns > 0.0 && pair.learned_ns > 0.0));
    }

    #[test]
    fn says_which_processor_cannot_be_had() {
        let error = measure(1000, Effort::USUAL).unwrap_err().to_string();
        assert!(error.contains("processor 1000"), "{error}");
    }
}
