//! The curves of a series in letters: nanoseconds per unit over the key, one mark per variant.
//!
//! Method: a grid of cells; each curve's straight lines between its points are sampled once per column and drawn with dots, its points
//! with its mark on top, so a narrow terminal loses detail and no point. The time axis is logarithmic where the times
//! span a factor of four or the key is on a geometric scale. Where two points share a cell, `*` says so.

use super::page::{CurvePage, PageSweepKey, SeriesPage};
use super::value::value;
use crate::plot_axis::{PlotAxis, WIDE};
use assay_pure::sweep::Scale;
use assay_pure::words;

/// Rows of the plot.
const ROWS: usize = 16;
/// Columns of the plot itself at least.
const NARROWEST: usize = 24;
/// More columns show nothing more.
const WIDEST: usize = 140;
const MARKS: [char; 16] = ['o', 'x', '+', '#', '@', '%', '&', '$', 'A', 'B', 'C', 'D', 'E', 'F', 'G', 'H'];
const SEVERAL: char = '*';
const LINE: char = '·';

/// The lines of the plot, each at most `width` columns; none where there is nothing to show.
pub(super) fn plot(series: &SeriesPage, key: &PageSweepKey, unit: &str, width: usize) -> Vec<String> {
    let times: Vec<f64> = series
        .curves
        .iter()
        .flat_map(|curve| &curve.times)
        .map(|time| time.ns_per_unit.median)
        .filter(|time| time.is_finite() && *time > 0.0)
        .collect();
    let (Some(low), Some(high)) =
        (times.iter().copied().reduce(f64::min), times.iter().copied().reduce(f64::max))
    else {
        return Vec::new();
    };
    let vertical = PlotAxis::of(low, high, high / low >= WIDE || key.scale == Scale::Geometric);
    let gutter = 1 + [low, high].map(|time| words::ns(time).len()).into_iter().max().unwrap_or(6);
    let columns = width.saturating_sub(gutter + 2).clamp(NARROWEST, WIDEST);
    let horizontal = PlotAxis::of(key.from, key.to, key.scale == Scale::Geometric);
    let mut cells = vec![vec![' '; columns]; ROWS];
    for curve in &series.curves {
        draw_line(&mut cells, curve, (&horizontal, &vertical));
    }
    for (number, curve) in series.curves.iter().enumerate() {
        draw_points(&mut cells, curve, MARKS[number % MARKS.len()], (&horizontal, &vertical));
    }
    let mut lines = vec![format!("{:>gutter$} per {unit}{}", "ns", vertical.note())];
    for (row, cells) in cells.iter().enumerate() {
        let labelled = row % 5 == 0 || row + 1 == ROWS;
        let label = if labelled { words::ns(vertical.at(1.0 - part(row, ROWS))) } else { String::new() };
        let text: String = cells.iter().collect();
        let tick = if labelled { '┤' } else { '│' };
        lines.push(format!("{label:>gutter$} {tick}{}", text.trim_end()));
    }
    lines.push(format!("{:>gutter$} └{}", "", "─".repeat(columns)));
    lines.push(under(key, &horizontal, gutter + 2, columns));
    let note = format!("{}{}", key.label, horizontal.note());
    lines.push(format!(
        "{:indent$}{note}",
        "",
        indent = gutter + 2 + columns.saturating_sub(note.chars().count()) / 2
    ));
    lines.extend(legend(series, width, gutter + 2));
    lines
}

fn part(index: usize, count: usize) -> f64 {
    index as f64 / (count - 1) as f64
}

fn cell_of(part: f64, count: usize) -> usize {
    (part * (count - 1) as f64).round() as usize
}

fn draw_line(cells: &mut [Vec<char>], curve: &CurvePage, (horizontal, vertical): (&PlotAxis, &PlotAxis)) {
    let columns = cells[0].len();
    for pair in curve.times.windows(2) {
        let places = [pair[0], pair[1]].map(|time| {
            (horizontal.part(time.at) * (columns - 1) as f64, vertical.part(time.ns_per_unit.median))
        });
        let [(from, low), (to, high)] = places;
        for (column, _) in
            (0..columns).enumerate().filter(|(column, _)| (from..=to).contains(&(*column as f64)))
        {
            let part = if to > from { (column as f64 - from) / (to - from) } else { 0.0 };
            let row = ROWS - 1 - cell_of(low + part * (high - low), ROWS);
            cells[row][column] = LINE;
        }
    }
}

fn draw_points(
    cells: &mut [Vec<char>],
    curve: &CurvePage,
    mark: char,
    (horizontal, vertical): (&PlotAxis, &PlotAxis),
) {
    let columns = cells[0].len();
    for time in &curve.times {
        let column = cell_of(horizontal.part(time.at), columns);
        let row = ROWS - 1 - cell_of(vertical.part(time.ns_per_unit.median), ROWS);
        let cell = &mut cells[row][column];
        *cell = if [' ', LINE, mark].contains(cell) { mark } else { SEVERAL };
    }
}

/// The labels under the axis: both ends and the middle.
fn under(key: &PageSweepKey, horizontal: &PlotAxis, indent: usize, columns: usize) -> String {
    let ends = [value(key, key.from), value(key, key.to)];
    let middle = value(key, assay_pure::sweep::grid::tidy(three_figures(horizontal.at(0.5))));
    let room = columns - ends[0].chars().count().min(columns);
    let text = format!("{}{:>room$}", ends[0], ends[1]);
    let mut letters: Vec<char> = text.chars().collect();
    let start = columns.saturating_sub(middle.chars().count()) / 2;
    let fits = letters.len() > start + middle.chars().count()
        && letters[start.saturating_sub(1)..start + middle.chars().count() + 1]
            .iter()
            .all(|letter| *letter == ' ');
    if fits {
        for (offset, letter) in middle.chars().enumerate() {
            letters[start + offset] = letter;
        }
    }
    format!("{:indent$}{}", "", letters.into_iter().collect::<String>())
}

fn three_figures(value: f64) -> f64 {
    if value == 0.0 {
        return value;
    }
    let unit = 10f64.powf(value.abs().log10().floor() - 2.0);
    (value / unit).round() * unit
}

/// Which mark is whose, in as many lines as it takes.
fn legend(series: &SeriesPage, width: usize, indent: usize) -> Vec<String> {
    let mut lines = vec![" ".repeat(indent)];
    for (number, curve) in series.curves.iter().enumerate() {
        let entry = format!("{} {}", MARKS[number % MARKS.len()], curve.variant);
        let last = lines.last_mut().expect("there is one from the start");
        if last.chars().count() > indent && last.chars().count() + entry.chars().count() + 3 > width {
            lines.push(format!("{}{entry}", " ".repeat(indent)));
        } else {
            let gap = if last.chars().count() > indent { "   " } else { "" };
            last.push_str(&format!("{gap}{entry}"));
        }
    }
    lines
}
