//! One counted execution: the command by itself, its events by the kernel.

use assay_lab::lead::Misuse;
use assay_linux::perf::{self, CommandEnding, CounterEvent, CounterReading, CounterRefusal};
use std::ffi::OsString;
use std::io;
use std::process::Command;
use std::time::Duration;

/// An event with what was read of it.
pub type EventReading = (CounterEvent, Result<CounterReading, CounterRefusal>);

/// A command that was counted once.
#[derive(Clone, Debug)]
pub struct CountedRun {
    /// What each event read, in order.
    pub events: Vec<EventReading>,
    /// How it ended.
    pub ending: CommandEnding,
}

/// Runs the command once, its standard streams those of the lab.
///
/// # Errors
/// It cannot be started: [`Misuse`]. A counter cannot be read.
pub fn execute(
    words: &[OsString],
    groups: &[Vec<CounterEvent>],
    follow: bool,
    limit: Option<Duration>,
) -> anyhow::Result<CountedRun> {
    let (program, arguments) = words.split_first().ok_or_else(|| Misuse("no command".to_owned()))?;
    let mut command = Command::new(program);
    command.args(arguments);
    let (mut child, counters) =
        perf::spawn(command, groups, follow).map_err(|error| cannot_start(program, &error))?;
    let ending = CommandEnding::wait(&mut child, limit)?;
    Ok(CountedRun { events: counters.read()?, ending })
}

fn cannot_start(program: &OsString, error: &io::Error) -> anyhow::Error {
    let shown = program.to_string_lossy();
    let why = match error.kind() {
        io::ErrorKind::NotFound => {
            "the program, or the interpreter that its first line or header names, does not exist".to_owned()
        }
        _ if error.raw_os_error() == Some(8) => {
            "the kernel does not know its format; a script needs a first line such as #!/bin/sh".to_owned()
        }
        _ => error.to_string(),
    };
    Misuse(format!("cannot run {shown}: {why}")).into()
}
