//! What did each step of somebody's optimisation bring? A diary of stages, each built and measured, kept over time.
//!
//! Phases ([`run`]): read the file, see what the ledger has of it already, build what is missing (and what that has to be
//! compared with) with its links captured, run every command once, count what it executes, then run all of them over all
//! placements in turns. Everything goes to the ledger at once; the page is made from the ledger alone. What is common with
//! comparing two builds is `compare`'s: places, visits, rounds, verdicts.

mod again;
mod asked;
mod belongs;
mod build;
pub mod compose;
mod count;
mod first;
mod hardware;
mod judge;
mod lead;
mod open;
mod players;
mod prepare;
mod spec;

pub use asked::StagesRequest;
pub use lead::{EndedSession, run};
pub use open::{OpenedDiary, open};
