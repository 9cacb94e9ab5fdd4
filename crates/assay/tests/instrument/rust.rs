//! Does a program in Rust with records execute at each site what the emulator sees of the program as built? Builds of
//! `fixtures/instrument/rust` by cargo, and the package that `assay new --rust` writes. Limits: as of `whole`; skipped with the
//! reason where cargo is missing.

use super::compilers;
use super::whole::{build, compare_built, has, one_line, project};
use assay_pure::outcomes::LoggingProgram;
use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// Whether there is all that is needed.
fn can() -> bool {
    !compilers().is_empty() && has("cargo")
}

/// A build of the fixture, in folders of its own.
struct Package {
    folder: tempfile::TempDir,
    store: tempfile::TempDir,
}

impl Package {
    fn new() -> Package {
        Package { folder: project("rust"), store: tempfile::tempdir().expect("a store") }
    }

    fn build(&self, command: &str, profile: &str) -> Result<LoggingProgram, String> {
        let program = format!("target/{profile}/ways");
        build(self.folder.path(), self.store.path(), command, &program)
    }

    /// All of the package has records, and without them it is the program as built.
    fn has_records(&self, command: &str) {
        let built = self.build(command, "one").unwrap_or_else(|why| panic!("{command}: {why}"));
        assert_eq!(built.notes, Vec::<String>::new(), "{command}");
    }

    /// Each site executes what the emulator sees, and all of the package has records.
    fn is_as_emulated(&self, command: &str, profile: &str) {
        let built = self.build(command, profile).unwrap_or_else(|why| panic!("{command}: {why}"));
        let (executed, notes) =
            compare_built(command, &built).unwrap_or_else(|why| panic!("{command}: {why}"));
        assert!(executed > 50_000, "{command}: {executed}");
        assert_eq!(notes, Vec::<String>::new(), "{command}");
    }
}

fn cargo(profile: &str) -> String {
    format!("cargo build --offline --profile {profile}")
}

#[test]
fn a_crate_of_one_unit_or_of_sixteen_executes_as_the_emulator_sees_it() {
    if can() {
        let package = Package::new();
        package.is_as_emulated(&cargo("one"), "one");
        package.is_as_emulated(&cargo("several"), "several");
    }
}

#[test]
fn a_build_for_development_has_a_known_number_of_units_if_it_is_incremental() {
    if can() {
        Package::new().is_as_emulated("CARGO_INCREMENTAL=1 cargo build --offline", "debug");
    }
}

#[test]
fn code_for_this_processor_is_padded_as_rustc_pads_it() {
    if can() {
        let command = format!("RUSTFLAGS='-C target-cpu=x86-64-v3' {}", cargo("one"));
        Package::new().has_records(&command);
    }
}

#[test]
fn a_crate_that_is_divided_as_rustc_likes_is_named_with_the_remedy() {
    if can() {
        let why = Package::new().build(&cargo("release"), "release").expect_err("nothing has records");
        assert!(why.contains("no codegen-units are set for shapes, ways"), "{why}");
        assert!(why.contains("Set codegen-units = 1"), "{why}");
    }
}

#[test]
fn a_program_that_is_optimised_when_it_is_linked_is_refused_with_the_reason() {
    if can() {
        let why = Package::new().build(&cargo("fat"), "fat").expect_err("nothing has records");
        assert!(why.contains("ways is compiled with link-time optimisation"), "{why}");
    }
}

#[test]
fn a_crate_that_an_earlier_build_compiled_still_has_records() {
    if can() {
        let package = Package::new();
        package.build(&cargo("one"), "one").expect("it is instrumented");
        let again = format!("touch src/main.rs && {}", cargo("one"));
        package.has_records(&again);
    }
}

#[test]
fn a_variable_that_a_crate_reads_is_the_builds_own() {
    if can() {
        Package::new().has_records(&format!("WAYS_EXTRA=seventeen {}", cargo("one")));
    }
}

#[test]
fn stat_and_sites_follow_each_thread_of_a_program_that_cargo_builds() {
    if !can() {
        return;
    }
    let package = Package::new();
    let told = |verb: &str, words: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_assay"));
        command.current_dir(package.folder.path()).arg(verb);
        command.args([
            "--build",
            "touch src/main.rs && cargo build --offline --profile one",
            "--predictor",
            "none",
        ]);
        let output = command.args(words).args(["--", "target/one/ways"]).output().expect("assay starts");
        let said = one_line(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{said}");
        said
    };
    let said = told("stat", &["--per-thread", "--json", "stat.json"]);
    assert!(said.contains("Rust's standard library") && said.contains("have no records"), "{said}");
    let page = page(package.folder.path(), "stat.json");
    assert_eq!(page["threads"].as_array().map(Vec::len), Some(4), "{page}");
    let said = told("sites", &[]);
    assert!(said.contains("shapes::steps::walk") && said.contains("with records of its branches"), "{said}");
}

fn page(folder: &Path, name: &str) -> Value {
    serde_json::from_slice(&std::fs::read(folder.join(name)).expect("a page")).expect("JSON")
}

/// What `assay new --rust` writes, with events to count.
struct Experiment(tempfile::TempDir);

impl Experiment {
    fn new() -> Experiment {
        let made = Experiment(tempfile::tempdir().expect("a folder"));
        made.assay(&["new", "--rust", "sums"]);
        let events = "\nevents = [\"instructions\", \"branches\", \"branch-misses\"]\n\n[program]";
        made.edit("experiment.toml", "\n[program]", events);
        made
    }

    fn assay(&self, words: &[&str]) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_assay"));
        let output = command.args(words).current_dir(self.0.path()).output().expect("assay starts");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }

    fn edit(&self, name: &str, from: &str, to: &str) {
        let file = self.0.path().join("sums").join(name);
        let text = std::fs::read_to_string(&file).expect("it was written");
        assert!(text.contains(from), "{text}");
        std::fs::write(&file, text.replace(from, to)).expect("written");
    }

    fn cells(&self, source: &str) -> Vec<Value> {
        let words = ["run", "sums/experiment.toml", "--quiet", "--budget", "0.1", "--json", "page.json"];
        self.assay(&[&words[..], &["--source", source]].concat());
        page(self.0.path(), "page.json")["cells"].as_array().expect("cells").clone()
    }

    /// What each cell counts, all from this source.
    fn counted(&self, source: &str) -> Vec<[f64; 3]> {
        let of = |cell: &Value, event: &str| {
            let figure = &cell["per_unit"][event];
            assert_eq!(figure["source"], source, "{cell}");
            figure["value"].as_f64().unwrap_or_else(|| panic!("no {event}: {cell}"))
        };
        let all = |cell: &Value| ["instructions", "branches", "branch-misses"].map(|event| of(cell, event));
        self.cells(source).iter().map(all).collect()
    }
}

#[test]
fn an_experiment_in_rust_is_counted_in_an_instrumented_build_as_the_emulator_counts_it() {
    if can() {
        let experiment = Experiment::new();
        let instrumented = experiment.counted("instrumented");
        assert_eq!(instrumented.len(), 2, "both variants");
        assert_eq!(instrumented, experiment.counted("traced"));
    }
}

#[test]
fn an_experiment_whose_profile_sets_no_units_is_counted_by_the_emulator_and_says_why() {
    if can() {
        let experiment = Experiment::new();
        experiment.edit("Cargo.toml", "codegen-units = 1", "");
        for cell in experiment.cells("instrumented") {
            assert_eq!(cell["per_unit"]["branches"]["source"], "traced", "{cell}");
            let note = cell["count_note"].as_str().expect("a reason");
            assert!(note.contains("no codegen-units are set for assay_harness, sums"), "{note}");
        }
    }
}
