//! Which reader is for which output.

use super::adapter_error::AdapterError;
use super::pattern::Pattern;
use super::{
    BenchmarkClock, BenchmarkOutput, ExecutionFigures, FigureError, Unit, catch2, compressor, criterion,
    divan, go, google_benchmark, hyperfine, libtest, nanobench, openssl_speed, own_harness, perf_bench,
    pytest_benchmark, speedtest1, xxhsum,
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
    /// nanobench's JSON or table.
    Nanobench,
    /// Lines of Go's `testing` package.
    Go,
    /// Catch2's XML or tables.
    Catch2,
    /// Lines of Rust's own benchmarks.
    Libtest,
    /// pytest-benchmark's JSON or table.
    PytestBenchmark,
    /// hyperfine's JSON.
    Hyperfine,
    /// What a program with assay's own harness prints when it is started alone.
    OwnHarness,
    /// Lines of `lz4 -b` and `zstd -b`.
    Compressor,
    /// Lines of `xxhsum -b`.
    Xxhsum,
    /// Tables of `openssl speed`.
    OpensslSpeed,
    /// Lines of SQLite's speedtest1.
    Speedtest1,
    /// Sections of `perf bench`.
    PerfBench,
    /// The time that the command took.
    Wall,
    /// The CPU time of the command and all that it started.
    Cpu,
    /// A regular expression over what was printed.
    Pattern(Pattern),
}

/// A library whose outputs are read.
struct Library {
    adapter: Adapter,
    name: &'static str,
    is_in: fn(&BenchmarkOutput) -> bool,
    read: fn(&BenchmarkOutput) -> Result<ExecutionFigures, FigureError>,
}

/// All libraries, in the order in which an output is tried.
const LIBRARIES: [Library; 15] = [
    Library {
        adapter: Adapter::GoogleBenchmark,
        name: google_benchmark::NAME,
        is_in: google_benchmark::is_in,
        read: google_benchmark::read,
    },
    Library {
        adapter: Adapter::Criterion,
        name: criterion::NAME,
        is_in: criterion::is_in,
        read: criterion::read,
    },
    Library { adapter: Adapter::Divan, name: divan::NAME, is_in: divan::is_in, read: divan::read },
    Library {
        adapter: Adapter::Nanobench,
        name: nanobench::NAME,
        is_in: nanobench::is_in,
        read: nanobench::read,
    },
    Library { adapter: Adapter::Go, name: go::NAME, is_in: go::is_in, read: go::read },
    Library {
        adapter: Adapter::Hyperfine,
        name: hyperfine::NAME,
        is_in: hyperfine::is_in,
        read: hyperfine::read,
    },
    Library {
        adapter: Adapter::OwnHarness,
        name: own_harness::NAME,
        is_in: own_harness::is_in,
        read: own_harness::read,
    },
    Library { adapter: Adapter::Catch2, name: catch2::NAME, is_in: catch2::is_in, read: catch2::read },
    Library { adapter: Adapter::Libtest, name: libtest::NAME, is_in: libtest::is_in, read: libtest::read },
    Library {
        adapter: Adapter::PytestBenchmark,
        name: pytest_benchmark::NAME,
        is_in: pytest_benchmark::is_in,
        read: pytest_benchmark::read,
    },
    Library {
        adapter: Adapter::Compressor,
        name: compressor::NAME,
        is_in: compressor::is_in,
        read: compressor::read,
    },
    Library { adapter: Adapter::Xxhsum, name: xxhsum::NAME, is_in: xxhsum::is_in, read: xxhsum::read },
    Library {
        adapter: Adapter::OpensslSpeed,
        name: openssl_speed::NAME,
        is_in: openssl_speed::is_in,
        read: openssl_speed::read,
    },
    Library {
        adapter: Adapter::Speedtest1,
        name: speedtest1::NAME,
        is_in: speedtest1::is_in,
        read: speedtest1::read,
    },
    Library {
        adapter: Adapter::PerfBench,
        name: perf_bench::NAME,
        is_in: perf_bench::is_in,
        read: perf_bench::read,
    },
];

/// The names of all libraries, as a list in prose.
pub fn library_names() -> String {
    LIBRARIES.map(|library| library.name).join(", ")
}

impl FromStr for Adapter {
    type Err = AdapterError;

    fn from_str(given: &str) -> Result<Adapter, AdapterError> {
        let named = match given {
            "gbench" => google_benchmark::NAME,
            "lz4" | "zstd" => compressor::NAME,
            other => other,
        };
        if let Some(library) = LIBRARIES.into_iter().find(|library| library.name == named) {
            return Ok(library.adapter);
        }
        match given {
            "wall" => Ok(Adapter::Wall),
            "cpu" => Ok(Adapter::Cpu),
            _ => match given.strip_prefix("regex:") {
                Some(expression) => Pattern::new(expression).map(Adapter::Pattern),
                None => Err(AdapterError::Unknown { given: given.to_owned(), known: library_names() }),
            },
        }
    }
}

impl fmt::Display for Adapter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Adapter::Wall => f.write_str("wall"),
            Adapter::Cpu => f.write_str("cpu"),
            Adapter::Pattern(pattern) => write!(f, "regex:{}", pattern.expression()),
            _ => f.write_str(self.library().expect("all others are libraries").name),
        }
    }
}

impl PartialEq for Adapter {
    fn eq(&self, other: &Adapter) -> bool {
        self.to_string() == other.to_string()
    }
}

impl Adapter {
    fn library(&self) -> Option<Library> {
        let same =
            |library: &Library| std::mem::discriminant(&library.adapter) == std::mem::discriminant(self);
        LIBRARIES.into_iter().find(same)
    }

    /// The adapter of the library whose output this is; none where no library is recognised.
    ///
    /// Never the time of the whole command: a benchmark that times itself runs as long whatever it measures, so that time
    /// says nothing of the code. (A tenfold slowdown of a Go benchmark read as 19.5 % faster, and passed a gate.)
    pub fn detect(output: &BenchmarkOutput) -> Option<Adapter> {
        LIBRARIES.into_iter().find(|library| (library.is_in)(output)).map(|found| found.adapter)
    }

    /// Whether the library takes the time per benchmark from its environment; the command has to say it to the others.
    pub fn takes_seconds(&self) -> bool {
        matches!(self, Adapter::GoogleBenchmark | Adapter::Divan)
    }

    /// Whether the figures may be in a JSON file that the command writes where it wants.
    pub fn writes_json(&self) -> bool {
        matches!(self, Adapter::Nanobench | Adapter::Hyperfine | Adapter::PytestBenchmark)
    }

    /// Reads the figures of an output.
    ///
    /// # Errors
    /// It is not of the format, broken, or without a single figure.
    pub fn read(&self, output: &BenchmarkOutput) -> Result<ExecutionFigures, FigureError> {
        match self {
            Adapter::Wall => {
                Ok(command(BenchmarkClock::Wall, output.elapsed_ns, BenchmarkClock::Cpu, output.cpu_ns))
            }
            Adapter::Cpu => {
                Ok(command(BenchmarkClock::Cpu, output.cpu_ns, BenchmarkClock::Wall, output.elapsed_ns))
            }
            Adapter::Pattern(pattern) => pattern.read(output),
            _ => (self.library().expect("all others are libraries").read)(output),
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
        let others = ["wall", "cpu", "regex:(?<value>[0-9]+)"];
        for name in LIBRARIES.iter().map(|library| library.name).chain(others) {
            assert_eq!(name.parse::<Adapter>().unwrap().to_string(), name);
        }
        let error = "doctest".parse::<Adapter>().unwrap_err().to_string();
        assert!(
            error.contains("`doctest`") && error.contains("nanobench") && error.contains("hyperfine"),
            "{error}"
        );
        assert!("regex:(".parse::<Adapter>().is_err());
    }

    #[test]
    fn a_command_without_a_known_library_is_never_timed_as_a_whole_unless_asked() {
        let output = BenchmarkOutput {
            stdout: "done\n".into(),
            elapsed_ns: 2e9,
            cpu_ns: 1e9,
            ..BenchmarkOutput::default()
        };
        assert_eq!(Adapter::detect(&output), None);
        let figure = Adapter::Wall.read(&output).unwrap().figures.remove(0);
        assert_eq!((figure.values, figure.beside), (vec![2e9], Some((BenchmarkClock::Cpu, vec![1e9]))));
        assert_eq!(figure.unit, Unit::ns_per("command"));
        let figure = Adapter::Cpu.read(&output).unwrap().figures.remove(0);
        assert_eq!((figure.clock, figure.values), (BenchmarkClock::Cpu, vec![1e9]));
    }
}
