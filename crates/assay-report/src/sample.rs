//! Invented pages for the tests of the views: every part filled in, every word of the interface used.

use super::answer;
use super::page::{
    AsBuiltSays, AtOffset, AtPair, Axis, BranchCost, Build, BuildLayout, CampaignRun, Cause, CauseEvidence,
    CellLimit, CellResidual, Claim, ClaimStatus, CompanionFunction, Count, CountSource, Dependence,
    ExplainedTimes, Failed, FailureKind, InputDependentContrast, Landing, LearnedInput, LimitKind,
    LimitSource, LimitStanding, LimitsUsed, MedianInterval, OffsetsReached, Page, PageCell, PageCompiler,
    PageContrast, PageFailure, PageFlagSet, PageInput, PageMachine, PageOffsetShare, PageTwinControl,
    PageVariant, Range, RatioInterval, SCHEMA, Stopped, TimerCosts, TwinVerdict, Verdict,
};
use super::plan::{Amount, Estimate, PLAN_SCHEMA, PlanPage};

/// A contrast with a tight interval; `as_built` 0 leaves the plain link out.
pub(super) fn contrast(
    candidate: &str,
    input: &str,
    compiler: &str,
    verdict: Verdict,
    code: f64,
) -> PageContrast {
    PageContrast {
        candidate: candidate.to_owned(),
        baseline: "branch".to_owned(),
        input: input.to_owned(),
        compiler: compiler.to_owned(),
        flags: "O2".to_owned(),
        axis: Axis::Variant,
        against: None,
        as_built: None,
        code: Some(RatioInterval { ratio: code, lower: code - 0.005, upper: code + 0.005 }),
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
pub(super) fn built(mut contrast: PageContrast, ratio: f64, says: AsBuiltSays) -> PageContrast {
    contrast.as_built = Some(RatioInterval { ratio, lower: ratio - 0.002, upper: ratio + 0.002 });
    contrast.placement_ratio = contrast.code.map(|code| ratio / code.ratio);
    contrast.as_built_says = Some(says);
    contrast
}

/// An undecided contrast that four rotations and `rotations` more would decide.
pub(super) fn undecided(mut contrast: PageContrast, rotations: u32, seconds: f64) -> PageContrast {
    contrast.code = contrast.code.map(|code| RatioInterval {
        lower: code.ratio - 0.021,
        upper: code.ratio + 0.021,
        ..code
    });
    contrast.verdict = Verdict::Inconclusive;
    contrast.rotations = 4;
    contrast.rotations_needed = Some(4 + rotations);
    contrast.seconds_needed = Some(seconds);
    contrast.minimum_detectable_effect = Some(0.021);
    contrast
}

fn cause(cause: Cause, share: Option<f64>, evidence: &str) -> CauseEvidence {
    CauseEvidence { cause, share, evidence: evidence.to_owned() }
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

fn compilers() -> Vec<PageCompiler> {
    let compiler = |name: &str, version: &str, digit: &str| PageCompiler {
        name: name.to_owned(),
        version: version.to_owned(),
        target: "x86_64-linux-gnu".to_owned(),
        sha256: digit.repeat(64),
    };
    vec![compiler("gcc-12", "12.2.0", "a"), compiler("clang-16", "16.0.6", "b")]
}

fn machine() -> PageMachine {
    PageMachine {
        cpu: "AMD EPYC 9R14".to_owned(),
        kernel: "Linux 6.1.0-13-amd64".to_owned(),
        cores: 2,
        pinned_cpu: Some(1),
        compilers: compilers(),
        clock: "thread_cpu".to_owned(),
        timer: TimerCosts {
            wall_read_ns: Some(23.1),
            cpu_read_ns: Some(560.2),
            region_wall_ns: Some(23.4),
            region_cpu_ns: Some(584.0),
        },
        facts: [("hypervisor".to_owned(), "KVM".to_owned())].into(),
    }
}

fn campaign() -> CampaignRun {
    CampaignRun {
        id: "7".to_owned(),
        started: "2026-11-21T08:00:00Z".to_owned(),
        elapsed_seconds: 74.2,
        measured_seconds: 41.6,
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

fn variants() -> Vec<PageVariant> {
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

fn inputs() -> Vec<PageInput> {
    let input = |name: &str, bytes: u64, units: u64, recipe: &str, summary: Option<&str>| PageInput {
        name: name.to_owned(),
        digest: "0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a69788796a5b4c3d2e1f0".to_owned(),
        bytes,
        units,
        summary: summary.map(str::to_owned),
        recipe: Some(recipe.to_owned()),
        description: serde_json::json!({ "bytes": bytes, "units": units }),
        state: "hot".into(),
        measure: "throughput".into(),
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

fn page_contrasts() -> Vec<PageContrast> {
    use AsBuiltSays::{Confirmed, Deflated, Ghost, Inflated, Masked, Reversed};
    use Verdict::{Equivalent, Faster, Slower};
    let mut ghost = built(contrast("copy", "p80", "gcc-12", Equivalent, 1.004), 1.206, Ghost);
    ghost.causes = vec![
        cause(
            Cause::IdenticalCode,
            None,
            "both functions are the same 47 bytes of machine code after relocation",
        ),
        cause(
            Cause::Placement,
            Some(0.98),
            "as built, branch starts at offset 0 (0.713 ns) and copy at 16 (0.872 ns)",
        ),
    ];
    ghost.reasons = vec!["the interval of the code effect lies within ±1 %".to_owned()];
    let mut reversed = built(contrast("table", "all-1", "gcc-12", Slower, 1.212), 0.931, Reversed);
    reversed.causes =
        vec![cause(Cause::Placement, None, "as built, branch starts at its slowest offset, 48")];
    let mut slower = built(contrast("table", "log-uniform", "gcc-12", Slower, 1.382), 1.361, Confirmed);
    slower.causes = vec![cause(Cause::Work, Some(0.9), "5 more instructions per byte")];
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

fn cell(variant: &str, input: &str, compiler: &str, at: [f64; 4]) -> PageCell {
    let mean = at.iter().sum::<f64>() / 4.0;
    let offsets = [0, 16, 32, 48];
    PageCell {
        variant: variant.to_owned(),
        input: input.to_owned(),
        compiler: compiler.to_owned(),
        flags: "O2".to_owned(),
        ns_per_unit: Some(MedianInterval { median: mean, lower: mean * 0.996, upper: mean * 1.003 }),
        by_offset: offsets
            .iter()
            .zip(at)
            .map(|(&offset, ns_per_unit)| AtOffset { offset, ns_per_unit })
            .collect(),
        reached: OffsetsReached { offsets: offsets.to_vec(), note: None },
        as_built_ns: Some(at[1]),
        range: Some(Range {
            fastest_ns: at.into_iter().fold(f64::INFINITY, f64::min),
            slowest_ns: at.into_iter().fold(0.0, f64::max),
            placements: 32,
            slow_placements: 8,
        }),
        offset_share: Some(PageOffsetShare { offset: 0.92, shuffle: 0.05, rest: 0.03, placements: 32 }),
        companion: None,
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
        limits: Vec::new(),
        uncounted: None,
        count_note: None,
        failed: None,
    }
}

fn limit(
    limit: LimitKind,
    source: LimitSource,
    share: f64,
    standing: LimitStanding,
    made_of: &str,
) -> CellLimit {
    let exceeded = standing == LimitStanding::Exceeded;
    CellLimit {
        limit,
        source,
        ns: 2.0 * share,
        share,
        standing,
        made_of: made_of.to_owned(),
        exceeded_because: exceeded
            .then(|| "this CPU predicts better than the model, or resolves these branches early".to_owned()),
    }
}

/// Every word: bound, exceeded, assumed, by nothing.
fn limits(cell: usize) -> Vec<CellLimit> {
    use {LimitKind as K, LimitSource as F, LimitStanding as S};
    let bytes = |share| limit(K::Bytes, F::Given, share, S::Leaves, "2.76 bytes read, 96.2 per ns from L3");
    let misses = "0.23 mispredictions simulated, 5.41 ns each";
    let floor = "0.23 mispredictions by entropy, 5.41 ns each";
    let work = |share, standing| {
        limit(K::Instructions, F::Counted, share, standing, "11.2 instructions, 6.12 a cycle at best")
    };
    match cell % 4 {
        0 => vec![
            limit(K::Mispredictions, F::Traced, 0.81, S::Binds, misses),
            limit(K::Mispredictions, F::Entropy, 0.78, S::Leaves, floor),
            work(0.31, S::Leaves),
            bytes(0.012),
        ],
        1 => vec![
            limit(K::Mispredictions, F::Traced, 1.31, S::Exceeded, misses),
            work(0.62, S::Binds),
            bytes(0.02),
        ],
        2 => vec![limit(K::Mispredictions, F::Entropy, 0.7, S::Assumed, floor), bytes(0.004)],
        _ => vec![
            limit(K::Latency, F::Given, 0.44, S::Leaves, "1.00 loads in a row, 1.09 ns each from L1"),
            limit(K::Branches, F::Traced, 0.25, S::Leaves, "2.38 branches, 0.14 ns each at best"),
        ],
    }
}

fn count(value: f64, source: CountSource) -> Count {
    Count { value, source, lower: None, upper: None, predictor: None }
}

fn companion() -> CompanionFunction {
    let pair = |offset, companion_offset, ns_per_unit| AtPair { offset, companion_offset, ns_per_unit };
    CompanionFunction {
        functions: vec!["lookup(unsigned char const*, unsigned long)".to_owned()],
        share: 0.998,
        share_adjusted: 0.997,
        by_pair: vec![pair(0, 16, 0.842), pair(16, 32, 0.870), pair(32, 48, 0.855), pair(48, 0, 0.843)],
    }
}

fn page_cells() -> Vec<PageCell> {
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
    for cell in cells.iter_mut().filter(|cell| cell.variant == "table" && cell.input != "log-uniform") {
        cell.offset_share = Some(PageOffsetShare { offset: 0.37, shuffle: 0.0, rest: 0.63, placements: 32 });
        cell.companion = Some(companion());
    }
    let out = cells.iter_mut().filter(|cell| cell.variant == "copy" && cell.compiler == "clang-16");
    for cell in out {
        let PageCell { variant, input, compiler, flags, .. } = cell.clone();
        let failed = Some(Failed { reason: "answers differ from branch's".to_owned() });
        let (by_offset, reached, per_unit, range, offset_share) = Default::default();
        *cell = PageCell {
            variant,
            input,
            compiler,
            flags,
            ns_per_unit: None,
            by_offset,
            reached,
            as_built_ns: None,
            range,
            offset_share,
            companion: None,
            per_unit,
            limits: Vec::new(),
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
        note: "the input log-uniform is memorised by the predictor".to_owned(),
    }
}

fn explained() -> ExplainedTimes {
    ExplainedTimes {
        cells: 21,
        predictor: Some("tage-sc-l-64k".to_owned()),
        r_squared: Some(0.953),
        holds: true,
        r_squared_one_constant: Some(0.871),
        constants_ns: [("branch".to_owned(), 0.12), ("bmi2".to_owned(), 1.71)].into(),
        ns_per_instruction: Some(MedianInterval { median: 0.153, lower: 0.141, upper: 0.165 }),
        ns_per_misprediction: Some(MedianInterval { median: 5.21, lower: 4.98, upper: 5.44 }),
        typical_residual_ns: Some(0.21),
        worst: vec![CellResidual {
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
            "-9.2 % with gcc-12, undecided with clang-16 (about 12 more rotations)",
            None,
        ),
    ]
}

fn dependence(compiler: &str, note: &str) -> InputDependentContrast {
    InputDependentContrast {
        candidate: "bmi2".to_owned(),
        baseline: "branch".to_owned(),
        compiler: compiler.to_owned(),
        flags: "O2".to_owned(),
        against: None,
        flips: Dependence::Sign,
        favours_candidate: vec!["log-uniform".to_owned()],
        favours_baseline: vec!["all-1".to_owned()],
        note: note.to_owned(),
    }
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
    for (at, cell) in page.cells.iter_mut().enumerate().filter(|(_, cell)| cell.failed.is_none()) {
        cell.limits = limits(at);
    }
    page.limits = Some(LimitsUsed { measured: "2026-11-21T07:34:05Z".to_owned(), with_campaign: true });
    page.answer = answer(&page);
    page
}

/// Three variants by three compilers with two flag sets: two ghosts that alignment ends, one difference that is real.
pub(super) fn builds() -> Page {
    let mut page = Page { contrasts: Vec::new(), cells: Vec::new(), input_dependence: Vec::new(), ..page() };
    page.question = "How much of a difference between compilers is placement?".to_owned();
    page.baseline = "direct".to_owned();
    let compilers = ["clang-16", "gcc-11", "gcc-12"];
    for flags in ["default", "a64"] {
        for compiler in compilers {
            let aligned = flags == "a64";
            let at = |bad: &str| if compiler == bad && !aligned { 1.65 } else { 1.37 };
            let moving = if aligned { [1.37; 4] } else { [1.37, 1.37, 1.65, 1.37] };
            for (variant, built_ns, offsets) in [
                ("virtual", at("gcc-12"), moving),
                ("crtp", at("gcc-11"), moving),
                ("visit", if compiler == "gcc-11" { 1.94 } else { 0.59 }, [0.59; 4]),
            ] {
                let scale = if variant == "visit" { built_ns / 0.59 } else { 1.0 };
                let one = cell(variant, "mono", compiler, offsets.map(|ns| ns * scale));
                page.cells.push(PageCell { flags: flags.to_owned(), as_built_ns: Some(built_ns), ..one });
            }
            page.layouts.push(layout(compiler, flags, aligned));
        }
        for (newer, older) in [("gcc-11", "clang-16"), ("gcc-12", "clang-16"), ("gcc-12", "gcc-11")] {
            for variant in ["virtual", "crtp", "visit"] {
                page.contrasts.push(across(&page, variant, (newer, flags), (older, flags)));
            }
        }
    }
    for compiler in compilers {
        for variant in ["virtual", "crtp", "visit"] {
            page.contrasts.push(across(&page, variant, (compiler, "a64"), (compiler, "default")));
        }
    }
    page.input_dependence = vec![InputDependentContrast {
        against: Some(Build { compiler: "gcc-11".to_owned(), flags: "default".to_owned() }),
        ..dependence("gcc-12", "by how much depends on the input")
    }];
    page.answer = answer(&page);
    page
}

/// A variant against itself in another build, as the cells of the page have it.
fn across(page: &Page, variant: &str, own: (&str, &str), other: (&str, &str)) -> PageContrast {
    let cell = |(compiler, flags): (&str, &str)| {
        let is = |c: &&PageCell| c.variant == variant && c.compiler == compiler && c.flags == flags;
        page.cells.iter().find(is).expect("the cell was just made")
    };
    let mean = |cell: &PageCell| cell.ns_per_unit.map_or(1.0, |spread| spread.median);
    let (left, right) = (cell(own), cell(other));
    // Means differ by the placements of one in four; on average over rotations they do not.
    let code = if variant == "visit" { mean(left) / mean(right) } else { 1.001 };
    let ratio = left.as_built_ns.unwrap_or(1.0) / right.as_built_ns.unwrap_or(1.0);
    let verdict = match code {
        code if code < 0.99 => Verdict::Faster,
        code if code > 1.01 => Verdict::Slower,
        _ => Verdict::Equivalent,
    };
    let ghost = verdict == Verdict::Equivalent && !(0.99..1.01).contains(&ratio);
    let says = if ghost { AsBuiltSays::Ghost } else { AsBuiltSays::Confirmed };
    let mut found = built(contrast(variant, "mono", own.0, verdict, code), ratio, says);
    found.baseline = variant.to_owned();
    found.flags = own.1.to_owned();
    found.axis = if own.0 == other.0 { Axis::Flags } else { Axis::Compiler };
    found.against = Some(Build { compiler: other.0.to_owned(), flags: other.1.to_owned() });
    found
}

fn layout(compiler: &str, flags: &str, aligned: bool) -> BuildLayout {
    let start: u64 = if compiler == "gcc-12" { 0x1660 } else { 0x1690 };
    let step = if aligned { 64 } else { 0x30 };
    let names =
        [("run_virtual", Some("virtual")), ("run_visit", Some("visit")), ("G1::store(int*, int)", None)];
    let functions = names.iter().zip(0u64..).map(|(&(name, variant), number)| {
        let address = if aligned { 0x1680 } else { start } + number * step;
        let variant = variant.map(str::to_owned);
        Landing { name: name.to_owned(), variant, address, size: 28, offset: address % 64 }
    });
    BuildLayout {
        compiler: compiler.to_owned(),
        flags: flags.to_owned(),
        text_bytes: if aligned { 11_733 } else { 9_605 },
        functions: functions.collect(),
    }
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

/// The last of some inputs in another use.
fn rotated(mut inputs: Vec<PageInput>) -> Vec<PageInput> {
    let last = inputs.last_mut().expect("the sample has inputs");
    last.state = "rotating".into();
    last.copies = Some(65);
    last.of = Some("p80".into());
    inputs
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
    let used = |suffix: &str, state: &str, measure: &str, copies: Option<u64>| PageInput {
        name: format!("p80{suffix}"),
        state: state.into(),
        measure: measure.into(),
        copies,
        of: (!suffix.is_empty()).then(|| "p80".into()),
        ..plain.clone()
    };
    let inputs = vec![
        used("", "hot", "throughput", None),
        used("@latency", "hot", "latency", None),
        used("@rotating", "rotating", "throughput", Some(65)),
        used("@cold-data", "cold_data", "throughput", None),
        used("@cold-data,latency", "cold_data", "latency", None),
        used("@cold-code", "cold_code", "throughput", None),
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
