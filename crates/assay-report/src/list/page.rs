//! The list as plain data; its JSON is an interface (schema/list-1.schema.json).

use super::brief::Brief;
use assay_pure::ledger::Kept;
use serde::{Deserialize, Serialize};

/// Name and version of the JSON.
pub const LIST_SCHEMA: &str = "assay.list/1";

/// What `assay report --list --json FILE` writes: what the ledger has, the newest first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ListPage {
    /// Name and version of this format.
    pub schema: String,
    /// The file.
    pub ledger: String,
    /// When the list was made: RFC 3339, UTC.
    pub made: String,
    /// Measurements that were asked for: those below and older ones that were left out.
    pub total: u64,
    /// The newest first.
    pub rows: Vec<ListRow>,
}

/// One measurement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ListRow {
    /// What names it in every verb that reads: `campaign/3`, `sweep/2`.
    pub path: String,
    /// What it is, by the verb that measures it.
    pub kind: Kept,
    /// Its name.
    pub name: String,
    /// The question in the author's words; of a comparison its command.
    pub question: String,
    /// What was asked, in a few words.
    pub asked: String,
    /// When it began: RFC 3339, UTC.
    pub began: String,
    /// Seconds from its beginning until the list was made.
    pub age_seconds: f64,
    /// Seconds from its beginning to its end; `null` while it runs or after it was killed.
    pub seconds: Option<f64>,
    /// Why it ended, or that it did not.
    pub state: String,
    /// What was answered; `null` before its end, and where the list was not asked to judge.
    pub answer: Option<Brief>,
}

impl ListPage {
    /// Its JSON.
    pub fn to_json(&self) -> String {
        crate::json::written(self)
    }
}

impl ListRow {
    /// What is typed to see it: a campaign's number is enough.
    pub fn what(&self) -> &str {
        self.path.strip_prefix("campaign/").unwrap_or(&self.path)
    }

    /// It came to an end that is no interruption.
    pub fn is_over(&self) -> bool {
        self.seconds.is_some() && self.state != assay_pure::ledger::Stopped::Interrupted.word()
    }
}
