//! Contrasts as a page shows them: the effects, the verdict, what the ordinary link would have said, and the causes.

use serde::{Deserialize, Serialize};

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

/// Kinds of causes.
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
