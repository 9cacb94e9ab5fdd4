//! Which limit of the machine a time is near, and how near.

use super::{Detail, build_name, distinct};
use crate::ink::Ink;
use crate::number;
use crate::page::{Cell, CellLimit, LimitKind, LimitSource, LimitStanding, LimitsUsed, Page};
use crate::prose;
use crate::sheet::Sheet;
use crate::table::{Column, Entry, Table};

/// Rows in the brief view; beyond it, of each input the fastest variant and the baseline, and beyond it with these, the fastest.
const MOST_ROWS: usize = 8;
/// Shares below this are not worth a word in the brief view.
const LEAST_SHARE: f64 = 0.1;

/// Adds the section.
pub(super) fn show(page: &Page, detail: Detail, sheet: &mut Sheet) {
    let Some(used) = &page.limits else {
        hint(page, sheet);
        return;
    };
    let cells: Vec<&Cell> = page.cells.iter().filter(|cell| !cell.limits.is_empty()).collect();
    if cells.is_empty() {
        return;
    }
    sheet.heading("Limits");
    sheet.paragraph(Ink::Dim, "  ", &legend(page, used));
    let builds = distinct(cells.iter().map(|cell| (&cell.compiler, &cell.flags)));
    let most = if detail == Detail::Full { builds.len() } else { 1 };
    for &build in builds.iter().take(most) {
        let own: Vec<&Cell> =
            cells.iter().copied().filter(|cell| (&cell.compiler, &cell.flags) == build).collect();
        let rows = if detail == Detail::Full { own.clone() } else { telling(&own, &page.baseline) };
        sheet.gap();
        sheet.table(&table(&rows, &build_name(build.0, build.1), detail));
        if rows.len() < own.len() {
            let text = format!("{} more: --all", prose::plural((own.len() - rows.len()) as u64, "cell"));
            sheet.paragraph(Ink::Dim, "  ", &text);
        }
    }
    if builds.len() > most {
        let text = format!("{} more: --all", prose::plural((builds.len() - most) as u64, "build"));
        sheet.paragraph(Ink::Dim, "  ", &text);
    }
    if cells.iter().any(|cell| binding(cell).is_none()) {
        let text = "none: no limit takes half of the time. What binds is not among them: most often a chain of instructions \
                    each of which waits for the one before.";
        sheet.paragraph(Ink::Dim, "  ", text);
    }
    exceeded(&cells, sheet);
}

fn binding(cell: &Cell) -> Option<&CellLimit> {
    cell.limits.iter().find(|limit| limit.standing == LimitStanding::Binds)
}

/// How to come by them, where anything was measured that could be held against them.
fn hint(page: &Page, sheet: &mut Sheet) {
    if page.cells.iter().any(|cell| cell.ns_per_unit.is_some()) {
        sheet.gap();
        let text = "Which limit of this machine a time is near is not known: `assay limits` measures them once, in under a minute.";
        sheet.paragraph(Ink::Dim, "  ", text);
    }
}

fn legend(page: &Page, used: &LimitsUsed) -> String {
    let day = used.measured.split('T').next().unwrap_or_default();
    let when = if used.with_campaign { day.to_owned() } else { format!("{day}, after this campaign") };
    format!(
        "The part of the time per {} that this machine needs at least for one reason alone; the largest binds, if it is a half or \
         more (`assay limits` of {when}).",
        page.unit
    )
}

/// All; or of each input the fastest and the baseline; or the fastest.
fn telling<'a>(cells: &[&'a Cell], baseline: &str) -> Vec<&'a Cell> {
    if cells.len() <= MOST_ROWS {
        return cells.to_vec();
    }
    let ns = |cell: &Cell| cell.ns_per_unit.map_or(f64::INFINITY, |spread| spread.median);
    let is_fastest = |cell: &Cell| {
        let mut own = cells.iter().filter(|other| other.input == cell.input);
        own.all(|other| ns(cell) <= ns(other))
    };
    let mut rows: Vec<&Cell> =
        cells.iter().copied().filter(|cell| cell.variant == baseline || is_fastest(cell)).collect();
    if rows.len() > MOST_ROWS {
        rows.retain(|cell| is_fastest(cell));
    }
    rows
}

fn table(cells: &[&Cell], build: &str, detail: Detail) -> Table {
    let mut table = Table::new(
        vec![
            Column::left(build),
            Column::left("variant"),
            Column::right("ns"),
            Column::left("bound by"),
            Column::right("share"),
            Column::left("others").wrapping(),
            Column::left("because").optional(1),
        ],
        2,
    );
    for cell in cells {
        let binds = binding(cell);
        let nearest =
            binds.or_else(|| cell.limits.iter().find(|limit| limit.standing == LimitStanding::Leaves));
        let bound = match (binds, nearest) {
            (Some(limit), _) => Entry::from(name(limit)),
            (None, Some(limit)) => Entry::inked(format!("none; nearest {}", name(limit)), Ink::Dim),
            (None, None) => Entry::inked("not known", Ink::Dim),
        };
        let least = if detail == Detail::Full { 0.0 } else { LEAST_SHARE };
        let others: Vec<String> = cell
            .limits
            .iter()
            .filter(|limit| {
                nearest.is_none_or(|nearest| !std::ptr::eq(*limit, nearest)) && limit.share >= least
            })
            .map(other)
            .collect();
        table.row(vec![
            cell.input.clone().into(),
            cell.variant.clone().into(),
            cell.ns_per_unit.map(|spread| number::ns(spread.median)).unwrap_or_default().into(),
            bound,
            nearest.map(|limit| share(limit.share)).unwrap_or_default().into(),
            others.join(", ").into(),
            nearest.map(|limit| limit.made_of.clone()).unwrap_or_default().into(),
        ]);
    }
    table
}

fn name(limit: &CellLimit) -> String {
    let name = match limit.limit {
        LimitKind::Bytes => "bytes",
        LimitKind::Latency => "latency",
        LimitKind::Mispredictions => "mispredictions",
        LimitKind::Instructions => "instructions",
        LimitKind::Branches => "branches",
    };
    if limit.source == LimitSource::Entropy { format!("{name} by entropy") } else { name.to_owned() }
}

fn other(limit: &CellLimit) -> String {
    let text = format!("{} {}", name(limit), share(limit.share));
    match limit.standing {
        LimitStanding::Assumed => format!("{text} if it branches on each unit"),
        LimitStanding::Exceeded => format!("{text} (exceeded)"),
        LimitStanding::Binds | LimitStanding::Leaves => text,
    }
}

/// A share as a percentage without decimals from one percent on.
fn share(share: f64) -> String {
    if share < 0.0095 { format!("{:.1} %", 100.0 * share) } else { format!("{:.0} %", 100.0 * share) }
}

/// Models that are wrong here: each with the cells that show it.
fn exceeded(cells: &[&Cell], sheet: &mut Sheet) {
    let mut all: Vec<(&Cell, &CellLimit, &String)> = Vec::new();
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
        let own: Vec<(&Cell, f64)> = all
            .iter()
            .filter(|(_, limit, other)| (name(limit), *other) == (kind.clone(), why))
            .map(|(cell, limit, _)| (*cell, limit.share))
            .collect();
        let Some((cell, most)) = own.iter().copied().max_by(|a, b| a.1.total_cmp(&b.1)) else { continue };
        let text = format!(
            "{kind}: {} less time than this limit allows, most of all {} on {}, {} ({} of its time): {why}.",
            if own.len() == 1 { "1 cell takes".to_owned() } else { format!("{} cells take", own.len()) },
            cell.variant,
            cell.input,
            build_name(&cell.compiler, &cell.flags),
            share(most),
        );
        sheet.labelled(Ink::Doubt, "  exceeded  ", &text);
    }
}
