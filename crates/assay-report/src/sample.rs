//! Invented pages for the tests of the views: every part filled in, every word of the interface used.

mod builds;
mod cells;
mod contrasts;
mod findings;
mod setting;

pub(super) use builds::builds;
pub(super) use contrasts::{built, contrast, two_speeds, undecided};

use super::answer;
use super::page::*;
use super::plan::{Amount, Estimate, PLAN_SCHEMA, PlanPage};
use assay_pure::compare::Gate;
use cells::{cell, limits, page_cells};
use contrasts::{dependence, page_contrasts};
use findings::{claims, explained, learned_input};
use setting::{campaign, inputs, machine, rotated, variants};
use std::collections::BTreeMap;

/// A page without contrasts, cells and claims: nothing could be measured.
pub(super) fn nothing() -> Page {
    let mut page = Page {
        schema: SCHEMA.to_owned(),
        experiment: "varint".to_owned(),
        question: "Is a table-driven varint decoder faster than one branch per byte?".to_owned(),
        answer: String::new(),
        prediction: Some("The table wins on random lengths, the branch on short values.".to_owned()),
        unit: "varint".to_owned(),
        baseline: "branch".to_owned(),
        variants: Vec::new(),
        flag_sets: Vec::new(),
        machine: machine(),
        campaign: campaign(),
        findings: Vec::new(),
        neighbour: None,
        twin_control: PageTwinControl {
            verdict: TwinVerdict::Undecided,
            ratio: None,
            lower: None,
            upper: None,
            note: Some("The twin control is undecided: it needs at least 4 rotations.".to_owned()),
        },
        warnings: Vec::new(),
        notes: Vec::new(),
        contrasts: Vec::new(),
        cells: Vec::new(),
        layouts: Vec::new(),
        inputs: Vec::new(),
        input_dependence: Vec::new(),
        learned_inputs: Vec::new(),
        branch_cost: None,
        explained: None,
        limits: None,
        gate: None,
        claims: Vec::new(),
        failures: vec![failure(
            FailureKind::Failed,
            "gcc-12 O2",
            "exit status 1: varint.c:3: unknown type name 'uint9_t'",
        )],
    };
    page.answer = answer(&page);
    page
}

fn failure(kind: FailureKind, what: &str, reason: &str) -> PageFailure {
    PageFailure { kind, what: what.to_owned(), reason: reason.to_owned() }
}

/// A page whose one contrast runs at two speeds.
pub(super) fn modes() -> Page {
    let mut page = page();
    page.contrasts = vec![two_speeds()];
    page.answer = answer(&page);
    page
}

/// A rich page: 15 contrasts with every verdict and every word for as built.
pub(super) fn page() -> Page {
    let mut page = Page {
        variants: variants(),
        flag_sets: vec![PageFlagSet {
            name: "O2".to_owned(),
            flags: vec!["-O2".to_owned(), "-ffunction-sections".to_owned()],
        }],
        twin_control: PageTwinControl {
            verdict: TwinVerdict::Equivalent,
            ratio: Some(1.001),
            lower: Some(0.998),
            upper: Some(1.004),
            note: Some("branch equals itself over disjoint rotations: -0.2 to +0.4 %, inside the minimum effect of 1 %".to_owned()),
        },
        notes: vec!["2 rotations lacked usable samples at some placement and were left out (over all contrasts).".to_owned()],
        warnings: vec![
            "A sibling thread was busy beside 8 % of the samples, too many to leave them out: raise --budget, or measure on \
             another core (--cpu N)."
                .to_owned(),
        ],
        contrasts: page_contrasts(),
        cells: page_cells(),
        inputs: inputs().into_iter().take(3).collect(),
        input_dependence: vec![
            dependence("gcc-12", "from -55.2 % on log-uniform to +131.5 % on all-1"),
            dependence("clang-16", "from -56.9 % on log-uniform to +129.7 % on all-1"),
        ],
        learned_inputs: vec![learned_input()],
        branch_cost: Some(BranchCost {
            penalty_ns: 5.3,
            lower: 5.25,
            upper: 5.35,
            learned_outcomes: Some(46_300),
            learned_range: Some([38_100, 46_900]),
            unlearned_outcomes: Some(131_072),
        }),
        explained: Some(explained()),
        claims: claims(),
        failures: vec![
            failure(FailureKind::Failed, "copy, clang-16 O2", "answers differ from branch's on p80"),
            failure(FailureKind::Skipped, "simd", "this processor lacks avx512_vbmi2"),
        ],
        ..nothing()
    };
    for (at, cell) in page.cells.iter_mut().enumerate().filter(|(_, cell)| cell.failed.is_none()) {
        cell.limits = limits(at);
    }
    page.add_throughput();
    page.limits = Some(LimitsUsed { measured: "2026-11-21T07:34:05Z".to_owned(), with_campaign: true });
    page.gate = Some(GateResult::of_campaign(&page, &Gate { slower: 0.02 }.into()));
    page.answer = answer(&page);
    page
}

/// A page whose figures are untrue for two reasons, measured beside a busy neighbour.
pub(super) fn misleading() -> Page {
    let finding = |kind, variant: Option<&str>, saw: &str, remedy: &str| PageFinding {
        kind,
        variant: variant.map(str::to_owned),
        inputs: vec!["all-1".to_owned()],
        saw: saw.to_owned(),
        why: "The compiler may remove code whose result is not used.".to_owned(),
        remedy: remedy.to_owned(),
        figures: BTreeMap::from([("call_ns".to_owned(), 2.1)]),
    };
    let mut page = Page {
        findings: vec![
            finding(
                FindingKind::DeadCode,
                Some("table"),
                "a call takes 2.1 ns on 8,192 bytes and 2.1 ns on 4,096",
                "make the answer depend on every unit",
            ),
            finding(
                FindingKind::Memorised,
                None,
                "branch takes 0.500 ns per varint on it again and again, and 3.00 ns on the first walk after other work",
                "use at least 140,000 varints",
            ),
        ],
        neighbour: Some("A sibling thread was busy beside 48 % of the samples.".to_owned()),
        ..nothing()
    };
    page.answer = answer(&page);
    page
}

/// Three candidates, nine inputs, four compilers: more contrasts than a screen holds.
pub(super) fn many() -> Page {
    let mut page = page();
    page.contrasts.clear();
    let shapes = [
        "all-1",
        "all-5",
        "p80",
        "geometric",
        "by-length",
        "log-uniform",
        "uniform-u32",
        "burst",
        "recorded",
    ];
    for compiler in ["gcc-11", "gcc-12", "clang-16", "clang-19"] {
        for (index, input) in shapes.iter().enumerate() {
            let step = index as f64 / 40.0;
            let table = contrast("table", input, compiler, Verdict::Slower, 1.12 + step);
            page.contrasts.push(built(table, 1.15 + step, AsBuiltSays::Confirmed));
            let (verdict, ratio) =
                if index < 3 { (Verdict::Slower, 1.3 - step) } else { (Verdict::Faster, 0.8 - step) };
            page.contrasts.push(built(
                contrast("bmi2", input, compiler, verdict, ratio),
                ratio,
                AsBuiltSays::Confirmed,
            ));
            let copy = contrast("copy", input, compiler, Verdict::Equivalent, 1.002);
            let says = if index % 4 == 0 {
                (1.134 + step, AsBuiltSays::Ghost)
            } else {
                (1.001, AsBuiltSays::Confirmed)
            };
            page.contrasts.push(built(copy, says.0, says.1));
        }
    }
    page.answer = answer(&page);
    page
}

/// A plan with every part filled in.
pub(super) fn plan() -> PlanPage {
    let page = page();
    PlanPage {
        schema: PLAN_SCHEMA.to_owned(),
        experiment: page.experiment,
        question: page.question,
        prediction: page.prediction,
        unit: page.unit,
        baseline: page.baseline,
        variants: page.variants,
        inputs: rotated(inputs()),
        compilers: page.machine.compilers,
        flag_sets: page.flag_sets,
        phases: vec![0, 16, 32, 48],
        rotations: 4,
        max_rotations: 16,
        cells: 32,
        contrasts: 24,
        along: vec![Axis::Variant, Axis::Compiler],
        skipped: vec![failure(FailureKind::Skipped, "simd", "this processor lacks avx512_vbmi2")],
        compiles: Amount { total: 10, cached: 0 },
        links: Amount { total: 34, cached: 30 },
        processes: 136,
        answers: 544,
        budget_seconds: 60.0,
        estimate: Estimate {
            build_seconds: 2.1,
            answers_seconds: 3.4,
            first_look_seconds: 14.0,
            measuring_seconds: 60.0,
        },
        seed: 42,
    }
}

/// One input in every use, with some contrasts; the cells' times are invented.
pub(super) fn in_uses(contrasts: &[PageContrast]) -> Page {
    let plain = inputs().into_iter().find(|input| input.name == "p80").expect("the sample has it");
    let used = |suffix: &str, state: CacheState, measure: Measure, copies: Option<u64>| PageInput {
        name: format!("p80{suffix}"),
        state,
        measure,
        copies,
        of: (!suffix.is_empty()).then(|| "p80".into()),
        ..plain.clone()
    };
    let inputs = vec![
        used("", CacheState::Hot, Measure::Throughput, None),
        used("@latency", CacheState::Hot, Measure::Latency, None),
        used("@rotating", CacheState::Rotating, Measure::Throughput, Some(65)),
        used("@cold-data", CacheState::ColdData, Measure::Throughput, None),
        used("@cold-data,latency", CacheState::ColdData, Measure::Latency, None),
        used("@cold-code", CacheState::ColdCode, Measure::Throughput, None),
    ];
    let mut cells = Vec::new();
    for (input, factor) in inputs.iter().zip([1.0, 2.4, 1.1, 14.6, 131.0, 1204.0]) {
        for (variant, ns) in [("branch", 0.71), ("bmi2", 0.48)] {
            cells.push(cell(variant, &input.name, "gcc-12", [ns * factor; 4]));
        }
    }
    cells[7].failed = Some(Failed { reason: "a loop takes its input itself".into() });
    cells[7].ns_per_unit = None;
    let mut page = Page { variants: variants(), inputs, cells, contrasts: contrasts.to_vec(), ..nothing() };
    page.answer = answer(&page);
    page
}
