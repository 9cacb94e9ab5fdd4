//! Hot and cold, throughput and latency: each variant's times in every use of an input, beside those of hot throughput.

use super::{Detail, build_name, distinct};
use crate::ink::Ink;
use crate::page::{Page, PageCell};
use crate::sheet::Sheet;
use crate::table::{Column, Entry, Table};
use crate::usage::{self, UsedInput};
use assay_pure::words;

/// Builds in the brief view.
const MOST_BUILDS: usize = 2;

/// Adds the section; nothing where every input is used in one way.
pub(super) fn show(page: &Page, detail: Detail, sheet: &mut Sheet) {
    let used = usage::used(page);
    if used.is_empty() || page.cells.iter().all(|cell| cell.ns_per_unit.is_none()) {
        return;
    }
    sheet.heading("Hot and cold");
    let text = format!(
        "Nanoseconds per {}, and how many times those of the same variant hot. Latency: each call waits for the last one's \
         answer; elsewhere the processor works on several calls at once.",
        page.unit
    );
    sheet.paragraph(Ink::Dim, "  ", &text);
    let builds = distinct(page.cells.iter().map(|cell| (cell.compiler.as_str(), cell.flags.as_str())));
    let most = if detail == Detail::Full { builds.len() } else { MOST_BUILDS };
    for input in &used {
        for &(compiler, flags) in builds.iter().take(most) {
            sheet.gap();
            sheet.table(&table(page, input, compiler, flags));
        }
    }
    if builds.len() > most {
        sheet.gap();
        let left = words::plural((builds.len() - most) as u64, "more build");
        sheet.paragraph(Ink::Dim, "  ", &format!("{left}: --all"));
    }
}

fn table(page: &Page, used: &UsedInput<'_>, compiler: &str, flags: &str) -> Table {
    let own = |cell: &&PageCell| cell.compiler == compiler && cell.flags == flags;
    let cells: Vec<&PageCell> = page.cells.iter().filter(own).collect();
    let variants = distinct(cells.iter().map(|cell| cell.variant.as_str()));
    let find = |variant: &str, input: &str| {
        cells.iter().find(|cell| cell.variant == variant && cell.input == input).copied()
    };
    let median = |variant: &str, input: &str| {
        find(variant, input).and_then(|cell| cell.ns_per_unit.as_ref()).map(|spread| spread.median)
    };
    let title = format!("{}, {}", used.name, build_name(compiler, flags));
    let mut columns = vec![Column::left(&title)];
    columns.extend(variants.iter().map(|variant| Column::right(variant)));
    let mut table = Table::new(columns, 1);
    for input in &used.inputs {
        let hot = used.plain().filter(|plain| plain.name != input.name);
        let figure = |variant: &&str| match median(variant, &input.name) {
            Some(ns) => {
                let hot_ns = hot.and_then(|plain| median(variant, &plain.name)).filter(|hot| *hot > 0.0);
                let times = hot_ns.map(|hot| format!("{:>7}", format!("x{}", words::short(ns / hot))));
                Entry::from(format!("{}{}", words::ns(ns), times.unwrap_or_else(|| " ".repeat(7))))
            }
            None => match find(variant, &input.name) {
                Some(cell) if page.is_skipped(cell) => Entry::inked("skipped", Ink::Dim),
                Some(cell) if cell.failed.is_some() => Entry::inked("failed", Ink::Bad),
                _ => Entry::inked("-", Ink::Dim),
            },
        };
        let figures: Vec<Entry> = variants.iter().map(figure).collect();
        table.row(std::iter::once(usage::label(input).into()).chain(figures).collect());
    }
    table
}
