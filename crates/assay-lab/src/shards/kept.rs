//! What was handed in, as files of a shared folder: whoever waits may be killed and come back, and anybody may look.

use super::cluster::ClusterName;
use crate::lead::Misuse;
use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// How each message of assay begins.
const OURS: &str = "assay: ";

/// From this exit code on it is the shell's: a program that could not be started, or that a signal ended.
const OF_SHELL: u8 = 126;

/// What one job measures.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shard {
    /// What its machine has; empty: any has it.
    pub feature: String,
    /// Which part of the question, where it is shared out further.
    pub part: Option<ShardPart>,
    /// Its job; empty before it was handed in.
    pub job: String,
    /// The name of its files, without their endings.
    pub(super) stem: String,
    /// Where they lie.
    #[serde(skip)]
    pub(super) folder: PathBuf,
}

/// A part of a question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShardPart {
    /// "input log".
    pub name: String,
    /// What assay is told, so that it measures no other.
    pub words: Vec<String>,
}

impl Shard {
    /// "zen4", "zen4, input log", "shard 17".
    pub fn title(&self) -> String {
        match &self.part {
            None if self.feature.is_empty() => format!("shard {}", self.stem),
            Some(part) => format!("{}, {}", self.feature, part.name),
            None => self.feature.clone(),
        }
    }

    /// What it measured.
    pub fn ledger(&self) -> PathBuf {
        self.file("db")
    }

    /// What its job printed.
    pub fn log(&self) -> PathBuf {
        self.file("log")
    }

    /// What the files of its array begin with: "0-" of "0-17".
    pub(super) fn array(&self) -> &str {
        self.stem.find('-').map_or("", |dash| &self.stem[..=dash])
    }

    /// The exit code, once it has ended.
    pub(super) fn ended(&self) -> Option<u8> {
        std::fs::read_to_string(self.file("end")).ok()?.trim().parse().ok()
    }

    /// Notes that all which it had measured at this stage was added. What comes later, of a job that was taken for lost, is not in
    /// that.
    pub(super) fn mark_merged(&self, stage: &str) -> io::Result<()> {
        std::fs::write(self.file("merged"), stage)
    }

    /// Whether all that it measured was added.
    pub(super) fn is_merged(&self) -> bool {
        std::fs::read_to_string(self.file("merged")).is_ok_and(|at| at == self.stage())
    }

    /// How far its job has come, as far as its files tell.
    pub(super) fn stage(&self) -> &'static str {
        if self.ended().is_some() { "ended\n" } else { "not ended\n" }
    }

    /// The last that its job printed.
    pub(super) fn last_line(&self) -> String {
        let printed = self.printed();
        let last = printed.lines().rev().find(|line| !line.trim().is_empty());
        match last {
            Some(line) => line.trim().trim_start_matches(OURS).to_owned(),
            // Even of a failed start a shell says why; only a full disk says nothing.
            None => format!("it printed nothing; is there room in {}?", self.folder.display()),
        }
    }

    /// Why its job ended with a code other than 0: of assay's last message the first line, since what a program printed may be
    /// quoted behind it. What a shell says of a program that it cannot start, or that a signal ended, is its last line.
    pub(super) fn failure(&self, code: u8) -> String {
        let printed = self.printed();
        let ours = printed.lines().rev().find_map(|line| line.strip_prefix(OURS));
        match ours.filter(|_| code < OF_SHELL) {
            // Such a line ends in a colon, ahead of what is quoted.
            Some(line) => line.trim().trim_end_matches(':').to_owned(),
            None => self.last_line(),
        }
    }

    fn printed(&self) -> String {
        String::from_utf8_lossy(&std::fs::read(self.log()).unwrap_or_default()).into_owned()
    }

    pub(super) fn words(&self) -> &[String] {
        self.part.as_ref().map_or(&[], |part| &part.words)
    }

    pub(super) fn file(&self, ending: &str) -> PathBuf {
        self.folder.join(format!("{}.{ending}", self.stem))
    }

    /// Removes the marks of an earlier job.
    pub(super) fn begin_anew(&self) {
        for ending in ["cancelled", "merged", "node", "end"] {
            let _ = std::fs::remove_file(self.file(ending));
        }
    }
}

/// All of one question, as kept in the folder.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ShardedQuestion {
    /// What assay does: `run`, `compare`, `sweep`, `stages`, `trace simulate`.
    pub verb: String,
    /// The experiment's name, or what stands for it.
    pub name: String,
    /// What the verb is told, without a ledger.
    pub words: Vec<String>,
    /// The folder in which it was asked.
    pub folder: PathBuf,
    /// Where all is merged: a ledger, or the table of a simulation.
    pub ledger: PathBuf,
    /// Seconds of measuring that each shard may take, where that is known.
    pub budget: Option<f64>,
    /// The first lines of `assay --version` here.
    pub version: String,
    /// Who has the jobs.
    pub cluster: ClusterName,
    /// Jobs of one array, at most, where they were handed in as arrays.
    #[serde(default)]
    pub array: Option<usize>,
    /// The jobs.
    pub shards: Vec<Shard>,
    /// The folder that this was read from.
    #[serde(skip)]
    pub place: PathBuf,
}

const KEPT: &str = "shards.json";

impl ShardedQuestion {
    /// Reads a folder; none where there is nothing of ours. What names files elsewhere was not written here.
    pub fn read(folder: &Path) -> Option<ShardedQuestion> {
        let text = std::fs::read_to_string(folder.join(KEPT)).ok()?;
        let mut found: ShardedQuestion = serde_json::from_str(&text).ok()?;
        let is_own = |shard: &Shard| plain(&shard.stem) == shard.stem && !shard.stem.is_empty();
        if !found.shards.iter().all(is_own) {
            return None;
        }
        found.place = folder.to_owned();
        found.shards.iter_mut().for_each(|shard| folder.clone_into(&mut shard.folder));
        Some(found)
    }

    /// Writes it into its folder.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn keep(&self) -> Result<()> {
        let text = serde_json::to_string_pretty(self)?;
        let draft = self.place.join(format!("{KEPT}.draft"));
        std::fs::write(&draft, text)
            .and_then(|()| std::fs::rename(&draft, self.place.join(KEPT)))
            .with_context(|| format!("writing to {}", self.place.display()))
    }

    /// Lies in this folder from now on.
    pub(super) fn move_to(&mut self, folder: PathBuf) {
        self.shards.iter_mut().for_each(|shard| shard.folder.clone_from(&folder));
        self.place = folder;
    }

    /// The shards that have written how they ended, by one look at the folder: a thousand files would be asked for one by one.
    pub(super) fn ends(&self) -> BTreeSet<String> {
        let files = std::fs::read_dir(&self.place).into_iter().flatten().flatten();
        let names = files.filter_map(|file| file.file_name().into_string().ok());
        names.filter_map(|name| name.strip_suffix(".end").map(str::to_owned)).collect()
    }

    /// Whether the same is asked: the same words in the same folder, of the same machines.
    pub(super) fn is_same(&self, other: &ShardedQuestion) -> bool {
        let what = |one: &ShardedQuestion| {
            let shards = one.shards.iter().map(|shard| (shard.feature.clone(), shard.part.clone()));
            let shards: Vec<_> = shards.collect();
            (one.verb.clone(), one.words.clone(), one.folder.clone(), one.cluster.clone(), shards)
        };
        what(self) == what(other)
    }
}

/// The folders of shards below a folder: it may be one, have them, or be that of a ledger. The newest is last.
pub(super) fn folders(folder: &Path) -> Vec<PathBuf> {
    if folder.join(KEPT).is_file() {
        return vec![folder.to_owned()];
    }
    let places = [folder.to_owned(), folder.join("shards"), folder.join(".assay").join("shards")];
    let inside = places.iter().filter_map(|place| std::fs::read_dir(place).ok()).flatten().flatten();
    let mut found: Vec<PathBuf> =
        inside.map(|entry| entry.path()).filter(|path| path.join(KEPT).is_file()).collect();
    // Of two written in one tick of the clock, the later has the later second in its name.
    found.sort_by_key(|path| {
        let modified = std::fs::metadata(path.join(KEPT)).and_then(|facts| facts.modified()).ok();
        (modified, path.clone())
    });
    found
}

/// The newest question below a folder.
///
/// # Errors
/// [`Misuse`]: nothing was handed in from there.
pub fn newest(folder: &Path) -> Result<ShardedQuestion, Misuse> {
    folders(folder).iter().rev().find_map(|folder| ShardedQuestion::read(folder)).ok_or_else(|| {
        Misuse(format!(
            "no jobs were handed in from {}: `assay run FILE --on slurm --per FEATURE` does, and keeps them beside its ledger in \
             `shards`",
            folder.display()
        ))
    })
}

/// One of this moment, which nobody else has.
pub(super) fn new_folder(parent: &Path, name: &str) -> Result<PathBuf> {
    made(parent, name).with_context(|| format!("writing to {}", parent.display()))
}

fn made(parent: &Path, name: &str) -> io::Result<PathBuf> {
    std::fs::create_dir_all(parent)?;
    let mut seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    loop {
        let folder = parent.join(format!("{}-{seconds}", plain(name)));
        match std::fs::create_dir(&folder) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => seconds += 1,
            made => return made.map(|()| folder),
        }
    }
}

/// A name as a file's.
pub(super) fn plain(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' }).collect()
}
