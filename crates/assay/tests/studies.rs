//! The casebook's studies that are built by cargo, zig or g++ go through `assay run`: their small campaigns, for what they say of
//! themselves and never for who takes longer.

use crate::trace_fixtures;
use std::process::Command;

/// Runs a study's smoke.toml; what must be here first says so where it is not.
fn goes_through(study: &str, needs: &[&str], environment: &[(&str, &str)]) {
    if !Command::new(needs[0]).args(&needs[1..]).output().is_ok_and(|output| output.status.success()) {
        println!("skipped: `{}` does not work here", needs.join(" "));
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let page = folder.path().join("page.json");
    let output = Command::new(env!("CARGO_BIN_EXE_assay"))
        .args(["run", "smoke.toml", "--quiet", "--budget", "0.2", "--ledger"])
        .arg(folder.path().join("ledger.db"))
        .arg("--json")
        .arg(&page)
        .envs(environment.iter().copied())
        .current_dir(trace_fixtures::root().join("casebook").join(study))
        .output()
        .expect("assay starts");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    let page: serde_json::Value =
        serde_json::from_slice(&std::fs::read(page).expect("a page")).expect("JSON");
    assert_eq!(page["failures"], serde_json::json!([]), "{said}");
    assert!(!page["contrasts"].as_array().expect("contrasts").is_empty(), "{said}");
}

/// The 0.000 ns of a value that is decoded and not used.
#[test]
fn a_benchmark_of_nothing_is_refused_with_the_reason() {
    if !Command::new("g++").arg("--version").output().is_ok_and(|output| output.status.success()) {
        println!("skipped: `g++ --version` does not work here");
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let page = folder.path().join("page.json");
    let assay = |arguments: &[&str]| {
        Command::new(env!("CARGO_BIN_EXE_assay"))
            .args(arguments)
            .current_dir(trace_fixtures::root().join("casebook/varint"))
            .output()
            .expect("assay starts")
    };
    let ledger = folder.path().join("ledger.db");
    let [page_name, ledger] = [&page, &ledger].map(|path| path.to_str().expect("UTF-8"));
    let run =
        assay(&["run", "dead.toml", "--quiet", "--budget", "0.2", "--ledger", ledger, "--json", page_name]);
    let said = String::from_utf8_lossy(&run.stdout);
    assert_eq!(run.status.code(), Some(1), "{said}{}", String::from_utf8_lossy(&run.stderr));
    let page: serde_json::Value =
        serde_json::from_slice(&std::fs::read(&page).expect("a page")).expect("JSON");
    let failures = page["failures"].as_array().expect("failures");
    assert!(!failures.is_empty(), "{said}");
    for failure in failures {
        let text = failure.to_string();
        assert!(text.contains("unused") && text.contains("compute different results"), "{text}");
    }
    let doctor = assay(&["doctor", "dead.toml", "--ledger", ledger]);
    let said = String::from_utf8_lossy(&doctor.stdout);
    assert!(said.contains("first to fix: dead-code"), "{said}");
    assert!(said.contains("unused on oneshot"), "{said}");
    // Its answer is right, got once behind the loop, which is empty all the same.
    let words = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("answered on oneshot a call executes 2 instructions per iteration"), "{said}");
    assert!(!words.contains(" used on oneshot a call executes"), "a loop that decodes is not dead: {said}");
}

#[test]
fn the_hash_tables_go_through_a_campaign() {
    goes_through("hashing", &["g++", "--version"], &[]);
}

#[test]
fn the_sorts_go_through_a_campaign() {
    goes_through("sorting", &["cargo", "--version"], &[]);
}

#[test]
fn the_validators_go_through_a_campaign() {
    // A zig of the repository's own set-up is not on PATH.
    let find_zig = trace_fixtures::root().join("casebook/transport/find_zig.sh");
    let found = Command::new("sh").arg(&find_zig).output().expect("sh is here");
    let zig = String::from_utf8(found.stdout).expect("UTF-8");
    goes_through("utf8", &["sh", find_zig.to_str().expect("UTF-8")], &[("ZIG", zig.trim())]);
}
