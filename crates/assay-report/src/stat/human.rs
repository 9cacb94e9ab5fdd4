//! The page on a terminal: the answer, why it was had that way, the events, the predictors, the executions.

use super::answer::answer;
use super::figure::{figure, span, whole};
use super::page::{Ends, EventRow, Execution, FigureSource, PredictorRow, Scope, StatPage};
use super::spread::Spread;
use crate::ink::Ink;
use crate::sheet::Sheet;
use crate::table::{Column, Entry, Table};
use assay_pure::words;

/// Columns from which on the extremes have room beside what is said of the figures.
const WIDE: usize = 120;

/// The page as text, no line wider than `width` columns (at least 40), with ANSI colours if `colour`.
pub fn render_stat(page: &StatPage, width: usize, colour: bool) -> String {
    let mut sheet = Sheet::new(width, colour);
    sheet.answer(&answer(page), None);
    for reason in &page.reasons {
        sheet.paragraph(Ink::Doubt, "", reason);
    }
    sheet.heading(&title(page));
    sheet.table(&events(page, width));
    predictors(page, &mut sheet);
    differences(page, &mut sheet);
    threads(page, &mut sheet);
    closing(page, &mut sheet);
    sheet.into_text()
}

fn title(page: &StatPage) -> String {
    let modes: Vec<Scope> = page.events.iter().map(|row| row.mode).collect();
    let mode = if modes.iter().all(|mode| *mode == Scope::User) {
        "user mode only"
    } else if modes.contains(&Scope::User) {
        "user mode unless noted"
    } else {
        "mode as noted"
    };
    let repeats = if page.repeats > 1 { format!(", {} executions", page.repeats) } else { String::new() };
    format!("`{}`, {mode}{repeats}", page.command.join(" "))
}

fn events(page: &StatPage, width: usize) -> Table {
    let columns = vec![
        Column::right("value"),
        Column::left("event"),
        Column::left("source"),
        Column::left("±").optional(1),
        Column::left("smallest to largest").optional(2),
        Column::left("note").wrapping(),
    ];
    let mut table = Table::new(columns, 2);
    for row in &page.events {
        // What is told above is not told again for each event.
        let told = page.reasons.iter().any(|reason| reason.contains(&row.label));
        if row.value.is_none() && told {
            continue;
        }
        table.row(vec![
            Entry::from(row.value.as_ref().map_or("-".to_owned(), |value| figure(row, value.mean.value()))),
            row.event.clone().into(),
            row.source.word().into(),
            row.value.as_ref().map(|value| half_width(row, value)).unwrap_or_default().into(),
            row.value
                .as_ref()
                .filter(|_| width >= WIDE)
                .map(|value| extremes(row, value))
                .unwrap_or_default()
                .into(),
            Entry::inked(note(page, row), if row.reason.is_some() { Ink::Doubt } else { Ink::Plain }),
        ]);
        if row.event == "branches" && row.source == FigureSource::Traced && page.mispredictions.is_some() {
            table.row(misprediction_entries(page));
        }
    }
    table
}

fn misprediction_entries(page: &StatPage) -> Vec<Entry> {
    let Some(range) = &page.mispredictions else { return vec![Entry::default(); 6] };
    let mut note = format!("{} of branches", words::rate_span(range.of_branches.low, range.of_branches.high));
    if let Some(conditional) = range.of_conditional {
        note.push_str(&format!(
            ", {} of conditional ones",
            words::rate_span(conditional.low, conditional.high)
        ));
    }
    if let Some(lost) = range.lost_cycles {
        note.push_str(&format!("; they cost {} cycles", words::compact_span(lost.low, lost.high)));
    }
    vec![
        Entry::inked(misprediction_count(range.count), Ink::Bold),
        "mispredictions".into(),
        FigureSource::Simulated.word().into(),
        Entry::default(),
        Entry::default(),
        note.into(),
    ]
}

/// In full where it is one number; the rows of the predictors have a range in full.
fn misprediction_count(ends: Ends) -> String {
    if ends.low == ends.high { whole(ends.low) } else { words::compact_span(ends.low, ends.high) }
}

/// Half the width of the mean's interval, in percent of it; "identical" where nothing varied.
fn half_width(row: &EventRow, value: &Spread) -> String {
    match (value.identical, value.upper) {
        (Some(true), _) => "identical".to_owned(),
        (Some(false), Some(upper)) => {
            let mean = value.mean.value();
            if mean > 0.0 { words::rate((upper - mean) / mean) } else { figure(row, upper - mean) }
        }
        _ => String::new(),
    }
}

/// The smallest and the largest, where they differ.
fn extremes(row: &EventRow, value: &Spread) -> String {
    if value.identical != Some(false) {
        return String::new();
    }
    let ends = [value.minimum, value.maximum].map(|end| figure(row, end.value()));
    span(ends[0].clone(), ends[1].clone())
}

/// What the figure is of another, where it was counted if not in the program alone, and what is wrong with it.
fn note(page: &StatPage, row: &EventRow) -> String {
    let parts = [relation(page, row), mode(row).map(str::to_owned), row.reason.clone()];
    parts.into_iter().flatten().collect::<Vec<String>>().join("; ")
}

/// The mode, where it is not the user's and the event does not say it by itself: a time is the thread's whatever it does,
/// and context switches happen in the kernel only.
fn mode(row: &EventRow) -> Option<&'static str> {
    let says_it = !row.unit.is_empty() || matches!(row.event.as_str(), "context-switches" | "cpu-migrations");
    match row.mode {
        Scope::Kernel => Some("in the kernel"),
        Scope::All if !says_it => Some("user and kernel"),
        Scope::User | Scope::All => None,
    }
}

fn relation(page: &StatPage, row: &EventRow) -> Option<String> {
    let mean = row.value.as_ref()?.mean.value();
    let other = |event: &str| {
        let mean = page.row(event, row.source)?.value.as_ref()?.mean.value();
        (mean > 0.0).then_some(mean)
    };
    let of_branches = || other("branches").map(|all| format!("{} of branches", words::rate(mean / all)));
    match row.event.as_str() {
        "branches" => {
            other("instructions").map(|all| format!("{:.1} per 1000 instructions", 1000.0 * mean / all))
        }
        "branch-misses" => of_branches(),
        "instructions" => other("cycles").map(|cycles| format!("{:.2} per cycle", mean / cycles)),
        "taken-branches" => other("conditional-branches")
            .map(|all| format!("{} of conditional ones", words::rate(mean / all))),
        "conditional-branches"
        | "direct-jumps"
        | "direct-calls"
        | "indirect-jumps"
        | "indirect-calls"
        | "returns" => of_branches(),
        _ => None,
    }
}

fn predictors(page: &StatPage, sheet: &mut Sheet) {
    if page.predictors.is_empty() {
        return;
    }
    sheet.heading("Simulated predictors: models, not this CPU");
    let columns = vec![
        Column::left("predictor"),
        Column::right("mispredictions"),
        Column::right("of branches"),
        Column::right("of conditional"),
        Column::right("mpki"),
        Column::right("cycles lost").optional(1),
        Column::left("over executions").optional(3),
        Column::left("confidence").optional(2),
        Column::left("what it is").optional(4),
    ];
    let mut table = Table::new(columns, 1);
    for row in &page.predictors {
        table.row(predictor_entries(row));
    }
    sheet.table(&table);
    sheet.paragraph(Ink::Dim, "  ", &what_the_columns_are(page));
}

fn predictor_entries(row: &PredictorRow) -> Vec<Entry> {
    let over = match row.mispredictions.identical {
        Some(true) => "identical".to_owned(),
        Some(false) => {
            let ends = [row.mispredictions.minimum, row.mispredictions.maximum].map(|end| whole(end.value()));
            format!("{} to {}", ends[0], ends[1])
        }
        None => String::new(),
    };
    vec![
        row.predictor.clone().into(),
        whole(row.mispredictions.mean.value()).into(),
        words::rate(row.of_branches).into(),
        row.of_conditional.map_or("-".to_owned(), words::rate).into(),
        format!("{:.3}", row.mpki).into(),
        row.lost_cycles.map(|lost| words::compact_span(lost.low, lost.high)).unwrap_or_default().into(),
        over.into(),
        row.confidence.clone().unwrap_or_default().into(),
        row.what.clone().into(),
    ]
}

fn what_the_columns_are(page: &StatPage) -> String {
    let mut text = "of branches: mispredictions of every kind that it predicts (directions, indirect targets, returns) per \
                    branch. of conditional: wrong directions per conditional branch. mpki: mispredictions per 1000 \
                    instructions."
        .to_owned();
    if page.predictors.iter().any(|row| row.lost_cycles.is_some()) {
        text.push_str(" cycles lost: mispredictions times the published cost of one on that CPU, from the lowest to the highest figure.");
    }
    text
}

fn differences(page: &StatPage, sheet: &mut Sheet) {
    if page.differences.is_empty() {
        return;
    }
    sheet.heading("Counted and traced, compared");
    let columns = vec![
        Column::left("event"),
        Column::right("counted"),
        Column::right("traced or simulated"),
        Column::right("difference"),
    ];
    let mut table = Table::new(columns, 1);
    for row in &page.differences {
        let relative = row.relative.map_or("-".to_owned(), |ends| {
            span(
                words::change(1.0 + ends.low).replace(" %", ""),
                words::change(1.0 + ends.high).replace(" %", ""),
            ) + " %"
        });
        table.row(vec![
            row.event.clone().into(),
            whole(row.counted).into(),
            span(whole(row.traced.low), whole(row.traced.high)).into(),
            relative.into(),
        ]);
    }
    sheet.table(&table);
}

fn threads(page: &StatPage, sheet: &mut Sheet) {
    if page.threads.is_empty() {
        return;
    }
    sheet.heading("Traced threads");
    let mut columns = vec![
        Column::right("process"),
        Column::right("thread"),
        Column::right("instructions"),
        Column::right("branches"),
        Column::right("conditional").optional(2),
        Column::right("taken").optional(3),
    ];
    if !page.predictors.is_empty() {
        columns.push(Column::right("mispredictions"));
    }
    columns.push(Column::left("program").optional(1));
    let mut table = Table::new(columns, 2);
    for row in &page.threads {
        let taken = row.taken.filter(|_| row.conditional > 0);
        let mut entries: Vec<Entry> = vec![
            row.process.to_string().into(),
            row.thread.to_string().into(),
            words::count(row.instructions).into(),
            words::count(row.branches).into(),
            words::count(row.conditional).into(),
            taken.map(|taken| words::rate(taken as f64 / row.conditional as f64)).unwrap_or_default().into(),
        ];
        if !page.predictors.is_empty() {
            let ends = (row.mispredictions.iter().min(), row.mispredictions.iter().max());
            let text = match ends {
                (Some(low), Some(high)) => span(words::count(*low), words::count(*high)),
                _ => String::new(),
            };
            entries.push(text.into());
        }
        entries.push(row.program.clone().into());
        table.row(entries);
    }
    sheet.table(&table);
}

fn closing(page: &StatPage, sheet: &mut Sheet) {
    sheet.gap();
    for source in &page.sources {
        let executions: Vec<&Execution> =
            page.executions.iter().filter(|execution| execution.source == *source).collect();
        if let Some(text) = times(page, *source, &executions) {
            sheet.paragraph(Ink::Plain, "  ", &text);
        }
    }
    for note in &page.notes {
        sheet.labelled(Ink::Doubt, "  note: ", note);
    }
}

/// How long the executions of a source took.
fn times(page: &StatPage, source: FigureSource, executions: &[&Execution]) -> Option<String> {
    let mean = |of: fn(&Execution) -> Option<f64>| {
        let values: Vec<f64> = executions.iter().filter_map(|execution| of(execution)).collect();
        (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
    };
    let elapsed = mean(|execution| Some(execution.elapsed_seconds))?;
    let mut text = format!("{elapsed:.3} s elapsed");
    if let (Some(user), Some(system)) =
        (mean(|execution| execution.user_seconds), mean(|execution| execution.system_seconds))
    {
        text.push_str(&format!(", {user:.3} s user, {system:.3} s system"));
    }
    if let Some(most) = executions.iter().filter_map(|execution| execution.peak_resident_bytes).max() {
        text.push_str(&format!(", peak {} resident", words::bytes(most)));
    }
    if source == FigureSource::Traced {
        match &page.emulator {
            Some(emulator) => text.push_str(&format!(" under {emulator}: emulated, not its native speed")),
            None => text.push_str(" with records of its branches"),
        }
    }
    if executions.len() > 1 {
        text.push_str(&format!(", mean of {}", executions.len()));
    }
    let ended: Vec<String> = executions.iter().filter_map(|execution| execution.end().unusual()).collect();
    if !ended.is_empty() {
        text.push_str(&format!("; {}", words::list(&counted(ended))));
    }
    Some(text)
}

/// Equal ones together: "exit code 1 (3 times)".
fn counted(mut words: Vec<String>) -> Vec<String> {
    words.sort();
    let mut groups: Vec<(String, usize)> = Vec::new();
    for word in words {
        match groups.last_mut().filter(|group| group.0 == word) {
            Some(group) => group.1 += 1,
            None => groups.push((word, 1)),
        }
    }
    let named =
        |(word, times): (String, usize)| if times > 1 { format!("{word} ({times} times)") } else { word };
    groups.into_iter().map(named).collect()
}
