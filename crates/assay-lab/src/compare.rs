//! Is this regression mine? Two builds of any project, compared by its own benchmarks.
//!
//! Phases ([`run`]): check out and build both sides with their links captured, find which links the benchmark uses, look at
//! the machine code that each benchmark executes, run the benchmark command over all placements in turns, look at the
//! verdicts between rounds. Everything measured goes to the ledger at once; the page is made from the ledger alone.

pub mod bench;
mod checkout;
pub mod code;
pub mod compose;
pub mod examine;
pub mod executed;
pub mod factors;
pub mod judge;
mod lead;
pub mod left_behind;
pub mod measure;
pub mod places;
pub mod revisions;
pub mod sides;
pub mod spec;

pub(crate) use lead::planned;
pub use lead::{CompareRequest, EndedComparison, run};
