//! Pages that show every key: the input of the golden texts and of the schema's test.

use super::answer::{answer, sentence};
use super::page::*;
use crate::page::{FailureKind, MedianInterval, PageFailure, RatioInterval, TwinVerdict};
use assay_pure::sweep::refine::Why;
use assay_pure::sweep::{Scale, Winner};

const MARGIN: f64 = 0.01;

fn spread(median: f64, half: f64) -> MedianInterval {
    MedianInterval { median, lower: median - half, upper: median + half }
}

fn curve(variant: &str, points: &[f64], time: impl Fn(f64) -> f64) -> CurvePage {
    let times = points.iter().map(|&at| TimeAt { at, ns_per_unit: spread(time(at), 0.004 * time(at)) });
    CurvePage { variant: variant.into(), times: times.collect(), steps: Vec::new() }
}

/// A pair whose ratios follow from two curves; winners beyond two per cent, none within a half.
fn pair(
    key: &PageSweepKey,
    candidate: &CurvePage,
    baseline: &CurvePage,
    crossovers: Vec<CrossoverPage>,
) -> PairPage {
    let mut zones: Vec<ZonePage> = Vec::new();
    let mut ratios = Vec::new();
    for (new, old) in candidate.times.iter().zip(&baseline.times) {
        let ratio = new.ns_per_unit.median / old.ns_per_unit.median;
        let winner = match ratio {
            r if r < 0.98 => Winner::Candidate,
            r if r > 1.02 => Winner::Baseline,
            r if (r - 1.0).abs() < 0.005 => Winner::Neither,
            _ => Winner::Unclear,
        };
        let ratio_here = RatioInterval { ratio, lower: ratio * 0.995, upper: ratio * 1.005 };
        ratios.push(RatioAt { at: new.at, ratio: ratio_here, winner, campaigns: 1, shared: false });
        match zones.last_mut() {
            _ if winner == Winner::Unclear => {}
            Some(zone) if zone.winner == winner => {
                zone.to = new.at;
                zone.lowest_ratio = zone.lowest_ratio.min(ratio);
                zone.highest_ratio = zone.highest_ratio.max(ratio);
            }
            _ => zones.push(ZonePage {
                winner,
                from: new.at,
                to: new.at,
                lowest_ratio: ratio,
                highest_ratio: ratio,
            }),
        }
    }
    let (candidate, baseline) = (candidate.variant.clone(), baseline.variant.clone());
    let mut pair = PairPage {
        candidate,
        baseline,
        note: String::new(),
        ratios,
        crossovers,
        zones,
        campaigns_differ_by: Some(0.004),
    };
    pair.note = sentence(key, &pair, MARGIN);
    pair
}

fn flip(at: f64, lower: f64, upper: f64, below: &str, above: &str, wanted: f64) -> CrossoverPage {
    let wide = upper - lower > wanted * (1.0 + 1e-9);
    CrossoverPage {
        at,
        lower,
        upper,
        faster_below: below.into(),
        faster_above: above.into(),
        wanted_width: wanted,
        limited_by: wide.then_some(Limit::Noise),
        confirmed: !wide,
    }
}

fn page(key: PageSweepKey, points: &[f64], series: Vec<SeriesPage>) -> SweepPage {
    let bytes = |at: f64| if key.whole { at * 2.3 } else { 1e6 * (1.0 + at) };
    let why = |index: usize| [Why::Grid, Why::Grid, Why::Crossover, Why::Bend][index % 4];
    let point = |(index, &at): (usize, &f64)| MeasuredPoint {
        at,
        why: why(index),
        step: u32::from(why(index) != Why::Grid),
        bytes: Some(bytes(at) as u64),
        units: Some(if key.whole { at as u64 } else { 1_000_000 }),
    };
    let mut page = SweepPage {
        schema: SWEEP_SCHEMA.into(),
        experiment: "varint-sweeps".into(),
        question: "From where on does a decoder without branches win?".into(),
        answer: String::new(),
        unit: "varint".into(),
        baseline: "branch".into(),
        points: points.iter().enumerate().map(point).collect(),
        key,
        measured: SweepRun {
            id: 7,
            started: "2026-11-21T07:34:05Z".into(),
            elapsed_seconds: Some(47.2),
            seconds: 11.25,
            budget_seconds: 60.0,
            rotations: 6,
            stopped_because: Some(Stopped::Refined),
            campaigns: vec![12, 13, 14],
            minimum_effect: MARGIN,
            confidence: 0.95,
            twin: Some(TwinVerdict::Equivalent),
            ledger: ".assay/ledger.db".into(),
        },
        machine: SweepMachine {
            cpu: "AMD EPYC".into(),
            caches: [("L1d", 32_768), ("L2", 1_048_576), ("last-level cache", 33_554_432)]
                .map(|(name, bytes)| CacheSize { name: name.into(), bytes })
                .to_vec(),
            pinned_cpu: Some(1),
        },
        warnings: Vec::new(),
        series,
        failures: Vec::new(),
    };
    page.answer = answer(&page);
    page
}

/// A share on a linear scale: one flip, one variant that always wins, a warning and what was not measured.
pub fn share() -> SweepPage {
    let key = PageSweepKey {
        sweep: "share".into(),
        description: Some("share of values longer than one byte".into()),
        path: "inputs.mixed.multi_byte".into(),
        label: "multi_byte".into(),
        from: 0.0,
        to: 1.0,
        scale: Scale::Linear,
        percent: true,
        whole: false,
        refine: 12,
    };
    let points = [0.0, 0.125, 0.25, 0.3, 0.32, 0.375, 0.5, 0.625, 0.75, 0.875, 1.0];
    let branch = curve("branch", &points, |x| 1.0 + 12.0 * x * (1.0 - x));
    let bmi2 = curve("bmi2", &points, |x| 3.52 + 0.1 * (x - 0.31));
    let swar = curve("swar", &points, |_| 0.9);
    let flips =
        vec![flip(0.311, 0.3, 0.32, "branch", "bmi2", 0.02), flip(0.69, 0.625, 0.75, "bmi2", "branch", 0.02)];
    let mut first = pair(&key, &bmi2, &branch, flips);
    // An end of a crossover, and one that was left out.
    for ratio in first.ratios.iter_mut().filter(|ratio| [0.75, 0.875].contains(&ratio.at)) {
        ratio.shared = true;
        if ratio.at == 0.875 {
            ratio.winner = Winner::Unclear;
        }
    }
    let pairs = vec![first, pair(&key, &swar, &branch, Vec::new()), pair(&key, &swar, &bmi2, Vec::new())];
    let series = SeriesPage {
        input: "mixed".into(),
        compiler: "gcc".into(),
        flags: "O2".into(),
        curves: vec![branch, bmi2, swar],
        pairs,
    };
    let mut page = page(key, &points, vec![series]);
    page.warnings.push("34 % of the samples were interrupted and left out.".into());
    page.failures.push(PageFailure {
        kind: FailureKind::Skipped,
        what: "avx512".into(),
        reason: "this CPU has no avx512vbmi2".into(),
    });
    page
}

/// A size on a geometric scale: a flip, and a step of every kind.
pub fn size() -> SweepPage {
    let key = PageSweepKey {
        sweep: "working_set".into(),
        description: None,
        path: "inputs.log_uniform.units".into(),
        label: "units".into(),
        from: 1000.0,
        to: 1e7,
        scale: Scale::Geometric,
        percent: false,
        whole: true,
        refine: 10,
    };
    let points = [1e3, 3_162.0, 1e4, 2.2e4, 2.8e4, 1e5, 1e6, 1e7];
    let mut branch = curve("branch", &points, |x| if x < 2.5e4 { 1.2 } else { 5.1 });
    let bmi2 = curve("bmi2", &points, |x| if x < 5e6 { 2.33 } else { 2.61 });
    branch.steps.push(step((2.2e4, 2.8e4), (1.2, 5.1), StepCause::PredictorMemory));
    branch.steps.push(step((1e3, 3_162.0), (1.2, 1.4), StepCause::Mispredictions));
    branch.steps.push(step((1e3, 3_162.0), (1.2, 1.4), StepCause::Unexplained));
    let mut bmi2 = bmi2;
    bmi2.steps.push(step((1e6, 1e7), (2.33, 2.61), StepCause::Cache));
    let flips = vec![flip(24_800.0, 22_000.0, 28_000.0, "branch", "bmi2", 2_500.0)];
    let pairs = vec![pair(&key, &bmi2, &branch, flips)];
    let series = SeriesPage {
        input: "log_uniform".into(),
        compiler: "gcc".into(),
        flags: "O2".into(),
        curves: vec![branch, bmi2],
        pairs,
    };
    page(key, &points, vec![series])
}

fn step((from, to): (f64, f64), (before_ns, after_ns): (f64, f64), cause: StepCause) -> StepPage {
    let why = match cause {
        StepCause::PredictorMemory => {
            "the branch predictor's memory, about 25,000 varints: mispredictions go from 0.00 to 0.87"
        }
        StepCause::Cache => "last-level cache (32.0 MiB): the working set grows from 2.19 MiB to 21.9 MiB",
        StepCause::Mispredictions => "mispredictions go from 0.20 to 0.24",
        StepCause::Unexplained => "unexplained",
    };
    let note = format!("{before_ns:.3} to {after_ns:.3} ns from {from} to {to} of units: {why}");
    StepPage { from, to, before_ns, after_ns, cause, note }
}

/// A sweep that was stopped: nothing known for sure.
pub fn stopped() -> SweepPage {
    let mut page = size();
    page.measured.stopped_because = Some(Stopped::Interrupted);
    page.measured.elapsed_seconds = None;
    page.measured.twin = Some(TwinVerdict::Different);
    page.series.clear();
    page.answer = answer(&page);
    page
}
