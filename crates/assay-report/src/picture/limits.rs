//! The limits of a machine: what each level of its memory gives, how long a load takes, what single things cost.

use super::colour::Colour;
use super::frame::{self, BODY, LEFT, Plot, RIGHT, SMALL};
use super::offsets::{short_bytes, trimmed};
use super::scene::{Anchor, Fill, Scene, Shape};
use crate::limits::{LevelRate, QUESTION, in_sentences};
use crate::plot_axis::PlotAxis;
use assay_pure::limits::{ChaseCurve, Limits, MemoryLevel};
use assay_pure::words;

/// Between the two upper plots.
const GAP: f64 = 30.0;
/// A bar with what is around it.
const BAR: f64 = 14.0;
/// Room of a level's name.
const LEVEL: f64 = 92.0;
/// Costs that are drawn.
const MOST_COSTS: usize = 24;
/// Working sets that are named on the axis.
const MOST_SIZES: usize = 6;

const WAYS: [(&str, LevelRate); 3] =
    [("read", |level| &level.read), ("write", |level| &level.write), ("copy", |level| &level.copy)];

/// The picture of a machine's limits.
pub fn of_limits(limits: &Limits) -> Scene {
    let (mut scene, mut y) = frame::begin(QUESTION, &in_sentences(limits));
    let middle = (LEFT + RIGHT) / 2.0;
    let top = y + 24.0;
    let left = bandwidth(&mut scene, top, (LEFT, middle - GAP / 2.0), limits);
    let right = latency(&mut scene, top, (middle + GAP / 2.0, RIGHT), limits, left - top);
    y = left.max(right);
    y = costs(&mut scene, y, limits);
    frame::end(
        &mut scene,
        y,
        &[
            "assay limits".to_owned(),
            limits.machine.cpu.clone(),
            format!("{} on CPU {}", words::plural(limits.windows, "window"), limits.cpu),
            if limits.quick { "--quick".to_owned() } else { String::new() },
            if limits.machine.virtual_machine { "virtual machine".to_owned() } else { String::new() },
        ],
    );
    scene
}

fn level_name(level: &MemoryLevel) -> String {
    level.bytes.map_or(level.name.clone(), |bytes| format!("{}, {}", level.name, short_bytes(bytes)))
}

fn title(scene: &mut Scene, (x, y): (f64, f64), text: &str) {
    scene.text((x, y), text, super::frame::STRONG, Colour::Text, Anchor::Start);
}

/// Bytes per nanosecond by level, a bar for each way.
fn bandwidth(scene: &mut Scene, y: f64, (left, right): (f64, f64), limits: &Limits) -> f64 {
    let rate =
        |level: &MemoryLevel, pick: LevelRate| pick(level).as_ref().map(|rate| rate.bytes_per_ns.median);
    let all =
        || limits.levels.iter().flat_map(|level| WAYS.iter().filter_map(move |(_, pick)| rate(level, *pick)));
    let high = all().fold(0.0, f64::max);
    if high <= 0.0 {
        return y;
    }
    title(scene, (left, y), "Bandwidth by level, GB/s");
    // The length of a bar is its value: from zero, linear.
    let axis = PlotAxis::of(0.0, high * 1.02, false);
    let (from, to) = (left + LEVEL, right - 44.0);
    let place = |value: f64| from + axis.part(value) * (to - from);
    let mut y = y + 12.0;
    let mut x = left;
    for (number, (name, _)) in WAYS.iter().enumerate() {
        scene.rectangle((x, y), (x + 12.0, y + 10.0), Colour::Series(number), Fill::Solid);
        scene.text((x + 17.0, y + 9.0), name, SMALL, Colour::Text, Anchor::Start);
        x += 17.0 + SMALL.width(name) + 16.0;
    }
    y += 20.0;
    let top = y;
    let bottom = y + (3.0 * BAR + 12.0) * limits.levels.len() as f64;
    let ticks = axis.ticks(5);
    for &tick in &ticks {
        scene.line((place(tick), top), (place(tick), bottom), Colour::Grid, 1.0);
        scene.text((place(tick), bottom + 15.0), &trimmed(tick), SMALL, Colour::Muted, Anchor::Middle);
    }
    for level in &limits.levels {
        let name = SMALL.cut(&level_name(level), LEVEL - 8.0);
        scene.text((left, y + 1.5 * BAR + 8.0), &name, SMALL, Colour::Text, Anchor::Start);
        for (number, (_, pick)) in WAYS.iter().enumerate() {
            let middle = y + 6.0 + BAR * (number as f64 + 0.5);
            let Some(value) = rate(level, *pick) else {
                scene.text((from + 4.0, middle + 4.0), "not measured", SMALL, Colour::Muted, Anchor::Start);
                continue;
            };
            scene.rectangle(
                (from, middle - 5.0),
                (place(value), middle + 5.0),
                Colour::Series(number),
                Fill::Solid,
            );
            scene.text(
                (place(value) + 5.0, middle + 4.0),
                &words::short(value),
                SMALL,
                Colour::Text,
                Anchor::Start,
            );
        }
        y += 3.0 * BAR + 12.0;
    }
    scene.line((from, top), (from, bottom), Colour::Muted, 1.0);
    scene.line((from, bottom), (to, bottom), Colour::Muted, 1.0);
    bottom + 20.0
}

/// Nanoseconds of a dependent load by working set, with the sizes of the caches.
fn latency(scene: &mut Scene, y: f64, (left, right): (f64, f64), limits: &Limits, height: f64) -> f64 {
    let curves: Vec<&ChaseCurve> = limits.latency.iter().filter(|curve| curve.points.len() > 1).collect();
    let points = || curves.iter().flat_map(|curve| &curve.points);
    let (Some(first), Some(last)) =
        (points().map(|point| point.bytes).min(), points().map(|point| point.bytes).max())
    else {
        return y;
    };
    let low = points().map(|point| point.figure.median).fold(f64::INFINITY, f64::min);
    let high = points().map(|point| point.figure.median).fold(0.0, f64::max);
    title(scene, (left, y), "A load that waits for the one before, ns");
    let bottom = y + (height - 20.0).max(170.0);
    let plot = Plot {
        left: left + 34.0,
        right,
        top: y + 40.0,
        bottom: bottom - 16.0,
        across: PlotAxis::of(first as f64, last as f64, true),
        up: PlotAxis::of(low / 1.2, high * 1.2, true),
    };
    plot.rules(scene, 6, &trimmed);
    let mut sizes: Vec<f64> = (0..48).map(|power| 2f64.powi(power)).collect();
    sizes.retain(|size| (first as f64..=last as f64).contains(size));
    let step = sizes.len().div_ceil(MOST_SIZES).max(1);
    let named: Vec<f64> = sizes.into_iter().step_by(step).collect();
    plot.ticks(scene, &named, &|bytes| short_bytes(bytes as u64));
    for level in &limits.levels {
        let Some(bytes) = level.bytes.filter(|bytes| (first..=last).contains(bytes)) else { continue };
        let x = plot.x(bytes as f64);
        scene.dashes((x, plot.top), (x, plot.bottom), Colour::Muted, 1.0);
        scene.text((x, plot.top - 4.0), &level.name, SMALL, Colour::Muted, Anchor::Middle);
    }
    let mut x = left + 34.0;
    for (number, curve) in curves.iter().enumerate() {
        let points: Vec<(f64, f64)> = curve
            .points
            .iter()
            .map(|point| (plot.x(point.bytes as f64), plot.y(point.figure.median)))
            .collect();
        scene.path(points.clone(), Colour::Series(number), 1.8);
        for point in points {
            scene.dot(point, 2.4, Shape::of(number), Colour::Series(number), false);
        }
        let name = format!("{} pages", curve.pages.word());
        scene.dot((x + 4.0, y + 14.0), 3.2, Shape::of(number), Colour::Series(number), false);
        scene.text((x + 12.0, y + 18.0), &name, SMALL, Colour::Text, Anchor::Start);
        x += 12.0 + SMALL.width(&name) + 16.0;
    }
    scene.text((right, bottom + 14.0), "working set (logarithmic)", SMALL, Colour::Muted, Anchor::End);
    bottom + 20.0
}

/// What single things cost, the cheapest first.
fn costs(scene: &mut Scene, y: f64, limits: &Limits) -> f64 {
    let mut all: Vec<_> = limits.costs.iter().filter(|cost| cost.ns.median > 0.0).collect();
    all.sort_by(|one, other| one.ns.median.total_cmp(&other.ns.median));
    let left_out = all.len().saturating_sub(MOST_COSTS);
    all.truncate(MOST_COSTS);
    let (Some(first), Some(last)) = (all.first(), all.last()) else { return y };
    let axis = PlotAxis::of(first.ns.median / 2.0, last.ns.median * 1.05, true);
    let mut y = frame::heading(scene, y, "What things cost, ns (logarithmic)", "");
    let (from, to) = (LEFT + 190.0, RIGHT - 160.0);
    let place = |value: f64| from + axis.part(value) * (to - from);
    let bottom = y + 20.0 * all.len() as f64 + 2.0;
    for tick in axis.ticks(9) {
        scene.line((place(tick), y), (place(tick), bottom), Colour::Grid, 1.0);
        scene.text((place(tick), bottom + 15.0), &trimmed(tick), SMALL, Colour::Muted, Anchor::Middle);
    }
    let cycle = limits.clock.map(|clock| clock.cycle_ns.median);
    for cost in all {
        let middle = y + 11.0;
        scene.text((LEFT, middle + 4.0), &BODY.cut(&cost.name, 180.0), BODY, Colour::Text, Anchor::Start);
        scene.line((from, middle), (place(cost.ns.median), middle), Colour::Grid, 1.0);
        scene.line((place(cost.ns.lower), middle), (place(cost.ns.upper), middle), Colour::Series(0), 2.0);
        scene.dot((place(cost.ns.median), middle), 4.2, Shape::Circle, Colour::Series(0), false);
        let cycles = cycle.map(|cycle| format!("{} cycles", words::short(cost.ns.median / cycle)));
        scene.text(
            (RIGHT - 84.0, middle + 4.0),
            &words::time(cost.ns.median),
            BODY,
            Colour::Text,
            Anchor::End,
        );
        scene.text((RIGHT, middle + 4.0), &cycles.unwrap_or_default(), SMALL, Colour::Muted, Anchor::End);
        y += 20.0;
    }
    scene.line((from, bottom), (to, bottom), Colour::Muted, 1.0);
    if left_out == 0 {
        return bottom + 20.0;
    }
    frame::remark(
        scene,
        bottom + 18.0,
        &format!("Left out: {}.", words::plural(left_out as u64, "dearer thing")),
    )
}
