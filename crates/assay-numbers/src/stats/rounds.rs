//! How much a ratio moves from round to round: the error that all rotations of a campaign share.
//!
//! Question: rotations that were measured in the same rounds share what the machine did in them, and the windows of the
//! input that they started at; their spread does not show it. Method: a placement's level and a round's effect are fitted in
//! turn until they hold still (a placement's level is the mean of its rounds without their effects, a round's effect the median
//! over placements of what is left: the first is fair where rounds are missing, the second deaf to a spoilt visit). The
//! effects' variance, with the weight that each round has in the estimate, is the variance that the rounds add. A median of
//! visits that vary is no effect of the round, and is in the spread of rotations already: half of what it adds is taken off, as
//! with all of it taken off intervals are too narrow where rounds differ by about as much.
//! Where samples were left out, a round that few placements have counts for less, and rounds that are compared nowhere share no
//! level: each such set costs a degree of freedom.
//! Limits: a state of the machine that lasts for the whole campaign is in no spread. Two rounds at the least.
//! Checked: by derivation, and by simulation with planted round effects, complete and with most visits lost
//! (tests/calibration).

use super::quantile::median;
use std::collections::BTreeMap;

/// What the rounds add to the error of an estimate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RoundError {
    /// Variance of the estimate, ln ratio squared.
    pub variance: f64,
    /// The part of it that is taken off, as the visits' own variation makes it.
    pub of_visits: f64,
    /// Degrees of freedom.
    pub degrees: f64,
}

impl RoundError {
    /// Nothing is known of it, and nothing added.
    pub const UNKNOWN: RoundError = RoundError { variance: 0.0, of_visits: 0.0, degrees: f64::INFINITY };

    /// As many times the variance, known as well.
    pub fn times(self, factor: f64) -> RoundError {
        RoundError { variance: self.variance * factor, of_visits: self.of_visits * factor, ..self }
    }

    /// What the rounds add.
    pub fn added(self) -> f64 {
        (self.variance - self.of_visits).max(0.0)
    }
}

/// One placement: the ln ratio that each of its rounds gave.
pub type ByRound = Vec<(u32, f64)>;

/// Times that levels and effects are fitted in turn, at most; where nothing is missing they hold still after one.
const MOST_TURNS: usize = 30;

/// The part of the visits' own variation that is taken off the spread of the rounds.
const TAKEN_OFF: f64 = 0.5;
/// The variance of a median of many normal values, by that of their mean.
const MEDIAN_OF_NORMAL: f64 = std::f64::consts::FRAC_PI_2;
/// A normal distribution's standard deviation, by its median absolute deviation.
const DEVIATION_OF_NORMAL: f64 = 1.4826;

/// The error that rounds add to the mean over rotations.
///
/// Input: per rotation, its placements, and its weight in the mean. Returns: `None` where no placement has two rounds. Cost:
/// O(n log n).
pub fn round_error(rotations: &[Vec<ByRound>], weights: &[f64]) -> Option<RoundError> {
    let sets = RoundSets::of(rotations);
    let rounds = sets.first.len() as f64;
    let free = rounds - sets.count() as f64;
    if free < 1.0 {
        return None;
    }
    let placements: Vec<&ByRound> =
        rotations.iter().flatten().filter(|placement| placement.len() > 1).collect();
    let seen = times_seen(&placements);
    let effects = round_effects(&placements, &sets, &seen);
    let (mut squares, mut all, mut all_squared) = (0.0, 0.0, 0.0);
    for (round, effect) in &effects {
        let count = seen[round];
        squares += count * effect * effect;
        all += count;
        all_squared += count * count;
    }
    // Kish 1965: rounds that are seen unequally often are worth fewer.
    let worth = all * all / all_squared;
    let spread = squares / all * rounds / free;
    let of_visits = TAKEN_OFF * MEDIAN_OF_NORMAL * left_over(&placements, &effects) * rounds / all;
    let shared = shared_weight(rotations, weights);
    Some(RoundError {
        variance: spread * shared,
        of_visits: of_visits * shared,
        degrees: worth * free / rounds,
    })
}

/// The variance of one visit of a placement, beside what its round did to all: from the median absolute deviation, as a spoilt visit
/// is no part of what a median varies by.
fn left_over(placements: &[&ByRound], effects: &BTreeMap<u32, f64>) -> f64 {
    let mut left: Vec<f64> = Vec::new();
    for placement in placements {
        let count = placement.len() as f64;
        let without = |(round, value): &(u32, f64)| value - effects[round];
        let level = placement.iter().map(without).sum::<f64>() / count;
        // Around their own mean, values vary by less.
        let widened = (count / (count - 1.0)).sqrt();
        left.extend(placement.iter().map(|visit| (without(visit) - level).abs() * widened));
    }
    (DEVIATION_OF_NORMAL * median(&left).unwrap_or(0.0)).powi(2)
}

/// The variance of a visit: what the rounds of one placement differ by, over all placements. `None` where none has two.
pub fn visit_variance(rotations: &[Vec<ByRound>]) -> Option<f64> {
    let (mut squares, mut degrees) = (0.0, 0.0);
    for placement in rotations.iter().flatten().filter(|placement| placement.len() > 1) {
        let count = placement.len() as f64;
        let mean = placement.iter().map(|(_, value)| value).sum::<f64>() / count;
        squares += placement.iter().map(|(_, value)| (value - mean).powi(2)).sum::<f64>();
        degrees += count - 1.0;
    }
    (degrees > 0.0).then(|| squares / degrees)
}

/// The variance of a mean over placements, in units of that of one visit.
///
/// A placement whose sides share no round counts as visited once: it is known no better than that.
pub fn by_visits(placements: &[ByRound]) -> f64 {
    let of_each = placements.iter().map(|rounds| 1.0 / rounds.len().max(1) as f64);
    of_each.sum::<f64>() / (placements.len() as f64).powi(2)
}

/// The sum of the squares of the weights that rounds have in the mean over rotations.
fn shared_weight(rotations: &[Vec<ByRound>], of_rotations: &[f64]) -> f64 {
    let mut weights: BTreeMap<u32, f64> = BTreeMap::new();
    for (placements, of_rotation) in rotations.iter().zip(of_rotations) {
        let measured = placements.iter().filter(|placement| !placement.is_empty());
        let count = measured.clone().count();
        for placement in measured {
            let share = of_rotation / (count * placement.len()) as f64;
            placement.iter().for_each(|(round, _)| *weights.entry(*round).or_default() += share);
        }
    }
    weights.values().map(|weight| weight * weight).sum()
}

fn times_seen(placements: &[&ByRound]) -> BTreeMap<u32, f64> {
    let mut seen = BTreeMap::new();
    placements
        .iter()
        .flat_map(|placement| placement.iter())
        .for_each(|(round, _)| *seen.entry(*round).or_default() += 1.0);
    seen
}

/// The effect of each round, around the mean of its set.
fn round_effects(placements: &[&ByRound], sets: &RoundSets, seen: &BTreeMap<u32, f64>) -> BTreeMap<u32, f64> {
    let mut effects: BTreeMap<u32, f64> = BTreeMap::new();
    for _ in 0..MOST_TURNS {
        let mut left: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
        for placement in placements {
            let without = |(round, value): &(u32, f64)| value - effects.get(round).copied().unwrap_or(0.0);
            let level = placement.iter().map(without).sum::<f64>() / placement.len() as f64;
            placement.iter().for_each(|(round, value)| left.entry(*round).or_default().push(value - level));
        }
        let fitted = left.iter().filter_map(|(round, values)| Some((*round, median(values)?))).collect();
        // Medians do not add up to nothing: what is left over would move all levels, and with them the effects, without end.
        let fitted = sets.centred(&fitted, seen);
        let moved =
            fitted.iter().map(|(round, effect)| (effect - effects.get(round).copied().unwrap_or(0.0)).abs());
        let still = moved.fold(0.0, f64::max) < 1e-9;
        effects = fitted;
        if still {
            break;
        }
    }
    effects
}

/// Which rounds are compared with each other, at some placement or by way of others: these share a centre.
struct RoundSets {
    /// The first round of each round's set.
    first: BTreeMap<u32, u32>,
}

impl RoundSets {
    fn of(rotations: &[Vec<ByRound>]) -> RoundSets {
        let mut first: BTreeMap<u32, u32> = BTreeMap::new();
        for placement in rotations.iter().flatten().filter(|placement| placement.len() > 1) {
            let sets: Vec<u32> =
                placement.iter().map(|(round, _)| *first.entry(*round).or_insert(*round)).collect();
            let least = sets.iter().copied().min().unwrap_or_default();
            if sets.iter().any(|set| *set != least) {
                first.values_mut().filter(|set| sets.contains(set)).for_each(|set| *set = least);
            }
        }
        RoundSets { first }
    }

    fn count(&self) -> usize {
        self.first.iter().filter(|(round, set)| round == set).count()
    }

    /// Effects around the mean of their set, in which each counts as often as it was seen.
    fn centred(&self, effects: &BTreeMap<u32, f64>, seen: &BTreeMap<u32, f64>) -> BTreeMap<u32, f64> {
        let mut sums: BTreeMap<u32, (f64, f64)> = BTreeMap::new();
        for (round, effect) in effects {
            let (sum, count) = sums.entry(self.first[round]).or_default();
            *sum += seen[round] * effect;
            *count += seen[round];
        }
        let centre = |round: &u32| {
            let (sum, count) = sums[&self.first[round]];
            sum / count
        };
        effects.iter().map(|(round, effect)| (*round, effect - centre(round))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of rotations that count alike.
    fn round_error(rotations: &[Vec<ByRound>]) -> Option<RoundError> {
        super::round_error(rotations, &vec![1.0 / rotations.len() as f64; rotations.len()])
    }

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
        let of = |rotations: usize| {
            round_error(&measured(rotations, 4, &rounds)).map(|error| (error.added(), error.degrees))
        };
        assert_eq!(of(4), of(32));
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
    fn placements_that_lost_rounds_here_and_there_still_tell_their_spread() {
        // Four rounds, each lost at another placement: they are compared by way of the others, so only one centre is free.
        let effects = [0.1, -0.1, 0.2, -0.2];
        let without = |lost: u32| {
            (0..4).filter(|round| *round != lost).map(|round| (round, effects[round as usize])).collect()
        };
        let rotations: Vec<Vec<ByRound>> = (0..4).map(|lost| vec![without(lost); 4]).collect();
        let error = round_error(&rotations).unwrap();
        assert!((error.degrees - 3.0).abs() < 1e-12);
        // As where nothing is lost: 0.1 / 3 of the mean of four.
        assert!((error.variance - 0.1 / 3.0 / 4.0).abs() < 1e-9, "{error:?}");
    }

    #[test]
    fn a_placement_of_one_round_tells_nothing_of_their_spread_and_takes_none_away() {
        let full = measured(4, 4, &[(0, 0.1), (1, -0.1), (2, 0.3), (3, -0.3)]);
        let mut more = full.clone();
        more[0][0] = vec![(2, 0.3)];
        let (one, two) = (round_error(&full).unwrap(), round_error(&more).unwrap());
        assert!((one.variance / two.variance - 1.0).abs() < 0.05, "{one:?} {two:?}");
        assert!((one.degrees - two.degrees).abs() < 0.05);
        assert_eq!(round_error(&[vec![vec![(0, 0.3)], vec![(1, 0.5)]]]), None, "nowhere compared");
    }

    #[test]
    fn rounds_that_one_placement_saw_are_worth_little() {
        let mut rotations = measured(4, 4, &[(0, 0.1), (1, -0.1)]);
        rotations[0][0].extend([(2, 0.9), (3, -0.9)]);
        let error = round_error(&rotations).unwrap();
        assert!(error.degrees < 2.0, "{error:?}");
        let plain = round_error(&measured(4, 4, &[(0, 0.1), (1, -0.1)])).unwrap();
        assert!(error.variance < 5.0 * plain.variance, "{error:?} {plain:?}");
    }

    #[test]
    fn half_of_what_visits_vary_by_is_no_effect_of_the_rounds() {
        // Of three rounds without any effect each placement has its own order of -0.3, 0, 0.3: the medians over placements are 0, and what
        // is left over deviates by 0 or 0.3. With effects of 1, 0, -1 beside it, less than that is left.
        let turns = [[-0.3, 0.0, 0.3], [0.0, 0.3, -0.3], [0.3, -0.3, 0.0]];
        let placement = |turn: usize, effect: f64| {
            (0..3).map(move |at| (at as u32, turns[turn][at] + effect * (1.0 - at as f64)))
        };
        let of = |effect: f64| -> Vec<Vec<ByRound>> {
            (0..4).map(|_| (0..3).map(|turn| placement(turn, effect).collect()).collect()).collect()
        };
        let left = |error: RoundError| error.variance - error.of_visits;
        assert!(left(round_error(&of(0.0)).unwrap()) < 0.0);
        // Effects ±0.5: variance 0.25. A visit deviates by 0.3 at the median, widened by (3/2)½: its variance is 1.4826² 0.135; a median
        // of 12 has π/2 of a twelfth of it; half of that is taken off; of the mean of three rounds a third is left.
        let visit = 1.4826f64.powi(2) * 0.135;
        let expected = (0.25 - 0.5 * std::f64::consts::FRAC_PI_2 * visit / 12.0) / 3.0;
        let found = left(round_error(&of(0.5)).unwrap());
        assert!((found / expected - 1.0).abs() < 1e-9, "{found} {expected}");
    }

    #[test]
    fn a_round_counts_by_the_weight_of_its_rotations() {
        let mut rotations = measured(2, 4, &[(0, 0.1), (1, -0.1)]);
        rotations.extend(measured(2, 4, &[(2, 0.1), (3, -0.1)]));
        let error = |weights: &[f64]| super::round_error(&rotations, weights).unwrap();
        let (equal, first) = (error(&[0.25; 4]), error(&[0.5, 0.5, 0.0, 0.0]));
        assert!((first.variance / equal.variance - 2.0).abs() < 1e-12);
    }

    #[test]
    fn the_variance_of_a_visit_is_what_rounds_of_a_placement_differ_by() {
        // (-1, 1) and (0, 3, 6): squares 2 + 18 over 1 + 2 degrees.
        let rotations = vec![vec![vec![(0, -1.0), (1, 1.0)], vec![(0, 0.0), (1, 3.0), (2, 6.0)]]];
        assert!((visit_variance(&rotations).unwrap() - 20.0 / 3.0).abs() < 1e-12);
        assert!((by_visits(&rotations[0]) - (1.0 / 2.0 + 1.0 / 3.0) / 4.0).abs() < 1e-15);
        assert_eq!(visit_variance(&[vec![vec![(0, 1.0)]]]), None);
        assert_eq!(by_visits(&[vec![(0, 1.0), (1, 0.9)], vec![]]), 1.5 / 4.0);
    }

    #[test]
    fn says_nothing_of_a_single_round() {
        assert_eq!(round_error(&measured(8, 4, &[(0, 0.3)])), None);
        assert_eq!(round_error(&[]), None);
    }
}
