//! What is known of one campaign, as plain data: the one thing that the terminal, the JSON file and later formats show.
//!
//! The JSON is an interface (schema "assay.campaign/1", `schema/campaign-1.schema.json`). Its words (verdicts, causes, axes)
//! are those of `assay-pure`; a test compares all of them with the schema, so none changes unseen. Numbers are kept as measured; rounding belongs to the reader. All times of a contrast are ratios, time of the
//! candidate divided by time of the baseline: 0.9 is 10 % less time.

mod cell;
mod contrast;
mod count;
mod finding;
mod gate;
mod interval;
mod limit;

pub use self::cell::{
    AtOffset, AtPair, CompanionFunction, Failed, OffsetsReached, PageCell, PageOffsetShare, Range, Throughput,
};
pub use self::contrast::{InputDependentContrast, PageContrast, PageTwinControl, SAME_CODE, SAME_LOOPS};
pub use self::count::{BranchCost, CellResidual, Count, ExplainedTimes, LearnedInput};
pub use self::finding::{FindingKind, PageFinding};
pub use self::gate::GateResult;
pub use self::interval::MedianInterval;
pub use self::limit::{CellLimit, LimitsUsed};
// Words that the JSON shares with what decides: defined there, spelt once.
pub use assay_pure::experiment::spec::Clock;
pub use assay_pure::experiment::{Axis, CacheState, Measure};
pub use assay_pure::ledger::Stopped;
pub use assay_pure::limits::{LimitKind, LimitSource, LimitStanding};
pub use assay_pure::verdict::{
    AsBuiltSays, Build, Cause, CauseEvidence, ClaimStatus, ContrastModes, CountSource, Dependence,
    RatioInterval, ShareDifference, SideModes, TwinVerdict, Verdict,
};

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

/// The value of `schema` in every page written by this version.
pub const SCHEMA: &str = "assay.campaign/1";

/// One campaign, ready to be shown.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Page {
    /// Name and version of this format.
    pub schema: String,
    /// The experiment's name.
    pub experiment: String,
    /// The question in the author's words.
    pub question: String,
    /// The answer in plain words.
    pub answer: String,
    /// What the author expected before measuring.
    pub prediction: Option<String>,
    /// The item of work every figure is divided by, singular.
    pub unit: String,
    /// The variant all others are compared with.
    pub baseline: String,
    /// All variants, the baseline included, in file order.
    pub variants: Vec<PageVariant>,
    /// All flag sets, in file order.
    pub flag_sets: Vec<PageFlagSet>,
    /// Where it was measured.
    pub machine: PageMachine,
    /// When, how long, how much.
    pub campaign: CampaignRun,
    /// The baseline against itself.
    pub twin_control: PageTwinControl,
    /// What makes figures untrue, the gravest first: dead code, work done elsewhere, memorised inputs. Of what was examined before it
    /// was measured, less what the file accepts.
    #[serde(default)]
    pub findings: Vec<PageFinding>,
    /// Somebody else used the core while it was measured, so much that figures are worse for it; null where not.
    #[serde(default)]
    pub neighbour: Option<String>,
    /// What changes what the reader should do, the gravest first; the twin control's note may be one.
    pub warnings: Vec<String>,
    /// What is true of the measurement and needs nothing done: the verdicts allow for it.
    #[serde(default)]
    pub notes: Vec<String>,
    /// Every contrast, along each axis asked for, in otherwise equal cells.
    pub contrasts: Vec<PageContrast>,
    /// Every cell that was planned, the failed ones included.
    pub cells: Vec<PageCell>,
    /// Where the functions lie as built, one entry per build; empty unless comparing builds was asked for.
    #[serde(default)]
    pub layouts: Vec<BuildLayout>,
    /// The inputs, in file order.
    pub inputs: Vec<PageInput>,
    /// Contrasts whose sign or size depends on the input.
    pub input_dependence: Vec<InputDependentContrast>,
    /// Inputs that a predictor memorises while they are measured.
    #[serde(default)]
    pub learned_inputs: Vec<LearnedInput>,
    /// What a misprediction costs on this machine; absent unless mispredictions were asked for.
    #[serde(default)]
    pub branch_cost: Option<BranchCost>,
    /// What instructions and mispredictions explain of all times; absent unless both were asked for.
    #[serde(default)]
    pub explained: Option<ExplainedTimes>,
    /// Which measured limits of the machine the cells are compared with; null where none are kept for it.
    #[serde(default)]
    pub limits: Option<LimitsUsed>,
    /// A claim of the file, and what was found.
    pub claims: Vec<Claim>,
    /// What became of the gate; null where none was asked for.
    #[serde(default)]
    pub gate: Option<GateResult>,
    /// What could not be measured, with the reason.
    pub failures: Vec<PageFailure>,
}

/// One variant's name and meaning.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PageVariant {
    /// The name the program registers.
    pub name: String,
    /// The author's line about it.
    pub description: Option<String>,
}

/// One value of the flags axis.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PageFlagSet {
    /// Name in the tables.
    pub name: String,
    /// The flags themselves, those that assay added included.
    pub flags: Vec<String>,
}

impl PageFlagSet {
    /// Its name, and its flags where it has any.
    pub fn told(&self) -> String {
        match &self.flags[..] {
            [] => self.name.clone(),
            flags => format!("{}: {}", self.name, flags.join(" ")),
        }
    }
}

/// The machine and the tools.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PageMachine {
    /// Model name of the processor.
    pub cpu: String,
    /// Kernel release.
    pub kernel: String,
    /// Logical cores.
    pub cores: u32,
    /// The core that measured, if pinning was possible.
    pub pinned_cpu: Option<u32>,
    /// The compilers that built the artifacts.
    pub compilers: Vec<PageCompiler>,
    /// The clock that decides.
    pub clock: Clock,
    /// What reading the clocks costs.
    pub timer: TimerCosts,
    /// Further facts (governor, hypervisor, microcode), by name.
    pub facts: BTreeMap<String, String>,
}

/// One compiler, identified.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PageCompiler {
    /// Name in the tables.
    pub name: String,
    /// Version as it reports it.
    pub version: String,
    /// Target triple.
    pub target: String,
    /// SHA-256 of the executable, hexadecimal.
    pub sha256: String,
}

impl PageCompiler {
    /// Its name, and its version where it is known: that of a build's own compiler is not.
    pub fn told(&self) -> String {
        if self.version.is_empty() { self.name.clone() } else { format!("{} ({})", self.name, self.version) }
    }
}

/// Median costs on the measuring core, nanoseconds; null where no program reported them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TimerCosts {
    /// One read of the wall clock.
    pub wall_read_ns: Option<f64>,
    /// One read of the thread's CPU clock.
    pub cpu_read_ns: Option<f64>,
    /// An empty region as the wall clock sees it; subtracted from every sample.
    pub region_wall_ns: Option<f64>,
    /// An empty region as the thread's CPU clock sees it; subtracted from every sample.
    pub region_cpu_ns: Option<f64>,
}

/// When, how long, how much.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CampaignRun {
    /// Its name in the ledger.
    pub id: String,
    /// RFC 3339, UTC.
    pub started: String,
    /// From the first link to the last verdict, seconds.
    pub elapsed_seconds: f64,
    /// Spent measuring, seconds.
    pub measured_seconds: f64,
    /// Of these, only waited for a core that is not shared.
    #[serde(default)]
    pub waited_seconds: f64,
    /// Passes over the cells.
    pub rounds: u64,
    /// Complete rotations.
    pub rotations: u32,
    /// All samples, warm-up and flagged ones included.
    pub samples: u64,
    /// Samples left out of the estimates because they were interrupted.
    pub flagged_samples: u64,
    /// What was allowed, seconds of measuring.
    pub budget_seconds: f64,
    /// Why measuring ended.
    #[serde(with = "crate::stopped::runs")]
    #[cfg_attr(test, schemars(schema_with = "crate::stopped::runs::schema"))]
    pub stopped_because: Stopped,
    /// The equivalence margin, a fraction.
    pub minimum_effect: f64,
    /// Family-wise confidence of the intervals, a fraction.
    pub confidence: f64,
    /// Seed of the plan.
    pub seed: u64,
    /// The ledger that holds the samples, as the user would name it.
    pub ledger: Option<String>,
}

/// Where the functions of one build lie, in the plain link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct BuildLayout {
    /// Compiler name.
    pub compiler: String,
    /// Flag set name.
    pub flags: String,
    /// Size of all code sections, bytes.
    pub text_bytes: u64,
    /// The variants' entries and what else they run, by address.
    pub functions: Vec<Landing>,
}

/// Where one function lies.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Landing {
    /// Its name, as a reader writes it.
    pub name: String,
    /// The variant whose entry it is; null for what is called from there.
    pub variant: Option<String>,
    /// Link-time address.
    pub address: u64,
    /// Size, bytes.
    pub size: u64,
    /// Bytes from the start of its 64-byte line.
    pub offset: u64,
}

/// One input.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PageInput {
    /// Name in the tables.
    pub name: String,
    /// Content hash.
    pub digest: String,
    /// Size, bytes.
    pub bytes: u64,
    /// Units in it.
    pub units: u64,
    /// The author's line about it.
    pub summary: Option<String>,
    /// The generator with its parameters, or the recorded file.
    pub recipe: Option<String>,
    /// What a decoder and its predictor see in it (length histogram, entropies, period); its keys are not fixed by this schema.
    pub description: serde_json::Value,
    /// What is cold when a call begins.
    #[serde(default)]
    pub state: CacheState,
    /// Whether calls wait for each other.
    #[serde(default)]
    pub measure: Measure,
    /// Copies that calls rotate over; null in other states.
    #[serde(default)]
    pub copies: Option<u64>,
    /// The file's input of which this is another use; null for the file's own.
    #[serde(default)]
    pub of: Option<String>,
}

/// A claim of the file, and what was found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Claim {
    /// The sentence as it was said.
    pub text: String,
    /// Whether it holds here.
    pub status: ClaimStatus,
    /// What was found instead, or what is missing.
    pub found: String,
    /// Who said it, where.
    pub source: Option<String>,
}

/// Something that was not measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PageFailure {
    /// Whether somebody is to blame.
    pub kind: FailureKind,
    /// The cell, artifact or variant.
    pub what: String,
    /// One sentence.
    pub reason: String,
}

/// Whether something went wrong or was left out knowingly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// It went wrong; the campaign's exit code says so.
    Failed,
    /// This machine can't, and says why; not an error.
    Skipped,
}

/// Why a text is not a page.
#[derive(Debug)]
pub enum PageError {
    /// Not JSON, or a key is missing or of another type.
    Json(serde_json::Error),
    /// A page of another schema, with the schema found.
    Schema(String),
}

impl fmt::Display for PageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Json(error) => write!(f, "not a page of schema {SCHEMA}: {error}"),
            Self::Schema(found) => {
                write!(f, "the page has schema \"{found}\"; this assay reads \"{SCHEMA}\"")
            }
        }
    }
}

impl std::error::Error for PageError {}

impl Page {
    /// The contrasts along an axis, in the order of the page.
    pub fn along(&self, axis: Axis) -> impl Iterator<Item = &PageContrast> {
        self.contrasts.iter().filter(move |contrast| contrast.axis == axis)
    }

    /// Tells the cells' times as rates too, by the sizes of the inputs.
    pub fn add_throughput(&mut self) {
        for cell in &mut self.cells {
            let input = self.inputs.iter().find(|input| input.name == cell.input);
            cell.throughput = input
                .zip(cell.ns_per_unit)
                .and_then(|(input, time)| Throughput::of(time.median, input.bytes, input.units));
        }
    }

    /// Whether a cell has no figure because its variant was left out knowingly.
    pub fn is_skipped(&self, cell: &PageCell) -> bool {
        let Some(failed) = &cell.failed else { return false };
        let mut skipped = self.failures.iter().filter(|failure| failure.kind == FailureKind::Skipped);
        skipped.any(|failure| failure.what == cell.variant && failure.reason == failed.reason)
    }

    /// The page as indented JSON with a newline at its end.
    pub fn to_json(&self) -> String {
        crate::json::written(self)
    }

    /// Reads what [`Page::to_json`] wrote.
    ///
    /// # Errors
    /// The text is not JSON, carries another schema, or lacks a key.
    pub fn from_json(text: &str) -> Result<Self, PageError> {
        #[derive(Deserialize)]
        struct SchemaHead {
            schema: String,
        }
        // The schema first: "missing field" is no help to somebody who has a page of a newer version.
        let head: SchemaHead = serde_json::from_str(text).map_err(PageError::Json)?;
        if head.schema != SCHEMA {
            return Err(PageError::Schema(head.schema));
        }
        serde_json::from_str(text).map_err(PageError::Json)
    }
}
