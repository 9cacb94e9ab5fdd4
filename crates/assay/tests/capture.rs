//! Are the links of other people's builds seen, repeated to the same code, and moved as asked?

#[path = "capture/project.rs"]
mod project;

use self::project::{Project, assert_placed, assert_repeats, has, output, path_of, placed};
use assay_link::adopt::capture::{BuildError, Repeated, ReplayError};
use assay_link::build::Link;
use std::process::Command;

const SECTIONS: &str = "CFLAGS='-O2 -ffunction-sections'";
const ALL: [&str; 6] = ["fill", "sum_from", "sum_even", "sum_odd", "mix", "main"];

#[test]
fn a_make_project_is_captured_repeated_and_placed() {
    let project = Project::of("make");
    let built = project.build(&format!("make {SECTIONS}"));
    assert_eq!(built.links.len(), 1, "{:?}", built.links);
    assert_eq!(built.warnings, Vec::<String>::new());
    let warnings = assert_placed(&project, &built.links[0], &ALL);
    assert!(warnings.is_empty(), "{warnings:?}");
}

#[test]
fn objects_with_one_section_for_all_functions_move_whole_and_that_is_said() {
    let project = Project::of("make");
    let built = project.build("make");
    let warnings = assert_placed(&project, &built.links[0], &["sum_even", "sum_odd", "mix", "main"]);
    let expected = "compile with -ffunction-sections to place each (2 of 3 objects: sums.o, mixes.o)";
    assert!(warnings[0].contains(expected), "{warnings:?}");
}

#[test]
fn every_linker_is_told_the_order_in_its_own_language() {
    for linker in ["bfd", "lld", "gold"] {
        if has(&format!("ld.{linker}")) {
            let project = Project::of("make");
            let built = project.build(&format!("make {SECTIONS} LDFLAGS=-fuse-ld={linker}"));
            let warnings = assert_placed(&project, &built.links[0], &ALL);
            assert!(warnings.is_empty(), "{linker}: {warnings:?}");
        }
    }
}

#[test]
fn links_by_clang_are_seen_too() {
    if has("clang") {
        let project = Project::of("make");
        let built = project.build(&format!("make CC=clang {SECTIONS}"));
        assert_placed(&project, &built.links[0], &ALL);
    }
}

#[test]
fn the_usual_options_of_links_are_kept() {
    let ways =
        ["-Wl,--gc-sections", "-static", "-static-pie -fPIE", "-no-pie -Wl,-z,now -Wl,--build-id=sha1"];
    for way in ways {
        let project = Project::of("make");
        let built = project
            .build(&format!("make CFLAGS='-O2 -fPIE -ffunction-sections' LDFLAGS='{way} -Wl,-Map=map'"));
        let map = project.path().join("map");
        let own = std::fs::read(&map).expect("the build's own map");
        let warnings = assert_placed(&project, &built.links[0], &ALL);
        assert!(warnings.is_empty(), "{way}: {warnings:?}");
        assert_eq!(std::fs::read(&map).expect("still there"), own, "replays write their maps elsewhere");
    }
}

#[test]
fn objects_that_are_gone_when_the_build_ends_were_kept() {
    for goal in ["once", "long", "thin"] {
        let project = Project::of("make");
        let built = project.build(&format!("make {goal} {SECTIONS}"));
        assert_placed(&project, &built.links[0], &ALL);
    }
}

#[test]
fn functions_of_archives_are_ordered_with_the_others() {
    let project = Project::of("make");
    let built = project.build(&format!("make archived {SECTIONS}"));
    assert_placed(&project, &built.links[0], &ALL);
    // What the build's folder holds later does not matter.
    std::fs::write(project.path().join("libpieces.a"), "no archive").expect("written");
    std::fs::write(project.path().join("main.o"), "no object").expect("written");
    assert_placed(&project, &built.links[0], &ALL);
}

#[test]
fn a_shared_library_made_by_the_linker_itself_is_placed_under_its_own_program() {
    let project = Project::of("make");
    let built = project.build(&format!("make shared {SECTIONS}"));
    let [library, program] = &built.links[..] else { panic!("{:?}", built.links) };
    assert!(library.shared && !program.shared);
    let expected = output(&program.output);
    assert_placed(&project, library, &["sum_even", "sum_odd", "mix"]);
    let replayed = placed(&project, library, 7, 48);
    std::fs::copy(&replayed.path, &library.output).expect("put in its place");
    assert_eq!(output(&program.output), expected);
    assert!(!library.is_in_place() && program.is_in_place());
    let error = program.replay(Link::AsBuilt, &project.replays()).expect("the old library was kept");
    assert_eq!(output(&error.path), expected);
}

#[test]
fn an_object_joined_from_others_is_one_piece_and_not_a_link_of_its_own() {
    let project = Project::of("make");
    let built = project.build("make joined");
    assert_eq!(built.links.len(), 1, "{:?}", built.links);
    assert_placed(&project, &built.links[0], &["sum_even", "mix", "main"]);
}

#[test]
fn link_time_optimisation_is_repeated_in_every_placement() {
    for (compiler, flags, shuffles) in [
        ("gcc", "-O2 -flto", false),
        ("clang", "-O2 -flto -fuse-ld=lld", true),
        ("clang", "-O2 -flto=thin -fuse-ld=lld", true),
    ] {
        if has(compiler) && (compiler == "gcc" || has("ld.lld")) {
            let project = Project::of("make");
            let built = project.build(&format!("make once CC={compiler} CFLAGS='{flags}'"));
            let warnings = assert_placed(&project, &built.links[0], &["fill", "main"]);
            let warned = warnings.iter().any(|warning| warning.contains("cannot be shuffled"));
            assert_eq!(warned, !shuffles, "{compiler} {flags}: {warnings:?}");
        }
    }
}

#[test]
fn a_cmake_project_gives_its_library_and_its_program_and_none_of_its_probes() {
    if has("cmake") && has("ninja") {
        let project = Project::of("cmake");
        let built = project
            .build("cmake -S . -B out -G Ninja -DCMAKE_CXX_FLAGS=-ffunction-sections && cmake --build out");
        let names: Vec<String> = built.links.iter().map(|link| link.output.display().to_string()).collect();
        assert_eq!(names.len(), 2, "{names:?}");
        assert!(names[0].ends_with("out/libnames.so") && names[1].ends_with("out/shapes"), "{names:?}");
        assert_eq!(built.warnings, Vec::<String>::new());
        let own =
            ["_ZNK6Square4areaEv", "_ZNK3Bar4areaEv", "_ZNK6Square6lengthEv", "_ZNK3Bar6lengthEv", "main"];
        assert_placed(&project, &built.links[1], &own);
        assert_repeats(&project, &built.links[0]);
        let cache = std::fs::read_to_string(project.path().join("out/CMakeCache.txt")).expect("there");
        assert!(!cache.contains("store/linkers"), "no path of ours stays in the build");
    }
}

#[test]
fn a_cargo_project_is_captured_without_building_it_anew_afterwards() {
    if has("cargo") {
        let project = Project::of("cargo");
        let built = project.build("cargo build --release --offline");
        let link = built.links.last().expect("the program");
        assert!(link.output.parent().is_some_and(|folder| folder.ends_with("target/release/deps")));
        let program = project.path().join("target/release/counted");
        assert_eq!(link.copies, [program.canonicalize().expect("linked by cargo")]);
        assert_placed(&project, link, &["fill"]);
        let again = Command::new("cargo")
            .args(["build", "--release", "--offline"])
            .current_dir(project.path())
            .output();
        let said = String::from_utf8(again.expect("cargo starts").stderr).expect("text");
        assert!(!said.contains("Compiling"), "{said}");
    }
}

#[test]
fn zig_is_called_again_with_its_objects_in_another_order() {
    if has("zig") {
        let project = Project::of("make");
        let built = project.build("make CC='zig cc' CFLAGS='-O2 -ffunction-sections'");
        assert_eq!(built.links.len(), 1, "{:?}", built.links);
        let warnings = assert_placed(&project, &built.links[0], &ALL);
        assert!(warnings.iter().any(|warning| warning.contains("zig orders whole objects")), "{warnings:?}");
    }
}

#[test]
fn what_is_moved_copied_or_stripped_after_the_link_is_found() {
    let project = Project::of("make");
    let built = project.build("make moved");
    assert_eq!(built.links[0].output, project.path().join("app").canonicalize().expect("there"));
    assert_repeats(&project, &built.links[0]);

    let project = Project::of("make");
    let built = project.build("make installed");
    let mut names: Vec<_> =
        built.links[0].copies.iter().filter_map(|copy| copy.file_name()?.to_str()).collect();
    names.sort_unstable();
    assert_eq!(names, ["copy", "link", "stripped"]);

    let project = Project::of("make");
    let built = project.build("make stripped");
    let repeated = built.links[0].is_reproducible(&project.replays()).expect("it links");
    assert_eq!(repeated, Repeated::SameCode { stripped: true });
    assert_eq!(repeated.limit(&built.links[0].output), None, "the code is the same");

    let project = Project::of("make");
    let built = project.build("make changed");
    let repeated = built.links[0].is_reproducible(&project.replays()).expect("it links");
    assert_eq!(repeated, Repeated::Differs { sections: vec![".comment".into()] });
    let limit = repeated.limit(&built.links[0].output).expect("it is told").to_string();
    assert!(limit.contains("not exactly the build's file") && limit.ends_with(": .comment)"), "{limit}");
}

#[test]
fn a_script_of_the_builds_own_is_repeated_but_not_placed() {
    let project = Project::of("make");
    let script = Command::new("ld").args(["-pie", "--verbose"]).output().expect("GNU ld is there");
    let text = String::from_utf8(script.stdout).expect("text");
    let script = assay_link::build::default_script(&text).expect("a default script");
    std::fs::write(project.path().join("own.ld"), script).expect("written");
    let built = project.build("make LDFLAGS='-fuse-ld=bfd -Wl,-T,own.ld'");
    assert_repeats(&project, &built.links[0]);
    let refused = built.links[0].replay(Link::Placed { shuffle: 0, phase_bytes: 0 }, &project.replays());
    let error = refused.expect_err("the script fixes the places");
    assert_eq!(error, ReplayError::OwnScript { option: "-T own.ld".into() });
}

#[test]
fn a_failing_build_says_what_it_would_have_said_without_us() {
    let project = Project::of("make");
    std::fs::write(project.path().join("mixes.c"), "int unrelated;\n").expect("written");
    let Err(BuildError::Failed(failed)) = project.try_build("make") else { panic!("it cannot be linked") };
    let alone = Command::new("sh").args(["-c", "rm -f app; make 2>&1"]).current_dir(project.path()).output();
    let alone = alone.expect("make starts");
    assert_eq!(failed.code, alone.status.code());
    let said = String::from_utf8(alone.stdout).expect("text");
    let last: Vec<&str> = said.lines().rev().take(3).collect();
    let told: Vec<&str> = failed.tail.iter().rev().take(3).map(String::as_str).collect();
    assert_eq!(told, last);
    assert!(std::fs::read_to_string(&failed.log).expect("the log").contains("undefined reference to"));
    assert!(BuildError::Failed(failed).to_string().contains("undefined reference to `mix'"));
}

#[test]
fn a_build_that_links_nothing_is_told_apart_and_given_remedies() {
    let project = Project::of("make");
    project.build("make");
    let Err(BuildError::NothingCaptured(nothing)) = project.try_build("make") else {
        panic!("nothing is linked")
    };
    assert!(nothing.to_string().contains("`make clean`"));
    let Err(BuildError::NothingCaptured(_)) = project.try_build("true") else { panic!("nothing is linked") };
}

#[test]
fn a_linker_named_by_path_is_not_seen_but_its_program_and_the_remedy_is() {
    if let Some(linker) = path_of("ld.bfd").filter(|_| has("clang")) {
        let project = Project::of("make");
        let hidden = format!("make hidden CC=clang HIDDEN={}", linker.display());
        let Err(BuildError::NothingCaptured(nothing)) = project.try_build(&hidden) else {
            panic!("it passed us over")
        };
        assert_eq!(nothing.unknown, [project.path().join("app").canonicalize().expect("there")]);
        let built = project.build("make clean && make hidden CC=clang HIDDEN=$ASSAY_LINKERS/ld.bfd");
        assert_repeats(&project, &built.links[0]);
    }
}

#[test]
fn a_search_path_ahead_of_ours_gives_way_to_the_folder_that_builds_are_told() {
    let project = Project::of("make");
    let linker = path_of("ld").expect("a linker is on PATH");
    let folder = linker.parent().expect("a folder").display();
    let built = project.build(&format!("make LDFLAGS=\"-B$ASSAY_LINKERS -B{folder}\""));
    assert_repeats(&project, &built.links[0]);
}
