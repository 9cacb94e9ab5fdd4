//! Pages that show every key, for tests of the schema and of the terminal.

use super::page::*;
use assay_pure::inputs::fit::Runs;
use assay_pure::inputs::fit::closeness::{Closeness, Entropy, FitFigure};
use assay_pure::inputs::fit::numbers::{BranchCloseness, FitStatistic};
use assay_pure::inputs::fit::refusal::FigureComparison;

fn figure(name: &str, real: f64, fitted: f64, says: FigureComparison) -> FitFigure {
    FitFigure {
        name: name.to_owned(),
        real,
        fitted,
        lower: fitted - real - 0.002,
        upper: fitted - real + 0.002,
        streams: if says == FigureComparison::Apart { 19 } else { 3 },
        real_spread: 0.2 * real,
        fitted_spread: 0.02 * fitted,
        real_parts: (0.7 * real, 1.4 * real),
        fitted_parts: (0.98 * fitted, 1.03 * fitted),
        allowed: 0.05 * real,
        needs: 150_000,
        says,
        changes: says == FigureComparison::Apart,
    }
}

fn time(variant: &str, ratio: Option<f64>, says: FigureComparison) -> TimeRatio {
    TimeRatio {
        variant: variant.to_owned(),
        compiler: "gcc-12".to_owned(),
        flags: "O2".to_owned(),
        ratio,
        lower: ratio.map(|ratio| ratio - 0.012),
        upper: ratio.map(|ratio| ratio + 0.013),
        rotations: 8,
        says,
    }
}

/// A page with something under every key.
pub fn page() -> FitPage {
    let order = |order, real_bits: f64| Entropy {
        order,
        real_bits: Some(real_bits),
        fitted_bits: Some(real_bits - 0.012),
        real_misses: Some(0.3 * real_bits),
        fitted_misses: (order < 3).then_some(0.29 * real_bits),
    };
    FitPage {
        schema: FIT_SCHEMA.to_owned(),
        answer: "Refused: the time of table (gcc-12, O2) differs: +10.2 % on the fitted input (+9.0 % to +11.5 %).".to_owned(),
        file: "postings.varint".to_owned(),
        bytes: 2_590_680,
        units: 1_946_887,
        looked_at: 1_048_576,
        margin: 0.05,
        close: false,
        refusals: vec![Reason {
            what: "the time of table (gcc-12, O2) differs: +10.2 % on the fitted input (+9.0 % to +11.5 %)".to_owned(),
            remedy: "the order reaches farther back than a table of lengths: use the recording itself".to_owned(),
        }],
        model: Some(FittedTable { order: 30, contexts: 180, bits_per_unit: 0.7241, strictness: 1.25 }),
        closeness: Some(Closeness {
            branches: figure("branches", 2.3218, 2.3179, FigureComparison::Close),
            misses: vec![
                figure("skylake", 0.2721, 0.2730, FigureComparison::Close),
                figure("golden-cove", 0.3408, 0.3411, FigureComparison::Unsure),
                figure("zen4", 0.2797, 0.3811, FigureComparison::Apart),
            ],
            entropies: vec![order(0, 1.0196), order(1, 0.9382), order(2, 0.8353), order(3, 0.7889)],
            real_runs: Runs { mean: 3.356, median: 1, p90: 4, p99: 23 },
            fitted_runs: Runs { mean: 3.4598, median: 1, p90: 5, p99: 23 },
            real_seen_before: 0.129,
            fitted_seen_before: 0.096,
        }),
        numbers: None,
        variants: Some(Variants {
            experiment: "casebook/varint/experiment.toml".to_owned(),
            campaign: 12,
            times: vec![
                time("branch", Some(1.013), FigureComparison::Close),
                time("table", Some(1.102), FigureComparison::Apart),
                time("swar", None, FigureComparison::Unsure),
            ],
            counts: vec![
                FitCount {
                    variant: "branch".to_owned(),
                    compiler: "gcc-12".to_owned(),
                    flags: "O2".to_owned(),
                    what: "misses zen4".to_owned(),
                    real: 0.2812,
                    fitted: 0.2833,
                },
            ],
            failures: vec!["not measured: bmi2: this CPU lacks bmi2".to_owned()],
        }),
        notes: vec!["The recorded stream changes over time: parts of it have 0.196 to 0.392 mispredictions per unit \
                     (zen4), the fitted stream's 0.373 to 0.393."
            .to_owned()],
        table: Some("[inputs.postings]\ngenerator = \"markov\"\n".to_owned()),
        written: Some("postings.toml".to_owned()),
    }
}

/// A page of numbers, with something under every key of theirs.
pub fn numbers() -> FitPage {
    let statistic = |name: &str, recorded: f64, fitted: f64, allowed: f64| FitStatistic {
        name: name.to_owned(),
        recorded,
        fitted,
        allowed,
        close: (recorded - fitted).abs() <= allowed,
    };
    let branch = |asks: &str, real: f64| BranchCloseness {
        asks: asks.to_owned(),
        closeness: Closeness {
            branches: figure("true", 2.0 * real, 2.0 * real, FigureComparison::Close),
            misses: vec![figure("skylake", real, real + 0.0007, FigureComparison::Close)],
            ..page().closeness.expect("it has one")
        },
    };
    FitPage {
        answer: "Refused: no generator is near: the nearest, runs, differs in \"mean ascending run\": 31.4 recorded, 25.0 \
                 fitted, 1.57 allowed between them."
            .to_owned(),
        file: "keys.u32".to_owned(),
        bytes: 4_000_000,
        units: 1_000_000,
        looked_at: 1_000_000,
        model: None,
        closeness: None,
        variants: None,
        refusals: vec![Reason {
            what: "no generator is near: the nearest, runs, differs in \"mean ascending run\": 31.4 recorded, 25.0 fitted, \
                   1.57 allowed between them"
                .to_owned(),
            remedy: "use the recording itself (path), or make such numbers with your own command (command)".to_owned(),
        }],
        numbers: Some(NumbersPage {
            format: "u32".to_owned(),
            from: Some("the ending .u32".to_owned()),
            generator: Some("runs".to_owned()),
            statistics: vec![
                statistic("share below any value", 0.0, 0.0031, 0.05),
                statistic("distinct values", 999_871.0, 999_883.0, 49_993.5),
                statistic("mean ascending run", 31.4, 25.0, 1.57),
                statistic("share of pairs in the wrong order", 0.2491, 0.2488, 0.012),
                statistic("correlation with the next", -0.0001, 0.0002, 0.05),
            ],
            branches: vec![branch("below the one before it", 0.0313), branch("below 2147012345", 0.0626)],
        }),
        notes: Vec::new(),
        table: Some("[inputs.keys]\ngenerator = \"runs\"\n".to_owned()),
        written: None,
        ..page()
    }
}

/// A page of data that were refused before anything was fitted.
pub fn refused() -> FitPage {
    FitPage {
        answer: "Refused: there are only 12 units, and it takes 10000.".to_owned(),
        units: 12,
        looked_at: 12,
        model: None,
        closeness: None,
        variants: None,
        notes: Vec::new(),
        table: None,
        written: None,
        ..page()
    }
}

/// A page of a fit that may be used.
pub fn close() -> FitPage {
    FitPage {
        answer: "The fit is close: use it in the place of postings.varint.".to_owned(),
        close: true,
        refusals: Vec::new(),
        variants: None,
        written: None,
        ..page()
    }
}
