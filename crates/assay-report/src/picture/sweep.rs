//! Sweeps: the variants' times over the key with their intervals, who wins where, and the crossovers with theirs.

use super::colour::{Colour, SERIES};
use super::font::Font;
use super::frame::{self, LEFT, Plot, RIGHT, SMALL};
use super::names::ShortNames;
use super::offsets::{short_bytes, trimmed};
use super::scene::{Anchor, Fill, Scene, Shape};
use crate::plot_axis::{PlotAxis, WIDE};
use crate::sweep::SweepPage;
use crate::sweep::page::{CrossoverPage, CurvePage, PairPage, SeriesPage, ZonePage};
use crate::sweep::value::{CrossoverPlace, place, value};
use assay_pure::sweep::{Scale, Winner};
use assay_pure::words;
use assay_pure::words::TimeUnit;

/// Series of a sweep that are drawn.
const MOST_SERIES: usize = 4;
/// Curves in a plot.
const MOST_CURVES: usize = 8;
/// Pairs whose winners are shown below a plot.
const MOST_PAIRS: usize = 6;
/// Height of the only plot, and of one among several.
const HEIGHT: (f64, f64) = (250.0, 170.0);
/// Room of curves' names at their ends.
const NAMES: f64 = 150.0;
const NAME: Font = Font::bold(11.0);
/// Of the key's range: a crossover that is narrower than this is marked in the plot too.
const WELL_KNOWN: f64 = 0.15;
/// The strip of winners of a pair.
const STRIP: f64 = 10.0;
/// A line of caches' names.
const CACHE: f64 = 13.0;
/// Between two lines of a hatched stretch.
const HATCH: f64 = 5.0;
/// In less room no name is written.
const LEAST_NAME: f64 = 22.0;

/// The picture of the sweeps of one file: one figure for all.
pub fn of_sweeps(pages: &[SweepPage]) -> Scene {
    let (question, answer) = match pages {
        [one] => (one.question.clone(), one.answer.clone()),
        several => {
            let each = several.iter().map(|page| format!("{}: {}", page.key.sweep, page.answer));
            (
                several.first().map(|page| page.question.clone()).unwrap_or_default(),
                each.collect::<Vec<_>>().join(" "),
            )
        }
    };
    let (mut scene, mut y) = frame::begin(&question, &answer);
    let plots: usize = pages.iter().map(|page| page.series.len().min(MOST_SERIES)).sum();
    let height = if plots > 1 { HEIGHT.1 } else { HEIGHT.0 };
    for page in pages {
        let drawn: Vec<&SeriesPage> = page.series.iter().filter(|series| has_times(series)).collect();
        for series in drawn.iter().take(MOST_SERIES) {
            if plots > 1 {
                let title =
                    format!("{}: {}, {} {}", page.key.sweep, series.input, series.compiler, series.flags);
                y = frame::heading(&mut scene, y, &title, "") - 6.0;
            }
            y = one(&mut scene, y, page, series, height);
        }
        if drawn.len() > MOST_SERIES {
            let left = (drawn.len() - MOST_SERIES) as u64;
            y = frame::remark(
                &mut scene,
                y,
                &format!("Left out: {} of {}.", words::plural(left, "more plot"), page.key.sweep),
            );
        }
    }
    frame::end(&mut scene, y, &pages.first().map(source).unwrap_or_default());
    scene
}

fn has_times(series: &SeriesPage) -> bool {
    series.curves.iter().any(|curve| !curve.times.is_empty())
}

fn one(scene: &mut Scene, y: f64, page: &SweepPage, series: &SeriesPage, height: f64) -> f64 {
    let curves: Vec<(usize, &CurvePage)> = series
        .curves
        .iter()
        .enumerate()
        .filter(|(_, curve)| !curve.times.is_empty())
        .take(MOST_CURVES)
        .collect();
    let named = CACHE * page.machine.caches.len().min(2) as f64;
    let plot = plot(page, &curves, y + 30.0 + named, height);
    let unit = unit_of(&curves);
    let name = |ns: f64| trimmed(ns / unit.ns);
    scene.text(
        (LEFT, y + 18.0),
        &format!("{} per {}{}", unit.name, page.unit, plot.up.note()),
        SMALL,
        Colour::Muted,
        Anchor::Start,
    );
    for found in pairs(page, series).take(MOST_PAIRS).flat_map(|pair| &pair.crossovers) {
        mark(scene, &plot, found);
    }
    plot.rules(scene, 6, &name);
    caches(scene, &plot, page);
    plot.ticks(scene, &plot.across.ticks(9), &|at| value(&page.key, at));
    for (number, curve) in &curves {
        draw_curve(scene, &plot, *number, curve);
    }
    names(scene, &plot, &curves);
    let key = format!("{}{}", page.key.label, plot.across.note());
    scene.text(
        ((plot.left + plot.right) / 2.0, plot.bottom + 32.0),
        &key,
        SMALL,
        Colour::Muted,
        Anchor::Middle,
    );
    let mut y = winners(scene, plot.bottom + 44.0, &plot, page, series);
    let left = series.curves.len() - curves.len();
    if left > 0 {
        y = frame::remark(scene, y, &format!("Left out: {}.", words::plural(left as u64, "more variant")));
    }
    y
}

/// The pairs that the answer is about.
fn pairs<'a>(page: &'a SweepPage, series: &'a SeriesPage) -> impl Iterator<Item = &'a PairPage> {
    series.pairs.iter().filter(|pair| pair.baseline == page.baseline)
}

fn ends(curves: &[(usize, &CurvePage)]) -> (f64, f64) {
    let all = || curves.iter().flat_map(|(_, curve)| &curve.times);
    let usable = |ns: &f64| ns.is_finite() && *ns > 0.0;
    let low = all().map(|time| time.ns_per_unit.lower).filter(usable).fold(f64::INFINITY, f64::min);
    let high = all().map(|time| time.ns_per_unit.upper).filter(usable).fold(0.0, f64::max);
    if low < high { (low, high) } else { (0.9 * high, 1.1 * high + f64::MIN_POSITIVE) }
}

fn unit_of(curves: &[(usize, &CurvePage)]) -> TimeUnit {
    TimeUnit::of(ends(curves).1)
}

fn plot(page: &SweepPage, curves: &[(usize, &CurvePage)], top: f64, height: f64) -> Plot {
    let geometric = page.key.scale == Scale::Geometric;
    let (low, high) = ends(curves);
    // Times that hardly differ shall look so: a linear axis begins at zero where that costs little.
    let logarithmic = high / low >= WIDE;
    let up = if logarithmic {
        PlotAxis::of(low / 1.08, high * 1.08, true)
    } else {
        let low = if low < 0.5 * high { 0.0 } else { low - 0.25 * (high - low).max(0.1 * high) };
        PlotAxis::of(low, high + 0.06 * (high - low), false)
    };
    let unit = unit_of(curves);
    let gutter = up.ticks(6).iter().map(|ns| SMALL.width(&trimmed(ns / unit.ns))).fold(20.0, f64::max) + 8.0;
    let names = curves.iter().map(|(_, curve)| NAME.width(&curve.variant)).fold(30.0, f64::max).min(NAMES);
    Plot {
        left: LEFT + gutter,
        right: RIGHT - names - 16.0,
        top,
        bottom: top + height,
        across: PlotAxis::of(page.key.from, page.key.to, geometric),
        up,
    }
}

/// Where the input grows out of a cache, named above the plot, where no curve and no crossover runs through it: between the points whose sizes enclose the cache's.
fn caches(scene: &mut Scene, plot: &Plot, page: &SweepPage) {
    let mut sizes: Vec<(f64, f64)> =
        page.points.iter().filter_map(|point| Some((point.at, point.bytes? as f64))).collect();
    sizes.sort_by(|one, other| one.0.total_cmp(&other.0));
    sizes.dedup_by(|one, other| one.0 == other.0);
    let mut taken = f64::NEG_INFINITY;
    for cache in &page.machine.caches {
        let bytes = cache.bytes as f64;
        let Some(pair) = sizes.windows(2).find(|pair| pair[0].1 < bytes && bytes <= pair[1].1) else {
            continue;
        };
        let part = (bytes.ln() - pair[0].1.max(1.0).ln()) / (pair[1].1.ln() - pair[0].1.max(1.0).ln());
        let x = plot.x(pair[0].0) + part * (plot.x(pair[1].0) - plot.x(pair[0].0));
        let text = format!("{} {}", cache.name, short_bytes(cache.bytes));
        scene.dashes((x, plot.top), (x, plot.bottom), Colour::Muted, 1.0);
        let near_end = x + 4.0 + SMALL.width(&text) > plot.right;
        let (x, anchor) = if near_end { (x - 4.0, Anchor::End) } else { (x + 4.0, Anchor::Start) };
        let left = if near_end { x - SMALL.width(&text) } else { x };
        let y = plot.top - 5.0 - if left < taken { CACHE } else { 0.0 };
        taken = left + SMALL.width(&text) + 6.0;
        scene.text((x, y), &text, SMALL, Colour::Muted, anchor);
    }
}

/// A crossover that is known well: its interval shaded, its place a line. Its figure stands at its pair's strip, where it has an
/// opponent and room; of one that may lie anywhere the strip alone tells, since the shade of some of them would hide the plot.
fn mark(scene: &mut Scene, plot: &Plot, found: &CrossoverPage) {
    let (from, to) = (plot.x(found.lower), plot.x(found.upper));
    if to - from <= WELL_KNOWN * (plot.right - plot.left) {
        let (from, to) = if to - from < 3.0 { (from - 1.5, to + 1.5) } else { (from, to) };
        scene.rectangle((from, plot.top), (to, plot.bottom), Colour::Cross, Fill::Solid);
        let x = plot.x(found.at);
        scene.line((x, plot.top), (x, plot.bottom), Colour::Crossing, 1.4);
    }
}

/// The interval of a crossover and its place in a strip: hatched, as a curve's colour may be that of its place.
fn hatched(scene: &mut Scene, at: f64, (from, to): (f64, f64), (top, bottom): (f64, f64)) {
    let height = bottom - top;
    let mut x = from - height + HATCH;
    while x < to {
        // A line that rises by one for each pixel, cut at both sides.
        let (left, right) = (x.max(from), (x + height).min(to));
        if right > left {
            scene.line((left, bottom - (left - x)), (right, bottom - (right - x)), Colour::Muted, 0.8);
        }
        x += HATCH;
    }
    scene.line((at, top - 2.0), (at, bottom + 2.0), Colour::Crossing, 2.0);
}

fn draw_curve(scene: &mut Scene, plot: &Plot, number: usize, curve: &CurvePage) {
    let colour = Colour::Series(number % SERIES);
    let at = |of: &dyn Fn(&crate::page::MedianInterval) -> f64| {
        curve.times.iter().map(|time| (plot.x(time.at), plot.y(of(&time.ns_per_unit)))).collect::<Vec<_>>()
    };
    let mut band = at(&|time| time.upper);
    band.extend(at(&|time| time.lower).into_iter().rev());
    scene.area(band, colour, Fill::Light);
    let points = at(&|time| time.median);
    scene.path(points.clone(), colour, 1.8);
    for point in points {
        scene.dot(point, 3.0, Shape::of(number), colour, false);
    }
}

/// Each curve's name beside its end; names that would overlap move apart.
fn names(scene: &mut Scene, plot: &Plot, curves: &[(usize, &CurvePage)]) {
    const APART: f64 = 14.0;
    let mut wanted: Vec<(f64, usize, &str)> = curves
        .iter()
        .filter_map(|(number, curve)| {
            let last = curve.times.last()?;
            Some((plot.y(last.ns_per_unit.median), *number, curve.variant.as_str()))
        })
        .collect();
    let short = ShortNames::of(NAME, curves.iter().map(|(_, curve)| curve.variant.as_str()), NAMES);
    wanted.sort_by(|one, other| one.0.total_cmp(&other.0));
    for at in 1..wanted.len() {
        wanted[at].0 = wanted[at].0.max(wanted[at - 1].0 + APART);
    }
    let over = wanted.last().map_or(0.0, |last| (last.0 - plot.bottom).max(0.0));
    for (y, number, name) in wanted {
        let (x, y) = (plot.right + 14.0, y - over);
        scene.dot((x - 4.0, y), 3.0, Shape::of(number), Colour::Series(number % SERIES), false);
        scene.text((x + 4.0, y + 4.0), short.get(name), NAME, Colour::Series(number % SERIES), Anchor::Start);
    }
}

/// Who wins where, a strip for each pair in the winners' colours.
fn winners(scene: &mut Scene, y: f64, plot: &Plot, page: &SweepPage, series: &SeriesPage) -> f64 {
    let all = pairs(page, series).count();
    if all == 0 {
        return y;
    }
    let mut y = y - 2.0;
    for pair in pairs(page, series).take(MOST_PAIRS) {
        y = frame::remark(scene, y + 6.0, &asked(page, pair));
        y += 19.0;
        strip(scene, y, plot, pair, series);
    }
    if pairs(page, series).take(MOST_PAIRS).any(|pair| !pair.crossovers.is_empty()) {
        let text = "Hatched: they cross somewhere between the last point that is clear on one side and the first on the other; \
                    violet: where most likely. Empty: open.";
        y = frame::remark(scene, y + 6.0, text);
    }
    if all > MOST_PAIRS {
        let left = words::plural((all - MOST_PAIRS) as u64, "more pair");
        y = frame::remark(scene, y + 6.0, &format!("Left out: {left}."));
    }
    y + 10.0
}

/// The question that a strip answers, with the figures of its crossovers.
fn asked(page: &SweepPage, pair: &PairPage) -> String {
    let question = format!("Who takes less time, {} or {}?", pair.candidate, pair.baseline);
    let places: Vec<String> = pair
        .crossovers
        .iter()
        .map(|found| match place(&page.key, found) {
            CrossoverPlace::Near(text) => format!("at {text}"),
            CrossoverPlace::Between(from, to) => format!("between {from} and {to}"),
        })
        .collect();
    if places.is_empty() { question } else { format!("{question} They cross {}.", words::list(&places)) }
}

/// A pair's strip. Within a crossover's interval nobody is said to win: zones go on over points of which nothing is known, and so
/// may reach into it.
fn strip(scene: &mut Scene, y: f64, plot: &Plot, pair: &PairPage, series: &SeriesPage) {
    let number = |name: &str| series.curves.iter().position(|curve| curve.variant == name).unwrap_or(0);
    let (top, bottom) = (y - STRIP, y + STRIP / 2.0);
    scene.rectangle((plot.left, top), (plot.right, bottom), Colour::Grid, Fill::Hollow);
    for found in &pair.crossovers {
        hatched(scene, plot.x(found.at), (plot.x(found.lower), plot.x(found.upper)), (top, bottom));
    }
    for zone in &pair.zones {
        let winner = match zone.winner {
            Winner::Candidate => Some(pair.candidate.as_str()),
            Winner::Baseline => Some(pair.baseline.as_str()),
            Winner::Neither | Winner::Unclear => None,
        };
        let stretches =
            if winner.is_some() { clear(zone, &pair.crossovers) } else { vec![(zone.from, zone.to)] };
        for (from, to) in stretches {
            let (from, to) = (plot.x(from), plot.x(to));
            let (from, to) = if to - from < 4.0 { (from - 2.0, from + 2.0) } else { (from, to) };
            let (colour, fill) = match (winner, zone.winner) {
                (Some(name), _) => (Colour::Series(number(name) % SERIES), Fill::Light),
                (None, Winner::Neither) => (Colour::Margin, Fill::Solid),
                _ => (Colour::Grid, Fill::Hollow),
            };
            scene.rectangle((from, top), (to, bottom), colour, fill);
            let room = to - from - 6.0;
            let both = [pair.candidate.as_str(), pair.baseline.as_str(), "equal", "open"];
            let short = ShortNames::of(SMALL, both, room.max(0.0));
            let text =
                short.get(winner.unwrap_or(if zone.winner == Winner::Neither { "equal" } else { "open" }));
            if room > LEAST_NAME && SMALL.width(text) <= room {
                scene.text(((from + to) / 2.0, y + 1.5), text, SMALL, Colour::Text, Anchor::Middle);
            }
        }
    }
}

/// What is left of a zone outside of all crossovers' intervals.
pub(super) fn clear(zone: &ZonePage, crossovers: &[CrossoverPage]) -> Vec<(f64, f64)> {
    let mut left = vec![(zone.from, zone.to)];
    for found in crossovers {
        let without = |(from, to): (f64, f64)| {
            let is_apart = to <= found.lower || from >= found.upper;
            let both = [(from, to.min(found.lower)), (from.max(found.upper), to)];
            if is_apart {
                vec![(from, to)]
            } else {
                both.into_iter().filter(|(from, to)| from <= to).collect()
            }
        };
        left = left.into_iter().flat_map(without).collect();
    }
    left
}

fn source(page: &SweepPage) -> Vec<String> {
    let run = &page.measured;
    vec![
        format!("assay sweep, experiment {}", page.experiment),
        page.machine.cpu.clone(),
        format!(
            "{} of {}",
            words::plural(page.points.len() as u64, "point"),
            words::plural(u64::from(run.rotations), "rotation")
        ),
        format!("bands and crossovers: intervals at {}", words::confidence(run.confidence)),
        format!("{} of measuring", words::duration(run.seconds)),
        run.started.chars().take(10).collect(),
    ]
}
