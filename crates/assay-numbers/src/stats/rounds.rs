//! How much a ratio moves from round to round: the error that all rotations of a campaign share.
//!
//! Question: rotations that were measured in the same rounds share what the machine did in them, and the windows of the
//! input that they started at; their spread does not show it. Method: at each placement the rounds are compared with
//! the placement's own median, and the median of these deviations over all placements is the round's effect; its
//! variance over rounds, with the weight that each round has in the estimate, is the variance that the rounds add.
//! Limits: a state of the machine that lasts for the whole campaign is in no spread. Two rounds at the least.
//! Checked: by derivation, and by simulation with planted round effects (tests/calibration).

use super::quantile::median;
use std::collections::{BTreeMap, BTreeSet};

/// What the rounds add to the error of an estimate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RoundError {
    /// Variance of the estimate, ln ratio squared.
    pub variance: f64,
    /// Degrees of freedom.
    pub degrees: f64,
}

/// One placement: the ln ratio that each of its rounds gave.
pub type ByRound = Vec<(u32, f64)>;

/// The error that rounds add to the mean over rotations.
///
/// Input: per rotation, its placements. Returns: `None` where no rotation has two rounds. Cost: O(n log n).
pub fn round_error(rotations: &[Vec<ByRound>]) -> Option<RoundError> {
    let mut deviations: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    let mut weights: BTreeMap<u32, f64> = BTreeMap::new();
    let mut groups: BTreeSet<Vec<u32>> = BTreeSet::new();
    for placements in rotations {
        let mut rounds: BTreeSet<u32> = BTreeSet::new();
        for placement in placements {
            let values: Vec<f64> = placement.iter().map(|(_, value)| *value).collect();
            let Some(centre) = median(&values) else { continue };
            for &(round, value) in placement {
                deviations.entry(round).or_default().push(value - centre);
                rounds.insert(round);
            }
        }
        let share = 1.0 / (rotations.len() * rounds.len().max(1)) as f64;
        for &round in &rounds {
            *weights.entry(round).or_default() += share;
        }
        groups.insert(rounds.into_iter().collect());
    }
    groups.remove(&Vec::new());
    let degrees = deviations.len() as f64 - groups.len() as f64;
    if degrees < 1.0 {
        return None;
    }
    let effects: Vec<f64> = deviations.values().filter_map(|values| median(values)).collect();
    let spread = effects.iter().map(|effect| effect * effect).sum::<f64>() / degrees;
    let shared: f64 = weights.values().map(|weight| weight * weight).sum();
    Some(RoundError { variance: spread * shared, degrees })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `rotations` rotations of `phases` placements, all measured in rounds with these effects.
    fn measured(rotations: usize, phases: usize, rounds: &[(u32, f64)]) -> Vec<Vec<ByRound>> {
        vec![vec![rounds.to_vec(); phases]; rotations]
    }

    #[test]
    fn is_the_variance_of_a_mean_over_rounds() {
        // Effects -1, 0, 1 around their median 0: variance (1 + 0 + 1) / 2 = 1, of the mean of three 1 / 3.
        let error = round_error(&measured(4, 2, &[(0, 2.0), (1, 3.0), (2, 4.0)])).unwrap();
        assert!((error.variance - 1.0 / 3.0).abs() < 1e-12, "{error:?}");
        assert_eq!(error.degrees, 2.0);
    }

    #[test]
    fn does_not_fall_with_rotations_that_share_their_rounds() {
        let rounds = [(0, 0.1), (1, -0.1), (2, 0.0), (3, 0.05)];
        assert_eq!(round_error(&measured(4, 4, &rounds)), round_error(&measured(32, 4, &rounds)));
    }

    #[test]
    fn falls_with_rotations_that_bring_rounds_of_their_own() {
        let first = measured(4, 4, &[(0, 0.1), (1, -0.1)]);
        let mut both = first.clone();
        both.extend(measured(4, 4, &[(2, 0.1), (3, -0.1)]));
        let (one, two) = (round_error(&first).unwrap(), round_error(&both).unwrap());
        assert!((one.variance / two.variance - 2.0).abs() < 1e-12);
        assert_eq!((one.degrees, two.degrees), (1.0, 2.0));
    }

    #[test]
    fn is_not_carried_by_one_spoilt_placement() {
        let mut rotations = measured(4, 4, &[(0, 0.0), (1, 0.0), (2, 0.0)]);
        rotations[0][0][1].1 = 5.0;
        assert_eq!(round_error(&rotations).unwrap().variance, 0.0);
    }

    #[test]
    fn says_nothing_of_a_single_round() {
        assert_eq!(round_error(&measured(8, 4, &[(0, 0.3)])), None);
        assert_eq!(round_error(&[]), None);
    }
}
