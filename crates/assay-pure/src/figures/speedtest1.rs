//! The lines of SQLite's speedtest1: one per test, and their sum.
//!
//! Method: behind the head `-- Speedtest1 for SQLite`, a line ` 100 - 50000 INSERTs into table with no index....    0.067s` is
//! one value of the benchmark `100: 50000 INSERTs into table with no index`, and `TOTAL` one of its own. Lines of one name
//! are repetitions.
//! Limits: whole milliseconds are printed; a larger `--size` makes the step smaller. Tests below a millisecond print 0.000
//! and are left out, with a note. The sum has the finest step.
//! Source: test/speedtest1.c of SQLite 3.40 to 3.51.
//! Checked by: its lines in `fixtures/adapters`; others by hand.

use super::printed::{PrintedNumber, lines};
use super::{BenchmarkClock, BenchmarkOutput, ExecutionFigures, FigureError, Unit, repetitions};
use regex::Regex;
use std::sync::LazyLock;

/// How errors and `--adapter` name it.
pub const NAME: &str = "speedtest1";
const HEAD: &str = "-- Speedtest1 for SQLite";
const NS_PER_S: f64 = 1e9;

static TEST: LazyLock<Regex> = LazyLock::new(|| {
    let line = r"^ *(?:(?<number>\d+) - (?<name>.+?)|TOTAL)\.* +(?<seconds>\d+\.\d{3})s$";
    Regex::new(line).expect("a regular expression")
});

/// Whether speedtest1 printed its head.
pub fn is_in(output: &BenchmarkOutput) -> bool {
    lines(&output.stdout).any(|line| line.starts_with(HEAD))
}

/// Reads all lines behind the head.
///
/// # Errors
/// There is no head, or no line with a time above 0.
pub fn read(output: &BenchmarkOutput) -> Result<ExecutionFigures, FigureError> {
    let results =
        lines(&output.stdout).skip_while(|line| !line.starts_with(HEAD)).filter_map(|line| test(&line));
    let series = repetitions(results);
    if series.is_empty() {
        let expected =
            "its head and lines such as ` 100 - 50000 INSERTs into table with no index....    0.067s`";
        return Err(FigureError::nothing(NAME, expected, &output.stdout));
    }
    let mut reading = ExecutionFigures::default();
    for (name, values) in series {
        reading.add(name, Unit::ns_per("test"), BenchmarkClock::Wall, &values, None);
    }
    reading.or_failed(NAME)
}

fn test(line: &str) -> Option<(String, f64)> {
    let found = TEST.captures(line)?;
    let name = match (found.name("number"), found.name("name")) {
        (Some(number), Some(name)) => format!("{}: {}", number.as_str(), name.as_str()),
        _ => "TOTAL".to_owned(),
    };
    Some((name, PrintedNumber::read(&found["seconds"])?.value * NS_PER_S))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRINTED: &str = "\
-- Speedtest1 for SQLite 3.40.1 2022-12-28 14:03:47 df5c253c0b3dd24916e4ec7cf77d3db5294cc9fd45ae7b9c5e82ad8197f3
 100 - 50000 INSERTs into table with no index......................    0.067s
 142 - 10 SELECTS with ORDER BY and LIMIT, unindexed...............    0.014s
 180 - 50000 INSERTS with three indexes............................    0.000s
       TOTAL.......................................................   12.310s
";

    fn printed(text: &str) -> BenchmarkOutput {
        BenchmarkOutput { stdout: text.into(), ..BenchmarkOutput::default() }
    }

    #[test]
    fn each_test_and_the_sum_are_benchmarks() {
        assert!(is_in(&printed(PRINTED)));
        let found = read(&printed(PRINTED)).unwrap();
        let values: Vec<(&str, f64)> =
            found.figures.iter().map(|figure| (figure.name.as_str(), figure.values[0].round())).collect();
        let expected = [
            ("100: 50000 INSERTs into table with no index", 67e6),
            ("142: 10 SELECTS with ORDER BY and LIMIT, unindexed", 14e6),
            ("TOTAL", 12_310e6),
        ];
        assert_eq!(values, expected);
        assert!(
            found.notes[0].starts_with("180: 50000 INSERTS with three indexes: 1 of 1 values"),
            "{:?}",
            found.notes
        );
    }

    #[test]
    fn lines_without_the_head_are_none() {
        let lines = &PRINTED[PRINTED.find('\n').unwrap()..];
        assert!(!is_in(&printed(lines)));
        assert!(matches!(read(&printed(lines)), Err(FigureError::Nothing { .. })));
        let head = PRINTED.lines().next().unwrap();
        assert!(matches!(read(&printed(head)), Err(FigureError::Nothing { .. })));
    }
}
