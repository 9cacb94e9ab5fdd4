//! Does LEDGER.md say of every table and column what it is, and do its queries run?
//!
//! Method: both documents are read as text; the tables of schema.sql are checked against the headings and rows of the
//! page, in order, and the queries are run on an empty ledger.

use assay_lab::store::{FORMAT, Ledger};
use assay_pure::ledger::{Flag, Stopped};
use std::path::Path;

const SCHEMA: &str = include_str!("../src/store/schema.sql");

fn document() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../LEDGER.md");
    std::fs::read_to_string(path).expect("LEDGER.md lies at the root")
}

/// A table's name and its columns, each with the words that its comment lists (`a | b | c`).
type Table = (String, Vec<(String, Vec<String>)>);

fn tables_of_schema() -> Vec<Table> {
    let mut tables: Vec<Table> = Vec::new();
    let mut inside = false;
    for line in SCHEMA.lines() {
        if let Some(name) = line.strip_prefix("CREATE TABLE ") {
            tables.push((name.trim_end_matches(" (").to_owned(), Vec::new()));
            inside = true;
        } else if line == ");" {
            inside = false;
        } else if inside && !line.trim_start().starts_with("PRIMARY KEY") {
            let (definition, comment) = line.split_once("--").unwrap_or((line, ""));
            let column = definition.split_whitespace().next().expect("a column has a name").to_owned();
            tables.last_mut().expect("inside of one").1.push((column, listed(comment)));
        }
    }
    tables
}

/// The words of "a | b | c"; what follows a colon or a semicolon is a remark.
fn listed(comment: &str) -> Vec<String> {
    if !comment.contains(" | ") {
        return Vec::new();
    }
    let list = comment.split([':', ';']).next().unwrap_or_default();
    list.split('|').map(|word| word.trim().to_owned()).collect()
}

/// The headings of the page's tables, with the columns in backquotes and what is said of each.
fn tables_of_document(text: &str) -> Vec<(String, Vec<(String, String)>)> {
    let mut tables: Vec<(String, Vec<(String, String)>)> = Vec::new();
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("### ") {
            tables.push((name.to_owned(), Vec::new()));
        } else if let Some((column, said)) = line.strip_prefix("| `").and_then(|rest| rest.split_once("` |"))
        {
            tables.last_mut().expect("under a heading").1.push((column.to_owned(), said.to_owned()));
        }
    }
    tables
}

#[test]
fn every_table_and_column_is_told_and_no_other() {
    let schema: Vec<(String, Vec<String>)> = tables_of_schema()
        .into_iter()
        .map(|(table, columns)| (table, columns.into_iter().map(|(column, _)| column).collect()))
        .collect();
    let told: Vec<(String, Vec<String>)> = tables_of_document(&document())
        .into_iter()
        .map(|(table, columns)| (table, columns.into_iter().map(|(column, _)| column).collect()))
        .collect();
    assert!(schema.len() >= 11, "the schema was read: {schema:?}");
    assert_eq!(told, schema);
}

#[test]
fn every_word_that_a_column_may_hold_is_told() {
    let told = tables_of_document(&document());
    let mut words = 0;
    for (table, columns) in tables_of_schema() {
        let rows = &told.iter().find(|(name, _)| *name == table).expect("told").1;
        for (column, listed) in columns {
            let said = &rows.iter().find(|(name, _)| *name == column).expect("told").1;
            for word in listed {
                words += 1;
                assert!(said.contains(&format!("`{word}`")), "{table}.{column} may be `{word}`: {said}");
            }
        }
    }
    assert!(words >= 14, "lists of words were found: {words}");
}

#[test]
fn the_words_of_the_code_are_those_of_the_schema() {
    let flags = Flag::ALL.iter().map(|flag| flag.word());
    let known: Vec<&str> = flags.chain(Stopped::ALL.iter().map(|stopped| stopped.word())).collect();
    let listed: Vec<String> = tables_of_schema()
        .into_iter()
        .flat_map(|(_, columns)| columns)
        .filter(|(column, _)| ["flagged", "stopped_because"].contains(&column.as_str()))
        .flat_map(|(_, words)| words)
        .collect();
    assert!(listed.iter().all(|word| known.contains(&word.as_str())), "{listed:?}");
    assert!(known.iter().all(|word| listed.contains(&(*word).to_owned())), "{known:?}");
}

#[test]
fn every_column_says_something() {
    for (table, columns) in tables_of_document(&document()) {
        for (column, said) in columns {
            let what = said.rsplit('|').nth(1).unwrap_or_default().trim().to_owned();
            assert!(what.len() >= 3, "{table}.{column}: {said}");
        }
    }
}

#[test]
fn the_schema_is_what_sqlite_makes_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger.db");
    drop(Ledger::open(&path).unwrap());
    let made = rusqlite::Connection::open(&path).unwrap();
    for (table, columns) in tables_of_schema() {
        let mut query = made.prepare("SELECT name FROM pragma_table_info(?) ORDER BY cid").unwrap();
        let names: Vec<String> =
            query.query_map([&table], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap();
        let read: Vec<String> = columns.into_iter().map(|(column, _)| column).collect();
        assert_eq!(names, read, "{table}");
    }
    let tables: i64 = made
        .query_row("SELECT count(*) FROM sqlite_master WHERE type = 'table'", [], |row| row.get(0))
        .unwrap();
    assert_eq!(tables as usize, tables_of_schema().len());
}

#[test]
fn the_queries_run() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger.db");
    drop(Ledger::open(&path).unwrap());
    let ledger = rusqlite::Connection::open(&path).unwrap();
    let text = document();
    let queries: Vec<&str> = text
        .split("```sql\n")
        .skip(1)
        .filter_map(|rest| rest.split_once("```"))
        .map(|(query, _)| query)
        .collect();
    assert!(queries.len() >= 5, "{queries:#?}");
    for query in queries {
        let mut prepared = ledger.prepare(query).unwrap_or_else(|error| panic!("{error}: {query}"));
        let rows = prepared.query_map([], |_| Ok(())).unwrap().count();
        assert_eq!(rows, 0, "of an empty ledger: {query}");
    }
}

#[test]
fn the_format_is_the_one_told() {
    assert!(document().contains(&format!("`PRAGMA user_version` is the format: {FORMAT}.")));
}

#[test]
fn a_ledger_of_format_1_is_brought_up_to_date_and_keeps_its_rows() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger.db");
    let old = rusqlite::Connection::open(&path).unwrap();
    old.execute_batch(include_str!("ledgers/format-1.sql")).unwrap();
    let row = "INSERT INTO campaign (experiment, experiment_digest, experiment_text, spec, machine, assay_version, \
               started_at) VALUES ('varint', 'd', 't', '{}', '{}', '0.1.0', 1.5)";
    old.execute_batch(&format!("PRAGMA user_version = 1; {row}")).unwrap();
    drop(old);
    let fresh = folder.path().join("fresh.db");
    for path in [&path, &fresh] {
        drop(Ledger::open(path).unwrap());
    }
    let tables = |path: &Path| -> Vec<(String, String)> {
        let opened = rusqlite::Connection::open(path).unwrap();
        let sql = "SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY name";
        let mut query = opened.prepare(sql).unwrap();
        let plain = |text: String| -> String {
            let lines =
                text.lines().map(|line| line.split("--").next().unwrap_or_default().trim().to_owned());
            let words = lines.collect::<Vec<_>>().join(" ");
            let words: Vec<&str> = words.split_whitespace().collect();
            words.join(" ").replace(" ,", ",").replace(" )", ")")
        };
        let rows = query.query_map([], |row| Ok((row.get(0)?, plain(row.get(1)?)))).unwrap();
        rows.collect::<Result<_, _>>().unwrap()
    };
    assert_eq!(
        tables(&path),
        tables(&fresh),
        "but for comments and blanks, an old file is what a new one is"
    );
    let opened = rusqlite::Connection::open(&path).unwrap();
    let version: i64 = opened.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
    assert_eq!(version, FORMAT);
    let campaigns = Ledger::open(&path).unwrap().campaigns().unwrap();
    assert_eq!((campaigns.len(), campaigns[0].experiment.as_str()), (1, "varint"));
}
