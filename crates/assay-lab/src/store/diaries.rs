//! Optimisation diaries: rows, writing, reading. A session of a diary is a comparison of many sides, whose visits are kept
//! as those of any comparison.

use super::Ledger;
use super::comparisons::{NewComparison, insert_comparison, json};
use super::ledger::{now, word};
use anyhow::{Context, Result};
use assay_pure::ledger::Stopped;
use assay_pure::stages::EntrantKind;
use assay_pure::verdict::CountSource;
use rusqlite::{Row, params};
use serde_json::Value;

/// What a session is, when it begins.
#[derive(Clone, Debug)]
pub struct NewSession<'a> {
    /// The diary's name.
    pub diary: &'a str,
    /// What is measured, as of any comparison.
    pub comparison: NewComparison<'a>,
    /// The diary as read.
    pub spec: &'a Value,
    /// The digest of each declared file, what each role does.
    pub inputs: &'a Value,
}

/// A session as kept.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionRow {
    /// Its number, among all comparisons.
    pub comparison: i64,
    /// How it is measured, as of any comparison.
    pub asked: Value,
    /// The diary as read.
    pub spec: Value,
    /// The digest of each declared file, what each role does.
    pub inputs: Value,
    /// Facts of the machine.
    pub machine: Value,
    /// Unix seconds.
    pub started_at: f64,
    /// Why it stopped; `None` while it runs or when it was killed.
    pub stopped: Option<Stopped>,
}

/// A stage or reference as built for a session.
#[derive(Clone, Debug, PartialEq)]
pub struct DiaryEntrant {
    /// Its name.
    pub name: String,
    /// Which of the two.
    pub kind: EntrantKind,
    /// Its number among the sides; `None`: it was not measured.
    pub side: Option<u32>,
    /// Command, flags, environment, revision, whether its links are placed.
    pub built: Value,
    /// Hash of the program as built.
    pub artifact: Option<String>,
    /// Bytes of code.
    pub text_bytes: Option<u64>,
    /// Why it was not measured.
    pub failed: Option<String>,
}

/// A command of a role, as it was run first.
#[derive(Clone, Debug, PartialEq)]
pub struct DiaryTask {
    /// Whose.
    pub entrant: String,
    /// The role.
    pub role: String,
    /// As it was run.
    pub command: String,
    /// Units that it does.
    pub units: Option<f64>,
    /// Why it was not measured.
    pub failed: Option<String>,
}

/// What is counted: an entrant's command of one role, both by name.
#[derive(Clone, Copy, Debug)]
pub struct TaskName<'a> {
    /// The stage or the reference.
    pub entrant: &'a str,
    /// What the command is there for.
    pub role: &'a str,
}

/// What a command executes.
#[derive(Clone, Debug, PartialEq)]
pub struct DiaryCount {
    /// Whose.
    pub entrant: String,
    /// The role.
    pub role: String,
    /// Hash of the program.
    pub artifact: Option<String>,
    /// What must be equal for the row to be used again.
    pub method: String,
    /// Where they come from.
    pub source: CountSource,
    /// Instructions.
    pub instructions: Option<u64>,
    /// Branches of all classes.
    pub branches: Option<u64>,
    /// Conditional ones.
    pub conditional: Option<u64>,
    /// Mispredictions by predictor, or `counted`.
    pub misses: Vec<(String, u64)>,
    /// What start-up alone executes.
    pub start: Option<Value>,
    /// Branches of a second execution.
    pub again: Option<u64>,
    /// Per component.
    pub components: Value,
    /// Sentences.
    pub notes: Vec<String>,
    /// Why nothing was counted.
    pub failed: Option<String>,
}

impl Ledger {
    /// Begins a session, and its diary where that is the first one; returns the session's number among the comparisons.
    ///
    /// # Errors
    /// The ledger cannot be written.
    pub fn begin_session(&self, new: &NewSession<'_>) -> Result<i64> {
        self.transaction(|connection| {
            connection.execute(
                "INSERT OR IGNORE INTO diary (name, started_at) VALUES (?,?)",
                params![new.diary, now()],
            )?;
            insert_comparison(connection, &new.comparison)?;
            let comparison = connection.last_insert_rowid();
            connection.execute(
                "INSERT INTO diary_session (comparison, diary, spec, inputs) \
                 VALUES (?, (SELECT id FROM diary WHERE name = ?), ?, ?)",
                params![comparison, new.diary, new.spec.to_string(), new.inputs.to_string()],
            )?;
            Ok(())
        })?;
        let found =
            self.connection.query_row("SELECT max(comparison) FROM diary_session", [], |row| row.get(0));
        found.context("reading the session that was just begun")
    }

    /// Keeps an entrant; told again when a session goes on.
    ///
    /// # Errors
    /// The ledger cannot be written.
    pub fn put_diary_entrant(&self, session: i64, entrant: &DiaryEntrant) -> Result<()> {
        self.write(
            "INSERT OR REPLACE INTO diary_entrant (comparison, name, kind, side, built, artifact, text_bytes, failed) \
             VALUES (?,?,?,?,?,?,?,?)",
            params![
                session,
                entrant.name,
                entrant.kind.word(),
                entrant.side,
                entrant.built.to_string(),
                entrant.artifact,
                entrant.text_bytes.map(|bytes| bytes as i64),
                entrant.failed
            ],
        )
    }

    /// Keeps a task; told again when a session goes on.
    ///
    /// # Errors
    /// The ledger cannot be written.
    pub fn put_diary_task(&self, session: i64, task: &DiaryTask) -> Result<()> {
        self.write(
            "INSERT OR REPLACE INTO diary_task (comparison, entrant, role, command, units, failed) VALUES (?,?,?,?,?,?)",
            params![session, task.entrant, task.role, task.command, task.units, task.failed],
        )
    }

    /// Keeps what a command executes.
    ///
    /// # Errors
    /// The ledger cannot be written.
    pub fn put_diary_count(&self, session: i64, count: &DiaryCount) -> Result<()> {
        let number = |count: Option<u64>| count.map(|count| count as i64);
        self.write(
            "INSERT INTO diary_count (comparison, entrant, role, artifact, method, source, instructions, branches, \
             conditional, misses, start, again, components, notes, failed, at) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
            params![
                session,
                count.entrant,
                count.role,
                count.artifact,
                count.method,
                count.source.word(),
                number(count.instructions),
                number(count.branches),
                number(count.conditional),
                serde_json::json!(count.misses).to_string(),
                count.start.as_ref().map(Value::to_string),
                number(count.again),
                count.components.to_string(),
                serde_json::json!(count.notes).to_string(),
                count.failed,
                now()
            ],
        )
    }

    /// The sessions of a diary, oldest first; none if there is no such diary.
    ///
    /// # Errors
    /// The ledger cannot be read.
    pub fn sessions(&self, diary: &str) -> Result<Vec<SessionRow>> {
        self.rows(
            "a diary's sessions",
            "SELECT s.comparison, s.spec, s.inputs, c.machine, c.started_at, c.stopped_because, c.asked \
             FROM diary_session s JOIN comparison c ON c.id = s.comparison JOIN diary d ON d.id = s.diary \
             WHERE d.name = ? ORDER BY s.comparison",
            [diary],
            |row| {
                Ok(SessionRow {
                    comparison: row.get(0)?,
                    spec: json(row, 1)?,
                    inputs: json(row, 2)?,
                    machine: json(row, 3)?,
                    started_at: row.get(4)?,
                    stopped: word(row, 5, Stopped::of)?,
                    asked: json(row, 6)?,
                })
            },
        )
    }

    /// The names of all diaries, in the order in which they were begun.
    ///
    /// # Errors
    /// The ledger cannot be read.
    pub fn diaries(&self) -> Result<Vec<String>> {
        self.rows("the diaries", "SELECT name FROM diary ORDER BY id", [], |row| row.get(0))
    }

    /// What was built for a session, by name.
    ///
    /// # Errors
    /// The ledger cannot be read.
    pub fn diary_entrants(&self, session: i64) -> Result<Vec<DiaryEntrant>> {
        self.rows("what was built for a diary", "SELECT name, kind, side, built, artifact, text_bytes, failed FROM diary_entrant WHERE comparison = ? \
             ORDER BY rowid", [session], |row| {
            Ok(DiaryEntrant {
                name: row.get(0)?,
                kind: word(row, 1, EntrantKind::of)?.expect("the schema wants one"),
                side: row.get(2)?,
                built: json(row, 3)?,
                artifact: row.get(4)?,
                text_bytes: row.get::<_, Option<i64>>(5)?.map(|bytes| bytes as u64),
                failed: row.get(6)?,
            })
        })
    }

    /// The tasks of a session.
    ///
    /// # Errors
    /// The ledger cannot be read.
    pub fn diary_tasks(&self, session: i64) -> Result<Vec<DiaryTask>> {
        self.rows("a diary's tasks", "SELECT entrant, role, command, units, failed FROM diary_task WHERE comparison = ? ORDER BY rowid", [session], |row| {
            Ok(DiaryTask {
                entrant: row.get(0)?,
                role: row.get(1)?,
                command: row.get(2)?,
                units: row.get(3)?,
                failed: row.get(4)?,
            })
        })
    }

    /// Everything that was counted in a session.
    ///
    /// # Errors
    /// The ledger cannot be read.
    pub fn diary_counts(&self, session: i64) -> Result<Vec<DiaryCount>> {
        self.rows(
            "a diary's counts",
            &format!("{COUNT} WHERE comparison = ? ORDER BY id"),
            [session],
            read_count,
        )
    }

    /// The newest count of a diary that was found by this method, of this program; a failed one is none.
    ///
    /// # Errors
    /// The ledger cannot be read.
    pub fn known_diary_count(
        &self,
        diary: &str,
        of: TaskName<'_>,
        artifact: Option<&str>,
        method: &str,
    ) -> Result<Option<DiaryCount>> {
        let sql = format!(
            "{COUNT} WHERE entrant = ? AND role = ? AND artifact IS ? AND method = ? AND failed IS NULL AND comparison IN \
             (SELECT comparison FROM diary_session WHERE diary = (SELECT id FROM diary WHERE name = ?)) \
             ORDER BY id DESC LIMIT 1"
        );
        self.row(
            "what was counted before",
            &sql,
            params![of.entrant, of.role, artifact, method, diary],
            read_count,
        )
    }
}

const COUNT: &str = "SELECT entrant, role, artifact, method, source, instructions, branches, conditional, misses, start, \
                     again, components, notes, failed FROM diary_count";

fn read_count(row: &Row<'_>) -> rusqlite::Result<DiaryCount> {
    let number =
        |column: usize| row.get::<_, Option<i64>>(column).map(|found| found.map(|found| found as u64));
    let misses: Value = json(row, 8)?;
    let pairs = misses.as_array().cloned().unwrap_or_default();
    let pair = |pair: &Value| Some((pair[0].as_str()?.to_owned(), pair[1].as_u64()?));
    let notes: Value = json(row, 12)?;
    let has_start: Option<String> = row.get(9)?;
    Ok(DiaryCount {
        entrant: row.get(0)?,
        role: row.get(1)?,
        artifact: row.get(2)?,
        method: row.get(3)?,
        source: word(row, 4, CountSource::of)?.expect("the schema wants one"),
        instructions: number(5)?,
        branches: number(6)?,
        conditional: number(7)?,
        misses: pairs.iter().filter_map(pair).collect(),
        start: has_start.map(|_| json(row, 9)).transpose()?,
        again: number(10)?,
        components: json(row, 11)?,
        notes: notes
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|note| Some(note.as_str()?.to_owned()))
            .collect(),
        failed: row.get(13)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn begin(ledger: &Ledger, diary: &str) -> i64 {
        let (asked, machine) = (json!({"asked": 1}), json!({"cpu": "c"}));
        let comparison = NewComparison { question: "q", asked: &asked, machine: &machine, pinned_cpu: None };
        let (spec, inputs) = (json!({"name": diary}), json!({"a": "b"}));
        ledger.begin_session(&NewSession { diary, comparison, spec: &spec, inputs: &inputs }).unwrap()
    }

    fn count(branches: u64) -> DiaryCount {
        DiaryCount {
            entrant: "debug".into(),
            role: "alloc".into(),
            artifact: Some("hash".into()),
            method: "m".into(),
            source: CountSource::Traced,
            instructions: Some(1000),
            branches: Some(branches),
            conditional: None,
            misses: vec![("zen4".into(), 7), ("skylake".into(), 9)],
            start: Some(json!({"branches": 3})),
            again: Some(branches),
            components: json!([]),
            notes: vec!["n".into()],
            failed: None,
        }
    }

    #[test]
    fn what_is_kept_of_a_diary_comes_back() {
        let folder = tempfile::tempdir().unwrap();
        let ledger = Ledger::open(&folder.path().join("ledger.db")).unwrap();
        let (first, other, second) = (begin(&ledger, "d"), begin(&ledger, "other"), begin(&ledger, "d"));
        let sessions: Vec<i64> =
            ledger.sessions("d").unwrap().iter().map(|session| session.comparison).collect();
        assert_eq!(sessions, [first, second]);
        assert_eq!(ledger.sessions("other").unwrap()[0].comparison, other);
        assert!(ledger.sessions("none").unwrap().is_empty());
        assert_eq!(ledger.diaries().unwrap(), ["d", "other"]);
        let entrant = DiaryEntrant {
            name: "debug".into(),
            kind: EntrantKind::Stage,
            side: Some(0),
            built: json!({"flags": "-O0"}),
            artifact: Some("hash".into()),
            text_bytes: Some(4096),
            failed: None,
        };
        let failed =
            DiaryEntrant { name: "b".into(), side: None, failed: Some("exit 2".into()), ..entrant.clone() };
        for entrant in [&entrant, &failed] {
            ledger.put_diary_entrant(first, entrant).unwrap();
        }
        assert_eq!(ledger.diary_entrants(first).unwrap(), [entrant, failed]);
        let task = DiaryTask {
            entrant: "debug".into(),
            role: "alloc".into(),
            command: "./b".into(),
            units: Some(10.0),
            failed: None,
        };
        ledger.put_diary_task(first, &task).unwrap();
        assert_eq!(ledger.diary_tasks(first).unwrap(), [task]);
        ledger.put_diary_count(first, &count(5)).unwrap();
        assert_eq!(ledger.diary_counts(first).unwrap(), [count(5)]);
        assert_eq!(
            ledger.comparison(None).unwrap().map(|row| row.id),
            None,
            "a session is no comparison of two builds"
        );
        assert_eq!(ledger.comparison(Some(first)).unwrap().map(|row| row.id), Some(first));
    }

    #[test]
    fn a_count_is_known_again_by_program_and_method_within_its_diary() {
        let folder = tempfile::tempdir().unwrap();
        let ledger = Ledger::open(&folder.path().join("ledger.db")).unwrap();
        let session = begin(&ledger, "d");
        begin(&ledger, "other");
        for branches in [5, 6] {
            ledger.put_diary_count(session, &count(branches)).unwrap();
        }
        ledger.put_diary_count(session, &DiaryCount { failed: Some("no".into()), ..count(7) }).unwrap();
        let known = |diary: &str, role: &str, artifact: Option<&str>, method: &str| {
            let found = ledger
                .known_diary_count(diary, TaskName { entrant: "debug", role }, artifact, method)
                .unwrap();
            found.and_then(|count| count.branches)
        };
        assert_eq!(known("d", "alloc", Some("hash"), "m"), Some(6), "the newest that did not fail");
        assert_eq!(known("other", "alloc", Some("hash"), "m"), None);
        assert_eq!(known("d", "free", Some("hash"), "m"), None);
        assert_eq!(known("d", "alloc", Some("hush"), "m"), None);
        assert_eq!(known("d", "alloc", None, "m"), None);
        assert_eq!(known("d", "alloc", Some("hash"), "n"), None);
    }
}
