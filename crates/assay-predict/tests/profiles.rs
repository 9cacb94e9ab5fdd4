//! Do the models of CPUs have the properties that were measured of the CPUs?

use crate::golden;
use assay_predict::predict::profile::{self, Cpu};
use assay_predict::predict::{PredictionKind, Tally, Zoo};
use assay_predict::trace::{Branch, BranchClass, BranchSite};

/// A random conditional branch, `jumps` taken ones, and a conditional branch that does what the random one did.
///
/// The newest bits of a footprint stay in a history longest: those of the random branch are set, by low bits of its address
/// and target, those of all others are not, so that none is taken for it. Older bits of the jumps' differ.
fn correlated(jumps: u64, rounds: usize) -> Vec<Branch> {
    const RANDOM: u64 = 0x40_1048;
    const CORRELATED: u64 = 0x48_0000;
    let mut stream = Vec::new();
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    for _ in 0..rounds {
        // xorshift64 (Marsaglia 2003).
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let taken = state >> 40 & 1 != 0;
        stream.push(Branch::new(RANDOM, 0x40_2084, 0, BranchClass::CONDITIONAL, taken, 3));
        for jump in 0..jumps {
            let some = jump.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let pc = (jump + 2) << 20 | (some >> 59) << 15;
            let target = 0x80_0000 | (some >> 50 & 7) << 9;
            stream.push(Branch::new(pc, target, 2 + jump as u32, BranchClass::JUMP, true, 1));
        }
        stream.push(Branch::new(CORRELATED, 0x49_0000, 1, BranchClass::CONDITIONAL, taken, 3));
    }
    stream
}

/// How often a profile mispredicts the correlated branch, once it had time to learn.
fn missed(cpu: &Cpu, jumps: u64) -> f64 {
    let rounds = 3000;
    let stream = correlated(jumps, rounds);
    let (learning, judged) = stream.split_at(stream.len() / 2);
    let mut zoo = Zoo::new(&[cpu.name]).expect("a profile is in the zoo");
    zoo.observe(learning, &mut Tally::new(1));
    let mut tally = Tally::new(1);
    zoo.observe(judged, &mut tally);
    tally.site(1).missed[0] as f64 / tally.site(1).executed as f64
}

/// The step from none to half mispredicted that gives away the length of a CPU's history (measured of Firestorm: 100 good,
/// 101 fails). The history holds `reach` taken branches: the jumps and, `jumps` + 1 back, the random branch.
#[test]
fn each_path_history_ends_exactly_where_the_cpus_does() {
    let reaches = [
        ("haswell", 93),
        ("skylake", 93),
        ("sunny-cove", 194),
        ("golden-cove", 194),
        ("neoverse-n1", 48),
        ("neoverse-v1", 64),
        ("neoverse-v2", 264),
        ("firestorm", 100),
        ("oryon", 100),
    ];
    for (name, reach) in reaches {
        let cpu = profile::find(name).expect("a profile");
        assert_eq!(cpu.reach, Some(reach as usize), "{name}");
        let (inside, outside) = (missed(cpu, reach - 1), missed(cpu, reach));
        println!("{name}: {inside:.3} at {reach}, {outside:.3} at {}", reach + 1);
        assert!(inside < 0.02, "{name}: {inside} at {reach}");
        assert!((0.4..0.6).contains(&outside), "{name}: {outside} at {}", reach + 1);
    }
    let listed = profile::ALL.iter().filter(|cpu| cpu.reach.is_some()).count();
    assert_eq!(listed, reaches.len());
}

/// Where tables see the random branches of few rounds: of many, each past has to be learnt by itself.
#[test]
fn a_profile_learns_at_other_distances_too() {
    for cpu in profile::ALL {
        for jumps in [15, 20, 31, 40] {
            let missed = missed(cpu, jumps);
            assert!(missed < 0.02, "{}: {missed} behind {jumps} jumps", cpu.name);
        }
    }
}

/// Calls of nested functions, then the returns.
fn nested(depth: u64) -> Vec<Branch> {
    let function = |level: u64| 0x40_0000 + level * 0x100;
    let mut stream = Vec::new();
    for level in 0..depth {
        let class = BranchClass::CALL;
        stream.push(Branch::new(function(level) + 0x10, function(level + 1), level as u32, class, true, 2));
    }
    for level in (0..depth).rev() {
        let site = (depth + level) as u32;
        let pc = function(level + 1) + 0x20;
        stream.push(Branch::new(pc, function(level) + 0x15, site, BranchClass::RETURN, true, 2));
    }
    stream
}

#[test]
fn returns_are_right_as_deep_as_the_stack() {
    for cpu in profile::ALL {
        let depth = cpu.return_depth as u64;
        let missed = |depth| {
            let mut tally = Tally::new(1);
            Zoo::new(&[cpu.name]).expect("a profile").observe(&nested(depth), &mut tally);
            tally.missed_of(PredictionKind::Return)[0]
        };
        assert_eq!((missed(depth), missed(depth + 1)), (0, 1), "{}", cpu.name);
    }
}

#[test]
fn indirect_targets_follow_the_history() {
    for cpu in profile::ALL {
        let mut stream = Vec::new();
        for round in 0..4000_u64 {
            let which = round * round % 7 % 3;
            let pc = 0x40_1000 + which * 0x28;
            stream.push(Branch::new(pc, 0x41_0084 + which * 0x10, which as u32, BranchClass::JUMP, true, 2));
            let target = 0x42_0000 + which * 0x100;
            stream.push(Branch::new(0x41_2008, target, 3, BranchClass::INDIRECT_JUMP, true, 2));
        }
        let mut zoo = Zoo::new(&[cpu.name]).expect("a profile");
        zoo.observe(&stream[..4000], &mut Tally::new(1));
        let mut tally = Tally::new(1);
        zoo.observe(&stream[4000..], &mut tally);
        let missed = tally.missed_of(PredictionKind::Target)[0];
        assert!(missed < 40, "{}: {missed} of 2000", cpu.name);
    }
}

/// Intel's cores know a branch by its last byte: two streams that differ in where instructions begin, not in where they
/// end, are the same to them once lengths are known, and others to the rest.
#[test]
fn intels_cores_go_by_the_last_byte_where_lengths_are_known() {
    let short = golden::stream("CBP-NG/gcc_test").1[..40_000].to_vec();
    let sites = 1 + short.iter().map(|branch| branch.site).max().expect("it has branches");
    let length = |site: u32| 1 + site as u8 % 15;
    let long: Vec<Branch> = short
        .iter()
        .map(|branch| {
            let mut moved = *branch;
            moved.pc -= u64::from(length(branch.site)) - 1;
            moved
        })
        .collect();
    let missed = |name: &str, stream: &[Branch], length: &dyn Fn(u32) -> u8| {
        let site =
            |site| BranchSite { pc: 0, length: length(site), class: BranchClass::CONDITIONAL, target: None };
        let mut zoo = Zoo::new(&[name]).expect("a profile");
        zoo.know(&(0..sites / 2).map(site).collect::<Vec<_>>());
        zoo.know(&(0..sites).map(site).collect::<Vec<_>>());
        let mut tally = Tally::new(1);
        zoo.observe(stream, &mut tally);
        tally.missed_by_site(0).to_vec()
    };
    for cpu in profile::ALL {
        let intel = cpu.generations.starts_with("Intel");
        let plain = missed(cpu.name, &short, &|_| 1);
        assert_eq!(missed(cpu.name, &long, &length) == plain, intel, "{}", cpu.name);
        assert_eq!(missed(cpu.name, &short, &|_| 0), plain, "{}", cpu.name);
        let mut unknown = Tally::new(1);
        Zoo::new(&[cpu.name]).expect("a profile").observe(&short, &mut unknown);
        assert_eq!(unknown.missed_by_site(0), plain, "{}", cpu.name);
        assert_ne!(missed(cpu.name, &long, &|_| 1), plain, "{}", cpu.name);
    }
}
