//! How much of the variance of a benchmark comes from which source: the compiler, where the code lies, the process, the round?
//!
//! Method: y = mean + side + placement (within its side) + round + process + rest, all but the mean random. Sums of squares are
//! taken one source after the other in this order, each beyond those before (Henderson's third method, for any numbers of
//! visits), and set equal to what they are expected to be, which gives the variances one after the other from the rest up.
//! A variance below 0, which means that a source shows no more spread than those below it bring with them, counts as 0 and
//! is noted. A share is a source's variance over the sum of all: of the variance of one repetition of one process.
//! Intervals: the jackknife over placements, of arcsin of the root of the share, where shares near 0 and 1 spread alike;
//! near 0, where the truncated estimate stands still, that of the share itself counts too; and for two sides the range of
//! their difference by Student's t.
//! Limits: the share of two sides rests on one degree of freedom: it tells how far these two lie apart beside the rest of the
//! spread. Rounds are few: their share is of the rounds that were. Sources that the visits cannot tell apart are reported
//! as one, with a note.
//! Source: Searle, Casella, McCulloch 1992, chapters 4 and 5; Henderson 1953; Arvesen 1969 for the jackknife.
//! Checked: statsmodels' REML on balanced data, to which the method is equal; dense matrices on unbalanced data;
//! simulation with known components, here and in the slow lane.

mod fit;
mod source;
#[cfg(test)]
mod tests;
mod wording;

use super::StatsError;
use super::student::two_sided_quantile;
use crate::words::plural;
use fit::{ProcessSums, VarianceFit};
pub use source::VarianceSource;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// One repetition of a benchmark in one process.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Repetition {
    /// The logarithm of its time.
    pub value: f64,
    /// Number of the compiler, revision or what else is compared.
    pub side: u32,
    /// Number of the placement; equal numbers on two sides are left out together by the jackknife.
    pub placement: u32,
    /// Number of the round.
    pub round: u32,
    /// Number of the process within its side, placement and round.
    pub process: u32,
}

/// A source's part.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SourceShare {
    /// Which source.
    pub source: VarianceSource,
    /// Its estimated variance, of logarithms; below 0 where it shows less spread than those below it bring with them.
    pub variance: f64,
    /// Its part of the sum of all variances that are above 0, between 0 and 1.
    pub share: f64,
    /// Interval of the share; None: leaving out one placement leaves too little to tell the sources apart.
    pub interval: Option<(f64, f64)>,
}

/// What the reader must know.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Note {
    /// The estimate was below 0 and counts as 0.
    Truncated {
        /// Of which source.
        source: VarianceSource,
        /// The estimate.
        variance: f64,
    },
    /// The visits cannot tell a source from another, so its variance is in that one's.
    Within {
        /// The source that is not told.
        source: VarianceSource,
        /// The one it is in.
        other: VarianceSource,
    },
}

/// The variance of a benchmark, split.
#[derive(Clone, Debug, PartialEq)]
pub struct VarianceComponents {
    /// One per source that can be told, in the order of [`VarianceSource`].
    pub shares: Vec<SourceShare>,
    /// The sum of the variances above 0: variance of one repetition's logarithm.
    pub total: f64,
    /// Truncated and inseparable sources.
    pub notes: Vec<Note>,
}

/// Why the variance cannot be split.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ComponentsError {
    /// Placements are what it is all about.
    TooFewPlacements {
        /// How many there are.
        have: usize,
        /// How many it takes.
        need: usize,
    },
    /// Each placement has one value, so nothing tells placement from the rest.
    NothingRepeated {
        /// Values there are.
        values: usize,
    },
    /// All values are equal.
    NoVariance,
    /// A value is not finite.
    NotFinite {
        /// Its number.
        at: usize,
    },
    /// The confidence is no probability.
    Confidence(StatsError),
}

/// Placements it takes: with two, leaving out one leaves no spread.
pub const LEAST_PLACEMENTS: usize = 4;

impl fmt::Display for ComponentsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ComponentsError::TooFewPlacements { have, need } => {
                let have = plural(*have as u64, "placement");
                write!(f, "only {have}; splitting the variance takes at least {need}")
            }
            ComponentsError::NothingRepeated { values } => {
                write!(
                    f,
                    "{values} values, one per placement: placement cannot be separated from the rest (more rounds would do it)"
                )
            }
            ComponentsError::NoVariance => {
                write!(f, "all values are equal, so there is no variance to split")
            }
            ComponentsError::NotFinite { at } => write!(f, "value {at} is not finite"),
            ComponentsError::Confidence(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ComponentsError {}

/// Splits the variance of a benchmark.
///
/// Input: logarithms of times with their levels, in any order; `confidence` of the intervals in (0, 1). Returns: variances of
/// logarithms, shares between 0 and 1. Errors: see [`ComponentsError`]. Cost: placements × (processes + placements × rounds²).
/// Source and checks: see the module.
pub fn components(
    observations: &[Repetition],
    confidence: f64,
) -> Result<VarianceComponents, ComponentsError> {
    if let Some(at) = observations.iter().position(|one| !one.value.is_finite()) {
        return Err(ComponentsError::NotFinite { at });
    }
    let processes = processes_of(observations);
    let placements: BTreeSet<u32> = processes.iter().map(|process| process.placement).collect();
    if placements.len() < LEAST_PLACEMENTS {
        return Err(ComponentsError::TooFewPlacements { have: placements.len(), need: LEAST_PLACEMENTS });
    }
    let fit = VarianceFit::new(&processes)
        .ok_or(ComponentsError::NothingRepeated { values: observations.len() })?;
    let total: f64 = fit.variances.iter().map(|(_, variance)| variance.max(0.0)).sum();
    if total.is_nan() || total <= 0.0 {
        return Err(ComponentsError::NoVariance);
    }
    let degrees = (placements.len() - 1) as f64;
    let t = two_sided_quantile(1.0 - confidence, degrees).map_err(ComponentsError::Confidence)?;
    let left_out: Option<Vec<VarianceFit>> =
        placements.iter().map(|&placement| without(&processes, placement, &fit)).collect();
    let shares = (0..fit.variances.len())
        .map(|at| {
            let (source, variance) = fit.variances[at];
            let interval = left_out.as_ref().map(|fits| interval(&fit, fits, at, t));
            SourceShare { source, variance, share: fit.share(at).max(0.0), interval }
        })
        .collect();
    Ok(VarianceComponents { shares, total, notes: notes(&fit) })
}

/// Repetitions of a process, summed up.
fn processes_of(observations: &[Repetition]) -> Vec<ProcessSums> {
    let mut values: BTreeMap<(u32, u32, u32, u32), Vec<f64>> = BTreeMap::new();
    for one in observations {
        values.entry((one.side, one.placement, one.round, one.process)).or_default().push(one.value);
    }
    let summed = values.into_iter().map(|((side, placement, round, _), values)| {
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let within = values.iter().map(|value| (value - mean).powi(2)).sum();
        ProcessSums { side, placement, round, count, mean, within }
    });
    summed.collect()
}

/// The fit without one placement, if it tells the same sources apart.
fn without(processes: &[ProcessSums], placement: u32, whole: &VarianceFit) -> Option<VarianceFit> {
    let kept: Vec<ProcessSums> = processes.iter().filter(|one| one.placement != placement).copied().collect();
    let fit = VarianceFit::new(&kept)?;
    let same =
        fit.variances.iter().map(|(source, _)| source).eq(whole.variances.iter().map(|(source, _)| source));
    same.then_some(fit)
}

fn interval(whole: &VarianceFit, left_out: &[VarianceFit], at: usize, t: f64) -> (f64, f64) {
    let angle = |share: f64| share.clamp(0.0, 1.0).sqrt().asin();
    let share = |angle: f64| angle.clamp(0.0, std::f64::consts::FRAC_PI_2).sin().powi(2);
    let angles: Vec<f64> = left_out.iter().map(|fit| angle(fit.share(at))).collect();
    let (middle, half) = (angle(whole.share(at)), t * jackknife_error(&angles));
    let (mut lower, mut upper) = (share(middle - half), share(middle + half));
    let raw: Vec<f64> = left_out.iter().map(|fit| fit.share(at)).collect();
    let half = t * jackknife_error(&raw);
    if whole.share(at) - half <= 0.0 {
        lower = 0.0;
        upper = upper.max((whole.share(at) + half).clamp(0.0, 1.0));
    }
    if let Some((least, most)) =
        whole.range_of_two_sides(t).filter(|_| whole.variances[at].0 == VarianceSource::Side)
    {
        (lower, upper) = (lower.min(least), upper.max(most));
    }
    (lower, upper)
}

/// The standard error of an estimate by what it is when one block is left out.
///
/// Input: one value per block left out. Source: Efron and Stein 1981.
fn jackknife_error(values: &[f64]) -> f64 {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    ((count - 1.0) / count * values.iter().map(|value| (value - mean).powi(2)).sum::<f64>()).sqrt()
}

fn notes(fit: &VarianceFit) -> Vec<Note> {
    let truncated = fit.variances.iter().filter(|(_, variance)| *variance < 0.0);
    let truncated = truncated.map(|&(source, variance)| Note::Truncated { source, variance });
    let within = fit.within.iter().map(|&(source, other)| Note::Within { source, other });
    within.chain(truncated).collect()
}
