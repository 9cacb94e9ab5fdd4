//! One rotation, one observation: the ratio of mean times over all phases of a shuffle.
//!
//! Method: each function visits each offset once in a rotation, so the mean over its phases is free of the offset's
//! effect whatever offset the function had as built. At each phase the two levels are set so that their ratio is the
//! paired one and their geometric mean is the measured one: drift between phases then only moves weights.
//! Limits: a rotation that lacks a phase is no rotation; the caller leaves it out. Checked: by derivation, swap, drift.

use super::interval::{Interval, t_interval};
use super::margin::Margin;
use super::paired::PlacementComparison;
use super::rounds::RoundError;
use super::{StatsError, student};

/// Fewest rotations an interval is built on.
pub const MIN_ROTATIONS: usize = 3;

/// The least standard error of a log ratio that is believed: 1 ns in a sample of 0.1 ms.
///
/// Quantised timings can agree to the last digit; that is the clock's doing, not precision.
pub const RESOLUTION: f64 = 1e-5;

/// One rotation's ratio.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RotationRatio {
    /// ln(mean time of the candidate / mean time of the baseline), means over the phases.
    pub log_ratio: f64,
    /// Variance of `log_ratio` from the samples within the phases: a floor.
    pub sampling_variance: f64,
    /// Variance of `log_ratio` from how its visits vary, by which it is weighed; 0 where that is not known.
    pub visit_variance: f64,
}

/// The weight of each rotation in the mean over them; all weights add up to 1.
///
/// Rotations that were added later, or that lost visits, were visited less often, and vary more. Equal where the variance of
/// visits is unknown. Source: random effects, DerSimonian & Laird 1986; what rotations differ by beyond their visits is found
/// by the method of moments. Checked: a transcription; coverage by simulation (tests/calibration, docs/methodology/verdicts.md).
pub fn weights(rotations: &[RotationRatio]) -> Vec<f64> {
    let count = rotations.len() as f64;
    let known =
        |rotation: &RotationRatio| rotation.visit_variance > 0.0 && rotation.visit_variance.is_finite();
    if !rotations.iter().all(known) {
        return vec![1.0 / count; rotations.len()];
    }
    let precisions: Vec<f64> = rotations.iter().map(|rotation| 1.0 / rotation.visit_variance).collect();
    let (sum, squares): (f64, f64) =
        precisions.iter().fold((0.0, 0.0), |(sum, squares), one| (sum + one, squares + one * one));
    let weighed = || rotations.iter().zip(&precisions);
    let mean = weighed().map(|(rotation, precision)| precision * rotation.log_ratio).sum::<f64>() / sum;
    let apart: f64 =
        weighed().map(|(rotation, precision)| precision * (rotation.log_ratio - mean).powi(2)).sum();
    let between = if count > 1.0 { ((apart - (count - 1.0)) / (sum - squares / sum)).max(0.0) } else { 0.0 };
    let plain: Vec<f64> =
        rotations.iter().map(|rotation| 1.0 / (between + rotation.visit_variance)).collect();
    let whole: f64 = plain.iter().sum();
    plain.into_iter().map(|weight| weight / whole).collect()
}

/// The ratio of mean times over the phases of one rotation; `None` without phases.
///
/// Input: one comparison per phase. Cost: O(phases). Source: delta method for the variance of a ratio of sums.
pub fn rotation_ratio(phases: &[PlacementComparison]) -> Option<RotationRatio> {
    if phases.is_empty() {
        return None;
    }
    // Levels are taken relative to the first phase: exp of ln(ns) is safe anyway, but the scale then never matters.
    let level = |phase: &PlacementComparison| 0.5 * (phase.log_candidate + phase.log_baseline);
    let reference = level(&phases[0]);
    let mut candidate = 0.0;
    let mut baseline = 0.0;
    let mut weights = 0.0;
    let mut variance = 0.0;
    for phase in phases {
        let centre = level(phase) - reference;
        candidate += (centre + 0.5 * phase.log_ratio).exp();
        baseline += (centre - 0.5 * phase.log_ratio).exp();
        weights += centre.exp();
        variance += (centre.exp() * phase.standard_error).powi(2);
    }
    Some(RotationRatio {
        log_ratio: (candidate / baseline).ln(),
        sampling_variance: variance / weights.powi(2),
        visit_variance: 0.0,
    })
}

/// A code effect before its confidence is chosen: the mean over rotations and how well it is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effect {
    /// Mean of ln ratio over rotations, weighed by [`weights`].
    pub estimate: f64,
    /// Variance of one rotation around the mean, never below the sampling variance within rotations: that of as many equal
    /// rotations whose mean is known as well.
    pub variance: f64,
    /// Degrees of freedom of `variance`.
    pub degrees: f64,
    /// Rotations.
    pub rotations: usize,
    /// The error of the estimate that all rotations share, as they share rounds.
    pub rounds: RoundError,
}

impl Effect {
    /// An effect whose only error is the spread between rotations.
    pub fn between_rotations(estimate: f64, variance: f64, degrees: f64, rotations: usize) -> Effect {
        Effect { estimate, variance, degrees, rotations, rounds: RoundError::UNKNOWN }
    }

    /// The same effect with the error that its rounds add.
    pub fn with_rounds(self, rounds: Option<RoundError>) -> Effect {
        Effect { rounds: rounds.unwrap_or(self.rounds), ..self }
    }

    /// Degrees of freedom of the standard error, from those of its two parts.
    ///
    /// Source: Welch 1947, Satterthwaite 1946.
    pub fn error_degrees(&self) -> f64 {
        let between = self.variance / self.rotations as f64;
        let rounds = self.rounds.added();
        let whole = between + rounds;
        let parts = between.powi(2) / self.degrees + rounds.powi(2) / self.rounds.degrees;
        if parts > 0.0 { whole.powi(2) / parts } else { self.degrees }
    }

    /// The weighted mean over rotations with its variance (rotations - 1 degrees of freedom).
    ///
    /// Errors: `TooFewRotations` below three. Source: Hartung & Knapp 2001, which is Student 1908 where all weights are equal;
    /// the floor is ours, see `RESOLUTION`.
    pub fn of(rotations: &[RotationRatio]) -> Result<Effect, StatsError> {
        let have = rotations.len();
        if have < MIN_ROTATIONS {
            return Err(StatsError::TooFewRotations { have, need: MIN_ROTATIONS });
        }
        let (count, weights) = (have as f64, weights(rotations));
        let weighed = || rotations.iter().zip(&weights);
        let estimate: f64 = weighed().map(|(rotation, weight)| weight * rotation.log_ratio).sum();
        let apart: f64 =
            weighed().map(|(rotation, weight)| weight * (rotation.log_ratio - estimate).powi(2)).sum();
        let between = apart * count / (count - 1.0);
        let within: f64 = count
            * weighed().map(|(rotation, weight)| weight * weight * rotation.sampling_variance).sum::<f64>();
        let variance = between.max(within).max(RESOLUTION.powi(2) * count);
        Ok(Effect::between_rotations(estimate, variance, count - 1.0, have))
    }

    /// Standard error of the estimate.
    pub fn standard_error(&self) -> f64 {
        (self.variance / self.rotations as f64 + self.rounds.added()).sqrt()
    }

    /// Two-sided probability of an estimate as far from 0 when there is no difference.
    pub fn p_value(&self) -> f64 {
        student::two_sided_p(self.estimate / self.standard_error(), self.error_degrees())
    }

    /// Probability of an estimate as near to 0 when the effect lies on the margin or beyond it: one-sided, the larger of both
    /// sides. Source: two one-sided tests, Schuirmann 1987.
    pub fn equivalence_p_value(&self, margin: Margin) -> f64 {
        let clearance = (margin.ln() - self.estimate.abs()) / self.standard_error();
        let half = 0.5 * student::two_sided_p(clearance, self.error_degrees());
        if clearance > 0.0 { half } else { 1.0 - half }
    }

    /// The interval at two-sided level `alpha`. Errors: `ProbabilityOutOfRange`.
    pub fn interval(&self, alpha: f64) -> Result<Interval, StatsError> {
        t_interval(self.estimate, self.standard_error(), self.error_degrees(), alpha)
    }

    /// The smallest true log ratio that would be found to differ from 0 at level `alpha` in four of five repeats.
    ///
    /// Errors: `ProbabilityOutOfRange`. Source: (t_{alpha/2} + t_{0.2}) · standard error, the usual approximation of
    /// the noncentral t by a shifted one.
    pub fn minimum_detectable(&self, alpha: f64) -> Result<f64, StatsError> {
        let exclude = student::two_sided_quantile(alpha, self.error_degrees())?;
        let power = student::two_sided_quantile(0.4, self.error_degrees())?;
        Ok((exclude + power) * self.standard_error())
    }

    /// Rotations at which the interval's half width at level `alpha` would be at most `half_width`, at this spread.
    ///
    /// Returns: `None` beyond `limit`. Degrees gained by more rotations are counted, those borrowed are kept.
    pub fn rotations_for(&self, half_width: f64, alpha: f64, limit: u32) -> Option<u32> {
        let borrowed = self.degrees - (self.rotations as f64 - 1.0);
        let enough = |rotations: u32| {
            // More rotations bring more rounds in the same measure.
            let scaled = Effect {
                degrees: f64::from(rotations) - 1.0 + borrowed,
                rotations: rotations as usize,
                rounds: self.rounds.times(self.rotations as f64 / f64::from(rotations)),
                ..*self
            };
            let (degrees, error) = (scaled.error_degrees(), scaled.standard_error());
            student::two_sided_quantile(alpha, degrees).is_ok_and(|t| t * error <= half_width)
        };
        let mut low = MIN_ROTATIONS as u32;
        let mut high = limit;
        if half_width.is_nan() || half_width <= 0.0 || !enough(high) {
            return None;
        }
        while low < high {
            let middle = low + (high - low) / 2;
            if enough(middle) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        Some(low)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_widen_the_interval_and_lend_their_degrees() {
        let plain = Effect::between_rotations(0.01, 8e-4, 7.0, 8);
        let both = plain.with_rounds(Some(RoundError { variance: 3e-4, of_visits: 2e-4, degrees: 3.0 }));
        assert!((plain.standard_error() - 0.01).abs() < 1e-15);
        assert!((both.standard_error() - 2e-4f64.sqrt()).abs() < 1e-15);
        // Welch-Satterthwaite by hand: (1 + 1)² / (1/7 + 1/3) = 8.4.
        assert!((both.error_degrees() - 8.4).abs() < 1e-12);
        assert_eq!(plain.error_degrees(), 7.0);
        assert_eq!(plain.with_rounds(None), plain);
        assert!(both.p_value() > plain.p_value());
    }

    fn phase(candidate: f64, baseline: f64, standard_error: f64) -> PlacementComparison {
        PlacementComparison {
            log_ratio: (candidate / baseline).ln(),
            standard_error,
            log_candidate: candidate.ln(),
            log_baseline: baseline.ln(),
            pairs: 8,
        }
    }

    fn rotations(ratios: &[f64]) -> Vec<RotationRatio> {
        ratios
            .iter()
            .map(|&log_ratio| RotationRatio { log_ratio, sampling_variance: 0.0, visit_variance: 0.0 })
            .collect()
    }

    #[test]
    fn the_same_code_at_any_starting_offset_comes_out_equal() {
        // ns by offset of the design's copy 1; the candidate starts 16 bytes further.
        let by_offset = [0.713, 0.876, 0.815, 0.721];
        let phases: Vec<PlacementComparison> =
            (0..4).map(|p| phase(by_offset[(p + 1) % 4], by_offset[p], 0.001)).collect();
        assert!(phases.iter().any(|phase| phase.log_ratio > 0.2));
        assert!(rotation_ratio(&phases).unwrap().log_ratio.abs() < 1e-12);
    }

    #[test]
    fn it_is_the_ratio_of_mean_times_not_the_mean_of_ratios() {
        // (3 + 1) / (1 + 1) = 2, while the mean of log ratios would give sqrt(3).
        let found = rotation_ratio(&[phase(3.0, 1.0, 0.0), phase(1.0, 1.0, 0.0)]).unwrap();
        assert!((found.log_ratio - 2f64.ln()).abs() < 1e-12);
        assert_eq!(rotation_ratio(&[]), None);
    }

    #[test]
    fn drift_between_phases_only_moves_weights() {
        let equal = |level: f64| phase(1.05 * level, level, 0.002);
        let found = rotation_ratio(&[equal(1.0), equal(1.3), equal(0.8), equal(2.0)]).unwrap();
        assert!((found.log_ratio - 1.05f64.ln()).abs() < 1e-12);
    }

    #[test]
    fn the_sampling_variance_is_that_of_a_weighted_mean() {
        // four equal phases: 0.02^2 / 4; with levels 1 and 3: (1 + 9) * 0.02^2 / 16
        let one = phase(1.0, 1.0, 0.02);
        let found = rotation_ratio(&[one, one, one, one]).unwrap();
        assert!((found.sampling_variance - 1e-4).abs() < 1e-12);
        let found = rotation_ratio(&[one, phase(3.0, 3.0, 0.02)]).unwrap();
        assert!((found.sampling_variance - 2.5e-4).abs() < 1e-12);
    }

    #[test]
    fn the_effect_is_a_t_interval_over_rotations() {
        // scipy: t.interval(.95, 4, mean, sd / sqrt(5)) of (.01,.03,.02,.04,.015): .0080483855 .. .0379516145
        let effect = Effect::of(&rotations(&[0.01, 0.03, 0.02, 0.04, 0.015])).unwrap();
        assert!((effect.estimate - 0.023).abs() < 1e-12);
        let interval = effect.interval(0.05).unwrap();
        assert!((interval.lower - 0.008_048_385_5).abs() < 1e-7, "{interval:?}");
        assert!((interval.upper - 0.037_951_614_5).abs() < 1e-7, "{interval:?}");
        // scipy: ttest_1samp(x, 0).pvalue = 0.0129399174
        assert!((effect.p_value() - 0.012_939_917_4).abs() < 1e-9, "{}", effect.p_value());
    }

    #[test]
    fn equivalence_is_tested_by_the_nearer_end_of_the_margin() {
        // scipy: t.sf((log(1.01) - abs(estimate)) / error, degrees)
        for (estimate, error, degrees, expected) in [
            (0.002, 0.003, 7.0, 0.016_468_209_5),
            (-0.004, 0.001, 11.0, 4.793_861_05e-5),
            (0.012, 0.004, 7.0, 0.687_936_617),
            (0.009_950_330_853_168_092, 0.002, 5.0, 0.5),
        ] {
            let effect = Effect::between_rotations(estimate, f64::powi(error, 2) * 8.0, degrees, 8);
            let found = effect.equivalence_p_value(Margin::of(0.01));
            assert!((found / expected - 1.0).abs() < 1e-7, "{estimate}: {found}");
            // It agrees with the interval at twice the level.
            let inside = |alpha: f64| effect.interval(alpha).unwrap().inside(Margin::of(0.01));
            assert!(
                found >= 0.5 || inside(2.0 * found * 1.001) && !inside(2.0 * found * 0.999),
                "{estimate}"
            );
        }
    }

    #[test]
    fn a_rotation_counts_by_how_often_it_was_visited() {
        // A transcription of the formulae of DerSimonian & Laird and of Hartung & Knapp in Python.
        let ratio = |log_ratio: f64, visit_variance: f64| RotationRatio {
            log_ratio,
            sampling_variance: 0.0,
            visit_variance,
        };
        let rotations = [
            ratio(0.010, 1e-4),
            ratio(0.014, 1e-4),
            ratio(0.020, 1e-4),
            ratio(0.060, 9e-4),
            ratio(-0.030, 9e-4),
        ];
        let effect = Effect::of(&rotations).unwrap();
        assert!((effect.estimate - 0.0146974513).abs() < 1e-9, "{effect:?}");
        assert!((effect.variance - 0.000252944162).abs() < 1e-10, "{effect:?}");
        assert_eq!((effect.degrees, effect.rotations), (4.0, 5));
        // Where rotations differ by more than their visits do, they count nearly alike.
        let apart = [ratio(0.3, 1e-4), ratio(-0.2, 1e-4), ratio(0.1, 9e-4), ratio(0.0, 9e-4)];
        assert!(weights(&apart).iter().all(|weight| (weight - 0.25).abs() < 0.005), "{:?}", weights(&apart));
        // And of equal ones each counts the same.
        let equal = [ratio(0.3, 1e-4), ratio(-0.2, 1e-4), ratio(0.1, 1e-4)];
        assert!(weights(&equal).iter().all(|weight| (weight - 1.0 / 3.0).abs() < 1e-15));
    }

    #[test]
    fn two_rotations_are_too_few() {
        let error = Effect::of(&rotations(&[0.0, 0.1])).unwrap_err();
        assert_eq!(error, StatsError::TooFewRotations { have: 2, need: 3 });
    }

    #[test]
    fn equal_rotations_do_not_make_an_estimate_exact() {
        let effect = Effect::of(&rotations(&[0.02; 4])).unwrap();
        assert!((effect.standard_error() - RESOLUTION).abs() < 1e-12);
        let noisy = [RotationRatio { log_ratio: 0.02, sampling_variance: 4e-4, visit_variance: 0.0 }; 4];
        assert!((Effect::of(&noisy).unwrap().standard_error() - 0.01).abs() < 1e-12);
    }

    #[test]
    fn the_detectable_effect_shrinks_and_the_need_grows_as_they_should() {
        let effect = Effect::between_rotations(0.0, 1e-4, 7.0, 8);
        // scipy: (t.isf(.025, 7) + t.isf(.2, 7)) * .01 / sqrt(8) = 0.01152815
        assert!((effect.minimum_detectable(0.05).unwrap() - 0.011_528_152).abs() < 1e-8);
        // scipy: t.isf(.025, n-1) * .01 / sqrt(n) <= .005 first at n = 18 (17: .00514, 18: .00497)
        assert_eq!(effect.rotations_for(0.005, 0.05, 1000), Some(18));
        assert_eq!(effect.rotations_for(1e-6, 0.05, 1000), None);
        assert_eq!(effect.rotations_for(0.0, 0.05, 1000), None);
        assert!(effect.rotations_for(0.005, 0.001, 1000) > Some(18));
        // with 7 borrowed degrees: t.isf(.025, n + 6) * .01 / sqrt(n) <= .005 first at n = 18 (17: .005017, 18: .004865)
        let borrowed = Effect { degrees: 14.0, ..effect };
        assert_eq!(borrowed.rotations_for(0.005, 0.05, 1000), Some(18));
        assert_eq!(borrowed.rotations_for(0.005_01, 0.05, 1000), Some(18));
        assert_eq!(borrowed.rotations_for(0.005_02, 0.05, 1000), Some(17));
    }
}
