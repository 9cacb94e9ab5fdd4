//! One question on several machines: a job for each kind of them, and for each part if asked, which measures into a ledger of its
//! own and is merged into the user's as it ends. What is under way is in files of a shared folder (`kept`), so that whoever waits
//! may be killed and come back. Who has the jobs is a [`Cluster`]: Slurm, or hosts behind ssh.
//!
//! A job that is started again, as after a failed node, goes on with its ledger; on another kind of processor it begins anew.
//! What is compared with each other is never shared out: both variants of a cell are in one job.
//!
//! A simulation of predictors ([`simulation`]) is shared out the same way, as its result is the same on every machine: in as many
//! shards as are worth it, each with a file of results instead of a ledger.

mod cluster;
mod kept;
mod look;
mod script;
mod simulation;
mod slurm;
mod ssh;
mod wait;

pub use cluster::{Cluster, ClusterName};
pub use kept::{Shard, ShardPart, ShardedQuestion, newest};
pub use look::{kind_of, status};
pub use simulation::{
    Collected, SimulationRequest, is_simulation, read_plan, submit_simulation, write_result,
};
pub use wait::{AddShard, Unmerged, Waited, cancel, to_ledger, wait};

use crate::lead::{Misuse, Unable};
use anyhow::{Context, Result};
use assay_linux::interrupt;
use assay_pure::words;
use cluster::{ClusterJob, JobState};
use kept::{folders, new_folder, plain};
use script::ScriptFor;
use std::path::{Path, PathBuf};

/// What is asked.
#[derive(Clone, Debug)]
pub struct ShardRequest {
    /// What assay does on each machine: `run`, `compare`, `sweep`, `stages`.
    pub verb: &'static str,
    /// The experiment's name, or what stands for it, for folders and jobs.
    pub name: String,
    /// What the verb is told, without a ledger.
    pub words: Vec<String>,
    /// Seconds of measuring that each shard may take, where that is known.
    pub budget: Option<f64>,
    /// Who takes the jobs.
    pub cluster: ClusterName,
    /// Kinds of machines; none: all that the cluster knows.
    pub features: Vec<String>,
    /// Parts that one kind of machine shares out; none: the whole.
    pub parts: Vec<ShardPart>,
    /// The first lines of `assay --version`.
    pub version: String,
    /// The user's ledger; shards lie beside it, where all machines must see them.
    pub ledger: PathBuf,
    /// Wait for the jobs of the same question that were handed in before; those that were lost or cancelled are handed in again.
    pub resume: bool,
}

/// A question with who has its jobs.
pub struct HandedIn {
    /// What was handed in.
    pub question: ShardedQuestion,
    /// Who has it.
    pub cluster: Box<dyn Cluster>,
}

/// Hands the jobs in, or finds those that were.
///
/// # Errors
/// [`Misuse`]: there is nothing to resume, or no kind of machine was named. Nobody takes a job; the folder cannot be written.
pub fn submit(asked: &ShardRequest, tell: &mut dyn FnMut(&str)) -> Result<HandedIn> {
    let name = asked.cluster.whole()?;
    let cluster = name.open()?;
    let mut question = question(asked, name, cluster.as_ref())?;
    let beside = &question.ledger;
    let parent = beside.with_file_name("shards");
    if asked.resume {
        let question = resume(&question, &parent, cluster.as_ref(), tell)?;
        return Ok(HandedIn { question, cluster });
    }
    question.move_to(new_folder(&parent, &asked.name)?);
    hand_all_in(&mut question, cluster.as_ref(), tell)?;
    Ok(HandedIn { question, cluster })
}

/// Hands in all jobs of a question that has its folder, or none: half of the answer was not asked for.
fn hand_all_in(
    question: &mut ShardedQuestion,
    cluster: &dyn Cluster,
    tell: &mut dyn FnMut(&str),
) -> Result<()> {
    for shards in in_arrays(question, 0..question.shards.len()) {
        let handed_in = if interrupt::asked() {
            Err(Unable("interrupted before all jobs were handed in; none of them is left".into()).into())
        } else {
            hand_in(question, &shards, cluster)
        };
        if let Err(refused) = handed_in {
            let handed = question.shards.iter().filter(|shard| !shard.job.is_empty());
            let mut jobs: Vec<String> = handed.map(|shard| cluster.cancelled_by(&shard.job)).collect();
            jobs.dedup();
            for job in jobs {
                if let Err(why) = cluster.cancel(&job) {
                    tell(&format!("job {job} goes on: {why}"));
                }
            }
            // Only where no job was handed in, which would write there.
            let _ = std::fs::remove_dir(&question.place);
            return Err(refused);
        }
        // After each: what is handed in is known, whatever comes of the next.
        let handed = question.shards.iter().filter(|shard| !shard.job.is_empty()).cloned();
        let known = ShardedQuestion { shards: handed.collect(), ..question.clone() };
        known.keep()?;
    }
    Ok(())
}

/// Shards by the arrays that their jobs are handed in as; without arrays each alone.
fn in_arrays(question: &ShardedQuestion, shards: impl Iterator<Item = usize>) -> Vec<Vec<usize>> {
    let shards: Vec<usize> = shards.collect();
    let size = question.array.unwrap_or(1);
    shards.chunk_by(|one, next| one / size == next / size).map(<[usize]>::to_vec).collect()
}

/// What is asked, as it is kept; its shards have no place yet.
fn question(asked: &ShardRequest, name: ClusterName, cluster: &dyn Cluster) -> Result<ShardedQuestion> {
    let features = if asked.features.is_empty() { cluster.kinds() } else { asked.features.clone() };
    if features.is_empty() {
        return Err(Misuse(
            "--on slurm needs --per FEATURE: a job for each kind of node; `sinfo -o %f` lists them".into(),
        )
        .into());
    }
    let parts: Vec<Option<ShardPart>> = match &asked.parts[..] {
        [] => vec![None],
        parts => parts.iter().cloned().map(Some).collect(),
    };
    let cells = features.iter().flat_map(|feature| parts.iter().map(move |part| (feature, part)));
    let shards = cells.enumerate().map(|(number, (feature, part))| {
        let name = part.as_ref().map_or(String::new(), |part| format!("-{}", part.name));
        Shard {
            feature: feature.clone(),
            part: part.clone(),
            job: String::new(),
            stem: format!("{}-{}", number + 1, plain(&format!("{feature}{name}"))),
            folder: PathBuf::new(),
        }
    });
    let folder = std::env::current_dir().context("cannot find the current directory")?;
    let ledger =
        asked.ledger.canonicalize().with_context(|| format!("finding {}", asked.ledger.display()))?;
    let program = std::env::current_exe().context("finding this program")?;
    if let Some(path) = [&folder, &ledger, &program].into_iter().find(|path| path.to_str().is_none()) {
        return Err(Misuse(format!(
            "{} is not UTF-8, and a job cannot be told of it; rename it",
            path.display()
        ))
        .into());
    }
    Ok(ShardedQuestion {
        verb: asked.verb.into(),
        name: asked.name.clone(),
        words: asked.words.clone(),
        folder,
        ledger,
        budget: asked.budget,
        version: asked.version.clone(),
        cluster: name,
        array: None,
        shards: shards.collect(),
        place: PathBuf::new(),
    })
}

/// The newest folder of the same question.
fn resume(
    asked: &ShardedQuestion,
    parent: &Path,
    cluster: &dyn Cluster,
    tell: &mut dyn FnMut(&str),
) -> Result<ShardedQuestion> {
    let read = folders(parent).into_iter().rev().filter_map(|folder| ShardedQuestion::read(&folder));
    let Some(mut found) = read.into_iter().find(|found| found.is_same(asked)) else {
        return Err(Misuse(format!(
            "nothing to resume: no jobs of this question with the same options and kinds of machines were handed in from {}; run \
             without --resume",
            parent.display()
        ))
        .into());
    };
    found.version.clone_from(&asked.version);
    let jobs: Vec<&str> = found.shards.iter().map(|shard| shard.job.as_str()).collect();
    let states = cluster.look(&jobs);
    let mut lost = Vec::new();
    for (at, shard) in found.shards.iter().enumerate() {
        if look::is_done(&found, shard) {
            continue;
        }
        match states.get(&shard.job) {
            // Handed in twice, two would measure into one ledger.
            Some(JobState::Unknown(why)) => {
                anyhow::bail!("cannot tell whether {} goes on: {why}", shard.title())
            }
            Some(_) => {}
            None => lost.push(at),
        }
    }
    for shards in in_arrays(&found, lost.into_iter()) {
        shards.iter().for_each(|at| found.shards[*at].begin_anew());
        hand_in(&mut found, &shards, cluster)?;
        let again: Vec<String> = shards.iter().map(|at| found.shards[*at].title()).collect();
        tell(&format!("{}: handed in again as job {}", words::list(&again), found.shards[shards[0]].job));
        found.keep()?;
    }
    Ok(found)
}

/// Hands in the jobs of shards: of one, or of some of an array.
fn hand_in(question: &mut ShardedQuestion, shards: &[usize], cluster: &dyn Cluster) -> Result<()> {
    let program = std::env::current_exe().context("finding this program")?;
    let at = shards[0];
    let shard = &question.shards[at];
    let first = question.array.map(|size| at / size * size);
    let kind = first.map_or(ScriptFor::One(at), ScriptFor::Array);
    let name = format!("assay-{}", plain(&question.name));
    let log = match first {
        Some(_) => question.place.join(format!("{}%a.log", shard.array())),
        None => shard.log(),
    };
    let text =
        |sight: &cluster::Sight| format!("#!/bin/sh\n{}", script::script(question, kind, &program, sight));
    let turn = question.shards[..at].iter().filter(|other| other.feature == shard.feature).count();
    let alone = !is_simulation(&question.verb);
    let job = ClusterJob { name: &name, feature: &shard.feature, alone, turn, log: &log, script: &text };
    let jobs = match first {
        Some(first) => {
            let numbers: Vec<usize> = shards.iter().map(|at| at - first).collect();
            cluster.hand_in_array(&job, &numbers)?
        }
        None => vec![cluster.hand_in(&job)?],
    };
    for (at, job) in shards.iter().zip(jobs) {
        question.shards[*at].job = job;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
