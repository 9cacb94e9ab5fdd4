//! Invented pages for the tests of the views: every part filled in, every word of the interface used.

use super::answer;
use super::page::{
    AsBuiltSays, AtOffset, BranchCost, Campaign, Cause, CauseKind, Cell, Claim, ClaimStatus, Compiler,
    Contrast, Count, CountSource, Effect, Explained, Failed, Failure, FailureKind, FlagSet, Flips, Input,
    InputDependence, LearnedInput, Machine, Page, Reached, Residual, SCHEMA, Spread, StoppedBecause, Timer,
    TwinControl, TwinVerdict, Variant, Verdict,
};
use super::plan::{Amount, Estimate, PLAN_SCHEMA, PlanPage};

/// A contrast with a tight interval; `as_built` 0 leaves the plain link out.
pub(super) fn contrast(
    candidate: &str,
    input: &str,
    compiler: &str,
    verdict: Verdict,
    code: f64,
) -> Contrast {
    Contrast {
        candidate: candidate.to_owned(),
        baseline: "branch".to_owned(),
        input: input.to_owned(),
        compiler: compiler.to_owned(),
        flags: "O2".to_owned(),
        as_built: None,
        code: Some(Effect { ratio: code, lower: code - 0.005, upper: code + 0.005 }),
        placement_ratio: None,
        verdict,
        as_built_says: None,
        causes: Vec::new(),
        reasons: Vec::new(),
        rotations: 8,
        rotations_needed: None,
        seconds_needed: None,
        minimum_detectable_effect: Some(0.006),
    }
}

/// The same with what one plain link shows.
pub(super) fn built(mut contrast: Contrast, ratio: f64, says: AsBuiltSays) -> Contrast {
    contrast.as_built = Some(Effect { ratio, lower: ratio - 0.002, upper: ratio + 0.002 });
    contrast.placement_ratio = contrast.code.map(|code| ratio / code.ratio);
    contrast.as_built_says = Some(says);
    contrast
}

/// An undecided contrast that four rotations and `rotations` more would decide.
pub(super) fn undecided(mut contrast: Contrast, rotations: u32, seconds: f64) -> Contrast {
    contrast.code =
        contrast.code.map(|code| Effect { lower: code.ratio - 0.021, upper: code.ratio + 0.021, ..code });
    contrast.verdict = Verdict::Inconclusive;
    contrast.rotations = 4;
    contrast.rotations_needed = Some(4 + rotations);
    contrast.seconds_needed = Some(seconds);
    contrast.minimum_detectable_effect = Some(0.021);
    contrast
}

fn cause(cause: CauseKind, share: Option<f64>, evidence: &str) -> Cause {
    Cause { cause, share, evidence: evidence.to_owned() }
}

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
        twin_control: TwinControl {
            verdict: TwinVerdict::Undecided,
            ratio: None,
            lower: None,
            upper: None,
            note: Some("The twin control is undecided: it needs at least 4 rotations.".to_owned()),
        },
        warnings: Vec::new(),
        contrasts: Vec::new(),
        cells: Vec::new(),
        inputs: Vec::new(),
        input_dependence: Vec::new(),
        learned_inputs: Vec::new(),
        branch_cost: None,
        explained: None,
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

fn failure(kind: FailureKind, what: &str, reason: &str) -> Failure {
    Failure { kind, what: what.to_owned(), reason: reason.to_owned() }
}

fn compilers() -> Vec<Compiler> {
    let compiler = |name: &str, version: &str, digit: &str| Compiler {
        name: name.to_owned(),
        version: version.to_owned(),
        target: "x86_64-linux-gnu".to_owned(),
        sha256: digit.repeat(64),
    };
    vec![compiler("gcc-12", "12.2.0", "a"), compiler("clang-16", "16.0.6", "b")]
}

fn machine() -> Machine {
    Machine {
        cpu: "AMD EPYC 9R14".to_owned(),
        kernel: "Linux 6.1.0-13-amd64".to_owned(),
        cores: 2,
        pinned_cpu: Some(1),
        compilers: compilers(),
        clock: "thread_cpu".to_owned(),
        timer: Timer {
            wall_read_ns: Some(23.1),
            cpu_read_ns: Some(560.2),
            region_wall_ns: Some(23.4),
            region_cpu_ns: Some(584.0),
        },
        facts: [("hypervisor".to_owned(), "KVM".to_owned())].into(),
    }
}

fn campaign() -> Campaign {
    Campaign {
        id: "7".to_owned(),
        started: "2026-11-21T08:00:00Z".to_owned(),
        elapsed_seconds: 74.2,
        measured_seconds: 41.6,
        rounds: 36,
        rotations: 8,
        samples: 34_560,
        flagged_samples: 412,
        budget_seconds: 60.0,
        stopped_because: StoppedBecause::RotationsSpent,
        minimum_effect: 0.01,
        confidence: 0.95,
        seed: 42,
        ledger: Some(".assay/ledger.db".to_owned()),
    }
}

fn variants() -> Vec<Variant> {
    let variant = |name: &str, about: Option<&str>| Variant {
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

fn inputs() -> Vec<Input> {
    let input = |name: &str, bytes: u64, units: u64, recipe: &str, summary: Option<&str>| Input {
        name: name.to_owned(),
        digest: "0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a69788796a5b4c3d2e1f0".to_owned(),
        bytes,
        units,
        summary: summary.map(str::to_owned),
        recipe: Some(recipe.to_owned()),
        description: serde_json::json!({ "bytes": bytes, "units": units }),
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

fn page_contrasts() -> Vec<Contrast> {
    use AsBuiltSays::{Confirmed, Deflated, Ghost, Inflated, Masked, Reversed};
    use Verdict::{Equivalent, Faster, Slower};
    let mut ghost = built(contrast("copy", "p80", "gcc-12", Equivalent, 1.004), 1.206, Ghost);
    ghost.causes = vec![
        cause(
            CauseKind::IdenticalCode,
            None,
            "both functions are the same 47 bytes of machine code after relocation",
        ),
        cause(
            CauseKind::Placement,
            Some(0.98),
            "as built, branch starts at offset 0 (0.713 ns) and copy at 16 (0.872 ns)",
        ),
    ];
    ghost.reasons = vec!["the interval of the code effect lies within ±1 %".to_owned()];
    let mut reversed = built(contrast("table", "all-1", "gcc-12", Slower, 1.212), 0.931, Reversed);
    reversed.causes =
        vec![cause(CauseKind::Placement, None, "as built, branch starts at its slowest offset, 48")];
    let mut slower = built(contrast("table", "log-uniform", "gcc-12", Slower, 1.382), 1.361, Confirmed);
    slower.causes = vec![cause(CauseKind::Work, Some(0.9), "5 more instructions per byte")];
    slower.reasons =
        vec!["the interval of the code effect excludes 0 and the estimate is beyond 1 %".to_owned()];
    let mut open =
        built(undecided(contrast("bmi2", "p80", "clang-16", Faster, 0.987), 12, 8.4), 0.972, Confirmed);
    open.as_built_says = None;
    open.reasons = vec!["the interval of the code effect reaches from -3.4 to +0.8 %".to_owned()];
    vec![
        reversed,
        built(contrast("table", "p80", "gcc-12", Slower, 1.121), 1.214, Inflated),
        slower,
        built(contrast("copy", "all-1", "gcc-12", Equivalent, 0.9993), 1.003, Confirmed),
        ghost,
        built(contrast("copy", "log-uniform", "gcc-12", Equivalent, 1.001), 0.998, Confirmed),
        built(contrast("bmi2", "all-1", "gcc-12", Slower, 2.315), 2.294, Confirmed),
        built(contrast("bmi2", "p80", "gcc-12", Faster, 0.908), 0.991, Masked),
        built(contrast("bmi2", "log-uniform", "gcc-12", Faster, 0.448), 0.441, Confirmed),
        built(contrast("table", "all-1", "clang-16", Slower, 1.201), 1.043, Deflated),
        contrast("table", "p80", "clang-16", Slower, 1.154),
        contrast("table", "log-uniform", "clang-16", Slower, 1.209),
        contrast("bmi2", "all-1", "clang-16", Slower, 2.297),
        open,
        contrast("bmi2", "log-uniform", "clang-16", Faster, 0.431),
    ]
}

fn cell(variant: &str, input: &str, compiler: &str, at: [f64; 4]) -> Cell {
    let mean = at.iter().sum::<f64>() / 4.0;
    let offsets = [0, 16, 32, 48];
    Cell {
        variant: variant.to_owned(),
        input: input.to_owned(),
        compiler: compiler.to_owned(),
        flags: "O2".to_owned(),
        ns_per_unit: Some(Spread { median: mean, lower: mean * 0.996, upper: mean * 1.003 }),
        by_offset: offsets
            .iter()
            .zip(at)
            .map(|(&offset, ns_per_unit)| AtOffset { offset, ns_per_unit })
            .collect(),
        reached: Reached { offsets: offsets.to_vec(), note: None },
        as_built_ns: Some(at[1]),
        per_unit: [
            ("instructions".to_owned(), count(11.25, CountSource::Counted)),
            ("branches".to_owned(), count(2.38, CountSource::Counted)),
            (
                "branch-misses".to_owned(),
                Count {
                    lower: Some(0.23),
                    upper: Some(0.31),
                    predictor: Some("tage-sc-l-64k".to_owned()),
                    ..count(0.23, CountSource::Traced)
                },
            ),
        ]
        .into(),
        uncounted: None,
        count_note: None,
        failed: None,
    }
}

fn count(value: f64, source: CountSource) -> Count {
    Count { value, source, lower: None, upper: None, predictor: None }
}

fn page_cells() -> Vec<Cell> {
    let mut cells = Vec::new();
    for compiler in ["gcc-12", "clang-16"] {
        // Placement matters most on p80, next on all-1; clang's code moves less.
        let damping = if compiler == "gcc-12" { 1.0 } else { 0.6 };
        for (input, scale, moves) in [("all-1", 1.0, 0.7), ("p80", 2.1, 1.0), ("log-uniform", 7.86, 0.1)] {
            for (variant, at) in [
                ("branch", [0.713, 0.876, 0.815, 0.721]),
                ("table", [0.842, 0.870, 0.855, 0.843]),
                ("copy", [0.718, 0.872, 0.813, 0.729]),
                ("bmi2", [1.911, 1.912, 1.911, 1.913]),
            ] {
                let moved = |ns: f64| scale * (at[0] + damping * moves * (ns - at[0]));
                cells.push(cell(
                    variant,
                    input,
                    compiler,
                    if variant == "bmi2" { at } else { at.map(moved) },
                ));
            }
        }
    }
    for cell in cells.iter_mut().filter(|cell| cell.variant == "bmi2") {
        cell.by_offset.truncate(2);
        cell.reached.offsets.truncate(2);
        cell.reached.note = Some("aligned to 32 bytes, so only 2 of 4 offsets are reached".to_owned());
    }
    for cell in cells.iter_mut().filter(|cell| cell.variant == "bmi2" && cell.compiler == "gcc-12") {
        cell.count_note = Some("built with -march=x86-64-v3 for the emulator".to_owned());
    }
    let out = cells.iter_mut().filter(|cell| cell.variant == "copy" && cell.compiler == "clang-16");
    for cell in out {
        let Cell { variant, input, compiler, flags, .. } = cell.clone();
        let failed = Some(Failed { reason: "answers differ from branch's".to_owned() });
        let (by_offset, reached, per_unit) = Default::default();
        *cell = Cell {
            variant,
            input,
            compiler,
            flags,
            ns_per_unit: None,
            by_offset,
            reached,
            as_built_ns: None,
            per_unit,
            uncounted: Some(Failed {
                reason: "the program was ended by signal 4 while its events were counted".to_owned(),
            }),
            count_note: None,
            failed,
        };
    }
    cells
}

fn learned_input() -> LearnedInput {
    LearnedInput {
        input: "log-uniform".to_owned(),
        units: 10_000,
        tosses: 15_760,
        remembered_tosses: Some(46_336),
        in_part: false,
        fresh_misses_per_unit: 0.788,
        repeated_misses_per_unit: 0.002,
        predictor: "tage-sc-l-64k".to_owned(),
        enough_units: 84_000,
        note: "the input `log-uniform` is learned by heart".to_owned(),
    }
}

fn explained() -> Explained {
    Explained {
        cells: 21,
        predictor: Some("tage-sc-l-64k".to_owned()),
        r_squared: Some(0.953),
        holds: true,
        r_squared_one_constant: Some(0.871),
        constants_ns: [("branch".to_owned(), 0.12), ("bmi2".to_owned(), 1.71)].into(),
        ns_per_instruction: Some(Spread { median: 0.153, lower: 0.141, upper: 0.165 }),
        ns_per_misprediction: Some(Spread { median: 5.21, lower: 4.98, upper: 5.44 }),
        typical_residual_ns: Some(0.21),
        worst: vec![Residual {
            variant: "bmi2".to_owned(),
            input: "all-1".to_owned(),
            compiler: "gcc-12".to_owned(),
            flags: "O2".to_owned(),
            ns: 1.91,
            fitted_ns: 2.55,
        }],
        note: Some("too few cells".to_owned()),
    }
}

fn claims() -> Vec<Claim> {
    let claim = |text: &str, status, found: &str, source: Option<&str>| Claim {
        text: text.to_owned(),
        status,
        found: found.to_owned(),
        source: source.map(str::to_owned),
    };
    vec![
        claim(
            "the table decoder is 1.3 times faster on random lengths",
            ClaimStatus::Refuted,
            "table takes 21 to 38 % more time on log-uniform",
            Some("a weekend with a lookup table"),
        ),
        claim(
            "branch wins on realistic data",
            ClaimStatus::Confirmed,
            "table takes 12 to 15 % more time on p80",
            None,
        ),
        claim(
            "bmi2 is 5 % faster on p80",
            ClaimStatus::Undecided,
            "-9.2 % with gcc-12, not decided with clang-16 (about 12 more rotations)",
            None,
        ),
    ]
}

fn dependence(compiler: &str, note: &str) -> InputDependence {
    InputDependence {
        candidate: "bmi2".to_owned(),
        baseline: "branch".to_owned(),
        compiler: compiler.to_owned(),
        flags: "O2".to_owned(),
        flips: Flips::Sign,
        favours_candidate: vec!["log-uniform".to_owned()],
        favours_baseline: vec!["all-1".to_owned()],
        note: note.to_owned(),
    }
}

/// A rich page: 15 contrasts with every verdict and every word for as built.
pub(super) fn page() -> Page {
    let mut page = Page {
        variants: variants(),
        flag_sets: vec![FlagSet {
            name: "O2".to_owned(),
            flags: vec!["-O2".to_owned(), "-ffunction-sections".to_owned()],
        }],
        twin_control: TwinControl {
            verdict: TwinVerdict::Equivalent,
            ratio: Some(1.001),
            lower: Some(0.998),
            upper: Some(1.004),
            note: Some("branch equals itself over disjoint rotations: -0.2 to +0.4 %, inside the minimum effect of 1 %".to_owned()),
        },
        warnings: vec![
            "The input \"p80\" repeats after 1,000,000 values; a predictor may learn shorter ones by heart."
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
            learned_outcomes: Some(46_336),
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
        inputs: inputs(),
        compilers: page.machine.compilers,
        flag_sets: page.flag_sets,
        phases: vec![0, 16, 32, 48],
        rotations: 4,
        max_rotations: 16,
        cells: 32,
        contrasts: 24,
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
