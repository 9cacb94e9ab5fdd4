//! What a program that is run alone was asked for.

/// What the command line asks for.
#[derive(Debug, PartialEq)]
pub(crate) struct HarnessOptions {
    pub(crate) input: Option<String>,
    pub(crate) pattern: Option<String>,
    pub(crate) units: Option<u64>,
    pub(crate) seconds: f64,
    pub(crate) list: bool,
    pub(crate) json: bool,
    pub(crate) help: bool,
}
