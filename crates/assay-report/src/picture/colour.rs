//! Colours by what they mean, in both themes.
//!
//! One palette with the page: each name is one of `html/page/page.css`, and a test compares both. What is green there was blue
//! here, and a reader of both learned two codes.
//! Source: Okabe and Ito, "Color universal design" (2008): hues that stay apart for every kind of colour blindness; darkened or
//! lightened until they stand out from the paper (3:1 at least; text 4.5:1; a test computes both as WCAG 2.2 has it).

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
    /// Where a crossover may lie.
    Cross,
    /// Where it most likely lies.
    Crossing,
    /// One of several curves, by its number.
    Series(usize),
}

/// Curves that have a colour of their own.
pub const SERIES: usize = 8;

/// Names (in a style sheet), then red, green and blue on light paper and on dark.
type ThemeColour = (&'static str, [u8; 3], [u8; 3]);

const PAPER: ThemeColour = ("paper", [0xff, 0xff, 0xff], [0x14, 0x17, 0x1b]);
const TEXT: ThemeColour = ("ink", [0x1b, 0x1f, 0x24], [0xe8, 0xeb, 0xef]);
const MUTED: ThemeColour = ("muted", [0x5b, 0x64, 0x70], [0xa3, 0xad, 0xb8]);
const GRID: ThemeColour = ("grid", [0xdf, 0xe3, 0xe8], [0x2e, 0x34, 0x3c]);
const MARGIN: ThemeColour = ("margin", [0xdb, 0xe6, 0xf1], [0x26, 0x38, 0x4b]);
const FASTER: ThemeColour = ("faster", [0x0a, 0x7a, 0x48], [0x4f, 0xcf, 0x93]);
const SLOWER: ThemeColour = ("slower", [0xb3, 0x40, 0x0b], [0xff, 0x9a, 0x62]);
const SAME: ThemeColour = ("equivalent", [0x47, 0x63, 0x7f], [0xa9, 0xc3, 0xdd]);
const DOUBT: ThemeColour = ("undecided", [0x80, 0x60, 0x00], [0xe6, 0xc0, 0x4a]);
const CROSS: ThemeColour = ("cross", [0xee, 0xdc, 0xf5], [0x3a, 0x25, 0x45]);
const CROSSING: ThemeColour = ("crossing", [0x85, 0x40, 0x9d], [0xd7, 0x9b, 0xee]);
const OF_SERIES: [ThemeColour; SERIES] = [
    ("c0", [0x1f, 0x66, 0xb5], [0x7f, 0xb6, 0xf5]),
    ("c1", [0xbf, 0x50, 0x08], [0xff, 0xa4, 0x5c]),
    ("c2", [0x13, 0x79, 0x5b], [0x5f, 0xd0, 0xa5]),
    ("c3", [0x8a, 0x3f, 0xa0], [0xd7, 0x9b, 0xee]),
    ("c4", [0x8a, 0x6a, 0x00], [0xe6, 0xc0, 0x4a]),
    ("c5", [0xb1, 0x2f, 0x5f], [0xff, 0x8f, 0xb4]),
    ("c6", [0x2a, 0x7f, 0x8f], [0x6f, 0xd0, 0xe0]),
    ("c7", [0x5d, 0x5d, 0x5d], [0xb8, 0xb8, 0xb8]),
];

impl Colour {
    fn entry(self) -> ThemeColour {
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
            Colour::Cross => CROSS,
            Colour::Crossing => CROSSING,
            Colour::Series(number) => OF_SERIES[number % SERIES],
        }
    }

    /// Every colour once.
    pub fn all() -> impl Iterator<Item = Colour> {
        use Colour::{
            Cross, Crossing, Doubt, Faster, Grid, Margin, Muted, Paper, Same, Series, Slower, Text,
        };
        [Paper, Text, Muted, Grid, Margin, Faster, Slower, Same, Doubt, Cross, Crossing]
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
                    Colour::Paper | Colour::Grid | Colour::Margin | Colour::Cross => 1.0,
                    // Names of curves are written in their colours.
                    _ => 4.5,
                };
                assert!(found >= least, "{colour:?} {theme:?}: {found:.2}");
            }
        }
    }

    #[test]
    fn picture_and_page_have_one_palette() {
        let css = include_str!("../html/page/page.css");
        let (light, dark) = css.split_once("[data-theme=\"dark\"]").expect("a dark theme");
        for (theme, rules) in [(Theme::Light, light), (Theme::Dark, dark)] {
            for colour in Colour::all() {
                let [red, green, blue] = colour.rgb(theme);
                let rule = format!("--{}: #{red:02x}{green:02x}{blue:02x};", colour.name());
                assert!(rules.contains(&rule), "{theme:?}: the page has another {rule}");
            }
        }
    }
}
