//! How would this program's branches fare on that CPU? Models of CPUs, with what is known of each and how well.
//!
//! A model is no CPU: sizes that nobody published are assumed, there is no wrong path and no second thread, and each learns
//! at once. The difference between members says more than the number of one of them. What a misprediction costs is a
//! range of cycles; what the CPU's branch target buffers hold is a fact for reports and is not simulated.
//!
//! Sources: those of each [`Cpu`]. Checked: the length of each history, exactly, by a branch that is correlated with one
//! that lies further and further back (`tests/profiles.rs`), which is how the lengths of the real ones were measured.

pub mod core;
pub mod cpu;
pub mod footprint;
mod tables;
pub mod targets;

mod amd;
mod apple;
mod arm;
mod intel;

pub use cpu::{BtbLevel, Confidence, Cpu, CpuPart, PenaltyCycles};

use super::{PredictionKind, PredictorEntry};
use crate::trace::classify::InstructionSet;

/// All profiles.
pub const ALL: &[&Cpu] = &[
    &intel::HASWELL,
    &intel::SKYLAKE,
    &intel::SUNNY_COVE,
    &intel::GOLDEN_COVE,
    &amd::ZEN1,
    &amd::ZEN2,
    &amd::ZEN4,
    &arm::NEOVERSE_N1,
    &arm::NEOVERSE_V1,
    &arm::NEOVERSE_V2,
    &apple::FIRESTORM,
    &apple::ORYON,
];

/// The names of this family.
pub const ENTRIES: &[PredictorEntry] = &[
    entry(&intel::HASWELL),
    entry(&intel::SKYLAKE),
    entry(&intel::SUNNY_COVE),
    entry(&intel::GOLDEN_COVE),
    entry(&amd::ZEN1),
    entry(&amd::ZEN2),
    entry(&amd::ZEN4),
    entry(&arm::NEOVERSE_N1),
    entry(&arm::NEOVERSE_V1),
    entry(&arm::NEOVERSE_V2),
    entry(&apple::FIRESTORM),
    entry(&apple::ORYON),
];

const fn entry(cpu: &'static Cpu) -> PredictorEntry {
    PredictorEntry {
        name: cpu.name,
        what: cpu.what,
        source: cpu.sources,
        judges: &[PredictionKind::Direction, PredictionKind::Target, PredictionKind::Return],
        make: cpu.make,
    }
}

/// The profile of this name.
pub fn find(name: &str) -> Option<&'static Cpu> {
    ALL.iter().copied().find(|cpu| cpu.name == name)
}

/// The members that a range of mispredictions is given over when none are named: three generations or vendors, as few as
/// show the spread.
pub fn default_range(architecture: InstructionSet) -> [&'static str; 3] {
    match architecture {
        InstructionSet::X86_64 => ["skylake", "golden-cove", "zen4"],
        InstructionSet::Aarch64 => ["neoverse-n1", "neoverse-v2", "firestorm"],
    }
}

/// The member that stands for a CPU of today where one number is wanted, as to explain a difference in time.
///
/// Why this one: a Zen 4 memorises 30,000 repeated random outcomes, 100,000 no longer. After 20 passes over 30,000,
/// `zen4` still mispredicts 20 % of them, `tage-sc-l-64k` 29 %, `golden-cove` 30 %, `skylake` 47 %; of 3000 all but
/// `skylake` less than 1 %. It is the nearest, at half of what `tage-sc-l-64k` costs.
pub const MODERN: &str = "zen4";

/// What every result of a profile is to be labelled with.
pub const LABEL: &str = "model, not the CPU";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_profile_is_in_the_zoo_under_its_name() {
        assert_eq!(ALL.len(), ENTRIES.len());
        for (cpu, entry) in ALL.iter().zip(ENTRIES) {
            assert_eq!(cpu.name, entry.name);
            assert!(cpu.what.ends_with("(not the CPU)"), "{}", cpu.what);
            assert_eq!(find(cpu.name).map(|cpu| cpu.what), Some(cpu.what));
        }
        assert!(find("gshare").is_none());
    }

    #[test]
    fn penalties_are_ranges_and_confidence_is_that_of_the_weakest_part() {
        for cpu in ALL {
            let PenaltyCycles { low_cycles, common_cycles, high_cycles, source, .. } = cpu.penalty;
            assert!(
                0 < low_cycles && low_cycles <= common_cycles && common_cycles <= high_cycles,
                "{}",
                cpu.name
            );
            assert!(!source.is_empty() && !cpu.sources.is_empty() && !cpu.assumed.is_empty());
            assert!(cpu.confidence() <= cpu.history.confidence && cpu.confidence() <= cpu.return_confidence);
        }
        assert!(Confidence::Low < Confidence::Medium && Confidence::Medium < Confidence::High);
        assert_eq!(find("zen4").map(|cpu| cpu.confidence()), Some(Confidence::Low));
    }

    #[test]
    fn the_default_range_is_of_the_guests_own_kind() {
        assert!(default_range(InstructionSet::X86_64).contains(&MODERN));
        for architecture in [InstructionSet::X86_64, InstructionSet::Aarch64] {
            for name in default_range(architecture) {
                assert_eq!(find(name).map(|cpu| cpu.architecture), Some(architecture), "{name}");
            }
        }
    }
}
