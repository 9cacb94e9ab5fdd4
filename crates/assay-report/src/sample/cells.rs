//! Cells of the sample pages: times by placement, counts, limits, a failed one.

use crate::page::*;

pub(crate) fn cell(variant: &str, input: &str, compiler: &str, at: [f64; 4]) -> PageCell {
    let mean = at.iter().sum::<f64>() / 4.0;
    let offsets = [0, 16, 32, 48];
    PageCell {
        variant: variant.to_owned(),
        input: input.to_owned(),
        compiler: compiler.to_owned(),
        flags: "O2".to_owned(),
        ns_per_unit: Some(MedianInterval { median: mean, lower: mean * 0.996, upper: mean * 1.003 }),
        throughput: None,
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
            ("instructions".to_owned(), Count::exact(11.25, CountSource::Counted)),
            ("branches".to_owned(), Count::exact(2.38, CountSource::Counted)),
            (
                "branch-misses".to_owned(),
                Count {
                    lower: Some(0.23),
                    upper: Some(0.31),
                    predictor: Some("tage-sc-l-64k".to_owned()),
                    by_predictor: [("tage-sc-l-64k".to_owned(), 0.23), ("gshare".to_owned(), 0.31)].into(),
                    ..Count::exact(0.23, CountSource::Traced)
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

fn companion() -> CompanionFunction {
    let pair = |offset, companion_offset, ns_per_unit| AtPair { offset, companion_offset, ns_per_unit };
    CompanionFunction {
        functions: vec!["lookup(unsigned char const*, unsigned long)".to_owned()],
        share: 0.998,
        share_adjusted: 0.997,
        by_pair: vec![pair(0, 16, 0.842), pair(16, 32, 0.870), pair(32, 48, 0.855), pair(48, 0, 0.843)],
    }
}

pub(crate) fn page_cells() -> Vec<PageCell> {
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
        *cell = without_figures(cell.clone());
    }
    cells
}

/// A cell whose answers were wrong, and whose program could not be counted either.
fn without_figures(cell: PageCell) -> PageCell {
    PageCell {
        ns_per_unit: None,
        throughput: None,
        by_offset: Vec::new(),
        reached: OffsetsReached::default(),
        as_built_ns: None,
        range: None,
        offset_share: None,
        companion: None,
        per_unit: Default::default(),
        limits: Vec::new(),
        uncounted: Some(Failed {
            reason: "the program was ended by signal 4 while its events were counted".to_owned(),
        }),
        count_note: None,
        failed: Some(Failed { reason: "answers differ from branch's".to_owned() }),
        ..cell
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
pub(crate) fn limits(cell: usize) -> Vec<CellLimit> {
    use {LimitKind as K, LimitSource as F, LimitStanding as S};
    let bytes = |share| limit(K::Bytes, F::Given, share, S::Leaves, "2.76 bytes read, 96.2 per ns from L3");
    let misses = "0.23 mispredictions simulated, 5.41 ns each";
    let floor = "0.23 mispredictions estimated from the input's entropy, 5.41 ns each";
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
