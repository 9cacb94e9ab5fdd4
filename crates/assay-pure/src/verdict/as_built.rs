//! What anybody else would have reported: the ratio at the one placement the user's own link gives.
//!
//! Method: the median of paired log ratios of each round (samples of one visit share its state), then the median over
//! rounds; the interval from order statistics over rounds, or Student's t with 3 to 5 rounds, or over single pairs
//! below that. Plain confidence, one contrast at a time: an ordinary tool does not know of the others.
//! Limits: the interval says how repeatable this one binary is, nothing about another link of the same code.

use super::decide::{DecidedEstimate, decide};
use super::effect::{compare_at, keyed};
use super::observed::PairAt;
use crate::stats::interval::{Interval, mean_and_variance, median_interval, t_interval};
use crate::stats::margin::Margin;
use crate::stats::paired::per_round;
use crate::stats::quantile::median;
use crate::stats::rotation::RESOLUTION;

/// Rounds from which order statistics reach 95 %: 1 - 2/2^6 = 0.969.
const ORDER_STATISTICS_FROM: usize = 6;

/// The as-built ratio, its interval and the word an ordinary tool would give it.
///
/// Input: both sides as built; two-sided level `alpha`. Returns: log scale; `None` where a side
/// has no usable sample, or there is a single pair.
pub fn judge_as_built(pair: &PairAt, alpha: f64, margin: Margin) -> Option<DecidedEstimate> {
    let rounds = per_round(&keyed(&pair.candidate), &keyed(&pair.baseline));
    let (estimate, interval) = match rounds.len() {
        0..3 => from_samples(pair, alpha)?,
        3..ORDER_STATISTICS_FROM => {
            let (mean, variance) = mean_and_variance(&rounds)?;
            let error = (variance / rounds.len() as f64).sqrt();
            (median(&rounds)?, t_interval(mean, error, rounds.len() as f64 - 1.0, alpha).ok()?)
        }
        _ => (median(&rounds)?, median_interval(&rounds, alpha)?.0),
    };
    let floor = Interval::around(estimate, RESOLUTION);
    let interval =
        Interval { lower: interval.lower.min(floor.lower), upper: interval.upper.max(floor.upper) };
    Some(DecidedEstimate { estimate, interval, verdict: decide(estimate, interval, margin) })
}

/// Too few rounds: the samples as if they were independent, as most tools take them. A single pair says nothing of its spread.
fn from_samples(pair: &PairAt, alpha: f64) -> Option<(f64, Interval)> {
    let comparison = compare_at(pair).ok().filter(|comparison| comparison.pairs >= 2)?;
    let degrees = (comparison.pairs - 1) as f64;
    let interval = t_interval(comparison.log_ratio, comparison.standard_error, degrees, alpha).ok()?;
    Some((comparison.log_ratio, interval))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verdict::contrast::Verdict;
    use crate::verdict::observed::Observation;

    fn pair(ratios: &[&[f64]]) -> PairAt {
        let mut at = PairAt::default();
        for (round, of_round) in ratios.iter().enumerate() {
            for (index, ratio) in of_round.iter().enumerate() {
                let level = 1.0 + round as f64;
                let sample =
                    |ns_per_unit| Observation { round: round as u32, index: index as u32, ns_per_unit };
                at.baseline.push(sample(level));
                at.candidate.push(sample(level * ratio));
            }
        }
        at
    }

    #[test]
    fn six_rounds_give_the_range_of_their_medians() {
        let at = pair(&[&[1.20, 1.21, 9.0], &[1.19], &[1.22], &[1.18], &[1.23], &[1.20]]);
        let found = judge_as_built(&at, 0.05, Margin::of(0.01)).unwrap();
        // medians 1.21 1.19 1.22 1.18 1.23 1.20: the middle of their logarithms is ln sqrt(1.20 * 1.21)
        assert!((found.estimate.exp() - (1.20f64 * 1.21).sqrt()).abs() < 1e-9);
        assert!((found.interval.lower.exp() - 1.18).abs() < 1e-9);
        assert!((found.interval.upper.exp() - 1.23).abs() < 1e-9);
        assert_eq!(found.verdict, Verdict::Slower);
    }

    #[test]
    fn three_rounds_give_students_interval() {
        let at = pair(&[&[1.0], &[1.02], &[0.98]]);
        let found = judge_as_built(&at, 0.05, Margin::of(0.01)).unwrap();
        assert!(found.estimate.abs() < 1e-12);
        // t(2) = 4.302653, sd of ln(1, 1.02, .98) = 0.0200040, / sqrt(3)
        assert!((found.interval.upper - found.interval.lower - 2.0 * 0.049_69).abs() < 2e-4);
        assert_eq!(found.verdict, Verdict::Undecided);
    }

    #[test]
    fn one_round_falls_back_on_its_samples() {
        let at = pair(&[&[1.00, 1.001, 0.999, 1.0, 1.0005, 0.9995]]);
        let found = judge_as_built(&at, 0.05, Margin::of(0.01)).unwrap();
        assert_eq!(found.verdict, Verdict::Equivalent);
        // differences 0, .001, -.001, 0, .0005, -.0005: MAD .0005, error 1.2533 * 1.4826 * .0005 / sqrt(6) = 3.793e-4;
        // scipy: t.isf(.025, 5) = 2.570582
        assert!((found.interval.upper - found.estimate - 9.750e-4).abs() < 2e-6, "{found:?}");
    }

    #[test]
    fn identical_timings_are_not_exact() {
        let found =
            judge_as_built(&pair(&[&[1.0], &[1.0], &[1.0], &[1.0], &[1.0], &[1.0]]), 0.05, Margin::of(0.01))
                .unwrap();
        assert!((found.interval.upper - RESOLUTION).abs() < 1e-15);
        assert!((found.interval.lower + RESOLUTION).abs() < 1e-15);
    }

    #[test]
    fn a_side_without_samples_has_no_as_built_ratio() {
        assert_eq!(judge_as_built(&PairAt::default(), 0.05, Margin::of(0.01)), None);
        assert_eq!(judge_as_built(&pair(&[&[1.2]]), 0.05, Margin::of(0.01)), None, "a single pair");
        assert!(judge_as_built(&pair(&[&[1.2], &[1.3]]), 0.05, Margin::of(0.01)).is_some());
    }
}
