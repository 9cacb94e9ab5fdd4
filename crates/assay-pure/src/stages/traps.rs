//! Ways in which a table of stages misleads, found in its own numbers.
//!
//! - A miss rate that rises while misses fall: the branches that went away were easy ones. The other way round, too.
//! - Figures of another amount of work: the totals of a stage that does more units are no larger for that.
//! - A time that comes in steps of the clock that took it: a step of the work below a step of the clock can't be seen.
//! - Counts that differ between two executions of the same program: they are not exact then.

use super::quantity::{CommandFigures, Quantity};
use crate::stats::margin::Margin;
use serde::{Deserialize, Serialize};

/// A trap, with its numbers.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "trap", rename_all = "kebab-case")]
pub enum Trap {
    /// The miss rate rose though misses per unit fell.
    RateRoseMissesFell {
        /// Miss rates before and after.
        rates: [f64; 2],
        /// Misses per unit before and after.
        misses: [f64; 2],
    },
    /// The miss rate fell though misses per unit rose.
    RateFellMissesRose {
        /// Miss rates before and after.
        rates: [f64; 2],
        /// Misses per unit before and after.
        misses: [f64; 2],
    },
    /// The two do different amounts of work, and the totals go the other way than the figures per unit.
    OtherUnits {
        /// Units before and after.
        units: [f64; 2],
    },
    /// All times are multiples of one step.
    Quantised {
        /// The step, ns.
        step_ns: f64,
        /// The step as a fraction of the time.
        fraction: f64,
    },
    /// Two executions of the same program gave other counts.
    Unsteady {
        /// Smaller and larger number of branches.
        branches: [u64; 2],
    },
}

/// Smallest relative change of a rate or a count that is worth a word.
const TELLING: f64 = 0.01;

/// A miss rate below this is near to none, and its changes are nobody's concern.
const TELLING_RATE: f64 = 0.001;

/// Traps between a stage and the one that it is compared with.
pub fn between(before: &CommandFigures, after: &CommandFigures) -> Vec<Trap> {
    let mut found = Vec::new();
    found.extend(rate_against_misses(before, after));
    if before.units > 0.0 && after.units > 0.0 && before.units != after.units {
        found.push(Trap::OtherUnits { units: [before.units, after.units] });
    }
    found
}

fn rate_against_misses(before: &CommandFigures, after: &CommandFigures) -> Option<Trap> {
    let both = |quantity| Some([before.per_unit(quantity)?, after.per_unit(quantity)?]);
    let (rates, misses) = (both(Quantity::MissRate)?, both(Quantity::Misses)?);
    if rates[0].max(rates[1]) < TELLING_RATE {
        return None;
    }
    let rose = |pair: [f64; 2]| pair[1] > pair[0] * (1.0 + TELLING);
    let fell = |pair: [f64; 2]| pair[1] < pair[0] * (1.0 - TELLING);
    if rose(rates) && fell(misses) {
        Some(Trap::RateRoseMissesFell { rates, misses })
    } else if fell(rates) && rose(misses) {
        Some(Trap::RateFellMissesRose { rates, misses })
    } else {
        None
    }
}

/// Times needed to say that they come in steps.
const FEWEST_TIMES: usize = 8;

/// Whether times come in steps that are large beside what is to be told apart.
///
/// Input: times of one stage in one role, ns; the margin. A step is the smallest difference between two of
/// them, if every time is a whole multiple of it to a thousandth; it matters from a quarter of the margin on.
pub fn quantised(times_ns: &[f64], margin: Margin) -> Option<Trap> {
    if times_ns.len() < FEWEST_TIMES {
        return None;
    }
    let mut sorted = times_ns.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted[sorted.len() / 2];
    let differences =
        sorted.windows(2).map(|pair| pair[1] - pair[0]).filter(|difference| *difference > middle * 1e-9);
    let step_ns = differences.min_by(f64::total_cmp)?;
    let is_multiple = |time: &f64| {
        let steps = time / step_ns;
        (steps - steps.round()).abs() < 1e-3
    };
    let fraction = step_ns / middle;
    let matters = fraction > margin.relative() / 4.0 && sorted.iter().all(is_multiple);
    matters.then_some(Trap::Quantised { step_ns, fraction })
}

/// Whether two executions counted other branches.
pub fn unsteady(branches: &[u64]) -> Option<Trap> {
    let (low, high) = (*branches.iter().min()?, *branches.iter().max()?);
    (low != high).then_some(Trap::Unsteady { branches: [low, high] })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(units: f64, branches: u64, misses: u64) -> CommandFigures {
        CommandFigures { units, branches: Some(branches), misses: Some(misses), ..CommandFigures::default() }
    }

    #[test]
    fn the_transports_table_has_the_trap_in_it() {
        // Sender, larger packets: 886,572 branches with 7,639 misses (0.86 %) became 58,401 with 1,797 (3.08 %).
        let (before, after) = (figures(1.0, 886_572, 7_639), figures(1.0, 58_401, 1_797));
        let found = between(&before, &after);
        let [Trap::RateRoseMissesFell { rates, misses }] = found.as_slice() else { panic!("{found:?}") };
        assert!((rates[0] - 0.0086).abs() < 1e-4 && (rates[1] - 0.0308).abs() < 1e-4);
        assert_eq!(*misses, [7639.0, 1797.0]);
        let back = between(&after, &before);
        assert!(matches!(back.as_slice(), [Trap::RateFellMissesRose { .. }]), "{back:?}");
    }

    #[test]
    fn rates_and_misses_that_go_together_are_no_trap() {
        // The allocator's first step: 17 M branches, 1.85 M misses; 9 M, 0.7 M: the rate falls from 10.8 to 7.8 %.
        assert!(between(&figures(1.0, 17_098_340, 1_854_018), &figures(1.0, 9_000_000, 700_000)).is_empty());
        assert!(between(&figures(1.0, 1000, 100), &figures(1.0, 995, 100)).is_empty(), "by half a percent");
        // 5 % fewer misses at a rate that rose by half a percent of itself.
        assert!(between(&figures(1.0, 100_000, 10_000), &figures(1.0, 94_530, 9_500)).is_empty());
        assert!(
            between(&figures(1.0, 100_000, 10_000), &figures(1.0, 94_762, 9_950)).is_empty(),
            "half a percent fewer"
        );
        assert!(between(&CommandFigures::default(), &figures(1.0, 1, 1)).is_empty());
        // From 1 to 4 in 10,000: nothing is missed either way.
        assert!(between(&figures(1.0, 100_000, 10), &figures(1.0, 20_000, 8)).is_empty());
        assert_eq!(between(&figures(1.0, 100_000, 10), &figures(1.0, 5_000, 8)).len(), 1, "16 in 10,000");
    }

    #[test]
    fn misses_are_compared_per_unit() {
        // Twice the work with as many misses: fewer per unit, at a rate that rose.
        let found = between(&figures(10.0, 1000, 100), &figures(20.0, 800, 100));
        assert!(matches!(found[0], Trap::RateRoseMissesFell { misses: [10.0, 5.0], .. }), "{found:?}");
        assert_eq!(found[1], Trap::OtherUnits { units: [10.0, 20.0] });
    }

    #[test]
    fn times_of_a_coarse_clock_are_told() {
        // A clock of 10 ms, times of about 100 ms.
        let coarse: Vec<f64> =
            [10, 10, 11, 10, 10, 12, 10, 11, 10].iter().map(|ticks| f64::from(*ticks) * 1e7).collect();
        let Some(Trap::Quantised { step_ns, fraction }) = quantised(&coarse, Margin::of(0.02)) else {
            panic!("told")
        };
        assert!((step_ns - 1e7).abs() < 1.0 && (fraction - 0.1).abs() < 1e-9);
        // The same clock is fine enough for a minute.
        let long: Vec<f64> = (0..9).map(|ticks| 6e10 + f64::from(ticks % 3) * 1e7).collect();
        assert_eq!(quantised(&long, Margin::of(0.02)), None);
        let fine = [1.003e8, 1.0071e8, 0.99912e8, 1.01e8, 1.0005e8, 1.00207e8, 1.0093e8, 1.0017e8];
        assert_eq!(quantised(&fine, Margin::of(0.02)), None);
        // A step of 1 % matters where 2 % are to be told apart, not where 5 % are.
        let hundredths: Vec<f64> =
            [100, 101, 103, 100, 102, 100, 101, 100].map(|ticks| f64::from(ticks) * 1e6).to_vec();
        assert!(
            quantised(&hundredths, Margin::of(0.02)).is_some()
                && quantised(&hundredths, Margin::of(0.05)).is_none()
        );
        // Far apart, but of no common step.
        let scattered = [100.0, 108.3, 117.9, 127.1, 139.4, 148.1, 160.9, 171.6];
        assert_eq!(quantised(&scattered, Margin::of(0.02)), None);
        assert_eq!(quantised(&coarse[..7], Margin::of(0.02)), None, "too few to say");
        assert_eq!(quantised(&[1e8; 20], Margin::of(0.02)), None, "no difference shows no step");
    }

    #[test]
    fn counts_that_differ_are_told() {
        assert_eq!(unsteady(&[5, 5, 5]), None);
        assert_eq!(unsteady(&[5, 7, 6]), Some(Trap::Unsteady { branches: [5, 7] }));
        assert_eq!(unsteady(&[]), None);
    }
}
