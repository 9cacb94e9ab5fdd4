//! hyperfine's JSON, as `--export-json` writes it.
//!
//! Method: `results[].times` are the wall times of a command's runs in seconds, one value each; `command` is the name, with the
//! parameters of a scan as hyperfine puts them into it. It is looked for in what was printed (`--export-json /dev/stdout`),
//! then in JSON files written during the execution.
//! Limits: its printed summary is not read, for it has no single runs.
//! Source: the export of hyperfine 1.15 to 1.19.
//! Checked by: its JSON in `fixtures/adapters`; others by hand.

use super::json::{documents, documents_among_lines};
use super::{BenchmarkClock, BenchmarkOutput, ExecutionFigures, FigureError, Unit, repetitions};
use serde::Deserialize;

/// How errors and `--adapter` name it.
pub const NAME: &str = "hyperfine";
const NS_PER_S: f64 = 1e9;

#[derive(Deserialize)]
struct HyperfineExport {
    results: Vec<Timed>,
}

#[derive(Deserialize)]
struct Timed {
    command: String,
    times: Option<Vec<f64>>,
    mean: f64,
    /// No other library's JSON has it beside these.
    #[serde(rename = "system")]
    _system: f64,
}

/// Whether hyperfine printed or wrote its JSON.
pub fn is_in(output: &BenchmarkOutput) -> bool {
    !exports(output).is_empty()
}

/// Reads what was printed, or else the files.
///
/// # Errors
/// There is no JSON of hyperfine, or it has no time.
pub fn read(output: &BenchmarkOutput) -> Result<ExecutionFigures, FigureError> {
    let all = exports(output);
    if all.is_empty() {
        let expected = "the JSON of hyperfine --export-json FILE.json, printed or below the folder";
        return Err(FigureError::nothing(NAME, expected, &output.stdout));
    }
    let runs = all.into_iter().flat_map(|export| export.results).flat_map(|timed| {
        let seconds = timed.times.filter(|times| !times.is_empty()).unwrap_or_else(|| vec![timed.mean]);
        seconds.into_iter().map(move |seconds| (timed.command.clone(), seconds * NS_PER_S))
    });
    let mut reading = ExecutionFigures::default();
    for (name, values) in repetitions(runs) {
        reading.add(name, Unit::ns_per("command"), BenchmarkClock::Wall, &values, None);
    }
    reading.or_failed(NAME)
}

fn exports(output: &BenchmarkOutput) -> Vec<HyperfineExport> {
    const KEY: &str = "\"results\"";
    let (printed, _) = documents_among_lines::<HyperfineExport>(&output.stdout, KEY);
    if !printed.is_empty() {
        return printed;
    }
    let files = output.json.iter().filter(|file| file.text.contains(KEY));
    files.filter_map(|file| documents::<HyperfineExport>(&file.text).ok()).flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::super::Document;
    use super::*;

    const JSON: &str = r#"{
  "results": [
    { "command": "sleep 0.1", "mean": 0.1, "stddev": 0.0, "user": 0.001, "system": 0.002, "times": [0.25, 0.5], "exit_codes": [0, 0] },
    { "command": "true", "mean": 0.001, "stddev": null, "user": 0.0, "system": 0.0 }
  ]
}
"#;

    #[test]
    fn runs_are_values_wherever_the_json_is() {
        let printed = BenchmarkOutput {
            stdout: format!("Benchmark 1: sleep 0.1\n{JSON}"),
            ..BenchmarkOutput::default()
        };
        let file = Document { name: "out.json".into(), text: JSON.into() };
        let other =
            Document { name: "nanobench.json".into(), text: r#"{"results": [{"name": "a"}]}"#.into() };
        let written = BenchmarkOutput { json: vec![other, file], ..BenchmarkOutput::default() };
        for output in [printed, written] {
            assert!(is_in(&output));
            let found = read(&output).unwrap().figures;
            assert_eq!((found[0].name.as_str(), &found[0].values), ("sleep 0.1", &vec![2.5e8, 5e8]));
            assert_eq!(found[1].values, [1e6]);
        }
        assert!(!is_in(&BenchmarkOutput { stdout: "Time (mean)".into(), ..BenchmarkOutput::default() }));
    }
}
