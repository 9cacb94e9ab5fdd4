//! What is known of a CPU's branch prediction, how well, and from where.

use super::super::Member;
use crate::trace::classify::InstructionSet;

/// How sure a fact is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Confidence {
    /// A guess from its kin, or a number recalled without its source.
    Low,
    /// Measured carefully by one party.
    Medium,
    /// Measured by two parties at least, or published by the vendor.
    High,
}

impl std::fmt::Display for Confidence {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Confidence::Low => "low",
            Confidence::Medium => "medium",
            Confidence::High => "high",
        })
    }
}

/// A statement about a part of the predictor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CpuPart {
    /// What it is, in one line.
    pub what: &'static str,
    /// How sure that is.
    pub confidence: Confidence,
}

/// A level of the branch target buffer: a fact for reports, not simulated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BtbLevel {
    /// Branches it holds.
    pub entries: u32,
    /// Cycles lost for a taken branch found there.
    pub bubble_cycles: u32,
}

/// What a misprediction costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PenaltyCycles {
    /// The least, cycles.
    pub low_cycles: u32,
    /// The usual, cycles.
    pub common_cycles: u32,
    /// The most that is stated, cycles. Work that the branch waits for comes on top.
    pub high_cycles: u32,
    /// How sure that is.
    pub confidence: Confidence,
    /// Who says so.
    pub source: &'static str,
}

/// A CPU whose branch prediction is modelled. What its member of the zoo says is said of the model, not of the CPU.
#[derive(Clone, Copy, Debug)]
pub struct Cpu {
    /// The member's name.
    pub name: &'static str,
    /// Microarchitectures and products it stands for.
    pub generations: &'static str,
    /// Whose programs it runs.
    pub architecture: InstructionSet,
    /// What the member simulates, in one line.
    pub what: &'static str,
    /// Which branches are remembered, as what.
    pub history: CpuPart,
    /// The tables for directions.
    pub direction: CpuPart,
    /// The tables for indirect targets.
    pub targets: CpuPart,
    /// Calls that the return stack holds.
    pub return_depth: usize,
    /// How sure that is.
    pub return_confidence: Confidence,
    /// Branch target buffers, the fastest first.
    pub btb: &'static [BtbLevel],
    /// How sure they are.
    pub btb_confidence: Confidence,
    /// What a misprediction costs.
    pub penalty: PenaltyCycles,
    /// Taken branches that the history reaches back over; `None` where it does not count them.
    pub reach: Option<usize>,
    /// What is not public, and was assumed.
    pub assumed: &'static str,
    /// Who measured or published it.
    pub sources: &'static str,
    /// A fresh model.
    pub make: fn() -> Box<dyn Member>,
}

impl Cpu {
    /// The confidence of the part that is least sure among history, direction, targets and returns.
    pub fn confidence(&self) -> Confidence {
        let parts = [self.history, self.direction, self.targets].map(|part| part.confidence);
        parts.into_iter().fold(self.return_confidence, Confidence::min)
    }
}
