//! Does code at one place run at two speeds, changing between them from visit to visit?
//!
//! Some loops do on some processors: the same loop in the same process at the same place takes 0.355 or 0.52 ns per byte, keeps a
//! speed for milliseconds and changes it by itself. Then a time is not one number, and its mean moves with the share of slow visits.
//!
//! Method: of each visit the median of its samples, as a logarithm, without what all visits of a round share (the median over
//! processes of what a round adds to a process). At each place two normal distributions of one width are fitted by
//! expectation and maximisation (Dempster, Laird and Rubin 1977), begun at the best split in two (Otsu 1979): what a place
//! adds, and by how much its modes differ, is its own. Two modes are told where
//! - they lie at least [`LEAST_SEPARATION`] widths apart (Ashman, Bird and Zepf 1994 ask for 2) and on average differ by more than the
//!   smallest effect of interest;
//! - there is a valley: over all such places, a third of the distance holds fewer visits in the middle than around either mode.
//!   With one mode, a stretch nearer to it holds no fewer than one as long beyond it, so a sign test at [`VALLEY`] asks
//!   this on either side;
//! - processes change between them: what a process keeps is placement, not a mode;
//! - the gap has [`LEAST_STEPS`] steps of the figures: 3 and 4 ns, printed without decimals, are neighbours and no modes.
//!
//! Where places are unknown, all visits are compared at once by how far they are from a fast one of their own process
//! ([`Comparable::Processes`]).
//!
//! Limits: two modes; the rarer one needs about ten visits, three at a place. What lasts for most of a round is taken for the round's: modes
//! that are kept for longer than a round takes are not seen, and on a busy machine the valley fills. Samples beside a busy sibling thread have to be
//! left out before.
//! Checked: EM against scikit-learn's GaussianMixture (tied); the whole against a transcription into Python, 400 campaigns of 192
//! visits a row: none told of one mode (normal, wide, outliers in 3 to 60 % of visits, processes that differ by 1 to 20 %); all of
//! a gap of 46 % in a fifth of the visits, 95 % in a tenth, 24 % in a twentieth; of gaps that differ by place all. By processes,
//! 300 campaigns of 32 processes with 2 to 12 visits a row: none told of one mode (as above, and figures of two digits), of a gap
//! of 20 % in 30 % of the visits 90 % with two visits to a process and all but a few with more, whatever processes differ by.

use super::quantile::median;
use std::collections::BTreeMap;

/// Distance of the modes in standard deviations of one of them, times √2 for two of one width in the literature's D.
const LEAST_SEPARATION: f64 = 3.0;
/// Level of the sign test for a valley: strict, as the fit chooses where to look.
const VALLEY: f64 = 0.001;
/// Fewer visits tell nothing.
const LEAST_VISITS: usize = 24;
/// Visits that either mode must have at a place.
const LEAST_AT_A_PLACE: usize = 3;
/// Processes that must have been seen in both modes.
const LEAST_CHANGING: usize = 3;
/// Visits to a process, of which it shows whether it is mostly slow.
const LEAST_OF_A_PROCESS: f64 = 3.0;
/// Steps in which figures are told that the gap must have: of figures of a few digits, two neighbouring ones are no modes.
const LEAST_STEPS: f64 = 6.0;
/// Logarithms nearer than this are of one figure.
const ONE_FIGURE: f64 = 1e-9;
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

/// What makes visits comparable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparable {
    /// Their place.
    Places,
    /// Nothing but their process, as where code has no one entry whose place could be told. They are compared by how far they are
    /// from a fast one of their own process. Which mode a process is in that was seen in one only is then unknown.
    Processes,
}

/// Two speeds of one piece of code.
#[derive(Clone, Debug, PartialEq)]
pub struct Modes {
    /// Mean over slow visits of ln(time in the slow mode / time in the fast one) at their place, above 0.
    pub log_gap: f64,
    /// Places at which both modes were seen, ascending.
    pub places: Vec<u32>,
    /// Of each visit, in the order given: was it in the slow mode? Of no meaning outside of `places` by [`Comparable::Processes`],
    /// where each process has a place of its own.
    pub slow: Vec<bool>,
}

/// The share of slow visits by those to processes that were seen in both modes, of which it is known which are slow; visits to
/// others are all fast or all slow.
///
/// Input: fast and slow visits by process. Returns: the maximum of the likelihood with one share for all visits; none where no
/// process of three visits and more was seen in both modes. Fewer do not tell which mode is the usual one, and are left out. Cost: O(n) for
/// each of some 20 steps of expectation and maximisation. Checked: against the shares that were drawn.
pub fn slow_share(visits: &[[f64; 2]]) -> Option<f64> {
    let enough = visits.iter().filter(|[fast, slow]| fast + slow >= LEAST_OF_A_PROCESS);
    let (known, open): (Vec<[f64; 2]>, Vec<[f64; 2]>) =
        enough.partition(|[fast, slow]| *fast > 0.0 && *slow > 0.0);
    let sum = |all: &[[f64; 2]]| all.iter().map(|[fast, slow]| fast + slow).sum::<f64>();
    if known.is_empty() {
        return None;
    }
    let slow: f64 = known.iter().map(|[_, slow]| slow).sum();
    let mut share = slow / sum(&known);
    for _ in 0..MOST_STEPS {
        let all_slow = |[fast, slow]: &[f64; 2]| {
            let visits = fast + slow;
            visits / (1.0 + ((1.0 - share) / share).powf(visits))
        };
        let next = (slow + open.iter().map(all_slow).sum::<f64>()) / (sum(&known) + sum(&open));
        let moved = (next - share).abs();
        share = next;
        if moved < SETTLED {
            break;
        }
    }
    Some(share)
}

/// The two modes of a piece of code, where it has two.
///
/// Input: visits in any order, finite logarithms; what makes them comparable; the smallest gap of interest, as a logarithm.
/// Returns: none where one mode is enough, or where the visits cannot tell. Cost: O(n log n) and some 20 steps of n. Source,
/// limits, checks: see the module.
pub fn modes(visits: &[VisitLevel], by: Comparable, least_log_gap: f64) -> Option<Modes> {
    if visits.len() < LEAST_VISITS || visits.iter().any(|visit| !visit.log.is_finite()) {
        return None;
    }
    let levels = match by {
        Comparable::Places => without_rounds(visits),
        Comparable::Processes => without_levels(visits, &without_rounds(visits)),
    };
    let mut at_place: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for (at, visit) in visits.iter().enumerate() {
        let place = if by == Comparable::Places { visit.place } else { 0 };
        at_place.entry(place).or_default().push(at);
    }
    let (mut slow, mut near, mut gaps) = (vec![false; visits.len()], Near::default(), 0.0);
    for of_place in at_place.into_values() {
        let values: Vec<f64> = of_place.iter().map(|at| levels[*at]).collect();
        let Some(fit) = TwoNormals::fitted(&values).filter(TwoNormals::is_apart) else { continue };
        let upper: Vec<bool> = values.iter().map(|value| fit.probability_of_upper(*value) > 0.5).collect();
        let in_slow = upper.iter().filter(|upper| **upper).count();
        if in_slow.min(upper.len() - in_slow) < LEAST_AT_A_PLACE {
            continue;
        }
        near.add(&fit, &values);
        gaps += (fit.upper - fit.lower) * in_slow as f64;
        of_place.iter().zip(upper).for_each(|(at, upper)| slow[*at] = upper);
    }
    let in_slow = slow.iter().filter(|slow| **slow).count();
    let log_gap = gaps / in_slow.max(1) as f64;
    let is_large = log_gap > least_log_gap && log_gap > LEAST_STEPS * step(visits);
    let is_told = near.is_valley() && is_large && is_changing(visits, &slow);
    is_told.then(|| Modes { log_gap, places: of_both(visits, &slow), slow })
}

/// The smallest difference between two figures, as a logarithm: of figures of a few digits, that of their last one.
fn step(visits: &[VisitLevel]) -> f64 {
    let mut logs: Vec<f64> = visits.iter().map(|visit| visit.log).collect();
    logs.sort_by(f64::total_cmp);
    let steps = logs.windows(2).map(|pair| pair[1] - pair[0]).filter(|step| *step > ONE_FIGURE);
    steps.fold(f64::INFINITY, f64::min)
}

/// Places with visits in both modes.
fn of_both(visits: &[VisitLevel], slow: &[bool]) -> Vec<u32> {
    let mut seen: BTreeMap<u32, [bool; 2]> = BTreeMap::new();
    for (visit, slow) in visits.iter().zip(slow) {
        seen.entry(visit.place).or_default()[usize::from(*slow)] = true;
    }
    seen.into_iter().filter(|(_, modes)| *modes == [true, true]).map(|(place, _)| place).collect()
}

/// Visits near the modes, and midway between them.
#[derive(Default)]
struct Near {
    fast: usize,
    middle: usize,
    slow: usize,
}

impl Near {
    fn add(&mut self, fit: &TwoNormals, values: &[f64]) {
        let half = (fit.upper - fit.lower) / 6.0;
        let around = |centre: f64| values.iter().filter(|value| (*value - centre).abs() < half).count();
        self.fast += around(fit.lower);
        self.middle += around((fit.lower + fit.upper) / 2.0);
        self.slow += around(fit.upper);
    }

    fn is_valley(&self) -> bool {
        [self.fast, self.slow].into_iter().all(|mode| sign_test(mode, self.middle) < VALLEY)
    }
}

/// Logarithms of the visits without what a round does to all of them.
fn without_rounds(visits: &[VisitLevel]) -> Vec<f64> {
    let of_process = grouped(visits, |visit| visit.process, |visit| visit.log);
    let usual: BTreeMap<u32, f64> =
        of_process.into_iter().filter_map(|(process, logs)| Some((process, median(&logs)?))).collect();
    let off = |visit: &VisitLevel| visit.log - usual.get(&visit.process).copied().unwrap_or_default();
    let of_round: BTreeMap<u32, f64> = grouped(visits, |visit| visit.round, off)
        .into_iter()
        .filter_map(|(round, offs)| Some((round, median(&offs)?)))
        .collect();
    visits.iter().map(|visit| visit.log - of_round.get(&visit.round).copied().unwrap_or_default()).collect()
}

/// Levels of the visits less those of their processes: of the visit a quarter of the way up, which is one in a mode and no value
/// between both, as a median of two may be.
fn without_levels(visits: &[VisitLevel], levels: &[f64]) -> Vec<f64> {
    let mut of_process: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for (visit, level) in visits.iter().zip(levels) {
        of_process.entry(visit.process).or_default().push(*level);
    }
    let own: BTreeMap<u32, f64> = of_process
        .into_iter()
        .map(|(process, mut levels)| {
            levels.sort_by(f64::total_cmp);
            (process, levels[(levels.len() - 1) / 4])
        })
        .collect();
    visits.iter().zip(levels).map(|(visit, level)| level - own[&visit.process]).collect()
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

    fn is_apart(&self) -> bool {
        self.upper - self.lower >= LEAST_SEPARATION * self.width
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
