//! `assay inputs record`: what a pipe carries, kept as a file that an experiment can read.
//!
//! The command runs as it would without us, and sees a pipe where it would see one. What it prints, or with `--stdin` what it
//! is given, goes on its way and to the file. Whatever ends the recording, the file has what was carried so far.

use crate::cli::help::OUTPUT;
use crate::cli::{DONE, FAILED, reads, screen};
use anyhow::{Context as _, Result, bail};
use assay_lab::lead::Misuse;
use assay_linux::output::Output;
use assay_linux::{interrupt, tied, wait};
use assay_pure::inputs::{Format, digest, guess};
use assay_pure::words::plural;
use assay_report::prose;
use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

/// Record what a command prints, or what it is given, as an input
#[derive(clap::Args, Clone, Debug)]
#[command(after_help = include_str!("../help/record_input.txt"))]
pub struct InputRecordArguments {
    /// File to write
    #[arg(short, long, value_name = "FILE", help_heading = OUTPUT)]
    output: PathBuf,
    /// Keep what the command reads from its standard input instead of what it prints
    #[arg(long)]
    stdin: bool,
    /// Stop after so many bytes and end the command, or with --stdin give it no more
    #[arg(long, value_name = "BYTES", default_value_t = 1 << 30, value_parser = clap::value_parser!(u64).range(1..))]
    limit: u64,
    /// Do not pass on what the command prints
    #[arg(long, short, help_heading = OUTPUT)]
    quiet: bool,
    /// The command
    #[arg(required = true, last = true, value_name = "CMD")]
    command: Vec<OsString>,
}

/// Runs the verb: the exit code is 1 if the command failed.
///
/// # Errors
/// The command cannot be started, or the file cannot be written.
pub(super) fn run(arguments: &InputRecordArguments) -> Result<u8> {
    screen::find_place(&arguments.output, &reads::of_command(&arguments.command))?;
    interrupt::catch();
    let mut kept = LimitedFile { file: Output::create(&arguments.output)?, left: arguments.limit, size: 0 };
    let (ended, status) =
        if arguments.stdin { feed(arguments, &mut kept) } else { listen(arguments, &mut kept) }?;
    let is_interrupted = matches!(ended, Ended::Interrupted);
    let is_lost = matches!(&ended, Ended::NotPassedOn(error) if error.kind() != io::ErrorKind::BrokenPipe);
    let LimitedFile { file, size, .. } = kept;
    if size == 0 && is_interrupted {
        bail!("interrupted before `{}` produced anything, so nothing was kept", shown(arguments));
    }
    if size == 0 {
        let what = if arguments.stdin { "was given nothing" } else { "printed nothing" };
        let other = if arguments.stdin { "" } else { ". To keep what it reads, use --stdin" };
        return Err(Misuse(format!("`{}` {what}, so nothing was kept{other}", shown(arguments))).into());
    }
    let context = || format!("cannot write {}", arguments.output.display());
    file.sync().and_then(|()| file.finish()).with_context(context)?;
    if let Some(sentence) = ended.sentence(arguments) {
        screen::tell(&sentence);
    }
    let bytes = super::read(&arguments.output)?;
    screen::show_beside(&prose::clean(&summary(&arguments.output, &bytes)));
    // Of a command that was ended the status is our own doing.
    if is_interrupted || (!arguments.stdin && !matches!(ended, Ended::ByItself)) {
        return Ok(if is_interrupted || is_lost { FAILED } else { DONE });
    }
    if !status.success() {
        screen::tell(&format!("the command failed: {status}"));
        return Ok(FAILED);
    }
    Ok(DONE)
}

fn shown(arguments: &InputRecordArguments) -> String {
    arguments.command.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

/// What was kept, and the lines that make it an input.
fn summary(file: &Path, bytes: &[u8]) -> String {
    let guess = guess(bytes, &file.to_string_lossy());
    let word = guess.format.word();
    let units = guess.format.count(bytes).unwrap_or_default();
    let name: String = file.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let name: String = name
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || c == '_' || c == '-' { c } else { '-' })
        .collect();
    let name = if name.is_empty() { "recorded".to_owned() } else { name };
    let mut text = format!(
        "wrote {} ({}, sha256 {})\n",
        file.display(),
        plural(bytes.len() as u64, "byte"),
        digest::short_digest(&digest::digest(bytes))
    );
    if guess.format != Format::Bytes {
        text.push_str(&format!("{} as {word}, guessed from {}\n", plural(units, "unit"), guess.from));
    }
    match file.to_str() {
        Some(path) => {
            text.push_str(&format!("\n[inputs.{name}]\npath = {}\nformat = \"{word}\"\n", in_toml(path)));
        }
        None => text.push_str("\nIts name is not UTF-8, so no experiment can name it: rename it.\n"),
    }
    text
}

/// A text as TOML writes it, on one line whatever is in it.
fn in_toml(text: &str) -> String {
    let mut written = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => written.extend(['\\', c]),
            c if *prose::clean(c.encode_utf8(&mut [0; 4])) != c.to_string() || matches!(c, '\n' | '\t') => {
                written.push_str(&format!("\\u{:04X}", u32::from(c)));
            }
            c => written.push(c),
        }
    }
    written + "\""
}

/// The file, and how much it still takes.
struct LimitedFile {
    file: Output,
    left: u64,
    size: u64,
}

/// Why a recording ended.
enum Ended {
    /// The command, or what it was given, came to its end.
    ByItself,
    /// The file has all that --limit allows, and there was more.
    Full,
    /// Who was to get it takes no more, as `head` does.
    NotPassedOn(io::Error),
    /// Somebody asked to stop.
    Interrupted,
}

impl Ended {
    /// What is told of it, if it needs a word.
    fn sentence(&self, arguments: &InputRecordArguments) -> Option<String> {
        let reader =
            if arguments.stdin { "the command stopped reading" } else { "standard output was closed" };
        match self {
            Ended::ByItself => None,
            Ended::Full => {
                let ended = if arguments.stdin {
                    "and the command got no more input"
                } else {
                    "and the command was ended"
                };
                Some(format!("--limit {} was reached, {ended}", arguments.limit))
            }
            Ended::NotPassedOn(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                Some(format!("{reader}, so the recording ended"))
            }
            Ended::NotPassedOn(error) => {
                Some(format!("its data cannot be passed on ({error}), so the recording ended"))
            }
            Ended::Interrupted => Some("interrupted: everything captured until then is kept".to_owned()),
        }
    }
}

/// How often somebody who asks to stop is noticed.
const LOOK: Duration = Duration::from_millis(50);
/// How long a command may then still print: it was asked as well where a terminal did it. Before the lab kills it.
const LAST_WORDS: Duration = Duration::from_millis(800);
/// How long a command may live on that nobody listens to: the next it prints ends most.
const UNHEARD: Duration = Duration::from_secs(1);

/// From one end to the other until either ends, the file is full, or somebody asks to stop. A thread reads, as a read cannot
/// be given up.
fn pass(
    mut from: impl Read + Send + 'static,
    mut to: Option<impl Write>,
    kept: &mut LimitedFile,
) -> io::Result<Ended> {
    let (sender, chunks) = mpsc::sync_channel::<io::Result<Vec<u8>>>(1);
    std::thread::spawn(move || {
        let mut buffer = vec![0; 1 << 16];
        loop {
            let chunk = match from.read(&mut buffer) {
                Ok(0) => return,
                Ok(count) => Ok(buffer[..count].to_vec()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => Err(error),
            };
            let is_last = chunk.is_err();
            if sender.send(chunk).is_err() || is_last {
                return;
            }
        }
    });
    let mut until = None;
    loop {
        if interrupt::asked() && Instant::now() >= *until.get_or_insert_with(|| Instant::now() + LAST_WORDS) {
            return Ok(Ended::Interrupted);
        }
        let chunk = match chunks.recv_timeout(LOOK) {
            Ok(chunk) => chunk?,
            Err(RecvTimeoutError::Timeout) => continue,
            Err(RecvTimeoutError::Disconnected) if interrupt::asked() => return Ok(Ended::Interrupted),
            Err(RecvTimeoutError::Disconnected) => return Ok(Ended::ByItself),
        };
        let some = &chunk[..chunk.len().min(usize::try_from(kept.left).unwrap_or(usize::MAX))];
        kept.file.write_all(some)?;
        kept.left -= some.len() as u64;
        kept.size += some.len() as u64;
        if let Some(open) = &mut to
            && let Err(error) = open.write_all(some).and_then(|()| open.flush())
        {
            return Ok(Ended::NotPassedOn(error));
        }
        if some.len() < chunk.len() {
            return Ok(Ended::Full);
        }
    }
}

fn start(arguments: &InputRecordArguments, command: &mut Command) -> Result<Child> {
    tied::with_the_lab(command).spawn().map_err(|error| {
        Misuse(format!("cannot start `{}`: {error}", arguments.command[0].to_string_lossy())).into()
    })
}

fn listen(arguments: &InputRecordArguments, kept: &mut LimitedFile) -> Result<(Ended, ExitStatus)> {
    let mut command = Command::new(&arguments.command[0]);
    let mut child = start(arguments, command.args(&arguments.command[1..]).stdout(Stdio::piped()))?;
    let from = child.stdout.take().expect("it is a pipe");
    let to = (!arguments.quiet).then(io::stdout);
    let passed = pass(from, to, kept);
    // A command that closed its output lives on until it ends; one that we no longer listen to does not.
    let limit = (!matches!(passed, Ok(Ended::ByItself))).then_some(UNHEARD);
    let (status, _) = wait::wait_or_kill(&mut child, limit)?;
    Ok((passed.context("cannot keep what the command prints")?, status))
}

fn feed(arguments: &InputRecordArguments, kept: &mut LimitedFile) -> Result<(Ended, ExitStatus)> {
    let mut command = Command::new(&arguments.command[0]);
    let stdout = if arguments.quiet { Stdio::null() } else { Stdio::inherit() };
    let mut child =
        start(arguments, command.args(&arguments.command[1..]).stdin(Stdio::piped()).stdout(stdout))?;
    let to = child.stdin.take();
    // That its input ends is what a command waits for, so it goes with the passing.
    let passed = pass(io::stdin(), to, kept);
    let (status, _) = wait::wait_or_kill(&mut child, None)?;
    Ok((passed.context("cannot keep what the command is given")?, status))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::ffi::OsStrExt as _;

    #[test]
    fn the_lines_of_an_experiment_name_the_file_whatever_is_in_its_name() {
        for name in ["a b.bin", "new\nline", "quo\"te\\", "\u{1b}[31m\u{9b}\u{202e}x"] {
            let text = summary(Path::new(name), b"abc");
            let lines = &text[text.find("[inputs").expect("an input")..];
            assert!(!lines.contains(|c: char| c.is_control() && c != '\n'), "{lines:?}");
            let experiment = format!("[program]\n{lines}");
            let spans = assay_pure::experiment::Experiment::from_toml(&experiment, "e.toml");
            let told = spans.expect_err("there are no variants");
            assert!(!told.iter().any(|problem| problem.message.contains("invalid TOML")), "{told:?}");
        }
        let name = std::ffi::OsStr::from_bytes(b"no\xfftext");
        assert!(summary(Path::new(name), b"abc").ends_with("rename it.\n"));
    }
}
