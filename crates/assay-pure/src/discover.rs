//! Which two commands build and run the benchmarks of a folder? For `assay compare` without either.
//!
//! Method: a file for each build system, a function from the folder's files to [`Candidate`]s: Cargo.toml, CMakeLists.txt,
//! meson.build and go.mod name their benchmarks; a Makefile's `bench` counts only where none of them has any, for it usually
//! calls them. A benchmark of a library whose figures are not read is a note, not a candidate.
//! Limits: files are read, nothing is executed: what a build script computes is not seen. CMake's and meson's are read by
//! their plain calls alone.
//! Checked by: files by hand in each reader; public projects, by a session.

mod cargo;
mod cmake;
mod go;
mod make;
mod meson;

/// The files of a folder.
pub struct FolderView<'a> {
    /// Paths below it, with `/`, sorted.
    pub files: &'a [String],
    /// What is in one of them; none where it cannot be read as text.
    pub text: &'a dyn Fn(&str) -> Option<String>,
}

impl FolderView<'_> {
    fn has(&self, file: &str) -> bool {
        self.files.binary_search_by(|known| known.as_str().cmp(file)).is_ok()
    }

    fn text_of(&self, file: &str) -> Option<String> {
        if self.has(file) { (self.text)(file) } else { None }
    }

    /// Files below a folder, all of them for the empty name.
    fn below<'a>(&'a self, folder: &'a str) -> impl Iterator<Item = &'a str> {
        let prefix = if folder.is_empty() { String::new() } else { format!("{folder}/") };
        self.files.iter().map(String::as_str).filter(move |file| file.starts_with(&prefix))
    }
}

/// Where a build puts what it makes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BuildPlace {
    /// A tree that was checked out to be built, so anywhere.
    Revision,
    /// The user's own tree: in this folder of ours, below it; and what was linked before is linked again.
    Tree(String),
}

impl BuildPlace {
    /// The folder for what is built.
    fn folder(&self) -> &str {
        match self {
            BuildPlace::Revision => "build-assay",
            BuildPlace::Tree(folder) => folder,
        }
    }

    /// What makes the build link again, where an earlier one may have left the file: the start of a command.
    fn afresh(&self, linked: &str) -> String {
        match self {
            BuildPlace::Revision => String::new(),
            BuildPlace::Tree(_) => format!("rm -f {linked} && "),
        }
    }
}

/// Two commands that may be meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// What they run, and why it is taken for a benchmark: "benchmark `parse` (criterion) in Cargo.toml".
    pub what: String,
    /// The build command.
    pub build: String,
    /// The benchmark command.
    pub bench: String,
}

/// What was found in a folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Discovery {
    /// All that may be meant.
    pub candidates: Vec<Candidate>,
    /// What looks like a benchmark and cannot be used, with the reason; whole sentences.
    pub notes: Vec<String>,
}

/// Looks through a folder.
pub fn discover(folder: &FolderView<'_>, place: &BuildPlace) -> Discovery {
    let mut found = Discovery::default();
    cargo::find(folder, place, &mut found);
    cmake::find(folder, place, &mut found);
    meson::find(folder, place, &mut found);
    go::find(folder, place, &mut found);
    if found.candidates.is_empty() {
        make::find(folder, place, &mut found);
    }
    found
}

/// A word as `sh` takes it: in quotes where it needs them.
pub fn quoted(word: &str) -> String {
    let is_plain = |symbol: char| symbol.is_ascii_alphanumeric() || "_-./=,:+@%".contains(symbol);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// Two parts of a path, either of which may be empty.
fn joined(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is found in a folder of these files.
    pub(super) fn found_in(files: &[(&str, &str)], place: &BuildPlace) -> Discovery {
        let mut names: Vec<String> = files.iter().map(|(name, _)| (*name).to_owned()).collect();
        names.sort();
        let text =
            |wanted: &str| files.iter().find(|(name, _)| *name == wanted).map(|(_, text)| (*text).to_owned());
        discover(&FolderView { files: &names, text: &text }, place)
    }

    #[test]
    fn a_makefile_counts_where_nothing_else_names_a_benchmark() {
        let make = ("Makefile", "bench: all\n\tcargo bench\n");
        let both = [
            make,
            ("Cargo.toml", "[package]\nname = \"p\"\n"),
            ("benches/a.rs", "use criterion::Criterion;\ncriterion_main!(all);\n"),
        ];
        let found = found_in(&both, &BuildPlace::Revision).candidates;
        assert_eq!((found.len(), found[0].what.as_str()), (1, "benchmark `a` of Cargo.toml (criterion)"));
        assert_eq!(found_in(&[make], &BuildPlace::Revision).candidates[0].bench, "make bench");
        assert_eq!(found_in(&[("README.md", "")], &BuildPlace::Revision), Discovery::default());
    }

    #[test]
    fn words_are_quoted_for_the_shell() {
        assert_eq!(quoted("build/sums"), "build/sums");
        assert_eq!(quoted("a b"), "'a b'");
        assert_eq!(quoted("it's"), r"'it'\''s'");
    }
}
