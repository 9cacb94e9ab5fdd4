//! The speed of light of a machine on a terminal. Its JSON is [`assay_pure::limits::Limits`] as it is kept (schema
//! "assay.limits/1", `schema/limits-1.schema.json`, generated from the types).

#[cfg(any(test, feature = "samples"))]
pub mod sample;
pub(crate) mod terminal;
#[cfg(test)]
mod tests;

pub use terminal::{Told, render_limits};
