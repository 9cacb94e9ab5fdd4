//! Starting compilers and linkers: in a given folder, in the C locale, nothing on their standard input.

use super::text;
use assay_linux::tied::with_the_lab;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Stdio};

/// How a command ended and what it said.
#[derive(Clone, Debug)]
pub struct Finished {
    /// Exit status, unless a signal ended it.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

impl Finished {
    /// It exited with status 0.
    pub fn succeeded(&self) -> bool {
        self.code == Some(0)
    }

    /// How it ended, in words.
    pub fn ending(&self) -> String {
        match (self.code, self.signal) {
            (Some(code), _) => format!("exit status {code}"),
            (None, Some(9)) => "killed by signal 9, perhaps because memory ran out".into(),
            (None, Some(signal)) => format!("killed by signal {signal}"),
            (None, None) => "it ended in an unknown way".into(),
        }
    }

    /// All that was written, output first.
    pub fn everything(&self) -> String {
        format!("{}\n{}", self.stdout, self.stderr)
    }
}

/// Runs `words` in `folder` to the end.
///
/// Messages are asked for in English, because versions, search paths and scripts are read from them.
pub fn run(folder: &Path, words: &[String]) -> io::Result<Finished> {
    let (program, arguments) = words.split_first().ok_or(io::ErrorKind::InvalidInput)?;
    let output = with_the_lab(&mut Command::new(program))
        .args(arguments)
        .current_dir(folder)
        .env("LC_ALL", "C")
        .env_remove("LANGUAGE")
        .stdin(Stdio::null())
        .output()?;
    Ok(Finished {
        code: output.status.code(),
        signal: output.status.signal(),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    })
}

/// The command as one can paste it into a shell.
pub fn pasteable(folder: &Path, words: &[String]) -> String {
    format!("cd {} && {}", text::quote(&folder.to_string_lossy()), text::command_line(words))
}
