//! Experiments with planted faults and their passing twins (`fixtures/doctor/experiments`): each fault is found by its check, at
//! its variant or input, and nothing else is; the twins are clean.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

#[allow(dead_code, reason = "other tests use the rest")]
#[path = "trace_fixtures/mod.rs"]
mod trace_fixtures;

/// Checks that need a trace, where a page says why they could not look.
const TRACED: [&str; 4] = ["hoisted-work", "unequal-work", "setup-inside", "memorised"];

fn folder() -> PathBuf {
    trace_fixtures::root().join("fixtures/doctor/experiments")
}

/// What a file says is found: `check of variant`, `check on input, input`.
fn expected(file: &Path) -> BTreeSet<String> {
    let text = std::fs::read_to_string(file).expect("the fixture is there");
    let line = text.lines().find_map(|line| line.strip_prefix("# finds: ")).expect("it says what is found");
    line.split("; ").filter(|found| *found != "nothing").map(str::to_owned).collect()
}

/// What was found, in the same words.
fn found(page: &serde_json::Value) -> BTreeSet<String> {
    let findings = page["findings"].as_array().expect("a list");
    let inputs = |finding: &serde_json::Value| {
        let all = finding["inputs"].as_array().expect("a list");
        all.iter().map(|input| input.as_str().expect("a name").to_owned()).collect::<Vec<_>>().join(", ")
    };
    findings
        .iter()
        .map(|finding| {
            let check = finding["check"].as_str().expect("a name");
            match finding["variant"].as_str() {
                Some(variant) => format!("{check} of {variant}"),
                None => format!("{check} on {}", inputs(finding)),
            }
        })
        .collect()
}

/// The page of an experiment; none, with a printed reason, where nothing can be built here.
fn examine(file: &Path, store: &Path, more: &[&str]) -> Option<serde_json::Value> {
    let page = store.join(file.with_extension("json").file_name().expect("a name"));
    let output = Command::new(env!("CARGO_BIN_EXE_assay"))
        .arg("doctor")
        .arg(file)
        .arg("--ledger")
        .arg(store.join("ledger.db"))
        .arg("--json")
        .arg(&page)
        .arg("--plugin")
        .arg(trace_fixtures::plugin())
        .args(more)
        .output()
        .expect("assay starts");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    if said.contains("no gcc and no clang") || said.contains("no compiler `") {
        println!("skipped: {said}");
        return None;
    }
    let text = std::fs::read_to_string(&page).unwrap_or_else(|error| panic!("{error}: {said}"));
    Some(serde_json::from_str(&text).expect("JSON"))
}

/// Why nothing was traced, if so.
fn not_traced(page: &serde_json::Value) -> Option<&str> {
    let checks = page["checks"].as_array().expect("a list");
    let hoisted = checks.iter().find(|check| check["name"] == "hoisted-work")?;
    (hoisted["state"] == "cannot_tell").then(|| hoisted["saw"].as_str().unwrap_or_default())
}

/// The faulty experiment and its twin, for each name.
fn hold(names: &[&str]) {
    let store = tempfile::tempdir().expect("a folder");
    for name in names {
        for file in [format!("{name}.toml"), format!("{name}_mended.toml")] {
            let path = folder().join(&file);
            let Some(page) = examine(&path, store.path(), &[]) else { return };
            let mut expected = expected(&path);
            let mut found = found(&page);
            if let Some(reason) = not_traced(&page) {
                println!("skipped: what needs a trace of {file}: {reason}");
                // What is left is told by time alone, and by the kernel.
                let is_traced = |one: &String| TRACED.iter().any(|check| one.starts_with(check));
                expected.retain(|one| !is_traced(one));
                found.retain(|one| {
                    !is_traced(one) && (expected.contains(one) || !one.starts_with("dead-code"))
                });
            }
            assert_eq!(found, expected, "{file}: {:#}", page["findings"]);
        }
    }
}

#[test]
fn dead_hoisted_and_remembered_work_is_found_and_the_twins_are_clean() {
    hold(&["dead_code", "constant", "hoisted_work", "remembered", "sub_cycle"]);
}

#[test]
fn unequal_work_setups_and_idle_answers_are_found_and_the_twins_are_clean() {
    hold(&["unused_answers", "sorted", "grows", "setup_inside", "slow"]);
}

#[test]
fn inputs_that_hide_something_are_found_and_the_twins_are_clean() {
    hold(&["memorised", "production", "all_in_l1", "one_size"]);
}

#[test]
fn every_fixture_is_held_and_every_check_has_one() {
    let files = std::fs::read_dir(folder()).expect("the folder is there").flatten();
    let names: BTreeSet<String> = files
        .filter_map(|file| Some(file.file_name().to_string_lossy().strip_suffix(".toml")?.to_owned()))
        .collect();
    let all: BTreeSet<String> =
        names.iter().flat_map(|name| expected(&folder().join(format!("{name}.toml")))).collect();
    for check in assay_pure::experiment::acceptance::CHECKS {
        assert!(all.iter().any(|found| found.starts_with(&format!("{check} o"))), "{check} has no fixture");
    }
    let text = include_str!("doctor_experiment.rs");
    for name in names.iter().filter(|name| !name.ends_with("_mended")) {
        assert!(names.contains(&format!("{name}_mended")), "{name} has no twin");
        assert!(text.contains(&format!("\"{name}\"")), "{name} is not held");
    }
}

#[test]
fn what_a_file_accepts_is_shown_as_accepted_and_an_idle_acceptance_is_told() {
    let store = tempfile::tempdir().expect("a folder");
    let text = std::fs::read_to_string(folder().join("all_in_l1.toml")).expect("the fixture is there");
    let text = text.replace("include_dirs = [\"../../../harness\"]", "include_dirs = []");
    let because = "because = \"production's data are always at hand\"";
    let accept = format!(
        "\n[[accept]]\ncheck = \"all-in-l1\"\n{because}\n\n[[accept]]\ncheck = \"dead-code\"\n{because}\n"
    );
    let file = store.path().join("accepted.toml");
    std::fs::write(&file, text + &accept).expect("written");
    std::fs::copy(folder().join("work.c"), store.path().join("work.c")).expect("copied");
    let Some(page) = examine(&file, store.path(), &["--strict"]) else { return };
    let [finding] = page["findings"].as_array().expect("a list").as_slice() else { panic!("{page:#}") };
    assert_eq!(finding["accepted"], "production's data are always at hand");
    assert!(
        page["answer"].as_str().is_some_and(|answer| answer.starts_with("Nothing was found")),
        "{page:#}"
    );
    let warnings = page["warnings"].to_string();
    assert!(warnings.contains("accepts dead-code"), "{warnings}");
}

#[test]
fn a_machine_is_examined_in_a_moment_and_says_what_it_can_tell_apart() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("page.json");
    let output = Command::new(env!("CARGO_BIN_EXE_assay"))
        .args(["doctor", "--budget", "1", "--json"])
        .arg(&file)
        .current_dir(folder.path())
        .output()
        .expect("assay starts");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(0), "{said}{}", String::from_utf8_lossy(&output.stderr));
    let page: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(&file).expect("written")).expect("JSON");
    assert_eq!((page["schema"].as_str(), page["kind"].as_str()), (Some("assay.doctor/2"), Some("machine")));
    assert!(said.contains("in 60 s") || said.contains("could not be measured"), "{said}");
    assert!(page["checks"].as_array().is_some_and(|checks| checks.len() == 17), "{page:#}");
}
