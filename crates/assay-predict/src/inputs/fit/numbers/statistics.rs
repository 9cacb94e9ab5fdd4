//! What branches depend on in a sequence of numbers, as figures that can be compared.
//!
//! How values are distributed is compared by the largest difference of the shares below any value (Kolmogorov and Smirnov):
//! it is how much more often a branch on any threshold is taken. All else is relative, but for correlation.
//! Checked: by hand, and on what generators make.

use super::FitStatistic;
use crate::inputs::NumberType;
use crate::inputs::history::{ORDERS, history};
use crate::inputs::sequence::{NumberFacts, SequenceFacts, numbers, sequence};

/// A share or a rate that differs by less matters to nothing: 0.04 cycles at 20 cycles for a misprediction.
const FLOOR: f64 = 0.002;

/// What is known of a sequence of numbers.
pub(super) struct Statistics {
    pub(super) sequence: SequenceFacts,
    pub(super) numbers: NumberFacts,
    /// Those that are numbers, from the least.
    pub(super) sorted: Vec<u64>,
    /// All of them, of which some may not be numbers.
    pub(super) units: usize,
    /// Mean numbers in a row that are equal.
    pub(super) equal_run: f64,
    /// Fewest mispredictions per unit of a branch on whether a number is below the one before it, by how many of its last
    /// outcomes are known.
    floors: Vec<Option<f64>>,
    /// The value that parts the numbers most evenly, and how it is written; none where all are alike.
    pub(super) middle: Option<(u64, String)>,
}

impl Statistics {
    pub(super) fn of(number: NumberType, keys: &[Option<u64>]) -> Statistics {
        let known: Vec<u64> = keys.iter().copied().flatten().collect();
        let below: Vec<u32> = known.windows(2).map(|pair| u32::from(pair[1] >= pair[0])).collect();
        let runs = known.chunk_by(|a, b| a == b).count();
        let mut sorted = known.clone();
        sorted.sort_unstable();
        Statistics {
            sequence: sequence(&known),
            numbers: numbers(number, &known, keys.len() - known.len()),
            units: keys.len(),
            equal_run: known.len() as f64 / runs.max(1) as f64,
            floors: ORDERS.map(|order| history(&below, 2, order, true).floor_misses_per_unit).collect(),
            middle: middle(&sorted).map(|key| (key, number.show(key))),
            sorted,
        }
    }

    /// Of all pairs, those in the wrong order.
    fn inversions(&self) -> Option<f64> {
        let units = self.sorted.len() as f64;
        self.sequence
            .inversions
            .filter(|_| units > 1.0)
            .map(|count| 2.0 * count as f64 / units / (units - 1.0))
    }
}

/// The value below which there is nearest to a half of all, but not none.
fn middle(sorted: &[u64]) -> Option<u64> {
    let median = *sorted.get(sorted.len() / 2)?;
    let begin = sorted.partition_point(|&key| key < median);
    let end = sorted.partition_point(|&key| key <= median);
    let uneven = |place: usize| place.abs_diff(sorted.len() / 2);
    let above = sorted.get(end).copied();
    if begin == 0 || uneven(end) < uneven(begin) {
        above.or((begin > 0).then_some(median))
    } else {
        Some(median)
    }
}

/// Each statistic of the recording and of streams that were fitted to it.
pub(super) fn compared(real: &Statistics, fitted: &[Statistics], margin: f64) -> Vec<FitStatistic> {
    let mut found = Vec::new();
    let mut add = |name: &str, least: f64, share: f64, of: &dyn Fn(&Statistics) -> Option<f64>| {
        let Some(recorded) = of(real) else { return };
        let values: Vec<f64> = fitted.iter().filter_map(of).collect();
        if !values.is_empty() {
            found.push(statistic(name, recorded, &values, (share * recorded.abs()).max(least)));
        }
    };
    add("share below any value", margin, 0.0, &|one| Some(difference(&real.sorted, &one.sorted)));
    add("distinct values", 0.0, margin, &|one| Some(one.sequence.distinct as f64));
    add("share of the most frequent", FLOOR, margin, &|one| Some(one.sequence.commonest_share));
    add("mean ascending run", 0.0, margin, &|one| Some(one.sequence.ascending_run_units));
    add("mean run of equal values", 0.0, margin, &|one| Some(one.equal_run));
    add("share of pairs in the wrong order", 0.0, margin, &Statistics::inversions);
    add("correlation with the next", margin, 0.0, &|one| one.numbers.correlation);
    add("share that is not a number", FLOOR, margin, &|one| one.numbers.nan_share);
    add("share that is denormal", FLOOR, margin, &|one| one.numbers.denormal_share);
    for order in ORDERS {
        let name = format!("fewest misses after {}", crate::words::plural(u64::from(order), "comparison"));
        add(&name, FLOOR, margin, &|one| one.floors[order as usize]);
    }
    found
}

fn statistic(name: &str, recorded: f64, fitted: &[f64], allowed: f64) -> FitStatistic {
    let mean = fitted.iter().sum::<f64>() / fitted.len() as f64;
    let is_among = fitted.iter().any(|&one| one <= recorded) && fitted.iter().any(|&one| one >= recorded);
    let close = (mean - recorded).abs() <= allowed || (is_among && fitted.len() > 1);
    FitStatistic { name: name.to_owned(), recorded, fitted: mean, allowed, close }
}

/// The largest difference of the shares below any value. Input: both from the least.
fn difference(a: &[u64], b: &[u64]) -> f64 {
    if a.is_empty() || b.is_empty() {
        return f64::from(u8::from(a.len() != b.len()));
    }
    let (mut at, mut of, mut most) = (0, 0, 0.0f64);
    while at < a.len() && of < b.len() {
        let value = a[at].min(b[of]);
        while a.get(at) == Some(&value) {
            at += 1;
        }
        while b.get(of) == Some(&value) {
            of += 1;
        }
        most = most.max((at as f64 / a.len() as f64 - of as f64 / b.len() as f64).abs());
    }
    most
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_difference_of_shares_is_that_of_the_definition() {
        // Below 3: 2 of 4 and 0 of 2; below 4: 3 of 4 and 1 of 2.
        assert_eq!(difference(&[1, 2, 3, 4], &[3, 5]), 0.5);
        assert_eq!((difference(&[1, 1, 2], &[1, 1, 2]), difference(&[1], &[2])), (0.0, 1.0));
        assert_eq!((difference(&[], &[]), difference(&[], &[1])), (0.0, 1.0));
    }

    #[test]
    fn the_middle_parts_numbers_and_is_none_where_all_are_alike() {
        assert_eq!(
            (middle(&[1, 2, 3, 4]), middle(&[0, 0, 0, 1]), middle(&[0, 1, 1, 1])),
            (Some(3), Some(1), Some(1))
        );
        assert_eq!((middle(&[]), middle(&[5, 5])), (None, None));
    }

    #[test]
    fn a_statistic_is_apart_beyond_the_margin_and_outside_of_all_streams() {
        let close = |fitted: &[f64]| statistic("x", 1.0, fitted, 0.05).close;
        assert_eq!((close(&[1.04, 1.04, 1.04]), close(&[1.06, 1.06, 1.06])), (true, false));
        assert_eq!((close(&[0.94, 0.94, 0.94]), close(&[0.9, 1.0, 1.9])), (false, true));
        // One stream cannot have others on its other side.
        assert!(!close(&[1.06]));
    }
}
