//! Who hands jobs to other machines, as everything else here knows it: three calls. Where the jobs run and how they are reached
//! is known to the implementations alone.

use super::slurm::Slurm;
use super::ssh::Ssh;
use crate::lead::{Misuse, Unable};
use anyhow::Result;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// The variable in which a job of an array finds its number.
pub const ARRAY_NUMBER: &str = "SLURM_ARRAY_TASK_ID";

/// Where jobs can be handed in.
pub trait Cluster {
    /// Hands a job in and returns its name.
    ///
    /// # Errors
    /// [`crate::lead::Unable`]: nobody takes the job.
    fn hand_in(&self, job: &ClusterJob<'_>) -> Result<String>;

    /// Where jobs can be handed in as arrays, which differ in their number alone: numbers are below this.
    fn array_size(&self) -> Option<usize> {
        None
    }

    /// Hands in a job for each of these numbers, and returns their names. The script finds its own in [`ARRAY_NUMBER`], in the log's
    /// name it is `%a`.
    ///
    /// # Errors
    /// [`crate::lead::Unable`]: nobody takes the jobs.
    fn hand_in_array(&self, job: &ClusterJob<'_>, numbers: &[usize]) -> Result<Vec<String>> {
        Err(Unable(format!("there are no arrays for {} jobs {}", numbers.len(), job.name)).into())
    }

    /// What these jobs do. One that is not among the answers has ended, or is gone.
    fn look(&self, jobs: &[&str]) -> BTreeMap<String, JobState>;

    /// What a job is cancelled by: the name of its array, or its own.
    fn cancelled_by(&self, job: &str) -> String {
        job.to_owned()
    }

    /// Ends a job, or all of an array; one that has ended stays as it is.
    ///
    /// # Errors
    /// It could not be reached, in a sentence.
    fn cancel(&self, job: &str) -> Result<(), String>;

    /// The kinds of machines that it has, where it knows them.
    fn kinds(&self) -> Vec<String> {
        Vec::new()
    }
}

/// One job.
pub struct ClusterJob<'a> {
    /// As the cluster's own tools show it.
    pub name: &'a str,
    /// The kind of machine that it needs; empty: any.
    pub feature: &'a str,
    /// It measures, so nothing else may run on its machine; else it computes, and takes one processor.
    pub alone: bool,
    /// Which of the jobs of this kind it is, from 0: machines of one kind take turns.
    pub turn: usize,
    /// Where its output goes.
    pub log: &'a Path,
    /// What a shell does on a machine that sees files like this.
    pub script: &'a dyn Fn(&Sight) -> String,
}

/// How a machine sees the shared files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sight {
    /// A folder here, and what it is called there.
    pub moved: Option<(PathBuf, PathBuf)>,
    /// The program `assay` there; none: the one that runs here.
    pub program: Option<PathBuf>,
}

impl Sight {
    /// A path as it is called there.
    pub fn of(&self, path: &Path) -> PathBuf {
        let moved = |(here, there): &(PathBuf, PathBuf)| Some(there.join(path.strip_prefix(here).ok()?));
        self.moved.as_ref().and_then(moved).unwrap_or_else(|| path.to_owned())
    }
}

/// What a job does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JobState {
    /// For this reason.
    Waiting(String),
    /// On this node.
    Running(String),
    /// Nobody answers, for this reason: it may go on.
    Unknown(String),
}

/// A cluster as the command line and the kept list name it: `slurm`, or `ssh:` and a file of hosts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum ClusterName {
    /// The Slurm of this machine.
    Slurm,
    /// The hosts of this file.
    Ssh(PathBuf),
}

impl ClusterName {
    /// The same with a path that holds in every folder.
    ///
    /// # Errors
    /// [`Misuse`]: the file is not there.
    pub fn whole(&self) -> Result<ClusterName, Misuse> {
        match self {
            ClusterName::Slurm => Ok(ClusterName::Slurm),
            ClusterName::Ssh(file) => file.canonicalize().map(ClusterName::Ssh).map_err(|error| {
                Misuse(format!("cannot read the list of hosts {}: {error}", file.display()))
            }),
        }
    }

    /// The way to it.
    ///
    /// # Errors
    /// [`Misuse`]: its file is wrong.
    pub fn open(&self) -> Result<Box<dyn Cluster>, Misuse> {
        Ok(match self {
            ClusterName::Slurm => Box::new(Slurm),
            ClusterName::Ssh(file) => Box::new(Ssh::read(file)?),
        })
    }
}

impl FromStr for ClusterName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.strip_prefix("ssh:") {
            _ if text == "slurm" => Ok(ClusterName::Slurm),
            Some(file) if !file.is_empty() => Ok(ClusterName::Ssh(file.into())),
            _ => Err(format!("`{text}` is neither `slurm` nor `ssh:FILE`, where FILE lists hosts")),
        }
    }
}

impl TryFrom<String> for ClusterName {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<ClusterName> for String {
    fn from(name: ClusterName) -> String {
        match name {
            ClusterName::Slurm => "slurm".into(),
            ClusterName::Ssh(file) => format!("ssh:{}", file.display()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cluster_is_named_in_one_word() {
        for word in ["slurm", "ssh:hosts.toml"] {
            assert_eq!(word.parse::<ClusterName>().map(String::from), Ok(word.to_owned()));
        }
        assert!("ssh:".parse::<ClusterName>().unwrap_err().contains("`ssh:FILE`"));
        assert!("pbs".parse::<ClusterName>().is_err());
    }

    #[test]
    fn a_moved_folder_changes_what_lies_in_it_and_nothing_else() {
        let sight = Sight { moved: Some(("/a/lab".into(), "/mnt/lab".into())), program: None };
        assert_eq!(sight.of(Path::new("/a/lab/x.db")), Path::new("/mnt/lab/x.db"));
        assert_eq!(sight.of(Path::new("/a/lab2/x.db")), Path::new("/a/lab2/x.db"));
    }
}
