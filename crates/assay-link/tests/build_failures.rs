//! What does the user read when something does not build?

use crate::build_support::{any_compiler, compilers, flags, fresh, program};
use assay_link::build::{BuildFailure, Builder, Link, Stage, find_compilers_in};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

fn folder_with(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (name, text) in files {
        fs::write(folder.path().join(name), text).expect("written");
    }
    folder
}

fn failure(source: &str, text: &str, words: &str) -> BuildFailure {
    let (_cache, builder) = fresh();
    let folder = folder_with(&[(source, text)]);
    let compiled = builder.compile(folder.path(), &program(&[source]), &flags(words), &any_compiler());
    compiled.expect_err("it cannot be built")
}

#[test]
fn a_compiler_that_fails_is_quoted_with_its_command() {
    let failure = failure("broken.c", "int main(void) { return nothing_of_this_name; }\n", "-O2");
    let text = failure.to_string();
    assert_eq!((failure.stage, failure.status), (Stage::Compile, Some(1)));
    let name = any_compiler().name;
    assert!(
        text.starts_with(&format!(
            "{name} with flags -O2 (-O2) cannot compile broken.c: exit status 1: 'nothing_of_this_name' undeclared"
        )),
        "{text}"
    );
    assert!(text.contains("nothing_of_this_name"), "{text}");
    assert!(text.contains("\n  command: cd "), "{text}");
    assert!(failure.command.contains("-c broken.c"), "{text}");
}

#[test]
fn a_program_that_does_not_link_is_a_failure_of_the_link() {
    let failure =
        failure("missing.c", "int elsewhere(void);\nint main(void) { return elsewhere(); }\n", "-O2");
    assert_eq!(failure.stage, Stage::Link);
    assert!(failure.stderr.contains("elsewhere"), "{failure}");
    let said = "cannot link the program: `elsewhere`, which missing.c calls, is defined in no source";
    assert!(failure.to_string().contains(said), "{failure}");
}

#[test]
fn an_unknown_flag_a_missing_source_and_an_unknown_language_are_named() {
    assert!(
        failure("a.c", "int main(void) { return 0; }\n", "-fno-such-flag")
            .to_string()
            .contains("no-such-flag")
    );
    let (_cache, builder) = fresh();
    let folder = folder_with(&[("a.zig", "")]);
    let compile = |source: &str| {
        builder
            .compile(folder.path(), &program(&[source]), &flags("-O2"), &any_compiler())
            .expect_err("refused")
    };
    let missing = compile("gone.c");
    assert_eq!(missing.stage, Stage::Source);
    assert!(missing.to_string().contains("gone.c: No such file"), "{missing}");
    assert!(compile("a.zig").to_string().contains("a.zig is not in a known language"));
}

#[test]
fn a_function_of_another_type_is_told_how_it_must_be_declared() {
    let header = concat!(env!("CARGO_MANIFEST_DIR"), "/../../harness");
    let text = "#include <assay.h>\nstatic int odd(const char *text) { return *text; }\n\
                ASSAY_VARIANT(\"odd\", odd)\nASSAY_MAIN()\n";
    let said = failure("odd.c", text, &format!("-O2 -I{header}")).to_string();
    let wanted = "odd must be declared as uint64_t odd(const uint8_t *data, size_t size)";
    assert!(said.contains(wanted), "{said}");
}

#[test]
fn a_function_in_cpp_that_takes_something_else_is_told_in_the_first_line() {
    let header = concat!(env!("CARGO_MANIFEST_DIR"), "/../../harness");
    for taken in ["std::string text, int n", "int n", "const std::vector<std::string> &all"] {
        let text = format!(
            "#include <assay.h>\n#include <string>\n#include <vector>\nstatic int odd({taken}) {{ return 0; }}\n\
             ASSAY_VARIANT(\"odd\", odd)\nASSAY_MAIN()\n"
        );
        let said = failure("odd.cpp", &text, &format!("-std=c++20 -O2 -w -I{header}")).to_string();
        let first = said.lines().next().unwrap_or_default();
        assert!(first.contains("a variant takes (const uint8_t *data, size_t size), or one view"), "{said}");
    }
}

#[test]
fn the_header_compiles_as_cpp_with_every_compiler_without_a_flag_for_it() {
    let header = concat!(env!("CARGO_MANIFEST_DIR"), "/../../harness");
    let text = "#include <assay.h>\nstatic uint64_t one(const uint8_t *, size_t size) { return size; }\n\
                ASSAY_VARIANT(\"one\", one)\nASSAY_MAIN()\n";
    let folder = folder_with(&[("a.cpp", text)]);
    let compilers = compilers(&["gcc-12", "clang-14", "clang-16"]);
    for compiler in compilers.iter().filter(|compiler| compiler.cxx_path.is_some()) {
        let (_cache, builder) = fresh();
        let found = builder.compile(
            folder.path(),
            &program(&["a.cpp"]),
            &flags(&format!("-O2 -I{header}")),
            compiler,
        );
        assert!(found.is_ok(), "{}: {}", compiler.name, found.expect_err("refused"));
    }
}

#[test]
fn a_linker_script_of_the_users_own_is_refused_for_placements() {
    let (_cache, builder) = fresh();
    let folder = folder_with(&[("a.c", "int main(void) { return 0; }\n"), ("own.ld", "")]);
    let mut program = program(&["a.c"]);
    program.link_flags.push("-Wl,-T,own.ld".into());
    // An empty script may or may not link as built; what counts is that it is not overridden.
    if let Ok(recipe) = builder.compile(folder.path(), &program, &flags("-O2"), &any_compiler()) {
        let link = builder.link(&recipe, Link::Placed { shuffle: 0, phase_bytes: 0 });
        assert!(link.expect_err("refused").to_string().contains("-Wl,-T,own.ld names a linker script"));
    }
}

#[test]
fn a_cache_that_cannot_be_made_says_where_and_why() {
    let folder = folder_with(&[("file", "")]);
    let failure = Builder::new(folder.path().join("file/cache")).expect_err("a file is in the way");
    assert_eq!(failure.stage, Stage::Cache);
    assert!(failure.to_string().contains("file/cache: opening: Not a directory"), "{failure}");
}

/// Programs that speak like compilers.
fn pretend(folder: &Path, name: &str, script: &str) {
    let draft = folder.join("draft");
    fs::write(&draft, format!("#!/bin/sh\n{script}\n")).expect("written");
    fs::set_permissions(&draft, fs::Permissions::from_mode(0o755)).expect("made executable");
    // Copied by another process: while this one has it open for writing, children of other tests inherit that, and
    // the kernel refuses to execute it.
    let copied = std::process::Command::new("cp").arg("-p").arg(&draft).arg(folder.join(name)).status();
    assert!(copied.expect("cp is everywhere").success());
}

#[test]
fn what_a_program_says_of_itself_decides_not_its_name() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let clang = "echo 'Apple clang version 15.0.0'; echo 'Target: arm64-apple-darwin'";
    pretend(folder.path(), "gcc", clang);
    pretend(folder.path(), "g++", "exit 1");
    pretend(folder.path(), "clang-99", "echo 'no compiler at all'");
    pretend(folder.path(), "clang-98", "exit 3");
    let found = find_compilers_in(folder.path().as_os_str(), &["gcc".into()]).expect("one works");
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].name.as_str(), found[0].version.as_str()), ("clang-15", "15.0.0"));
    assert_eq!(found[0].cxx_path, None);
}

#[test]
fn compilers_that_do_not_work_are_named_when_there_is_no_other() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    pretend(folder.path(), "gcc-98", "exit 3");
    let error = find_compilers_in(folder.path().as_os_str(), &[]).expect_err("none works");
    assert!(error.to_string().contains("gcc-98: exit status 3"), "{error}");
}

#[test]
fn a_cxx_source_without_a_cxx_driver_says_what_to_install() {
    let (_cache, builder) = fresh();
    let folder = folder_with(&[("a.cpp", "int main() {}\n")]);
    let mut compiler = any_compiler();
    compiler.cxx_path = None;
    let failure =
        builder.compile(folder.path(), &program(&["a.cpp"]), &flags("-O2"), &compiler).expect_err("refused");
    assert!(failure.to_string().contains("no C++ driver of version"), "{failure}");
}

#[test]
fn a_compiler_that_vanished_is_a_failure_and_no_panic() {
    let (_cache, builder) = fresh();
    let folder = folder_with(&[("a.c", "int main(void) { return 0; }\n")]);
    let mut compiler = any_compiler();
    compiler.path = folder.path().join("gone");
    let failure =
        builder.compile(folder.path(), &program(&["a.c"]), &flags("-O2"), &compiler).expect_err("refused");
    assert!(failure.to_string().contains("could not be started: No such file"), "{failure}");
}
