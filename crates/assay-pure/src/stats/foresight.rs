//! What could be told apart with more time? From a short series of pairs of identical code to the smallest effect that a longer
//! one would show.
//!
//! Method: the series is cut into consecutive stretches that stand for rotations, as the lab's own verdicts rest on rotations;
//! the effect between them is computed as for a verdict, and its standard error shrinks with the root of the time.
//! Limits: assumes that stretches are independent of each other, so slow drift is seen only as far as the series lasts, and
//! that placement adds nothing: its own spread comes on top. Checked: by hand, by scale, and by simulation.

use super::rotation::{Effect, RESOLUTION, RotationRatio};
use super::{StatsError, interval};

/// Stretches that a series is cut into: the rotations of a campaign at its first look.
pub const STRETCHES: usize = 8;

/// What a longer series would show.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Foresight {
    /// The smallest true log ratio that would be found to differ from 0 in four of five repeats.
    pub smallest: f64,
    /// Mean log ratio of the series: 0 but for chance, as the code is identical.
    pub estimate: f64,
    /// Standard error that the estimate would have.
    pub standard_error: f64,
}

/// The smallest effect that `seconds` would show.
///
/// Input: log ratios of pairs in the order in which they were taken, over `taken_seconds`; `seconds` that would be spent;
/// `alpha` in (0, 1), two-sided. Returns log ratios.
///
/// # Errors
/// `TooFewRotations` of fewer than two pairs per stretch; `ProbabilityOutOfRange`.
pub fn foresee(
    log_ratios: &[f64],
    taken_seconds: f64,
    seconds: f64,
    alpha: f64,
) -> Result<Foresight, StatsError> {
    let each = log_ratios.len() / STRETCHES;
    if each < 2 {
        return Err(StatsError::TooFewRotations { have: log_ratios.len() / 2, need: STRETCHES });
    }
    let stretches: Vec<RotationRatio> = log_ratios
        .chunks_exact(each)
        .take(STRETCHES)
        .filter_map(interval::mean_and_variance)
        .map(|(mean, variance)| RotationRatio { log_ratio: mean, sampling_variance: variance / each as f64 })
        .collect();
    let effect = Effect::of(&stretches)?;
    let shrunk = (taken_seconds / seconds).max(0.0).sqrt();
    let standard_error = (effect.standard_error() * shrunk).max(RESOLUTION);
    let smallest = effect.minimum_detectable(alpha)? / effect.standard_error() * standard_error;
    Ok(Foresight { smallest, estimate: effect.estimate, standard_error })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pairs whose stretches have the means 1 to 8 times `step` and no spread within.
    fn staircase(step: f64) -> Vec<f64> {
        (0..STRETCHES * 4).map(|pair| step * (pair / 4 + 1) as f64).collect()
    }

    #[test]
    fn is_the_detectable_effect_of_the_stretches_by_hand() {
        // Means 1..8 in thousandths: variance 6e-6, standard error sqrt(6e-6 / 8) = 8.660e-4; with 7 degrees the quantiles
        // are 2.364624 (0.975) and 0.896030 (0.8), from R's qt: (2.364624 + 0.896030) * 8.660254e-4 = 2.823809e-3.
        let found = foresee(&staircase(0.001), 60.0, 60.0, 0.05).unwrap();
        assert!((found.smallest - 2.823_809e-3).abs() < 1e-8, "{}", found.smallest);
        assert!((found.estimate - 0.0045).abs() < 1e-12);
        assert!((found.standard_error - 8.660_254e-4).abs() < 1e-9);
    }

    #[test]
    fn four_times_the_time_halves_it_and_the_clocks_own_resolution_ends_that() {
        let at = |seconds| foresee(&staircase(0.001), 15.0, seconds, 0.05).unwrap().smallest;
        assert!((at(15.0) / at(60.0) - 2.0).abs() < 1e-9);
        let endless = foresee(&staircase(0.001), 15.0, 1e12, 0.05).unwrap();
        assert_eq!(endless.standard_error, RESOLUTION);
    }

    #[test]
    fn scatter_within_stretches_counts_though_their_means_agree() {
        // Each stretch is -a, +a, -a, +a: its mean is 0 and its sampling variance 4/3 a² / 4.
        let pairs: Vec<f64> =
            (0..STRETCHES * 4).map(|pair| if pair % 2 == 0 { -0.01 } else { 0.01 }).collect();
        let found = foresee(&pairs, 60.0, 60.0, 0.05).unwrap();
        let expected = (0.01_f64.powi(2) * 4.0 / 3.0 / 4.0 / 8.0).sqrt();
        assert!((found.standard_error - expected).abs() < 1e-12, "{}", found.standard_error);
    }

    #[test]
    fn too_few_pairs_say_nothing() {
        assert!(foresee(&[0.0; 15], 1.0, 60.0, 0.05).is_err());
        assert!(foresee(&[0.0; 16], 1.0, 60.0, 0.05).is_ok());
        assert!(foresee(&[0.0; 16], 1.0, 60.0, 0.0).is_err());
    }
}
