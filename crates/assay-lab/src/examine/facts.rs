//! What is known of an experiment: plain data, so that every check can be tested without building or measuring anything.

use super::check::{Facts, FindingPlace, Needs};
use assay_pure::protocol::VariantKind;
use assay_pure::verdict::learned::Learned;
use serde::{Deserialize, Serialize};

/// An experiment, looked at, timed and traced.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ExperimentFacts {
    /// What figures are divided by, singular.
    pub unit: String,
    /// Bytes of the first-level data cache, where the kernel tells.
    pub l1d_bytes: Option<u64>,
    /// Bytes of the second-level cache.
    pub l2_bytes: Option<u64>,
    /// The inputs, in file order.
    pub inputs: Vec<ExaminedInput>,
    /// One per build, variant and input that could be examined.
    pub cells: Vec<TracedCell>,
    /// Inputs that the predictor memorises; none where nothing was simulated.
    pub learned: Option<Vec<Learned>>,
    /// Why nothing was traced, where nothing was.
    pub not_traced: Option<String>,
    /// Why no prediction was simulated, where none was.
    pub not_simulated: Option<String>,
}

/// An input as the file has it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ExaminedInput {
    /// Name.
    pub name: String,
    /// What makes its bytes, without its length and seed: inputs of one family differ in size alone.
    pub family: String,
    /// Bytes; of a long generated one estimated from its beginning. 0 where they are not what is worked on.
    pub bytes: u64,
    /// Its length can be varied: a generator makes it.
    pub is_generated: bool,
    /// Units.
    pub units: u64,
    /// Units after which it repeats itself.
    pub distinct: u64,
    /// Stretches that calls get; 1 where a call gets all.
    pub windows: u64,
    /// Units that production goes through before it meets the same data again.
    pub production_units: Option<u64>,
}

/// A variant on an input in a build.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct TracedCell {
    /// Variant.
    pub variant: String,
    /// Number of the input.
    pub input: usize,
    /// Compiler and flags, as "gcc-12, O2".
    pub build: String,
    /// How it is called.
    pub kind: Option<VariantKind>,
    /// Its answers.
    pub answers: Option<Answers>,
    /// What it read of its input.
    pub pages: Option<Pages>,
    /// How its time grows with the input.
    pub times: Option<GrowthTimes>,
    /// How it would be sampled by `assay run`.
    pub sample: Option<PlannedSample>,
    /// What it executed.
    pub work: Option<ExecutedCounts>,
    /// Pages that the system had to provide in each call, once all else was there: those touched for the first time.
    pub new_pages: Option<f64>,
    /// Bytes of memory of the program's own once it has been called: tables, states, the stack; none where the kernel does not tell.
    pub own_bytes: Option<u64>,
    /// The first walk over the input after other work, and later ones.
    pub walks: Option<WalkTimes>,
}

/// Times of walks over a whole input, the least of several, nanoseconds. A predictor that memorises the input knows it in later
/// walks and not in the first after other work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct WalkTimes {
    /// Units of the walk.
    pub units: u64,
    /// The first, in a predictor filled with other work.
    pub first_ns: f64,
    /// Later ones.
    pub later_ns: f64,
}

/// Answers on a piece of the input and on others.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Answers {
    /// On the piece.
    pub whole: u64,
    /// On the first half of its units.
    pub half: Option<u64>,
    /// On other bytes of the same kind.
    pub other: Option<u64>,
}

/// Pages of the input's mapping.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Pages {
    /// That the kernel saw read while the variant was called.
    pub read: u64,
    /// In all.
    pub of: u64,
}

/// The sizes of a piece and of its half.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Sizes {
    /// Units of the piece.
    pub units: u64,
    /// Units of its half.
    pub half_units: u64,
    /// Bytes of the piece.
    pub bytes: u64,
    /// Bytes of its half.
    pub half_bytes: u64,
}

impl Sizes {
    /// Units that the piece has more.
    pub fn more_units(&self) -> f64 {
        self.units.saturating_sub(self.half_units) as f64
    }

    /// Bytes that the piece has more.
    pub fn more_bytes(&self) -> f64 {
        self.bytes.saturating_sub(self.half_bytes) as f64
    }
}

/// Times of one call, the least of several samples, nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct GrowthTimes {
    /// The pieces.
    pub sizes: Sizes,
    /// On the piece.
    pub ns: f64,
    /// On its half.
    pub half_ns: f64,
}

/// A sample as `assay run` would take it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PlannedSample {
    /// One call on one of the experiment's windows, nanoseconds.
    pub call_ns: f64,
    /// Units of such a call, the mean.
    pub units: f64,
    /// Bytes of such a call, the mean.
    pub bytes: f64,
    /// Calls per sample: one number for all variants of an input.
    pub iterations: u64,
    /// What an empty region takes on the clock that decides, nanoseconds.
    pub region_ns: f64,
}

/// What was executed between the marks, the marks' own subtracted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ExecutedCounts {
    /// The pieces.
    pub sizes: Sizes,
    /// Instructions of each of several calls on the piece, in order.
    pub passes: Vec<u64>,
    /// Of each of several calls on its half; empty where it cannot be halved.
    pub half: Vec<u64>,
    /// Of each of several calls on other bytes of the same kind; empty where there are none.
    pub other: Vec<u64>,
    /// Instructions ahead of the marks in the last call on the piece, and on its half: what a loop does before it begins.
    pub ahead: Option<(u64, u64)>,
    /// Instructions of one more iteration of a loop of the program's own.
    pub per_iteration: Option<f64>,
    /// Units and instructions of single windows of the experiment.
    pub windows: Vec<(u64, u64)>,
    /// Calls of the system in the last call on the piece.
    pub system_calls: u64,
    /// Functions that were called in it, and how often.
    pub calls: Vec<(String, u64)>,
}

impl ExecutedCounts {
    /// Instructions of a call when nothing is new: the last.
    pub fn settled(&self) -> Option<u64> {
        self.passes.last().copied()
    }

    /// Instructions by which a call on the piece exceeds one on its half, per unit that it has more.
    pub fn per_more_unit(&self) -> Option<f64> {
        let more = self.settled()? as f64 - *self.half.last()? as f64;
        (self.sizes.more_units() > 0.0).then(|| more / self.sizes.more_units())
    }
}

impl WalkTimes {
    /// By how much the first walk takes longer, of a later one.
    pub fn excess(&self) -> f64 {
        if self.later_ns > 0.0 { self.first_ns / self.later_ns - 1.0 } else { 0.0 }
    }
}

impl GrowthTimes {
    /// Nanoseconds by which a call on the piece exceeds one on its half, per byte that it has more.
    pub fn per_more_byte(&self) -> Option<f64> {
        (self.sizes.more_bytes() > 0.0).then(|| (self.ns - self.half_ns) / self.sizes.more_bytes())
    }
}

impl Facts for ExperimentFacts {
    fn lacks(&self, needs: Needs) -> Option<String> {
        let is_called = match needs {
            Needs::Files => true,
            Needs::Calls => !self.cells.is_empty(),
            Needs::Trace => match &self.not_traced {
                Some(reason) => return Some(reason.clone()),
                None => self.cells.iter().any(|cell| cell.work.is_some()),
            },
        };
        (!is_called).then(|| "no variant could be built and started".to_owned())
    }
}

impl ExperimentFacts {
    /// Where a cell is.
    pub fn place(&self, cell: &TracedCell) -> FindingPlace {
        let inputs: Vec<String> =
            self.inputs.get(cell.input).map(|input| input.name.clone()).into_iter().collect();
        let builds: std::collections::BTreeSet<&str> =
            self.cells.iter().map(|cell| cell.build.as_str()).collect();
        let mut label = format!("{} on {}", cell.variant, inputs.concat());
        if builds.len() > 1 {
            label += &format!(", {}", cell.build);
        }
        FindingPlace::Experiment { label, variant: Some(cell.variant.clone()), inputs }
    }
}

/// What is said beside the findings.
#[derive(Clone, Debug, Default)]
pub struct Notes {
    /// How it was examined.
    pub method: Vec<String>,
    /// What the reader must know.
    pub warnings: Vec<String>,
}
