//! The changes of a series, found as its points arrive.
//!
//! Method: after each point the stretch since the last change is examined once, so a change that was told is never taken
//! back because of what came later, and the level of the test is the rate of false alarms per point. When all points are
//! there, each change is moved to the best division between its neighbours. Points of other machines are left out: each
//! machine has its own changes.
//! Checked: by simulation, `tests/calibration/history.rs`.

use super::divisive::{Distances, FEWEST, best, significant};
use super::noise;
use crate::stats::student;

/// A longer stretch without a change is examined by its last points.
const MOST: usize = 150;

/// What counts as a change.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sensitivity {
    /// The probability at each point that a series without a change is said to have one.
    pub level: f64,
    /// The least step, a difference of logarithms.
    pub minimum: f64,
    /// Of the surrogates.
    pub seed: u64,
}

impl Default for Sensitivity {
    fn default() -> Sensitivity {
        Sensitivity { level: 0.001, minimum: 0.01, seed: 1 }
    }
}

/// A step in a series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// The last point at the old level.
    pub before: usize,
    /// The first point at the new level.
    pub at: usize,
    /// The point at which it could be told.
    pub told_at: usize,
    /// The new level less the old one; the values are logarithms, so it is that of a ratio.
    pub step: f64,
    /// The interval of the step at 95 %.
    pub lower: f64,
    /// Its upper end.
    pub upper: f64,
    /// At most so many series without a change divide as well.
    pub p: f64,
}

/// The changes of a series on one machine.
///
/// Input: finite values in their order, logarithms of times or ratios. Returns: ascending.
pub fn changes(values: &[f64], sensitivity: &Sensitivity) -> Vec<Change> {
    let mut distances = Distances::default();
    let (mut from, mut found) = (0, Vec::new());
    for end in 1..=values.len() {
        let begin = from.max(end.saturating_sub(MOST));
        let stretch = &values[begin..end];
        let Some((division, p)) = significant(stretch, sensitivity.level, sensitivity.seed, &mut distances)
        else {
            continue;
        };
        let (ahead, behind) = stretch.split_at(division.at);
        if (mean(behind) - mean(ahead)).abs() < sensitivity.minimum {
            continue;
        }
        from = begin + division.at;
        found.push((from, end - 1, p));
    }
    settle(values, &mut found, &mut distances);
    let places: Vec<usize> = found.iter().map(|change| change.0).collect();
    let last = |at: usize| places.get(at + 1).copied().unwrap_or(values.len());
    let first = |at: usize| if at == 0 { 0 } else { places[at - 1] };
    let told = found.iter().enumerate().map(|(number, &(at, told_at, p))| {
        let around = &values[first(number)..last(number)];
        let (step, lower, upper) = step(around, at - first(number));
        Change { before: at - 1, at, told_at, step, lower, upper, p }
    });
    told.filter(|change| change.step.abs() >= sensitivity.minimum).collect()
}

/// Moves each change to the best division between its neighbours.
fn settle(values: &[f64], found: &mut [(usize, usize, f64)], distances: &mut Distances) {
    for number in 0..found.len() {
        let first = if number == 0 { 0 } else { found[number - 1].0 };
        let last = found.get(number + 1).map_or(values.len(), |next| next.0);
        let (begin, end) =
            (first.max(found[number].0.saturating_sub(MOST)), last.min(found[number].0 + MOST));
        if let Some(division) = best(&values[begin..end], distances) {
            found[number].0 = begin + division.at;
        }
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The difference of the means of two stretches, with its interval; neighbours that are alike widen it.
fn step(around: &[f64], at: usize) -> (f64, f64, f64) {
    let (ahead, behind) = around.split_at(at);
    let step = mean(behind) - mean(ahead);
    let Some((deviation, degrees)) = noise::deviation(around, &[at]) else { return (step, step, step) };
    let likeness = noise::likeness(around, &[at]);
    let part = |stretch: &[f64]| noise::inflation(likeness, stretch.len()) / stretch.len() as f64;
    let error = deviation * (part(ahead) + part(behind)).sqrt();
    let half = error * student::two_sided_quantile(0.05, degrees).unwrap_or(2.0);
    (step, step - half, step + half)
}

/// The changes of a series whose points are of several machines; indices are of the whole series.
///
/// Input: per point its machine, and its value. Returns: ascending by the point at which the change is.
pub fn changes_by_machine(points: &[(usize, f64)], sensitivity: &Sensitivity) -> Vec<Change> {
    let mut machines: Vec<usize> = points.iter().map(|point| point.0).collect();
    machines.sort_unstable();
    machines.dedup();
    let mut all = Vec::new();
    for machine in machines {
        let own: Vec<usize> = (0..points.len()).filter(|&at| points[at].0 == machine).collect();
        let values: Vec<f64> = own.iter().map(|&at| points[at].1).collect();
        let found = changes(&values, sensitivity);
        all.extend(found.into_iter().map(|change| Change {
            before: own[change.before],
            at: own[change.at],
            told_at: own[change.told_at],
            ..change
        }));
    }
    all.sort_by_key(|change| change.at);
    all
}

/// The standard deviation around the levels between changes, of each machine on its own; none of fewer than 6 points.
pub fn spread(points: &[(usize, f64)], changes: &[Change]) -> Option<f64> {
    let (mut squares, mut degrees) = (0.0, 0.0);
    let machines: std::collections::BTreeSet<usize> = points.iter().map(|point| point.0).collect();
    for machine in machines {
        let own: Vec<usize> = (0..points.len()).filter(|&at| points[at].0 == machine).collect();
        let values: Vec<f64> = own.iter().map(|&at| points[at].1).collect();
        let divisions: Vec<usize> =
            changes.iter().filter_map(|change| own.iter().position(|&at| at == change.at)).collect();
        if let Some((deviation, own_degrees)) = noise::deviation(&values, &divisions) {
            squares += deviation * deviation * own_degrees;
            degrees += own_degrees;
        }
    }
    (points.len() >= FEWEST && degrees > 0.0).then(|| (squares / degrees).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values that wobble by half a percent, without a generator.
    fn wobble(at: usize) -> f64 {
        [0.3, -0.4, 0.1, 0.5, -0.2, -0.5, 0.2, 0.0, -0.1, 0.4][at * 7 % 10] / 100.0
    }

    #[test]
    fn a_step_is_told_with_its_size_and_soon() {
        let values: Vec<f64> = (0..30).map(|at| wobble(at) + if at >= 20 { 0.03 } else { 0.0 }).collect();
        let found = changes(&values, &Sensitivity::default());
        assert_eq!(found.len(), 1);
        let change = found[0];
        assert_eq!((change.before, change.at), (19, 20));
        assert!(
            change.lower < 0.03 && 0.03 < change.upper && change.upper - change.lower < 0.02,
            "{change:?}"
        );
        assert!(change.told_at <= 24, "{change:?}");
    }

    #[test]
    fn what_was_told_stays_when_the_step_is_undone() {
        let level = |at: usize| if (20..30).contains(&at) { 0.03 } else { 0.0 };
        let values: Vec<f64> = (0..60).map(|at| wobble(at) + level(at)).collect();
        let found: Vec<usize> =
            changes(&values, &Sensitivity::default()).iter().map(|change| change.at).collect();
        assert_eq!(found, [20, 30]);
    }

    #[test]
    fn another_machine_is_no_change_and_each_has_its_own() {
        // Two machines in turn, one 40 % slower; the code of both gets slower by 3 % at the same point.
        let point = |at: usize| {
            let machine = at % 2;
            let step = if at >= 40 { 0.03 } else { 0.0 };
            (machine, wobble(at / 2) + 0.34 * machine as f64 + step)
        };
        let points: Vec<(usize, f64)> = (0..60).map(point).collect();
        let found = changes_by_machine(&points, &Sensitivity::default());
        assert_eq!(found.iter().map(|change| change.at).collect::<Vec<_>>(), [40, 41]);
        assert_eq!((found[0].before, found[1].before), (38, 39));
        let spread = spread(&points, &found).unwrap();
        assert!((0.002..0.005).contains(&spread), "{spread}");
        assert!(changes_by_machine(&points[..40], &Sensitivity::default()).is_empty());
    }

    #[test]
    fn a_step_below_the_least_one_is_none() {
        let values: Vec<f64> =
            (0..40).map(|at| wobble(at) / 10.0 + if at >= 20 { 0.005 } else { 0.0 }).collect();
        assert!(changes(&values, &Sensitivity::default()).is_empty());
        let finer = Sensitivity { minimum: 0.001, ..Sensitivity::default() };
        assert_eq!(changes(&values, &finer)[0].at, 20);
    }
}
