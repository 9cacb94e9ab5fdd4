//! The files whose content a program's code depends on, as far as they can be known before it is built.
//!
//! For a build of its own: all files with the endings of sources and settings below its folder, but for hidden folders and those
//! that builds make. It decides only whether an interrupted campaign may go on.

use assay_pure::experiment::spec::{OwnBuild, Program};
use std::path::{Path, PathBuf};

/// What sources and settings of builds end with.
const ENDINGS: [&str; 20] = [
    "c", "h", "cc", "cpp", "cxx", "hh", "hpp", "hxx", "inl", "s", "S", "rs", "zig", "toml", "lock", "cmake",
    "txt", "mk", "build", "bazel",
];
/// Folders that builds make.
const MADE: [&str; 3] = ["target", "build", "node_modules"];
/// Files at most: what is larger is no package of a benchmark.
const MOST: usize = 20_000;

/// The sources of a program, in the order of their names.
pub fn of(program: &Program, folder: &Path) -> Vec<PathBuf> {
    let top = match &program.build {
        None => return program.sources.iter().map(|source| folder.join(source)).collect(),
        Some(OwnBuild::Cargo { manifest, .. }) => {
            let manifest = folder.join(manifest);
            if manifest.is_dir() { manifest } else { manifest.parent().unwrap_or(folder).to_owned() }
        }
        Some(OwnBuild::Cmake { folder: own, .. }) => folder.join(own),
        Some(OwnBuild::Command { .. }) => folder.to_owned(),
    };
    let mut found = Vec::new();
    below(&top, &mut found);
    found.sort();
    found
}

fn below(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
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
