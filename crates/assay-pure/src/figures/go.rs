//! The lines of Go's `testing` package, as `go test -bench` and compiled test programs print them.
//!
//! Method: a line `BenchmarkName-8  1000  1234 ns/op  ...` is one value, its nanoseconds per operation; lines of one name
//! (`-count`) are repetitions. The number of processors behind the name (`-8`) is left away, as benchstat does. A line
//! `pkg: ...` tells the package of those below; names carry it where there are several.
//! Limits: what a benchmark reports beside `ns/op` (bytes, allocations, its own metrics) is not read. `go test` without
//! `-count` gives one repetition per execution.
//! Source: the format of golang.org/design/14313-benchmark-format.
//! Checked by: an output of Go 1.19 in `fixtures/adapters`; others by hand.

use super::{BenchmarkClock, BenchmarkOutput, ExecutionFigures, FigureError, Unit, repetitions};

/// How errors and `--adapter` name it.
pub const NAME: &str = "go";

/// Whether a benchmark of Go printed its line.
pub fn is_in(output: &BenchmarkOutput) -> bool {
    output.stdout.lines().any(|line| result(line).is_some())
}

/// Reads all lines that were printed.
///
/// # Errors
/// There is none, or none has a time above 0.
pub fn read(output: &BenchmarkOutput) -> Result<ExecutionFigures, FigureError> {
    let mut package = "";
    let results = output.stdout.lines().filter_map(|line| {
        if let Some(named) = line.strip_prefix("pkg: ") {
            package = named.trim();
        }
        result(line).map(|(name, ns)| ((package, name), ns))
    });
    let series = repetitions(results);
    let Some(((first, _), _)) = series.first() else {
        let expected = "lines such as `BenchmarkName-8  1000  1234 ns/op`";
        return Err(FigureError::nothing(NAME, expected, &output.stdout));
    };
    let mut reading = ExecutionFigures::default();
    let several = series.iter().any(|((package, _), _)| package != first);
    for ((package, name), values) in &series {
        let name = if several { format!("{package}: {name}") } else { (*name).to_owned() };
        reading.add(name, Unit::ns_per("op"), BenchmarkClock::Wall, values, None);
    }
    reading.or_failed(NAME)
}

/// The benchmark's name and its nanoseconds, where the line is a result.
fn result(line: &str) -> Option<(&str, f64)> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let (name, rest) = words.split_first()?;
    let (iterations, measured) = rest.split_first()?;
    iterations.parse::<u64>().ok()?;
    let ns = measured.chunks_exact(2).find(|pair| pair[1] == "ns/op")?[0].parse().ok()?;
    let processors = name.rsplit_once('-').filter(|(_, count)| count.parse::<u32>().is_ok());
    name.starts_with("Benchmark").then_some((processors.map_or(*name, |(name, _)| name), ns))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(text: &str) -> Result<Vec<(String, Vec<f64>)>, FigureError> {
        let reading = read(&BenchmarkOutput { stdout: text.into(), ..BenchmarkOutput::default() })?;
        Ok(reading.figures.into_iter().map(|figure| (figure.name, figure.values)).collect())
    }

    #[test]
    fn lines_of_one_name_are_repetitions() {
        let text = "goos: linux\npkg: example.org/p\nBenchmarkSum/n-4-8   \t 5000\t     251.3 ns/op\t 32 B/op\nBenchmarkSum/n-4-8 \
                    \t 5000\t 249 ns/op\nBenchmarkCopy \t 100 \t 2.5 MB/s \t 12 ns/op\nPASS\nok  \texample.org/p\t1.2s\n";
        let expected =
            [("BenchmarkSum/n-4".into(), vec![251.3, 249.0]), ("BenchmarkCopy".into(), vec![12.0])];
        assert_eq!(figures(text).unwrap(), expected);
    }

    #[test]
    fn packages_tell_namesakes_apart() {
        let text = "pkg: a\nBenchmarkX-2 1 10 ns/op\npkg: b\nBenchmarkX-2 1 20 ns/op\n";
        assert_eq!(
            figures(text).unwrap(),
            [("a: BenchmarkX".into(), vec![10.0]), ("b: BenchmarkX".into(), vec![20.0])]
        );
    }

    #[test]
    fn other_lines_are_none() {
        for text in [
            "Benchmark results:\n",
            "BenchmarkX-2 ten 10 ns/op\n",
            "BenchmarkX-2 10 32 B/op\n",
            "SumX 1 10 ns/op\n",
        ] {
            assert!(matches!(figures(text), Err(FigureError::Nothing { .. })), "{text}");
        }
        assert!(matches!(figures("BenchmarkX-2 1 0 ns/op\n"), Err(FigureError::Failed { .. })));
    }
}
