//! Code that runs at two speeds at one place, compared speed by speed: a cause of differences, and of wide intervals.
//!
//! Method: the visits of each side are split by [`crate::stats::modes`]. In the fast mode the sides are compared by the mean over all
//! places of what their fast visits take, in the slow mode over the places at which both sides have it. These ratios, and the
//! difference of the shares of slow visits, get intervals by the jackknife over rotations (Efron and Stein 1981), as visits of
//! one process depend on each other. The verdict stays that over all visits: a long run has both modes, too.
//! Limits: those of the split; visits of the as-built link are not counted, as they are of one place.
//! Checked: drawn campaigns of known modes, in the tests.

use super::build::Side;
use super::cause::{Cause, CauseEvidence};
use super::contrast::RatioInterval;
use super::observed::ObservedContrast;
use super::options::VerdictOptions;
use crate::placement::layout::LINE_BYTES;
use crate::stats::interval::{Interval, t_interval};
use crate::stats::margin::Margin;
use crate::stats::modes::{Modes, VisitLevel, modes};
use crate::stats::quantile::median;
use crate::words::{fraction, list, plural, time};
use std::collections::BTreeMap;

/// The modes of either side as a cause, where one has two; `code` is the effect over all visits.
pub(super) fn cause(
    contrast: &ObservedContrast,
    code: Option<RatioInterval>,
    options: &VerdictOptions,
) -> Option<CauseEvidence> {
    let sides = [Side::Candidate, Side::Baseline].map(|side| SideVisits::of(contrast, side, options.margin));
    if sides.iter().all(|side| side.modes.is_none()) {
        return None;
    }
    let found = ByMode::of(&sides, 1.0 - options.confidence)?;
    let effect = code.map(|code| code.ratio.ln()).filter(|effect| options.margin.is_exceeded_by_ln(*effect));
    let share = effect.map(|effect| (1.0 - (found.fast.ratio.ln() / effect).abs()).clamp(0.0, 1.0));
    Some(CauseEvidence {
        cause: Cause::Modes,
        share,
        evidence: evidence(contrast, &sides, &found, options.margin),
    })
}

/// The visits of one side, with the rotation of each.
struct SideVisits {
    visits: Vec<VisitLevel>,
    rotations: Vec<u32>,
    modes: Option<Modes>,
    /// Mean nanoseconds per unit of all samples: what a run that does not look reports.
    mean_ns: f64,
}

impl SideVisits {
    fn of(contrast: &ObservedContrast, side: Side, margin: Margin) -> SideVisits {
        let (mut visits, mut rotations) = (Vec::new(), Vec::new());
        let (mut sum, mut count, mut process) = (0.0, 0.0, 0);
        for rotation in &contrast.rotations {
            for (phase, pair) in rotation.phases.iter().enumerate() {
                let (samples, offset) = side.of(pair);
                let place = if contrast.has_entries { (offset % LINE_BYTES) as u32 } else { phase as u32 };
                let mut by_round: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
                for sample in samples.iter().filter(|sample| sample.ns_per_unit > 0.0) {
                    by_round.entry(sample.round).or_default().push(sample.ns_per_unit);
                    (sum, count) = (sum + sample.ns_per_unit, count + 1.0);
                }
                for (round, times) in by_round {
                    let log = median(&times).unwrap_or(f64::NAN).ln();
                    visits.push(VisitLevel { log, place, process, round });
                    rotations.push(rotation.rotation);
                }
                process += 1;
            }
        }
        let modes = modes(&visits, margin.ln());
        SideVisits { visits, rotations, modes, mean_ns: sum / count }
    }

    fn is_slow(&self, visit: usize) -> bool {
        self.modes.as_ref().is_some_and(|modes| modes.slow[visit])
    }

    /// Levels without one rotation. None where nothing is left.
    fn levels(&self, left_out: Option<u32>) -> Option<Levels> {
        let mut places: BTreeMap<u32, [MeanOf; 2]> = BTreeMap::new();
        let kept = self.visits.iter().enumerate().filter(|(at, _)| Some(self.rotations[*at]) != left_out);
        for (at, visit) in kept {
            places.entry(visit.place).or_default()[usize::from(self.is_slow(at))].add(visit.log);
        }
        let of_mode = |mode: usize| -> BTreeMap<u32, f64> {
            places.iter().filter_map(|(place, modes)| Some((*place, modes[mode].get()?))).collect()
        };
        let visits = |mode: usize| places.values().map(|modes| modes[mode].count).sum::<f64>();
        let (all, slow_visits) = (visits(0) + visits(1), visits(1));
        (all > 0.0).then(|| Levels { fast: of_mode(0), slow: of_mode(1), slow_share: slow_visits / all })
    }
}

/// A mean on its way.
#[derive(Clone, Copy, Default)]
struct MeanOf {
    sum: f64,
    count: f64,
}

impl MeanOf {
    fn add(&mut self, value: f64) {
        (self.sum, self.count) = (self.sum + value, self.count + 1.0);
    }

    fn get(self) -> Option<f64> {
        (self.count > 0.0).then(|| self.sum / self.count)
    }
}

fn mean(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let mut mean = MeanOf::default();
    values.into_iter().for_each(|value| mean.add(value));
    mean.get()
}

/// What a side takes in either mode, by place, logarithms.
struct Levels {
    fast: BTreeMap<u32, f64>,
    slow: BTreeMap<u32, f64>,
    slow_share: f64,
}

impl Levels {
    /// Mean times of both modes over the places that have both.
    fn speeds(&self) -> Option<(f64, f64)> {
        let both = || self.fast.iter().filter_map(|(place, fast)| Some((*fast, *self.slow.get(place)?)));
        Some((mean(both().map(|both| both.0))?.exp(), mean(both().map(|both| both.1))?.exp()))
    }

    /// ln ratios to another side: in the fast mode, and in the slow one where there are places at which both have it.
    fn against(&self, other: &Levels) -> Option<(f64, Option<f64>)> {
        let fast = mean(self.fast.values().copied())? - mean(other.fast.values().copied())?;
        let slow = self.slow.iter().filter_map(|(place, slow)| Some(slow - other.slow.get(place)?));
        Some((fast, mean(slow)))
    }
}

/// Both sides, mode by mode.
struct ByMode {
    fast: RatioInterval,
    /// Absent where a side has no slow mode.
    slow: Option<RatioInterval>,
    /// Share of slow visits, candidate less baseline.
    share_difference: Interval,
}

impl ByMode {
    /// None where there are too few rotations to tell how far it can be relied on.
    fn of(sides: &[SideVisits; 2], alpha: f64) -> Option<ByMode> {
        let figures = |left_out: Option<u32>| {
            let [candidate, baseline] = [sides[0].levels(left_out)?, sides[1].levels(left_out)?];
            let (fast, slow) = candidate.against(&baseline)?;
            Some((fast, slow, candidate.slow_share - baseline.slow_share))
        };
        let (fast, slow, shares) = figures(None)?;
        let mut rotations: Vec<u32> = sides.iter().flat_map(|side| side.rotations.iter().copied()).collect();
        rotations.sort_unstable();
        rotations.dedup();
        let left_out: Vec<_> = rotations.iter().filter_map(|rotation| figures(Some(*rotation))).collect();
        let interval = |estimate: f64, values: Vec<f64>| {
            let count = values.len() as f64;
            let mean = values.iter().sum::<f64>() / count;
            let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
            let error = ((count - 1.0) / count * squares).sqrt();
            (values.len() >= crate::stats::rotation::MIN_ROTATIONS)
                .then(|| t_interval(estimate, error, count - 1.0, alpha).ok())
                .flatten()
        };
        let ratio = |estimate: f64, values: Vec<f64>| {
            interval(estimate, values).map(|interval| RatioInterval::from_log(estimate, interval))
        };
        Some(ByMode {
            fast: ratio(fast, left_out.iter().map(|found| found.0).collect())?,
            slow: slow.and_then(|slow| ratio(slow, left_out.iter().filter_map(|found| found.1).collect())),
            share_difference: interval(shares, left_out.iter().map(|found| found.2).collect())?,
        })
    }

    /// Whether both sides are equal in each mode that both have.
    fn is_equal(&self, margin: Margin) -> bool {
        let inside = |ratio: RatioInterval| ratio.log_interval().inside(margin);
        inside(self.fast) && self.slow.is_none_or(inside)
    }
}

fn evidence(contrast: &ObservedContrast, sides: &[SideVisits; 2], found: &ByMode, margin: Margin) -> String {
    let (candidate, baseline) = contrast.between().names();
    let speeds = |name: &str, side: &SideVisits| {
        let levels = side.levels(None)?;
        let visits = plural(side.visits.len() as u64, "visit");
        Some(match (levels.speeds(), side.modes.as_ref()) {
            (Some((fast, slow)), Some(modes)) => format!(
                "{name} runs at {} or {} per unit{}, slow in {} of {visits}",
                time(fast),
                time(slow),
                where_both(contrast, &modes.places, levels.fast.len()),
                fraction(levels.slow_share)
            ),
            _ => format!("{name} has one speed in all of {visits}"),
        })
    };
    let told = [speeds(&candidate, &sides[0]), speeds(&baseline, &sides[1])];
    let mut text = format!(
        "{}; the speed changes between visits to one process, where nothing has moved",
        told.into_iter().flatten().collect::<Vec<_>>().join(", and ")
    );
    text.push_str(&format!("; in the fast mode {candidate} differs by {}", found.fast.change()));
    if let Some(slow) = found.slow {
        text.push_str(&format!(", in the slow one by {}", slow.change()));
    }
    if found.is_equal(margin) {
        text.push_str(": in each mode they are equal");
    }
    text.push_str(&format!(
        "; {}; an ordinary long run reports the mix, {} and {}",
        if found.share_difference.excludes_zero() {
            "one is slow more often than the other"
        } else {
            "neither is shown to be slow more often"
        },
        time(sides[0].mean_ns),
        time(sides[1].mean_ns)
    ));
    text
}

/// " where it starts at 0 and 48 of its 64-byte line", where that is not everywhere.
fn where_both(contrast: &ObservedContrast, places: &[u32], all: usize) -> String {
    if !contrast.has_entries || places.len() == all {
        return String::new();
    }
    let offsets: Vec<String> = places.iter().map(u32::to_string).collect();
    format!(" where it starts at {} of its {LINE_BYTES}-byte line", list(&offsets))
}

#[cfg(test)]
mod tests;
