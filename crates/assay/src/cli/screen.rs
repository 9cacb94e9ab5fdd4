//! Where pages go: how wide, with colour or not, and files that are written whole.

use super::display;
use anstream::stream::RawStream;
use anyhow::{Context, Result};
use assay_lab::lead::Misuse;
use assay_linux::output;
use assay_report::ink::Palette;
use assay_report::link::SourcePlace;
use assay_report::prose;
use clap::builder::{OsStringValueParser, TypedValueParser};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Columns by default.
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

/// Colour on standard output, where it is a terminal that shows it.
pub fn colour() -> bool {
    colour_of(&std::io::stdout())
}

/// What a page may use on standard output.
pub fn look() -> Palette {
    look_of(&std::io::stdout())
}

/// What a page may use on a stream.
pub fn look_of(stream: &impl RawStream) -> Palette {
    let is_terminal = stream.is_terminal();
    Palette { colour: colour_of(stream), bars: is_terminal, links: display::links(is_terminal) }
}

/// Colour where a terminal shows it, as NO_COLOR, CLICOLOR, CLICOLOR_FORCE and TERM have it (no-color.org, bixense.com/clicolors).
pub fn colour_of(stream: &impl RawStream) -> bool {
    anstream::AutoStream::choice(stream) != anstream::ColorChoice::Never
}

/// Which stream did not take a page, and why.
static LOST: OnceLock<String> = OnceLock::new();

/// What of the output was lost, if something was.
pub fn lost() -> Option<&'static str> {
    LOST.get().map(String::as_str)
}

/// Prints text of ours, in which names and words of others can stand.
pub fn print(text: &str) {
    send(&prose::clean(text));
}

/// Prints a page. What others wrote in it was cleaned when it was painted, so its colours are our own.
pub fn show(page: &str) {
    if display::is_ascii() {
        send(&display::in_ascii(page));
    } else {
        send(page);
    }
}

/// Writes to standard output. A reader that has gone away is no error; [`lost`] tells of others.
fn send(text: &str) {
    let mut out = std::io::stdout().lock();
    keep("standard output", out.write_all(text.as_bytes()).and_then(|()| out.flush()));
}

fn keep(stream: &str, written: std::io::Result<()>) {
    if let Err(error) = written
        && error.kind() != std::io::ErrorKind::BrokenPipe
    {
        let _ = LOST.set(format!("{stream}: {error}"));
    }
}

/// Tells how it goes, a line on standard error; that too may have been closed (`2>&1 | head`), and nothing is lost by it.
pub fn tell(text: &str) {
    let _ = beside(&prose::clean(text));
}

/// Shows a page on standard error, where a program's own output goes to the other; as [`show`]. A page that is lost is told by
/// [`lost`].
pub fn show_beside(page: &str) {
    keep("standard error", beside(page));
}

fn beside(text: &str) -> std::io::Result<()> {
    writeln!(std::io::stderr(), "{}", text.trim_end_matches('\n'))
}

/// Tells what is wrong; on a terminal its sentences end before the margin, and nothing changes where a program may read it.
pub fn complain(text: &str) {
    match of_terminal(&console::Term::stderr()) {
        Some(columns) => {
            let lines = fitted(text, columns.clamp(60, WIDEST));
            let lines: Vec<String> = lines.iter().map(|line| linked(&prose::clean(line))).collect();
            let _ = beside(&lines.join("\n"));
        }
        None => tell(text),
    }
}

/// A line of a complaint that begins with a place in a file, "assay: e.toml:7:14: ...", with the place as a link.
fn linked(line: &str) -> String {
    let Some(links) = display::links(true) else { return line.to_owned() };
    let place = || -> Option<(&str, SourcePlace)> {
        let place = line.strip_prefix("assay: ").unwrap_or(line).split(": ").next()?;
        let mut parts = place.rsplitn(3, ':');
        let (column, row, path) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?, parts.next()?);
        let whole = std::fs::canonicalize(path).ok()?;
        Some((place, SourcePlace::of(whole.to_str()?, row)?.at_column(column)))
    };
    match place() {
        Some((text, place)) => line.replacen(text, &links.wrap(text, &place), 1),
        None => line.to_owned(),
    }
}

/// The lines of a complaint, sentences broken anew. What is set in (source lines, a compiler's words) stays as it is.
fn fitted(text: &str, width: usize) -> Vec<String> {
    /// How diagnostics begin what could stand there instead.
    const EXPECTED: &str = "  expected: ";
    /// How they go on with a sentence.
    const REST: &str = "    ";
    let mut told = Vec::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        match line.strip_prefix(EXPECTED) {
            Some(text) => told.extend(prose::wrap(text, width, EXPECTED, &" ".repeat(EXPECTED.len()))),
            None if is_set_in(line) || console::measure_text_width(line) <= width => {
                told.push(line.to_owned());
            }
            None => {
                // Broken already, but without counting what stands ahead of it.
                let mut sentence = line.to_owned();
                while let Some(rest) = lines.next_if(|next| next.starts_with(REST)) {
                    sentence.push(' ');
                    sentence.push_str(rest.trim_start());
                }
                told.extend(prose::wrap(&sentence, width, "", REST));
            }
        }
    }
    told
}

/// A source line with its number, or anything behind blanks.
fn is_set_in(line: &str) -> bool {
    line.starts_with(' ')
        || line.trim_start_matches(|symbol: char| symbol.is_ascii_digit()).starts_with(" | ")
}

/// A path, or nothing where an option that may have one is given without; clap's own parser of paths refuses nothing.
pub fn path_or_nothing() -> impl TypedValueParser<Value = PathBuf> {
    OsStringValueParser::new().map(PathBuf::from)
}

/// Whether a file stands for standard output.
pub fn is_stdout(file: &Path) -> bool {
    file.as_os_str() == "-"
}

/// Can this file be written, as far as can be said before its content is known? `-` can. `reads` is all that the command reads.
///
/// # Errors
/// [`Misuse`]: there is no such folder, it is a folder itself or a file that is read, or nothing can be written there; a minute of
/// measuring is not spent on it.
pub fn find_place(file: &Path, reads: &[PathBuf]) -> Result<(), Misuse> {
    // `--json` alone has no file: it is standard output as well.
    if is_stdout(file) || file.as_os_str().is_empty() {
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
    if reads.iter().any(|read| output::same_file(read, file)) {
        return Err(refused("this command reads it; name another file".into()));
    }
    output::check(file).map_err(|error| refused(error.to_string()))
}

/// Writes a file whole or not at all; `-` is standard output.
///
/// # Errors
/// The file cannot be written.
pub fn write(path: &Path, text: &str) -> Result<()> {
    if is_stdout(path) {
        print(text);
        return Ok(());
    }
    output::write(path, text.as_bytes()).with_context(|| format!("cannot write {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_complaint_is_broken_anew_and_what_is_set_in_stays() {
        let text = "assay: e.toml:7:14: no compiler `zig` on PATH; there is: gcc-11, gcc-12,\n    clang-14 and no \
                    other\n  |\n7 | compilers = [\"zig\"]                                                    # long\n  \
                    expected: a number of an input by its path: inputs.NAME.units, .weights.0\nshort\n    (";
        let wanted = [
            "assay: e.toml:7:14: no compiler `zig` on PATH; there is:",
            "    gcc-11, gcc-12, clang-14 and no other",
            "  |",
        ];
        let found = fitted(text, 60);
        assert_eq!(found[..3], wanted);
        let last = [
            "  expected: a number of an input by its path:",
            "            inputs.NAME.units, .weights.0",
            "short",
            "    (",
        ];
        assert_eq!(found[found.len() - 4..], last);
    }

    #[test]
    fn a_short_complaint_is_as_it_was() {
        let text = "assay: not a regular expression:\n    (\n    ^\nerror: unclosed group";
        assert_eq!(fitted(text, 80).join("\n"), text);
    }
}
