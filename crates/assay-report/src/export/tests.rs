use super::*;
use assay_pure::figures::{Adapter, BenchmarkOutput, Document, bencher};
use serde_json::Value;

fn sample() -> Export {
    let cell = |variant: &str, scale: f64| {
        let wall: Vec<f64> = [1.0, 1.01, 0.99, 1.02, 0.98].iter().map(|value| value * scale).collect();
        ExportCell {
            axes: vec![("variant", variant.into()), ("input", "mixed".into())],
            cpu: wall.iter().map(|value| value * 0.99).collect(),
            wall,
            median: [scale, 0.98 * scale, 1.02 * scale],
        }
    };
    Export {
        experiment: "decode".into(),
        started: "2026-11-22T08:00:00Z".into(),
        host: "A CPU".into(),
        cpu: "A CPU".into(),
        cpus: 2,
        unit: "varint".into(),
        version: "0.1.0".into(),
        cells: vec![cell("slow", 12.5), cell("fast-2", 11.25)],
        contrasts: vec![ExportContrast {
            name: "fast-2 / slow".into(),
            ratio: [0.9, 0.89, 0.91],
            verdict: "faster".into(),
        }],
    }
}

#[test]
fn our_own_readers_read_what_is_written() {
    let export = sample();
    let outputs = [
        (
            Adapter::GoogleBenchmark,
            BenchmarkOutput {
                google_benchmark: text(TextFormat::GoogleBenchmark, &export),
                ..BenchmarkOutput::default()
            },
        ),
        (
            Adapter::Hyperfine,
            BenchmarkOutput { stdout: text(TextFormat::Hyperfine, &export), ..BenchmarkOutput::default() },
        ),
        (
            Adapter::Go,
            BenchmarkOutput { stdout: text(TextFormat::Go, &export), ..BenchmarkOutput::default() },
        ),
        (
            Adapter::Criterion,
            BenchmarkOutput {
                criterion: criterion(&export)
                    .into_iter()
                    .map(|(name, text)| Document { name, text })
                    .collect(),
                ..BenchmarkOutput::default()
            },
        ),
    ];
    for (adapter, output) in outputs {
        let found = adapter.read(&output).unwrap_or_else(|error| panic!("{adapter}: {error}"));
        assert_eq!(found.figures.len(), 2, "{adapter}");
        let wanted =
            if adapter == Adapter::GoogleBenchmark { &export.cells[1].cpu } else { &export.cells[1].wall };
        let figure = found.figures.iter().find(|figure| figure.name.contains("fast")).expect("by name");
        assert_eq!(figure.values.len(), 5, "{adapter}");
        for (one, other) in figure.values.iter().zip(wanted) {
            assert!((one / other - 1.0).abs() < 1e-12, "{adapter}: {one} {other}");
        }
    }
    let metrics = bencher::read(&text(TextFormat::Bmf, &export)).unwrap().metrics;
    assert_eq!(metrics.len(), 3);
    let fast = metrics.iter().find(|metric| metric.name == "decode/fast-2/mixed").expect("by name");
    assert_eq!(fast.interval, Some((0.98 * 11.25, 1.02 * 11.25)));
}

#[test]
fn axes_of_go_s_names_end_in_no_number_that_could_be_processors() {
    let lines = text(TextFormat::Go, &sample());
    assert!(lines.contains("BenchmarkDecode/variant=fast_2/input=mixed 1 11.25 ns/op"), "{lines}");
}

#[test]
fn criterion_s_keys_are_those_of_its_own_files() {
    let files = criterion(&sample());
    let of = |name: &str| -> Value {
        let (_, text) =
            files.iter().find(|(path, _)| path == &format!("decode/slow/mixed/new/{name}.json")).expect(name);
        serde_json::from_str(text).unwrap()
    };
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../fixtures/adapters/criterion-0.5.1/sums_of/slice/64/new");
    for name in ["benchmark", "estimates", "sample"] {
        let theirs: Value =
            serde_json::from_str(&std::fs::read_to_string(folder.join(format!("{name}.json"))).unwrap())
                .unwrap();
        let keys = |json: &Value| -> Vec<String> { json.as_object().unwrap().keys().cloned().collect() };
        assert_eq!(keys(&of(name)), keys(&theirs), "{name}");
    }
    assert_eq!(of("tukey").as_array().unwrap().len(), 4);
}

#[test]
fn services_get_one_number_with_its_bounds() {
    let list: Value = serde_json::from_str(&text(TextFormat::GithubActionBenchmark, &sample())).unwrap();
    assert_eq!(list[0]["name"], "decode/slow/mixed");
    assert_eq!((list[0]["unit"].as_str(), list[0]["range"].as_str()), (Some("ns/varint"), Some("± 0.250")));
    assert_eq!((list[2]["unit"].as_str(), list[2]["extra"].as_str()), (Some("ratio"), Some("faster")));
}

#[test]
fn samples_are_rows_and_names_are_quoted() {
    let sample =
        SampleLine { variant: "a,\"b\"".into(), wall_ns: 1.5, rotation: Some(3), ..SampleLine::default() };
    let plain = SampleLine { flagged: Some("preempted"), ..SampleLine::default() };
    let text = csv(&[sample.clone(), plain.clone()]);
    assert!(text.ends_with("\r\n"));
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0].split(',').count(), 16);
    assert_eq!(lines[1], "0,0,0,\"a,\"\"b\"\"\",,,,3,,0,0,0,1.5,0,0,");
    assert_eq!(lines[2], "0,0,0,,,,,,,0,0,0,0,0,0,preempted");
    assert!(parquet(&[sample, plain]).starts_with(b"PAR1"));
}

#[test]
fn benchmarks_whose_folders_would_be_one_are_numbered() {
    let mut export = sample();
    let long = "x".repeat(70);
    export.cells[0].axes[0].1 = format!("{long}a/b");
    export.cells[1].axes[0].1 = format!("{long}a:b");
    let files = criterion(&export);
    let paths: std::collections::BTreeSet<&str> = files.iter().map(|(path, _)| path.as_str()).collect();
    assert_eq!(paths.len(), files.len(), "{paths:#?}");
    for (path, text) in files.iter().filter(|(path, _)| path.ends_with("benchmark.json")) {
        let named: Value = serde_json::from_str(text).unwrap();
        assert!(path.starts_with(named["directory_name"].as_str().unwrap()), "{path} {named}");
    }
}

#[test]
fn a_short_time_keeps_its_range() {
    let mut export = sample();
    export.cells[0].median = [0.000_5, 0.000_49, 0.000_512];
    let list: Value = serde_json::from_str(&text(TextFormat::GithubActionBenchmark, &export)).unwrap();
    assert_eq!(list[0]["range"], "± 0.0000120");
}
