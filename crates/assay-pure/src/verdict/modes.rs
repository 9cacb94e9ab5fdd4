//! Code that runs at two speeds at one place, compared speed by speed: a cause of differences, and of wide intervals.
//!
//! Method: the visits of each side are split by [`crate::stats::modes`]. In the fast mode the sides are compared by the mean over all
//! places of what their fast visits take, in the slow mode over the places at which both sides have it. These ratios, and the
//! difference of the shares of slow visits, get intervals by the jackknife over rotations (Efron and Stein 1981), as visits of
//! one process depend on each other. The verdict stays that over all visits: a long run has both modes, too.
//! Visits of a benchmark command are runs: a process each, at a place that is unknown, so they are compared with the level of their
//! own link ([`Comparable::Processes`]) and times are those of the links that were seen in both modes.
//! Limits: those of the split; visits of the as-built link are not counted, as they are of one place. In runs, what a process draws
//! (addresses, stack, environment) and what else the machine does look alike.
//! Checked: drawn campaigns and comparisons of known modes, in the tests.

use super::build::Side;
use super::cause::{Cause, CauseEvidence};
use super::contrast::RatioInterval;
use super::observed::{ObservedContrast, Visits};
use super::options::VerdictOptions;
use crate::placement::layout::LINE_BYTES;
use crate::stats::interval::{Interval, t_interval};
use crate::stats::margin::Margin;
use crate::stats::modes::{Comparable, Modes, VisitLevel, modes, slow_share};
use crate::stats::quantile::median;
use crate::words::{figure, fraction, list, plural, time};
use std::collections::{BTreeMap, BTreeSet};

/// Both sides of a contrast, at least one of which has two speeds, mode by mode. Times are per unit: nanoseconds, or in the unit
/// of a benchmark's figures.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ContrastModes {
    /// The candidate's modes.
    pub candidate: SideModes,
    /// The baseline's.
    pub baseline: SideModes,
    /// Candidate / baseline in the fast mode.
    pub fast: RatioInterval,
    /// Candidate / baseline in the slow mode; null where a side was not seen in it at a place where the other was.
    pub slow: Option<RatioInterval>,
    /// Share of slow visits, candidate less baseline.
    pub slow_share_difference: ShareDifference,
    /// In each mode that both have, they are equivalent.
    pub equal_in_each: bool,
}

/// How one side divides into modes.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SideModes {
    /// Visits, or runs of a benchmark command.
    pub visits: u64,
    /// Mean time in the fast mode over the places that were seen in both; over all of a side with one speed.
    pub fast: f64,
    /// The same in the slow mode; null for a side with one speed.
    pub slow: Option<f64>,
    /// Share of the visits that were slow, 0 to 1.
    pub slow_share: f64,
    /// Mean over all samples: what an ordinary long run would have reported.
    pub mean: f64,
    /// Where the entry starts in its 64-byte line at places that were seen in both modes; empty for runs of a benchmark command.
    pub offsets: Vec<u32>,
}

/// A difference of shares with its interval.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ShareDifference {
    /// The difference, -1 to 1.
    pub difference: f64,
    /// Lower end of its interval.
    pub lower: f64,
    /// Upper end of its interval.
    pub upper: f64,
}

/// The modes of both sides, where one has two and there are rotations enough to tell how far that can be relied on.
pub(super) fn modes_of(contrast: &ObservedContrast, options: &VerdictOptions) -> Option<ContrastModes> {
    let sides = [Side::Candidate, Side::Baseline].map(|side| SideVisits::of(contrast, side, options.margin));
    if sides.iter().all(|side| side.modes.is_none()) {
        return None;
    }
    let found = ModeContrast::of(&sides, 1.0 - options.confidence)?;
    let [candidate, baseline] = [sides[0].told()?, sides[1].told()?];
    Some(ContrastModes {
        candidate,
        baseline,
        fast: found.fast,
        slow: found.slow,
        slow_share_difference: found.shares,
        equal_in_each: found.is_equal(options.margin),
    })
}

/// The modes as a cause; `code` is the effect over all visits.
pub(super) fn cause(
    contrast: &ObservedContrast,
    found: &ContrastModes,
    code: Option<RatioInterval>,
    options: &VerdictOptions,
) -> CauseEvidence {
    let effect = code.map(|code| code.ratio.ln()).filter(|effect| options.margin.is_exceeded_by_ln(*effect));
    let share = effect.map(|effect| (1.0 - (found.fast.ratio.ln() / effect).abs()).clamp(0.0, 1.0));
    CauseEvidence { cause: Cause::Modes, share, evidence: evidence(contrast, found) }
}

/// The visits of one side, with the rotation of each.
struct SideVisits {
    visits: Vec<VisitLevel>,
    rotations: Vec<u32>,
    by: Comparable,
    modes: Option<Modes>,
    has_entries: bool,
    /// Mean of all samples: what a run that does not look reports.
    mean: f64,
}

impl SideVisits {
    fn of(contrast: &ObservedContrast, side: Side, margin: Margin) -> SideVisits {
        let (mut visits, mut rotations) = (Vec::new(), Vec::new());
        let (mut sum, mut count, mut process) = (0.0, 0.0, 0);
        for pair in
            contrast.rotations.iter().flat_map(|one| one.phases.iter().map(|pair| (one.rotation, pair)))
        {
            let (rotation, pair) = pair;
            let (samples, offset) = side.of(pair);
            let place = match &contrast.visits {
                Visits::Process => (offset % LINE_BYTES) as u32,
                // Each link has a place of its own, whatever it was padded by.
                Visits::Run { relinked: true, .. } => process,
                Visits::Run { relinked: false, .. } => 0,
            };
            let mut by_round: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
            for of_round in samples.chunk_by(|one, next| one.round == next.round) {
                let times = of_round.iter().map(|sample| sample.ns_per_unit).filter(|ns| *ns > 0.0);
                let mut times = times.inspect(|ns| (sum, count) = (sum + ns, count + 1.0)).peekable();
                if times.peek().is_some() {
                    by_round.entry(of_round[0].round).or_default().extend(times);
                }
            }
            for (round, times) in by_round {
                let log = median(&times).unwrap_or(f64::NAN).ln();
                visits.push(VisitLevel { log, place, process, round });
                rotations.push(rotation);
            }
            process += 1;
        }
        let by = match &contrast.visits {
            Visits::Run { relinked: true, .. } => Comparable::Processes,
            _ => Comparable::Places,
        };
        let modes = modes(&visits, by, margin.ln());
        let mut side = SideVisits {
            visits,
            rotations,
            by,
            modes,
            has_entries: contrast.has_entries(),
            mean: sum / count,
        };
        if side.levels(None).is_none_or(|levels| levels.slow.is_empty()) {
            side.modes = None;
        }
        side
    }

    fn is_slow(&self, visit: usize) -> bool {
        self.modes.as_ref().is_some_and(|modes| modes.slow[visit])
    }

    /// Levels without one rotation. None where nothing is left, or the share of slow visits cannot be told.
    fn levels(&self, left_out: Option<u32>) -> Option<ModeLevels> {
        let mut places: BTreeMap<u32, [MeanOf; 2]> = BTreeMap::new();
        let kept = self.visits.iter().enumerate().filter(|(at, _)| Some(self.rotations[*at]) != left_out);
        for (at, visit) in kept {
            places.entry(visit.place).or_default()[usize::from(self.is_slow(at))].add(visit.log);
        }
        let counts: Vec<[f64; 2]> = places.values().map(|modes| modes.map(|mode| mode.count)).collect();
        let visits = |mode: usize| counts.iter().map(|modes| modes[mode]).sum::<f64>();
        let (all, slow) = (visits(0) + visits(1), visits(1));
        let mut share = Some(slow / all).filter(|_| all > 0.0)?;
        if self.by == Comparable::Processes && self.modes.is_some() {
            share = slow_share(&counts)?;
            // Of a link that was seen in one mode it is unknown which.
            places.retain(|_, modes| modes.iter().all(|mode| mode.count > 0.0));
        }
        let of_mode = |mode: usize| -> BTreeMap<u32, f64> {
            places.iter().filter_map(|(place, modes)| Some((*place, modes[mode].get()?))).collect()
        };
        Some(ModeLevels { fast: of_mode(0), slow: of_mode(1), slow_share: share })
    }

    /// Times and shares, as they are told. None without a visit.
    fn told(&self) -> Option<SideModes> {
        let levels = self.levels(None)?;
        let (fast, slow) = match (levels.speeds(), &self.modes) {
            (Some((fast, slow)), Some(_)) => (fast, Some(slow)),
            _ => (mean(levels.fast.values().copied())?.exp(), None),
        };
        let places = self.modes.as_ref().filter(|_| self.has_entries).map(|modes| modes.places.clone());
        Some(SideModes {
            visits: self.visits.len() as u64,
            fast,
            slow,
            slow_share: levels.slow_share,
            mean: self.mean,
            offsets: places.unwrap_or_default(),
        })
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
struct ModeLevels {
    fast: BTreeMap<u32, f64>,
    slow: BTreeMap<u32, f64>,
    slow_share: f64,
}

impl ModeLevels {
    /// Mean times of both modes over the places that have both.
    fn speeds(&self) -> Option<(f64, f64)> {
        let both = || self.fast.iter().filter_map(|(place, fast)| Some((*fast, *self.slow.get(place)?)));
        Some((mean(both().map(|both| both.0))?.exp(), mean(both().map(|both| both.1))?.exp()))
    }

    /// ln ratios to another side: in the fast mode, and in the slow one where there are places at which both have it.
    fn against(&self, other: &ModeLevels) -> Option<(f64, Option<f64>)> {
        let fast = mean(self.fast.values().copied())? - mean(other.fast.values().copied())?;
        let slow = self.slow.iter().filter_map(|(place, slow)| Some(slow - other.slow.get(place)?));
        Some((fast, mean(slow)))
    }
}

/// Both sides, mode by mode.
struct ModeContrast {
    fast: RatioInterval,
    /// Absent where a side has no slow mode.
    slow: Option<RatioInterval>,
    shares: ShareDifference,
}

impl ModeContrast {
    /// None where there are too few rotations to tell how far it can be relied on.
    fn of(sides: &[SideVisits; 2], alpha: f64) -> Option<ModeContrast> {
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
        Some(ModeContrast {
            fast: ratio(fast, left_out.iter().map(|found| found.0).collect())?,
            slow: slow.and_then(|slow| ratio(slow, left_out.iter().filter_map(|found| found.1).collect())),
            shares: interval(shares, left_out.iter().map(|found| found.2).collect())
                .map(|Interval { lower, upper }| ShareDifference { difference: shares, lower, upper })?,
        })
    }

    /// Whether both sides are equal in each mode that both have.
    fn is_equal(&self, margin: Margin) -> bool {
        let inside = |ratio: RatioInterval| ratio.log_interval().inside(margin);
        inside(self.fast) && self.slow.is_none_or(inside)
    }
}

fn evidence(contrast: &ObservedContrast, found: &ContrastModes) -> String {
    let (candidate, baseline) = contrast.between().names();
    let (told, visit, changes, long) = match &contrast.visits {
        Visits::Process => (
            " per unit",
            "visit",
            "between visits to one process, where nothing has moved",
            "an ordinary long run reports an average of the modes,",
        ),
        Visits::Run { relinked, .. } => (
            "",
            "run",
            if *relinked {
                "between runs of one link, in which no code has moved, because of random addresses, stack and environment, or \
                 other load"
            } else {
                "between runs of one program, because of random addresses, stack and environment, or other load"
            },
            "without looking at single runs one reports an average of the modes,",
        ),
    };
    let level = |value: f64| match &contrast.visits {
        Visits::Process => time(value),
        Visits::Run { unit, .. } => figure(value, unit),
    };
    let speeds = |name: &str, which: Side, side: &SideModes| {
        let visits = plural(side.visits, visit);
        match side.slow {
            Some(slow) => format!(
                "{name} runs at {} or {}{told}{}, slow in {} of {visits}",
                level(side.fast),
                level(slow),
                where_both(contrast, which, &side.offsets),
                fraction(side.slow_share)
            ),
            None => format!("{name} has one speed in all of {visits}"),
        }
    };
    let mut text = format!(
        "{}, and {}; the speed changes {changes}; in the fast mode {candidate} differs by {}",
        speeds(&candidate, Side::Candidate, &found.candidate),
        speeds(&baseline, Side::Baseline, &found.baseline),
        found.fast.change()
    );
    if let Some(slow) = found.slow {
        text.push_str(&format!(", in the slow one by {}", slow.change()));
    }
    if found.equal_in_each {
        text.push_str(": in each mode they are equal");
    }
    text.push_str(&format!(
        "; {}; {long} {} and {}",
        if found.slow_share_difference.excludes_zero() {
            "one is slow more often than the other"
        } else {
            "neither is shown to be slow more often"
        },
        level(found.candidate.mean),
        level(found.baseline.mean)
    ));
    text
}

impl ShareDifference {
    /// Whether one side is slow more often than the other.
    pub fn excludes_zero(self) -> bool {
        Interval { lower: self.lower, upper: self.upper }.excludes_zero()
    }
}

/// " where it starts at 0 and 48 of its 64-byte line", where that is not everywhere.
fn where_both(contrast: &ObservedContrast, side: Side, offsets: &[u32]) -> String {
    let pairs = contrast.rotations.iter().flat_map(|rotation| &rotation.phases);
    let all: BTreeSet<u64> = pairs.map(|pair| side.of(pair).1 % LINE_BYTES).collect();
    if offsets.is_empty() || offsets.len() >= all.len() {
        return String::new();
    }
    let offsets: Vec<String> = offsets.iter().map(u32::to_string).collect();
    format!(" where it starts at {} of its {LINE_BYTES}-byte line", list(&offsets))
}

#[cfg(test)]
mod tests;
