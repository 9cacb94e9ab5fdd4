//! Colour, where it was asked for. Meaning never rests on colour alone: every coloured word says the same in black.

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

impl Palette {
    /// The text in this ink. Widths are to be measured before painting.
    pub fn paint(self, ink: Ink, text: &str) -> String {
        let code = match ink {
            Ink::Bold => "1",
            Ink::Dim => "2",
            Ink::Good => "32",
            Ink::Bad => "31",
            Ink::Doubt => "33",
            Ink::Calm => "36",
            Ink::Plain => return text.to_owned(),
        };
        if self.colour && !text.is_empty() { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
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
}
