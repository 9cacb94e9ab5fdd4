//! The verdict on one contrast, as it is reported.

use super::build::{Between, Build};
use super::cause::CauseEvidence;
use super::modes::ContrastModes;
use crate::stats::interval::Interval;

/// A ratio of times (candidate / baseline) with its interval.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RatioInterval {
    /// Time of the candidate / time of the baseline; below 1 the candidate is faster.
    pub ratio: f64,
    /// Lower end.
    pub lower: f64,
    /// Upper end.
    pub upper: f64,
}

impl RatioInterval {
    /// From the log scale, on which everything is computed.
    pub fn from_log(estimate: f64, interval: Interval) -> Self {
        RatioInterval { ratio: estimate.exp(), lower: interval.lower.exp(), upper: interval.upper.exp() }
    }

    /// The interval on the log scale.
    pub fn log_interval(&self) -> Interval {
        Interval { lower: self.lower.ln(), upper: self.upper.ln() }
    }

    /// As a change with its interval: "+8.9 % ± 0.5".
    pub fn change(self) -> String {
        crate::words::change_with_interval(self.ratio, self.lower, self.upper)
    }
}

/// What is said of the candidate's code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It takes less time: the interval excludes 0 and the estimate lies beyond the minimum effect.
    Faster,
    /// It takes more time, by the same rule.
    Slower,
    /// The interval lies inside the minimum effect.
    Equivalent,
    /// Neither; the reasons say what it would take. Older pages call it inconclusive.
    #[serde(alias = "inconclusive")]
    Undecided,
}

impl Verdict {
    /// The word as it appears in reports.
    pub fn word(self) -> &'static str {
        match self {
            Verdict::Faster => "faster",
            Verdict::Slower => "slower",
            Verdict::Equivalent => "equivalent",
            Verdict::Undecided => "undecided",
        }
    }

    /// True of `Faster` and `Slower`.
    pub fn is_difference(self) -> bool {
        matches!(self, Verdict::Faster | Verdict::Slower)
    }
}

/// What the as-built comparison is worth beside the code's verdict; the order is how wrong it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum AsBuiltSays {
    /// The wrong sign.
    Reversed,
    /// A difference where the code is equivalent.
    Ghost,
    /// No difference where the code differs.
    Masked,
    /// The right sign, too large by more than a half.
    Inflated,
    /// The right sign, too small by more than a half.
    Deflated,
    /// The same word, and a size that is right within a half.
    Confirmed,
}

impl AsBuiltSays {
    /// The word as it appears in reports.
    pub fn word(self) -> &'static str {
        match self {
            AsBuiltSays::Confirmed => "confirmed",
            AsBuiltSays::Ghost => "ghost",
            AsBuiltSays::Inflated => "inflated",
            AsBuiltSays::Deflated => "deflated",
            AsBuiltSays::Masked => "masked",
            AsBuiltSays::Reversed => "reversed",
        }
    }
}

/// Everything that is said of one contrast.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct ContrastVerdict {
    /// Candidate variant.
    pub candidate: String,
    /// Baseline variant.
    pub baseline: String,
    /// Input name.
    pub input: String,
    /// Compiler name.
    pub compiler: String,
    /// Flag set name.
    pub flags: String,
    /// The baseline's build, where that is another one than the candidate's: a contrast along compiler or flags.
    pub against: Option<Build>,
    /// The ratio at the link the user would have made, at the experiment's plain confidence; absent if not measured.
    pub as_built: Option<RatioInterval>,
    /// What an ordinary tool would have said of `as_built` with the same minimum effect.
    pub as_built_verdict: Option<Verdict>,
    /// The code effect: mean over rotations, at `confidence_level`; absent with fewer than three rotations.
    pub code: Option<RatioInterval>,
    /// as built / code: what the user's placement adds to the code effect.
    pub placement_ratio: Option<f64>,
    /// |ln placement| / (|ln placement| + |ln code|), from 0 to 1.
    pub placement_share: Option<f64>,
    /// The verdict on the code.
    pub verdict: Verdict,
    /// What the as-built comparison is worth; absent where either side says nothing.
    pub as_built_says: Option<AsBuiltSays>,
    /// Causes, each with its evidence.
    pub causes: Vec<CauseEvidence>,
    /// Both sides mode by mode, where one has two speeds; the cause `modes` tells it.
    pub modes: Option<ContrastModes>,
    /// Why this verdict, in plain sentences with their numbers; never empty.
    pub reasons: Vec<String>,
    /// Complete rotations used.
    pub rotations: usize,
    /// Rotations that could not be used, for some placement had no usable sample.
    pub rotations_lost: usize,
    /// Smallest effect (fraction, 0.02 is 2 %) that these rotations would find four times in five.
    pub minimum_detectable_effect: Option<f64>,
    /// Rotations in all after which this contrast should be decided, at the spread seen; absent when decided or out of reach.
    pub rotations_needed: Option<u32>,
    /// Seconds of measuring still missing for `rotations_needed`, where the cost of a rotation is known.
    pub seconds_needed: Option<f64>,
    /// Both sides execute the same on the same data: the verdict is no estimate.
    pub proven: bool,
    /// More rotations are not needed: the verdict is not `undecided`.
    pub decided: bool,
    /// Confidence of `code`'s interval after sharing out over contrasts and looks, e.g. 0.9998.
    pub confidence_level: f64,
}

impl ContrastVerdict {
    /// The two sides by name.
    pub fn between(&self) -> Between<'_> {
        Between {
            candidate: &self.candidate,
            baseline: &self.baseline,
            input: &self.input,
            compiler: &self.compiler,
            flags: &self.flags,
            against: self.against.as_ref(),
        }
    }
}
