//! A simulation of predictors, shared out: what is asked is one file of tasks, and each shard leaves one file of results, which
//! appears whole or not at all. Whoever collects reads the files that are there, so a shard may be lost, done twice or late.
//!
//! Simulating is deterministic, so any machine may do any shard, and several on one machine do not disturb each other: a job
//! takes one processor, not a machine. Many jobs are one array.

use super::cluster::ClusterName;
use super::kept::{Shard, ShardedQuestion, new_folder, plain};
use super::wait::Unmerged;
use super::{HandedIn, hand_all_in, resume};
use anyhow::{Context, Result};
use assay_linux::output;
use assay_pure::simulation::{Gathered, ShardResult, SimulationPlan};
use assay_report::status::SIMULATE;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The file of all tasks.
pub(super) const TASKS: &str = "tasks.json";
/// How a shard's file of results ends.
pub(super) const RESULT: &str = "result";
/// The file of what all came to.
const TABLE: &str = "table.json";

/// Whether a verb simulates.
pub fn is_simulation(verb: &str) -> bool {
    verb == SIMULATE
}

/// A simulation to be shared out.
#[derive(Clone, Debug)]
pub struct SimulationRequest {
    /// What is simulated, shared out.
    pub plan: SimulationPlan,
    /// The same in words, by which it is known again.
    pub words: Vec<String>,
    /// Who takes the jobs.
    pub cluster: ClusterName,
    /// Kinds of machines that may; none: any.
    pub features: Vec<String>,
    /// The folder in which the jobs' folder is made.
    pub folder: PathBuf,
    /// Wait for the jobs of the same simulation that were handed in before; those without a result are handed in again.
    pub resume: bool,
}

/// Hands the jobs in, or finds those that were.
///
/// # Errors
/// As [`super::submit`].
pub fn submit_simulation(asked: &SimulationRequest, tell: &mut dyn FnMut(&str)) -> Result<HandedIn> {
    let name = asked.cluster.whole()?;
    let cluster = name.open()?;
    std::fs::create_dir_all(&asked.folder)
        .with_context(|| format!("writing to {}", asked.folder.display()))?;
    let parent =
        asked.folder.canonicalize().with_context(|| format!("finding {}", asked.folder.display()))?;
    let array = cluster.array_size();
    let shard = |at: usize| Shard {
        feature: asked.features.join("|"),
        part: None,
        job: String::new(),
        stem: array.map_or_else(|| at.to_string(), |size| format!("{}-{}", at / size, at % size)),
        folder: PathBuf::new(),
    };
    let mut question = ShardedQuestion {
        verb: SIMULATE.into(),
        name: "simulation".into(),
        words: asked.words.clone(),
        folder: std::env::current_dir().context("cannot find the current directory")?,
        ledger: PathBuf::new(),
        budget: None,
        version: asked.plan.version.clone(),
        cluster: name,
        array,
        shards: (0..asked.plan.shards.len()).map(shard).collect(),
        place: PathBuf::new(),
    };
    if asked.resume {
        let question = resume(&question, &parent, cluster.as_ref(), tell)?;
        return Ok(HandedIn { question, cluster });
    }
    question.move_to(new_folder(&parent, &plain(&question.name))?);
    question.ledger = question.place.join(TABLE);
    let tasks = question.place.join(TASKS);
    output::write(&tasks, &serde_json::to_vec(&asked.plan)?)
        .with_context(|| format!("writing {}", tasks.display()))?;
    if let Err(refused) = hand_all_in(&mut question, cluster.as_ref(), tell) {
        // Nobody was told of it, unless a job was handed in before.
        let _ = std::fs::remove_file(&tasks);
        let _ = std::fs::remove_dir(&question.place);
        return Err(refused);
    }
    Ok(HandedIn { question, cluster })
}

/// What the shards of a simulation came to, so far.
pub struct Collected {
    /// What is simulated.
    pub plan: SimulationPlan,
    /// What has come together.
    pub gathered: Gathered,
    added: BTreeSet<String>,
}

impl Collected {
    /// Of a question that was handed in: nothing yet.
    ///
    /// # Errors
    /// Its tasks cannot be read.
    pub fn new(question: &ShardedQuestion) -> Result<Collected> {
        let plan = read_plan(&question.place.join(TASKS))?;
        Ok(Collected { gathered: Gathered::new(&plan), plan, added: BTreeSet::new() })
    }

    /// Adds the results of a shard, if it has any and they are not there yet.
    pub fn add(&mut self, shard: &Shard) -> Option<Unmerged> {
        if self.added.contains(&shard.stem) {
            return None;
        }
        let unmerged = |why: String| Some(Unmerged { why, is_foreign: false });
        let result: ShardResult = match std::fs::read(shard.file(RESULT)) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return None,
            Err(error) => return unmerged(error.to_string()),
            Ok(bytes) => match serde_json::from_slice(&bytes) {
                Ok(result) => result,
                Err(error) => return unmerged(format!("its results cannot be read: {error}")),
            },
        };
        if result.version != self.plan.version {
            let version = |text: &str| text.lines().collect::<Vec<_>>().join(", ");
            let (there, here) = (version(&result.version), version(&self.plan.version));
            return Some(Unmerged {
                why: format!("it was simulated by {there}, not by {here}"),
                is_foreign: true,
            });
        }
        if let Err(why) = self.gathered.add(result) {
            return unmerged(why);
        }
        self.added.insert(shard.stem.clone());
        None
    }

    /// Adds what came after its shard was given up for lost.
    pub fn add_late(&mut self, question: &ShardedQuestion) {
        for shard in &question.shards {
            let _ = self.add(shard);
        }
    }
}

/// Reads a file of tasks.
///
/// # Errors
/// It is not there, or is none.
pub fn read_plan(tasks: &Path) -> Result<SimulationPlan> {
    let bytes = std::fs::read(tasks).with_context(|| format!("reading {}", tasks.display()))?;
    serde_json::from_slice(&bytes).with_context(|| format!("{} is no list of tasks", tasks.display()))
}

/// Writes what a shard came to, whole or not at all.
///
/// # Errors
/// It cannot be written.
pub fn write_result(path: &Path, result: &ShardResult) -> Result<()> {
    output::write(path, &serde_json::to_vec(result)?).with_context(|| format!("writing {}", path.display()))
}

#[cfg(test)]
mod tests;
