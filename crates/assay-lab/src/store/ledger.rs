//! The file: opening it, bringing it to this program's format, and what its errors mean. Writers wait for each other, so that
//! campaigns share a ledger.

use super::owner::{APPLICATION_ID, Owner, owner};
use super::unusable::Unusable;
use anyhow::{Context, Result, anyhow};
use assay_linux::lock;
use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension, Params, Row, TransactionBehavior};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// The format this program writes: `user_version` of the file.
pub const FORMAT: i64 = 18;

/// What brings a file of format n, counted from 1, to format n + 1.
const MIGRATIONS: [&str; FORMAT as usize - 1] = [
    include_str!("format-2.sql"),
    include_str!("format-3.sql"),
    include_str!("format-4.sql"),
    include_str!("format-5.sql"),
    include_str!("format-6.sql"),
    include_str!("format-7.sql"),
    include_str!("format-8.sql"),
    include_str!("format-9.sql"),
    include_str!("format-10.sql"),
    include_str!("format-11.sql"),
    include_str!("format-12.sql"),
    include_str!("format-13.sql"),
    include_str!("format-14.sql"),
    include_str!("format-15.sql"),
    include_str!("format-16.sql"),
    include_str!("format-17.sql"),
    include_str!("format-18.sql"),
];

/// How long a writer waits for another one.
const PATIENCE: Duration = Duration::from_secs(60);

/// An open ledger.
#[derive(Debug)]
pub struct Ledger {
    pub(super) connection: Connection,
    path: PathBuf,
}

impl Ledger {
    /// Opens the ledger, making it and its folder where there is none.
    ///
    /// # Errors
    /// The file cannot be made or read, is no ledger, or was written by a newer assay.
    pub fn open(path: &Path) -> Result<Self> {
        // Before anything is written: a file that is not ours stays as it is, to its last byte.
        let owner = owner(path)?;
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            make_folder(folder).map_err(|error| {
                let folder = folder.display();
                Unusable(format!(
                    "cannot make the ledger's folder {folder}: {error}; choose another with --ledger FILE"
                ))
            })?;
        }
        // Not by a URI: a file may be called `file:x`.
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_CREATE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags).map_err(|error| explain(path, error))?;
        let ledger = Self { connection, path: path.to_owned() };
        ledger.connection.busy_handler(Some(wait))?;
        let format = ledger.format()?;
        if owner == Owner::Nobody {
            // Ahead of the write-ahead log, so that the file itself says from its first page whose it is.
            ledger.patiently(|| ledger.set_id())?;
        }
        ledger.set_up()?;
        if format == 0 {
            ledger.make_tables()?;
        } else if format < FORMAT {
            ledger.migrate()?;
        }
        if owner == Owner::AssayWithoutId {
            // Where nothing can be written its tables tell whose it is, as before.
            let _ = ledger.set_id();
        }
        Ok(ledger)
    }

    /// Opens a ledger that nothing may be written to, for what only shows it.
    ///
    /// # Errors
    /// The file cannot be read, is no ledger, or is of another format than this program's.
    pub fn open_to_read(path: &Path) -> Result<Self> {
        owner(path)?;
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags).map_err(|error| explain(path, error))?;
        let ledger = Self { connection, path: path.to_owned() };
        ledger.connection.busy_handler(Some(wait))?;
        ledger.connection.pragma_update(None, "query_only", "ON").map_err(|error| ledger.explain(error))?;
        let format = ledger.format()?;
        if format != FORMAT {
            let path = path.display();
            let text = match format {
                0 => format!(
                    "the ledger {path} is empty: its disk was full, or assay was killed as it made it"
                ),
                _ => format!(
                    "the ledger {path} has format {format}, this assay shows format {FORMAT}; `assay report --list \
                     --ledger {path}` brings it up to date"
                ),
            };
            return Err(Unusable(text).into());
        }
        Ok(ledger)
    }

    /// Writes a copy of a ledger, which is only read, to a new file.
    ///
    /// # Errors
    /// There is no ledger, it cannot be read, or was written by a newer assay; the copy cannot be written.
    pub(super) fn copy(from: &Path, to: &Path) -> Result<()> {
        if owner(from)? == Owner::Nobody {
            return Err(Unusable(format!("there is no ledger at {}", from.display())).into());
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(from, flags).map_err(|error| explain(from, error))?;
        let ledger = Self { connection, path: from.to_owned() };
        ledger.connection.busy_handler(Some(wait))?;
        ledger.format()?;
        ledger.write("VACUUM INTO ?", [to.to_string_lossy()])
    }

    /// The rows that a query finds, each as `read` reads it.
    pub(super) fn rows<T>(
        &self,
        what: &str,
        sql: &str,
        values: impl Params,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>> {
        let found = self.connection.prepare_cached(sql).and_then(|mut query| {
            let rows = query.query_map(values, read)?;
            rows.collect()
        });
        found.with_context(|| format!("reading {what}"))
    }

    /// The first row that a query finds.
    pub(super) fn row<T>(
        &self,
        what: &str,
        sql: &str,
        values: impl Params,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>> {
        let found = self.connection.prepare_cached(sql).and_then(|mut query| query.query_row(values, read));
        found.optional().with_context(|| format!("reading {what}"))
    }

    /// The format of the file, 0 if it is empty.
    fn format(&self) -> Result<i64> {
        // One statement, so that it cannot see the file before and after another assay made its tables.
        let sql = "SELECT user_version, (SELECT count(*) FROM sqlite_master) FROM pragma_user_version";
        let (found, tables): (i64, i64) = self
            .connection
            .query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?)))
            .map_err(|error| self.explain(error))?;
        let path = self.path.display();
        if found == 0 {
            if tables > 0 {
                let text =
                    format!("{path} is another program's SQLite database; choose another with --ledger FILE");
                return Err(Unusable(text).into());
            }
        } else if !(1..=FORMAT).contains(&found) {
            let text = format!(
                "the ledger {path} has format {found}, made by a newer assay; this one knows formats up to {FORMAT}. \
                 Use that newer assay, or keep this campaign elsewhere with --ledger FILE. Nothing was changed."
            );
            return Err(Unusable(text).into());
        }
        Ok(found)
    }

    fn set_id(&self) -> rusqlite::Result<()> {
        self.connection.pragma_update(None, "application_id", APPLICATION_ID)
    }

    fn set_up(&self) -> Result<()> {
        // WAL: readers and a writer do not wait for each other. FULL is not needed: after a loss of power the last
        // rounds may be missing, but the file is whole, and a killed process loses nothing that was committed.
        self.patiently(|| self.connection.pragma_update(None, "journal_mode", "WAL"))?;
        let set = |name, value| self.connection.pragma_update(None, name, value);
        set("synchronous", "NORMAL")
            .and_then(|()| set("foreign_keys", "ON"))
            .map_err(|error| self.explain(error))
    }

    /// Two that make the same file at once: SQLite does not wait here by itself, since each holds what the other needs, but
    /// refuses one of them.
    fn patiently(&self, change: impl Fn() -> rusqlite::Result<()>) -> Result<()> {
        let deadline = Instant::now() + PATIENCE;
        while let Err(error) = change() {
            if error.sqlite_error_code() != Some(ErrorCode::DatabaseBusy) || Instant::now() >= deadline {
                return Err(self.explain(error));
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        Ok(())
    }

    fn make_tables(&self) -> Result<()> {
        // An immediate transaction: two campaigns that start at once must not both create the tables.
        self.transaction(|connection| {
            if connection.pragma_query_value(None, "user_version", |row| row.get::<_, i64>(0))? == 0 {
                connection.execute_batch(include_str!("schema.sql"))?;
                connection.pragma_update(None, "user_version", FORMAT)?;
            }
            Ok(())
        })
    }

    /// Brings an older file up to date, all steps or none.
    fn migrate(&self) -> Result<()> {
        self.transaction(|connection| {
            // Another assay may have done it while this one waited.
            let found = connection.pragma_query_value(None, "user_version", |row| row.get::<_, i64>(0))?;
            for step in MIGRATIONS.iter().skip(found as usize - 1) {
                connection.execute_batch(step)?;
            }
            connection.pragma_update(None, "user_version", FORMAT)
        })
    }

    /// Where it lies.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn explain(&self, error: rusqlite::Error) -> anyhow::Error {
        explain(&self.path, error)
    }

    pub(super) fn write(&self, sql: &str, values: impl rusqlite::Params) -> Result<()> {
        self.connection.execute(sql, values).map(|_| ()).map_err(|error| self.explain(error))
    }

    pub(super) fn transaction(&self, work: impl FnOnce(&Connection) -> rusqlite::Result<()>) -> Result<()> {
        let transaction =
            rusqlite::Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate)
                .map_err(|error| self.explain(error))?;
        work(&transaction).map_err(|error| self.explain(error))?;
        transaction.commit().map_err(|error| self.explain(error))
    }
}

/// How long one wait of a writer takes.
const TURN: Duration = Duration::from_millis(10);

/// Another writer has the file, for the n-th time: whether to ask again.
fn wait(times: i32) -> bool {
    let waited = TURN * u32::try_from(times).unwrap_or(0);
    if waited == Duration::from_secs(1) {
        lock::tell("waiting for another program, which is writing to the ledger");
    }
    std::thread::sleep(TURN);
    waited < PATIENCE && !assay_linux::interrupt::asked()
}

/// Says what an SQLite error means for the user: what is safe, and what to do.
fn explain(path: &Path, error: rusqlite::Error) -> anyhow::Error {
    let path = path.display();
    let unusable = |text: String| Unusable(text).into();
    match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => anyhow!(
            "the disk that holds the ledger {path} is full. All finished rounds are safe in it; free some space and continue \
             with --resume, or use --ledger FILE on another disk"
        ),
        Some(ErrorCode::SystemIoFailure) => anyhow!(
            "the ledger {path} could not be read or written ({error}); is its disk full or gone? All finished rounds \
             are safe in it; continue with --resume, or use --ledger FILE on another disk"
        ),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            anyhow!(
                "the ledger {path} is locked by another program, which was waited for at most {} s",
                PATIENCE.as_secs()
            )
        }
        Some(ErrorCode::DatabaseCorrupt) => unusable(format!(
            "the ledger {path} is damaged ({error}). `sqlite3 {path} .recover` may save what is left; keep new \
             campaigns elsewhere with --ledger FILE"
        )),
        Some(ErrorCode::ReadOnly) => {
            unusable(format!("the ledger {path} cannot be written; choose another with --ledger FILE"))
        }
        Some(ErrorCode::CannotOpen) => unusable(format!(
            "the ledger {path} cannot be opened: it is not a file, or its folder is not writable; choose \
             another with --ledger FILE"
        )),
        Some(ErrorCode::NotADatabase) => unusable(format!(
            "{path} is not a ledger: it is not an SQLite file; choose another with --ledger FILE. Nothing was changed."
        )),
        _ => anyhow::Error::new(error).context(format!("the ledger {path}")),
    }
}

/// What a column's word means; none of NULL. A word that is none of these is an error.
pub(super) fn word<T>(
    row: &Row<'_>,
    column: usize,
    meaning: impl Fn(&str) -> Option<T>,
) -> rusqlite::Result<Option<T>> {
    let Some(found) = text(row, column)? else { return Ok(None) };
    meaning(found).map(Some).ok_or_else(|| {
        let unknown = format!("`{found}` is not a known value of this column");
        rusqlite::Error::FromSqlConversionFailure(column, rusqlite::types::Type::Text, unknown.into())
    })
}

// What follows is called fifteen million times for a million samples, and this crate is compiled for size.

/// A text as it lies in the row.
#[inline(always)]
pub(super) fn text<'r>(row: &'r Row<'_>, column: usize) -> rusqlite::Result<Option<&'r str>> {
    row.get_ref(column)?.as_str_or_null().map_err(|error| {
        rusqlite::Error::FromSqlConversionFailure(column, rusqlite::types::Type::Text, error.into())
    })
}

/// SQLite's integers are signed; everything counted here is not.
#[inline(always)]
pub(super) fn unsigned(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    Ok(row.get::<_, i64>(column)? as u64)
}

/// The same of what may not have been counted.
#[inline(always)]
pub(super) fn counted(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<u64>> {
    Ok(row.get::<_, Option<i64>>(column)?.map(|count| count as u64))
}

/// Unix seconds.
pub(super) fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |elapsed| elapsed.as_secs_f64())
}

/// Makes the ledger's folder where there is none; git ignores one of the usual name, `.assay`.
fn make_folder(folder: &Path) -> std::io::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    std::fs::create_dir_all(folder)?;
    if folder.ends_with(".assay") {
        std::fs::write(folder.join(".gitignore"), "*\n")?;
    }
    Ok(())
}

#[cfg(test)]
mod folder_tests {
    use super::*;

    #[test]
    fn git_ignores_a_folder_that_assay_made_and_no_other() {
        let folder = tempfile::tempdir().unwrap();
        for (name, expected) in [(".assay", true), ("results", false)] {
            let own = folder.path().join(name);
            Ledger::open(&own.join("ledger.db")).unwrap();
            assert_eq!(own.join(".gitignore").exists(), expected, "{name}");
            let _ = std::fs::remove_file(own.join(".gitignore"));
            Ledger::open(&own.join("ledger.db")).unwrap();
            assert!(!own.join(".gitignore").exists(), "whoever removed it meant it");
        }
    }
}
