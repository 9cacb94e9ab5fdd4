//! What a page may use where it is shown: colour, bars, links. Meaning never rests on colour alone: every coloured word says the
//! same in black, and every bar stands beside its figures.

use super::link::{LinkForm, SourcePlace};
use super::prose;
use anstyle::{AnsiColor, Style};

/// How a stretch of text is to look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ink {
    /// As the terminal has it.
    #[default]
    Plain,
    /// Headings and the answer.
    Bold,
    /// Legends and footers.
    Dim,
    /// Less time; confirmed.
    Good,
    /// More time; refuted, failed.
    Bad,
    /// Undecided, misled, warned.
    Doubt,
    /// The same: nothing to do.
    Calm,
}

/// What is used at all. Colour alone, or nothing, is made of a truth value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Palette {
    /// True: ANSI sequences; false: bare text.
    pub colour: bool,
    /// Bars beside figures: on a terminal, where somebody looks.
    pub bars: bool,
    /// How places in source files are linked; none: they are not.
    pub links: Option<&'static LinkForm>,
}

impl From<bool> for Palette {
    fn from(colour: bool) -> Self {
        Self { colour, ..Self::default() }
    }
}

impl Ink {
    fn style(self) -> Style {
        let colour = |colour: AnsiColor| colour.on_default();
        match self {
            Ink::Plain | Ink::Calm => Style::new(),
            Ink::Bold => Style::new().bold(),
            Ink::Dim => Style::new().dimmed(),
            Ink::Good => colour(AnsiColor::Green),
            Ink::Bad => colour(AnsiColor::Red),
            Ink::Doubt => colour(AnsiColor::Yellow),
        }
    }
}

impl Palette {
    /// The text in this ink, cleaned: the only escape sequences in it are those of the ink. Widths are to be measured before
    /// painting.
    pub fn paint(self, ink: Ink, text: &str) -> String {
        let (style, text) = (ink.style(), prose::clean(text));
        let is_plain = style == Style::new();
        if self.colour && !is_plain && !text.is_empty() {
            format!("{style}{text}{style:#}")
        } else {
            text.into_owned()
        }
    }

    /// The same as a link to a place, where links are used.
    pub fn paint_place(self, ink: Ink, text: &str, place: Option<&SourcePlace>) -> String {
        let painted = self.paint(ink, text);
        match (self.links, place) {
            (Some(links), Some(place)) if !painted.is_empty() => links.wrap(&painted, place),
            _ => painted,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paints_only_when_asked() {
        let (plain, coloured) = (Palette::from(false), Palette::from(true));
        assert_eq!(plain.paint(Ink::Bad, "slower"), "slower");
        assert_eq!(coloured.paint(Ink::Bad, "slower"), "\x1b[31mslower\x1b[0m");
        assert_eq!(coloured.paint(Ink::Plain, "slower"), "slower");
        assert_eq!(coloured.paint(Ink::Bold, ""), "");
    }

    #[test]
    fn colours_of_strangers_are_not_shown() {
        let (plain, coloured) = (Palette::from(false), Palette::from(true));
        let name = "a\x1b[31mred\x1b]0;title\x07\u{9b}2J\r\u{202e}b\tc\n";
        let shown = "a\u{fffd}[31mred\u{fffd}]0;title\u{fffd}\u{fffd}2J\u{fffd}\u{fffd}b\tc\n";
        assert_eq!(plain.paint(Ink::Bad, name), shown);
        assert_eq!(coloured.paint(Ink::Plain, name), shown);
        assert_eq!(coloured.paint(Ink::Bad, name), format!("\x1b[31m{shown}\x1b[0m"));
    }
}
