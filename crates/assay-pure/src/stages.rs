//! An optimisation diary: what did each stage of somebody's work bring, and how far is the reference?
//!
//! [`file`] is what STAGES.toml says, read by [`Diary::from_toml`]; [`step`] says what a stage brought against the one
//! before and which steps brought most; [`traps`] are the ways in which such a table misleads; [`claims`] holds what
//! somebody says of a step against what was found. Times come as verdicts of `crate::verdict`; counts are exact numbers.

pub mod claims;
pub mod file;
pub mod quantity;
mod read;
pub mod step;
pub mod traps;

pub use file::{Diary, Entrant, EntrantKind, Task};
pub use quantity::{CommandFigures, Quantity};
pub use read::ParsedDiary;
