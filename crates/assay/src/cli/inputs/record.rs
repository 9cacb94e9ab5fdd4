//! `assay inputs record`: what a pipe carries, kept as a file that an experiment can read.
//!
//! The command runs as it would without us, and sees a pipe where it would see one. What it prints, or with `--stdin` what it
//! is given, goes on its way and to the file.

use crate::cli::help::OUTPUT;
use crate::cli::{DONE, FAILED, screen};
use anyhow::{Context as _, Result};
use assay_lab::lead::Misuse;
use assay_linux::output::Output;
use assay_pure::inputs::{Format, digest, guess};
use assay_pure::words::{self, plural};
use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

/// Record what a command prints, or what it is given, as an input
#[derive(clap::Args, Clone, Debug)]
#[command(after_help = include_str!("../help/record_input.txt"))]
pub struct RecordArguments {
    /// File to write
    #[arg(short, long, value_name = "FILE", help_heading = OUTPUT)]
    output: PathBuf,
    /// Keep what the command reads from its standard input instead of what it prints
    #[arg(long)]
    stdin: bool,
    /// Stop after so many bytes; what follows goes on its way but is not kept
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
pub(super) fn run(arguments: &RecordArguments) -> Result<u8> {
    screen::find_place(&arguments.output)?;
    let mut kept = Kept { file: Output::create(&arguments.output)?, left: arguments.limit, size: 0, lost: 0 };
    let status = if arguments.stdin { feed(arguments, &mut kept) } else { listen(arguments, &mut kept) }?;
    let Kept { file, size, lost, .. } = kept;
    if size == 0 {
        let what = if arguments.stdin { "was given nothing" } else { "printed nothing" };
        let other = if arguments.stdin { "" } else { ". With --stdin what it reads is kept" };
        return Err(Misuse(format!("`{}` {what}, so nothing was kept{other}", shown(arguments))).into());
    }
    let context = || format!("cannot write {}", arguments.output.display());
    file.sync().and_then(|()| file.finish()).with_context(context)?;
    let bytes = super::read(&arguments.output)?;
    screen::tell(summary(&arguments.output, &bytes, lost).trim_end());
    if !status.success() {
        screen::tell(&format!("the command failed: {status}"));
        return Ok(FAILED);
    }
    Ok(DONE)
}

fn shown(arguments: &RecordArguments) -> String {
    arguments.command.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

/// What was kept, and the lines that make it an input.
fn summary(file: &Path, bytes: &[u8], lost: u64) -> String {
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
    if lost > 0 {
        text.push_str(&format!("{} more were not kept: --limit allows more\n", words::bytes(lost)));
    }
    if guess.format != Format::Bytes {
        text.push_str(&format!("{} as {word}, guessed from {}\n", plural(units, "unit"), guess.from));
    }
    let path = file.to_string_lossy().replace('\\', "\\\\").replace('"', "\\\"");
    text.push_str(&format!("\n[inputs.{name}]\npath = \"{path}\"\nformat = \"{word}\"\n"));
    text
}

/// The file, and what did not fit.
struct Kept {
    file: Output,
    left: u64,
    size: u64,
    lost: u64,
}

impl Kept {
    fn keep(&mut self, bytes: &[u8]) -> io::Result<()> {
        let some = bytes.len().min(usize::try_from(self.left).unwrap_or(usize::MAX));
        self.file.write_all(&bytes[..some])?;
        self.left -= some as u64;
        self.size += some as u64;
        self.lost += (bytes.len() - some) as u64;
        Ok(())
    }
}

/// From one end to the other until the first ends. A reader that has gone is no error: `head` ends early.
fn pass(from: &mut impl Read, mut to: Option<impl Write>, kept: &mut Kept) -> io::Result<()> {
    let mut buffer = vec![0; 1 << 16];
    loop {
        let count = match from.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        if let Some(open) = &mut to
            && open.write_all(&buffer[..count]).and_then(|()| open.flush()).is_err()
        {
            to = None;
        }
        kept.keep(&buffer[..count])?;
    }
}

fn start(arguments: &RecordArguments, command: &mut Command) -> Result<std::process::Child> {
    command.spawn().map_err(|error| {
        Misuse(format!("cannot start `{}`: {error}", arguments.command[0].to_string_lossy())).into()
    })
}

fn listen(arguments: &RecordArguments, kept: &mut Kept) -> Result<ExitStatus> {
    let mut command = Command::new(&arguments.command[0]);
    let mut child = start(arguments, command.args(&arguments.command[1..]).stdout(Stdio::piped()))?;
    let mut from = child.stdout.take().expect("it is a pipe");
    let to = (!arguments.quiet).then(io::stdout);
    let passed = pass(&mut from, to, kept);
    let status = child.wait()?;
    passed.context("cannot keep what the command prints")?;
    Ok(status)
}

fn feed(arguments: &RecordArguments, kept: &mut Kept) -> Result<ExitStatus> {
    let mut command = Command::new(&arguments.command[0]);
    let stdout = if arguments.quiet { Stdio::null() } else { Stdio::inherit() };
    let mut child =
        start(arguments, command.args(&arguments.command[1..]).stdin(Stdio::piped()).stdout(stdout))?;
    let to = child.stdin.take();
    let passed = pass(&mut io::stdin().lock(), to, kept);
    let status = child.wait()?;
    passed.context("cannot keep what the command is given")?;
    Ok(status)
}
