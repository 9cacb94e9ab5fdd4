//! The two commands of a folder whose benchmarks somebody wants compared without saying how.
//!
//! Limits: hidden folders, `target`, `node_modules` and `build-assay` are passed over, as is what lies deeper than eight
//! folders or is a link.
//! Checked by: folders below and in tests/compare.rs.

use crate::lead::Misuse;
use assay_pure::discover::{BuildPlace, Candidate, Discovery, FolderView, discover, quoted};
use std::path::Path;

/// Entries of folders that are looked at.
const MOST_ENTRIES: usize = 50_000;
/// How deep below the folder files are looked for.
const DEEPEST: usize = 8;
/// A file larger than this is no script and no source, bytes.
const LARGEST: u64 = 2 << 20;
/// Folders of what others made.
const PASSED_OVER: [&str; 3] = ["target", "node_modules", "build-assay"];
/// Candidates that an error lists.
const MOST_SHOWN: usize = 12;

/// Finds the commands of the one benchmark there is.
///
/// Input: the store, below which the user's own tree is built where no revisions are compared; the revisions as they were given,
/// for the commands that an error shows.
///
/// # Errors
/// There is none, or several; the message lists them with the command to type.
pub fn commands(folder: &Path, store: &Path, revisions: &[String]) -> Result<Candidate, Misuse> {
    let place = match revisions {
        [] => BuildPlace::Tree(store.with_file_name("tree").display().to_string()),
        _ => BuildPlace::Revision,
    };
    let files = files(folder);
    let text = |name: &str| {
        let file = folder.join(name);
        std::fs::metadata(&file).ok().filter(|facts| facts.len() <= LARGEST)?;
        std::fs::read_to_string(file).ok()
    };
    let found = discover(&FolderView { files: &files, text: &text }, &place);
    match &found.candidates[..] {
        [one] => Ok(one.clone()),
        [] => Err(none(&found)),
        several => Err(choose(several, revisions)),
    }
}

fn none(found: &Discovery) -> Misuse {
    let mut text = "no benchmark was found in this folder (looked for: benches of Cargo.toml; programs of CMakeLists.txt with \
                    Google Benchmark, nanobench or Catch2; benchmark() of meson.build; a target bench of a Makefile; Benchmark \
                    functions below go.mod). Give both commands, as in\n  assay compare --build make --bench ./bench main"
        .to_owned();
    for note in found.notes.iter().take(MOST_SHOWN) {
        text.push_str(&format!("\n  {note}"));
    }
    Misuse(text)
}

fn choose(several: &[Candidate], revisions: &[String]) -> Misuse {
    let mut text = format!("this folder has {} benchmarks; choose one:", several.len());
    let behind: String = revisions.iter().map(|revision| format!(" {}", quoted(revision))).collect();
    for one in several.iter().take(MOST_SHOWN) {
        let (build, bench) = (quoted(&one.build), quoted(&one.bench));
        text.push_str(&format!(
            "\n  {}:\n    assay compare --build {build} --bench {bench}{behind}",
            one.what
        ));
    }
    if several.len() > MOST_SHOWN {
        text.push_str(&format!("\n  and {} more", several.len() - MOST_SHOWN));
    }
    Misuse(text)
}

/// All files below a folder by their path, sorted.
fn files(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![(folder.to_owned(), String::new(), 0)];
    let mut seen = 0;
    while let Some((place, prefix, depth)) = folders.pop() {
        for entry in std::fs::read_dir(place).into_iter().flatten().flatten() {
            seen += 1;
            let Some(name) = entry.file_name().to_str().map(str::to_owned) else { continue };
            let Ok(kind) = entry.file_type() else { continue };
            if kind.is_file() {
                found.push(format!("{prefix}{name}"));
            } else if kind.is_dir()
                && depth < DEEPEST
                && seen < MOST_ENTRIES
                && !name.starts_with('.')
                && !PASSED_OVER.contains(&name.as_str())
            {
                folders.push((entry.path(), format!("{prefix}{name}/"), depth + 1));
            }
        }
    }
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        folder
    }

    const STORE: &str = ".assay/store";

    #[test]
    fn the_one_benchmark_is_used() {
        let folder = folder(&[
            ("Makefile", "bench: tool\n\t./tool\n"),
            ("target/Cargo.toml", "[package]\nname = \"p\"\n"),
            (".hidden/Makefile", "bench:\n"),
        ]);
        let revisions = ["main".to_owned()];
        let found = commands(folder.path(), Path::new(STORE), &revisions).unwrap();
        assert_eq!((found.build.as_str(), found.bench.as_str()), ("make tool", "make bench"));
        assert_eq!(commands(folder.path(), Path::new(STORE), &[]).unwrap().build, "make -B tool");
    }

    #[test]
    fn several_are_listed_with_their_commands_and_none_says_what_was_looked_for() {
        let several = folder(&[("Makefile", "bench: tool\n\t./tool\nbenchmark: all\n\t./tool 'x'\n")]);
        let revisions = ["v 1".to_owned(), "HEAD".to_owned()];
        let said = commands(several.path(), Path::new(STORE), &revisions).unwrap_err().0;
        let typed = "target `bench` of Makefile:\n    assay compare --build 'make tool' --bench 'make bench' 'v 1' HEAD";
        assert!(
            said.starts_with("this folder has 2 benchmarks; choose one:") && said.contains(typed),
            "{said}"
        );
        let none = folder(&[
            ("Cargo.toml", "[package]\nname = \"p\"\n[[bench]]\nname = \"count\"\n"),
            ("benches/count.rs", "use iai_callgrind::main;\n"),
        ]);
        let said = commands(none.path(), Path::new(STORE), &[]).unwrap_err().0;
        assert!(said.contains("no benchmark was found") && said.contains("uses iai-callgrind"), "{said}");
    }
}
