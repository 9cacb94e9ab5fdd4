//! The lab held against pairs whose truth is known: what each pair is, what was said of it, and how often that was
//! right.

pub mod peers;
pub mod tally;
pub mod truth;

pub use tally::{Outcome, Said, Tally, Trial, outcome};
pub use truth::{Kind, Pair, Truth, read_pairs};
