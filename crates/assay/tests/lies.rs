//! `assay run` on experiments whose figures are untrue (`fixtures/lies`): its first line names the lie.

use crate::trace_fixtures;
use std::process::Command;

#[test]
fn the_first_line_of_run_says_that_the_code_is_dead() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let json = folder.path().join("page.json");
    let output = Command::new(env!("CARGO_BIN_EXE_assay"))
        .arg("run")
        .arg(trace_fixtures::root().join("fixtures/lies/dead_bytes.toml"))
        .args(["--quiet", "--budget", "0.2", "--ledger"])
        .arg(folder.path().join("ledger.db"))
        .arg("--json")
        .arg(&json)
        .output()
        .expect("assay starts");
    let (said, printed) = (String::from_utf8_lossy(&output.stderr), String::from_utf8_lossy(&output.stdout));
    if said.contains("neither gcc nor clang") || said.contains("no compiler `") {
        println!("skipped: {said}");
        return;
    }
    assert!(printed.starts_with("Misleading: dropped on data is dead code: a call "), "{printed}{said}");
    let page: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(&json).expect("a page")).expect("JSON");
    let found = &page["findings"][0];
    assert_eq!((&found["kind"], &found["variant"]), (&"dead-code".into(), &"dropped".into()));
    assert_eq!(found["inputs"], serde_json::json!(["data"]));
    assert!(found["figures"]["call_ns"].is_number(), "{found}");
}

#[test]
#[ignore = "25 campaigns, some of whose lies are told by times: minutes"]
fn each_lie_is_named_first_and_honest_experiments_are_silent() {
    let output = Command::new(trace_fixtures::root().join("fixtures/lies/run.sh"))
        .args([env!("CARGO_BIN_EXE_assay"), "1"])
        .output()
        .expect("bash is here");
    println!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success());
}
