//! What is in the way of speed that nobody meant to be there? A program looked at and traced, and held against a list of checks.
//!
//! [`subject`] is what is known of the program: its files, what a trace saw of each site, instruction and call. [`heat`] says
//! what counts as executed often. Each file of [`checks`] looks for one thing. [`listing`], [`origin`] and [`stores`] read
//! machine code: where the operands of a condition come from, and whether that is ever written. [`compose`] makes the page.
//!
//! The rules and their limits: docs/methodology/doctor.md. Checked by planted faults and their passing twins
//! (`fixtures/doctor`).

pub mod calls;
pub mod checks;
pub mod compose;
pub mod experiment;
pub mod heat;
pub mod listing;
pub mod machine;
pub mod names;
pub mod origin;
mod scratch;
pub mod stores;
pub mod subject;

pub use compose::{Asked, compose};
pub use subject::Subject;
