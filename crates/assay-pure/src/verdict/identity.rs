//! What is known of the machine code of a contrast's sides.

use crate::placement::same_loops::SharedLoop;

/// What comparing the machine code of both sides found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CodeIdentity {
    /// Other instructions, or other data.
    Different,
    /// Other instructions, but all loops are the same.
    SameLoops(Vec<SharedLoop>),
    /// The same instructions; the data that they work on may differ, and make a difference.
    SameCode,
    /// The same instructions on the same data, judged by what was measured: a control.
    Copies,
    /// The same instructions on the same data, with all that they can reach.
    Proven,
}

impl CodeIdentity {
    /// Whether a difference can be nothing but placement or noise: instructions and data are the same.
    pub fn excludes_difference(&self) -> bool {
        matches!(self, CodeIdentity::Copies | CodeIdentity::Proven)
    }
}
