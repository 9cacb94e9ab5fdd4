//! Which branches cost most, and is what the source says of them true?
//!
//! [`gather`] adds up what a trace saw per place in a file, [`image`] says what is there (function, line, code), `audit`
//! holds the hints of the source against what happened, [`compose`] makes the page. Nothing here runs a program.

pub mod audit;
mod blocks;
pub mod compose;
mod debug_file;
pub mod gather;
pub mod image;
pub mod instruction;
pub mod names;
pub mod source;
mod symbols;

pub use compose::{Model, Wish, compose};
pub use gather::{Gathered, Watch, gather};
