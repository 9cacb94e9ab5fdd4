//! What is known of one campaign, as plain data: the one thing that the terminal, the JSON file and later formats show.
//!
//! The types repeat some of `assay-pure`'s words on purpose: their JSON is an interface (schema "assay.campaign/1",
//! `schema/campaign-1.schema.json`, held against this file by a test), so a change of an inner type can't change it
//! unseen. Numbers are kept as measured; rounding belongs to the reader. All times of a contrast are ratios, time of the
//! candidate divided by time of the baseline: 0.9 is 10 % less time.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

/// The value of `schema` in every page written by this version.
pub const SCHEMA: &str = "assay.campaign/1";

/// One campaign, ready to be shown.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Page {
    /// Always [`SCHEMA`].
    pub schema: String,
    /// The experiment's name.
    pub experiment: String,
    /// The question in the author's words.
    pub question: String,
    /// The answer in plain words; see [`super::answer()`].
    pub answer: String,
    /// What the author expected before measuring.
    pub prediction: Option<String>,
    /// The item of work every figure is divided by, singular.
    pub unit: String,
    /// The variant all others are compared with.
    pub baseline: String,
    /// All variants, the baseline included, in file order.
    pub variants: Vec<Variant>,
    /// All flag sets, in file order.
    pub flag_sets: Vec<FlagSet>,
    /// Where it was measured.
    pub machine: Machine,
    /// When, how long, how much.
    pub campaign: Campaign,
    /// The baseline against itself.
    pub twin_control: TwinControl,
    /// What the reader must know before believing a figure, the gravest first; the twin control's note may be one.
    pub warnings: Vec<String>,
    /// Every contrast, along each axis asked for, in otherwise equal cells.
    pub contrasts: Vec<Contrast>,
    /// Every cell that was planned, the failed ones included.
    pub cells: Vec<Cell>,
    /// Where the functions lie as built, one entry per build; empty where nobody asked to compare builds.
    #[serde(default)]
    pub layouts: Vec<Layout>,
    /// The inputs, in file order.
    pub inputs: Vec<Input>,
    /// Contrasts whose sign or size depends on the input.
    pub input_dependence: Vec<InputDependence>,
    /// Inputs that are known by heart while they are measured.
    #[serde(default)]
    pub learned_inputs: Vec<LearnedInput>,
    /// What a misprediction costs on this machine; absent where nobody asked for mispredictions.
    #[serde(default)]
    pub branch_cost: Option<BranchCost>,
    /// What instructions and mispredictions explain of all times; absent where nobody asked for both.
    #[serde(default)]
    pub explained: Option<Explained>,
    /// Which measured limits of the machine the cells are held against; null where none are kept for it.
    #[serde(default)]
    pub limits: Option<LimitsUsed>,
    /// What somebody says, and what was found.
    pub claims: Vec<Claim>,
    /// What could not be measured, with the reason.
    pub failures: Vec<Failure>,
}

/// One variant's name and meaning.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Variant {
    /// The name the program registers.
    pub name: String,
    /// The author's line about it.
    pub description: Option<String>,
}

/// One value of the flags axis.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FlagSet {
    /// Name in the tables.
    pub name: String,
    /// The flags themselves, those that assay added included.
    pub flags: Vec<String>,
}

/// The machine and the tools.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// Model name of the processor.
    pub cpu: String,
    /// Kernel release.
    pub kernel: String,
    /// Logical cores.
    pub cores: u32,
    /// The core that measured, if pinning was possible.
    pub pinned_cpu: Option<u32>,
    /// The compilers that built the artifacts.
    pub compilers: Vec<Compiler>,
    /// The clock that decides: "wall" or "thread_cpu".
    pub clock: String,
    /// What reading the clocks costs.
    pub timer: Timer,
    /// Further facts (governor, hypervisor, microcode), by name.
    pub facts: BTreeMap<String, String>,
}

/// One compiler, identified.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Compiler {
    /// Name in the tables.
    pub name: String,
    /// Version as it reports it.
    pub version: String,
    /// Target triple.
    pub target: String,
    /// SHA-256 of the executable, hexadecimal.
    pub sha256: String,
}

/// Median costs on the measuring core, nanoseconds; null where no program reported them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Timer {
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
pub struct Campaign {
    /// Its name in the ledger.
    pub id: String,
    /// RFC 3339, UTC.
    pub started: String,
    /// From the first link to the last verdict, seconds.
    pub elapsed_seconds: f64,
    /// Spent measuring, seconds.
    pub measured_seconds: f64,
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
    pub stopped_because: StoppedBecause,
    /// The equivalence margin, a fraction.
    pub minimum_effect: f64,
    /// Family-wise confidence of the intervals, a fraction.
    pub confidence: f64,
    /// Seed of the plan.
    pub seed: u64,
    /// The ledger that holds the samples, as the user would name it.
    pub ledger: Option<String>,
}

/// Why measuring ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StoppedBecause {
    /// Every contrast has a verdict other than inconclusive.
    Decided,
    /// The budget of measuring is spent.
    BudgetSpent,
    /// The largest number of rotations is reached.
    RotationsSpent,
    /// The user interrupted it.
    Interrupted,
    /// No cell could be measured.
    NothingToMeasure,
}

/// The baseline against itself over disjoint rotations.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TwinControl {
    /// `different` weakens every other verdict.
    pub verdict: TwinVerdict,
    /// Where it is `different`, of the twins furthest apart; else of all together.
    pub ratio: Option<f64>,
    /// Lower end of its interval.
    pub lower: Option<f64>,
    /// Upper end of its interval.
    pub upper: Option<f64>,
    /// The whole in one sentence.
    pub note: Option<String>,
}

/// Whether the baseline equals itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TwinVerdict {
    /// It does, within the minimum effect.
    Equivalent,
    /// It does not: the campaign is not to be trusted.
    Different,
    /// Not enough was measured to say.
    Undecided,
}

/// A ratio of times with its interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Effect {
    /// Time of candidate / time of baseline.
    pub ratio: f64,
    /// Lower end.
    pub lower: f64,
    /// Upper end.
    pub upper: f64,
}

/// The axis that the two sides of a contrast differ in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Axis {
    /// Variants, in the same build.
    #[default]
    Variant,
    /// Compilers of the same variant with the same flags.
    Compiler,
    /// Flag sets of the same variant by the same compiler.
    Flags,
}

impl Axis {
    /// Its name in the JSON.
    pub fn name(self) -> &'static str {
        match self {
            Axis::Variant => "variant",
            Axis::Compiler => "compiler",
            Axis::Flags => "flags",
        }
    }
}

/// A compiler with a flag set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Build {
    /// Compiler name.
    pub compiler: String,
    /// Flag set name.
    pub flags: String,
}

/// One candidate against the baseline on one input in one build, or against itself in another build.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Contrast {
    /// Variant.
    pub candidate: String,
    /// Variant.
    pub baseline: String,
    /// Input name.
    pub input: String,
    /// Compiler name.
    pub compiler: String,
    /// Flag set name.
    pub flags: String,
    /// What the sides differ in.
    #[serde(default)]
    pub axis: Axis,
    /// The baseline's build; null where both sides have the same one.
    #[serde(default)]
    pub against: Option<Build>,
    /// What one plain link would have shown; null where it wasn't measured.
    pub as_built: Option<Effect>,
    /// The code effect, free of placement; null where no rotation is complete.
    pub code: Option<Effect>,
    /// as built / code: what the linker added.
    pub placement_ratio: Option<f64>,
    /// On the code effect.
    pub verdict: Verdict,
    /// What the as-built comparison amounts to beside the verdict.
    pub as_built_says: Option<AsBuiltSays>,
    /// Why, each with its evidence.
    pub causes: Vec<Cause>,
    /// What the verdict rests on, in sentences.
    pub reasons: Vec<String>,
    /// Complete rotations behind the code effect.
    pub rotations: u32,
    /// Rotations in all, those done included, that would decide an inconclusive contrast, about.
    pub rotations_needed: Option<u32>,
    /// Seconds of measuring still missing for them.
    pub seconds_needed: Option<f64>,
    /// The smallest difference that these rotations would find four times in five, a fraction.
    pub minimum_detectable_effect: Option<f64>,
}

/// The verdict of a contrast.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Less time, beyond the minimum effect.
    Faster,
    /// More time, beyond the minimum effect.
    Slower,
    /// The same time within the minimum effect.
    Equivalent,
    /// Not decided.
    Inconclusive,
}

/// The as-built comparison held against the verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AsBuiltSays {
    /// It has the other sign.
    Reversed,
    /// It says different; the code is equivalent.
    Ghost,
    /// It says equal; the code is not.
    Masked,
    /// Right sign, too large by more than a half.
    Inflated,
    /// Right sign, too small by more than a half.
    Deflated,
    /// It agrees.
    Confirmed,
}

/// One cause with its evidence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cause {
    /// What it is.
    pub cause: CauseKind,
    /// The part of the difference that it explains, a fraction, where that can be said.
    pub share: Option<f64>,
    /// A sentence with the figures.
    pub evidence: String,
}

/// Kinds of causes (design, section 6).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CauseKind {
    /// Where the linker put the code.
    Placement,
    /// Both functions are the same machine code.
    IdenticalCode,
    /// More or fewer instructions or branches.
    Work,
    /// More or fewer mispredictions.
    Prediction,
    /// The sign or the size depends on the input.
    Input,
    /// It appears past a cache size.
    Memory,
    /// Counts changed in functions whose source did not.
    CodegenDrift,
    /// The twin control failed.
    Noise,
    /// Unoptimised or instrumented code.
    Build,
}

/// One combination of the axes, placements taken together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// Variant name.
    pub variant: String,
    /// Input name.
    pub input: String,
    /// Compiler name.
    pub compiler: String,
    /// Flag set name.
    pub flags: String,
    /// Over all placements; null where nothing usable was measured.
    pub ns_per_unit: Option<Spread>,
    /// By the entry's offset in its 64-byte line.
    pub by_offset: Vec<AtOffset>,
    /// Which offsets the function really visited.
    pub reached: Reached,
    /// Nanoseconds per unit in the plain link.
    pub as_built_ns: Option<f64>,
    /// Over the single placements.
    #[serde(default)]
    pub range: Option<Range>,
    /// What its time varies with over placements; null where it does not vary or reaches one offset only.
    #[serde(default)]
    pub offset_share: Option<OffsetShare>,
    /// The function whose start, beside its own, its time goes with; null where none is established.
    #[serde(default)]
    pub companion: Option<Companion>,
    /// Counts per unit by the event's name ("instructions", "branches", "branch-misses", "cycles"), each with where it comes from.
    pub per_unit: BTreeMap<String, Count>,
    /// The least time of a unit by each limit of the machine that can be told, the largest share first.
    #[serde(default)]
    pub limits: Vec<CellLimit>,
    /// Why nothing was counted, where it should have been.
    #[serde(default)]
    pub uncounted: Option<Failed>,
    /// What the reader must know of the counts.
    #[serde(default)]
    pub count_note: Option<String>,
    /// Why there is no figure.
    pub failed: Option<Failed>,
}

/// A median with its interval, nanoseconds per unit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// Median.
    pub median: f64,
    /// Lower end.
    pub lower: f64,
    /// Upper end.
    pub upper: f64,
}

/// The times of single placements, each the median of its samples.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Range {
    /// The fastest, nanoseconds per unit.
    pub fastest_ns: f64,
    /// The slowest.
    pub slowest_ns: f64,
    /// Placements in all, the plain link not counted.
    pub placements: u64,
    /// Of these, slower than the fastest by a tenth and more.
    pub slow_placements: u64,
}

/// What the variance of a time over placements goes with; the parts add up to 1.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct OffsetShare {
    /// The entry's offset in its 64-byte line.
    pub offset: f64,
    /// The order of the functions, and drift between rotations.
    pub shuffle: f64,
    /// Neither of them alone.
    pub rest: f64,
    /// Placements.
    pub placements: u64,
}

/// The function whose start in its 64-byte line, beside the variant's own, a time goes with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Companion {
    /// Its name; several where they moved alike in all placements.
    pub functions: Vec<String>,
    /// The share of the variance that the two starts explain together: R squared.
    pub share: f64,
    /// The same, less what as many groups would explain of nothing.
    pub share_adjusted: f64,
    /// The time at each pair of starts that occurred.
    pub by_pair: Vec<AtPair>,
}

/// The time at a pair of offsets.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct AtPair {
    /// The variant's own, in bytes from the start of the 64-byte line.
    pub offset: u64,
    /// The companion's.
    pub companion_offset: u64,
    /// Geometric mean of the nanoseconds per unit.
    pub ns_per_unit: f64,
}

/// The time at one offset.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct AtOffset {
    /// Bytes from the start of the 64-byte line.
    pub offset: u64,
    /// Median nanoseconds per unit.
    pub ns_per_unit: f64,
}

/// The offsets a function visited, read back from the linked files.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Reached {
    /// Ascending, bytes from the start of the line.
    pub offsets: Vec<u64>,
    /// Why there are fewer than asked for.
    pub note: Option<String>,
}

/// Where the functions of one build lie, in the plain link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Layout {
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

/// One count per unit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Count {
    /// Events per unit.
    pub value: f64,
    /// Where it comes from.
    pub source: CountSource,
    /// Of mispredictions that are simulated: the fewest over all predictors.
    #[serde(default)]
    pub lower: Option<f64>,
    /// The most.
    #[serde(default)]
    pub upper: Option<f64>,
    /// The predictor whose mispredictions `value` counts.
    #[serde(default)]
    pub predictor: Option<String>,
}

/// Where a count comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CountSource {
    /// Hardware counters.
    Counted,
    /// An emulator's exact trace, or a predictor simulated on it.
    Traced,
}

/// An input that is known by heart while it is measured, so that it measures the predictor's memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LearnedInput {
    /// Input name.
    pub input: String,
    /// Units in it.
    pub units: u64,
    /// What it gives a predictor to remember, in coin tosses.
    pub tosses: u64,
    /// What this CPU remembers, in coin tosses, where it was measured.
    pub remembered_tosses: Option<u64>,
    /// Only a part of it is known.
    pub in_part: bool,
    /// Mispredictions per unit of a first walk, simulated.
    pub fresh_misses_per_unit: f64,
    /// Of a walk through what is known.
    pub repeated_misses_per_unit: f64,
    /// The predictor.
    pub predictor: String,
    /// As many units would be enough not to be learned.
    pub enough_units: u64,
    /// All of it in a sentence.
    pub note: String,
}

/// What a misprediction costs on the machine, from timing alone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BranchCost {
    /// Nanoseconds of one misprediction.
    pub penalty_ns: f64,
    /// Lower end of its interval.
    pub lower: f64,
    /// Upper end.
    pub upper: f64,
    /// The longest repeated random sequence that the CPU knows by heart, outcomes; null: none.
    pub learned_outcomes: Option<u64>,
    /// The shortest of which it knows nothing; null: the longest tried is known in part.
    pub unlearned_outcomes: Option<u64>,
}

/// The limits of the machine that cells are held against (`assay limits`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LimitsUsed {
    /// When they were measured: RFC 3339, UTC.
    pub measured: String,
    /// Kept with the campaign; else measured later on the same machine.
    pub with_campaign: bool,
}

/// What one limit of the machine says of a cell's time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CellLimit {
    /// Which.
    pub limit: LimitKind,
    /// Where its count comes from.
    pub source: LimitSource,
    /// The least time of a unit, nanoseconds.
    pub ns: f64,
    /// Over the measured time; 1 is all of it.
    pub share: f64,
    /// How it stands to the others.
    pub standing: LimitStanding,
    /// What the least time is made of, in words.
    pub made_of: String,
    /// Why its model can be wrong here; null unless it is exceeded.
    pub exceeded_because: Option<String>,
}

/// Limits by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LimitKind {
    /// Bytes of the input through caches and memory.
    Bytes,
    /// Loads that wait for each other.
    Latency,
    /// Branches that no predictor knows.
    Mispredictions,
    /// Instructions side by side.
    Instructions,
    /// Branches side by side.
    Branches,
}

/// Where the count of a limit comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LimitSource {
    /// The input and the kind of measurement.
    Given,
    /// Hardware counters.
    Counted,
    /// A trace, or a predictor simulated on it.
    Traced,
    /// The entropy of the input's lengths.
    Entropy,
}

/// How a limit stands to a measured time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LimitStanding {
    /// The largest share, and at least a half.
    Binds,
    /// Another is larger, or its share is small.
    Leaves,
    /// It would be so if the code branched on each unit, which is not known.
    Assumed,
    /// Its least time is above the measured one: its model is wrong here.
    Exceeded,
}

/// Times regressed on instructions and mispredictions, over all cells.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Explained {
    /// Cells with both times and counts.
    pub cells: u64,
    /// Whose mispredictions; null where they were counted.
    pub predictor: Option<String>,
    /// Share of the variance explained; null where no fit was possible.
    pub r_squared: Option<f64>,
    /// Whether that is enough to say that they explain the times.
    pub holds: bool,
    /// The same share with one constant for all variants; null where that fit was not possible.
    pub r_squared_one_constant: Option<f64>,
    /// Nanoseconds per unit whatever the counts, by variant; under an empty name where all share it.
    pub constants_ns: BTreeMap<String, f64>,
    /// Nanoseconds per instruction, with its interval at 95 %.
    pub ns_per_instruction: Option<Spread>,
    /// Nanoseconds per misprediction, with its interval at 95 %.
    pub ns_per_misprediction: Option<Spread>,
    /// Median absolute residual.
    pub typical_residual_ns: Option<f64>,
    /// The cells furthest from the fit, the furthest first.
    pub worst: Vec<Residual>,
    /// Why there is no fit.
    pub note: Option<String>,
}

/// A cell against the fit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Residual {
    /// Variant name.
    pub variant: String,
    /// Input name.
    pub input: String,
    /// Compiler name.
    pub compiler: String,
    /// Flag set name.
    pub flags: String,
    /// Measured, nanoseconds per unit.
    pub ns: f64,
    /// By the fit.
    pub fitted_ns: f64,
}

/// Why a cell has no figure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Failed {
    /// One sentence.
    pub reason: String,
}

/// One input.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Input {
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
    /// What a decoder and its predictor see in it (length histogram, entropies, period).
    pub description: serde_json::Value,
    /// What is cold when a call begins: `hot`, `rotating`, `cold_data`, `cold_code`.
    #[serde(default = "hot")]
    pub state: String,
    /// `throughput`, or `latency` where each call waits for the last one's answer.
    #[serde(default = "throughput")]
    pub measure: String,
    /// Copies that calls rotate over; null in other states.
    #[serde(default)]
    pub copies: Option<u64>,
    /// The file's input of which this is another use; null for the file's own.
    #[serde(default)]
    pub of: Option<String>,
}

fn hot() -> String {
    "hot".into()
}

fn throughput() -> String {
    "throughput".into()
}

/// A contrast whose sign or size depends on the input.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InputDependence {
    /// Variant.
    pub candidate: String,
    /// Variant.
    pub baseline: String,
    /// Compiler name.
    pub compiler: String,
    /// Flag set name.
    pub flags: String,
    /// The baseline's build; null where both sides have the same one.
    #[serde(default)]
    pub against: Option<Build>,
    /// What changes between inputs.
    pub flips: Flips,
    /// Inputs on which the candidate takes less time, the largest gain first.
    pub favours_candidate: Vec<String>,
    /// Inputs on which the baseline takes less time, the largest gain first.
    pub favours_baseline: Vec<String>,
    /// A sentence with the figures.
    pub note: String,
}

/// What changes between inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Flips {
    /// Each side wins somewhere.
    Sign,
    /// The same side wins, by very different amounts.
    Size,
}

/// What somebody says, and what was found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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

/// Whether a claim holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClaimStatus {
    /// It holds.
    Confirmed,
    /// It does not hold, or cannot.
    Refuted,
    /// The campaign does not settle it.
    Undecided,
}

/// Something that was not measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Failure {
    /// Whether somebody is to blame.
    pub kind: FailureKind,
    /// The cell, artifact or variant.
    pub what: String,
    /// One sentence.
    pub reason: String,
}

/// Whether something went wrong or was left out knowingly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
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

impl Contrast {
    /// The baseline's (compiler, flags).
    pub fn baseline_build(&self) -> (&str, &str) {
        match &self.against {
            Some(build) => (&build.compiler, &build.flags),
            None => (&self.compiler, &self.flags),
        }
    }

    /// Rotations still missing for a decision, at least 1; none where that is not known.
    pub fn more_rotations(&self) -> Option<u32> {
        self.rotations_needed.map(|needed| needed.saturating_sub(self.rotations).max(1))
    }
}

impl Page {
    /// The contrasts along an axis, in the order of the page.
    pub fn along(&self, axis: Axis) -> impl Iterator<Item = &Contrast> {
        self.contrasts.iter().filter(move |contrast| contrast.axis == axis)
    }

    /// The page as indented JSON with a newline at its end.
    pub fn to_json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("a page has only string keys");
        text.push('\n');
        text
    }

    /// Reads what [`Page::to_json`] wrote.
    ///
    /// # Errors
    /// The text is not JSON, carries another schema, or lacks a key.
    pub fn from_json(text: &str) -> Result<Self, PageError> {
        #[derive(Deserialize)]
        struct Head {
            schema: String,
        }
        // The schema first: "missing field" is no help to somebody who has a page of a newer version.
        let head: Head = serde_json::from_str(text).map_err(PageError::Json)?;
        if head.schema != SCHEMA {
            return Err(PageError::Schema(head.schema));
        }
        serde_json::from_str(text).map_err(PageError::Json)
    }
}
