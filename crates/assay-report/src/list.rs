//! What a ledger has: a row per measurement, what was asked and what was answered, each in a few words. The page, its
//! terminal view, and the few words of an answer, which are kept so that a list needs no verdicts made anew.

mod brief;
mod page;
#[cfg(test)]
mod sample;
mod terminal;
#[cfg(test)]
mod tests;

pub use brief::{Brief, Tone};
pub use page::{LIST_SCHEMA, ListPage, ListRow, ListState};
pub use terminal::render as render_list;
