//! What the other contrasts say of this one's spread: moderated variances.
//!
//! Question: eight rotations give a variance with seven degrees of freedom, and at the levels that fifty contrasts
//! demand that costs a factor of two in width; is there more to be known of the spread?
//! Method: the variances of all contrasts are taken as draws around a common one with estimated prior degrees of
//! freedom (empirical Bayes). Three restrictions keep it honest: a contrast's variance is never set *below* the one it
//! showed itself; the prior never counts more than three times the contrast's own degrees; nor more than one degree per
//! four contrasts, because a handful cannot tell how much spreads differ.
//! Source: Smyth 2004, "Linear models and empirical Bayes methods"; the restrictions are ours.
//! Limits: fewer than eight contrasts lend nothing. Checked: against a Python transcription, SciPy's trigamma, and by
//! simulation with spreads that differ fivefold and have heavy tails (docs/methodology/verdicts.md).

use super::rotation::{Effect, RESOLUTION};
use super::rounds::RoundError;
use statrs::function::gamma::digamma;

/// Fewest contrasts from which a prior is estimated.
pub const MIN_CONTRASTS: usize = 8;

/// The prior counts at most this many times a contrast's own degrees of freedom.
pub const PRIOR_CAP: f64 = 3.0;

/// The prior counts at most one degree of freedom per this many contrasts.
pub const CONTRASTS_PER_DEGREE: f64 = 4.0;

/// A common variance and how many observations it is worth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prior {
    /// The common variance of one rotation.
    pub variance: f64,
    /// Degrees of freedom; may be infinite when all contrasts spread alike.
    pub degrees: f64,
    /// Contrasts it was estimated from.
    pub contrasts: usize,
}

/// Estimates the prior; `None` with fewer than eight contrasts.
///
/// Input: plain effects (own variance, own degrees). Cost: O(n). Source: Smyth 2004, equations for `fitFDist`.
pub fn estimate_prior(effects: &[Effect]) -> Option<Prior> {
    if effects.len() < MIN_CONTRASTS {
        return None;
    }
    let count = effects.len() as f64;
    let centred: Vec<f64> = effects
        .iter()
        .map(|effect| effect.variance.ln() - digamma(0.5 * effect.degrees) + (0.5 * effect.degrees).ln())
        .collect();
    let mean = centred.iter().sum::<f64>() / count;
    let spread = centred.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (count - 1.0);
    let expected = effects.iter().map(|effect| trigamma(0.5 * effect.degrees)).sum::<f64>() / count;
    let excess = spread - expected;
    if excess <= 0.0 {
        return Some(Prior { variance: mean.exp(), degrees: f64::INFINITY, contrasts: effects.len() });
    }
    let degrees = 2.0 * inverse_trigamma(excess);
    let variance = (mean + digamma(0.5 * degrees) - (0.5 * degrees).ln()).exp();
    Some(Prior { variance, degrees, contrasts: effects.len() })
}

/// Lends the prior to one effect.
///
/// Returns: the effect with the larger of its own variance and the weighted one, and with the degrees of both.
/// Restricting the variance from below was chosen for coverage, see docs/methodology/verdicts.md.
pub fn moderate(effect: Effect, prior: Prior) -> Effect {
    let most = (PRIOR_CAP * effect.degrees).min(prior.contrasts as f64 / CONTRASTS_PER_DEGREE);
    let borrowed = prior.degrees.min(most);
    let degrees = effect.degrees + borrowed;
    let weighted = (borrowed * prior.variance + effect.degrees * effect.variance) / degrees;
    Effect { variance: weighted.max(effect.variance), degrees, ..effect }
}

/// Lends all contrasts of a family each other's spreads: that between rotations, and that between rounds.
///
/// Effects without a known round variance take no part in the second. Fewer than eight effects stay as they are.
pub fn moderate_all(effects: &mut [&mut Effect]) {
    let plain: Vec<Effect> = effects.iter().map(|effect| **effect).collect();
    if let Some(prior) = estimate_prior(&plain) {
        effects.iter_mut().for_each(|effect| **effect = moderate(**effect, prior));
    }
    let rounds: Vec<Effect> = plain.iter().filter_map(as_rounds).collect();
    let Some(prior) = estimate_prior(&rounds) else { return };
    for effect in effects.iter_mut() {
        if let Some(own) = as_rounds(effect) {
            let lent = moderate(own, prior);
            let rounds = RoundError { variance: lent.variance, degrees: lent.degrees, ..effect.rounds };
            **effect = Effect { rounds, ..**effect };
        }
    }
}

/// The round error in the place of the spread, so that one estimator serves both; `None` where it is not known.
fn as_rounds(effect: &Effect) -> Option<Effect> {
    let variance = effect.rounds.variance.max(RESOLUTION.powi(2));
    effect.rounds.degrees.is_finite().then(|| {
        Effect::between_rotations(effect.estimate, variance, effect.rounds.degrees, effect.rotations)
    })
}

/// The derivative of digamma.
///
/// Input: x > 0. Returns: to a relative 1e-12. Source: Abramowitz & Stegun 6.4.6 (recurrence) and 6.4.12 (asymptotic).
/// Checked: scipy.special.polygamma(1, x).
pub fn trigamma(x: f64) -> f64 {
    let mut x = x;
    let mut sum = 0.0;
    while x < 15.0 {
        sum += 1.0 / (x * x);
        x += 1.0;
    }
    let inverse = 1.0 / x;
    let square = inverse * inverse;
    let tail = square * (1.0 / 6.0 - square * (1.0 / 30.0 - square * (1.0 / 42.0 - square / 30.0)));
    sum + inverse * (1.0 + 0.5 * inverse + tail)
}

/// The x > 0 whose trigamma is `y` > 0, by bisection on a logarithmic scale (trigamma falls steadily).
fn inverse_trigamma(y: f64) -> f64 {
    let (mut low, mut high) = (1e-6f64.ln(), 1e9f64.ln());
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        if trigamma(middle.exp()) > y {
            low = middle;
        } else {
            high = middle;
        }
    }
    (0.5 * (low + high)).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn effect(variance: f64) -> Effect {
        Effect::between_rotations(0.01, variance, 7.0, 8)
    }

    #[test]
    fn trigamma_agrees_with_scipy() {
        // scipy 1.17.1: polygamma(1, x)
        let table = [
            (0.3, 12.245364546108),
            (0.5, 4.9348022005447),
            (1.0, 1.6449340668482),
            (1.5, 0.93480220054468),
            (3.5, 0.33035775610023),
            (7.0, 0.15354517795934),
            (14.9, 0.069416583207096),
            (15.5, 0.066642013583276),
            (100.0, 0.010050166663334),
        ];
        for (x, expected) in table {
            assert!((trigamma(x) / expected - 1.0).abs() < 1e-12, "x={x}: {}", trigamma(x));
            assert!((inverse_trigamma(expected) / x - 1.0).abs() < 1e-9, "x={x}");
        }
    }

    #[test]
    fn the_prior_agrees_with_a_transcription_of_smyth() {
        // Python transcription of limma's fitFDist on these eight variances, 7 degrees each (scipy 1.17.1)
        let variances = [1.1e-4, 3.2e-5, 8.0e-5, 2.5e-4, 6.1e-5, 9.9e-6, 4.4e-4, 7.0e-5];
        let effects: Vec<Effect> = variances.into_iter().map(effect).collect();
        let prior = estimate_prior(&effects).unwrap();
        assert!((prior.degrees / 2.77005069 - 1.0).abs() < 1e-6, "{prior:?}");
        assert!((prior.variance / 6.02248377e-05 - 1.0).abs() < 1e-6, "{prior:?}");
    }

    #[test]
    fn contrasts_that_spread_alike_lend_up_to_the_caps() {
        let lent = |contrasts: usize| {
            let effects = vec![effect(1e-4); contrasts];
            let prior = estimate_prior(&effects).unwrap();
            assert_eq!(prior.degrees, f64::INFINITY);
            moderate(effects[0], prior)
        };
        assert_eq!(lent(8).degrees, 7.0 + 2.0);
        assert_eq!(lent(40).degrees, 7.0 + 10.0);
        assert_eq!(lent(200).degrees, 7.0 + 21.0);
        assert_eq!((lent(40).estimate, lent(40).rotations), (0.01, 8));
    }

    #[test]
    fn a_spread_is_never_made_smaller_than_it_showed_itself() {
        let prior = Prior { variance: 1e-4, degrees: 14.0, contrasts: 100 };
        assert_eq!(moderate(effect(9e-4), prior).variance, 9e-4);
        // (14 * 1e-4 + 7 * 1e-6) / 21
        assert!((moderate(effect(1e-6), prior).variance - 6.7e-5).abs() < 1e-12);
    }

    #[test]
    fn rounds_are_lent_as_spreads_are_and_only_where_they_are_known() {
        let rounds = |variance| Some(RoundError { variance, of_visits: 0.0, degrees: 1.0 });
        let mut effects: Vec<Effect> = (0..40).map(|_| effect(1e-4).with_rounds(rounds(4e-6))).collect();
        effects[0] = effect(1e-4).with_rounds(rounds(0.0));
        effects[1] = effect(1e-4).with_rounds(rounds(9e-4));
        effects[2] = effect(1e-4);
        moderate_all(&mut effects.iter_mut().collect::<Vec<_>>());
        // three times the one degree of its own
        assert!(effects[3].rounds.degrees > 1.0 && effects[3].rounds.degrees <= 4.0, "{:?}", effects[3]);
        assert!(effects[0].rounds.variance > 1e-7, "a lucky pair of rounds borrows: {:?}", effects[0]);
        assert_eq!(effects[1].rounds.variance, 9e-4);
        assert_eq!(effects[2].rounds, RoundError::UNKNOWN);
        assert_eq!(effects[3].degrees, 7.0 + 10.0);
        let mut few = vec![effect(1e-4).with_rounds(rounds(4e-6)); 7];
        let before = few.clone();
        moderate_all(&mut few.iter_mut().collect::<Vec<_>>());
        assert_eq!(few, before);
    }

    #[test]
    fn seven_contrasts_lend_nothing() {
        assert_eq!(estimate_prior(&[effect(1e-4); 7]), None);
        assert!(estimate_prior(&[effect(1e-4); 8]).is_some());
    }
}
