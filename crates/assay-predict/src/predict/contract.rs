//! What every predictor does: `predict`, then `train` with what happened, then `track` what every branch did.
//!
//! The order for one branch of a stream: for those it judges (conditional ones, or indirect jumps and calls) `predict`
//! and `train`; then `track`, for each branch of any class. History is moved in `track` alone, tables in `train`;
//! between `predict` and `train` of a branch nothing else is called, so a predictor may keep the indices it computed.

use crate::trace::Branch;

/// Predicts which way conditional branches go.
pub trait DirectionPredictor {
    /// Whether the conditional branch at `pc` with the static target `target` will be taken.
    fn predict(&mut self, pc: u64, target: u64) -> bool;

    /// Learns what the conditional branch did that was just predicted as `predicted`.
    fn train(&mut self, branch: &Branch, predicted: bool);

    /// Takes a branch of any class into the history.
    fn track(&mut self, branch: &Branch);

    /// What the tables and registers would take in hardware, bits; 0 for a static rule.
    fn storage_bits(&self) -> u64;
}

/// Predicts where indirect jumps and calls go.
pub trait TargetPredictor {
    /// The target of the indirect jump or call at `pc`; 0 where it has no idea.
    fn predict(&mut self, pc: u64) -> u64;

    /// Learns where the branch went that was just predicted to go to `predicted`.
    fn train(&mut self, branch: &Branch, predicted: u64);

    /// Takes a branch of any class into the history.
    fn track(&mut self, branch: &Branch);

    /// What the tables and registers would take in hardware, bits.
    fn storage_bits(&self) -> u64;
}
