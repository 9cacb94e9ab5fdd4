//! Is this regression mine? Two builds of any project, compared by its own benchmarks.
//!
//! Phases ([`run`]): check out and build both sides with their links captured, find which links the benchmark uses, find which
//! benchmarks execute nothing that differs, look at the code that the others execute, run the benchmark command over all
//! placements in turns, look at the verdicts between rounds. Everything measured goes to the ledger at once; the page is made
//! from the ledger alone.

mod alike;
pub mod bench;
mod checkout;
pub mod clean;
pub mod code;
pub mod compose;
pub mod discover;
pub mod examine;
pub mod executed;
pub mod factors;
pub mod held;
mod identify;
pub mod judge;
mod lead;
pub mod left_behind;
pub mod measure;
pub mod places;
pub mod preview;
pub mod revisions;
mod select;
pub mod sides;
mod sources;
pub mod spec;
mod tree;
mod unchanged;

pub(crate) use lead::planned;
pub use lead::{CompareRequest, EndedComparison, run};

#[cfg(test)]
mod wording_tests;
