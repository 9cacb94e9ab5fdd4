//! What does a misprediction cost on this machine, and up to which length does its predictor memorise outcomes?
//!
//! Method: the figures come from one loop over fair coin tosses (assay-linux, `branch_timing`). Fresh tosses are mispredicted
//! half the time whatever the predictor, learned ones never, so twice the difference in time is the penalty. Each series has
//! tosses of its own; its location is the median over its pairs of windows, and the interval is Student's over the series.
//! A repeated sequence that takes nearly the time of memorised outcomes is memorised, one whose time lies nearly at that of
//! fresh ones is not known at all.
//! Known limits: "nearly" is a tenth of the way. Checked: by hand.

use super::StatsError;
use super::interval::{Interval, mean_and_variance, t_interval};
use super::quantile::median;

/// Mispredictions per fresh toss: no predictor does better or worse on independent fair ones.
const MISSES_PER_TOSS: f64 = 0.5;

/// How far from an end of the scale still counts as that end.
const NEARLY: f64 = 0.1;

/// The cost of one misprediction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Penalty {
    /// Nanoseconds, mean over the series.
    pub ns: f64,
    /// Its interval.
    pub interval: Interval,
    /// Nanoseconds per outcome of fresh tosses, median over the series.
    pub fresh_ns: f64,
    /// Nanoseconds per outcome of learned ones.
    pub learned_ns: f64,
    /// Series with usable pairs.
    pub series: usize,
}

/// The penalty with its interval at confidence 1 - `alpha`.
///
/// Input: per series the pairs (fresh, learned) of nanoseconds per outcome. Returns: nanoseconds. Errors: fewer than three
/// series that have a pair. Checked: by hand.
pub fn penalty(series: &[Vec<(f64, f64)>], alpha: f64) -> Result<Penalty, StatsError> {
    let of = |pick: fn(&(f64, f64)) -> f64| -> Vec<f64> {
        series.iter().filter_map(|pairs| median(&pairs.iter().map(pick).collect::<Vec<_>>())).collect()
    };
    let penalties = of(|(fresh, learned)| (fresh - learned) / MISSES_PER_TOSS);
    let too_few = StatsError::TooFewRotations { have: penalties.len(), need: 3 };
    let (mean, variance) = mean_and_variance(&penalties).filter(|_| penalties.len() >= 3).ok_or(too_few)?;
    let n = penalties.len() as f64;
    let locations = |pick| median(&of(pick)).unwrap_or_default();
    Ok(Penalty {
        ns: mean,
        interval: t_interval(mean, (variance / n).sqrt(), n - 1.0, alpha)?,
        fresh_ns: locations(|pair| pair.0),
        learned_ns: locations(|pair| pair.1),
        series: penalties.len(),
    })
}

/// What the predictor remembers, in independent fair outcomes of one branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PredictorMemory {
    /// The longest repeated sequence that it memorises.
    pub learned_outcomes: u64,
    /// The shortest of which it knows nothing; none where even the longest tried is known in part.
    pub unlearned_outcomes: Option<u64>,
}

/// Reads the sweep: by rising period, its length in outcomes and the nanoseconds per outcome of its windows.
///
/// Input: the sweep, and the time of fresh tosses. Returns: the lengths, or nothing where the shortest period has no usable
/// window or is not clearly faster than fresh tosses. The time of learned tosses is that of the sweep's own shortest periods:
/// a longer sequence takes a little more even when it is known.
pub fn memory(sweep: &[(u64, Vec<f64>)], fresh_ns: f64) -> Option<PredictorMemory> {
    let times: Vec<(u64, f64)> =
        sweep.iter().filter_map(|(outcomes, ns)| median(ns).map(|ns| (*outcomes, ns))).collect();
    let shortest: Vec<f64> = times.iter().take(5).map(|(_, ns)| *ns).collect();
    let learned_ns = median(&shortest).filter(|learned| *learned < 0.8 * fresh_ns)?;
    // Likewise at the other end, unless even the longest are known: then the series' own time is all there is.
    let longest: Vec<f64> = times.iter().rev().take(3).map(|(_, ns)| *ns).collect();
    let fresh_ns = median(&longest).filter(|longest| *longest > 0.85 * fresh_ns).unwrap_or(fresh_ns);
    let unknown = |ns: f64| (ns - learned_ns) / (fresh_ns - learned_ns);
    let learned = times.iter().take_while(|(_, ns)| unknown(*ns) <= NEARLY).last()?;
    let unlearned = times.iter().rev().take_while(|(_, ns)| unknown(*ns) >= 1.0 - NEARLY).last();
    Some(PredictorMemory {
        learned_outcomes: learned.0,
        unlearned_outcomes: unlearned.map(|(outcomes, _)| *outcomes),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_penalty_is_twice_the_difference_and_its_interval_students() {
        let series = [
            vec![(3.0, 0.5), (3.1, 0.6), (9.0, 0.5)],
            vec![(3.2, 0.6)],
            vec![],
            vec![(2.9, 0.5), (3.1, 0.5), (3.0, 0.5), (3.0, 0.5)],
        ];
        let found = penalty(&series, 0.05).unwrap();
        // Medians of the differences 2.5, 2.6, 2.5: penalties 5.0, 5.2, 5.0; mean 5.0667, deviation 0.11547, t(2) 4.30265.
        assert!((found.ns - 5.066_666_667).abs() < 1e-9);
        assert!((found.interval.upper - found.ns - 4.302_652_73 * 0.115_470_054 / 3f64.sqrt()).abs() < 1e-6);
        assert!((found.interval.lower + found.interval.upper - 2.0 * found.ns).abs() < 1e-12);
        // Medians of the series 3.1, 3.2, 3.0 and 0.5, 0.6, 0.5.
        assert_eq!((found.series, found.fresh_ns, found.learned_ns), (3, 3.1, 0.5));
    }

    #[test]
    fn two_series_are_too_few() {
        let series = [vec![(3.0, 0.5)], vec![], vec![(3.2, 0.6)]];
        assert_eq!(penalty(&series, 0.05), Err(StatsError::TooFewRotations { have: 2, need: 3 }));
    }

    fn sweep(ns: &[f64]) -> Vec<(u64, Vec<f64>)> {
        ns.iter().enumerate().map(|(at, ns)| (1000 << at, vec![*ns, *ns, 9.0 * ns])).collect()
    }

    #[test]
    fn the_step_is_read_at_both_ends() {
        // Learned 0.8, fresh 3.3: 1.05 is a tenth of the way, 3.05 nine tenths.
        let found =
            memory(&sweep(&[0.8, 0.8, 0.8, 0.8, 0.8, 0.9, 1.04, 1.06, 2.0, 3.0, 3.06, 3.3, 3.3, 3.3]), 3.3);
        assert_eq!(
            found,
            Some(PredictorMemory { learned_outcomes: 64_000, unlearned_outcomes: Some(1_024_000) })
        );
    }

    #[test]
    fn a_machine_that_was_slower_while_the_series_were_timed_does_not_move_the_step() {
        let found = memory(&sweep(&[0.8, 0.8, 0.8, 0.8, 0.8, 0.8, 3.2, 3.25, 3.3, 3.3, 3.3]), 3.7);
        assert_eq!(
            found,
            Some(PredictorMemory { learned_outcomes: 32_000, unlearned_outcomes: Some(64_000) })
        );
    }

    #[test]
    fn a_predictor_that_still_knows_the_longest_has_no_upper_end() {
        let found = memory(&sweep(&[0.8, 0.8, 0.8, 0.8, 0.8, 0.8, 1.5]), 3.3);
        assert_eq!(found, Some(PredictorMemory { learned_outcomes: 32_000, unlearned_outcomes: None }));
    }

    #[test]
    fn a_dip_among_the_long_ones_is_not_the_step() {
        let found = memory(&sweep(&[0.8, 0.8, 0.8, 0.8, 0.8, 3.2, 0.8, 3.2, 3.3]), 3.3);
        assert_eq!(
            found,
            Some(PredictorMemory { learned_outcomes: 16_000, unlearned_outcomes: Some(128_000) })
        );
    }

    #[test]
    fn one_odd_window_at_either_end_does_not_set_the_scale() {
        // Learned 0.8 and not 1.0: 1.1 lies beyond a tenth of the way. Fresh 3.3 and not 4.5.
        let found = memory(&sweep(&[1.0, 0.8, 0.8, 0.8, 0.8, 1.1, 3.3, 3.3, 4.5]), 3.3);
        assert_eq!(
            found,
            Some(PredictorMemory { learned_outcomes: 16_000, unlearned_outcomes: Some(64_000) })
        );
    }

    #[test]
    fn long_sequences_that_are_known_in_part_are_not_taken_for_fresh_ones() {
        // The series' own 3.3 stays the end of the scale: 1.04 is within a tenth of it, 2.3 not within a tenth of the end.
        let found = memory(&sweep(&[0.8, 0.8, 0.8, 0.8, 0.8, 0.8, 1.04, 2.3, 2.3, 2.3]), 3.3);
        assert_eq!(found, Some(PredictorMemory { learned_outcomes: 64_000, unlearned_outcomes: None }));
    }

    #[test]
    fn a_shortest_period_that_saves_less_than_a_fifth_was_not_learned() {
        let of = |learned: f64| memory(&sweep(&[learned, learned, learned, 3.3, 3.3, 3.3]), 3.3);
        assert_eq!(of(2.7), None);
        assert!(of(2.6).is_some());
    }

    #[test]
    fn nothing_is_said_where_nothing_was_learned_or_measured() {
        assert_eq!(memory(&sweep(&[3.0, 3.0, 3.0, 3.0, 3.0, 3.3]), 3.3), None);
        assert_eq!(memory(&[], 3.3), None);
        assert_eq!(memory(&[(1000, vec![])], 3.3), None);
    }
}
