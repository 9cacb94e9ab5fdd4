//! Figures of other tools: rows, writing, reading. A file and its figures are one transaction.

use super::Ledger;
use super::ledger::now;
use anyhow::Result;
use rusqlite::params;

/// A file as it is imported.
#[derive(Clone, Debug, PartialEq)]
pub struct NewImport {
    /// Of the history it belongs to.
    pub name: String,
    /// Whose format it is.
    pub tool: String,
    /// Its name.
    pub file: String,
    /// SHA-256 of what is in it.
    pub digest: String,
    /// The machine as the file or the user calls it; empty: not told.
    pub machine: String,
    /// What was measured.
    pub revision: Option<String>,
    /// Sentences of the reader.
    pub notes: Vec<String>,
    /// Unix seconds.
    pub measured_at: f64,
    /// What is in it.
    pub figures: Vec<ImportedFigure>,
}

/// One number.
#[derive(Clone, Debug, PartialEq)]
pub struct ImportedFigure {
    /// The benchmark's name.
    pub benchmark: String,
    /// From 0.
    pub repetition: u32,
    /// The number.
    pub value: f64,
    /// Its unit.
    pub unit: String,
    /// The file's own interval.
    pub interval: Option<(f64, f64)>,
}

/// A file as kept.
#[derive(Clone, Debug, PartialEq)]
pub struct ImportedRow {
    /// Its number.
    pub id: i64,
    /// What was imported, with its figures.
    pub file: NewImport,
}

impl Ledger {
    /// Keeps a file with all its figures, and returns its number.
    ///
    /// # Errors
    /// The ledger cannot be written.
    pub fn put_import(&self, new: &NewImport) -> Result<i64> {
        let mut id = 0;
        self.transaction(|connection| {
            connection.execute(
                "INSERT INTO imported (name, tool, file, digest, machine, revision, notes, measured_at, imported_at) \
                 VALUES (?,?,?,?,?,?,?,?,?)",
                params![
                    new.name,
                    new.tool,
                    new.file,
                    new.digest,
                    new.machine,
                    new.revision,
                    serde_json::json!(new.notes).to_string(),
                    new.measured_at,
                    now()
                ],
            )?;
            id = connection.last_insert_rowid();
            let mut insert = connection.prepare_cached(
                "INSERT INTO imported_figure (imported, benchmark, repetition, value, unit, lower, upper) \
                 VALUES (?,?,?,?,?,?,?)",
            )?;
            for figure in &new.figures {
                insert.execute(params![
                    id,
                    figure.benchmark,
                    figure.repetition,
                    figure.value,
                    figure.unit,
                    figure.interval.map(|interval| interval.0),
                    figure.interval.map(|interval| interval.1)
                ])?;
            }
            Ok(())
        })?;
        Ok(id)
    }

    /// The number of the import of this content, of this commit, into this history.
    ///
    /// # Errors
    /// The ledger cannot be read.
    pub fn known_import(&self, name: &str, digest: &str, revision: Option<&str>) -> Result<Option<i64>> {
        let sql = "SELECT id FROM imported WHERE name = ? AND digest = ? AND revision IS ?";
        self.row("the imports", sql, params![name, digest, revision], |row| row.get(0))
    }

    /// The names of all histories with imports, the newest import's first.
    ///
    /// # Errors
    /// The ledger cannot be read.
    pub fn imported_names(&self) -> Result<Vec<String>> {
        let sql = "SELECT name FROM imported GROUP BY name ORDER BY max(id) DESC";
        self.rows("the imports", sql, [], |row| row.get(0))
    }

    /// The imports of a history, the oldest measurement first.
    ///
    /// # Errors
    /// The ledger cannot be read.
    pub fn imports_of(&self, name: &str) -> Result<Vec<ImportedRow>> {
        let sql = "SELECT id, name, tool, file, digest, machine, revision, notes, measured_at FROM imported \
                   WHERE name = ? ORDER BY measured_at, id";
        let mut found = self.rows("the imports", sql, [name], |row| {
            let file = NewImport {
                name: row.get(1)?,
                tool: row.get(2)?,
                file: row.get(3)?,
                digest: row.get(4)?,
                machine: row.get(5)?,
                revision: row.get(6)?,
                notes: serde_json::from_str(&row.get::<_, String>(7)?).unwrap_or_default(),
                measured_at: row.get(8)?,
                figures: Vec::new(),
            };
            Ok(ImportedRow { id: row.get(0)?, file })
        })?;
        let sql = "SELECT benchmark, repetition, value, unit, lower, upper FROM imported_figure WHERE imported = ? \
                   ORDER BY rowid";
        for import in &mut found {
            import.file.figures = self.rows("an import's figures", sql, [import.id], |row| {
                let ends: (Option<f64>, Option<f64>) = (row.get(4)?, row.get(5)?);
                Ok(ImportedFigure {
                    benchmark: row.get(0)?,
                    repetition: row.get(1)?,
                    value: row.get(2)?,
                    unit: row.get(3)?,
                    interval: ends.0.zip(ends.1),
                })
            })?;
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_import_comes_back_in_the_order_of_measuring() {
        let folder = tempfile::tempdir().unwrap();
        let ledger = Ledger::open(&folder.path().join("ledger.db")).unwrap();
        let figure = |benchmark: &str, repetition, interval| ImportedFigure {
            benchmark: benchmark.into(),
            repetition,
            value: 2.5,
            unit: "ns/op".into(),
            interval,
        };
        let new = |measured_at, digest: &str| NewImport {
            name: "sums".into(),
            tool: "go".into(),
            file: "new.txt".into(),
            digest: digest.into(),
            machine: "m".into(),
            revision: Some("abc".into()),
            notes: vec!["One failed.".into()],
            measured_at,
            figures: vec![figure("B", 0, Some((2.0, 3.0))), figure("B", 1, None), figure("A", 0, None)],
        };
        let (late, early) = (new(20.0, "x"), new(10.0, "y"));
        assert_eq!([ledger.put_import(&late).unwrap(), ledger.put_import(&early).unwrap()], [1, 2]);
        let found: Vec<NewImport> =
            ledger.imports_of("sums").unwrap().into_iter().map(|row| row.file).collect();
        assert_eq!(found, [early, late]);
        assert_eq!(ledger.known_import("sums", "x", Some("abc")).unwrap(), Some(1));
        assert_eq!(ledger.known_import("sums", "x", None).unwrap(), None);
        assert_eq!(ledger.imported_names().unwrap(), ["sums"]);
    }
}
