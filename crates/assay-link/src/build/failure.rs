//! What went wrong while building, in the words that let the user repeat it.

use super::command::Finished;
use std::fmt;
use std::io;
use std::path::Path;

/// Bytes of a compiler's messages that are kept of the beginning and of the end.
const FIRST_BYTES: usize = 100_000;
const LAST_BYTES: usize = 20_000;

/// What was being done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// Reading the sources named by the experiment.
    Source,
    /// Compiling one source.
    Compile,
    /// Linking, or finding out how.
    Link,
    /// Reading or writing the cache.
    Cache,
}

/// A build that failed: one failed cell per variant, never the end of a campaign.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuildFailure {
    /// What was being done.
    pub stage: Stage,
    /// What failed, as "gcc-12 with flags O2 (-O2) cannot compile decode.c: exit status 1".
    pub what: String,
    /// The command as one can paste it into a shell; empty if none was started.
    pub command: String,
    /// Exit status; `None` if no command was started or a signal ended it.
    pub status: Option<i32>,
    /// What the command wrote to its standard error.
    pub stderr: String,
}

impl fmt::Display for BuildFailure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}", self.what)?;
        for line in self.stderr.lines() {
            write!(out, "\n    {line}")?;
        }
        if !self.command.is_empty() {
            write!(out, "\n  command: {}", self.command)?;
        }
        Ok(())
    }
}

impl std::error::Error for BuildFailure {}

impl BuildFailure {
    /// A failure before any command was started.
    pub(crate) fn plain(stage: Stage, what: String) -> Self {
        Self { stage, what, command: String::new(), status: None, stderr: String::new() }
    }

    /// A command that ended badly; `what` says who could not do what.
    pub(crate) fn of_command(stage: Stage, what: &str, command: String, finished: &Finished) -> Self {
        let stderr = excerpt(&finished.stderr);
        let full = finished.stderr.contains("No space left on device");
        let hint = if full {
            "; a disk is full: free some space, or keep artifacts elsewhere with --store DIR (compilers also write to TMPDIR)"
        } else {
            ""
        };
        let said = said_first(&finished.stderr).map(|said| format!(": {said}")).unwrap_or_default();
        let what = format!("{what}: {}{hint}{said}", finished.ending());
        Self { stage, what, command, status: finished.code, stderr }
    }

    /// A command that could not be started.
    pub(crate) fn not_started(stage: Stage, what: &str, command: String, error: &io::Error) -> Self {
        Self {
            stage,
            what: format!("{what}: it could not be started: {error}"),
            command,
            status: None,
            stderr: String::new(),
        }
    }

    /// The cache could not be read or written.
    pub(super) fn cache(root: &Path, doing: &str, error: &io::Error) -> Self {
        let remedy = match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                "; the disk is full; free some space, or keep artifacts elsewhere with --store DIR"
            }
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                "; --store DIR names another folder"
            }
            _ => "",
        };
        Self::plain(Stage::Cache, format!("the store {}: {doing}: {error}{remedy}", root.display()))
    }
}

/// What a compiler or linker complains of first: our header's own sentence where it is one, else its first error.
fn said_first(stderr: &str) -> Option<&str> {
    let errors = || stderr.lines().filter_map(|line| line.split_once("error: ")).map(|(_, said)| said.trim());
    let ours = errors().find_map(|said| said.find("assay: ").map(|at| &said[at + "assay: ".len()..]));
    ours.or_else(|| errors().next()).map(|said| said.trim_end_matches(['.', '"']))
}

/// The text; of one that fills books its beginning and its end, in whole lines.
fn excerpt(text: &str) -> String {
    if text.len() <= FIRST_BYTES + LAST_BYTES {
        return text.trim_end().to_owned();
    }
    let mut used = 0;
    let first = text.lines().take_while(|line| {
        used += line.len() + 1;
        used <= FIRST_BYTES
    });
    let first: Vec<&str> = first.collect();
    let mut used = 0;
    let last = text.lines().rev().take_while(|line| {
        used += line.len() + 1;
        used <= LAST_BYTES
    });
    let mut last: Vec<&str> = last.collect();
    last.reverse();
    let left_out = text.lines().count() - first.len() - last.len();
    [first.join("\n"), format!("[{left_out} lines left out]"), last.join("\n")].join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_stays_whole_unless_it_fills_books() {
        let text: String = (1..=1000).map(|number| format!("line {number}\n")).collect();
        assert_eq!(excerpt(&text), text.trim_end());
        let text: String = (1..=100_000).map(|number| format!("line {number}\n")).collect();
        let kept = excerpt(&text);
        assert!(kept.starts_with("line 1\nline 2\n") && kept.ends_with("\nline 100000"));
        let count = kept.lines().count() - 1;
        assert!(kept.contains(&format!("\n[{} lines left out]\n", 100_000 - count)));
        assert!(kept.len() <= FIRST_BYTES + LAST_BYTES + 40);
    }

    #[test]
    fn a_full_disk_is_called_so() {
        // 28 is ENOSPC on Linux.
        let failure = BuildFailure::cache(Path::new("store"), "writing", &io::Error::from_raw_os_error(28));
        assert!(failure.to_string().contains("the disk is full; free some space"), "{failure}");
        let stderr = "ld: final link failed: No space left on device".to_owned();
        let finished = Finished { code: Some(1), signal: None, stdout: String::new(), stderr };
        let failure = BuildFailure::of_command(Stage::Link, "gcc-12 cannot link", "gcc".into(), &finished);
        assert!(failure.to_string().contains("a disk is full"), "{failure}");
    }
}
