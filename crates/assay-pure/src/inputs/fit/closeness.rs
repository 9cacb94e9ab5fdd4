//! How close a fitted stream comes to the recorded one, as a decoding loop's branches see it.
//!
//! Simulated predictors of several CPUs decode both streams (`simulate`). What they miss of the recorded stream is a fact;
//! what they miss of a fitted one depends on its seed. How much is seen from [`STREAMS`] streams as long as the recorded
//! one, and from [`BLOCKS`] stretches of each, through which predictors go on learning: the larger of both spreads counts,
//! for a model of a predictor may fall into one of two habits and keep it for long (that of Zen 4 on uniform values: its
//! streams differ by 4 %, their stretches would have it 0.8 %).
//!
//! The rule: a fit is apart where its figure is off by more than is allowed and more than a seed does besides; it cannot be
//! told where the stretches alone leave open more than is allowed, so that there are too few units; else it is close.
//! Allowed is a share of the recorded figure, and at least [`FLOOR`]: at 20 cycles each, so few mispredictions are 0.04
//! cycles per unit. So what is right is hardly ever refused, and what is off by twice the margin never taken, unless a
//! seed alone makes as much.
//!
//! Rejected: that the whole interval of the difference lie within what is allowed. The recorded stream is a draw too, so
//! streams of the very source of the data were refused, one in two where a predictor has habits. An error of the recorded
//! figure from its own stretches: it refuses each recording that changes as it goes, whose mean is met all the same. That
//! it does change is told by the spread of its parts.
//!
//! Known limits: what predictors do not notice is not compared, so a fit is as good as branches are concerned, not as
//! compression is. One thing is, since a CPU may remember more than a model of it: how much of a stream was there before.
//!
//! Checked: false refusals and false acceptances counted in simulations (slow lane), intervals by hand.

use super::simulate::{branches_per_unit, misses};
use super::{Refusal, Runs};
use crate::inputs::history::{ORDERS, history};
use crate::predict::UnknownPredictor;
use crate::stats::interval::mean_and_variance;
use crate::stats::student::two_sided_quantile;
use std::collections::HashSet;

/// Stretches of a stream between which the spread is taken.
pub const BLOCKS: usize = 32;

/// Streams that are made of a fit.
pub const STREAMS: u64 = 3;

/// The least difference in mispredictions or branches per unit that matters.
pub const FLOOR: f64 = 0.002;

/// Lengths of a stretch that may have been seen before.
const STRETCH: u32 = 32;

/// By how much more of the recorded stream may have been there before.
const SEEN_BEFORE: f64 = 0.10;

/// The error of a claim that two streams are close.
const ALPHA: f64 = 0.05;

/// What a comparison of two figures says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Says {
    /// They agree within what is allowed.
    Close,
    /// They do not.
    Apart,
    /// It cannot be told.
    Unsure,
}

/// One figure of both streams.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Figure {
    /// Its name: a predictor, or `branches`.
    pub name: String,
    /// Per unit of the recorded stream.
    pub real: f64,
    /// Per unit of the fitted one.
    pub fitted: f64,
    /// Lower end of the difference, fitted minus recorded, at 95 %.
    pub lower: f64,
    /// Upper end.
    pub upper: f64,
    /// The least and the most in any part of the recorded stream.
    pub real_parts: (f64, f64),
    /// The same of the fitted ones.
    pub fitted_parts: (f64, f64),
    /// The most by which they may differ.
    pub allowed: f64,
    /// What that says.
    pub says: Says,
}

/// What memory of some units leaves open, in both streams.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Entropy {
    /// Units remembered.
    pub order: u32,
    /// Bits per unit of the recorded stream; `None` with too few units.
    pub real_bits: Option<f64>,
    /// Of the fitted one.
    pub fitted_bits: Option<f64>,
    /// Fewest mispredictions per unit of the recorded stream.
    pub real_misses: Option<f64>,
    /// Of the fitted one.
    pub fitted_misses: Option<f64>,
}

/// A recorded and a fitted stream side by side.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Closeness {
    /// Branches of the loop per unit.
    pub branches: Figure,
    /// Mispredictions per unit, by predictor.
    pub misses: Vec<Figure>,
    /// What is left open by memory.
    pub entropies: Vec<Entropy>,
    /// Runs of equal lengths, recorded.
    pub real_runs: Runs,
    /// Runs, fitted.
    pub fitted_runs: Runs,
    /// Share of stretches of 32 lengths that were there before, recorded.
    pub real_seen_before: f64,
    /// The same, fitted.
    pub fitted_seen_before: f64,
}

/// Compares a recorded stream with streams of the same length that a fit makes from different seeds.
///
/// Input: lengths of 1 to 10, at least [`BLOCKS`] of each stream and at least one fitted stream; the share of a recorded
/// figure by which the fitted one may differ.
/// Cost: what the predictors take, for each stream.
///
/// # Errors
/// A name that no predictor has.
pub fn compare<S: AsRef<str>>(
    real: &[u8],
    fitted: &[Vec<u8>],
    predictors: &[S],
    margin: f64,
) -> Result<Closeness, UnknownPredictor> {
    let of_real = misses(real, predictors, BLOCKS)?;
    let mut of_fitted = vec![Vec::new(); predictors.len()];
    for stream in fitted {
        for (all, blocks) in of_fitted.iter_mut().zip(misses(stream, predictors, BLOCKS)?) {
            all.extend(blocks);
        }
    }
    let named = predictors.iter().zip(of_real.iter().zip(&of_fitted));
    let branches = |lengths: &[u8]| -> Vec<f64> {
        lengths.chunks_exact(lengths.len() / BLOCKS).take(BLOCKS).map(branches_per_unit).collect()
    };
    let fitted_branches: Vec<f64> = fitted.iter().flat_map(|stream| branches(stream)).collect();
    Ok(Closeness {
        branches: figure("branches", &branches(real), &fitted_branches, margin),
        misses: named.map(|(name, (real, fitted))| figure(name.as_ref(), real, fitted, margin)).collect(),
        entropies: entropies(real, &fitted[0]),
        real_runs: Runs::of(real),
        fitted_runs: Runs::of(&fitted[0]),
        real_seen_before: seen_before(real),
        fitted_seen_before: seen_before(&fitted[0]),
    })
}

impl Closeness {
    /// The reasons not to use the fit; none if the streams are close.
    pub fn refusals(&self) -> Vec<Refusal> {
        let apart = |what: String, figure: &Figure| {
            (figure.says != Says::Close).then_some(Refusal::Figure {
                what,
                real: figure.real,
                fitted: figure.fitted,
                allowed: figure.allowed,
                says: figure.says,
            })
        };
        let misses = self
            .misses
            .iter()
            .filter_map(|figure| apart(format!("mispredictions by {}", figure.name), figure));
        let seen = (self.real_seen_before > self.fitted_seen_before + SEEN_BEFORE)
            .then_some(Refusal::SeenBefore { real: self.real_seen_before, fitted: self.fitted_seen_before });
        apart("branches".into(), &self.branches).into_iter().chain(misses).chain(seen).collect()
    }
}

/// Compares a figure by its values in blocks of both streams.
fn figure(name: &str, real: &[f64], fitted: &[f64], margin: f64) -> Figure {
    let of = |blocks: &[f64]| mean_and_variance(blocks).expect("there are several blocks");
    let ((real_mean, _), (fitted_mean, variance)) = (of(real), of(fitted));
    let streams: Vec<f64> = fitted.chunks_exact(BLOCKS).map(|blocks| of(blocks).0).collect();
    let between = mean_and_variance(&streams).map_or(0.0, |(_, variance)| variance);
    let within = variance / BLOCKS as f64;
    // The difference of one more stream of the same source from the mean of those that were made.
    let degrees = (fitted.len() - 1) as f64;
    let quantile = two_sided_quantile(ALPHA, degrees).expect("a probability and degrees above 0");
    let half = |variance: f64| quantile * (variance * (1.0 + 1.0 / streams.len() as f64)).sqrt();
    let difference = fitted_mean - real_mean;
    let by_chance = half(between.max(within));
    let allowed = (margin * real_mean).max(FLOOR);
    let says = if difference.abs() > allowed + by_chance {
        Says::Apart
    } else if half(within) > allowed {
        Says::Unsure
    } else {
        Says::Close
    };
    let (lower, upper) = (difference - by_chance, difference + by_chance);
    let ends = |blocks: &[f64]| {
        blocks.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &x| (low.min(x), high.max(x)))
    };
    Figure {
        name: name.to_owned(),
        real: real_mean,
        fitted: fitted_mean,
        lower,
        upper,
        real_parts: ends(real),
        fitted_parts: ends(fitted),
        allowed,
        says,
    }
}

fn entropies(real: &[u8], fitted: &[u8]) -> Vec<Entropy> {
    let of = |lengths: &[u8], order| {
        let symbols: Vec<u32> = lengths.iter().map(|&length| u32::from(length) - 1).collect();
        history(&symbols, 10, order, true)
    };
    let row = |order| {
        let (real, fitted) = (of(real, order), of(fitted, order));
        Entropy {
            order,
            real_bits: real.entropy_bits_per_unit,
            fitted_bits: fitted.entropy_bits_per_unit,
            real_misses: real.floor_misses_per_unit,
            fitted_misses: fitted.floor_misses_per_unit,
        }
    };
    ORDERS.map(row).collect()
}

/// Share of all stretches of 32 lengths that are there at an earlier place too, disregarding stretches of one length,
/// which any stream with long runs has.
fn seen_before(lengths: &[u8]) -> f64 {
    let mut known = HashSet::with_capacity(lengths.len());
    let (mut stretch, mut run, mut last) = (0u128, 0u32, 0u8);
    let (mut seen, mut all) = (0u64, 0u64);
    for (&length, at) in lengths.iter().zip(1u32..) {
        // Four bits each: 32 of them are the whole word.
        stretch = stretch << 4 | u128::from(length);
        run = if length == last { run + 1 } else { 1 };
        last = length;
        if at >= STRETCH && run < STRETCH {
            all += 1;
            seen += u64::from(!known.insert(stretch));
        }
    }
    seen as f64 / all.max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_is_close_apart_or_unsure_by_margin_and_chance() {
        let spread = |mean: f64, by: f64| -> Vec<f64> {
            (0..BLOCKS).map(|at| if at % 2 == 0 { mean - by } else { mean + by }).collect()
        };
        let twice =
            |mean: f64, by: f64, apart: f64| [spread(mean - apart, by), spread(mean + apart, by)].concat();
        // 5 % of 1 is allowed. 64 blocks at ±by have the variance by² × 64/63, so a stream of 32 has the error by × sqrt(2/63),
        // and its difference from the mean of two sqrt(3/2) times as much; t at 63 degrees is 1.9983.
        let of = |fitted: f64, by: f64, apart: f64| {
            figure("x", &spread(1.0, 0.3), &twice(fitted, by, apart), 0.05)
        };
        let half = 1.9983 * 0.01 * (2.0f64 / 63.0 * 1.5).sqrt();
        let found = of(1.02, 0.01, 0.0);
        assert!(
            (found.upper - 0.02 - half).abs() < 1e-6 && (found.lower - 0.02 + half).abs() < 1e-6,
            "{found:?}"
        );
        let says = |fitted: f64, by: f64| of(fitted, by, 0.0).says;
        assert_eq!(
            (says(1.0499, 0.0), says(1.0501, 0.0), says(0.9499, 0.0)),
            (Says::Close, Says::Apart, Says::Apart)
        );
        // What a seed does besides is not held against it: half is 0.0044 here.
        assert_eq!((says(1.054, 0.01), says(1.055, 0.01)), (Says::Close, Says::Apart));
        // Half is 0.05 at by = 0.115: then there are too few units.
        assert_eq!(
            (says(1.0, 0.112), says(1.0, 0.118), says(1.2, 0.118)),
            (Says::Close, Says::Unsure, Says::Apart)
        );
        // Streams that lie apart, however steady each is, have the variance 2 × apart² between them.
        let found = of(1.0, 0.0, 0.02);
        let half = 1.9983 * 0.02 * (2.0f64 * 1.5).sqrt();
        assert!((found.upper - half).abs() < 1e-4, "{found:?} {half}");
        assert_eq!((found.says, of(1.1, 0.0, 0.02).says), (Says::Close, Says::Close));
    }

    #[test]
    fn differences_that_cost_nothing_are_allowed() {
        let none = vec![0.0; BLOCKS];
        let few = vec![0.9 * FLOOR; BLOCKS];
        assert_eq!(figure("x", &none, &few, 0.05).says, Says::Close);
        assert_eq!(figure("x", &none, &[1.1 * FLOOR; 2 * BLOCKS], 0.05).says, Says::Apart);
        assert_eq!(figure("x", &few, &none, 0.05).allowed, FLOOR);
    }

    #[test]
    fn what_was_there_before_is_counted_and_runs_are_not() {
        let mut state = 1u32;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            1 + (state >> 29) as u8
        };
        let random: Vec<u8> = (0..5000).map(|_| next()).collect();
        assert_eq!(seen_before(&random), 0.0);
        // Twice: all of the second but what reaches over the seam, 5000 of 9969 - 31.
        let twice = seen_before(&random.repeat(2));
        assert!((twice - 4969.0 / 9969.0).abs() < 1e-9, "{twice}");
        assert_eq!(seen_before(&[1; 1000]), 0.0);
        assert_eq!(seen_before(&[1; 3]), 0.0);
    }
}
