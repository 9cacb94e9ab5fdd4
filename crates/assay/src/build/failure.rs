//! A build that failed, said so that it can be repeated by hand.

use std::fmt;

/// Lines of the compiler's complaint that are shown.
const SHOWN_LINES: usize = 8;

/// What failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuildFailure {
    /// compile or link.
    pub stage: &'static str,
    /// Compiler name and what it was working on.
    pub subject: String,
    /// The command as one can paste it, with the folder to run it in; empty where none was run.
    pub command: String,
    /// How it ended.
    pub ended: String,
    /// What it said.
    pub complaint: String,
}

impl fmt::Display for BuildFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} failed to {}: {}", self.subject, self.stage, self.ended)?;
        let lines: Vec<&str> = self.complaint.lines().filter(|line| !line.trim().is_empty()).collect();
        for line in lines.iter().take(SHOWN_LINES) {
            write!(f, "\n    {line}")?;
        }
        if lines.len() > SHOWN_LINES {
            write!(f, "\n    ... {} more lines", lines.len() - SHOWN_LINES)?;
        }
        if !self.command.is_empty() {
            write!(f, "\n  by hand: {}", self.command)?;
        }
        Ok(())
    }
}

impl std::error::Error for BuildFailure {}

impl BuildFailure {
    /// A failure of the store, not of a compiler.
    pub fn store(stage: &'static str, subject: &str, error: &std::io::Error) -> Self {
        let full = error.kind() == std::io::ErrorKind::StorageFull;
        let ended = if full {
            "the disk is full; free some space, or keep artifacts elsewhere with --store DIR".to_owned()
        } else {
            format!("the store of artifacts cannot be used: {error}")
        };
        Self { stage, subject: subject.to_owned(), command: String::new(), ended, complaint: String::new() }
    }
}
