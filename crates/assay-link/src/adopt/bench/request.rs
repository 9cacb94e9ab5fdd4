//! What libraries are asked for, by the environment that they read themselves.

use super::{Adapter, BenchCommand, Surroundings, VisitError};
use crate::adopt::capture::CRITERION_VARIABLE;
use regex::Regex;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

/// Where libraries write.
pub(super) struct ReportPlaces {
    /// The named pipe that `BENCHMARK_OUT` names.
    pub(super) google_benchmark: PathBuf,
    /// The folder that `CRITERION_HOME` names.
    pub(super) criterion: PathBuf,
}

impl ReportPlaces {
    /// Makes the folder, and empties what an earlier visit left.
    pub(super) fn new(scratch: &Path) -> io::Result<ReportPlaces> {
        let context =
            |error: io::Error| io::Error::new(error.kind(), format!("making {}: {error}", scratch.display()));
        std::fs::create_dir_all(scratch).map_err(context)?;
        // The command is executed elsewhere, so names have to be whole.
        let scratch = scratch.canonicalize().map_err(context)?;
        let criterion = scratch.join("criterion");
        match std::fs::remove_dir_all(&criterion) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(context(error)),
            _ => Ok(ReportPlaces { google_benchmark: scratch.join("google-benchmark.pipe"), criterion }),
        }
    }
}

/// The filter, understood.
pub(super) fn filter(bench: &BenchCommand) -> Result<Option<Regex>, VisitError> {
    let built = bench.filter.as_deref().map(Regex::new).transpose();
    built.map_err(|error| VisitError::Filter(error.to_string()))
}

/// All that is added to the environment. Without an adapter every library is asked.
pub(super) fn environment(
    bench: &BenchCommand,
    adapter: Option<&Adapter>,
    surroundings: &Surroundings,
    places: &ReportPlaces,
) -> Vec<(OsString, OsString)> {
    let mut all: Vec<(OsString, OsString)> = Vec::new();
    let mut set = |name: &str, value: OsString| all.push((name.into(), value));
    let seconds = |library: Adapter| bench.seconds_per_benchmark.map(|time| time.seconds(&library));
    let asks = |library: Adapter| adapter.is_none_or(|adapter| *adapter == library);
    if asks(Adapter::GoogleBenchmark) {
        set("BENCHMARK_OUT", places.google_benchmark.clone().into());
        set("BENCHMARK_OUT_FORMAT", "json".into());
        if let Some(seconds) = seconds(Adapter::GoogleBenchmark) {
            // Without the `s` that newer versions write: older ones take a number alone, newer ones take both.
            set("BENCHMARK_MIN_TIME", seconds.to_string().into());
        }
        if let Some(repetitions) = bench.repetitions {
            set("BENCHMARK_REPETITIONS", repetitions.to_string().into());
        }
        if let Some(filter) = &bench.filter {
            set("BENCHMARK_FILTER", filter.into());
        }
    }
    if asks(Adapter::Criterion) {
        set("CRITERION_HOME", places.criterion.clone().into());
        if let Some(seconds) = seconds(Adapter::Criterion) {
            set(CRITERION_VARIABLE, seconds.to_string().into());
        }
    }
    if let Some(seconds) = seconds(Adapter::Divan).filter(|_| asks(Adapter::Divan)) {
        set("DIVAN_MIN_TIME", seconds.to_string().into());
        set("DIVAN_MAX_TIME", seconds.to_string().into());
    }
    for (name, value) in &bench.environment {
        set(name, value.into());
    }
    set("ASSAY_PADDING", "x".repeat(surroundings.padding_bytes()).into());
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::adopt::bench::BenchmarkTime;

    fn names(adapter: Option<&Adapter>) -> Vec<String> {
        let bench = BenchCommand {
            seconds_per_benchmark: Some(BenchmarkTime::Seconds(0.25)),
            repetitions: Some(3),
            filter: Some("^BM".into()),
            environment: vec![("MINE".into(), "1".into())],
            ..BenchCommand::new("true", Path::new("/"))
        };
        let surroundings = Surroundings { environment_bytes: 4096, stack_bytes: 32, aslr: true };
        let places = ReportPlaces { google_benchmark: "/s/pipe".into(), criterion: "/s/criterion".into() };
        let text = |part: &OsString| part.to_string_lossy().into_owned();
        let all = environment(&bench, adapter, &surroundings, &places);
        let padding = all.last().expect("padding");
        assert_eq!((text(&padding.0).as_str(), padding.1.len()), ("ASSAY_PADDING", 4128));
        all[..all.len() - 1].iter().map(|(name, value)| format!("{}={}", text(name), text(value))).collect()
    }

    #[test]
    fn only_the_library_that_is_read_is_asked() {
        let google = [
            "BENCHMARK_OUT=/s/pipe",
            "BENCHMARK_OUT_FORMAT=json",
            "BENCHMARK_MIN_TIME=0.25",
            "BENCHMARK_REPETITIONS=3",
            "BENCHMARK_FILTER=^BM",
        ];
        assert_eq!(names(Some(&Adapter::GoogleBenchmark))[..5], google);
        assert_eq!(names(Some(&Adapter::Wall)), ["MINE=1"]);
        assert_eq!(
            names(Some(&Adapter::Criterion)),
            ["CRITERION_HOME=/s/criterion", "ASSAY_CRITERION_SECONDS=0.25", "MINE=1"]
        );
        assert_eq!(names(Some(&Adapter::Divan)), ["DIVAN_MIN_TIME=0.25", "DIVAN_MAX_TIME=0.25", "MINE=1"]);
        assert_eq!(names(None).len(), 10);
    }

    #[test]
    fn a_filter_that_is_none_is_refused() {
        let bench = BenchCommand { filter: Some("(".into()), ..BenchCommand::new("true", Path::new("/")) };
        assert!(filter(&bench).unwrap_err().to_string().contains("unclosed group"));
    }
}
