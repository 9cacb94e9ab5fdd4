//! Where the sample pages were measured, and what: machine, campaign, variants, inputs.

use crate::page::*;

fn compilers() -> Vec<PageCompiler> {
    let compiler = |name: &str, version: &str, digit: &str| PageCompiler {
        name: name.to_owned(),
        version: version.to_owned(),
        target: "x86_64-linux-gnu".to_owned(),
        sha256: digit.repeat(64),
    };
    vec![compiler("gcc-12", "12.2.0", "a"), compiler("clang-16", "16.0.6", "b")]
}

pub(crate) fn machine() -> PageMachine {
    PageMachine {
        cpu: "AMD EPYC 9R14".to_owned(),
        kernel: "Linux 6.1.0-13-amd64".to_owned(),
        cores: 2,
        pinned_cpu: Some(1),
        compilers: compilers(),
        clock: Clock::ThreadCpu,
        timer: TimerCosts {
            wall_read_ns: Some(23.1),
            cpu_read_ns: Some(560.2),
            region_wall_ns: Some(23.4),
            region_cpu_ns: Some(584.0),
        },
        facts: [("hypervisor".to_owned(), "KVM".to_owned())].into(),
    }
}

pub(crate) fn campaign() -> CampaignRun {
    CampaignRun {
        id: "7".to_owned(),
        started: "2026-11-21T08:00:00Z".to_owned(),
        elapsed_seconds: 74.2,
        measured_seconds: 41.6,
        waited_seconds: 0.0,
        rounds: 36,
        rotations: 8,
        samples: 34_560,
        flagged_samples: 412,
        budget_seconds: 60.0,
        stopped_because: Stopped::Rotations,
        minimum_effect: 0.01,
        confidence: 0.95,
        seed: 42,
        ledger: Some(".assay/ledger.db".to_owned()),
    }
}

pub(crate) fn variants() -> Vec<PageVariant> {
    let variant = |name: &str, about: Option<&str>| PageVariant {
        name: name.to_owned(),
        description: about.map(str::to_owned),
    };
    vec![
        variant("branch", Some("one branch per byte")),
        variant("table", Some("256-entry table of value and continuation")),
        variant("copy", None),
        variant("bmi2", Some("branchless, parallel bit extract")),
    ]
}

pub(crate) fn inputs() -> Vec<PageInput> {
    let input = |name: &str, bytes: u64, units: u64, recipe: &str, summary: Option<&str>| PageInput {
        name: name.to_owned(),
        digest: "0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a69788796a5b4c3d2e1f0".to_owned(),
        bytes,
        units,
        summary: summary.map(str::to_owned),
        recipe: Some(recipe.to_owned()),
        description: serde_json::json!({ "bytes": bytes, "units": units }),
        state: CacheState::Hot,
        measure: Measure::Throughput,
        copies: None,
        of: None,
    };
    vec![
        input(
            "all-1",
            1_000_000,
            1_000_000,
            "constant length 1, seed 42",
            Some("best case: every value is one byte"),
        ),
        input(
            "p80",
            1_230_114,
            1_000_000,
            "lengths 80/18/2, seed 42",
            Some("80 % one byte, 18 % two, 2 % more"),
        ),
        input("log-uniform", 2_758_003, 1_000_000, "log-uniform 0 to 32 bits, seed 42", None),
        input("recorded", 104_857_600, 51_200_317, "package-deltas.bin", Some("deltas of a package index")),
    ]
}

/// The last of some inputs in another use.
pub(crate) fn rotated(mut inputs: Vec<PageInput>) -> Vec<PageInput> {
    let last = inputs.last_mut().expect("the sample has inputs");
    last.state = CacheState::Rotating;
    last.copies = Some(65);
    last.of = Some("p80".into());
    inputs
}
