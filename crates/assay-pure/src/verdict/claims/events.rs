//! Claims about instructions, branches and cycles per unit, compared with what was counted or traced.
//!
//! A trace counts instructions and branches exactly, of the build at hand: another compiler's figure may be right for its own
//! code and refuted here.

use super::context::ClaimContext;
use super::finding::{ClaimFinding, Standing, tolerance};
use super::scope;
use crate::experiment::ClaimSpec;
use crate::verdict::counts::{CellCounts, CountSource};

/// One finding per statement and cell.
pub(super) fn check(claim: &ClaimSpec, context: &ClaimContext<'_>) -> Vec<ClaimFinding> {
    type Count = fn(&CellCounts) -> Option<f64>;
    let statements: [(Option<f64>, &str, Count); 3] = [
        (claim.instructions_per_unit, "instructions", |cell| Some(cell.instructions)),
        (claim.branches_per_unit, "branches", |cell| Some(cell.branches)),
        (claim.cycles_per_unit, "cycles", |cell| cell.cycles),
    ];
    let cells = context.counted_in(claim);
    let stated = statements.iter().filter_map(|(claimed, event, count)| Some(((*claimed)?, *event, *count)));
    stated
        .flat_map(|(claimed, event, count)| {
            if cells.is_empty() {
                return vec![ClaimFinding::new(Standing::Open, format!("no such {event} were counted"))];
            }
            cells.iter().map(|cell| of_cell(claim, (claimed, event), cell, count(cell))).collect()
        })
        .collect()
}

fn of_cell(
    claim: &ClaimSpec,
    (claimed, event): (f64, &str),
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
    let source = match cell.source {
        CountSource::Counted => "counted",
        CountSource::Traced => "traced",
    };
    let text =
        format!("{} takes {count:.2} {event} per unit on {place}, {source}, claimed {claimed}", cell.variant);
    ClaimFinding::new(standing, text)
}
