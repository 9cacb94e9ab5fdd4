//! Why: the time of each variant by the offset of its entry in the 64-byte cache line, a small plot per input and build.

use super::colour::{Colour, SERIES};
use super::frame::{self, LEFT, Plot, ROOM, SMALL};
use super::names::ShortNames;
use super::scene::{Anchor, Scene, Shape};
use crate::page::{Page, PageCell};
use crate::plot_axis::{PlotAxis, WIDE};
use crate::terminal::build_column::BuildColumn;
use crate::terminal::distinct;
use assay_pure::words;
use assay_pure::words::TimeUnit;

/// Plots that are drawn.
const MOST_PLOTS: usize = 6;
/// Plots in a row.
const IN_ROW: usize = 3;
/// Curves in a plot.
const MOST_CURVES: usize = 6;
/// Height of a plot without its words.
const HEIGHT: f64 = 104.0;
/// Times that differ by less look alike: the axis spans this at least.
const LEAST_SPAN: f64 = 0.1;
/// The last offset that an axis shows; as-built times stand behind it.
const LINE_END: f64 = 56.0;
const AS_BUILT: f64 = 68.0;

/// Cells of one input in one build.
struct Group<'a> {
    title: String,
    cells: Vec<&'a PageCell>,
}

/// Draws the plots that show most; where they end.
pub fn draw(scene: &mut Scene, y: f64, page: &Page, builds: &BuildColumn) -> f64 {
    let mut groups = groups(page, builds);
    let all = groups.len();
    // Which of them are shown is decided by what placement does in them; their order stays.
    let mut by_spread: Vec<usize> = (0..all).collect();
    by_spread.sort_by(|one, other| spread(&groups[*other]).total_cmp(&spread(&groups[*one])));
    by_spread.truncate(MOST_PLOTS);
    let mut number = 0;
    groups.retain(|_| {
        number += 1;
        by_spread.contains(&(number - 1))
    });
    if groups.is_empty() {
        return y;
    }
    let variants: Vec<&str> =
        distinct(groups.iter().flat_map(|group| group.cells.iter().map(|cell| cell.variant.as_str())));
    let meaning = format!(
        "Time of a {} by where the function starts in its 64-byte cache line. Code is judged over all offsets; one ordinary \
         link (hollow) has one of them.",
        page.unit
    );
    let mut y = frame::heading(scene, y + 4.0, "Why: the same code at other addresses", &meaning);
    y = legend(scene, y + 10.0, &variants);
    let in_row = groups.len().clamp(2, IN_ROW);
    let width = (ROOM - 20.0 * (in_row - 1) as f64) / in_row as f64;
    let titles = ShortNames::of(SMALL, groups.iter().map(|group| group.title.as_str()), width);
    for row in groups.chunks(in_row) {
        for (at, group) in row.iter().enumerate() {
            let corner = (LEFT + at as f64 * (width + 20.0), y);
            scene.text((corner.0, y + 12.0), titles.get(&group.title), SMALL, Colour::Text, Anchor::Start);
            one(scene, corner, width, group, &variants);
        }
        y += HEIGHT + 32.0;
    }
    if groups.len() < all {
        let left = words::plural((all - groups.len()) as u64, "plot");
        y = frame::remark(scene, y - 4.0, &format!("Left out: {left} in which the address matters less."));
    }
    y
}

fn groups<'a>(page: &'a Page, builds: &BuildColumn) -> Vec<Group<'a>> {
    let mut groups: Vec<Group> = Vec::new();
    for cell in page.cells.iter().filter(|cell| cell.by_offset.len() > 1) {
        let mut title = cell.input.clone();
        if builds.title().is_some() {
            title += &format!(", {}", builds.name(&cell.compiler, &cell.flags));
        }
        match groups.iter_mut().find(|group| group.title == title) {
            Some(group) => group.cells.push(cell),
            None => groups.push(Group { title, cells: vec![cell] }),
        }
    }
    for group in &mut groups {
        group.cells.truncate(MOST_CURVES);
    }
    groups
}

/// By how much placement changes the time of the variant that it changes most.
fn spread(group: &Group) -> f64 {
    let of = |cell: &&PageCell| {
        let times = || times(cell);
        times().fold(0.0, f64::max) / times().fold(f64::INFINITY, f64::min)
    };
    group.cells.iter().map(of).fold(1.0, f64::max)
}

fn times(cell: &PageCell) -> impl Iterator<Item = f64> {
    cell.by_offset.iter().map(|at| at.ns_per_unit).chain(cell.as_built_ns)
}

fn legend(scene: &mut Scene, y: f64, variants: &[&str]) -> f64 {
    let (mut x, mut y) = (LEFT, y);
    let short = ShortNames::of(SMALL, variants.iter().copied(), 240.0);
    for (number, variant) in variants.iter().enumerate() {
        let name = short.get(variant);
        if x + 18.0 + SMALL.width(name) > LEFT + ROOM {
            (x, y) = (LEFT, y + 16.0);
        }
        let colour = Colour::Series(number % SERIES);
        scene.dot((x + 5.0, y - 4.0), 4.0, Shape::of(number), colour, false);
        scene.text((x + 14.0, y), name, SMALL, Colour::Text, Anchor::Start);
        x += 14.0 + SMALL.width(name) + 20.0;
    }
    y + 10.0
}

fn one(scene: &mut Scene, (x, y): (f64, f64), width: f64, group: &Group, variants: &[&str]) {
    let all = || group.cells.iter().flat_map(|cell| times(cell));
    let (low, high) = (all().fold(f64::INFINITY, f64::min), all().fold(0.0, f64::max));
    if !(low > 0.0 && high.is_finite()) {
        return;
    }
    let pad = (0.12 * (high / low - 1.0)).max((LEAST_SPAN - (high / low - 1.0)) / 2.0).min(0.3);
    let (low, high) = (low * (1.0 - pad), high * (1.0 + pad));
    let unit = TimeUnit::of(high);
    let up = PlotAxis::of(low, high, high / low > WIDE);
    let name = |ns: f64| trimmed(ns / unit.ns);
    let gutter = up.ticks(4).iter().map(|value| SMALL.width(&name(*value))).fold(16.0, f64::max) + 8.0;
    let plot = Plot {
        left: x + gutter,
        right: x + width,
        top: y + 34.0,
        bottom: y + 34.0 + HEIGHT - 34.0,
        across: PlotAxis::of(-5.0, AS_BUILT + 9.0, false),
        up,
    };
    scene.text((plot.left - 6.0, y + 27.0), unit.name, SMALL, Colour::Muted, Anchor::End);
    plot.rules(scene, 4, &name);
    plot.ticks(scene, &[0.0, 16.0, 32.0, 48.0], &|offset| format!("{offset:.0}"));
    scene.dashes(
        (plot.x(LINE_END + 1.0), plot.top),
        (plot.x(LINE_END + 1.0), plot.bottom),
        Colour::Grid,
        1.0,
    );
    scene.text((plot.x(AS_BUILT), plot.bottom + 16.0), "as built", SMALL, Colour::Muted, Anchor::Middle);
    for cell in &group.cells {
        let number = variants.iter().position(|variant| *variant == cell.variant).unwrap_or(0);
        let (colour, shape) = (Colour::Series(number % SERIES), Shape::of(number));
        let points: Vec<(f64, f64)> =
            cell.by_offset.iter().map(|at| (plot.x(at.offset as f64), plot.y(at.ns_per_unit))).collect();
        scene.path(points.clone(), colour, 1.5);
        for point in points {
            scene.dot(point, 3.4, shape, colour, false);
        }
        if let Some(ns) = cell.as_built_ns {
            scene.dot((plot.x(AS_BUILT), plot.y(ns)), 3.4, shape, colour, true);
        }
    }
}

/// A round value without zeros at its end.
pub fn trimmed(value: f64) -> String {
    let text = format!("{value:.4}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    match text.parse::<f64>() {
        Ok(whole) if whole.fract() == 0.0 && whole >= 1000.0 => words::count(whole as u64),
        _ => text.to_owned(),
    }
}

/// A size without zeros behind its point: "2 MiB".
pub fn short_bytes(bytes: u64) -> String {
    let text = words::bytes(bytes);
    let Some((number, unit)) = text.split_once(' ').filter(|(number, _)| number.contains('.')) else {
        return text;
    };
    format!("{} {unit}", number.trim_end_matches('0').trim_end_matches('.'))
}
