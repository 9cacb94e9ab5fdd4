//! Absolute times: per variant and input, and by where the function starts in its cache line.

use super::build_column::BuildColumn;
use super::{Detail, build_name, companions, distinct};
use crate::history::spark;
use crate::ink::Ink;
use crate::page::{AsBuiltSays, AtOffset, Page, PageCell, PageOffsetShare, Throughput};
use crate::sheet::Sheet;
use crate::table::{Column, Entry, Table};
use assay_pure::stats::margin::Margin;
use assay_pure::words::{self, TimeUnit};

/// Rows of medians in the brief view.
const MOST_ROWS: usize = 24;
/// Rows of medians that have their rates below them in the brief view.
const MOST_WITH_RATES: usize = 4;
/// Rows of times by placement in the brief view.
const MOST_MOVING: usize = 6;

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
    let with = if detail == Detail::Full { " with its interval" } else { "" };
    let (builds, unit) = (BuildColumn::of(page), unit(page));
    let heading = format!("Times, {} per {}: median over all placements{with}", unit.name, page.unit);
    sheet.heading(&builds.heading(&heading));
    let variants = distinct(page.cells.iter().map(|cell| &cell.variant));
    let mut columns = vec![Column::left("input")];
    columns.extend(builds.column());
    let keys = columns.len();
    columns.extend(variants.iter().map(|variant| Column::right(variant)));
    let mut table = Table::new(columns, keys);
    let inputs = distinct(page.cells.iter().map(|cell| cell.input.as_str()));
    let places = distinct(page.cells.iter().map(|cell| (cell.compiler.as_str(), cell.flags.as_str())));
    let rows = inputs.len() * places.len();
    let most = if detail == Detail::Full { rows } else { MOST_ROWS };
    let rates =
        if detail == Detail::Full || rows <= MOST_WITH_RATES { rates(page, detail) } else { Vec::new() };
    for (at, (input, (compiler, flags))) in inputs
        .iter()
        .flat_map(|input| places.iter().map(move |place| (*input, *place)))
        .take(most)
        .enumerate()
    {
        let cell = |variant: &&String| {
            let is = |c: &&PageCell| {
                (c.input.as_str(), c.compiler.as_str(), c.flags.as_str()) == (input, compiler, flags)
                    && &c.variant == *variant
            };
            page.cells.iter().find(is)
        };
        let mut row = vec![if at % places.len() == 0 { input.into() } else { Entry::default() }];
        row.extend(builds.entry(compiler, flags));
        row.extend(variants.iter().map(|variant| figure(page, cell(variant), unit, detail)));
        table.row(row);
        for (name, rate) in &rates {
            let rate_of = |variant| cell(variant).and_then(|cell| cell.throughput.map(rate));
            let figures: Vec<Option<f64>> = variants.iter().map(rate_of).collect();
            if figures.iter().any(Option::is_some) {
                let mut row = vec![Entry::default(); keys - 1];
                row.push(Entry::inked(name, Ink::Dim));
                let entry =
                    |rate: Option<f64>| Entry::inked(rate.map(words::ns).unwrap_or_default(), Ink::Dim);
                row.extend(figures.into_iter().map(entry));
                table.row(row);
            }
        }
    }
    sheet.table(&table);
    if rows > most {
        sheet.gap();
        sheet.paragraph(Ink::Dim, "  ", &format!("{} more rows: --all", rows - most));
    }
}

/// A rate: its unit, and how it is read.
type ThroughputRow = (String, fn(Throughput) -> f64);

/// The rates that stand below the times.
fn rates(page: &Page, detail: Detail) -> Vec<ThroughputRow> {
    let mut rates: Vec<ThroughputRow> = vec![("GB/s".to_owned(), |of| of.gigabytes_per_second)];
    if detail == Detail::Full {
        let name = format!("million {}/s", words::plural_noun(&page.unit));
        rates.push((name, |of| of.million_units_per_second));
    }
    rates
}

/// The unit of all times of the page: that of the median cell.
fn unit(page: &Page) -> TimeUnit {
    let times: Vec<f64> =
        page.cells.iter().filter_map(|cell| cell.ns_per_unit.map(|spread| spread.median)).collect();
    TimeUnit::of(assay_pure::stats::quantile::median(&times).unwrap_or(1.0))
}

fn figure(page: &Page, cell: Option<&PageCell>, unit: TimeUnit, detail: Detail) -> Entry {
    match cell {
        None => Entry::inked("-", Ink::Dim),
        Some(cell) if page.is_skipped(cell) => Entry::inked("skipped", Ink::Dim),
        Some(PageCell { failed: Some(_), .. }) => Entry::inked("failed", Ink::Bad),
        Some(PageCell { ns_per_unit: None, .. }) => Entry::inked("-", Ink::Dim),
        Some(PageCell { ns_per_unit: Some(spread), .. }) if detail == Detail::Full => {
            let scaled = |ns: f64| ns / unit.ns;
            words::ns_with_interval(scaled(spread.median), scaled(spread.lower), scaled(spread.upper)).into()
        }
        Some(PageCell { ns_per_unit: Some(spread), .. }) => unit.figure(spread.median).into(),
    }
}

fn offsets(page: &Page, detail: Detail, sheet: &mut Sheet) {
    let mut cells: Vec<&PageCell> = page.cells.iter().filter(|cell| cell.by_offset.len() > 1).collect();
    let Some(largest) = cells.iter().map(|cell| spread(cell)).max_by(f64::total_cmp) else { return };
    let margin = Margin::of(page.campaign.minimum_effect);
    let still = !margin.is_exceeded_by(1.0 + largest);
    if still || detail == Detail::Brief {
        cells.retain(|cell| margin.is_exceeded_by(1.0 + spread(cell)));
        cells.sort_by(|a, b| spread(b).total_cmp(&spread(a)));
    }
    // Where an ordinary link misleads, placement is the answer's reason; elsewhere a sentence says how much it does.
    if detail == Detail::Brief && !cells.iter().any(|cell| misleads(page, cell)) {
        sheet.gap();
        sheet.paragraph(Ink::Plain, "  ", &moved(page, &cells, largest));
        return;
    }
    sheet.heading(&BuildColumn::of(page).heading("Placement"));
    if cells.is_empty() {
        sheet.paragraph(Ink::Plain, "  ", &moved(page, &cells, largest));
    } else {
        offset_table(page, detail, &cells, sheet);
    }
    if let Some(text) = explained(page, detail) {
        sheet.gap();
        sheet.paragraph(Ink::Plain, "  ", &text);
    }
    companions::show(page, detail, sheet);
    let notes: Vec<(&str, &str)> =
        distinct(page.cells.iter().filter_map(|c| Some((c.reached.note.as_deref()?, c.variant.as_str()))));
    for note in distinct(notes.iter().map(|(note, _)| *note)) {
        let variants = notes.iter().filter(|(own, _)| *own == note).map(|(_, variant)| *variant);
        let text = format!("{}: {note}", words::list(&variants.collect::<Vec<_>>()));
        sheet.paragraph(Ink::Dim, "  ", &text);
    }
}

/// Whether an ordinary link says something else of a contrast of this cell than the mean over placements.
fn misleads(page: &Page, cell: &PageCell) -> bool {
    let place = (&cell.input, &cell.compiler, &cell.flags);
    page.contrasts.iter().any(|contrast| {
        let of_cell = [&contrast.candidate, &contrast.baseline].contains(&&cell.variant);
        let misleads = contrast.as_built_says.is_some_and(|says| says != AsBuiltSays::Confirmed);
        (&contrast.input, &contrast.compiler, &contrast.flags) == place && of_cell && misleads
    })
}

/// "Placement moves 6 of 12 cells by more than 5 %, most of all branch on one_byte, gcc-12 O2: 1.21 ns where it starts at 32, 1.93
/// ns at 0 (--all lists them)."; `moving` has the widest spread first.
fn moved(page: &Page, moving: &[&PageCell], largest: f64) -> String {
    let Some(most) = moving.first() else {
        return format!("No variant moves by more than {} between placements.", words::fraction(largest));
    };
    let by_time = |one: &&AtOffset, other: &&AtOffset| one.ns_per_unit.total_cmp(&other.ns_per_unit);
    let ends = most.by_offset.iter().min_by(by_time).zip(most.by_offset.iter().max_by(by_time));
    let range = ends.map_or(String::new(), |(fastest, slowest)| {
        format!(
            ": {} where it starts at {}, {} at {}",
            words::time(fastest.ns_per_unit),
            fastest.offset,
            words::time(slowest.ns_per_unit),
            slowest.offset
        )
    });
    format!(
        "Placement moves {} of {} by more than {}, most of all {} on {}, {}{range} (--all lists them).",
        moving.len(),
        words::plural(page.cells.len() as u64, "cell"),
        words::asked(page.campaign.minimum_effect),
        most.variant,
        most.input,
        build_name(&most.compiler, &most.flags),
    )
}

fn offset_table(page: &Page, detail: Detail, cells: &[&PageCell], sheet: &mut Sheet) {
    let (builds, unit) = (BuildColumn::of(page), unit(page));
    let order = if detail == Detail::Full { "" } else { " Widest spread first." };
    let legend = format!(
        "{} per {} by where the function starts in its 64-byte line. spread: slowest start against fastest.{order}",
        unit.name, page.unit
    );
    sheet.paragraph(Ink::Dim, "  ", &legend);
    let most = if detail == Detail::Full { cells.len() } else { MOST_MOVING };
    let (shown, left) = cells.split_at(cells.len().min(most));
    let mut offsets = distinct(shown.iter().flat_map(|cell| cell.by_offset.iter().map(|at| at.offset)));
    offsets.sort_unstable();
    let mut columns = vec![Column::left("variant"), Column::left("input")];
    columns.extend(builds.column());
    let keys = columns.len();
    columns.extend(offsets.iter().map(|offset| Column::right(&format!("@{offset}"))));
    let strips = sheet.has_bars() && offsets.len() > 2;
    columns.extend(strips.then(|| Column::left("by start").optional(2)));
    columns.extend([Column::right("spread"), Column::right("as built").optional(1)]);
    let mut table = Table::new(columns, keys);
    for cell in shown {
        let at = |offset: &u64| cell.by_offset.iter().find(|at| at.offset == *offset);
        let figure =
            |offset: &u64| Entry::from(at(offset).map_or("-".to_owned(), |at| unit.figure(at.ns_per_unit)));
        let mut row = vec![cell.variant.clone().into(), cell.input.clone().into()];
        row.extend(builds.entry(&cell.compiler, &cell.flags));
        row.extend(offsets.iter().map(figure));
        let times = || offsets.iter().map(|offset| at(offset).map(|at| at.ns_per_unit));
        row.extend(strips.then(|| Entry::from(strip(&times().collect::<Vec<_>>()))));
        row.push(words::change(1.0 + spread(cell)).trim_start_matches('+').into());
        row.push(cell.as_built_ns.map(|ns| unit.figure(ns)).unwrap_or_default().into());
        table.row(row);
    }
    sheet.gap();
    sheet.table(&table);
    if let Some(next) = left.first() {
        let (count, next) = (words::plural(left.len() as u64, "more row"), words::fraction(spread(next)));
        sheet.gap();
        sheet.paragraph(Ink::Dim, "  ", &format!("{count} with a spread of at most {next}: --all"));
    }
}

/// Times as blocks, the fastest lowest; a blank where there is none. Two columns each, so that the eye finds the start.
fn strip(times: &[Option<f64>]) -> String {
    let known = || times.iter().flatten().copied();
    let (low, high) = (known().fold(f64::INFINITY, f64::min), known().fold(0.0, f64::max));
    let block = |time: &Option<f64>| match time {
        Some(time) if high > low => {
            spark::HEIGHTS[(((time - low) / (high - low) * 7.0).round() as usize).min(7)]
        }
        Some(_) => spark::HEIGHTS[0],
        None => ' ',
    };
    times.iter().flat_map(|time| [block(time); 2]).collect()
}

/// What the times of cells that move go with: the medians of the parts, and the cell of which the start offset explains least.
fn explained(page: &Page, detail: Detail) -> Option<String> {
    let margin = Margin::of(page.campaign.minimum_effect);
    let moving = page.cells.iter().filter(|cell| margin.is_exceeded_by(1.0 + spread(cell)));
    let shares: Vec<(&PageCell, PageOffsetShare)> =
        moving.filter_map(|cell| cell.offset_share.map(|share| (cell, share))).collect();
    let median = |part: fn(&PageOffsetShare) -> f64| {
        assay_pure::stats::quantile::median(&shares.iter().map(|(_, share)| part(share)).collect::<Vec<_>>())
    };
    let (offset, shuffle, rest) = (median(|of| of.offset)?, median(|of| of.shuffle)?, median(|of| of.rest)?);
    let (cell, least) = shares.iter().min_by(|a, b| a.1.offset.total_cmp(&b.1.offset))?;
    let cells = words::plural(shares.len() as u64, "cell");
    let fewest = if detail == Detail::Full {
        format!(
            " The start offset explains least ({}) for {} on {}, {}.",
            words::fraction(least.offset),
            cell.variant,
            cell.input,
            build_name(&cell.compiler, &cell.flags)
        )
    } else {
        String::new()
    };
    Some(format!(
        "Variance over placements: {} from where the function starts in its line, {} from the order of the functions, \
         {} unexplained (medians of the {cells} that move).{fewest}",
        words::fraction(offset),
        words::fraction(shuffle),
        words::fraction(rest),
    ))
}

/// Slowest offset / fastest offset - 1.
fn spread(cell: &PageCell) -> f64 {
    let times = || cell.by_offset.iter().map(|at| at.ns_per_unit);
    let (least, most) = (times().fold(f64::INFINITY, f64::min), times().fold(0.0, f64::max));
    if least > 0.0 && least.is_finite() { most / least - 1.0 } else { 0.0 }
}
