//! Is this regression mine? Two builds of somebody else's project, held against each other by its own benchmarks.
//!
//! Phases: check out and build both sides with their links captured, find which links the benchmark uses, relink them
//! per placement, run the benchmark command over all placements in turns, look at the verdicts between rounds, and look
//! at the machine code that each benchmark executes. Everything measured goes to the ledger at once.

pub mod code;
pub mod compose;
pub mod judge;
pub mod measure;
pub mod revisions;
pub mod spec;
