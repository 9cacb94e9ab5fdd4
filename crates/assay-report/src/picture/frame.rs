//! What every picture has: the question, the answer as its title, headings, plots with their axes, and where it comes from.

use super::colour::Colour;
use super::font::Font;
use super::scene::{Anchor, Scene, WIDTH};
use crate::plot_axis::PlotAxis;

/// Beside everything.
pub const LEFT: f64 = 20.0;
/// The end of everything.
pub const RIGHT: f64 = WIDTH - LEFT;
/// Room between both.
pub const ROOM: f64 = RIGHT - LEFT;
/// Words and figures of a row.
pub const BODY: Font = Font::plain(12.5);
/// The same where it is news.
pub const STRONG: Font = Font::bold(12.5);
/// Words beside them.
pub const SMALL: Font = Font::plain(11.0);

const QUESTION: Font = Font::plain(12.5);
const TITLE: Font = Font::bold(16.0);
const REST: Font = Font::plain(13.0);
const HEADING: Font = Font::bold(13.0);
/// Lines of the answer's first sentence, then of all others.
const MOST_LINES: (usize, usize) = (4, 5);

/// A scene that begins with the answer, and where it goes on.
pub fn begin(question: &str, answer: &str) -> (Scene, f64) {
    begin_with(question, answer, "")
}

/// The same with what could make the answer wrong, which stands below it.
pub fn begin_with(question: &str, answer: &str, caution: &str) -> (Scene, f64) {
    let mut scene = Scene::new(format!("{answer} {caution}").trim());
    let mut y = 14.0;
    if !question.is_empty() {
        y += 16.0;
        scene.text((LEFT, y), &QUESTION.cut(question, ROOM), QUESTION, Colour::Muted, Anchor::Start);
        y += 4.0;
    }
    let (first, rest) = answer.split_once(". ").unwrap_or((answer.trim_end_matches('.'), ""));
    let first = format!("{}.", first.trim_end_matches('.'));
    for (text, font, most) in [(first.as_str(), TITLE, MOST_LINES.0), (rest, REST, MOST_LINES.1)] {
        for line in font.wrap_within(text, ROOM, most) {
            y += 1.36 * font.size;
            scene.text((LEFT, y), &line, font, Colour::Text, Anchor::Start);
        }
    }
    for line in REST.wrap_within(caution, ROOM, 2) {
        y += 1.36 * REST.size;
        scene.text((LEFT, y), &line, REST, Colour::Doubt, Anchor::Start);
    }
    (scene, y + 10.0)
}

/// A heading, what it means below it, and where what it heads begins.
pub fn heading(scene: &mut Scene, y: f64, title: &str, meaning: &str) -> f64 {
    let mut y = y + 24.0;
    scene.text((LEFT, y), &HEADING.cut(title, ROOM), HEADING, Colour::Text, Anchor::Start);
    for line in SMALL.wrap_within(meaning, ROOM, 3) {
        y += 15.0;
        scene.text((LEFT, y), &line, SMALL, Colour::Muted, Anchor::Start);
    }
    y + 8.0
}

/// A remark below something.
pub fn remark(scene: &mut Scene, y: f64, text: &str) -> f64 {
    let mut y = y;
    for line in SMALL.wrap_within(text, ROOM, 3) {
        y += 15.0;
        scene.text((LEFT, y), &line, SMALL, Colour::Muted, Anchor::Start);
    }
    y
}

/// Where the figures come from, and the end of the picture.
pub fn end(scene: &mut Scene, y: f64, parts: &[String]) {
    let y = y + 12.0;
    scene.line((LEFT, y), (RIGHT, y), Colour::Grid, 1.0);
    let told: Vec<&str> = parts.iter().map(String::as_str).filter(|part| !part.is_empty()).collect();
    let end = remark(scene, y + 2.0, &told.join(" · "));
    scene.height = (end + 14.0).ceil();
}

/// A rectangle with an axis along each side.
pub struct Plot {
    /// The left side.
    pub left: f64,
    /// The right side.
    pub right: f64,
    /// The upper side.
    pub top: f64,
    /// The lower side.
    pub bottom: f64,
    /// Along the lower side.
    pub across: PlotAxis,
    /// Along the left side, rising.
    pub up: PlotAxis,
}

impl Plot {
    /// Where a value lies across.
    pub fn x(&self, value: f64) -> f64 {
        self.left + self.across.part(value) * (self.right - self.left)
    }

    /// Where a value lies on the rising axis.
    pub fn y(&self, value: f64) -> f64 {
        self.bottom - self.up.part(value) * (self.bottom - self.top)
    }

    /// Lines at the rising axis's ticks, with their values at the left.
    pub fn rules(&self, scene: &mut Scene, most: usize, name: &dyn Fn(f64) -> String) {
        for value in self.up.ticks(most) {
            let y = self.y(value);
            scene.line((self.left, y), (self.right, y), Colour::Grid, 1.0);
            scene.text((self.left - 6.0, y + 4.0), &name(value), SMALL, Colour::Muted, Anchor::End);
        }
    }

    /// Ticks below the lower side, with their values.
    pub fn ticks(&self, scene: &mut Scene, values: &[f64], name: &dyn Fn(f64) -> String) {
        scene.line((self.left, self.bottom), (self.right, self.bottom), Colour::Muted, 1.0);
        // A value that would touch the one before has a tick alone.
        let mut free = f64::NEG_INFINITY;
        for &value in values {
            let (x, text) = (self.x(value), name(value));
            let half = SMALL.width(&text) / 2.0;
            scene.line((x, self.bottom), (x, self.bottom + 4.0), Colour::Muted, 1.0);
            if x - half > free {
                scene.text((x, self.bottom + 16.0), &text, SMALL, Colour::Muted, Anchor::Middle);
                free = x + half + 8.0;
            }
        }
    }
}
