//! A comparison of two builds: its benchmarks as a forest, then how far placement alone moves those that mislead.

use super::colour::Colour;
use super::forest::{ForestPicture, ForestRow, MOST_ROWS, remarks};
use super::frame::{self, BODY, LEFT, RIGHT, SMALL};
use super::names::ShortNames;
use super::run::counted;
use super::scene::{Anchor, Fill, Scene, Shape};
use crate::compare::terminal::{figure, ordered};
use crate::compare::{ComparePage, Compared, Method, SideFigure};
use crate::page::{AsBuiltSays, SAME_CODE};
use crate::plot_axis::PlotAxis;
use assay_pure::words;

/// Benchmarks of a forest whose spread is shown.
const MOST_SPREADS: usize = 6;
/// Room of a benchmark's name beside its spread: at least, and at most where names are long.
const NAME: (f64, f64) = (220.0, 320.0);
/// Room of its figures.
const FIGURES: f64 = 150.0;
/// A bar with what is around it.
const BAR: f64 = 15.0;

/// The picture of a comparison.
pub fn of_comparison(page: &ComparePage) -> Scene {
    let names: Vec<&str> = page.sides.iter().map(|side| side.name.as_str()).collect();
    let (mut scene, mut y) = frame::begin(&names.join(" → "), &page.answer);
    if let Some(gate) = &page.gate {
        y = frame::remark(&mut scene, y - 6.0, &format!("Gate {}: {}.", gate.gate, gate.sentence())) + 4.0;
    }
    let all = ordered(page);
    match page.sides.as_slice() {
        [baseline, _] if !all.is_empty() => {
            let shown = &all[..all.len().min(MOST_ROWS)];
            y = forest(page, &baseline.name).draw(&mut scene, y, &rows(shown));
            let left: Vec<_> = all[shown.len()..].iter().filter_map(|found| found.verdict).collect();
            if !left.is_empty() {
                y = frame::remark(&mut scene, y, &counted(&left, "benchmark"));
            }
            y = why(&mut scene, y, page, shown);
        }
        _ if !all.is_empty() => y = of_one(&mut scene, y, page),
        _ => {}
    }
    frame::end(&mut scene, y, &source(page));
    scene
}

fn forest<'a>(page: &'a ComparePage, baseline: &'a str) -> ForestPicture<'a> {
    let many = if page.benchmarks.len() == 1 { " sure" } else { " sure for all benchmarks together" };
    ForestPicture {
        columns: vec!["benchmark"],
        baseline,
        margin: page.measured.minimum_effect,
        confidence: format!("{}{many}", words::confidence(page.measured.confidence)),
        over: over(page.method),
    }
}

fn over(method: Method) -> &'static str {
    match method {
        Method::Placements => "placements",
        Method::Surroundings => "surroundings",
    }
}

fn rows(shown: &[&Compared]) -> Vec<ForestRow> {
    let row = |found: &&Compared| ForestRow {
        labels: vec![found.benchmark.clone()],
        code: found.code,
        as_built: found.as_built,
        verdict: found.verdict,
        proven: found.proven,
        remarks: remarks(
            &found.causes,
            found.proven.then_some(SAME_CODE),
            found.as_built.zip(found.as_built_says),
        ),
    };
    shown.iter().map(row).collect()
}

/// The spread of what misleads.
fn why(scene: &mut Scene, y: f64, page: &ComparePage, shown: &[&Compared]) -> f64 {
    let misleads = |found: &&Compared| {
        found.as_built_says.is_some_and(|says| says != AsBuiltSays::Confirmed) && found.candidate.is_some()
    };
    let found: Vec<&Compared> = shown.iter().copied().filter(misleads).take(MOST_SPREADS).collect();
    if found.is_empty() {
        return y;
    }
    let title = format!("Why: what {} alone do to the same code", over(page.method));
    spreads(scene, y, page, &title, &found)
}

/// A build by itself: the spread is the answer.
fn of_one(scene: &mut Scene, y: f64, page: &ComparePage) -> f64 {
    let mut all: Vec<&Compared> = page.benchmarks.iter().collect();
    let spread = |found: &Compared| found.baseline.worst / found.baseline.best;
    all.sort_by(|one, other| spread(other).total_cmp(&spread(one)));
    let left = all.len().saturating_sub(MOST_ROWS);
    all.truncate(MOST_ROWS);
    let title = format!("What {} alone do to the same code", over(page.method));
    let y = spreads(scene, y, page, &title, &all);
    if left == 0 {
        return y;
    }
    frame::remark(
        scene,
        y,
        &format!("Left out: {} that differ less.", words::plural(left as u64, "benchmark")),
    )
}

/// From the best to the worst time of each side, over the baseline's median.
fn spreads(scene: &mut Scene, y: f64, page: &ComparePage, title: &str, rows: &[&Compared]) -> f64 {
    let sides: Vec<&str> = page.sides.iter().map(|side| side.name.as_str()).collect();
    let meaning = "From the best to the worst placement; line: median, hollow: as built.";
    let y = frame::heading(scene, y + 4.0, title, meaning);
    let y = if sides.len() > 1 { legend(scene, y + 10.0, &sides) } else { y };
    let of = |found: &&Compared| {
        let all = [Some(found.baseline), found.candidate];
        all.into_iter().flatten().map(|figure| scaled(&figure, found.baseline.median)).collect::<Vec<_>>()
    };
    let all = || rows.iter().flat_map(of);
    let low = all().map(|figure| figure.best.min(figure.as_built.unwrap_or(f64::INFINITY)));
    let high = all().map(|figure| figure.worst.max(figure.as_built.unwrap_or(0.0)));
    let (low, high) = (low.fold(0.98, f64::min), high.fold(1.02, f64::max));
    let axis = PlotAxis::of(low - 0.02 * (high - low), high + 0.02 * (high - low), high / low > 4.0);
    let names = || rows.iter().map(|found| found.benchmark.as_str());
    let name = names().map(|name| BODY.width(name)).fold(NAME.0 - 14.0, f64::max).min(NAME.1 - 14.0);
    let short = ShortNames::of(BODY, names(), name);
    let (left, right) = (LEFT + name + 14.0, RIGHT - FIGURES);
    let place = |ratio: f64| left + axis.part(ratio) * (right - left);
    let step = BAR * sides.len().max(1) as f64 + 8.0;
    let bottom = y + 4.0 + step * rows.len() as f64;
    let ticks = axis.ticks(6);
    for &tick in &ticks {
        scene.line((place(tick), y), (place(tick), bottom), Colour::Grid, 1.0);
        scene.line((place(tick), bottom), (place(tick), bottom + 4.0), Colour::Muted, 1.0);
        let text = format!("{tick:.*}", if ticks.len() > 1 && ticks[1] - ticks[0] < 0.1 { 2 } else { 1 });
        scene.text((place(tick), bottom + 16.0), &text, SMALL, Colour::Muted, Anchor::Middle);
    }
    scene.line((left, bottom), (right, bottom), Colour::Muted, 1.0);
    for (at, found) in rows.iter().enumerate() {
        let top = y + 6.0 + step * at as f64;
        let middle = top + (step - 8.0) / 2.0;
        scene.text((LEFT, middle + 4.0), short.get(&found.benchmark), BODY, Colour::Text, Anchor::Start);
        for (number, figure) in of(found).iter().enumerate() {
            let middle = top + BAR * number as f64 + BAR / 2.0;
            bar(scene, middle, figure, Colour::Series(number), &place);
        }
        let spread = words::fraction(found.baseline.worst / found.baseline.best - 1.0);
        let text = format!("{}, spread {spread}", figure(&found.baseline, &found.unit));
        scene.text(
            (RIGHT, middle + 4.0),
            &SMALL.cut(&text, FIGURES - 12.0),
            SMALL,
            Colour::Muted,
            Anchor::End,
        );
    }
    let baseline = sides.first().copied().unwrap_or_default();
    frame::remark(scene, bottom + 20.0, &format!("Time divided by the median of {baseline}."))
}

fn scaled(figure: &SideFigure, by: f64) -> SideFigure {
    SideFigure {
        median: figure.median / by,
        as_built: figure.as_built.map(|value| value / by),
        best: figure.best / by,
        worst: figure.worst / by,
    }
}

fn bar(scene: &mut Scene, y: f64, figure: &SideFigure, colour: Colour, place: &dyn Fn(f64) -> f64) {
    scene.rectangle((place(figure.best), y - 4.5), (place(figure.worst), y + 4.5), colour, Fill::Light);
    scene.line((place(figure.median), y - 5.5), (place(figure.median), y + 5.5), colour, 2.4);
    if let Some(as_built) = figure.as_built {
        scene.dot((place(as_built), y), 3.6, Shape::Circle, colour, true);
    }
}

fn legend(scene: &mut Scene, y: f64, sides: &[&str]) -> f64 {
    let mut x = LEFT;
    let short = ShortNames::of(SMALL, sides.iter().copied(), 300.0);
    for (number, name) in sides.iter().enumerate() {
        let name = short.get(name);
        scene.rectangle((x, y - 8.0), (x + 18.0, y), Colour::Series(number), Fill::Light);
        scene.line((x + 9.0, y - 9.0), (x + 9.0, y + 1.0), Colour::Series(number), 2.4);
        scene.text((x + 24.0, y), name, SMALL, Colour::Text, Anchor::Start);
        x += 24.0 + SMALL.width(name) + 20.0;
    }
    y + 10.0
}

fn source(page: &ComparePage) -> Vec<String> {
    let run = &page.measured;
    let runs = format!("{} of the benchmark command", words::plural(run.visits, "run"));
    let how = match page.method {
        _ if page.is_measured_for_times_alone() => "for the times alone".to_owned(),
        Method::Placements => {
            format!("over {} of 4 placements", words::plural(u64::from(run.rotations), "rotation"))
        }
        Method::Surroundings => "in drawn surroundings".to_owned(),
    };
    vec![
        format!("assay compare: {}", words::list(&page.bench)),
        run.cpu.clone(),
        format!("{runs} {how}"),
        format!("{} of measuring", words::duration(run.seconds)),
        run.started.chars().take(10).collect(),
    ]
}
