//! What a user asks: an experiment file, the matrix of cells it spans, and the order in which they are measured.

pub mod acceptance;
pub mod axis;
pub mod claim;
pub mod diagnostic;
pub mod events;
pub mod matrix;
pub mod pattern;
pub mod plan;
pub(crate) mod read;
pub mod spans;
pub mod spec;
pub mod surroundings;
pub mod template;
pub mod usage;
pub(crate) mod williams;

pub use acceptance::Acceptance;
pub use axis::{Axis, ContrastSpec};
pub use claim::{ClaimSpec, Says};
pub use diagnostic::Diagnostic;
pub use events::CountedEvent;
pub use matrix::{Cell, Contrast};
pub use plan::{CellVisit, VisitBlock};
pub use read::{ParsedExperiment, to_name};
pub use spans::{FilePlace, Spans};
pub use spec::Experiment;
pub use surroundings::Surroundings;
pub use usage::{CacheState, Measure, Usage};
