//! How often a predictor was wrong, as plain data.

use serde::{Deserialize, Serialize};

/// A predictor's mispredictions of something.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SiteMisses {
    /// The predictor's name.
    pub predictor: String,
    /// How many.
    pub count: u64,
}
