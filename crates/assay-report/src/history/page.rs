//! A history as plain data.

use assay_pure::history::GateReading;
use assay_pure::limits::{Limits, cost};
use assay_pure::verdict::Verdict;
use assay_pure::words;
use serde::{Deserialize, Serialize};

/// Name and version of the page's JSON.
pub const HISTORY_SCHEMA: &str = "assay.history/1";

/// An experiment's contrasts and times over its campaigns, with their change points.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct HistoryPage {
    /// "assay.history/1".
    pub schema: String,
    /// The experiment, or the name that imported files were given.
    pub name: String,
    /// What changed, in a sentence.
    pub answer: String,
    /// What to do about it.
    pub next: Option<String>,
    /// What could make the answer wrong.
    pub warnings: Vec<String>,
    /// What was measured, the oldest first: campaigns and imported files.
    pub runs: Vec<HistoryRun>,
    /// The machines, in the order in which they were met.
    pub machines: Vec<HistoryMachine>,
    /// One per contrast, time and imported benchmark.
    pub series: Vec<HistorySeries>,
    /// The least step that counts, a fraction: the experiment's minimum effect.
    pub minimum_effect: f64,
    /// The probability per point that an unchanged series is said to change, by the method's own test.
    pub level: f64,
    /// What the gate says; null where none was asked for.
    pub gate: Option<GatePage>,
    /// The contrasts that two machines have, those on which they disagree first.
    #[serde(default)]
    pub across: Vec<AcrossMachines>,
    /// Machines of one kind beside each other, where several measured the same programs.
    #[serde(default)]
    pub alike: Vec<AlikeMachines>,
    /// The probability that of machines which are alike any is said to differ, of the whole page.
    #[serde(default)]
    pub alike_level: f64,
    /// What that rests on, in a sentence; null where no machines are compared.
    #[serde(default)]
    pub alike_note: Option<String>,
    /// Machines whose runs were left out, as asked.
    #[serde(default)]
    pub left_out: Vec<String>,
}

/// A campaign, or an imported file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct HistoryRun {
    /// "12" is campaign 12 of the ledger; "import 3" an imported file; of further ledgers with the file ahead: "b.db:12".
    pub id: String,
    /// RFC 3339, UTC.
    pub at: String,
    /// The same in Unix seconds.
    pub unix: f64,
    /// Number among the machines, from 0.
    pub machine: usize,
    /// What the machine is called; null where that is not known, or several of a kind measured.
    #[serde(default)]
    pub host: Option<String>,
    /// The compilers with their versions.
    pub compilers: Vec<String>,
    /// Commit of the sources; null where it is not known.
    pub revision: Option<String>,
    /// Files beside the experiment differed from that commit; null where that is not known.
    pub changed: Option<bool>,
    /// "assay", or the tool whose file it is.
    pub tool: String,
}

/// A machine: what times can be compared on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct HistoryMachine {
    /// Its processor, or the name that a file gave.
    pub name: String,
    /// What tells it from the others: the processor's id, caches, memory.
    pub facts: Vec<String>,
    /// Its name, with what tells it from others of that name.
    #[serde(default)]
    pub called: String,
    /// The level of its instructions: "x86-64-v3"; null where its ledger does not have them.
    #[serde(default)]
    pub instructions: Option<String>,
    /// Its caches: "L1d 32K".
    #[serde(default)]
    pub caches: Vec<String>,
    /// What limits it; null where `assay limits` had measured nothing there.
    #[serde(default)]
    pub limits: Option<HistoryLimits>,
}

/// What limits a machine, as `assay limits` measured it there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct HistoryLimits {
    /// Nanoseconds of a cycle.
    pub cycle_ns: Option<f64>,
    /// Of a mispredicted branch.
    pub misprediction_ns: Option<f64>,
    /// Of a load from memory that waits for the one before.
    pub memory_ns: Option<f64>,
    /// Bytes per nanosecond that are read from memory.
    pub memory_read: Option<f64>,
}

impl HistoryLimits {
    /// Of all that was measured, what a history shows.
    pub fn of(limits: &Limits) -> HistoryLimits {
        let memory = limits.levels.iter().find(|level| level.bytes.is_none());
        HistoryLimits {
            cycle_ns: limits.clock.map(|clock| clock.cycle_ns.median),
            misprediction_ns: limits.cost(cost::MISPREDICTION).map(|cost| cost.ns.median),
            memory_ns: memory.and_then(|level| Some(level.latency_ns?.median)),
            memory_read: memory.and_then(|level| Some(level.read.as_ref()?.bytes_per_ns.median)),
        }
    }

    /// The cost of a misprediction: "5.21 ns, 18 cycles"; "unknown" where it could not be measured.
    pub fn misprediction(&self) -> String {
        let Some(ns) = self.misprediction_ns else { return "unknown".to_owned() };
        let cycles = self.cycle_ns.filter(|cycle| *cycle > 0.0).map(|cycle| ns / cycle);
        cycles.map_or(words::time(ns), |cycles| format!("{}, {cycles:.0} cycles", words::time(ns)))
    }

    /// That of a load from memory.
    pub fn memory(&self) -> String {
        self.memory_ns.map_or("unknown".to_owned(), words::time)
    }
}

/// A contrast on several machines: the newest run of each.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct AcrossMachines {
    /// Its number among the series, from 0.
    pub series: usize,
    /// Two machines decided, and not the same.
    pub disagree: bool,
    /// One for each machine that has it, in the order of the machines.
    pub said: Vec<MachineSays>,
}

/// What one machine says.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct MachineSays {
    /// Number among the machines, from 0.
    pub machine: usize,
    /// Number among the runs, from 0.
    pub run: usize,
    /// Of that run's report.
    pub verdict: Verdict,
    /// The candidate's time over the baseline's.
    pub ratio: f64,
    /// Lower end of the run's interval.
    pub lower: Option<f64>,
    /// Upper end.
    pub upper: Option<f64>,
}

/// Machines of one kind beside each other.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct AlikeMachines {
    /// Number of the kind among the machines, from 0.
    pub machine: usize,
    /// Those that ran the same programs, in the order of their runs.
    pub hosts: Vec<AlikeHost>,
    /// Times that were compared.
    pub times: usize,
    /// Contrasts that were compared.
    pub contrasts: usize,
    /// What is out of line.
    pub findings: Vec<AlikeFinding>,
    /// The whole in sentences, the worst first.
    pub sentences: Vec<String>,
}

/// One machine among others of its kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct AlikeHost {
    /// What it is called.
    pub name: String,
    /// Number of its newest run among the runs, from 0: that is compared.
    pub run: usize,
    /// In which facts it differs from most of the others: "governor powersave, not performance".
    pub facts: Vec<String>,
}

/// A figure of a machine that is out of line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct AlikeFinding {
    /// The series' label.
    pub label: String,
    /// A time or a contrast.
    pub kind: SeriesKind,
    /// Number of the machine among the hosts, from 0.
    pub host: usize,
    /// Number of the machine that it differs from; null: from more than half of all, so it is named.
    pub from: Option<usize>,
    /// Its figure over that of the others, the median of them.
    pub ratio: f64,
    /// The ratio is this far from 1 at the least, as the page's level has it.
    pub at_least: f64,
}

/// What a series is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SeriesKind {
    /// A candidate's time over the baseline's, free of placement: paired, so the machine cancels out.
    Contrast,
    /// The same in the plain link.
    ContrastAsBuilt,
    /// Nanoseconds per unit over all placements.
    Time,
    /// A benchmark of another tool's files.
    Imported,
}

/// One figure over the runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct HistorySeries {
    /// In words: "b / a, mixed".
    pub label: String,
    /// What it is of.
    pub kind: SeriesKind,
    /// The candidate of a contrast, the variant of a time, the benchmark of an import.
    pub variant: String,
    /// The baseline of a contrast.
    pub baseline: Option<String>,
    /// The input; null for imports.
    pub input: Option<String>,
    /// Unit of the values: "ratio", "ns" (per unit), or as the file says.
    pub unit: String,
    /// In the order of the runs.
    pub points: Vec<HistoryPoint>,
    /// Where it changed, the oldest first.
    pub changes: Vec<ChangePoint>,
    /// Standard deviation between runs around the levels, a fraction; null of fewer than 6 points.
    pub noise: Option<f64>,
    /// Why no change could be found; null where they were looked for.
    pub unexamined: Option<String>,
}

/// One run's figure.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct HistoryPoint {
    /// Number among the runs, from 0.
    pub run: usize,
    /// The figure.
    pub value: f64,
    /// Lower end of the run's own interval; null where it has none.
    pub lower: Option<f64>,
    /// Upper end.
    pub upper: Option<f64>,
    /// What the run's own report says; null of times, imports, and the plain link.
    #[serde(default)]
    pub verdict: Option<Verdict>,
}

/// A step of a series.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ChangePoint {
    /// Number of the last run at the old level, on the same machine.
    pub before: usize,
    /// Number of the first run at the new level.
    pub at: usize,
    /// Number of the run at which it could be told.
    pub told_at: usize,
    /// New level over the old one.
    pub ratio: f64,
    /// Lower end of its interval at 95 %.
    pub lower: f64,
    /// Upper end.
    pub upper: f64,
    /// At most so many unchanged series divide as well.
    pub p: f64,
    /// What the ledger knows of both sides, what differs first.
    pub causes: Vec<ChangeCause>,
    /// The whole in a sentence.
    pub sentence: String,
}

/// What the ledger knows of a step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ChangeCause {
    /// Which fact.
    pub fact: KnownFact,
    /// Whether it differs; null where that is not known.
    pub differs: Option<bool>,
    /// In words: "compiler gcc-12 12.2.0 to gcc-13 13.1.0".
    pub text: String,
}

/// A fact that two runs are compared by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum KnownFact {
    /// The time of another variant stepped alike, whose machine code is the same on both sides of its step.
    Alike,
    /// Name, version or file of the compiler.
    Compiler,
    /// Its flags.
    Flags,
    /// The program's source files.
    Sources,
    /// The functions' machine code in the plain link.
    MachineCode,
    /// Where the plain link put them: the code effect does not change.
    Placement,
    /// What is in the input.
    Input,
    /// Other keys of the experiment file.
    Experiment,
    /// Kernel release.
    Kernel,
    /// Microcode.
    Microcode,
    /// Frequency governor.
    Governor,
    /// The processor that measured.
    Core,
    /// Version of assay.
    Assay,
    /// The commit, where nothing finer is known.
    Revision,
}

/// What a gate says of the newest run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct GatePage {
    /// As it was asked for: "slower:2%".
    pub gate: String,
    /// Of all series together.
    pub reading: GateReading,
    /// Number of the run it is about: the newest campaign of the first ledger; null where there is nothing to compare.
    pub run: Option<usize>,
    /// One per series that was judged, and per series of the run before that was not measured.
    pub checks: Vec<GateCheck>,
    /// What else must be known: a newer run that was left out, why there is no check.
    #[serde(default)]
    pub notes: Vec<String>,
}

/// A series at the gate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct GateCheck {
    /// Its label.
    pub series: String,
    /// What the gate says.
    pub reading: GateReading,
    /// Number of the last run that it is compared with; null where there is none.
    pub good: Option<usize>,
    /// Runs that it is compared with.
    pub runs: usize,
    /// Newest over their mean.
    pub ratio: Option<f64>,
    /// Lower end of its interval at 95 %; null where nothing tells the noise.
    pub lower: Option<f64>,
    /// Upper end.
    pub upper: Option<f64>,
    /// What it rests on.
    pub note: String,
}

impl HistoryPage {
    /// Several machines, each with one run: there is nothing over time.
    pub fn is_once_each(&self) -> bool {
        self.machines.len() > 1
            && (0..self.machines.len())
                .all(|machine| self.runs.iter().filter(|run| run.machine == machine).count() <= 1)
    }

    /// The page as JSON.
    pub fn to_json(&self) -> String {
        crate::json::written(self)
    }
}
