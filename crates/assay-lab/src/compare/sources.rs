//! What the revisions say of a function's source, where its program has no debug information.

use super::unchanged::differing;
use crate::lead::git::{bytes, git, path};
use anyhow::Result;
use assay_pure::definitions::{ChangedDefinitions, Language, SourceTree};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// Bytes of source beyond which a tree is not read.
const LARGEST_BYTES: usize = 64 << 20;
/// Files that are no source: documents, and what says how to build. By the end of the name.
const NO_SOURCE: [&str; 15] = [
    ".md",
    ".rst",
    ".txt",
    ".html",
    ".css",
    ".svg",
    ".png",
    ".yml",
    ".yaml",
    ".toml",
    ".cmake",
    ".mk",
    "Makefile",
    "meson.build",
    "LICENSE",
];

/// Which definitions differ between two commits whose trees are checked out in these folders; none where that cannot be told, as
/// where a file differs that the build may make source from.
///
/// # Errors
/// git cannot be executed.
pub fn changed_definitions(commits: [&str; 2], folders: [&Path; 2]) -> Result<Option<ChangedDefinitions>> {
    let Some(differing) = differing(commits, folders[1])? else { return Ok(None) };
    if !differing.iter().all(|file| is_understood(file)) {
        return Ok(None);
    }
    let (Some(old), Some(new)) = (tree(folders[0])?, tree(folders[1])?) else { return Ok(None) };
    Ok(Some(ChangedDefinitions::between(&old, &new)))
}

/// Whether what a change of this file does to functions is known: it is sliced, or no source at all.
fn is_understood(file: &Path) -> bool {
    let name = file.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    // It makes source in ways of its own.
    let makes_source = name == "build.rs";
    !makes_source && (Language::of(&name).is_some() || NO_SOURCE.iter().any(|end| name.ends_with(end)))
}

/// All source files that git knows below the root of a folder's tree; none where it cannot tell, or they are too many.
fn tree(folder: &Path) -> Result<Option<SourceTree>> {
    let Ok(root) = path(git(folder).args(["rev-parse", "--show-toplevel"]))? else { return Ok(None) };
    let Ok(listed) = bytes(git(&root).args(["ls-files", "-z"]))? else { return Ok(None) };
    let (mut found, mut total) = (SourceTree::default(), 0);
    for name in listed.split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
        let file = PathBuf::from(OsStr::from_bytes(name));
        let name = file.to_string_lossy();
        if file.file_name().is_some_and(|name| name == "Cargo.toml") {
            let text = std::fs::read_to_string(root.join(&file)).unwrap_or_default();
            let named =
                text.lines().filter_map(|line| line.strip_prefix("name")?.trim_start().strip_prefix('='));
            named.for_each(|name| found.add_crate(name.trim().trim_matches(['"', '\''])));
        }
        let Some(language) = Language::of(&name) else { continue };
        // What cannot be read, as a link to nowhere, defines nothing.
        let Ok(text) = std::fs::read(root.join(&file)) else { continue };
        total += text.len();
        if total > LARGEST_BYTES {
            return Ok(None);
        }
        found.add(&name, language, &readable(text));
    }
    Ok(Some(found))
}

/// Source as text. What is not UTF-8 stays what it is byte by byte: one sign for all that is none would hide what differs.
fn readable(source: Vec<u8>) -> String {
    String::from_utf8(source).unwrap_or_else(|error| error.into_bytes().into_iter().map(char::from).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_are_no_text_differ_as_they_do_in_the_source() {
        assert_eq!(readable("é".into()), "é");
        assert_ne!(readable(b"'\xe8'".to_vec()), readable(b"'\xe9'".to_vec()));
    }

    #[test]
    fn a_file_that_source_may_be_made_from_makes_all_unknown() {
        let understood = |file: &str| is_understood(Path::new(file));
        for file in
            ["src/a.cc", "src/lib.rs", "README.md", "CMakeLists.txt", "Cargo.toml", "doc/a.svg", "Makefile"]
        {
            assert!(understood(file), "{file}");
        }
        for file in ["build.rs", "Cargo.lock", "tables.py", "a.S", "words.dat", "lexer.l"] {
            assert!(!understood(file), "{file}");
        }
    }
}
