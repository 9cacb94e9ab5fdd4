//! `assay harness`: the header, the crate and the package that benchmarks are written with, from inside the program.

use super::{DONE, screen};
use anyhow::{Context, Result};
use assay_lab::lead::Unable;
use assay_pure::inputs::digest;
use assay_pure::language::Language;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use std::path::{Path, PathBuf};

/// The crate: names of its files below its folder, and their texts.
pub(super) const CRATE: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/harness.rs"));
/// The header.
const HEADER: &[(&str, &str)] = &[("assay.h", assay_link::build::HARNESS)];

/// Languages that a benchmark is written in, by their names.
fn languages() -> impl TypedValueParser<Value = Language> {
    PossibleValuesParser::new([
        PossibleValue::new("c").help("C or C++: the header assay.h"),
        PossibleValue::new("rust").help("Rust: the crate assay-harness"),
        PossibleValue::new("zig").help("Zig: the package assay, for a build.zig"),
    ])
    .map(|word| match word.as_str() {
        "c" => Language::C,
        "rust" => Language::Rust,
        _ => Language::Zig,
    })
}

/// Print the folder of the header, crate or package that a benchmark is written with
#[derive(clap::Args, Clone, Debug)]
#[command(after_help = include_str!("help/harness.txt"))]
pub struct HarnessArguments {
    /// The benchmark's language
    #[arg(value_parser = languages())]
    pub language: Language,
    /// Folder to write it to; without one it is unpacked in the user's cache
    pub folder: Option<PathBuf>,
}

/// Runs the verb.
///
/// # Errors
/// The folder cannot be written.
pub fn run(arguments: &HarnessArguments) -> Result<u8> {
    let files = match arguments.language {
        Language::C => HEADER,
        Language::Rust => CRATE,
        Language::Zig => assay_link::program::ZIG_HARNESS,
    };
    let folder = match &arguments.folder {
        Some(folder) => folder.clone(),
        None => in_the_cache(files)?,
    };
    for (name, text) in files {
        put(&folder.join(name), text)
            .with_context(|| format!("cannot write {name} to {}", folder.display()))?;
    }
    screen::print(&format!("{}\n", folder.display()));
    Ok(DONE)
}

/// A folder for these texts and no others: two versions of assay do not write into each other's.
fn in_the_cache(files: &[(&str, &str)]) -> Result<PathBuf> {
    let all: String = files.iter().flat_map(|(name, text)| [*name, "\0", *text, "\0"]).collect();
    let cache = assay_linux::user_cache().ok_or_else(|| {
        Unable(
            "HOME is not set, so there is no cache to unpack it in: name a folder to write it to".to_owned(),
        )
    })?;
    Ok(cache.join("assay").join(&digest(all.as_bytes())[..12]))
}

/// Writes a file that is not there with this text already: a build that depends on it must not see it change.
fn put(path: &Path, text: &str) -> std::io::Result<()> {
    if std::fs::read(path).is_ok_and(|found| found == text.as_bytes()) {
        return Ok(());
    }
    std::fs::create_dir_all(path.parent().expect("a file in a folder"))?;
    assay_linux::output::write(path, text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_crate_is_all_of_its_sources_with_a_manifest_that_names_no_workspace() {
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../assay-harness/src");
        let count = std::fs::read_dir(sources).expect("the harness").count();
        let licences = CRATE.iter().filter(|(name, _)| name.starts_with("LICENSE-"));
        assert_eq!((CRATE.len(), licences.count()), (1 + count + 2, 2));
        let (name, manifest) = CRATE[0];
        assert!(name == "Cargo.toml" && !manifest.contains("workspace"), "{manifest}");
        assert!(manifest.contains("\nrust-version = \"1."), "{manifest}");
        assert!(manifest.contains(concat!("version = \"", env!("CARGO_PKG_VERSION"), "\"")), "{manifest}");
    }
}
