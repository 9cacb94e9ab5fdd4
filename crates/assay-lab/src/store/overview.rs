//! What a ledger has: a row for each thing that was asked, and how far one that is under way has come.

use super::Ledger;
use super::ledger::word;
use anyhow::Result;
pub use assay_pure::ledger::Kept;
use assay_pure::ledger::Stopped;

/// Number, name, what was asked, began, ended, why; the newest first.
fn sql(kind: Kept) -> &'static str {
    match kind {
        Kept::Campaign => {
            "SELECT id, experiment, COALESCE(json_extract(spec, '$.question'), ''), started_at, finished_at, \
                 stopped_because FROM campaign WHERE id NOT IN (SELECT campaign FROM sweep_step) ORDER BY id DESC"
        }
        Kept::Comparison => {
            "SELECT c.id, COALESCE((SELECT group_concat(name, ' / ') FROM (SELECT name FROM comparison_side WHERE \
                 comparison = c.id ORDER BY side)), ''), COALESCE(json_extract(c.asked, '$.bench[0]'), ''), \
                 c.started_at, c.finished_at, c.stopped_because FROM comparison c WHERE id NOT IN (SELECT comparison \
                 FROM diary_session) ORDER BY id DESC"
        }
        Kept::Sweep => {
            "SELECT s.id, s.name, COALESCE(json_extract(s.spec, '$.key'), ''), s.started_at, s.finished_at, \
                 s.stopped_because FROM sweep s ORDER BY id DESC"
        }
        Kept::Diary => {
            "SELECT d.id, d.name, COALESCE((SELECT json_extract(s.spec, '$.question') FROM diary_session s WHERE \
                 s.diary = d.id ORDER BY s.comparison DESC LIMIT 1), ''), d.started_at, (SELECT max(c.finished_at) FROM \
                 comparison c JOIN diary_session s ON s.comparison = c.id WHERE s.diary = d.id), (SELECT \
                 c.stopped_because FROM comparison c JOIN diary_session s ON s.comparison = c.id WHERE s.diary = d.id \
                 ORDER BY c.id DESC LIMIT 1) FROM diary d ORDER BY id DESC"
        }
    }
}

/// One thing that was asked.
#[derive(Clone, Debug, PartialEq)]
pub struct KeptRow {
    /// What it is.
    pub kind: Kept,
    /// Its number.
    pub id: i64,
    /// Its name.
    pub name: String,
    /// What was asked.
    pub question: String,
    /// Unix seconds.
    pub started_at: f64,
    /// Unix seconds; none while it runs or when it was killed.
    pub finished_at: Option<f64>,
    /// Why it ended; none while it runs or when it was killed.
    pub stopped: Option<Stopped>,
}

/// How far something has come.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Advance {
    /// Passes over what is measured.
    pub rounds: u64,
    /// Samples, or visits of a comparison.
    pub samples: u64,
    /// Seconds of measuring.
    pub seconds: f64,
    /// When the last round ended, Unix seconds.
    pub last_at: Option<f64>,
    /// Contrasts that were decided at the last look, and all of them.
    pub decided: Option<(u64, u64)>,
}

impl Ledger {
    /// Everything of a kind, the newest first.
    ///
    /// # Errors
    /// The ledger cannot be read.
    pub fn kept(&self, kind: Kept) -> Result<Vec<KeptRow>> {
        self.rows("what the ledger has", sql(kind), [], |row| {
            Ok(KeptRow {
                kind,
                id: row.get(0)?,
                name: row.get(1)?,
                question: row.get(2)?,
                started_at: row.get(3)?,
                finished_at: row.get(4)?,
                stopped: word(row, 5, Stopped::of)?,
            })
        })
    }

    /// The version of assay that measured a campaign.
    ///
    /// # Errors
    /// The ledger cannot be read.
    pub fn version_of(&self, campaign: i64) -> Result<Option<String>> {
        let sql = "SELECT assay_version FROM campaign WHERE id = ?";
        self.row("a campaign's version", sql, [campaign], |row| row.get(0))
    }

    /// The versions of assay that measured what is here.
    ///
    /// # Errors
    /// The ledger cannot be read.
    pub fn versions(&self) -> Result<Vec<String>> {
        let sql = "SELECT assay_version FROM campaign UNION SELECT assay_version FROM comparison";
        self.rows("the versions of assay", sql, [], |row| row.get(0))
    }

    /// How far a campaign has come; of sweeps the same of all their campaigns.
    ///
    /// # Errors
    /// The ledger cannot be read.
    pub fn advance_of_campaign(&self, campaign: i64) -> Result<Advance> {
        let sql = "SELECT count(*), COALESCE(sum(elapsed_ns), 0) / 1e9, max(started_at + elapsed_ns / 1e9) FROM round \
                   WHERE campaign = ?";
        let rounds = self.row("a campaign's rounds", sql, [campaign], |row| {
            Ok((row.get::<_, i64>(0)?, row.get::<_, f64>(1)?, row.get::<_, Option<f64>>(2)?))
        })?;
        let sql = "SELECT count(*) FROM sample WHERE campaign = ?";
        let samples = self.row("a campaign's samples", sql, [campaign], |row| row.get::<_, i64>(0))?;
        let sql = "SELECT decided, contrasts FROM look WHERE campaign = ? ORDER BY look DESC LIMIT 1";
        let decided = self.row("a campaign's looks", sql, [campaign], |row| {
            Ok((row.get::<_, i64>(0)? as u64, row.get::<_, i64>(1)? as u64))
        })?;
        let (rounds, seconds, last_at) = rounds.unwrap_or_default();
        let samples = samples.unwrap_or_default() as u64;
        Ok(Advance { rounds: rounds as u64, samples, seconds, last_at, decided })
    }

    /// How far a comparison has come.
    ///
    /// # Errors
    /// The ledger cannot be read.
    pub fn advance_of_comparison(&self, comparison: i64) -> Result<Advance> {
        let sql = "SELECT count(DISTINCT round), count(*), COALESCE(sum(elapsed_ns), 0) / 1e9, \
                   max(started_at + elapsed_ns / 1e9) FROM comparison_visit WHERE comparison = ?";
        let found = self.row("a comparison's visits", sql, [comparison], |row| {
            Ok(Advance {
                rounds: row.get::<_, i64>(0)? as u64,
                samples: row.get::<_, i64>(1)? as u64,
                seconds: row.get(2)?,
                last_at: row.get(3)?,
                decided: None,
            })
        })?;
        Ok(found.unwrap_or_default())
    }
}
