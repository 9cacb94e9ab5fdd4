//! An invented machine, every key filled in, for tests of the schema and of the terminal.

use assay_pure::limits::{
    ChaseCurve, ClockBehaviour, Cost, CurvePoint, DataCache, LimitFigure, Limits, MeasuredMachine,
    MemorisedOutcomes, Moved, PageSize, SCHEMA, cost, levels,
};

fn figure(median: f64) -> LimitFigure {
    LimitFigure { median, lower: 0.98 * median, upper: 1.03 * median, repeats: 31 }
}

fn points(values: [f64; 6]) -> Vec<CurvePoint> {
    let sizes = [8 << 10, 24 << 10, 256 << 10, 768 << 10, 8 << 20, 128 << 20];
    sizes.into_iter().zip(values).map(|(bytes, value)| CurvePoint { bytes, figure: figure(value) }).collect()
}

fn moved(operation: &str, by: &str, values: [f64; 6]) -> Moved {
    Moved { operation: operation.to_owned(), by: by.to_owned(), points: points(values) }
}

/// Figures like those of a Zen 4 guest.
pub fn limits() -> Limits {
    let costs = [
        (cost::INSTRUCTION, 0.0453, "the fastest of 12 loops: cmp with jne, mov"),
        (cost::ADD, 0.068, "add: 6 chains side by side"),
        (cost::MULTIPLY, 0.815, "imul: each needs the one before"),
        (cost::TAKEN, 0.272, "jmp: each to the next 16 bytes"),
        (cost::CALL, 1.09, "call, add, ret: to one function of one addition"),
        (cost::MISPREDICTION, 5.41, "random outcomes of a branch against learned ones"),
        (cost::SYSTEM_CALL, 71.3, "getppid, by the system's own entry"),
        (cost::PAGE_FAULT, 612.0, "the first write to each of 64 fresh small pages"),
        (cost::SWITCH, 1432.0, "a byte through a pipe to another thread on the same processor"),
    ];
    let costs =
        costs.map(|(name, ns, how)| Cost { name: name.to_owned(), ns: figure(ns), how: how.to_owned() });
    let bandwidth = vec![
        moved("read", "8-byte", [84.0, 85.0, 80.0, 79.0, 48.0, 19.0]),
        moved("read", "64-byte", [230.0, 231.0, 96.0, 95.0, 51.0, 18.8]),
        moved("write", "64-byte", [117.0, 117.5, 60.0, 58.0, 33.0, 9.8]),
        moved("write", "non-temporal", [20.0, 20.1, 20.0, 20.2, 20.0, 20.3]),
        moved("copy", "library", [105.0, 106.0, 57.0, 55.0, 22.0, 11.9]),
    ];
    let latency = vec![
        ChaseCurve { pages: PageSize::Small, points: points([1.09, 1.09, 3.8, 4.4, 18.0, 122.0]) },
        ChaseCurve { pages: PageSize::Huge, points: points([1.09, 1.09, 3.8, 3.9, 14.2, 97.0]) },
    ];
    let caches = [("L1", 32 << 10), ("L2", 1 << 20), ("L3", 32 << 20)];
    let caches = caches.map(|(name, bytes)| DataCache { name: name.to_owned(), bytes });
    Limits {
        schema: SCHEMA.to_owned(),
        assay: "0.1.0".to_owned(),
        machine: MeasuredMachine {
            cpu: "AMD EPYC".to_owned(),
            cpu_id: "AuthenticAMD 25 17".to_owned(),
            microcode: Some("0x1".to_owned()),
            virtual_machine: true,
            caches: ["L1d 32K", "L1i 32K", "L2 1024K", "L3 32768K"].map(str::to_owned).to_vec(),
            kernel: "6.1.0-28-amd64".to_owned(),
            governor: Some("performance".to_owned()),
        },
        measured_at: 1_795_246_445.0,
        took_seconds: 31.4,
        quick: false,
        cpu: 1,
        windows: 14_210,
        interrupted: 341,
        shared: 412,
        width: Some(4.01),
        notes: vec![
            "This is a guest: what the hypervisor takes away is seen by no clock here.".to_owned(),
            "One core at a time: with others busy it gets less of the last cache and of the memory."
                .to_owned(),
        ],
        clock: Some(ClockBehaviour {
            cycle_ns: figure(0.2717),
            first_ns: Some(0.2731),
            fastest_ns: 0.2712,
            slowest_ns: 0.2744,
        }),
        levels: levels(&caches, &bandwidth, &latency),
        costs: costs.to_vec(),
        predictor_memory: Some(MemorisedOutcomes {
            outcomes: Some(16_600),
            lower: Some(16_100),
            upper: Some(16_800),
            unknown_from: Some(131_000),
            sweeps: 3,
        }),
        bandwidth,
        latency,
    }
}

/// An architecture without loops and a kernel that tells no caches, looked at quickly.
pub fn little() -> Limits {
    let bandwidth = vec![moved("copy", "library", [20.0; 6])];
    Limits {
        quick: true,
        notes: vec!["No loops are written for riscv64: instructions were not timed.".to_owned()],
        clock: None,
        levels: levels(&[], &bandwidth, &[]),
        costs: Vec::new(),
        predictor_memory: None,
        bandwidth,
        latency: Vec::new(),
        ..limits()
    }
}
