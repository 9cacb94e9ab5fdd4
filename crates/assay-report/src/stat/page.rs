//! What `assay stat` found, as plain data: every view is made of it, and it is the JSON (`schema/stat-1.schema.json`).

use super::spread::Spread;
pub use assay_pure::command::{CommandEnd, EndedBy, Scope};
use serde::{Deserialize, Serialize};

/// The value of `schema` in every page written by this version.
pub const STAT_SCHEMA: &str = "assay.stat/1";

/// Where a figure comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum FigureSource {
    /// The kernel or the processor counted it while the command ran by itself.
    Counted,
    /// An emulator saw each instruction, or the program logged each branch itself; exact.
    Traced,
    /// A model of a predictor walked over the traced branches; not the CPU.
    Simulated,
}

impl FigureSource {
    /// The word.
    pub fn word(self) -> &'static str {
        match self {
            FigureSource::Counted => "counted",
            FigureSource::Traced => "traced",
            FigureSource::Simulated => "simulated",
        }
    }
}

/// What `assay stat` found of a command.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct StatPage {
    /// Name and version of this format.
    pub schema: String,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// What was asked with `--source`.
    #[cfg_attr(test, schemars(extend("enum" = ["auto", "counted", "traced", "both"])))]
    pub asked_source: String,
    /// What was done: counting, tracing or both, an execution each.
    pub sources: Vec<FigureSource>,
    /// Executions that were asked for, of each source.
    pub repeats: u64,
    /// Why the sources are not what a reader expects, such as a refusal of counters; whole sentences.
    pub reasons: Vec<String>,
    /// The emulator and its version, where one ran.
    pub emulator: Option<String>,
    /// The architecture that the program was built for, where it was traced.
    pub architecture: Option<String>,
    /// One per event and source, in the order in which they are shown.
    pub events: Vec<EventRow>,
    /// One per simulated predictor or CPU profile.
    pub predictors: Vec<PredictorRow>,
    /// The range over the predictors; null without any.
    pub mispredictions: Option<MispredictionRange>,
    /// Events both counted and traced.
    pub differences: Vec<Difference>,
    /// The executions, in order.
    pub executions: Vec<Execution>,
    /// Traced processes and threads of the first traced execution; empty unless asked for.
    pub threads: Vec<ThreadRow>,
    /// What the reader must know: sentences.
    pub notes: Vec<String>,
}

/// One event by one source.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct EventRow {
    /// perf's name where perf has one, without the mode.
    pub event: String,
    /// As it is called in perf's forms: `branches:u` counted, `traced/branches/` traced.
    pub label: String,
    /// Where it comes from.
    pub source: FigureSource,
    /// In which mode of the processor.
    pub mode: Scope,
    /// `ns`, or empty for a count.
    #[cfg_attr(test, schemars(extend("enum" = ["", "ns"])))]
    pub unit: String,
    /// The figure; null where there is none.
    pub value: Option<Spread>,
    /// The share of the time that it was on a counter, 0 to 1, the smallest over executions; null where not counted.
    pub counted_share: Option<f64>,
    /// Nanoseconds on a counter, mean over executions; null where not counted.
    pub counted_ns: Option<f64>,
    /// Whether the value was extrapolated from that share, on request.
    pub scaled: bool,
    /// Why there is no value, or why only a part was counted.
    pub reason: Option<String>,
}

/// A low and a high end.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Ends {
    /// The low end.
    pub low: f64,
    /// The high end.
    pub high: f64,
}

/// Mispredictions of one kind of branch.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct KindMisses {
    /// Branches of that kind, mean over executions.
    pub branches: f64,
    /// Those mispredicted; null where the predictor does not judge this kind.
    pub mispredictions: Option<f64>,
}

/// One simulated predictor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PredictorRow {
    /// Its name.
    pub predictor: String,
    /// As it is called in perf's forms.
    pub label: String,
    /// What it is, in one line.
    pub what: String,
    /// How well the model is known to stand for a CPU; null for a textbook predictor, which stands for none.
    pub confidence: Option<String>,
    /// A hash of what it does, hexadecimal: a changed predictor has another.
    pub definition: String,
    /// All its mispredictions.
    pub mispredictions: Spread,
    /// As a share of all branches, 0 to 1.
    pub of_branches: f64,
    /// Mispredicted conditional branches as a share of them, 0 to 1; null where it does not judge them.
    pub of_conditional: Option<f64>,
    /// Per 1000 instructions.
    pub mpki: f64,
    /// Conditional branches.
    pub conditional: KindMisses,
    /// Indirect jumps and calls.
    pub indirect: KindMisses,
    /// Returns.
    pub returns: KindMisses,
    /// What one misprediction costs on that CPU, cycles; null where it stands for no CPU.
    pub penalty_cycles: Option<Ends>,
    /// Mispredictions times penalty.
    pub lost_cycles: Option<Ends>,
}

/// The range over all predictors.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct MispredictionRange {
    /// Mispredictions, mean over executions.
    pub count: Ends,
    /// As a share of all branches, 0 to 1.
    pub of_branches: Ends,
    /// Of conditional branches, as a share of them; null where none judges them.
    pub of_conditional: Option<Ends>,
    /// Per 1000 instructions.
    pub mpki: Ends,
    /// Cycles lost; null where no predictor stands for a CPU.
    pub lost_cycles: Option<Ends>,
}

/// An event that was both counted and traced.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Difference {
    /// Its name.
    pub event: String,
    /// Counted, mean over executions.
    pub counted: f64,
    /// Traced, mean over executions; the range over predictors for mispredictions.
    pub traced: Ends,
    /// Whether the traced side is simulated.
    pub simulated: bool,
    /// (traced - counted) / counted; null where nothing was counted.
    pub relative: Option<Ends>,
}

/// One execution of the command.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Execution {
    /// Counted or traced.
    pub source: FigureSource,
    /// Exit code; null if it was ended by a signal, or unknown.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// Why it ended.
    pub ended_by: EndedBy,
    /// From start to end, seconds; under emulation where it was traced.
    pub elapsed_seconds: f64,
    /// Time of the processor in user mode, seconds; null where it was traced.
    pub user_seconds: Option<f64>,
    /// The same in the kernel.
    pub system_seconds: Option<f64>,
    /// The most memory that the command or one of its children had at once, bytes; null where it was traced, or had less than
    /// assay itself, of which the kernel then tells instead.
    #[serde(default)]
    pub peak_resident_bytes: Option<u64>,
}

/// One thread of one traced process.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ThreadRow {
    /// Process id.
    pub process: u32,
    /// Number of the thread in the process, from 0.
    pub thread: u32,
    /// The program.
    pub program: String,
    /// Instructions.
    pub instructions: u64,
    /// Branches of all classes.
    pub branches: u64,
    /// Conditional ones.
    pub conditional: u64,
    /// Those taken, if known.
    pub taken: Option<u64>,
    /// Mispredictions, one per predictor in the order of `predictors`.
    pub mispredictions: Vec<u64>,
}

impl Execution {
    /// How it ended.
    pub fn end(&self) -> CommandEnd {
        CommandEnd { by: self.ended_by, code: self.code, signal: self.signal }
    }
}

impl StatPage {
    /// The row of an event by a source.
    pub fn row(&self, event: &str, source: FigureSource) -> Option<&EventRow> {
        self.events.iter().find(|row| row.event == event && row.source == source)
    }

    /// Indented JSON with a newline at its end.
    pub fn to_json(&self) -> String {
        crate::json::written(self)
    }
}
