//! What is known of the machine code of a contrast's sides.

use crate::placement::same_loops::SharedLoop;

/// What comparing the machine code of both sides found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CodeIdentity {
    /// Other instructions, or other data.
    Different,
    /// Other instructions, but all loops are the same.
    SameLoops(Vec<SharedLoop>),
    /// The same instructions; the data that they work on may differ.
    SameCode,
    /// The same instructions on the same data, with all that they can reach.
    Proven,
}

impl CodeIdentity {
    /// Whether the instructions are the same.
    pub fn is_same_code(&self) -> bool {
        matches!(self, CodeIdentity::SameCode | CodeIdentity::Proven)
    }
}
