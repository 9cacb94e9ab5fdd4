//! Planted faults and their passing twins (`fixtures/doctor`): each fault is found at its line, the twins are clean.

use crate::trace_fixtures;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const PROGRAMS: [&str; 10] = [
    "clock",
    "configuration",
    "dispatch",
    "environment",
    "guards",
    "hints",
    "random",
    "system_calls",
    "text",
    "unoptimised",
];

fn source(name: &str) -> PathBuf {
    trace_fixtures::root().join(format!("fixtures/doctor/{name}.c"))
}

/// The faults that a source says it has: check and line.
fn planted(name: &str) -> BTreeSet<(String, u64)> {
    let text = std::fs::read_to_string(source(name)).expect("the fixture is there");
    let marked = (1..).zip(text.lines());
    marked
        .filter_map(|(line, text)| Some((text.split_once("// fault: ")?.1.trim().to_owned(), line)))
        .collect()
}

fn build(name: &str, is_faulty: bool, folder: &Path) -> Option<PathBuf> {
    let program = folder.join(name);
    let level = if name == "unoptimised" && is_faulty { "-O0" } else { "-O2" };
    let fault = format!("-DFAULT={}", u8::from(is_faulty));
    // gcc and clang, which take the same flags and put their faults on the same lines.
    let built = Command::new("cc")
        .args([level, "-g", "-w", &fault])
        .arg(source(name))
        .arg("-o")
        .arg(&program)
        .status();
    if built.is_ok_and(|status| status.success()) {
        return Some(program);
    }
    println!("skipped: there is no C compiler");
    None
}

/// The page, and how it ended. The program's own output is on standard output, the report on standard error.
fn doctor(program: &str, arguments: &[&str]) -> (serde_json::Value, Output) {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("page.json");
    let output = Command::new(env!("CARGO_BIN_EXE_assay"))
        .args(["doctor", "--program", program, "--predictor", "bimodal"])
        .args(arguments)
        .arg("--json")
        .arg(&file)
        .arg("--plugin")
        .arg(trace_fixtures::plugin())
        .output()
        .expect("assay starts");
    let text = std::fs::read_to_string(&file).unwrap_or_default();
    let page = serde_json::from_str(&text)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)));
    (page, output)
}

/// What was found in the program's own source: check and line.
fn found(page: &serde_json::Value) -> BTreeSet<(String, u64)> {
    let findings = page["findings"].as_array().expect("a list");
    findings
        .iter()
        .map(|finding| {
            let check = finding["check"].as_str().expect("a name").to_owned();
            (check, finding["code"]["line"].as_u64().unwrap_or(0))
        })
        .collect()
}

/// Why nothing could be traced here, if so.
fn not_traced(page: &serde_json::Value) -> Option<String> {
    let checks = page["checks"].as_array().expect("a list");
    let skipped = checks.iter().filter(|check| check["state"] == "cannot_tell");
    skipped.filter_map(|check| check["saw"].as_str()).map(str::to_owned).next()
}

#[test]
fn every_planted_fault_is_found_at_its_line_and_no_twin_has_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut all = 0;
    for name in PROGRAMS {
        let expected = planted(name);
        assert!(!expected.is_empty(), "{name}");
        for is_faulty in [true, false] {
            let Some(program) = build(name, is_faulty, folder.path()) else { return };
            let program = program.to_str().expect("a plain path");
            let (page, output) = doctor(program, &["--units", "20000"]);
            if let Some(reason) = not_traced(&page) {
                println!("skipped: {reason}");
                return;
            }
            let expected = if is_faulty { expected.clone() } else { BTreeSet::new() };
            assert_eq!(found(&page), expected, "{name}, faulty: {is_faulty}: {:#}", page["findings"]);
            assert_eq!(output.status.code(), Some(i32::from(is_faulty)), "{name}");
            all += expected.len();
        }
    }
    assert!(all >= 15, "{all} faults were planted");
}

#[test]
fn figures_are_exact_per_unit_and_the_same_faults_are_found_without_units() {
    let folder = tempfile::tempdir().expect("a folder");
    let Some(program) = build("environment", true, folder.path()) else { return };
    let program = program.to_str().expect("a plain path");
    let (page, _) = doctor(program, &["--units", "20000"]);
    if let Some(reason) = not_traced(&page) {
        println!("skipped: {reason}");
        return;
    }
    let finding = &page["findings"][0];
    assert_eq!((finding["executed"].as_u64(), finding["per_unit"].as_f64()), (Some(20000), Some(1.0)));
    let share = finding["share_of_branches"].as_f64().expect("a share");
    // The loop has a branch of its own; all else is the reading of the environment.
    assert!((0.5..1.0).contains(&share), "{share}");
    assert!(finding["remedy"].as_str().is_some_and(|remedy| remedy.contains("once")));
    let (without, _) = doctor(program, &[]);
    assert_eq!(found(&without), planted("environment"));
    assert_eq!(without["findings"][0]["per_unit"], serde_json::Value::Null);
}

#[test]
fn without_execution_only_the_file_is_looked_at() {
    let folder = tempfile::tempdir().expect("a folder");
    let Some(program) = build("unoptimised", true, folder.path()) else { return };
    let program = program.to_str().expect("a plain path");
    let (page, output) = doctor(program, &["--static"]);
    assert_eq!((page["traced"].clone(), output.status.code()), (serde_json::Value::Null, Some(1)));
    let checks: BTreeSet<String> = found(&page).into_iter().map(|(check, _)| check).collect();
    assert_eq!(checks, BTreeSet::from(["unoptimised".to_owned()]));
    assert!(not_traced(&page).is_some_and(|reason| reason.contains("--static")));
    let text = String::from_utf8(output.stderr).expect("text");
    assert!(text.contains("not run  guards, ") && text.contains("9 of 10 checks could not run."), "{text}");
}

#[test]
fn a_program_that_is_not_there_is_misuse_and_one_that_is_none_cannot_be_looked_at() {
    let code = |arguments: &[&str]| {
        let run = Command::new(env!("CARGO_BIN_EXE_assay")).arg("doctor").args(arguments).output();
        run.expect("assay starts").status.code()
    };
    assert_eq!(code(&["--units", "3"]), Some(2), "units are of a program");
    assert_eq!(code(&["no-such-experiment.toml"]), Some(2));
    assert_eq!(code(&[env!("CARGO_BIN_EXE_assay")]), Some(2), "a program is named by --program");
    assert_eq!(code(&["--program", "./no-such-program 1"]), Some(2));
    assert_eq!(code(&["--program", "'open quote"]), Some(2));
    let folder = tempfile::tempdir().expect("a folder");
    let text = folder.path().join("text");
    std::fs::write(&text, "no program\n").expect("written");
    let mut mode = std::fs::metadata(&text).expect("there").permissions();
    std::os::unix::fs::PermissionsExt::set_mode(&mut mode, 0o755);
    std::fs::set_permissions(&text, mode).expect("made executable");
    let text = text.to_str().expect("a plain path");
    assert!(matches!(code(&["--program", text, "--static"]), Some(2 | 3)));
}
