//! Why an execution of a benchmark command gave no figures.

use assay_linux::command::{CommandResult, Killed};
use assay_pure::figures::FigureError;
use std::fmt;
use std::os::unix::process::ExitStatusExt;
use std::time::Duration;

/// Lines of the end of an output that an error shows.
const SHOWN_LINES: usize = 12;

/// An execution without figures.
#[derive(Debug)]
pub enum VisitError {
    /// It could not be started; the text names what is missing.
    Start(std::io::Error),
    /// The filter is no regular expression; the text says why.
    Filter(String),
    /// It was still running at the limit and was killed.
    TooLong {
        /// The limit.
        limit: Duration,
        /// What it printed last.
        tail: String,
    },
    /// Somebody interrupted the lab; the command was ended.
    Interrupted,
    /// It failed.
    Failed {
        /// Its exit code, where it has one.
        code: Option<i32>,
        /// The signal that ended it, where one did.
        signal: Option<i32>,
        /// What it printed last.
        tail: String,
    },
    /// It ended well, and what it said cannot be read.
    Unread(FigureError),
}

impl From<FigureError> for VisitError {
    fn from(error: FigureError) -> VisitError {
        VisitError::Unread(error)
    }
}

impl fmt::Display for VisitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            VisitError::Start(error) => write!(f, "the benchmark command could not be started: {error}"),
            VisitError::Filter(problem) => write!(f, "the filter is not a regular expression: {problem}"),
            VisitError::TooLong { limit, tail } => {
                let seconds = limit.as_secs_f64();
                write!(f, "the benchmark command was still running after {seconds} s and was killed")?;
                end(f, tail)
            }
            VisitError::Interrupted => f.write_str("the benchmark command was interrupted"),
            VisitError::Failed { code, signal, tail } => {
                match (code, signal) {
                    (Some(code), _) => write!(f, "the benchmark command ended with exit code {code}")?,
                    (_, Some(signal)) => write!(f, "the benchmark command was ended by signal {signal}")?,
                    _ => write!(f, "the benchmark command failed")?,
                }
                if let Some(remedy) = remedy(tail) {
                    write!(f, ". {remedy}")?;
                }
                end(f, tail)
            }
            VisitError::Unread(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for VisitError {}

/// What to write instead, where what was printed tells it.
fn remedy(tail: &str) -> Option<&'static str> {
    // libtest, of an option of criterion's or divan's: `cargo bench` hands it to the library's own tests too.
    tail.contains("Unrecognized option: ").then_some(
        "The test harness of the library does not know the options behind `--`: start the benchmarks alone, with \
         cargo bench --bench '*' -- OPTIONS",
    )
}

fn end(f: &mut fmt::Formatter<'_>, tail: &str) -> fmt::Result {
    if tail.is_empty() {
        return f.write_str("; it printed nothing");
    }
    f.write_str("; its last output:")?;
    tail.lines().try_for_each(|line| write!(f, "\n  | {line}"))
}

/// Whether an execution ended well.
pub(super) fn judge(ran: &CommandResult, limit: Option<Duration>) -> Result<(), VisitError> {
    match ran.killed {
        Some(Killed::Interrupted) => Err(VisitError::Interrupted),
        Some(Killed::Limit) => {
            Err(VisitError::TooLong { limit: limit.unwrap_or(ran.elapsed), tail: tail(ran) })
        }
        None if ran.status.success() => Ok(()),
        None => {
            Err(VisitError::Failed { code: ran.status.code(), signal: ran.status.signal(), tail: tail(ran) })
        }
    }
}

/// The last lines of standard error, or of standard output where that is empty.
fn tail(ran: &CommandResult) -> String {
    let said = if ran.stderr.bytes.is_empty() { &ran.stdout.bytes } else { &ran.stderr.bytes };
    let text = String::from_utf8_lossy(said);
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let printable = |line: &&str| -> String {
        line.chars().map(|symbol| if symbol.is_control() { ' ' } else { symbol }).take(200).collect()
    };
    let shown: Vec<String> = lines[lines.len().saturating_sub(SHOWN_LINES)..].iter().map(printable).collect();
    shown.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_that_the_harness_of_a_library_refuses_are_told_with_what_to_write() {
        let tail =
            "error: Unrecognized option: 'warm-up-time'\nerror: bench failed, to rerun pass `--lib`".into();
        let failed = VisitError::Failed { code: Some(101), signal: None, tail };
        let text = failed.to_string();
        assert!(text.contains("cargo bench --bench '*' -- OPTIONS"), "{text}");
        let other = VisitError::Failed { code: Some(1), signal: None, tail: "no such file".into() };
        assert!(!other.to_string().contains("cargo"));
    }
}
