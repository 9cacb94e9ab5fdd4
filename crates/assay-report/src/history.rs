//! The page of `assay history`: an experiment's contrasts and times over its campaigns, the change points in sentences first.

pub mod alike;
mod answer;
pub mod machines;
pub mod page;
pub(crate) mod spark;
mod terminal;

#[cfg(test)]
pub(crate) mod sample;
#[cfg(test)]
mod tests;

pub use answer::answer;
pub use page::{HISTORY_SCHEMA, HistoryPage};
pub use terminal::render_history;
