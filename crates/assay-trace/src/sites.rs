//! Which branches cost most, and is what the source says of them true?
//!
//! [`gather`] adds up what a trace saw per place in a file, [`image`] says what is there (function, line, code), `audit`
//! compares the hints of the source with what happened, [`components`] sums it by groups of functions, [`compose`] makes the
//! page. Nothing here runs a program.

mod arrivals;
pub mod audit;
mod blocks;
pub mod components;
pub mod compose;
mod debug_file;
pub mod gather;
pub mod image;
mod inclusive;
pub mod instruction;
pub mod names;
mod plt;
mod producers;
pub mod source;
mod symbols;

pub use compose::{BudgetRequest, OtherBudget, SimulatedPredictor, SiteSelection, compose};
pub use gather::{GatheredSites, Watch, gather};
