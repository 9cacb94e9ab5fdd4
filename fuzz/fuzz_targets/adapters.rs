#![no_main]

use assay_pure::figures::{Adapter, Document, BenchmarkOutput, library_names};

/// Takes the first line off the bytes as a name.
fn named(text: &str) -> (&str, &str) {
    text.split_once('\n').unwrap_or(("", text))
}

fn output(kind: u8, text: &str) -> BenchmarkOutput {
    let (name, rest) = named(text);
    let file = || Document { name: name.to_owned(), text: rest.to_owned() };
    match kind % 5 {
        0 => BenchmarkOutput { google_benchmark: text.to_owned(), ..BenchmarkOutput::default() },
        1 => BenchmarkOutput { stdout: text.to_owned(), elapsed_ns: 1.0, cpu_ns: 0.0, ..BenchmarkOutput::default() },
        2 => BenchmarkOutput { criterion: vec![file()], ..BenchmarkOutput::default() },
        // The name in one file, a sample in the other.
        3 => {
            let (first, second) = rest.split_once('\n').unwrap_or((rest, ""));
            let document =
                |file: &str, text: &str| Document { name: format!("a/new/{file}"), text: text.to_owned() };
            let criterion = vec![document("benchmark.json", first), document(name, second)];
            BenchmarkOutput { criterion, ..BenchmarkOutput::default() }
        }
        _ => BenchmarkOutput { json: vec![file()], ..BenchmarkOutput::default() },
    }
}

fn check(adapter: &Adapter, output: &BenchmarkOutput) {
    match adapter.read(output) {
        Ok(reading) => {
            assert!(!reading.figures.is_empty() || matches!(adapter, Adapter::Wall | Adapter::Cpu));
            for figure in &reading.figures {
                assert!(!figure.values.is_empty());
                assert!(figure.values.iter().all(|value| value.is_finite() && *value > 0.0));
                assert!(figure.beside.as_ref().is_none_or(|(_, beside)| beside.len() == figure.values.len()));
            }
            let names: std::collections::HashSet<&str> =
                reading.figures.iter().map(|one| one.name.as_str()).collect();
            assert_eq!(names.len(), reading.figures.len(), "names are unique");
        }
        // It is shown on a terminal.
        Err(error) => assert!(error.to_string().chars().all(|symbol| symbol == '\n' || !symbol.is_control())),
    }
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Some((&kind, rest)) = bytes.split_first() else { return };
    let text = String::from_utf8_lossy(rest);
    if kind % 6 == 5 {
        let (expression, printed) = named(&text);
        if let Ok(adapter) = format!("regex:{expression}").parse() {
            check(&adapter, &BenchmarkOutput { stdout: printed.to_owned(), ..BenchmarkOutput::default() });
        }
        return;
    }
    let output = output(kind % 6, &text);
    for name in library_names().split(", ").chain(["wall"]) {
        check(&name.parse().expect("a library's name"), &output);
    }
    if let Some(adapter) = Adapter::detect(&output) {
        check(&adapter, &output);
    }
});
