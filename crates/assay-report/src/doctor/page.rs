//! What was looked for, what was seen, why it matters and what to change: one shape for machines, experiments and programs.

use crate::sites::names::short;
use serde::{Deserialize, Serialize};

/// The value of `schema` in every page written by this version.
pub const DOCTOR_SCHEMA: &str = "assay.doctor/3";

/// What was examined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ExaminedSubject {
    /// This machine.
    Machine,
    /// An experiment's file, program and inputs.
    Experiment,
    /// A program, its file alone or traced.
    Program,
}

/// What came of a check; the order is that of the report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CheckState {
    /// It ran and found nothing.
    Ok,
    /// The file does not set what it needs.
    NotAsked,
    /// It could not run; the reason says why.
    CannotTell,
    /// Worth knowing; figures can be trusted all the same.
    Note,
    /// Figures are worse for it, or wrong.
    #[default]
    Warning,
}

/// One examination.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Examination {
    /// Name and version of this format.
    pub schema: String,
    /// What was examined.
    pub kind: ExaminedSubject,
    /// In plain words: how many problems, and which to fix first.
    pub answer: String,
    /// What to do next.
    pub next: String,
    /// The machine in a line, the experiment's or the program's file.
    pub subject: String,
    /// How it was examined: what was built, traced, timed.
    pub method: Vec<String>,
    /// What the reader must know before trusting it.
    pub warnings: Vec<String>,
    /// What a program executed; none of other subjects, and where it was not traced.
    pub traced: Option<ExecutedProgram>,
    /// What was measured.
    pub figures: Vec<DoctorFigure>,
    /// What was looked for, whether or not anything was found.
    pub checks: Vec<CheckResult>,
    /// What was found: warnings first, intended ones last; of one check the greatest share of branches first.
    pub findings: Vec<DoctorFinding>,
}

/// What a program executed, and what counts as hot.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ExecutedProgram {
    /// The command.
    pub command: Vec<String>,
    /// The emulator's version.
    pub emulator: String,
    /// Instructions.
    pub instructions: u64,
    /// Branches.
    pub branches: u64,
    /// Mispredictions, the mean over the predictors; none without one.
    pub misses: Option<f64>,
    /// The predictors that were simulated.
    pub predictors: Vec<String>,
    /// System calls.
    pub system_calls: u64,
    /// Units of work that the command did.
    pub units: Option<u64>,
    /// Executions from which on a place is hot.
    pub hot_from: u64,
    /// Executions of the most executed conditional branch of the program's own files.
    pub hottest: u64,
}

/// A measured figure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct DoctorFigure {
    /// Its name: `smallest_effect`.
    pub name: String,
    /// Its value, in its unit.
    pub value: f64,
    /// The unit: `ns`, `fraction`, `count`.
    pub unit: String,
    /// What it is, and what is assumed.
    pub meaning: String,
}

/// What came of one check.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CheckResult {
    /// Its name, as in findings.
    pub name: String,
    /// What is looked for, as a heading.
    pub title: String,
    /// The worst of what was found and is not accepted.
    pub state: CheckState,
    /// What was seen where nothing is wrong, or why it could not run.
    pub saw: Option<String>,
    /// Findings that are not accepted.
    pub findings: u64,
    /// Findings that the experiment's file accepts.
    pub accepted: u64,
}

/// A place in a program's source and machine code.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CodePlace {
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
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct DoctorFinding {
    /// The check that found it.
    pub check: String,
    /// How bad it is: a note or a warning.
    pub state: CheckState,
    /// Where: a part of the machine, a variant on an input in a build, or a line of source.
    pub place: String,
    /// The place in a program's code.
    pub code: Option<CodePlace>,
    /// Other places of the same.
    pub also: Vec<String>,
    /// The variant, if it concerns one.
    pub variant: Option<String>,
    /// The inputs that show it.
    pub inputs: Vec<String>,
    /// What is there.
    pub saw: String,
    /// Times executed; none where nothing was traced.
    pub executed: Option<u64>,
    /// Times per unit of work.
    pub per_unit: Option<f64>,
    /// The share of all branches, 0 to 1.
    pub share_of_branches: Option<f64>,
    /// The share of all mispredictions, 0 to 1.
    pub share_of_misses: Option<f64>,
    /// Why it matters.
    pub why: String,
    /// What to change.
    pub remedy: String,
    /// Why it is intended, if the experiment's file says so.
    pub accepted: Option<String>,
}

impl Examination {
    /// As JSON with a newline at its end.
    pub fn to_json(&self) -> String {
        crate::json::written(self)
    }

    /// What was found and is not accepted.
    pub fn open(&self) -> impl Iterator<Item = &DoctorFinding> {
        self.findings.iter().filter(|finding| finding.accepted.is_none())
    }
}

impl CodePlace {
    /// Line first, since that is where one goes: "tiny.c:104 tiny_alloc".
    pub fn label(&self) -> String {
        let line =
            self.file.as_deref().zip(self.line).map(|(file, line)| format!("{}:{line}", last_part(file)));
        let function = self.function.as_deref().map(short);
        let address = || format!("{}+{}", last_part(&self.module), self.address);
        match (line, function) {
            (Some(line), Some(function)) => format!("{line} {function}"),
            (Some(line), None) => line,
            (None, Some(function)) => format!("{function} ({})", address()),
            (None, None) => address(),
        }
    }
}

fn last_part(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}
