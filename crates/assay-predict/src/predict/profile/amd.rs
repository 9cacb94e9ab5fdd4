//! AMD's Zen: the kind of predictor is published, its sizes are not.
//!
//! AMD's optimisation guides say that branches never taken so far neither take entries nor enter the history; that is
//! modelled. The rest is a predictor of the kind and a size that fits: what these members say is worth no more than
//! "a good TAGE" or "a good perceptron", and their confidence is low.

use super::core::{Address, Core, WithOwnHistory};
use super::cpu::Confidence::{High, Low, Medium};
use super::cpu::{BtbLevel, Cpu, CpuPart, PenaltyCycles};
use super::targets::{PathTargets, TargetTables};
use crate::predict::perceptron::Perceptron;
use crate::predict::tage::{Directions, Geometry, HistoryRule, Tage};
use crate::trace::Branch;
use crate::trace::classify::InstructionSet;

const SOURCES: &str =
    "AMD's software optimisation guides of families 17h and 19h; J. Chen (jiegec/cpu, 2026)";

/// Zen.
pub const ZEN1: Cpu = Cpu {
    name: "zen1",
    generations: "AMD Zen, Zen+ (EPYC Naples, Ryzen 1000 and 2000)",
    architecture: InstructionSet::X86_64,
    what: "model of AMD Zen: hashed perceptron of 16 x 4096 weights (not the CPU)",
    history: CpuPart { what: "directions of 256 conditional branches", confidence: Low },
    direction: CpuPart { what: "hashed perceptron, 64 KB", confidence: Low },
    targets: CpuPart { what: "2 tables of 256 entries", confidence: Low },
    return_depth: 32,
    return_confidence: High,
    btb: &[
        BtbLevel { entries: 8, bubble_cycles: 0 },
        BtbLevel { entries: 256, bubble_cycles: 1 },
        BtbLevel { entries: 4096, bubble_cycles: 4 },
    ],
    btb_confidence: High,
    penalty: PenaltyCycles {
        low_cycles: 12,
        common_cycles: 17,
        high_cycles: 18,
        confidence: Medium,
        source: "LLVM's model: 17; the spread is Zen 2's",
    },
    reach: None,
    assumed: "sizes, lengths and training; only the kind and the 512 entries for indirect targets are published",
    sources: SOURCES,
    make: || {
        let direction = WithOwnHistory::new(Perceptron::default(), EverTaken::default());
        Box::new(Core::new(direction, targets(8), 32, Address::FirstByte))
    },
};

/// Zen 2.
pub const ZEN2: Cpu = Cpu {
    name: "zen2",
    generations: "AMD Zen 2 (EPYC Rome, Ryzen 3000)",
    what: "model of AMD Zen 2: TAGE of 32 KB; its first level, a perceptron, is left out (not the CPU)",
    history: CpuPart { what: "branches that were ever taken, 2 bits each, up to 450", confidence: Low },
    direction: CpuPart { what: "12 tagged tables, 32 KB", confidence: Low },
    targets: CpuPart { what: "2 tables of 512 entries", confidence: Low },
    btb: &[
        BtbLevel { entries: 16, bubble_cycles: 0 },
        BtbLevel { entries: 512, bubble_cycles: 1 },
        BtbLevel { entries: 7168, bubble_cycles: 4 },
    ],
    penalty: PenaltyCycles {
        low_cycles: 12,
        common_cycles: 16,
        high_cycles: 18,
        confidence: High,
        source: "AMD's guide: 12 to 18, commonly 16",
    },
    assumed: "sizes, lengths, history and policies, which are those of our own TAGE; the kind, the 1024 entries for \
        indirect targets and that branches never taken leave no trace are published",
    make: || {
        let mut geometry = Geometry::class_64_kb();
        geometry.tables.iter_mut().for_each(|table| table.sets_log2 -= 1);
        Box::new(Core::new(
            Tage::<_, 12, 1>::new(geometry, EverTaken::default()),
            targets(9),
            32,
            Address::FirstByte,
        ))
    },
    ..ZEN1
};

/// Zen 4.
pub const ZEN4: Cpu = Cpu {
    name: "zen4",
    generations: "AMD Zen 4 (EPYC Genoa, Ryzen 7000); near to Zen 3 and Zen 5",
    what: "model of AMD Zen 4: TAGE of 64 KB over branches ever taken (not the CPU)",
    direction: CpuPart { what: "12 tagged tables, 64 KB", confidence: Low },
    targets: CpuPart { what: "3 tables of 1024 entries", confidence: Low },
    btb: &[BtbLevel { entries: 1536, bubble_cycles: 0 }, BtbLevel { entries: 7168, bubble_cycles: 3 }],
    penalty: PenaltyCycles {
        low_cycles: 11,
        common_cycles: 13,
        high_cycles: 18,
        confidence: High,
        source: "AMD's guide: 11 to 18, commonly 13",
    },
    assumed: "sizes, lengths, history and policies, which are those of our own TAGE; the kind, the 3072 entries for \
        indirect targets and that branches never taken leave no trace are published",
    make: || {
        let direction = Tage::<_, 12, 1>::new(Geometry::class_64_kb(), EverTaken::default());
        let lengths = vec![12, 52, 210];
        let tables = TargetTables { base_log2: 11, sets_log2: 10, ways: 1, lengths, place: !0 };
        Box::new(Core::new(direction, PathTargets::new(tables), 32, Address::FirstByte))
    },
    ..ZEN2
};

fn targets(sets_log2: u32) -> PathTargets {
    PathTargets::new(TargetTables { base_log2: 11, sets_log2, ways: 1, lengths: vec![12, 84], place: !0 })
}

/// Branches remembered as taken at least once, by a hash of their address.
const REMEMBERED: usize = 1 << 16;

/// [`Directions`] of the branches that were taken before, or are now.
#[derive(Clone, Debug)]
pub struct EverTaken {
    directions: Directions,
    taken: Box<[bool; REMEMBERED]>,
}

impl Default for EverTaken {
    fn default() -> EverTaken {
        EverTaken { directions: Directions, taken: Box::new([false; REMEMBERED]) }
    }
}

impl HistoryRule for EverTaken {
    fn shift(&self) -> u32 {
        self.directions.shift()
    }

    fn footprint_bits(&self) -> [u32; 2] {
        self.directions.footprint_bits()
    }

    #[inline]
    fn footprints(&mut self, branch: &Branch) -> Option<[u64; 2]> {
        let ever = &mut self.taken[(branch.pc ^ branch.pc >> 16) as usize % REMEMBERED];
        *ever |= branch.taken();
        if *ever { self.directions.footprints(branch) } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::BranchClass;

    #[test]
    fn a_branch_enters_the_history_with_its_first_taken_execution_and_stays() {
        let mut rule = EverTaken::default();
        let branch = |taken| Branch::new(0x40_1234, 0x40_1300, 0, BranchClass::CONDITIONAL, taken, 1);
        let other = Branch::new(0x40_1236, 0x40_1300, 1, BranchClass::CONDITIONAL, false, 1);
        let mut enters = |branch| rule.footprints(&branch).is_some();
        assert_eq!([branch(false), branch(true), branch(false)].map(&mut enters), [false, true, true]);
        assert!(!enters(other));
    }

    #[test]
    fn what_enters_is_what_direction_history_takes() {
        let (mut rule, mut directions) = (EverTaken::default(), Directions);
        let branch = Branch::new(0x40_1234, 0x40_1300, 0, BranchClass::CONDITIONAL, true, 1);
        assert_eq!(rule.footprints(&branch), directions.footprints(&branch));
        assert_eq!((rule.shift(), rule.footprint_bits()), (directions.shift(), directions.footprint_bits()));
    }
}
