//! Does code at one place run at two speeds, changing between them from visit to visit?
//!
//! Some loops do on some processors: the same loop in the same process at the same place takes 0.355 or 0.52 ns per byte, keeps a
//! speed for milliseconds and changes it by itself. Then a time is not one number, and its mean moves with the share of slow visits.
//!
//! Method: of each visit the median of its samples, as a logarithm. What all visits of a round share is taken out (the median
//! over processes), then what a place does (each place's fast level, the lowest tenth of its visits). Two normal distributions
//! of one width are fitted to what is left by expectation and maximisation (Dempster, Laird and Rubin 1977), begun at the
//! best split in two (Otsu 1979). Two modes are told where
//! - they lie at least [`LEAST_SEPARATION`] widths apart (Ashman, Bird and Zepf 1994 ask for 2) and differ by more than the smallest
//!   effect of interest;
//! - there is a valley: a third of their distance holds fewer visits in the middle than around either mode. With one mode, a
//!   stretch nearer to it holds no fewer than one as long beyond it, so a sign test at [`VALLEY`] asks this on either side;
//! - processes change between them: what a process keeps is placement, not a mode.
//!
//! Limits: two modes; the rarer one needs about ten visits. Samples beside a busy sibling thread have to be left out before.
//! Checked: EM against scikit-learn's GaussianMixture (tied); the whole against a transcription into Python, 600 campaigns of 192
//! visits a row: none told of one mode (normal, wide, outliers in 5 to 60 % of visits, processes that differ by up to 20 %), all of a
//! gap of 46 % in a fifth of the visits, 99 % in a tenth, 51 % in a twentieth; of a gap of 10.5 % (seven widths) in 15 %, 86 %.

use super::quantile::{median, quantile};
use std::collections::BTreeMap;

/// Distance of the modes in standard deviations of one of them, times √2 for two of one width in the literature's D.
const LEAST_SEPARATION: f64 = 3.0;
/// Level of the sign test for a valley: strict, as the fit chooses where to look.
const VALLEY: f64 = 0.001;
/// Fewer visits tell nothing.
const LEAST_VISITS: usize = 24;
/// Processes that must have been seen in both modes.
const LEAST_CHANGING: usize = 3;
/// Steps of expectation and maximisation, and the change at which they end.
const MOST_STEPS: usize = 200;
const SETTLED: f64 = 1e-10;

/// One visit of one process.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VisitLevel {
    /// The logarithm of its time: the median of its samples.
    pub log: f64,
    /// Number of the place: visits at one place are comparable, as those at one offset of the cache line.
    pub place: u32,
    /// Number of the process.
    pub process: u32,
    /// Number of the round.
    pub round: u32,
}

/// Two speeds of one piece of code.
#[derive(Clone, Debug, PartialEq)]
pub struct Modes {
    /// ln(time in the slow mode / time in the fast one), above 0.
    pub log_gap: f64,
    /// Share of visits in the slow mode, 0 to 1.
    pub slow_share: f64,
    /// Of each visit, in the order given: was it in the slow mode?
    pub slow: Vec<bool>,
}

/// The two modes of a piece of code, where it has two.
///
/// Input: visits in any order, finite logarithms; the smallest gap of interest, as a logarithm. Returns: none where one mode is
/// enough, or where the visits cannot tell. Cost: O(n log n) and some 20 steps of n. Source, limits, checks: see the module.
pub fn modes(visits: &[VisitLevel], least_log_gap: f64) -> Option<Modes> {
    if visits.len() < LEAST_VISITS || visits.iter().any(|visit| !visit.log.is_finite()) {
        return None;
    }
    let levels = without_rounds_and_places(visits);
    let fit = TwoNormals::fitted(&levels)?;
    let slow: Vec<bool> = levels.iter().map(|level| fit.probability_of_upper(*level) > 0.5).collect();
    let in_slow = slow.iter().filter(|slow| **slow).count();
    let log_gap = fit.upper - fit.lower;
    let is_clear = log_gap >= LEAST_SEPARATION * fit.width && fit.has_valley(&levels);
    (is_clear && log_gap > least_log_gap && is_changing(visits, &slow)).then(|| Modes {
        log_gap,
        slow_share: in_slow as f64 / slow.len() as f64,
        slow,
    })
}

/// Logarithms of the visits without what a round does to all of them and what a place does.
fn without_rounds_and_places(visits: &[VisitLevel]) -> Vec<f64> {
    let of_process = grouped(visits, |visit| visit.process, |visit| visit.log);
    let usual: BTreeMap<u32, f64> =
        of_process.into_iter().filter_map(|(process, logs)| Some((process, median(&logs)?))).collect();
    let off = |visit: &VisitLevel| visit.log - usual.get(&visit.process).copied().unwrap_or_default();
    let of_round: BTreeMap<u32, f64> = grouped(visits, |visit| visit.round, off)
        .into_iter()
        .filter_map(|(round, offs)| Some((round, median(&offs)?)))
        .collect();
    let calm = |visit: &VisitLevel| visit.log - of_round.get(&visit.round).copied().unwrap_or_default();
    let fast: BTreeMap<u32, f64> = grouped(visits, |visit| visit.place, calm)
        .into_iter()
        .filter_map(|(place, logs)| Some((place, quantile(&logs, 0.1)?)))
        .collect();
    visits.iter().map(|visit| calm(visit) - fast.get(&visit.place).copied().unwrap_or_default()).collect()
}

fn grouped(
    visits: &[VisitLevel],
    key: impl Fn(&VisitLevel) -> u32,
    value: impl Fn(&VisitLevel) -> f64,
) -> BTreeMap<u32, Vec<f64>> {
    let mut groups: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for visit in visits {
        groups.entry(key(visit)).or_default().push(value(visit));
    }
    groups
}

/// Whether processes change between the modes: some were seen in both, and most slow visits, or most fast ones, are theirs.
fn is_changing(visits: &[VisitLevel], slow: &[bool]) -> bool {
    let mut seen: BTreeMap<u32, [usize; 2]> = BTreeMap::new();
    for (visit, slow) in visits.iter().zip(slow) {
        seen.entry(visit.process).or_default()[usize::from(*slow)] += 1;
    }
    let changing = || seen.values().filter(|[fast, slow]| *fast > 0 && *slow > 0);
    let most = |mode: usize| {
        let all: usize = seen.values().map(|counts| counts[mode]).sum();
        2 * changing().map(|counts| counts[mode]).sum::<usize>() >= all
    };
    changing().count() >= LEAST_CHANGING && (most(0) || most(1))
}

/// Two normal distributions of one width.
#[derive(Clone, Copy, Debug, PartialEq)]
struct TwoNormals {
    lower: f64,
    upper: f64,
    width: f64,
    /// Share of the upper one.
    share: f64,
}

impl TwoNormals {
    /// None where all values are equal.
    fn fitted(values: &[f64]) -> Option<TwoNormals> {
        let mut fit = TwoNormals::of_shares(values, &split(values)?)?;
        for _ in 0..MOST_STEPS {
            let shares: Vec<f64> = values.iter().map(|value| fit.probability_of_upper(*value)).collect();
            let next = TwoNormals::of_shares(values, &shares)?;
            let moved = (next.lower - fit.lower).abs().max((next.upper - fit.upper).abs());
            fit = next;
            if moved < SETTLED {
                break;
            }
        }
        Some(fit)
    }

    /// Of each value's share in the upper one. None where one of both is empty.
    fn of_shares(values: &[f64], shares: &[f64]) -> Option<TwoNormals> {
        let count = values.len() as f64;
        let above: f64 = shares.iter().sum();
        let mean = |weight: &dyn Fn(f64) -> f64, sum: f64| {
            values.iter().zip(shares).map(|(value, share)| weight(*share) * value).sum::<f64>() / sum
        };
        if above <= 0.0 || above >= count {
            return None;
        }
        let (upper, lower) = (mean(&|share| share, above), mean(&|share| 1.0 - share, count - above));
        let squares = values
            .iter()
            .zip(shares)
            .map(|(value, share)| share * (value - upper).powi(2) + (1.0 - share) * (value - lower).powi(2));
        let width = (squares.sum::<f64>() / count).sqrt();
        (width > 0.0).then_some(TwoNormals { lower, upper, width, share: above / count })
    }

    /// Whether fewer values lie midway between both than around either.
    fn has_valley(&self, values: &[f64]) -> bool {
        let half = (self.upper - self.lower) / 6.0;
        let around = |centre: f64| values.iter().filter(|value| (*value - centre).abs() < half).count();
        let middle = around((self.lower + self.upper) / 2.0);
        [self.lower, self.upper].into_iter().all(|mode| sign_test(around(mode), middle) < VALLEY)
    }

    fn probability_of_upper(&self, value: f64) -> f64 {
        let far = |mean: f64| ((value - mean) / self.width).powi(2) / 2.0;
        let odds = (1.0 - self.share) / self.share * (far(self.upper) - far(self.lower)).exp();
        1.0 / (1.0 + odds)
    }
}

/// The probability that of `more + fewer` tosses of a fair coin `more` and more are heads.
fn sign_test(more: usize, fewer: usize) -> f64 {
    let tosses = (more + fewer) as f64;
    let (mut log, mut sum) = (-tosses * std::f64::consts::LN_2, 0.0);
    for fewer in 0..=fewer {
        sum += log.exp();
        let fewer = fewer as f64;
        log += ((tosses - fewer) / (fewer + 1.0)).ln();
    }
    sum.min(1.0)
}

/// The split into a lower and an upper part whose means lie farthest apart for their sizes: 1 for values of the upper one.
fn split(values: &[f64]) -> Option<Vec<f64>> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let (count, sum) = (sorted.len() as f64, sorted.iter().sum::<f64>());
    let (mut best, mut border, mut below) = (0.0, None, 0.0);
    for at in 1..sorted.len() {
        below += sorted[at - 1];
        let low = at as f64;
        let between = low * (count - low) * ((sum - below) / (count - low) - below / low).powi(2);
        if between > best && sorted[at] > sorted[at - 1] {
            (best, border) = (between, Some(sorted[at]));
        }
    }
    let border = border?;
    Some(values.iter().map(|value| if *value >= border { 1.0 } else { 0.0 }).collect())
}

#[cfg(test)]
mod tests;
