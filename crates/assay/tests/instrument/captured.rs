//! Are the regions of a program that its own build makes logged as the emulator sees them, without a change to what is built?
//! Builds of `fixtures/instrument` by commands and CMake. Limits: as of `instrument`.

use super::whole::{WantedBuild, has, project};
use super::{Compared, compare_built, compilers};
use assay_link::adopt::capture::TextsAsked;
use assay_link::build::{LoggingProgram, Scope};
use std::fs;
use std::path::Path;
use std::process::Command;

/// Builds a program of the fixtures with records of its regions.
pub fn build(folder: &Path, store: &Path, command: &str, program: &str) -> Result<LoggingProgram, String> {
    WantedBuild { texts: TextsAsked::Unchanged, scope: Scope::Regions }.run(folder, store, command, program)
}

/// Each branch of its regions is as the emulator sees it, and all that was built has records.
fn is_as_emulated(command: &str, program: &str) {
    let (folder, store) = (project(""), tempfile::tempdir().expect("a store"));
    let built =
        build(folder.path(), store.path(), command, program).unwrap_or_else(|why| panic!("{command}: {why}"));
    assert_eq!(built.notes, Vec::<String>::new(), "{command}");
    match compare_built(&built, None) {
        Ok(Compared::Equal { branches }) => assert!(branches > 1000, "{command}: {branches}"),
        other => panic!("{command}: {other:?}"),
    }
}

#[test]
fn regions_of_what_gcc_and_clang_compile_are_logged_as_the_emulator_sees_them() {
    for compiler in compilers() {
        let gcc = compiler.path.display();
        for flags in
            ["-O1", "-O2 -g", "-O3 -march=x86-64-v3 -fcf-protection=full", "-O2 -no-pie -fno-pie -static"]
        {
            is_as_emulated(
                &format!("{gcc} {flags} -c ways.c -o ways.o && {gcc} {flags} -o ways ways.o"),
                "ways",
            );
        }
        // The driver removes the objects of what it links at once.
        let Some(cxx) = compiler.cxx_path.as_ref().map(|path| path.display()) else { continue };
        is_as_emulated(&format!("{cxx} -O2 -MD -pipe first.cpp second.cpp -o inlines"), "inlines");
    }
}

#[test]
fn regions_of_links_that_gcc_optimises_are_logged_as_the_emulator_sees_them() {
    if compilers().iter().any(|compiler| compiler.name.starts_with("gcc")) {
        is_as_emulated("gcc -O2 -flto ways.c -o ways", "ways");
        // Not of `ways`: gcc itself cannot divide what jumps through a table of labels.
        for flags in ["-O2 -flto", "-O3 -g -flto -flto-partition=max -ffunction-sections"] {
            is_as_emulated(&format!("g++ {flags} first.cpp second.cpp -o inlines"), "inlines");
        }
    }
}

#[test]
fn regions_of_links_that_clang_optimises_are_logged_as_the_emulator_sees_them() {
    if !has("ld.lld") || !compilers().iter().any(|compiler| compiler.name.starts_with("clang")) {
        return;
    }
    is_as_emulated("clang -O2 -flto -fuse-ld=lld ways.c -o ways", "ways");
    is_as_emulated("clang -O3 -flto=thin -fuse-ld=lld -march=x86-64-v3 ways.c -o ways", "ways");
    is_as_emulated("clang++ -O2 -flto -fuse-ld=lld first.cpp second.cpp -o inlines", "inlines");
    // Ahead of its region it executes no branch but calls and returns that have no record.
    let only_calls = "clang++ -O3 -flto=thin -fuse-ld=lld -march=x86-64-v3 first.cpp second.cpp -o inlines";
    is_as_emulated(only_calls, "inlines");
}

#[test]
fn regions_of_a_project_of_cmake_are_logged_as_the_emulator_sees_them() {
    if !has("cmake") {
        return;
    }
    for compiler in compilers() {
        let Some(cxx) = compiler.cxx_path.as_ref().map(|path| path.display()) else { continue };
        let lists = "cmake_minimum_required(VERSION 3.10)\nproject(inlines CXX)\nadd_library(second STATIC second.cpp)\n\
                     add_executable(inlines first.cpp)\ntarget_link_libraries(inlines second)\n";
        let command = format!(
            "printf '%s' '{lists}' > CMakeLists.txt && CXX={cxx} cmake -S . -B out -DCMAKE_BUILD_TYPE=Release && \
             cmake --build out"
        );
        is_as_emulated(&command, "out/inlines");
    }
}

#[test]
fn what_is_built_is_the_same_whether_its_texts_are_kept_or_not() {
    for compiler in compilers() {
        let (folder, store) = (project(""), tempfile::tempdir().expect("a store"));
        let cc = compiler.path.display();
        let command = format!("{cc} -O2 -ffunction-sections -c ways.c -o ways.o && {cc} -o ways ways.o");
        let plain = Command::new("sh").args(["-c", &command]).current_dir(folder.path()).status();
        assert!(plain.expect("sh starts").success());
        let own = fs::read(folder.path().join("ways")).expect("built");
        build(folder.path(), store.path(), &command, "ways").expect("it is instrumented");
        assert!(own == fs::read(folder.path().join("ways")).expect("built"), "{command}");
    }
}

#[test]
fn what_was_compiled_before_is_refused_with_the_remedy() {
    for compiler in compilers() {
        let (folder, store) = (project(""), tempfile::tempdir().expect("a store"));
        let cc = compiler.path.display();
        let command = format!(
            "env -u COMPILER_PATH -u CC_PRINT_OPTIONS {cc} -O2 -c ways.c -o ways.o && {cc} -o ways ways.o"
        );
        let why = build(folder.path(), store.path(), &command, "ways").expect_err("no text is known");
        assert!(why.contains("ways.o") && why.contains("build from clean"), "{why}");
    }
}
