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

/// Compares a value with the keys of a schema: none that it does not describe, none missing that it requires.
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
    assert!(text(&described.stdout).contains("40,000 units"), "{}", text(&described.stdout));
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
    assert!(report.contains("-> record a longer one that does not repeat"), "{report}");
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
    // Two numbers each, of which one is small: 12 bytes are no number.
    let record = |at: u32| [(at * at % 9973).to_le_bytes(), at.reverse_bits().to_le_bytes(), [7; 4]].concat();
    let records: Vec<u8> = (0..20_000).flat_map(record).collect();
    std::fs::write(folder.join("records.bin"), records).expect("a file");
    for (arguments, says) in [
        (&["log.txt"][..], "log.txt looks like text"),
        (&["records.bin"], "records.bin looks like records of 12 bytes"),
        (&["log.txt", "--format", "lines"], "assay inputs describe --format lines"),
        (&["log.txt", "--format", "xml"], "no format `xml`"),
    ] {
        let output = assay(folder, &[&["inputs", "fit"], arguments].concat());
        let error = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {error}");
        assert!(error.contains(says), "{error}");
        assert!(
            error.contains("xml") || error.contains("`assay inputs encode` and fit the result"),
            "{error}"
        );
    }
    // Whoever says so is taken at his word: bytes below 128 are values of one byte.
    let output = assay(folder, &["inputs", "fit", "log.txt", "--format", "varint", "--predictor", "bimodal"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
}

#[test]
fn files_that_people_have_at_hand_are_misuse_with_a_remedy() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let write = |name: &str, bytes: &[u8]| std::fs::write(folder.join(name), bytes).expect("a file");
    let mut program = vec![0; 1 << 16];
    let exe = std::fs::File::open(env!("CARGO_BIN_EXE_assay")).expect("the lab is there");
    std::io::Read::read_exact(&mut &exe, &mut program).expect("it is longer");
    write("readme.md", "# A title\n\nSome *words* of it.\n".repeat(2000).as_bytes());
    write("short.c", b"int main(void) { return 0; }");
    write("table.csv", "id,bytes\n17,2048\n".repeat(2000).as_bytes());
    write("one-line.json", format!("[{}]", vec!["17"; 20_000].join(",")).as_bytes());
    write("program", &program);
    // As far as it goes, these are varints: a signature, a chunk's size, its name and its first bytes.
    write("image.png", &[b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x10", &[7; 20_000][..]].concat());
    write("empty.bin", b"");
    for (file, says) in [
        ("readme.md", "looks like text"),
        ("short.c", "looks like text"),
        ("table.csv", "looks like text"),
        ("one-line.json", "looks like text"),
        ("program", "looks like a program or library (ELF)"),
        ("image.png", "looks like an image (PNG)"),
        ("empty.bin", "is empty"),
    ] {
        let output = assay(folder, &["inputs", "fit", file, "-o", "table.toml"]);
        let error = text(&output.stderr);
        assert_eq!((output.status.code(), text(&output.stdout)), (Some(2), String::new()), "{file}: {error}");
        assert!(error.contains(&format!("{file} {says}")), "{error}");
        assert!(error.contains("one per line") || error.contains("record the bytes"), "{error}");
        assert!(!folder.join("table.toml").exists(), "{file}");
    }
}

#[test]
fn numbers_are_encoded_and_fitted() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let mut state = 1u32;
    let mut number = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) * (state >> 16 & 3)
    };
    let numbers: String = (0..20_000).map(|_| format!("{}\n", number())).collect();
    std::fs::write(folder.join("numbers.txt"), &numbers).expect("a file");
    let made = assay(folder, &["inputs", "encode", "numbers.txt", "numbers.bin"]);
    assert!(text(&made.stdout).starts_with("wrote numbers.bin (20000 values, "), "{}", text(&made.stderr));
    let (code, page) = fit(folder, "numbers", &[]);
    assert_eq!((code, page["units"].as_u64()), (Some(0), Some(20_000)), "{page}");

    std::fs::write(folder.join("heading.txt"), format!("bytes\n{numbers}")).expect("a file");
    let refused = assay(folder, &["inputs", "encode", "heading.txt", "none.bin"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(text(&refused.stderr).contains("heading.txt, line 1: `bytes`"), "{}", text(&refused.stderr));
    assert!(!folder.join("none.bin").exists());
}

#[test]
fn a_table_is_written_over_a_table_only_and_alone_where_it_is_printed() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    record(folder, "one", "generator = \"constant\"\nlength = 2\nunits = 20000\nseed = 7\n");
    let quick = ["inputs", "fit", "one.bin", "--predictor", "bimodal", "-o"];
    let to = |more: &[&str]| assay(folder, &[&quick[..], more].concat());
    // The experiment that the input was made by is no table.
    let refused = to(&["record.toml"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(text(&refused.stderr).contains("record.toml exists and is not a fitted table"));
    std::fs::write(folder.join("bytes.toml"), [0xff, 0xfe]).expect("a file");
    assert_eq!(to(&["bytes.toml"]).status.code(), Some(2));
    for _ in 0..2 {
        assert_eq!(to(&["table.toml"]).status.code(), Some(0));
    }
    let alone = to(&["-"]);
    assert_eq!(alone.stdout, std::fs::read(folder.join("table.toml")).expect("it was written"));
    assert!(text(&alone.stderr).starts_with("The fit is close"), "{}", text(&alone.stderr));
    assert_eq!(to(&["-", "--json"]).status.code(), Some(2));
}

#[test]
fn an_experiment_that_cannot_be_measured_is_told_before_anything_is_fitted() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    record(folder, "one", "generator = \"constant\"\nlength = 2\nunits = 20000\nseed = 7\n");
    experiment(folder, "lines.toml", "[inputs.log]\npath = \"log.txt\"\nformat = \"lines\"\n");
    for (file, says) in [("none.toml", "cannot read none.toml"), ("lines.toml", "are varints")] {
        let output = assay(folder, &["inputs", "fit", "one.bin", "--experiment", file]);
        assert_eq!(output.status.code(), Some(2), "{}", text(&output.stdout));
        assert!(text(&output.stderr).contains(says), "{}", text(&output.stderr));
    }
}

#[test]
fn numbers_are_fitted_to_a_table_that_makes_such_numbers_again_and_walks_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let inputs = [
        ("sorted", "generator = \"nearly_sorted\"\nformat = \"u32\"\ninversions = 12000\nunits = 60000\n"),
        ("flags", "generator = \"booleans\"\np = 0.3\ncorrelation = 0.6\nunits = 60000\n"),
    ];
    for (name, table) in inputs {
        record(folder, name, table);
        let format = if name == "flags" { "u8" } else { "u32" };
        let file = format!("{name}.bin");
        let quick = ["--predictor", "skylake", "--format", format, "-o", "table.toml", "--name", "again"];
        let output =
            assay(folder, &[&["inputs", "fit", &file][..], &quick, &["--json", "page.json"]].concat());
        assert_eq!(output.status.code(), Some(0), "{}{}", text(&output.stdout), text(&output.stderr));
        let page = std::fs::read(folder.join("page.json")).expect("a page");
        let page: Value = serde_json::from_slice(&page).expect("JSON");
        let root =
            std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schema/fit-2.schema.json"));
        let root: Value = serde_json::from_slice(&root.expect("the schema is there")).expect("JSON");
        hold(&root, &root, &page, "page");
        // The table makes the same statistics: exact ones the same, others nearly.
        let table = std::fs::read_to_string(folder.join("table.toml")).expect("a table");
        record(folder, "again", table.trim_start_matches("[inputs.again]\n"));
        let (first, second) = (describe(folder, &file, format), describe(folder, "again.bin", format));
        assert_eq!(first["sequence"]["inversions"].is_u64(), second["sequence"]["inversions"].is_u64());
        if name == "sorted" {
            assert_eq!(second["sequence"]["inversions"], 12000);
        } else {
            let of = |page: &Value, key: &str| page["numbers"][key].as_f64().expect("a figure");
            assert!(
                (of(&second, "mean") - 0.3).abs() < 1e-3 && (of(&second, "correlation") - 0.6).abs() < 2e-3
            );
        }
    }
    let mut at = 1u32 << 31;
    let mut state = 1u64;
    let walk: Vec<u8> = (0..20_000)
        .flat_map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            at = if state >> 63 == 1 {
                at + (state >> 44) as u32 % 999
            } else {
                at - (state >> 44) as u32 % 999
            };
            at.to_le_bytes()
        })
        .collect();
    std::fs::write(folder.join("walk.u32"), walk).expect("a file");
    let output = assay(folder, &["inputs", "fit", "walk.u32", "--predictor", "skylake", "-o", "none.toml"]);
    let report = text(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{report}{}", text(&output.stderr));
    assert!(report.starts_with("Refused: no generator is near: the nearest,"), "{report}");
    assert!(report.contains("u32, guessed from the ending .u32; --format changes it"), "{report}");
    assert!(!folder.join("none.toml").exists());
}

/// What `inputs describe` says of a file, with its format where one is given.
fn describe(folder: &Path, file: &str, format: &str) -> Value {
    let format: &[&str] = if format.is_empty() { &[] } else { &["--format", format] };
    let output = assay(folder, &[&["inputs", "describe", file, "--json"], format].concat());
    let list: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", text(&output.stderr)));
    list[0]["description"].clone()
}

#[test]
fn a_guessed_format_is_the_one_that_an_experiment_needs_to_read_the_file_the_same() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let small: Vec<u8> = (0..5000u64).flat_map(|at| (at * at % 9973).to_le_bytes()).collect();
    let message = |at: u32| [&(8 + at % 5).to_le_bytes()[..], &vec![at as u8; 8 + at as usize % 5]].concat();
    let messages: Vec<u8> = (0..300).flat_map(message).collect();
    record(folder, "stream", "generator = \"lengths\"\nweights = [80, 18, 2]\nunits = 5000\n");
    for (file, bytes, guessed) in [
        ("keys.i32", small.clone(), "i32"),
        ("keys.bin", small, "u64"),
        ("log", b"GET /a 200\n".repeat(50), "lines"),
        ("events", b"{\"a\": 1}\n{\"a\": [2]}\n".repeat(50), "json-lines"),
        ("capture", messages, "messages"),
        ("stream.bin", Vec::new(), "varint"),
        ("noise", (0..5000u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 24) as u8).collect(), "bytes"),
    ] {
        if !bytes.is_empty() {
            std::fs::write(folder.join(file), bytes).expect("a file");
        }
        let output = assay(folder, &["inputs", "describe", file]);
        let report = text(&output.stdout);
        assert!(report.contains(&format!("read as {guessed}, guessed from")), "{file}: {report}");
        // What it says an experiment needs, in an experiment: the same units and figures.
        let needed = format!("format = \"{guessed}\"");
        assert!(report.contains(&needed) || guessed == "bytes", "{report}");
        let needed = if guessed == "bytes" { String::new() } else { needed };
        experiment(folder, "one.toml", &format!("[inputs.one]\npath = \"{file}\"\n{needed}\n"));
        assert_eq!(describe(folder, file, ""), describe(folder, "one.toml", ""), "{file}");
    }
}
