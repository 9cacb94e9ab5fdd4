//! Are the outputs of the libraries themselves (fixtures/adapters, made as its README tells) read as their own tables show them?

use assay_pure::figures::{Adapter, BenchmarkClock, Document, ExecutionFigures, Figure, Output, Unit};
use std::path::{Path, PathBuf};

/// `cpu_time` of the repetitions of BM_sum/64 in the first document.
const SUM_64_CPU_US: [f64; 2] = [3.3517248763356815e-02, 3.43745214625105e-02];
/// `real_time` of the first of them.
const SUM_64_REAL_US: f64 = 5.182409806985041e-02;
/// `cpu_time` of the median, which is all that the second document has.
const OTHERS_MEDIAN_CPU_US: f64 = 3.202742625640634e-02;
/// The table of divan says 10.29 us.
const DIVAN_SLICE_NS: f64 = 10_290.0;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/adapters")
}

fn text(name: &str) -> String {
    std::fs::read_to_string(folder().join(name)).expect(name)
}

fn read(output: &Output, expected: &Adapter) -> ExecutionFigures {
    let detected = Adapter::detect(output).expect("a known library");
    assert_eq!(&detected, expected);
    detected.read(output).expect("figures")
}

fn names(reading: &ExecutionFigures) -> Vec<&str> {
    reading.figures.iter().map(|figure| figure.name.as_str()).collect()
}

fn figure<'a>(reading: &'a ExecutionFigures, name: &str) -> &'a Figure {
    reading.figures.iter().find(|figure| figure.name == name).expect(name)
}

fn close(found: f64, expected: f64) -> bool {
    (found / expected - 1.0).abs() < 1e-12
}

#[test]
fn google_benchmark_of_two_programs() {
    let output = Output { google_benchmark: text("google-benchmark-1.7.1.json"), ..Output::default() };
    let reading = read(&output, &Adapter::GoogleBenchmark);
    let expected = [
        "sums: BM_sum/64",
        "sums: BM_sum/1024",
        "sums: BM_wait/real_time",
        "sums: BM_manual/manual_time",
        "others: BM_sum/64",
    ];
    assert_eq!(names(&reading), expected);
    // By hand from the file: cpu_time and real_time of the repetitions, in us.
    let sum = figure(&reading, "sums: BM_sum/64");
    assert_eq!((sum.clock, &sum.unit), (BenchmarkClock::Cpu, &Unit::ns_per("iteration")));
    assert!(
        sum.values.iter().zip(SUM_64_CPU_US).all(|(value, us)| close(*value, us * 1e3)),
        "{:?}",
        sum.values
    );
    let (clock, beside) = sum.beside.as_ref().expect("both clocks");
    assert_eq!((*clock, beside.len(), sum.values.len()), (BenchmarkClock::Wall, 2, 2));
    assert!(close(beside[0], SUM_64_REAL_US * 1e3));
    let wait = figure(&reading, "sums: BM_wait/real_time");
    assert_eq!(wait.clock, BenchmarkClock::Wall);
    assert!(wait.values.iter().all(|value| *value > 100e3 && *value < 10e6), "{:?}", wait.values);
    let manual = figure(&reading, "sums: BM_manual/manual_time");
    assert_eq!(manual.clock, BenchmarkClock::Manual);
    assert!(manual.values.iter().all(|value| (value - 1000.0).abs() < 1e-6), "{:?}", manual.values);
    assert!(close(figure(&reading, "others: BM_sum/64").values[0], OTHERS_MEDIAN_CPU_US * 1e3));
    let noted = |words: &str| reading.notes.iter().any(|note| note.contains(words));
    assert!(noted("BM_broken: the benchmark failed: no such input file"), "{:?}", reading.notes);
    assert!(noted("others: BM_sum/64: only aggregates were reported"), "{:?}", reading.notes);
}

#[test]
fn the_table_of_google_benchmark_is_recognised_and_asked_for_its_json() {
    let output = Output { stdout: text("google-benchmark-1.7.1.txt"), ..Output::default() };
    let detected = Adapter::detect(&output).expect("a known library");
    assert_eq!(detected, Adapter::GoogleBenchmark);
    let error = detected.read(&output).unwrap_err().to_string();
    assert!(error.contains("--benchmark_out") && error.contains("BM_sum/64"), "{error}");
}

#[test]
fn criterion() {
    let mut criterion = Vec::new();
    let mut folders = vec![folder().join("criterion-0.5.1")];
    while let Some(place) = folders.pop() {
        for entry in std::fs::read_dir(place).expect("folder").map(|entry| entry.expect("entry").path()) {
            if entry.is_dir() {
                folders.push(entry);
            } else {
                let name = entry.strip_prefix(folder()).expect("below").to_str().expect("text").to_owned();
                criterion.push(Document { name, text: std::fs::read_to_string(&entry).expect("text") });
            }
        }
    }
    criterion.sort_by(|one, other| one.name.cmp(&other.name));
    let reading = read(&Output { criterion, ..Output::default() }, &Adapter::Criterion);
    assert_eq!(names(&reading), ["sum one", "sums/of/flat", "sums/of/slice/64"]);
    let slice = figure(&reading, "sums/of/slice/64");
    // By hand: the first and the last of `times` over `iters`.
    assert_eq!((slice.values.len(), slice.clock), (10, BenchmarkClock::Wall));
    assert!(close(slice.values[0], 733874.0 / 180707.0) && close(slice.values[9], 15724819.0 / 1807070.0));
    assert!(reading.notes.is_empty(), "{:?}", reading.notes);
}

#[test]
fn divan() {
    let reading = read(&Output { stdout: text("divan-0.1.21.txt"), ..Output::default() }, &Adapter::Divan);
    let expected = [
        "div/counted/64",
        "div/counted/1024",
        "div/one",
        "div/slice/64",
        "div/slice/1024",
        "div/slice/100000",
        "div/inner/con/1",
        "div/inner/con/2",
        "div/inner/zero/u8",
        "div/inner/zero/u64",
    ];
    assert_eq!(names(&reading), expected);
    assert!(close(figure(&reading, "div/counted/64").values[0], 5.341));
    assert!(close(figure(&reading, "div/slice/100000").values[0], DIVAN_SLICE_NS));
}

#[test]
fn nanobench() {
    let reading =
        read(&Output { stdout: text("nanobench-4.6.0.txt"), ..Output::default() }, &Adapter::Nanobench);
    assert_eq!(names(&reading), ["sum/64", "sum/1024", "nothing"]);
    let sum = figure(&reading, "sum/64");
    // The library's own table says 0.29 ns per number: 18.4085 ns over a batch of 64.
    assert_eq!((sum.values.len(), &sum.unit), (5, &Unit::ns_per("number")));
    assert!(close(sum.values[0], 18.4085 / 64.0), "{:?}", sum.values);
}

#[test]
fn go_of_two_packages() {
    let reading = read(&Output { stdout: text("go-1.19.txt"), ..Output::default() }, &Adapter::Go);
    let packages = ["example.org/sums/a", "example.org/sums/b"];
    let expected =
        packages.map(|package| ["short", "n-4096"].map(|case| format!("{package}: BenchmarkSum/{case}")));
    assert_eq!(names(&reading), expected.concat());
    assert_eq!(reading.figures[0].values, [53.68, 56.59]);
}

#[test]
fn hyperfine_of_two_commands() {
    let file = Document { name: "times.json".into(), text: text("hyperfine-1.15.0.json") };
    let reading = read(&Output { json: vec![file], ..Output::default() }, &Adapter::Hyperfine);
    assert_eq!(names(&reading), ["true", "sleep 0.01"]);
    let slept = figure(&reading, "sleep 0.01");
    assert_eq!((slept.values.len(), slept.clock), (5, BenchmarkClock::Wall));
    assert!(close(slept.values[0], 0.014189629e9), "{:?}", slept.values);
}

#[test]
fn assays_own_harness_by_its_table_and_by_its_json() {
    let both = text("assay-harness-1.txt");
    let (table, json) = both.split_at(both.find("{\"schema").expect("both were printed"));
    for printed in [table, json] {
        let reading = read(&Output { stdout: printed.into(), ..Output::default() }, &Adapter::OwnHarness);
        assert_eq!(names(&reading), ["a", "b"]);
        assert!(reading.figures.iter().all(|figure| (2.0..3.0).contains(&figure.values[0])), "{reading:?}");
    }
}

#[test]
fn a_regular_expression_over_the_table_of_google_benchmark() {
    let expression = r"regex:^(?<name>BM_\S+) +(?<value>[0-9.]+) (?<unit>ns|us|ms) ";
    let adapter: Adapter = expression.parse().expect("an expression");
    let output = Output { stdout: text("google-benchmark-1.7.1.txt"), ..Output::default() };
    let reading = adapter.read(&output).expect("figures");
    assert!(names(&reading).contains(&"BM_sum/64_mean"), "{:?}", names(&reading));
    assert_eq!(figure(&reading, "BM_manual/manual_time").values, [1000.0, 1000.0]);
}
