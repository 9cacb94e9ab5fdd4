//! Pages for tests: two revisions with every kind of verdict, one build alone, two commands.

use super::page::*;
use crate::page::GateResult;
use crate::page::{
    AsBuiltSays, Cause, CauseEvidence, PageTwinControl, RatioInterval, Stopped, TwinVerdict, Verdict,
};
use assay_pure::placement::same_loops::SharedLoop;

fn effect(ratio: f64, half: f64) -> Option<RatioInterval> {
    Some(RatioInterval { ratio, lower: ratio - half, upper: ratio + half })
}

fn level(ns: f64) -> SideFigure {
    SideFigure { median: ns, as_built: Some(ns * 1.04), best: ns * 0.97, worst: ns * 1.19 }
}

fn compared(
    benchmark: &str,
    ns: f64,
    as_built: f64,
    code: f64,
    verdict: Verdict,
    says: AsBuiltSays,
) -> Compared {
    Compared {
        benchmark: benchmark.into(),
        unit: "ns".into(),
        baseline: level(ns),
        candidate: Some(level(ns * code)),
        as_built: effect(as_built, 0.004),
        code: effect(code, 0.006),
        placement_ratio: Some(as_built / code),
        u_test_p: Some(if (as_built - 1.0).abs() > 0.01 { 0.0004 } else { 0.31 }),
        verdict: Some(verdict),
        proven: false,
        as_built_says: Some(says),
        causes: vec![],
        modes: None,
        reasons: vec![format!("Over 8 rotations (32 placements) HEAD takes {:+.1} %.", (code - 1.0) * 100.0)],
        rotations: 8,
        minimum_detectable_effect: Some(0.02),
        seconds_to_decide: None,
        functions: vec![],
        executed_functions: Some(12),
        code_unknown: None,
    }
}

fn cause(cause: Cause, share: Option<f64>, evidence: &str) -> CauseEvidence {
    CauseEvidence { cause, share, evidence: evidence.into() }
}

fn function(
    name: &str,
    change: ExecutedChange,
    before: Option<f64>,
    after: Option<f64>,
    same: Option<bool>,
) -> DifferingFunction {
    DifferingFunction {
        name: name.into(),
        change,
        baseline_instructions: before,
        candidate_instructions: after,
        per: InstructionsPer::Iteration,
        share: Some(0.125),
        same_source: same,
        loops: vec![],
        begins: None,
    }
}

/// Every verdict.
fn benchmarks() -> Vec<Compared> {
    let mut slower = compared("BM_crc32/4096", 812.0, 1.162, 1.051, Verdict::Slower, AsBuiltSays::Inflated);
    slower.causes = vec![
        cause(Cause::Placement, Some(0.67), "as built +16.2 %, of which the link adds +10.6 %"),
        cause(
            Cause::Work,
            None,
            "crc32 executes 1,076 instructions per iteration, previously 1,024 (+5.1 %); 61 % of all",
        ),
    ];
    slower.functions = vec![
        function("crc32", ExecutedChange::Changed, Some(1024.0), Some(1076.0), Some(false)),
        function("std::vector<int>::push_back(int&&)", ExecutedChange::OnlyCandidate, None, Some(14.5), None),
    ];
    let mut faster =
        compared("BM_sort<int>", 10_250.0, 0.951, 0.949, Verdict::Faster, AsBuiltSays::Confirmed);
    let sort = function("sort_small", ExecutedChange::Changed, Some(80.2), Some(71.0), Some(true));
    let begins = Some(SourceLocation { file: "/src/sort.cc".into(), line: 41 });
    faster.functions = vec![DifferingFunction { begins, ..sort }];
    faster.causes =
        vec![cause(Cause::CodegenDrift, None, "the machine code of sort_small changed, but not its source")];
    let mut ghost = compared("BM_parse", 56.2, 1.206, 1.004, Verdict::Equivalent, AsBuiltSays::Ghost);
    ghost.causes = vec![
        cause(Cause::Placement, Some(0.98), "as built +20.6 %, of which the link adds +20.1 %"),
        cause(Cause::IdenticalCode, None, "all 12 functions that it executes are the same machine code"),
    ];
    let mut open = compared("BM_hash", 3.2, 0.98, 1.013, Verdict::Undecided, AsBuiltSays::Masked);
    open.as_built_says = None;
    open.minimum_detectable_effect = Some(0.031);
    open.seconds_to_decide = Some(412.7);
    open.executed_functions = None;
    open.code_unknown = Some("the emulator lacks its instruction vpternlogd".into());
    open.functions = vec![
        function("hash_block", ExecutedChange::Unknown, None, None, None),
        function("hash_old", ExecutedChange::OnlyBaseline, Some(31.0), None, None),
    ];
    let calm = compared("BM_copy", 7.9, 1.002, 1.001, Verdict::Equivalent, AsBuiltSays::Confirmed);
    vec![calm, faster, ghost, open, slower]
}

fn factors() -> Factors {
    Factors {
            sentence: "Share of the variance in the median benchmark: placement 71 %, rest 15 %, process 10 %, side 3 %, round 1 %.".into(),
            rows: ["side", "placement", "process", "round", "rest"]
                .into_iter()
                .zip([0.03, 0.71, 0.1, 0.01, 0.15])
                .map(|(factor, share)| Factor {
                    benchmark: "BM_parse".into(),
                    factor: factor.into(),
                    share,
                    lower: Some(share / 2.0),
                    upper: (factor != "rest").then_some((share * 1.5).min(1.0)),
                    deviation: share / 10.0,
                })
                .collect(),
        }
}

/// Two revisions; every verdict, gate failed, something on one side only.
pub fn two() -> ComparePage {
    finish(ComparePage {
        schema: COMPARE_SCHEMA.into(),
        comparison: 3,
        answer: String::new(),
        build: Some("cmake -B build && cmake --build build".into()),
        bench: vec!["build/suite".into()],
        adapter: "Google Benchmark, CPU time per iteration".into(),
        method: Method::Placements,
        sides: vec![built("main", Some("4f2d1c"), 40_960), built("HEAD", None, 41_216)],
        twin_control: PageTwinControl {
            verdict: TwinVerdict::Equivalent,
            ratio: Some(1.001),
            lower: Some(0.994),
            upper: Some(1.008),
            note: Some("The baseline equals itself.".into()),
        },
        memory: Some(PeakMemory {
            baseline_bytes: 48 << 20,
            candidate_bytes: Some(61 << 20),
            change: effect(61.0 / 48.0, 0.004),
            differs: true,
        }),
        benchmarks: benchmarks(),
        one_sided: vec![OneSided { benchmark: "BM_new".into(), only_in: "HEAD".into() }],
        spoilt: vec![SpoiltVisits {
            side: "HEAD".into(),
            reason: "the command ended with signal 11".into(),
            visits: 2,
        }],
        notes: vec![
            "1 rotation lacked usable samples at some placement and was left out (over all contrasts)."
                .into(),
        ],
        warnings: vec!["the working tree has changes that are in neither revision".into()],
        limits: vec![],
        gate: Some(GateResult {
            gate: "slower:2%".into(),
            passed: false,
            failed: vec!["BM_crc32/4096".into()],
            undecided: vec![],
            unmatched: Vec::new(),
        }),
        factors: Some(factors()),
        measured: measured(),
    })
}

/// Two builds, of which both run at two speeds in one benchmark, and one in another.
pub fn modes() -> ComparePage {
    let mut page = two();
    for found in &mut page.benchmarks {
        if let Some(function) = found.functions.iter_mut().find(|function| function.name == "crc32") {
            function.loops = vec![SharedLoop { first: 24, second: 37, instructions: 9 }];
        }
        let Some(mut modes) = crate::sample::two_speeds().modes else { continue };
        (modes.baseline.offsets, modes.candidate.offsets) = (vec![], vec![]);
        if found.benchmark == "BM_hash" {
            (modes.baseline.slow, modes.baseline.slow_share, modes.slow) = (None, 0.0, None);
        }
        found.modes = Some(modes).filter(|_| ["BM_hash", "BM_parse"].contains(&found.benchmark.as_str()));
    }
    finish(page)
}

/// One build against its own placements.
pub fn one() -> ComparePage {
    let mut page = two();
    page.sides.truncate(1);
    page.benchmarks.retain(|found| found.benchmark != "BM_hash");
    for found in &mut page.benchmarks {
        *found = Compared {
            candidate: None,
            as_built: None,
            code: None,
            placement_ratio: None,
            u_test_p: None,
            verdict: None,
            as_built_says: None,
            causes: vec![],
            modes: None,
            reasons: vec![],
            functions: vec![],
            rotations: 0,
            minimum_detectable_effect: None,
            seconds_to_decide: None,
            ..found.clone()
        };
    }
    page.benchmarks[0].baseline.worst *= 1.3;
    page.memory =
        Some(PeakMemory { baseline_bytes: 48 << 20, candidate_bytes: None, change: None, differs: false });
    (page.gate, page.factors, page.one_sided, page.spoilt, page.warnings) =
        (None, None, vec![], vec![], vec![]);
    finish(page)
}

/// Two commands, whose binaries cannot be relinked.
pub fn commands() -> ComparePage {
    let mut page = two();
    page.method = Method::Surroundings;
    page.build = None;
    page.bench = vec!["./old".into(), "./new".into()];
    page.sides = vec![built("./old", None, 0), built("./new", None, 0)];
    for side in &mut page.sides {
        (side.links, side.text_bytes) = (vec![], None);
    }
    page.benchmarks.truncate(1);
    page.benchmarks[0].as_built = None;
    page.benchmarks[0].as_built_says = None;
    page.limits = vec!["a change of the code from a change of where it was linked".into()];
    (page.gate, page.factors, page.one_sided, page.spoilt, page.warnings) =
        (None, None, vec![], vec![], vec![]);
    page.measured.rotations = 0;
    page.measured.pinned_cpu = None;
    page.measured.ledger = None;
    finish(page)
}

fn built(name: &str, revision: Option<&str>, text: u64) -> BuiltSide {
    BuiltSide {
        name: name.into(),
        revision: revision.map(Into::into),
        links: vec!["build/suite".into()],
        text_bytes: Some(text),
    }
}

fn measured() -> ComparisonRun {
    ComparisonRun {
        cpu: "AMD EPYC 9654".into(),
        pinned_cpu: Some(1),
        started: "2026-11-21T14:00:00Z".into(),
        seconds: 171.4,
        rounds: 3,
        rotations: 8,
        visits: 198,
        stopped_because: Stopped::Rotations,
        minimum_effect: 0.02,
        confidence: 0.95,
        seed: 42,
        ledger: Some(".assay/ledger.db".into()),
    }
}

fn finish(mut page: ComparePage) -> ComparePage {
    page.answer = super::answer(&page);
    page
}
