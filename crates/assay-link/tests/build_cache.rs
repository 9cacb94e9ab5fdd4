//! Is nothing built twice, and nothing used that was made from something else, cut or changed?

use crate::build_support::{any_compiler, flags, fresh, program};
use assay_link::build::{Artifact, Builder, Link, Recipe};
use std::fs;
use std::path::{Path, PathBuf};

const LINKS: [Link; 3] = [
    Link::AsBuilt,
    Link::Placed { shuffle: 0, phase_bytes: 16 },
    Link::Placed { shuffle: 4, phase_bytes: 16 },
];

/// A program of one source and one header of its own, in a folder of its own.
fn project() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::create_dir(folder.path().join("include")).expect("made");
    fs::write(folder.path().join("include/answer.h"), "#define ANSWER 3\n").expect("written");
    let source =
        "#include <answer.h>\nint f(int x) { return x + 1; }\nint main(void) { return f(ANSWER); }\n";
    fs::write(folder.path().join("main.c"), source).expect("written");
    folder
}

fn recipe(builder: &Builder, project: &Path) -> Recipe {
    let mut program = program(&["main.c"]);
    program.include_dirs.push("include".into());
    let compiled = builder.compile(project, &program, &flags("-O1"), &any_compiler());
    compiled.unwrap_or_else(|failure| panic!("{failure}"))
}

fn artifacts(builder: &Builder, project: &Path) -> Vec<Artifact> {
    let recipe = recipe(builder, project);
    let linked = LINKS.iter().map(|&link| builder.link(&recipe, link));
    linked.map(|result| result.unwrap_or_else(|failure| panic!("{failure}"))).collect()
}

fn exit_code(artifact: &Artifact) -> Option<i32> {
    std::process::Command::new(&artifact.path).status().expect("it can be started").code()
}

#[test]
fn a_second_campaign_starts_no_compiler_and_no_linker() {
    let (cache, builder) = fresh();
    let project = project();
    let first = artifacts(&builder, project.path());
    assert!(first.iter().all(|artifact| !artifact.from_cache));
    assert_eq!(builder.stats().linked, 3);
    assert_eq!(builder.stats().compiled, 2, "as built, and with functions in sections of their own");

    let again = Builder::new(cache.path()).expect("the same cache");
    let second = artifacts(&again, project.path());
    assert!(second.iter().all(|artifact| artifact.from_cache));
    assert_eq!(again.stats().processes, 0);
    assert_eq!((again.stats().linked, again.stats().artifacts_from_cache), (0, 3));
    let same = |(a, b): (&Artifact, &Artifact)| {
        (&a.hash, &a.functions, &a.command, a.text_bytes) == (&b.hash, &b.functions, &b.command, b.text_bytes)
    };
    assert!(first.iter().zip(&second).all(same));
}

#[test]
fn a_changed_header_or_source_is_compiled_and_the_former_is_found_again() {
    let (_cache, builder) = fresh();
    let project = project();
    let before = artifacts(&builder, project.path());
    assert_eq!(exit_code(&before[0]), Some(4));

    fs::write(project.path().join("include/answer.h"), "#define ANSWER 6\n").expect("written");
    let changed = artifacts(&builder, project.path());
    assert_eq!(changed.iter().map(exit_code).collect::<Vec<_>>(), [Some(7); 3]);
    assert!(changed.iter().all(|artifact| !artifact.from_cache));

    fs::write(project.path().join("include/answer.h"), "#define ANSWER 3\n").expect("written");
    let back = artifacts(&builder, project.path());
    assert!(
        back.iter().all(|artifact| artifact.from_cache),
        "the objects are the former ones, so the links are"
    );
    assert_eq!(back[0].hash, before[0].hash);
}

#[test]
fn a_new_header_that_is_found_before_the_former_one_is_compiled() {
    let (_cache, builder) = fresh();
    let project = project();
    assert_eq!(exit_code(&artifacts(&builder, project.path())[0]), Some(4));
    // Beside the source, where a header in angle brackets is not looked for: compiled again, with the same result.
    fs::write(project.path().join("answer.h"), "#define ANSWER 8\n").expect("written");
    assert_eq!(exit_code(&artifacts(&builder, project.path())[0]), Some(4));
    // A header of the C library, in the project's include folder.
    fs::write(
        project.path().join("main.c"),
        "#include <limits.h>\n#include <answer.h>\nint main(void) { return ANSWER + (INT_MAX < 9); }\n",
    )
    .expect("written");
    assert_eq!(exit_code(&artifacts(&builder, project.path())[0]), Some(3));
    fs::write(project.path().join("include/limits.h"), "#define INT_MAX 1\n").expect("written");
    assert_eq!(exit_code(&artifacts(&builder, project.path())[0]), Some(4));
    let again = builder.stats().compiled;
    artifacts(&builder, project.path());
    assert_eq!(builder.stats().compiled, again, "nothing has changed since");
}

#[test]
fn damaged_files_of_the_cache_are_made_again() {
    let (cache, builder) = fresh();
    let project = project();
    let before = artifacts(&builder, project.path());
    for folder in ["objects", "artifacts", "orders", "records"] {
        for file in files_in(&cache.path().join(folder)) {
            let bytes = fs::read(&file).expect("there");
            // Beside it and renamed, as a running program cannot be written to.
            let damaged = file.with_extension("damaged");
            fs::write(&damaged, &bytes[..bytes.len() / 2]).expect("written");
            fs::rename(&damaged, &file).expect("renamed");
        }
        let again = Builder::new(cache.path()).expect("the same cache");
        let after = artifacts(&again, project.path());
        let hashes = |artifacts: &[Artifact]| artifacts.iter().map(|a| a.hash.clone()).collect::<Vec<_>>();
        assert_eq!(hashes(&after), hashes(&before), "after damage to {folder}");
        assert_eq!(exit_code(&after[2]), Some(4));
        if folder != "orders" {
            assert!(again.stats().processes > 0, "{folder} was believed");
        }
    }
}

#[test]
fn two_campaigns_at_once_build_the_same() {
    let (cache, builder) = fresh();
    let other = Builder::new(cache.path()).expect("the same cache");
    let project = project();
    let (one, two) = std::thread::scope(|scope| {
        let one = scope.spawn(|| artifacts(&builder, project.path()));
        let two = scope.spawn(|| artifacts(&other, project.path()));
        (one.join().expect("no panic"), two.join().expect("no panic"))
    });
    for (a, b) in one.iter().zip(&two) {
        assert_eq!(a.hash, b.hash);
        assert_eq!(exit_code(a), Some(4));
    }
    assert_eq!(files_in(&cache.path().join("unfinished")), Vec::<PathBuf>::new());
}

fn files_in(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).expect("there").flatten().map(|entry| entry.path()).collect()
}
