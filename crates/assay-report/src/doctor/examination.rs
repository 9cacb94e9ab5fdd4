//! What the doctor says of a machine or of an experiment: the page as plain data, on a terminal and as JSON.
//!
//! The JSON is an interface (schema "assay.doctor/2", `schema/doctor-2.schema.json`, held against this file by a test).

pub mod page;
#[cfg(test)]
pub(crate) mod sample;
mod terminal;
#[cfg(test)]
mod tests;

pub use page::{Examination, Examined, Figure, State, Symptom};
pub use terminal::render_examination;
