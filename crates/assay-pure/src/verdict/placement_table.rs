//! Per variant: its time over all placements, at each offset, and what pinning it would bring.

use super::build::Side;
use super::observed::ObservedContrast;
use super::profile::{OffsetEffect, RotationTimes, offset_effects, rotation_times, time_at};
use super::wording::{more_or_less, percent};
use crate::experiment::matrix::CellId;
use crate::stats::interval::median_interval;
use crate::stats::quantile::median;

/// Nanoseconds per unit with an interval.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct TimeInterval {
    /// Median over rotations of the mean over a rotation's phases.
    pub median: f64,
    /// Lower end (an order statistic over rotations).
    pub lower: f64,
    /// Upper end.
    pub upper: f64,
}

/// The time at one offset.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct OffsetTime {
    /// Where the entry lies in its 64-byte line, bytes.
    pub offset: u64,
    /// Nanoseconds per unit there, drift between rotations taken out.
    pub ns_per_unit: f64,
    /// Placements this is the median of.
    pub placements: usize,
}

/// One variant on one input, compiler and flag set.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct VariantPlacement {
    /// Whose they are.
    #[serde(flatten)]
    pub cell: CellId,
    /// Its time over all placements.
    pub ns_per_unit: TimeInterval,
    /// Confidence of the interval: at least 0.95 with six rotations and more, what the range covers with fewer.
    pub confidence: f64,
    /// Rotations used.
    pub rotations: usize,
    /// Its time at each offset visited, ascending.
    pub by_offset: Vec<OffsetTime>,
    /// The offset with the least time.
    pub best_offset: u64,
    /// The offset with the most.
    pub worst_offset: u64,
    /// Time at the worst offset / time at the best, less 1.
    pub spread: f64,
    /// Time at the best offset / mean over the offsets: what pinning the function there would make of its time.
    pub pinned_ratio: f64,
    /// Offset and nanoseconds per unit as built, where measured.
    pub as_built: Option<OffsetTime>,
    /// The whole in one sentence.
    pub statement: String,
}

/// The table: one row per variant, input, compiler and flags, candidates and baselines alike, in order of appearance.
///
/// A baseline takes part in several contrasts with the same samples: the contrast with most rotations speaks for it.
/// Variants without one complete rotation have no row.
pub fn placement_table(contrasts: &[ObservedContrast]) -> Vec<VariantPlacement> {
    let mut chosen: Vec<(&ObservedContrast, Side)> = Vec::new();
    for contrast in contrasts {
        for side in [Side::Baseline, Side::Candidate] {
            let same = |(other, other_side): &&mut (&ObservedContrast, Side)| {
                other.between().cell(*other_side) == contrast.between().cell(side)
            };
            match chosen.iter_mut().find(same) {
                Some(found) if found.0.complete().count() < contrast.complete().count() => {
                    *found = (contrast, side)
                }
                Some(_) => {}
                None => chosen.push((contrast, side)),
            }
        }
    }
    chosen.into_iter().filter_map(|(contrast, side)| row(contrast, side)).collect()
}

fn row(contrast: &ObservedContrast, side: Side) -> Option<VariantPlacement> {
    let times: Vec<RotationTimes> = rotation_times(contrast, side);
    let means: Vec<f64> = times.iter().map(|rotation| rotation.mean_ns).collect();
    let (interval, confidence) = median_interval(&means, 0.05)?;
    let ns_per_unit = TimeInterval { median: median(&means)?, lower: interval.lower, upper: interval.upper };
    let effects = offset_effects(&times);
    let by_offset: Vec<OffsetTime> =
        effects.iter().map(|effect| at_offset(effect, ns_per_unit.median)).collect();
    let best = effects.iter().min_by(|a, b| a.log_effect.total_cmp(&b.log_effect))?;
    let worst = effects.iter().max_by(|a, b| a.log_effect.total_cmp(&b.log_effect))?;
    let as_built = contrast.as_built.as_ref().and_then(|pair| {
        let (offset, ns_per_unit) = time_at(pair, side)?;
        Some(OffsetTime { offset, ns_per_unit, placements: 1 })
    });
    let mut row = VariantPlacement {
        cell: contrast.between().cell(side).into(),
        ns_per_unit,
        confidence,
        rotations: times.len(),
        by_offset,
        best_offset: best.offset,
        worst_offset: worst.offset,
        spread: (worst.log_effect - best.log_effect).exp_m1(),
        pinned_ratio: best.log_effect.exp(),
        as_built,
        statement: String::new(),
    };
    row.statement = statement(&row);
    Some(row)
}

fn at_offset(effect: &OffsetEffect, mean_ns: f64) -> OffsetTime {
    OffsetTime {
        offset: effect.offset,
        ns_per_unit: mean_ns * effect.log_effect.exp(),
        placements: effect.placements,
    }
}

fn statement(row: &VariantPlacement) -> String {
    if row.by_offset.len() < 2 {
        return format!(
            "{}: only offset {} was visited (an aligned function).",
            row.cell.variant, row.best_offset
        );
    }
    let as_built = row.as_built.as_ref().and_then(|built| {
        let best = row.by_offset.iter().find(|at| at.offset == row.best_offset)?;
        let gain = more_or_less((best.ns_per_unit / built.ns_per_unit).ln());
        Some(format!(", {gain} than where it is as built (offset {})", built.offset))
    });
    format!(
        "{}: offset {} is {} slower than offset {}; pinned to {} it would take {} than the mean over placements{}.",
        row.cell.variant,
        row.worst_offset,
        percent(row.spread.ln_1p()).trim_start_matches('+'),
        row.best_offset,
        row.best_offset,
        more_or_less(row.pinned_ratio.ln()),
        as_built.unwrap_or_default()
    )
}
