//! Claims about instructions, branches and cycles per unit, compared with what was counted or traced.
//!
//! A trace counts instructions and branches exactly, of the build at hand: another compiler's figure may be right for its own
//! code and refuted here.

use super::context::ClaimContext;
use super::finding::{ClaimFinding, Standing, tolerance};
use super::scope;
use crate::experiment::{ClaimSpec, CountedEvent};
use crate::verdict::counts::CellCounts;
use crate::words::short;

/// One finding per statement and cell.
pub(super) fn check(claim: &ClaimSpec, context: &ClaimContext<'_>) -> Vec<ClaimFinding> {
    type Count = fn(&CellCounts) -> Option<f64>;
    let statements: [(Option<f64>, &str, Count); 3] = [
        (claim.instructions_per_unit, "instructions", |cell| Some(cell.instructions)),
        (claim.branches_per_unit, "branches", |cell| Some(cell.branches)),
        (claim.cycles_per_unit, "cycles", |cell| cell.cycles),
    ];
    let cells = context.counted_in(claim);
    let mut findings = of_memory(claim, context);
    let stated = statements.iter().filter_map(|(claimed, event, count)| Some(((*claimed)?, *event, *count)));
    findings.extend(stated.flat_map(|(claimed, event, count)| {
        if cells.is_empty() {
            return vec![ClaimFinding::new(Standing::Open, format!("no such {event} were counted"))];
        }
        cells.iter().map(|cell| of_cell(claim, claimed, event, cell, count(cell))).collect()
    }));
    findings
}

/// The same of what is allocated.
fn of_memory(claim: &ClaimSpec, context: &ClaimContext<'_>) -> Vec<ClaimFinding> {
    let statements = [
        (claim.allocations_per_unit, CountedEvent::Allocations, "allocations"),
        (claim.allocated_bytes_per_unit, CountedEvent::AllocatedBytes, "allocated bytes"),
        (claim.peak_bytes_per_unit, CountedEvent::PeakBytes, "bytes at once"),
    ];
    let cells = context.allocated_in(claim);
    let mut findings = Vec::new();
    for (claimed, event, words) in statements {
        let Some(claimed) = claimed else { continue };
        if cells.is_empty() {
            findings.push(ClaimFinding::new(Standing::Open, format!("no such {words} were counted")));
        }
        for cell in &cells {
            let count = cell.of(event).expect("all three are of memory");
            let agrees = (count - claimed).abs() <= tolerance(claim) * claimed;
            let standing = if agrees { Standing::Holds } else { Standing::Contradicted };
            let place = format!("{} ({}, {})", cell.cell.input, cell.cell.compiler, cell.cell.flags);
            let text = format!(
                "{} takes {} {words} per unit on {place}, counted, claimed {claimed}",
                cell.cell.variant,
                short(count)
            );
            findings.push(ClaimFinding::new(standing, text));
        }
    }
    findings
}

fn of_cell(
    claim: &ClaimSpec,
    claimed: f64,
    event: &str,
    cell: &CellCounts,
    count: Option<f64>,
) -> ClaimFinding {
    let place = scope::place_of(cell);
    let Some(count) = count else {
        let text = format!("a trace has no {event}, and they were not counted on {place}");
        return ClaimFinding::new(Standing::Open, text);
    };
    let agrees = (count - claimed).abs() <= tolerance(claim) * claimed;
    let standing = if agrees { Standing::Holds } else { Standing::Contradicted };
    let source = cell.source.word();
    let text = format!(
        "{} takes {count:.2} {event} per unit on {place}, {source}, claimed {claimed}",
        cell.cell.variant
    );
    ClaimFinding::new(standing, text)
}
