//! A sweep as plain data; its JSON is an interface (`schema/sweep-2.schema.json`, generated from this file).

use crate::page::{MedianInterval, PageFailure, RatioInterval, TwinVerdict};
pub use assay_pure::ledger::Stopped;
use assay_pure::sweep::refine::Why;
use assay_pure::sweep::{Scale, Winner};
use serde::{Deserialize, Serialize};

/// The value of `schema` in every page written by this version.
pub const SWEEP_SCHEMA: &str = "assay.sweep/2";

/// What `assay sweep --json FILE` writes: who wins where over a range of one key. Of several sweeps a file holds one document after the other.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SweepPage {
    /// Name and version of this format.
    pub schema: String,
    /// The experiment's name.
    pub experiment: String,
    /// The question in the author's words.
    pub question: String,
    /// The answer in plain words.
    pub answer: String,
    /// The item of work every figure is divided by, singular.
    pub unit: String,
    /// The variant all others are compared with.
    pub baseline: String,
    /// What was varied.
    pub key: PageSweepKey,
    /// When, how long, how much.
    pub measured: SweepRun,
    /// Where.
    pub machine: SweepMachine,
    /// What the reader must know before believing a figure.
    pub warnings: Vec<String>,
    /// Every value that was measured, rising.
    pub points: Vec<MeasuredPoint>,
    /// One for each input (in each of its uses), compiler and flag set.
    pub series: Vec<SeriesPage>,
    /// What could not be measured, with the reason.
    pub failures: Vec<PageFailure>,
}

/// What was varied.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PageSweepKey {
    /// The sweep's name.
    pub sweep: String,
    /// The author's line about it.
    pub description: Option<String>,
    /// The key by its path.
    pub path: String,
    /// The key within the input's table.
    pub label: String,
    /// Smallest value.
    pub from: f64,
    /// Largest value.
    pub to: f64,
    /// Which points lie equally far apart.
    pub scale: Scale,
    /// Values are shares, shown in per cent.
    pub percent: bool,
    /// It takes whole numbers only.
    pub whole: bool,
    /// Most further points.
    pub refine: u32,
}

/// When, how long, how much.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SweepRun {
    /// Its number in the ledger.
    pub id: i64,
    /// RFC 3339, UTC.
    pub started: String,
    /// From the first link to the last step's end, seconds; null while it is not at its end.
    pub elapsed_seconds: Option<f64>,
    /// Spent measuring, seconds.
    pub seconds: f64,
    /// What was allowed, seconds of measuring.
    pub budget_seconds: f64,
    /// Rotations of each point.
    pub rotations: u32,
    /// Why it ended; null where it can be resumed after a kill.
    #[serde(with = "crate::stopped::sweeps")]
    #[cfg_attr(test, schemars(schema_with = "crate::stopped::sweeps::schema"))]
    pub stopped_because: Option<Stopped>,
    /// Its campaigns, in order of the steps.
    pub campaigns: Vec<i64>,
    /// The equivalence margin, a fraction.
    pub minimum_effect: f64,
    /// Confidence of each interval, a fraction.
    pub confidence: f64,
    /// Worst of the steps' twin controls; null where none was measured.
    pub twin: Option<TwinVerdict>,
    /// The ledger that holds the samples.
    pub ledger: String,
}

/// Where it was measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SweepMachine {
    /// Model name of the processor.
    pub cpu: String,
    /// Data caches, the smallest first.
    pub caches: Vec<CacheSize>,
    /// The core that measured.
    pub pinned_cpu: Option<u32>,
}

/// A cache by name and size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CacheSize {
    /// `L1d`, `L2`, `last-level cache`.
    pub name: String,
    /// Its size.
    pub bytes: u64,
}

/// A value that was measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct MeasuredPoint {
    /// The key's value.
    pub at: f64,
    /// Why it was chosen.
    pub why: Why,
    /// In which step, from 0.
    pub step: u32,
    /// Bytes of the input there; null where it was not made.
    pub bytes: Option<u64>,
    /// Units of the input there.
    pub units: Option<u64>,
}

/// One input in one use and one build.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SeriesPage {
    /// The input.
    pub input: String,
    /// Compiler name.
    pub compiler: String,
    /// Flag set name.
    pub flags: String,
    /// The variants' times.
    pub curves: Vec<CurvePage>,
    /// Every two variants that were compared, those with the baseline first.
    pub pairs: Vec<PairPage>,
}

/// One variant over the range.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CurvePage {
    /// Variant name.
    pub variant: String,
    /// Nanoseconds per unit, rising in the key.
    pub times: Vec<TimeAt>,
    /// Where it steps.
    pub steps: Vec<StepPage>,
}

/// A time at a value of the key.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TimeAt {
    /// The key's value.
    pub at: f64,
    /// Nanoseconds per unit: geometric mean over rotations (`median`) and its interval.
    pub ns_per_unit: MedianInterval,
}

/// A rise or fall over a short stretch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct StepPage {
    /// The last value before it.
    pub from: f64,
    /// The first behind it.
    pub to: f64,
    /// Nanoseconds per unit before.
    pub before_ns: f64,
    /// Nanoseconds per unit behind.
    pub after_ns: f64,
    /// What is behind it.
    pub cause: StepCause,
    /// All of it in a sentence.
    pub note: String,
}

/// What is behind a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum StepCause {
    /// The working set outgrows a cache.
    Cache,
    /// The input is too long for the branch predictor to memorise.
    PredictorMemory,
    /// More or fewer mispredictions of data that is too long to memorise.
    Mispredictions,
    /// Unknown.
    Unexplained,
}

/// Two variants over the range.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PairPage {
    /// Variant.
    pub candidate: String,
    /// Variant.
    pub baseline: String,
    /// Who wins where, in a sentence.
    pub note: String,
    /// Their ratio at every point, rising in the key.
    pub ratios: Vec<RatioAt>,
    /// Where the winner flips, rising.
    pub crossovers: Vec<CrossoverPage>,
    /// Who wins where.
    pub zones: Vec<ZonePage>,
    /// Standard deviation, as a log ratio, of what campaigns of the same point differ by beyond their own errors; it is in every
    /// interval. null where no point has two.
    pub campaigns_differ_by: Option<f64>,
}

/// A ratio at a value of the key.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RatioAt {
    /// The key's value.
    pub at: f64,
    /// Time of candidate / time of baseline, with its interval.
    pub ratio: RatioInterval,
    /// Who wins there.
    pub winner: Winner,
    /// Campaigns that measured it: those on an unshared core, or all where there are none.
    pub campaigns: u32,
    /// The sibling thread was busy in all of them. Ignored where most points were measured without.
    pub shared: bool,
}

/// Where the winner flips.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CrossoverPage {
    /// Where it most likely is.
    pub at: f64,
    /// The last value that is clearly on the one side.
    pub lower: f64,
    /// The first that is clearly on the other.
    pub upper: f64,
    /// The variant that takes less time below.
    pub faster_below: String,
    /// The one that does above.
    pub faster_above: String,
    /// The width that was wanted.
    pub wanted_width: f64,
    /// What keeps it from being narrower; null where it is as narrow as wanted.
    pub limited_by: Option<Limit>,
    /// Both ends were measured in two campaigns at least, on an unshared core.
    pub confirmed: bool,
}

/// What keeps a crossover wide.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// Points nearer to it cannot be distinguished from equality: more rotations or budget could.
    Noise,
    /// More points would do it.
    Points,
}

/// Neighbouring points of which the same is true.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ZonePage {
    /// Who wins.
    pub winner: Winner,
    /// The first such point.
    pub from: f64,
    /// The last.
    pub to: f64,
    /// Smallest ratio in it: time of candidate / time of baseline.
    pub lowest_ratio: f64,
    /// Largest.
    pub highest_ratio: f64,
}

impl SweepPage {
    /// The page as indented JSON with a newline at its end.
    pub fn to_json(&self) -> String {
        crate::json::written(self)
    }
}
