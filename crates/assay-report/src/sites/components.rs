//! The budget of a command by component, as plain data: beside it that of a reference, where there is one.

use super::misses::SiteMisses;
use serde::{Deserialize, Serialize};

/// What each component executed; the rows add up to the total.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "Components"))]
pub struct ComponentBreakdown {
    /// Units of work that the command does.
    pub units: Option<u64>,
    /// The command that stands beside it.
    pub reference: Option<ReferenceProgram>,
    /// The components in the order in which they were named, then `other`, then `unattributed`.
    pub rows: Vec<ComponentRow>,
    /// Over the whole command, and over the reference.
    pub total: ComponentRow,
    /// Globs that fit no function that was executed.
    pub idle: Vec<String>,
}

/// The command that stands beside the one that was asked about.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "Reference"))]
pub struct ReferenceProgram {
    /// The command and its arguments.
    pub command: Vec<String>,
    /// Units of work that it does.
    pub units: Option<u64>,
}

/// What a row is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum RowKind {
    /// A component that was named.
    Component,
    /// Functions that no glob fits.
    Other,
    /// Code without a name.
    Unattributed,
    /// The sum of all.
    Total,
}

/// A component in the command and in its reference.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ComponentRow {
    /// Its name, or `other`, `unattributed`, `total`.
    pub name: String,
    /// What it is for.
    pub kind: RowKind,
    /// In the command; none where only the reference has such a component.
    pub own: Option<Figures>,
    /// In the reference; none without one, and where it has no such component.
    pub reference: Option<Figures>,
    /// Branches of the command for one of the reference: per unit where both have units, in all where neither has.
    pub ratio: Option<f64>,
}

/// What was executed of a component.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Figures {
    /// Branches of all classes.
    pub branches: u64,
    /// Conditional branches.
    pub conditional: u64,
    /// Direct jumps.
    pub jumps: u64,
    /// Direct calls.
    pub calls: u64,
    /// Indirect jumps.
    pub indirect_jumps: u64,
    /// Indirect calls.
    pub indirect_calls: u64,
    /// Returns.
    pub returns: u64,
    /// Instructions.
    pub instructions: u64,
    /// Mispredictions by each predictor.
    pub mispredictions: Vec<SiteMisses>,
    /// Its part of all branches, 0 to 1.
    pub share: f64,
    /// Times that it was called from outside; none where it never was, as where all of it was inlined.
    pub called: Option<u64>,
    /// Branches per unit of work.
    pub branches_per_unit: Option<f64>,
    /// Branches per call from outside.
    pub branches_per_call: Option<f64>,
    /// Instructions per unit of work.
    pub instructions_per_unit: Option<f64>,
    /// Its functions with most branches, at most eight.
    pub functions: Vec<FunctionShare>,
}

/// A function's part of a component.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FunctionShare {
    /// Its name; of code without one its file and `(no symbol)`.
    pub name: String,
    /// Branches.
    pub branches: u64,
    /// Instructions.
    pub instructions: u64,
}
