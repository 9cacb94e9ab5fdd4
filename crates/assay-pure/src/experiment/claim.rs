//! A claim: what somebody says of a contrast, in numbers that a measurement or plain arithmetic can settle.

/// One `[[claims]]` entry. A claim may state several things; all must hold for it to be confirmed.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ClaimSpec {
    /// The sentence as it was said.
    pub text: String,
    /// Who said it, where.
    pub source: Option<String>,
    /// The variant the claim is about.
    pub candidate: Option<String>,
    /// What it is compared with; the experiment's baseline if absent.
    pub baseline: Option<String>,
    /// Inputs the claim speaks of; empty means every input.
    pub inputs: Vec<String>,
    /// Compilers it speaks of (globs); empty means every compiler measured.
    pub compilers: Vec<String>,
    /// Flag sets it speaks of (globs); empty means every set measured.
    #[serde(default)]
    pub flags: Vec<String>,
    /// Whose code it compares with (a glob), where that is another compiler's; the variant then is the candidate's own
    /// unless `baseline` names another.
    #[serde(default)]
    pub baseline_compiler: Option<String>,
    /// With which flags the other side is built (a glob), where these differ.
    #[serde(default)]
    pub baseline_flags: Option<String>,
    /// The direction claimed.
    pub says: Option<Says>,
    /// Claimed time of candidate / time of baseline.
    pub ratio: Option<f64>,
    /// Relative tolerance on `ratio`, and on the times and misses below; 0.05 if absent.
    pub ratio_tolerance: Option<f64>,
    /// Claimed nanoseconds per unit of the candidate, with the same tolerance.
    pub ns_per_unit: Option<f64>,
    /// Claimed bytes of the input per second, 10^9, with the same tolerance.
    #[serde(default)]
    pub gigabytes_per_second: Option<f64>,
    /// Claimed units per second, 10^6, with the same tolerance.
    #[serde(default)]
    pub million_units_per_second: Option<f64>,
    /// Claimed mispredictions per branch, as a fraction of all conditional branches of the decoder.
    pub miss_rate: Option<f64>,
    /// Claimed mispredictions per unit.
    pub misses_per_unit: Option<f64>,
    /// Claimed instructions per unit of the candidate, with the same tolerance.
    pub instructions_per_unit: Option<f64>,
    /// Claimed branches per unit, of any class.
    pub branches_per_unit: Option<f64>,
    /// Claimed cycles per unit.
    pub cycles_per_unit: Option<f64>,
    /// Claimed allocations per unit.
    #[serde(default)]
    pub allocations_per_unit: Option<f64>,
    /// Claimed bytes allocated per unit.
    #[serde(default)]
    pub allocated_bytes_per_unit: Option<f64>,
    /// Claimed most bytes at once, per unit of a call.
    #[serde(default)]
    pub peak_bytes_per_unit: Option<f64>,
    /// A share of a whole, as a fraction; above 1 it is impossible.
    pub share: Option<f64>,
    /// Two numbers of the claim itself that must reproduce `change` or `ratio`: before.
    pub before: Option<f64>,
    /// ... and after.
    pub after: Option<f64>,
    /// The change the claim derives from them, as a fraction of `before` ( -0.47 is "47 % fewer").
    pub change: Option<f64>,
}

impl ClaimSpec {
    /// True of a claim that compares builds.
    pub fn compares_builds(&self) -> bool {
        self.baseline_compiler.is_some() || self.baseline_flags.is_some()
    }

    /// The variant on the other side, if the claim tells: as named, the candidate itself where builds are compared, else
    /// the experiment's `baseline`.
    pub fn baseline_variant<'a>(&'a self, baseline: &'a str) -> Option<&'a str> {
        match &self.baseline {
            Some(named) => Some(named),
            None if self.compares_builds() => self.candidate.as_deref(),
            None => Some(baseline),
        }
    }
}

/// The direction of a time that a claim of an experiment gives; `Direction` of a diary is of any quantity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Says {
    /// The candidate takes less time.
    Faster,
    /// The candidate takes more time.
    Slower,
    /// They take the same time within the minimum effect.
    Equivalent,
}
