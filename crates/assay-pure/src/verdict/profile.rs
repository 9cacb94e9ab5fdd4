//! One variant over all its placements: its time by rotation and by offset, cleaned of drift between rotations.

use super::build::Side;
use super::observed::{Observation, ObservedContrast, PairAt};
use crate::stats::quantile::median;

impl Side {
    /// Its samples and its entry's offset at a placement.
    pub fn of(self, pair: &PairAt) -> (&[Observation], u64) {
        match self {
            Side::Candidate => (&pair.candidate, pair.candidate_offset),
            Side::Baseline => (&pair.baseline, pair.baseline_offset),
        }
    }
}

/// One rotation of one variant.
#[derive(Clone, Debug, PartialEq)]
pub struct RotationTimes {
    /// The shuffle's number.
    pub rotation: u32,
    /// The earliest and the latest round that any of its usable samples was taken in: rotations for which these overlap were
    /// measured side by side.
    pub rounds: (u32, u32),
    /// Mean over phases of the median nanoseconds per unit.
    pub mean_ns: f64,
    /// (offset of the entry in its 64-byte line, median nanoseconds per unit) of each phase.
    pub by_offset: Vec<(u64, f64)>,
}

/// The times of one side over all rotations with usable samples in every phase, in order of rotation.
pub fn rotation_times(contrast: &ObservedContrast, side: Side) -> Vec<RotationTimes> {
    let mut times: Vec<RotationTimes> = contrast
        .complete()
        .filter_map(|rotation| {
            let by_offset: Option<Vec<(u64, f64)>> =
                rotation.phases.iter().map(|pair| time_at(pair, side)).collect();
            let by_offset = by_offset?;
            let mean_ns = by_offset.iter().map(|(_, ns)| ns).sum::<f64>() / by_offset.len() as f64;
            let samples = || rotation.phases.iter().flat_map(|pair| side.of(pair).0);
            let rounds = || samples().map(|sample| sample.round);
            let rounds = (rounds().min()?, rounds().max()?);
            Some(RotationTimes { rotation: rotation.rotation, rounds, mean_ns, by_offset })
        })
        .collect();
    times.sort_by_key(|rotation| rotation.rotation);
    times
}

/// (offset, median nanoseconds per unit) of one side at one placement; `None` without usable samples.
pub fn time_at(pair: &PairAt, side: Side) -> Option<(u64, f64)> {
    let (samples, offset) = side.of(pair);
    let values: Vec<f64> =
        samples.iter().map(|sample| sample.ns_per_unit).filter(|ns| ns.is_finite() && *ns > 0.0).collect();
    Some((offset % 64, median(&values)?))
}

/// Effect of one offset: how the time there compares with the mean over its own rotation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OffsetEffect {
    /// Offset of the entry in its 64-byte line.
    pub offset: u64,
    /// Median over placements of ln(time there / mean time of that rotation).
    pub log_effect: f64,
    /// Placements at this offset.
    pub placements: usize,
}

/// Effects by offset, ascending by offset. Dividing by the rotation's own mean takes out drift between rotations.
pub fn offset_effects(times: &[RotationTimes]) -> Vec<OffsetEffect> {
    let mut offsets: Vec<u64> =
        times.iter().flat_map(|rotation| rotation.by_offset.iter().map(|(offset, _)| *offset)).collect();
    offsets.sort_unstable();
    offsets.dedup();
    offsets
        .into_iter()
        .filter_map(|offset| {
            let effects: Vec<f64> = times
                .iter()
                .flat_map(|rotation| {
                    let at = rotation.by_offset.iter().filter(move |(found, _)| *found == offset);
                    at.map(move |(_, ns)| (ns / rotation.mean_ns).ln())
                })
                .collect();
            Some(OffsetEffect { offset, log_effect: median(&effects)?, placements: effects.len() })
        })
        .collect()
}

/// ln(candidate / baseline), the mean over common rotations, each side without the offset at which it is slowest.
///
/// Returns: `None` where a side visits fewer than three offsets, or no rotation is common. It tells a difference of all places
/// from one that a single place makes, such as a branch of one side's loop that falls on a boundary there.
pub fn without_slowest_offset(contrast: &ObservedContrast) -> Option<f64> {
    let trimmed = |side: Side| -> Option<Vec<(u32, f64)>> {
        let times = rotation_times(contrast, side);
        let effects = offset_effects(&times);
        let slowest = effects.iter().max_by(|a, b| a.log_effect.total_cmp(&b.log_effect))?.offset;
        let mean = |rotation: &RotationTimes| {
            let kept = || rotation.by_offset.iter().filter(|(offset, _)| *offset != slowest);
            (rotation.rotation, kept().map(|(_, ns)| ns).sum::<f64>() / kept().count().max(1) as f64)
        };
        (effects.len() >= 3).then(|| times.iter().map(mean).collect())
    };
    let (candidate, baseline) = (trimmed(Side::Candidate)?, trimmed(Side::Baseline)?);
    let ratios: Vec<f64> = candidate
        .iter()
        .filter_map(|(rotation, ns)| {
            let other = baseline.iter().find(|(other, _)| other == rotation)?;
            Some((ns / other.1).ln())
        })
        .filter(|ratio| ratio.is_finite())
        .collect();
    (!ratios.is_empty()).then(|| ratios.iter().sum::<f64>() / ratios.len() as f64)
}

/// Which offsets one side visits over its rotations, and whether every rotation visits each of them equally often.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OffsetsVisited {
    /// Distinct offsets, ascending.
    pub offsets: Vec<u64>,
    /// Rotations that visit one offset more often than another: their mean is not free of the offset's effect.
    pub uneven_rotations: usize,
}

/// The offsets of one side. An aligned function visits fewer of them, but evenly.
pub fn offsets_visited(times: &[RotationTimes]) -> OffsetsVisited {
    let offsets: Vec<u64> = offset_effects(times).iter().map(|effect| effect.offset).collect();
    let uneven = |rotation: &&RotationTimes| {
        let count = |offset: u64| rotation.by_offset.iter().filter(|(found, _)| *found == offset).count();
        let counts = rotation.by_offset.iter().map(|(offset, _)| count(*offset));
        counts.clone().min() != counts.max()
    };
    OffsetsVisited { uneven_rotations: times.iter().filter(uneven).count(), offsets }
}

/// What the offsets alone would add to the ratio at a placement: ln(effect on candidate / effect on baseline).
///
/// Returns: `None` where an offset was never visited. This is a prediction made from the rotations only, so that the
/// as-built comparison can be compared with it.
pub fn predicted_placement(contrast: &ObservedContrast, at: &PairAt) -> Option<f64> {
    let effect = |side: Side| {
        let offset = side.of(at).1 % 64;
        let effects = offset_effects(&rotation_times(contrast, side));
        effects.iter().find(|effect| effect.offset == offset).map(|effect| effect.log_effect)
    };
    Some(effect(Side::Candidate)? - effect(Side::Baseline)?)
}
