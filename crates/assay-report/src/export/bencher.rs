//! Formats of services that keep one number with bounds: Bencher's metrics, github-action-benchmark's customSmallerIsBetter.
//!
//! Contrasts are there too, as ratios: they move less with the machine than times do.
//! Source: bencher.dev/docs/reference/bencher-metric-format; README of github-action-benchmark.

use super::Export;
use serde_json::{Map, Value, json};

/// Bencher Metric Format.
pub fn metrics(export: &Export) -> String {
    let bounded = |[value, lower, upper]: [f64; 3]| json!({ "value": value, "lower_value": lower, "upper_value": upper });
    let mut all = Map::new();
    for cell in &export.cells {
        all.insert(
            format!("{}/{}", export.experiment, cell.name()),
            json!({ "latency": bounded(cell.median) }),
        );
    }
    for contrast in &export.contrasts {
        all.insert(
            format!("{}: {}", export.experiment, contrast.name),
            json!({ "ratio": bounded(contrast.ratio) }),
        );
    }
    crate::json::written(&Value::Object(all))
}

/// github-action-benchmark: `customSmallerIsBetter`.
pub fn smaller_is_better(export: &Export) -> String {
    let range = |[value, lower, upper]: [f64; 3]| {
        let half = (upper - value).max(value - lower);
        // Three digits of whatever size.
        let decimals = if half > 0.0 { (2.0 - half.log10().floor()).clamp(0.0, 20.0) as usize } else { 0 };
        format!("± {half:.decimals$}")
    };
    let mut all: Vec<Value> = Vec::new();
    for cell in &export.cells {
        all.push(json!({
            "name": format!("{}/{}", export.experiment, cell.name()), "unit": format!("ns/{}", export.unit),
            "value": cell.median[0], "range": range(cell.median), "extra": export.cpu
        }));
    }
    for contrast in &export.contrasts {
        all.push(json!({
            "name": format!("{}: {}", export.experiment, contrast.name), "unit": "ratio",
            "value": contrast.ratio[0], "range": range(contrast.ratio), "extra": contrast.verdict
        }));
    }
    crate::json::written(&all)
}
