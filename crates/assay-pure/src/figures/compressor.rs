//! The lines of `lz4 -b` and `zstd -b`: compression and decompression of a file, in megabytes per second.
//!
//! Method: a line ` 3#silesia.tar : 211957760 -> 66000000 (x3.211), 300.1 MB/s, 1000.2 MB/s` is two benchmarks, for one can
//! become faster and the other slower: `silesia.tar -3/compression` and `.../decompression`. A rate becomes the time of one
//! byte, by the programs' million bytes per megabyte. The line is overwritten while it is measured; its end counts.
//! Limits: both programs report their fastest loop, in four or five digits, and show the last 17 letters of a file's name.
//! They run for a fixed time per level (`-i`), so the time of the whole command says nothing.
//! Source: programs/bench.c of lz4 1.9.4 and 1.10, programs/benchzstd.c of zstd 1.5.4.
//! Checked by: their lines in `fixtures/adapters`; others by hand.

use super::printed::{PrintedNumber, lines};
use super::{BenchmarkClock, BenchmarkOutput, ExecutionFigures, FigureError, Unit, repetitions};
use regex::Regex;
use std::sync::LazyLock;

/// How errors and `--adapter` name it.
pub const NAME: &str = "lz4-zstd";
const NS_PER_BYTE_AT_1_MB_PER_S: f64 = 1e3;

static LINE: LazyLock<Regex> = LazyLock::new(|| {
    let size = r"\d+ -> *\d+ \(x? *[\d.]+\)";
    // The last progress of zstd leaves a space in place of the second comma.
    let line =
        format!(r"^ *(?<level>-?\d+)#(?<file>.*?) *: *{size}, *(?<c>[\d.]+) MB/s[ ,]+(?<d>[\d.]+) MB/s");
    Regex::new(&line).expect("a regular expression")
});

/// Whether one of the programs printed its line.
pub fn is_in(output: &BenchmarkOutput) -> bool {
    [&output.stdout, &output.stderr].iter().any(|text| lines(text).any(|line| LINE.is_match(&line)))
}

/// Reads all lines that were printed, on either stream.
///
/// # Errors
/// There is none, or none has a rate above 0.
pub fn read(output: &BenchmarkOutput) -> Result<ExecutionFigures, FigureError> {
    let all = [&output.stdout, &output.stderr].into_iter().flat_map(|text| lines(text));
    let series = repetitions(all.filter_map(|line| two(&line)).flatten());
    if series.is_empty() {
        let expected = "lines such as ` 3#file : 1000000 -> 300000 (x3.333), 300.1 MB/s, 1000.2 MB/s`";
        return Err(FigureError::nothing(NAME, expected, output.printed()));
    }
    let mut reading = ExecutionFigures::default();
    for (name, values) in series {
        reading.add(name, Unit::ns_per("byte"), BenchmarkClock::Manual, &values, None);
    }
    reading.or_failed(NAME)
}

fn two(line: &str) -> Option<[(String, f64); 2]> {
    let found = LINE.captures(line)?;
    let level = match found["level"].strip_prefix('-') {
        Some(fast) => format!("--fast={fast}"),
        None => format!("-{}", &found["level"]),
    };
    let name = format!("{} {level}", found["file"].trim());
    let one = |what: &str, rate: &str| {
        let rate = PrintedNumber::read(rate)?;
        Some((format!("{name}/{what}").trim_start().to_owned(), NS_PER_BYTE_AT_1_MB_PER_S / rate.value))
    };
    Some([one("compression", &found["c"])?, one("decompression", &found["d"])?])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(text: &str) -> BenchmarkOutput {
        BenchmarkOutput { stdout: text.into(), ..BenchmarkOutput::default() }
    }

    #[test]
    fn a_line_is_two_benchmarks_whose_rates_are_times() {
        let text = "Not enough memory\n /-words.txt : 985084 ->\r /-words.txt         :    985084 ->    307018 (x3.209),  250.0 MB/s \
                    \r |-words.txt         :    985084 ->    307018 (x3.209),  400.0 MB/s , 1000.0 MB/s \r 3#\n\
                    -5#words.txt         :    985084 ->    307018 (3.209), 500.0 MB/s, 2000.0 MB/s\n";
        assert!(is_in(&printed(text)));
        let found = read(&printed(text)).unwrap().figures;
        let values: Vec<(&str, f64)> =
            found.iter().map(|figure| (figure.name.as_str(), figure.values[0])).collect();
        let expected = [
            ("words.txt -3/compression", 2.5),
            ("words.txt -3/decompression", 1.0),
            ("words.txt --fast=5/compression", 2.0),
            ("words.txt --fast=5/decompression", 0.5),
        ];
        assert_eq!(values, expected);
    }

    #[test]
    fn half_a_line_and_other_programs_are_none() {
        for text in [
            " 3#words.txt : 985084 -> 307018 (x3.209), 400.0 MB/s\n",
            " 1#XXH32 : 102400 -> 69523 it/s ( 6789.4 MB/s)\n",
            "#words.txt : 985084 -> 307018 (x3.209), 400.0 MB/s, 1.0 MB/s\n",
        ] {
            assert!(!is_in(&printed(text)), "{text}");
        }
        let none = read(&printed(" 3#a : 1 -> 1 (x1.0), 0.00 MB/s, 1.2.3 MB/s\n"));
        assert!(matches!(none, Err(FigureError::Nothing { .. })));
        let failed = read(&printed(" 3#a : 1 -> 1 (x1.0), 0.00 MB/s, 0.0 MB/s\n"));
        assert!(matches!(failed, Err(FigureError::Failed { .. })));
    }
}
