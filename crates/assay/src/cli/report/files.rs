//! `assay report -o FILE`: a page, its data or its samples as a file, by the file's ending.

use super::super::picture::PictureArguments;
use super::super::run::StoragePaths;
use super::super::{DONE, screen};
use anyhow::{Context, Result};
use assay_lab::lead::Misuse;
use assay_lab::store::{Kept, KeptRow, Ledger};
use assay_lab::view;
use assay_linux::given;
use assay_report::html::{Served, Shown, document};
use assay_report::picture;
use std::path::Path;

/// What a file's ending asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ReportFormat {
    Html,
    Json,
    Csv,
}

impl ReportFormat {
    fn of(file: &Path) -> Result<ReportFormat, Misuse> {
        let ending =
            file.extension().and_then(|ending| ending.to_str()).unwrap_or_default().to_ascii_lowercase();
        match ending.as_str() {
            "html" | "htm" => Ok(ReportFormat::Html),
            "json" => Ok(ReportFormat::Json),
            "csv" => Ok(ReportFormat::Csv),
            _ => Err(Misuse(format!(
                "-o {}: the ending says what is written: .html a page of pictures, .json the data, .csv the samples",
                file.display()
            ))),
        }
    }
}

/// Writes what was asked for; the newest where nothing was named.
///
/// # Errors
/// There is no such thing, or the file cannot be written.
pub fn write(file: &Path, what: &[String], places: &StoragePaths) -> Result<u8> {
    let form = ReportFormat::of(file)?;
    if what.len() > 2 {
        return Err(Misuse("at most two can be shown side by side".into()).into());
    }
    if form != ReportFormat::Html && what.len() > 1 {
        return Err(Misuse("two can be shown side by side only on a page: -o FILE.html".into()).into());
    }
    let text = match (form, what) {
        (ReportFormat::Csv, what) => samples(what.first(), places)?,
        (ReportFormat::Json, what) => data(&found(what.first(), places)?)?,
        (ReportFormat::Html, []) => document(&[found(None, places)?], Served::default()),
        (ReportFormat::Html, what) => {
            let all: Vec<Shown> = what.iter().map(|one| found(Some(one), places)).collect::<Result<_>>()?;
            document(&all, Served::default())
        }
    };
    screen::write(file, &text)?;
    screen::tell(&format!(
        "assay: wrote {} ({})",
        file.display(),
        assay_pure::words::bytes(text.len() as u64)
    ));
    Ok(DONE)
}

/// Draws what was asked for, where a picture was: whether it was.
///
/// # Errors
/// There is no such thing or no picture of it, or the file cannot be written.
pub fn draw(pictures: &PictureArguments, what: &[String], places: &StoragePaths) -> Result<bool> {
    if pictures.pictures.is_empty() {
        return Ok(false);
    }
    if what.len() > 1 {
        return Err(Misuse("a picture shows one of them: name only that".into()).into());
    }
    let shown = found(what.first(), places)?;
    let scene = picture::of_page(&shown.page).map_err(|why| Misuse(format!("--picture: {why}")))?;
    pictures.write(|| scene)?;
    Ok(true)
}

fn data(shown: &Shown) -> Result<String> {
    Ok(assay_report::escaped_json(&(serde_json::to_string_pretty(&shown.page)? + "\n")))
}

/// A thing of the ledger, or a page that some verb wrote as JSON.
fn found(what: Option<&String>, places: &StoragePaths) -> Result<Shown> {
    if let Some(page) = what.map(|word| page_in(word)).transpose()?.flatten() {
        return Ok(page);
    }
    let (ledger, row) = thing(what, places)?;
    view::shown(&ledger, &row)
}

/// The page that some verb wrote as JSON, where a word names such a file. An experiment's file stands for its name, and what else
/// lies there under the word, as a program beside its experiment, is not meant.
///
/// # Errors
/// [`Misuse`]: it is a ledger, or is called `.json` and is no page.
pub fn page_in(word: &str) -> Result<Option<Shown>> {
    /// How every SQLite file begins.
    const LEDGER: &[u8] = b"SQLite format 3\0";
    let file = Path::new(word);
    let ends = |with: &str| file.extension().is_some_and(|ending| ending.eq_ignore_ascii_case(with));
    if !file.is_file() || ends("toml") {
        return Ok(None);
    }
    let bytes = given::read(file, given::DATA).with_context(|| format!("cannot read {word}"))?;
    if bytes.starts_with(LEDGER) {
        let what =
            format!("{word} is a ledger: `assay report --ledger {word}` shows what was measured last in it");
        return Err(Misuse(format!("{what}, with --list all of it")).into());
    }
    let refused = |why: &str| {
        if ends("json") {
            Err(Misuse(format!("{word} is not a page written by assay: {why}")).into())
        } else {
            Ok(None)
        }
    };
    let page: serde_json::Value = match serde_json::from_slice(&bytes) {
        Ok(page) => page,
        Err(error) => return refused(&error.to_string()),
    };
    if !page["schema"].as_str().unwrap_or_default().starts_with("assay.") {
        return refused("`--json FILE` of `assay run`, `compare`, `sweep`, `stages`, `sites` writes one");
    }
    Ok(Some(Shown::alone(page)))
}

fn thing(what: Option<&String>, places: &StoragePaths) -> Result<(Ledger, KeptRow)> {
    let ledger = Ledger::open(places.find_ledger("assay run")?)?;
    let row = view::named(&ledger, what.map(String::as_str), &Kept::ALL)?;
    Ok((ledger, row))
}

/// Every sample, none left out for want of room.
fn samples(what: Option<&String>, places: &StoragePaths) -> Result<String> {
    let (ledger, row) = thing(what, places)?;
    view::samples_csv(&ledger, &row)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_json_of_assays_is_a_page() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str, bytes: &[u8]| {
            let file = folder.path().join(name);
            std::fs::write(&file, bytes).unwrap();
            file.to_str().unwrap().to_owned()
        };
        let said = |word: &str| page_in(word).map(|page| page.is_some()).map_err(|error| error.to_string());
        assert_eq!(said(&at("p.json", b"{\"schema\":\"assay.sites/1\"}")), Ok(true));
        assert_eq!(said(&at("page", b"{\"schema\":\"assay.sites/1\"}")), Ok(true));
        assert_eq!(said(&at("sums", b"\x7fELF\x02")), Ok(false), "a program beside its experiment");
        assert_eq!(said(&at("sums.toml", b"")), Ok(false));
        assert_eq!(said("sums"), Ok(false));
        let ledger = said(&at("l.db", b"SQLite format 3\0and more")).unwrap_err();
        assert!(ledger.contains("l.db is a ledger: `assay report --ledger "), "{ledger}");
        assert!(said(&at("other.json", b"{}")).unwrap_err().contains("is not a page written by assay"));
    }

    #[test]
    fn the_ending_says_what_is_written() {
        assert_eq!(ReportFormat::of(Path::new("a/b.HTML")).ok(), Some(ReportFormat::Html));
        assert_eq!(ReportFormat::of(Path::new("b.json")).ok(), Some(ReportFormat::Json));
        assert_eq!(ReportFormat::of(Path::new("b.csv")).ok(), Some(ReportFormat::Csv));
        assert!(ReportFormat::of(Path::new("b.pdf")).unwrap_err().0.contains(".html a page"));
        assert!(ReportFormat::of(Path::new("b")).is_err());
    }
}
