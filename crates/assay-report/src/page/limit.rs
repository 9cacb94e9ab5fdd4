//! Limits of the machine as a page shows them beside a cell's time.

use assay_pure::limits::{LimitKind, LimitSource, LimitStanding};
use serde::{Deserialize, Serialize};

/// The limits of the machine that cells are compared with (`assay limits`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LimitsUsed {
    /// When they were measured: RFC 3339, UTC.
    pub measured: String,
    /// Kept with the campaign; else measured later on the same machine.
    pub with_campaign: bool,
}

/// What one limit of the machine says of a cell's time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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
