//! A comparison as plain data; its JSON is an interface (schema/comparison-1.schema.json).

use crate::Detail;
use crate::page::{
    AsBuiltSays, CauseEvidence, ContrastModes, GateResult, PageTwinControl, RatioInterval, Stopped, Verdict,
};
use crate::sheet::doubts;
use assay_pure::placement::CodeChange;
use assay_pure::placement::same_loops::SharedLoop;
use serde::{Deserialize, Serialize};

/// Name and version of the JSON.
pub const COMPARE_SCHEMA: &str = "assay.comparison/1";

/// What `assay compare --json FILE` writes: two builds, compared by their own benchmarks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ComparePage {
    /// Name and version of this format.
    pub schema: String,
    /// Its number in the ledger.
    pub comparison: i64,
    /// The answer in a few sentences.
    pub answer: String,
    /// What built both sides.
    pub build: Option<String>,
    /// The benchmark command; two where commands are compared.
    pub bench: Vec<String>,
    /// What read its figures.
    pub adapter: String,
    /// What was varied to separate the code from chance.
    pub method: Method,
    /// The baseline, then the candidate; only one where a build is compared with its own placements.
    pub sides: Vec<BuiltSide>,
    /// The baseline against itself.
    pub twin_control: PageTwinControl,
    /// The most memory that the command has at once; `null` where it has less than assay itself, as the kernel counts that as the
    /// command's.
    #[serde(default)]
    pub memory: Option<PeakMemory>,
    /// One per benchmark that both sides have.
    pub benchmarks: Vec<Compared>,
    /// Benchmarks that one side lacks.
    pub one_sided: Vec<OneSided>,
    /// Visits that gave no figures.
    pub spoilt: Vec<SpoiltVisits>,
    /// What changes what the reader should do.
    pub warnings: Vec<String>,
    /// What is true of the measurement and needs nothing done: the verdicts allow for it.
    #[serde(default)]
    pub notes: Vec<String>,
    /// What this comparison cannot tell, and why.
    pub limits: Vec<String>,
    /// The gate and what it made of it.
    pub gate: Option<GateResult>,
    /// What the spread comes from, where asked.
    pub factors: Option<Factors>,
    /// How it was measured.
    pub measured: ComparisonRun,
}

/// What was varied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// Links of the same objects: every phase of a cache line, shuffled orders; and the surroundings of each process.
    Placements,
    /// Environment, stack and addresses of each process; the binaries stay as they are.
    Surroundings,
}

/// One side.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct BuiltSide {
    /// As the user called it.
    pub name: String,
    /// Full hash of the commit.
    pub revision: Option<String>,
    /// Binaries that the benchmark uses and that were relinked, below the build's folder.
    pub links: Vec<String>,
    /// Bytes of code in them.
    pub text_bytes: Option<u64>,
}

/// The most memory that the benchmark command has at once: of the one of its processes that has most.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PeakMemory {
    /// Median over the runs of the baseline, bytes.
    pub baseline_bytes: u64,
    /// Of the candidate; `null` with one side, or where that is unknown.
    pub candidate_bytes: Option<u64>,
    /// Candidate / baseline, over pairs of runs; `null` where there are too few.
    pub change: Option<RatioInterval>,
    /// Whether it changed by more than the runs vary, and by more than the minimum effect.
    pub differs: bool,
}

/// A benchmark's figure on one side.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SideFigure {
    /// Median over all placements.
    pub median: f64,
    /// Median as built.
    pub as_built: Option<f64>,
    /// At the best placement.
    pub best: f64,
    /// At the worst placement.
    pub worst: f64,
}

/// One benchmark.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Compared {
    /// Its name in the output.
    pub benchmark: String,
    /// Unit of its figures.
    pub unit: String,
    /// Its figures on the baseline's side.
    pub baseline: SideFigure,
    /// Its figures on the candidate's side; `null` with one side.
    pub candidate: Option<SideFigure>,
    /// Candidate / baseline as the builds left them.
    pub as_built: Option<RatioInterval>,
    /// Candidate / baseline over placements.
    pub code: Option<RatioInterval>,
    /// as built / code.
    pub placement_ratio: Option<f64>,
    /// Probability that Google Benchmark's compare.py gives this difference by chance: its U test on the runs as built.
    pub u_test_p: Option<f64>,
    /// On the code; `null` with one side.
    pub verdict: Option<Verdict>,
    /// All that it executes and can reach is the same machine code and data: `equivalent` is no estimate.
    #[serde(default)]
    pub proven: bool,
    /// What the as-built comparison is worth.
    pub as_built_says: Option<AsBuiltSays>,
    /// Why.
    pub causes: Vec<CauseEvidence>,
    /// Both sides mode by mode, in the unit of the figures, where runs of one side take one of two times; null where neither is known to.
    #[serde(default)]
    pub modes: Option<ContrastModes>,
    /// Sentences with their numbers.
    pub reasons: Vec<String>,
    /// Complete rotations.
    pub rotations: u32,
    /// Smallest effect that these rotations would find four times in five.
    pub minimum_detectable_effect: Option<f64>,
    /// Seconds of measuring in all that should decide it, at the spread seen; `null` where it is decided or that is unknown.
    pub seconds_to_decide: Option<f64>,
    /// Functions that it executes and that differ between the sides.
    pub functions: Vec<DifferingFunction>,
    /// How many functions it executes; `null` where unknown.
    pub executed_functions: Option<u64>,
    /// Why its code is unknown.
    pub code_unknown: Option<String>,
}

/// A function that a benchmark executes, other on the candidate's side.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct DifferingFunction {
    /// Its name.
    pub name: String,
    /// What became of it.
    pub change: ExecutedChange,
    /// Instructions on the baseline's side, per call, iteration or run.
    pub baseline_instructions: Option<f64>,
    /// Instructions on the candidate's side.
    pub candidate_instructions: Option<f64>,
    /// What the instructions are counted per.
    #[serde(default)]
    pub per: InstructionsPer,
    /// Its share of the instructions that the benchmark executes in functions of the build, on the side where it is larger, 0 to 1.
    /// Where the library can be asked for a number of iterations, only what they repeat counts: start-up code has a share of 0.
    #[serde(default)]
    pub share: Option<f64>,
    /// Whether its source is the same, by the revisions and by the lines that debug information has; `null` where they do not tell.
    pub same_source: Option<bool>,
    /// Its loops, where all of them are the same instructions on both sides; empty where not, or where that is unknown.
    #[serde(default)]
    pub loops: Vec<SharedLoop>,
    /// Where its source begins, as debug information has it: on the candidate's side, else on the baseline's; `null` where it is unknown.
    #[serde(default)]
    pub begins: Option<SourceLocation>,
}

/// A line of a source file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "SourceLine"))]
pub struct SourceLocation {
    /// The file.
    pub file: String,
    /// From 1.
    pub line: u32,
}

/// What instructions are counted per.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum InstructionsPer {
    /// A call of the function.
    #[default]
    Call,
    /// An iteration of the benchmark, where its library can be asked for a number of them.
    Iteration,
    /// An execution of the command from its start to its end, with one iteration of the benchmark.
    Run,
}

impl InstructionsPer {
    /// What a share is a share of.
    pub fn all(self) -> &'static str {
        match self {
            InstructionsPer::Iteration => "all",
            InstructionsPer::Call | InstructionsPer::Run => "the whole run",
        }
    }

    /// As a word of a sentence.
    pub fn word(self) -> &'static str {
        match self {
            InstructionsPer::Call => "call",
            InstructionsPer::Iteration => "iteration",
            InstructionsPer::Run => "run",
        }
    }
}

/// What became of an executed function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ExecutedChange {
    /// Its machine code differs after relocation.
    Changed,
    /// Only the baseline executes it.
    OnlyBaseline,
    /// Only the candidate executes it.
    OnlyCandidate,
    /// It could not be compared.
    Unknown,
}

impl From<CodeChange> for ExecutedChange {
    fn from(own: CodeChange) -> Self {
        match own {
            CodeChange::OnlyOld => Self::OnlyBaseline,
            CodeChange::OnlyNew => Self::OnlyCandidate,
            CodeChange::Unknown => Self::Unknown,
            CodeChange::Identical | CodeChange::Moved | CodeChange::Respaced | CodeChange::Changed => {
                Self::Changed
            }
        }
    }
}

/// A benchmark that one side lacks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct OneSided {
    /// Its name.
    pub benchmark: String,
    /// The side that has it.
    pub only_in: String,
}

/// Visits that gave no figures, for one reason.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SpoiltVisits {
    /// Whose.
    pub side: String,
    /// Why.
    pub reason: String,
    /// How many.
    pub visits: u64,
}

/// Where the spread of the figures comes from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Factors {
    /// One sentence over all benchmarks.
    pub sentence: String,
    /// Per benchmark and factor.
    pub rows: Vec<Factor>,
}

/// The part of a factor in a benchmark's variance.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Factor {
    /// Whose.
    pub benchmark: String,
    /// `side`, `placement`, `process`, `round`, `rest`.
    pub factor: String,
    /// Its share of the variance of the logarithms, 0 to 1.
    pub share: f64,
    /// Lower end of its interval.
    pub lower: Option<f64>,
    /// Upper end of its interval.
    pub upper: Option<f64>,
    /// Its standard deviation as a fraction of the figure.
    pub deviation: f64,
}

/// How it was measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ComparisonRun {
    /// The processor's name.
    pub cpu: String,
    /// The processor that measured.
    pub pinned_cpu: Option<u32>,
    /// When it began, RFC 3339.
    pub started: String,
    /// Seconds of measuring.
    pub seconds: f64,
    /// Passes over all placements.
    pub rounds: u32,
    /// Shuffles, each with every phase.
    pub rotations: u32,
    /// Launches of the benchmark command.
    pub visits: u64,
    /// Why it stopped.
    #[serde(with = "crate::stopped::runs")]
    #[cfg_attr(test, schemars(schema_with = "crate::stopped::runs::schema"))]
    pub stopped_because: Stopped,
    /// The equivalence margin, a fraction.
    pub minimum_effect: f64,
    /// Of all verdicts together.
    pub confidence: f64,
    /// Of orders, shuffles and surroundings.
    pub seed: u64,
    /// The file that keeps every figure.
    pub ledger: Option<String>,
}

impl ComparePage {
    /// The JSON, with a newline at its end.
    pub fn to_json(&self) -> String {
        crate::json::written(self)
    }

    /// What the reader has to know before the table.
    ///
    /// That code and its place cannot be told apart matters to who built both sides, and where something differs: not where two
    /// commands take the same time.
    pub fn doubts(&self, detail: Detail) -> impl Iterator<Item = String> {
        let differs =
            || self.benchmarks.iter().any(|found| found.verdict.is_some_and(Verdict::is_difference));
        let matters = detail == Detail::Full || self.build.is_some() || differs();
        doubts(&self.warnings, if matters { &self.limits } else { &[] })
    }

    /// Everything that could be compared is the same machine code: no placements were measured over, each side ran once at most.
    pub(crate) fn is_measured_for_times_alone(&self) -> bool {
        let run = &self.measured;
        let proven = self.benchmarks.iter().any(|found| found.proven);
        proven && run.rounds == 0 && run.visits <= self.sides.len() as u64
    }

    /// The benchmarks with this verdict.
    pub fn with(&self, verdict: Verdict) -> impl Iterator<Item = &Compared> {
        self.benchmarks.iter().filter(move |found| found.verdict == Some(verdict))
    }
}
