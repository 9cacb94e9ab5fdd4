//! Which limit of the machine a time is near, and how near.

use super::build_column::BuildColumn;
use super::{Detail, build_name, distinct};
use crate::ink::Ink;
use crate::page::{CellLimit, LimitSource, LimitStanding, LimitsUsed, Page, PageCell};
use crate::sheet::Sheet;
use crate::table::{Column, Entry, Table};
use assay_pure::words;

/// Rows in the brief view; beyond it, of each input the fastest variant and the baseline, and beyond it with these, the fastest.
const MOST_ROWS: usize = 8;

/// Adds the section.
pub(super) fn show(page: &Page, detail: Detail, sheet: &mut Sheet) {
    let Some(used) = &page.limits else {
        if detail == Detail::Full {
            hint(page, sheet);
        }
        return;
    };
    let cells: Vec<&PageCell> = page.cells.iter().filter(|cell| !cell.limits.is_empty()).collect();
    if cells.is_empty() {
        return;
    }
    sheet.heading("Limits");
    sheet.paragraph(Ink::Dim, "  ", &legend(page, used));
    let rows = if detail == Detail::Full { cells.clone() } else { telling(&cells, &page.baseline) };
    sheet.gap();
    sheet.table(&table(page, &rows, detail));
    if rows.len() < cells.len() {
        let text = format!("{}: --all", words::plural((cells.len() - rows.len()) as u64, "more cell"));
        sheet.paragraph(Ink::Dim, "  ", &text);
    }
    if cells.iter().any(|cell| binding(cell).is_none()) {
        let text = "none: no limit takes half of the time; the bottleneck is something else, usually a dependency chain.";
        sheet.paragraph(Ink::Dim, "  ", text);
    }
    exceeded(&cells, sheet);
}

fn binding(cell: &PageCell) -> Option<&CellLimit> {
    cell.limits.iter().find(|limit| limit.standing == LimitStanding::Binds)
}

/// How to come by them, where anything was measured that could be compared with them.
fn hint(page: &Page, sheet: &mut Sheet) {
    if page.cells.iter().any(|cell| cell.ns_per_unit.is_some()) {
        sheet.gap();
        let text =
            "To see which limit of this machine each time is near, run `assay limits` once (under a minute).";
        sheet.paragraph(Ink::Dim, "  ", text);
    }
}

fn legend(page: &Page, used: &LimitsUsed) -> String {
    let day = used.measured.split('T').next().unwrap_or_default();
    let when = if used.with_campaign { day.to_owned() } else { format!("{day}, after this campaign") };
    format!(
        "The share of the time per {} that one limit of this machine accounts for at least. The largest is the bottleneck if it is \
         half of the time or more (`assay limits` of {when}).",
        page.unit
    )
}

/// All; or of each input the fastest and the baseline; or the fastest.
fn telling<'a>(cells: &[&'a PageCell], baseline: &str) -> Vec<&'a PageCell> {
    if cells.len() <= MOST_ROWS {
        return cells.to_vec();
    }
    let ns = |cell: &PageCell| cell.ns_per_unit.map_or(f64::INFINITY, |spread| spread.median);
    let is_fastest = |cell: &PageCell| {
        let place = |cell: &PageCell| (cell.input.clone(), cell.compiler.clone(), cell.flags.clone());
        let mut own = cells.iter().filter(|other| place(other) == place(cell));
        own.all(|other| ns(cell) <= ns(other))
    };
    let mut rows: Vec<&PageCell> =
        cells.iter().copied().filter(|cell| cell.variant == baseline || is_fastest(cell)).collect();
    if rows.len() > MOST_ROWS {
        rows.retain(|cell| is_fastest(cell));
        rows.truncate(MOST_ROWS);
    }
    rows
}

fn table(page: &Page, cells: &[&PageCell], detail: Detail) -> Table {
    let (builds, full) = (BuildColumn::of(page), detail == Detail::Full);
    let mut columns = vec![Column::left("input"), Column::left("variant")];
    columns.extend(builds.column());
    let keys = columns.len();
    columns.extend([Column::right("ns"), Column::left("bottleneck"), Column::right("share")]);
    columns.extend(full.then(|| Column::left("others").wrapping()));
    columns.push(Column::left("because").optional(1));
    let mut table = Table::new(columns, keys);
    for cell in cells {
        let binds = binding(cell);
        let nearest =
            binds.or_else(|| cell.limits.iter().find(|limit| limit.standing == LimitStanding::Leaves));
        let bound = match (binds, nearest) {
            (Some(limit), _) => Entry::from(name(limit)),
            (None, Some(limit)) => Entry::inked(format!("none; nearest {}", name(limit)), Ink::Dim),
            (None, None) => Entry::inked("unknown", Ink::Dim),
        };
        let others: Vec<String> = cell
            .limits
            .iter()
            .filter(|limit| nearest.is_none_or(|nearest| !std::ptr::eq(*limit, nearest)))
            .map(other)
            .collect();
        let mut row = vec![cell.input.clone().into(), cell.variant.clone().into()];
        row.extend(builds.entry(&cell.compiler, &cell.flags));
        row.extend([
            cell.ns_per_unit.map(|spread| words::ns(spread.median)).unwrap_or_default().into(),
            bound,
            nearest.map(|limit| words::fraction(limit.share)).unwrap_or_default().into(),
        ]);
        row.extend(full.then(|| others.join(", ").into()));
        row.push(nearest.map(|limit| limit.made_of.clone()).unwrap_or_default().into());
        table.row(row);
    }
    table
}

fn name(limit: &CellLimit) -> String {
    let name = limit.limit.name();
    if limit.source == LimitSource::Entropy { format!("{name} (from entropy)") } else { name.to_owned() }
}

fn other(limit: &CellLimit) -> String {
    let text = format!("{} {}", name(limit), words::fraction(limit.share));
    match limit.standing {
        LimitStanding::Assumed => format!("{text} assuming one branch per unit"),
        LimitStanding::Exceeded => format!("{text} (exceeded)"),
        LimitStanding::Binds | LimitStanding::Leaves => text,
    }
}

/// Models that are wrong here: each with the cells that show it.
fn exceeded(cells: &[&PageCell], sheet: &mut Sheet) {
    let mut all: Vec<(&PageCell, &CellLimit, &String)> = Vec::new();
    for cell in cells {
        all.extend(
            cell.limits.iter().filter_map(|limit| Some((*cell, limit, limit.exceeded_because.as_ref()?))),
        );
    }
    let kinds = distinct(all.iter().map(|(_, limit, why)| (name(limit), *why)));
    if !kinds.is_empty() {
        sheet.gap();
    }
    for (kind, why) in kinds {
        let own: Vec<(&PageCell, f64)> = all
            .iter()
            .filter(|(_, limit, other)| (name(limit), *other) == (kind.clone(), why))
            .map(|(cell, limit, _)| (*cell, limit.share))
            .collect();
        let Some((cell, most)) = own.iter().copied().max_by(|a, b| a.1.total_cmp(&b.1)) else { continue };
        let text = format!(
            "{kind}: {} less time than this limit allows, most of all {} on {}, {} ({} of its time): {why}.",
            words::plural(own.len() as u64, "cell") + if own.len() == 1 { " takes" } else { " take" },
            cell.variant,
            cell.input,
            build_name(&cell.compiler, &cell.flags),
            words::fraction(most),
        );
        sheet.labelled(Ink::Doubt, "  exceeded  ", &text);
    }
}
