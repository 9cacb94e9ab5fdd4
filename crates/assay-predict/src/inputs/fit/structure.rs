//! What no memory of a few lengths holds, found before anything is fitted; and the runs of equal lengths.
//!
//! Three questions: are there units enough to tell mispredictions to the margin; is the stream a stretch repeated, so that
//! what predictors make of it is their memory; are its lengths sorted, so that there are hardly any changes to count. All
//! are exact counts. Checked: by hand, and on planted data.

use super::{FitRefusal, Recorded};
use crate::inputs::period::period;

/// Units below which nothing is fitted: of 10,000 with 0.2 mispredictions each, the number is known to 5 % either way.
pub const FEWEST_UNITS: usize = 10_000;

/// Runs below which the order of the lengths is not fitted: how often lengths change is then known to 15 % at best.
pub const FEWEST_RUNS: usize = 200;

/// The reasons not to fit at all.
pub fn structure(recorded: &Recorded) -> Vec<FitRefusal> {
    let lengths = &recorded.lengths;
    let mut refusals = Vec::new();
    if recorded.padded > 0 {
        refusals.push(FitRefusal::Padded { padded: recorded.padded, units: lengths.len() as u64 });
    }
    if lengths.len() < FEWEST_UNITS {
        refusals.push(FitRefusal::FewUnits { have: lengths.len() as u64, need: FEWEST_UNITS as u64 });
    }
    if lengths.windows(2).all(|pair| pair[0] == pair[1]) {
        return refusals;
    }
    let period = period(lengths);
    let runs = lengths.chunk_by(|a, b| a == b).count();
    if period <= lengths.len() / 2 {
        refusals.push(FitRefusal::Repeats { period: period as u64, units: lengths.len() as u64 });
    } else if runs < FEWEST_RUNS {
        refusals.push(FitRefusal::FewRuns { have: runs as u64, need: FEWEST_RUNS as u64 });
    }
    refusals
}

/// How long lengths stay the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Runs {
    /// Mean units of a run.
    pub mean: f64,
    /// Half of all runs are at most so long, units.
    pub median: u64,
    /// 90 % of them.
    pub p90: u64,
    /// 99 % of them.
    pub p99: u64,
}

impl Runs {
    /// Of a sequence of lengths; all 0 of an empty one.
    pub fn of(lengths: &[u8]) -> Runs {
        let mut runs: Vec<u64> = lengths.chunk_by(|a, b| a == b).map(|run| run.len() as u64).collect();
        if runs.is_empty() {
            return Runs::default();
        }
        runs.sort_unstable();
        // The smallest length that so large a share of all runs does not exceed.
        let at = |share: f64| runs[((share * runs.len() as f64).ceil() as usize).clamp(1, runs.len()) - 1];
        Runs { mean: lengths.len() as f64 / runs.len() as f64, median: at(0.5), p90: at(0.9), p99: at(0.99) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recorded(lengths: Vec<u8>) -> Recorded {
        Recorded { units: lengths.len() as u64, lengths, bits: [0; 65], padded: 0 }
    }

    /// Lengths of 1 and 2 without order.
    fn scrambled(units: usize) -> Vec<u8> {
        let mut state = 1u32;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            1 + (state >> 31) as u8
        };
        (0..units).map(|_| next()).collect()
    }

    #[test]
    fn refuses_too_few_units_and_takes_just_enough() {
        let few = structure(&recorded(scrambled(FEWEST_UNITS - 1)));
        assert_eq!(few, [FitRefusal::FewUnits { have: 9_999, need: 10_000 }]);
        assert_eq!(structure(&recorded(scrambled(FEWEST_UNITS))), []);
    }

    #[test]
    fn refuses_a_stretch_repeated_but_not_one_length() {
        let stretch = scrambled(6000);
        assert_eq!(
            structure(&recorded(stretch.repeat(3))),
            [FitRefusal::Repeats { period: 6000, units: 18_000 }]
        );
        assert_eq!(
            structure(&recorded(stretch.repeat(2))),
            [FitRefusal::Repeats { period: 6000, units: 12_000 }]
        );
        // Not quite twice is no repetition.
        assert_eq!(structure(&recorded(stretch.repeat(2)[..11_999].to_vec())), []);
        assert_eq!(structure(&recorded(vec![2; 20_000])), []);
    }

    #[test]
    fn refuses_sorted_lengths() {
        let mut lengths = scrambled(20_000);
        lengths.sort_unstable();
        assert_eq!(structure(&recorded(lengths)), [FitRefusal::FewRuns { have: 2, need: 200 }]);
        // 199 runs and 200, each of another length so that nothing repeats.
        let runs = |count: usize| -> Vec<u8> {
            (0..count).flat_map(|run| vec![1 + (run % 2) as u8; 100 + run]).collect()
        };
        assert_eq!(structure(&recorded(runs(199))), [FitRefusal::FewRuns { have: 199, need: 200 }]);
        assert_eq!(structure(&recorded(runs(200))), []);
    }

    #[test]
    fn refuses_padded_values() {
        let padded = Recorded { padded: 3, ..recorded(scrambled(FEWEST_UNITS)) };
        assert_eq!(structure(&padded), [FitRefusal::Padded { padded: 3, units: 10_000 }]);
    }

    #[test]
    fn runs_are_told_by_mean_and_quantiles() {
        // Runs of 1, 1, 1, 1, 1, 1, 1, 1, 1 and 10 units.
        let lengths: Vec<u8> = (0..9).map(|at| 1 + at % 2).chain([2; 10]).collect();
        assert_eq!(Runs::of(&lengths), Runs { mean: 1.9, median: 1, p90: 1, p99: 10 });
        assert_eq!(Runs::of(&[]), Runs::default());
        assert_eq!(Runs::of(&[1, 1]), Runs { mean: 2.0, median: 2, p90: 2, p99: 2 });
    }
}
