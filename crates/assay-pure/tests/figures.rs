//! Are the outputs of the libraries themselves (fixtures/adapters, made as its README tells) read as their own tables show them?

use assay_pure::figures::{
    Adapter, BenchmarkClock, BenchmarkOutput, Document, ExecutionFigures, Figure, Unit, library_names,
};
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

fn read(output: &BenchmarkOutput, expected: &Adapter) -> ExecutionFigures {
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
    let output = BenchmarkOutput {
        google_benchmark: text("google-benchmark-1.7.1.json"),
        ..BenchmarkOutput::default()
    };
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
    let output = BenchmarkOutput { stdout: text("google-benchmark-1.7.1.txt"), ..BenchmarkOutput::default() };
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
    let reading = read(&BenchmarkOutput { criterion, ..BenchmarkOutput::default() }, &Adapter::Criterion);
    assert_eq!(names(&reading), ["sum one", "sums/of/flat", "sums/of/slice/64"]);
    let slice = figure(&reading, "sums/of/slice/64");
    // By hand: the first and the last of `times` over `iters`.
    assert_eq!((slice.values.len(), slice.clock), (10, BenchmarkClock::Wall));
    assert!(close(slice.values[0], 733874.0 / 180707.0) && close(slice.values[9], 15724819.0 / 1807070.0));
    assert!(reading.notes.is_empty(), "{:?}", reading.notes);
}

#[test]
fn divan() {
    let reading = read(
        &BenchmarkOutput { stdout: text("divan-0.1.21.txt"), ..BenchmarkOutput::default() },
        &Adapter::Divan,
    );
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
    let reading = read(
        &BenchmarkOutput { stdout: text("nanobench-4.6.0.txt"), ..BenchmarkOutput::default() },
        &Adapter::Nanobench,
    );
    assert_eq!(names(&reading), ["sum/64", "sum/1024", "nothing"]);
    let sum = figure(&reading, "sum/64");
    // The library's own table says 0.29 ns per number: 18.4085 ns over a batch of 64.
    assert_eq!((sum.values.len(), &sum.unit), (5, &Unit::ns_per("number")));
    assert!(close(sum.values[0], 18.4085 / 64.0), "{:?}", sum.values);
}

#[test]
fn go_of_two_packages() {
    let reading =
        read(&BenchmarkOutput { stdout: text("go-1.19.txt"), ..BenchmarkOutput::default() }, &Adapter::Go);
    let packages = ["example.org/sums/a", "example.org/sums/b"];
    let expected =
        packages.map(|package| ["short", "n-4096"].map(|case| format!("{package}: BenchmarkSum/{case}")));
    assert_eq!(names(&reading), expected.concat());
    assert_eq!(reading.figures[0].values, [53.68, 56.59]);
}

#[test]
fn hyperfine_of_two_commands() {
    let file = Document { name: "times.json".into(), text: text("hyperfine-1.15.0.json") };
    let reading =
        read(&BenchmarkOutput { json: vec![file], ..BenchmarkOutput::default() }, &Adapter::Hyperfine);
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
        let reading = read(
            &BenchmarkOutput { stdout: printed.into(), ..BenchmarkOutput::default() },
            &Adapter::OwnHarness,
        );
        assert_eq!(names(&reading), ["a", "b"]);
        assert!(reading.figures.iter().all(|figure| (2.0..3.0).contains(&figure.values[0])), "{reading:?}");
    }
}

#[test]
fn a_regular_expression_over_the_table_of_google_benchmark() {
    let expression = r"regex:^(?<name>BM_\S+) +(?<value>[0-9.]+) (?<unit>ns|us|ms) ";
    let adapter: Adapter = expression.parse().expect("an expression");
    let output = BenchmarkOutput { stdout: text("google-benchmark-1.7.1.txt"), ..BenchmarkOutput::default() };
    let reading = adapter.read(&output).expect("figures");
    assert!(names(&reading).contains(&"BM_sum/64_mean"), "{:?}", names(&reading));
    assert_eq!(figure(&reading, "BM_manual/manual_time").values, [1000.0, 1000.0]);
}

/// What a program printed to standard output.
fn printed(name: &str) -> BenchmarkOutput {
    BenchmarkOutput { stdout: text(name), ..BenchmarkOutput::default() }
}

/// Names and first values, rounded to thousandths.
fn rounded(reading: &ExecutionFigures) -> Vec<(&str, f64)> {
    let thousandths = |value: f64| (value * 1e3).round() / 1e3;
    reading.figures.iter().map(|figure| (figure.name.as_str(), thousandths(figure.values[0]))).collect()
}

#[test]
fn the_tables_of_nanobench() {
    let reading = read(&printed("nanobench-4.3.0.txt"), &Adapter::Nanobench);
    // From the column op/s, as it has more digits: 1e9 / 159,002.05, where ns/op says 6,289.23.
    assert_eq!(rounded(&reading), [("sum", 6289.227), ("sum `twice`", 6665.546), ("nap", 1_580_028.441)]);
    assert_eq!(figure(&reading, "nap").unit, Unit::ns_per("nap"));
    let failed = "nothing: the benchmark failed: iterations overflow. Maybe your code got optimized away?.";
    assert_eq!(reading.notes, [failed]);
    let both = text("nanobench-4.6.0.txt");
    let table = &both[..both.find("{\n").expect("the JSON behind it")];
    let reading =
        read(&BenchmarkOutput { stdout: table.into(), ..BenchmarkOutput::default() }, &Adapter::Nanobench);
    // The JSON of the same run says 1.84098493439171e-08 s for a batch of 64, the column ns/number only 0.29.
    assert!((figure(&reading, "sum/64").values[0] / (18.4098493439171 / 64.0) - 1.0).abs() < 1e-9);
}

#[test]
fn catch2_by_its_console_and_by_its_xml() {
    let names_of_both = [
        "sums of small vectors/sum",
        "sum of a vector whose name is too long for its column of the table",
        "sums of large vectors/sum",
    ];
    for (file, expected) in [
        ("catch2-2.13.10.txt", [139.749, 304_510.0, 2_516_730.0]),
        ("catch2-2.13.10.xml", [119.237, 103_698.0, 1_693_620.0]),
    ] {
        let reading = read(&printed(file), &Adapter::Catch2);
        let expected: Vec<(&str, f64)> = names_of_both.into_iter().zip(expected).collect();
        assert_eq!(rounded(&reading), expected, "{file}");
        assert_eq!(reading.notes, ["throws: the benchmark failed."], "{file}");
    }
}

#[test]
fn libtest_loud_and_quiet() {
    let reading = read(&printed("libtest-1.95.txt"), &Adapter::Libtest);
    assert_eq!(figure(&reading, "inner::bytes").values, [4871.64, 5708.73]);
    assert_eq!(figure(&reading, "short").values, [49.46, 46.09]);
}

#[test]
fn pytest_benchmark_by_its_json_and_by_its_table() {
    let file = Document { name: "pytest.json".into(), text: text("pytest-benchmark-3.2.2.json") };
    let reading =
        read(&BenchmarkOutput { json: vec![file], ..BenchmarkOutput::default() }, &Adapter::PytestBenchmark);
    let expected = [
        ("test_sum[10]", 219.5),
        ("test_sum[1000]", 15_092.999),
        ("test_a.py::test_sorted", 12_126.999),
        ("test_b.py::test_sorted", 322.15),
    ];
    assert_eq!(rounded(&reading), expected);
    let reading = read(&printed("pytest-benchmark-3.2.2.txt"), &Adapter::PytestBenchmark);
    assert_eq!(rounded(&reading), [("test_sum[10]", 229.2), ("test_sum[1000]", 14_417.499)]);
    assert!(reading.notes[0].starts_with("test_sorted: left out"), "{:?}", reading.notes);
}

#[test]
fn lz4_and_zstd_have_two_benchmarks_per_level() {
    // lz4 prints to standard error, zstd to standard output; the last figures of a line that is overwritten count.
    let lz4 = BenchmarkOutput { stderr: text("lz4-1.9.4.txt"), ..BenchmarkOutput::default() };
    let reading = read(&lz4, &Adapter::Compressor);
    assert_eq!(names(&reading).len(), 6);
    let last = [("words.txt -3/compression", 32.9), ("words.txt -3/decompression", 1402.1)];
    for (name, megabytes_per_second) in last {
        assert!(close(figure(&reading, name).values[0], 1e3 / megabytes_per_second), "{reading:?}");
    }
    let reading = read(&printed("zstd-1.5.4.txt"), &Adapter::Compressor);
    let expected = [
        ("words.txt -3/compression", 1e3 / 56.2),
        ("words.txt -3/decompression", 1e3 / 235.3),
        ("words.txt -4/compression", 1e3 / 25.8),
        ("words.txt -4/decompression", 1e3 / 249.6),
        ("words.txt --fast=5/compression", 1e3 / 62.5),
        ("words.txt --fast=5/decompression", 1e3 / 310.0),
    ];
    let found: Vec<(&str, f64)> =
        reading.figures.iter().map(|figure| (figure.name.as_str(), figure.values[0])).collect();
    assert_eq!(found, expected);
    assert_eq!(reading.figures[0].unit, Unit::ns_per("byte"));
}

#[test]
fn xxhsum_of_four_variants() {
    let output = BenchmarkOutput { stderr: text("xxhsum-0.8.1.txt"), ..BenchmarkOutput::default() };
    let reading = read(&output, &Adapter::Xxhsum);
    assert_eq!(names(&reading), ["XXH32", "XXH64", "XXH3_64b", "XXH128"]);
    assert!(close(figure(&reading, "XXH3_64b").values[0], 1e9 / 215_464.0), "{reading:?}");
}

#[test]
fn openssl_speed_for_people_and_for_machines() {
    let reading = read(&printed("openssl-speed-3.0.19.txt"), &Adapter::OpensslSpeed);
    let all = names(&reading);
    assert_eq!((all.len(), all[0], all[5]), (9, "md5/16 bytes", "md5/16384 bytes"));
    assert_eq!(all[6..], ["rsa 2048 bits/sign", "rsa 2048 bits/verify", "253 bits ecdh (X25519)/op"]);
    assert!(close(figure(&reading, "md5/16 bytes").values[0], 1e9 / 40_089.18e3));
    assert!(close(figure(&reading, "rsa 2048 bits/verify").values[0], 1e9 / 27_875.0));
    let reading = read(&printed("openssl-speed-mr-3.0.19.txt"), &Adapter::OpensslSpeed);
    assert!(close(figure(&reading, "md5/16 bytes").values[0], 1e9 / 41_645_033.33));
    assert_eq!((reading.figures.len(), reading.notes.len()), (6, 1), "{:?}", reading.notes);
}

#[test]
fn speedtest1_and_its_sum() {
    let reading = read(&printed("speedtest1-3.40.1.txt"), &Adapter::Speedtest1);
    assert!(reading.figures.len() > 20, "{:?}", names(&reading));
    assert!(close(figure(&reading, "130: 25 SELECTS, numeric BETWEEN, unindexed").values[0], 10e6));
    assert!(close(figure(&reading, "TOTAL").values[0], 498e6));
}

#[test]
fn perf_bench_of_five_benchmarks() {
    let reading = read(&printed("perf-bench-6.1.txt"), &Adapter::PerfBench);
    let gibibytes = |rate: f64| ((1e12 / (rate * 1024_f64.powi(3))).round()) / 1e3;
    let expected = [
        ("sched/pipe", 6758.6),
        ("mem/memcpy/default", gibibytes(4.008672)),
        ("mem/memcpy/x86-64-unrolled", gibibytes(3.534588)),
        ("mem/memcpy/x86-64-movsq", gibibytes(4.061606)),
        ("mem/memcpy/x86-64-movsb", gibibytes(5.239069)),
        ("sched/messaging", 265e6),
        ("syscall/basic", 251.93),
        ("futex/hash", 1149.573),
    ];
    assert_eq!(rounded(&reading), expected);
}

#[test]
fn no_library_takes_the_output_of_another_for_its_own() {
    let is_of = |name: &str| {
        let expected = [
            ("assay", Adapter::OwnHarness),
            ("catch2", Adapter::Catch2),
            ("divan", Adapter::Divan),
            ("go-", Adapter::Go),
            ("google", Adapter::GoogleBenchmark),
            ("libtest", Adapter::Libtest),
            ("lz4", Adapter::Compressor),
            ("nanobench", Adapter::Nanobench),
            ("openssl", Adapter::OpensslSpeed),
            ("perf", Adapter::PerfBench),
            ("pytest", Adapter::PytestBenchmark),
            ("speedtest1", Adapter::Speedtest1),
            ("xxhsum", Adapter::Xxhsum),
            ("zstd", Adapter::Compressor),
        ];
        expected.into_iter().find(|(prefix, _)| name.starts_with(prefix)).map(|(_, adapter)| adapter)
    };
    let all: Vec<Adapter> =
        library_names().split(", ").map(|name| name.parse().expect("a library's name")).collect();
    let mut seen = 0;
    for entry in std::fs::read_dir(folder()).expect("folder").map(|entry| entry.expect("entry")) {
        let name = entry.file_name().into_string().expect("text");
        if !(name.ends_with(".txt") || name.ends_with(".xml")) {
            continue;
        }
        let own = is_of(&name).expect("a known prefix");
        let output = printed(&name);
        assert_eq!(Adapter::detect(&output), Some(own.clone()), "{name}");
        for other in all.iter().filter(|other| **other != own) {
            assert!(other.read(&output).is_err(), "{other} reads {name}");
        }
        seen += 1;
    }
    assert!(seen >= 16, "{seen} outputs");
}

#[test]
fn one_expression_reads_both_figures_of_a_line() {
    let expression = r"regex:^ *(?<name>-?\d+#\S+).*?, *(?<compression>[\d.]+) (?<unit>MB/s) ?, *(?<decompression>[\d.]+) MB/s";
    let adapter: Adapter = expression.parse().expect("an expression");
    let output = BenchmarkOutput { stderr: text("lz4-1.9.4.txt"), ..BenchmarkOutput::default() };
    let reading = adapter.read(&output).expect("figures");
    assert_eq!(names(&reading)[4..], ["3#words.txt/compression", "3#words.txt/decompression"]);
    assert!(close(figure(&reading, "3#words.txt/compression").values[0], 1e3 / 32.9));
}
