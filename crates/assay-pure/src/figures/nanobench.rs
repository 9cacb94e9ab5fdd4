//! nanobench's JSON, as its template `templates::json()` renders it, or else the table that it prints.
//!
//! Method: `results[].measurements[].elapsed` is the wall time of one iteration of one epoch, in seconds; divided by `batch`,
//! as the library's own table does, it is one value per epoch, in nanoseconds per `unit`. Results of one name and title are repetitions. The JSON is looked for in what was printed, then in JSON files
//! written during the execution; where there is none, [`table`] is read, for most programs print nothing else.
//! Limits: where the measurements are left out of a template, `median(elapsed)` is one value.
//! Source: nanobench.h 4.6.0, the function `json` of its templates.
//! Checked by: its JSON in `fixtures/adapters`; others by hand.

mod table;

use super::json::{documents, documents_among_lines};
use super::{BenchmarkClock, BenchmarkOutput, ExecutionFigures, FigureError, Unit};
use serde::Deserialize;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// How errors and `--adapter` name it.
pub const NAME: &str = "nanobench";
const NS_PER_S: f64 = 1e9;
/// A key that no other library's JSON has.
const KEY: &str = "\"median(elapsed)\"";

#[derive(Deserialize)]
struct NanobenchReport {
    results: Vec<NanobenchRecord>,
}

#[derive(Deserialize)]
struct NanobenchRecord {
    #[serde(default)]
    title: String,
    name: String,
    #[serde(default)]
    unit: String,
    batch: Option<f64>,
    #[serde(rename = "median(elapsed)")]
    median_s: Option<f64>,
    #[serde(default)]
    measurements: Vec<Measurement>,
}

#[derive(Deserialize)]
struct Measurement {
    elapsed: Option<f64>,
}

/// Values of one title, name and unit.
struct NanobenchSeries {
    title: String,
    name: String,
    unit: String,
    values: Vec<f64>,
}

/// Those of one title, name and unit as one, in the order in which they come first.
fn joined(all: Vec<NanobenchSeries>) -> Vec<NanobenchSeries> {
    let mut found: Vec<NanobenchSeries> = Vec::new();
    let mut places = HashMap::new();
    for series in all {
        let key = (series.title.clone(), series.name.clone(), series.unit.clone());
        match places.entry(key) {
            Entry::Occupied(place) => {
                let known: &mut NanobenchSeries = &mut found[*place.get()];
                known.values.extend(series.values);
            }
            Entry::Vacant(new) => {
                new.insert(found.len());
                found.push(series);
            }
        }
    }
    found
}

/// Whether nanobench printed its table, or printed or wrote its JSON.
pub fn is_in(output: &BenchmarkOutput) -> bool {
    output.stdout.contains(KEY)
        || output.json.iter().any(|file| file.text.contains(KEY))
        || table::is_in(output.printed())
}

/// Reads the JSON that was printed, or else that of files, or else the table.
///
/// # Errors
/// There is neither JSON nor table of nanobench, the JSON is broken, or nothing has a time.
pub fn read(output: &BenchmarkOutput) -> Result<ExecutionFigures, FigureError> {
    const EXPECTED: &str = "`results` with `measurements`";
    let (mut reports, broken) = documents_among_lines::<NanobenchReport>(&output.stdout, "\"results\"");
    if reports.is_empty() && output.stdout.contains(KEY) {
        let found =
            broken.map_or_else(|| "no document that begins a line".to_owned(), |error| error.to_string());
        return Err(FigureError::malformed(NAME, "what was printed", EXPECTED, found));
    }
    if reports.is_empty() {
        for file in output.json.iter().filter(|file| file.text.contains(KEY)) {
            let found = documents(&file.text)
                .map_err(|error| FigureError::malformed(NAME, &file.name, EXPECTED, error))?;
            reports.extend::<Vec<NanobenchReport>>(found);
        }
    }
    if reports.is_empty() {
        let (rows, notes) = table::read(output.printed());
        if rows.is_empty() && notes.is_empty() {
            let expected = "its table of ns/op, op/s, err%, or the JSON of \
                            ankerl::nanobench::render(ankerl::nanobench::templates::json(), bench, out), printed or in a \
                            .json file below the folder";
            return Err(FigureError::nothing(NAME, expected, output.printed()));
        }
        let mut reading = figures(&rows);
        reading.notes.extend(notes);
        return reading.or_failed(NAME);
    }
    let mut reading = figures(&gather(reports));
    if reading.figures.is_empty() && reading.notes.is_empty() {
        reading.notes.push("The JSON has no results.".to_owned());
    }
    reading.or_failed(NAME)
}

fn gather(reports: Vec<NanobenchReport>) -> Vec<NanobenchSeries> {
    let mut all: Vec<NanobenchSeries> = Vec::new();
    for result in reports.into_iter().flat_map(|report| report.results) {
        let per_unit = |seconds: Option<f64>| {
            seconds.unwrap_or(f64::NAN) * NS_PER_S / result.batch.filter(|batch| *batch > 0.0).unwrap_or(1.0)
        };
        let mut values: Vec<f64> = result.measurements.iter().map(|one| per_unit(one.elapsed)).collect();
        if values.is_empty() {
            values.push(per_unit(result.median_s));
        }
        let NanobenchRecord { title, name, unit, .. } = result;
        all.push(NanobenchSeries { title, name, unit, values });
    }
    joined(all)
}

/// Names alone where they tell all apart, else with their titles, else with their units too.
fn figures(all: &[NanobenchSeries]) -> ExecutionFigures {
    let mut reading = ExecutionFigures::default();
    let mut of_name: HashMap<&str, usize> = HashMap::new();
    let mut of_title: HashMap<(&str, &str), usize> = HashMap::new();
    for series in all {
        *of_name.entry(&series.name).or_default() += 1;
        *of_title.entry((&series.name, &series.title)).or_default() += 1;
    }
    for series in all {
        let (name, title) = (series.name.as_str(), series.title.as_str());
        let name = match (of_name[name], of_title[&(name, title)]) {
            (1, _) => series.name.clone(),
            (_, 1) => format!("{}: {}", series.title, series.name),
            _ => format!("{}: {} ({})", series.title, series.name, series.unit),
        };
        let per = if series.unit.is_empty() { "op" } else { &series.unit };
        reading.add(name, Unit::ns_per(per), BenchmarkClock::Wall, &series.values, None);
    }
    reading
}

#[cfg(test)]
mod tests {
    use super::super::Document;
    use super::*;

    fn result(title: &str, name: &str, elapsed: &[f64]) -> String {
        let epochs: Vec<String> =
            elapsed.iter().map(|time| format!("{{\"iterations\": 9, \"elapsed\": {time}}}")).collect();
        format!(
            "{{\"title\": \"{title}\", \"name\": \"{name}\", \"unit\": \"op\", \"batch\": 1, \
             \"median(elapsed)\": 3e-09, \"medianAbsolutePercentError(elapsed)\": nan, \"measurements\": [{}]}}",
            epochs.join(",")
        )
    }

    fn report(results: &[String]) -> String {
        format!("{{\n \"results\": [{}]\n}}\n", results.join(","))
    }

    fn printed(stdout: String) -> BenchmarkOutput {
        BenchmarkOutput { stdout, ..BenchmarkOutput::default() }
    }

    #[test]
    fn each_epoch_is_one_value() {
        let output = printed("| ns/op |\n".to_owned() + &report(&[result("t", "a", &[2e-9, 4e-9])]));
        assert!(is_in(&output));
        let reading = read(&output).unwrap();
        assert_eq!((reading.figures[0].name.as_str(), &reading.figures[0].unit), ("a", &Unit::ns_per("op")));
        let expected = [2.0, 4.0];
        assert!(
            reading.figures[0]
                .values
                .iter()
                .zip(expected)
                .all(|(value, known)| (value - known).abs() < 1e-12)
        );
    }

    #[test]
    fn a_batch_is_divided_by() {
        let text = report(&[result("t", "a", &[64e-9])]).replace("\"batch\": 1", "\"batch\": 64");
        assert!((read(&printed(text)).unwrap().figures[0].values[0] - 1.0).abs() < 1e-12);
    }

    #[test]
    fn files_are_read_where_nothing_was_printed() {
        let file = Document { name: "out/a.json".into(), text: report(&[result("t", "a", &[])]) };
        let other = Document { name: "other.json".into(), text: "[1, 2".into() };
        let output = BenchmarkOutput { json: vec![other, file], ..BenchmarkOutput::default() };
        assert!(is_in(&output));
        assert!((read(&output).unwrap().figures[0].values[0] - 3.0).abs() < 1e-12);
    }

    #[test]
    fn titles_tell_namesakes_apart() {
        let names = |results: &[String]| -> Vec<String> {
            let reading = read(&printed(report(results))).unwrap();
            reading.figures.into_iter().map(|figure| figure.name).collect()
        };
        let (a, b) = (result("t", "a", &[1e-9]), result("u", "a", &[1e-9]));
        assert_eq!(names(&[a.clone(), b]), ["t: a", "u: a"]);
        assert_eq!(names(&[a.clone(), a.clone()]), ["a"]);
        assert_eq!(names(&[a.clone(), a.replace("\"op\"", "\"byte\"")]), ["t: a (op)", "t: a (byte)"]);
    }

    #[test]
    fn what_is_broken_or_missing_is_said() {
        let whole = report(&[result("t", "a", &[1e-9])]);
        let error = read(&printed(whole[..whole.len() - 8].to_owned())).unwrap_err().to_string();
        assert!(error.contains("what was printed: expected `results`"), "{error}");
        let error = read(&printed("| ns/op | op/s |\n".into())).unwrap_err().to_string();
        assert!(error.contains("templates::json()") && error.contains("| | ns/op"), "{error}");
        let error = read(&printed(report(&[result("t", "a", &[0.0])]))).unwrap_err().to_string();
        assert!(error.contains("not above 0"), "{error}");
    }
}
