//! Which C and C++ compilers does this machine have, and which of them does an experiment ask for?
//!
//! Method: every `gcc`, `gcc-N`, `clang`, `clang-N` on PATH is asked for its version and target with `-v`; what it says
//! decides, not its name. Several names of one compiler are one compiler. Identity is a hash over the version text, the
//! target and the program that compiles (for gcc the `cc1` and `cc1plus` behind the driver, as the driver itself
//! seldom changes). Limits: libraries that a compiler loads are not hashed; its version text stands for them.

mod identify;
mod select;

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

/// Whose compiler it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CompilerFamily {
    /// GNU.
    Gcc,
    /// LLVM.
    Clang,
    /// The Rust project's.
    Rustc,
    /// Zig's.
    Zig,
    /// Whatever a build of the user's own takes.
    Own,
}

impl CompilerFamily {
    /// As in names of compilers.
    pub fn name(self) -> &'static str {
        match self {
            CompilerFamily::Gcc => "gcc",
            CompilerFamily::Clang => "clang",
            CompilerFamily::Rustc => "rustc",
            CompilerFamily::Zig => "zig",
            CompilerFamily::Own => "own",
        }
    }
}

/// A compiler found on PATH.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Compiler {
    /// Family and major version, "gcc-12"; with more of both where several share them.
    pub name: String,
    /// Other names by which it can be asked for, as found on PATH: "gcc".
    pub aliases: Vec<String>,
    /// Whose it is.
    pub family: CompilerFamily,
    /// Full version, "12.2.0".
    pub version: String,
    /// The machine it compiles for, "x86_64-linux-gnu".
    pub target: String,
    /// The C driver.
    pub path: PathBuf,
    /// The C++ driver of the same version, if there is one.
    pub cxx_path: Option<PathBuf>,
    /// Hash over what determines the code it makes (see the module).
    pub sha256: String,
}

impl Compiler {
    /// The toolchain of rustup that it was asked for as, with its plus.
    pub fn toolchain(&self) -> Option<&str> {
        self.aliases.iter().map(String::as_str).find(|alias| alias.starts_with('+'))
    }

    /// What its C++ driver is given ahead of the user's flags: of compilers whose own standard is older, the one that our header
    /// is written in.
    pub(crate) fn cxx_standard(&self) -> Option<&'static str> {
        let first_with_17 = match self.family {
            CompilerFamily::Gcc => 11,
            CompilerFamily::Clang => 16,
            _ => return None,
        };
        let major: u32 = self.version.split('.').next()?.parse().ok()?;
        (major < first_with_17).then_some("-std=gnu++17")
    }

    /// All that it can be asked for as.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.name.as_str()).chain(self.aliases.iter().map(String::as_str))
    }
}

/// Where a toolchain is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Toolchains {
    /// Compilers on PATH.
    OnPath,
    /// What rustup has.
    OfRustup,
}

/// Why the compilers that were asked for are not there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ToolchainError {
    /// No gcc and no clang on PATH that works.
    None {
        /// Those found that do not work, each with the reason.
        broken: Vec<String>,
    },
    /// A pattern that matches none.
    Unknown {
        /// Where it was looked for.
        among: Toolchains,
        /// Which of the patterns.
        index: usize,
        /// The pattern.
        wanted: String,
        /// Names of all that are there.
        found: Vec<String>,
        /// The name most like the pattern, if one is.
        nearest: Option<String>,
    },
    /// rustc cannot be asked for its version.
    NoRust {
        /// Why.
        why: String,
    },
    /// zig cannot be asked for its version.
    NoZig {
        /// Which of the patterns, where one was given.
        index: Option<usize>,
        /// Why.
        why: String,
    },
}

/// What is left to do with programs that are built by others.
pub(super) const ELSEWHERE: &str =
    "`assay compare`, `assay doctor --program` and `assay sites` take programs built in any other way";

impl fmt::Display for ToolchainError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ToolchainError::None { broken } if broken.is_empty() => {
                write!(
                    out,
                    "neither gcc nor clang is on PATH: install one, for example with `apt-get install \
                             gcc g++`"
                )
            }
            ToolchainError::None { broken } => {
                write!(out, "no gcc or clang on PATH works: {}", broken.join("; "))
            }
            ToolchainError::NoRust { why } => write!(
                out,
                "rustc does not answer: {why}. Install Rust (https://rustup.rs, or your distribution's package), or put its \
                 folder on PATH"
            ),
            ToolchainError::NoZig { why, .. } => write!(
                out,
                "{why}. Install Zig (`pip install ziglang`, or https://ziglang.org/download), and put it on PATH or into the \
                 variable ZIG"
            ),
            ToolchainError::Unknown { among: Toolchains::OfRustup, wanted, found, .. } => write!(
                out,
                "rustup has no toolchain `{wanted}`; it has {}. `rustup toolchain install {wanted}` installs it",
                found.join(", ")
            ),
            ToolchainError::Unknown { among: Toolchains::OnPath, wanted, found, .. } => {
                write!(out, "there is no compiler `{wanted}` on PATH; found: {}", found.join(", "))?;
                if ["gcc", "clang"].iter().any(|family| wanted.starts_with(family)) || wanted.contains('*') {
                    return Ok(());
                }
                write!(out, " (experiments are compiled with gcc or clang for this machine; {ELSEWHERE})")
            }
        }
    }
}

impl std::error::Error for ToolchainError {}

/// The compilers on PATH that match any of the patterns, by family, then by version.
///
/// A pattern is a name ("gcc-12", "clang"), a name with `*` and `?`, or "all". No pattern means all.
///
/// # Errors
/// There is none, or a pattern matches none.
pub fn find_compilers(patterns: &[String]) -> Result<Vec<Compiler>, ToolchainError> {
    // A campaign needs them in several places, and asking all takes a second of a processor: 100 MB of compilers are read.
    static ON_PATH: Mutex<Option<FoundCompilers>> = Mutex::new(None);
    let search_path = std::env::var_os("PATH").unwrap_or_default();
    let mut known = ON_PATH.lock().unwrap_or_else(PoisonError::into_inner);
    // They can be replaced while a calibration of hours runs.
    if known.as_ref().is_none_or(|known| known.stamps != Stamps::of(&search_path, &known.read)) {
        *known = Some(all_in(&search_path));
    }
    known.as_ref().expect("they were asked").matching(patterns)
}

/// As [`find_compilers`], in the folders of `search_path`, which is written like PATH.
///
/// # Errors
/// See [`find_compilers`].
pub fn find_compilers_in(search_path: &OsStr, patterns: &[String]) -> Result<Vec<Compiler>, ToolchainError> {
    all_in(search_path).matching(patterns)
}

/// What the folders of a search path have.
struct FoundCompilers {
    /// By family, then by version.
    working: Vec<Compiler>,
    /// Those that do not work, each with the reason.
    broken: Vec<String>,
    /// The programs that were read to know them.
    read: Vec<PathBuf>,
    stamps: Stamps,
}

/// What tells whether what was found is as it was: the search path, its folders, the drivers and the programs behind them, each
/// with its time, which a package that comes or goes changes.
#[derive(PartialEq)]
struct Stamps {
    search_path: OsString,
    files: Vec<(PathBuf, Option<SystemTime>)>,
}

impl Stamps {
    fn of(search_path: &OsStr, read: &[PathBuf]) -> Stamps {
        let drivers = candidates(search_path).into_iter().map(|(path, _)| path);
        let paths = std::env::split_paths(search_path).chain(drivers).chain(read.iter().cloned());
        let time = |path: &PathBuf| path.metadata().and_then(|found| found.modified()).ok();
        let files = paths.map(|path| (path.clone(), time(&path))).collect();
        Stamps { search_path: search_path.to_owned(), files }
    }
}

impl FoundCompilers {
    fn matching(&self, patterns: &[String]) -> Result<Vec<Compiler>, ToolchainError> {
        if self.working.is_empty() {
            return Err(ToolchainError::None { broken: self.broken.clone() });
        }
        select::select(self.working.clone(), patterns)
    }
}

fn all_in(search_path: &OsStr) -> FoundCompilers {
    let mut broken = Vec::new();
    let mut read = Vec::new();
    let mut found: Vec<Compiler> = Vec::new();
    for (path, names) in candidates(search_path) {
        match identify::identify(&path, &names, search_path, &mut read) {
            Ok(compiler) => match found.iter_mut().find(|other| other.sha256 == compiler.sha256) {
                Some(other) => other.aliases.extend(compiler.aliases),
                None => found.push(compiler),
            },
            Err(reason) => broken.push(format!("{}: {reason}", path.display())),
        }
    }
    name_apart(&mut found);
    found.sort_by_cached_key(|compiler| (compiler.family, select::version_key(&compiler.version)));
    FoundCompilers { working: found, broken, stamps: Stamps::of(search_path, &read), read }
}

/// Programs to be asked, in the order of PATH, each with the names that lead to it.
fn candidates(search_path: &OsStr) -> Vec<(PathBuf, Vec<String>)> {
    let mut order: Vec<PathBuf> = Vec::new();
    let mut names: BTreeMap<PathBuf, Vec<(String, PathBuf)>> = BTreeMap::new();
    let mut taken: Vec<String> = Vec::new();
    for folder in std::env::split_paths(search_path) {
        for name in compiler_names_in(&folder) {
            // The first folder of PATH that has a name hides those behind it.
            if taken.contains(&name) {
                continue;
            }
            let path = folder.join(&name);
            let real = real_compiler(&path);
            taken.push(name.clone());
            if !order.contains(&real) {
                order.push(real.clone());
            }
            names.entry(real).or_default().push((name, path));
        }
    }
    let called = |real: PathBuf| {
        let mut named = names.remove(&real)?;
        // The name with a version stays the same compiler when the system's default moves on.
        named.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
        let path = named[0].1.clone();
        Some((path, named.into_iter().map(|(name, _)| name).collect()))
    };
    order.into_iter().filter_map(called).collect()
}

/// Where links lead, unless they lead to a wrapper such as ccache that goes by the name it was called by.
fn real_compiler(path: &Path) -> PathBuf {
    let Ok(real) = path.canonicalize() else { return path.to_owned() };
    let name = real.file_name().unwrap_or_default().to_string_lossy();
    if name.contains("gcc") || name.contains("clang") { real } else { path.to_owned() }
}

fn compiler_names_in(folder: &Path) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    let mut names: Vec<String> = names.filter(|name| is_compiler_name(name)).collect();
    names.retain(|name| folder.join(name).is_file());
    names.sort();
    names
}

/// `gcc`, `gcc-12`, `clang`, `clang-16`, `gcc-12.2`; not `gcc-ar` nor `clang++`.
fn is_compiler_name(name: &str) -> bool {
    let version = |rest: &str| {
        rest.strip_prefix('-')
            .is_some_and(|v| !v.is_empty() && v.chars().all(|c| c.is_ascii_digit() || c == '.'))
    };
    ["gcc", "clang"]
        .iter()
        .any(|family| name.strip_prefix(family).is_some_and(|rest| rest.is_empty() || version(rest)))
}

/// Two installations with one major version, such as a distribution's and a cross compiler, need names of their own:
/// the first on PATH keeps the short one, others get their full version, and then their target.
pub(crate) fn name_apart(found: &mut [Compiler]) {
    let mut taken: Vec<String> = Vec::new();
    for compiler in found {
        let long = format!("{}-{}", compiler.family.name(), compiler.version);
        let longest = format!("{long}-{}", compiler.target);
        let free = [compiler.name.clone(), long, longest].into_iter().find(|name| !taken.contains(name));
        // Two that agree in all of this and still differ in content are told apart by that content.
        compiler.name = free.unwrap_or_else(|| format!("{}-{}", compiler.name, &compiler.sha256[..8]));
        taken.push(compiler.name.clone());
        let name = compiler.name.clone();
        compiler.aliases.retain(|alias| *alias != name && !taken.contains(alias));
        compiler.aliases.sort();
        compiler.aliases.dedup();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compilers_are_asked_again_when_one_of_them_or_the_search_path_has_changed() {
        let folder = tempfile::tempdir().unwrap();
        let program = |name: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, "").unwrap();
            path
        };
        let (driver, proper) = (program("gcc"), program("cc1"));
        let stamps = || Stamps::of(folder.path().as_os_str(), std::slice::from_ref(&proper));
        let of = |path: &Path| std::fs::File::options().write(true).open(path).unwrap();
        let begun = stamps();
        assert!(begun == stamps(), "nothing has changed");
        of(&driver).set_modified(SystemTime::UNIX_EPOCH).unwrap();
        let replaced = stamps();
        assert!(begun != replaced, "another driver");
        of(&proper).set_modified(SystemTime::UNIX_EPOCH).unwrap();
        assert!(replaced != stamps(), "another compiler behind it");
        assert!(Stamps::of(OsStr::new("/nowhere"), &[]) != Stamps::of(OsStr::new(""), &[]));
    }

    #[test]
    fn compilers_are_told_from_their_tools() {
        for name in ["gcc", "gcc-12", "clang", "clang-16", "gcc-4.9"] {
            assert!(is_compiler_name(name), "{name}");
        }
        for name in ["gcc-ar", "clang++", "clang-cpp-16", "clang-", "gccgo", "gcc-12-base", "cc"] {
            assert!(!is_compiler_name(name), "{name}");
        }
    }

    #[test]
    fn compilers_of_one_version_get_names_of_their_own() {
        let compiler = |version: &str, target: &str, sha256: &str| Compiler {
            name: "gcc-12".into(),
            aliases: vec!["gcc-12".into(), "gcc".into()],
            family: CompilerFamily::Gcc,
            version: version.into(),
            target: target.into(),
            path: "gcc".into(),
            cxx_path: None,
            sha256: sha256.into(),
        };
        let mut found = [
            compiler("12.2.0", "x86_64", "00000000"),
            compiler("12.1.0", "x86_64", "11111111"),
            compiler("12.1.0", "riscv64", "22222222"),
            compiler("12.1.0", "riscv64", "33333333"),
        ];
        name_apart(&mut found);
        let names: Vec<&str> = found.iter().map(|compiler| compiler.name.as_str()).collect();
        assert_eq!(names, ["gcc-12", "gcc-12.1.0", "gcc-12.1.0-riscv64", "gcc-12-33333333"]);
        assert!(found.iter().skip(1).all(|compiler| !compiler.aliases.contains(&"gcc-12".to_owned())));
    }

    #[test]
    fn a_path_without_compilers_says_what_to_install() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let error = find_compilers_in(folder.path().as_os_str(), &[]).expect_err("nothing is there");
        assert_eq!(error, ToolchainError::None { broken: vec![] });
        assert!(error.to_string().contains("apt-get install gcc"));
    }
}
