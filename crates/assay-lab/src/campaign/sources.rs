//! What a campaign's program is made of: the files, the digest of each, and the commit they lie in.
//!
//! Of a build of its own: all files with the endings of sources and settings below its folder, but for hidden folders and those
//! that builds make.

use super::prepare::PreparedExperiment;
use crate::lead::git::{git, text};
use assay_linux::given;
use assay_pure::experiment::spec::{OwnBuild, Program};
use assay_pure::inputs::digest::digest;
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};

/// Files that are kept by name; of more only how many, and one digest.
const MOST_NAMED: usize = 200;
/// What sources and settings of builds end with.
const ENDINGS: [&str; 21] = [
    "c", "h", "cc", "cpp", "cxx", "hh", "hpp", "hxx", "inl", "s", "S", "rs", "zig", "toml", "lock", "cmake",
    "txt", "mk", "build", "bazel", "zon",
];
/// Folders that builds make.
const MADE: [&str; 4] = ["target", "build", "node_modules", "zig-out"];
/// Files at most: what is larger is no package of a benchmark.
const MOST: usize = 20_000;

/// The facts as kept with a campaign. A source that cannot be read is left out; without git there is no commit.
pub(super) fn facts(prepared: &PreparedExperiment) -> Value {
    let mut files = Map::new();
    for source in of(&prepared.experiment.program, &prepared.folder) {
        let name = source.strip_prefix(&prepared.folder).unwrap_or(&source).to_string_lossy().into_owned();
        if let Ok(bytes) = given::read(&source, given::DATA) {
            files.insert(name, digest(&bytes).into());
        }
    }
    if files.len() > MOST_NAMED {
        let all: Vec<String> = files.iter().map(|(name, hash)| format!("{name} {hash}")).collect();
        files = Map::from_iter([(format!("{} files", all.len()), digest(all.join("\n").as_bytes()).into())]);
    }
    let (revision, changed) = commit(&prepared.folder);
    json!({ "files": files, "revision": revision, "changed": changed })
}

/// The commit checked out in a folder, and whether files below it differ.
fn commit(folder: &Path) -> (Option<String>, Option<bool>) {
    let said = |words: &[&str]| text(git(folder).args(words)).ok().and_then(Result::ok);
    let revision = said(&["rev-parse", "--verify", "-q", "HEAD"]);
    let changed = revision.as_ref().and_then(|_| said(&["status", "--porcelain", "-uno", "--", "."]));
    (revision, changed.map(|listed| !listed.is_empty()))
}

/// The sources of a program, in the order of their names.
pub fn of(program: &Program, folder: &Path) -> Vec<PathBuf> {
    let top = match &program.build {
        None => return program.sources.iter().map(|source| folder.join(source)).collect(),
        Some(OwnBuild::Cargo { manifest, .. }) => {
            let manifest = folder.join(manifest);
            if manifest.is_dir() { manifest } else { manifest.parent().unwrap_or(folder).to_owned() }
        }
        Some(OwnBuild::Zig { files }) => return of_zig(files, folder),
        Some(OwnBuild::ZigBuild { file, .. }) => {
            let file = folder.join(file);
            if file.is_dir() { file } else { file.parent().unwrap_or(folder).to_owned() }
        }
        Some(OwnBuild::Cmake { folder: own, .. }) => folder.join(own),
        Some(OwnBuild::Command { .. }) => folder.to_owned(),
    };
    let mut found = Vec::new();
    below(&top, &mut found);
    found.sort();
    found
}

/// The files that are compiled, and what lies beside and below each in Zig: they import it by path.
fn of_zig(files: &[String], folder: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = files.iter().map(|file| folder.join(file)).collect();
    for file in files.iter().filter(|file| file.ends_with(".zig")) {
        let mut near = Vec::new();
        below(folder.join(file).parent().unwrap_or(folder), &mut near);
        found.extend(near.into_iter().filter(|path| path.extension().is_some_and(|ending| ending == "zig")));
    }
    found.sort();
    found.dedup();
    found
}

fn below(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<_> = std::fs::read_dir(folder).into_iter().flatten().flatten().collect();
    // Where there are too many, the same ones are left out each time.
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
        let Ok(kind) = entry.file_type() else { continue };
        if found.len() >= MOST {
            return;
        }
        if kind.is_dir() && !name.starts_with('.') && !MADE.contains(&name.as_str()) {
            below(&path, found);
        } else if kind.is_file() && is_source(&path, &name) {
            found.push(path);
        }
    }
}

fn is_source(path: &Path, name: &str) -> bool {
    let ending = path.extension().and_then(|ending| ending.to_str());
    name == "Makefile" || ending.is_some_and(|ending| ENDINGS.contains(&ending))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_outside_of_any_repository_has_no_commit() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(commit(folder.path()), (None, None));
    }

    #[test]
    fn a_commit_and_a_change_are_seen() {
        let folder = tempfile::tempdir().unwrap();
        let run = |words: &[&str]| {
            let who = ["-c", "user.name=a", "-c", "user.email=a@example.org"];
            assert!(git(folder.path()).args(who).args(words).output().unwrap().status.success(), "{words:?}");
        };
        run(&["init", "-q"]);
        std::fs::write(folder.path().join("x.c"), "1").unwrap();
        run(&["add", "."]);
        run(&["commit", "-q", "-m", "one"]);
        let (revision, changed) = commit(folder.path());
        assert_eq!((revision.map(|hash| hash.len()), changed), (Some(40), Some(false)));
        std::fs::write(folder.path().join("x.c"), "2").unwrap();
        assert_eq!(commit(folder.path()).1, Some(true));
    }

    #[test]
    fn sources_of_a_package_are_those_that_nobody_builds() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        for file in ["Cargo.toml", "src/main.rs", "target/debug/build.rs", ".git/x.rs", "notes.md"] {
            let path = folder.path().join(file);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            std::fs::write(path, "").expect("written");
        }
        let text =
            "question = \"q\"\nbaseline = \"a\"\nvariants = [\"a\", \"b\"]\nprogram.cargo = \"Cargo.toml\"";
        let read = assay_pure::experiment::Experiment::from_toml(text, "x.toml").expect("a good file");
        let found = of(&read.experiment.program, folder.path());
        let names: Vec<_> =
            found.iter().map(|path| path.strip_prefix(folder.path()).expect("below")).collect();
        assert_eq!(names, [Path::new("Cargo.toml"), Path::new("src/main.rs")]);
    }
}
