//! Times of different steps are of different minutes: how far apart that alone puts them.
//!
//! Method: a refined point's time against the straight line between the points of the first step on both sides. Most of these
//! residuals are drift, those at bends and steps are more; so their median, scaled to a standard deviation, is taken for the drift
//! and added to the error of every refined time. Ratios are of one minute and stay as they are.
//! Source: median absolute deviation, Hampel 1974. Limits: where most refined points lie on one bend, the bend is taken for
//! drift, and steps there must be the larger. Checked: by hand.

use super::reading::{Curve, Reading};
use super::scale::Scale;
use crate::stats::quantile::median;

/// The standard deviation of normal noise over its median absolute value.
const NORMAL: f64 = 1.4826;
/// Fewer residuals tell nothing.
const FEWEST: usize = 3;

/// The standard deviation of the drift between the first step and the others, on the log scale; 0 where it cannot be told.
///
/// Input: all variants' curves, and the values of the key that the first step measured.
pub fn drift(curves: &[Curve], first: &[f64], scale: Scale) -> f64 {
    let mut residuals = Vec::new();
    for curve in curves {
        let is_first = |reading: &&Reading| first.contains(&reading.at);
        let (anchors, refined): (Vec<&Reading>, Vec<&Reading>) = curve.readings.iter().partition(is_first);
        for reading in refined {
            let below = anchors.iter().rfind(|anchor| anchor.at < reading.at);
            let above = anchors.iter().find(|anchor| anchor.at > reading.at);
            if let Some((below, above)) = below.zip(above) {
                let (low, high) = (scale.place(below.at), scale.place(above.at));
                let part = (scale.place(reading.at) - low) / (high - low);
                let line = below.estimate + part * (above.estimate - below.estimate);
                residuals.push((reading.estimate - line).abs());
            }
        }
    }
    if residuals.len() < FEWEST { 0.0 } else { NORMAL * median(&residuals).unwrap_or(0.0) }
}

/// Adds the drift to the errors of all points that the first step did not measure.
pub fn widen(curves: &mut [Curve], first: &[f64], scale: Scale) {
    let drift = drift(curves, first, scale);
    for reading in curves.iter_mut().flat_map(|curve| &mut curve.readings) {
        if !first.contains(&reading.at) {
            reading.standard_error = reading.standard_error.hypot(drift);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sweep::reading::CampaignsSeen;

    fn curve(variant: &str, of: &[(f64, f64)]) -> Curve {
        let reading = |&(at, estimate): &(f64, f64)| Reading {
            at,
            estimate,
            standard_error: 0.03,
            degrees: 7.0,
            seen: CampaignsSeen::ONCE,
        };
        Curve { variant: variant.into(), readings: of.iter().map(reading).collect(), left_out: Vec::new() }
    }

    const FIRST: [f64; 3] = [0.0, 4.0, 8.0];

    #[test]
    fn the_drift_is_the_median_distance_from_the_lines_of_the_first_step() {
        // Off the line by 0.04, 0.02 and 0.9, which is a bend.
        let one = curve("one", &[(0.0, 0.0), (1.0, 0.14), (4.0, 0.4), (6.0, 0.58), (8.0, 0.8)]);
        let two = curve("two", &[(0.0, 0.0), (2.0, 0.9), (4.0, 0.0)]);
        let curves = [one, two];
        assert!((drift(&curves, &FIRST, Scale::Linear) - 1.4826 * 0.04).abs() < 1e-12);
        let mut curves = curves;
        widen(&mut curves, &FIRST, Scale::Linear);
        let errors: Vec<f64> = curves[1].readings.iter().map(|reading| reading.standard_error).collect();
        assert_eq!((errors[0], errors[2]), (0.03, 0.03), "the first step's errors stay");
        assert!((errors[1] - 0.03f64.hypot(1.4826 * 0.04)).abs() < 1e-12);
    }

    #[test]
    fn too_few_points_tell_nothing_of_drift() {
        let few = curve("few", &[(0.0, 0.0), (1.0, 0.5), (2.0, 0.5), (4.0, 0.0), (9.0, 3.0)]);
        assert_eq!(drift(&[few], &FIRST, Scale::Linear), 0.0, "two between anchors, one outside");
        assert_eq!(drift(&[], &FIRST, Scale::Linear), 0.0);
    }
}
