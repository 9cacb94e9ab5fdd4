//! criterion's files, or the messages of cargo-criterion.
//!
//! Method: under `cargo bench` criterion writes a folder per benchmark below the one that `CRITERION_HOME` names:
//! `new/benchmark.json` with its name, `new/sample.json` with calls and nanoseconds of each sample. One value per sample,
//! time over calls. Under cargo-criterion it writes other files; its `--message-format=json` prints the same numbers.
//! Limits: criterion reads nothing else from the environment, so time per benchmark and filter stay as the command has
//! them. The files are its own affair and may change: where there is no sample, the median of `estimates.json` is one value.
//! Measurements by other means than time keep their unit only in messages.
//! Source: criterion 0.5.1 (files), the book's page on external tools (messages).
//! Checked by: files of version 0.5.1 in `fixtures/adapters`; messages by hand.

use super::json::without_nan;
use super::unit::understood;
use super::{BenchmarkClock, BenchmarkOutput, Document, ExecutionFigures, FigureError, Unit};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::collections::HashMap;

/// How errors and `--adapter` name it.
pub const NAME: &str = "criterion";
/// What each message of a finished benchmark holds.
const COMPLETE: &str = "\"benchmark-complete\"";

#[derive(Deserialize)]
struct CriterionBenchmark {
    full_id: String,
}

#[derive(Deserialize)]
struct CriterionSample {
    iters: Vec<f64>,
    times: Vec<f64>,
}

#[derive(Deserialize)]
struct Estimates {
    median: PointEstimate,
}

#[derive(Deserialize)]
struct PointEstimate {
    point_estimate: f64,
}

#[derive(Deserialize)]
struct Message {
    id: String,
    iteration_count: Vec<f64>,
    measured_values: Vec<f64>,
    #[serde(default)]
    unit: Option<String>,
}

/// Whether criterion left files or messages.
pub fn is_in(output: &BenchmarkOutput) -> bool {
    output.criterion.iter().any(|file| folder_of(file, "benchmark.json").is_some())
        || output.stdout.contains(COMPLETE)
}

/// Reads the files, or else the messages.
///
/// # Errors
/// There are none, or one is broken.
pub fn read(output: &BenchmarkOutput) -> Result<ExecutionFigures, FigureError> {
    let mut reading = ExecutionFigures::default();
    let of = |name: &'static str| -> HashMap<&str, &Document> {
        let all = output.criterion.iter().rev();
        all.filter_map(|file| Some((folder_of(file, name)?, file))).collect()
    };
    let beside = Beside { samples: of("sample.json"), estimates: of("estimates.json") };
    for file in &output.criterion {
        if let Some(folder) = folder_of(file, "benchmark.json") {
            read_folder(folder, file, &beside, &mut reading)?;
        }
    }
    if reading.figures.is_empty() {
        for line in output.stdout.lines().filter(|line| line.contains(COMPLETE)) {
            read_message(line, &mut reading)?;
        }
    }
    if reading.figures.is_empty() && reading.notes.is_empty() {
        let expected = "files below the folder that CRITERION_HOME names (cargo bench), or messages (cargo criterion \
                        --message-format=json)";
        return Err(FigureError::nothing(NAME, expected, &output.stdout));
    }
    reading.or_failed(NAME)
}

/// The folder `.../new` of a file of this name.
fn folder_of<'a>(file: &'a Document, name: &str) -> Option<&'a str> {
    let folder = file.name.strip_suffix(name)?.strip_suffix('/')?;
    (folder == "new" || folder.ends_with("/new")).then_some(folder)
}

/// What lies in the folders of benchmarks.
struct Beside<'a> {
    samples: HashMap<&'a str, &'a Document>,
    estimates: HashMap<&'a str, &'a Document>,
}

fn read_folder(
    folder: &str,
    benchmark: &Document,
    beside: &Beside<'_>,
    reading: &mut ExecutionFigures,
) -> Result<(), FigureError> {
    let CriterionBenchmark { full_id } = parsed(benchmark, "`full_id`")?;
    let unit = Unit::ns_per("iteration");
    if let Some(file) = beside.samples.get(folder) {
        let sample: CriterionSample = parsed(file, "`iters` and `times`")?;
        let values = per_call(&sample.times, &sample.iters, &file.name)?;
        reading.add(full_id, unit, BenchmarkClock::Wall, &values, None);
    } else if let Some(file) = beside.estimates.get(folder) {
        let estimates: Estimates = parsed(file, "`median.point_estimate`")?;
        reading
            .notes
            .push(format!("{full_id}: criterion saved no samples, so its median counts as one sample."));
        reading.add(full_id, unit, BenchmarkClock::Wall, &[estimates.median.point_estimate], None);
    } else {
        reading.notes.push(format!("{full_id}: criterion saved neither samples nor estimates."));
    }
    Ok(())
}

fn parsed<T: DeserializeOwned>(file: &Document, expected: &str) -> Result<T, FigureError> {
    serde_json::from_str(&without_nan(&file.text))
        .map_err(|error| FigureError::malformed(NAME, &file.name, expected, error))
}

fn per_call(times: &[f64], calls: &[f64], place: &str) -> Result<Vec<f64>, FigureError> {
    if times.len() != calls.len() || times.is_empty() {
        let found = format!("{} times of {} samples", times.len(), calls.len());
        return Err(FigureError::malformed(NAME, place, "a time of each sample", found));
    }
    Ok(times.iter().zip(calls).map(|(time, calls)| time / calls).collect())
}

fn read_message(line: &str, reading: &mut ExecutionFigures) -> Result<(), FigureError> {
    let place = "a message of cargo-criterion";
    let expected = "`id`, `iteration_count` and `measured_values`";
    let message: Message = serde_json::from_str(&without_nan(line))
        .map_err(|error| FigureError::malformed(NAME, place, expected, error))?;
    let values = per_call(&message.measured_values, &message.iteration_count, place)?;
    let (scale, unit) = understood(1.0, message.unit.as_deref().unwrap_or("ns"));
    let values: Vec<f64> = values.iter().map(|value| value * scale).collect();
    reading.add(message.id, unit, BenchmarkClock::Wall, &values, None);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: &str, text: &str) -> Document {
        Document { name: name.into(), text: text.into() }
    }

    fn over(files: &[(&str, &str)]) -> BenchmarkOutput {
        let criterion = files.iter().map(|(name, text)| file(name, text)).collect();
        BenchmarkOutput { criterion, ..BenchmarkOutput::default() }
    }

    const ID: &str = r#"{"group_id":"g","full_id":"g/f/64","title":"x"}"#;

    #[test]
    fn each_sample_is_one_value() {
        let output = over(&[
            ("g/f/64/base/sample.json", "not looked at"),
            ("g/f/64/new/benchmark.json", ID),
            ("g/f/64/new/sample.json", r#"{"sampling_mode":"Linear","iters":[2.0,4.0],"times":[7.0,16.0]}"#),
        ]);
        assert!(is_in(&output));
        let reading = read(&output).unwrap();
        assert_eq!(
            (reading.figures[0].name.as_str(), &reading.figures[0].values[..]),
            ("g/f/64", &[3.5, 4.0][..])
        );
        assert_eq!(reading.figures[0].clock, BenchmarkClock::Wall);
    }

    #[test]
    fn the_median_stands_in_for_samples_that_are_not_there() {
        let estimates = r#"{"mean":{"point_estimate":9.0},"median":{"point_estimate":8.5}}"#;
        let reading = read(&over(&[("new/benchmark.json", ID), ("new/estimates.json", estimates)])).unwrap();
        assert_eq!(reading.figures[0].values, [8.5]);
        assert!(reading.notes[0].contains("median"));
        let error = read(&over(&[("new/benchmark.json", ID)])).unwrap_err().to_string();
        assert!(error.contains("neither samples nor estimates"), "{error}");
    }

    #[test]
    fn messages_of_cargo_criterion_are_read() {
        let stdout = "{\"reason\":\"benchmark-complete\",\"id\":\"norm\",\"iteration_count\":[30,3000],\
                      \"measured_values\":[1242.0,99371.0],\"unit\":\"us\",\"throughput\":[]}\n\
                      {\"reason\":\"group-complete\",\"group_name\":\"g\"}\n";
        let output = BenchmarkOutput { stdout: stdout.into(), ..BenchmarkOutput::default() };
        assert!(is_in(&output));
        let figure = read(&output).unwrap().figures.remove(0);
        assert_eq!(figure.name, "norm");
        assert!((figure.values[0] - 41400.0).abs() < 1e-9 && (figure.values[1] - 99371.0 / 3.0).abs() < 1e-9);
    }

    #[test]
    fn broken_files_are_named() {
        let cut = over(&[("a/new/benchmark.json", ID), ("a/new/sample.json", "{\"iters\":[1.0")]);
        let error = read(&cut).unwrap_err().to_string();
        assert!(error.contains("a/new/sample.json: expected `iters` and `times`"), "{error}");
        let uneven = "{\"iters\":[1.0,2.0],\"times\":[1.0]}";
        let error = read(&over(&[("a/new/benchmark.json", ID), ("a/new/sample.json", uneven)])).unwrap_err();
        assert!(error.to_string().contains("1 times of 2 samples"), "{error}");
        let output = BenchmarkOutput { stdout: "warning: unused\n".into(), ..BenchmarkOutput::default() };
        let error = read(&output).unwrap_err().to_string();
        assert!(error.contains("CRITERION_HOME") && error.contains("| warning: unused"), "{error}");
    }
}
