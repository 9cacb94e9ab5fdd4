//! The list as plain data; its JSON is an interface (schema/list-1.schema.json).

use super::brief::Brief;
use assay_pure::ledger::{Kept, Stopped};
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
    #[cfg_attr(test, schemars(with = "String"))]
    pub state: ListState,
    /// What was answered; `null` before its end, and where the list was not asked to judge.
    pub answer: Option<Brief>,
}

/// Why a measurement ended, or that it did not; a word in JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "&str")]
pub enum ListState {
    /// It ended, and the ledger says why.
    Ended(Stopped),
    /// The ledger has no end of it: the two cannot be told apart.
    UnderWayOrKilled,
}

impl ListState {
    const UNDER_WAY_OR_KILLED: &str = "under way or killed";

    /// The word as it appears in reports.
    pub fn word(self) -> &'static str {
        match self {
            ListState::Ended(stopped) => stopped.word(),
            ListState::UnderWayOrKilled => Self::UNDER_WAY_OR_KILLED,
        }
    }
}

impl From<ListState> for &str {
    fn from(state: ListState) -> Self {
        state.word()
    }
}

impl TryFrom<String> for ListState {
    type Error = String;

    fn try_from(word: String) -> Result<Self, String> {
        if word == Self::UNDER_WAY_OR_KILLED {
            return Ok(ListState::UnderWayOrKilled);
        }
        Stopped::of(&word).map(ListState::Ended).ok_or_else(|| format!("unknown state `{word}`"))
    }
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
        self.seconds.is_some() && self.state != ListState::Ended(Stopped::Interrupted)
    }
}
