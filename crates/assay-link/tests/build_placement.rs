//! Does a rotation really move every function of the program to every offset, whatever compiler and linker made it?

use crate::build_support::{compilers, fixtures, flags, fresh, has_linker, program};
use assay_link::build::{Artifact, Builder, Compiler, Link, Recipe, find_compilers_in};
use assay_pure::placement::layout::{self, FunctionPlace};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

const PHASES: [u32; 4] = [0, 16, 32, 48];

fn rotation(builder: &Builder, recipe: &Recipe, shuffle: u64) -> Vec<Artifact> {
    let linked =
        PHASES.iter().map(|&phase_bytes| builder.link(recipe, Link::Placed { shuffle, phase_bytes }));
    linked.map(|result| result.unwrap_or_else(|failure| panic!("{failure}"))).collect()
}

/// Offsets of each function over the links; functions of one name in the order of their addresses.
fn offsets(rotation: &[Artifact]) -> BTreeMap<(String, usize), Vec<u64>> {
    let mut found: BTreeMap<(String, usize), Vec<u64>> = BTreeMap::new();
    for artifact in rotation {
        let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
        for function in &artifact.functions {
            let number = seen.entry(&function.name).or_default();
            found.entry((function.name.clone(), *number)).or_default().push(function.offset);
            *number += 1;
        }
    }
    found
}

fn assert_all_visited(rotation: &[Artifact], expected: &[&str], described: &str) {
    let all = offsets(rotation);
    for name in expected {
        assert!(
            all.keys().any(|(found, _)| found == name),
            "{described}: {name} is not among {:?}",
            all.keys()
        );
    }
    for ((name, _), offsets) in all {
        assert_eq!(offsets.len(), PHASES.len(), "{described}: {name} is missing in some link");
        let reached = layout::reached(&offsets, PHASES.len());
        assert_eq!(reached.note, None, "{described}: {name} lies at {offsets:?}");
    }
    for artifact in rotation {
        assert!(artifact.warnings.is_empty(), "{described}: {:?}", artifact.warnings);
    }
}

fn combinations(linkers: &[&str]) -> Vec<(Compiler, String)> {
    let linkers: Vec<&&str> = linkers.iter().filter(|linker| has_linker(linker)).collect();
    let mut all = Vec::new();
    for compiler in compilers(&["gcc-12", "clang-14", "clang-16"]) {
        for linker in &linkers {
            for pie in ["-fpie -pie", "-fno-pie -no-pie"] {
                all.push((compiler.clone(), format!("-fuse-ld={linker} {pie}")));
            }
        }
    }
    all
}

#[test]
fn every_function_visits_each_offset_exactly_once_with_every_compiler_and_linker() {
    let (_cache, builder) = fresh();
    for (compiler, common) in combinations(&["bfd", "lld", "gold"]) {
        // PIE or not decides over the script and the link, the level over the sections: each with each is too slow.
        let every_level = common.contains("-fpie") && !common.contains("gold");
        let levels: &[&str] = if every_level { &["-O2", "-O3", "-Os"] } else { &["-O2"] };
        for level in levels {
            let set = flags(&format!("{level} {common}"));
            let program = program(&["temperatures.c", "other.c"]);
            let recipe =
                builder.compile(&fixtures(), &program, &set, &compiler).unwrap_or_else(|e| panic!("{e}"));
            assert!(recipe.warnings.is_empty(), "{:?}", recipe.warnings);
            let described = format!("{} {}", compiler.name, set.name);
            let expected = ["plain", "local", "hot", "cold", "startup", "branching", "main", "from_other"];
            assert_all_visited(&rotation(&builder, &recipe, 0), &expected, &described);
        }
    }
}

fn order(artifact: &Artifact) -> Vec<&str> {
    let named = |function: &&FunctionPlace| !function.name.contains('.');
    artifact.functions.iter().filter(named).map(|function| function.name.as_str()).collect()
}

#[test]
fn a_shuffle_is_the_same_order_for_every_linker_and_each_has_its_own() {
    let (_cache, builder) = fresh();
    for compiler in compilers(&["gcc-12", "clang-16"]) {
        let mut orders: BTreeMap<u64, Vec<String>> = BTreeMap::new();
        for linker in ["bfd", "lld"].into_iter().filter(|linker| has_linker(linker)) {
            let set = flags(&format!("-O2 -fuse-ld={linker}"));
            let recipe = builder
                .compile(&fixtures(), &program(&["temperatures.c", "other.c"]), &set, &compiler)
                .unwrap_or_else(|failure| panic!("{failure}"));
            for shuffle in [0, 7, 8] {
                let rotation = rotation(&builder, &recipe, shuffle);
                assert_all_visited(
                    &rotation,
                    &["main"],
                    &format!("{} {linker} shuffle {shuffle}", compiler.name),
                );
                // The two named `local` share a place in a list of symbols.
                let found: Vec<String> = order(&rotation[1])
                    .into_iter()
                    .filter(|name| *name != "local")
                    .map(str::to_owned)
                    .collect();
                let first = orders.entry(shuffle).or_insert_with(|| found.clone());
                assert_eq!(*first, found, "{} {linker} shuffle {shuffle}", compiler.name);
            }
        }
        let distinct: std::collections::BTreeSet<_> = orders.values().collect();
        assert_eq!(distinct.len(), orders.len(), "{orders:?}");
    }
}

#[test]
fn a_function_aligned_beyond_the_step_reaches_fewer_and_holds_back_no_other() {
    let (_cache, builder) = fresh();
    for (compiler, common) in combinations(&["bfd", "lld"]) {
        let set = flags(&format!("-O2 {common}"));
        let recipe = builder
            .compile(&fixtures(), &program(&["aligned.c"]), &set, &compiler)
            .unwrap_or_else(|failure| panic!("{failure}"));
        for shuffle in [0, 3] {
            let rotation = rotation(&builder, &recipe, shuffle);
            let links: Vec<&[FunctionPlace]> =
                rotation.iter().map(|artifact| &artifact.functions[..]).collect();
            let reached = |name| layout::phases_reached(name, &links).expect("once in each link");
            assert_eq!(reached("after").note, None);
            assert_eq!(reached("main").note, None);
            assert_eq!(reached("by_32").offsets, [0, 32]);
            assert!(reached("by_32").note.expect("a note").ends_with("aligned it to 32 bytes"));
            assert_eq!(reached("by_64").offsets, [0]);
            assert!(reached("by_64").note.expect("a note").ends_with("aligned it to 64 bytes"));
        }
    }
}

#[test]
fn a_start_of_the_code_that_the_user_chose_does_not_hold_it_back() {
    let (_cache, builder) = fresh();
    for (compiler, common) in combinations(&["bfd", "lld"]) {
        if common.contains("-no-pie") {
            continue;
        }
        let set = flags(&format!("-O2 {common}"));
        let mut program = program(&["temperatures.c", "other.c"]);
        program.link_flags.push("-Wl,-Ttext=0x10000".into());
        let recipe =
            builder.compile(&fixtures(), &program, &set, &compiler).unwrap_or_else(|e| panic!("{e}"));
        let described = format!("{} {} and a start", compiler.name, set.name);
        let rotation = rotation(&builder, &recipe, 2);
        assert_all_visited(&rotation, &["plain", "hot", "cold", "main"], &described);
        let first = rotation[0].functions.iter().map(|function| function.address).min();
        assert!(first.is_some_and(|first| (0x10000..0x10400).contains(&first)), "{described}: {first:x?}");
    }
}

#[test]
fn cxx_templates_and_virtual_functions_are_moved_too() {
    let (_cache, builder) = fresh();
    // The C++ library's headers are slow to compile: two pairs instead of all.
    for (name, linker) in [("gcc-12", "bfd"), ("clang-16", "lld")] {
        let found = compilers(&[name]).pop().filter(|found| found.cxx_path.is_some() && has_linker(linker));
        let Some(compiler) = found else { continue };
        let set = flags(&format!("-O2 -std=c++17 -fuse-ld={linker}"));
        let recipe = builder
            .compile(&fixtures(), &program(&["plus.cpp"]), &set, &compiler)
            .unwrap_or_else(|failure| panic!("{failure}"));
        let rotation = rotation(&builder, &recipe, 2);
        assert_all_visited(
            &rotation,
            &["main", "_Z5twiceIiET_S0_"],
            &format!("{} {}", compiler.name, set.name),
        );
    }
}

#[test]
fn placed_programs_run_whatever_their_order_and_collected_garbage() {
    let (_cache, builder) = fresh();
    for (compiler, common) in combinations(&["bfd", "lld", "gold"]) {
        if compiler.name == "clang-14" {
            continue;
        }
        for extra in ["-Wl,--gc-sections", "-static"] {
            if extra == "-static" && common.contains(" -pie") {
                continue;
            }
            let set = flags(&format!("-O2 {common} {extra}"));
            let program = program(&["temperatures.c", "other.c"]);
            let recipe =
                builder.compile(&fixtures(), &program, &set, &compiler).unwrap_or_else(|e| panic!("{e}"));
            let links = [Link::AsBuilt, Link::Placed { shuffle: 5, phase_bytes: 48 }];
            for link in links {
                let artifact = builder.link(&recipe, link).unwrap_or_else(|failure| panic!("{failure}"));
                let status = std::process::Command::new(&artifact.path).status().expect("it can be started");
                assert!(status.success(), "{} {}: {status}", compiler.name, set.name);
                assert!(artifact.warnings.is_empty(), "{:?}", artifact.warnings);
                assert!(artifact.functions.iter().any(|function| function.name == "main"));
                assert!(artifact.functions.iter().all(|function| function.name != "_start"), "ours only");
            }
        }
    }
}

/// gcc for AArch64 by the name of a compiler of this machine, which is how one there is found; none where it is not here.
fn gcc_for_aarch64() -> Option<(tempfile::TempDir, Compiler)> {
    let answers = |name: &str| {
        let found = Command::new(name).arg("--version").output().is_ok_and(|output| output.status.success());
        if !found {
            eprintln!("skipped: no {name} on PATH");
        }
        found
    };
    if !answers("aarch64-linux-gnu-gcc") || !answers("qemu-aarch64") {
        return None;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let script = folder.path().join("gcc");
    fs::write(&script, "#!/bin/sh\nexec aarch64-linux-gnu-gcc \"$@\"\n").expect("the folder is ours");
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).expect("the file is ours");
    let found = find_compilers_in(folder.path().as_os_str(), &["gcc".into()]).expect("it answers");
    let compiler = found.into_iter().next()?;
    assert_eq!(compiler.target, "aarch64-linux-gnu");
    Some((folder, compiler))
}

#[test]
fn every_function_of_a_program_for_aarch64_visits_each_offset_and_the_program_still_runs() {
    let Some((_folder, compiler)) = gcc_for_aarch64() else { return };
    let (_cache, builder) = fresh();
    for common in ["-fpie -pie", "-fno-pie -no-pie", "-static -fno-pie"] {
        let set = flags(&format!("-O2 {common}"));
        let recipe = builder
            .compile(&fixtures(), &program(&["temperatures.c", "other.c"]), &set, &compiler)
            .unwrap_or_else(|failure| panic!("{failure}"));
        assert!(recipe.warnings.is_empty(), "{:?}", recipe.warnings);
        let expected = ["plain", "local", "hot", "cold", "startup", "branching", "main", "from_other"];
        let placed = rotation(&builder, &recipe, 5);
        assert_all_visited(&placed, &expected, &format!("{} {}", compiler.target, set.name));
        for artifact in placed {
            let mut command = Command::new("qemu-aarch64");
            command.args(["-L", "/usr/aarch64-linux-gnu"]).arg(&artifact.path);
            assert!(command.status().expect("it answered before").success(), "{}", set.name);
        }
    }
}

#[test]
fn as_built_is_the_users_own_link() {
    let (_cache, builder) = fresh();
    for compiler in compilers(&["gcc-12", "clang-16"]) {
        let set = flags("-O2");
        let recipe = builder
            .compile(&fixtures(), &program(&["temperatures.c", "other.c"]), &set, &compiler)
            .unwrap_or_else(|failure| panic!("{failure}"));
        let artifact = builder.link(&recipe, Link::AsBuilt).unwrap_or_else(|failure| panic!("{failure}"));
        let own = tempfile::tempdir().expect("a temporary folder");
        let made = own.path().join("own");
        let status = std::process::Command::new(&compiler.path)
            .args(["-O2", "temperatures.c", "other.c", "-o"])
            .arg(&made)
            .current_dir(fixtures())
            .status()
            .expect("the compiler can be started");
        assert!(status.success());
        let own = layout::functions(&std::fs::read(&made).expect("made")).expect("a linked binary");
        let place = |functions: &[FunctionPlace], name: &str| {
            functions
                .iter()
                .find(|function| function.name == name)
                .map(|function| (function.address, function.size))
        };
        for name in ["plain", "hot", "cold", "main", "from_other"] {
            assert_eq!(place(&artifact.functions, name), place(&own, name), "{} {name}", compiler.name);
        }
    }
}

#[test]
fn link_time_optimisation_is_still_moved_and_says_what_cannot_be_done() {
    let (_cache, builder) = fresh();
    for (compiler, linker, warned) in [("gcc-12", "bfd", true), ("clang-14", "lld", false)] {
        for compiler in compilers(&[compiler]).into_iter().filter(|_| has_linker(linker)) {
            let set = flags(&format!("-O2 -flto -fuse-ld={linker}"));
            let recipe = builder
                .compile(&fixtures(), &program(&["temperatures.c", "other.c"]), &set, &compiler)
                .unwrap_or_else(|failure| panic!("{failure}"));
            assert_eq!(recipe.warnings.len(), usize::from(warned), "{:?}", recipe.warnings);
            let placed = rotation(&builder, &recipe, 0);
            let links: Vec<&[FunctionPlace]> =
                placed.iter().map(|artifact| &artifact.functions[..]).collect();
            for name in ["plain", "hot", "cold", "main"] {
                let reached = layout::phases_reached(name, &links).expect("once in each link");
                assert_eq!(reached.note, None, "{} {name}", compiler.name);
            }
            let own: Vec<String> = [0, 1]
                .map(|shuffle| {
                    let link = builder.link(&recipe, Link::Placed { shuffle, phase_bytes: 0 });
                    order(&link.expect("it links")).join(" ")
                })
                .to_vec();
            assert_eq!(own[0] == own[1], warned, "{} {own:?}", compiler.name);
        }
    }
}
