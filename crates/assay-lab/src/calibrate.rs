//! The lab tried on pairs whose truth is known: what each pair is, what was said of it, and how often that was
//! right.

mod kernels;
mod pair;
pub mod peers;
pub mod tally;
pub mod truth;

pub use pair::{KnownPair, PairKind, PairSource, Truth};
pub use tally::{OutcomeTally, Trial, TruthOutcome, outcome};
pub use truth::read_pairs;
