//! What a measured program did wrong, said so that its author knows where to look.

use assay_pure::experiment::diagnostic::nearest;
pub use assay_pure::ledger::Stage;
use std::fmt;

/// A fault of a measured program: the cell fails, the campaign goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramFault {
    /// When.
    pub stage: Stage,
    /// What, as the rest of a sentence that begins with "the program".
    pub what: String,
    /// The beginning of what it printed on its standard output and error.
    pub output: String,
    /// Whether the program does it without the lab too: it died, hung, or answers otherwise than another variant.
    pub shows_alone: bool,
    /// It registers other variants than the one that it was started for.
    pub is_unregistered: bool,
}

impl ProgramFault {
    /// The program lacks a variant; it has these.
    pub fn unregistered(wanted: &str, registered: &[&str]) -> ProgramFault {
        let meant =
            nearest(wanted, registered.iter().copied()).map(|near| format!("; did you mean `{near}`?"));
        let what = format!(
            "does not register a variant `{wanted}`{} (it registers: {}; the file must name what the program declares)",
            meant.unwrap_or_default(),
            registered.join(", ")
        );
        ProgramFault { is_unregistered: true, ..ProgramFault::of_lab(Stage::Start, what) }
    }

    /// One that the lab alone sees.
    pub fn of_lab(stage: Stage, what: String) -> ProgramFault {
        ProgramFault { stage, what, output: String::new(), shows_alone: false, is_unregistered: false }
    }
}

impl fmt::Display for ProgramFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the program {} {}", self.what, doing(self.stage))?;
        let said: Vec<&str> = self.output.lines().filter(|line| !line.trim().is_empty()).take(3).collect();
        if !said.is_empty() {
            write!(f, "; it printed: {}", printable(&said.join(" / ")))?;
        }
        Ok(())
    }
}

impl std::error::Error for ProgramFault {}

/// When it was, as the end of a sentence.
fn doing(stage: Stage) -> &'static str {
    match stage {
        Stage::Compile | Stage::Link | Stage::Skipped => "before it ran",
        Stage::Start => "at its start",
        Stage::Load => "while loading an input",
        Stage::Answer => "while answering (each variant answers each input before it is timed)",
        Stage::Agree => "when its answers were compared, before any timing",
        Stage::Measure => "while measuring",
        Stage::Count => "while its events were counted",
        Stage::End => "at its end",
    }
}

/// A program's output can hold anything: control characters must not reach the terminal, nor pages of text.
fn printable(text: &str) -> String {
    const KEPT: usize = 160;
    let mut shown: String =
        text.chars().take(KEPT).map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect();
    if text.chars().count() > KEPT {
        shown.push_str("...");
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_what_happened_when_and_what_was_printed() {
        let fault = ProgramFault {
            stage: Stage::Measure,
            what: "was ended by signal 11".into(),
            output: "\n\u{1b}[31massertion failed\nmore\n".into(),
            shows_alone: true,
            is_unregistered: false,
        };
        assert_eq!(
            fault.to_string(),
            "the program was ended by signal 11 while measuring; it printed: \u{fffd}[31massertion failed / more"
        );
    }

    #[test]
    fn cuts_a_page_of_output() {
        let fault =
            ProgramFault { output: "x".repeat(10_000), ..ProgramFault::of_lab(Stage::Start, "hung".into()) };
        assert!(fault.to_string().len() < 300);
    }
}
