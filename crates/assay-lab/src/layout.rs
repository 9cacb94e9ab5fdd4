//! Where do the functions of a program lie, which of them can that matter to, and what changed since another build?
//!
//! [`LinkedFile`] opens a file with its symbols, wherever they are; [`compose`] makes the page; `against` compares it with
//! another file. Nothing here runs a program.

mod against;
mod compose;
mod measured;
mod program;
mod selection;

pub use compose::compose;
pub use measured::SymbolTimes;
pub use program::LinkedFile;
pub use selection::LayoutSelection;
