//! A diary as plain data; its JSON is an interface (schema/stages-1.schema.json).

use crate::page::{
    AsBuiltSays, CauseEvidence, Claim, ContrastModes, CountSource, RatioInterval, Stopped, TwinVerdict,
    Verdict,
};
pub use assay_pure::stages::EntrantKind;
pub use assay_pure::stages::step::{Against, Brought};
use assay_pure::stats::margin::Margin;
use serde::{Deserialize, Serialize};

/// Name and version of the JSON.
pub const STAGES_SCHEMA: &str = "assay.stages/1";

/// What `assay stages --json FILE` writes: an optimisation diary with what each stage saved.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct DiaryPage {
    /// Name and version of this format.
    pub schema: String,
    /// The diary's name.
    pub diary: String,
    /// The question in the author's words.
    pub question: String,
    /// The answer in a few sentences.
    pub answer: String,
    /// What figures are divided by, in the singular.
    pub unit: String,
    /// The equivalence margin, a fraction.
    pub minimum_effect: f64,
    /// Of all verdicts of a session together.
    pub confidence: f64,
    /// Whose mispredictions the table shows; `null`: none were simulated or counted.
    pub predictor: Option<String>,
    /// Stages, then references, in the order of the file.
    pub entrants: Vec<PageEntrant>,
    /// Roles, in the order of the file.
    pub roles: Vec<PageRole>,
    /// Each stage against the one before it, the first one and the references.
    pub steps: Vec<StageStep>,
    /// Claims about steps, judged.
    pub claims: Vec<Claim>,
    /// What the reader should know before the rest.
    pub warnings: Vec<String>,
    /// What this diary cannot tell, and why.
    pub limits: Vec<String>,
    /// The stretches of measuring, oldest first.
    pub sessions: Vec<DiarySession>,
    /// The file that keeps every figure.
    pub ledger: Option<String>,
}

/// A stage or reference.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PageEntrant {
    /// Its name.
    pub name: String,
    /// Which of the two.
    pub kind: EntrantKind,
    /// The stage that it is a step from.
    pub after: Option<String>,
    /// In the author's words.
    pub note: Option<String>,
    /// What it is built with.
    pub flags: Option<String>,
    /// Full hash of the commit.
    pub revision: Option<String>,
    /// Hash of what was built.
    pub artifact: Option<String>,
    /// Bytes of code.
    pub text_bytes: Option<u64>,
    /// Whether its links were placed.
    pub placed: bool,
    /// The session that the figures are from; `null`: it was never measured.
    pub session: Option<i64>,
    /// Why it was not measured.
    pub failed: Option<String>,
}

/// What is done with every stage.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PageRole {
    /// Its name.
    pub name: String,
    /// In the author's words.
    pub note: Option<String>,
    /// One per entrant that has the role, in their order.
    pub cells: Vec<StageCell>,
    /// Which steps brought most of the time, most first.
    pub ranking: Vec<Part>,
}

/// An entrant in a role.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct StageCell {
    /// Whose.
    pub entrant: String,
    /// The command as it was run.
    pub command: Option<String>,
    /// Units that it does.
    pub units: Option<f64>,
    /// Its time.
    pub time: Option<StageTime>,
    /// The most memory that its command had at once; `null` where it had less than assay itself, as the kernel counts that as
    /// the command's.
    #[serde(default)]
    pub memory: Option<StageMemory>,
    /// What it executes.
    pub counts: Option<EntrantCounts>,
    /// Why it has none of them.
    pub failed: Option<String>,
}

/// Nanoseconds per unit over placements.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct StageTime {
    /// Median over placements.
    pub ns_per_unit: f64,
    /// Median as built.
    pub as_built: Option<f64>,
    /// At the best placement.
    pub best: f64,
    /// At the worst placement.
    pub worst: f64,
    /// Of the whole command, median over placements.
    pub total_ns: f64,
}

/// The most memory that a command had at once, over its runs, bytes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct StageMemory {
    /// Median.
    pub peak_bytes: u64,
    /// In the run with least.
    pub least: u64,
    /// In the run with most.
    pub most: u64,
}

impl PageRole {
    /// Two entrants differ in memory by more than their runs vary, and by more than this fraction.
    pub(super) fn differs_in_memory(&self, minimum_effect: f64) -> bool {
        let margin = Margin::of(minimum_effect);
        let known = || self.cells.iter().filter_map(|cell| cell.memory);
        known().any(|one| {
            known().any(|other| {
                one.most < other.least
                    && margin.is_exceeded_by(other.peak_bytes as f64 / one.peak_bytes as f64)
            })
        })
    }
}

/// What one command executes in all, start-up subtracted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct EntrantCounts {
    /// Where they come from.
    pub source: CountSource,
    /// Instructions.
    pub instructions: Option<u64>,
    /// Branches of all classes.
    pub branches: Option<u64>,
    /// Conditional ones.
    pub conditional: Option<u64>,
    /// Mispredictions by predictor, that of the table first.
    pub misses: Vec<EntrantMisses>,
    /// Mispredictions of the table / branches.
    pub miss_rate: Option<f64>,
    /// Instructions per unit.
    pub instructions_per_unit: Option<f64>,
    /// Branches per unit.
    pub branches_per_unit: Option<f64>,
    /// Mispredictions of the table per unit.
    pub misses_per_unit: Option<f64>,
    /// A second execution had as many branches; `null`: there was none.
    pub repeatable: Option<bool>,
    /// What each component executes.
    pub components: Vec<ComponentWork>,
    /// What the reader must know of them.
    pub notes: Vec<String>,
}

/// Mispredictions of one predictor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct EntrantMisses {
    /// The predictor, or `counted`.
    pub predictor: String,
    /// Mispredictions.
    pub misses: u64,
}

/// What one component executes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ComponentWork {
    /// Its name; `other` and `unattributed` are what no component names.
    pub name: String,
    /// Branches per unit.
    pub branches_per_unit: f64,
    /// Instructions per unit.
    pub instructions_per_unit: f64,
    /// Mispredictions of the table per unit.
    pub misses_per_unit: f64,
    /// Times it was called from outside, per unit; calls that were inlined are none.
    pub calls_per_unit: f64,
    /// Branches per such call.
    pub branches_per_call: Option<f64>,
}

/// A stage against another one, in one role.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct StageStep {
    /// The stage.
    pub stage: String,
    /// What it is compared with.
    pub baseline: String,
    /// Which of the three.
    pub against: Against,
    /// The role.
    pub role: String,
    /// What it brought.
    pub brought: Brought,
    /// Of the times.
    pub time: Option<TimeStep>,
    /// Counts that are known on both sides.
    pub counts: Vec<CountStep>,
    /// Ways in which these figures mislead; sentences.
    pub traps: Vec<String>,
}

/// What the placement design says of the times of a step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TimeStep {
    /// As the builds left them.
    pub as_built: Option<RatioInterval>,
    /// Over placements.
    pub code: Option<RatioInterval>,
    /// On the code.
    pub verdict: Verdict,
    /// What the as-built comparison is worth.
    pub as_built_says: Option<AsBuiltSays>,
    /// Why.
    pub causes: Vec<CauseEvidence>,
    /// Both sides mode by mode, ns per unit, where runs of one side take one of two times; null where neither is known to.
    #[serde(default)]
    pub modes: Option<ContrastModes>,
    /// Sentences with their numbers.
    pub reasons: Vec<String>,
    /// Complete rotations.
    pub rotations: u32,
    /// Smallest effect that these rotations would find four times in five.
    pub minimum_detectable_effect: Option<f64>,
    /// The session in which both took turns.
    pub session: i64,
}

/// A count before and after.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CountStep {
    /// `instructions`, `branches`, `misses`, `miss_rate` or `size`.
    pub quantity: String,
    /// Per unit, of the baseline; a rate and a size as they are.
    pub before: f64,
    /// Per unit, of the stage.
    pub after: f64,
    /// after / before; `null` where before is 0.
    pub ratio: Option<f64>,
}

/// The part of a step in what all steps of the way from the first to the last stage saved.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Part {
    /// The stage.
    pub stage: String,
    /// Of the time saved; negative: it cost some.
    pub time: Option<f64>,
    /// Of the branches saved.
    pub branches: Option<f64>,
    /// Of the mispredictions saved.
    pub misses: Option<f64>,
}

/// One stretch of measuring.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct DiarySession {
    /// Its number in the ledger.
    pub session: i64,
    /// When it began, RFC 3339.
    pub started: String,
    /// The processor's name.
    pub cpu: String,
    /// The kernel.
    pub kernel: String,
    /// What took turns in it.
    pub entrants: Vec<String>,
    /// Passes over all placements.
    pub rounds: u32,
    /// Shuffles, each with every phase.
    pub rotations: u32,
    /// Runs of all commands of an entrant.
    pub visits: u64,
    /// Seconds of measuring.
    pub seconds: f64,
    /// Runs in which a command gave no figure, for one reason.
    pub spoilt: Vec<SpoiltRuns>,
    /// Its baselines against themselves.
    pub twin_control: TwinVerdict,
    /// Why it stopped.
    #[serde(with = "crate::stopped::runs")]
    #[cfg_attr(test, schemars(schema_with = "crate::stopped::runs::schema"))]
    pub stopped_because: Stopped,
}

/// Runs that gave no figure, for one reason.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SpoiltRuns {
    /// Whose.
    pub entrant: String,
    /// Why.
    pub reason: String,
    /// How many.
    pub visits: u64,
}

impl DiaryPage {
    /// The JSON, with a newline at its end.
    pub fn to_json(&self) -> String {
        crate::json::written(self)
    }

    /// Steps of a role against one kind of baseline.
    pub fn steps_of<'a>(&'a self, role: &'a str, against: Against) -> impl Iterator<Item = &'a StageStep> {
        self.steps.iter().filter(move |step| step.role == role && step.against == against)
    }

    /// An entrant by its name.
    pub fn entrant(&self, name: &str) -> Option<&PageEntrant> {
        self.entrants.iter().find(|entrant| entrant.name == name)
    }

    /// The stage that the work has arrived at: the last one that was measured.
    pub fn last_stage(&self) -> Option<&PageEntrant> {
        self.entrants.iter().rfind(|entrant| {
            entrant.kind == EntrantKind::Stage && entrant.failed.is_none() && entrant.session.is_some()
        })
    }
}

impl PageRole {
    /// The cell of an entrant.
    pub fn cell(&self, entrant: &str) -> Option<&StageCell> {
        self.cells.iter().find(|cell| cell.entrant == entrant)
    }
}
