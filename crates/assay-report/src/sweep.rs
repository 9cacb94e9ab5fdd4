//! What a key of an input does over a range: the view of `assay sweep` on a terminal, as JSON, and as columns for plotting.

pub mod answer;
mod columns;
pub mod page;
mod plot;
pub mod preview;
#[cfg(test)]
pub(crate) mod sample;
#[cfg(test)]
mod schema;
mod terminal;
#[cfg(test)]
mod tests;
pub mod value;

pub use answer::next;
pub use columns::columns;
pub use page::{SWEEP_SCHEMA, SweepPage};
pub use preview::{SweepPreview, render_preview};
pub use terminal::render_sweep;
