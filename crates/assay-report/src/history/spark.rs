//! A series in one line of letters.
//!
//! Method: eight heights between the smallest and the largest value, at least 2 % apart so that noise looks like noise. Where there are
//! more points than columns a column is the mean of its points. A bar stands where the machine changes; a column in which
//! a change point lies is marked.

use super::page::{HistoryPage, HistorySeries};

/// Blocks, the lowest first.
pub const HEIGHTS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// Where the machine changes.
pub const MACHINE: char = '│';
/// Ahead of the first column at a new level.
pub const CHANGE: char = '╎';
/// The least span of the heights: below it there is nothing to see.
const SPAN: f64 = 0.02;

/// The line, at most `width` columns.
pub fn line(page: &HistoryPage, series: &HistorySeries, width: usize) -> String {
    let points = &series.points;
    let machine = |at: usize| page.runs[points[at].run].machine;
    let is_change = |at: usize| series.changes.iter().any(|change| change.at == points[at].run);
    let marks = (1..points.len()).filter(|&at| machine(at) != machine(at - 1) || is_change(at)).count();
    let room = width.saturating_sub(marks).max(1);
    let per_column = points.len().div_ceil(room).max(1);
    let values: Vec<f64> = points.iter().map(|point| point.value.ln()).collect();
    let (low, high) =
        values.iter().fold((f64::MAX, f64::MIN), |(low, high), &value| (low.min(value), high.max(value)));
    let middle = 0.5 * (low + high);
    let half = 0.5 * (high - low).max(SPAN);
    let height = |value: f64| {
        let part = (value - (middle - half)) / (2.0 * half);
        HEIGHTS[((part * 8.0) as usize).min(7)]
    };
    let mut text = String::new();
    let mut column: Vec<f64> = Vec::new();
    for (at, &value) in values.iter().enumerate() {
        let mark = if at > 0 && machine(at) != machine(at - 1) {
            Some(MACHINE)
        } else {
            (at > 0 && is_change(at)).then_some(CHANGE)
        };
        if column.len() == per_column || mark.is_some() {
            flush(&mut column, &mut text, &height);
        }
        text.extend(mark);
        column.push(value);
    }
    flush(&mut column, &mut text, &height);
    let over = text.chars().count().saturating_sub(width);
    text.chars().skip(over).collect()
}

fn flush(column: &mut Vec<f64>, text: &mut String, height: &impl Fn(f64) -> char) {
    if !column.is_empty() {
        text.push(height(column.iter().sum::<f64>() / column.len() as f64));
        column.clear();
    }
}
