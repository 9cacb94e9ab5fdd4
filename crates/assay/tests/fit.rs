//! `assay inputs fit` from a recorded file to a table that is used, and its refusals, as a user meets them.

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

fn assay(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_assay"))
        .args(arguments)
        .current_dir(folder)
        .output()
        .expect("the lab can be started")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("text")
}

/// An experiment file around an input's table.
fn experiment(folder: &Path, name: &str, table: &str) {
    let head =
        "question = \"q?\"\nbaseline = \"a\"\nvariants = [\"a\", \"b\"]\nprogram.sources = [\"a.c\"]\n";
    std::fs::write(folder.join(name), format!("{head}{table}")).expect("the folder can be written to");
}

/// Records an input of this table into `name`.bin.
fn record(folder: &Path, name: &str, table: &str) {
    experiment(folder, "record.toml", &format!("[inputs.{name}]\n{table}"));
    let made = assay(folder, &["inputs", "generate", "record.toml", name, &format!("{name}.bin")]);
    assert!(made.status.success(), "{}", text(&made.stderr));
}

/// Fits `name`.bin with one predictor; the exit code and the page.
fn fit(folder: &Path, name: &str, more: &[&str]) -> (Option<i32>, Value) {
    let file = format!("{name}.bin");
    let output =
        assay(folder, &[&["inputs", "fit", &file, "--predictor", "skylake", "--json"], more].concat());
    let page = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}{}", text(&output.stdout), text(&output.stderr)));
    (output.status.code(), page)
}

/// Holds a value against the keys of a schema: none that it does not describe, none missing that it requires.
fn hold(root: &Value, schema: &Value, value: &Value, at: &str) {
    if let Some(name) = schema["$ref"].as_str() {
        let target = name.rsplit('/').next().expect("a name");
        return hold(root, &root["$defs"][target], value, target);
    }
    if let Some(choices) = schema["anyOf"].as_array() {
        let choice = choices.iter().find(|choice| choice["type"] != "null").expect("one is not null");
        return match value {
            Value::Null => {}
            value => hold(root, choice, value, at),
        };
    }
    if let (Some(properties), Some(object)) = (schema["properties"].as_object(), value.as_object()) {
        for required in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            assert!(object.contains_key(required), "{at}.{required} is missing");
        }
        for (key, item) in object {
            let described = properties.get(key).unwrap_or_else(|| panic!("{at}.{key} is not in the schema"));
            hold(root, described, item, &format!("{at}.{key}"));
        }
    }
    value.as_array().into_iter().flatten().for_each(|item| hold(root, &schema["items"], item, at));
}

#[test]
fn a_recording_is_fitted_and_its_table_makes_an_input_that_fits_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    record(folder, "traffic", "generator = \"lengths\"\nweights = [80, 18, 2]\nunits = 40000\nseed = 7\n");
    let (code, page) = fit(folder, "traffic", &["-o", "table.toml", "--name", "shared"]);
    assert_eq!((code, page["close"].as_bool()), (Some(0), Some(true)), "{page}");
    let root = std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schema/fit-2.schema.json"));
    let root: Value = serde_json::from_slice(&root.expect("the schema is there")).expect("JSON");
    hold(&root, &root, &page, "page");

    let table = std::fs::read_to_string(folder.join("table.toml")).expect("the table was written");
    assert_eq!((page["table"].as_str(), page["written"].as_str()), (Some(&*table), Some("table.toml")));
    experiment(folder, "shared.toml", &table);
    let described = assay(folder, &["inputs", "describe", "shared.toml"]);
    assert!(described.status.success(), "{}", text(&described.stderr));
    assert!(text(&described.stdout).contains("40000 units"), "{}", text(&described.stdout));
    let made = assay(folder, &["inputs", "generate", "shared.toml", "shared", "again.bin"]);
    assert!(made.status.success(), "{}", text(&made.stderr));

    let (code, again) = fit(folder, "again", &[]);
    assert_eq!(code, Some(0), "{again}");
    assert_eq!((&again["units"], &again["model"]["contexts"]), (&page["units"], &page["model"]["contexts"]));
    let bits = |page: &Value| page["model"]["bits_per_unit"].as_f64().expect("bits");
    // 0.816 bits, whose standard deviation is 0.007 for 40,000 units.
    assert!((bits(&page) - bits(&again)).abs() < 0.05, "{page} {again}");
}

#[test]
fn a_stretch_repeated_is_refused_with_a_remedy_and_without_a_table() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let table =
        "generator = \"lengths\"\nweights = [80, 18, 2]\nunits = 40000\nseed = 7\ndistinct_units = 4000\n";
    record(folder, "short", table);
    let output = assay(folder, &["inputs", "fit", "short.bin", "-o", "table.toml"]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    let report = text(&output.stdout);
    assert!(report.starts_with("Refused: the lengths repeat every 4000 units"), "{report}");
    assert!(report.contains("-> record one that goes on"), "{report}");
    assert!(!folder.join("table.toml").exists());

    let (code, page) = fit(folder, "short", &["--anyway", "-o", "table.toml"]);
    assert_eq!((code, page["close"].as_bool()), (Some(1), Some(false)), "{page}");
    assert!(folder.join("table.toml").exists());
}

#[test]
fn lines_records_and_other_formats_are_misuse_with_what_to_do_instead() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    std::fs::write(folder.join("log.txt"), "GET /a 200\n".repeat(5000)).expect("a file");
    let records: Vec<u8> = (0..20_000u32).flat_map(|at| (at * at % 9973).to_le_bytes()).collect();
    std::fs::write(folder.join("records.bin"), records).expect("a file");
    for (arguments, says) in [
        (&["log.txt"][..], "log.txt looks like lines of text"),
        (&["records.bin"], "records.bin looks like records of 4 bytes"),
        (&["log.txt", "--format", "lines"], "assay inputs describe --format lines"),
        (&["log.txt", "--format", "xml"], "no format `xml`"),
    ] {
        let output = assay(folder, &[&["inputs", "fit"], arguments].concat());
        let error = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {error}");
        assert!(error.contains(says), "{error}");
        assert!(error.contains("xml") || error.contains("as a varint each and fit that"), "{error}");
    }
    // Whoever says so is taken at his word: bytes below 128 are values of one byte.
    let output = assay(folder, &["inputs", "fit", "log.txt", "--format", "varint", "--predictor", "bimodal"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
}
