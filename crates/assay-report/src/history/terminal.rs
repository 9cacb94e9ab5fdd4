//! A history in the terminal: the answer, each change in a sentence, then a line per series.

use super::answer::told;
use super::machines;
use super::page::{GatePage, HistoryPage, HistorySeries, SeriesKind};
use super::spark;
use crate::ink::Ink;
use crate::sheet::Sheet;
use crate::table::{Column, Entry, Table};
use assay_pure::history::GateReading;
use assay_pure::verdict::Verdict;
use assay_pure::words;

/// Changes that are told before `--all` is asked for.
const TOLD: usize = 8;
/// Series that are shown before.
const SHOWN: usize = 24;

/// The page as text, no line wider than `width`.
pub fn render_history(page: &HistoryPage, width: usize, colour: bool, all: bool) -> String {
    let mut sheet = Sheet::new(width, colour);
    sheet.answer(&page.answer, page.next.as_deref());
    sheet.warnings(&page.warnings);
    if let Some(gate) = &page.gate {
        checks(&mut sheet, page, gate, all);
    }
    changes(&mut sheet, page, all);
    by_machine(&mut sheet, page, all);
    of_one_kind(&mut sheet, page);
    series(&mut sheet, page, width, all);
    runs(&mut sheet, page, all);
    sheet.into_text()
}

fn checks(sheet: &mut Sheet, page: &HistoryPage, gate: &GatePage, all: bool) {
    let of = gate.run.map_or(String::new(), |run| format!(" of run {}", page.runs[run].id));
    sheet.heading(&format!("Gate {}{of}", gate.gate));
    for check in &gate.checks {
        let (ink, word) = match check.reading {
            GateReading::Failed => (Ink::Bad, "failed     "),
            GateReading::Undecided => (Ink::Doubt, "undecided  "),
            GateReading::Passed if all || gate.checks.len() <= TOLD => (Ink::Good, "passed     "),
            GateReading::Passed => continue,
        };
        sheet.labelled(ink, word, &format!("{}: {}", check.series, check.note));
    }
}

fn changes(sheet: &mut Sheet, page: &HistoryPage, all: bool) {
    let told = told(page);
    // One alone is the answer itself.
    if told.is_empty() || told.len() == 1 && page.gate.is_none() {
        return;
    }
    sheet.heading("Changes, the newest first");
    let shown = if all { told.len() } else { TOLD.min(told.len()) };
    for (_, change) in &told[..shown] {
        let (ink, mark) = if change.ratio > 1.0 { (Ink::Bad, "▲ ") } else { (Ink::Good, "▼ ") };
        sheet.labelled(ink, mark, &change.sentence);
    }
    if shown < told.len() {
        let left = words::plural((told.len() - shown) as u64, "older change");
        sheet.paragraph(Ink::Dim, "", &format!("{left} not shown; --all shows everything"));
    }
}

/// What the newest run of each machine says, where there are several.
fn by_machine(sheet: &mut Sheet, page: &HistoryPage, all: bool) {
    let found = machines::across(page);
    if found.is_empty() {
        return;
    }
    sheet.heading("By machine, the newest run of each");
    let columns = vec![
        Column::left("contrast"),
        Column::left("machine").wrapping(),
        Column::left("verdict"),
        Column::right("effect"),
        Column::left("interval").optional(1),
        Column::left("run").optional(2),
    ];
    let mut table = Table::new(columns, 1);
    let shown = if all { found.len() } else { TOLD.min(found.len()) };
    for contrast in &found[..shown] {
        for (number, said) in contrast.said.iter().enumerate() {
            let ink = match said.verdict {
                Verdict::Faster => Ink::Good,
                Verdict::Slower => Ink::Bad,
                Verdict::Equivalent => Ink::Plain,
                Verdict::Undecided => Ink::Doubt,
            };
            let span = said.lower.zip(said.upper).map(|(lower, upper)| words::fine_span(lower, upper));
            table.row(vec![
                if number == 0 { contrast.label.to_owned() } else { String::new() }.into(),
                machines::name(page, said.machine).into(),
                Entry::inked(said.verdict.word().to_owned(), ink),
                words::fine_change(said.ratio).into(),
                span.unwrap_or_default().into(),
                page.runs[said.run].id.clone().into(),
            ]);
        }
    }
    sheet.table(&table);
    if shown < found.len() {
        let left = words::plural((found.len() - shown) as u64, "more contrast");
        sheet.paragraph(Ink::Dim, "", &format!("{left}; --all shows everything"));
    }
}

/// Machines of one kind: who is out of line, and how often such a report is wrong.
fn of_one_kind(sheet: &mut Sheet, page: &HistoryPage) {
    if page.alike.is_empty() && page.left_out.is_empty() {
        return;
    }
    sheet.heading("Machines of one kind");
    for kind in &page.alike {
        let (ink, mark) = if kind.findings.is_empty() { (Ink::Plain, "  ") } else { (Ink::Doubt, "! ") };
        kind.sentences.iter().for_each(|said| sheet.labelled(ink, mark, said));
    }
    if !page.left_out.is_empty() {
        sheet.paragraph(Ink::Dim, "", &format!("Left out as asked: {}.", words::list(&page.left_out)));
    }
    if let Some(note) = &page.alike_note {
        sheet.paragraph(Ink::Dim, "", note);
    }
}

/// The level of a series: the mean logarithm of its last stretch, or its first, on one machine.
fn level(page: &HistoryPage, series: &HistorySeries, last: bool) -> Option<f64> {
    let end = if last { series.points.last() } else { series.points.first() };
    let machine = page.runs[end?.run].machine;
    let bound = if last { series.changes.last() } else { series.changes.first() };
    let chosen: Vec<f64> = series
        .points
        .iter()
        .filter(|point| page.runs[point.run].machine == machine)
        .filter(|point| bound.is_none_or(|change| (point.run >= change.at) == last))
        .map(|point| point.value.ln())
        .collect();
    (!chosen.is_empty()).then(|| (chosen.iter().sum::<f64>() / chosen.len() as f64).exp())
}

fn figure(series: &HistorySeries, value: Option<f64>) -> String {
    match value {
        None => String::new(),
        Some(ratio) if series.unit == "ratio" => words::fine_change(ratio),
        Some(ns) if series.unit.starts_with("ns") => words::time(ns),
        Some(other) => format!("{} {}", words::short(other), series.unit),
    }
}

fn series(sheet: &mut Sheet, page: &HistoryPage, width: usize, all: bool) {
    let is_shown = |series: &&HistorySeries| {
        all || series.kind != SeriesKind::ContrastAsBuilt || !series.changes.is_empty()
    };
    let shown: Vec<&HistorySeries> = page.series.iter().filter(is_shown).collect();
    if shown.is_empty() {
        return;
    }
    sheet.heading("Series, the oldest run at the left");
    let names = shown.iter().map(|series| series.label.chars().count()).max().unwrap_or(0).min(40);
    let room = width.saturating_sub(names + 40).clamp(12, 60);
    let columns = vec![
        Column::left("series"),
        Column::left("over runs"),
        Column::right("first"),
        Column::right("now"),
        Column::right("noise").optional(1),
        Column::right("changes").optional(2),
    ];
    let mut table = Table::new(columns, 1);
    let most = if all { shown.len() } else { SHOWN.min(shown.len()) };
    for series in &shown[..most] {
        let ink = match series.changes.last() {
            Some(change) if change.ratio > 1.0 => Ink::Bad,
            Some(_) => Ink::Good,
            None => Ink::Plain,
        };
        let noise = series.noise.map_or(String::new(), |noise| format!("±{}", words::fraction(noise)));
        let changes = if series.unexamined.is_some() { "?".into() } else { series.changes.len().to_string() };
        table.row(vec![
            series.label.clone().into(),
            Entry::inked(spark::line(page, series, room), ink),
            figure(series, level(page, series, false)).into(),
            figure(series, level(page, series, true)).into(),
            noise.into(),
            changes.into(),
        ]);
    }
    sheet.table(&table);
    let legend = format!(
        "{} another machine, {} a change; first and now: mean of the first and of the last stretch; noise: standard \
         deviation between runs.",
        spark::MACHINE,
        spark::CHANGE
    );
    sheet.paragraph(Ink::Dim, "", &legend);
    if most < shown.len() {
        let left = (shown.len() - most) as u64;
        sheet.paragraph(Ink::Dim, "", &format!("{left} more series; --all shows everything"));
    }
}

fn runs(sheet: &mut Sheet, page: &HistoryPage, all: bool) {
    if !all {
        return;
    }
    sheet.heading("Runs");
    let columns = vec![
        Column::left("run"),
        Column::left("when"),
        Column::left("machine"),
        Column::left("compilers").wrapping(),
        Column::left("commit").optional(1),
        Column::left("tool").optional(2),
    ];
    let mut table = Table::new(columns, 1);
    for run in &page.runs {
        let commit = run.revision.as_deref().map_or(String::new(), |revision| {
            let short: String = revision.chars().take(10).collect();
            if run.changed == Some(true) { format!("{short}, changed") } else { short }
        });
        table.row(vec![
            run.id.clone().into(),
            run.at.clone().into(),
            match &run.host {
                Some(host) => format!("{host}: {}", page.machines[run.machine].name),
                None => page.machines[run.machine].name.clone(),
            }
            .into(),
            run.compilers.join(", ").into(),
            commit.into(),
            run.tool.clone().into(),
        ]);
    }
    sheet.table(&table);
}
