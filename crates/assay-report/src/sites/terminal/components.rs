//! The budget as a table: a row per component, beside it the reference.

use super::short;
use crate::ink::Ink;
use crate::prose::{on_one_line, shorten};
use crate::sheet::Sheet;
use crate::sites::components::{ComponentBreakdown, ComponentRow, Figures, FunctionShare, RowKind};
use crate::sites::names::NO_SYMBOL;
use crate::table::{Column, Entry, Table};
use assay_pure::words;

/// Functions of a row that are named.
const NAMED: usize = 3;

/// Shows the budget.
pub fn show(components: &ComponentBreakdown, sheet: &mut Sheet) {
    sheet.heading("Components");
    sheet.table(&table(components));
    for row in components.rows.iter().filter(|row| row.kind != RowKind::Component) {
        functions(row, sheet);
    }
    sheet.warnings(components.idle.iter().map(|glob| format!("{glob} matches no executed function")));
    legend(components, sheet);
}

fn table(components: &ComponentBreakdown) -> Table {
    let has_units = components.units.is_some();
    let has_reference = components.reference.is_some();
    let rows = || components.rows.iter().chain([&components.total]);
    let is_missed = rows().any(|row| row.own.as_ref().is_some_and(|own| !own.mispredictions.is_empty()));
    let has_calls =
        rows().flat_map(|row| [&row.own, &row.reference]).flatten().any(|own| own.called.is_some());
    let mut columns = vec![Column::left("component")];
    let mut side = |of: &str, rank: u8| {
        columns.push(Column::right(&format!("{of}branches")).optional(rank));
        if has_units {
            columns.push(Column::right(&format!("{of}per unit")));
        }
        if has_calls {
            columns.push(Column::right(&format!("{of}per call")));
        }
    };
    side("", u8::from(has_units));
    if has_reference {
        side("ref. ", 3);
        columns.push(Column::right("ratio"));
    }
    columns.push(Column::right("share").optional(2));
    if has_calls {
        columns.push(Column::right("calls").optional(4));
    }
    columns.push(Column::right("instructions").optional(5));
    if is_missed {
        columns.push(Column::right("missed").optional(1));
    }
    let mut table = Table::new(columns, 1);
    for row in rows() {
        table.row(line(row, has_units, has_reference, has_calls, is_missed));
    }
    table
}

fn line(
    row: &ComponentRow,
    has_units: bool,
    has_reference: bool,
    has_calls: bool,
    is_missed: bool,
) -> Vec<Entry> {
    let ink = if row.kind == RowKind::Component { Ink::Plain } else { Ink::Dim };
    let mut entries = vec![Entry::inked(shorten(&row.name, 24), ink)];
    let mut side = |figures: Option<&Figures>| {
        let text = |of: &dyn Fn(&Figures) -> Option<String>| figures.and_then(of).unwrap_or_default();
        entries.push(text(&|own| Some(words::compact(own.branches as f64))).into());
        if has_units {
            entries.push(text(&|own| own.branches_per_unit.map(rate)).into());
        }
        if has_calls {
            entries.push(text(&|own| own.branches_per_call.map(rate)).into());
        }
    };
    side(row.own.as_ref());
    if has_reference {
        side(row.reference.as_ref());
        entries.push(row.ratio.map_or(String::new(), rate).into());
    }
    let own = |of: &dyn Fn(&Figures) -> Option<String>| {
        Entry::from(row.own.as_ref().and_then(of).unwrap_or_default())
    };
    entries.push(own(&|own| Some(words::part(own.share))));
    if has_calls {
        entries.push(own(&|own| own.called.map(|called| words::compact(called as f64))));
    }
    entries.push(own(&|own| Some(words::compact(own.instructions as f64))));
    if is_missed {
        entries.push(own(&|own| {
            let counts = || own.mispredictions.iter().map(|missed| missed.count as f64);
            Some(words::compact_span(counts().reduce(f64::min)?, counts().reduce(f64::max)?))
        }));
    }
    entries
}

/// A figure per something: two decimals below a hundred.
fn rate(value: f64) -> String {
    if value < 99.995 { format!("{value:.2}") } else { words::compact(value) }
}

/// Which functions make up the rest.
fn functions(row: &ComponentRow, sheet: &mut Sheet) {
    let list = |figures: &Option<Figures>| {
        let named = figures.iter().flat_map(|own| own.functions.iter().map(move |part| (part, own.branches)));
        let named = named.filter(|(part, _)| part.branches > 0).take(NAMED);
        named.map(|(part, all)| name(part, all)).collect::<Vec<_>>()
    };
    for (of, names) in [("", list(&row.own)), (" of the reference", list(&row.reference))] {
        if !names.is_empty() {
            let text = format!("{}{of}: mostly {}", row.name, names.join(", "));
            sheet.paragraph(Ink::Dim, "  ", &text);
        }
    }
}

fn name(part: &FunctionShare, all: u64) -> String {
    let share = words::part(part.branches as f64 / all.max(1) as f64);
    let is_nameless = part.name.ends_with(NO_SYMBOL);
    let name = if is_nameless { part.name.clone() } else { short(&part.name) };
    format!("{} {share}", shorten(&name, 40))
}

fn legend(components: &ComponentBreakdown, sheet: &mut Sheet) {
    if let Some(reference) = &components.reference {
        let text = format!("reference: {}", on_one_line(&reference.command.join(" ")));
        sheet.paragraph(Ink::Dim, "  ", &text);
    }
    let text = "Each branch counts once, for the innermost function (inlined ones included) that a glob matches. other: \
                functions that no glob matches. unattributed: code without a name. per call: per call from outside the \
                component; inlined calls have no branch and are not counted.";
    sheet.paragraph(Ink::Dim, "  ", text);
}
