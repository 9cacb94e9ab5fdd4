//! The lab tried on pairs whose truth is known: what each pair is, what was said of it, and how often that was
//! right.

mod kernels;
pub mod peers;
pub mod tally;
pub mod truth;

pub use tally::{OutcomeTally, Said, Trial, TruthOutcome, outcome};
pub use truth::{KnownPair, PairKind, PairSource, Truth, read_pairs};
