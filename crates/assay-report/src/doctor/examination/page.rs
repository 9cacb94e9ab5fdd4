//! What was looked for, what was seen, why it matters and what to change.

use serde::{Deserialize, Serialize};

/// The value of `schema` in every page written by this version.
pub const EXAMINATION_SCHEMA: &str = "assay.doctor/2";

/// What was examined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// This machine.
    Machine,
    /// An experiment's file, program and inputs.
    Experiment,
}

/// How bad it is; the order is that of the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// It was looked for, and nothing is wrong.
    Ok,
    /// Nobody said what is needed to look for it.
    NotAsked,
    /// It could not be looked for; the reason says why.
    CannotTell,
    /// Worth knowing; figures can be believed all the same.
    Note,
    /// Figures are worse for it, or wrong.
    Warning,
}

/// One examination.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Examination {
    /// Always [`EXAMINATION_SCHEMA`].
    pub schema: String,
    /// What was examined.
    pub kind: Kind,
    /// In plain words.
    pub answer: String,
    /// The machine in a line, or the experiment's file.
    pub subject: String,
    /// How it was looked at: what was built, traced, timed; whole sentences.
    pub method: Vec<String>,
    /// What the reader must know before believing it.
    pub warnings: Vec<String>,
    /// What was measured.
    pub figures: Vec<Figure>,
    /// What was looked for, whether or not anything was found.
    pub checks: Vec<Examined>,
    /// What was found, warnings first, what is accepted last.
    pub findings: Vec<Symptom>,
}

/// A measured figure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// Its name: `smallest_effect`.
    pub name: String,
    /// Its value, in its unit.
    pub value: f64,
    /// The unit: `ns`, `fraction`, `count`.
    pub unit: String,
    /// What it is, and what is assumed.
    pub meaning: String,
}

/// Something that was looked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Examined {
    /// Its name, as in findings.
    pub name: String,
    /// What is looked for, as a heading.
    pub title: String,
    /// The worst of what was found and is not accepted.
    pub state: State,
    /// What was seen where nothing is wrong, or why it could not be looked for.
    pub saw: Option<String>,
    /// How often it was found and is not accepted.
    pub findings: u64,
    /// How often it was found and is accepted.
    pub accepted: u64,
}

/// Something that was found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Symptom {
    /// The check that found it.
    pub check: String,
    /// How bad it is: a note or a warning.
    pub state: State,
    /// Where: a variant on an input in a build, or a part of the machine.
    pub place: String,
    /// The variant, where it is of one.
    pub variant: Option<String>,
    /// The inputs that show it, where it is of some.
    pub inputs: Vec<String>,
    /// What is there.
    pub saw: String,
    /// Why it matters.
    pub why: String,
    /// What to change.
    pub remedy: String,
    /// Why it is meant, where the experiment says so.
    pub accepted: Option<String>,
}

impl Examination {
    /// As JSON with a newline at its end.
    pub fn to_json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("a page has only string keys");
        text.push('\n');
        text
    }

    /// What was found and is not accepted.
    pub fn open(&self) -> impl Iterator<Item = &Symptom> {
        self.findings.iter().filter(|finding| finding.accepted.is_none())
    }
}
