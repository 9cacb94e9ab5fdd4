//! criterion's folder, as `target/criterion`: a folder per benchmark with its name, estimates, samples and fences.
//!
//! The median's interval is that of the page; the others are normal approximations over placements. There is no slope, as
//! each placement is one sample of one iteration.
//! Source: the files of criterion 0.5.1 in fixtures/adapters. Checked by: assay's own reader, the keys of those files.

use super::{Export, ExportCell, Summary};
use assay_pure::stats::quantile::{median, quantile};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Half an interval at 95 % in standard errors.
const HALF: f64 = 1.96;

/// The files, by their path below the folder.
pub fn criterion(export: &Export) -> Vec<(String, String)> {
    let (mut files, mut taken) = (Vec::new(), BTreeSet::new());
    for cell in &export.cells {
        let parts: Vec<String> = cell.axes.iter().map(|(_, value)| folder_name(value)).collect();
        let group = folder_name(&export.experiment);
        let place = alone(format!("{group}/{}", parts.join("/")), &mut taken);
        let value = (cell.axes.len() > 1)
            .then(|| cell.axes[1..].iter().map(|(_, value)| value.as_str()).collect::<Vec<_>>().join("/"));
        let named = json!({
            "group_id": export.experiment, "function_id": cell.axes.first().map(|(_, value)| value), "value_str": value,
            "throughput": Value::Null, "full_id": format!("{}/{}", export.experiment, cell.name()),
            "directory_name": place, "title": format!("{}/{}", export.experiment, cell.name())
        });
        let sample =
            json!({ "sampling_mode": "Flat", "iters": vec![1.0; cell.wall.len()], "times": cell.wall });
        let contents = [
            ("benchmark", named),
            ("estimates", estimates(cell)),
            ("sample", sample),
            ("tukey", fences(cell)),
        ];
        files.extend(contents.map(|(name, json)| (format!("{place}/new/{name}.json"), json.to_string())));
    }
    files
}

fn estimates(cell: &ExportCell) -> Value {
    let found = Summary::of(&cell.wall);
    let count = cell.wall.len().max(1) as f64;
    let estimate = |point: f64, error: f64, lower: f64, upper: f64| {
        let interval = json!({ "confidence_level": 0.95, "lower_bound": lower, "upper_bound": upper });
        json!({ "confidence_interval": interval, "point_estimate": point, "standard_error": error })
    };
    let normal = |point: f64, error: f64| estimate(point, error, point - HALF * error, point + HALF * error);
    let distances: Vec<f64> = cell.wall.iter().map(|value| (value - found.median).abs()).collect();
    // criterion scales it to be a standard deviation of normal samples.
    let spread = 1.4826 * median(&distances).unwrap_or(0.0);
    let of_spread = 1.0 / (2.0 * (count - 1.0).max(1.0)).sqrt();
    let [point, lower, upper] = cell.median;
    json!({
        "mean": normal(found.mean, found.deviation / count.sqrt()),
        "median": estimate(point, (upper - lower) / (2.0 * HALF), lower, upper),
        "median_abs_dev": normal(spread, spread * of_spread),
        "slope": Value::Null,
        "std_dev": normal(found.deviation, found.deviation * of_spread)
    })
}

/// The limits of outliers by Tukey: far below, below, above, far above.
fn fences(cell: &ExportCell) -> Value {
    let at = |part: f64| quantile(&cell.wall, part).unwrap_or(0.0);
    let (low, high) = (at(0.25), at(0.75));
    let between = high - low;
    json!([low - 3.0 * between, low - 1.5 * between, high + 1.5 * between, high + 3.0 * between])
}

/// A folder that no other benchmark has: names that were cut, or whose symbols were replaced, may be equal.
fn alone(place: String, taken: &mut BTreeSet<String>) -> String {
    let numbered = (2..).map(|number| format!("{place}_{number}"));
    let free = std::iter::once(place.clone()).chain(numbered).find(|name| taken.insert(name.clone()));
    free.expect("there are more numbers than benchmarks")
}

/// As criterion names folders: what a path may not hold becomes `_`, at most 64 characters.
fn folder_name(name: &str) -> String {
    let safe = |c: char| if c.is_control() || "?\"/\\*<>:|^".contains(c) { '_' } else { c };
    let name: String = name.chars().map(safe).take(64).collect();
    if name.chars().all(|c| c == '.') { "_".repeat(name.len().max(1)) } else { name }
}
