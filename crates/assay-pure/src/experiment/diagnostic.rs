//! A complaint about an experiment file that tells where it is and what would be right.

use std::fmt;

use super::spans::FilePlace;

/// One problem of an experiment file. `Display` prints file:line:column, the line with carets, what was expected,
/// the nearest known key and an example, at most 80 columns wide where words allow it.
#[derive(Clone, Debug, PartialEq)]
pub struct Diagnostic {
    /// The file as the user named it.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// Dotted path of the key, e.g. `inputs[2].units`.
    pub key: String,
    /// What is wrong, one sentence.
    pub message: String,
    /// The text of the line, for the caret; of a long one, what is around it.
    pub source_line: String,
    /// Characters of the line before that text.
    pub skipped: usize,
    /// Length of the marked text in characters; 0 where something is missing rather than wrong, then no line is shown.
    pub length: usize,
    /// What would have been right: a type, a range, a list of words.
    pub expected: Option<String>,
    /// The nearest known key or value.
    pub nearest: Option<String>,
    /// What to write instead.
    pub example: Option<String>,
}

impl std::error::Error for Diagnostic {}

impl Diagnostic {
    /// A problem at a place of a file, so far without advice.
    pub fn new(file: &str, place: FilePlace, key: &str, message: impl Into<String>) -> Self {
        Diagnostic {
            file: file.to_owned(),
            line: place.line,
            column: place.column,
            key: key.to_owned(),
            message: message.into(),
            source_line: place.source_line,
            skipped: place.skipped,
            length: place.length,
            expected: None,
            nearest: None,
            example: None,
        }
    }

    /// The same, saying what would have been right.
    pub fn with_expected(mut self, expected: impl Into<String>) -> Self {
        self.expected = Some(expected.into());
        self
    }

    /// The same, naming the nearest known word, if there is one.
    pub fn with_nearest(mut self, nearest: Option<&str>) -> Self {
        self.nearest = nearest.map(str::to_owned);
        self
    }

    /// The same, showing what to write; may have several lines.
    pub fn with_example(mut self, example: impl Into<String>) -> Self {
        self.example = Some(example.into());
        self
    }
}

/// Problems of a file that are told; nobody reads more, and a file may have one in each of 100,000 lines.
pub const MOST: usize = 100;

/// All problems for somebody to read, [`MOST`] at most.
pub fn shown(problems: &[Diagnostic]) -> String {
    let mut told: Vec<String> = problems.iter().take(MOST + 1).map(ToString::to_string).collect();
    if problems.len() > told.len() {
        told.push(format!("and {} more problems", problems.len() - told.len()));
    }
    told.join("\n\n")
}

/// The known word that was most likely meant, if one is near enough: at most about a third of its letters differ.
///
/// Distance: Damerau's (one insertion, deletion, substitution or swap of neighbours costs 1), capitals ignored. A word
/// that starts with the given one, or the other way round, is near too ("gen" for "generator"), if it has 3 letters.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.to_lowercase();
    known
        .into_iter()
        .filter_map(|candidate| {
            let other = candidate.to_lowercase();
            let distance = strsim::damerau_levenshtein(&word, &other);
            let letters = word.chars().count().max(other.chars().count());
            let begins =
                word.len().min(other.len()) >= 3 && (other.starts_with(&word) || word.starts_with(&other));
            (distance <= letters.div_ceil(3) && distance < letters || begins).then_some((distance, candidate))
        })
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, candidate)| candidate)
}

/// Columns a diagnostic keeps to.
const WIDTH: usize = 80;

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = format!("{}:{}:{}: ", self.file, self.line, self.column);
        // Editors and scripts read the place up to the first space, so it is never broken.
        write!(f, "{place}{}", wrap(&self.message, place.chars().count(), 4))?;
        if self.length > 0 {
            self.fmt_source(f)?;
        }
        let advice = [("expected", &self.expected), ("nearest", &self.nearest), ("example", &self.example)];
        for (label, text) in advice {
            let Some(text) = text else { continue };
            write!(f, "\n  {:<10}", format!("{label}:"))?;
            match label {
                // An example is to be copied: its lines stay as they are.
                "example" => write!(f, "{}", text.replace('\n', &format!("\n{:12}", "")))?,
                "nearest" => write!(f, "`{text}`")?,
                _ => write!(f, "{}", wrap(text, 12, 12))?,
            }
        }
        Ok(())
    }
}

impl Diagnostic {
    /// The source line with carets under the marked text.
    fn fmt_source(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = self.line.to_string();
        let gutter = number.len();
        let (text, column, length) =
            excerpt(&self.source_line, self.column - 1 - self.skipped, self.length, WIDTH - gutter - 3);
        write!(f, "\n{:gutter$} |\n{number} | {text}", "")?;
        write!(f, "\n{:gutter$} | {:column$}{}", "", "", "^".repeat(length))
    }
}

/// At most `width` characters of a line around the marked ones: the text, and where the mark is in it.
fn excerpt(line: &str, column: usize, length: usize, width: usize) -> (String, usize, usize) {
    // A tab's width is the terminal's business; as one blank it keeps the carets where they belong.
    let chars: Vec<char> = line.trim_end().chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    if chars.len() <= width {
        return (chars.iter().collect(), column, length);
    }
    const DOTS: usize = 3;
    let room = width - 2 * DOTS;
    // A third of the room before the mark, as what comes before explains it more often than what comes after.
    let start = if column + length <= width - DOTS {
        0
    } else {
        (column - (room / 3).min(column)).min(chars.len() - room)
    };
    let before = if start == 0 { "" } else { "..." };
    let taken = if start == 0 { width - DOTS } else { room };
    let end = (start + taken).min(chars.len());
    let after = if end == chars.len() { "" } else { "..." };
    let text: String = chars[start..end].iter().collect();
    let column = before.len() + column - start;
    (format!("{before}{text}{after}"), column, length.min(width - column))
}

/// Breaks text between words so that no line passes the width; `used` columns of the first are taken, all others are
/// indented by `indent`.
fn wrap(text: &str, used: usize, indent: usize) -> String {
    let mut wrapped = String::new();
    let mut column = used;
    for (index, word) in text.split(' ').enumerate() {
        let letters = word.chars().count();
        if index > 0 && column + 1 + letters > WIDTH {
            wrapped.push('\n');
            wrapped.push_str(&" ".repeat(indent));
            column = indent;
        } else if index > 0 {
            wrapped.push(' ');
            column += 1;
        }
        wrapped.push_str(word);
        column += letters;
    }
    wrapped
}

#[cfg(test)]
mod tests {
    use super::*;

    fn diagnostic(source_line: &str, column: usize, length: usize) -> Diagnostic {
        let place = FilePlace { line: 12, column, source_line: source_line.to_owned(), skipped: 0, length };
        Diagnostic::new("a.toml", place, "unit", "`unit` has the wrong type: an integer")
    }

    #[test]
    fn shows_the_place_the_line_and_the_advice() {
        let shown = diagnostic("unit = 12  # per item", 8, 2)
            .with_expected("a string")
            .with_nearest(Some("units"))
            .with_example("unit = \"varint\"")
            .to_string();
        let expected = "\
a.toml:12:8: `unit` has the wrong type: an integer
   |
12 | unit = 12  # per item
   |        ^^
  expected: a string
  nearest:  `units`
  example:  unit = \"varint\"";
        assert_eq!(shown, expected);
    }

    #[test]
    fn shows_no_line_where_nothing_is_marked() {
        assert_eq!(diagnostic("", 1, 0).to_string(), "a.toml:12:1: `unit` has the wrong type: an integer");
    }

    #[test]
    fn aligns_the_lines_of_a_long_example() {
        let shown = diagnostic("", 1, 0).with_example("[program]\nsources = [\"a.c\"]").to_string();
        assert!(shown.ends_with("\n  example:  [program]\n            sources = [\"a.c\"]"), "{shown}");
    }

    #[test]
    fn stays_within_80_columns() {
        let line = format!("x = [{}]", "\"flag\", ".repeat(40));
        for (column, length) in [(1, 1), (5, 320), (70, 6), (78, 6), (200, 6), (322, 3)] {
            let shown =
                diagnostic(&line, column, length).with_expected("word ".repeat(60).trim()).to_string();
            for text in shown.lines() {
                assert!(text.chars().count() <= 80, "{} columns: {text}", text.chars().count());
            }
        }
    }

    #[test]
    fn marks_the_right_letters_of_a_long_line() {
        let line: String = (0..30).map(|n| format!("word{n:02} ")).collect();
        for n in [0, 5, 9, 10, 11, 20, 28, 29] {
            let shown = diagnostic(&line, 7 * n + 1, 6).to_string();
            let lines: Vec<&str> = shown.lines().collect();
            let from = lines[3].find('^').expect("carets");
            let marked: String = lines[2].chars().skip(from).take(6).collect();
            assert_eq!(marked, format!("word{n:02}"), "{shown}");
        }
    }

    #[test]
    fn keeps_carets_in_place_after_tabs() {
        let shown = diagnostic("\tunit\t= 12", 9, 2).to_string();
        assert!(shown.contains("\n12 |  unit = 12\n   |         ^^"), "{shown}");
    }

    #[test]
    fn finds_the_word_that_was_meant() {
        let known = ["budget", "baseline", "generator", "units", "unit", "needs"];
        for (word, meant) in [
            ("budgett", Some("budget")),
            ("bugdet", Some("budget")),
            ("Budget", Some("budget")),
            ("base_line", Some("baseline")),
            ("gen", Some("generator")),
            ("unitz", Some("units")),
            ("colour", None),
            ("x", None),
            ("", None),
        ] {
            assert_eq!(nearest(word, known), meant, "{word}");
        }
        // Of one letter nothing is left when one is wrong.
        assert_eq!(nearest("c", ["a", "b"]), None);
    }
}
