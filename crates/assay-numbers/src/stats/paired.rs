//! How two sides compare at one placement, from samples that pair by round and index.
//!
//! Method: the median over pairs of ln(candidate / baseline). A pair shares its round (so drift and neighbours cancel)
//! and its windows of the input (so their cost cancels); an interrupted sample spoils one pair and the median ignores it.
//! Limits: with fewer than eight pairs a few spoilt ones can still carry the median (simulated in docs/methodology/verdicts.md).
//! Checked: by derivation, and by properties (swap, scale, drift, window cost).

use super::StatsError;
use super::quantile::{median, median_standard_error};

/// One sample: when it was taken, and what it says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Keyed {
    /// The pass over the cells.
    pub round: u32,
    /// The number within the visit; the same number means the same windows.
    pub index: u32,
    /// Nanoseconds per unit; used when finite and positive.
    pub value: f64,
}

/// The comparison at one placement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlacementComparison {
    /// ln(candidate / baseline).
    pub log_ratio: f64,
    /// Standard error of `log_ratio` if its pairs were independent: a floor under the true one.
    pub standard_error: f64,
    /// ln of the candidate's median nanoseconds per unit.
    pub log_candidate: f64,
    /// ln of the baseline's.
    pub log_baseline: f64,
    /// Pairs used; 0: no sample had its counterpart, and the medians of both sides were compared instead.
    pub pairs: usize,
}

/// Compares two sides.
///
/// Input: samples in any order; those not finite and positive are left out; when a (round, index) occurs twice on a
/// side the first in value order is used. Returns: logarithms, without unit. Errors: `NoUsableSamples`.
/// Cost: O(n log n). Checked: tests below.
pub fn compare(candidate: &[Keyed], baseline: &[Keyed]) -> Result<PlacementComparison, StatsError> {
    let candidate = usable(candidate);
    let baseline = usable(baseline);
    let logs = |side: &[Keyed]| side.iter().map(|sample| sample.value.ln()).collect::<Vec<f64>>();
    let (log_c, log_b) = (logs(&candidate), logs(&baseline));
    let none = StatsError::NoUsableSamples { candidate: log_c.len(), baseline: log_b.len() };
    let (Some(log_candidate), Some(log_baseline)) = (median(&log_c), median(&log_b)) else {
        return Err(none);
    };
    let differences: Vec<f64> = join(&candidate, &baseline).map(|(_, difference)| difference).collect();
    let (log_ratio, standard_error) = match median(&differences) {
        Some(middle) => (middle, median_standard_error(&differences)),
        None => {
            (log_candidate - log_baseline, median_standard_error(&log_c).hypot(median_standard_error(&log_b)))
        }
    };
    Ok(PlacementComparison {
        log_ratio,
        standard_error,
        log_candidate,
        log_baseline,
        pairs: differences.len(),
    })
}

/// The median log ratio of each round that has pairs, in order of rounds.
///
/// Samples of one visit share its state, so a round gives one observation: this is what an interval may be built on.
pub fn per_round(candidate: &[Keyed], baseline: &[Keyed]) -> Vec<f64> {
    by_round(candidate, baseline).into_iter().map(|(_, ratio)| ratio).collect()
}

/// As [`per_round`], with the number of each round.
pub fn by_round(candidate: &[Keyed], baseline: &[Keyed]) -> Vec<(u32, f64)> {
    let (candidate, baseline) = (usable(candidate), usable(baseline));
    let mut rounds: Vec<(u32, Vec<f64>)> = Vec::new();
    for (round, difference) in join(&candidate, &baseline) {
        match rounds.last_mut() {
            Some((last, differences)) if *last == round => differences.push(difference),
            _ => rounds.push((round, vec![difference])),
        }
    }
    rounds.iter().filter_map(|(round, differences)| Some((*round, median(differences)?))).collect()
}

fn usable(samples: &[Keyed]) -> Vec<Keyed> {
    let mut kept: Vec<Keyed> =
        samples.iter().filter(|sample| sample.value.is_finite() && sample.value > 0.0).copied().collect();
    kept.sort_by(|a, b| (a.round, a.index).cmp(&(b.round, b.index)).then(a.value.total_cmp(&b.value)));
    kept.dedup_by_key(|sample| (sample.round, sample.index));
    kept
}

/// Merge join of two sides sorted by (round, index), which occur once each: (round, ln ratio) per pair.
fn join<'a>(candidate: &'a [Keyed], baseline: &'a [Keyed]) -> impl Iterator<Item = (u32, f64)> + 'a {
    let mut left = baseline;
    candidate.iter().filter_map(move |c| {
        let key = (c.round, c.index);
        while let [first, rest @ ..] = left
            && (first.round, first.index) < key
        {
            left = rest;
        }
        let same = left.first().filter(|first| (first.round, first.index) == key)?;
        Some((c.round, (c.value / same.value).ln()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn side(values: &[(u32, u32, f64)]) -> Vec<Keyed> {
        values.iter().map(|&(round, index, value)| Keyed { round, index, value }).collect()
    }

    #[test]
    fn drift_and_window_cost_cancel_in_pairs() {
        // Candidate is exactly 1.1 times as slow; rounds drift by 30 %, windows differ by a factor of 2.
        let mut candidate = Vec::new();
        let mut baseline = Vec::new();
        for round in 0..4u32 {
            for index in 0..3u32 {
                let cost = (1.0 + 0.1 * f64::from(round)) * (1.0 + 0.5 * f64::from(index));
                baseline.push(Keyed { round, index, value: cost });
                candidate.push(Keyed { round, index, value: 1.1 * cost });
            }
        }
        candidate.reverse();
        let found = compare(&candidate, &baseline).unwrap();
        assert!((found.log_ratio - 1.1f64.ln()).abs() < 1e-12);
        assert!(found.standard_error < 1e-12);
        assert_eq!(found.pairs, 12);
        assert!(per_round(&candidate, &baseline).iter().all(|ratio| (ratio - 1.1f64.ln()).abs() < 1e-12));
    }

    #[test]
    fn swapping_the_sides_turns_the_sign() {
        let a = side(&[(0, 0, 1.0), (0, 1, 1.3), (1, 0, 1.1), (1, 1, 0.9)]);
        let b = side(&[(0, 0, 1.2), (0, 1, 1.1), (1, 0, 1.0), (1, 1, 1.0)]);
        let (there, back) = (compare(&a, &b).unwrap(), compare(&b, &a).unwrap());
        assert!((there.log_ratio + back.log_ratio).abs() < 1e-15);
        assert!((there.standard_error - back.standard_error).abs() < 1e-15);
        assert_eq!(there.log_candidate, back.log_baseline);
    }

    #[test]
    fn a_sample_without_its_counterpart_is_no_pair() {
        let a = side(&[(0, 0, 2.0), (0, 1, 900.0), (1, 0, 2.0), (2, 0, 2.0)]);
        let b = side(&[(0, 0, 1.0), (1, 0, 1.0), (2, 0, 1.0), (3, 0, 77.0)]);
        let found = compare(&a, &b).unwrap();
        assert_eq!(found.pairs, 3);
        assert!((found.log_ratio - 2f64.ln()).abs() < 1e-15);
        assert_eq!(per_round(&a, &b).len(), 3);
    }

    #[test]
    fn without_any_pair_the_medians_are_compared() {
        let a = side(&[(0, 0, 2.0), (1, 0, 3.0), (2, 0, 4.0)]);
        let b = side(&[(3, 0, 1.0), (4, 0, 1.5), (5, 0, 2.0)]);
        let found = compare(&a, &b).unwrap();
        assert_eq!(found.pairs, 0);
        assert!((found.log_ratio - 2f64.ln()).abs() < 1e-15);
        assert!(found.standard_error > 0.0);
        assert!(per_round(&a, &b).is_empty());
    }

    #[test]
    fn one_interrupted_sample_does_not_move_the_ratio() {
        let a = side(&[(0, 0, 1.00), (0, 1, 1.01), (0, 2, 9.0), (1, 0, 1.02), (1, 1, 1.00)]);
        let b = side(&[(0, 0, 1.00), (0, 1, 1.01), (0, 2, 1.0), (1, 0, 1.02), (1, 1, 1.00)]);
        assert_eq!(compare(&a, &b).unwrap().log_ratio, 0.0);
    }

    #[test]
    fn a_time_that_is_no_time_is_left_out() {
        let a = side(&[(0, 0, f64::NAN), (0, 1, 0.0), (1, 0, -1.0), (1, 1, f64::INFINITY)]);
        let b = side(&[(0, 0, 1.0)]);
        assert_eq!(compare(&a, &b), Err(StatsError::NoUsableSamples { candidate: 0, baseline: 1 }));
    }

    #[test]
    fn a_round_gives_the_median_of_its_pairs() {
        let a = side(&[(0, 0, 1.0), (0, 1, 2.0), (0, 2, 4.0), (7, 0, 8.0)]);
        let b = side(&[(0, 0, 1.0), (0, 1, 1.0), (0, 2, 1.0), (7, 0, 1.0)]);
        assert_eq!(per_round(&a, &b), [2f64.ln(), 8f64.ln()]);
    }
}
