//! Intel's cores: a path history register of two bits per taken branch, tables of four ways.

use super::core::{Address, Core};
use super::cpu::Confidence::{High, Low, Medium};
use super::cpu::{BtbLevel, Cpu, CpuPart, PenaltyCycles};
use super::footprint::Bit::{B, T};
use super::footprint::{Bit, Footprint, PathHistory};
use super::tables;
use super::targets::{PathTargets, TargetTables};
use crate::predict::Member;
use crate::predict::tage::{Geometry, Tage};
use crate::trace::classify::InstructionSet;

const SOURCES: &str = "Yavarzadeh et al., Half&Half, S&P 2023, and Pathfinder, ASPLOS 2024; Li et al., Indirector, USENIX \
    Security 2024; arXiv 2411.13900; measured again by J. Chen (jiegec/cpu, 2026)";
const ASSUMED: &str = "tags of 12 bits, counters of 3, usefulness of 2 forgotten every 2^18 branches, allocation as in \
    Seznec's Cookbook, 2^13 base counters";

/// Skylake and its kin.
pub const SKYLAKE: Cpu = Cpu {
    name: "skylake",
    generations: "Intel Skylake, Kaby, Coffee, Comet, Cascade Lake",
    architecture: InstructionSet::X86_64,
    what: "model of Intel Skylake: 3 tagged tables of 512 x 4 over 11, 29 and 93 taken branches (not the CPU)",
    history: CpuPart { what: "93 taken branches, 2 bits each, footprint of 16 bits", confidence: High },
    direction: CpuPart {
        what: "3 tables of 4 ways x 512 sets over 22, 58, 186 bits; index has address bit 5",
        confidence: High,
    },
    targets: CpuPart { what: "2 tables of 2 ways x 512 sets over the same history", confidence: Low },
    return_depth: 16,
    return_confidence: Low,
    btb: &[BtbLevel { entries: 4096, bubble_cycles: 1 }],
    btb_confidence: Low,
    penalty: PenaltyCycles {
        low_cycles: 15,
        common_cycles: 17,
        high_cycles: 20,
        confidence: Medium,
        source: "Agner Fog's tables: 15 to 20; 7-cpu: 16.5 from the op cache, 19 to 20 without",
    },
    reach: Some(93),
    assumed: ASSUMED,
    sources: SOURCES,
    make: || {
        small([
            &[B(3), T(0)],
            &[B(4), T(1)],
            &[B(7), T(2)],
            &[B(8), T(3)],
            &[B(11), T(4)],
            &[B(12), T(5)],
            &[B(5)],
            &[B(6)],
            &[B(9)],
            &[B(10)],
            &[B(13)],
            &[B(14)],
            &[B(15)],
            &[B(16)],
            &[B(17)],
            &[B(18)],
        ])
    },
};

/// Haswell and Ivy Bridge.
pub const HASWELL: Cpu = Cpu {
    name: "haswell",
    generations: "Intel Ivy Bridge, Haswell, Broadwell",
    what: "model of Intel Haswell: 3 tagged tables of 512 x 4 over 11, 29 and 93 taken branches (not the CPU)",
    direction: CpuPart { what: "as Skylake, which is assumed", confidence: Medium },
    penalty: PenaltyCycles {
        low_cycles: 14,
        common_cycles: 16,
        high_cycles: 20,
        confidence: Medium,
        source: "LLVM's model: 16; 14 to 20 reported",
    },
    make: || {
        small([
            &[B(6), T(0)],
            &[B(7), T(1)],
            &[B(10), T(2)],
            &[B(11), T(3)],
            &[B(14), T(4)],
            &[B(15), T(5)],
            &[B(4)],
            &[B(5)],
            &[B(8)],
            &[B(9)],
            &[B(12)],
            &[B(13)],
            &[B(16)],
            &[B(17)],
            &[B(18)],
            &[B(19)],
        ])
    },
    ..SKYLAKE
};

/// Golden Cove and Raptor Cove.
pub const GOLDEN_COVE: Cpu = Cpu {
    name: "golden-cove",
    generations: "Intel Golden Cove, Raptor Cove (Alder Lake, Sapphire Rapids, Raptor Lake)",
    what: "model of Intel Golden Cove: 4 tagged tables of 512 x 4 over 18, 34, 66 and 194 taken branches (not the CPU)",
    history: CpuPart { what: "194 taken branches, 2 bits each, footprint of 16 bits", confidence: High },
    direction: CpuPart {
        what: "4 tables of 4 ways x 512 sets over 36, 68, 132, 388 bits",
        confidence: Medium,
    },
    targets: CpuPart {
        what: "3 tables of 2 ways x 256 sets over the same history, address bits 6 to 15",
        confidence: Medium,
    },
    return_depth: 20,
    return_confidence: Medium,
    btb: &[
        BtbLevel { entries: 128, bubble_cycles: 0 },
        BtbLevel { entries: 6144, bubble_cycles: 1 },
        BtbLevel { entries: 12288, bubble_cycles: 2 },
    ],
    btb_confidence: Medium,
    penalty: PenaltyCycles {
        low_cycles: 15,
        common_cycles: 17,
        high_cycles: 20,
        confidence: Low,
        source: "17, recalled; the spread is Skylake's",
    },
    reach: Some(194),
    make: || large(20),
    ..SKYLAKE
};

/// Sunny Cove.
pub const SUNNY_COVE: Cpu = Cpu {
    name: "sunny-cove",
    generations: "Intel Sunny Cove, Willow Cove (Ice Lake, Tiger Lake)",
    what: "model of Intel Sunny Cove: 4 tagged tables of 512 x 4 over 18, 34, 66 and 194 taken branches (not the CPU)",
    targets: CpuPart { what: "as Golden Cove, which is assumed", confidence: Low },
    return_depth: 22,
    btb: &[BtbLevel { entries: 256, bubble_cycles: 0 }, BtbLevel { entries: 5120, bubble_cycles: 1 }],
    penalty: PenaltyCycles {
        low_cycles: 15,
        common_cycles: 16,
        high_cycles: 20,
        confidence: Low,
        source: "16 to 17, recalled; the spread is Skylake's",
    },
    make: || large(22),
    ..GOLDEN_COVE
};

/// Skylake's tables behind a footprint.
fn small(footprint: [&[Bit]; 16]) -> Box<dyn Member> {
    let geometry = geometry(&[22, 58, 186], 1 << 5, 0x1fff);
    let rule = PathHistory::new(2, [of(footprint), Footprint::new()]);
    let tables = TargetTables { base_log2: 12, sets_log2: 9, ways: 2, lengths: vec![58, 186], place: 0x1fff };
    let targets = PathTargets::new(tables);
    Box::new(Core::new(Tage::<_, 4, 4>::new(geometry, rule), targets, 16, Address::LastByte))
}

/// Golden Cove's tables.
fn large(return_depth: usize) -> Box<dyn Member> {
    let footprint: [&[Bit]; 16] = [
        &[B(3), T(0)],
        &[B(4), T(1)],
        &[B(5)],
        &[B(6)],
        &[B(7)],
        &[B(8)],
        &[B(9)],
        &[B(10)],
        &[B(0), T(2)],
        &[B(1), T(3)],
        &[B(2), T(4)],
        &[B(11), T(5)],
        &[B(12)],
        &[B(13)],
        &[B(14)],
        &[B(15)],
    ];
    let geometry = geometry(&[36, 68, 132, 388], 1 << 5, 0xffff);
    let rule = PathHistory::new(2, [of(footprint), Footprint::new()]);
    let lengths = vec![68, 132, 388];
    let targets = TargetTables { base_log2: 12, sets_log2: 8, ways: 2, lengths, place: 0xffc0 };
    let direction = Tage::<_, 4, 4>::new(geometry, rule);
    Box::new(Core::new(direction, PathTargets::new(targets), return_depth, Address::LastByte))
}

fn of(bits: [&[Bit]; 16]) -> Footprint {
    bits.iter().map(|bits| bits.to_vec()).collect()
}

fn geometry(lengths: &[usize], index_place: u64, tag_place: u64) -> Geometry {
    let tables = tables::equal(lengths, 9, 4, 12);
    Geometry { index_place, tag_place, ..tables::assumed(tables, 13) }
}
