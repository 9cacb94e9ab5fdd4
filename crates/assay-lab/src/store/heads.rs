//! Heads: what is alike in the rows of all that is led. Each has an `id`, the `question` that was asked, the command line,
//! when it began and ended, why it stopped.

use super::Ledger;
use super::ledger::now;
use anyhow::{Context, Result};
use assay_pure::ledger::Stopped;
use rusqlite::params;
use serde_json::Value;

/// What is led.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Led {
    /// A campaign of an experiment.
    Campaign,
    /// A comparison of two builds.
    Comparison,
    /// A session of a diary: a comparison of many sides, among whose rows it is kept.
    Session,
    /// A sweep.
    Sweep,
}

impl Led {
    /// Its name.
    pub fn word(self) -> &'static str {
        match self {
            Led::Campaign => "campaign",
            Led::Comparison => "comparison",
            Led::Session => "session",
            Led::Sweep => "sweep",
        }
    }

    fn table(self) -> &'static str {
        if self == Led::Session { Led::Comparison.word() } else { self.word() }
    }
}

impl Ledger {
    /// Ends something, or marks what was interrupted as going on again with `None`.
    ///
    /// # Errors
    /// The ledger cannot be written.
    pub fn finish(&self, led: Led, id: i64, because: Option<Stopped>) -> Result<()> {
        self.write(
            &format!("UPDATE {} SET finished_at = ?, stopped_because = ? WHERE id = ?", led.table()),
            params![because.map(|_| now()), because.map(Stopped::word), id],
        )
    }

    /// Keeps the command line by which it is measured.
    ///
    /// # Errors
    /// The ledger cannot be written.
    pub fn put_command(&self, led: Led, id: i64, command: &str) -> Result<()> {
        self.write(&format!("UPDATE {} SET command = ? WHERE id = ?", led.table()), params![command, id])
    }

    /// The command line by which it was measured; `None`: it was not kept, as by assay before format 13.
    ///
    /// # Errors
    /// The ledger cannot be read.
    pub fn command_of(&self, led: Led, id: i64) -> Result<Option<String>> {
        let sql = format!("SELECT command FROM {} WHERE id = ?", led.table());
        Ok(self.row(&format!("the command of a {}", led.word()), &sql, [id], |row| row.get(0))?.flatten())
    }

    /// The machine that measured it, as its facts were kept; `None`: nothing was measured yet.
    ///
    /// # Errors
    /// The ledger cannot be read.
    pub fn machine_of(&self, led: Led, id: i64) -> Result<Option<Value>> {
        let sql = match led {
            Led::Campaign | Led::Comparison | Led::Session => {
                format!("SELECT machine FROM {} WHERE id = ?", led.table())
            }
            Led::Sweep => {
                "SELECT c.machine FROM campaign c JOIN sweep_step s ON s.campaign = c.id WHERE s.sweep = ? \
                           ORDER BY s.step LIMIT 1"
                    .to_owned()
            }
        };
        let text: Option<String> =
            self.row(&format!("the machine of a {}", led.word()), &sql, [id], |row| row.get(0))?;
        text.map(|text| serde_json::from_str(&text).context("reading a machine's facts")).transpose()
    }

    /// The numbers of all of this question that did not come to their end, the newest first.
    ///
    /// # Errors
    /// The ledger cannot be read.
    pub fn unfinished(&self, led: Led, question: &str) -> Result<Vec<i64>> {
        let sql = format!("SELECT id FROM {} WHERE question = ? AND {OPEN} ORDER BY id DESC", led.table());
        self.rows(&format!("what {} is unfinished", led.word()), &sql, [question], |row| row.get(0))
    }

    /// The newest of this question that came to its end and measured something.
    ///
    /// # Errors
    /// The ledger cannot be read.
    pub fn finished(&self, led: Led, question: &str) -> Result<Option<i64>> {
        let sql = format!(
            "SELECT id FROM {} WHERE question = ? AND NOT {OPEN} AND stopped_because <> 'nothing' ORDER BY id DESC LIMIT 1",
            led.table()
        );
        self.row(&format!("what {} is finished", led.word()), &sql, [question], |row| row.get(0))
    }
}

/// It runs, was killed, or was interrupted.
const OPEN: &str = "(stopped_because IS NULL OR stopped_because = 'interrupted')";
