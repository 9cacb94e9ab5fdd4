//! pytest-benchmark's JSON (`--benchmark-json=FILE.json`), or else the table that it prints.
//!
//! Method: `benchmarks[].stats.median` is one value, in seconds per round; `fullname` tells tests of several files apart. The
//! JSON is looked for among the files written during the execution; where there is none, [`table`] is read.
//! Limits: single rounds (`stats.data`) are not read: there are up to 100,000 of them in one process, and they share its luck.
//! Source: the reports of pytest-benchmark 3.2 to 5.1.
//! Checked by: its JSON and table in `fixtures/adapters`; others by hand.

mod table;

use super::json::documents;
use super::{BenchmarkClock, BenchmarkOutput, ExecutionFigures, FigureError, Unit, ambiguous, repetitions};
use serde::Deserialize;

/// How errors and `--adapter` name it.
pub const NAME: &str = "pytest-benchmark";
const NS_PER_S: f64 = 1e9;
/// Keys that no other library's JSON has together.
const KEYS: [&str; 3] = ["\"benchmarks\"", "\"fullname\"", "\"stats\""];

#[derive(Deserialize)]
struct PytestReport {
    benchmarks: Vec<PytestBenchmark>,
}

#[derive(Deserialize)]
struct PytestBenchmark {
    name: String,
    fullname: String,
    stats: PytestStatistics,
}

#[derive(Deserialize)]
struct PytestStatistics {
    median: f64,
}

/// Whether it wrote its JSON or printed its table.
pub fn is_in(output: &BenchmarkOutput) -> bool {
    output.json.iter().any(|file| is_json(&file.text)) || table::is_in(&output.stdout)
}

fn is_json(text: &str) -> bool {
    KEYS.iter().all(|key| text.contains(key))
}

/// Reads the files, or else what was printed.
///
/// # Errors
/// There is neither, the JSON is broken, or nothing has a time above 0.
pub fn read(output: &BenchmarkOutput) -> Result<ExecutionFigures, FigureError> {
    let mut found = Vec::new();
    for file in output.json.iter().filter(|file| is_json(&file.text)) {
        let reports: Vec<PytestReport> = documents(&file.text).map_err(|error| {
            FigureError::malformed(NAME, &file.name, "`benchmarks` with `stats.median`", error)
        })?;
        found.extend(reports.into_iter().flat_map(|report| report.benchmarks));
    }
    let (results, notes) =
        if found.is_empty() { table::read(&output.stdout) } else { (named(&found), Vec::new()) };
    let series = repetitions(results);
    if series.is_empty() && notes.is_empty() {
        let expected =
            "its table of Min, Max, Mean, or the JSON of --benchmark-json=FILE.json below the folder";
        return Err(FigureError::nothing(NAME, expected, &output.stdout));
    }
    let mut reading = ExecutionFigures { notes, ..ExecutionFigures::default() };
    for (name, values) in series {
        reading.add(name, Unit::ns_per("round"), BenchmarkClock::Wall, &values, None);
    }
    reading.or_failed(NAME)
}

/// The test's name where it tells all apart, else the file's too.
fn named(found: &[PytestBenchmark]) -> Vec<(String, f64)> {
    let ambiguous = ambiguous(found.iter().map(|one| (one.name.as_str(), one.fullname.as_str())));
    let name = |one: &PytestBenchmark| {
        let is_ambiguous = ambiguous.contains(one.name.as_str());
        if is_ambiguous { one.fullname.clone() } else { one.name.clone() }
    };
    found.iter().map(|one| (name(one), one.stats.median * NS_PER_S)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::Document;
    use super::*;

    fn written(text: &str) -> BenchmarkOutput {
        let file = Document { name: "out.json".into(), text: text.into() };
        BenchmarkOutput { json: vec![file], ..BenchmarkOutput::default() }
    }

    #[test]
    fn files_tell_namesakes_apart() {
        let one = |file: &str, name: &str, median: f64| {
            format!(
                r#"{{"group": null, "name": "{name}", "fullname": "{file}::{name}", "stats": {{"min": 0.0, "median": {median}}}}}"#
            )
        };
        let all = [one("a.py", "test_x", 0.5), one("b.py", "test_x", 0.25), one("b.py", "test_y", 2.0)];
        let output = written(&format!(r#"{{"machine_info": {{}}, "benchmarks": [{}]}}"#, all.join(", ")));
        assert!(is_in(&output));
        let found = read(&output).unwrap().figures;
        let values: Vec<(&str, f64)> =
            found.iter().map(|figure| (figure.name.as_str(), figure.values[0])).collect();
        assert_eq!(values, [("a.py::test_x", 5e8), ("b.py::test_x", 2.5e8), ("test_y", 2e9)]);
    }

    #[test]
    fn what_is_broken_or_missing_is_said() {
        let broken = written(r#"{"benchmarks": [{"fullname": "a", "name": "a", "stats": {}}]}"#);
        assert!(matches!(read(&broken), Err(FigureError::Malformed { .. })));
        let google = written(r#"{"benchmarks": [{"name": "a", "run_type": "iteration"}]}"#);
        assert!(!is_in(&google));
        assert!(matches!(read(&google), Err(FigureError::Nothing { .. })));
    }
}
