//! Places in a text, as debug information names them: lines and columns from 1, columns in bytes.

use super::Split;

/// A line and a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// From 1.
    pub line: u32,
    /// From 1, in bytes; 0 where the debug information has none.
    pub column: u32,
}

/// A stretch of text, both ends in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Span {
    /// Its first byte.
    pub first: Position,
    /// Its last byte.
    pub last: Position,
}

impl Span {
    /// Whether a position with a column is in it.
    pub fn holds(&self, at: Position) -> bool {
        self.first <= at && at <= self.last
    }

    /// Whether some of a line is in it.
    pub fn touches(&self, line: u32) -> bool {
        self.first.line <= line && line <= self.last.line
    }
}

/// Whose text an instruction was made from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TextPlace {
    /// The condition's.
    Condition,
    /// That of what is done if it holds.
    Yes,
    /// That of what is done if not.
    No,
    /// None of these.
    Elsewhere,
}

impl Split {
    /// Whose text this position is; `None` where a line without a column belongs to more than one.
    pub fn place(&self, at: Position) -> Option<TextPlace> {
        let spans = [
            (TextPlace::Condition, Some(self.condition)),
            (TextPlace::Yes, Some(self.yes)),
            (TextPlace::No, self.no),
        ];
        let mut held = spans.iter().filter(|(_, span)| {
            span.is_some_and(|span| if at.column == 0 { span.touches(at.line) } else { span.holds(at) })
        });
        match (held.next(), held.next()) {
            (None, _) if at.column == 0 && self.shares_line(at.line) => None,
            (None, _) => Some(TextPlace::Elsewhere),
            (Some((place, _)), None) => Some(*place),
            (Some(_), Some(_)) => None,
        }
    }

    /// Whether a line is between the parts: `} else {`, where a position without a column says nothing.
    fn shares_line(&self, line: u32) -> bool {
        let end = self.no.unwrap_or(self.yes).last.line;
        self.condition.first.line <= line && line <= end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(line: u32, column: u32) -> Position {
        Position { line, column }
    }

    fn span(first: (u32, u32), last: (u32, u32)) -> Span {
        Span { first: at(first.0, first.1), last: at(last.0, last.1) }
    }

    fn split() -> Split {
        Split {
            condition: span((10, 5), (10, 20)),
            yes: span((10, 22), (12, 5)),
            no: Some(span((14, 1), (15, 9))),
            expects_yes: true,
            simple: true,
        }
    }

    #[test]
    fn a_column_tells_apart_what_shares_a_line() {
        let split = split();
        assert_eq!(split.place(at(10, 5)), Some(TextPlace::Condition));
        assert_eq!(split.place(at(10, 20)), Some(TextPlace::Condition));
        assert_eq!(split.place(at(10, 22)), Some(TextPlace::Yes));
        assert_eq!(split.place(at(12, 5)), Some(TextPlace::Yes));
        assert_eq!(split.place(at(12, 6)), Some(TextPlace::Elsewhere));
        assert_eq!(split.place(at(14, 1)), Some(TextPlace::No));
        assert_eq!(split.place(at(15, 10)), Some(TextPlace::Elsewhere));
        assert_eq!(split.place(at(10, 4)), Some(TextPlace::Elsewhere));
    }

    #[test]
    fn a_line_without_a_column_says_nothing_where_it_is_shared() {
        let split = split();
        assert_eq!(split.place(at(10, 0)), None);
        assert_eq!(split.place(at(11, 0)), Some(TextPlace::Yes));
        assert_eq!(split.place(at(13, 0)), None, "between the two blocks");
        assert_eq!(split.place(at(15, 0)), Some(TextPlace::No));
        assert_eq!(split.place(at(16, 0)), Some(TextPlace::Elsewhere));
        assert_eq!(split.place(at(9, 0)), Some(TextPlace::Elsewhere));
    }
}
