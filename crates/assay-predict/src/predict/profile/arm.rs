//! Arm's Neoverse cores and the Cortex cores they are made of.

use super::core::{Address, Core};
use super::cpu::Confidence::{High, Low, Medium};
use super::cpu::{BtbLevel, Cpu, CpuPart, PenaltyCycles};
use super::footprint::Bit::{B, T};
use super::footprint::{Bit, Footprint, PathHistory};
use super::tables;
use super::targets::{PathTargets, TargetTables};
use crate::predict::Member;
use crate::predict::tage::Tage;
use crate::trace::classify::InstructionSet;

const SOURCES: &str =
    "J. Chen (jiegec/cpu: branch predictors and microarchitectures, 2026); Arm's optimisation guides";
const ASSUMED: &str = "lengths of the shorter tables in geometric progression, tags of 11 bits, counters of 3, usefulness \
    of 2 forgotten every 2^18 branches, allocation as in Seznec's Cookbook, indirect targets in three tables over the \
    same history";

/// Neoverse N1.
pub const NEOVERSE_N1: Cpu = Cpu {
    name: "neoverse-n1",
    generations: "Arm Neoverse N1, Cortex-A76 (Graviton 2, Ampere Altra)",
    architecture: InstructionSet::Aarch64,
    what: "model of Arm Neoverse N1: 6 tagged tables of 1024 over up to 48 taken branches (not the CPU)",
    history: CpuPart { what: "48 taken branches, 3 bits each, footprint of 3 bits", confidence: Medium },
    direction: CpuPart { what: "6 tables of 1024 entries, 12 KB", confidence: Medium },
    targets: CpuPart { what: "3 tables of 512 entries over the same history", confidence: Low },
    return_depth: 16,
    return_confidence: Low,
    btb: &[
        BtbLevel { entries: 16, bubble_cycles: 0 },
        BtbLevel { entries: 64, bubble_cycles: 1 },
        BtbLevel { entries: 6144, bubble_cycles: 2 },
    ],
    btb_confidence: Medium,
    penalty: PenaltyCycles {
        low_cycles: 11,
        common_cycles: 12,
        high_cycles: 14,
        confidence: Medium,
        source: "11 by the vendor, 14 by 7-cpu",
    },
    reach: Some(48),
    assumed: ASSUMED,
    sources: SOURCES,
    make: || {
        let lengths = [2, 4, 8, 15, 27, 48].map(|branches| branches * 3);
        core::<1>(tables::equal(&lengths, 10, 1, 11), 12, 3, n1_footprint(), &[4, 15, 48], 16)
    },
};

/// Neoverse V1, N2.
pub const NEOVERSE_V1: Cpu = Cpu {
    name: "neoverse-v1",
    generations: "Arm Neoverse V1, N2, Cortex-X1, X2, A710 (Graviton 3)",
    what: "model of Arm Neoverse V1: 8 tagged tables of 1024 over up to 64 taken branches (not the CPU)",
    history: CpuPart { what: "64 taken branches, 3 bits each, footprint of 3 bits", confidence: Medium },
    direction: CpuPart {
        what: "8 tables of 1024 entries, 16 KB, over 2 KB of base counters",
        confidence: Medium,
    },
    btb: &[BtbLevel { entries: 96, bubble_cycles: 0 }, BtbLevel { entries: 8192, bubble_cycles: 1 }],
    return_confidence: Medium,
    penalty: PenaltyCycles {
        low_cycles: 10,
        common_cycles: 11,
        high_cycles: 11,
        confidence: Low,
        source: "10 to 11 reported",
    },
    reach: Some(64),
    make: || {
        let lengths = [2, 4, 6, 10, 16, 26, 40, 64].map(|branches| branches * 3);
        let more: [&[Bit]; 3] = [&[B(9), B(12)], &[B(10), B(13)], &[B(11), B(14)]];
        let mut footprint = n1_footprint();
        footprint.iter_mut().zip(more).for_each(|(bit, more)| bit.extend_from_slice(more));
        core::<1>(tables::equal(&lengths, 10, 1, 11), 13, 3, footprint, &[4, 16, 64], 16)
    },
    ..NEOVERSE_N1
};

/// Neoverse V2.
pub const NEOVERSE_V2: Cpu = Cpu {
    name: "neoverse-v2",
    generations: "Arm Neoverse V2, Cortex-X3 (Graviton 4, Grace)",
    what: "model of Arm Neoverse V2: 8 tagged tables of 1024 x 2 over up to 264 taken branches (not the CPU)",
    history: CpuPart { what: "264 taken branches, 2 bits each, footprint of 10 bits", confidence: Medium },
    direction: CpuPart { what: "8 tables of 2 ways, 16,384 entries", confidence: High },
    btb: &[
        BtbLevel { entries: 1024, bubble_cycles: 0 },
        BtbLevel { entries: 8192, bubble_cycles: 1 },
        BtbLevel { entries: 4096, bubble_cycles: 2 },
    ],
    return_depth: 32,
    return_confidence: Medium,
    penalty: PenaltyCycles {
        low_cycles: 10,
        common_cycles: 10,
        high_cycles: 11,
        confidence: Low,
        source: "LLVM's model: 10, copied from Neoverse N2",
    },
    reach: Some(264),
    make: || {
        let lengths = [4, 8, 14, 26, 46, 82, 147, 264].map(|branches| branches * 2);
        let footprint: [&[Bit]; 10] = [
            &[B(2), T(7)],
            &[B(3), T(8)],
            &[B(4), T(9)],
            &[B(5), T(10)],
            &[B(6), B(12), T(11)],
            &[B(7), B(13), T(2)],
            &[B(8), B(14), T(3)],
            &[B(9), B(15), T(4)],
            &[B(10), B(16), T(5)],
            &[B(11), B(17), T(6)],
        ];
        let footprint = footprint.iter().map(|bits| bits.to_vec()).collect();
        core::<2>(tables::equal(&lengths, 10, 2, 11), 13, 2, footprint, &[14, 46, 264], 32)
    },
    ..NEOVERSE_N1
};

fn n1_footprint() -> Footprint {
    vec![vec![T(2), T(5), B(3), B(6)], vec![T(3), T(6), B(4), B(7)], vec![T(4), T(7), B(5), B(8)]]
}

/// A core whose history moves by `shift` bits and whose indirect tables see the last `reaches` taken branches.
fn core<const W: usize>(
    tables: Vec<crate::predict::tage::TaggedTable>,
    base_log2: u32,
    shift: u32,
    footprint: Footprint,
    reaches: &[usize],
    return_depth: usize,
) -> Box<dyn Member> {
    let rule = PathHistory::new(shift, [footprint, Footprint::new()]);
    let direction = Tage::<_, 8, W>::new(tables::assumed(tables, base_log2), rule);
    let lengths = reaches.iter().map(|branches| branches * shift as usize).collect();
    let targets = TargetTables { base_log2: 11, sets_log2: 9, ways: 1, lengths, place: !0 };
    Box::new(Core::new(direction, PathTargets::new(targets), return_depth, Address::FirstByte))
}
