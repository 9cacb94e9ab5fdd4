//! The sites as text for a terminal: the answer, what could make it wrong, the table, the worst sites at close range, hints.
//!
//! Made for 80 columns and for 160: a line per site in both, more columns in the wider. Checked by golden
//! texts, by tests of its structure and that no line exceeds its width.

mod closeup;
mod components;
mod hints;

use super::names::short;
use super::page::{Site, SiteMisses, SitesPage};
use crate::ink::{Ink, Palette};
use crate::link::SourcePlace;
use crate::prose::{file_name, on_one_line, shorten};
use crate::sheet::Sheet;
use crate::table::{Column, Entry, Table};
use assay_pure::words;

/// From this width on a site's line has its instruction and a column per predictor.
const WIDE: usize = 120;

/// The page as text, no line wider than `width` columns (at least 40), with ANSI colours if `colour`.
pub fn render_sites(page: &SitesPage, width: usize, palette: impl Into<Palette>) -> String {
    let mut sheet = Sheet::new(width, palette);
    sheet.answer(&page.answer, None);
    totals(page, &mut sheet);
    sheet.warnings(&page.warnings);
    if let Some(components) = &page.components {
        components::show(components, &mut sheet);
    }
    if !page.sites.is_empty() {
        sheet.gap();
        sheet.table(&table(page, width));
        legend(page, &mut sheet);
    }
    for site in page.sites.iter().filter(|site| !site.source.is_empty() || !site.code.is_empty()) {
        closeup::show(site, &mut sheet);
    }
    if let Some(hints) = &page.hints {
        hints::show(hints, &mut sheet);
    }
    simulated(page, &mut sheet);
    sheet.into_text()
}

/// What was executed, in a line or two.
fn totals(page: &SitesPage, sheet: &mut Sheet) {
    let totals = &page.totals;
    let mut text = format!(
        "{} instructions, {} branches, {} of them conditional ({} taken), at {}",
        words::compact(totals.instructions as f64),
        words::compact(totals.branches as f64),
        words::compact(totals.conditional as f64),
        words::part(totals.taken as f64 / totals.conditional.max(1) as f64),
        words::plural(totals.sites, "site")
    );
    let missed: Vec<String> = totals
        .mispredictions
        .iter()
        .map(|missed| {
            let mpki = missed.count as f64 * 1000.0 / totals.instructions.max(1) as f64;
            format!("{} {} ({mpki:.2} mpki)", missed.predictor, words::compact(missed.count as f64))
        })
        .collect();
    if !missed.is_empty() {
        text += &format!("; mispredicted by {}", missed.join(", "));
    }
    sheet.labelled(Ink::Dim, "traced    ", &text);
    if page.processes.len() > 1 {
        let threads = page.processes.iter().map(|process| process.threads).sum();
        let text = format!(
            "{} with {}",
            words::plural(page.processes.len() as u64, "process"),
            words::plural(threads, "thread")
        );
        sheet.labelled(Ink::Dim, "          ", &text);
    }
}

fn table(page: &SitesPage, width: usize) -> Table {
    let is_wide = width >= WIDE;
    let has_processes = page.sites.iter().any(|site| site.process.is_some());
    let is_missed = !page.predictors.is_empty();
    let mut columns = vec![Column::right("#"), Column::left("line, function")];
    if has_processes {
        columns.push(Column::right("pid"));
    }
    if is_wide {
        columns.push(Column::left("branch").optional(3));
    }
    columns.extend([Column::right("executed"), Column::right("taken")]);
    if is_missed {
        columns.extend([Column::right("missed"), Column::right("rate").optional(1)]);
        columns.extend([Column::right("share"), Column::right("total"), Column::right("floor")]);
    }
    let each = if is_wide && page.predictors.len() > 1 { page.predictors.as_slice() } else { &[] };
    columns.extend(each.iter().map(|predictor| Column::right(&predictor.name).optional(2)));
    if is_wide {
        columns.push(Column::left("address").optional(4));
    }
    let keys = 2;
    let mut table = Table::new(columns, keys);
    let room = if is_wide { 44 } else { name_room(page, width, has_processes, is_missed) };
    for site in &page.sites {
        let mut row: Vec<Entry> =
            vec![site.rank.to_string().into(), Entry::from(name(site, room)).at(place_of(site))];
        if has_processes {
            row.push(site.process.map_or(String::new(), |pid| pid.to_string()).into());
        }
        if is_wide {
            row.push(shorten(&kind(site), 24).into());
        }
        row.push(words::compact(site.executed as f64).into());
        row.push(words::part(site.taken as f64 / site.executed.max(1) as f64).into());
        if is_missed {
            row.extend(judged(site));
        }
        row.extend(each.iter().map(|predictor| {
            let own = site.mispredictions.iter().find(|missed| missed.predictor == predictor.name);
            Entry::from(own.map_or(String::new(), |missed| words::compact(missed.count as f64)))
        }));
        if is_wide {
            row.push(address(site).into());
        }
        table.row(row);
    }
    table
}

/// Columns left for the name in a narrow table.
fn name_room(page: &SitesPage, width: usize, has_processes: bool, is_missed: bool) -> usize {
    let widest = |of: &dyn Fn(&Site) -> String, title: &str| {
        let entries = page.sites.iter().map(|site| of(site).chars().count());
        2 + entries.max().unwrap_or(0).max(title.len())
    };
    // The indent, the rank, and the gap after the name.
    let mut others = 2 + widest(&|site| site.rank.to_string(), "#");
    others += widest(&|site| words::compact(site.executed as f64), "executed") + 2 + "taken".len() + 1;
    if is_missed {
        others += widest(&|site| missed(&site.mispredictions), "missed") + 2 * (2 + "share".len() + 1);
        others += widest(&|site| floor(site), "floor");
    }
    if has_processes {
        others += widest(&|site| site.process.map_or(String::new(), |pid| pid.to_string()), "pid");
    }
    width.saturating_sub(others).clamp(14, 60)
}

/// What predictors made of a site: missed, rate, share, running total, floor.
fn judged(site: &Site) -> Vec<Entry> {
    let is_judged = !site.mispredictions.is_empty();
    let rate = if is_judged { words::part(site.rate) } else { String::new() };
    let part = |part: Option<f64>| part.map_or(String::new(), words::part);
    vec![
        missed(&site.mispredictions).into(),
        rate.into(),
        part(site.share.filter(|_| is_judged)).into(),
        part(site.running).into(),
        floor(site).into(),
    ]
}

/// The range over predictors.
fn missed(missed: &[SiteMisses]) -> String {
    let counts = || missed.iter().map(|missed| missed.count as f64);
    match (counts().reduce(f64::min), counts().reduce(f64::max)) {
        (Some(low), Some(high)) => words::compact_span(low, high),
        _ => String::new(),
    }
}

fn floor(site: &Site) -> String {
    let best = site.floor.as_ref().map(|floor| floor.best.unwrap_or(floor.constant as f64));
    best.map_or(String::new(), words::compact)
}

/// Where a site is, for a link.
fn place_of(site: &Site) -> Option<SourcePlace> {
    SourcePlace::of(site.file.as_deref()?, u64::from(site.line?))
}

/// Line first where there is not room for all: it says more than a name cut in half.
fn name(site: &Site, room: usize) -> String {
    let function = site.function.as_deref().map(short);
    let line = site.file.as_deref().zip(site.line).map(|(file, line)| format!("{}:{line}", file_name(file)));
    match (function, line) {
        (Some(function), Some(line)) => {
            let left = room.saturating_sub(line.chars().count() + 1);
            if left < 4 { shorten(&line, room) } else { format!("{line} {}", shorten(&function, left)) }
        }
        (Some(function), None) => {
            let module = format!("{}+{}", site.module.as_deref().map_or("", file_name), site.address);
            let left = room.saturating_sub(module.chars().count() + 1);
            if left < 8 { shorten(&function, room) } else { format!("{} {module}", shorten(&function, left)) }
        }
        (None, Some(line)) => shorten(&line, room),
        (None, None) => {
            let module = site.module.as_deref().map_or("code made at run time", file_name);
            shorten(&format!("{module}+{}", site.address), room)
        }
    }
}

/// The instruction, or what kind of branch it is.
fn kind(site: &Site) -> String {
    site.instruction.clone().unwrap_or_else(|| site.class.clone())
}

fn address(site: &Site) -> String {
    format!("{}+{}", site.module.as_deref().map_or("", file_name), site.address)
}

fn legend(page: &SitesPage, sheet: &mut Sheet) {
    let left_out = &page.left_out;
    if left_out.sites > 0 {
        let share = left_out
            .share
            .map_or(String::new(), |share| format!(", {} of the mispredictions", words::part(share)));
        let text = format!(
            "{} more, with {} branches{share}; --top N lists more",
            words::plural(left_out.sites, "site"),
            words::compact(left_out.executed as f64)
        );
        sheet.paragraph(Ink::Dim, "  ", &text);
    }
    if page.predictors.is_empty() {
        return;
    }
    let range = if page.predictors.len() > 1 {
        "missed: from the best to the worst predictor; share: of their mean. "
    } else {
        ""
    };
    let text = format!(
        "{range}floor: what the best rule that sees only this branch's last 8 outcomes would miss. Fewer misses take the \
         history of other branches, other data or branch-free code."
    );
    sheet.paragraph(Ink::Dim, "  ", &text);
}

/// What was simulated, so that the figures can be made again.
fn simulated(page: &SitesPage, sheet: &mut Sheet) {
    sheet.gap();
    for predictor in &page.predictors {
        let text = format!("{}: {} (definition {})", predictor.name, predictor.what, predictor.definition);
        sheet.labelled(Ink::Dim, "simulated ", &text);
    }
    let what = if page.predictors.is_empty() {
        "branches"
    } else {
        "branches; mispredictions are simulated, not this machine's"
    };
    let by = match page.emulator.as_str() {
        "" => "with records of its branches".to_owned(),
        version => format!("under QEMU {version}"),
    };
    let text = format!("{} {by}: exact {what}", page.command.join(" "));
    sheet.labelled(Ink::Dim, "command   ", &on_one_line(&text));
}
