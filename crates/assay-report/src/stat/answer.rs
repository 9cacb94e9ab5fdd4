//! The first line: how many branches, how many of them mispredicted, and where the figures come from.

use super::human::figure;
use super::page::{Ends, EventRow, FigureSource, StatPage};
use crate::{number, prose};

/// Events in a sentence.
const SHOWN: usize = 3;

/// The sentence that the page begins with.
pub fn answer(page: &StatPage) -> String {
    let counted = counted_branches(page);
    let traced = traced_branches(page);
    let how = match page.sources.as_slice() {
        [FigureSource::Counted] => "Counted",
        [FigureSource::Traced] => "Traced, not counted",
        _ => "Counted and traced",
    };
    match (counted, traced) {
        (Some(counted), Some(traced)) => format!("Counted: {counted}. Traced: {traced}."),
        (Some(counted), None) => format!("Counted: {counted}."),
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
            format!("{text}, {} of them mispredicted", percent(misses / branches))
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
        percents(range.of_branches)
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
        length => prose::list(&counted[..length.min(SHOWN)]),
    }
}

/// A count as a reader wants it: whole, with thousands set apart.
pub(super) fn whole(value: f64) -> String {
    number::count(value.round().max(0.0) as u64)
}

/// A share as a percentage with three digits, and never "0.00 %" for what is not nothing.
pub(super) fn percent(share: f64) -> String {
    format!("{} %", percent_digits(share))
}

fn percent_digits(share: f64) -> String {
    let value = share * 100.0;
    match value {
        _ if value == 0.0 => "0".to_owned(),
        _ if value < 0.000_5 => "< 0.001".to_owned(),
        _ if value < 0.995 => format!("{value:.3}"),
        _ if value < 9.995 => format!("{value:.2}"),
        _ => format!("{value:.1}"),
    }
}

/// A range of shares, or one where both ends print the same.
pub(super) fn percents(ends: Ends) -> String {
    span(percent_digits(ends.low), percent_digits(ends.high)) + " %"
}

/// "low to high", or one of them where they print the same.
pub(super) fn span(low: String, high: String) -> String {
    if low == high { low } else { format!("{low} to {high}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_keep_three_digits_and_are_not_rounded_to_nothing() {
        let cases = [
            (0.0, "0 %"),
            (0.000_001, "< 0.001 %"),
            (0.000_012_3, "0.001 %"),
            (0.004_321, "0.432 %"),
            (0.0432, "4.32 %"),
            (0.099_96, "10.0 %"),
            (0.4321, "43.2 %"),
            (1.0, "100.0 %"),
        ];
        for (share, text) in cases {
            assert_eq!(percent(share), text, "{share}");
        }
        assert_eq!(percents(Ends { low: 0.031, high: 0.0371 }), "3.10 to 3.71 %");
        assert_eq!(percents(Ends { low: 0.031, high: 0.031_001 }), "3.10 %");
    }
}
