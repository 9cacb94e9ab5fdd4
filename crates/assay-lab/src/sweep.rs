//! `assay sweep`: one key of an input over a range, each step a campaign of its own.
//!
//! `lead` takes a sweep through its steps; `readings` turns the ledger's samples into what assay-pure's `sweep` decides on;
//! `compose` makes a page of it from the ledger alone, `behind` names its steps.

pub mod asked;
mod behind;
pub mod compose;
pub mod lead;
pub mod preview;
mod readings;

pub use asked::{AdHoc, SweepRequest};
pub use lead::{EndedSweep, run};
