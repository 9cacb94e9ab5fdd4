//! Where pages go: how wide, with colour or not, and files that are written whole.

use crate::campaign::Misuse;
use crate::report::prose;
use anyhow::{Context, Result};
use clap::builder::{OsStringValueParser, TypedValueParser};
use std::io::{IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};

/// Columns where nobody says otherwise.
const WIDTH: usize = 100;
/// Wider tables are harder to read, not easier.
const WIDEST: usize = 180;

/// Columns of the screen: COLUMNS, the terminal, or 100.
pub fn width() -> usize {
    columns().unwrap_or(WIDTH)
}

/// Columns of the screen, where somebody says so: COLUMNS or the terminal.
pub fn columns() -> Option<usize> {
    let told = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    told.or_else(|| of_terminal(&console::Term::stdout())).map(|columns| columns.clamp(60, WIDEST))
}

fn of_terminal(terminal: &console::Term) -> Option<usize> {
    terminal.size_checked().map(|(_, columns)| usize::from(columns))
}

/// Colour only where a terminal shows it and nobody refused (no-color.org).
pub fn colour() -> bool {
    std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// Prints text; a reader that has gone away is no error.
pub fn print(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

/// Prints a line on standard error; that too may have been closed (`2>&1 | head`).
pub fn tell(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// Tells what is wrong; on a terminal its sentences end before the margin. What is set in (source lines, a compiler's
/// words) stays as it is, and so does everything where a program may read it.
pub fn complain(text: &str) {
    /// How diagnostics begin what could stand there instead.
    const EXPECTED: &str = "  expected: ";
    let width = of_terminal(&console::Term::stderr()).map(|columns| columns.clamp(60, WIDEST));
    let Some(width) = width else { return tell(text) };
    for line in text.lines() {
        let lines = match line.strip_prefix(EXPECTED) {
            Some(text) => prose::wrap(text, width, EXPECTED, &" ".repeat(EXPECTED.len())),
            None if line.starts_with(' ') || line.is_empty() => vec![line.to_owned()],
            None => prose::wrap(line, width, "", "  "),
        };
        lines.iter().for_each(|line| tell(line));
    }
}

/// A path, or nothing where an option that may have one is given without; clap's own parser of paths refuses nothing.
pub fn path_or_nothing() -> impl TypedValueParser<Value = PathBuf> {
    OsStringValueParser::new().map(PathBuf::from)
}

/// Can this file be written, as far as can be said before its content is known? `-` can.
///
/// # Errors
/// [`Misuse`]: there is no such folder, it is a folder itself, or nothing can be written there; a minute of measuring is not
/// spent on it.
pub fn find_place(file: &Path) -> Result<(), Misuse> {
    if file.as_os_str() == "-" {
        return Ok(());
    }
    let refused = |why: String| Misuse(format!("cannot write {}: {why}", file.display()));
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
        return Err(refused(format!("there is no folder {}", folder.display())));
    }
    if file.is_dir() {
        return Err(refused("it is a folder; name a file in it".into()));
    }
    if std::fs::symlink_metadata(file).is_ok_and(|found| !found.is_file()) {
        return Ok(());
    }
    let draft = draft_of(file);
    let made = std::fs::OpenOptions::new().write(true).create_new(true).open(&draft);
    match made {
        Ok(_) => {
            let _ = std::fs::remove_file(&draft);
            Ok(())
        }
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(refused(format!("{error}"))),
    }
}

/// Where a file is written until it is whole.
fn draft_of(file: &Path) -> PathBuf {
    file.with_extension("draft")
}

/// Writes a file whole or not at all; `-` is standard output.
///
/// # Errors
/// The file cannot be written.
pub fn write(path: &Path, text: &str) -> Result<()> {
    if path.as_os_str() == "-" {
        print(text);
        return Ok(());
    }
    // A device or a pipe is written to, not replaced by a file.
    if std::fs::symlink_metadata(path).is_ok_and(|found| !found.is_file()) {
        return std::fs::write(path, text).with_context(|| format!("cannot write {}", path.display()));
    }
    let draft = draft_of(path);
    let written = std::fs::write(&draft, text).and_then(|()| std::fs::rename(&draft, path));
    if written.is_err() {
        let _ = std::fs::remove_file(&draft);
    }
    written.with_context(|| format!("cannot write {}", path.display()))
}
