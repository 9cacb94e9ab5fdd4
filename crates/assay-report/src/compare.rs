//! What the user reads of `assay compare`: two builds, told apart by their own benchmarks.

mod answer;
mod markdown;
mod page;
mod plan;
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
    Factor, Factors, InstructionsPer, Method, OneSided, PeakMemory, SideFigure, SourceLocation, SpoiltVisits,
};
pub use plan::{COMPARE_PLAN_SCHEMA, ComparePlan, PlannedRun, PlannedSide, render_compare_plan};
pub use terminal::render_compare;
