//! Why no figures could be read.

use super::adapter::library_names;
use std::fmt::{self, Write as _};

/// Lines of an output that an error shows.
const SHOWN_LINES: usize = 12;
/// Characters of a line that an error shows.
const SHOWN_WIDTH: usize = 100;

/// An output without figures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FigureError {
    /// Nothing of the format is there.
    Nothing {
        /// The adapter's name.
        adapter: &'static str,
        /// What was looked for, and where.
        expected: String,
        /// How the output begins; empty: nothing was printed.
        head: String,
    },
    /// It is of the format, but broken.
    Malformed {
        /// The adapter's name.
        adapter: &'static str,
        /// The file, or the stream.
        place: String,
        /// What was expected.
        expected: String,
        /// What was found instead.
        found: String,
    },
    /// Benchmarks there are, figures there are not.
    Failed {
        /// The adapter's name.
        adapter: &'static str,
        /// What each said.
        notes: Vec<String>,
    },
    /// No library is known whose output this is.
    Unrecognised {
        /// How the output begins.
        head: String,
    },
    /// The filter matches no name.
    FilteredOut {
        /// The filter.
        filter: String,
        /// The names there are.
        names: Vec<String>,
    },
}

impl FigureError {
    /// Nothing of the format in an output that begins as `text` does.
    pub(crate) fn nothing(adapter: &'static str, expected: &str, text: &str) -> FigureError {
        FigureError::Nothing { adapter, expected: expected.to_owned(), head: head(text) }
    }

    /// An output of no known library that begins as `text` does.
    pub fn unrecognised(text: &str) -> FigureError {
        FigureError::Unrecognised { head: head(text) }
    }

    /// Something of the format, broken.
    pub(crate) fn malformed(
        adapter: &'static str,
        place: &str,
        expected: &str,
        found: impl fmt::Display,
    ) -> FigureError {
        let found = cut(&found.to_string());
        FigureError::Malformed { adapter, place: place.to_owned(), expected: expected.to_owned(), found }
    }
}

/// The first lines of a text that say something, cut to a terminal's width, without control characters.
fn head(text: &str) -> String {
    let lines: Vec<String> =
        text.lines().filter(|line| !line.trim().is_empty()).take(SHOWN_LINES).map(cut).collect();
    lines.join("\n")
}

fn cut(line: &str) -> String {
    let printable = line.chars().map(|symbol| if symbol.is_control() { ' ' } else { symbol });
    let kept: String = printable.clone().take(SHOWN_WIDTH).collect();
    if printable.count() > SHOWN_WIDTH { format!("{kept}...") } else { kept }
}

/// What names and expressions bring along must not steer a terminal.
struct Printable<'a, 'b>(&'a mut fmt::Formatter<'b>);

impl fmt::Write for Printable<'_, '_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let steers = |symbol: char| symbol.is_control() && symbol != '\n';
        text.chars().try_for_each(|symbol| self.0.write_char(if steers(symbol) { ' ' } else { symbol }))
    }
}

impl fmt::Display for FigureError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(&mut Printable(f))
    }
}

impl FigureError {
    fn write(&self, f: &mut Printable<'_, '_>) -> fmt::Result {
        match self {
            FigureError::Nothing { adapter, expected, head } => {
                write!(f, "{adapter}: no figures found; expected {expected}. ")?;
                begins(f, head)
            }
            FigureError::Unrecognised { head } => {
                write!(
                    f,
                    "the output of the benchmark command is of no known library ({}). The time of the whole command was not \
                     used: a benchmark that times itself runs as long however slow its code is.\n  \
                     To read figures that it prints: --adapter 'regex:(?<name>\\w+):? +(?<value>[0-9.]+) *(?<unit>ns|us|ms|s)'\n  \
                     If each run does the same fixed work: --adapter wall, or --adapter cpu\n",
                    library_names()
                )?;
                begins(f, head)
            }
            FigureError::Malformed { adapter, place, expected, found } => {
                write!(f, "{adapter}: {place}: expected {expected}, found {found}")
            }
            FigureError::Failed { adapter, notes } => {
                write!(f, "{adapter}: no benchmark reported a figure")?;
                notes.iter().take(SHOWN_LINES).try_for_each(|note| write!(f, "\n  {note}"))?;
                match notes.len().saturating_sub(SHOWN_LINES) {
                    0 => Ok(()),
                    more => write!(f, "\n  and {more} more"),
                }
            }
            FigureError::FilteredOut { filter, names } => {
                write!(f, "no benchmark matches the filter `{filter}`; the benchmarks are: ")?;
                let shown: Vec<&str> = names.iter().take(SHOWN_LINES).map(String::as_str).collect();
                write!(f, "{}", shown.join(", "))?;
                match names.len().saturating_sub(SHOWN_LINES) {
                    0 => Ok(()),
                    more => write!(f, " and {more} more"),
                }
            }
        }
    }
}

/// The first lines of what was printed.
fn begins(f: &mut Printable<'_, '_>, head: &str) -> fmt::Result {
    if head.is_empty() {
        return write!(f, "The command printed nothing.");
    }
    write!(f, "The output begins:")?;
    head.lines().try_for_each(|line| write!(f, "\n  | {line}"))
}

impl std::error::Error for FigureError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_output_without_figures_is_shown_from_its_first_lines_on() {
        let text = format!("\n\nmake: Nothing to be done\n\x1b[31mred\n{}\n", "x".repeat(300));
        let shown = FigureError::nothing("divan", "a table", &text).to_string();
        let expected = format!(
            "The output begins:\n  | make: Nothing to be done\n  |  [31mred\n  | {}...",
            "x".repeat(100)
        );
        assert!(shown.ends_with(&expected), "{shown}");
        let many = FigureError::nothing("divan", "a table", &"line\n".repeat(50)).to_string();
        assert_eq!(many.matches("| line").count(), SHOWN_LINES);
        assert!(FigureError::nothing("divan", "a table", " \n").to_string().contains("printed nothing"));
    }

    #[test]
    fn names_do_not_steer_the_terminal() {
        let shown = FigureError::Failed { adapter: "divan", notes: vec!["a\u{1b}[2Jb".into()] }.to_string();
        assert_eq!(shown, "divan: no benchmark reported a figure\n  a [2Jb");
    }

    #[test]
    fn long_lists_are_cut_and_counted() {
        let names: Vec<String> = (0..15).map(|number| format!("b{number}")).collect();
        let shown = FigureError::FilteredOut { filter: "x".into(), names }.to_string();
        assert!(shown.ends_with("b11 and 3 more"), "{shown}");
    }
}
