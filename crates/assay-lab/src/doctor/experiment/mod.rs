//! Does an experiment measure what it asks? Its program built as `assay run` builds it, asked by itself and under the
//! emulator, and its inputs looked at; held against the mistakes that microbenchmarks are known for.
//!
//! [`facts`] is what is known, plain data; [`specimen`] cuts the inputs into pieces, [`ask`] and [`walk`] try the variants on
//! them, [`gather`] leads that, each file of [`checks`] looks for one thing, [`compose`] makes the page.
//!
//! The rules and their limits: docs/methodology/doctor.md. Checked by experiments with planted
//! faults and their passing twins (`fixtures/doctor/experiments`), and by the casebook's.

pub mod ask;
pub mod checks;
pub mod compose;
pub mod facts;
pub mod gather;
mod pages;
mod simulated;
pub mod specimen;
pub mod walk;

pub use compose::{compose, in_short};
pub use gather::{Gathered, Request, gather, outlined};
