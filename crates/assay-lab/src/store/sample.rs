//! Rows for tests.

use super::Ledger;
use super::rows::{ArtifactRow, NewCampaign, NewSample, ProcessRow, SampleRow};
use assay_pure::ledger::Flag;
use assay_pure::pulse::Pulse;

/// A campaign of nothing.
pub fn begin(ledger: &Ledger) -> i64 {
    let nothing = serde_json::json!({});
    let new = NewCampaign {
        experiment: "e",
        question: "",
        experiment_text: "",
        spec: &nothing,
        machine: &nothing,
        pinned_cpu: None,
        sources: None,
    };
    ledger.begin(&new).expect("a new campaign")
}

/// A process of a variant at a phase of a rotation, or as built.
pub fn process(variant: &str, placed: Option<(u32, u32)>) -> ProcessRow {
    ProcessRow {
        id: 0,
        artifact: "a".into(),
        compiler: "gcc".into(),
        flags: "O2".into(),
        variant: variant.into(),
        rotation: placed.map(|(rotation, _)| rotation),
        phase_bytes: placed.map(|(_, phase)| phase),
        entry_address: 0,
        environment_bytes: 0,
        region_wall_ns: 0.0,
        region_cpu_ns: 0.0,
        wall_read_ns: 0.0,
        cpu_read_ns: 0.0,
    }
}

/// The artifact of [`process`].
pub fn artifact() -> ArtifactRow {
    let nothing = || serde_json::json!([]);
    ArtifactRow {
        hash: "a".into(),
        compiler: nothing(),
        flags: nothing(),
        link: nothing(),
        command: nothing(),
        functions: nothing(),
        text_bytes: 0,
    }
}

/// A sample of 100 ns a unit, on an unshared core.
pub fn of(process: i64, flagged: Option<Flag>) -> SampleRow {
    let pulse = Pulse { chain_ns: 561, wide_ns: 911, jumps_ns: Some(310) };
    SampleRow {
        round: 0,
        process,
        input: "bytes".into(),
        position: 0,
        warmup: false,
        wall_ns: 1000,
        cpu_ns: 1000,
        units: 10,
        pulses: Some([pulse; 2]),
        flagged,
    }
}

/// [`of`], as it is kept.
pub fn new(taken: SampleRow) -> NewSample {
    NewSample { taken, start_window: 0, switches: 0, at: 0.0 }
}
