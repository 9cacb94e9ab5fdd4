//! Google Benchmark's JSON, one document per benchmark program.
//!
//! Method: the library reads each of its options from the environment too (flag `--benchmark_out` is `BENCHMARK_OUT`, in
//! every version since 1.5.1), so any command that starts benchmark programs, as `make bench`, can be asked for JSON, and
//! what it prints stays as it is. Each program writes one document. Values are those of `iteration` entries, one per
//! repetition; where only aggregates were reported, the median, else the mean, counts as one. CPU time per iteration
//! decides, since other work on the processor is in the wall time; where the benchmark says that its wall time counts
//! (`UseRealTime`, `UseManualTime`: the library then adds it to the name), `real_time` decides.
//! Limits: with `UseRealTime` unsaid, a benchmark that sleeps or waits for a device is judged by the CPU time alone, which
//! does not show the wait. Names are prefixed by the program where several programs report. Versions from 1.9.3 on start
//! themselves again without address randomisation.
//! Source: user_guide.md, json_reporter.cc and benchmark.cc of versions 1.5.1 to 1.9.5.
//! Checked by: documents of version 1.7.1 in `fixtures/adapters`, others by hand.

use super::json::{documents, documents_among_lines};
use super::unit::nanoseconds_in;
use super::{BenchmarkClock, BenchmarkOutput, ExecutionFigures, FigureError, Unit};
use serde::Deserialize;
use std::collections::{BTreeMap, HashMap};

/// How errors and `--adapter` name it.
pub const NAME: &str = "google-benchmark";
/// Heads of the columns of what it prints where nobody asks for JSON.
const COLUMNS: [&str; 4] = ["Benchmark", "Time", "CPU", "Iterations"];

#[derive(Deserialize)]
struct GoogleReport {
    context: Option<RunContext>,
    benchmarks: Vec<BenchmarkEntry>,
}

#[derive(Deserialize)]
struct RunContext {
    executable: Option<String>,
    library_build_type: Option<String>,
    cpu_scaling_enabled: Option<bool>,
}

#[derive(Deserialize)]
struct BenchmarkEntry {
    name: String,
    run_name: Option<String>,
    run_type: Option<String>,
    aggregate_name: Option<String>,
    family_index: Option<u64>,
    per_family_instance_index: Option<u64>,
    real_time: Option<f64>,
    cpu_time: Option<f64>,
    time_unit: Option<String>,
    #[serde(default)]
    error_occurred: bool,
    error_message: Option<String>,
    #[serde(default)]
    skipped: bool,
    skip_message: Option<String>,
}

/// One benchmark of one program: its repetitions and its aggregates.
#[derive(Default)]
struct BenchmarkSeries {
    name: String,
    failed: Option<String>,
    cpu: Vec<f64>,
    real: Vec<f64>,
    aggregates: BTreeMap<String, (f64, f64)>,
}

/// What tells benchmarks apart: the program, the name, and the places in the program of those registered under one name.
type BenchmarkKey = (String, String, Option<u64>, Option<u64>);

/// Whether an output is Google Benchmark's, its JSON or its table.
pub fn is_in(output: &BenchmarkOutput) -> bool {
    !output.google_benchmark.trim().is_empty() || is_json(&output.stdout) || is_table(&output.stdout)
}

fn is_json(stdout: &str) -> bool {
    stdout.contains("\"benchmarks\"") && stdout.contains("\"run_type\"")
}

fn is_table(stdout: &str) -> bool {
    stdout.lines().any(|line| {
        let mut heads = line.split_whitespace();
        COLUMNS.iter().all(|column| heads.next() == Some(column))
    })
}

/// Reads what came by `BENCHMARK_OUT`, or the JSON among what was printed.
///
/// # Errors
/// There is no JSON, it is broken, or no benchmark of it gave a time.
pub fn read(output: &BenchmarkOutput) -> Result<ExecutionFigures, FigureError> {
    let reports = reports(output)?;
    let mut reading = ExecutionFigures::default();
    note_context(&reports, &mut reading);
    let (order, series) = gather(reports)?;
    let several_programs = order.iter().any(|key| key.0 != order[0].0);
    let mut namesakes: HashMap<(&str, &str), usize> = HashMap::new();
    for key in &order {
        *namesakes.entry((&key.0, &key.1)).or_default() += 1;
    }
    let mut before: HashMap<(&str, &str), usize> = HashMap::new();
    for key in &order {
        let named = (key.0.as_str(), key.1.as_str());
        let number = before.entry(named).or_default();
        *number += 1;
        let Some(series) = series.get(key) else { continue };
        let mut name = series.name.clone();
        if several_programs && !key.0.is_empty() {
            name = format!("{}: {name}", key.0);
        }
        if namesakes[&named] > 1 {
            name = format!("{name}#{number}");
        }
        add(&mut reading, name, series);
    }
    if reading.figures.is_empty() {
        if reading.notes.is_empty() {
            reading.notes.push("No benchmark was run (does the filter match any?).".into());
        }
        return Err(FigureError::Failed { adapter: NAME, notes: reading.notes });
    }
    Ok(reading)
}

fn reports(output: &BenchmarkOutput) -> Result<Vec<GoogleReport>, FigureError> {
    const EXPECTED: &str = "JSON documents with `benchmarks`";
    if !output.google_benchmark.trim().is_empty() {
        return documents(&output.google_benchmark).map_err(|error| {
            let cut_short = error.is_eof() || error.to_string().contains("key must be a string");
            let more = if cut_short {
                " (did a benchmark program crash, or did two write at the same time?)"
            } else {
                ""
            };
            FigureError::malformed(NAME, "the file of BENCHMARK_OUT", EXPECTED, format!("{error}{more}"))
        });
    }
    let (found, broken) = documents_among_lines::<GoogleReport>(&output.stdout, "\"benchmarks\"");
    if !found.is_empty() {
        return Ok(found);
    }
    if let Some(error) = broken.filter(|_| is_json(&output.stdout)) {
        return Err(FigureError::malformed(NAME, "what was printed", EXPECTED, error));
    }
    let expected = "its JSON in the file that BENCHMARK_OUT names, or printed (does the command pass --benchmark_out \
                    itself, or start its benchmarks without the environment? If so, remove the option)";
    Err(FigureError::nothing(NAME, expected, &output.stdout))
}

fn note_context(reports: &[GoogleReport], reading: &mut ExecutionFigures) {
    let contexts = || reports.iter().filter_map(|report| report.context.as_ref());
    if contexts().any(|context| context.library_build_type.as_deref() == Some("debug")) {
        // Debian's package says so of an optimised library: it is built without NDEBUG.
        reading.notes.push("The benchmark library is a debug build; its own loop may be slow.".into());
    }
    if contexts().any(|context| context.cpu_scaling_enabled == Some(true)) {
        reading.notes.push("The benchmark library reports that the CPU frequency varies.".into());
    }
}

fn gather(
    reports: Vec<GoogleReport>,
) -> Result<(Vec<BenchmarkKey>, BTreeMap<BenchmarkKey, BenchmarkSeries>), FigureError> {
    let mut order: Vec<BenchmarkKey> = Vec::new();
    let mut all: BTreeMap<BenchmarkKey, BenchmarkSeries> = BTreeMap::new();
    for report in reports {
        let program = report.context.and_then(|context| context.executable).unwrap_or_default();
        let program = program.rsplit('/').next().unwrap_or_default().to_owned();
        for entry in report.benchmarks {
            let aggregate = aggregate_of(&entry);
            let name = match (&entry.run_name, &aggregate) {
                (Some(name), _) => name.clone(),
                (None, Some(which)) => entry
                    .name
                    .strip_suffix(which.as_str())
                    .unwrap_or(&entry.name)
                    .trim_end_matches('_')
                    .to_owned(),
                (None, None) => entry.name.clone(),
            };
            let key = (program.clone(), name.clone(), entry.family_index, entry.per_family_instance_index);
            let series = all.entry(key).or_insert_with_key(|key| {
                order.push(key.clone());
                BenchmarkSeries { name, ..BenchmarkSeries::default() }
            });
            take(series, &entry, aggregate)?;
        }
    }
    Ok((order, all))
}

/// Which statistic an entry is; None for one repetition. Versions before 1.5 tell it by the name alone.
fn aggregate_of(entry: &BenchmarkEntry) -> Option<String> {
    match (entry.run_type.as_deref(), &entry.aggregate_name) {
        (Some("aggregate"), name) => Some(name.clone().unwrap_or_default()),
        (Some(_), _) => None,
        (None, _) => ["mean", "median", "stddev", "cv", "BigO", "RMS"]
            .into_iter()
            .find(|which| entry.name.strip_suffix(which).is_some_and(|rest| rest.ends_with('_')))
            .map(str::to_owned),
    }
}

fn take(
    series: &mut BenchmarkSeries,
    entry: &BenchmarkEntry,
    aggregate: Option<String>,
) -> Result<(), FigureError> {
    if entry.error_occurred || entry.skipped {
        let said = entry.error_message.as_ref().or(entry.skip_message.as_ref());
        series.failed = Some(said.cloned().unwrap_or_default());
        return Ok(());
    }
    let unit = entry.time_unit.as_deref().unwrap_or("ns");
    let scale = nanoseconds_in(unit).ok_or_else(|| {
        FigureError::malformed(NAME, &entry.name, "`time_unit` ns, us, ms or s", format!("`{unit}`"))
    })?;
    // A number that is none arrives as null.
    let cpu = entry.cpu_time.unwrap_or(f64::NAN) * scale;
    let real = entry.real_time.unwrap_or(f64::NAN) * scale;
    match aggregate {
        Some(which) => {
            series.aggregates.insert(which, (cpu, real));
        }
        None => {
            series.cpu.push(cpu);
            series.real.push(real);
        }
    }
    Ok(())
}

fn add(reading: &mut ExecutionFigures, name: String, series: &BenchmarkSeries) {
    if let Some(message) = &series.failed {
        reading.notes.push(format!("{name}: the benchmark failed: {message}"));
        return;
    }
    let (mut cpu, mut real) = (series.cpu.clone(), series.real.clone());
    if cpu.is_empty() {
        let single = ["median", "mean"].into_iter().find_map(|which| series.aggregates.get(which));
        // Neither: a curve fitted over arguments, which is no benchmark.
        let Some(&(one_cpu, one_real)) = single else { return };
        (cpu, real) = (vec![one_cpu], vec![one_real]);
        reading
            .notes
            .push(format!("{name}: only aggregates were reported, so they count as one repetition."));
    }
    let unit = Unit::ns_per("iteration");
    match wall_clock_decides(&series.name) {
        Some(clock) => reading.add(name, unit, clock, &real, Some((BenchmarkClock::Cpu, &cpu))),
        None => reading.add(name, unit, BenchmarkClock::Cpu, &cpu, Some((BenchmarkClock::Wall, &real))),
    }
}

/// The library adds `/real_time` or `/manual_time` to the name of a benchmark that was told to use it.
fn wall_clock_decides(name: &str) -> Option<BenchmarkClock> {
    name.split('/').find_map(|part| match part {
        "real_time" => Some(BenchmarkClock::Wall),
        "manual_time" => Some(BenchmarkClock::Manual),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn over_file(text: &str) -> BenchmarkOutput {
        BenchmarkOutput { google_benchmark: text.into(), ..BenchmarkOutput::default() }
    }

    fn entry(name: &str, rest: &str) -> String {
        format!("{{\"name\":\"{name}\",\"run_name\":\"{name}\",\"run_type\":\"iteration\",{rest}}}")
    }

    fn report(program: &str, entries: &[String]) -> String {
        format!(
            "{{\"context\":{{\"executable\":\"./b/{program}\"}},\"benchmarks\":[{}]}}\n",
            entries.join(",")
        )
    }

    fn names(reading: &ExecutionFigures) -> Vec<&str> {
        reading.figures.iter().map(|figure| figure.name.as_str()).collect()
    }

    const TIMES: &str = "\"real_time\":3.0,\"cpu_time\":2.0,\"time_unit\":\"us\"";

    #[test]
    fn cpu_time_decides_unless_the_benchmark_says_otherwise() {
        let entries = ["a", "b/real_time/threads:2", "c/manual_time"].map(|name| entry(name, TIMES));
        let reading = read(&over_file(&report("p", &entries))).unwrap();
        let found: Vec<(BenchmarkClock, f64)> =
            reading.figures.iter().map(|one| (one.clock, one.values[0])).collect();
        assert_eq!(
            found,
            [(BenchmarkClock::Cpu, 2e3), (BenchmarkClock::Wall, 3e3), (BenchmarkClock::Manual, 3e3)]
        );
        assert_eq!(reading.figures[0].beside, Some((BenchmarkClock::Wall, vec![3e3])));
        assert_eq!(reading.figures[1].beside, Some((BenchmarkClock::Cpu, vec![2e3])));
        assert!(reading.notes.is_empty());
    }

    #[test]
    fn one_program_after_the_other_keeps_both_apart() {
        let text = report("p", &[entry("a", TIMES)]) + &report("q", &[entry("a", TIMES)]);
        assert_eq!(names(&read(&over_file(&text)).unwrap()), ["p: a", "q: a"]);
        let twice = report("p", &[entry("a", TIMES)]).repeat(2);
        let reading = read(&over_file(&twice)).unwrap();
        assert_eq!(names(&reading), ["a"]);
        assert_eq!(reading.figures[0].values, [2e3, 2e3]);
    }

    #[test]
    fn benchmarks_of_one_name_are_numbered() {
        let entries = [0, 1, 0].map(|at| entry("a", &format!("\"family_index\":{at},{TIMES}")));
        let reading = read(&over_file(&report("p", &entries))).unwrap();
        assert_eq!(names(&reading), ["a#1", "a#2"]);
        assert_eq!(reading.figures[0].values.len(), 2);
    }

    #[test]
    fn aggregates_count_only_where_nothing_else_is_there() {
        let aggregate = |which: &str, time: f64| {
            format!(
                "{{\"name\":\"a_{which}\",\"run_name\":\"a\",\"run_type\":\"aggregate\",\"aggregate_name\":\"{which}\",\
                 \"real_time\":{time},\"cpu_time\":{time},\"time_unit\":\"ns\"}}"
            )
        };
        let statistics = [aggregate("mean", 5.0), aggregate("median", 4.0), aggregate("cv", 0.1)];
        let reading = read(&over_file(&report("p", &statistics))).unwrap();
        assert_eq!(reading.figures[0].values, [4.0]);
        assert!(reading.notes[0].contains("only aggregates"), "{:?}", reading.notes);
        let with_runs: Vec<String> = [entry("a", TIMES)].into_iter().chain(statistics).collect();
        assert_eq!(read(&over_file(&report("p", &with_runs))).unwrap().figures[0].values, [2e3]);
        let curve = "{\"name\":\"a_BigO\",\"run_name\":\"a\",\"run_type\":\"aggregate\",\"aggregate_name\":\"BigO\",\
                     \"cpu_coefficient\":1.0,\"big_o\":\"N\",\"time_unit\":\"ns\"}";
        let error = read(&over_file(&report("p", &[curve.to_owned()]))).unwrap_err();
        assert!(matches!(error, FigureError::Failed { .. }), "{error}");
    }

    #[test]
    fn names_of_old_versions_tell_their_aggregates() {
        let old = |name: &str| format!("{{\"name\":\"{name}\",{TIMES}}}");
        let reading =
            read(&over_file(&report("p", &["a_b", "a_b", "a_b_mean", "a_b_stddev"].map(old)))).unwrap();
        assert_eq!((names(&reading), reading.figures[0].values.len()), (vec!["a_b"], 2));
    }

    #[test]
    fn failed_benchmarks_are_notes() {
        let failed =
            entry("bad", "\"error_occurred\":true,\"error_message\":\"no input\",\"time_unit\":\"ns\"");
        let reading = read(&over_file(&report("p", &[failed.clone(), entry("a", TIMES)]))).unwrap();
        assert_eq!(names(&reading), ["a"]);
        assert_eq!(reading.notes, ["bad: the benchmark failed: no input"]);
        let error = read(&over_file(&report("p", &[failed]))).unwrap_err().to_string();
        assert!(error.contains("bad: the benchmark failed: no input"), "{error}");
    }

    #[test]
    fn counters_that_are_no_numbers_spoil_nothing() {
        let odd = entry("a", &format!("{TIMES},\"rate\":NaN,\"other\":-Infinity"));
        assert_eq!(names(&read(&over_file(&report("p", &[odd]))).unwrap()), ["a"]);
    }

    #[test]
    fn json_that_was_printed_is_read_too() {
        let stdout = format!("Running\n{}", report("p", &[entry("a", TIMES)]));
        let output = BenchmarkOutput { stdout, ..BenchmarkOutput::default() };
        assert!(is_in(&output));
        assert_eq!(names(&read(&output).unwrap()), ["a"]);
    }

    #[test]
    fn errors_say_what_was_found() {
        let table = "-----\nBenchmark     Time       CPU   Iterations\n-----\nBM_a   1 ns   1 ns  7\n";
        let output = BenchmarkOutput { stdout: table.into(), ..BenchmarkOutput::default() };
        assert!(
            is_in(&output)
                && !is_in(&BenchmarkOutput {
                    stdout: "Benchmark of Time".into(),
                    ..BenchmarkOutput::default()
                })
        );
        let error = read(&output).unwrap_err().to_string();
        assert!(error.contains("--benchmark_out") && error.contains("| BM_a"), "{error}");
        let cut = report("p", &[entry("a", TIMES)]);
        let error = read(&over_file(&cut[..cut.len() - 5])).unwrap_err().to_string();
        assert!(error.contains("crash") && error.contains("line 1"), "{error}");
        let odd = entry("a", "\"cpu_time\":1,\"real_time\":1,\"time_unit\":\"weeks\"");
        let error = read(&over_file(&report("p", &[odd]))).unwrap_err().to_string();
        assert!(error.contains("`weeks`"), "{error}");
        let error = read(&over_file("{\"context\":{},\"benchmarks\":[]}")).unwrap_err().to_string();
        assert!(error.contains("No benchmark was run"), "{error}");
    }
}
