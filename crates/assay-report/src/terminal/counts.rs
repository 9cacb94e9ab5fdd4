//! Events per unit, what a misprediction costs, and what both explain of the times.

use super::build_column::BuildColumn;
use super::{Detail, build_name, distinct};
use crate::ink::Ink;
use crate::page::{Count, CountSource, ExplainedTimes, MedianInterval, Page, PageCell};
use crate::sheet::Sheet;
use crate::table::{Column, Entry, Table};
use assay_pure::words;

/// Events in the order in which a figure shows them, with their digits.
const EVENTS: [(&str, usize); 8] = [
    ("instructions", 1),
    ("branches", 1),
    ("branch-misses", 2),
    ("cycles", 1),
    ("op-cache-ops", 2),
    ("decoded-ops", 2),
    ("l1i-misses", 4),
    ("itlb-misses", 4),
];

/// The same of allocated memory.
const MEMORY: [(&str, usize); 3] = [("allocations", 5), ("allocated-bytes", 1), ("peak-bytes", 1)];

/// Rows in the brief view.
const MOST_ROWS: usize = 12;

/// Adds the sections.
pub(super) fn show(page: &Page, detail: Detail, sheet: &mut Sheet) {
    figures(page, detail, sheet);
    memory(page, detail, sheet);
    cost(page, detail, sheet);
    if let Some(explained) = &page.explained {
        times_explained(page, explained, detail, sheet);
    }
}

fn figures(page: &Page, detail: Detail, sheet: &mut Sheet) {
    let is_memory = |name: &str| MEMORY.iter().any(|(event, _)| *event == name);
    let counts =
        || page.cells.iter().flat_map(|cell| cell.per_unit.iter()).filter(|(name, _)| !is_memory(name));
    let mut events: Vec<(&str, usize)> =
        EVENTS.into_iter().filter(|(event, _)| counts().any(|(name, _)| name == event)).collect();
    // Three figures in an entry leave no room for variants.
    if detail == Detail::Brief && events.len() > 2 {
        let told = |(event, _): &(&str, usize)| ["instructions", "branch-misses"].contains(event);
        match events.iter().any(told) {
            true => events.retain(told),
            false => events.truncate(2),
        }
    }
    let uncounted: Vec<(&PageCell, &str)> =
        page.cells.iter().filter_map(|cell| Some((cell, cell.uncounted.as_ref()?.reason.as_str()))).collect();
    // Where nothing that was asked for is counted, the reason stands in its place.
    let is_silent = events.is_empty()
        && page.cells.iter().all(|cell| cell.per_unit.is_empty())
        && page.cells.iter().any(|cell| cell.count_note.is_some());
    if events.is_empty() && uncounted.is_empty() && !is_silent {
        return;
    }
    sheet.heading(&format!("Events per {}", page.unit));
    if !events.is_empty() {
        sheet.paragraph(Ink::Dim, "  ", &legend(counts().map(|(_, count)| count), &events));
        sheet.gap();
        let (table, left) = table(page, detail, &events);
        sheet.table(&table);
        if left > 0 {
            sheet.gap();
            sheet.paragraph(Ink::Dim, "  ", &format!("{}: --all", words::plural(left as u64, "more row")));
        }
    }
    notes(page, if is_silent { Detail::Full } else { detail }, sheet);
    for reason in distinct(uncounted.iter().map(|(_, reason)| *reason)) {
        let own: Vec<&PageCell> =
            uncounted.iter().filter(|(_, other)| *other == reason).map(|(cell, _)| *cell).collect();
        let first = format!(
            "{} on {}, {}",
            own[0].variant,
            own[0].input,
            build_name(&own[0].compiler, &own[0].flags)
        );
        let others = if own.len() > 1 { format!(" and {} more", own.len() - 1) } else { String::new() };
        sheet.labelled(Ink::Doubt, "  not counted  ", &format!("{first}{others}: {reason}"));
    }
}

/// What the reader must know of the counts.
fn notes(page: &Page, detail: Detail, sheet: &mut Sheet) {
    let noted = page.cells.iter().filter(|_| detail == Detail::Full);
    for note in distinct(noted.filter_map(|cell| cell.count_note.as_ref())) {
        let cells = page.cells.iter().filter(|cell| cell.count_note.as_ref() == Some(note)).count();
        let text = format!("{}: {note}.", words::plural(cells as u64, "cell"));
        sheet.paragraph(Ink::Doubt, "  ", &text);
    }
}

/// What calls allocate.
fn memory(page: &Page, detail: Detail, sheet: &mut Sheet) {
    let is_counted = |event: &str| page.cells.iter().any(|cell| cell.per_unit.contains_key(event));
    let events: Vec<(&str, usize)> = MEMORY.into_iter().filter(|(event, _)| is_counted(event)).collect();
    if events.is_empty() {
        return;
    }
    sheet.heading(&format!("Allocated per {}", page.unit));
    let names: Vec<&str> = events.iter().map(|(event, _)| *event).collect();
    let text = format!("{}, counted exactly in a separate run.", names.join(" / "));
    sheet.paragraph(Ink::Dim, "  ", &text);
    sheet.gap();
    let (table, left) = table(page, detail, &events);
    sheet.table(&table);
    if left > 0 {
        sheet.gap();
        sheet.paragraph(Ink::Dim, "  ", &format!("{}: --all", words::plural(left as u64, "more row")));
    }
    // Beside other events they stand there.
    if EVENTS.iter().all(|(event, _)| !is_counted(event)) {
        notes(page, detail, sheet);
    }
}

/// "Instructions / branches / mispredictions, traced by an emulator; mispredictions are simulated (tage), not counted."
fn legend<'a>(counts: impl Iterator<Item = &'a Count> + Clone, events: &[(&str, usize)]) -> String {
    let simulated = counts.clone().find_map(|count| count.predictor.as_ref());
    let names: Vec<&str> = events
        .iter()
        .map(
            |(event, _)| {
                if *event == "branch-misses" && simulated.is_some() { "mispredictions" } else { event }
            },
        )
        .collect();
    let mut sources = Vec::new();
    for (source, words) in [
        (CountSource::Counted, "counted by hardware"),
        (CountSource::Traced, "traced by an emulator (exact)"),
        (CountSource::Instrumented, "logged by an instrumented build (exact)"),
    ] {
        if counts.clone().any(|count| count.source == source && count.predictor.is_none()) {
            sources.push(words);
        }
    }
    let misses = simulated.map_or(String::new(), |predictor| {
        format!("; mispredictions are simulated by {predictor}, not counted")
    });
    format!("{}, {}{misses}.", names.join(" / "), words::list_or(&sources))
}

/// A row per input and build, a column per variant; and how many rows are left out.
fn table(page: &Page, detail: Detail, events: &[(&str, usize)]) -> (Table, usize) {
    let builds = BuildColumn::of(page);
    let variants = distinct(page.cells.iter().map(|cell| &cell.variant));
    let mut columns = vec![Column::left("input")];
    columns.extend(builds.column());
    let keys = columns.len();
    columns.extend(variants.iter().map(|variant| Column::right(variant)));
    let mut table = Table::new(columns, keys);
    let rows = distinct(page.cells.iter().map(|c| (&c.input, &c.compiler, &c.flags)));
    let inputs = distinct(rows.iter().map(|(input, ..)| *input));
    let by_input = inputs.iter().flat_map(|input| rows.iter().filter(move |(own, ..)| own == input));
    let most = if detail == Detail::Full { rows.len() } else { MOST_ROWS };
    let mut previous = "";
    for &(input, compiler, flags) in by_input.take(most) {
        let cell = |variant: &&String| {
            page.cells.iter().find(|c| {
                (&c.input, &c.compiler, &c.flags) == (input, compiler, flags) && &c.variant == *variant
            })
        };
        let mut row = vec![if input == previous { Entry::default() } else { input.clone().into() }];
        row.extend(builds.entry(compiler, flags));
        row.extend(variants.iter().map(|variant| figure(cell(variant), events)));
        table.row(row);
        previous = input;
    }
    (table, rows.len().saturating_sub(most))
}

fn figure(cell: Option<&PageCell>, events: &[(&str, usize)]) -> Entry {
    let Some(cell) = cell.filter(|cell| !cell.per_unit.is_empty()) else {
        return Entry::inked("-", Ink::Dim);
    };
    let one = |&(event, digits): &(&str, usize)| {
        cell.per_unit.get(event).map_or("-".to_owned(), |count| format!("{:.digits$}", count.value))
    };
    events.iter().map(one).collect::<Vec<_>>().join("/").into()
}

fn cost(page: &Page, detail: Detail, sheet: &mut Sheet) {
    let Some(cost) = &page.branch_cost else { return };
    let memorised = match (cost.learned_range, cost.learned_outcomes) {
        (Some([least, most]), _) => Some(format!("{} to {}", words::count(least), words::count(most))),
        (None, learned) => learned.map(|learned| format!("about {}", words::count(learned))),
    };
    let forgotten = cost
        .unlearned_outcomes
        .filter(|_| detail == Detail::Full)
        .map_or(String::new(), |length| format!(", and nothing of a sequence of {}", words::count(length)));
    let memory = memorised.map_or(String::new(), |memorised| {
        format!(" Its predictor memorises {memorised} random outcomes{forgotten}.")
    });
    let price = if detail == Detail::Full {
        format!(
            "{} ({} to {}), measured by timing alone",
            words::time(cost.penalty_ns),
            words::time(cost.lower),
            words::time(cost.upper)
        )
    } else {
        words::time_with_interval(cost.penalty_ns, cost.lower, cost.upper)
    };
    let text = format!("A misprediction costs this CPU {price}.{memory}");
    sheet.gap();
    sheet.paragraph(Ink::Plain, "  ", &text);
}

/// "branch 0.12 ns, bmi2 1.71 ns".
fn constants(explained: &ExplainedTimes) -> String {
    let one = |(variant, ns): (&String, &f64)| format!("{variant} {}", words::time(*ns)).trim().to_owned();
    explained.constants_ns.iter().map(one).collect::<Vec<_>>().join(", ")
}

fn times_explained(page: &Page, explained: &ExplainedTimes, detail: Detail, sheet: &mut Sheet) {
    // What explains nothing changes nothing for who reads it first.
    if detail == Detail::Brief && !explained.holds {
        return;
    }
    if detail == Detail::Full {
        sheet.heading("What explains the times");
    }
    let by = explained.predictor.as_ref().map_or("counted".to_owned(), |name| format!("simulated by {name}"));
    let (Some(r_squared), Some(instruction), Some(misprediction)) =
        (explained.r_squared, &explained.ns_per_instruction, &explained.ns_per_misprediction)
    else {
        let reason = explained.note.as_deref().unwrap_or("no fit is possible");
        sheet.paragraph(Ink::Doubt, "  ", &format!("Unknown: {reason}."));
        return;
    };
    let verb = if explained.holds { "explain" } else { "do not explain the times, only" };
    let own = if explained.constants_ns.len() > 1 { " and a constant per variant" } else { "" };
    let mut text = format!(
        "Instructions and mispredictions ({by}){own} {verb} {} of the variance over {}: {} per instruction, {} per \
         misprediction.",
        words::fraction(r_squared),
        words::plural(explained.cells, "cell"),
        words::time(instruction.median),
        words::time(misprediction.median),
    );
    if detail == Detail::Full {
        text += &fit_in_full(page, explained, instruction, misprediction);
    }
    sheet.paragraph(if explained.holds { Ink::Plain } else { Ink::Doubt }, "  ", &text);
    if detail == Detail::Full {
        sheet.gap();
        sheet.table(&furthest(explained));
    }
}

/// Intervals, constants and residuals of the fit.
fn fit_in_full(
    page: &Page,
    explained: &ExplainedTimes,
    instruction: &MedianInterval,
    misprediction: &MedianInterval,
) -> String {
    let measured = page.branch_cost.as_ref().map_or(String::new(), |cost| {
        format!(
            ", measured directly {} ({} to {})",
            words::time(cost.penalty_ns),
            words::time(cost.lower),
            words::time(cost.upper)
        )
    });
    let plain = explained
        .r_squared_one_constant
        .filter(|_| explained.constants_ns.len() > 1)
        .map_or(String::new(), |plain| format!(", {plain:.3} with one constant for all variants"));
    format!(
        " R² is {:.3}{plain}. An instruction costs {} to {}, a misprediction {} to {}{measured}. Constant part: {}. \
         The typical residual is {}.",
        explained.r_squared.unwrap_or_default(),
        words::time(instruction.lower),
        words::time(instruction.upper),
        words::time(misprediction.lower),
        words::time(misprediction.upper),
        constants(explained),
        words::time(explained.typical_residual_ns.unwrap_or_default()),
    )
}

fn furthest(explained: &ExplainedTimes) -> Table {
    let mut table = Table::new(
        vec![
            Column::left("furthest from it"),
            Column::left("build"),
            Column::right("measured"),
            Column::right("by the fit"),
            Column::right("apart"),
        ],
        1,
    );
    for worst in &explained.worst {
        table.row(vec![
            format!("{} on {}", worst.variant, worst.input).into(),
            build_name(&worst.compiler, &worst.flags).into(),
            words::ns(worst.ns).into(),
            words::ns(worst.fitted_ns).into(),
            format!("{:+.2}", worst.ns - worst.fitted_ns).into(),
        ]);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_of_which_none_is_counted_leave_their_reason_and_not_a_gap() {
        let mut page = crate::sample::page();
        for cell in &mut page.cells {
            cell.per_unit.clear();
            (cell.uncounted, cell.count_note) = (None, None);
        }
        let brief = |page: &Page| crate::render(page, 100, false, Detail::Brief);
        let heading = format!("Events per {}", page.unit);
        assert!(!brief(&page).contains(&heading), "nothing was asked for");
        page.cells[0].count_note = Some("a trace has no events of the front end".to_owned());
        let text = brief(&page);
        let (_, below) = text.split_once(&heading).expect("a section");
        assert!(below.trim_start().starts_with("1 cell: a trace has no events of the front end."), "{text}");
    }
}
