//! What was measured of one contrast, as the verdict sees it: only usable samples, already divided by units.

use super::build::{Between, Build};
use super::identity::CodeIdentity;

/// One usable sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Observation {
    /// The pass over the cells in which it was taken; samples of candidate and baseline pair by (round, index).
    pub round: u32,
    /// Its number within the visit; the same number means the same windows of the input.
    pub index: u32,
    /// Nanoseconds per unit on the deciding clock, timer cost subtracted.
    pub ns_per_unit: f64,
}

/// Both sides at one placement.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PairAt {
    /// Padding ahead of all code, bytes.
    pub phase_bytes: u32,
    /// Where the candidate's entry lies in its 64-byte line.
    pub candidate_offset: u64,
    /// Where the baseline's entry lies.
    pub baseline_offset: u64,
    /// The candidate's samples.
    pub candidate: Vec<Observation>,
    /// The baseline's samples.
    pub baseline: Vec<Observation>,
}

/// All phases of one shuffle.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rotation {
    /// The shuffle's number, from 0.
    pub rotation: u32,
    /// One entry per phase measured.
    pub phases: Vec<PairAt>,
}

/// What a visit to a side is: the samples of one side at one placement in one round.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Visits {
    /// A few calls in a process that lives on between them. Offsets are those of the variants' entries.
    Process,
    /// A run of a benchmark command, a process of its own. A benchmark has no one entry: offsets are of all code.
    Run {
        /// Unit of its figures.
        unit: String,
        /// Whether placements are links of their own; else one program in other surroundings.
        relinked: bool,
    },
}

/// Everything measured of one contrast.
#[derive(Clone, Debug, PartialEq)]
pub struct ObservedContrast {
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
    /// The link the user would have made, where it was measured.
    pub as_built: Option<PairAt>,
    /// Its rotations. One that has fewer phases than the others, or none, was measured but lost: a placement had no usable sample.
    pub rotations: Vec<Rotation>,
    /// What the visits were.
    pub visits: Visits,
    /// What comparing their machine code, and what it executes, found, where that is known.
    pub identity: Option<CodeIdentity>,
}

impl ObservedContrast {
    /// Whether both sides are equivalent whatever was measured.
    pub fn is_proven(&self) -> bool {
        self.identity.as_ref().is_some_and(CodeIdentity::proves)
    }

    /// Whether offsets are those of the variants' entries.
    pub fn has_entries(&self) -> bool {
        self.visits == Visits::Process
    }

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

    /// The rotations that have all phases: a mean over fewer would bring the offset's effect back in.
    pub fn complete(&self) -> impl Iterator<Item = &Rotation> {
        let full = self.rotations.iter().map(|rotation| rotation.phases.len()).max().unwrap_or(0);
        self.rotations.iter().filter(move |rotation| full > 0 && rotation.phases.len() == full)
    }
}
