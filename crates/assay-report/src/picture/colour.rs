//! Colours by what they mean, in both themes.
//!
//! Source: Okabe and Ito, "Color universal design" (2008): blue, vermilion, bluish green and reddish purple stay apart for every
//! kind of colour blindness; darkened or lightened until they stand out from the paper (3:1 at least; text 4.5:1; a test computes
//! both as WCAG 2.2 has it).

/// Dark marks on light paper, or light ones on dark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Theme {
    /// Light paper.
    Light,
    /// Dark paper.
    Dark,
}

/// A colour by what it means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colour {
    /// What everything lies on.
    Paper,
    /// Words and figures.
    Text,
    /// Words beside them.
    Muted,
    /// Lines that help to read.
    Grid,
    /// Too small to matter: the margin around no difference, a stretch without a winner.
    Margin,
    /// Takes less time.
    Faster,
    /// Takes more time.
    Slower,
    /// Takes the same time, or nothing is said of it.
    Same,
    /// What misleads or is open.
    Doubt,
    /// One of several curves, by its number.
    Series(usize),
}

/// Curves that have a colour of their own.
pub const SERIES: usize = 8;

/// Names (in a style sheet), then red, green and blue on light paper and on dark.
type Entry = (&'static str, [u8; 3], [u8; 3]);

const PAPER: Entry = ("paper", [255, 255, 255], [13, 17, 23]);
const TEXT: Entry = ("text", [31, 35, 40], [230, 237, 243]);
const MUTED: Entry = ("muted", [89, 99, 110], [157, 167, 179]);
const GRID: Entry = ("grid", [217, 222, 227], [48, 54, 61]);
const MARGIN: Entry = ("margin", [234, 238, 242], [33, 39, 48]);
const FASTER: Entry = ("faster", [0, 102, 170], [108, 182, 255]);
const SLOWER: Entry = ("slower", [190, 74, 0], [255, 157, 92]);
const SAME: Entry = ("same", [89, 99, 110], [157, 167, 179]);
const DOUBT: Entry = ("doubt", [136, 57, 148], [222, 160, 232]);
const OF_SERIES: [Entry; SERIES] = [
    ("a", [0, 102, 170], [108, 182, 255]),
    ("b", [190, 74, 0], [255, 157, 92]),
    ("c", [0, 125, 90], [76, 211, 165]),
    ("d", [158, 62, 150], [226, 154, 214]),
    ("e", [146, 104, 0], [232, 193, 90]),
    ("f", [36, 124, 178], [154, 215, 255]),
    ("g", [107, 114, 128], [169, 177, 186]),
    ("h", [136, 34, 85], [255, 143, 176]),
];

impl Colour {
    fn entry(self) -> Entry {
        match self {
            Colour::Paper => PAPER,
            Colour::Text => TEXT,
            Colour::Muted => MUTED,
            Colour::Grid => GRID,
            Colour::Margin => MARGIN,
            Colour::Faster => FASTER,
            Colour::Slower => SLOWER,
            Colour::Same => SAME,
            Colour::Doubt => DOUBT,
            Colour::Series(number) => OF_SERIES[number % SERIES],
        }
    }

    /// Every colour once.
    pub fn all() -> impl Iterator<Item = Colour> {
        use Colour::{Doubt, Faster, Grid, Margin, Muted, Paper, Same, Series, Slower, Text};
        [Paper, Text, Muted, Grid, Margin, Faster, Slower, Same, Doubt]
            .into_iter()
            .chain((0..SERIES).map(Series))
    }

    /// Its name in a style sheet.
    pub fn name(self) -> &'static str {
        self.entry().0
    }

    /// Red, green and blue in a theme.
    pub fn rgb(self, theme: Theme) -> [u8; 3] {
        let (_, light, dark) = self.entry();
        if theme == Theme::Light { light } else { dark }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Relative luminance, WCAG 2.2.
    fn luminance(rgb: [u8; 3]) -> f64 {
        let part = rgb.map(|value| {
            let value = f64::from(value) / 255.0;
            if value <= 0.040_45 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
        });
        0.2126 * part[0] + 0.7152 * part[1] + 0.0722 * part[2]
    }

    fn contrast(one: [u8; 3], other: [u8; 3]) -> f64 {
        let (one, other) = (luminance(one), luminance(other));
        (one.max(other) + 0.05) / (one.min(other) + 0.05)
    }

    #[test]
    fn every_mark_stands_out_from_the_paper_and_every_word_can_be_read() {
        for theme in [Theme::Light, Theme::Dark] {
            for colour in Colour::all() {
                let found = contrast(colour.rgb(theme), Colour::Paper.rgb(theme));
                let least = match colour {
                    Colour::Paper | Colour::Grid | Colour::Margin => 1.0,
                    // Names of curves are written in their colours.
                    _ => 4.5,
                };
                assert!(found >= least, "{colour:?} {theme:?}: {found:.2}");
            }
        }
    }
}
