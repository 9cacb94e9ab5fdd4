//! The lines of `xxhsum -b`: how often a sample is hashed per second, by each variant.
//!
//! Method: a line ` 3#XXH64 : 102400 -> 69523 it/s ( 6789.4 MB/s)` is the time of hashing the sample once, by the column with
//! more digits; a megabyte is 1024 * 1024 bytes, as xxhsum counts. `XXH64 unaligned` is a benchmark of its own. The line is overwritten while it is measured; its end counts.
//! Limits: the fastest loop is reported. It runs for a fixed time, so the time of the whole command says nothing.
//! Source: cli/xsum_bench.c of xxHash 0.8.1.
//! Checked by: its lines in `fixtures/adapters`; others by hand.

use super::printed::{PrintedNumber, finest, lines};
use super::{BenchmarkClock, BenchmarkOutput, ExecutionFigures, FigureError, Unit, repetitions};
use regex::Regex;
use std::sync::LazyLock;

/// How errors and `--adapter` name it.
pub const NAME: &str = "xxhsum";
const NS_PER_S: f64 = 1e9;
const MEGABYTE: f64 = 1048576.0;

static LINE: LazyLock<Regex> = LazyLock::new(|| {
    let line = r"^ *\d+#(?<name>.+?) *: *(?<size>\d+) -> *(?<times>[\d.]+) it/s \( *(?<rate>[\d.]+) MB/s\)";
    Regex::new(line).expect("a regular expression")
});

/// Whether it printed its line.
pub fn is_in(output: &BenchmarkOutput) -> bool {
    [&output.stdout, &output.stderr].iter().any(|text| lines(text).any(|line| LINE.is_match(&line)))
}

/// Reads all lines that were printed, on either stream.
///
/// # Errors
/// There is none, or none has a rate above 0.
pub fn read(output: &BenchmarkOutput) -> Result<ExecutionFigures, FigureError> {
    let all = [&output.stdout, &output.stderr].into_iter().flat_map(|text| lines(text));
    let series = repetitions(all.filter_map(|line| result(&line)));
    if series.is_empty() {
        let expected = "lines such as ` 3#XXH64 : 102400 -> 69523 it/s ( 6789.4 MB/s)`";
        return Err(FigureError::nothing(NAME, expected, output.printed()));
    }
    let mut reading = ExecutionFigures::default();
    for (name, values) in series {
        reading.add(name, Unit::ns_per("iteration"), BenchmarkClock::Manual, &values, None);
    }
    reading.or_failed(NAME)
}

fn result(line: &str) -> Option<(String, f64)> {
    let found = LINE.captures(line)?;
    let number = |group: &str| PrintedNumber::read(&found[group]);
    let (size, times, rate) = (number("size")?, number("times")?, number("rate")?);
    let by_rate = size.value * NS_PER_S / (rate.value * MEGABYTE);
    let value = finest(&[(times, NS_PER_S / times.value), (rate, by_rate)]).unwrap_or(0.0);
    Some((found["name"].to_owned(), value))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(text: &str) -> BenchmarkOutput {
        BenchmarkOutput { stderr: text.into(), ..BenchmarkOutput::default() }
    }

    #[test]
    fn the_column_with_more_digits_is_the_time_of_a_sample() {
        let text = "xxhsum 0.8.1 by Yann Collet \nSample of 100 KB...        \n\
                    1-XXH64              :     102400 ->    10000 it/s (  976.6 MB/s) \r 1#XXH64              :     102400 ->    \
                    20000 it/s ( 1953.1 MB/s) \n 2#XXH64 unaligned  :    1048576 ->        5 it/s ( 5.123 MB/s) \n";
        assert!(is_in(&printed(text)));
        let found = read(&printed(text)).unwrap().figures;
        let values: Vec<(&str, f64)> =
            found.iter().map(|figure| (figure.name.as_str(), figure.values[0])).collect();
        assert_eq!(values, [("XXH64", 50_000.0), ("XXH64 unaligned", 1e9 / 5.123)]);
    }

    #[test]
    fn other_lines_are_none() {
        for text in ["1-XXH64 : 102400 -> 10000 it/s (  976.6 MB/s) \n", " 1#XXH64 : 102400 -> 10000 it/s\n"]
        {
            assert!(!is_in(&printed(text)), "{text}");
            assert!(matches!(read(&printed(text)), Err(FigureError::Nothing { .. })), "{text}");
        }
    }
}
