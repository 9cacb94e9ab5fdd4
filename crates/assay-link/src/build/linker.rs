//! Which linker does a compiler call, what does it read besides the program, and what script does it follow?
//!
//! Method: the program is linked once as built, with the linker told to name itself, its inputs and (GNU ld) its
//! default script. The script depends on flags (PIE or not, static or not), so it is asked for under the very same
//! ones. The answer is kept, together with the hashes of the linker and of all libraries it read; if any of them
//! changes, it is asked again, and all links are made anew.

use super::compilers::Compiler;
use super::failure::{BuildFailure, Stage};
use super::keys;
use super::objects::Object;
use super::unresolved::{self, LinkOf};
use super::workshop::Workshop;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// A linker that we know how to talk to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LinkerKind {
    /// GNU ld (ld.bfd).
    Gnu,
    /// LLVM's.
    Lld,
    /// GNU gold.
    Gold,
    /// mold.
    Mold,
    /// Any other.
    Other,
}

impl LinkerKind {
    /// Its name in messages.
    pub fn name(self) -> &'static str {
        match self {
            LinkerKind::Gnu => "GNU ld",
            LinkerKind::Lld => "lld",
            LinkerKind::Gold => "gold",
            LinkerKind::Mold => "mold",
            LinkerKind::Other => "this linker",
        }
    }

    /// Whether it can be told an order of functions.
    pub fn shuffles(self) -> bool {
        matches!(self, LinkerKind::Gnu | LinkerKind::Lld | LinkerKind::Gold)
    }
}

/// The linker of a recipe.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Linker {
    /// Which one.
    pub kind: LinkerKind,
    /// Its own words: "GNU ld (GNU Binutils for Debian) 2.40".
    pub version: String,
    /// Its default script (GNU ld).
    pub script: Option<String>,
    /// The linker itself and all files outside the program that it read, with their SHA-256.
    pub inputs: Vec<(PathBuf, String)>,
}

/// The link as built.
pub struct Plain<'a> {
    /// Where it is made.
    pub folder: &'a Path,
    /// The compiler.
    pub compiler: &'a Compiler,
    /// The driver that links.
    pub driver: &'a Path,
    /// The user's flags.
    pub flags: &'a [String],
    /// The user's flags for the link only.
    pub link_flags: &'a [String],
    /// The program.
    pub objects: &'a [Object],
    /// The flag set's name and flags, for messages.
    pub described: &'a str,
}

impl Plain<'_> {
    fn all_flags(&self) -> impl Iterator<Item = &String> {
        self.flags.iter().chain(self.link_flags)
    }

    fn words(&self) -> Vec<String> {
        let mut words = vec![self.driver.to_string_lossy().into_owned()];
        words.extend(self.flags.iter().cloned());
        words.extend(self.objects.iter().map(|object| object.path.to_string_lossy().into_owned()));
        words.extend(self.link_flags.iter().cloned());
        words
    }
}

/// The failure of the link without what was added to it for asking: its words are the user's own then, and name the cause.
fn without_our_flags(workshop: &Workshop, plain: &Plain<'_>, what: &str) -> Option<BuildFailure> {
    let output = workshop.cache.unfinished("");
    let mut words = plain.words();
    words.extend(["-o".into(), output.word()]);
    let mut failure = workshop.run(Stage::Link, what, plain.folder, &words).err()?;
    let files: Vec<PathBuf> = plain.objects.iter().map(|object| object.path.clone()).collect();
    if let Some(why) = unresolved::told(&failure.stderr, &files, LinkOf::Sources) {
        failure.what = format!("{what}: {why}");
    }
    Some(failure)
}

/// Asks, or remembers the answer.
pub fn probe(workshop: &Workshop, plain: &Plain<'_>) -> Result<Linker, BuildFailure> {
    let mut words = plain.words();
    let flags: Vec<String> = plain.all_flags().cloned().collect();
    let folder = plain.folder.to_string_lossy();
    let key = keys::key(&[
        "linker 1",
        &plain.compiler.sha256,
        &words.join("\n"),
        &folder,
        &std::env::var_os("PATH").unwrap_or_default().to_string_lossy(),
        &keys::surroundings(&flags),
    ]);
    if let Some(known) = workshop.cache.record::<Linker>(&key) {
        let same = |(path, hash): &(PathBuf, String)| workshop.cache.outside(path).as_deref() == Some(hash);
        if known.inputs.iter().all(same) {
            return Ok(known);
        }
    }
    let output = workshop.cache.unfinished("");
    words.extend(["-Wl,-v,--trace,--verbose".into(), "-o".into(), output.word()]);
    let what = format!("{} with {} cannot link the program", plain.compiler.name, plain.described);
    let said = workshop.run(Stage::Link, &what, plain.folder, &words);
    let said =
        said.map_err(|failure| without_our_flags(workshop, plain, &what).unwrap_or(failure))?.everything();
    let (kind, version) = identify(&said);
    let mut paths = inputs(&said, plain.folder, workshop.cache.root());
    paths.extend(program(workshop, plain)?);
    let hashed = |path: PathBuf| workshop.cache.outside(&path).map(|hash| (path, hash));
    let linker = Linker {
        kind,
        version,
        script: if kind == LinkerKind::Gnu { default_script(&said) } else { None },
        inputs: paths.into_iter().filter_map(hashed).collect(),
    };
    let kept = workshop.cache.put_record(&key, &linker);
    kept.map_err(|error| workshop.cache_failure("storing the linker's output", &error))?;
    Ok(linker)
}

/// The linker's kind and the line in which it names itself, from what it or a driver printed.
pub fn identify(said: &str) -> (LinkerKind, String) {
    let marks = [
        ("GNU ld ", LinkerKind::Gnu),
        ("GNU gold ", LinkerKind::Gold),
        ("LLD ", LinkerKind::Lld),
        ("mold ", LinkerKind::Mold),
    ];
    for line in said.lines() {
        for (mark, kind) in marks {
            let named = line.find(mark).is_some_and(|at| at == 0 || line[..at].ends_with(' '));
            // The lines that repeat the command hold paths and options.
            if named && !line.starts_with('/') && !line.contains(" -o ") {
                return (kind, line.trim().to_owned());
            }
        }
    }
    (LinkerKind::Other, "unknown".into())
}

/// The default script that GNU ld prints with `--verbose`, between two rules of `=`.
pub fn default_script(said: &str) -> Option<String> {
    let (_, rest) = said.split_once("using internal linker script:")?;
    let mut inside = false;
    let mut text = String::new();
    for line in rest.lines() {
        if line.starts_with("=====") {
            if inside {
                return Some(text);
            }
            inside = true;
        } else if inside {
            text.push_str(line);
            text.push('\n');
        }
    }
    None
}

/// Existing files among the names that the linker traced, those of the cache (the program itself) left out.
fn inputs(said: &str, folder: &Path, cache: &Path) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    for line in said.lines() {
        let line = line.trim();
        let opened = line.strip_prefix("attempt to open ").and_then(|rest| rest.strip_suffix(" succeeded"));
        // "libc.a(printf.o)": a member of an archive.
        let name = opened.unwrap_or(line);
        let name = name.split_once('(').map_or(name, |(archive, _)| archive);
        let path = folder.join(name);
        if !name.is_empty() && !path.starts_with(cache) && path.is_file() {
            found.insert(path);
        }
    }
    found
}

/// The linker's own file, where the driver or PATH tells.
fn program(workshop: &Workshop, plain: &Plain<'_>) -> Result<Option<PathBuf>, BuildFailure> {
    let chosen = plain
        .all_flags()
        .filter_map(|flag| flag.strip_prefix("-fuse-ld=").or_else(|| flag.strip_prefix("--ld-path=")));
    let name = match chosen.last() {
        Some(path) if path.contains('/') => return Ok(Some(plain.folder.join(path))),
        Some(name) => format!("ld.{name}"),
        None => "ld".into(),
    };
    let words = [plain.driver.to_string_lossy().into_owned(), format!("-print-prog-name={name}")];
    let what = format!("{} does not say which linker it calls", plain.compiler.name);
    let answer = workshop.run(Stage::Link, &what, plain.folder, &words)?;
    let answer = Path::new(answer.stdout.trim());
    if answer.is_absolute() {
        return Ok(Some(answer.to_owned()));
    }
    let search = std::env::var_os("PATH").unwrap_or_default();
    Ok(std::env::split_paths(&search).map(|folder| folder.join(answer)).find(|path| path.is_file()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn linkers_are_known_by_their_own_words() {
        let bfd = "collect2 version 12.2.0\n/usr/bin/ld -plugin x -o GNU gold\nGNU ld (GNU Binutils for Debian) 2.40\n";
        assert_eq!(identify(bfd).0, LinkerKind::Gnu);
        assert_eq!(identify("Debian LLD 14.0.6 (compatible with GNU linkers)\n").0, LinkerKind::Lld);
        assert_eq!(identify("GNU gold (GNU Binutils for Debian 2.40) 1.16\n").0, LinkerKind::Gold);
        assert_eq!(identify("mold 2.30.0 (compatible with GNU ld)\n").0, LinkerKind::Mold);
        assert_eq!(identify("LLD 16.0.6 (compatible with GNU linkers)\n").0, LinkerKind::Lld);
        assert_eq!(identify("wild\n").0, LinkerKind::Other);
    }

    #[test]
    fn the_script_is_what_stands_between_the_rules() {
        let said = "GNU ld\nusing internal linker script:\n=====\nSECTIONS\n{ }\n=====\nmode elf\n";
        assert_eq!(default_script(said).as_deref(), Some("SECTIONS\n{ }\n"));
        assert_eq!(default_script("using external linker script x\n=====\nA\n=====\n"), None);
        assert_eq!(default_script("using internal linker script:\n=====\nSECTIONS\n"), None, "cut short");
    }
}
