//! What can go wrong while a build is captured or a link replayed, in words that name the remedy.

use crate::build::text;
use std::fmt;
use std::path::{Path, PathBuf};

/// Lines of a failed build's log that are shown.
const LAST_LINES: usize = 20;
const LINE_CHARS: usize = 300;

/// A build that gives nothing to replay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BuildError {
    /// The command failed.
    Failed {
        /// It.
        command: String,
        /// Where it ran.
        folder: PathBuf,
        /// Exit status; nothing if a signal ended it.
        code: Option<i32>,
        /// How it ended, in words.
        ended: String,
        /// The last lines that it wrote.
        tail: Vec<String>,
        /// All that it wrote.
        log: PathBuf,
    },
    /// It succeeded, and no link that is still there went through us.
    NothingCaptured {
        /// The command.
        command: String,
        /// All that it wrote.
        log: PathBuf,
        /// The folder that holds the capturing linkers.
        linkers: PathBuf,
        /// Links that were seen but could not be recorded, and why.
        missed: Vec<String>,
        /// Outputs of captured links that are gone.
        gone: Vec<PathBuf>,
    },
    /// The store cannot be written, or the command not started.
    Unable {
        /// What was being done.
        doing: String,
        /// Why it failed.
        why: String,
    },
}

impl fmt::Display for BuildError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failed { command, folder, ended, tail, log, .. } => {
                write!(out, "the build failed: {ended}\n  command: cd {} && {command}", folder.display())?;
                tail.iter().try_for_each(|line| write!(out, "\n    {line}"))?;
                write!(out, "\n  the whole log: {}", log.display())
            }
            Self::NothingCaptured { command, log, linkers, missed, gone } => {
                nothing_captured(out, command, log, linkers, missed, gone)
            }
            Self::Unable { doing, why } => write!(out, "{doing}: {why}"),
        }
    }
}

impl std::error::Error for BuildError {}

fn nothing_captured(
    out: &mut fmt::Formatter<'_>,
    command: &str,
    log: &Path,
    linkers: &Path,
    missed: &[String],
    gone: &[PathBuf],
) -> fmt::Result {
    writeln!(
        out,
        "`{command}` succeeded, but no link of it could be captured, so its binaries cannot be placed anew"
    )?;
    for why in missed {
        writeln!(out, "  a link was seen but not recorded: {why}")?;
    }
    for path in gone {
        writeln!(out, "  {} was linked, but is gone or not found again", path.display())?;
    }
    let linkers = text::quote(&linkers.to_string_lossy());
    write!(
        out,
        "  - is all up to date already? then nothing was linked: build in a fresh folder, or run `make clean` (ninja -t \
         clean, cargo clean) before\n  - does the build name its linker by path (-fuse-ld=/path, --ld-path, -B, LD=/path)? \
         name ours instead, as -B{linkers}, ahead of any other -B, or LD={linkers}/ld; inside the build \
         ASSAY_LINKERS is that folder\n  - does it only fetch or unpack a prebuilt binary, or build in a container? such \
         code cannot be placed; only the environment's size, the stack and ASLR can be varied\n  the whole log: {}",
        log.display()
    )
}

/// The last lines of a log.
pub fn last_lines(log: &str) -> Vec<String> {
    let lines: Vec<&str> = log.lines().collect();
    lines[lines.len().saturating_sub(LAST_LINES)..].iter().map(|line| text::clip(line, LINE_CHARS)).collect()
}

/// A link that cannot be replayed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReplayError {
    /// A file that the link read is not what it was, and was not kept.
    Changed {
        /// The file.
        file: PathBuf,
    },
    /// The link follows a script of its own, which fixes the places itself.
    OwnScript {
        /// The option that names it.
        option: String,
    },
    /// The linker cannot be asked, or its answer be used.
    Linker {
        /// The linker.
        linker: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// The linker failed.
    Failed {
        /// How it ended, in words.
        ended: String,
        /// The last lines that it wrote.
        tail: Vec<String>,
        /// The call, as one can paste it into a shell.
        command: String,
    },
    /// What it made cannot be read.
    Unreadable {
        /// The file.
        file: PathBuf,
        /// Why.
        why: String,
    },
    /// A file cannot be written.
    Unwritten {
        /// The file or folder.
        file: PathBuf,
        /// Why.
        why: String,
    },
}

impl fmt::Display for ReplayError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Changed { file } => write!(
                out,
                "{} was read by the link and has changed or vanished since; build again",
                file.display()
            ),
            Self::OwnScript { option } => write!(
                out,
                "the link cannot be placed: {option} names a linker script, which fixes the places itself; leave it out \
                 of the measured build, or vary only the environment"
            ),
            Self::Linker { linker, why } => write!(out, "{}: {why}", linker.display()),
            Self::Failed { ended, tail, command } => {
                write!(out, "the replayed link failed: {ended}")?;
                tail.iter().try_for_each(|line| write!(out, "\n    {line}"))?;
                write!(out, "\n  command: {command}")
            }
            Self::Unreadable { file, why } => write!(out, "{}: {why}", file.display()),
            Self::Unwritten { file, why } => write!(out, "cannot write {}: {why}", file.display()),
        }
    }
}

impl std::error::Error for ReplayError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_build_shows_its_last_lines_and_where_all_of_them_are() {
        let log: String = (1..=30).map(|number| format!("line {number}\n")).collect();
        let error = BuildError::Failed {
            command: "make".into(),
            folder: "/src".into(),
            code: Some(2),
            ended: "exit status 2".into(),
            tail: last_lines(&log),
            log: "/store/log".into(),
        };
        let text = error.to_string();
        assert!(
            text.starts_with("the build failed: exit status 2\n  command: cd /src && make\n    line 11\n"),
            "{text}"
        );
        assert!(text.ends_with("    line 30\n  the whole log: /store/log"), "{text}");
    }

    #[test]
    fn a_build_without_links_names_the_remedies() {
        let error = BuildError::NothingCaptured {
            command: "make".into(),
            log: "/store/log".into(),
            linkers: "/store/linkers".into(),
            missed: vec!["the disk is full".into()],
            gone: Vec::new(),
        };
        let text = error.to_string();
        for remedy in
            ["`make clean`", "-B/store/linkers", "LD=/store/linkers/ld", "prebuilt", "the disk is full"]
        {
            assert!(text.contains(remedy), "{remedy}: {text}");
        }
    }
}
