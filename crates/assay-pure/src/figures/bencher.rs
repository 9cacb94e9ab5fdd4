//! Bencher Metric Format: `{"benchmark": {"measure": {"value", "lower_value", "upper_value"}}}`.
//!
//! Method: each measure of each benchmark is one value; `latency` is in nanoseconds, as Bencher has it. Throughput, of which
//! more is better, is left out with a note. Of other measures less is taken to be better.
//! Source: bencher.dev/docs/reference/bencher-metric-format. Checked by: metrics by hand, and what assay itself exports.

use super::FigureError;
use super::json::without_nan;
use serde::Deserialize;
use std::collections::BTreeMap;

/// How errors name it.
pub const NAME: &str = "bmf";

#[derive(Deserialize)]
struct BencherValue {
    value: f64,
    lower_value: Option<f64>,
    upper_value: Option<f64>,
}

/// One value.
#[derive(Clone, Debug, PartialEq)]
pub struct Metric {
    /// The benchmark, with the measure where that is not the latency.
    pub name: String,
    /// The value.
    pub value: f64,
    /// `ns/op`, or the measure's name.
    pub unit: String,
    /// Its bounds, where both are given.
    pub interval: Option<(f64, f64)>,
}

/// All metrics of a file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Metrics {
    /// In the order of names.
    pub metrics: Vec<Metric>,
    /// What was left out.
    pub notes: Vec<String>,
}

/// Reads a file.
///
/// # Errors
/// It is not of the format, or has no value above 0.
pub fn read(text: &str) -> Result<Metrics, FigureError> {
    let expected = "`{\"benchmark\": {\"measure\": {\"value\": 1.0}}}`";
    let parsed: BTreeMap<String, BTreeMap<String, BencherValue>> =
        serde_json::from_str(&without_nan(text))
            .map_err(|error| FigureError::malformed(NAME, "the file", expected, error))?;
    let mut found = Metrics::default();
    for (benchmark, measures) in parsed {
        for (measure, value) in measures {
            if measure == "throughput" {
                found.notes.push(format!("{benchmark}: throughput left out, as more of it is better."));
            } else if !(value.value.is_finite() && value.value > 0.0) {
                found
                    .notes
                    .push(format!("{benchmark}, {measure}: {} left out, as it is not above 0.", value.value));
            } else {
                let latency = measure == "latency";
                let name = if latency { benchmark.clone() } else { format!("{benchmark}, {measure}") };
                found.metrics.push(Metric {
                    name,
                    value: value.value,
                    unit: if latency { "ns/op".to_owned() } else { measure },
                    interval: value.lower_value.zip(value.upper_value),
                });
            }
        }
    }
    match found.metrics.is_empty() {
        true if found.notes.is_empty() => Err(FigureError::nothing(NAME, expected, text)),
        true => Err(FigureError::Failed { adapter: NAME, notes: found.notes }),
        false => Ok(found),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measures_are_values_with_their_bounds() {
        let text = r#"{"f": {"latency": {"value": 88.0, "lower_value": 87.42, "upper_value": 88.88},
                      "throughput": {"value": 3.0}, "instructions": {"value": 12.0}}}"#;
        let found = read(text).unwrap();
        let metric = |name: &str, value, unit: &str, interval| Metric {
            name: name.into(),
            value,
            unit: unit.into(),
            interval,
        };
        let wanted = [
            metric("f, instructions", 12.0, "instructions", None),
            metric("f", 88.0, "ns/op", Some((87.42, 88.88))),
        ];
        assert_eq!(found.metrics, wanted);
        assert_eq!(found.notes, ["f: throughput left out, as more of it is better."]);
    }

    #[test]
    fn other_texts_are_refused() {
        assert!(matches!(read("[]"), Err(FigureError::Malformed { .. })));
        assert!(matches!(read("{}"), Err(FigureError::Nothing { .. })));
        assert!(matches!(read(r#"{"a": {"latency": {"value": 0}}}"#), Err(FigureError::Failed { .. })));
    }
}
