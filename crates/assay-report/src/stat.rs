//! What a command did, event by event: the view of `assay stat` on a terminal, in perf's own forms and as JSON.

mod answer;
mod figure;
pub mod forms;
mod human;
pub mod page;
#[cfg(test)]
mod sample;
#[cfg(test)]
mod schema;
pub mod spread;
#[cfg(test)]
mod tests;

pub use forms::{lines_of_json, separated};
pub use human::render_stat;
pub use page::{STAT_SCHEMA, StatPage};
pub use spread::{Number, Spread};
