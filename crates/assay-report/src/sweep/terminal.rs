//! The view on a terminal: the answer, who wins where, what steps, a plot and a table of the points.

use super::answer::next;
use super::page::{CrossoverPage, Limit, PairPage, RatioAt, SeriesPage, StepCause, Stopped, SweepPage};
use super::plot::plot;
use super::value::{crossover, value};
use crate::Detail;
use crate::ink::Ink;
use crate::page::TwinVerdict;
use crate::sheet::Sheet;
use crate::table::{Column, Entry, Table};
use assay_pure::sweep::Winner;
use assay_pure::sweep::refine::Why;
use assay_pure::words;

/// The page as text, `width` columns wide. In full it has every pair, else those with the baseline.
pub fn render_sweep(page: &SweepPage, width: usize, colour: bool, detail: Detail) -> String {
    let mut sheet = Sheet::new(width, colour);
    sheet.answer(&page.answer, next(page).as_deref());
    sheet.labelled(Ink::Dim, "asked ", &page.question);
    sheet.warnings(&page.warnings);
    for series in &page.series {
        if page.series.len() > 1 {
            sheet.heading(&format!("{}, {}, {}", series.input, series.compiler, series.flags));
        }
        let pairs: Vec<&PairPage> = series
            .pairs
            .iter()
            .filter(|pair| detail == Detail::Full || pair.baseline == page.baseline)
            .collect();
        winners(page, &pairs, &mut sheet);
        steps(series, &mut sheet);
        sheet.heading(&format!("Time per {} over {}", page.unit, page.key.label));
        for line in plot(series, &page.key, &page.unit, width) {
            sheet.verbatim(Ink::Plain, "", &line);
        }
        times(page, series, &mut sheet);
        ratios(page, &pairs, &mut sheet);
    }
    failures(page, &mut sheet);
    closing(page, &mut sheet);
    sheet.into_text()
}

fn winners(page: &SweepPage, pairs: &[&PairPage], sheet: &mut Sheet) {
    if pairs.is_empty() {
        return;
    }
    sheet.heading("Who wins where");
    for pair in pairs {
        sheet.labelled(Ink::Plain, &format!("  {} vs. {}: ", pair.candidate, pair.baseline), &pair.note);
        for found in &pair.crossovers {
            if let Some(text) = limit(page, found) {
                sheet.paragraph(Ink::Dim, "    ", &text);
            }
            if !found.confirmed {
                sheet.paragraph(Ink::Doubt, "    ", &unconfirmed(page, pair, found));
            }
        }
    }
}

/// Why a crossover may be none, and what tells.
fn unconfirmed(page: &SweepPage, pair: &PairPage, found: &CrossoverPage) -> String {
    let place = crossover(&page.key, found);
    let is_end = |ratio: &&RatioAt| ratio.at == found.lower || ratio.at == found.upper;
    if pair.ratios.iter().filter(is_end).any(|ratio| ratio.shared) {
        return format!(
            "one end of the crossover at {place} was measured only while the sibling thread was busy, which may shift it: \
             raise --budget, measure at a quieter time, or choose another core with --cpu N"
        );
    }
    let remedy = if page.key.refine == 0 { "set --refine above 0" } else { "raise --budget" };
    format!("the crossover at {place} was not confirmed by a second campaign: {remedy} to confirm it")
}

/// Why a crossover is wider than wanted.
fn limit(page: &SweepPage, found: &CrossoverPage) -> Option<String> {
    let wide = format!(
        "the crossover at {} lies between {} and {} ({} was wanted)",
        crossover(&page.key, found),
        value(&page.key, found.lower),
        value(&page.key, found.upper),
        value(&page.key, assay_pure::sweep::grid::short(found.wanted_width))
    );
    Some(match found.limited_by? {
        Limit::Noise => format!(
            "{wide}: nearer points differ by less than the noise; raise --budget or placement.rotations to narrow it"
        ),
        Limit::Points => format!("{wide}: raise --refine to narrow it"),
    })
}

fn steps(series: &SeriesPage, sheet: &mut Sheet) {
    if series.curves.iter().all(|curve| curve.steps.is_empty()) {
        return;
    }
    sheet.heading("Steps");
    for curve in &series.curves {
        for step in &curve.steps {
            let ink = if step.cause == StepCause::Unexplained { Ink::Doubt } else { Ink::Plain };
            sheet.labelled(ink, &format!("  {}: ", curve.variant), &step.note);
        }
    }
}

fn times(page: &SweepPage, series: &SeriesPage, sheet: &mut Sheet) {
    sheet.heading(&format!("Nanoseconds per {}", page.unit));
    let mut columns = vec![Column::right(&page.key.label)];
    let sizes = page.points.iter().any(|point| point.bytes != page.points[0].bytes);
    if sizes {
        columns.push(Column::right("bytes").optional(2));
    }
    columns.push(Column::left("why").optional(1));
    columns.extend(series.curves.iter().map(|curve| Column::right(&curve.variant)));
    let mut table = Table::new(columns, 1);
    for point in &page.points {
        let mut row: Vec<Entry> = vec![value(&page.key, point.at).into()];
        if sizes {
            row.push(point.bytes.map_or_else(|| "-".into(), words::bytes).into());
        }
        row.push(why(point.why).into());
        let here = |curve: &super::page::CurvePage| {
            curve.times.iter().find(|time| time.at == point.at).map(|time| time.ns_per_unit)
        };
        let best = series.curves.iter().filter_map(here).map(|time| time.median).reduce(f64::min);
        for curve in &series.curves {
            row.push(match here(curve) {
                Some(time) => {
                    let ink = if Some(time.median) == best { Ink::Good } else { Ink::Plain };
                    Entry::inked(words::ns_with_interval(time.median, time.lower, time.upper), ink)
                }
                None => "".into(),
            });
        }
        table.row(row);
    }
    sheet.table(&table);
}

fn why(why: Why) -> &'static str {
    match why {
        Why::Grid => "range",
        Why::Crossover => "crossover",
        Why::Bend => "bend",
        Why::Again => "again",
    }
}

fn ratios(page: &SweepPage, pairs: &[&PairPage], sheet: &mut Sheet) {
    if pairs.is_empty() {
        return;
    }
    sheet.heading("Ratios");
    let legend = format!(
        "Time of the first relative to the second: -12 % takes 12 % less. ±: interval at {}; =: equal within {}; ?: undecided.",
        words::confidence(page.measured.confidence),
        words::asked(page.measured.minimum_effect)
    );
    sheet.paragraph(Ink::Dim, "  ", &legend);
    if pairs.iter().any(|pair| pair.ratios.iter().any(|ratio| ratio.shared)) {
        let legend = "!: measured only while the sibling thread was busy; ignored where most points were measured without.";
        sheet.paragraph(Ink::Dim, "  ", legend);
    }
    let differing = |pair: &&&PairPage| pair.campaigns_differ_by.is_some_and(|by| by > 0.0);
    let differ: Vec<String> = pairs.iter().filter(differing).map(|pair| differ(pair)).collect();
    if !differ.is_empty() {
        let legend = format!(
            "The intervals include how much campaigns of one point differ: {}.",
            words::list(&differ)
        );
        sheet.paragraph(Ink::Dim, "  ", &legend);
    }
    let mut columns = vec![Column::right(&page.key.label)];
    columns.extend(pairs.iter().map(|pair| Column::right(&format!("{}/{}", pair.candidate, pair.baseline))));
    let mut table = Table::new(columns, 1);
    for point in &page.points {
        let mut row: Vec<Entry> = vec![value(&page.key, point.at).into()];
        for pair in pairs {
            row.push(match pair.ratios.iter().find(|ratio| ratio.at == point.at) {
                Some(ratio) => {
                    let (mark, ink) = match ratio.winner {
                        Winner::Candidate => ("", Ink::Good),
                        Winner::Baseline => ("", Ink::Bad),
                        Winner::Neither => (" =", Ink::Calm),
                        Winner::Unclear => (" ?", Ink::Doubt),
                    };
                    let shared = if ratio.shared { " !" } else { "" };
                    let text = ratio.ratio.change();
                    Entry::inked(format!("{text}{mark}{shared}"), ink)
                }
                None => "".into(),
            });
        }
        table.row(row);
    }
    sheet.table(&table);
}

fn differ(pair: &PairPage) -> String {
    let by = pair.campaigns_differ_by.unwrap_or_default();
    format!("{}/{} {}", pair.candidate, pair.baseline, words::fraction(by.exp_m1()))
}

fn failures(page: &SweepPage, sheet: &mut Sheet) {
    if page.failures.is_empty() {
        return;
    }
    sheet.heading("Not measured");
    for failure in &page.failures {
        sheet.labelled(Ink::Bad, &format!("  {}: ", failure.what), &failure.reason);
    }
}

fn closing(page: &SweepPage, sheet: &mut Sheet) {
    sheet.gap();
    let measured = &page.measured;
    let stopped = match measured.stopped_because {
        Some(Stopped::Refined) => "nothing left to refine",
        Some(Stopped::Points) => "all further points used (--refine)",
        Some(Stopped::Interrupted) => "interrupted; --resume continues",
        Some(Stopped::Nothing) => "nothing could be measured",
        Some(Stopped::Decided | Stopped::Budget | Stopped::Rotations | Stopped::Rounds) => {
            "measured to its end"
        }
        None => "not finished; --resume continues",
    };
    let twin = match measured.twin {
        Some(TwinVerdict::Equivalent) => "twin control passed in every step",
        Some(TwinVerdict::Undecided) => "twin control undecided in some step",
        Some(TwinVerdict::Different) => "twin control failed",
        None => "no twin control",
    };
    let elapsed =
        measured.elapsed_seconds.map_or(String::new(), |s| format!(", {} in all", words::duration(s)));
    let text = format!(
        "Sweep {} of {}: {} in {}, {} of measuring{elapsed}; {} each; {stopped}; {twin}. {}.",
        measured.id,
        page.key.path,
        words::plural(page.points.len() as u64, "point"),
        words::plural(measured.campaigns.len() as u64, "step"),
        words::duration(measured.seconds),
        words::plural(u64::from(measured.rotations), "rotation"),
        page.machine.cpu
    );
    sheet.paragraph(Ink::Dim, "", &text);
}
