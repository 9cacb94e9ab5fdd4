//! What was found of a claim, and what becomes of it by all of that.

use crate::experiment::ClaimSpec;

/// How a claim came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
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
pub(crate) struct ClaimFinding {
    pub(crate) standing: Standing,
    text: String,
}

impl ClaimFinding {
    pub(crate) fn new(standing: Standing, text: String) -> Self {
        ClaimFinding { standing, text }
    }
}

/// Relative tolerance of a claim that states none.
pub(crate) const DEFAULT_TOLERANCE: f64 = 0.05;

pub(super) fn tolerance(claim: &ClaimSpec) -> f64 {
    claim.ratio_tolerance.unwrap_or(DEFAULT_TOLERANCE)
}

/// What becomes of a claim by all that was found of it.
pub(crate) fn conclude(text: &str, findings: &[ClaimFinding]) -> ClaimResult {
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
