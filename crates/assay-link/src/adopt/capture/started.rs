//! Which programs does a command of cargo's start, and how?
//!
//! The command is executed, and the stand-in for its runner ([`super::runner`]) writes each program down instead of becoming it.
//! Whoever wants to execute one under something else, as an emulator, need not execute cargo there.
//! Limits: nothing is written down where the user has a runner of their own.

use assay_linux::tied::with_the_lab;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Names the file in which a program is written down instead of being started.
pub(super) const LIST_VARIABLE: &str = "ASSAY_STARTED_PROGRAMS";

/// A program as it would be started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StartedProgram {
    /// Itself and its arguments.
    pub words: Vec<OsString>,
    /// All of it, each as `NAME=VALUE`.
    pub environment: Vec<OsString>,
    /// Where.
    pub folder: PathBuf,
}

/// The programs in the order in which a command for `sh -c` starts them; empty where it fails, or starts none through us.
///
/// Input: `list`, a file that is overwritten.
pub fn started(
    command: &str,
    folder: &Path,
    environment: &[(String, String)],
    list: &Path,
) -> Vec<StartedProgram> {
    let read = || -> io::Result<Vec<StartedProgram>> {
        File::create(list)?;
        let ran = with_the_lab(&mut Command::new("sh"))
            .args(["-c", command])
            .current_dir(folder)
            .envs(environment.iter().map(|(name, value)| (name, value)))
            .env(LIST_VARIABLE, list)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()?;
        if !ran.success() {
            return Ok(Vec::new());
        }
        let text = std::fs::read_to_string(list)?;
        text.lines().map(|line| serde_json::from_str(line).map_err(io::Error::from)).collect()
    };
    read().unwrap_or_default()
}

/// Writes down a program and its arguments.
pub(super) fn write_down(words: &[OsString], list: &Path) -> io::Result<()> {
    let environment =
        std::env::vars_os().filter(|(name, _)| name != LIST_VARIABLE).map(|(mut both, value)| {
            both.push("=");
            both.push(value);
            both
        });
    let program = StartedProgram {
        words: words.to_vec(),
        environment: environment.collect(),
        folder: std::env::current_dir()?,
    };
    let mut line = serde_json::to_vec(&program)?;
    line.push(b'\n');
    File::options().append(true).open(list)?.write_all(&line)
}
