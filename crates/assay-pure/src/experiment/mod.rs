//! What a user asks: an experiment file, the matrix of cells it spans, and the order in which they are measured.

pub mod claim;
pub mod diagnostic;
pub mod plan;
pub mod spec;

pub use claim::{ClaimSpec, Says};
pub use diagnostic::Diagnostic;
pub use spec::Experiment;
