//! How much of the time was the sibling thread of a core busy? From pulses taken one after another.
//!
//! Method: a pulse counts by its quotient ([`crate::pulse`]), which knows nothing of the clock's frequency: what drifts with that,
//! slowly or at once, is no sharing. What is slower than the fastest twentieth by [`SHARED`] is shared; what takes several times as
//! long was interrupted and says nothing. A single slow pulse between good ones is an accident: sharing comes in bursts.
//! Source: on the machine this was developed on a pulse's wide part took 0.91 µs, and 1.1 to 1.8 while the sibling
//! thread was busy, in bursts of up to 12 ms; the chain moved by 2 % *(machine)*.
//! Limits: a core that is shared all the time, at one rate, looks like a narrower one ([`crate::pulse::narrowed`] tells who knows
//! its width); a neighbour that mostly waits takes little.
//! Checked: by hand, and by series made up for each rule.

use super::quantile::median;
use crate::pulse::{Pulse, SHARED, own, width};

/// Two threads halve each other at worst; what takes longer was interrupted.
const INTERRUPTED: f64 = 3.0;
/// Good pulses in a row that end a burst.
const END: usize = 2;
/// Fewer clean pulses say nothing.
pub const LEAST_PULSES: usize = 100;

/// A pulse and when it was taken.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimedPulse {
    /// When it began, nanoseconds from any moment.
    pub at_ns: f64,
    /// What it took.
    pub pulse: Pulse,
}

/// What pulses tell of a core.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sharing {
    /// Pulses that were not interrupted.
    pub pulses: u64,
    /// The part of them during which the core was shared.
    pub share: f64,
    /// Stretches of sharing.
    pub bursts: u64,
    /// A burst's length, nanoseconds: half of the shared time lies in longer ones. 0 without bursts.
    pub burst_ns: f64,
    /// The median shared pulse over the reference; 1 without bursts.
    pub slowdown: f64,
    /// Independent additions per cycle, of the reference.
    pub width: f64,
}

/// Judges pulses.
///
/// Input: pulses in the order in which they were taken. Returns: none of fewer than [`LEAST_PULSES`] clean ones. Cost: O(n log n).
pub fn sharing(pulses: &[TimedPulse]) -> Option<Sharing> {
    let relative: Vec<(TimedPulse, f64)> =
        pulses.iter().filter_map(|taken| Some((*taken, taken.pulse.quotient()?))).collect();
    let reference = own(relative.iter().map(|(_, quotient)| *quotient).collect())?;
    let clean: Vec<(TimedPulse, f64)> = relative
        .into_iter()
        .map(|(taken, quotient)| (taken, quotient / reference))
        .filter(|(_, slower)| *slower < INTERRUPTED)
        .collect();
    if clean.len() < LEAST_PULSES {
        return None;
    }
    let bursts = bursts(&clean);
    let shared: Vec<f64> = bursts.iter().flat_map(|burst| burst.slower.iter().copied()).collect();
    Some(Sharing {
        pulses: clean.len() as u64,
        share: shared.len() as f64 / clean.len() as f64,
        bursts: bursts.len() as u64,
        burst_ns: half_in_longer(&bursts),
        slowdown: median(&shared).unwrap_or(1.0),
        width: width(reference),
    })
}

/// A stretch in which the core was shared.
#[derive(Clone, Debug, Default)]
struct Burst {
    begin_ns: f64,
    end_ns: f64,
    slower: Vec<f64>,
}

fn bursts(clean: &[(TimedPulse, f64)]) -> Vec<Burst> {
    let mut found: Vec<Burst> = Vec::new();
    let mut good_in_row = END;
    for (taken, slower) in clean {
        if *slower <= SHARED {
            good_in_row += 1;
            continue;
        }
        if good_in_row >= END {
            found.push(Burst { begin_ns: taken.at_ns, ..Burst::default() });
        }
        good_in_row = 0;
        let burst = found.last_mut().expect("one was begun at the first slow pulse");
        burst.end_ns = taken.at_ns + (taken.pulse.chain_ns + taken.pulse.wide_ns) as f64;
        burst.slower.push(*slower);
    }
    found.retain(|burst| burst.slower.len() > 1);
    found
}

/// The length that splits the shared time in two halves.
fn half_in_longer(bursts: &[Burst]) -> f64 {
    let mut lengths: Vec<f64> = bursts.iter().map(|burst| burst.end_ns - burst.begin_ns).collect();
    lengths.sort_by(f64::total_cmp);
    let half = lengths.iter().sum::<f64>() / 2.0;
    let mut so_far = 0.0;
    let reaches = |length: &&f64| {
        so_far += **length;
        so_far >= half
    };
    lengths.iter().find(reaches).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A pulse every 3 µs; its wide part takes 1 µs times what `slower` says of its number, its chain 600 ns.
    fn series(count: usize, slower: impl Fn(usize) -> f64) -> Vec<TimedPulse> {
        let taken = |nth: usize| TimedPulse {
            at_ns: 3000.0 * nth as f64,
            pulse: Pulse::of_additions(600, (1000.0 * slower(nth)).round() as u64),
        };
        (0..count).map(taken).collect()
    }

    fn judged(count: usize, slower: impl Fn(usize) -> f64) -> Sharing {
        sharing(&series(count, slower)).expect("enough pulses")
    }

    #[test]
    fn a_core_of_ones_own_is_not_shared() {
        let even = judged(1000, |nth| 1.0 + 0.07 * (nth % 7) as f64 / 6.0);
        assert_eq!((even.pulses, even.share, even.bursts), (1000, 0.0, 0));
        assert_eq!((even.burst_ns, even.slowdown), (0.0, 1.0));
        // 6.25 times as many additions as in the chain, in 10/6 of its time.
        assert!((even.width - 3.75).abs() < 1e-12, "{even:?}");
    }

    #[test]
    fn bursts_are_told_with_their_length_and_by_how_much_they_slow() {
        // Every 500 pulses 50 in a row are slower by 1.7: a tenth of the time, 49 periods of 3 µs and a pulse of 0.6 + 1.7.
        let found = judged(5000, |nth| if nth % 500 < 50 { 1.7 } else { 1.0 });
        assert_eq!((found.pulses, found.bursts), (5000, 10));
        assert!((found.share - 0.1).abs() < 1e-12, "{found:?}");
        assert!((found.burst_ns - (49.0 * 3000.0 + 2300.0)).abs() < 1e-6, "{found:?}");
        assert!((found.slowdown - 1.7).abs() < 1e-12, "{found:?}");
    }

    #[test]
    fn the_threshold_is_that_of_single_samples() {
        let by = |factor: f64| judged(1000, move |nth| if nth % 100 < 20 { factor } else { 1.0 }).share;
        assert_eq!((by(1.079), by(1.081)), (0.0, 0.2));
    }

    #[test]
    fn the_reference_is_the_fastest_twentieth_however_much_is_shared() {
        // All but six in a hundred are slow; of these the fastest are one's own.
        let found = judged(10_000, |nth| if nth % 100 < 6 { 1.0 } else { 1.5 });
        assert!((found.share - 0.94).abs() < 1e-12 && (found.slowdown - 1.5).abs() < 1e-12, "{found:?}");
        // A few that are too fast to be true are not believed.
        let odd = judged(10_000, |nth| if nth % 100 < 4 { 0.5 } else { 1.0 });
        assert_eq!(odd.share, 0.0);
    }

    #[test]
    fn frequency_that_drifts_or_drops_at_once_is_no_sharing() {
        let at = |frequency: &dyn Fn(usize) -> f64| {
            let mut pulses = series(3000, |_| 1.0);
            for (nth, taken) in pulses.iter_mut().enumerate() {
                let slower = |ns: u64| (ns as f64 / frequency(nth)).round() as u64;
                taken.pulse = Pulse::of_additions(slower(taken.pulse.chain_ns), slower(taken.pulse.wide_ns));
            }
            sharing(&pulses).expect("enough pulses").share
        };
        assert_eq!(at(&|nth| 1.0 - 0.3 * nth as f64 / 3000.0), 0.0);
        assert_eq!(at(&|nth| if (1000..1500).contains(&nth) { 0.7 } else { 1.0 }), 0.0);
    }

    #[test]
    fn what_was_interrupted_says_nothing_and_one_slow_pulse_is_an_accident() {
        let found = judged(1000, |nth| if nth % 10 == 0 { 40.0 } else { 1.0 });
        assert_eq!((found.pulses, found.share), (900, 0.0));
        let lone = judged(1000, |nth| if nth % 3 == 0 { 1.6 } else { 1.0 });
        assert_eq!((lone.bursts, lone.share), (0, 0.0), "two good ones between any two");
        let pairs = judged(1000, |nth| if nth % 2 == 0 { 1.6 } else { 1.0 });
        assert_eq!(pairs.bursts, 1, "one good pulse ends no burst");
        assert!((pairs.share - 0.5).abs() < 1e-12, "{pairs:?}");
    }

    #[test]
    fn half_of_the_shared_time_lies_in_bursts_as_long_as_said() {
        // Bursts of 2 pulses, ten of them, and one of 100: nearly all the time is in the long one.
        let found = judged(2000, |nth| {
            let is_short = nth < 100 && nth % 10 < 2;
            if is_short || (500..600).contains(&nth) { 1.5 } else { 1.0 }
        });
        assert_eq!(found.bursts, 11);
        assert!((found.burst_ns - (99.0 * 3000.0 + 2100.0)).abs() < 1e-6, "{found:?}");
    }

    #[test]
    fn too_few_pulses_say_nothing() {
        assert_eq!(sharing(&[]), None);
        assert_eq!(sharing(&series(LEAST_PULSES - 1, |_| 1.0)), None);
        assert!(sharing(&series(LEAST_PULSES, |_| 1.0)).is_some());
        let broken = TimedPulse { at_ns: 0.0, pulse: Pulse::of_additions(0, 0) };
        assert_eq!(sharing(&[broken; 500]), None, "a clock that stands still");
        assert_eq!(
            sharing(&series(500, |nth| if nth < 60 { 1.0 } else { 9.0 })),
            None,
            "nearly all were interrupted"
        );
    }
}
