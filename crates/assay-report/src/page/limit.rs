//! Limits of the machine as a page shows them beside a cell's time.

use serde::{Deserialize, Serialize};

/// The limits of the machine that cells are held against (`assay limits`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LimitsUsed {
    /// When they were measured: RFC 3339, UTC.
    pub measured: String,
    /// Kept with the campaign; else measured later on the same machine.
    pub with_campaign: bool,
}

/// What one limit of the machine says of a cell's time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CellLimit {
    /// Which.
    pub limit: LimitKind,
    /// Where its count comes from.
    pub source: LimitSource,
    /// The least time of a unit, nanoseconds.
    pub ns: f64,
    /// Over the measured time; 1 is all of it.
    pub share: f64,
    /// How it stands to the others.
    pub standing: LimitStanding,
    /// What the least time is made of, in words.
    pub made_of: String,
    /// Why its model can be wrong here; null unless it is exceeded.
    pub exceeded_because: Option<String>,
}

/// Limits by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LimitKind {
    /// Bytes of the input through caches and memory.
    Bytes,
    /// Loads that wait for each other.
    Latency,
    /// Branches that no predictor knows.
    Mispredictions,
    /// Instructions side by side.
    Instructions,
    /// Branches side by side.
    Branches,
}

/// Where the count of a limit comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LimitSource {
    /// The input and the kind of measurement.
    Given,
    /// Hardware counters.
    Counted,
    /// A trace, or a predictor simulated on it.
    Traced,
    /// The entropy of the input's lengths.
    Entropy,
}

/// How a limit stands to a measured time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LimitStanding {
    /// The largest share, and at least a half.
    Binds,
    /// Another is larger, or its share is small.
    Leaves,
    /// It would be so if the code branched on each unit, which is not known.
    Assumed,
    /// Its least time is above the measured one: its model is wrong here.
    Exceeded,
}
