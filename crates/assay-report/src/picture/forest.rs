//! Effects with their intervals, a row each: as built hollow, of the code solid, the margin shaded, the verdict in words.

use super::colour::Colour;
use super::frame::{self, BODY, LEFT, RIGHT, ROOM, SMALL, STRONG};
use super::names::ShortNames;
use super::scene::{Anchor, Fill, Scene, Shape};
use crate::page::{AsBuiltSays, CauseEvidence, RatioInterval, Verdict};
use crate::plot_axis::PlotAxis;
use assay_pure::stats::margin::Margin;
use assay_pure::words;

/// More rows are left out.
pub const MOST_ROWS: usize = 40;
/// Room of the plot at least: what the labels do not need is the plot's, and they get no more than leaves it this.
const LEAST_PLOT: f64 = 190.0;
/// Room of what is said of a row.
const SAID: f64 = 206.0;
/// Between two columns.
const GAP: f64 = 14.0;
/// A row without remarks.
const ROW: f64 = 26.0;
/// A remark.
const LINE: f64 = 14.0;
/// Effects that span a factor of this are shown on a logarithmic axis.
const LOGARITHMIC_FROM: f64 = 3.0;

/// One effect.
pub struct ForestRow {
    /// What it is of, a text for each column.
    pub labels: Vec<String>,
    /// Of the code.
    pub code: Option<RatioInterval>,
    /// As the builds left it.
    pub as_built: Option<RatioInterval>,
    /// On the code.
    pub verdict: Option<Verdict>,
    /// Both are the same machine code.
    pub proven: bool,
    /// Below the verdict.
    pub remarks: Vec<String>,
}

/// What is the same for all rows.
pub struct ForestPicture<'a> {
    /// Headings of the columns of labels.
    pub columns: Vec<&'a str>,
    /// What everything is compared with.
    pub baseline: &'a str,
    /// The margin, a fraction.
    pub margin: f64,
    /// "95 % for all contrasts together".
    pub confidence: String,
    /// What the effect of the code is a mean over.
    pub over: &'a str,
}

/// A verdict's colour.
pub fn verdict_colour(verdict: Verdict) -> Colour {
    match verdict {
        Verdict::Faster => Colour::Faster,
        Verdict::Slower => Colour::Slower,
        Verdict::Equivalent => Colour::Same,
        Verdict::Undecided => Colour::Doubt,
    }
}

/// The proof, or causes in words, then what an ordinary link would have said where it misleads. `proof`: what both sides have in
/// common, where that decides.
pub fn remarks(
    causes: &[CauseEvidence],
    proof: Option<&str>,
    as_built: Option<(RatioInterval, AsBuiltSays)>,
) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for cause in causes {
        let name = cause.cause.name().replace('-', " ");
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let mut told = Vec::new();
    if let Some(proof) = proof {
        told.push(format!("the {proof}"));
    } else if !names.is_empty() {
        told.push(format!("{}: {}", if names.len() == 1 { "cause" } else { "causes" }, names.join(", ")));
    }
    if let Some((effect, says)) = as_built.filter(|(_, says)| *says != AsBuiltSays::Confirmed) {
        told.push(format!("as built {}: {}", words::change(effect.ratio), says.word()));
    }
    told
}

impl ForestPicture<'_> {
    /// Draws the rows from `y` on; where it ends.
    pub fn draw(&self, scene: &mut Scene, y: f64, rows: &[ForestRow]) -> f64 {
        let said = rows.iter().map(said_width).fold(120.0, f64::max).min(SAID);
        let widths = self.widths(rows, ROOM - said - LEAST_PLOT);
        let short: Vec<ShortNames> = widths
            .iter()
            .enumerate()
            .map(|(at, width)| ShortNames::of(BODY, rows.iter().map(|row| row.labels[at].as_str()), *width))
            .collect();
        let left = LEFT + widths.iter().map(|width| width + GAP).sum::<f64>() + 6.0;
        let right = RIGHT - said - GAP;
        let axis = domain(rows, self.margin);
        let place = |ratio: f64| left + axis.part(ratio) * (right - left);
        let (head, top) = (y + 14.0, y + 22.0);
        let height: f64 = rows.iter().map(row_height).sum();
        let bottom = top + height + 4.0;
        let (low, high) = Margin::of(self.margin).ratios();
        let band = (place(low), place(high));
        scene.rectangle((band.0, top), (band.1, bottom), Colour::Margin, Fill::Solid);
        self.heads(scene, head, &widths, (left, right), place(1.0));
        let ticks = axis.ticks((((right - left) / 62.0) as usize).max(2));
        for &ratio in ticks.iter().filter(|ratio| (**ratio - 1.0).abs() > 1e-9) {
            scene.line((place(ratio), top), (place(ratio), bottom), Colour::Grid, 1.0);
        }
        scene.line((place(1.0), top), (place(1.0), bottom), Colour::Muted, 1.2);
        let (mut at, mut previous) = (top, Vec::new());
        for row in rows {
            let again = repeated(&previous, &row.labels);
            if again == 0 && at > top && row.labels.len() > 1 {
                scene.line((LEFT, at), (RIGHT, at), Colour::Grid, 1.0);
            }
            let middle = at + ROW / 2.0;
            labels(scene, middle, row, &widths, &short, again);
            effects(scene, middle, row, &place, (left, right));
            self.say(scene, middle, row, RIGHT - said, said);
            (at, previous) = (at + row_height(row), row.labels.clone());
        }
        scene.line((left, bottom), (right, bottom), Colour::Muted, 1.0);
        tick_names(scene, bottom, &ticks, &place);
        self.legend(scene, bottom + 38.0, rows)
    }

    fn widths(&self, rows: &[ForestRow], room: f64) -> Vec<f64> {
        let natural: Vec<f64> = (0..self.columns.len())
            .map(|at| {
                let texts = rows.iter().map(|row| BODY.width(&row.labels[at]));
                texts.fold(SMALL.width(self.columns[at]), f64::max)
            })
            .collect();
        shared(&natural, room - GAP * (natural.len() + 1) as f64 - 6.0)
    }

    fn heads(&self, scene: &mut Scene, y: f64, widths: &[f64], (left, right): (f64, f64), zero: f64) {
        let mut x = LEFT;
        for (title, width) in self.columns.iter().zip(widths) {
            scene.text((x, y), &SMALL.cut(title, *width), SMALL, Colour::Muted, Anchor::Start);
            x += width + GAP;
        }
        let (less, more) = ("← less time", "more time →");
        if zero - left > SMALL.width(less) {
            scene.text((zero - 8.0, y), less, SMALL, Colour::Muted, Anchor::End);
        }
        if right - zero > SMALL.width(more) {
            scene.text((zero + 8.0, y), more, SMALL, Colour::Muted, Anchor::Start);
        }
    }

    fn say(&self, scene: &mut Scene, middle: f64, row: &ForestRow, x: f64, room: f64) {
        let (word, colour) = word(row);
        let figure = figure(row);
        let y = middle + 4.5;
        scene.text((x, y), word, STRONG, colour, Anchor::Start);
        scene.text((RIGHT, y), &figure, BODY, Colour::Text, Anchor::End);
        for (number, remark) in row.remarks.iter().enumerate() {
            let y = middle + 6.0 + LINE * (number + 1) as f64;
            scene.text((x, y), &SMALL.cut(remark, room), SMALL, Colour::Muted, Anchor::Start);
        }
    }

    /// What the marks mean that occur.
    fn legend(&self, scene: &mut Scene, y: f64, rows: &[ForestRow]) -> f64 {
        let mut x = LEFT;
        let mut entry = |scene: &mut Scene, text: &str, sign: Sign| {
            let middle = (x + 10.0, y - 4.0);
            match sign {
                Sign::Effect { hollow } => {
                    let width = if hollow { 1.2 } else { 2.4 };
                    scene.line((x, y - 4.0), (x + 20.0, y - 4.0), Colour::Same, width);
                    scene.dot(middle, 4.0, Shape::Circle, Colour::Same, hollow);
                }
                Sign::Proof => scene.dot(middle, 4.4, Shape::Diamond, Colour::Same, false),
                Sign::Margin => {
                    scene.rectangle((x, y - 10.0), (x + 20.0, y + 2.0), Colour::Margin, Fill::Solid);
                    scene.line((x + 10.0, y - 10.0), (x + 10.0, y + 2.0), Colour::Muted, 1.2);
                }
            }
            scene.text((x + 26.0, y), text, SMALL, Colour::Muted, Anchor::Start);
            x += 26.0 + SMALL.width(text) + 18.0;
        };
        let (has_code, has_built) =
            (rows.iter().any(|row| row.code.is_some()), rows.iter().any(|row| row.as_built.is_some()));
        if has_code {
            let text = format!("effect of the code: mean over {}", self.over);
            entry(scene, &text, Sign::Effect { hollow: false });
        }
        if has_built {
            entry(scene, "as built: one ordinary link", Sign::Effect { hollow: true });
        }
        if rows.iter().any(is_by_proof) {
            entry(scene, "the same machine code: equivalent by proof", Sign::Proof);
        }
        if !(has_code || has_built) {
            return y + 2.0;
        }
        entry(scene, &format!("within ±{}: equivalent", words::asked(self.margin)), Sign::Margin);
        frame::remark(
            scene,
            y + 2.0,
            &format!(
                "Change of time compared with {}; -12 % takes 12 % less. Verdicts are {}.",
                self.baseline, self.confidence
            ),
        )
    }
}

/// What stands before a line of the legend.
enum Sign {
    Effect { hollow: bool },
    Proof,
    Margin,
}

/// Where a room is too small for all, what each gets: narrow columns keep theirs.
pub fn shared(natural: &[f64], room: f64) -> Vec<f64> {
    let mut given = vec![0.0; natural.len()];
    let mut order: Vec<usize> = (0..natural.len()).collect();
    order.sort_by(|one, other| natural[*one].total_cmp(&natural[*other]));
    let mut left = room;
    for (done, at) in order.iter().enumerate() {
        let fair = left / (natural.len() - done) as f64;
        given[*at] = natural[*at].min(fair);
        left -= given[*at];
    }
    given
}

fn word(row: &ForestRow) -> (&'static str, Colour) {
    row.verdict.map_or(("no figure", Colour::Muted), |verdict| (verdict.word(), verdict_colour(verdict)))
}

/// The effect, or why there is none to estimate.
fn figure(row: &ForestRow) -> String {
    match row.code {
        Some(code) => code.change(),
        None if row.proven => "by proof".to_owned(),
        None => String::new(),
    }
}

fn said_width(row: &ForestRow) -> f64 {
    let remarks = row.remarks.iter().map(|remark| SMALL.width(remark));
    remarks.fold(STRONG.width(word(row).0) + 16.0 + BODY.width(&figure(row)), f64::max).ceil()
}

fn row_height(row: &ForestRow) -> f64 {
    ROW + if row.remarks.is_empty() { 0.0 } else { 2.0 + LINE * row.remarks.len() as f64 }
}

/// How many labels are those of the row before.
fn repeated(previous: &[String], labels: &[String]) -> usize {
    let all_but_last = labels.len().saturating_sub(1);
    previous.iter().zip(&labels[..all_but_last]).take_while(|(one, other)| one == other).count()
}

fn labels(
    scene: &mut Scene,
    middle: f64,
    row: &ForestRow,
    widths: &[f64],
    short: &[ShortNames],
    again: usize,
) {
    let mut x = LEFT;
    for (at, (label, width)) in row.labels.iter().zip(widths).enumerate() {
        if at >= again {
            scene.text((x, middle + 4.5), short[at].get(label), BODY, Colour::Text, Anchor::Start);
        }
        x += width + GAP;
    }
}

/// Both effects; an interval that leaves the plot ends in an arrow.
fn effects(scene: &mut Scene, middle: f64, row: &ForestRow, place: &dyn Fn(f64) -> f64, ends: (f64, f64)) {
    let by_proof = is_by_proof(row);
    let both = (row.code.is_some() || by_proof) && row.as_built.is_some();
    let mut one = |effect: RatioInterval, y: f64, colour: Colour, hollow: bool| {
        let width = if hollow { 1.2 } else { 2.4 };
        let (from, to) = (place(effect.lower), place(effect.upper));
        scene.line((from, y), (to, y), colour, width);
        for (end, outwards, is_cut) in [
            (ends.0, -1.0, from <= ends.0 && place(effect.ratio) > ends.0),
            (ends.1, 1.0, to >= ends.1 && place(effect.ratio) < ends.1),
        ] {
            if is_cut {
                let back = end - 6.0 * outwards;
                scene.area(vec![(end, y), (back, y - 3.5), (back, y + 3.5)], colour, Fill::Solid);
            }
        }
        scene.dot((place(effect.ratio), y), if hollow { 3.8 } else { 4.4 }, Shape::Circle, colour, hollow);
    };
    if let Some(effect) = row.as_built {
        one(effect, if both { middle - 5.5 } else { middle }, Colour::Same, true);
    }
    if let Some(effect) = row.code {
        let colour = row.verdict.map_or(Colour::Same, verdict_colour);
        one(effect, if both { middle + 5.0 } else { middle }, colour, false);
    }
    if by_proof {
        let y = if both { middle + 5.0 } else { middle };
        scene.dot((place(1.0), y), 4.4, Shape::Diamond, Colour::Same, false);
    }
}

/// No estimate is needed: the code is the same.
fn is_by_proof(row: &ForestRow) -> bool {
    row.proven && row.code.is_none()
}

/// From the smallest to the largest ratio that is shown. All effects are, and intervals as far as they leave effects apart.
fn domain(rows: &[ForestRow], margin: f64) -> PlotAxis {
    let all = || rows.iter().flat_map(|row| row.code.iter().chain(&row.as_built));
    let usable = |ratio: &f64| ratio.is_finite() && *ratio > 0.0;
    let largest = all().map(|effect| effect.ratio).filter(usable).map(|ratio| ratio.ln().abs());
    let reach = 1.6 * largest.fold(3.0 * margin, f64::max);
    let (mut low, mut high) = (-1.6 * margin, 1.6 * margin);
    for effect in all() {
        for ratio in [effect.ratio, effect.lower, effect.upper].into_iter().filter(usable) {
            let size = ratio.ln().clamp(-reach, reach);
            (low, high) = (low.min(size), high.max(size));
        }
    }
    let pad = 0.04 * (high - low);
    let (low, high) = ((low - pad).exp(), (high + pad).exp());
    PlotAxis::of(low, high, high / low > LOGARITHMIC_FROM)
}

fn tick_names(scene: &mut Scene, bottom: f64, ticks: &[f64], place: &dyn Fn(f64) -> f64) {
    let percent = |ratio: f64| 100.0 * (ratio - 1.0);
    let step = ticks.windows(2).map(|pair| (percent(pair[1]) - percent(pair[0])).abs()).fold(100.0, f64::min);
    let decimals = (-(step + 1e-9).log10().floor()).clamp(0.0, 3.0) as usize;
    // From no difference outwards; a value that would touch another has a tick alone.
    let mut order = ticks.to_vec();
    if order.iter().all(|ratio| (ratio - 1.0).abs() > 1e-9) {
        order.push(1.0);
    }
    order.sort_by(|one, other| one.ln().abs().total_cmp(&other.ln().abs()));
    let mut taken: Vec<(f64, f64)> = Vec::new();
    for ratio in order {
        let (x, value) = (place(ratio), percent(ratio));
        let text = if value.abs() < 1e-9 { "0 %".to_owned() } else { format!("{value:+.decimals$} %") };
        scene.line((x, bottom), (x, bottom + 4.0), Colour::Muted, 1.0);
        let half = SMALL.width(&text) / 2.0 + 3.0;
        if taken.iter().all(|(from, to)| x + half <= *from || *to <= x - half) {
            scene.text((x, bottom + 16.0), &text, SMALL, Colour::Muted, Anchor::Middle);
            taken.push((x - half, x + half));
        }
    }
}
