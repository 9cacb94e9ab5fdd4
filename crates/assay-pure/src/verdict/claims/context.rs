//! What a claim is compared with: verdicts, times, counts, facts of the inputs.

use super::scope;
use crate::experiment::ClaimSpec;
use crate::experiment::matrix::CellId;
use crate::stats::margin::Margin;
use crate::verdict::allocations::CellAllocations;
use crate::verdict::counts::CellCounts;
use crate::verdict::judge::Judgement;
use crate::verdict::placement_table::VariantPlacement;

/// A variant's time in one cell, with its interval.
#[derive(Clone, Debug, PartialEq)]
pub struct CellFigure {
    /// Whose they are.
    pub cell: CellId,
    /// Nanoseconds per unit.
    pub ns_per_unit: f64,
    /// Lower end of its interval.
    pub lower: f64,
    /// Upper end.
    pub upper: f64,
}

impl From<&VariantPlacement> for CellFigure {
    fn from(row: &VariantPlacement) -> Self {
        CellFigure {
            cell: row.cell.clone(),
            ns_per_unit: row.ns_per_unit.median,
            lower: row.ns_per_unit.lower,
            upper: row.ns_per_unit.upper,
        }
    }
}

/// What is known of an input before any measurement.
#[derive(Clone, Debug, PartialEq)]
pub struct InputFacts {
    /// Input name.
    pub name: String,
    /// Its size over its units; `None` where it has neither.
    pub bytes_per_unit: Option<f64>,
    /// Least mispredictions per unit that any predictor can reach when the outcomes are independent; `None` when the
    /// stream is not independent, or so short that a predictor may memorise it.
    pub floor_misses_per_unit: Option<f64>,
    /// Conditional branches per unit of a decoder that branches once per byte and once per unit.
    pub branches_per_unit: Option<f64>,
    /// It is so short that a predictor can memorise it while it is read again and again.
    pub learnable: bool,
}

/// What a claim is compared with.
#[derive(Clone, Copy, Debug)]
pub struct ClaimContext<'a> {
    /// The verdicts.
    pub judgement: &'a Judgement,
    /// The experiment's baseline, for claims that name none.
    pub baseline: &'a str,
    /// The equivalence margin.
    pub margin: Margin,
    /// Times per cell.
    pub cells: &'a [CellFigure],
    /// Facts about the inputs.
    pub inputs: &'a [InputFacts],
    /// Counts per cell, where anything was counted or traced.
    pub counts: &'a [CellCounts],
    /// Allocations per cell, where they were counted.
    pub allocated: &'a [CellAllocations],
}

impl ClaimContext<'_> {
    /// The cells with counts that a claim speaks of.
    pub(super) fn counted_in(&self, claim: &ClaimSpec) -> Vec<&CellCounts> {
        let Some(candidate) = claim.candidate.as_deref() else { return Vec::new() };
        let in_scope = |cell: &&CellCounts| {
            cell.cell.variant == candidate
                && scope::names(&claim.inputs, &cell.cell.input)
                && scope::globs(&claim.compilers, &cell.cell.compiler)
                && scope::globs(&claim.flags, &cell.cell.flags)
        };
        self.counts.iter().filter(in_scope).collect()
    }

    /// The cells with allocations that a claim speaks of.
    pub(super) fn allocated_in(&self, claim: &ClaimSpec) -> Vec<&CellAllocations> {
        let Some(candidate) = claim.candidate.as_deref() else { return Vec::new() };
        let in_scope = |cell: &&CellAllocations| {
            cell.cell.variant == candidate
                && scope::names(&claim.inputs, &cell.cell.input)
                && scope::globs(&claim.compilers, &cell.cell.compiler)
                && scope::globs(&claim.flags, &cell.cell.flags)
        };
        self.allocated.iter().filter(in_scope).collect()
    }

    /// Of these, the ones whose mispredictions were counted or simulated.
    pub(super) fn missed_in(&self, claim: &ClaimSpec) -> Vec<&CellCounts> {
        self.counted_in(claim).into_iter().filter(|cell| !cell.misses.is_empty()).collect()
    }
}
