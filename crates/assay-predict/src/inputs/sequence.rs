//! What numbers and records are as a sequence: how many different ones, how sorted, how one follows another. That is what
//! the branches of a sort, a search or a filter depend on.
//!
//! Each unit is a key whose order is that of the units. One merge sort counts the inversions (Knuth, "The Art of Computer
//! Programming" 3, 5.2.4) and sorts; equal neighbours of the result are the different values. The exponent of Zipf's law
//! is that of maximum likelihood for the ranks that occur (Clauset, Shalizi, Newman, SIAM Review 51(4), 2009, app. B, with
//! a greatest rank).
//!
//! Known limits: ranks are those of the sample, so the exponent is refused with few units per value. Floating-point values
//! that are not a number are left out of all but their share.
//! Checked: against definitions on small sequences; against what generators were asked for.

use super::number::NumberType;

/// More units than this are not looked through for inversions, which needs twice their keys in memory.
const MOST_FOR_INVERSIONS: usize = 1 << 24;

/// With fewer units per different value, their frequencies say nothing.
const UNITS_PER_VALUE: usize = 10;

/// Ranks say nothing with fewer different values, and take long with more.
const RANKS: std::ops::RangeInclusive<usize> = 10..=1 << 20;

/// How sorted a sequence of numbers or records is, and how few different ones it has.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct SequenceFacts {
    /// Different units.
    pub distinct: u64,
    /// The share of the most frequent one.
    pub commonest_share: f64,
    /// How steeply frequencies fall: the k-th most frequent comes 1 / k^exponent as often as the first (Zipf). `None` with
    /// fewer than 10 units per value, fewer than 10 values, or more than a million.
    pub rank_exponent: Option<f64>,
    /// Mean length of the stretches in which no unit is below the one before.
    pub ascending_run_units: f64,
    /// Pairs in the wrong order; 0 is sorted. `None` with more than 16 million units.
    pub inversions: Option<u64>,
}

/// What numbers are beside their order.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct NumberFacts {
    /// The least and the greatest number; `None` if there is none.
    pub range: Option<(f64, f64)>,
    /// Mean of the finite numbers.
    pub mean: Option<f64>,
    /// Their standard deviation.
    pub deviation: Option<f64>,
    /// Correlation of each number with the one before; `None` if they are all alike.
    pub correlation: Option<f64>,
    /// Of floating point, the share that is not a number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nan_share: Option<f64>,
    /// Of floating point, the share that is denormal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub denormal_share: Option<f64>,
}

/// Describes a sequence of keys.
pub(super) fn sequence(keys: &[u64]) -> SequenceFacts {
    let runs = keys.windows(2).filter(|pair| pair[1] < pair[0]).count() + usize::from(!keys.is_empty());
    let mut sorted = keys.to_vec();
    let inversions = if keys.len() <= MOST_FOR_INVERSIONS {
        Some(sort(&mut sorted))
    } else {
        sorted.sort_unstable();
        None
    };
    let mut counts: Vec<usize> = sorted.chunk_by(|a, b| a == b).map(<[u64]>::len).collect();
    counts.sort_unstable_by(|a, b| b.cmp(a));
    SequenceFacts {
        distinct: counts.len() as u64,
        commonest_share: share(counts.first().copied().unwrap_or(0), keys.len()),
        rank_exponent: rank_exponent(&counts),
        ascending_run_units: share(keys.len(), runs),
        inversions,
    }
}

fn share(a: usize, b: usize) -> f64 {
    if b == 0 { 0.0 } else { a as f64 / b as f64 }
}

/// The exponent of Zipf's law for counts in falling order; `None` where they say nothing.
pub(super) fn rank_exponent(counts: &[usize]) -> Option<f64> {
    let units: usize = counts.iter().sum();
    if !RANKS.contains(&counts.len()) || units < UNITS_PER_VALUE * counts.len() {
        return None;
    }
    let logs: Vec<f64> = (1..=counts.len()).map(|rank| (rank as f64).ln()).collect();
    let sum: f64 = counts.iter().zip(&logs).map(|(&count, log)| count as f64 * log).sum();
    Some(exponent_of(&logs, sum / units as f64))
}

/// The exponent at which the mean of ln rank is what is wanted: that of maximum likelihood. Input: the logarithms of all ranks.
pub(super) fn exponent_of(logs: &[f64], wanted: f64) -> f64 {
    // The mean of ln rank falls with the exponent; Newton's method, whose slope is its variance.
    let mut exponent = 0.5;
    for _ in 0..50 {
        let (mut all, mut mean, mut square) = (0.0, 0.0, 0.0);
        for log in logs {
            let weight = (-exponent * log).exp();
            all += weight;
            mean += weight * log;
            square += weight * log * log;
        }
        let mean = mean / all;
        let step = (mean - wanted) / (square / all - mean * mean).max(1e-9);
        // Far away the slope misleads.
        exponent = (exponent + step.clamp(-0.5, 0.5)).clamp(-0.1, 20.0);
        if step.abs() < 1e-9 {
            break;
        }
    }
    exponent.max(0.0)
}

/// Sorts, and says how many pairs were in the wrong order.
fn sort(keys: &mut Vec<u64>) -> u64 {
    let mut other = keys.clone();
    let mut inversions = 0;
    let mut width = 1;
    while width < keys.len() {
        for begin in (0..keys.len()).step_by(2 * width) {
            let (middle, end) = ((begin + width).min(keys.len()), (begin + 2 * width).min(keys.len()));
            inversions += merge(&keys[begin..middle], &keys[middle..end], &mut other[begin..end]);
        }
        std::mem::swap(keys, &mut other);
        width *= 2;
    }
    inversions
}

fn merge(left: &[u64], right: &[u64], into: &mut [u64]) -> u64 {
    // Sorted data is the usual case.
    if left.last() <= right.first() || right.is_empty() {
        into[..left.len()].copy_from_slice(left);
        into[left.len()..].copy_from_slice(right);
        return 0;
    }
    let (mut l, mut r, mut inversions) = (0, 0, 0);
    for place in into {
        if r == right.len() || l < left.len() && left[l] <= right[r] {
            *place = left[l];
            l += 1;
        } else {
            *place = right[r];
            r += 1;
            inversions += (left.len() - l) as u64;
        }
    }
    inversions
}

/// Describes numbers. Input: their keys, and how many of them are none.
pub(super) fn numbers(number: NumberType, keys: &[u64], none: usize) -> NumberFacts {
    let values = || keys.iter().map(|&key| number.value(key));
    let finite = || values().filter(|value| value.is_finite());
    let count = finite().count();
    // About a first value, so that large numbers do not take the digits of their differences.
    let origin = finite().next().unwrap_or(0.0);
    let (mut sum, mut squares) = (0.0, 0.0);
    for value in finite() {
        sum += value - origin;
        squares += (value - origin) * (value - origin);
    }
    let mean = sum / count.max(1) as f64;
    let variance = (squares / count.max(1) as f64 - mean * mean).max(0.0);
    let products: f64 = values()
        .zip(values().skip(1))
        .map(|(a, b)| (a - origin - mean) * (b - origin - mean))
        .filter(|p| p.is_finite())
        .sum();
    let all = keys.len() + none;
    let least_normal =
        if number == NumberType::F32 { f64::from(f32::MIN_POSITIVE) } else { f64::MIN_POSITIVE };
    let denormal = || values().filter(|value| *value != 0.0 && value.abs() < least_normal).count();
    let is_varied = count > 1 && variance > 0.0 && variance.is_finite();
    NumberFacts {
        range: keys
            .iter()
            .min()
            .zip(keys.iter().max())
            .map(|(&least, &greatest)| (number.value(least), number.value(greatest))),
        mean: (count > 0 && mean.is_finite()).then_some(origin + mean),
        deviation: (count > 0 && variance.is_finite()).then(|| variance.sqrt()),
        correlation: is_varied.then(|| products / (count - 1) as f64 / variance),
        nan_share: number.is_float().then(|| share(none, all)),
        denormal_share: number.is_float().then(|| share(denormal(), all)),
    }
}

/// Keys of records in the order of their bytes: equal ones have the same.
pub(super) fn record_keys(bytes: &[u8], size: usize) -> Vec<u64> {
    let records: Vec<&[u8]> = bytes.chunks_exact(size).collect();
    let mut order: Vec<u32> = (0..records.len() as u32).collect();
    order.sort_unstable_by_key(|&at| records[at as usize]);
    let mut keys = vec![0; records.len()];
    let same = order.chunk_by(|&a, &b| records[a as usize] == records[b as usize]);
    for (key, places) in (0..).zip(same) {
        places.iter().for_each(|&at| keys[at as usize] = key);
    }
    keys
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_inversions_runs_and_values_by_definition() {
        let mut state = 1u64;
        for units in [0usize, 1, 2, 3, 17, 100, 257] {
            let keys: Vec<u64> = (0..units)
                .map(|_| {
                    state =
                        state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    (state >> 33) % 40
                })
                .collect();
            let pairs = (0..units).flat_map(|a| (a + 1..units).map(move |b| (a, b)));
            let wrong = pairs.filter(|&(a, b)| keys[a] > keys[b]).count() as u64;
            let found = sequence(&keys);
            assert_eq!(found.inversions, Some(wrong), "{units}");
            let different: std::collections::HashSet<u64> = keys.iter().copied().collect();
            assert_eq!(found.distinct, different.len() as u64);
        }
        // 1 2 2 | 1 5 | 4: three runs of six units.
        let found = sequence(&[1, 2, 2, 1, 5, 4]);
        assert_eq!((found.ascending_run_units, found.distinct, found.commonest_share), (2.0, 4, 2.0 / 6.0));
        assert_eq!(found.rank_exponent, None);
    }

    #[test]
    fn the_exponent_of_exact_frequencies_is_found() {
        for exponent in [0.0, 0.7, 1.0, 1.5] {
            let counts: Vec<usize> =
                (1..=200).map(|rank| (1e7 * f64::from(rank).powf(-exponent)).round() as usize).collect();
            let found = rank_exponent(&counts).expect("enough");
            assert!((found - exponent).abs() < 1e-4, "{exponent}: {found}");
        }
    }

    #[test]
    fn moments_are_those_of_the_textbook() {
        // 2, 4, 4, 4, 5, 5, 7, 9: mean 5, deviation 2. Products of neighbours about the mean: 3, 1, 1, 0, 0, 0, 8: 13 / 7 / 4.
        let bytes = [2, 4, 4, 4, 5, 5, 7, 9];
        let keys: Vec<u64> = NumberType::U8.keys(&bytes).flatten().collect();
        let found = numbers(NumberType::U8, &keys, 0);
        assert_eq!((found.mean, found.deviation, found.range), (Some(5.0), Some(2.0), Some((2.0, 9.0))));
        assert!((found.correlation.expect("varied") - 13.0 / 28.0).abs() < 1e-12);
        assert_eq!((found.nan_share, numbers(NumberType::U8, &[7, 7], 0).correlation), (None, None));
    }

    #[test]
    fn what_is_no_number_or_denormal_has_its_share() {
        let bytes: Vec<u8> = [1.0, f64::NAN, 1e-310, -1e-310, 0.0, 3.0, f64::INFINITY, 2.0]
            .iter()
            .flat_map(|v| v.to_le_bytes())
            .collect();
        let keys: Vec<u64> = NumberType::F64.keys(&bytes).flatten().collect();
        let found = numbers(NumberType::F64, &keys, 1);
        assert_eq!((found.nan_share, found.denormal_share), (Some(0.125), Some(0.25)));
        assert_eq!((found.mean, found.range), (Some(1.0), Some((-1e-310, f64::INFINITY))));
    }

    #[test]
    fn records_are_ordered_by_their_bytes() {
        assert_eq!(record_keys(b"bbaabbab", 2), [2, 0, 2, 1]);
    }
}
