//! A campaign in the formats of other tools. All carry the same figures: per cell one time per placement, in nanoseconds per unit.
//!
//! A placement is what repeats independently; samples of one placement are alike, and as repetitions they would make other
//! tools' tests far too sure. Where a format has an interval, it is that of the page. CSV and Parquet carry every raw sample.

mod bencher;
mod criterion;
mod go;
mod google;
mod hyperfine;
mod samples;

pub use criterion::criterion;
pub use samples::{SampleLine, csv, parquet};

use assay_pure::stats::quantile::median;

/// A campaign's figures.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Export {
    /// The experiment.
    pub experiment: String,
    /// RFC 3339.
    pub started: String,
    /// What stands for the host: the processor, as a ledger keeps no host names.
    pub host: String,
    /// The processor.
    pub cpu: String,
    /// Logical processors.
    pub cpus: u32,
    /// What a time is of: "varint".
    pub unit: String,
    /// Version of assay.
    pub version: String,
    /// One per combination of the axes.
    pub cells: Vec<ExportCell>,
    /// Candidate over baseline.
    pub contrasts: Vec<ExportContrast>,
}

/// One cell.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExportCell {
    /// What tells it from the others, ahead of it the axis: ("variant", "b"). Compilers and flags of one value are left out.
    pub axes: Vec<(&'static str, String)>,
    /// Nanoseconds of wall time per unit, one per placement.
    pub wall: Vec<f64>,
    /// The same of CPU time.
    pub cpu: Vec<f64>,
    /// Median on the clock that decides, with its interval.
    pub median: [f64; 3],
}

/// One contrast.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExportContrast {
    /// "b / a, mixed".
    pub name: String,
    /// Candidate over baseline, free of placement, with its interval.
    pub ratio: [f64; 3],
    /// In words.
    pub verdict: String,
}

impl ExportCell {
    /// "b/mixed".
    pub fn name(&self) -> String {
        self.axes.iter().map(|(_, value)| value.as_str()).collect::<Vec<_>>().join("/")
    }
}

/// A format of one file of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextFormat {
    /// Google Benchmark's JSON.
    GoogleBenchmark,
    /// hyperfine's JSON.
    Hyperfine,
    /// Lines of Go's benchmarks.
    Go,
    /// Bencher's metrics.
    Bmf,
    /// github-action-benchmark's customSmallerIsBetter.
    GithubActionBenchmark,
}

/// The campaign in a format.
pub fn text(format: TextFormat, export: &Export) -> String {
    match format {
        TextFormat::GoogleBenchmark => google::json(export),
        TextFormat::Hyperfine => hyperfine::json(export),
        TextFormat::Go => go::text(export),
        TextFormat::Bmf => bencher::metrics(export),
        TextFormat::GithubActionBenchmark => bencher::smaller_is_better(export),
    }
}

/// What summaries are made of.
struct Summary {
    mean: f64,
    median: f64,
    deviation: f64,
    least: f64,
    most: f64,
}

impl Summary {
    fn of(values: &[f64]) -> Summary {
        let count = values.len().max(1) as f64;
        let mean = values.iter().sum::<f64>() / count;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        Summary {
            mean,
            median: median(values).unwrap_or(0.0),
            deviation: if values.len() > 1 { (squares / (count - 1.0)).sqrt() } else { 0.0 },
            least: values.iter().copied().reduce(f64::min).unwrap_or(0.0),
            most: values.iter().copied().reduce(f64::max).unwrap_or(0.0),
        }
    }
}

#[cfg(test)]
mod tests;
