//! What the tests of `build` share: this machine's compilers, the fixtures, a fresh cache.

use assay_link::build::{Builder, Compiler, find_compilers};
use assay_pure::experiment::spec::{FlagSet, Program};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The fixtures with known layout.
pub fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/layout")
}

/// All compilers, asked once: each of them is started several times and hashed.
fn all_compilers() -> &'static [Compiler] {
    static FOUND: OnceLock<Vec<Compiler>> = OnceLock::new();
    FOUND.get_or_init(|| find_compilers(&[]).expect("a C compiler is on PATH"))
}

/// The compilers of these names that are here; those that are not are reported.
pub fn compilers(names: &[&str]) -> Vec<Compiler> {
    let find = |name: &&str| {
        let found = all_compilers().iter().find(|compiler| compiler.name == *name);
        if found.is_none() {
            eprintln!("skipped: no {name} on PATH");
        }
        found.cloned()
    };
    names.iter().filter_map(find).collect()
}

/// Any compiler; every machine that builds this has one.
pub fn any_compiler() -> Compiler {
    all_compilers()[0].clone()
}

/// Whether `ld.NAME` is on PATH; if not, that is reported.
pub fn has_linker(name: &str) -> bool {
    let search = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&search).any(|folder| folder.join(format!("ld.{name}")).is_file());
    if !found {
        eprintln!("skipped: no ld.{name} on PATH");
    }
    found
}

/// A builder with a cache of its own, which lives as long as the folder.
pub fn fresh() -> (tempfile::TempDir, Builder) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let builder = Builder::new(folder.path()).expect("a new cache");
    (folder, builder)
}

/// A program of these sources.
pub fn program(sources: &[&str]) -> Program {
    Program {
        sources: sources.iter().map(|&source| source.to_owned()).collect(),
        build: None,
        include_dirs: Vec::new(),
        flags: Vec::new(),
        link_flags: Vec::new(),
    }
}

/// A flag set of the words of a text, named like it.
pub fn flags(text: &str) -> FlagSet {
    let flags = text.split_whitespace().map(str::to_owned).collect();
    FlagSet { name: text.to_owned(), flags, allow_unoptimised: true }
}
