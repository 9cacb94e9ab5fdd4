//! How much of what a variant's time varies by over all placements do the offset and the shuffle explain?
//!
//! Method: two-way analysis of variance of the logarithms of the times, one per placement: between offsets, between
//! shuffles, the rest. In a complete rotation each offset occurs once per shuffle, so the parts add up; where they do
//! not (a function that reaches fewer offsets), the rest is what both leave. Source: Searle, Linear Models, 1971, 7.1.
//! Limits: drift between rotations counts as the shuffle's. Checked: NIST's certified values for SiRstv.

use super::build::Side;
use super::observed::ObservedContrast;
use super::profile::{RotationTimes, rotation_times};

/// What explains the variance of a variant's time over placements. Shares of 1.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct OffsetShare {
    /// The share of the offset in the 64-byte line: R squared.
    pub offset: f64,
    /// The same, less what as many groups would explain of nothing: 1 - (1 - R²)(n - 1)/(n - groups).
    pub offset_adjusted: f64,
    /// The share of the shuffle: neighbours, aliasing, pages, and drift between rotations.
    pub shuffle: f64,
    /// What is left.
    pub rest: f64,
    /// Standard deviation of ln(time) over placements.
    pub spread: f64,
    /// Placements.
    pub placements: usize,
    /// Distinct offsets.
    pub offsets: usize,
}

/// The shares of one side of a contrast, over its complete rotations.
///
/// Returns: `None` with fewer than two offsets, with no more placements than offsets, or where no time varies.
pub fn offset_share(contrast: &ObservedContrast, side: Side) -> Option<OffsetShare> {
    share_of(&rotation_times(contrast, side))
}

/// [`offset_share`] of rotations that are at hand.
pub fn share_of(times: &[RotationTimes]) -> Option<OffsetShare> {
    let placements = times.iter().flat_map(|rotation| {
        let shuffle = u64::from(rotation.rotation);
        rotation.by_offset.iter().map(move |&(offset, ns)| TimeAtPlacement { offset, shuffle, log: ns.ln() })
    });
    share(&placements.collect::<Vec<_>>())
}

/// The time at one placement.
#[derive(Clone, Copy)]
struct TimeAtPlacement {
    offset: u64,
    shuffle: u64,
    log: f64,
}

fn share(times: &[TimeAtPlacement]) -> Option<OffsetShare> {
    let count = times.len();
    let mean = times.iter().map(|time| time.log).sum::<f64>() / count as f64;
    let total: f64 = times.iter().map(|time| (time.log - mean).powi(2)).sum();
    let (offsets, by_offset) = between(times, |time| time.offset, mean);
    let (_, by_shuffle) = between(times, |time| time.shuffle, mean);
    if offsets < 2 || count <= offsets || !total.is_finite() || total <= 0.0 {
        return None;
    }
    let offset = by_offset / total;
    let shuffle = (by_shuffle / total).min(1.0 - offset).max(0.0);
    Some(OffsetShare {
        offset,
        offset_adjusted: 1.0 - (1.0 - offset) * (count - 1) as f64 / (count - offsets) as f64,
        shuffle,
        rest: (1.0 - offset - shuffle).max(0.0),
        spread: (total / (count - 1) as f64).sqrt(),
        placements: count,
        offsets,
    })
}

/// Number of groups, and the sum of squares between them.
fn between(times: &[TimeAtPlacement], group: impl Fn(&TimeAtPlacement) -> u64, mean: f64) -> (usize, f64) {
    let mut groups: std::collections::BTreeMap<u64, (usize, f64)> = std::collections::BTreeMap::new();
    for time in times {
        let found = groups.entry(group(time)).or_default();
        found.0 += 1;
        found.1 += time.log - mean;
    }
    let squares = groups.values().map(|(count, sum)| sum * sum / *count as f64).sum();
    (groups.len(), squares)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// NIST Statistical Reference Datasets, one-way analysis of variance, SiRstv: resistivity by instrument.
    const RESISTIVITY: [[f64; 5]; 5] = [
        [196.3052, 196.1240, 196.1890, 196.2569, 196.3403],
        [196.3042, 196.3825, 196.1669, 196.3257, 196.0422],
        [196.1303, 196.2005, 196.2889, 196.0343, 196.1811],
        [196.2795, 196.1748, 196.1494, 196.1485, 195.9885],
        [196.2119, 196.1051, 196.1850, 196.0052, 196.2090],
    ];

    #[test]
    fn the_share_of_a_group_is_the_certified_one() {
        let values: Vec<TimeAtPlacement> = RESISTIVITY
            .iter()
            .zip(0..)
            .flat_map(|(row, offset)| {
                row.iter().zip(0..).map(move |(&log, shuffle)| TimeAtPlacement { offset, shuffle, log })
            })
            .collect();
        let found = share(&values).expect("they vary");
        // Certified: R squared 1.90999039051129e-01; between 5.11462616000000e-02, within 2.16636560000000e-01.
        assert!((found.offset - 1.909_990_390_511_29e-1).abs() < 1e-10, "{found:?}");
        // 1 - (1 - R²)·24/20, and the standard deviation of all 25 from the two sums of squares.
        assert!((found.offset_adjusted - 0.029_198_846_861).abs() < 1e-9, "{found:?}");
        assert!((found.spread - (0.267_782_821_6_f64 / 24.0).sqrt()).abs() < 1e-10, "{found:?}");
        assert_eq!((found.placements, found.offsets), (25, 5));
    }

    fn rotation(number: u32, times: &[(u64, f64)]) -> RotationTimes {
        let mean_ns = times.iter().map(|(_, ns)| ns).sum::<f64>() / times.len() as f64;
        RotationTimes { rotation: number, rounds: (0, 0), mean_ns, by_offset: times.to_vec() }
    }

    #[test]
    fn the_parts_add_up_and_each_explains_what_it_made() {
        // ln(time) is the sum of an effect of the offset and one of the shuffle: 3² against 1² halves apart.
        let ns = |offset: f64, shuffle: f64| (3.0 * offset + shuffle).exp();
        let exact: Vec<RotationTimes> = [0.0, 1.0]
            .iter()
            .zip(0..)
            .map(|(&shuffle, number)| rotation(number, &[(0, ns(0.0, shuffle)), (32, ns(1.0, shuffle))]))
            .collect();
        let found = share_of(&exact).expect("they vary");
        assert!((found.offset - 0.9).abs() < 1e-12 && (found.shuffle - 0.1).abs() < 1e-12, "{found:?}");
        assert!(found.rest < 1e-12);
        // Two shuffles that swap which offset is the slower: neither explains anything.
        let crossed = [rotation(0, &[(0, 1.0), (32, 2.0)]), rotation(1, &[(0, 2.0), (32, 1.0)])];
        let found = share_of(&crossed).expect("they vary");
        assert!(found.offset < 1e-12 && found.shuffle < 1e-12 && (found.rest - 1.0).abs() < 1e-12);
    }

    #[test]
    fn what_cannot_be_explained_is_not() {
        assert_eq!(share_of(&[]), None);
        assert_eq!(share_of(&[rotation(0, &[(0, 1.0), (16, 2.0)])]), None);
        assert_eq!(share_of(&[rotation(0, &[(0, 1.0)]), rotation(1, &[(0, 2.0)])]), None);
        assert_eq!(
            share_of(&[rotation(0, &[(0, 1.0), (16, 1.0)]), rotation(1, &[(0, 1.0), (16, 1.0)])]),
            None
        );
    }
}
