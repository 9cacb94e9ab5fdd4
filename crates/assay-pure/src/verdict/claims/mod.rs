//! What somebody says, held against arithmetic first and the measurement second.
//!
//! A claim may state several things about several inputs and compilers. It is `refuted` when anything it states is
//! contradicted anywhere (and the finding says where), `confirmed` when everything it states about the measurement
//! holds everywhere, `undecided` otherwise. Its own numbers agreeing with each other confirms nothing by itself.

pub(crate) mod arithmetic;
mod events;
mod measured;
mod misses;
mod scope;

use super::counts::CellCounts;
use super::judge::Judgement;
use super::placement_table::VariantPlacement;
use crate::experiment::ClaimSpec;
use crate::stats::margin::Margin;

/// A variant's time in one cell, with its interval.
#[derive(Clone, Debug, PartialEq)]
pub struct CellFigure {
    /// The variant.
    pub variant: String,
    /// Input name.
    pub input: String,
    /// Compiler name.
    pub compiler: String,
    /// Flag set name.
    pub flags: String,
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
            variant: row.variant.clone(),
            input: row.input.clone(),
            compiler: row.compiler.clone(),
            flags: row.flags.clone(),
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
    /// Least mispredictions per unit that any predictor can reach when the outcomes are independent; `None` when the
    /// stream is not independent, or so short that a predictor may know it by heart.
    pub floor_misses_per_unit: Option<f64>,
    /// Conditional branches per unit of a decoder that branches once per byte and once per unit.
    pub branches_per_unit: Option<f64>,
    /// It is so short that a predictor can learn it by heart while it is read again and again.
    pub learnable: bool,
}

/// What a claim is held against.
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
}

impl ClaimContext<'_> {
    /// The cells with counts that a claim speaks of.
    fn counted_in(&self, claim: &ClaimSpec) -> Vec<&CellCounts> {
        let Some(candidate) = claim.candidate.as_deref() else { return Vec::new() };
        let in_scope = |cell: &&CellCounts| {
            cell.variant == candidate
                && scope::names(&claim.inputs, &cell.input)
                && scope::globs(&claim.compilers, &cell.compiler)
                && scope::globs(&claim.flags, &cell.flags)
        };
        self.counts.iter().filter(in_scope).collect()
    }

    /// Of these, the ones whose mispredictions were counted or simulated.
    fn missed_in(&self, claim: &ClaimSpec) -> Vec<&CellCounts> {
        self.counted_in(claim).into_iter().filter(|cell| !cell.misses.is_empty()).collect()
    }
}

/// How a claim came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ClaimStatus {
    /// Everything it states about the measurement holds, everywhere it speaks of.
    Confirmed,
    /// Something it states is impossible, or contradicted somewhere.
    Refuted,
    /// Neither.
    Undecided,
}

/// A claim with what was found.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct ClaimResult {
    /// The sentence as it was said.
    pub text: String,
    /// How it came out.
    pub status: ClaimStatus,
    /// What was found, with numbers and places.
    pub found: String,
}

/// What one statement of a claim is worth at one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// The measurement bears it out.
    Holds,
    /// Impossible, or the measurement speaks against it.
    Contradicted,
    /// Nothing settles it.
    Open,
    /// It agrees with itself, which settles nothing.
    Consistent,
}

/// One thing that was found of a claim.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Finding {
    pub(crate) standing: Standing,
    text: String,
}

impl Finding {
    pub(crate) fn new(standing: Standing, text: String) -> Self {
        Finding { standing, text }
    }
}

/// Relative tolerance of a claim that states none.
pub(crate) const DEFAULT_TOLERANCE: f64 = 0.05;

fn tolerance(claim: &ClaimSpec) -> f64 {
    claim.ratio_tolerance.unwrap_or(DEFAULT_TOLERANCE)
}

/// Holds one claim against arithmetic, then against the measurement.
///
/// What is impossible is refuted without looking at a single sample.
pub fn check(claim: &ClaimSpec, context: &ClaimContext<'_>) -> ClaimResult {
    let impossible = arithmetic::check(claim, context);
    let refuted_by_arithmetic = impossible.iter().any(|finding| finding.standing == Standing::Contradicted);
    let findings = if refuted_by_arithmetic {
        impossible
    } else {
        impossible
            .into_iter()
            .chain(measured::check(claim, context))
            .chain(misses::check(claim, context))
            .chain(events::check(claim, context))
            .collect()
    };
    conclude(&claim.text, &findings)
}

/// What becomes of a claim by all that was found of it.
pub(crate) fn conclude(text: &str, findings: &[Finding]) -> ClaimResult {
    let texts = |standing: Standing| -> Vec<&str> {
        findings.iter().filter(|f| f.standing == standing).map(|f| f.text.as_str()).collect()
    };
    let (against, open) = (texts(Standing::Contradicted), texts(Standing::Open));
    let (holds, consistent) = (texts(Standing::Holds), texts(Standing::Consistent));
    let (status, found) = if !against.is_empty() {
        (ClaimStatus::Refuted, [against, holds].concat())
    } else if !open.is_empty() {
        (ClaimStatus::Undecided, [open, holds].concat())
    } else if !holds.is_empty() {
        (ClaimStatus::Confirmed, holds)
    } else if !consistent.is_empty() {
        let nothing = ["nothing measured here settles the claim itself"];
        (ClaimStatus::Undecided, [consistent.as_slice(), nothing.as_slice()].concat())
    } else {
        (
            ClaimStatus::Undecided,
            vec!["the claim states nothing that arithmetic or a measurement could settle"],
        )
    };
    ClaimResult { text: text.to_owned(), status, found: found.join("; ") }
}

#[cfg(test)]
mod tests;
