//! What a picture is made of: marks at their places, in pixels from the upper left corner.

use super::colour::Colour;
use super::font::Font;
use crate::prose;

/// A place.
pub type Point = (f64, f64);

/// Width of every picture, pixels: what a pull request shows.
pub const WIDTH: f64 = 800.0;

/// Which end of a text its place is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// Its beginning.
    Start,
    /// Its middle.
    Middle,
    /// Its end.
    End,
}

/// How a line is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pen {
    /// In which colour.
    pub colour: Colour,
    /// Pixels.
    pub width: f64,
    /// Broken into short pieces.
    pub dashed: bool,
}

/// How an area is filled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fill {
    /// Nothing behind it is seen.
    Solid,
    /// What lies behind it is seen.
    Light,
    /// Its outline alone, on paper.
    Hollow,
}

/// Opacity of [`Fill::Light`].
pub const LIGHT: f32 = 0.22;

/// The shape of a dot: curves are told apart by it too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A circle.
    Circle,
    /// A square.
    Square,
    /// A square on its corner.
    Diamond,
    /// A triangle.
    Triangle,
}

impl Shape {
    /// One for each curve, by its number.
    pub fn of(number: usize) -> Shape {
        [Shape::Circle, Shape::Square, Shape::Diamond, Shape::Triangle][number % 4]
    }

    /// The corners of a dot of this radius; none of a circle.
    pub fn corners(self, (x, y): Point, radius: f64) -> Option<Vec<Point>> {
        let r = radius;
        Some(match self {
            Shape::Circle => return None,
            Shape::Square => {
                let r = 0.89 * r;
                vec![(x - r, y - r), (x + r, y - r), (x + r, y + r), (x - r, y + r)]
            }
            Shape::Diamond => {
                let r = 1.25 * r;
                vec![(x, y - r), (x + r, y), (x, y + r), (x - r, y)]
            }
            Shape::Triangle => {
                vec![(x, y - 1.25 * r), (x + 1.15 * r, y + 0.85 * r), (x - 1.15 * r, y + 0.85 * r)]
            }
        })
    }
}

/// One thing to draw.
#[derive(Clone, Debug, PartialEq)]
pub enum Mark {
    /// A line through points.
    Line(Vec<Point>, Pen),
    /// What corners enclose.
    Area(Vec<Point>, Colour, Fill),
    /// A dot.
    Dot {
        /// Its centre.
        at: Point,
        /// Pixels.
        radius: f64,
        /// Its shape.
        shape: Shape,
        /// Its colour.
        colour: Colour,
        /// An outline, on paper.
        hollow: bool,
    },
    /// A text on one line.
    Text {
        /// Where it is, on its base line.
        at: Point,
        /// What it says, cleaned.
        text: String,
        /// How large.
        font: Font,
        /// Its colour.
        colour: Colour,
        /// Which end of it is there.
        anchor: Anchor,
    },
}

/// Width of a hollow mark's outline.
pub const OUTLINE: f64 = 1.5;

/// A picture before it is drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct Scene {
    /// What it says, in words: its title, and what stands in a page instead of it.
    pub says: String,
    /// Pixels; it is [`WIDTH`] wide.
    pub height: f64,
    /// From the backmost to the front.
    pub marks: Vec<Mark>,
}

impl Scene {
    /// An empty one that will say this.
    pub fn new(says: &str) -> Scene {
        Scene { says: tidy(says), height: 0.0, marks: Vec::new() }
    }

    /// A straight line.
    pub fn line(&mut self, from: Point, to: Point, colour: Colour, width: f64) {
        self.marks.push(Mark::Line(vec![from, to], Pen { colour, width, dashed: false }));
    }

    /// A straight line, broken.
    pub fn dashes(&mut self, from: Point, to: Point, colour: Colour, width: f64) {
        self.marks.push(Mark::Line(vec![from, to], Pen { colour, width, dashed: true }));
    }

    /// A line through points.
    pub fn path(&mut self, points: Vec<Point>, colour: Colour, width: f64) {
        if points.len() > 1 {
            self.marks.push(Mark::Line(points, Pen { colour, width, dashed: false }));
        }
    }

    /// What corners enclose.
    pub fn area(&mut self, corners: Vec<Point>, colour: Colour, fill: Fill) {
        if corners.len() > 2 {
            self.marks.push(Mark::Area(corners, colour, fill));
        }
    }

    /// A rectangle between two corners.
    pub fn rectangle(&mut self, from: Point, to: Point, colour: Colour, fill: Fill) {
        self.area(vec![from, (to.0, from.1), to, (from.0, to.1)], colour, fill);
    }

    /// A dot.
    pub fn dot(&mut self, at: Point, radius: f64, shape: Shape, colour: Colour, hollow: bool) {
        self.marks.push(Mark::Dot { at, radius, shape, colour, hollow });
    }

    /// A text on one line, whoever wrote it.
    pub fn text(&mut self, at: Point, text: &str, font: Font, colour: Colour, anchor: Anchor) {
        if !text.is_empty() {
            self.marks.push(Mark::Text { at, text: tidy(text), font, colour, anchor });
        }
    }
}

/// On one line, without what would steer or turn it.
fn tidy(text: &str) -> String {
    prose::clean(&prose::on_one_line(text)).into_owned()
}
