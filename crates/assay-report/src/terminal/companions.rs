//! Which functions decide, by where they start, what another one takes: below the table of starts.

use super::builds::short;
use super::{Detail, build_name};
use crate::ink::Ink;
use crate::page::{CompanionFunction, Page, PageCell};
use crate::sheet::Sheet;
use crate::table::{Column, Table};
use assay_pure::words;

/// Pairs of functions that the brief view names.
const MOST: usize = 3;
/// Names of functions that moved alike.
const NAMED: usize = 2;

/// Adds what was established; nothing if nothing was.
pub(super) fn show(page: &Page, detail: Detail, sheet: &mut Sheet) {
    let mut found: Vec<(&PageCell, &CompanionFunction, f64)> =
        page.cells.iter().filter_map(|cell| Some((cell, cell.companion.as_ref()?, own(cell)?))).collect();
    if found.is_empty() {
        return;
    }
    found.sort_by(|a, b| (b.1.share - b.2).total_cmp(&(a.1.share - a.2)));
    if detail == Detail::Brief {
        let pairs = super::distinct(
            found.iter().map(|(cell, companion, _)| (cell.variant.as_str(), names(companion))),
        );
        let told: Vec<String> = pairs
            .iter()
            .take(MOST)
            .map(|(own, other)| format!("{own} also depends on where {other} starts"))
            .collect();
        let text =
            format!("{} ({}; --all shows them).", told.join(", "), words::plural(found.len() as u64, "cell"));
        sheet.paragraph(Ink::Plain, "  ", &text);
        return;
    }
    sheet.gap();
    let cells = words::plural(found.len() as u64, "cell");
    let text = format!(
        "{cells} also depend on where another function starts. Variance explained by the variant's own start, and by both:"
    );
    sheet.paragraph(Ink::Plain, "  ", &text);
    sheet.gap();
    sheet.table(&table(&found));
    sheet.gap();
}

fn own(cell: &PageCell) -> Option<f64> {
    cell.offset_share.map(|share| share.offset)
}

fn table(found: &[(&PageCell, &CompanionFunction, f64)]) -> Table {
    let mut table = Table::new(
        vec![
            Column::left("variant"),
            Column::left("and").wrapping(),
            Column::left("input"),
            Column::left("build"),
            Column::right("own"),
            Column::right("both"),
        ],
        1,
    );
    for (cell, companion, own) in found {
        table.row(vec![
            cell.variant.clone().into(),
            names(companion).into(),
            cell.input.clone().into(),
            build_name(&cell.compiler, &cell.flags).into(),
            words::fraction(*own).into(),
            words::fraction(companion.share).into(),
        ]);
    }
    table
}

fn names(companion: &CompanionFunction) -> String {
    let mut named: Vec<String> = companion.functions.iter().take(NAMED).map(|name| short(name)).collect();
    let more = companion.functions.len().saturating_sub(NAMED);
    named.extend((more > 0).then(|| format!("{more} more")));
    words::list_or(&named)
}
