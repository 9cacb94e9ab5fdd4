//! A scene as PNG, two pixels for each of its own: sharp on today's screens, 800 wide in a pull request.
//!
//! A PNG of 8-bit RGB needs three chunks and one call of deflate, so there is no library between (RFC 2083).

use super::colour::{Colour, Theme};
use super::font::Font;
use super::scene::{Anchor, Fill, LIGHT, Mark, OUTLINE, Point, Scene, WIDTH};
use tiny_skia::{Color, FillRule, LineJoin, Paint, Path, PathBuilder, Pixmap, Stroke, StrokeDash, Transform};
use ttf_parser::OutlineBuilder;

/// Pixels of a PNG for one of a scene.
const SCALE: f32 = 2.0;
/// How much deflate tries: beyond it files get little smaller.
const EFFORT: u8 = 6;

/// The picture as a PNG file.
pub fn png(scene: &Scene, theme: Theme) -> Vec<u8> {
    let pixels = pixels(scene, theme);
    let (width, height) = (pixels.width(), pixels.height());
    let row = 3 * width as usize;
    let mut raw = Vec::with_capacity((row + 1) * height as usize);
    for line in pixels.data().chunks_exact(4 * width as usize) {
        // Each byte less the one a pixel to its left ("Sub"): even areas become zeros.
        raw.push(1);
        let mut left = [0; 3];
        for pixel in line.chunks_exact(4) {
            let own = [pixel[0], pixel[1], pixel[2]];
            raw.extend(own.iter().zip(left).map(|(own, left)| own.wrapping_sub(left)));
            left = own;
        }
    }
    let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
    let mut head = [width.to_be_bytes(), height.to_be_bytes()].concat();
    // 8 bits, RGB, deflate, adaptive filters, not interlaced.
    head.extend([8, 2, 0, 0, 0]);
    chunk(&mut file, b"IHDR", &head);
    // Texts of Latin-1 only are simple; this one may say anything.
    let says = [b"Description\0\0\0\0\0".as_slice(), scene.says.as_bytes()].concat();
    chunk(&mut file, b"iTXt", &says);
    chunk(&mut file, b"IDAT", &miniz_oxide::deflate::compress_to_vec_zlib(&raw, EFFORT));
    chunk(&mut file, b"IEND", &[]);
    file
}

fn chunk(file: &mut Vec<u8>, kind: &[u8; 4], data: &[u8]) {
    file.extend((data.len() as u32).to_be_bytes());
    let from = file.len();
    file.extend(kind);
    file.extend(data);
    let sum = crc32fast::hash(&file[from..]);
    file.extend(sum.to_be_bytes());
}

/// The scene on opaque paper.
pub(super) fn pixels(scene: &Scene, theme: Theme) -> Pixmap {
    let size = |length: f64| (length * f64::from(SCALE)).ceil().max(1.0) as u32;
    let mut pixels = Pixmap::new(size(WIDTH), size(scene.height)).expect("a scene has a size");
    let [r, g, b] = Colour::Paper.rgb(theme);
    pixels.fill(Color::from_rgba8(r, g, b, 255));
    let mut canvas = Canvas { pixels, theme };
    for mark in &scene.marks {
        canvas.draw(mark);
    }
    canvas.pixels
}

struct Canvas {
    pixels: Pixmap,
    theme: Theme,
}

impl Canvas {
    fn draw(&mut self, mark: &Mark) {
        match mark {
            Mark::Line(points, pen) => {
                let dash = if pen.dashed { StrokeDash::new(vec![3.0, 3.0], 0.0) } else { None };
                self.stroke(through(points, false), pen.colour, pen.width, dash);
            }
            Mark::Area(points, colour, fill) => self.fill(through(points, true), *colour, *fill),
            Mark::Dot { at, radius, shape, colour, hollow } => {
                let path = match shape.corners(*at, *radius) {
                    Some(corners) => through(&corners, true),
                    None => PathBuilder::from_circle(at.0 as f32, at.1 as f32, *radius as f32),
                };
                self.fill(path, *colour, if *hollow { Fill::Hollow } else { Fill::Solid });
            }
            Mark::Text { at, text, font, colour, anchor } => {
                let shift = match anchor {
                    Anchor::Start => 0.0,
                    Anchor::Middle => 0.5,
                    Anchor::End => 1.0,
                };
                let from = (at.0 - shift * font.width(text), at.1);
                self.fill(outlines(text, *font, from), *colour, Fill::Solid);
            }
        }
    }

    fn paint(&self, colour: Colour, opacity: f32) -> Paint<'static> {
        let [r, g, b] = colour.rgb(self.theme);
        let mut paint = Paint { anti_alias: true, ..Paint::default() };
        let mut colour = Color::from_rgba8(r, g, b, 255);
        colour.set_alpha(opacity);
        paint.set_color(colour);
        paint
    }

    fn fill(&mut self, path: Option<Path>, colour: Colour, fill: Fill) {
        let Some(path) = path else { return };
        let paint = match fill {
            Fill::Solid => self.paint(colour, 1.0),
            Fill::Light => self.paint(colour, LIGHT),
            Fill::Hollow => self.paint(Colour::Paper, 1.0),
        };
        let scale = Transform::from_scale(SCALE, SCALE);
        self.pixels.fill_path(&path, &paint, FillRule::Winding, scale, None);
        if fill == Fill::Hollow {
            self.stroke(Some(path), colour, OUTLINE, None);
        }
    }

    fn stroke(&mut self, path: Option<Path>, colour: Colour, width: f64, dash: Option<StrokeDash>) {
        let Some(path) = path else { return };
        let stroke = Stroke { width: width as f32, dash, line_join: LineJoin::Round, ..Stroke::default() };
        let scale = Transform::from_scale(SCALE, SCALE);
        self.pixels.stroke_path(&path, &self.paint(colour, 1.0), &stroke, scale, None);
    }
}

fn through(points: &[Point], closed: bool) -> Option<Path> {
    let mut path = PathBuilder::new();
    for (at, &(x, y)) in points.iter().enumerate() {
        if at == 0 {
            path.move_to(x as f32, y as f32);
        } else {
            path.line_to(x as f32, y as f32);
        }
    }
    if closed {
        path.close();
    }
    path.finish()
}

/// The outlines of a text; none of blanks.
fn outlines(text: &str, font: Font, (mut x, y): Point) -> Option<Path> {
    let mut letters = Letters { path: PathBuilder::new(), at: (0.0, y as f32), scale: font.scale() as f32 };
    for c in text.chars() {
        let advance = font.advance(c);
        if let Some(glyph) = font.glyph(c).filter(|_| advance > 0.0) {
            letters.at.0 = x as f32;
            font.face().outline_glyph(glyph, &mut letters);
        }
        x += advance;
    }
    letters.path.finish()
}

/// Takes the outlines of glyphs, whose y rises, to their places.
struct Letters {
    path: PathBuilder,
    at: (f32, f32),
    scale: f32,
}

impl Letters {
    fn place(&self, x: f32, y: f32) -> (f32, f32) {
        (self.at.0 + self.scale * x, self.at.1 - self.scale * y)
    }
}

impl OutlineBuilder for Letters {
    fn move_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.place(x, y);
        self.path.move_to(x, y);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.place(x, y);
        self.path.line_to(x, y);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let ((x1, y1), (x, y)) = (self.place(x1, y1), self.place(x, y));
        self.path.quad_to(x1, y1, x, y);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let ((x1, y1), (x2, y2), (x, y)) = (self.place(x1, y1), self.place(x2, y2), self.place(x, y));
        self.path.cubic_to(x1, y1, x2, y2, x, y);
    }

    fn close(&mut self) {
        self.path.close();
    }
}
