//! Absolute times: per variant and input, and by where the function starts in its cache line.

use super::{Detail, build_name, companions, distinct};
use crate::ink::Ink;
use crate::number;
use crate::page::{Cell, OffsetShare, Page};
use crate::prose;
use crate::sheet::Sheet;
use crate::table::{Column, Entry, Table};
use assay_pure::stats::margin::Margin;

/// Builds with a table of medians in the brief view.
const MOST_BUILDS: usize = 4;
/// Offset tables in the brief view.
const MOST_OFFSET_TABLES: usize = 2;

/// Adds both sections.
pub(super) fn show(page: &Page, detail: Detail, sheet: &mut Sheet) {
    // Where nothing was measured, what is below says why of each.
    if page.cells.iter().all(|cell| cell.ns_per_unit.is_none()) {
        return;
    }
    medians(page, detail, sheet);
    offsets(page, detail, sheet);
}

fn medians(page: &Page, detail: Detail, sheet: &mut Sheet) {
    let with = if detail == Detail::Full { ", with its interval" } else { "" };
    sheet.heading(&format!("Nanoseconds per {}", page.unit));
    sheet.paragraph(Ink::Dim, "  ", &format!("Median over all placements{with}."));
    let variants = distinct(page.cells.iter().map(|cell| &cell.variant));
    let builds = distinct(page.cells.iter().map(|cell| (&cell.compiler, &cell.flags)));
    let most = if detail == Detail::Full { builds.len() } else { MOST_BUILDS };
    for &(compiler, flags) in builds.iter().take(most) {
        sheet.gap();
        let own: Vec<&Cell> =
            page.cells.iter().filter(|c| (&c.compiler, &c.flags) == (compiler, flags)).collect();
        let titles = variants.iter().map(|variant| Column::right(variant));
        let build = build_name(compiler, flags);
        let mut table = Table::new(std::iter::once(Column::left(&build)).chain(titles).collect(), 1);
        for input in distinct(own.iter().map(|cell| &cell.input)) {
            let cell =
                |variant: &&String| own.iter().find(|c| &c.input == input && &c.variant == *variant).copied();
            let figures = variants.iter().map(|variant| figure(cell(variant), detail));
            table.row(std::iter::once(input.clone().into()).chain(figures).collect());
        }
        sheet.table(&table);
    }
    if builds.len() > most {
        sheet.gap();
        let left = prose::plural((builds.len() - most) as u64, "more build");
        sheet.paragraph(Ink::Dim, "  ", &format!("{left}: --all"));
    }
}

fn figure(cell: Option<&Cell>, detail: Detail) -> Entry {
    match cell {
        None => Entry::inked("-", Ink::Dim),
        Some(Cell { failed: Some(_), .. }) => Entry::inked("failed", Ink::Bad),
        Some(Cell { ns_per_unit: None, .. }) => Entry::inked("-", Ink::Dim),
        Some(Cell { ns_per_unit: Some(spread), .. }) if detail == Detail::Full => {
            number::ns_with_interval(spread.median, spread.lower, spread.upper).into()
        }
        Some(Cell { ns_per_unit: Some(spread), .. }) => number::ns(spread.median).into(),
    }
}

/// All variants on one input in one build.
struct Group<'a> {
    input: &'a str,
    build: String,
    cells: Vec<&'a Cell>,
    /// Of the variant that moves most: slowest offset / fastest offset - 1.
    spread: f64,
}

fn offsets(page: &Page, detail: Detail, sheet: &mut Sheet) {
    let mut groups = groups(page);
    if groups.is_empty() {
        return;
    }
    groups.sort_by(|a, b| b.spread.total_cmp(&a.spread));
    sheet.heading("Placement");
    let largest = groups[0].spread;
    let margin = Margin::of(page.campaign.minimum_effect);
    groups.retain(|group| margin.is_exceeded_by(1.0 + group.spread));
    if groups.is_empty() {
        let text = format!("No variant moves by more than {} between placements.", number::fraction(largest));
        sheet.paragraph(Ink::Plain, "  ", &text);
    } else {
        offset_tables(page, detail, &groups, sheet);
    }
    if let Some(text) = explained(page) {
        sheet.gap();
        sheet.paragraph(Ink::Plain, "  ", &text);
    }
    companions::show(page, detail, sheet);
    let notes: Vec<(&str, &str)> =
        distinct(page.cells.iter().filter_map(|c| Some((c.reached.note.as_deref()?, c.variant.as_str()))));
    for note in distinct(notes.iter().map(|(note, _)| *note)) {
        let variants = notes.iter().filter(|(own, _)| *own == note).map(|(_, variant)| *variant);
        let text = format!("{}: {note}", prose::list(&variants.collect::<Vec<_>>()));
        sheet.paragraph(Ink::Dim, "  ", &text);
    }
}

fn offset_tables(page: &Page, detail: Detail, groups: &[Group], sheet: &mut Sheet) {
    let legend = format!(
        "Nanoseconds per {} by where the function starts in its 64-byte line; spread: the slowest start against the fastest.",
        page.unit
    );
    sheet.paragraph(Ink::Dim, "  ", &legend);
    let most = if detail == Detail::Full { groups.len() } else { MOST_OFFSET_TABLES };
    for group in groups.iter().take(most) {
        sheet.gap();
        sheet.paragraph(Ink::Plain, "  ", &format!("{}, {}", group.input, group.build));
        sheet.table(&offset_table(&group.cells));
    }
    if groups.len() > most {
        let (count, next) = (groups.len() - most, number::fraction(groups[most].spread));
        let text = format!("{count} more with a spread of at most {next}: --all");
        sheet.gap();
        sheet.paragraph(Ink::Dim, "  ", &text);
    }
}

fn groups(page: &Page) -> Vec<Group<'_>> {
    let keys = distinct(page.cells.iter().map(|c| (c.compiler.as_str(), c.flags.as_str(), c.input.as_str())));
    let group = |(compiler, flags, input): (&str, &str, &str)| {
        let is_own =
            |c: &&Cell| (c.compiler.as_str(), c.flags.as_str(), c.input.as_str()) == (compiler, flags, input);
        page.cells.iter().filter(is_own).filter(|c| c.by_offset.len() > 1).collect::<Vec<&Cell>>()
    };
    keys.into_iter()
        .map(|key| (key, group(key)))
        .filter(|(_, cells)| !cells.is_empty())
        .map(|((compiler, flags, input), cells)| {
            let spread = cells.iter().map(|cell| spread(cell)).fold(0.0, f64::max);
            Group { input, build: build_name(compiler, flags), cells, spread }
        })
        .collect()
}

fn offset_table(cells: &[&Cell]) -> Table {
    let mut offsets = distinct(cells.iter().flat_map(|cell| cell.by_offset.iter().map(|at| at.offset)));
    offsets.sort_unstable();
    let mut columns = vec![Column::left("variant")];
    columns.extend(offsets.iter().map(|offset| Column::right(&format!("@{offset}"))));
    columns.extend([Column::right("spread"), Column::right("as built").optional(1)]);
    let mut table = Table::new(columns, 1);
    for cell in cells {
        let at = |offset: &u64| cell.by_offset.iter().find(|at| at.offset == *offset);
        let figure =
            |offset: &u64| Entry::from(at(offset).map_or("-".to_owned(), |at| number::ns(at.ns_per_unit)));
        let mut row = vec![cell.variant.clone().into()];
        row.extend(offsets.iter().map(figure));
        row.push(number::change(1.0 + spread(cell)).trim_start_matches('+').into());
        row.push(cell.as_built_ns.map(number::ns).unwrap_or_default().into());
        table.row(row);
    }
    table
}

/// What the times of cells that move go with: the medians of the parts, and the cell of which the start explains least.
fn explained(page: &Page) -> Option<String> {
    let margin = Margin::of(page.campaign.minimum_effect);
    let moving = page.cells.iter().filter(|cell| margin.is_exceeded_by(1.0 + spread(cell)));
    let shares: Vec<(&Cell, OffsetShare)> =
        moving.filter_map(|cell| cell.offset_share.map(|share| (cell, share))).collect();
    let median = |part: fn(&OffsetShare) -> f64| {
        assay_pure::stats::quantile::median(&shares.iter().map(|(_, share)| part(share)).collect::<Vec<_>>())
    };
    let (offset, shuffle, rest) = (median(|of| of.offset)?, median(|of| of.shuffle)?, median(|of| of.rest)?);
    let (cell, least) = shares.iter().min_by(|a, b| a.1.offset.total_cmp(&b.1.offset))?;
    let cells = prose::plural(shares.len() as u64, "cell");
    Some(format!(
        "Of the variance of a time over placements, where the function starts in its line explains {}, the order of \
         the functions {}, neither alone {} (medians over {cells} that move); least, {}, of {} on {}, {}.",
        number::fraction(offset),
        number::fraction(shuffle),
        number::fraction(rest),
        number::fraction(least.offset),
        cell.variant,
        cell.input,
        build_name(&cell.compiler, &cell.flags)
    ))
}

/// Slowest offset / fastest offset - 1.
fn spread(cell: &Cell) -> f64 {
    let times = || cell.by_offset.iter().map(|at| at.ns_per_unit);
    let (least, most) = (times().fold(f64::INFINITY, f64::min), times().fold(0.0, f64::max));
    if least > 0.0 && least.is_finite() { most / least - 1.0 } else { 0.0 }
}
