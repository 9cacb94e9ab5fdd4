//! What `perf bench` prints in its default format.
//!
//! Method: below a head `# Running 'sched/pipe' benchmark:` one figure is read per `# function 'default' (...)`, or one where
//! there are no functions: the time or the rate of an operation, by the line with more digits, else a rate of bytes, else the
//! average of operations, else the total time. Heads of one name are repetitions.
//! Limits: `--format=simple` has no heads and is not read. Bytes are in multiples of 1024, as perf counts them.
//! Source: tools/perf/bench of Linux 6.1.
//! Checked by: its output in `fixtures/adapters`; others by hand.

use super::printed::{PrintedNumber, finest, lines};
use super::unit::nanoseconds_in;
use super::{BenchmarkClock, BenchmarkOutput, ExecutionFigures, FigureError, NamedSeries, Unit};

/// How errors and `--adapter` name it.
pub const NAME: &str = "perf-bench";
const NS_PER_S: f64 = 1e9;

/// What is printed of one benchmark.
#[derive(Default)]
struct Section {
    name: String,
    /// Times and rates of one operation.
    operation: Vec<(PrintedNumber, f64)>,
    byte: Option<f64>,
    average: Option<f64>,
    total: Option<f64>,
}

/// Whether perf printed a head.
pub fn is_in(output: &BenchmarkOutput) -> bool {
    lines(&output.stdout).any(|line| head(&line).is_some())
}

/// Reads all that was printed.
///
/// # Errors
/// There is no head, or nothing below one, or one name has figures of several units.
pub fn read(output: &BenchmarkOutput) -> Result<ExecutionFigures, FigureError> {
    let mut series = NamedSeries::default();
    for section in sections(&output.stdout) {
        let Some((value, unit)) = section.figure() else { continue };
        series.add(&section.name, unit.clone(), value).map_err(|known| {
            let expected = format!("figures in {known}, as before");
            FigureError::malformed(NAME, &section.name, &expected, unit)
        })?;
    }
    let series = series.all();
    if series.is_empty() {
        let expected =
            "a head `# Running 'sched/pipe' benchmark:` and a line such as `8.148123 usecs/op` below it";
        return Err(FigureError::nothing(NAME, expected, &output.stdout));
    }
    let mut reading = ExecutionFigures::default();
    for (name, unit, values) in series {
        reading.add(name, unit, BenchmarkClock::Wall, &values, None);
    }
    reading.or_failed(NAME)
}

impl Section {
    fn new(name: String) -> Section {
        Section { name, ..Section::default() }
    }

    fn figure(&self) -> Option<(f64, Unit)> {
        let of = |value: Option<f64>, per: &str| value.map(|value| (value, Unit::ns_per(per)));
        of(finest(&self.operation), "op")
            .or_else(|| of(self.byte, "byte"))
            .or_else(|| of(self.average, "op"))
            .or_else(|| of(self.total, "run"))
    }

    fn take(&mut self, line: &str) {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            ["Total", "time:", seconds, "[sec]"] => {
                self.total = PrintedNumber::read(seconds).map(|seconds| seconds.value * NS_PER_S);
            }
            ["Averaged", rate, "operations/sec", ..] | ["#", "Averaged", rate, "operations/sec", ..] => {
                self.average = PrintedNumber::read(rate).map(|rate| NS_PER_S / rate.value);
            }
            [number, unit] => self.take_rate(number, unit),
            _ => {}
        }
    }

    fn take_rate(&mut self, number: &str, unit: &str) {
        let (Some(number), Some((amount, per))) = (PrintedNumber::read(number), unit.split_once('/')) else {
            return;
        };
        let bytes = ["B", "KB", "MB", "GB"].iter().position(|known| *known == amount);
        match (amount, per, bytes) {
            ("ops", "sec", _) => self.operation.push((number, NS_PER_S / number.value)),
            (_, "sec", Some(power)) => {
                self.byte = Some(NS_PER_S / (number.value * 1024_f64.powi(power as i32)));
            }
            (_, "op", _) => {
                let scale = nanoseconds_in(amount.strip_suffix('s').unwrap_or(amount));
                self.operation.extend(scale.map(|scale| (number, number.value * scale)));
            }
            _ => {}
        }
    }
}

/// The name in a line `# Running 'sched/pipe' benchmark:`.
fn head(line: &str) -> Option<&str> {
    line.strip_prefix("# Running '")?.trim_end().strip_suffix("' benchmark:")
}

fn sections(text: &str) -> Vec<Section> {
    let mut sections: Vec<Section> = Vec::new();
    let mut benchmark: Option<String> = None;
    for line in lines(text) {
        if let Some(name) = head(&line) {
            benchmark = Some(name.to_owned());
            sections.push(Section::new(name.to_owned()));
        } else if let Some(benchmark) = &benchmark {
            let function = line.strip_prefix("# function '").and_then(|rest| rest.split_once('\''));
            if let Some((function, _)) = function {
                sections.push(Section::new(format!("{benchmark}/{function}")));
            } else if let Some(section) = sections.last_mut() {
                section.take(&line);
            }
        }
    }
    sections
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(text: &str) -> BenchmarkOutput {
        BenchmarkOutput { stdout: text.into(), ..BenchmarkOutput::default() }
    }

    #[test]
    fn every_benchmark_and_function_has_one_figure() {
        let text = "\
# Running 'sched/pipe' benchmark:
# Executed 1000000 pipe operations between two processes

     Total time: 8.148 [sec]

       8.148123 usecs/op
         122729 ops/sec

# Running 'mem/memcpy' benchmark:
# function 'default' (Default memcpy() provided by glibc)
# Copying 1MB bytes ...

       1.000000 GB/sec
# function 'x86-64-movsq' (movsq-based memcpy() in arch/x86/lib/memcpy_64.S)
# Copying 1MB bytes ...

       2.000000 GB/sec
# Running 'futex/hash' benchmark:
Run summary [PID 7]: 2 threads, each operating on 1024 [private] futexes for 10 secs.

Averaged 2000000 operations/sec (+- 0.17%), total secs = 10
# Running 'sched/messaging' benchmark:
# 10 groups == 400 processes run

     Total time: 0.250 [sec]
";
        assert!(is_in(&printed(text)));
        let found = read(&printed(text)).unwrap().figures;
        let values: Vec<(&str, f64, String)> = found
            .iter()
            .map(|figure| (figure.name.as_str(), figure.values[0], figure.unit.to_string()))
            .collect();
        let gibibyte = 1024_f64.powi(3);
        let expected = [
            ("sched/pipe", 8148.123, "ns/op"),
            ("mem/memcpy/default", 1e9 / gibibyte, "ns/byte"),
            ("mem/memcpy/x86-64-movsq", 0.5e9 / gibibyte, "ns/byte"),
            ("futex/hash", 500.0, "ns/op"),
            ("sched/messaging", 0.25e9, "ns/run"),
        ];
        assert_eq!(values, expected.map(|(name, value, unit)| (name, value, unit.to_owned())));
    }

    #[test]
    fn lines_without_a_head_are_none() {
        for text in
            ["8.148\n", "     Total time: 8.148 [sec]\n", "# Running sched/pipe benchmark:\n 8.1 usecs/op\n"]
        {
            assert!(!is_in(&printed(text)), "{text}");
            assert!(matches!(read(&printed(text)), Err(FigureError::Nothing { .. })), "{text}");
        }
        assert!(matches!(read(&printed("# Running 'a/b' benchmark:\n")), Err(FigureError::Nothing { .. })));
    }
}
