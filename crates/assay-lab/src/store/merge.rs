//! What other ledgers have, brought into this one, each thing exactly once.
//!
//! How tables refer to each other is read from the schema, so a new table is merged without a word here. Only what tells a row
//! whose number is its ledger's own ([`KEYS`]) is written down. Of something that both have, the ledger that went on gives
//! what is new; where both went on, each its own way, nothing is taken, for their rounds have the same numbers.

use super::Ledger;
use anyhow::{Context, Result};
use assay_linux::private::PrivateFolder;
use rusqlite::Connection;
use std::collections::BTreeMap;
use std::path::Path;

/// What tells a row in any ledger, of the tables whose `id` is a number of one ledger.
const KEYS: [(&str, &[&str]); 13] = [
    ("campaign", &["question", "started_at"]),
    ("process", &["campaign", "started_at", "artifact", "variant"]),
    ("sample", &["campaign", "round", "process", "input", "position", "at"]),
    ("failure", &["campaign", "at", "stage", "variant", "input", "compiler", "flags"]),
    ("count", &["campaign", "at", "artifact", "variant", "input", "walk", "method"]),
    ("allocation", &["campaign", "at", "artifact", "variant", "input"]),
    ("branch_timing", &["campaign", "at"]),
    ("comparison", &["question", "started_at"]),
    ("comparison_visit", &["comparison", "started_at", "round", "side"]),
    ("diary", &["name"]),
    ("diary_count", &["comparison", "entrant", "role", "method", "at"]),
    ("sweep", &["question", "started_at"]),
    ("imported", &["name", "digest", "revision"]),
];

/// What is measured bit by bit, and the table of its bits: a bit is told by when it began.
const GROWING: [(&str, &str); 2] = [("campaign", "round"), ("comparison", "comparison_visit")];

/// What refers to another table without the schema saying so.
const ALSO_REFERS: [(&str, &str, &str); 1] = [("sample", "campaign", "campaign")];

/// How something stands beside what this ledger has: in the column `state` of the temporary tables.
mod state {
    /// It is not here.
    pub const NEW: i64 = 0;
    /// It is, and went on in the other ledger.
    pub const EXTENDED: i64 = 1;
    /// It is, with all that the other ledger has of it.
    pub const KNOWN: i64 = 2;
}

/// What became of one kind of thing of a ledger.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MergedKind {
    /// Added.
    pub new: u64,
    /// Were here, and went on there: what is new was added.
    pub extended: u64,
    /// Were here, as they are there or further.
    pub known: u64,
}

/// What went on here and there.
#[derive(Clone, Debug, PartialEq)]
pub struct Diverged {
    /// `campaign` or `comparison`.
    pub kind: &'static str,
    /// Its number here.
    pub here: i64,
    /// Its number there.
    pub there: i64,
}

/// What was taken of a ledger.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Merged {
    /// By kind: `campaign`, `comparison`, `sweep`, `diary`, `imported`.
    pub kinds: BTreeMap<&'static str, MergedKind>,
    /// Samples of campaigns that were added.
    pub samples: u64,
    /// Nothing was taken of these.
    pub diverged: Vec<Diverged>,
}

/// The kinds that are told.
const TOLD: [&str; 5] = ["campaign", "comparison", "sweep", "diary", "imported"];

/// A table, as the schema has it.
struct LedgerTable {
    name: String,
    columns: Vec<LedgerColumn>,
    /// Its number is its ledger's own.
    has_id: bool,
}

struct LedgerColumn {
    name: String,
    /// The table with an `id` that it refers to.
    refers: Option<String>,
}

impl Ledger {
    /// Brings everything of the ledger at `other` into this one, or, after an error, nothing. That file is only read: a copy of
    /// it is brought to this program's format.
    ///
    /// # Errors
    /// The other is no ledger, is damaged, or was written by a newer assay; this one cannot be written.
    pub fn merge(&self, other: &Path) -> Result<Merged> {
        let scratch = PrivateFolder::new(&std::env::temp_dir(), "assay-merge-")
            .context("making a folder for a copy of the ledger")?;
        let copy = scratch.path().join("ledger.db");
        Ledger::copy(other, &copy)?;
        drop(Ledger::open(&copy).with_context(|| format!("reading {}", other.display()))?);
        let tables = tables()?;
        let name = copy.to_string_lossy().into_owned();
        self.write("ATTACH ? AS other", [&name])?;
        let mut merged = Merged::default();
        let result = self.transaction(|connection| {
            for table in &tables {
                take(connection, table)?;
            }
            merged = told(connection)?;
            Ok(())
        });
        // What is temporary goes also where the rest came to nothing.
        let tidied = tables.iter().filter(|table| table.has_id).try_for_each(|table| {
            self.write(&format!("DROP TABLE IF EXISTS temp.\"new_{}\"", table.name), [])
        });
        self.write("DETACH other", [])?;
        result.and(tidied).map(|()| merged)
    }
}

/// All tables, each behind those that it refers to: in the order of schema.sql.
fn tables() -> Result<Vec<LedgerTable>> {
    let schema = Connection::open_in_memory()?;
    schema.execute_batch(include_str!("schema.sql"))?;
    let mut query = schema.prepare("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY rowid")?;
    let names: Vec<String> = query.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
    let mut found: Vec<LedgerTable> = Vec::new();
    for name in names {
        let mut query = schema.prepare("SELECT name FROM pragma_table_info(?)")?;
        let columns: Vec<String> =
            query.query_map([&name], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
        let mut query =
            schema.prepare("SELECT \"from\", \"table\", \"to\" FROM pragma_foreign_key_list(?)")?;
        let mut refers: BTreeMap<String, (String, String)> = query
            .query_map([&name], |row| Ok((row.get(0)?, (row.get(1)?, row.get(2)?))))?
            .collect::<rusqlite::Result<_>>()?;
        for (table, column, other) in ALSO_REFERS.iter().filter(|(table, ..)| *table == name) {
            debug_assert!(columns.iter().any(|name| name == column), "{table} has no {column}");
            refers.insert((*column).to_owned(), ((*other).to_owned(), "id".to_owned()));
        }
        let columns = columns.into_iter().map(|column| {
            let refers = refers.get(&column).and_then(|(table, to)| numbered(&found, table, to));
            LedgerColumn { name: column, refers }
        });
        let columns: Vec<LedgerColumn> = columns.collect();
        let has_id = columns.iter().any(|column| column.name == "id");
        found.push(LedgerTable { name, columns, has_id });
    }
    Ok(found)
}

/// The table whose numbers a reference to this column means: a diary's session has that of its comparison.
fn numbered(found: &[LedgerTable], table: &str, to: &str) -> Option<String> {
    if to == "id" {
        return Some(table.to_owned());
    }
    let table = found.iter().find(|known| known.name == table)?;
    table.columns.iter().find(|column| column.name == to)?.refers.clone()
}

fn key(table: &str) -> &'static [&'static str] {
    KEYS.iter().find(|(name, _)| *name == table).map_or(&[], |(_, key)| key)
}

/// Copies the rows of a table that are not here.
fn take(connection: &Connection, table: &LedgerTable) -> rusqlite::Result<()> {
    let name = &table.name;
    // What a row refers to, under its numbers here. Rows of what is left out find nothing to refer to.
    let (mut joins, mut states) = (String::new(), Vec::new());
    for column in &table.columns {
        if let Some(refers) = &column.refers {
            let (column, alias) = (&column.name, format!("at_{}", column.name));
            joins += &format!(" JOIN temp.\"new_{refers}\" {alias} ON {alias}.old = s.\"{column}\"");
            states.push(format!("{alias}.state"));
        }
    }
    let here = |column: &LedgerColumn| match (&column.refers, column.name.as_str()) {
        (Some(_), name) => format!("at_{name}.id"),
        (None, "id") => "n.id".to_owned(),
        (None, name) => format!("s.\"{name}\""),
    };
    let columns: Vec<String> = table.columns.iter().map(|column| format!("\"{}\"", column.name)).collect();
    let values: Vec<String> = table.columns.iter().map(here).collect();
    let (columns, values) = (columns.join(", "), values.join(", "));
    if !table.has_id {
        return connection.execute_batch(&format!(
            "INSERT INTO main.\"{name}\" ({columns}) SELECT {values} FROM other.\"{name}\" s{joins} WHERE true \
             ON CONFLICT DO NOTHING"
        ));
    }
    // All that it belongs to is new: then it is, too, and need not be looked for.
    let belongs: Vec<&LedgerColumn> = table.columns.iter().filter(|column| column.refers.is_some()).collect();
    let same = |column: &&str| {
        let column = table.columns.iter().find(|known| known.name == *column);
        column.map(|column| format!("m.\"{}\" IS {}", column.name, here(column)))
    };
    let same: Vec<String> = key(name).iter().filter_map(same).collect();
    let is_here = format!("(SELECT m.id FROM main.\"{name}\" m WHERE {})", same.join(" AND "));
    let (known, wanted) = if belongs.is_empty() {
        (is_here, "true".to_owned())
    } else {
        let new: Vec<String> = states.iter().map(|state| format!("{state} = {}", state::NEW)).collect();
        let unfinished: Vec<String> =
            states.iter().map(|state| format!("{state} < {}", state::KNOWN)).collect();
        (format!("CASE WHEN {} THEN NULL ELSE {is_here} END", new.join(" OR ")), unfinished.join(" AND "))
    };
    connection.execute_batch(&format!(
        "CREATE TEMP TABLE \"new_{name}\" (old INTEGER PRIMARY KEY, id INTEGER, state INTEGER NOT NULL); \
         INSERT INTO temp.\"new_{name}\" SELECT old, id, CASE WHEN id IS NULL THEN {new} ELSE {extended} END FROM \
           (SELECT s.id AS old, {known} AS id FROM other.\"{name}\" s{joins} WHERE {wanted}); \
         UPDATE temp.\"new_{name}\" SET id = numbers.id FROM (SELECT old, row_number() OVER (ORDER BY old) + \
           (SELECT COALESCE(max(id), 0) FROM main.\"{name}\") AS id FROM temp.\"new_{name}\" WHERE id IS NULL) numbers \
           WHERE numbers.old = \"new_{name}\".old AND \"new_{name}\".id IS NULL;",
        new = state::NEW,
        extended = state::EXTENDED,
    ))?;
    if let Some((_, bits)) = GROWING.iter().find(|(growing, _)| growing == name) {
        compare(connection, name, bits)?;
    } else if belongs.is_empty() {
        // A sweep grows by campaigns, a diary by sessions, which are rows of their own.
        connection.execute_batch(&format!(
            "UPDATE temp.\"new_{name}\" SET state = {} WHERE state = {}",
            state::KNOWN,
            state::EXTENDED
        ))?;
    }
    connection.execute_batch(&format!(
        "INSERT INTO main.\"{name}\" ({columns}) SELECT {values} FROM other.\"{name}\" s \
           JOIN temp.\"new_{name}\" n ON n.old = s.id AND n.state = {}{joins} ORDER BY n.id",
        state::NEW
    ))?;
    catch_up(connection, table)
}

/// Of what both have: which of them went on? What both went on with is left out.
fn compare(connection: &Connection, name: &str, bits: &str) -> rusqlite::Result<()> {
    let lacks = |one: &str, id: &str, other: &str, other_id: &str| {
        format!(
            "EXISTS (SELECT 1 FROM {one}.\"{bits}\" b WHERE b.\"{name}\" = {id} AND NOT EXISTS (SELECT 1 FROM \
             {other}.\"{bits}\" o WHERE o.\"{name}\" = {other_id} AND o.round = b.round AND o.started_at = b.started_at))"
        )
    };
    let more_there = lacks("other", "n.old", "main", "n.id");
    let more_here = lacks("main", "n.id", "other", "n.old");
    connection.execute_batch(&format!(
        "CREATE TEMP TABLE \"judged_{name}\" AS SELECT n.old, {more_there} AS there, {more_here} AS here \
           FROM temp.\"new_{name}\" n WHERE n.state = {extended}; \
         CREATE TEMP TABLE IF NOT EXISTS diverged (kind TEXT, here INTEGER, there INTEGER); \
         INSERT INTO temp.diverged SELECT '{name}', n.id, n.old FROM temp.\"new_{name}\" n JOIN temp.\"judged_{name}\" j \
           USING (old) WHERE j.there AND j.here; \
         DELETE FROM temp.\"new_{name}\" WHERE old IN (SELECT old FROM temp.\"judged_{name}\" WHERE there AND here); \
         UPDATE temp.\"new_{name}\" SET state = {known} WHERE old IN (SELECT old FROM temp.\"judged_{name}\" WHERE here \
           OR NOT there) AND NOT (SELECT s.finished_at IS NOT NULL AND m.finished_at IS NULL AND NOT j.here FROM \
           other.\"{name}\" s, main.\"{name}\" m, temp.\"judged_{name}\" j WHERE s.id = \"new_{name}\".old AND m.id = \
           \"new_{name}\".id AND j.old = \"new_{name}\".old); \
         DROP TABLE temp.\"judged_{name}\";",
        extended = state::EXTENDED,
        known = state::KNOWN,
    ))
}

/// What changes in a row that is there already: how it ended, what is known of its machine, and that a sample is not to be used.
fn catch_up(connection: &Connection, table: &LedgerTable) -> rusqlite::Result<()> {
    let name = &table.name;
    let has = |column: &str| table.columns.iter().any(|known| known.name == column);
    if has("stopped_because") {
        // A sweep that ended there; what grows is caught up with only where it went on there.
        let open = if GROWING.iter().any(|(growing, _)| growing == name) {
            format!("n.state = {}", state::EXTENDED)
        } else {
            format!("n.state <> {} AND m.finished_at IS NULL", state::NEW)
        };
        connection.execute_batch(&format!(
            "UPDATE main.\"{name}\" AS m SET finished_at = s.finished_at, stopped_because = s.stopped_because \
               FROM other.\"{name}\" s JOIN temp.\"new_{name}\" n ON n.old = s.id WHERE m.id = n.id AND {open}"
        ))?;
    }
    if has("machine") && has("stopped_because") {
        connection.execute_batch(&format!(
            "UPDATE main.\"{name}\" AS m SET machine = s.machine FROM other.\"{name}\" s JOIN temp.\"new_{name}\" n ON \
               n.old = s.id WHERE m.id = n.id AND n.state = {}",
            state::EXTENDED
        ))?;
    }
    if has("flagged") {
        connection.execute_batch(&format!(
            "UPDATE main.\"{name}\" AS m SET flagged = s.flagged FROM other.\"{name}\" s JOIN temp.\"new_{name}\" n ON \
               n.old = s.id WHERE m.id = n.id AND n.state = {} AND s.flagged IS NOT NULL",
            state::EXTENDED
        ))?;
    }
    Ok(())
}

/// What was done, from the temporary tables.
fn told(connection: &Connection) -> rusqlite::Result<Merged> {
    let mut merged = Merged::default();
    for kind in TOLD {
        let mut query =
            connection.prepare(&format!("SELECT state, count(*) FROM temp.\"new_{kind}\" GROUP BY state"))?;
        let counts = query.query_map([], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)? as u64)))?;
        let of = merged.kinds.entry(kind).or_default();
        for found in counts {
            match found? {
                (state::NEW, count) => of.new = count,
                (state::EXTENDED, count) => of.extended = count,
                (_, count) => of.known = count,
            }
        }
    }
    merged.samples =
        connection.query_row("SELECT count(*) FROM temp.new_sample WHERE state = ?", [state::NEW], |row| {
            row.get::<_, i64>(0)
        })? as u64;
    let mut query = connection.prepare("SELECT kind, here, there FROM temp.diverged ORDER BY 1, 2")?;
    let rows = query.query_map([], |row| {
        let kind = if row.get::<_, String>(0)? == "campaign" { "campaign" } else { "comparison" };
        Ok(Diverged { kind, here: row.get(1)?, there: row.get(2)? })
    })?;
    merged.diverged = rows.collect::<rusqlite::Result<_>>()?;
    connection.execute_batch("DROP TABLE temp.diverged")?;
    Ok(merged)
}

#[cfg(test)]
mod tests;
