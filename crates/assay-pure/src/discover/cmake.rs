//! Programs of CMakeLists.txt that are benchmarks: by what they are linked with, or by what their sources include.
//!
//! The conditions around a program that are options of the project are switched on.

mod script;

use super::{BuildPlace, Candidate, Discovery, FolderView, joined, quoted};
use script::{Call, calls};
use std::collections::BTreeMap;

/// Sources that are looked at for a program.
const MOST_SOURCES: usize = 8;

/// A program, where it is built.
struct ExecutableTarget {
    name: String,
    folder: String,
    sources: Vec<String>,
    /// Options that have to be on.
    options: Vec<String>,
    library: Option<&'static str>,
}

/// What all files of a project say.
#[derive(Default)]
struct Project {
    targets: Vec<ExecutableTarget>,
    /// Options, and whether they are on by default.
    options: BTreeMap<String, bool>,
    /// Where programs are put, if not beside their part of the build.
    runtime_folder: Option<String>,
    /// Programs whose names are computed.
    computed: usize,
}

pub(super) fn find(folder: &FolderView<'_>, place: &BuildPlace, found: &mut Discovery) {
    let mut project = Project::default();
    project.read(folder, "", &[]);
    for target in &mut project.targets {
        target.library = target.library.or_else(|| of_sources(folder, target));
    }
    for target in project.targets.iter().filter(|target| target.library.is_some()) {
        found.candidates.push(candidate(&project, target, place));
    }
    if project.computed > 0 && found.candidates.is_empty() {
        found
            .notes
            .push("CMakeLists.txt computes the names of some programs, which are not looked at.".to_owned());
    }
}

impl Project {
    fn read(&mut self, view: &FolderView<'_>, folder: &str, outer: &[String]) {
        let Some(text) = view.text_of(&joined(folder, "CMakeLists.txt")) else { return };
        // Of each `if`, the words of its condition where they hold in this branch.
        let mut conditions: Vec<Vec<String>> = Vec::new();
        for Call { name, words } in calls(&text) {
            match (name.as_str(), &words[..]) {
                ("if", _) => conditions.push(positive(&words)),
                ("elseif", _) => {
                    conditions.pop();
                    conditions.push(positive(&words));
                }
                ("else", _) => {
                    conditions.pop();
                    conditions.push(Vec::new());
                }
                ("endif", _) => {
                    conditions.pop();
                }
                ("option" | "cmake_dependent_option", [option, _, value @ ..]) => {
                    let on = value.first().is_some_and(|value| is_on(value));
                    self.options.entry(option.clone()).or_insert(on);
                }
                ("set", [option, value, cache, kind, ..]) if cache == "CACHE" && kind == "BOOL" => {
                    self.options.entry(option.clone()).or_insert(is_on(value));
                }
                ("set", [variable, value, ..]) if variable == "CMAKE_RUNTIME_OUTPUT_DIRECTORY" => {
                    self.runtime_folder = built_below(value);
                }
                ("add_subdirectory", [below, ..]) if !below.contains("..") && !below.contains('$') => {
                    let all: Vec<String> = outer.iter().chain(conditions.iter().flatten()).cloned().collect();
                    self.read(view, &joined(folder, below.trim_end_matches('/')), &all);
                }
                ("add_executable", [target, sources @ ..]) => {
                    if target.contains('$') {
                        self.computed += 1;
                    } else if !sources.iter().any(|word| word == "ALIAS" || word == "IMPORTED") {
                        let options = outer.iter().chain(conditions.iter().flatten()).cloned().collect();
                        let sources = sources.iter().map(|file| joined(folder, file)).collect();
                        let (name, folder) = (target.clone(), folder.to_owned());
                        self.targets.push(ExecutableTarget { name, folder, sources, options, library: None });
                    }
                }
                ("target_link_libraries", [target, linked @ ..]) => {
                    let library = linked.iter().find_map(|word| linked_library(word));
                    if let Some(known) = self.targets.iter_mut().find(|known| known.name == *target) {
                        known.library = known.library.or(library);
                    }
                }
                _ => {}
            }
        }
    }
}

/// The words of a condition that have to be true for it, as far as that is plain.
fn positive(words: &[String]) -> Vec<String> {
    if words.iter().any(|word| ["OR", "NOT", "("].contains(&word.as_str())) {
        // One of several is enough, and it is unknown which; the names of benchmarks are the best guess.
        let about = |word: &&String| word.to_uppercase().contains("BENCH");
        let negated = |word: &str| words.windows(2).any(|pair| pair[0] == "NOT" && pair[1] == word);
        return words.iter().filter(about).filter(|word| !negated(word)).cloned().collect();
    }
    words.iter().filter(|word| *word != "AND").cloned().collect()
}

fn is_on(value: &str) -> bool {
    ["ON", "TRUE", "YES", "1"].contains(&value.to_uppercase().as_str())
}

/// `${CMAKE_BINARY_DIR}/bin` as `bin`.
fn built_below(value: &str) -> Option<String> {
    ["${CMAKE_BINARY_DIR}", "${PROJECT_BINARY_DIR}", "${CMAKE_CURRENT_BINARY_DIR}"]
        .iter()
        .find_map(|root| value.strip_prefix(root))
        .map(|below| below.trim_matches('/').to_owned())
        .filter(|below| !below.contains('$'))
}

fn linked_library(word: &str) -> Option<&'static str> {
    match word {
        "benchmark" | "benchmark_main" | "benchmark::benchmark" | "benchmark::benchmark_main" => {
            Some("Google Benchmark")
        }
        "nanobench" | "nanobench::nanobench" => Some("nanobench"),
        _ => None,
    }
}

/// What the sources include, and the headers beside them that they include.
fn of_sources(folder: &FolderView<'_>, target: &ExecutableTarget) -> Option<&'static str> {
    let mut texts: Vec<String> =
        target.sources.iter().take(MOST_SOURCES).filter_map(|file| folder.text_of(file)).collect();
    let headers: Vec<String> = texts
        .iter()
        .flat_map(|text| text.lines())
        .filter_map(|line| line.trim().strip_prefix("#include \"")?.split('"').next())
        .map(|header| joined(&target.folder, header))
        .collect();
    texts.extend(headers.iter().take(MOST_SOURCES).filter_map(|file| folder.text_of(file)));
    texts.iter().find_map(|text| included(text))
}

fn included(text: &str) -> Option<&'static str> {
    let has = |header: &str| text.contains(&format!("<{header}>")) || text.contains(&format!("\"{header}\""));
    if has("benchmark/benchmark.h") {
        Some("Google Benchmark")
    } else if text
        .lines()
        .any(|line| line.trim_start().starts_with("#include") && line.contains("nanobench.h"))
    {
        Some("nanobench")
    } else if text.contains("catch2/")
        && (text.contains("BENCHMARK(") || text.contains("BENCHMARK_ADVANCED("))
    {
        Some("Catch2")
    } else {
        None
    }
}

fn candidate(project: &Project, target: &ExecutableTarget, place: &BuildPlace) -> Candidate {
    let library = target.library.unwrap_or_default();
    let mut switches: Vec<String> = Vec::new();
    for option in &target.options {
        let switch = format!(" -D{option}=ON");
        if project.options.get(option) == Some(&false) && !switches.contains(&switch) {
            switches.push(switch);
        }
    }
    let built = place.folder();
    let below = project.runtime_folder.as_deref().unwrap_or(&target.folder);
    let program = joined(&joined(built, below), &target.name);
    // Its benchmarks are tests that only run when they are asked for.
    let filter = if library == "Catch2" { " '[!benchmark]'" } else { "" };
    Candidate {
        what: format!(
            "program `{}` of {} ({library})",
            target.name,
            joined(&target.folder, "CMakeLists.txt")
        ),
        build: format!(
            "{}cmake -S . -B {built} -DCMAKE_BUILD_TYPE=Release{} && cmake --build {built} --target {} --parallel 4",
            place.afresh(&quoted(&program)),
            switches.concat(),
            quoted(&target.name)
        ),
        bench: format!("{}{filter}", quoted(&program)),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::found_in;
    use super::*;

    const ROOT: &str = "\
project(p)
option(P_BENCHMARKS \"build them # all\" OFF)
option(P_TOOLS \"tools\" ON)
if(P_TOOLS AND P_BENCHMARKS) # both
  add_subdirectory(benchmarks)
else()
  add_subdirectory(tools)
endif()
";

    #[test]
    fn programs_are_benchmarks_by_their_library() {
        let files = [
            ("CMakeLists.txt", ROOT),
            (
                "benchmarks/CMakeLists.txt",
                "add_executable(sums\n  sums.cpp)\ntarget_link_libraries(sums PRIVATE p benchmark::benchmark)\n\
                 add_executable(tables tables.cpp)\nadd_executable(catches c.cpp)\nadd_executable(helper helper.cpp)\n\
                 foreach(x a b)\nadd_executable(${x} x.cpp)\nendforeach()\n",
            ),
            ("benchmarks/sums.cpp", ""),
            ("benchmarks/tables.cpp", "#include \"all.h\"\n"),
            ("benchmarks/all.h", "#include \"../nanobench.h\"\n"),
            ("benchmarks/c.cpp", "#include <catch2/catch.hpp>\nBENCHMARK(\"a\") {};\n"),
            ("benchmarks/helper.cpp", "int main() {}\n"),
        ];
        let found = found_in(&files, &BuildPlace::Revision).candidates;
        let what: Vec<&str> = found.iter().map(|one| one.what.as_str()).collect();
        let expected = [
            "program `sums` of benchmarks/CMakeLists.txt (Google Benchmark)",
            "program `tables` of benchmarks/CMakeLists.txt (nanobench)",
            "program `catches` of benchmarks/CMakeLists.txt (Catch2)",
        ];
        assert_eq!(what, expected);
        let build = "cmake -S . -B build-assay -DCMAKE_BUILD_TYPE=Release -DP_BENCHMARKS=ON && cmake --build build-assay \
                     --target sums --parallel 4";
        assert_eq!(found[0].build, build);
        assert_eq!(found[0].bench, "build-assay/benchmarks/sums");
        assert_eq!(found[2].bench, "build-assay/benchmarks/catches '[!benchmark]'");
    }

    #[test]
    fn where_programs_are_put_is_heeded() {
        let text = "set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)\nif(A_BENCH OR NOT B_BENCH)\n\
                    add_executable(b b.cc)\nendif()\noption(A_BENCH \"\")\noption(B_BENCH \"\")\n";
        let files = [("CMakeLists.txt", text), ("b.cc", "#include <benchmark/benchmark.h>\n")];
        let found = found_in(&files, &BuildPlace::Tree(".assay/tree".into())).candidates;
        assert_eq!(found[0].bench, ".assay/tree/bin/b");
        let build = "rm -f .assay/tree/bin/b && cmake -S . -B .assay/tree -DCMAKE_BUILD_TYPE=Release -DA_BENCH=ON && \
                     cmake --build .assay/tree --target b --parallel 4";
        assert_eq!(found[0].build, build);
    }

    #[test]
    fn names_that_are_computed_are_told() {
        let files = [
            ("CMakeLists.txt", "add_executable(${NAME} x.cpp)\n"),
            ("x.cpp", "#include <benchmark/benchmark.h>\n"),
        ];
        let found = found_in(&files, &BuildPlace::Revision);
        assert!(found.candidates.is_empty() && found.notes[0].contains("computes the names"), "{found:?}");
    }
}
