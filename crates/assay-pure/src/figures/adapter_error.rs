//! Why an adapter's name names none.

use std::fmt;

/// What `--adapter` was given that is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AdapterError {
    /// No such name.
    Unknown {
        /// What was given.
        given: String,
        /// The names that there are.
        known: String,
    },
    /// Not a regular expression, or one without the group that it needs.
    Pattern {
        /// What is wrong with it.
        problem: String,
    },
}

impl fmt::Display for AdapterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AdapterError::Unknown { given, known } => write!(
                f,
                "there is no adapter `{given}`; the adapters are {known}, wall, cpu, and regex:EXPRESSION with groups \
                 (?<value>), (?<name>), (?<unit>), or one by the name of each figure"
            ),
            AdapterError::Pattern { problem } => f.write_str(problem),
        }
    }
}

impl std::error::Error for AdapterError {}
