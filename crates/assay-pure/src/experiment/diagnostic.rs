//! A complaint about an experiment file that tells where it is and what would be right.

/// One problem of an experiment file. `Display` prints file:line:column, the line with a caret, what was expected,
/// the nearest known key and an example.
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
    /// The text of the line, for the caret.
    pub source_line: String,
    /// Length of the marked text in characters.
    pub length: usize,
    /// The nearest known key or value.
    pub nearest: Option<String>,
    /// What to write instead.
    pub example: Option<String>,
}
