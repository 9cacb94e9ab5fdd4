//! What the revisions say of a function's source.
//!
//! Source files are cut into definitions. Of other files that differ, what they do to source has to be known: documents that no
//! source names do nothing, build files may differ in flags. Anything else leaves all unknown.

use super::unchanged::differing;
use crate::lead::git::{bytes, git, path};
use anyhow::Result;
use assay_pure::definitions::{ChangedDefinitions, SourceTree};
use assay_pure::language::Language;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// Bytes of source beyond which a tree is not read.
const LARGEST_BYTES: usize = 64 << 20;
/// How the names of documents and of files about other things than the build end.
const DOCUMENTS: [&str; 11] =
    [".md", ".rst", ".txt", ".html", ".css", ".svg", ".png", ".yml", ".yaml", ".toml", "LICENSE"];
/// How the names of files end that say how to build.
const BUILD_FILES: [&str; 6] = ["CMakeLists.txt", ".cmake", ".mk", "akefile", "Makefile.am", "meson.build"];
/// Flags that say what the source is, and no word more of how it is compiled.
const FLAGS_OF_SOURCE: [&str; 6] = ["-D", "-U", "-I", "-i", "-x", "-std"];
/// Parts of a manifest of cargo's that say only how source is compiled, or nothing of what is built.
const FLAGS_OF_CARGO: [&str; 4] = ["profile", "lints", "bench", "badges"];

/// What a file that differs says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FileRole {
    Source,
    Document,
    Build,
    Cargo,
    /// Source may be made from it.
    Unknown,
}

/// Which definitions differ between two commits whose trees are checked out in these folders; none where that cannot be told.
///
/// # Errors
/// git cannot be executed.
pub fn changed_definitions(commits: [&str; 2], folders: [&Path; 2]) -> Result<Option<ChangedDefinitions>> {
    let Some(differing) = differing(commits, folders[1])? else { return Ok(None) };
    let mut roots = Vec::new();
    for folder in folders {
        let Ok(root) = path(git(folder).args(["rev-parse", "--show-toplevel"]))? else { return Ok(None) };
        roots.push(root);
    }
    let mut documents = Vec::new();
    for file in &differing {
        let texts = || {
            let [old, new] = [0, 1].map(|side: usize| std::fs::read_to_string(roots[side].join(file)).ok());
            old.zip(new)
        };
        let is_known = match role(file) {
            FileRole::Source => true,
            FileRole::Document => {
                documents.extend(file.file_name().map(|name| name.to_string_lossy().into_owned()));
                true
            }
            FileRole::Build => texts().is_some_and(|(old, new)| without_flags(&old) == without_flags(&new)),
            FileRole::Cargo => texts().is_some_and(|(old, new)| is_same_but_flags(&old, &new)),
            FileRole::Unknown => false,
        };
        if !is_known {
            return Ok(None);
        }
    }
    let (Some(old), Some(new)) = (tree(&roots[0], &documents)?, tree(&roots[1], &documents)?) else {
        return Ok(None);
    };
    Ok(Some(ChangedDefinitions::between(&old, &new)))
}

/// The language of a file whose definitions can be read.
fn defining(name: &str) -> Option<Language> {
    Language::of(name).filter(|language| *language != Language::Zig)
}

fn role(file: &Path) -> FileRole {
    let name = file.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    let ends = |ends: &[&str]| ends.iter().any(|end| name.ends_with(end));
    // They make source, or say what it is, in ways of their own.
    if name == "build.rs" || file.components().any(|part| part.as_os_str() == ".cargo") {
        return FileRole::Unknown;
    }
    if name == "Cargo.toml" {
        FileRole::Cargo
    } else if defining(&name).is_some() {
        FileRole::Source
    } else if ends(&BUILD_FILES) {
        FileRole::Build
    } else if ends(&DOCUMENTS) {
        FileRole::Document
    } else {
        FileRole::Unknown
    }
}

/// The lines of a build file without flags that do not say what the source is, and how often each occurs.
fn without_flags(text: &str) -> BTreeMap<String, usize> {
    let mut lines = BTreeMap::new();
    for line in text.lines() {
        let line = line.split_once('#').map_or(line, |(before, _)| before);
        let is_flag = |word: &&str| {
            let bare = word.trim_start_matches(['"', '\'', '(', '[']);
            bare.starts_with('-') && !FLAGS_OF_SOURCE.iter().any(|flag| bare.starts_with(flag))
        };
        let words: Vec<&str> = line.split_whitespace().filter(|word| !is_flag(word)).collect();
        // `CFLAGS += -O3`, without what it adds.
        let only_names_flags =
            matches!(words.as_slice(), [name, sign] if name.ends_with("FLAGS") && sign.ends_with('='));
        if !words.is_empty() && !only_names_flags {
            *lines.entry(words.join(" ")).or_default() += 1;
        }
    }
    lines
}

/// Whether two manifests of cargo's differ only in how their source is compiled.
fn is_same_but_flags(old: &str, new: &str) -> bool {
    let read = |text: &str| -> Option<toml_edit::DocumentMut> {
        let mut manifest: toml_edit::DocumentMut = text.parse().ok()?;
        FLAGS_OF_CARGO.iter().for_each(|part| {
            manifest.remove(part);
        });
        Some(manifest)
    };
    let plain =
        |text: &str| read(text).map(|manifest| manifest.to_string().split_whitespace().collect::<String>());
    plain(old).is_some_and(|old| Some(old) == plain(new))
}

/// All source files that git knows below the root of a tree; none where it cannot tell, they are too many, or one of them names a
/// document that differs, as what includes its text does.
fn tree(root: &Path, documents: &[String]) -> Result<Option<SourceTree>> {
    let Ok(listed) = bytes(git(root).args(["ls-files", "-z"]))? else { return Ok(None) };
    let (mut found, mut total) = (SourceTree::default(), 0);
    for name in listed.split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
        let file = PathBuf::from(OsStr::from_bytes(name));
        let name = file.to_string_lossy();
        if role(&file) == FileRole::Cargo {
            let text = std::fs::read_to_string(root.join(&file)).unwrap_or_default();
            let named =
                text.lines().filter_map(|line| line.strip_prefix("name")?.trim_start().strip_prefix('='));
            named.for_each(|name| found.add_crate(name.trim().trim_matches(['"', '\''])));
        }
        let Some(language) = defining(&name) else { continue };
        // What cannot be read, as a link to nowhere, defines nothing.
        let Ok(text) = std::fs::read(root.join(&file)) else { continue };
        total += text.len();
        let text = readable(text);
        if total > LARGEST_BYTES || documents.iter().any(|document| text.contains(document.as_str())) {
            return Ok(None);
        }
        found.add(&name, language, &text);
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
        let of = |file: &str| role(Path::new(file));
        for (file, expected) in [
            ("src/a.cc", FileRole::Source),
            ("src/lib.rs", FileRole::Source),
            ("README.md", FileRole::Document),
            ("doc/a.svg", FileRole::Document),
            ("notes.txt", FileRole::Document),
            ("CMakeLists.txt", FileRole::Build),
            ("src/Makefile", FileRole::Build),
            ("GNUmakefile", FileRole::Build),
            ("a/Cargo.toml", FileRole::Cargo),
        ] {
            assert_eq!(of(file), expected, "{file}");
        }
        for file in [
            "build.rs",
            "Cargo.lock",
            "tables.py",
            "a.S",
            "words.dat",
            "lexer.l",
            ".cargo/config.toml",
            "a.h.in",
        ] {
            assert_eq!(of(file), FileRole::Unknown, "{file}");
        }
    }

    #[test]
    fn build_files_may_differ_in_flags_and_not_in_what_they_define_or_build() {
        let base = "CFLAGS = -O1 -DN=3 # fast\nbench: bench.c\n\tgcc $(CFLAGS) -o bench bench.c\n";
        let is_same = |from: &str, to: &str| {
            assert!(base.contains(from), "{from}");
            without_flags(base) == without_flags(&base.replace(from, to))
        };
        assert!(is_same("-O1", "-O3 -march=native"));
        assert!(is_same(" # fast", ""));
        assert!(is_same("bench: ", "CFLAGS += -g\nbench: "));
        for (from, to) in [
            ("N=3", "N=4"),
            ("-O1", "-O1 -DX"),
            ("bench bench.c", "bench other.c"),
            ("gcc", "clang -include a.h"),
            ("-O1", "-std=c99"),
        ] {
            assert!(!is_same(from, to), "{from} to {to}");
        }
        let cmake = |text: &str| without_flags(&format!("add_executable(a a.c)\n{text}"));
        assert_eq!(
            cmake("target_compile_options(a PRIVATE -O2 )"),
            cmake("target_compile_options(a PRIVATE -O3 )")
        );
        assert_ne!(cmake("set(CMAKE_BUILD_TYPE Debug)"), cmake("set(CMAKE_BUILD_TYPE Release)"));
    }

    #[test]
    fn a_manifest_may_differ_in_profiles_and_not_in_dependencies_or_features() {
        let base = "[package]\nname = \"a\"\n[dependencies]\nb = \"1\"\n[profile.release]\nlto = false\n";
        let is_same = |from: &str, to: &str| is_same_but_flags(base, &base.replace(from, to));
        assert!(is_same("lto = false", "lto = true\ncodegen-units = 1"));
        for (from, to) in
            [("b = \"1\"", "b = \"2\""), ("[dep", "edition = \"2024\"\n[dep"), ("[package]", "[package")]
        {
            assert!(!is_same(from, to), "{from} to {to}");
        }
    }
}
