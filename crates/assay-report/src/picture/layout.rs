//! Where functions lie: a row for each, its bytes over the 64-byte lines that it touches, and its loops on top of them.
//!
//! A loop whose place matters is green where it touches as few lines as it can, and orange where it touches more.

use super::colour::Colour;
use super::frame::{self, BODY, LEFT, RIGHT, ROOM, SMALL};
use super::names::ShortNames;
use super::scene::{Anchor, Fill, Scene};
use crate::layout::page::{Binary, FunctionLayout, LoopLayout};
use crate::layout::{LayoutPage, chosen};
use crate::terminal::builds::short;
use crate::terminal::distinct;
use assay_pure::words;

/// Functions that are drawn, of all files together.
const MOST_FUNCTIONS: usize = 24;
/// Lines of a function that are drawn.
const LINES: u64 = 4;
const LINE: u64 = 64;
/// Where names end and lines begin.
const GUTTER: f64 = 232.0;
/// Height of a function's bytes, and of its row.
const BAR: f64 = 16.0;
const ROW: f64 = 42.0;

/// The picture of where functions lie.
pub fn of_layout(page: &LayoutPage) -> Scene {
    let (mut scene, y) =
        frame::begin_with("", &page.answer, page.warnings.first().map_or("", String::as_str));
    let meaning = "Each box is a cache line of 64 bytes, cut in windows of 32. The function's bytes lie in it from its \
                   offset on; its loops lie on top of them.";
    let mut y = frame::heading(&mut scene, y, "Where the functions lie", meaning);
    y = legend(&mut scene, y + 6.0);
    let each = (MOST_FUNCTIONS / page.binaries.len().max(1)).max(1);
    let mut left_out = 0;
    for binary in &page.binaries {
        y = file(&mut scene, y, binary, each);
        left_out += binary.functions.len().saturating_sub(each);
    }
    if left_out > 0 {
        let functions = words::plural(left_out as u64, "function");
        y = frame::remark(&mut scene, y, &format!("Left out: {functions}; --functions chooses."));
    }
    frame::end(&mut scene, y, &["assay layout".to_owned(), page.host.cpu.clone()]);
    scene
}

fn legend(scene: &mut Scene, y: f64) -> f64 {
    let mut x = LEFT;
    for (name, colour, fill) in [
        ("bytes of the function", Colour::Same, Fill::Light),
        ("loop in as few lines as it can", Colour::Faster, Fill::Solid),
        ("loop in more lines than it must", Colour::Slower, Fill::Solid),
    ] {
        scene.rectangle((x, y), (x + 14.0, y + 10.0), colour, fill);
        scene.text((x + 20.0, y + 9.5), name, SMALL, Colour::Text, Anchor::Start);
        x += 20.0 + SMALL.width(name) + 22.0;
    }
    y + 22.0
}

fn file(scene: &mut Scene, y: f64, binary: &Binary, most: usize) -> f64 {
    let mut functions = chosen(binary, most);
    functions.sort_by_key(|function| function.address);
    let mut y = y + 14.0;
    scene.text((LEFT, y), &frame::STRONG.cut(&binary.path, ROOM), frame::STRONG, Colour::Text, Anchor::Start);
    y += 10.0;
    let plain = plain_names(&functions);
    let names = ShortNames::of(BODY, plain.iter().map(String::as_str), GUTTER - 12.0);
    for (function, name) in functions.into_iter().zip(&plain) {
        row(scene, y, function, names.get(name));
        y += ROW;
    }
    y
}

/// Short names, where they stay distinct so.
fn plain_names(functions: &[&FunctionLayout]) -> Vec<String> {
    let names: Vec<String> = functions.iter().map(|function| short(&function.name)).collect();
    match distinct(names.iter().map(String::as_str)).len() == names.len() {
        true => names,
        false => functions.iter().map(|function| function.name.clone()).collect(),
    }
}

/// The part of a function that is drawn: from which byte of it, a line's first, over how many lines.
struct DrawnRange {
    /// Bytes from the first drawn line's start to the function's first byte; negative where earlier lines are not drawn.
    begins: i64,
    lines: u64,
}

impl DrawnRange {
    /// Around its shortest loop whose place matters, else from its first byte on.
    fn of(function: &FunctionLayout) -> DrawnRange {
        let first_line = |offset: u64| (function.line_offset + offset) / LINE;
        let lines = first_line(function.size.saturating_sub(1)) + 1;
        let wanted = shortest(function).map_or(0, |body| first_line(body.head));
        let skipped = wanted.min(lines.saturating_sub(LINES));
        DrawnRange {
            begins: function.line_offset as i64 - (skipped * LINE) as i64,
            lines: (lines - skipped).min(LINES),
        }
    }

    /// Where a byte of the function is, in pixels; cut at either end.
    fn x(&self, byte: u64) -> f64 {
        let at = (self.begins + byte as i64).clamp(0, (self.lines * LINE) as i64);
        LEFT + GUTTER + at as f64 * (ROOM - GUTTER) / (LINES * LINE) as f64
    }

    /// Where a line begins.
    fn line(&self, number: f64) -> f64 {
        LEFT + GUTTER + number * (ROOM - GUTTER) / LINES as f64
    }
}

fn shortest(function: &FunctionLayout) -> Option<&LoopLayout> {
    function.loops.iter().filter(|body| body.innermost && body.depends_on_place).min_by_key(|body| body.bytes)
}

fn row(scene: &mut Scene, y: f64, function: &FunctionLayout, name: &str) {
    let window = DrawnRange::of(function);
    let place = format!(
        "{:#x}, byte {} of its line, {}",
        function.address,
        function.line_offset,
        words::plural(function.size, "byte")
    );
    scene.text((LEFT, y + 11.0), name, BODY, Colour::Text, Anchor::Start);
    scene.text((LEFT, y + 25.0), &SMALL.cut(&place, GUTTER - 12.0), SMALL, Colour::Muted, Anchor::Start);
    scene.rectangle((window.x(0), y), (window.x(function.size), y + BAR), Colour::Same, Fill::Light);
    let mut said = None;
    for body in function.loops.iter().filter(|body| body.innermost) {
        let least = body.at.iter().map(|at| at.lines).min().unwrap_or(1);
        let here = body.at.first().map_or(1, |at| at.lines);
        let colour = match body.at.is_empty() {
            // No rule is known for it.
            true => Colour::Same,
            false if here > least => Colour::Slower,
            false => Colour::Faster,
        };
        let (from, to) = (window.x(body.head), window.x(body.head + body.bytes));
        if from < to {
            scene.rectangle((from, y + 4.0), (to, y + BAR - 4.0), colour, Fill::Solid);
        }
        if shortest(function).is_some_and(|shown| shown.head == body.head) {
            let best = if here > least { format!(", {least} at its best") } else { String::new() };
            let lines = words::plural(here, "line");
            said = Some(format!("loop of {} in {lines}{best}", words::plural(body.bytes, "byte")));
        }
    }
    for line in 0..=window.lines {
        let x = window.line(line as f64);
        scene.line((x, y - 2.0), (x, y + BAR + 2.0), Colour::Muted, 1.0);
        if line < window.lines {
            let middle = window.line(line as f64 + 0.5);
            scene.dashes((middle, y), (middle, y + BAR), Colour::Grid, 1.0);
        }
    }
    let hidden = function.lines.saturating_sub(window.lines);
    let rest =
        if hidden > 0 { format!("{} not drawn", words::plural(hidden, "line")) } else { String::new() };
    let text = [said.unwrap_or_default(), rest].into_iter().filter(|part| !part.is_empty());
    let text = SMALL.cut(&text.collect::<Vec<_>>().join("; "), RIGHT - LEFT - GUTTER);
    scene.text((LEFT + GUTTER, y + BAR + 13.0), &text, SMALL, Colour::Muted, Anchor::Start);
}
