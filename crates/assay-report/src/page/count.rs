//! What was counted per unit, as a page shows it, and what it explains of the times.

use super::MedianInterval;
use assay_pure::verdict::CountSource;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One count per unit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Count {
    /// Events per unit.
    pub value: f64,
    /// Where it comes from.
    pub source: CountSource,
    /// Of mispredictions that are simulated: the fewest over all predictors.
    #[serde(default)]
    pub lower: Option<f64>,
    /// The most.
    #[serde(default)]
    pub upper: Option<f64>,
    /// The predictor whose mispredictions `value` counts.
    #[serde(default)]
    pub predictor: Option<String>,
    /// Of mispredictions that are simulated: per unit by each predictor.
    #[serde(default)]
    pub by_predictor: BTreeMap<String, f64>,
}

impl Count {
    /// One figure that no predictor stands behind.
    pub fn exact(value: f64, source: CountSource) -> Count {
        Count { value, source, lower: None, upper: None, predictor: None, by_predictor: BTreeMap::new() }
    }
}

/// An input that the predictor memorises while it is measured, so that it measures the predictor's memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LearnedInput {
    /// Input name.
    pub input: String,
    /// Units in it.
    pub units: u64,
    /// What a predictor has to memorise, as a number of random outcomes.
    pub tosses: u64,
    /// What this CPU remembers, in coin tosses, where it was measured.
    pub remembered_tosses: Option<u64>,
    /// Only a part of it is memorised.
    pub in_part: bool,
    /// Mispredictions per unit of a first walk, simulated.
    pub fresh_misses_per_unit: f64,
    /// Of a walk through what is known.
    pub repeated_misses_per_unit: f64,
    /// The predictor.
    pub predictor: String,
    /// As many units would be enough not to be learned.
    pub enough_units: u64,
    /// All of it in a sentence.
    pub note: String,
}

/// What a misprediction costs on the machine, from timing alone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct BranchCost {
    /// Nanoseconds of one misprediction.
    pub penalty_ns: f64,
    /// Lower end of its interval.
    pub lower: f64,
    /// Upper end.
    pub upper: f64,
    /// The length of a repeated random sequence that the CPU memorises, outcomes; null: none.
    pub learned_outcomes: Option<u64>,
    /// The least and the most of it in repeated measurements, where these do not agree within 20 %; null: they do.
    #[serde(default)]
    pub learned_range: Option<[u64; 2]>,
    /// The shortest of which it knows nothing; null: the longest tried is known in part.
    pub unlearned_outcomes: Option<u64>,
}

/// Times regressed on instructions and mispredictions, over all cells.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ExplainedTimes {
    /// Cells with both times and counts.
    pub cells: u64,
    /// Whose mispredictions; null where they were counted.
    pub predictor: Option<String>,
    /// Share of the variance explained; null where no fit was possible.
    pub r_squared: Option<f64>,
    /// Whether that is enough to say that they explain the times.
    pub holds: bool,
    /// The same share with one constant for all variants; null where that fit was not possible.
    pub r_squared_one_constant: Option<f64>,
    /// Nanoseconds per unit whatever the counts, by variant; under an empty name where all share it.
    pub constants_ns: BTreeMap<String, f64>,
    /// Nanoseconds per instruction, with its interval at 95 %.
    pub ns_per_instruction: Option<MedianInterval>,
    /// Nanoseconds per misprediction, with its interval at 95 %.
    pub ns_per_misprediction: Option<MedianInterval>,
    /// Median absolute residual.
    pub typical_residual_ns: Option<f64>,
    /// The cells furthest from the fit, the furthest first.
    pub worst: Vec<CellResidual>,
    /// Why there is no fit.
    pub note: Option<String>,
}

/// A cell against the fit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CellResidual {
    /// Variant name.
    pub variant: String,
    /// Input name.
    pub input: String,
    /// Compiler name.
    pub compiler: String,
    /// Flag set name.
    pub flags: String,
    /// Measured, nanoseconds per unit.
    pub ns: f64,
    /// By the fit.
    pub fitted_ns: f64,
}
