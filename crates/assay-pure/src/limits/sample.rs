//! An invented machine of round figures, for tests.

use super::levels::CurvePoint;
use super::{
    ChaseCurve, ClockBehaviour, Cost, LimitFigure, Limits, MeasuredMachine, MemoryLevel, Moved, PageSize,
    Rate, SCHEMA, cost,
};

pub fn figure(median: f64) -> LimitFigure {
    LimitFigure { median, lower: 0.9 * median, upper: 1.1 * median, repeats: 31 }
}

pub fn machine() -> MeasuredMachine {
    MeasuredMachine {
        cpu: "AMD EPYC".to_owned(),
        cpu_id: "AuthenticAMD 25 17".to_owned(),
        microcode: Some("0xa".to_owned()),
        virtual_machine: true,
        caches: ["L1d 32K", "L1i 32K", "L2 1024K"].map(str::to_owned).to_vec(),
        kernel: "6.1".to_owned(),
        governor: None,
    }
}

fn points(values: [f64; 3]) -> Vec<CurvePoint> {
    let sizes = [16 << 10, 512 << 10, 64 << 20];
    sizes.into_iter().zip(values).map(|(bytes, value)| CurvePoint { bytes, figure: figure(value) }).collect()
}

fn level(name: &str, bytes: Option<u64>, at: usize) -> MemoryLevel {
    let rate = |value: f64| Some(Rate { bytes_per_ns: figure(value), by: "64-byte".to_owned() });
    MemoryLevel {
        name: name.to_owned(),
        bytes,
        read: rate([200.0, 100.0, 20.0][at]),
        write: rate([100.0, 50.0, 10.0][at]),
        copy: rate([80.0, 40.0, 8.0][at]),
        latency_ns: Some(figure([1.0, 4.0, 100.0][at])),
        latency_huge_ns: None,
        ends_at_bytes: bytes,
    }
}

/// A cycle of 0.25 ns, 5 instructions in it, a penalty of 5 ns.
pub fn limits() -> Limits {
    let costs =
        [(cost::INSTRUCTION, 0.05), (cost::MISPREDICTION, 5.0), (cost::UNTAKEN, 0.125), (cost::TAKEN, 0.25)];
    let moved = |operation: &str, values| Moved {
        operation: operation.to_owned(),
        by: "64-byte".to_owned(),
        points: points(values),
    };
    Limits {
        schema: SCHEMA.to_owned(),
        assay: "0.1.0".to_owned(),
        machine: machine(),
        measured_at: 1_795_246_445.0,
        took_seconds: 41.0,
        quick: false,
        cpu: 1,
        windows: 1000,
        interrupted: 20,
        shared: 30,
        width: Some(3.9),
        notes: vec!["A guest.".to_owned()],
        clock: Some(ClockBehaviour {
            cycle_ns: figure(0.25),
            first_ns: Some(0.5),
            fastest_ns: 0.25,
            slowest_ns: 0.27,
        }),
        levels: vec![level("L1", Some(32 << 10), 0), level("L2", Some(1 << 20), 1), level("memory", None, 2)],
        costs: costs
            .map(|(name, ns)| Cost { name: name.to_owned(), ns: figure(ns), how: "a loop".to_owned() })
            .to_vec(),
        predictor_memory: None,
        bandwidth: vec![
            Moved { by: "8-byte".to_owned(), ..moved("read", [40.0, 40.0, 20.0]) },
            moved("read", [200.0, 100.0, 20.0]),
            moved("write", [100.0, 50.0, 10.0]),
            moved("copy", [80.0, 40.0, 8.0]),
        ],
        latency: vec![ChaseCurve { pages: PageSize::Small, points: points([1.0, 4.0, 100.0]) }],
    }
}
