//! A diary: what each step took away, as a waterfall per role.

use super::colour::Colour;
use super::frame::{self, BODY, LEFT, RIGHT, SMALL, STRONG};
use super::names::ShortNames;
use super::offsets::trimmed;
use super::scene::{Anchor, Fill, Scene, Shape};
use crate::page::RatioInterval;
use crate::plot_axis::PlotAxis;
use crate::stages::DiaryPage;
use crate::stages::page::{Brought, EntrantKind, PageRole, StageCell, StageStep};
use crate::stages::words::{StageRow, brought, rows};
use assay_pure::words;

/// Roles that are drawn.
const MOST_ROLES: usize = 4;
/// Rows of a role.
const MOST_ROWS: usize = 24;
/// Room of a stage's name: at least, and at most where names are long.
const NAME: (f64, f64) = (150.0, 240.0);
/// Room of the figures.
const SAID: f64 = 220.0;
/// A row, and a remark below it.
const ROW: (f64, f64) = (26.0, 13.0);

/// The picture of a diary.
pub fn of_diary(page: &DiaryPage) -> Scene {
    let (mut scene, mut y) = frame::begin(&page.question, &page.answer);
    let drawn: Vec<(&PageRole, Vec<StageRow>)> = page
        .roles
        .iter()
        .map(|role| (role, rows(page, role).collect()))
        .filter(|(_, rows): &(_, Vec<_>)| !rows.is_empty())
        .collect();
    for (at, (role, rows)) in drawn.iter().take(MOST_ROLES).enumerate() {
        y = one(&mut scene, y, page, role, rows, at == 0);
    }
    let left: Vec<&str> = drawn.iter().skip(MOST_ROLES).map(|(role, _)| role.name.as_str()).collect();
    if !left.is_empty() {
        y = frame::remark(&mut scene, y, &format!("Left out: {}.", words::list(&left)));
    }
    frame::end(&mut scene, y, &source(page));
    scene
}

/// What a waterfall is of.
#[derive(Clone, Copy)]
enum BarQuantity {
    Time,
    Branches,
}

impl BarQuantity {
    fn of(self, cell: &StageCell) -> Option<f64> {
        match self {
            BarQuantity::Time => cell.time.map(|time| time.ns_per_unit),
            BarQuantity::Branches => cell.counts.as_ref().and_then(|counts| counts.branches_per_unit),
        }
    }

    fn told(self, value: f64) -> String {
        match self {
            BarQuantity::Time => words::time(value),
            BarQuantity::Branches => format!("{} branches", words::short(value)),
        }
    }
}

fn one(
    scene: &mut Scene,
    y: f64,
    page: &DiaryPage,
    role: &PageRole,
    rows: &[StageRow],
    explained: bool,
) -> f64 {
    let timed = rows.iter().any(|row| row.cell.time.is_some());
    let quantity = if timed { BarQuantity::Time } else { BarQuantity::Branches };
    let (title, meaning) = match quantity {
        BarQuantity::Time => (
            format!("{}: time per {}", role.name, page.unit),
            "Each bar ends where its stage ends; the coloured part is what the step took away or added. Hollow: as built, one \
             ordinary link.",
        ),
        BarQuantity::Branches => (
            format!("{}: branches per {}", role.name, page.unit),
            "Each bar ends where its stage ends; the coloured part is what the step took away or added.",
        ),
    };
    let y = frame::heading(scene, y, &title, if explained { meaning } else { "" }) + 4.0;
    let shown = &rows[..rows.len().min(MOST_ROWS)];
    let most = rows.iter().filter_map(|row| quantity.of(row.cell)).fold(0.0, f64::max);
    let axis = PlotAxis::of(0.0, 1.04 * most, false);
    let names = || shown.iter().map(|row| row.cell.entrant.as_str());
    let name = names().map(|name| BODY.width(name)).fold(NAME.0, f64::max).min(NAME.1);
    let short = ShortNames::of(BODY, names(), name);
    let (left, right) = (LEFT + name + 10.0, RIGHT - SAID - 14.0);
    let place = |value: f64| left + axis.part(value) * (right - left);
    let height = |row: &StageRow| ROW.0 + ROW.1 * f64::from(u8::from(!remark(row).is_empty()));
    let bottom = y + shown.iter().map(height).sum::<f64>() + 4.0;
    let unit = words::TimeUnit::of(most);
    let scale = if timed { unit.ns } else { 1.0 };
    let ticks = axis.ticks(6);
    for &tick in &ticks {
        scene.line((place(tick), y), (place(tick), bottom), Colour::Grid, 1.0);
        let text = trimmed(tick / scale);
        let text = if timed && tick > 0.0 { format!("{text} {}", unit.name) } else { text };
        scene.text((place(tick), bottom + 16.0), &text, SMALL, Colour::Muted, Anchor::Middle);
    }
    scene.line((left, bottom), (right, bottom), Colour::Muted, 1.0);
    let mut at = y;
    for row in shown {
        let end = at + height(row);
        let is_reference = row.entrant.kind == EntrantKind::Reference;
        let colour = if is_reference { Colour::Muted } else { Colour::Text };
        let name = short.get(&row.cell.entrant);
        scene.text((LEFT, at + ROW.0 / 2.0 + 4.5), name, BODY, colour, Anchor::Start);
        draw(scene, at, (y, bottom), role, row, quantity, &place);
        at = end;
    }
    let y = bottom + 20.0;
    if rows.len() == shown.len() {
        return y;
    }
    frame::remark(
        scene,
        y,
        &format!("Left out: {}.", words::plural((rows.len() - shown.len()) as u64, "later row")),
    )
}

fn draw(
    scene: &mut Scene,
    at: f64,
    (top, bottom): (f64, f64),
    role: &PageRole,
    row: &StageRow,
    quantity: BarQuantity,
    place: &dyn Fn(f64) -> f64,
) {
    let middle = at + ROW.0 / 2.0;
    let is_reference = row.entrant.kind == EntrantKind::Reference;
    let Some(own) = quantity.of(row.cell) else { return };
    let bar = |scene: &mut Scene, from: f64, to: f64, colour: Colour, fill: Fill| {
        let (from, to) = (place(from.min(to)), place(from.max(to)));
        scene.rectangle((from, middle - 7.5), (to.max(from + 1.0), middle + 7.5), colour, fill);
    };
    let before = row.before.and_then(|step| quantity.of(role.cell(&step.baseline)?));
    if is_reference {
        scene.dashes((place(own), top), (place(own), bottom), Colour::Muted, 1.2);
        bar(scene, 0.0, own, Colour::Muted, Fill::Hollow);
    } else {
        bar(scene, 0.0, before.map_or(own, |before| own.min(before)), Colour::Same, Fill::Light);
        if let (Some(before), Some(step)) = (before, row.before) {
            let colour = brought_colour(step);
            bar(
                scene,
                own,
                before,
                colour,
                if step.brought == Brought::Open { Fill::Hollow } else { Fill::Solid },
            );
            scene.line((place(before), middle - 13.0), (place(before), middle + 7.5), Colour::Muted, 1.0);
        }
        scene.line((place(own), middle - 7.5), (place(own), middle + 13.0), Colour::Text, 1.6);
    }
    if let (BarQuantity::Time, Some(as_built)) = (quantity, row.cell.time.and_then(|time| time.as_built)) {
        scene.dot((place(as_built), middle), 3.6, Shape::Circle, Colour::Text, true);
    }
    say(scene, middle, row, quantity, own);
}

fn say(scene: &mut Scene, middle: f64, row: &StageRow, quantity: BarQuantity, own: f64) {
    let (x, y) = (RIGHT - SAID, middle + 4.5);
    let word = row.before.map(|step| (brought(step).0, brought_colour(step)));
    let reference = (row.entrant.kind == EntrantKind::Reference).then_some(("reference", Colour::Muted));
    let room = SAID - BODY.width(&quantity.told(own)) - 10.0;
    if let Some((word, colour)) = word.or(reference) {
        let change = change(row, quantity);
        scene.text((x, y), word, STRONG, colour, Anchor::Start);
        let x = x + STRONG.width(word) + 8.0;
        let room = room - STRONG.width(word) - 8.0;
        scene.text((x, y), &SMALL.cut(&change, room), SMALL, Colour::Muted, Anchor::Start);
    }
    scene.text((RIGHT, y), &quantity.told(own), BODY, Colour::Text, Anchor::End);
    scene.text((x, y + ROW.1 + 2.0), &SMALL.cut(&remark(row), SAID), SMALL, Colour::Muted, Anchor::Start);
}

fn change(row: &StageRow, quantity: BarQuantity) -> String {
    match quantity {
        BarQuantity::Time => {
            let code = row.before.and_then(|step| step.time.as_ref()?.code);
            code.map_or(String::new(), RatioInterval::change)
        }
        BarQuantity::Branches => crate::stages::words::count_change(row.before, "branches"),
    }
}

/// Where an ordinary link misleads.
fn remark(row: &StageRow) -> String {
    let Some(step) = row.before.filter(|step| step.brought == Brought::Ghost) else { return String::new() };
    let as_built = step.time.as_ref().and_then(|time| time.as_built);
    as_built.map_or(String::new(), |effect| format!("as built {}: placement", words::change(effect.ratio)))
}

fn brought_colour(step: &StageStep) -> Colour {
    match step.brought {
        Brought::Faster => Colour::Faster,
        Brought::Slower => Colour::Slower,
        Brought::Ghost | Brought::Open => Colour::Doubt,
        Brought::OnlyCounts | Brought::Nothing => Colour::Same,
    }
}

fn source(page: &DiaryPage) -> Vec<String> {
    let Some(last) = page.sessions.last() else { return vec![format!("assay stages, diary {}", page.diary)] };
    vec![
        format!("assay stages, diary {}", page.diary),
        last.cpu.clone(),
        words::plural(page.sessions.len() as u64, "session"),
        format!("verdicts are {} sure", words::confidence(page.confidence)),
        last.started.chars().take(10).collect(),
    ]
}
