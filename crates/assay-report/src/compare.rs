//! What the user reads of `assay compare`: two builds, told apart by their own benchmarks.

mod answer;
mod markdown;
mod page;
pub(crate) mod terminal;

#[cfg(test)]
pub(crate) mod sample;
#[cfg(test)]
mod schema;
#[cfg(test)]
mod tests;

pub use answer::{answer, next};
pub use markdown::markdown;
pub use page::{
    BuiltSide, COMPARE_SCHEMA, ComparePage, Compared, ComparisonRun, DifferingFunction, ExecutedChange,
    Factor, Factors, Method, OneSided, SideFigure, SpoiltVisits,
};
pub use terminal::render_compare;
