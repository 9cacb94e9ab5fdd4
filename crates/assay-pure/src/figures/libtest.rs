//! The lines of Rust's own benchmarks (`#[bench]`), as `cargo bench` of a nightly compiler prints them.
//!
//! Method: a line `test NAME ... bench:  1,234.50 ns/iter (+/- 9.10)` is one value, the median of the library's samples;
//! lines of one name are repetitions.
//! Limits: compilers before 1.80 print whole nanoseconds, which is a step of 1 % at 100 ns. The spread in brackets is of
//! samples within one process and is not read. The crate bencher prints the same.
//! Source: library/test/src/formatters/pretty.rs of Rust.
//! Checked by: its lines in `fixtures/adapters`; others by hand.

use super::printed::{PrintedNumber, lines};
use super::{BenchmarkClock, BenchmarkOutput, ExecutionFigures, FigureError, Unit, repetitions};

/// How errors and `--adapter` name it.
pub const NAME: &str = "libtest";

/// Whether a benchmark printed its line.
pub fn is_in(output: &BenchmarkOutput) -> bool {
    lines(&output.stdout).any(|line| result(&line).is_some())
}

/// Reads all lines that were printed.
///
/// # Errors
/// There is none, or none has a time above 0.
pub fn read(output: &BenchmarkOutput) -> Result<ExecutionFigures, FigureError> {
    let series = repetitions(lines(&output.stdout).filter_map(|line| result(&line)));
    if series.is_empty() {
        let expected = "lines such as `test name ... bench:  1,234.50 ns/iter (+/- 9.10)`";
        return Err(FigureError::nothing(NAME, expected, &output.stdout));
    }
    let mut reading = ExecutionFigures::default();
    for (name, values) in series {
        reading.add(name, Unit::ns_per("iteration"), BenchmarkClock::Wall, &values, None);
    }
    reading.or_failed(NAME)
}

fn result(line: &str) -> Option<(String, f64)> {
    // With --quiet every other test leaves a letter in the line, an `i` where it was ignored.
    let line = line.trim_start_matches(['.', 'i', 'F', 'a']);
    let (name, measured) = line.strip_prefix("test ")?.split_once(" ... bench:")?;
    let (time, spread) = measured.trim_start().split_once(" ns/iter (+/- ")?;
    let (spread, _) = spread.split_once(')')?;
    PrintedNumber::read(spread)?;
    Some((name.trim().to_owned(), PrintedNumber::read(time)?.value))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(text: &str) -> BenchmarkOutput {
        BenchmarkOutput { stdout: text.into(), ..BenchmarkOutput::default() }
    }

    #[test]
    fn old_and_new_lines_are_read() {
        let text = "running 3 tests\ntest broken ... FAILED\n\
                    test a::old     ... bench:       1,234 ns/iter (+/- 56) = 833 MB/s\n\
                    i.test new ... bench:           0.31 ns/iter (+/- 0.02)\ntest new ... bench: 0.33 ns/iter (+/- 0.00)\n\
                    test result: ok. 0 passed; 0 failed; 0 ignored; 3 measured; 0 filtered out\n";
        assert!(is_in(&printed(text)));
        let found = read(&printed(text)).unwrap().figures;
        let values: Vec<(&str, &[f64])> =
            found.iter().map(|figure| (figure.name.as_str(), &figure.values[..])).collect();
        assert_eq!(values, [("a::old", &[1234.0][..]), ("new", &[0.31, 0.33])]);
    }

    #[test]
    fn other_lines_are_none() {
        for text in [
            "test a ... ok\n",
            "test a ... bench: 12 us/iter (+/- 1)\n",
            "test a ... bench: 12 ns/iter\n",
            "best a ... bench: 12 ns/iter (+/- 1)\n",
            "test a ... bench: -12 ns/iter (+/- 1)\n",
        ] {
            assert!(!is_in(&printed(text)), "{text}");
            assert!(matches!(read(&printed(text)), Err(FigureError::Nothing { .. })), "{text}");
        }
    }
}
