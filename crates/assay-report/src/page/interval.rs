//! A time with its interval, as a page shows it.

use serde::{Deserialize, Serialize};

/// A median with its interval, nanoseconds per unit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct MedianInterval {
    /// Median.
    pub median: f64,
    /// Lower end.
    pub lower: f64,
    /// Upper end.
    pub upper: f64,
}
