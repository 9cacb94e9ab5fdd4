//! Where a time steps: a rise over a short stretch between flatter ones, as at the end of a cache or of what a predictor remembers.
//!
//! Method: gaps between neighbouring readings that rise (or fall) by more than their noise and steeper than the curve as a
//! whole; neighbouring gaps in the same direction are one step; one that changes the time by less than [`LEAST`] is none. The gaps
//! in which most of it happens are its place. On both sides of it the curve must be flatter: a time that goes on growing (n³ after
//! a flat beginning) has no step, and a curve of three points shows none. Checked: by hand.

use super::reading::Reading;
use super::scale::Scale;

/// The least change of a step, on the log scale: 10 %.
pub const LEAST: f64 = 0.095;
/// A step is as many times as steep as the whole curve.
const STEEPER: f64 = 2.0;
/// Gaps at the ends of a step with less than this part of it are not its place.
const PART: f64 = 0.1;

/// One step of one curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CurveStep {
    /// The last reading before it.
    pub from: f64,
    /// The first behind it.
    pub to: f64,
    /// ln(time behind / time before).
    pub change: f64,
    /// Logarithm of the time before.
    pub before: f64,
    /// Logarithm of the time behind.
    pub after: f64,
}

/// The steps of a curve, in order of the key.
///
/// Input: logarithms of times, rising in the key; two-sided level of the noise of one gap.
pub fn steps(readings: &[Reading], scale: Scale, alpha: f64) -> Vec<CurveStep> {
    let (Some(first), Some(last)) = (readings.first(), readings.last()) else { return Vec::new() };
    let width = |left: &Reading, right: &Reading| scale.place(right.at) - scale.place(left.at);
    let total: f64 = readings.windows(2).map(|gap| (gap[1].estimate - gap[0].estimate).abs()).sum();
    let slope = total / width(first, last).max(f64::MIN_POSITIVE);
    let direction = |gap: &[Reading]| -> i8 {
        let change = gap[1].estimate - gap[0].estimate;
        let noise = gap[0].half_width(alpha).hypot(gap[1].half_width(alpha));
        let steep = change.abs() / width(&gap[0], &gap[1]) > STEEPER * slope;
        if change.abs() <= noise || !steep && readings.len() > 3 {
            return 0;
        }
        if change > 0.0 { 1 } else { -1 }
    };
    let mut found = Vec::new();
    let mut index = 0;
    while index + 1 < readings.len() {
        let sign = direction(&readings[index..index + 2]);
        let mut end = index + 1;
        while sign != 0 && end + 1 < readings.len() && direction(&readings[end..end + 2]) == sign {
            end += 1;
        }
        if sign != 0 {
            let found_here = step(&readings[index..=end]);
            found.extend(found_here.filter(|step| is_between_flatter(step, readings, scale)));
        }
        index = end;
    }
    found
}

/// Whether the gaps on both sides of a step are flatter than it is.
fn is_between_flatter(step: &CurveStep, readings: &[Reading], scale: Scale) -> bool {
    let slope = |left: &Reading, right: &Reading| {
        let width = scale.place(right.at) - scale.place(left.at);
        (right.estimate - left.estimate).abs() / width.max(f64::MIN_POSITIVE)
    };
    let at = |key: f64| readings.iter().position(|reading| reading.at == key);
    let (Some(from), Some(to)) = (at(step.from), at(step.to)) else { return false };
    let own = slope(&readings[from], &readings[to]);
    // The next gap may still hold the end of the step: the flattest of the next two tells.
    let is_flatter = |gaps: &[Reading]| gaps.windows(2).any(|gap| STEEPER * slope(&gap[0], &gap[1]) < own);
    is_flatter(&readings[from.saturating_sub(2)..=from])
        && is_flatter(&readings[to..readings.len().min(to + 3)])
}

/// The step over some gaps, without those at its ends in which little happens.
fn step(readings: &[Reading]) -> Option<CurveStep> {
    let change = |part: &[Reading]| part[part.len() - 1].estimate - part[0].estimate;
    let whole = change(readings);
    let mut part = readings;
    while part.len() > 2 && (change(&part[..2]) / whole) < PART {
        part = &part[1..];
    }
    while part.len() > 2 && (change(&part[part.len() - 2..]) / whole) < PART {
        part = &part[..part.len() - 1];
    }
    let (first, last) = (part[0], part[part.len() - 1]);
    (change(part).abs() >= LEAST).then(|| CurveStep {
        from: first.at,
        to: last.at,
        change: change(part),
        before: first.estimate,
        after: last.estimate,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sweep::reading::CampaignsSeen;

    fn curve(of: &[(f64, f64)]) -> Vec<Reading> {
        of.iter()
            .map(|&(at, time): &(f64, f64)| Reading {
                at,
                estimate: time.ln(),
                standard_error: 0.002,
                degrees: 30.0,
                seen: CampaignsSeen::ONCE,
            })
            .collect()
    }

    fn seen(of: &[(f64, f64)]) -> Vec<(f64, f64)> {
        steps(&curve(of), Scale::Geometric, 0.01).iter().map(|step| (step.from, step.to)).collect()
    }

    #[test]
    fn a_rise_between_flat_stretches_is_a_step() {
        let found = seen(&[(1.0, 1.0), (10.0, 1.0), (100.0, 1.01), (1000.0, 2.0), (1e4, 2.0), (1e5, 2.0)]);
        assert_eq!(found, [(100.0, 1000.0)]);
    }

    #[test]
    fn a_steady_rise_is_no_step() {
        assert_eq!(seen(&[(1.0, 1.0), (10.0, 1.2), (100.0, 1.44), (1000.0, 1.73), (1e4, 2.07)]), []);
    }

    #[test]
    fn growth_that_goes_on_is_no_step_however_flat_it_began() {
        // 1 + (n / 64)^3: flat, then cubic to the last point.
        let cubic = |n: f64| (n, 1.0 + (n / 64.0).powi(3));
        assert_eq!(seen(&[4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0, 1024.0].map(cubic)), []);
        // Its end is not seen, so it may as well go on.
        assert_eq!(seen(&[(1.0, 1.0), (10.0, 1.0), (100.0, 1.0), (1000.0, 1.0), (1e4, 2.0)]), []);
    }

    #[test]
    fn two_or_three_points_show_no_step() {
        assert_eq!(seen(&[(1.0, 1.0), (10.0, 3.0)]), []);
        assert_eq!(seen(&[(1.0, 1.0), (10.0, 1.0), (100.0, 3.0)]), []);
        assert_eq!(seen(&[(1.0, 1.0), (10.0, 3.0), (100.0, 3.0)]), []);
    }

    #[test]
    fn neighbouring_gaps_in_one_direction_are_one_step_and_two_are_two() {
        let found = seen(&[
            (1.0, 1.0),
            (2.0, 1.0),
            (4.0, 1.5),
            (8.0, 2.0),
            (16.0, 2.0),
            (32.0, 2.0),
            (64.0, 2.0),
            (128.0, 3.5),
            (256.0, 3.5),
            (512.0, 3.5),
            (1024.0, 3.5),
        ]);
        assert_eq!(found, [(2.0, 8.0), (64.0, 128.0)]);
    }

    #[test]
    fn a_step_may_go_down_and_says_by_how_much() {
        let found = steps(
            &curve(&[(1.0, 2.0), (2.0, 2.0), (4.0, 2.0), (8.0, 1.0), (16.0, 1.0), (32.0, 1.0)]),
            Scale::Geometric,
            0.01,
        );
        assert_eq!(found.len(), 1);
        assert!((found[0].change + 2f64.ln()).abs() < 1e-12);
        assert_eq!((found[0].before, found[0].after), (2f64.ln(), 0.0));
    }

    #[test]
    fn noise_and_little_changes_are_no_steps() {
        assert_eq!(seen(&[(1.0, 1.0), (2.0, 1.0), (4.0, 1.09), (8.0, 1.09), (16.0, 1.09)]), [], "9 %");
        let noisy: Vec<Reading> = curve(&[(1.0, 1.0), (2.0, 1.0), (4.0, 1.4), (8.0, 1.4), (16.0, 1.4)])
            .into_iter()
            .map(|reading| Reading { standard_error: 0.2, ..reading })
            .collect();
        assert_eq!(steps(&noisy, Scale::Geometric, 0.01), []);
        assert_eq!(steps(&[], Scale::Linear, 0.01), []);
    }

    #[test]
    fn the_place_of_a_step_is_where_most_of_it_happens() {
        let found = seen(&[
            (1.0, 1.0),
            (2.0, 1.0),
            (4.0, 1.0),
            (4.2, 1.03),
            (4.4, 2.0),
            (4.6, 2.06),
            (9.0, 2.06),
            (18.0, 2.06),
            (36.0, 2.06),
        ]);
        assert_eq!(found, [(4.2, 4.4)]);
    }
}
