//! Which compilers there are: every gcc and clang on PATH, told apart by what they are and not by what they are called.

use assay_pure::experiment::diagnostic::nearest;
use assay_pure::experiment::pattern::matches;
use assay_pure::inputs::digest::digest;
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The families that the lab can relink.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Family {
    /// The GNU compiler.
    Gcc,
    /// LLVM's.
    Clang,
}

impl Family {
    fn word(self) -> &'static str {
        match self {
            Self::Gcc => "gcc",
            Self::Clang => "clang",
        }
    }

    fn cxx_word(self) -> &'static str {
        match self {
            Self::Gcc => "g++",
            Self::Clang => "clang++",
        }
    }
}

/// One compiler, identified.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Compiler {
    /// Family and major version, as "gcc-12".
    pub name: String,
    /// Whose it is.
    pub family: Family,
    /// Full version.
    pub version: String,
    /// What it compiles for, as "x86_64-linux-gnu".
    pub target: String,
    /// The C driver.
    pub path: PathBuf,
    /// The C++ driver of the same version, where there is one.
    pub cxx_path: Option<PathBuf>,
    /// SHA-256 of the driver and its version line.
    pub sha256: String,
}

/// Why the compiler axis cannot be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ToolchainError {
    /// PATH has neither gcc nor clang.
    None,
    /// A name that no compiler found has.
    Unknown {
        /// Its number in the list of wishes.
        index: usize,
        /// The name.
        wanted: String,
        /// What there is.
        found: Vec<String>,
        /// The nearest of them.
        nearest: Option<String>,
    },
}

impl fmt::Display for ToolchainError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => {
                write!(f, "no gcc and no clang on PATH; install one (Debian: apt-get install gcc clang)")
            }
            Self::Unknown { wanted, found, .. } => {
                write!(f, "no compiler `{wanted}` on PATH; there is: {}", found.join(", "))
            }
        }
    }
}

impl std::error::Error for ToolchainError {}

/// The compilers that the patterns name: exact names ("gcc", "clang-16"), globs ("gcc*"), or "all".
///
/// # Errors
/// There is none at all, or a pattern matches none.
pub fn find_compilers(patterns: &[String]) -> Result<Vec<Compiler>, ToolchainError> {
    choose(patterns, &on_path())
}

fn choose(patterns: &[String], all: &[Found]) -> Result<Vec<Compiler>, ToolchainError> {
    if all.is_empty() {
        return Err(ToolchainError::None);
    }
    let mut chosen = vec![false; all.len()];
    for (index, pattern) in patterns.iter().enumerate() {
        let fits = |found: &Found| pattern == "all" || found.names().any(|name| matches(pattern, name));
        let mut any = false;
        for (found, chosen) in all.iter().zip(&mut chosen) {
            if fits(found) {
                *chosen = true;
                any = true;
            }
        }
        if !any {
            let names: Vec<String> = all.iter().map(|found| found.compiler.name.clone()).collect();
            let near = nearest(pattern, names.iter().map(String::as_str)).map(str::to_owned);
            return Err(ToolchainError::Unknown {
                index,
                wanted: pattern.clone(),
                found: names,
                nearest: near,
            });
        }
    }
    Ok(all
        .iter()
        .zip(chosen)
        .filter(|(_, chosen)| *chosen)
        .map(|(found, _)| found.compiler.clone())
        .collect())
}

/// A compiler and all names under which PATH has it.
#[derive(Clone, Debug)]
struct Found {
    compiler: Compiler,
    aliases: Vec<String>,
}

impl Found {
    fn names(&self) -> impl Iterator<Item = &str> {
        self.aliases.iter().map(String::as_str).chain([self.compiler.name.as_str()])
    }
}

/// Every gcc and clang on PATH, each once however many names it has; by family and version.
fn on_path() -> Vec<Found> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut found: BTreeMap<PathBuf, Found> = BTreeMap::new();
    for folder in std::env::split_paths(&path) {
        let Ok(entries) = std::fs::read_dir(&folder) else { continue };
        let mut names: Vec<String> =
            entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect();
        names.sort();
        for name in names.into_iter().filter(|name| is_driver(name)) {
            let Ok(real) = folder.join(&name).canonicalize() else { continue };
            if let Some(known) = found.get_mut(&real) {
                known.aliases.push(name);
            } else if let Some(compiler) = identify(&folder, &name) {
                found.insert(real, Found { compiler, aliases: vec![name] });
            }
        }
    }
    let mut all: Vec<Found> = found.into_values().collect();
    all.sort_by_key(|found| (found.compiler.family, version_key(&found.compiler.version)));
    // Two installations of one version, such as a distribution's and a cross compiler, need names of their own.
    for index in 1..all.len() {
        if all[index].compiler.name == all[index - 1].compiler.name {
            let name = format!("{}-{}", all[index].compiler.name, all[index].compiler.target);
            all[index].compiler.name = name;
        }
    }
    all
}

/// "gcc", "gcc-12", "clang", "clang-16"; not "gcc-ar", "clang-format" or "clang-cpp".
fn is_driver(name: &str) -> bool {
    ["gcc", "clang"].iter().any(|family| {
        name.strip_prefix(family).is_some_and(|rest| {
            rest.is_empty()
                || rest.strip_prefix('-').is_some_and(|version| {
                    !version.is_empty() && version.chars().all(|c| c.is_ascii_digit() || c == '.')
                })
        })
    })
}

fn identify(folder: &Path, name: &str) -> Option<Compiler> {
    let path = folder.join(name);
    let banner = ask(&path, "--version")?;
    let family = if banner.contains("clang") { Family::Clang } else { Family::Gcc };
    let version = match family {
        Family::Gcc => ask(&path, "-dumpfullversion").or_else(|| ask(&path, "-dumpversion"))?,
        Family::Clang => ask(&path, "-dumpversion")?,
    };
    let target = ask(&path, "-dumpmachine")?;
    let major = version.split('.').next().unwrap_or(&version).to_owned();
    let mut identity = std::fs::read(&path).ok()?;
    identity.extend_from_slice(banner.as_bytes());
    let suffix = name.strip_prefix(family.word()).unwrap_or("");
    let cxx_path = [format!("{}{suffix}", family.cxx_word()), format!("{}-{major}", family.cxx_word())]
        .iter()
        .map(|name| folder.join(name))
        .find(|path| path.is_file());
    Some(Compiler {
        name: format!("{}-{major}", family.word()),
        family,
        version,
        target,
        path,
        cxx_path,
        sha256: digest(&identity),
    })
}

fn ask(path: &Path, question: &str) -> Option<String> {
    let output = Command::new(path).arg(question).output().ok()?;
    if !output.status.success() {
        return None;
    }
    Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

fn version_key(version: &str) -> Vec<u64> {
    version.split('.').map(|part| part.parse().unwrap_or(0)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(name: &str, alias: &str) -> Found {
        let family = if name.starts_with("gcc") { Family::Gcc } else { Family::Clang };
        let compiler = Compiler {
            name: name.into(),
            family,
            version: "1".into(),
            target: "t".into(),
            path: PathBuf::new(),
            cxx_path: None,
            sha256: String::new(),
        };
        Found { compiler, aliases: vec![alias.into()] }
    }

    fn chosen(patterns: &[&str]) -> Result<Vec<String>, ToolchainError> {
        let all = [found("gcc-12", "gcc"), found("clang-14", "clang"), found("clang-16", "clang-16")];
        let patterns: Vec<String> = patterns.iter().map(|&pattern| pattern.to_owned()).collect();
        Ok(choose(&patterns, &all)?.into_iter().map(|compiler| compiler.name).collect())
    }

    #[test]
    fn knows_drivers_from_their_companions() {
        for name in ["gcc", "gcc-12", "clang", "clang-16", "gcc-4.9"] {
            assert!(is_driver(name), "{name}");
        }
        for name in ["gcc-ar", "gcc-ar-12", "clang++", "clang-format", "clang-cpp-16", "gcc-", "g++"] {
            assert!(!is_driver(name), "{name}");
        }
    }

    #[test]
    fn chooses_by_name_alias_glob_and_all() {
        assert_eq!(chosen(&["gcc"]).unwrap(), ["gcc-12"]);
        assert_eq!(chosen(&["clang*"]).unwrap(), ["clang-14", "clang-16"]);
        assert_eq!(chosen(&["all"]).unwrap(), ["gcc-12", "clang-14", "clang-16"]);
        assert_eq!(chosen(&["clang-16", "gcc-12"]).unwrap(), ["gcc-12", "clang-16"]);
    }

    #[test]
    fn names_the_unknown_compiler_what_there_is_and_the_nearest() {
        let error = chosen(&["gcc", "clnag-16"]).unwrap_err();
        assert_eq!(error.to_string(), "no compiler `clnag-16` on PATH; there is: gcc-12, clang-14, clang-16");
        let ToolchainError::Unknown { index, nearest, .. } = error else { panic!("{error:?}") };
        assert_eq!((index, nearest.as_deref()), (1, Some("clang-16")));
        assert_eq!(choose(&["all".into()], &[]), Err(ToolchainError::None));
    }

    #[test]
    fn identifies_what_is_on_this_machine() {
        for found in on_path() {
            assert!(!found.compiler.version.is_empty(), "{found:?}");
            assert!(found.compiler.target.contains('-'), "{found:?}");
            assert_eq!(found.compiler.sha256.len(), 64);
        }
    }
}
