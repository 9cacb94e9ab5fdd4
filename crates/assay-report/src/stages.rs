//! What the reader sees of an optimisation diary.

mod answer;
mod markdown;
mod not_measured;
pub mod page;
mod terminal;
pub(crate) mod words;

#[cfg(test)]
pub(crate) mod sample;
#[cfg(test)]
mod schema;
#[cfg(test)]
mod tests;

pub use answer::{answer, next};
pub use markdown::markdown;
pub use page::{DiaryPage, STAGES_SCHEMA};
pub use terminal::render_stages;
