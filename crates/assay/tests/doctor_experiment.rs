//! Experiments with planted faults and their passing twins (`fixtures/doctor/experiments`): each fault is found by its check, at
//! its variant or input, and nothing else is; the twins are clean.
//!
//! Files that differ by their variants alone are examined as one experiment with all of these: a build and a baseline for several
//! faults. `bench/doctor/run.sh` examines each file by itself.

use crate::trace_fixtures;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

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
    if said.contains("neither gcc nor clang") || said.contains("no compiler `") {
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

/// Fixtures that differ by their variants alone.
#[derive(Debug, Default)]
struct Group {
    names: Vec<String>,
    variants: Vec<String>,
    expected: BTreeSet<String>,
}

/// The names of all files, without their ending.
fn names() -> BTreeSet<String> {
    let files = std::fs::read_dir(folder()).expect("the folder is there").flatten();
    files
        .filter_map(|file| Some(file.file_name().to_string_lossy().strip_suffix(".toml")?.to_owned()))
        .collect()
}

/// Whether a fixture's fault, or that which its twin mends, is of an input.
fn is_of_inputs(name: &str) -> bool {
    let faulty = name.strip_suffix("_mended").unwrap_or(name);
    expected(&folder().join(format!("{faulty}.toml"))).iter().any(|found| found.contains(" on "))
}

/// The groups of the fixtures that are asked for, by all of their text that they have in common.
fn groups(is_asked: impl Fn(&str) -> bool) -> BTreeMap<String, Group> {
    let mut groups: BTreeMap<String, Group> = BTreeMap::new();
    for name in names().into_iter().filter(|name| is_asked(name)) {
        let path = folder().join(format!("{name}.toml"));
        let text = std::fs::read_to_string(&path).expect("the fixture is there");
        let own = |line: &&str| ["#", "question", "variants"].iter().any(|start| line.starts_with(start));
        let common: Vec<&str> = text.lines().filter(|line| !own(line)).collect();
        let variants = text.lines().find_map(|line| line.strip_prefix("variants = [")).expect("a list");
        let group = groups.entry(common.join("\n")).or_default();
        for variant in variants.trim_end_matches(']').split(", ") {
            if !group.variants.iter().any(|known| known == variant) {
                group.variants.push(variant.to_owned());
            }
        }
        group.expected.extend(expected(&path));
        group.names.push(name);
    }
    groups
}

/// A group as one experiment.
fn text_of(common: &str, group: &Group) -> String {
    let there =
        |path: &str| format!("\"{}\"", folder().join(path).canonicalize().expect("it is there").display());
    let common = common
        .replace("\"work.c\"", &there("work.c"))
        .replace("\"../../../harness\"", &there("../../../harness"));
    format!("question = \"What is found?\"\nvariants = [{}]\n{common}\n", group.variants.join(", "))
}

/// What is found in the fixtures that are asked for, and nothing else.
fn hold(is_asked: impl Fn(&str) -> bool) {
    let store = tempfile::tempdir().expect("a folder");
    for (common, group) in groups(is_asked) {
        let file = store.path().join(format!("{}.toml", group.names[0]));
        std::fs::write(&file, text_of(&common, &group)).expect("written");
        let Some(page) = examine(&file, store.path(), &[]) else { return };
        let (mut expected, mut found) = (group.expected.clone(), found(&page));
        if let Some(reason) = not_traced(&page) {
            println!("skipped: what needs a trace of {}: {reason}", group.names.join(", "));
            // What is left is told by time alone, and by the kernel.
            let is_traced = |one: &String| TRACED.iter().any(|check| one.starts_with(check));
            expected.retain(|one| !is_traced(one));
            found.retain(|one| !is_traced(one) && (expected.contains(one) || !one.starts_with("dead-code")));
        }
        assert_eq!(found, expected, "{}: {:#}", group.names.join(", "), page["findings"]);
    }
}

fn is_mended(name: &str) -> bool {
    name.ends_with("_mended")
}

#[test]
fn faults_of_variants_are_found() {
    hold(|name| !is_of_inputs(name) && !is_mended(name));
}

#[test]
fn the_twins_of_faulty_variants_are_clean() {
    hold(|name| !is_of_inputs(name) && is_mended(name));
}

#[test]
fn inputs_that_hide_something_are_found_and_the_twins_are_clean() {
    hold(is_of_inputs);
}

#[test]
fn every_fixture_has_a_twin_and_every_check_a_fixture() {
    let names = names();
    let all: BTreeSet<String> =
        names.iter().flat_map(|name| expected(&folder().join(format!("{name}.toml")))).collect();
    for check in assay_pure::experiment::acceptance::CHECKS {
        assert!(all.iter().any(|found| found.starts_with(&format!("{check} o"))), "{check} has no fixture");
    }
    for name in names.iter().filter(|name| !is_mended(name)) {
        assert!(names.contains(&format!("{name}_mended")), "{name} has no twin");
        assert!(
            expected(&folder().join(format!("{name}_mended.toml"))).is_empty(),
            "{name}'s twin has a fault"
        );
    }
}

#[test]
fn fixtures_are_examined_together_where_their_variants_alone_differ() {
    let groups = groups(|_| true);
    let held: Vec<&String> = groups.values().flat_map(|group| &group.names).collect();
    assert_eq!(held.len(), names().len(), "each in one group");
    assert!(groups.values().any(|group| group.names.len() > 2 && group.variants.len() > 3), "{groups:?}");
    for (common, group) in &groups {
        let parsed = assay_pure::experiment::Experiment::from_toml(&text_of(common, group), "group.toml");
        let found = parsed.unwrap_or_else(|problems| panic!("{:?}: {problems:?}", group.names)).experiment;
        assert_eq!(found.variants.len(), group.variants.len());
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
        page["answer"]
            .as_str()
            .is_some_and(|answer| answer.starts_with("No problems found. 1 finding is marked as intended.")),
        "{page:#}"
    );
    let warnings = page["warnings"].to_string();
    assert!(warnings.contains("accepts dead-code"), "{warnings}");
}

#[test]
fn a_machine_is_examined_in_a_moment_and_says_what_it_can_detect() {
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
    assert_eq!((page["schema"].as_str(), page["kind"].as_str()), (Some("assay.doctor/3"), Some("machine")));
    assert!(
        said.starts_with("In 60 s this machine detects") || said.contains("could not be measured"),
        "{said}"
    );
    assert!(page["checks"].as_array().is_some_and(|checks| checks.len() == 18), "{page:#}");
}
