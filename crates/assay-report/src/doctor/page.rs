//! What the doctor found, as plain data.

use serde::{Deserialize, Serialize};

/// The value of `schema` in every page written by this version.
pub const DOCTOR_SCHEMA: &str = "assay.doctor/1";

/// What was found in one program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DoctorPage {
    /// Always [`DOCTOR_SCHEMA`].
    pub schema: String,
    /// In plain words.
    pub answer: String,
    /// The program's file.
    pub program: String,
    /// The command that was traced; empty where the program was only looked at.
    pub command: Vec<String>,
    /// The emulator's version, where it was traced.
    pub emulator: Option<String>,
    /// What the reader must know before believing it.
    pub warnings: Vec<String>,
    /// What was executed and what counts as often; none where the program was only looked at.
    pub traced: Option<Traced>,
    /// What was looked for, whether or not anything was found.
    pub checks: Vec<Check>,
    /// What was found, the greatest share of branches first within each check.
    pub findings: Vec<Finding>,
}

/// What was executed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Traced {
    /// Instructions.
    pub instructions: u64,
    /// Branches.
    pub branches: u64,
    /// Mispredictions, the mean over the predictors; none without one.
    pub misses: Option<f64>,
    /// The predictors that were simulated.
    pub predictors: Vec<String>,
    /// Calls of the system.
    pub system_calls: u64,
    /// Units of work that the command did.
    pub units: Option<u64>,
    /// From so many executions on a place is hot.
    pub hot_from: u64,
    /// Executions of the most executed conditional branch of the program's own files.
    pub hottest: u64,
}

/// Something that is looked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Check {
    /// Its name, as in findings.
    pub name: String,
    /// What is looked for.
    pub title: String,
    /// Whether it could be looked for.
    pub ran: bool,
    /// Why not.
    pub reason: Option<String>,
    /// How often it was found.
    pub findings: u64,
}

/// A place in the program.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Place {
    /// The function, as its source has it; by the symbol where there are no lines.
    pub function: Option<String>,
    /// The source file.
    pub file: Option<String>,
    /// The line, from 1.
    pub line: Option<u32>,
    /// The file of machine code.
    pub module: String,
    /// The address in it, hexadecimal.
    pub address: String,
}

/// Something that was found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// The check that found it.
    pub check: String,
    /// What is there.
    pub saw: String,
    /// Where.
    pub place: Place,
    /// Other places of the same: `function at file:line`.
    pub also: Vec<String>,
    /// Times executed; none where the program was only looked at.
    pub executed: Option<u64>,
    /// Times per unit of work.
    pub per_unit: Option<f64>,
    /// The part of all branches that goes there, 0 to 1.
    pub share_of_branches: Option<f64>,
    /// The part of all mispredictions, 0 to 1.
    pub share_of_misses: Option<f64>,
    /// Why it matters.
    pub why: String,
    /// What to change.
    pub remedy: String,
}

impl DoctorPage {
    /// As JSON with a newline at its end.
    pub fn to_json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("a page has only string keys");
        text.push('\n');
        text
    }
}
