//! Words for one execution of a command: in which mode of the processor its events count, and why it ended.

use serde::{Deserialize, Serialize};

/// In which mode of the processor an event counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Scope {
    /// In the program itself.
    User,
    /// In the kernel on its behalf.
    Kernel,
    /// In both.
    All,
}

/// Why an execution ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum EndedBy {
    /// Itself, whatever its code or signal.
    Itself,
    /// The time limit.
    TimeLimit,
    /// An interrupt of the lab.
    Interrupt,
}

/// How an execution ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommandEnd {
    /// Why.
    pub by: EndedBy,
    /// Its exit code; none if it was ended by a signal, or unknown.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
}

impl CommandEnd {
    /// What is unusual about it, as part of a sentence: "exit code 3", "ended by signal 9"; none for exit code 0.
    pub fn unusual(self) -> Option<String> {
        match (self.by, self.code, self.signal) {
            (EndedBy::TimeLimit, ..) => Some("ended at the time limit".to_owned()),
            (EndedBy::Interrupt, ..) => Some("interrupted".to_owned()),
            (EndedBy::Itself, Some(0), _) => None,
            (EndedBy::Itself, Some(code), _) => Some(format!("exit code {code}")),
            (EndedBy::Itself, None, Some(signal)) => Some(format!("ended by signal {signal}")),
            (EndedBy::Itself, None, None) => Some("ended in an unknown way".to_owned()),
        }
    }
}
