//! What could be told apart with more time? From a short campaign of two identical functions to the smallest effect that a
//! longer one would show; where nothing can be built, from a series of pairs of identical code at one place.
//!
//! Method, of a campaign: its effect has three parts, each of which shrinks in its own way. What differs between rotations goes
//! with their number, up to the most that a campaign takes; what samples scatter goes with the time; what all rotations share of a
//! round goes with the number of rounds. Of a series: it is cut into consecutive stretches that stand for rotations, and the
//! standard error between them shrinks with the root of the time.
//! Limits: assumes that rotations, rounds and stretches are independent of each other, so slow drift is seen only as far as the
//! measuring lasts; in a series placement adds nothing: its own spread comes on top. Checked: by hand, by scale, by simulation.

use super::rotation::{Effect, RESOLUTION, RotationRatio};
use super::rounds::RoundError;
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

/// How much longer a campaign would be, and at which level it is judged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Longer {
    /// Seconds that were measured.
    pub taken_seconds: f64,
    /// Seconds that would be.
    pub seconds: f64,
    /// The most rotations that it would take.
    pub most_rotations: usize,
    /// Two-sided level, in (0, 1).
    pub alpha: f64,
}

/// The smallest effect that a longer campaign would show.
///
/// Input: the effect between two identical functions; the mean of its rotations' sampling variances; what would change. Returns a
/// log ratio. Errors: `ProbabilityOutOfRange`.
pub fn foresee_campaign(
    effect: &Effect,
    sampling_variance: f64,
    longer: &Longer,
) -> Result<Foresight, StatsError> {
    let time = longer.seconds / longer.taken_seconds;
    let affordable = effect.rotations as f64 * time;
    let rotations = affordable.min(longer.most_rotations as f64).max(effect.rotations as f64).floor();
    // Each rotation then gets so many times the samples.
    let richer = effect.rotations as f64 * time / rotations;
    let between = (effect.variance - sampling_variance).max(0.0);
    let resolution = RESOLUTION.powi(2) * rotations;
    let foreseen = Effect {
        estimate: effect.estimate,
        variance: (between + sampling_variance / richer).max(resolution),
        degrees: rotations - 1.0,
        rotations: rotations as usize,
        rounds: RoundError { degrees: effect.rounds.degrees * time, ..effect.rounds.times(1.0 / time) },
    };
    let standard_error = foreseen.standard_error();
    let smallest = foreseen.minimum_detectable(longer.alpha)?;
    Ok(Foresight { smallest, estimate: effect.estimate, standard_error })
}

/// The smallest effect that `seconds` would show, placement aside.
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
        .map(|(mean, variance)| RotationRatio {
            log_ratio: mean,
            sampling_variance: variance / each as f64,
            visit_variance: 0.0,
        })
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

    /// t of 31 degrees: 0.975 and 0.8.
    const QUANTILES_31: f64 = 2.039_513 + 0.853_370;
    const LONGER: Longer = Longer { taken_seconds: 3.0, seconds: 60.0, most_rotations: 32, alpha: 0.05 };

    #[test]
    fn a_longer_campaign_is_foreseen_part_by_part() {
        // 8 rotations in 3 s become 32 in 60 s: each gets 5 times the samples. Variance between them 3e-4, of sampling 1e-4 / 5;
        // over 32: 1e-5. With 31 degrees the quantiles are 2.039513 (0.975) and 0.853370 (0.8), by numerical integration of the
        // density, in Python.
        let effect = Effect::between_rotations(0.002, 4e-4, 7.0, 8);
        let found = foresee_campaign(&effect, 1e-4, &LONGER).unwrap();
        assert!((found.standard_error - 1e-5_f64.sqrt()).abs() < 1e-12, "{found:?}");
        assert!((found.smallest - QUANTILES_31 * 1e-5_f64.sqrt()).abs() < 1e-8, "{found:?}");
        assert_eq!(found.estimate, 0.002);
        // What all rotations share of a round: a twentieth, as there are 20 times the rounds.
        let round = RoundError { variance: 2e-4, of_visits: 0.0, degrees: 3.0 };
        let both = foresee_campaign(&effect.with_rounds(Some(round)), 1e-4, &LONGER).unwrap();
        assert!((both.standard_error - 2e-5_f64.sqrt()).abs() < 1e-12, "{both:?}");
        // Welch-Satterthwaite by hand: (1 + 1)² / (1/31 + 1/60) = 81.76 degrees, fewer quantiles' worth than 31.
        assert!(both.smallest / both.standard_error < QUANTILES_31, "{both:?}");
    }

    #[test]
    fn a_campaign_takes_no_more_rotations_than_it_may_or_has_the_time_for() {
        let effect = Effect::between_rotations(0.0, 4e-4, 7.0, 8);
        let error = |longer: Longer| foresee_campaign(&effect, 0.0, &longer).unwrap().standard_error;
        assert!((error(Longer { most_rotations: 8, ..LONGER }) - (4e-4_f64 / 8.0).sqrt()).abs() < 1e-12);
        assert!((error(Longer { seconds: 6.0, ..LONGER }) - (4e-4_f64 / 16.0).sqrt()).abs() < 1e-12);
        // Nothing but sampling: four times the time halves it, however it is dealt out.
        let sampling =
            |seconds| foresee_campaign(&effect, 4e-4, &Longer { seconds, ..LONGER }).unwrap().standard_error;
        assert!((sampling(15.0) / sampling(60.0) - 2.0).abs() < 1e-9);
        assert!(foresee_campaign(&effect, 0.0, &Longer { alpha: 0.0, ..LONGER }).is_err());
        let exact = Effect::between_rotations(0.0, 0.0, 7.0, 8);
        assert!((foresee_campaign(&exact, 0.0, &LONGER).unwrap().standard_error - RESOLUTION).abs() < 1e-15);
    }

    #[test]
    fn too_few_pairs_say_nothing() {
        assert!(foresee(&[0.0; 15], 1.0, 60.0, 0.05).is_err());
        assert!(foresee(&[0.0; 16], 1.0, 60.0, 0.05).is_ok());
        assert!(foresee(&[0.0; 16], 1.0, 60.0, 0.0).is_err());
    }
}
