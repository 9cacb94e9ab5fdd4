//! What the doctor says of a machine, an experiment or a program: the page as plain data, on a terminal and as JSON.
//!
//! The JSON is an interface (schema "assay.doctor/3", `schema/doctor-3.schema.json`, compared with this file by a test).

pub mod page;
#[cfg(test)]
mod sample;
mod terminal;
#[cfg(test)]
mod tests;

pub use page::{CheckResult, CheckState, CodePlace, Examination, Figure, Finding, Subject, Traced};
pub use terminal::render_examination;
