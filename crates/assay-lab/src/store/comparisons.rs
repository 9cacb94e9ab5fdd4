//! Comparisons of other people's builds: rows, writing, reading. A visit and its figures are one transaction.

use super::Ledger;
use super::ledger::{now, word};
use anyhow::Result;
use assay_pure::ledger::Stopped;
use rusqlite::params;
use serde_json::Value;

/// What a comparison is, when it begins.
#[derive(Clone, Debug)]
pub struct NewComparison<'a> {
    /// SHA-256 of what was asked.
    pub question: &'a str,
    /// Commands, revisions, adapter, options.
    pub asked: &'a Value,
    /// Facts of the machine.
    pub machine: &'a Value,
    /// The processor that measures.
    pub pinned_cpu: Option<usize>,
}

/// A comparison as kept.
#[derive(Clone, Debug)]
pub struct ComparisonRow {
    /// Its number.
    pub id: i64,
    /// Commands, revisions, adapter, options.
    pub asked: Value,
    /// Facts of the machine.
    pub machine: Value,
    /// The processor that measured.
    pub pinned_cpu: Option<usize>,
    /// Unix seconds.
    pub started_at: f64,
    /// Why it stopped; `None` while it runs or when it was killed.
    pub stopped: Option<Stopped>,
}

/// One side.
#[derive(Clone, Debug, PartialEq)]
pub struct SideRow {
    /// 0 the baseline, 1 the candidate.
    pub side: u32,
    /// As the user called it.
    pub name: String,
    /// Full hash of the commit.
    pub revision: Option<String>,
    /// The captured links that the benchmark uses.
    pub links: Value,
}

/// One launch of the benchmark command.
#[derive(Clone, Debug, PartialEq)]
pub struct VisitRow {
    /// The pass over all placements, from 0.
    pub round: u32,
    /// Which side.
    pub side: u32,
    /// The shuffle's number; `None`: as built.
    pub rotation: Option<u32>,
    /// Padding ahead of all code, bytes; `None`: as built.
    pub phase_bytes: Option<u32>,
    /// Padding of its environment.
    pub environment_bytes: u64,
    /// How far its stack was moved.
    pub stack_bytes: u64,
    /// The kernel drew its addresses.
    pub aslr: bool,
    /// How long it took.
    pub elapsed_ns: u64,
    /// Why it gave no figures.
    pub failed: Option<String>,
    /// What it gave.
    pub figures: Vec<FigureRow>,
    /// The memory of its commands, where known.
    pub memory: Vec<MemoryRow>,
}

/// The memory of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryRow {
    /// Of a diary; empty: the command of a comparison.
    pub role: String,
    /// The most that one of its processes had at once.
    pub peak_bytes: u64,
}

/// One figure of a visit.
#[derive(Clone, Debug, PartialEq)]
pub struct FigureRow {
    /// The benchmark's name.
    pub benchmark: String,
    /// From 0.
    pub repetition: u32,
    /// The figure.
    pub value: f64,
    /// Its unit.
    pub unit: String,
}

impl Ledger {
    /// Begins a comparison and returns its number.
    ///
    /// # Errors
    /// The ledger cannot be written.
    pub fn begin_comparison(&self, new: &NewComparison<'_>) -> Result<i64> {
        self.transaction(|connection| insert_comparison(connection, new))?;
        Ok(self.connection.last_insert_rowid())
    }

    /// Keeps a side; told again when a comparison goes on.
    ///
    /// # Errors
    /// The ledger cannot be written.
    pub fn put_side(&self, comparison: i64, side: &SideRow) -> Result<()> {
        self.write(
            "INSERT OR REPLACE INTO comparison_side (comparison, side, name, revision, links) VALUES (?,?,?,?,?)",
            params![comparison, side.side, side.name, side.revision, side.links.to_string()],
        )
    }

    /// Keeps a visit with all its figures: all of it or none.
    ///
    /// # Errors
    /// The ledger cannot be written.
    pub fn put_visit(&self, comparison: i64, visit: &VisitRow) -> Result<()> {
        self.transaction(|connection| {
            connection.execute(
                "INSERT INTO comparison_visit (comparison, round, side, rotation, phase_bytes, environment_bytes, \
                 stack_bytes, aslr, elapsed_ns, failed, started_at) VALUES (?,?,?,?,?,?,?,?,?,?,?)",
                params![
                    comparison,
                    visit.round,
                    visit.side,
                    visit.rotation,
                    visit.phase_bytes,
                    visit.environment_bytes as i64,
                    visit.stack_bytes as i64,
                    visit.aslr,
                    visit.elapsed_ns as i64,
                    visit.failed,
                    now() - visit.elapsed_ns as f64 / 1e9
                ],
            )?;
            let id = connection.last_insert_rowid();
            let mut insert = connection.prepare_cached(
                "INSERT INTO comparison_figure (visit, benchmark, repetition, value, unit) VALUES (?,?,?,?,?)",
            )?;
            for figure in &visit.figures {
                insert.execute(params![id, figure.benchmark, figure.repetition, figure.value, figure.unit])?;
            }
            let mut insert = connection.prepare_cached(
                "INSERT INTO comparison_memory (visit, role, peak_bytes) VALUES (?,?,?)",
            )?;
            for memory in &visit.memory {
                insert.execute(params![id, memory.role, memory.peak_bytes as i64])?;
            }
            Ok(())
        })
    }

    /// Keeps what a benchmark's code says.
    ///
    /// # Errors
    /// The ledger cannot be written.
    pub fn put_comparison_code(&self, comparison: i64, benchmark: &str, found: &Value) -> Result<()> {
        self.write(
            "INSERT OR REPLACE INTO comparison_code (comparison, benchmark, found) VALUES (?,?,?)",
            params![comparison, benchmark, found.to_string()],
        )
    }

    /// A comparison by its number, or the newest one of two builds: the sessions of diaries have pages of their own.
    ///
    /// # Errors
    /// The ledger cannot be read.
    pub fn comparison(&self, id: Option<i64>) -> Result<Option<ComparisonRow>> {
        let sql = format!(
            "{COMPARISON} WHERE id = coalesce(?, (SELECT max(id) FROM comparison \
             WHERE id NOT IN (SELECT comparison FROM diary_session)))"
        );
        self.row("a comparison", &sql, [id], read_comparison)
    }

    /// The numbers of all comparisons of two builds, the newest first.
    ///
    /// # Errors
    /// The ledger cannot be read.
    pub fn comparison_numbers(&self) -> Result<Vec<i64>> {
        let sql = "SELECT id FROM comparison WHERE id NOT IN (SELECT comparison FROM diary_session) ORDER BY id DESC";
        self.rows("the comparisons", sql, [], |row| row.get(0))
    }

    /// Both sides of a comparison, the baseline first.
    ///
    /// # Errors
    /// The ledger cannot be read.
    pub fn sides(&self, comparison: i64) -> Result<Vec<SideRow>> {
        self.rows(
            "a comparison's sides",
            "SELECT side, name, revision, links FROM comparison_side WHERE comparison = ? ORDER BY side",
            [comparison],
            |row| {
                Ok(SideRow {
                    side: row.get(0)?,
                    name: row.get(1)?,
                    revision: row.get(2)?,
                    links: json(row, 3)?,
                })
            },
        )
    }

    /// All visits of a comparison in the order of execution, with their figures.
    ///
    /// # Errors
    /// The ledger cannot be read.
    pub fn visits(&self, comparison: i64) -> Result<Vec<VisitRow>> {
        let sql = "SELECT id, round, side, rotation, phase_bytes, environment_bytes, stack_bytes, aslr, elapsed_ns, \
                   failed FROM comparison_visit WHERE comparison = ? ORDER BY id";
        let mut found = self.rows("a comparison's visits", sql, [comparison], |row| {
            let visit = VisitRow {
                round: row.get(1)?,
                side: row.get(2)?,
                rotation: row.get(3)?,
                phase_bytes: row.get(4)?,
                environment_bytes: row.get::<_, i64>(5)? as u64,
                stack_bytes: row.get::<_, i64>(6)? as u64,
                aslr: row.get(7)?,
                elapsed_ns: row.get::<_, i64>(8)? as u64,
                failed: row.get(9)?,
                figures: Vec::new(),
                memory: Vec::new(),
            };
            Ok((row.get::<_, i64>(0)?, visit))
        })?;
        let sql = "SELECT benchmark, repetition, value, unit FROM comparison_figure WHERE visit = ? \
                   ORDER BY benchmark, repetition";
        for (id, visit) in &mut found {
            visit.figures = self.rows("a visit's figures", sql, [*id], |row| {
                Ok(FigureRow {
                    benchmark: row.get(0)?,
                    repetition: row.get(1)?,
                    value: row.get(2)?,
                    unit: row.get(3)?,
                })
            })?;
            let sql = "SELECT role, peak_bytes FROM comparison_memory WHERE visit = ? ORDER BY role";
            visit.memory = self.rows("a visit's memory", sql, [*id], |row| {
                Ok(MemoryRow { role: row.get(0)?, peak_bytes: row.get::<_, i64>(1)? as u64 })
            })?;
        }
        Ok(found.into_iter().map(|(_, visit)| visit).collect())
    }

    /// What the benchmarks' code says, by name.
    ///
    /// # Errors
    /// The ledger cannot be read.
    pub fn comparison_code(&self, comparison: i64) -> Result<Vec<(String, Value)>> {
        self.rows(
            "what the benchmarks' code says",
            "SELECT benchmark, found FROM comparison_code WHERE comparison = ? ORDER BY benchmark",
            [comparison],
            |row| Ok((row.get(0)?, json(row, 1)?)),
        )
    }
}

pub(super) fn insert_comparison(
    connection: &rusqlite::Connection,
    new: &NewComparison<'_>,
) -> rusqlite::Result<()> {
    let sql = "INSERT INTO comparison (question, asked, machine, pinned_cpu, assay_version, started_at) \
               VALUES (?,?,?,?,?,?)";
    let values = params![
        new.question,
        new.asked.to_string(),
        new.machine.to_string(),
        new.pinned_cpu.map(|cpu| cpu as i64),
        env!("CARGO_PKG_VERSION"),
        now()
    ];
    connection.execute(sql, values).map(|_| ())
}

const COMPARISON: &str = "SELECT id, asked, machine, pinned_cpu, started_at, stopped_because FROM comparison";

fn read_comparison(row: &rusqlite::Row<'_>) -> rusqlite::Result<ComparisonRow> {
    Ok(ComparisonRow {
        id: row.get(0)?,
        asked: json(row, 1)?,
        machine: json(row, 2)?,
        pinned_cpu: row.get::<_, Option<i64>>(3)?.map(|cpu| cpu as usize),
        started_at: row.get(4)?,
        stopped: word(row, 5, Stopped::of)?,
    })
}

pub(super) fn json(row: &rusqlite::Row<'_>, column: usize) -> rusqlite::Result<Value> {
    let text: String = row.get(column)?;
    let kind = rusqlite::types::Type::Text;
    serde_json::from_str(&text)
        .map_err(|error| rusqlite::Error::FromSqlConversionFailure(column, kind, Box::new(error)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn visit(round: u32, side: u32, rotation: Option<u32>) -> VisitRow {
        let figure = |benchmark: &str, repetition, value| FigureRow {
            benchmark: benchmark.into(),
            repetition,
            value,
            unit: "ns".into(),
        };
        VisitRow {
            round,
            side,
            rotation,
            phase_bytes: rotation.map(|_| 16),
            environment_bytes: 640,
            stack_bytes: 48,
            aslr: side == 1,
            elapsed_ns: 1_000_000,
            failed: None,
            figures: vec![figure("BM_a", 0, 1.5), figure("BM_a", 1, 1.25), figure("BM_b", 0, 7.0)],
            memory: vec![MemoryRow { role: String::new(), peak_bytes: 5 << 30 }],
        }
    }

    #[test]
    fn what_is_kept_of_a_comparison_comes_back() {
        let folder = tempfile::tempdir().unwrap();
        let ledger = Ledger::open(&folder.path().join("ledger.db")).unwrap();
        let (asked, machine) = (json!({"bench": "./b"}), json!({"cpu": "c"}));
        let new = NewComparison { question: "q", asked: &asked, machine: &machine, pinned_cpu: Some(1) };
        let id = ledger.begin_comparison(&new).unwrap();
        let sides = [0, 1].map(|side| SideRow {
            side,
            name: ["main", "HEAD"][side as usize].into(),
            revision: (side == 0).then(|| "abc".into()),
            links: json!([{"output": "b"}]),
        });
        for side in &sides {
            ledger.put_side(id, side).unwrap();
        }
        let failed = VisitRow { failed: Some("exit code 1".into()), figures: vec![], ..visit(1, 0, Some(2)) };
        let visits = [visit(0, 0, None), visit(0, 1, Some(0)), failed];
        for visit in &visits {
            ledger.put_visit(id, visit).unwrap();
        }
        ledger.put_comparison_code(id, "BM_a", &json!({"identical": true})).unwrap();
        assert_eq!(ledger.sides(id).unwrap(), sides);
        assert_eq!(ledger.visits(id).unwrap(), visits);
        assert_eq!(ledger.comparison_code(id).unwrap(), [("BM_a".into(), json!({"identical": true}))]);
        let row = ledger.comparison(None).unwrap().unwrap();
        assert_eq!((row.id, row.asked, row.pinned_cpu, row.stopped), (id, asked, Some(1), None));
    }

    #[test]
    fn a_comparison_is_found_by_its_number() {
        let folder = tempfile::tempdir().unwrap();
        let ledger = Ledger::open(&folder.path().join("ledger.db")).unwrap();
        let nothing = json!({});
        let new = NewComparison { question: "q", asked: &nothing, machine: &nothing, pinned_cpu: None };
        let [first, _] = [0; 2].map(|_| ledger.begin_comparison(&new).unwrap());
        assert_eq!(ledger.comparison(Some(first)).unwrap().unwrap().id, first);
        assert!(ledger.comparison(Some(99)).unwrap().is_none());
    }
}
