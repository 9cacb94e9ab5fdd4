//! Why a verdict is what it is: causes, each with its evidence and, where there is one, its share.

/// Why times differ; `work` and `prediction` need counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    /// Where the linker put the code.
    Placement,
    /// Both functions are the same machine code: any difference is placement.
    IdenticalCode,
    /// The functions differ, but all their loops are the same: where a loop lies inside its function is placement, too.
    SameLoops,
    /// At one place the code runs at two speeds, and changes between them by itself.
    Modes,
    /// Instructions or branches differ.
    Work,
    /// Mispredictions times their penalty.
    Prediction,
    /// The sign or the size depends on the input.
    Input,
    /// It appears past a cache size. No contrast is given it yet: a sweep names the cache behind a step.
    Memory,
    /// The machine code of an executed function changed, though its source did not.
    CodegenDrift,
    /// The twin control failed.
    Noise,
    /// Unoptimised or instrumented code.
    Build,
}

impl Cause {
    /// Its name in tables and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Cause::Placement => "placement",
            Cause::IdenticalCode => "identical-code",
            Cause::SameLoops => "same-loops",
            Cause::Modes => "modes",
            Cause::Work => "work",
            Cause::Prediction => "prediction",
            Cause::Input => "input",
            Cause::Memory => "memory",
            Cause::CodegenDrift => "codegen-drift",
            Cause::Noise => "noise",
            Cause::Build => "build",
        }
    }
}

/// A cause with what speaks for it.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CauseEvidence {
    /// The cause.
    pub cause: Cause,
    /// How much of the difference it accounts for, 0 to 1, where that can be said.
    pub share: Option<f64>,
    /// What speaks for it, with numbers.
    pub evidence: String,
}
