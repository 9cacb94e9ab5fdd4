//! Does a program in Rust with records execute at each site what the emulator sees of the program as built? Builds of
//! `fixtures/instrument/rust` by cargo. Limits: as of `whole`; skipped with the
//! reason where cargo is missing.

use super::compilers;
use super::whole::{build, compare_built, has, project};
use assay_trace::logged::streams::InstrumentedProgram;
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

    fn build(&self, command: &str, profile: &str) -> Result<InstrumentedProgram, String> {
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
            "touch src/main.rs && cargo build --offline --release",
            "--predictor",
            "none",
        ]);
        let output = command.args(words).args(["--", "target/one/ways"]).output().expect("assay starts");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(0), "{said}");
        said
    };
    let said = told("stat", &["--per-thread", "--json", "stat.json"]);
    assert!(said.contains("Rust's standard library") && said.contains("have no records"), "{said}");
    let page = page(package.folder.path(), "stat.json");
    assert_eq!(page["threads"].as_array().map(Vec::len), Some(4), "{page}");
    let said = told("sites", &[]);
    assert!(said.contains("main.rs:") && said.contains("with records of its branches"), "{said}");
}

fn page(folder: &Path, name: &str) -> Value {
    serde_json::from_slice(&std::fs::read(folder.join(name)).expect("a page")).expect("JSON")
}
