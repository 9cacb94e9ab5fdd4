#![no_main]

use assay_pure::figures::{Adapter, Document, Output, library_names};

/// Takes the first line off the bytes as a name.
fn named(text: &str) -> (&str, &str) {
    text.split_once('\n').unwrap_or(("", text))
}

fn output(kind: u8, text: &str) -> Output {
    let (name, rest) = named(text);
    let file = || Document { name: name.to_owned(), text: rest.to_owned() };
    match kind % 5 {
        0 => Output { google_benchmark: text.to_owned(), ..Output::default() },
        1 => Output { stdout: text.to_owned(), elapsed_ns: 1.0, cpu_ns: 0.0, ..Output::default() },
        2 => Output { criterion: vec![file()], ..Output::default() },
        // The name in one file, a sample in the other.
        3 => {
            let (first, second) = rest.split_once('\n').unwrap_or((rest, ""));
            let document =
                |file: &str, text: &str| Document { name: format!("a/new/{file}"), text: text.to_owned() };
            let criterion = vec![document("benchmark.json", first), document(name, second)];
            Output { criterion, ..Output::default() }
        }
        _ => Output { json: vec![file()], ..Output::default() },
    }
}

fn check(adapter: &Adapter, output: &Output) {
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
            check(&adapter, &Output { stdout: printed.to_owned(), ..Output::default() });
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
