//! Catch2's benchmarks, as its console and its XML reporter print them.
//!
//! Method: the mean is one value; the XML (`-r xml`) has it in nanoseconds with more digits, so it is preferred where both
//! were printed. Benchmarks of one name are told apart by their test cases, and are repetitions within one.
//! Limits: single samples are not printed. A mean printed as `163 ns` is a step of 0.3 to 0.6 %.
//! Source: the reporters of Catch2 2.13 and 3.8.
//! Checked by: outputs of both reporters in `fixtures/adapters`; others by hand.

mod console;
mod xml;

use super::{BenchmarkClock, BenchmarkOutput, ExecutionFigures, FigureError, Unit, ambiguous, repetitions};

/// How errors and `--adapter` name it.
pub const NAME: &str = "catch2";

/// One mean, or none where the benchmark failed.
#[derive(Debug, PartialEq)]
struct CatchMean {
    test_case: String,
    name: String,
    ns: Option<f64>,
}

/// Whether a benchmark was reported.
pub fn is_in(output: &BenchmarkOutput) -> bool {
    xml::is_in(&output.stdout) || console::is_in(&output.stdout)
}

/// Reads the XML, or else the tables of the console.
///
/// # Errors
/// There is neither, or no benchmark has a time above 0.
pub fn read(output: &BenchmarkOutput) -> Result<ExecutionFigures, FigureError> {
    let in_xml = xml::read(&output.stdout);
    let all = if in_xml.is_empty() { console::read(&output.stdout) } else { in_xml };
    if all.is_empty() {
        let expected = "its table of `benchmark name  samples  iterations`, or `BenchmarkResults` of -r xml";
        return Err(FigureError::nothing(NAME, expected, &output.stdout));
    }
    let mut reading = ExecutionFigures::default();
    for failed in all.iter().filter(|mean| mean.ns.is_none()) {
        reading.notes.push(format!("{}: the benchmark failed.", failed.name));
    }
    let ambiguous = ambiguous(all.iter().map(|mean| (mean.name.as_str(), mean.test_case.as_str())));
    let name = |mean: &CatchMean| match ambiguous.contains(mean.name.as_str()) {
        true => format!("{}/{}", mean.test_case, mean.name),
        false => mean.name.clone(),
    };
    for (name, values) in repetitions(all.iter().filter_map(|mean| Some((name(mean), mean.ns?)))) {
        reading.add(name, Unit::ns_per("iteration"), BenchmarkClock::Wall, &values, None);
    }
    reading.or_failed(NAME)
}
