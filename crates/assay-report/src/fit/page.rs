//! What a fit is worth, as plain data.

use assay_pure::inputs::fit::Closeness;
use assay_pure::inputs::fit::numbers::{BranchCloseness, FitStatistic};
use assay_pure::inputs::fit::refusal::FigureComparison;
use serde::{Deserialize, Serialize};

/// The value of `schema` in every page written by this version.
pub const FIT_SCHEMA: &str = "assay.fit/2";

/// A generator fitted to a recorded input, and how close it comes to it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FitPage {
    /// Name and version of this format.
    pub schema: String,
    /// In plain words.
    pub answer: String,
    /// The recorded file.
    pub file: String,
    /// Its bytes.
    pub bytes: u64,
    /// Its units.
    pub units: u64,
    /// Units examined: the first part of a long file.
    pub looked_at: u64,
    /// The share of a recorded figure by which the fitted one may differ.
    pub margin: f64,
    /// Nothing speaks against using the fit.
    pub close: bool,
    /// Why not to use it; empty where nothing speaks against it.
    pub refusals: Vec<Reason>,
    /// The table that was fitted; none where the data could not be.
    pub model: Option<FittedTable>,
    /// Simulated decoding of both streams; none where nothing was fitted.
    pub closeness: Option<Closeness>,
    /// Of numbers: the generator that comes nearest, and how near; none of varints.
    pub numbers: Option<NumbersPage>,
    /// The variants of an experiment on both inputs; none where no experiment was given.
    pub variants: Option<Variants>,
    /// What the reader must know besides.
    pub notes: Vec<String>,
    /// The input's table for an experiment file; none where it was refused.
    pub table: Option<String>,
    /// The file that the table was written to.
    pub written: Option<String>,
}

/// Why not to use a fit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Reason {
    /// What is so.
    pub what: String,
    /// What to do instead.
    pub remedy: String,
}

/// A fitted table of contexts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FittedTable {
    /// The longest context, units.
    pub order: u64,
    /// Rows of the table.
    pub contexts: u64,
    /// Bits per unit that the lengths take by the table.
    pub bits_per_unit: f64,
    /// By how much the criterion's penalty was raised to keep the table small; 1: not at all.
    pub strictness: f64,
}

/// A generator found for recorded numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct NumbersPage {
    /// The type of the numbers.
    pub format: String,
    /// What it was guessed from; none where the user gave it.
    pub from: Option<String>,
    /// The generator that comes nearest; none where none was looked for, or none makes such numbers.
    pub generator: Option<String>,
    /// Statistics of the recording and of the generator's streams.
    pub statistics: Vec<FitStatistic>,
    /// Branches on both, in simulation; empty where a statistic differs already.
    pub branches: Vec<BranchCloseness>,
}

/// The variants of an experiment on the recorded and on the fitted input.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Variants {
    /// The experiment file.
    pub experiment: String,
    /// The campaign in the ledger.
    pub campaign: i64,
    /// By variant, compiler and flags.
    pub times: Vec<TimeRatio>,
    /// Events per unit, by variant, compiler, flags and event.
    pub counts: Vec<FitCount>,
    /// What could not be measured, and why.
    pub failures: Vec<String>,
}

/// Time on the fitted input over time on the recorded one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TimeRatio {
    /// The variant.
    pub variant: String,
    /// The compiler.
    pub compiler: String,
    /// The flag set.
    pub flags: String,
    /// Time fitted / time recorded; none with too few placements.
    pub ratio: Option<f64>,
    /// Lower end of its interval.
    pub lower: Option<f64>,
    /// Upper end.
    pub upper: Option<f64>,
    /// Placements, in rotations.
    pub rotations: u64,
    /// What that says.
    pub says: FigureComparison,
}

/// Events of a variant per unit on both inputs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FitCount {
    /// The variant.
    pub variant: String,
    /// The compiler.
    pub compiler: String,
    /// The flag set.
    pub flags: String,
    /// `instructions`, `branches`, or the predictor whose mispredictions they are.
    pub what: String,
    /// On the recorded input.
    pub real: f64,
    /// On the fitted one.
    pub fitted: f64,
}

impl FitPage {
    /// As JSON with a newline at its end.
    pub fn to_json(&self) -> String {
        crate::json::written(self)
    }
}
