//! Widths of texts, and texts cut and broken to a width: in pixels, by the font that both writers use.

use crate::prose;
use std::sync::OnceLock;
use ttf_parser::{Face, GlyphId};
use unicode_width::UnicodeWidthChar;

static REGULAR: &[u8] = include_bytes!("fonts/DejaVuSans.subset.ttf");
static BOLD: &[u8] = include_bytes!("fonts/DejaVuSans-Bold.subset.ttf");
/// What stands for a character that the font lacks.
const REPLACEMENT: char = '\u{fffd}';

/// A size and a weight.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Font {
    /// Pixels.
    pub size: f64,
    /// Heavier strokes.
    pub bold: bool,
}

impl Font {
    /// Of this size.
    pub const fn plain(size: f64) -> Font {
        Font { size, bold: false }
    }

    /// The same, heavier.
    pub const fn bold(size: f64) -> Font {
        Font { size, bold: true }
    }

    /// The file it comes from.
    pub fn face(self) -> &'static Face<'static> {
        static FACES: OnceLock<[Face<'static>; 2]> = OnceLock::new();
        let parse = |bytes| Face::parse(bytes, 0).expect("the font is part of the program");
        &FACES.get_or_init(|| [parse(REGULAR), parse(BOLD)])[usize::from(self.bold)]
    }

    /// The glyph of a character; that of the replacement where the font has none.
    pub fn glyph(self, c: char) -> Option<GlyphId> {
        self.face().glyph_index(c).or_else(|| self.face().glyph_index(REPLACEMENT))
    }

    /// How far a character moves the pen, pixels.
    pub fn advance(self, c: char) -> f64 {
        if c.width() == Some(0) {
            return 0.0;
        }
        let units = self.glyph(c).and_then(|glyph| self.face().glyph_hor_advance(glyph)).unwrap_or(0);
        f64::from(units) * self.scale()
    }

    /// Pixels of a unit of the font.
    pub fn scale(self) -> f64 {
        self.size / f64::from(self.face().units_per_em())
    }

    /// How wide a text is, pixels.
    pub fn width(self, text: &str) -> f64 {
        text.chars().map(|c| self.advance(c)).sum()
    }

    /// A text no wider than `room`, ending in "…" where something was cut.
    pub fn cut(self, text: &str, room: f64) -> String {
        if self.width(text) <= room {
            return text.to_owned();
        }
        let mut left = room - self.advance('…');
        let kept: String = text
            .chars()
            .take_while(|&c| {
                left -= self.advance(c);
                left >= 0.0
            })
            .collect();
        format!("{}…", kept.trim_end())
    }

    /// A text no wider than `room` whose beginning keeps this part of it and whose end the rest, with "…" for what was between.
    pub fn cut_within(self, text: &str, room: f64, beginning: f64) -> String {
        if self.width(text) <= room {
            return text.to_owned();
        }
        let left = (room - self.advance('…')).max(0.0);
        let kept = |chars: &mut dyn Iterator<Item = char>, mut left: f64| -> Vec<char> {
            chars
                .take_while(|&c| {
                    left -= self.advance(c);
                    left >= 0.0
                })
                .collect()
        };
        let head: String = kept(&mut text.chars(), beginning * left).into_iter().collect();
        let mut tail = kept(&mut text.chars().rev(), left - self.width(&head));
        tail.reverse();
        let tail: String = if beginning < 1.0 { tail.into_iter().collect() } else { String::new() };
        format!("{}…{}", head.trim_end(), tail.trim_start())
    }

    /// The lines of a text, each no wider than `room`; a word that is wider is cut.
    pub fn wrap(self, text: &str, room: f64) -> Vec<String> {
        let mut lines: Vec<String> = Vec::new();
        for word in prose::phrases(text) {
            let word = self.cut(&word, room);
            match lines.last_mut() {
                Some(line) if self.width(line) + self.advance(' ') + self.width(&word) <= room => {
                    line.push(' ');
                    line.push_str(&word);
                }
                _ => lines.push(word),
            }
        }
        lines
    }

    /// The same in `most` lines at most, the last cut where there is more.
    pub fn wrap_within(self, text: &str, room: f64, most: usize) -> Vec<String> {
        let mut lines = self.wrap(text, room);
        if lines.len() > most {
            let rest = lines.split_off(most.saturating_sub(1)).join(" ");
            lines.push(self.cut(&rest, room));
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FONT: Font = Font::plain(12.0);

    #[test]
    fn widths_are_those_of_the_font() {
        // Of 2048 units per em, DejaVu Sans gives a digit 1303, "m" 1995 and a blank 651.
        assert!((FONT.width("0") - 12.0 * 1303.0 / 2048.0).abs() < 1e-9);
        assert!((FONT.width("m 0") - 12.0 * (1995.0 + 651.0 + 1303.0) / 2048.0).abs() < 1e-9);
        assert!(Font::bold(12.0).width("answer") > FONT.width("answer"));
        // Every sign that pages use is in the font.
        for c in "µ·±−…→×≥≤≈éß%0aΑβДж".chars() {
            assert_ne!(FONT.glyph(c), FONT.glyph('\u{fffd}'), "{c}");
        }
    }

    #[test]
    fn a_text_is_cut_and_broken_to_its_room() {
        let text = "a_function_with_a_long_name and +8.9 % ± 0.5 中文字 end";
        for room in (20..300).step_by(7).map(f64::from) {
            assert!(FONT.width(&FONT.cut(text, room)) <= room, "{room}");
            for line in FONT.wrap(text, room).iter().chain(&FONT.wrap_within(text, room, 2)) {
                assert!(FONT.width(line) <= room, "{room}: {line}");
            }
            assert!(FONT.wrap_within(text, room, 2).len() <= 2);
        }
        assert_eq!(FONT.cut("short", 100.0), "short");
        assert!(FONT.wrap_within(text, 120.0, 1)[0].ends_with('…'));
    }
}
