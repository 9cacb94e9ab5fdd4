//! What a page says of a gate.

use serde::{Deserialize, Serialize};

/// A gate's result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct GateResult {
    /// As the user wrote it: a gate, or the file that has one for each pattern of names.
    pub gate: String,
    /// Whether the build may pass.
    pub passed: bool,
    /// Benchmarks that fail it; with what rose, where that is memory.
    pub failed: Vec<String>,
    /// What may exceed it: benchmarks whose interval reaches so far, and what was not compared or counted.
    #[serde(default)]
    pub undecided: Vec<String>,
    /// Patterns of the file that match no name.
    #[serde(default)]
    pub unmatched: Vec<String>,
}
