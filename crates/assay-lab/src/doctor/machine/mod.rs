//! What can this machine tell apart, and what spoils it?
//!
//! [`facts`] is what the kernel's files say and what was measured, plain data; [`measure`] measures, each file of [`checks`]
//! looks for one thing, [`compose`] makes the page. [`pulses`] and [`pair`] measure what takes more than a clock.
//!
//! The rules and their limits: docs/methodology/doctor.md. Checked by folders of such files
//! (`fixtures/doctor/machines`) and by made-up measurements.

pub mod checks;
pub mod compose;
pub mod facts;
pub mod measure;
pub mod pair;
mod pulses;

pub use compose::compose;
