//! From samples to verdicts with causes.
//!
//! Question: is the candidate's code faster than the baseline's, by how much, and what would have been reported
//! without moving it about? Method, its reasons and its calibration: METHODOLOGY.md.
//!
//! The order of thought, a file each: `effect` (samples to one ratio per rotation), `as_built` (what anybody else
//! would have reported), `decide` (interval to word), `twin` (names swapped in half of the rotations), `input_dependence`,
//! `cause` (evidence), `judge` (all of it, with the confidence shared out), `placement_table` (per variant),
//! `offset_share` and `companion` (what the rest goes with), `counts`, `learned` and `explained` (what instructions and mispredictions say of it), `claims` (what somebody says,
//! compared with all this).

pub mod allocations;
pub mod as_built;
pub mod attribution;
pub mod build;
pub mod cause;
pub mod claims;
pub mod companion;
pub mod contrast;
pub mod counts;
pub mod decide;
mod draft;
pub mod effect;
pub mod explained;
pub mod identity;
pub mod input_dependence;
pub mod judge;
pub mod learned;
mod modes;
pub mod observed;
pub mod offset_share;
pub mod options;
pub mod placement_table;
pub mod profile;
mod reasons;
pub mod same_code;
pub mod twin;
pub mod undisturbed;
mod wording;

#[cfg(test)]
mod build_tests;
#[cfg(test)]
mod tests;

pub use build::{Between, Build};
pub use cause::{Cause, CauseEvidence};
pub use claims::ClaimStatus;
pub use companion::{Companion, PlacedTime, companion};
pub use contrast::{AsBuiltSays, ContrastVerdict, RatioInterval, Verdict};
pub use counts::CountSource;
pub use identity::{CodeIdentity, SameExecution};
pub use input_dependence::{Dependence, InputDependence};
pub use judge::{Judgement, judge};
pub use modes::{ContrastModes, ShareDifference, SideModes};
pub use observed::{Observation, ObservedContrast, PairAt, Rotation, Visits};
pub use offset_share::{OffsetShare, offset_share};
pub use options::VerdictOptions;
pub use placement_table::{VariantPlacement, placement_table};
pub use twin::{TwinControl, TwinVerdict};
