//! One call of a linker as it was recorded: what a replay needs, and how it is written and found again.

use super::kept::{Keeper, Stamp, plain};
use super::words::{self, PartRole, Parts};
use super::zig;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Variables that linkers, their plugins and the compilers that those start obey.
const VARIABLES: &[&str] = &[
    "COLLECT_GCC",
    "COLLECT_GCC_OPTIONS",
    "COLLECT_LTO_WRAPPER",
    "COMPILER_PATH",
    "GCC_EXEC_PREFIX",
    "GNUTARGET",
    "HOME",
    "LDEMULATION",
    "LD_LIBRARY_PATH",
    "LD_RUN_PATH",
    "LIBRARY_PATH",
    "LTO_PLUGIN",
    "PATH",
    "SOURCE_DATE_EPOCH",
    "TMPDIR",
    "XDG_CACHE_HOME",
    "ZERO_AR_DATE",
    "ZIG_GLOBAL_CACHE_DIR",
    "ZIG_LIB_DIR",
    "ZIG_LOCAL_CACHE_DIR",
];

/// Beside the calls: what the stand-in must know of the build.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CaptureSession {
    /// The build's folder: what lies in it is kept.
    pub folder: PathBuf,
    /// When it began, ns since 1970: what is younger was made by it, and is kept.
    pub begun: i64,
    /// Where kept files go.
    pub kept: PathBuf,
}

impl CaptureSession {
    const FILE: &str = "session";

    /// Writes it into the folder of a build's calls.
    pub fn write(&self, calls: &Path) -> io::Result<()> {
        fs::write(calls.join(Self::FILE), serde_json::to_vec(self)?)
    }

    /// Reads it from there.
    pub fn read(calls: &Path) -> io::Result<Self> {
        Ok(serde_json::from_slice(&fs::read(calls.join(Self::FILE))?)?)
    }
}

/// A file that the linker was told to read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LinkInput {
    /// Which word names it.
    pub word: usize,
    /// The file.
    pub file: PathBuf,
    /// What it was like.
    pub stamp: Stamp,
    /// The members that an archive only names.
    pub members: Vec<(PathBuf, Stamp)>,
    /// The copy, if one was made.
    pub kept: Option<PathBuf>,
}

impl LinkInput {
    /// Whether it, and all its members, are as they were.
    pub fn is_unchanged(&self) -> bool {
        let same =
            |(file, stamp): (&PathBuf, &Stamp)| Stamp::of(file).is_some_and(|now| now.same_content(stamp));
        same((&self.file, &self.stamp)) && self.members.iter().all(|(file, stamp)| same((file, stamp)))
    }
}

/// One call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LinkerCall {
    /// When, ns since 1970.
    pub at: i64,
    /// The linker that would have been called without us.
    pub linker: PathBuf,
    /// It is zig, whose words are those of a driver.
    pub zig: bool,
    /// Its words, those in response files included.
    pub words: Vec<String>,
    /// Where it was called.
    pub folder: PathBuf,
    /// The variables that matter to it.
    pub environment: Vec<(String, String)>,
    /// What it was told to read.
    pub inputs: Vec<LinkInput>,
}

impl LinkerCall {
    /// The words taken apart.
    pub fn parts(&self) -> Parts {
        words::parse(&self.words)
    }

    /// What it makes.
    pub fn output(&self) -> PathBuf {
        let parts = self.parts();
        if self.zig && parts.first(PartRole::Output).is_none() {
            return plain(&self.folder.join(zig::unnamed_output(&self.words, &parts)));
        }
        plain(&self.folder.join(parts.output(&self.words)))
    }

    /// Whether what it makes is there, and no older than the call.
    pub fn is_made(&self) -> bool {
        Stamp::of(&self.output()).is_some_and(|made| made.is_since(self.at))
    }

    /// Writes it among the calls of a build.
    pub fn write(&self, calls: &Path) -> io::Result<()> {
        // Times order the calls; the process tells those of one moment apart.
        let name = format!("{:020}-{}.call", self.at, std::process::id());
        let beside = calls.join(format!(".{name}"));
        fs::write(&beside, serde_json::to_vec(self)?)?;
        fs::rename(beside, calls.join(name))
    }

    /// All calls of a build in the order of time.
    pub fn read_all(calls: &Path) -> io::Result<Vec<Self>> {
        let mut names: Vec<PathBuf> = fs::read_dir(calls)?.flatten().map(|entry| entry.path()).collect();
        names.retain(|path| path.extension().is_some_and(|extension| extension == "call"));
        names.sort();
        names.iter().map(|path| Ok(serde_json::from_slice(&fs::read(path)?)?)).collect()
    }
}

/// The variables of this process that matter to a linker, without us in them.
pub fn environment(is_ours: &dyn Fn(&Path) -> bool) -> Vec<(String, String)> {
    let value = |name: &&str| {
        let value = std::env::var(name).ok()?;
        let value = match *name {
            "PATH" | "COMPILER_PATH" => {
                let folders = std::env::split_paths(&value).filter(|folder| !is_ours(folder));
                std::env::join_paths(folders).ok()?.into_string().ok()?
            }
            _ => value,
        };
        Some(((*name).to_owned(), value))
    };
    VARIABLES.iter().filter_map(value).collect()
}

/// The files that a call names, those kept that the build may change or remove.
///
/// # Errors
/// A file that should be kept cannot be.
pub fn inputs(words: &[String], folder: &Path, session: &CaptureSession) -> io::Result<Vec<LinkInput>> {
    let parts = words::parse(words);
    let folders: Vec<PathBuf> = search(words, &parts, folder);
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for part in &parts.parts {
        let value = part.value(words);
        let file = match part.role {
            PartRole::Input | PartRole::Script | PartRole::Aside => Some(folder.join(value)),
            PartRole::Library { archives_only } => library(value, archives_only, &folders),
            PartRole::Output | PartRole::Folder | PartRole::Written => None,
        };
        let Some(file) = file else { continue };
        let Some(stamp) = Stamp::of(&file) else { continue };
        // Libraries are named several times over; `-l` finds the same file each time.
        if part.role != PartRole::Input && !seen.insert(file.clone()) {
            continue;
        }
        found.push(input(part.word, file, stamp, session)?);
    }
    Ok(found)
}

fn input(word: usize, file: PathBuf, stamp: Stamp, session: &CaptureSession) -> io::Result<LinkInput> {
    let members = members(&file);
    let keeper = Keeper { folder: &session.kept };
    let own = |file: &Path, stamp: &Stamp| {
        let file = plain(file);
        stamp.is_since(session.begun)
            || file.starts_with(&session.folder)
            || file.starts_with(std::env::temp_dir())
    };
    let kept = if members.iter().any(|(member, stamp)| own(member, stamp)) {
        let members: Vec<PathBuf> = members.iter().map(|(member, _)| member.clone()).collect();
        Some(keeper.keep_tree(&file, &stamp, &members)?)
    } else if own(&file, &stamp) {
        Some(keeper.keep(&file, &stamp)?)
    } else {
        None
    };
    Ok(LinkInput { word, file, stamp, members, kept })
}

/// The folders in which libraries are searched, in order.
fn search(words: &[String], parts: &Parts, folder: &Path) -> Vec<PathBuf> {
    let sysroot = words.iter().rev().find_map(|word| word.strip_prefix("--sysroot="));
    let named = parts.parts.iter().filter(|part| part.role == PartRole::Folder).map(|part| part.value(words));
    let under_root = |path: &str| {
        let below = path.strip_prefix('=').or_else(|| path.strip_prefix("$SYSROOT"));
        match below {
            Some(below) => PathBuf::from(format!("{}{below}", sysroot.unwrap_or_default())),
            None => folder.join(path),
        }
    };
    named.map(under_root).collect()
}

/// The file that `-lNAME` means, if it lies in one of the folders.
fn library(name: &str, archives_only: bool, folders: &[PathBuf]) -> Option<PathBuf> {
    let names: Vec<String> = match name.strip_prefix(':') {
        Some(exact) => vec![exact.to_owned()],
        None if archives_only => vec![format!("lib{name}.a")],
        None => vec![format!("lib{name}.so"), format!("lib{name}.a")],
    };
    folders.iter().flat_map(|folder| names.iter().map(|name| folder.join(name))).find(|path| path.is_file())
}

/// The files that an archive names instead of holding them, and what they are like.
fn members(file: &Path) -> Vec<(PathBuf, Stamp)> {
    const THIN: &[u8] = b"!<thin>\n";
    let mut magic = [0; THIN.len()];
    let is_thin =
        fs::File::open(file).and_then(|mut open| open.read_exact(&mut magic)).is_ok() && magic == *THIN;
    let Some(bytes) = is_thin.then(|| fs::read(file).ok()).flatten() else { return Vec::new() };
    let Ok(archive) = object::read::archive::ArchiveFile::parse(&*bytes) else { return Vec::new() };
    let folder = file.parent().unwrap_or(Path::new("/"));
    let named = archive.members().flatten().filter_map(|member| {
        let path = folder.join(std::str::from_utf8(member.name()).ok()?);
        Stamp::of(&path).map(|stamp| (path, stamp))
    });
    named.collect()
}
