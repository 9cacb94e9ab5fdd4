//! Colour, where it was asked for. Meaning never rests on colour alone: every coloured word says the same in black.

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
    /// The same.
    Calm,
}

/// Whether ink is used at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Palette {
    /// True: ANSI sequences; false: bare text.
    pub colour: bool,
}

impl Ink {
    fn style(self) -> Style {
        let colour = |colour: AnsiColor| colour.on_default();
        match self {
            Ink::Plain => Style::new(),
            Ink::Bold => Style::new().bold(),
            Ink::Dim => Style::new().dimmed(),
            Ink::Good => colour(AnsiColor::Green),
            Ink::Bad => colour(AnsiColor::Red),
            Ink::Doubt => colour(AnsiColor::Yellow),
            Ink::Calm => colour(AnsiColor::Cyan),
        }
    }
}

impl Palette {
    /// The text in this ink, cleaned: the only escape sequences in it are those of the ink. Widths are to be measured before
    /// painting.
    pub fn paint(self, ink: Ink, text: &str) -> String {
        let (style, text) = (ink.style(), prose::clean(text));
        if self.colour && !text.is_empty() { format!("{style}{text}{style:#}") } else { text.into_owned() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paints_only_when_asked() {
        let (plain, coloured) = (Palette { colour: false }, Palette { colour: true });
        assert_eq!(plain.paint(Ink::Bad, "slower"), "slower");
        assert_eq!(coloured.paint(Ink::Bad, "slower"), "\x1b[31mslower\x1b[0m");
        assert_eq!(coloured.paint(Ink::Plain, "slower"), "slower");
        assert_eq!(coloured.paint(Ink::Bold, ""), "");
    }

    #[test]
    fn colours_of_strangers_are_not_shown() {
        let (plain, coloured) = (Palette { colour: false }, Palette { colour: true });
        let name = "a\x1b[31mred\x1b]0;title\x07\u{9b}2J\r\u{202e}b\tc\n";
        let shown = "a\u{fffd}[31mred\u{fffd}]0;title\u{fffd}\u{fffd}2J\u{fffd}\u{fffd}b\tc\n";
        assert_eq!(plain.paint(Ink::Bad, name), shown);
        assert_eq!(coloured.paint(Ink::Plain, name), shown);
        assert_eq!(coloured.paint(Ink::Bad, name), format!("\x1b[31m{shown}\x1b[0m"));
    }
}
