//! Claims compared with the verdicts and times.

use super::context::{CellFigure, ClaimContext};
use super::finding::{ClaimFinding, Standing, tolerance};
use super::scope::{self, ClaimedContrast};
use crate::experiment::{Axis, ClaimSpec, Says};
use crate::verdict::contrast::{RatioInterval, Verdict};
use crate::verdict::wording::span;
use crate::words::{ns, time};

/// Everything the measurement says of a claim: one finding per statement and cell.
pub(super) fn check(claim: &ClaimSpec, context: &ClaimContext<'_>) -> Vec<ClaimFinding> {
    let mut findings = Vec::new();
    if claim.says.is_some() || claim.ratio.is_some() {
        findings.extend(of_contrasts(claim, context));
    }
    for quantity in CellQuantity::ALL {
        if let Some(claimed) = quantity.claimed(claim) {
            findings.extend(of_cells(claim, quantity, claimed, context));
        }
    }
    findings
}

fn open(text: &str) -> Vec<ClaimFinding> {
    vec![ClaimFinding::new(Standing::Open, text.to_string())]
}

fn of_contrasts(claim: &ClaimSpec, context: &ClaimContext<'_>) -> Vec<ClaimFinding> {
    if claim.candidate.is_none() {
        return open("the claim names no variant that could be compared");
    }
    let measured = scope::contrasts(claim, context.baseline, &context.judgement.contrasts);
    if measured.is_empty() {
        return open("no such contrast was measured");
    }
    let missing: Vec<ClaimFinding> = claim
        .inputs
        .iter()
        .filter(|input| !measured.iter().any(|found| &found.contrast.input == *input))
        .map(|input| ClaimFinding::new(Standing::Open, format!("it was not measured on {input}")))
        .collect();
    let findings = measured.iter().flat_map(|found| {
        let says = claim.says.map(|says| of_direction(says, found));
        let ratio = claim.ratio.map(|ratio| of_ratio(claim, ratio, found));
        says.into_iter().chain(ratio)
    });
    findings.chain(missing).collect()
}

fn place(found: &ClaimedContrast<'_>) -> String {
    let contrast = found.contrast;
    let against = contrast.against.as_ref().map_or(String::new(), |build| {
        let between = contrast.between();
        match between.axis() {
            Axis::Compiler => format!(" against {}", build.compiler),
            Axis::Flags => format!(" against {}", build.flags),
            Axis::Variant => format!(" against {}, {}", build.compiler, build.flags),
        }
    });
    format!("{} ({}, {}{against})", contrast.input, contrast.compiler, contrast.flags)
}

fn of_direction(says: Says, found: &ClaimedContrast<'_>) -> ClaimFinding {
    let wanted = match says {
        Says::Faster => Verdict::Faster,
        Says::Slower => Verdict::Slower,
        Says::Equivalent => Verdict::Equivalent,
    };
    let standing = match found.verdict {
        Verdict::Undecided => Standing::Open,
        verdict if verdict == wanted => Standing::Holds,
        _ => Standing::Contradicted,
    };
    let measured = found.code.map_or(String::new(), |code| format!(", {}", span(&code)));
    let mut text = format!("{} on {}{measured}", found.verdict.word(), place(found));
    if standing == Standing::Contradicted && as_built_would_agree(says, found) {
        text.push_str(", though as built it looks as claimed: that is placement");
    }
    ClaimFinding::new(standing, text)
}

/// The as-built comparison shows the direction claimed: where such claims come from.
fn as_built_would_agree(says: Says, found: &ClaimedContrast<'_>) -> bool {
    found.as_built.is_some_and(|ratio| match says {
        Says::Faster => ratio.upper < 1.0,
        Says::Slower => ratio.lower > 1.0,
        Says::Equivalent => ratio.lower <= 1.0 && ratio.upper >= 1.0,
    })
}

/// Where an interval lies relative to what was claimed, give or take the tolerance.
fn standing(claimed: f64, tolerance: f64, lower: f64, upper: f64) -> Standing {
    let (least, most) = (claimed * (1.0 - tolerance), claimed * (1.0 + tolerance));
    if lower >= least && upper <= most {
        Standing::Holds
    } else if upper < least || lower > most {
        Standing::Contradicted
    } else {
        Standing::Open
    }
}

fn of_ratio(claim: &ClaimSpec, claimed: f64, found: &ClaimedContrast<'_>) -> ClaimFinding {
    let Some(code) = found.code else {
        return ClaimFinding::new(Standing::Open, format!("too few rotations on {}", place(found)));
    };
    // A verdict that a control took back leaves its interval in doubt.
    let doubted = found.verdict == Verdict::Undecided && was_taken_back(found);
    let standing =
        if doubted { Standing::Open } else { standing(claimed, tolerance(claim), code.lower, code.upper) };
    let RatioInterval { ratio, lower, upper } = code;
    ClaimFinding::new(
        standing,
        format!("ratio {ratio:.3} ({lower:.3} to {upper:.3}) on {}, claimed {claimed}", place(found)),
    )
}

fn was_taken_back(found: &ClaimedContrast<'_>) -> bool {
    use crate::verdict::cause::Cause;
    found.contrast.causes.iter().any(|cause| matches!(cause.cause, Cause::Noise | Cause::IdenticalCode))
}

/// What a claim may say of one cell's time.
#[derive(Clone, Copy)]
enum CellQuantity {
    /// Nanoseconds per unit.
    Time,
    /// Bytes of the input per second, 10^9.
    Gigabytes,
    /// Units per second, 10^6.
    MillionUnits,
}

impl CellQuantity {
    const ALL: [Self; 3] = [Self::Time, Self::Gigabytes, Self::MillionUnits];

    fn claimed(self, claim: &ClaimSpec) -> Option<f64> {
        match self {
            Self::Time => claim.ns_per_unit,
            Self::Gigabytes => claim.gigabytes_per_second,
            Self::MillionUnits => claim.million_units_per_second,
        }
    }

    /// The quantity at a time per unit, where a unit has so many bytes.
    fn at(self, ns: f64, bytes_per_unit: Option<f64>) -> Option<f64> {
        match self {
            Self::Time => Some(ns),
            Self::Gigabytes => bytes_per_unit.map(|bytes| bytes / ns),
            Self::MillionUnits => Some(1e3 / ns),
        }
    }

    fn written(self, value: f64) -> String {
        match self {
            Self::Time => time(value),
            Self::Gigabytes => format!("{} GB/s", ns(value)),
            Self::MillionUnits => format!("{} million units/s", ns(value)),
        }
    }
}

fn of_cells(
    claim: &ClaimSpec,
    quantity: CellQuantity,
    claimed: f64,
    context: &ClaimContext<'_>,
) -> Vec<ClaimFinding> {
    let Some(candidate) = claim.candidate.as_deref() else {
        return open("the claim names no variant whose time could be looked up");
    };
    let mut cells = context
        .cells
        .iter()
        .filter(|cell| cell.cell.variant == candidate)
        .filter(|cell| {
            scope::names(&claim.inputs, &cell.cell.input)
                && scope::globs(&claim.compilers, &cell.cell.compiler)
                && scope::globs(&claim.flags, &cell.cell.flags)
        })
        .peekable();
    if cells.peek().is_none() {
        return open("no such time was measured");
    }
    cells.map(|cell| of_cell(claim, quantity, claimed, cell, context)).collect()
}

fn of_cell(
    claim: &ClaimSpec,
    quantity: CellQuantity,
    claimed: f64,
    cell: &CellFigure,
    context: &ClaimContext<'_>,
) -> ClaimFinding {
    let input = context.inputs.iter().find(|input| input.name == cell.cell.input);
    let bytes = input.and_then(|input| input.bytes_per_unit);
    let place = format!("{} ({}, {})", cell.cell.input, cell.cell.compiler, cell.cell.flags);
    let at = |ns: f64| quantity.at(ns, bytes);
    let (Some(middle), Some(one), Some(other)) = (at(cell.ns_per_unit), at(cell.lower), at(cell.upper))
    else {
        return ClaimFinding::new(Standing::Open, format!("the size of {place} is not known"));
    };
    // A short time is a high rate.
    let (lower, upper) = (one.min(other), one.max(other));
    let written = |value: f64| quantity.written(value);
    ClaimFinding::new(
        standing(claimed, tolerance(claim), lower, upper),
        format!(
            "{} ({} to {}) on {place}, claimed {claimed}",
            written(middle),
            written(lower),
            written(upper)
        ),
    )
}
