//! What each kind of build is asked for: its command, where it runs, and what of its links is the program.

use super::aside::Cleared;
use super::{cargo, cmake, zig};
use crate::adopt::capture::CapturedLink;
use crate::build::text::quote;
use crate::build::{BuildFailure, Compiler, CompilerFamily, Stage};
use assay_pure::experiment::spec::{FlagSet, OwnBuild};
use assay_pure::inputs::{digest, short_digest};
use std::io;
use std::path::{Path, PathBuf};

/// What flags for CMake itself begin with.
pub const CMAKE_OWN: &str = "-DCMAKE_";

/// A build other than from C and C++ sources, with what the experiment says to it.
pub struct OwnAsked<'a> {
    /// The lab's store.
    pub store: &'a Path,
    /// The folder of `assay.h`.
    pub include: &'a Path,
    /// The experiment's folder.
    pub folder: &'a Path,
    /// The build.
    pub build: &'a OwnBuild,
    /// Flags of the program and of the set.
    pub flags: &'a FlagSet,
    /// What the experiment calls the compiler.
    pub compiler: &'a Compiler,
}

impl OwnAsked<'_> {
    /// "rustc-1.95 with flags release".
    pub fn described(&self) -> String {
        format!("{} with flags {}", self.compiler.name, self.flags.name)
    }

    /// Where its links are kept.
    pub fn links(&self) -> PathBuf {
        self.store.join("links")
    }

    /// A folder of the store for this build alone, made if it is missing, the same from campaign to campaign.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn place(&self, kind: &str, of: &Path) -> Result<PathBuf, BuildFailure> {
        self.place_named(kind, of, &self.flags.flags.join("\n"))
    }

    /// The same for builds with whatever flags: for caches that tell flags apart.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn place_of_all_flags(&self, kind: &str, of: &Path) -> Result<PathBuf, BuildFailure> {
        self.place_named(kind, of, "whatever flags")
    }

    fn place_named(&self, kind: &str, of: &Path, flags: &str) -> Result<PathBuf, BuildFailure> {
        let words = [flags, &self.compiler.sha256, &*of.to_string_lossy()].map(|word| word.to_owned());
        let key = format!("{}\n{:?}", words.join("\n\n"), self.build);
        let place = self.store.join(kind).join(short_digest(&digest(key.as_bytes())));
        let made = std::fs::create_dir_all(&place).and_then(|()| place.canonicalize());
        made.map_err(|error| self.failure(format!("cannot make {}: {error}", place.display())))
    }

    /// What compilers for C and C++ read from the environment: our header, the experiment's compiler and flags. Without flags
    /// CFLAGS stays as it is: a Makefile's `CFLAGS ?= -O2` counts only while nobody sets it.
    pub fn c_environment(&self) -> Vec<(String, String)> {
        let already = std::env::var("CPATH").ok().filter(|path| !path.is_empty());
        let include = self.include.display().to_string();
        let path = already.map_or(include.clone(), |path| format!("{include}:{path}"));
        let mut set = vec![("CPATH".to_owned(), path)];
        if self.compiler.family != CompilerFamily::Own {
            set.push(("CC".into(), self.compiler.path.display().to_string()));
            let cxx = self.compiler.cxx_path.as_ref();
            set.extend(cxx.map(|cxx| ("CXX".to_owned(), cxx.display().to_string())));
        }
        let own = || self.flags.flags.iter().filter(|flag| !flag.starts_with(CMAKE_OWN)).cloned();
        for name in ["CFLAGS", "CXXFLAGS"].into_iter().filter(|_| own().next().is_some()) {
            let already = std::env::var(name).ok().filter(|flags| !flags.is_empty());
            set.push((name.into(), already.into_iter().chain(own()).collect::<Vec<_>>().join(" ")));
        }
        set
    }

    /// Whether gcc or clang compile it, as far as the kind of build tells.
    pub fn is_of_c(&self) -> bool {
        matches!(self.build, OwnBuild::Cmake { .. } | OwnBuild::Command { .. })
    }

    /// Flags or a compiler are asked for that the build itself does not look after: cargo and CMake have folders of ours for each.
    pub fn decides_over_code(&self) -> bool {
        let asks = !self.flags.flags.is_empty() || self.compiler.family != CompilerFamily::Own;
        asks && matches!(self.build, OwnBuild::Command { .. })
    }

    /// What is to be run.
    ///
    /// # Errors
    /// Its folders cannot be found or made.
    pub fn order(&self) -> Result<OwnOrder, BuildFailure> {
        match self.build {
            OwnBuild::Cargo { manifest, target, features, profile } => {
                cargo::order(self, &self.folder.join(manifest), target, features, profile)
            }
            OwnBuild::Cmake { folder, target } => cmake::order(self, &self.folder.join(folder), target),
            OwnBuild::Zig { files } => zig::order(self, files),
            OwnBuild::ZigBuild { file, bin } => {
                zig::order_of_build(self, &self.folder.join(file), bin.as_deref())
            }
            OwnBuild::Command { command, binary } => {
                let binary = self.folder.join(binary);
                Ok(OwnOrder {
                    before: Vec::new(),
                    command: format!("cd {} && {command}", quote(&self.folder.to_string_lossy())),
                    folder: common(self.folder, &binary),
                    environment: self.c_environment(),
                    wanted: Wanted::At(binary),
                })
            }
        }
    }

    /// A failure of this build.
    pub fn failure(&self, why: impl std::fmt::Display) -> BuildFailure {
        BuildFailure::plain(Stage::Compile, format!("{}: {why}", self.described()))
    }
}

/// A build to run.
pub struct OwnOrder {
    /// Commands that were run ahead of it.
    pub before: Vec<String>,
    /// The command, for `sh -c`.
    pub command: String,
    /// What lies in it is the build's own.
    pub folder: PathBuf,
    /// Variables that are set for it.
    pub environment: Vec<(String, String)>,
    /// Which of its links is the program.
    pub wanted: Wanted,
}

impl OwnOrder {
    /// All commands, as one can paste them into a shell.
    pub fn told(&self) -> String {
        self.before.iter().chain([&self.command]).cloned().collect::<Vec<_>>().join(" && ")
    }
}

/// Which link is the program.
pub enum Wanted {
    /// The one that made this file.
    At(PathBuf),
    /// The only program in a folder whose path ends so.
    Only {
        /// The end of the path.
        folder: PathBuf,
    },
    /// The one of this name in a folder whose path ends so; with what cargo and CMake put behind names.
    Named {
        /// The end of the path; any folder where it is empty.
        folder: PathBuf,
        /// The name.
        name: String,
        /// A dash and a hash follow the name.
        hashed: bool,
    },
}

impl Wanted {
    fn is(&self, file: &Path) -> bool {
        let parent = file.parent().unwrap_or(Path::new(""));
        match self {
            Self::At(path) => file == path || file.canonicalize().ok() == path.canonicalize().ok(),
            Self::Only { folder } => parent.ends_with(folder),
            Self::Named { folder, name, hashed } => {
                let own = file.file_name().unwrap_or_default().to_string_lossy();
                let fits = if *hashed {
                    own.strip_prefix(name.as_str())
                        .is_some_and(|rest| rest.starts_with('-') && !rest.contains('.'))
                } else {
                    own == name.as_str()
                };
                fits && parent.ends_with(folder)
            }
        }
    }

    /// The program among a build's links.
    ///
    /// # Errors
    /// None or more than one is it, in words.
    pub fn of(&self, links: Vec<CapturedLink>) -> Result<CapturedLink, String> {
        let names: Vec<String> =
            links.iter().filter(|link| !link.shared).map(|link| link.output.display().to_string()).collect();
        let is = |link: &CapturedLink| {
            !link.shared && std::iter::once(&link.output).chain(&link.copies).any(|file| self.is(file))
        };
        let mut found: Vec<CapturedLink> = links.into_iter().filter(is).collect();
        match (found.pop(), found.is_empty()) {
            (Some(link), true) => Ok(link),
            (None, _) if names.is_empty() => Err("the build linked no program".into()),
            (None, _) => Err(format!(
                "the build did not link the program that is asked for; it linked {}",
                names.join(", ")
            )),
            (Some(_), false) => Err(format!(
                "the build linked several programs; name one, as in bin = \"NAME\": {}",
                names.join(", ")
            )),
        }
    }

    /// The file that was to be made, if its path is known and it is not there.
    pub fn missing(&self) -> Option<&Path> {
        match self {
            Self::At(path) if !path.exists() => Some(path),
            _ => None,
        }
    }

    /// Takes away what is already built, so that it is linked again; `settle` puts back what was not built again.
    ///
    /// # Errors
    /// The store cannot be written.
    pub fn clear(&self, folder: &Path, store: &Path) -> io::Result<Cleared> {
        let mut cleared = Cleared::new(store);
        match self {
            Self::At(path) => cleared.take(path)?,
            _ => self.clear_below(folder, &mut cleared)?,
        }
        Ok(cleared)
    }

    fn clear_below(&self, folder: &Path, cleared: &mut Cleared) -> io::Result<()> {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let (path, Ok(kind)) = (entry.path(), entry.file_type()) else { continue };
            if kind.is_dir() {
                self.clear_below(&path, cleared)?;
            } else if kind.is_file() && self.may_be(&path) {
                cleared.take(&path)?;
            }
        }
        Ok(())
    }

    /// Whether a file may be the program or, with cargo, the file that the program is another name of.
    fn may_be(&self, file: &Path) -> bool {
        let in_deps =
            file.parent().is_some_and(|parent| parent.ends_with("deps") || parent.ends_with("examples"));
        file.extension().is_none() && (self.is(file) || in_deps && !matches!(self, Self::At(_)))
    }
}

/// The nearest folder that holds both.
fn common(folder: &Path, file: &Path) -> PathBuf {
    let file =
        file.parent().and_then(|parent| parent.canonicalize().ok()).unwrap_or_else(|| folder.to_owned());
    folder.ancestors().find(|above| file.starts_with(above)).unwrap_or(folder).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_known_by_its_folder_and_name() {
        let bin = Wanted::Named { folder: "release".into(), name: "sort-it".into(), hashed: false };
        assert!(
            bin.is(Path::new("/t/release/sort-it"))
                && bin.is(Path::new("/t/x86_64-unknown-linux-gnu/release/sort-it"))
        );
        assert!(!bin.is(Path::new("/t/release/deps/sort-it")) && !bin.is(Path::new("/t/release/sort")));
        let bench = Wanted::Named { folder: "release/deps".into(), name: "sort_it".into(), hashed: true };
        assert!(bench.is(Path::new("/t/release/deps/sort_it-0123abcd")));
        assert!(!bench.is(Path::new("/t/release/deps/sort_it-0123abcd.d")));
        assert!(!bench.is(Path::new("/t/release/deps/sort_items-0123abcd")));
        let only = Wanted::Only { folder: "release".into() };
        assert!(
            only.is(Path::new("/t/release/any"))
                && !only.is(Path::new("/t/release/build/x/build-script-build"))
        );
    }

    #[test]
    fn the_folder_of_a_build_holds_its_program() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let (bench, out) = (folder.path().join("bench"), folder.path().join("out"));
        for path in [&bench, &out] {
            std::fs::create_dir(path).expect("a new folder");
        }
        let root = folder.path().canonicalize().expect("there");
        let bench = bench.canonicalize().expect("there");
        assert_eq!(common(&bench, &bench.join("x")), bench);
        assert_eq!(common(&bench, &bench.join("../out/x")), root);
    }
}
