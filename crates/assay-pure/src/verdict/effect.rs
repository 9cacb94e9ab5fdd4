//! From the samples of a contrast to one ratio per rotation, and from those to the code effect.

use super::observed::{Observation, ObservedContrast, PairAt};
use super::undisturbed;
use crate::stats::StatsError;
use crate::stats::paired::{Keyed, PlacementComparison, by_round, compare};
use crate::stats::rotation::{Effect, RotationRatio, rotation_ratio, weights};
use crate::stats::rounds::{ByRound, RoundError, by_visits, round_error, visit_variance};

/// The rotations of one contrast, reduced to a ratio each.
#[derive(Clone, Debug, PartialEq)]
pub struct CodeObservations {
    /// One ratio per complete rotation, in order of rotation number.
    pub ratios: Vec<RotationRatio>,
    /// Their rotation numbers.
    pub numbers: Vec<u32>,
    /// Rotations left out because a phase was missing or had no usable sample.
    pub incomplete: usize,
    /// Placements (phases of complete rotations) used.
    pub placements: usize,
    /// The fewest pairs at any placement used, disturbed ones included; 0: somewhere only the medians of both sides could be compared.
    pub fewest_pairs: usize,
    /// The part of the samples that was left out as somebody disturbed them.
    pub disturbed: f64,
    /// What the rounds add to the error, where there are two at the least.
    pub rounds: Option<RoundError>,
}

/// Reduces a contrast's rotations, without the samples that somebody disturbed.
///
/// A rotation counts when it has as many phases as the richest one and every phase could be compared: a mean over
/// fewer phases would bring the offset effect back in.
pub fn observe(contrast: &ObservedContrast) -> CodeObservations {
    let undisturbed = undisturbed::of(contrast);
    let rotations = undisturbed.as_ref().map_or(&contrast.rotations, |left| &left.rotations);
    let full = rotations.iter().map(|rotation| rotation.phases.len()).max().unwrap_or(0);
    let mut order: Vec<_> = rotations.iter().zip(&contrast.rotations).collect();
    order.sort_by_key(|(rotation, _)| rotation.rotation);
    let mut found = CodeObservations {
        ratios: Vec::new(),
        numbers: Vec::new(),
        incomplete: 0,
        placements: 0,
        fewest_pairs: usize::MAX,
        disturbed: undisturbed.as_ref().map_or(0.0, |left| left.left_out),
        rounds: None,
    };
    let mut rounds: Vec<Vec<ByRound>> = Vec::new();
    for (rotation, whole) in order {
        let compared: Result<Vec<PlacementComparison>, StatsError> =
            rotation.phases.iter().map(compare_at).collect();
        let complete = compared.ok().filter(|phases| phases.len() == full);
        match complete.as_deref().and_then(rotation_ratio) {
            Some(ratio) => {
                let phases = complete.unwrap_or_default();
                found.placements += phases.len();
                let pairs = whole.phases.iter().map(undisturbed::pairs).min().unwrap_or(0);
                found.fewest_pairs = found.fewest_pairs.min(pairs);
                found.ratios.push(ratio);
                found.numbers.push(rotation.rotation);
                let by_round = |pair: &PairAt| by_round(&keyed(&pair.candidate), &keyed(&pair.baseline));
                rounds.push(rotation.phases.iter().map(by_round).collect());
            }
            None => found.incomplete += 1,
        }
    }
    let of_a_visit = visit_variance(&rounds).unwrap_or(0.0);
    for (ratio, placements) in found.ratios.iter_mut().zip(&rounds) {
        ratio.visit_variance = by_visits(placements) * of_a_visit;
    }
    found.rounds = round_error(&rounds, &weights(&found.ratios));
    if found.ratios.is_empty() {
        found.fewest_pairs = 0;
    }
    found
}

/// The code effect with the variance of its rotations and that of its rounds. Errors: `TooFewRotations` below three.
pub fn code_effect(observations: &CodeObservations) -> Result<Effect, StatsError> {
    Ok(Effect::of(&observations.ratios)?.with_rounds(observations.rounds))
}

/// Both sides at one placement. Errors: `NoUsableSamples`.
pub fn compare_at(pair: &PairAt) -> Result<PlacementComparison, StatsError> {
    compare(&keyed(&pair.candidate), &keyed(&pair.baseline))
}

/// Samples as the statistics know them.
pub fn keyed(samples: &[Observation]) -> Vec<Keyed> {
    samples
        .iter()
        .map(|sample| Keyed { round: sample.round, index: sample.index, value: sample.ns_per_unit })
        .collect()
}
