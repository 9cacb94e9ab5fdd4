//! What is in the way of a program's speed: the page of `assay doctor` as plain data, on a terminal and as JSON.
//!
//! The JSON is an interface (schema "assay.doctor/1", `schema/doctor-1.schema.json`, held against this file by a test).

pub mod examination;
pub mod page;
#[cfg(test)]
pub(crate) mod sample;
mod terminal;
#[cfg(test)]
mod tests;

pub use page::DoctorPage;
pub use terminal::{place, render_doctor};
