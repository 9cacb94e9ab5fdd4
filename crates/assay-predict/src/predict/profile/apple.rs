//! Apple's Firestorm and Qualcomm's Oryon, of the same descent: one history of targets and a shorter one of branches.

use super::core::{Address, Core};
use super::cpu::Confidence::{High, Low, Medium};
use super::cpu::{BtbLevel, Cpu, CpuPart, PenaltyCycles};
use super::footprint::{PathHistory, place, target};
use super::tables;
use super::targets::{PathTargets, TargetTables};
use crate::predict::Member;
use crate::predict::tage::{Tage, TaggedTable};
use crate::trace::classify::InstructionSet;

const SOURCES: &str = "J. Chen (jiegec/cpu and cpu-micro-benchmarks: branch predictors and microarchitectures, 2026); arXiv \
    2411.13900";
const ASSUMED: &str = "tags of 15 hashed bits (12 hashed and address bits 2 to 5 measured), index functions, counters of \
    3 bits, usefulness of 2 forgotten every 2^18 branches, allocation as in Seznec's Cookbook, indirect targets in \
    three tables over the same history";

/// Firestorm.
pub const FIRESTORM: Cpu = Cpu {
    name: "firestorm",
    generations: "Apple M1 Firestorm, M2 Avalanche",
    architecture: InstructionSet::Aarch64,
    what: "model of Apple Firestorm: 6 tagged tables of 4096 to 12,288 over up to 100 taken branches (not the CPU)",
    history: CpuPart {
        what: "targets of 100 taken branches, addresses of 28, 1 bit each, footprints of 30 and 4 bits",
        confidence: Medium,
    },
    direction: CpuPart { what: "6 tables of 4 to 6 ways, 44 K entries", confidence: Medium },
    targets: CpuPart { what: "3 tables of 512 entries over the same history", confidence: Low },
    return_depth: 50,
    return_confidence: Medium,
    btb: &[BtbLevel { entries: 1024, bubble_cycles: 0 }],
    btb_confidence: Medium,
    penalty: PenaltyCycles {
        low_cycles: 13,
        common_cycles: 13,
        high_cycles: 14,
        confidence: Low,
        source: "13 to 14, recalled",
    },
    reach: Some(100),
    assumed: ASSUMED,
    sources: SOURCES,
    make: || {
        core([
            (6, 6, 11, 6),
            (11, 11, 11, 6),
            (18, 18, 11, 4),
            (32, 28, 10, 4),
            (57, 28, 10, 4),
            (100, 28, 10, 4),
        ])
    },
};

/// Oryon.
pub const ORYON: Cpu = Cpu {
    name: "oryon",
    generations: "Qualcomm Oryon (Snapdragon X)",
    what: "model of Qualcomm Oryon: 6 tagged tables of 4096 to 12,288 over up to 100 taken branches (not the CPU)",
    history: CpuPart {
        what: "targets of 100 taken branches, addresses of 32, 1 bit each, footprints of 30 and 4 bits",
        confidence: Medium,
    },
    direction: CpuPart {
        what: "6 tables, 40 K entries; the two shortest and all ways are Firestorm's or guessed",
        confidence: Low,
    },
    btb: &[BtbLevel { entries: 2048, bubble_cycles: 0 }],
    penalty: PenaltyCycles {
        low_cycles: 13,
        common_cycles: 13,
        high_cycles: 13,
        confidence: High,
        source: "the vendor",
    },
    make: || {
        core([
            (4, 4, 11, 6),
            (7, 7, 11, 4),
            (14, 14, 11, 4),
            (27, 27, 10, 4),
            (52, 32, 10, 4),
            (100, 32, 10, 4),
        ])
    },
    ..FIRESTORM
};

/// Tables as bits of target history, of branch history, sets as the power of two, ways.
fn core(shapes: [(usize, usize, u32, usize); 6]) -> Box<dyn Member> {
    let tables = shapes.map(|(length, second, sets_log2, ways)| TaggedTable {
        sets_log2,
        ways,
        tag_bits: 15,
        length,
        second,
    });
    let rule = PathHistory::new(1, [target(2..=31), place(2..=5)]);
    let direction = Tage::<_, 8, 8>::new(tables::assumed(tables.to_vec(), 13), rule);
    let lengths = vec![shapes[1].0, shapes[3].0, shapes[5].0];
    let targets = TargetTables { base_log2: 11, sets_log2: 9, ways: 1, lengths, place: !0 };
    Box::new(Core::new(direction, PathTargets::new(targets), FIRESTORM.return_depth, Address::FirstByte))
}
