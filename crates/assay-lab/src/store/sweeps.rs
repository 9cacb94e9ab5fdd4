//! Sweeps: rows, writing, reading. What they measured is kept as that of any campaign.

use super::Ledger;
use super::ledger::{now, word};
use anyhow::Result;
use assay_pure::ledger::Stopped;
use assay_pure::sweep::refine::Why;
use rusqlite::{Row, params};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What a sweep is, when it begins.
#[derive(Clone, Debug)]
pub struct NewSweep<'a> {
    /// Its name.
    pub name: &'a str,
    /// Hash of what was asked.
    pub question: &'a str,
    /// Every default filled in.
    pub spec: &'a Value,
    /// What the command line wants of it.
    pub asked: &'a Value,
}

/// A sweep as kept.
#[derive(Clone, Debug, PartialEq)]
pub struct SweepRow {
    /// Its number.
    pub id: i64,
    /// Its name.
    pub name: String,
    /// Every default filled in.
    pub spec: Value,
    /// What the command line wanted of it.
    pub asked: Value,
    /// Unix seconds.
    pub started_at: f64,
    /// Unix seconds; `None` while it runs or when it was killed.
    pub finished_at: Option<f64>,
    /// Why it ended; `None` while it runs or when it was killed.
    pub stopped: Option<Stopped>,
}

/// One input of a step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SweepPoint {
    /// Its name in the step's campaign.
    pub input: String,
    /// The input that it is a point of.
    pub of: String,
    /// The key's value.
    pub at: f64,
    /// Why it was measured.
    pub why: Why,
}

/// One campaign of a sweep.
#[derive(Clone, Debug, PartialEq)]
pub struct SweepStep {
    /// Its number within the sweep, from 0.
    pub step: u32,
    /// The campaign.
    pub campaign: i64,
    /// Its inputs.
    pub points: Vec<SweepPoint>,
}

const SWEEP: &str = "SELECT id, name, spec, asked, started_at, finished_at, stopped_because FROM sweep";

impl Ledger {
    /// Begins a sweep and returns its number.
    ///
    /// # Errors
    /// The ledger cannot be written.
    pub fn begin_sweep(&self, new: &NewSweep<'_>) -> Result<i64> {
        self.write(
            "INSERT INTO sweep (name, question, spec, asked, started_at) VALUES (?,?,?,?,?)",
            params![new.name, new.question, new.spec.to_string(), new.asked.to_string(), now()],
        )?;
        Ok(self.connection.last_insert_rowid())
    }

    /// Keeps a step; told again when its campaign goes on.
    ///
    /// # Errors
    /// The ledger cannot be written.
    pub fn put_sweep_step(&self, sweep: i64, step: &SweepStep) -> Result<()> {
        self.write(
            "INSERT OR REPLACE INTO sweep_step (sweep, step, campaign, points) VALUES (?,?,?,?)",
            params![sweep, step.step, step.campaign, serde_json::to_value(&step.points)?.to_string()],
        )
    }

    /// A sweep by its number, or the newest one.
    ///
    /// # Errors
    /// The ledger cannot be read.
    pub fn sweep(&self, id: Option<i64>) -> Result<Option<SweepRow>> {
        let sql = format!("{SWEEP} WHERE id = coalesce(?, (SELECT max(id) FROM sweep))");
        self.row("a sweep", &sql, [id], sweep_row)
    }

    /// All sweeps, newest first.
    ///
    /// # Errors
    /// The ledger cannot be read.
    pub fn sweeps(&self) -> Result<Vec<SweepRow>> {
        self.rows("the sweeps", &format!("{SWEEP} ORDER BY id DESC"), [], sweep_row)
    }

    /// The sweep that a campaign belongs to.
    ///
    /// # Errors
    /// The ledger cannot be read.
    pub fn sweep_of(&self, campaign: i64) -> Result<Option<SweepRow>> {
        let sql = format!("{SWEEP} WHERE id = (SELECT sweep FROM sweep_step WHERE campaign = ?)");
        self.row("a campaign's sweep", &sql, [campaign], sweep_row)
    }

    /// The campaigns of the sweep that a campaign is a step of, in order; of no sweep, it alone.
    ///
    /// # Errors
    /// The ledger cannot be read.
    pub fn with_its_sweep(&self, campaign: i64) -> Result<Vec<i64>> {
        let sql = "SELECT campaign FROM sweep_step WHERE sweep = (SELECT sweep FROM sweep_step WHERE campaign = ?) \
             ORDER BY step";
        let steps: Vec<i64> = self.rows("the steps beside a campaign", sql, [campaign], |row| row.get(0))?;
        Ok(if steps.is_empty() { vec![campaign] } else { steps })
    }

    /// The steps of a sweep, in order.
    ///
    /// # Errors
    /// The ledger cannot be read.
    pub fn sweep_steps(&self, sweep: i64) -> Result<Vec<SweepStep>> {
        self.rows(
            "a sweep's steps",
            "SELECT step, campaign, points FROM sweep_step WHERE sweep = ? ORDER BY step",
            [sweep],
            |row| {
                let points: String = row.get(2)?;
                Ok(SweepStep {
                    step: row.get(0)?,
                    campaign: row.get(1)?,
                    points: serde_json::from_str(&points).unwrap_or_default(),
                })
            },
        )
    }
}

fn sweep_row(row: &Row<'_>) -> rusqlite::Result<SweepRow> {
    let json = |column: usize| -> rusqlite::Result<Value> {
        Ok(serde_json::from_str(&row.get::<_, String>(column)?).unwrap_or(Value::Null))
    };
    Ok(SweepRow {
        id: row.get(0)?,
        name: row.get(1)?,
        spec: json(2)?,
        asked: json(3)?,
        started_at: row.get(4)?,
        finished_at: row.get(5)?,
        stopped: word(row, 6, Stopped::of)?,
    })
}
