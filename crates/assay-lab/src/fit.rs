//! A generator fitted to a recorded file, and how close it comes: in simulation, and, where an experiment is given, in the
//! time of its variants.
//!
//! What is computed is in `assay_pure::inputs::fit`; here it becomes a page (`compose`), the table of an experiment file
//! (`table`) and a campaign of two inputs (`variants`). For numbers, a generator is looked for (`numbers`). A fit that is not close is refused: its table is kept back, with
//! the reasons and what to do instead.

pub mod compose;
pub mod numbers;
pub mod table;
pub mod variants;

pub use compose::{ExaminedFit, FitRequest, conclude, examine};
pub use numbers::{conclude_numbers, examine_numbers};
