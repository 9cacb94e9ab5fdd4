//! A sample as a round took it.

use super::flag::RawSample;

/// One sample and where it belongs.
#[derive(Clone, Debug, PartialEq)]
pub struct TakenSample {
    /// The program.
    pub subject: usize,
    /// The input.
    pub input: usize,
    /// The visit's first window.
    pub start_window: u64,
    /// Number within the round's visits to this cell, warm-up ones included.
    pub position: u32,
    /// As reported.
    pub raw: RawSample,
    /// Why it is left out.
    pub flagged: Option<assay_pure::ledger::Flag>,
    /// Unix seconds.
    pub at: f64,
}
