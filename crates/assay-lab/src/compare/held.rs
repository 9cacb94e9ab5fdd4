//! Sides as they were built for an earlier comparison: a base is built once and measured many times.
//!
//! A build is held under the digest of its command and of the tools that it may use, in the checkout in which it was made, with
//! its captured links and the list of all files that it left. It is believed only if each of those files is there with its
//! size and time, and each program with its contents. Times count in whole seconds, as most archives keep them in which CI
//! stores a folder from run to run. Whoever builds or measures in a checkout has its lock; a build that nobody uses goes when the
//! store outgrows its limit, the one that was not used for longest first.
//!
//! Limits: a build that reads what is neither in the revision, nor a tool of [`TOOLS`], nor a variable of [`VARIABLES`] is
//! believed though that has changed; `assay clean` makes it be built anew.

use super::revisions::Revision;
use crate::lead::hold;
use anyhow::{Context, Result};
use assay_link::adopt::capture::{CapturedLink, HELD_VERSION, HeldLink};
use assay_pure::inputs::digest::{digest, short_digest};
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

/// In the store, the folder of all held builds.
pub(super) const SIDES: &str = "sides";
/// In it, per command and tools: checkouts of commits, of changed trees, and what was recorded of their builds.
const TREES: &str = "trees";
const CHANGED: &str = "dirty";
const LINKS: &str = "links";
/// What is written of a build, in the folder of its links.
const RECORD: &str = "side.json";
/// Bytes of builds that a store keeps where nothing else is said.
pub const DEFAULT_LIMIT: u64 = 4 << 30;

/// Programs whose change makes another build.
const TOOLS: &[&str] = &[
    "cc", "c++", "gcc", "g++", "clang", "clang++", "ld", "ld.lld", "ld.gold", "mold", "as", "ar", "rustc",
    "cargo", "zig", "go", "make", "cmake", "ninja", "meson",
];
/// Variables whose change makes another build: these, and those that begin or end so.
const VARIABLES: &[&str] = &[
    "AR",
    "AS",
    "CC",
    "CPATH",
    "CPP",
    "CXX",
    "COMPILER_PATH",
    "GCC_EXEC_PREFIX",
    "LD",
    "LD_LIBRARY_PATH",
    "LIBRARY_PATH",
    "MAKEFLAGS",
    "NM",
    "PATH",
    "RANLIB",
    "SOURCE_DATE_EPOCH",
    "SYSROOT",
];
const BEGINNINGS: &[&str] = &[
    "CARGO_",
    "CGO_",
    "CMAKE_",
    "CONDA_",
    "CPM_",
    "GO",
    "MESON",
    "NINJA",
    "NIX_",
    "PKG_CONFIG",
    "RUST",
    "ZIG",
];
/// But not these, which only say how a build speaks.
const SPEECH: &[&str] =
    &["CARGO_TERM_", "CMAKE_COLOR", "CMAKE_BUILD_PARALLEL_LEVEL", "GOTRACEBACK", "NINJA_STATUS"];
const ENDS: &[&str] = &["FLAGS", "_INCLUDE_PATH"];

/// What a build gave, new or held.
#[derive(Debug, Default)]
pub struct SideBuild {
    /// Its links.
    pub links: Vec<CapturedLink>,
    /// Why there are none, where that is so.
    pub unlinked: Option<String>,
    /// The same with all that can be done about it; not held.
    pub why: Option<String>,
    /// What could not be captured.
    pub warnings: Vec<String>,
    /// What a benchmark command must see besides its own environment.
    pub environment: Vec<(String, String)>,
}

/// Under which name builds by a command in a folder are held: whatever may make another build of the same commit is in it.
pub fn key(build: &str, folder: &Path, below: &Path) -> String {
    let text = serde_json::json!([
        HELD_VERSION,
        build,
        below.as_os_str().as_encoded_bytes(),
        TOOLS.iter().filter_map(|tool| tool_of(tool)).collect::<Vec<_>>(),
        rustc(folder),
        variables(
            build,
            std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value)))
        ),
    ]);
    digest(text.to_string().as_bytes())
}

/// The program that a name leads to, its size and its time.
fn tool_of(name: &str) -> Option<(PathBuf, u64, i64)> {
    let path = std::env::var_os("PATH")?;
    let found = std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file())?;
    let found = found.canonicalize().ok()?;
    let facts = found.metadata().ok()?;
    Some((found, facts.len(), facts.mtime()))
}

/// Which rustc it is, as rustup's own programs stay the same when a toolchain does not.
fn rustc(folder: &Path) -> Option<String> {
    tool_of("rustc")?;
    let ran = Command::new("rustc").arg("-vV").current_dir(folder).output().ok()?;
    Some(String::from_utf8_lossy(&ran.stdout).into_owned())
}

fn variables(build: &str, all: impl Iterator<Item = (String, std::ffi::OsString)>) -> Vec<(String, String)> {
    let speaks = |name: &str| SPEECH.iter().any(|beginning| name.starts_with(beginning));
    let counts = |name: &str| {
        VARIABLES.contains(&name)
            || (BEGINNINGS.iter().any(|beginning| name.starts_with(beginning)) && !speaks(name))
            || ENDS.iter().any(|end| name.ends_with(end))
            || [format!("${name}"), format!("${{{name}")].iter().any(|used| build.contains(used))
    };
    let mut found: Vec<(String, String)> = all
        .filter(|(name, _)| counts(name))
        .map(|(name, value)| (name, digest(value.as_encoded_bytes())))
        .collect();
    found.sort();
    found
}

/// What is written of a build.
#[derive(Debug, Serialize, Deserialize)]
struct HeldRecord {
    key: String,
    commit: String,
    name: String,
    tree: PathBuf,
    bytes: u64,
    links: Vec<HeldLink>,
    unlinked: Option<String>,
    warnings: Vec<String>,
    environment: Vec<(String, String)>,
    /// All that lay in the tree: path, size, time of change in s.
    files: Vec<(PathBuf, u64, i64)>,
}

/// Where a revision's build by a command is held.
#[derive(Clone, Debug)]
pub struct SidePlace {
    key: String,
    /// The folder of checkouts.
    pub trees: PathBuf,
    /// What is recorded of the build and its links.
    pub links: PathBuf,
}

impl SidePlace {
    /// In a store.
    pub fn new(store: &Path, key: &str, revision: &Revision) -> SidePlace {
        let own = store.join(SIDES).join(short_digest(key));
        SidePlace {
            key: key.to_owned(),
            trees: own.join(TREES),
            links: own.join(LINKS).join(revision.short()),
        }
    }

    /// The build that is held in a checkout.
    ///
    /// # Errors
    /// Why it must be built, as the end of a sentence; nothing where none is held.
    pub fn recall(&self, revision: &Revision, tree: &Path) -> Result<SideBuild, Option<String>> {
        let Ok(text) = fs::read(self.links.join(RECORD)) else { return Err(None) };
        let record: HeldRecord =
            serde_json::from_slice(&text).map_err(|_| "its record cannot be read".to_owned())?;
        if (&record.key, &record.commit, record.tree.as_path()) != (&self.key, &revision.commit, tree) {
            return Err(Some("it was stored under another name".into()));
        }
        let now =
            |path: &Path| fs::symlink_metadata(tree.join(path)).map(|facts| (facts.len(), facts.mtime()));
        let changed = |(path, bytes, time): &&(PathBuf, u64, i64)| now(path).ok() != Some((*bytes, *time));
        if let Some((path, ..)) = record.files.iter().find(changed) {
            return Err(Some(format!("{} has changed since", path.display())));
        }
        // Replays work in other folders than ours.
        let place = self.links.canonicalize().map_err(|error| error.to_string())?;
        let recalled = record.links.into_iter().map(|link| link.recalled(&place));
        let links = recalled.collect::<Result<Vec<_>, String>>()?;
        // The time of its last use.
        let dated = File::options().write(true).open(self.links.join(RECORD));
        let _ = dated.and_then(|file| file.set_modified(SystemTime::now()));
        let HeldRecord { unlinked, warnings, environment, .. } = record;
        Ok(SideBuild { links, unlinked, why: None, warnings, environment })
    }

    /// Forgets what is recorded.
    ///
    /// # Errors
    /// It cannot be removed.
    pub fn forget(&self) -> Result<()> {
        remove(&self.links).with_context(|| format!("cannot remove {}", self.links.display()))
    }

    /// Holds a build that was just made in a checkout.
    ///
    /// # Errors
    /// It cannot be read or written.
    pub fn keep(&self, revision: &Revision, tree: &Path, built: &SideBuild) -> io::Result<()> {
        let mut files = Vec::new();
        list(tree, Path::new(""), &mut files)?;
        fs::create_dir_all(&self.links)?;
        let record = HeldRecord {
            key: self.key.clone(),
            commit: revision.commit.clone(),
            name: revision.name.clone(),
            tree: tree.to_owned(),
            bytes: size(tree) + size(&self.links),
            links: built.links.iter().map(CapturedLink::held).collect::<io::Result<_>>()?,
            unlinked: built.unlinked.clone(),
            warnings: built.warnings.clone(),
            environment: built.environment.clone(),
            files,
        };
        let draft = self.links.join(format!(".{RECORD}"));
        fs::write(&draft, serde_json::to_vec(&record)?)?;
        fs::rename(draft, self.links.join(RECORD))
    }
}

/// All files below a checkout but git's.
fn list(tree: &Path, below: &Path, found: &mut Vec<(PathBuf, u64, i64)>) -> io::Result<()> {
    for entry in fs::read_dir(tree.join(below))? {
        let entry = entry?;
        let (path, facts) = (below.join(entry.file_name()), entry.metadata()?);
        // Names that are no text cannot be written.
        if path == Path::new(".git") || path.to_str().is_none() {
            continue;
        }
        if facts.is_dir() {
            list(tree, &path, found)?;
        } else if facts.is_file() || facts.is_symlink() {
            found.push((path, facts.len(), facts.mtime()));
        }
    }
    Ok(())
}

/// Bytes on the disk of all below a folder.
pub fn size(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let of = |entry: fs::DirEntry| {
        let Ok(facts) = entry.metadata() else { return 0 };
        let deeper = if facts.is_dir() { size(&entry.path()) } else { 0 };
        facts.blocks() * 512 + deeper
    };
    entries.map(of).sum()
}

/// A build in the store, complete or not.
#[derive(Clone, Debug)]
pub struct StoredSide {
    /// As the user called it when it was built; its folder's name where it was not completed.
    pub name: String,
    /// The commit, or its beginning.
    pub commit: String,
    /// Bytes on the disk.
    pub bytes: u64,
    /// When it was used last.
    pub used: SystemTime,
    tree: PathBuf,
    links: PathBuf,
}

impl StoredSide {
    fn of(tree: PathBuf, links: PathBuf) -> StoredSide {
        let record = fs::read(links.join(RECORD)).ok();
        let record = record.and_then(|text| serde_json::from_slice::<HeldRecord>(&text).ok());
        let dated = |path: &Path| path.metadata().and_then(|facts| facts.modified()).ok();
        let used = dated(&links.join(RECORD)).or_else(|| dated(&tree)).unwrap_or(SystemTime::UNIX_EPOCH);
        let folder = tree.file_name().unwrap_or_default().to_string_lossy().into_owned();
        match record {
            Some(record) => StoredSide {
                name: record.name,
                commit: record.commit,
                bytes: record.bytes,
                used,
                tree,
                links,
            },
            None => {
                let bytes = size(&tree) + size(&links);
                StoredSide { name: folder.clone(), commit: folder, bytes, used, tree, links }
            }
        }
    }

    /// Removes it; false if somebody builds or measures in it.
    ///
    /// # Errors
    /// It cannot be removed.
    pub fn remove(&self) -> Result<bool> {
        let context = || format!("cannot remove {}", self.tree.display());
        let folder = self.tree.parent().unwrap_or(&self.tree);
        fs::create_dir_all(folder).with_context(context)?;
        let Some(_hold) = hold::take(&self.tree, "tree")? else { return Ok(false) };
        // The record first: half a tree must not be believed.
        let _ = fs::remove_file(self.links.join(RECORD));
        remove(&self.tree).and_then(|()| remove(&self.links)).with_context(context)?;
        Ok(true)
    }
}

fn remove(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// All builds of a store, the one that was not used for longest first.
pub fn stored(store: &Path) -> Vec<StoredSide> {
    let mut found = Vec::new();
    for own in folders(&store.join(SIDES)) {
        let trees = [TREES, CHANGED].map(|kind| own.join(kind));
        let links = own.join(LINKS);
        let of = |tree: PathBuf| {
            let name = tree.file_name().unwrap_or_default().to_owned();
            StoredSide::of(tree, links.join(name))
        };
        found.extend(trees.iter().flat_map(|trees| folders(trees)).map(of));
        // What a changed tree left, whose checkout made room for the next.
        let left = folders(&links).into_iter().filter(|links| {
            let name = links.file_name().unwrap_or_default();
            trees.iter().all(|trees| !trees.join(name).exists())
        });
        found.extend(left.map(|links| {
            let name = links.file_name().unwrap_or_default().to_owned();
            StoredSide::of(trees[1].join(name), links)
        }));
    }
    found.sort_by_key(|side| side.used);
    found
}

fn folders(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
        .map(|entry| entry.path())
        .collect()
}

/// Removes builds until the rest is within the limit, the one that was not used for longest first; those at which somebody
/// is at work stay. Returns what was removed.
///
/// # Errors
/// One cannot be removed.
pub fn make_room(store: &Path, limit: u64) -> Result<Vec<StoredSide>> {
    let all = stored(store);
    let mut bytes: u64 = all.iter().map(|side| side.bytes).sum();
    let mut removed = Vec::new();
    for side in all {
        if bytes <= limit && side.tree.exists() {
            continue;
        }
        if side.remove()? {
            bytes -= side.bytes;
            removed.push(side);
        }
    }
    Ok(removed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn revision(commit: &str) -> Revision {
        Revision { name: format!("name of {commit}"), commit: commit.into(), note: None, is_changed: false }
    }

    /// A build of 100 kB that is held.
    fn build(store: &Path, commit: &str) -> (SidePlace, PathBuf) {
        let place = SidePlace::new(store, &"k".repeat(64), &revision(commit));
        let tree = place.trees.join(&commit[..12]);
        fs::create_dir_all(tree.join("target")).unwrap();
        fs::create_dir_all(tree.join(".git")).unwrap();
        fs::write(tree.join("target/data"), vec![1; 100_000]).unwrap();
        place
            .keep(&revision(commit), &tree, &SideBuild { warnings: vec!["w".into()], ..SideBuild::default() })
            .unwrap();
        (place, tree)
    }

    const COMMITS: [&str; 3] = ["aaaaaaaaaaaaaaaa", "bbbbbbbbbbbbbbbb", "cccccccccccccccc"];

    #[test]
    fn a_held_build_is_believed_as_long_as_every_file_of_it_is_as_it_was() {
        let store = tempfile::tempdir().unwrap();
        let (place, tree) = build(store.path(), COMMITS[0]);
        let side = place.recall(&revision(COMMITS[0]), &tree).unwrap();
        assert_eq!(side.warnings, ["w"]);
        fs::write(tree.join("results.json"), "what a benchmark writes is no part of the build").unwrap();
        fs::write(tree.join(".git/index"), "git's own").unwrap();
        let data = File::options().write(true).open(tree.join("target/data")).unwrap();
        let seconds = data.metadata().unwrap().mtime() as u64;
        data.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)).unwrap();
        assert!(place.recall(&revision(COMMITS[0]), &tree).is_ok());
        fs::write(tree.join("target/data"), "shorter").unwrap();
        let why = place.recall(&revision(COMMITS[0]), &tree).unwrap_err().unwrap();
        assert_eq!(why, "target/data has changed since");
        fs::write(place.links.join(RECORD), "{}").unwrap();
        assert!(place.recall(&revision(COMMITS[0]), &tree).unwrap_err().unwrap().contains("record"));
        place.forget().unwrap();
        assert_eq!(place.recall(&revision(COMMITS[0]), &tree).unwrap_err(), None);
    }

    #[test]
    fn another_key_or_commit_is_another_build() {
        let store = tempfile::tempdir().unwrap();
        let (place, tree) = build(store.path(), COMMITS[0]);
        assert!(place.recall(&revision(COMMITS[1]), &tree).unwrap_err().is_some());
        let other = SidePlace { key: "other".into(), ..place };
        assert!(other.recall(&revision(COMMITS[0]), &tree).unwrap_err().is_some());
        let here = std::env::current_dir().unwrap();
        let key = |build: &str, below: &str| key(build, &here, Path::new(below));
        assert_eq!(key("make", ""), key("make", ""));
        assert_ne!(key("make", ""), key("make -j", ""));
        assert_ne!(key("make", ""), key("make", "sub"));
    }

    #[test]
    fn variables_that_compilers_obey_and_those_that_the_command_names_make_another_build() {
        let told = |build: &str, name: &str| {
            !variables(build, [(name.to_owned(), "value".into())].into_iter()).is_empty()
        };
        for name in ["CC", "CXXFLAGS", "RUSTFLAGS", "CARGO_TARGET_DIR", "PATH", "C_INCLUDE_PATH"] {
            assert!(told("make", name), "{name}");
        }
        for name in ["HOME", "COLUMNS", "GITHUB_RUN_ID", "KIND", "CARGO_TERM_COLOR"] {
            assert!(!told("make", name), "{name}");
        }
        assert!(told("make $KIND", "KIND") && told("make ${KIND:-x}", "KIND"));
    }

    #[test]
    fn the_build_that_was_not_used_for_longest_makes_room_and_one_at_work_stays() {
        let store = tempfile::tempdir().unwrap();
        let sides = COMMITS.map(|commit| build(store.path(), commit));
        for (days, (place, _)) in [1, 3, 2].into_iter().zip(&sides) {
            let used = SystemTime::now() - Duration::from_secs(days * 86_400);
            File::options().write(true).open(place.links.join(RECORD)).unwrap().set_modified(used).unwrap();
        }
        assert!(make_room(store.path(), 1 << 30).unwrap().is_empty(), "there is room");
        let removed = make_room(store.path(), 250_000).unwrap();
        assert_eq!(removed.iter().map(|side| side.commit.as_str()).collect::<Vec<_>>(), [COMMITS[1]]);
        assert!(!sides[1].1.exists() && !sides[1].0.links.exists());
        let _hold = hold::take(&sides[2].1, "tree").unwrap().unwrap();
        let removed = make_room(store.path(), 0).unwrap();
        assert_eq!(removed.iter().map(|side| side.commit.as_str()).collect::<Vec<_>>(), [COMMITS[0]]);
        assert!(sides[2].1.exists());
    }

    #[test]
    fn what_a_killed_build_left_is_removed_too() {
        let store = tempfile::tempdir().unwrap();
        let (place, tree) = build(store.path(), COMMITS[0]);
        fs::remove_file(place.links.join(RECORD)).unwrap();
        let (other, gone) = build(store.path(), COMMITS[1]);
        fs::remove_dir_all(gone).unwrap();
        assert_eq!(make_room(store.path(), 1 << 30).unwrap().len(), 1, "a build without its checkout");
        assert_eq!(make_room(store.path(), 0).unwrap().len(), 1);
        assert!(!tree.exists() && !place.links.exists() && !other.links.exists());
    }
}
