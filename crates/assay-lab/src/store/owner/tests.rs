//! Files of others, compared to the last byte and the time of their change; ledgers of every format.

use super::super::ledger::{FORMAT, Ledger};
use super::*;
use std::time::SystemTime;

const FORMATS: [&str; 8] = [
    include_str!("../../../tests/ledgers/format-1.sql"),
    include_str!("../format-2.sql"),
    include_str!("../format-3.sql"),
    include_str!("../format-4.sql"),
    include_str!("../format-5.sql"),
    include_str!("../format-6.sql"),
    include_str!("../format-7.sql"),
    include_str!("../format-8.sql"),
];

/// Every file of a folder: name, bytes, time of the last change.
fn state(folder: &Path) -> Vec<(PathBuf, Vec<u8>, SystemTime)> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = entries
        .map(|path| {
            let changed = std::fs::metadata(&path).unwrap().modified().unwrap();
            let bytes = std::fs::read(&path).unwrap();
            (path, bytes, changed)
        })
        .collect();
    files.sort();
    files
}

#[track_caller]
fn refused(path: &Path, words: &str) {
    let before = state(path.parent().unwrap());
    let error = Ledger::open(path).unwrap_err();
    assert!(error.is::<Unusable>() && error.to_string().contains(words), "{error:#}");
    assert!(state(path.parent().unwrap()) == before, "{}: something changed", path.display());
}

fn made(path: &Path, sql: &str) -> Connection {
    let connection = Connection::open(path).unwrap();
    connection.execute_batch(sql).unwrap();
    connection
}

fn old(path: &Path, format: usize, before: &str) -> Connection {
    made(path, &format!("{before}; {}; PRAGMA user_version = {format}", FORMATS[..format].join(";\n")))
}

#[test]
fn a_foreign_file_stays_as_it_is_whatever_its_version() {
    for version in 0..=9 {
        for journal in ["DELETE", "WAL"] {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("their own?#%.db");
            let journal = format!("PRAGMA journal_mode = {journal}; CREATE TABLE bookmarks (url TEXT)");
            let row = "INSERT INTO bookmarks VALUES ('a')";
            drop(made(&path, &format!("{journal}; {row}; PRAGMA user_version = {version}")));
            refused(&path, "another program's SQLite database");
        }
    }
}

#[test]
fn a_foreign_file_in_use_stays_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bookmarks.db");
    let _open =
        made(&path, "PRAGMA journal_mode = WAL; CREATE TABLE bookmarks (url TEXT); PRAGMA user_version = 8");
    refused(&path, "another program's SQLite database");
}

#[test]
fn a_foreign_file_with_some_of_our_names_or_an_id_of_its_own_stays_as_it_is() {
    let cases = [
        "CREATE TABLE campaign (id INTEGER PRIMARY KEY); PRAGMA user_version = 1".to_owned(),
        "PRAGMA application_id = 7; PRAGMA user_version = 0".to_owned(),
        format!("{}; PRAGMA user_version = 3", FORMATS[0]),
        format!("{}; PRAGMA user_version = 1; PRAGMA application_id = 7", FORMATS[0]),
    ];
    for sql in cases {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ads.db");
        drop(made(&path, &sql));
        refused(&path, "another program's SQLite database");
    }
}

#[test]
fn what_is_no_database_stays_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    for text in ["x".to_owned(), "my notes\n".repeat(500)] {
        let path = folder.path().join("notes.txt");
        std::fs::write(&path, text).unwrap();
        refused(&path, "it is not an SQLite file");
    }
    let error = Ledger::open(Path::new("/dev/null")).unwrap_err();
    assert!(error.to_string().contains("it is not a file"), "{error:#}");
}

fn id_of(path: &Path) -> i32 {
    let opened = Connection::open(path).unwrap();
    opened.pragma_query_value(None, "application_id", |row| row.get(0)).unwrap()
}

#[test]
fn an_empty_file_becomes_a_ledger_with_our_id() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["none.db", "empty.db", "vacuumed.db"] {
        let path = folder.path().join(name);
        match name {
            "empty.db" => std::fs::write(&path, "").unwrap(),
            "vacuumed.db" => drop(made(&path, "CREATE TABLE x (y); DROP TABLE x")),
            _ => {}
        }
        assert_eq!(owner(&path).unwrap(), Owner::Nobody, "{name}");
        drop(Ledger::open(&path).unwrap());
        assert_eq!((owner(&path).unwrap(), id_of(&path)), (Owner::Assay, APPLICATION_ID), "{name}");
        Ledger::open(&path).unwrap();
    }
}

#[test]
fn a_ledger_of_each_old_format_is_recognised_and_gets_the_id() {
    for format in 1..=FORMATS.len() {
        for journal in ["DELETE", "WAL"] {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("ledger.db");
            drop(old(&path, format, &format!("PRAGMA journal_mode = {journal}")));
            assert_eq!(owner(&path).unwrap(), Owner::AssayWithoutId, "{format}");
            let ledger = Ledger::open(&path).unwrap();
            assert_eq!(ledger.campaigns().unwrap().len(), 0);
            drop(ledger);
            assert_eq!((owner(&path).unwrap(), id_of(&path)), (Owner::Assay, APPLICATION_ID), "{format}");
        }
    }
    assert_eq!(FORMATS.len() as i64, LAST_WITHOUT_ID.min(FORMAT));
}

#[test]
fn an_old_ledger_whose_tables_are_still_in_the_journal_is_recognised() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger.db");
    // Open while the other looks, as after a kill: nothing was moved from the journal into the file.
    let _killed = old(&path, 8, "PRAGMA journal_mode = WAL");
    assert_eq!(contents(&path).unwrap(), (0, Vec::new()));
    assert_eq!(owner(&path).unwrap(), Owner::AssayWithoutId);
    assert_eq!(Ledger::open(&path).unwrap().campaigns().unwrap().len(), 0);
}

#[test]
fn a_newer_ledger_is_told_as_such_and_stays_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger.db");
    drop(made(
        &path,
        &format!("CREATE TABLE x (y); PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = 99"),
    ));
    refused(&path, "has format 99, made by a newer assay");
}
