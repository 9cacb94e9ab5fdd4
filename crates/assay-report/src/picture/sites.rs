//! The branch sites that matter: their mispredictions with the range over predictors, and what a better predictor could spare.

use super::colour::Colour;
use super::frame::{self, BODY, LEFT, RIGHT, SMALL, STRONG};
use super::scene::{Anchor, Fill, Scene, Shape};
use crate::plot_axis::PlotAxis;
use crate::prose::file_name;
use crate::sites::SitesPage;
use crate::sites::names::short;
use crate::sites::page::{Site, SiteOrder};
use assay_pure::words;

/// Sites that are drawn.
const MOST_ROWS: usize = 20;
/// However few of them cause all mispredictions.
const LEAST_ROWS: usize = 5;
/// Sites that cause this part of the mispredictions are enough.
const NEARLY_ALL: f64 = 0.99;
/// Room of a site's place.
const NAME: f64 = 270.0;
/// Room of its figures.
const SAID: f64 = 150.0;
/// A row, and its line of source.
const ROW: (f64, f64) = (36.0, 14.0);

/// The picture of a command's branch sites.
pub fn of_sites(page: &SitesPage) -> Scene {
    let (mut scene, mut y) = frame::begin(&page.command.join(" "), &page.answer);
    let shown = &page.sites[..enough(page)];
    if !shown.is_empty() {
        y = draw(&mut scene, y, page, shown);
    }
    let left = page.left_out.sites + (page.sites.len() - shown.len()) as u64;
    if left > 0 {
        let share =
            shown.last().and_then(|site| site.running).map(|part| 1.0 - part).filter(|part| *part > 0.0);
        let share =
            share.map_or(String::new(), |part| format!(", {} of the mispredictions", words::part(part)));
        y = frame::remark(&mut scene, y, &format!("Left out: {}{share}.", words::plural(left, "more site")));
    }
    let predictors: Vec<&str> = page.predictors.iter().map(|predictor| predictor.name.as_str()).collect();
    let simulated = if predictors.is_empty() {
        String::new()
    } else {
        format!("simulated: {}", words::list(&predictors))
    };
    frame::end(
        &mut scene,
        y,
        &[
            "assay sites".to_owned(),
            format!(
                "{} instructions, {} branches",
                words::compact(page.totals.instructions as f64),
                words::compact(page.totals.branches as f64)
            ),
            simulated,
        ],
    );
    scene
}

/// How many sites are shown: those that cause nearly all mispredictions, where they are in that order.
fn enough(page: &SitesPage) -> usize {
    let most = page.sites.len().min(MOST_ROWS);
    if page.sorted_by != SiteOrder::Mispredictions {
        return most;
    }
    let all_told =
        page.sites.iter().position(|site| site.running.is_some_and(|running| running >= NEARLY_ALL));
    all_told.map_or(most, |at| most.min((at + 1).max(LEAST_ROWS)))
}

fn draw(scene: &mut Scene, y: f64, page: &SitesPage, shown: &[Site]) -> f64 {
    let is_missed = shown.iter().any(|site| site.cost > 0.0);
    let value = |site: &Site| if is_missed { site.cost } else { site.executed as f64 };
    let (title, meaning) = match (is_missed, page.predictors.len() > 1) {
        (true, true) => (
            "Mispredictions by branch",
            "Bar: mean over the predictors; line: from the best to the worst of them; hollow: what the best rule would miss that \
             sees only this branch's last 8 outcomes.",
        ),
        (true, false) => (
            "Mispredictions by branch",
            "Hollow: what the best rule would miss that sees only this branch's last 8 outcomes.",
        ),
        _ => ("Executions by branch", "The dark part was taken."),
    };
    let y = frame::heading(scene, y, title, meaning) + 4.0;
    let most = shown.iter().flat_map(|site| {
        let worst = site.mispredictions.iter().map(|missed| missed.count as f64).fold(0.0, f64::max);
        [value(site), if is_missed { worst } else { 0.0 }, floor(site).filter(|_| is_missed).unwrap_or(0.0)]
    });
    let axis = PlotAxis::of(0.0, 1.02 * most.fold(1.0, f64::max), false);
    let (from, to) = (LEFT + NAME, RIGHT - SAID - 14.0);
    let place = |value: f64| from + axis.part(value) * (to - from);
    let height = |site: &Site| ROW.0 + if source(site).is_some() { ROW.1 } else { 0.0 };
    let bottom = y + shown.iter().map(height).sum::<f64>() + 2.0;
    for tick in axis.ticks(4) {
        scene.line((place(tick), y), (place(tick), bottom), Colour::Grid, 1.0);
        scene.text((place(tick), bottom + 15.0), &words::compact(tick), SMALL, Colour::Muted, Anchor::Middle);
    }
    let mut at = y;
    for site in shown {
        let middle = at + 14.0;
        names(scene, middle, site);
        let bar = |scene: &mut Scene, to: f64, colour: Colour, fill: Fill| {
            scene.rectangle((from, middle - 7.0), (place(to), middle + 7.0), colour, fill);
        };
        bar(scene, value(site), Colour::Series(0), Fill::Light);
        if is_missed {
            missed(scene, middle, site, &place);
        } else {
            bar(scene, site.taken as f64, Colour::Series(0), Fill::Solid);
        }
        say(scene, middle, site, is_missed);
        at += height(site);
    }
    scene.line((from, y), (from, bottom), Colour::Muted, 1.0);
    scene.line((from, bottom), (to, bottom), Colour::Muted, 1.0);
    bottom + 20.0
}

/// The place of a site, then its function, then its line of source.
fn names(scene: &mut Scene, middle: f64, site: &Site) {
    let room = NAME - 14.0;
    // A long file's name is cut, not its line.
    let line = site.file.as_deref().zip(site.line).map(|(file, line)| {
        let line = format!(":{line}");
        STRONG.cut(file_name(file), room - STRONG.width(&line)) + &line
    });
    let module = || {
        let module = site.module.as_deref().map_or("code made at run time", file_name);
        format!("{module}+{}", site.address)
    };
    let place = line.unwrap_or_else(module);
    let function = site.function.as_deref().map(short).unwrap_or_default();
    scene.text((LEFT, middle), &STRONG.cut(&place, room), STRONG, Colour::Text, Anchor::Start);
    scene.text((LEFT, middle + 14.0), &SMALL.cut(&function, room), SMALL, Colour::Muted, Anchor::Start);
    if let Some(text) = source(site) {
        scene.text((LEFT, middle + 14.0 + ROW.1), &SMALL.cut(text, room), SMALL, Colour::Text, Anchor::Start);
    }
}

/// The line of source that the branch is on, where it is known.
fn source(site: &Site) -> Option<&str> {
    site.source.iter().find(|line| line.here).map(|line| line.text.trim()).filter(|text| !text.is_empty())
}

fn floor(site: &Site) -> Option<f64> {
    site.floor.as_ref().map(|floor| floor.best.unwrap_or(floor.constant as f64))
}

fn missed(scene: &mut Scene, middle: f64, site: &Site, place: &dyn Fn(f64) -> f64) {
    let counts = || site.mispredictions.iter().map(|missed| missed.count as f64);
    let (low, high) = (counts().fold(f64::INFINITY, f64::min), counts().fold(0.0, f64::max));
    if low <= high && site.mispredictions.len() > 1 {
        scene.line((place(low), middle), (place(high), middle), Colour::Series(0), 2.0);
        for end in [low, high] {
            scene.line((place(end), middle - 4.0), (place(end), middle + 4.0), Colour::Series(0), 2.0);
        }
    }
    if let Some(floor) = floor(site) {
        scene.dot((place(floor), middle), 3.8, Shape::Diamond, Colour::Doubt, true);
    }
}

fn say(scene: &mut Scene, middle: f64, site: &Site, is_missed: bool) {
    let x = RIGHT - SAID;
    let taken = words::part(site.taken as f64 / site.executed.max(1) as f64);
    let (large, small) = if is_missed {
        let share = site.share.map_or(String::new(), words::part);
        (format!("{share} of all"), format!("{} missed, {taken} taken", words::part(site.rate)))
    } else {
        (words::compact(site.executed as f64), format!("{taken} taken"))
    };
    scene.text((x, middle), &BODY.cut(&large, SAID), BODY, Colour::Text, Anchor::Start);
    scene.text((x, middle + 14.0), &SMALL.cut(&small, SAID), SMALL, Colour::Muted, Anchor::Start);
}
