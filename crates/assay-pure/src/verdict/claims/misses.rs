//! Claims about mispredictions, compared with what was counted or simulated.
//!
//! A simulated predictor is not the CPU: a claim is confirmed only if every predictor agrees with it, and refuted only if none
//! does. A rate is a share of some branches: of all, as perf divides, or of the conditional ones, as most people mean it; a
//! claim that is right by either is right.

use super::context::ClaimContext;
use super::finding::{ClaimFinding, Standing, tolerance};
use super::scope::place_of as place;
use crate::experiment::ClaimSpec;
use crate::verdict::counts::{CellCounts, CountSource, MissCount};
use crate::words;

/// One finding per statement and cell.
pub(super) fn check(claim: &ClaimSpec, context: &ClaimContext<'_>) -> Vec<ClaimFinding> {
    let cells = context.missed_in(claim);
    let rates = claim.miss_rate.map(|rate| cells.iter().map(move |cell| of_rate(claim, rate, cell)));
    let counts =
        claim.misses_per_unit.map(|count| cells.iter().map(move |cell| of_count(claim, count, cell)));
    rates.into_iter().flatten().chain(counts.into_iter().flatten()).collect()
}

fn of_rate(claim: &ClaimSpec, rate: f64, cell: &CellCounts) -> ClaimFinding {
    let fewest = cell.conditional.map_or(cell.branches, |conditional| conditional.min(cell.branches));
    if fewest <= 0.0 {
        let text = format!("{} executes no conditional branch on {}", cell.cell.variant, place(cell));
        return ClaimFinding::new(Standing::Open, text);
    }
    let rates = |miss: &MissCount| (miss.per_unit / cell.branches, miss.per_unit / fewest);
    let standing = standing(cell, |miss| {
        let (of_all, of_conditional) = rates(miss);
        of_all <= rate * (1.0 + tolerance(claim)) && of_conditional >= rate * (1.0 - tolerance(claim))
    });
    let (of_all, of_conditional) = rates(&cell.misses[0]);
    let text = format!(
        "{} mispredicts {} of all branches, {} of the conditional ones {}, claimed {}",
        cell.cell.variant,
        words::rate(of_all),
        words::rate(of_conditional),
        source(cell),
        words::rate(rate)
    );
    ClaimFinding::new(standing, text)
}

fn of_count(claim: &ClaimSpec, count: f64, cell: &CellCounts) -> ClaimFinding {
    let allowed = tolerance(claim) * count;
    let standing = standing(cell, |miss| (miss.per_unit - count).abs() <= allowed);
    let text = format!(
        "{} mispredicts {:.3} times per unit {}, claimed {count}",
        cell.cell.variant,
        cell.misses[0].per_unit,
        source(cell)
    );
    ClaimFinding::new(standing, text)
}

fn standing(cell: &CellCounts, agrees: impl Fn(&MissCount) -> bool) -> Standing {
    let agreeing = cell.misses.iter().filter(|miss| agrees(miss)).count();
    if agreeing == cell.misses.len() {
        Standing::Holds
    } else if agreeing == 0 {
        Standing::Contradicted
    } else {
        Standing::Open
    }
}

/// "on short (gcc-12, O2), simulated by tage; 0.100 to 0.200 per unit over 3 predictors".
fn source(cell: &CellCounts) -> String {
    let place = place(cell);
    match (cell.source, cell.miss_range()) {
        (CountSource::Counted, _) | (_, None) => format!("on {place}, counted"),
        (CountSource::Traced | CountSource::Instrumented, Some((least, most))) => format!(
            "on {place}, simulated by {}; {least:.3} to {most:.3} per unit over {} predictors",
            cell.misses[0].predictor,
            cell.misses.len()
        ),
    }
}
