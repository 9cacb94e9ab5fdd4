//! Where pages go: how wide, with colour or not, and files that are written whole.

use crate::campaign::Misuse;
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
    let told = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let seen = || {
        let (_, columns) = console::Term::stdout().size_checked()?;
        Some(usize::from(columns))
    };
    told.or_else(seen).unwrap_or(WIDTH).clamp(60, WIDEST)
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

/// A path, or nothing where an option that may have one is given without; clap's own parser of paths refuses nothing.
pub fn path_or_nothing() -> impl TypedValueParser<Value = PathBuf> {
    OsStringValueParser::new().map(PathBuf::from)
}

/// Is there a folder for this file?
///
/// # Errors
/// [`Misuse`], naming the folder.
pub fn find_folder(file: &Path) -> Result<(), Misuse> {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    match folder {
        Some(folder) if !folder.is_dir() => {
            Err(Misuse(format!("cannot write {}: there is no folder {}", file.display(), folder.display())))
        }
        _ => Ok(()),
    }
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
    let draft = path.with_extension("draft");
    let written = std::fs::write(&draft, text).and_then(|()| std::fs::rename(&draft, path));
    if written.is_err() {
        let _ = std::fs::remove_file(&draft);
    }
    written.with_context(|| format!("cannot write {}", path.display()))
}
