//! What was wrong with a line, with the line itself, made fit to print.

use std::fmt;

/// How much of an offending line is kept, in characters before escaping.
const KEPT_CHARACTERS: usize = 200;

/// A line that is not a message of this protocol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProtocolError {
    /// The line, cut to 200 characters, control characters escaped.
    pub line: String,
    /// What is wrong with it.
    pub problem: Problem,
}

/// What is wrong with a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    /// The program speaks another version.
    Version {
        /// The version of this lab.
        ours: u32,
        /// What the program said, as text, because it may not be a number.
        theirs: String,
    },
    /// The first word is not a message.
    UnknownMessage,
    /// The line is longer than [`super::MAX_LINE`].
    TooLong {
        /// Its bytes.
        bytes: usize,
    },
    /// A part between two spaces is not `key=value`.
    NotAField {
        /// The part, escaped.
        part: String,
    },
    /// A field that the message needs is absent.
    Missing {
        /// Its key.
        field: &'static str,
    },
    /// A field stands twice.
    Repeated {
        /// Its key.
        field: String,
    },
    /// A field's value is not of its kind.
    Value {
        /// Its key.
        field: &'static str,
        /// The value found, escaped.
        value: String,
        /// What was expected.
        expected: &'static str,
    },
    /// A `load` is followed by another number of `window` lines than it announced.
    Windows {
        /// Announced.
        announced: u64,
        /// Found.
        found: u64,
    },
}

impl ProtocolError {
    /// The error for `line`, which is cut and escaped here.
    #[must_use]
    pub fn new(line: &str, problem: Problem) -> Self {
        Self { line: printable(line), problem }
    }
}

/// At most 200 characters of `text` with control characters, quotes and backslashes escaped.
pub(super) fn printable(text: &str) -> String {
    let mut shown: String = text.chars().take(KEPT_CHARACTERS).flat_map(char::escape_debug).collect();
    if text.chars().nth(KEPT_CHARACTERS).is_some() {
        shown.push_str("...");
    }
    shown
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Version { ours, theirs } => write!(
                f,
                "the program speaks version {theirs} of the protocol, this assay speaks version {ours}: rebuild the program with this assay's harness"
            ),
            Self::UnknownMessage => {
                write!(f, "not a message of the protocol (does the program print on the channel?)")
            }
            Self::TooLong { bytes } => {
                write!(f, "the line has {bytes} bytes, at most {} are allowed", super::MAX_LINE)
            }
            Self::NotAField { part } => write!(f, "\"{part}\" is not key=value"),
            Self::Missing { field } => write!(f, "the field {field}= is missing"),
            Self::Repeated { field } => write!(f, "the field {field}= appears twice"),
            Self::Value { field, value, expected } => write!(f, "{field}=\"{value}\" is not {expected}"),
            Self::Windows { announced, found } => {
                write!(f, "{announced} windows were announced and {found} found")
            }
        }
    }
}

impl fmt::Display for ProtocolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; the line was \"{}\"", self.problem, self.line)
    }
}

impl std::error::Error for ProtocolError {}
