//! Pages that show every key, for tests of the schema and of the terminal.

use super::page::*;
use assay_pure::inputs::fit::Runs;
use assay_pure::inputs::fit::closeness::{Closeness, Entropy, FitFigure};
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
        notes: vec!["The recorded stream changes as it goes: parts of it have 0.196 to 0.392 mispredictions per unit \
                     (zen4), the fitted stream's 0.373 to 0.393."
            .to_owned()],
        table: Some("[inputs.postings]\ngenerator = \"markov\"\n".to_owned()),
        written: Some("postings.toml".to_owned()),
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
