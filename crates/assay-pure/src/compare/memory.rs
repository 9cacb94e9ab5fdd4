//! Does one side need more memory than the other?
//!
//! Method: runs of both sides at the same placement in the same round are a pair. The change is the median of the pairs' ratios,
//! its interval lies between two of them (sign test), so that an allocator's steps need no distribution. Below the confidence
//! asked there is no interval: one pair says nothing of chance.
//! Limits: a peak is of the process that had most, not the sum of several.

use super::{Side, VisitPlacement};
use crate::stats::interval::median_interval;
use crate::stats::quantile::median;
use crate::verdict::RatioInterval;
use std::collections::BTreeMap;

/// The most memory that a run had at once.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RunPeak {
    /// The pass over all placements.
    pub round: u32,
    /// Where the code lay.
    pub place: VisitPlacement,
    /// Whose run.
    pub side: Side,
    /// Bytes.
    pub bytes: u64,
}

/// The memory of both sides.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MemoryContrast {
    /// Median of the baseline's peaks, bytes.
    pub baseline: u64,
    /// Of the candidate's; none where there is one side.
    pub candidate: Option<u64>,
    /// Candidate / baseline.
    pub change: Option<RatioInterval>,
}

/// Compares peaks, at this confidence of the one interval; `None` where the baseline has none.
pub fn memory_contrast(runs: &[RunPeak], confidence: f64) -> Option<MemoryContrast> {
    let of = |side: Side| {
        let peaks: Vec<f64> =
            runs.iter().filter(|run| run.side == side).map(|run| run.bytes as f64).collect();
        median(&peaks).map(|bytes| bytes.round() as u64)
    };
    let mut pairs: BTreeMap<(u32, VisitPlacement), [Option<u64>; 2]> = BTreeMap::new();
    for run in runs.iter().filter(|run| run.bytes > 0) {
        pairs.entry((run.round, run.place)).or_default()[run.side.number()] = Some(run.bytes);
    }
    let log = |pair: &[Option<u64>; 2]| Some((pair[1]? as f64 / pair[0]? as f64).ln());
    let logs: Vec<f64> = pairs.values().filter_map(log).collect();
    let interval =
        median_interval(&logs, 1.0 - confidence).filter(|(_, reached)| *reached >= confidence - 1e-12);
    let change = interval.and_then(|(interval, _)| Some(RatioInterval::from_log(median(&logs)?, interval)));
    Some(MemoryContrast { baseline: of(Side::Baseline)?, candidate: of(Side::Candidate), change })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(pairs: &[[u64; 2]]) -> Vec<RunPeak> {
        let run = |round: usize, side: Side, bytes: u64| RunPeak {
            round: round as u32,
            place: VisitPlacement::AsBuilt,
            side,
            bytes,
        };
        let pair = |(round, [one, other]): (usize, &[u64; 2])| {
            [run(round, Side::Baseline, *one), run(round, Side::Candidate, *other)]
        };
        pairs.iter().enumerate().flat_map(pair).collect()
    }

    #[test]
    fn a_change_has_an_interval_from_six_pairs_on() {
        // The whole range of six covers 1 - 2/64 = 96.9 %, of five 1 - 2/32 = 93.75 %.
        let all = [[100, 110], [100, 112], [200, 226], [100, 111], [100, 114], [100, 109]];
        let found = memory_contrast(&runs(&all), 0.95).unwrap();
        assert_eq!((found.baseline, found.candidate), (100, Some(112)));
        let change = found.change.unwrap();
        assert!((change.lower - 1.09).abs() < 1e-9 && (change.upper - 1.14).abs() < 1e-9, "{change:?}");
        // Between 1.11 and 1.12, as the mean of logarithms.
        assert!((change.ratio - (1.11_f64 * 1.12).sqrt()).abs() < 1e-9, "{change:?}");
        let five = memory_contrast(&runs(&all[..5]), 0.95).unwrap();
        assert_eq!((five.change, five.baseline), (None, 100));
    }

    #[test]
    fn runs_without_a_partner_and_a_side_alone_have_no_change() {
        let mut all = runs(&[[100, 150]; 6]);
        all.retain(|run| run.side == Side::Baseline);
        let alone = memory_contrast(&all, 0.95).unwrap();
        assert_eq!((alone.baseline, alone.candidate, alone.change), (100, None, None));
        assert_eq!(memory_contrast(&[], 0.95), None);
        let mut apart = runs(&[[100, 150]; 6]);
        for run in apart.iter_mut().filter(|run| run.side == Side::Candidate) {
            run.place = VisitPlacement::Placed { rotation: 0, phase_bytes: 0 };
        }
        assert_eq!(memory_contrast(&apart, 0.95).unwrap().change, None);
    }
}
