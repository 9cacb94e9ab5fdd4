//! A history in the terminal: the answer, each change in a sentence, then a line per series.

use super::answer::told;
use super::machines;
use super::page::{AcrossMachines, GatePage, HistoryLimits, HistoryPage, HistorySeries, SeriesKind};
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
/// Contrasts that stand beside the facts of each machine.
const BESIDE: usize = 3;

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
    machine_facts(&mut sheet, page);
    of_one_kind(&mut sheet, page);
    if page.is_once_each() {
        times(&mut sheet, page, all);
    } else {
        series(&mut sheet, page, width, all);
    }
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

fn verdict_ink(verdict: Verdict) -> Ink {
    match verdict {
        Verdict::Faster => Ink::Good,
        Verdict::Slower => Ink::Bad,
        Verdict::Equivalent => Ink::Plain,
        Verdict::Undecided => Ink::Doubt,
    }
}

/// What the newest run of each machine says, where there are several; of many those of one verdict in one row.
fn by_machine(sheet: &mut Sheet, page: &HistoryPage, all: bool) {
    let found = &page.across;
    if found.is_empty() {
        return;
    }
    sheet.heading("By machine, the newest run of each");
    let shown = if all { found.len() } else { TOLD.min(found.len()) };
    if page.machines.len() > machines::ALONE {
        sheet.table(&grouped(page, &found[..shown]));
    } else {
        sheet.table(&each(page, &found[..shown]));
    }
    if shown < found.len() {
        let left = words::plural((found.len() - shown) as u64, "more contrast");
        sheet.paragraph(Ink::Dim, "", &format!("{left}; --all shows everything"));
    }
}

fn each(page: &HistoryPage, found: &[AcrossMachines]) -> Table {
    let columns = vec![
        Column::left("contrast"),
        Column::left("machine").wrapping(),
        Column::left("verdict"),
        Column::right("effect"),
        Column::left("interval").optional(1),
        Column::left("run").optional(2),
    ];
    let mut table = Table::new(columns, 1);
    for contrast in found {
        for (number, said) in contrast.said.iter().enumerate() {
            let span = said.lower.zip(said.upper).map(|(lower, upper)| words::fine_span(lower, upper));
            let label = if number == 0 { page.series[contrast.series].label.as_str() } else { "" };
            table.row(vec![
                label.into(),
                page.machines[said.machine].called.as_str().into(),
                Entry::inked(said.verdict.word().to_owned(), verdict_ink(said.verdict)),
                words::fine_change(said.ratio).into(),
                span.unwrap_or_default().into(),
                page.runs[said.run].id.clone().into(),
            ]);
        }
    }
    table
}

fn grouped(page: &HistoryPage, found: &[AcrossMachines]) -> Table {
    let columns = vec![
        Column::left("contrast"),
        Column::left("verdict"),
        Column::right("effect"),
        Column::left("machines").wrapping(),
    ];
    let mut table = Table::new(columns, 1);
    for contrast in found {
        for (number, group) in machines::by_verdict(contrast).iter().enumerate() {
            let label = if number == 0 { page.series[contrast.series].label.as_str() } else { "" };
            table.row(vec![
                label.into(),
                Entry::inked(group.verdict.word().to_owned(), verdict_ink(group.verdict)),
                group.effect().into(),
                group.machines(page, contrast.said.len()).into(),
            ]);
        }
    }
    table
}

/// Each machine with what limits it, beside what it says of the contrasts on which the machines differ most.
fn machine_facts(sheet: &mut Sheet, page: &HistoryPage) {
    if page.across.is_empty() {
        return;
    }
    let most = page.across.iter().filter(|contrast| contrast.disagree).count().clamp(1, BESIDE);
    let beside = &page.across[..most];
    sheet.heading("Machines");
    let mut columns = vec![Column::left("machine").wrapping()];
    for (number, contrast) in beside.iter().enumerate() {
        let column = Column::right(&page.series[contrast.series].label);
        columns.push(if number == 0 { column } else { column.optional(4 + number as u8) });
    }
    columns.extend([
        Column::left("instructions").optional(2),
        Column::right("misprediction").optional(1),
        Column::right("memory").optional(3),
        Column::left("caches").optional(4),
    ]);
    let mut table = Table::new(columns, 1);
    for (number, machine) in page.machines.iter().enumerate() {
        let mut row: Vec<Entry> = vec![machine.called.as_str().into()];
        for contrast in beside {
            let said = contrast.said.iter().find(|said| said.machine == number);
            row.push(said.map_or(Entry::inked("not measured", Ink::Dim), |said| {
                Entry::inked(machines::in_short(said), verdict_ink(said.verdict))
            }));
        }
        let of_limits =
            |say: fn(&HistoryLimits) -> String| machine.limits.as_ref().map_or(String::new(), say);
        row.push(machine.instructions.clone().unwrap_or_default().into());
        row.push(of_limits(HistoryLimits::misprediction).into());
        row.push(of_limits(HistoryLimits::memory).into());
        row.push(machine.caches.join(", ").into());
        table.row(row);
    }
    sheet.table(&table);
    let measured = page.machines.iter().any(|machine| machine.limits.is_some());
    let said = if measured {
        "Misprediction: of a branch. Memory: a load from there. `assay limits` measured both ahead of the run."
    } else {
        "`assay limits` on each machine, ahead of `assay run`, adds what limits it."
    };
    sheet.paragraph(Ink::Dim, "", said);
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

/// Of machines with one run each: their times. A line over runs would go from one machine to the next.
fn times(sheet: &mut Sheet, page: &HistoryPage, all: bool) {
    if !all {
        return sheet.paragraph(Ink::Dim, "", "--all shows times and runs");
    }
    let of: Vec<&HistorySeries> =
        page.series.iter().filter(|series| series.kind == SeriesKind::Time).collect();
    if of.is_empty() {
        return;
    }
    sheet.heading("Times of one unit");
    let columns = of.iter().map(|series| Column::right(&series.label));
    let mut table = Table::new([Column::left("machine").wrapping()].into_iter().chain(columns).collect(), 1);
    for (number, machine) in page.machines.iter().enumerate() {
        let time = |series: &&HistorySeries| -> Entry {
            let point = series.points.iter().rev().find(|point| page.runs[point.run].machine == number);
            figure(series, point.map(|point| point.value)).into()
        };
        table.row([machine.called.as_str().into()].into_iter().chain(of.iter().map(time)).collect());
    }
    sheet.table(&table);
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
