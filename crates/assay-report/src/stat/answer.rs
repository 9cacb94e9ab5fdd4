//! The first line: how many branches, how many of them mispredicted, and where the figures come from.

use super::figure::{figure, whole};
use super::page::{EventRow, FigureSource, StatPage};
use assay_pure::words;

/// Events in a sentence.
const SHOWN: usize = 3;

/// The sentence that the page begins with.
pub fn answer(page: &StatPage) -> String {
    let counted = counted_branches(page);
    let traced = traced_branches(page);
    let how = match page.sources.as_slice() {
        [FigureSource::Counted] => "Counted",
        [FigureSource::Traced] if page.emulator.is_none() => "Traced at native speed",
        [FigureSource::Traced] => "Traced, not counted",
        _ => "Counted and traced",
    };
    match (counted, traced) {
        (Some(counted), Some(traced)) => format!("Counted: {counted}. Traced: {traced}."),
        (Some(counted), None) => format!("Counted: {counted}."),
        (None, Some(traced)) if page.emulator.is_none() => format!("Traced at native speed: {traced}."),
        (None, Some(traced)) => format!("Traced, not counted: {traced}."),
        (None, None) => format!("{how}: {}.", any_event(page)),
    }
}

fn mean(page: &StatPage, event: &str, source: FigureSource) -> Option<f64> {
    Some(page.row(event, source)?.value.as_ref()?.mean.value())
}

fn counted_branches(page: &StatPage) -> Option<String> {
    let branches = mean(page, "branches", FigureSource::Counted)?;
    let text = format!("{} branches", whole(branches));
    Some(match mean(page, "branch-misses", FigureSource::Counted) {
        Some(misses) if branches > 0.0 => {
            format!("{text}, {} of them mispredicted", words::rate(misses / branches))
        }
        _ => text,
    })
}

fn traced_branches(page: &StatPage) -> Option<String> {
    let branches = mean(page, "branches", FigureSource::Traced)?;
    let text = format!("{} branches", whole(branches));
    let Some(range) = &page.mispredictions else { return Some(text) };
    let models = match page.predictors.as_slice() {
        [one] => format!("by {}", one.predictor),
        several => format!("by {} models", several.len()),
    };
    Some(format!(
        "{text}, {} of them mispredicted (simulated {models}, not by this CPU)",
        words::rate_span(range.of_branches.low, range.of_branches.high)
    ))
}

/// Where branches were not looked at: the first events that were.
fn any_event(page: &StatPage) -> String {
    let figure = |row: &EventRow| {
        let value = row.value.as_ref()?;
        Some(format!("{} {}", figure(row, value.mean.value()), row.event))
    };
    let counted: Vec<String> = page.events.iter().filter_map(figure).collect();
    match counted.len() {
        0 => "none of the events asked for".to_owned(),
        length => words::list(&counted[..length.min(SHOWN)]),
    }
}
