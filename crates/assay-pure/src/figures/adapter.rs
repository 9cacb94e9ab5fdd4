//! Which reader is for which output.

use super::adapter_error::AdapterError;
use super::pattern::Pattern;
use super::{
    BenchmarkClock, ExecutionFigures, FigureError, Output, Unit, criterion, divan, google_benchmark,
    nanobench,
};
use std::fmt;
use std::str::FromStr;

/// A way to read figures.
#[derive(Clone, Debug)]
pub enum Adapter {
    /// Google Benchmark's JSON.
    GoogleBenchmark,
    /// criterion's files, or the messages of cargo-criterion.
    Criterion,
    /// divan's table.
    Divan,
    /// nanobench's JSON.
    Nanobench,
    /// The time that the command took.
    Wall,
    /// The CPU time of the command and all that it started.
    Cpu,
    /// A regular expression over what was printed.
    Pattern(Pattern),
}

/// An adapter found for an output.
#[derive(Clone, Debug, PartialEq)]
pub struct Detected {
    /// Which.
    pub adapter: Adapter,
    /// By what it was recognised; a whole sentence.
    pub because: &'static str,
}

impl FromStr for Adapter {
    type Err = AdapterError;

    fn from_str(given: &str) -> Result<Adapter, AdapterError> {
        match given {
            google_benchmark::NAME | "gbench" => Ok(Adapter::GoogleBenchmark),
            criterion::NAME => Ok(Adapter::Criterion),
            divan::NAME => Ok(Adapter::Divan),
            nanobench::NAME => Ok(Adapter::Nanobench),
            "wall" => Ok(Adapter::Wall),
            "cpu" => Ok(Adapter::Cpu),
            _ => match given.strip_prefix("regex:") {
                Some(expression) => Pattern::new(expression).map(Adapter::Pattern),
                None => Err(AdapterError::Unknown { given: given.to_owned() }),
            },
        }
    }
}

impl fmt::Display for Adapter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Adapter::GoogleBenchmark => google_benchmark::NAME,
            Adapter::Criterion => criterion::NAME,
            Adapter::Divan => divan::NAME,
            Adapter::Nanobench => nanobench::NAME,
            Adapter::Wall => "wall",
            Adapter::Cpu => "cpu",
            Adapter::Pattern(pattern) => return write!(f, "regex:{}", pattern.expression()),
        })
    }
}

impl PartialEq for Adapter {
    fn eq(&self, other: &Adapter) -> bool {
        self.to_string() == other.to_string()
    }
}

impl Adapter {
    /// The adapter that fits an output; the time of the whole command where no library is recognised.
    pub fn detect(output: &Output) -> Detected {
        let (adapter, because) = if google_benchmark::is_in(output) {
            (Adapter::GoogleBenchmark, "Google Benchmark wrote or printed its results.")
        } else if criterion::is_in(output) {
            (Adapter::Criterion, "criterion wrote its samples.")
        } else if divan::is_in(output) {
            (Adapter::Divan, "divan printed its table.")
        } else if nanobench::is_in(output) {
            (Adapter::Nanobench, "nanobench wrote or printed its JSON.")
        } else {
            let because = "No benchmark library was recognised (google-benchmark, criterion, divan, nanobench), so the time of \
                           the whole command is used; --adapter names another way.";
            (Adapter::Wall, because)
        };
        Detected { adapter, because }
    }

    /// Whether the library takes the time per benchmark from its environment; the command has to say it to the others.
    pub fn takes_seconds(&self) -> bool {
        matches!(self, Adapter::GoogleBenchmark | Adapter::Divan)
    }

    /// Reads the figures of an output.
    ///
    /// # Errors
    /// It is not of the format, broken, or without a single figure.
    pub fn read(&self, output: &Output) -> Result<ExecutionFigures, FigureError> {
        match self {
            Adapter::GoogleBenchmark => google_benchmark::read(output),
            Adapter::Criterion => criterion::read(output),
            Adapter::Divan => divan::read(output),
            Adapter::Nanobench => nanobench::read(output),
            Adapter::Wall => {
                Ok(command(BenchmarkClock::Wall, output.elapsed_ns, BenchmarkClock::Cpu, output.cpu_ns))
            }
            Adapter::Cpu => {
                Ok(command(BenchmarkClock::Cpu, output.cpu_ns, BenchmarkClock::Wall, output.elapsed_ns))
            }
            Adapter::Pattern(pattern) => pattern.read(output),
        }
    }
}

/// The whole command as one benchmark.
fn command(clock: BenchmarkClock, time_ns: f64, other: BenchmarkClock, other_ns: f64) -> ExecutionFigures {
    let mut reading = ExecutionFigures::default();
    reading.add("command".into(), Unit::ns_per("command"), clock, &[time_ns], Some((other, &[other_ns])));
    reading
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_and_written() {
        for name in
            ["google-benchmark", "criterion", "divan", "nanobench", "wall", "cpu", "regex:(?<value>[0-9]+)"]
        {
            assert_eq!(name.parse::<Adapter>().unwrap().to_string(), name);
        }
        let error = "hyperfine".parse::<Adapter>().unwrap_err().to_string();
        assert!(error.contains("`hyperfine`") && error.contains("nanobench"), "{error}");
        assert!("regex:(".parse::<Adapter>().is_err());
    }

    #[test]
    fn a_command_that_nobody_knows_is_timed_as_a_whole() {
        let output = Output { stdout: "done\n".into(), elapsed_ns: 2e9, cpu_ns: 1e9, ..Output::default() };
        let detected = Adapter::detect(&output);
        assert_eq!(detected.adapter, Adapter::Wall);
        let figure = detected.adapter.read(&output).unwrap().figures.remove(0);
        assert_eq!((figure.values, figure.beside), (vec![2e9], Some((BenchmarkClock::Cpu, vec![1e9]))));
        assert_eq!(figure.unit, Unit::ns_per("command"));
        let figure = Adapter::Cpu.read(&output).unwrap().figures.remove(0);
        assert_eq!((figure.clock, figure.values), (BenchmarkClock::Cpu, vec![1e9]));
    }
}
