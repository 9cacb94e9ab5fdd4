//! The page as text: the answer, the reasons against it, both streams side by side, and the table last, to be copied.

use super::page::{FitPage, NumbersPage, Variants};
use crate::ink::Ink;
use crate::sheet::Sheet;
use crate::table::{Column, Entry, Table};
use assay_pure::inputs::fit::closeness::{Closeness, FitFigure};
use assay_pure::inputs::fit::refusal::FigureComparison;
use assay_pure::words;

/// What a table is for.
const TABLE: &str = "The input's table, to paste into an experiment file";

/// The page as text, no line of prose wider than `width` columns (at least 40), with ANSI colours if `colour`. The table to
/// be pasted keeps its own lines.
pub fn render_fit(page: &FitPage, width: usize, colour: bool) -> String {
    let mut sheet = Sheet::new(width, colour);
    sheet.answer(&page.answer, None);
    for refusal in &page.refusals {
        sheet.gap();
        sheet.labelled(Ink::Bad, "refused  ", &refusal.what);
        sheet.labelled(Ink::Good, "      -> ", &refusal.remedy);
    }
    recorded(page, &mut sheet);
    if let Some(closeness) = &page.closeness {
        side_by_side(closeness, &mut sheet);
    }
    if let Some(numbers) = &page.numbers {
        of_numbers(numbers, &mut sheet);
    }
    if let Some(variants) = &page.variants {
        of_variants(variants, &mut sheet);
    }
    sheet.warnings(&page.notes);
    let Some(table) = &page.table else { return sheet.into_text() };
    sheet.gap();
    match &page.written {
        Some(file) => {
            sheet.paragraph(Ink::Plain, "", &format!("{TABLE}, is in {file}."));
            sheet.into_text()
        }
        None => {
            sheet.paragraph(Ink::Plain, "", &format!("{TABLE}:"));
            format!("{}\n{table}", sheet.into_text())
        }
    }
}

fn recorded(page: &FitPage, sheet: &mut Sheet) {
    sheet.gap();
    let all = if page.looked_at == page.units {
        String::new()
    } else {
        format!(", of which the first {} are used", words::count(page.looked_at))
    };
    sheet.labelled(
        Ink::Dim,
        "recorded  ",
        &format!(
            "{}: {} in {} bytes{all}",
            page.file,
            words::plural(page.units, "unit"),
            words::count(page.bytes)
        ),
    );
    if let Some(model) = &page.model {
        let mut text = format!(
            "{} of up to {}, chosen by BIC; {} bits per unit",
            words::plural(model.contexts, "context"),
            words::plural(model.order, "length"),
            figure(model.bits_per_unit)
        );
        if model.strictness > 1.0 {
            text += &format!(
                " (with {} times its penalty, to keep the table small)",
                words::short(model.strictness)
            );
        }
        sheet.labelled(Ink::Dim, "fitted    ", &text);
    }
}

fn side_by_side(closeness: &Closeness, sheet: &mut Sheet) {
    sheet.heading("A simulated decoding loop on both streams, per unit");
    figures(closeness, sheet);
    sheet.heading("Entropy and fewest misses given the previous lengths, per unit");
    let mut table = Table::new(
        ["previous", "bits, recorded", "bits, fitted", "misses, recorded", "misses, fitted"]
            .into_iter()
            .map(Column::right)
            .collect(),
        1,
    );
    let shown = |value: Option<f64>| value.map_or("too few units".to_owned(), figure);
    for entropy in &closeness.entropies {
        let figures = [entropy.real_bits, entropy.fitted_bits, entropy.real_misses, entropy.fitted_misses];
        let row = std::iter::once(entropy.order.to_string()).chain(figures.map(shown));
        table.row(row.map(Entry::from).collect());
    }
    sheet.table(&table);
    order(closeness, sheet);
}

fn figures(closeness: &Closeness, sheet: &mut Sheet) {
    let columns = vec![
        Column::left(""),
        Column::right("recorded"),
        Column::right("over parts").optional(3),
        Column::right("fitted"),
        Column::right("over streams").optional(1),
        Column::right("over their parts").optional(2),
        Column::right("difference"),
        Column::right("allowed"),
        Column::left(""),
    ];
    let mut table = Table::new(columns, 1);
    table.row(figure_row(&closeness.branches.name, &closeness.branches));
    for figure in &closeness.misses {
        table.row(figure_row(&format!("misses {}", figure.name), figure));
    }
    sheet.table(&table);
}

fn of_numbers(numbers: &NumbersPage, sheet: &mut Sheet) {
    let format = match &numbers.from {
        Some(from) => format!("{}, guessed from {from}; --format changes it", numbers.format),
        None => numbers.format.clone(),
    };
    sheet.labelled(Ink::Dim, "read as   ", &format);
    if let Some(generator) = &numbers.generator {
        sheet.labelled(Ink::Dim, "fitted    ", &format!("the generator {generator}"));
    }
    if !numbers.statistics.is_empty() {
        sheet.heading("Statistics of both");
        let columns = vec![
            Column::left("").wrapping(),
            Column::right("recorded"),
            Column::right("fitted"),
            Column::right("allowed").optional(1),
            Column::left(""),
        ];
        let mut table = Table::new(columns, 1);
        for statistic in &numbers.statistics {
            let said = if statistic.close { FigureComparison::Close } else { FigureComparison::Apart };
            let figures = [statistic.recorded, statistic.fitted, statistic.allowed].map(any_size);
            let row = std::iter::once(statistic.name.clone()).chain(figures).map(Entry::from);
            table.row(row.chain([self::said(said)]).collect());
        }
        sheet.table(&table);
    }
    for branch in &numbers.branches {
        sheet.heading(&format!("A branch on whether a number is {}, simulated, per unit", branch.asks));
        figures(&branch.closeness, sheet);
    }
}

/// A figure of any size, to four digits or all of a large one's.
fn any_size(value: f64) -> String {
    let size = value.abs();
    if size >= 1e15 || (size > 0.0 && size < 1e-4) {
        return format!("{value:.2e}");
    }
    if size >= 10_000.0 {
        return format!("{}{}", if value < 0.0 { "-" } else { "" }, words::count(size.round() as u64));
    }
    format!("{value:.*}", if size == 0.0 { 0 } else { decimals(size, 4.0) })
}

fn order(closeness: &Closeness, sheet: &mut Sheet) {
    sheet.heading("How lengths follow each other");
    let columns = vec![Column::left("").wrapping(), Column::right("recorded"), Column::right("fitted")];
    let mut table = Table::new(columns, 1);
    let (real, fitted) = (&closeness.real_runs, &closeness.fitted_runs);
    let mut add = |name: &str, real: String, fitted: String| {
        table.row(vec![name.into(), real.into(), fitted.into()]);
    };
    add("mean run of one length, units", figure(real.mean), figure(fitted.mean));
    for (name, real, fitted) in [
        ("median run", real.median, fitted.median),
        ("90 % of runs are at most", real.p90, fitted.p90),
        ("99 % of runs are at most", real.p99, fitted.p99),
    ] {
        add(name, words::count(real), words::count(fitted));
    }
    let shares = [closeness.real_seen_before, closeness.fitted_seen_before].map(words::fraction);
    let [real, fitted] = shares;
    add("stretches of 32 lengths seen before", real, fitted);
    sheet.table(&table);
}

/// Decimals of which `digits` are not zeros in front.
fn decimals(value: f64, digits: f64) -> usize {
    if value > 0.0 { (digits - 1.0 - value.log10().floor()).clamp(0.0, 4.0) as usize } else { 4 }
}

/// A figure per unit, to three digits.
fn figure(value: f64) -> String {
    format!("{value:.*}", decimals(value, 3.0))
}

fn figure_row(name: &str, figure: &FitFigure) -> Vec<Entry> {
    // The digits that matter: two of the difference that is allowed.
    let digits = decimals(figure.allowed, 2.0);
    // A difference of nothing has no sign.
    let difference = format!("{:+.digits$}", figure.fitted - figure.real);
    let is_zero = difference.trim_start_matches(['+', '-']).chars().all(|letter| matches!(letter, '0' | '.'));
    let difference = if is_zero { difference[1..].to_owned() } else { difference };
    let parts = |(low, high): (f64, f64)| format!("{low:.digits$} to {high:.digits$}");
    vec![
        name.into(),
        format!("{:.digits$}", figure.real).into(),
        parts(figure.real_parts).into(),
        format!("{:.digits$}", figure.fitted).into(),
        parts((figure.real + figure.lower, figure.real + figure.upper)).into(),
        parts(figure.fitted_parts).into(),
        difference.into(),
        format!("{:.digits$}", figure.allowed).into(),
        if figure.says == FigureComparison::Close && figure.changes {
            Entry::inked("varies", Ink::Doubt)
        } else {
            said(figure.says)
        },
    ]
}

fn said(says: FigureComparison) -> Entry {
    match says {
        FigureComparison::Close => Entry::inked("close", Ink::Good),
        FigureComparison::Apart => Entry::inked("different", Ink::Bad),
        FigureComparison::Unsure => Entry::inked("undecided", Ink::Doubt),
    }
}

fn of_variants(variants: &Variants, sheet: &mut Sheet) {
    sheet
        .heading("Time of each variant on the fitted input, compared with the recorded one, over placements");
    let columns = vec![
        Column::left("variant"),
        Column::left("compiler").optional(1),
        Column::left("flags").optional(2),
        Column::right("difference"),
        Column::right("interval"),
        Column::right("rotations").optional(3),
        Column::left(""),
    ];
    let mut table = Table::new(columns, 1);
    for time in &variants.times {
        let ratio = time.ratio.map_or("-".to_owned(), words::fine_change);
        let interval = match (time.lower, time.upper) {
            (Some(lower), Some(upper)) => words::fine_span(lower, upper),
            _ => "-".to_owned(),
        };
        table.row(vec![
            time.variant.as_str().into(),
            time.compiler.as_str().into(),
            time.flags.as_str().into(),
            ratio.into(),
            interval.into(),
            time.rotations.to_string().into(),
            said(time.says),
        ]);
    }
    sheet.table(&table);
    if !variants.counts.is_empty() {
        sheet.heading("Events of each variant per unit");
        let columns = vec![
            Column::left("variant"),
            Column::left("compiler").optional(1),
            Column::left("flags").optional(2),
            Column::left("event"),
            Column::right("recorded"),
            Column::right("fitted"),
        ];
        let mut table = Table::new(columns, 1);
        for count in &variants.counts {
            table.row(vec![
                count.variant.as_str().into(),
                count.compiler.as_str().into(),
                count.flags.as_str().into(),
                count.what.as_str().into(),
                figure(count.real).into(),
                figure(count.fitted).into(),
            ]);
        }
        sheet.table(&table);
    }
    sheet.warnings(&variants.failures);
}
