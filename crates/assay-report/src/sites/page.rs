//! The branch sites of a command, as plain data.
//!
//! Mispredictions are those of simulated predictors. Where several judge a site, its *cost* is their mean; shares and the
//! running total are of the sum of all sites' costs.

use super::components::ComponentBreakdown;
pub use super::misses::SiteMisses;
pub use assay_pure::trace::hints::HintVerdict;
use serde::{Deserialize, Serialize};

/// The value of `schema` in every page written by this version.
pub const SITES_SCHEMA: &str = "assay.sites/1";

/// The branch sites of one traced command, with simulated mispredictions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SitesPage {
    /// Name and version of this format.
    pub schema: String,
    /// In plain words.
    pub answer: String,
    /// The command and its arguments.
    pub command: Vec<String>,
    /// The emulator's version; empty where the program was built with records of its branches.
    pub emulator: String,
    /// What the reader must know before believing a figure.
    pub warnings: Vec<String>,
    /// What was simulated, in the order in which it was asked for.
    pub predictors: Vec<Predictor>,
    /// By what the sites are in order.
    pub sorted_by: SiteOrder,
    /// The pattern that functions had to fit.
    pub function: Option<String>,
    /// Over the whole command.
    pub totals: Totals,
    /// What the command executed, the command itself first.
    pub processes: Vec<SitesProcess>,
    /// The files that branches are in, those with the highest cost first.
    pub modules: Vec<Module>,
    /// The sites, in order.
    pub sites: Vec<Site>,
    /// Sites that were executed and are not listed.
    pub left_out: LeftOut,
    /// The hints, where they were asked for.
    pub hints: Option<Hints>,
    /// The budget by component, where components were named.
    pub components: Option<ComponentBreakdown>,
}

/// Sort order of the sites; the greatest first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum SiteOrder {
    /// Mean mispredictions.
    #[default]
    Mispredictions,
    /// Executions.
    Executions,
    /// Times taken.
    Taken,
    /// Mispredictions per execution.
    Rate,
    /// Mispredictions beyond the floor: what a better predictor could win.
    Excess,
    /// Where they are.
    Address,
}

impl SiteOrder {
    /// Each of them.
    pub const ALL: [SiteOrder; 6] = [
        SiteOrder::Mispredictions,
        SiteOrder::Executions,
        SiteOrder::Taken,
        SiteOrder::Rate,
        SiteOrder::Excess,
        SiteOrder::Address,
    ];

    /// What it sorts by.
    pub fn meaning(self) -> &'static str {
        match self {
            SiteOrder::Mispredictions => "mean mispredictions",
            SiteOrder::Executions => "executions",
            SiteOrder::Taken => "times taken",
            SiteOrder::Rate => "mispredictions per execution",
            SiteOrder::Excess => "mispredictions beyond the floor: what a better predictor could win",
            SiteOrder::Address => "address",
        }
    }

    /// Its name, as on the command line.
    pub fn name(self) -> &'static str {
        match self {
            SiteOrder::Mispredictions => "mispredictions",
            SiteOrder::Executions => "executions",
            SiteOrder::Taken => "taken",
            SiteOrder::Rate => "rate",
            SiteOrder::Excess => "excess",
            SiteOrder::Address => "address",
        }
    }
}

/// A simulated predictor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Predictor {
    /// Its name.
    pub name: String,
    /// What it is, in one line.
    pub what: String,
    /// A hash of what it does: the same name and number make the same mispredictions.
    pub definition: String,
}

/// Over all sites.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Totals {
    /// Instructions.
    pub instructions: u64,
    /// Branches of all kinds.
    pub branches: u64,
    /// Conditional ones.
    pub conditional: u64,
    /// Conditional ones that were taken.
    pub taken: u64,
    /// Places that branched at least once.
    pub sites: u64,
    /// Mispredictions of each predictor.
    pub mispredictions: Vec<SiteMisses>,
    /// The sum of all sites' costs.
    pub cost: f64,
    /// Sites that have no floor because there was no room to count, and their executions.
    pub without_floor: u64,
}

/// A traced process.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SitesProcess {
    /// Its id.
    pub pid: u32,
    /// The process that started it, if that was traced too.
    pub parent: Option<u32>,
    /// Its program.
    pub program: String,
    /// Its threads.
    pub threads: u64,
    /// How it ended: "exit 0", "signal 11", "replaced", "time limit", "unknown".
    pub ended: String,
}

// The kind of the `LineSource` of assay-trace; its path or reason is in `lines_note`.
/// Where a file's lines come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "LinesFrom"))]
#[serde(rename_all = "kebab-case")]
pub enum LineSourceKind {
    /// Its own debug information.
    Own,
    /// A debug file beside it.
    Separate,
    /// Nowhere: it has no debug information.
    Missing,
    /// Nowhere: its debug information cannot be read.
    Unreadable,
}

/// A file that branches are in.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Module {
    /// Where it is.
    pub path: String,
    /// Its build id.
    pub build_id: Option<String>,
    /// Where its lines come from.
    pub lines: LineSourceKind,
    /// The debug file, or why it can't be read.
    pub lines_note: Option<String>,
    /// Branches executed in it.
    pub executed: u64,
    /// Its part of all costs, 0 to 1; none where there are no costs.
    pub share: Option<f64>,
}

/// A place in the source.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Frame {
    /// The function.
    pub function: Option<String>,
    /// The file.
    pub file: Option<String>,
    /// The line, from 1.
    pub line: Option<u32>,
    /// The column, from 1.
    pub column: Option<u32>,
}

/// A branch site.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Site {
    /// Its place in this list, from 1.
    pub rank: u64,
    /// The function, as the source has it; by the symbol where there are no lines.
    pub function: Option<String>,
    /// The source file.
    pub file: Option<String>,
    /// The line, from 1.
    pub line: Option<u32>,
    /// The column, from 1.
    pub column: Option<u32>,
    /// The functions it was inlined into, the innermost first, each with the place of the call.
    pub inlined_into: Vec<Frame>,
    /// The file it is in; none for code made at run time.
    pub module: Option<String>,
    /// Its address in that file, hexadecimal; in the process where there is no file.
    pub address: String,
    /// The process, where processes are kept apart.
    pub process: Option<u32>,
    /// What kind of branch, such as conditional jump, indirect call or return.
    pub class: String,
    /// The instruction.
    pub instruction: Option<String>,
    /// Times executed.
    pub executed: u64,
    /// Times taken.
    pub taken: u64,
    /// Mispredictions of the predictors that judge branches of this kind.
    pub mispredictions: Vec<SiteMisses>,
    /// Their mean.
    pub cost: f64,
    /// Cost per execution.
    pub rate: f64,
    /// Its part of all costs, 0 to 1; none where there are no costs.
    pub share: Option<f64>,
    /// The part of this site and those before it in the list.
    pub running: Option<f64>,
    /// The least that rules miss which know only this branch's own history; none for unconditional branches.
    pub floor: Option<FloorMisses>,
    /// The source around it, for the first few.
    pub source: Vec<SourceLine>,
    /// The code around it, for the first few.
    pub code: Vec<CodeLine>,
}

/// The least mispredictions of rules that know only a branch's own history.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FloorMisses {
    /// Of one that always says the same.
    pub constant: u64,
    /// Of the best by the last 8 outcomes, chosen with hindsight; none where there was no room to count.
    pub history_8: Option<u64>,
    /// Of the best length up to 8, each outcome judged by what all others teach.
    pub best: Option<f64>,
}

/// A line of source.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SourceLine {
    /// From 1.
    pub line: u32,
    /// The text.
    pub text: String,
    /// The branch is on it.
    pub here: bool,
}

/// An instruction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CodeLine {
    /// Hexadecimal.
    pub address: String,
    /// As text.
    pub text: String,
    /// It is the branch.
    pub here: bool,
    /// The branch goes there.
    pub target: bool,
}

/// What is not listed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LeftOut {
    /// Sites.
    pub sites: u64,
    /// Their executions.
    pub executed: u64,
    /// Their part of all costs, 0 to 1.
    pub share: Option<f64>,
}

/// All hints that were found, compared with what happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Hints {
    /// Right ones.
    pub right: u64,
    /// Wrong ones.
    pub wrong: u64,
    /// Executed ones of which nothing can be said.
    pub unclear: u64,
    /// Those at which no branch was executed.
    pub not_executed: u64,
    /// The fewest executions that are judged.
    pub fewest: u64,
    /// All of them: wrong ones first, by cost, then unclear ones, right ones, those not executed.
    pub list: Vec<JudgedHint>,
}

/// A hint.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct JudgedHint {
    /// right, wrong, unclear, not-executed.
    pub verdict: HintVerdict,
    /// Why it is not judged.
    pub reason: Option<String>,
    /// How it is known: source, cold-call, cold-part.
    pub origin: HintOrigin,
    /// As written, or what the layout shows.
    pub text: String,
    /// The file.
    pub file: Option<String>,
    /// The line, from 1.
    pub line: Option<u32>,
    /// The function.
    pub function: Option<String>,
    /// Times that the side called likely was executed.
    pub likely: u64,
    /// Times that the side called unlikely was executed.
    pub unlikely: u64,
    /// Executions that belong to either.
    pub unknown: u64,
    /// Times that its branches were taken.
    pub taken: u64,
    /// Mispredictions of its branches.
    pub mispredictions: Vec<SiteMisses>,
    /// What it may cost, in cycles; for wrong ones.
    pub cycles: Option<Cycles>,
    /// What to do about it; for wrong ones.
    pub remedy: Option<String>,
    /// The addresses of its branches, hexadecimal.
    pub branches: Vec<String>,
}

/// A range of cycles.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Cycles {
    /// At least about.
    pub low: f64,
    /// At most about.
    pub high: f64,
}

/// How a hint is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum HintOrigin {
    /// It is written in the source.
    Source,
    /// One side calls a function marked cold.
    ColdCall,
    /// The compiler put one side among the code that it holds to be never executed.
    ColdPart,
}

impl SitesPage {
    /// As JSON with a newline at its end.
    pub fn to_json(&self) -> String {
        crate::json::written(self)
    }
}
