//! Rows of the ledger as plain data; field meanings are those of schema.sql.

use assay_pure::experiment::CountedEvent;
use assay_pure::experiment::matrix::{CellId, CellName};
use assay_pure::ledger::{CodeFound, CountWalk, Flag, Stage, Stopped};
use assay_pure::pulse::Pulse;
use assay_pure::stats::predictor_memory::{self, PredictorMemory, SweepPoint};
use assay_pure::verdict::CountSource;
use serde_json::Value;
use std::sync::Arc;

/// What a campaign is, when it begins.
#[derive(Clone, Debug)]
pub struct NewCampaign<'a> {
    /// The experiment's name.
    pub experiment: &'a str,
    /// SHA-256 of what was asked.
    pub question: &'a str,
    /// The file as it was.
    pub experiment_text: &'a str,
    /// Every default filled in.
    pub spec: &'a Value,
    /// Facts of the machine.
    pub machine: &'a Value,
    /// The processor that measures.
    pub pinned_cpu: Option<usize>,
    /// Digests of the program's sources, the commit they lie in; `None`: not known.
    pub sources: Option<&'a Value>,
}

/// A campaign as kept.
#[derive(Clone, Debug)]
pub struct CampaignRow {
    /// Its number.
    pub id: i64,
    /// The experiment's name.
    pub experiment: String,
    /// SHA-256 of what was asked.
    pub question: String,
    /// The file as it was.
    pub experiment_text: String,
    /// Every default filled in.
    pub spec: Value,
    /// Facts of the machine.
    pub machine: Value,
    /// The processor that measured.
    pub pinned_cpu: Option<usize>,
    /// Unix seconds.
    pub started_at: f64,
    /// Unix seconds; None while it runs or when it was killed.
    pub finished_at: Option<f64>,
    /// Why it stopped; None while it runs or when it was killed.
    pub stopped: Option<Stopped>,
    /// The assay that began it.
    pub assay_version: String,
    /// Digests of the program's sources, the commit they lie in; `None`: not kept.
    pub sources: Option<Value>,
}

/// An input by content.
#[derive(Clone, Debug)]
pub struct InputRow {
    /// SHA-256.
    pub digest: String,
    /// Size.
    pub bytes: u64,
    /// What made it.
    pub recipe: Value,
    /// How units are found.
    pub format: String,
    /// What it looks like.
    pub description: Value,
}

/// How a campaign uses an input.
#[derive(Clone, Debug, PartialEq)]
pub struct CampaignInput {
    /// Name in the experiment.
    pub name: String,
    /// Content.
    pub digest: String,
    /// Number of windows.
    pub windows: u64,
    /// Calls per sample.
    pub iterations: u64,
    /// Warm-up samples per visit.
    pub warmup: u64,
    /// Counted samples per visit.
    pub samples: u64,
}

/// An artifact's facts.
#[derive(Clone, Debug)]
pub struct ArtifactRow {
    /// Content hash.
    pub hash: String,
    /// Compiler identity.
    pub compiler: Value,
    /// All flags.
    pub flags: Value,
    /// Placement.
    pub link: Value,
    /// Link command.
    pub command: Value,
    /// Functions and their places.
    pub functions: Value,
    /// Bytes of code.
    pub text_bytes: u64,
}

/// What a variant of an artifact allocates on an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllocationRow {
    /// The binary as built.
    pub artifact: String,
    /// Its variant.
    pub variant: String,
    /// Content of the input.
    pub input: String,
    /// Into how many windows it was cut.
    pub windows: u64,
    /// How the calls were chosen: rows of one method stand beside each other.
    pub method: String,
    /// Calls that were counted.
    pub calls: u64,
    /// Units in all of them.
    pub units: u64,
    /// Blocks; one that is resized counts again.
    pub allocations: u64,
    /// Bytes that were asked for.
    pub bytes: u64,
    /// The sum over calls of the most at once, beyond what was there before.
    pub peak_bytes: u64,
}

/// A proven answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Over the whole input.
    pub whole: String,
    /// All windows combined.
    pub by_window: String,
}

/// A proven answer, and what gave it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProvenAnswer {
    /// Hash of the artifact.
    pub artifact: String,
    /// Variant name.
    pub variant: String,
    /// Digest of the input.
    pub input: String,
    /// Windows it was cut into.
    pub windows: u64,
    /// What it answered.
    pub answer: Answer,
}

/// One launch.
#[derive(Clone, Debug)]
pub struct ProcessRow {
    /// Number in the ledger; 0 before it is kept.
    pub id: i64,
    /// Artifact hash.
    pub artifact: String,
    /// Compiler name.
    pub compiler: String,
    /// Flag set name.
    pub flags: String,
    /// Variant name.
    pub variant: String,
    /// Shuffle number; None as built.
    pub rotation: Option<u32>,
    /// Padding; None as built.
    pub phase_bytes: Option<u32>,
    /// Link-time address of the variant's function.
    pub entry_address: u64,
    /// Size of its environment.
    pub environment_bytes: u64,
    /// Cost of an empty region, wall clock.
    pub region_wall_ns: f64,
    /// Cost of an empty region, thread CPU clock.
    pub region_cpu_ns: f64,
    /// Cost of one wall clock read.
    pub wall_read_ns: f64,
    /// Cost of one thread CPU clock read.
    pub cpu_read_ns: f64,
}

/// A finished round's frame.
#[derive(Clone, Debug)]
pub struct Round {
    /// Number within the campaign.
    pub round: u32,
    /// Rotations visited.
    pub rotations: Vec<u32>,
    /// Unix seconds.
    pub started_at: f64,
    /// Measuring time, as the budget counts it.
    pub elapsed_ns: u64,
    /// What of it was only waited for an unshared core; 0 where it was not noted.
    pub waited_ns: u64,
}

impl Round {
    /// Seconds that it took without what it waited: what another one will take.
    pub fn busy_seconds(&self) -> f64 {
        self.elapsed_ns.saturating_sub(self.waited_ns) as f64 / 1e9
    }
}

/// One timed region, as it is judged.
#[derive(Clone, Debug)]
pub struct SampleRow {
    /// Round number.
    pub round: u32,
    /// Process number.
    pub process: i64,
    /// Input name; samples that follow each other share it.
    pub input: Arc<str>,
    /// Number within the visit.
    pub position: u32,
    /// Ahead of the counted ones.
    pub warmup: bool,
    /// Raw wall time.
    pub wall_ns: u64,
    /// Raw thread CPU time.
    pub cpu_ns: u64,
    /// Units processed.
    pub units: u64,
    /// Pulses directly before and after it, where the program took them.
    pub pulses: Option<[Pulse; 2]>,
    /// Why it is left out.
    pub flagged: Option<Flag>,
}

/// A timed region that is to be kept, with what is only kept.
#[derive(Clone, Debug)]
pub struct NewSample {
    /// What is judged of it.
    pub taken: SampleRow,
    /// First window of the visit.
    pub start_window: u64,
    /// Involuntary context switches.
    pub switches: u64,
    /// Unix seconds.
    pub at: f64,
}

/// Are two variants the same machine code?
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdentityRow {
    /// In a word.
    pub verdict: CodeFound,
    /// What was compared, or why not.
    pub evidence: String,
}

/// What two variants with the same loops execute on an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExecutionRow {
    /// Hash of the artifact.
    pub artifact: String,
    /// The baseline.
    pub first: String,
    /// The other variant.
    pub second: String,
    /// Digest of the input.
    pub input: String,
    /// Windows that it was cut into.
    pub windows: u64,
    /// Units per window, as asked for; 0 is all in one.
    pub window_units: u64,
    /// Their loops execute the same instructions on the same addresses in the same order.
    pub same: bool,
    /// Instructions executed in loops and in what they call.
    pub looped: u64,
    /// Instructions executed around the loops, by the one that executes more.
    pub around: u64,
}

impl ExecutionRow {
    /// Whether it is of an input of this content that is cut like this.
    pub fn is_of(&self, digest: &str, windows: u64, window_units: u64) -> bool {
        (&*self.input, self.windows, self.window_units) == (digest, windows, window_units)
    }
}

/// What a variant executes on an input.
#[derive(Clone, Debug, PartialEq)]
pub struct CountRow {
    /// Its number in the ledger, ascending; 0 before it is kept.
    pub id: i64,
    /// Hash of the artifact as built.
    pub artifact: String,
    /// Hash of the one that was executed for it.
    pub executed: String,
    /// Variant name.
    pub variant: String,
    /// Digest of the input.
    pub input: String,
    /// Windows it was cut into.
    pub windows: u64,
    /// How it was counted.
    pub method: String,
    /// Where they come from.
    pub source: CountSource,
    /// Which passes they are of.
    pub walk: CountWalk,
    /// Units that the counts are of.
    pub units: u64,
    /// Instructions.
    pub instructions: u64,
    /// Branches of all classes.
    pub branches: u64,
    /// Conditional branches.
    pub conditional: Option<u64>,
    /// Cycles.
    pub cycles: Option<u64>,
    /// Events of the front end; empty where none was counted.
    pub front_end: Vec<(CountedEvent, u64)>,
    /// Mispredictions by predictor.
    pub misses: Vec<(String, u64)>,
    /// What the reader must know.
    pub note: Option<String>,
}

/// What a misprediction costs on a machine.
#[derive(Clone, Debug, PartialEq)]
pub struct BranchTimingRow {
    /// The facts of the machine that it depends on.
    pub machine: Value,
    /// Of one misprediction.
    pub penalty_ns: f64,
    /// Lower end of its interval.
    pub lower_ns: f64,
    /// Upper end.
    pub upper_ns: f64,
    /// One outcome never seen.
    pub fresh_ns: f64,
    /// One memorised.
    pub learned_ns: f64,
    /// Series behind the interval.
    pub series: u64,
    /// The length of a sequence that is memorised.
    pub learned_outcomes: Option<u64>,
    /// The shortest of which nothing was memorised.
    pub unlearned_outcomes: Option<u64>,
    /// The sweeps as measured; of rows by an earlier method a single one.
    pub sweep: Value,
    /// Windows timed.
    pub windows: u64,
    /// Windows left out.
    pub interrupted: u64,
}

impl BranchTimingRow {
    /// The sweeps over lengths; none of a row by an earlier method, whose figure did not repeat.
    pub fn sweeps(&self) -> Option<Vec<Vec<SweepPoint>>> {
        serde_json::from_value(self.sweep.clone()).ok()
    }

    /// What the predictor remembers.
    pub fn memory(&self) -> Option<PredictorMemory> {
        match self.sweeps() {
            Some(sweeps) => predictor_memory::memory(&sweeps, self.fresh_ns),
            None => Some(PredictorMemory::of(self.learned_outcomes?, self.unlearned_outcomes)),
        }
    }
}

/// A cell that could not be measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailureRow {
    /// What it was at.
    pub stage: Stage,
    /// None: all variants.
    pub variant: Option<String>,
    /// None: all inputs.
    pub input: Option<String>,
    /// None: all compilers.
    pub compiler: Option<String>,
    /// None: all flag sets.
    pub flags: Option<String>,
    /// What happened and what to do.
    pub reason: String,
}

impl FailureRow {
    /// Is it one of this cell?
    pub fn covers(&self, cell: &CellId) -> bool {
        let fits = |name: &Option<String>, this: &str| name.as_deref().is_none_or(|name| name == this);
        fits(&self.variant, &cell.variant)
            && fits(&self.input, &cell.input)
            && fits(&self.compiler, &cell.compiler)
            && fits(&self.flags, &cell.flags)
    }
}

impl ProcessRow {
    /// Its cell on an input.
    pub fn cell(&self, input: &str) -> CellId {
        CellName { variant: &self.variant, input, compiler: &self.compiler, flags: &self.flags }.into()
    }
}
