//! Contrasts as a page shows them: the effects, the verdict, what the ordinary link would have said, and the causes.

use assay_pure::experiment::Axis;
use assay_pure::verdict::{
    AsBuiltSays, Build, Cause, CauseEvidence, ContrastModes, Dependence, RatioInterval, TwinVerdict, Verdict,
};
use serde::{Deserialize, Serialize};

/// The baseline against itself over disjoint rotations.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PageTwinControl {
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

/// One candidate against the baseline on one input in one build, or against itself in another build.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PageContrast {
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
    pub as_built: Option<RatioInterval>,
    /// The code effect, free of placement; null where no rotation is complete.
    pub code: Option<RatioInterval>,
    /// as built / code: what the linker added.
    pub placement_ratio: Option<f64>,
    /// On the code effect.
    pub verdict: Verdict,
    /// Both sides execute the same on the same data: `equivalent` is no estimate.
    #[serde(default)]
    pub proven: bool,
    /// What the as-built comparison amounts to beside the verdict.
    pub as_built_says: Option<AsBuiltSays>,
    /// Why, each with its evidence.
    pub causes: Vec<CauseEvidence>,
    /// Both sides mode by mode, where one runs at two speeds at one place; null where neither is known to.
    #[serde(default)]
    pub modes: Option<ContrastModes>,
    /// What the verdict rests on, in sentences.
    pub reasons: Vec<String>,
    /// Complete rotations behind the code effect.
    pub rotations: u32,
    /// Rotations left out, for some placement had no usable sample.
    #[serde(default)]
    pub rotations_lost: u32,
    /// Rotations in all, those done included, that would decide an undecided contrast, about.
    pub rotations_needed: Option<u32>,
    /// Seconds of measuring still missing for them.
    pub seconds_needed: Option<f64>,
    /// The smallest difference that these rotations would find four times in five, a fraction.
    pub minimum_detectable_effect: Option<f64>,
}

/// A contrast whose sign or size depends on the input.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct InputDependentContrast {
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
    pub flips: Dependence,
    /// Inputs on which the candidate takes less time, the largest gain first.
    pub favours_candidate: Vec<String>,
    /// Inputs on which the baseline takes less time, the largest gain first.
    pub favours_baseline: Vec<String>,
    /// A sentence with the figures.
    pub note: String,
}

/// Of a proof: nothing else could be executed.
pub const SAME_CODE: &str = "same machine code";
/// Of a proof: it was followed.
pub const SAME_LOOPS: &str = "same loops";

impl PageContrast {
    /// The baseline's (compiler, flags).
    pub fn baseline_build(&self) -> (&str, &str) {
        match &self.against {
            Some(build) => (&build.compiler, &build.flags),
            None => (&self.compiler, &self.flags),
        }
    }

    /// What both sides have in common where that proves them equivalent: [`SAME_CODE`] or [`SAME_LOOPS`].
    pub fn proof(&self) -> Option<&'static str> {
        let is_same_code = self.causes.iter().any(|cause| cause.cause == Cause::IdenticalCode);
        self.proven.then_some(if is_same_code { SAME_CODE } else { SAME_LOOPS })
    }

    /// Rotations still missing for a decision, at least 1; none where that is not known.
    pub fn more_rotations(&self) -> Option<u32> {
        self.rotations_needed.map(|needed| needed.saturating_sub(self.rotations).max(1))
    }
}
