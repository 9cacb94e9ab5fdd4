//! Events per unit, what a misprediction costs, and what both explain of the times.

use super::{Detail, build_name, distinct};
use crate::ink::Ink;
use crate::number;
use crate::page::{Cell, Count, CountSource, Explained, Page};
use crate::prose;
use crate::sheet::Sheet;
use crate::table::{Column, Entry, Table};

/// Events in the order in which a figure shows them, with their digits.
const EVENTS: [(&str, usize); 4] =
    [("instructions", 1), ("branches", 1), ("branch-misses", 2), ("cycles", 1)];

/// Adds the sections.
pub(super) fn show(page: &Page, detail: Detail, sheet: &mut Sheet) {
    figures(page, detail, sheet);
    cost(page, sheet);
    if let Some(explained) = &page.explained {
        times_explained(page, explained, detail, sheet);
    }
}

fn figures(page: &Page, detail: Detail, sheet: &mut Sheet) {
    let counts = || page.cells.iter().flat_map(|cell| cell.per_unit.iter());
    let events: Vec<(&str, usize)> =
        EVENTS.into_iter().filter(|(event, _)| counts().any(|(name, _)| name == event)).collect();
    let uncounted: Vec<(&Cell, &str)> =
        page.cells.iter().filter_map(|cell| Some((cell, cell.uncounted.as_ref()?.reason.as_str()))).collect();
    if events.is_empty() && uncounted.is_empty() {
        return;
    }
    sheet.heading(&format!("Events per {}", page.unit));
    if !events.is_empty() {
        sheet.paragraph(Ink::Dim, "  ", &legend(counts().map(|(_, count)| count), &events));
        let builds = distinct(page.cells.iter().map(|cell| (&cell.compiler, &cell.flags)));
        let most = if detail == Detail::Full { builds.len() } else { 1 };
        for &(compiler, flags) in builds.iter().take(most) {
            let own: Vec<&Cell> =
                page.cells.iter().filter(|c| (&c.compiler, &c.flags) == (compiler, flags)).collect();
            sheet.gap();
            sheet.table(&table(&own, &build_name(compiler, flags), &events));
        }
        if builds.len() > most {
            sheet.gap();
            let text = format!("{} more: --all", prose::plural((builds.len() - most) as u64, "build"));
            sheet.paragraph(Ink::Dim, "  ", &text);
        }
    }
    for note in distinct(page.cells.iter().filter_map(|cell| cell.count_note.as_ref())) {
        let cells = page.cells.iter().filter(|cell| cell.count_note.as_ref() == Some(note)).count();
        let text = format!("{}: {note}.", prose::plural(cells as u64, "cell"));
        sheet.paragraph(Ink::Doubt, "  ", &text);
    }
    for reason in distinct(uncounted.iter().map(|(_, reason)| *reason)) {
        let own: Vec<&Cell> =
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
    ] {
        if counts.clone().any(|count| count.source == source && count.predictor.is_none()) {
            sources.push(words);
        }
    }
    let misses = simulated.map_or(String::new(), |predictor| {
        format!("; mispredictions are simulated by {predictor}, not counted")
    });
    format!("{}, {}{misses}.", names.join(" / "), sources.join(" or "))
}

fn table(cells: &[&Cell], build: &str, events: &[(&str, usize)]) -> Table {
    let variants = distinct(cells.iter().map(|cell| &cell.variant));
    let titles = variants.iter().map(|variant| Column::right(variant));
    let mut table = Table::new(std::iter::once(Column::left(build)).chain(titles).collect(), 1);
    for input in distinct(cells.iter().map(|cell| &cell.input)) {
        let cell = |variant: &&String| cells.iter().find(|c| &c.input == input && &c.variant == *variant);
        let figures = variants.iter().map(|variant| figure(cell(variant).copied(), events));
        table.row(std::iter::once(input.clone().into()).chain(figures).collect());
    }
    table
}

fn figure(cell: Option<&Cell>, events: &[(&str, usize)]) -> Entry {
    let Some(cell) = cell.filter(|cell| !cell.per_unit.is_empty()) else {
        return Entry::inked("-", Ink::Dim);
    };
    let one = |&(event, digits): &(&str, usize)| {
        cell.per_unit.get(event).map_or("-".to_owned(), |count| format!("{:.digits$}", count.value))
    };
    events.iter().map(one).collect::<Vec<_>>().join("/").into()
}

fn cost(page: &Page, sheet: &mut Sheet) {
    let Some(cost) = &page.branch_cost else { return };
    let tosses = |count: u64| format!("{} random outcomes", number::count(count));
    let memory = match (cost.learned_outcomes, cost.unlearned_outcomes) {
        (Some(learned), Some(unlearned)) => {
            format!("; it knows {} by heart, and nothing of {}", tosses(learned), tosses(unlearned))
        }
        (Some(learned), None) => format!("; it knows {} by heart", tosses(learned)),
        _ => String::new(),
    };
    let text = format!(
        "A misprediction costs this CPU {} ns ({} to {}), measured by timing alone{memory}.",
        number::ns(cost.penalty_ns),
        number::ns(cost.lower),
        number::ns(cost.upper)
    );
    sheet.gap();
    sheet.paragraph(Ink::Plain, "  ", &text);
}

/// "branch 0.12 ns, bmi2 1.71 ns".
fn constants(explained: &Explained) -> String {
    let one = |(variant, ns): (&String, &f64)| format!("{variant} {} ns", number::ns(*ns)).trim().to_owned();
    explained.constants_ns.iter().map(one).collect::<Vec<_>>().join(", ")
}

fn times_explained(page: &Page, explained: &Explained, detail: Detail, sheet: &mut Sheet) {
    sheet.heading("What explains the times");
    let by = explained.predictor.as_ref().map_or("counted".to_owned(), |name| format!("simulated by {name}"));
    let (Some(r_squared), Some(instruction), Some(misprediction)) =
        (explained.r_squared, &explained.ns_per_instruction, &explained.ns_per_misprediction)
    else {
        let reason = explained.note.as_deref().unwrap_or("no fit is possible");
        sheet.paragraph(Ink::Doubt, "  ", &format!("Not known: {reason}."));
        return;
    };
    let measured = page.branch_cost.as_ref().map_or(String::new(), |cost| {
        format!(
            "; measured by itself {} ({} to {})",
            number::ns(cost.penalty_ns),
            number::ns(cost.lower),
            number::ns(cost.upper)
        )
    });
    let verb = if explained.holds { "explain" } else { "do not explain the times, only" };
    let own = if explained.constants_ns.len() > 1 { " and a constant per variant" } else { "" };
    let plain = explained
        .r_squared_one_constant
        .filter(|_| !own.is_empty())
        .map_or(String::new(), |plain| format!("; with one constant for all variants R² is {plain:.3}"));
    let text = format!(
        "Over {} instructions and mispredictions ({by}){own} {verb} {:.1} % of the variance (R² {r_squared:.3}{plain}): \
         {:.3} ns per instruction ({:.3} to {:.3}), {} ns per misprediction ({} to {}{measured}). Whatever the counts: {}. \
         The typical residual is {} ns.",
        prose::plural(explained.cells, "cell"),
        100.0 * r_squared,
        instruction.median,
        instruction.lower,
        instruction.upper,
        number::ns(misprediction.median),
        number::ns(misprediction.lower),
        number::ns(misprediction.upper),
        constants(explained),
        number::ns(explained.typical_residual_ns.unwrap_or_default()),
    );
    sheet.paragraph(if explained.holds { Ink::Plain } else { Ink::Doubt }, "  ", &text);
    sheet.gap();
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
    let most = if detail == Detail::Full { explained.worst.len() } else { 3 };
    for worst in explained.worst.iter().take(most) {
        table.row(vec![
            format!("{} on {}", worst.variant, worst.input).into(),
            build_name(&worst.compiler, &worst.flags).into(),
            number::ns(worst.ns).into(),
            number::ns(worst.fitted_ns).into(),
            format!("{:+.2}", worst.ns - worst.fitted_ns).into(),
        ]);
    }
    sheet.table(&table);
}
