//! Whose file is it? Told before SQLite may write to it: opening another program's database as usual can already convert its
//! journal or leave files beside it.

use super::unusable::Unusable;
use rusqlite::{Connection, OpenFlags};
use std::fs::{File, Metadata};
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// `PRAGMA application_id` of a ledger: "asay".
pub const APPLICATION_ID: i32 = i32::from_be_bytes(*b"asay");

/// The last format whose ledgers may lack the id; their tables tell them from other programs' files.
const LAST_WITHOUT_ID: i64 = 8;

/// Tables that came with a format; a ledger has those of its own format and of all before.
const TABLES: [(i64, &[&str]); 6] = [
    (
        1,
        &[
            "campaign",
            "input",
            "campaign_input",
            "artifact",
            "answer",
            "process",
            "round",
            "sample",
            "identity",
            "failure",
            "look",
        ],
    ),
    (2, &["count", "branch_timing"]),
    (3, &["comparison", "comparison_side", "comparison_visit", "comparison_figure", "comparison_code"]),
    (4, &["diary", "diary_session", "diary_entrant", "diary_task", "diary_count"]),
    (6, &["sweep", "sweep_step"]),
    (17, &["execution"]),
];

/// SQLite's header: its first bytes, and where the application id lies in it.
const MAGIC: &[u8; 16] = b"SQLite format 3\0";
const HEADER: usize = 100;
const ID_AT: usize = 68;

/// How much of a journal is looked through: the tables are what a ledger begins with.
const JOURNAL_HEAD: u64 = 1 << 20;

/// What a file is, as far as its bytes say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    /// There is no file, or nothing in it: a ledger may begin here.
    Nobody,
    /// A ledger.
    Assay,
    /// A ledger of a format that had no id.
    AssayWithoutId,
}

/// Looks at the file without changing anything, beside it neither.
///
/// # Errors
/// It is no file, no SQLite file, or that of another program.
pub(super) fn owner(path: &Path) -> Result<Owner, Unusable> {
    let Ok(found) = std::fs::metadata(path) else { return Ok(Owner::Nobody) };
    let cannot_open = |why: &str| {
        Unusable(format!(
            "the ledger {} cannot be opened: {why}; choose another with --ledger FILE",
            path.display()
        ))
    };
    if !found.is_file() {
        return Err(cannot_open("it is not a file"));
    }
    let path = &path.canonicalize().map_err(|error| cannot_open(&error.to_string()))?;
    let Some(header) = header(path, &found).map_err(|error| cannot_open(&error.to_string()))? else {
        return Ok(Owner::Nobody);
    };
    if !header.starts_with(MAGIC) {
        return Err(Unusable(format!(
            "{} is not a ledger: it is not an SQLite file; choose another with --ledger FILE. Nothing was changed.",
            path.display()
        )));
    }
    let id = i32::from_be_bytes(header[ID_AT..ID_AT + 4].try_into().expect("four bytes"));
    if id == APPLICATION_ID {
        return Ok(Owner::Assay);
    }
    let foreign = || {
        Unusable(format!(
            "{} is another program's SQLite database; choose another with --ledger FILE. Nothing was changed.",
            path.display()
        ))
    };
    if id != 0 {
        return Err(foreign());
    }
    let (format, tables) = contents(path).map_err(|error| {
        Unusable(format!(
            "the ledger {} is damaged ({error}). `sqlite3 {0} .recover` may save what is left; keep new campaigns \
             elsewhere with --ledger FILE",
            path.display()
        ))
    })?;
    match (format, tables.is_empty(), journal_head(path)) {
        (0, true, None) => Ok(Owner::Nobody),
        // An assay was killed before the journal's tables reached the file.
        (0, true, Some(journal)) if begins_a_ledger(&journal) => Ok(Owner::AssayWithoutId),
        _ if is_old_ledger(format, &tables) => Ok(Owner::AssayWithoutId),
        _ => Err(foreign()),
    }
}

/// The first bytes of a file that has any.
fn header(path: &Path, found: &Metadata) -> std::io::Result<Option<Vec<u8>>> {
    if found.len() == 0 {
        return Ok(None);
    }
    let mut header = Vec::new();
    File::open(path)?.take(HEADER as u64).read_to_end(&mut header)?;
    header.resize(HEADER, 0);
    Ok(Some(header))
}

/// `user_version` and the tables. As an immutable file: with a journal of another kind SQLite would make `-shm` to read it.
fn contents(path: &Path) -> rusqlite::Result<(i64, Vec<String>)> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
    let connection = Connection::open_with_flags(immutable(path), flags)?;
    let format = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    // The words of a column nobody else has, beside the names.
    let sql = "SELECT name FROM sqlite_master WHERE name != 'campaign' OR sql LIKE '%assay_version%'";
    let mut query = connection.prepare(sql)?;
    let tables = query.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    Ok((format, tables))
}

/// The path, whatever its bytes, as a name that lets SQLite write nothing.
fn immutable(path: &Path) -> String {
    let mut uri = "file://".to_owned();
    for &byte in path.as_os_str().as_bytes() {
        if byte.is_ascii_alphanumeric() || b"/._-".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            uri.push_str(&format!("%{byte:02X}"));
        }
    }
    uri.push_str("?immutable=1");
    uri
}

/// What the write-ahead log begins with, if it holds anything.
fn journal_head(path: &Path) -> Option<Vec<u8>> {
    let mut name = path.as_os_str().to_owned();
    name.push("-wal");
    let journal = PathBuf::from(name);
    if !std::fs::metadata(&journal).ok()?.is_file() {
        return None;
    }
    let file = File::open(&journal).ok()?;
    let mut head = Vec::new();
    file.take(JOURNAL_HEAD).read_to_end(&mut head).ok()?;
    Some(head).filter(|head| !head.is_empty())
}

/// Are the tables of a ledger in it? Their definitions are kept as text.
fn begins_a_ledger(journal: &[u8]) -> bool {
    let holds = |text: &[u8]| journal.windows(text.len()).any(|window| window == text);
    holds(b"CREATE TABLE campaign (") && holds(b"assay_version") && holds(b"CREATE TABLE identity (")
}

fn is_old_ledger(format: i64, tables: &[String]) -> bool {
    let due = TABLES.iter().filter(|(since, _)| *since <= format).flat_map(|(_, names)| *names);
    (1..=LAST_WITHOUT_ID).contains(&format) && due.into_iter().all(|name| tables.iter().any(|t| t == name))
}

#[cfg(test)]
mod tests;
