//! Many traces through many predictors: shared out as tasks, and put together again.
//!
//! A task is one trace and a group of predictors, which read it together. What a task comes to follows from the trace and the
//! predictors alone, on any machine: no floating point is involved but in the lengths of a configured TAGE, which are rounded
//! alike everywhere. So a task that was done twice is counted once, and two results that differ are an error: the trace was
//! changed meanwhile, or a machine is broken.

use crate::predict::PredictionKind;
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Predictors that read a trace together: reading costs as much as one of the cheap ones, and the largest predictors take 1 MB.
pub const GROUP: usize = 32;
/// Bytes of packed traces times predictors that make a shard by themselves: seconds to a minute of simulating.
const SHARD: u64 = 100_000_000;
/// Shards where the user says nothing, at most.
const SHARDS: u64 = 1000;

/// What can be predicted about a branch, in the order in which it is counted here.
pub const KINDS: [(PredictionKind, &str); 3] = [
    (PredictionKind::Direction, "direction"),
    (PredictionKind::Target, "target"),
    (PredictionKind::Return, "return"),
];

/// One trace and a group of predictors, both by their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SimulationTask {
    /// The trace.
    pub trace: usize,
    /// The group.
    pub group: usize,
}

/// What is simulated, and who does what.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SimulationPlan {
    /// The version that simulates: the first lines of `assay --version`.
    pub version: String,
    /// The traces, as the user named them.
    pub traces: Vec<String>,
    /// Their format, where the user says it.
    pub from: Option<String>,
    /// The stream of each that is simulated; none: all.
    pub stream: Option<u32>,
    /// The predictors.
    pub predictors: Vec<String>,
    /// The tasks of each shard; here, one shard does all.
    pub shards: Vec<Vec<SimulationTask>>,
}

/// What a trace and some predictors came to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceCounts {
    /// Format and packing of the trace.
    pub format: String,
    /// Its branches.
    pub branches: u64,
    /// Its instructions; 0 where it does not tell them.
    pub instructions: u64,
    /// Branches that were predicted, by [`KINDS`].
    pub predicted: [u64; 3],
    /// Mispredictions of each predictor, by [`KINDS`].
    pub mispredicted: Vec<[u64; 3]>,
    /// Why the trace may not be what it seems.
    pub warning: Option<String>,
}

/// What became of a task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskOutcome {
    /// It was simulated.
    Simulated(TraceCounts),
    /// The trace could not be read to its end, for this reason.
    Broken(String),
}

/// What a shard did, as it is kept in its file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShardResult {
    /// The version that simulated.
    pub version: String,
    /// Each task and what became of it.
    pub outcomes: Vec<(SimulationTask, TaskOutcome)>,
}

/// A trace, once all is together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WholeTrace {
    /// All predictors, in the plan's order.
    Simulated(TraceCounts),
    /// It could not be read, for this reason.
    Broken(String),
    /// At least one of its tasks was not done.
    Missing,
}

/// How many shards are worth their start, of traces of these sizes.
///
/// Input: bytes of each trace as it lies there.
pub fn shards_worth(bytes: &[u64], predictors: usize) -> usize {
    let groups = predictors.div_ceil(GROUP).max(1);
    let whole = bytes.iter().sum::<u64>().saturating_mul(predictors as u64);
    let tasks = (bytes.len() * groups).max(1) as u64;
    whole.div_ceil(SHARD).clamp(1, SHARDS.min(tasks)) as usize
}

/// All tasks in `shards` shares of about the same work, at most as many as there are tasks: the largest task that is left goes to
/// the share that has least (Graham's LPT rule, at most 4/3 of the best there is). In a share the traces are in their order.
///
/// Input: bytes of each trace; a trace's branches are not known before it is read.
pub fn share_out(bytes: &[u64], predictors: usize, shards: usize) -> Vec<Vec<SimulationTask>> {
    let groups = predictors.div_ceil(GROUP).max(1);
    let in_group = |group: usize| (predictors - group * GROUP).min(GROUP) as u64;
    let all =
        (0..bytes.len()).flat_map(|trace| (0..groups).map(move |group| SimulationTask { trace, group }));
    let mut tasks: Vec<(u64, SimulationTask)> =
        all.map(|task| ((bytes[task.trace] + 1).saturating_mul(in_group(task.group)), task)).collect();
    tasks.sort_by_key(|(weight, task)| (Reverse(*weight), *task));
    let mut shares = vec![Vec::new(); shards.clamp(1, tasks.len().max(1))];
    let mut least: BinaryHeap<Reverse<(u64, usize)>> =
        (0..shares.len()).map(|share| Reverse((0, share))).collect();
    for (weight, task) in tasks {
        let Some(Reverse((load, share))) = least.pop() else { break };
        shares[share].push(task);
        least.push(Reverse((load.saturating_add(weight), share)));
    }
    shares.iter_mut().for_each(|share| share.sort_unstable());
    shares
}

impl SimulationPlan {
    /// Groups of predictors.
    pub fn groups(&self) -> usize {
        self.predictors.len().div_ceil(GROUP).max(1)
    }

    /// The predictors of a group.
    pub fn group(&self, group: usize) -> &[String] {
        self.predictors.chunks(GROUP).nth(group).unwrap_or_default()
    }
}

/// What has come together of a plan.
#[derive(Clone, Debug)]
pub struct Gathered {
    predictors: usize,
    groups: usize,
    /// By trace, then by group.
    outcomes: Vec<Option<TaskOutcome>>,
    repeated: u64,
}

impl Gathered {
    /// Nothing yet.
    pub fn new(plan: &SimulationPlan) -> Gathered {
        let groups = plan.groups();
        let outcomes = vec![None; groups * plan.traces.len()];
        Gathered { predictors: plan.predictors.len(), groups, outcomes, repeated: 0 }
    }

    /// Adds what a shard did. What is there already is counted once.
    ///
    /// # Errors
    /// It is of another plan, or contradicts what is there; in words, and the rest of the shard is left out.
    pub fn add(&mut self, found: ShardResult) -> Result<(), String> {
        found.outcomes.into_iter().try_for_each(|(task, outcome)| self.add_one(task, outcome))
    }

    fn add_one(&mut self, task: SimulationTask, outcome: TaskOutcome) -> Result<(), String> {
        if !self.is_asked(task, &outcome) {
            return Err("it is the result of another simulation".into());
        }
        let at = task.trace * self.groups + task.group;
        if let TaskOutcome::Simulated(counts) = &outcome {
            let of_trace = &self.outcomes[task.trace * self.groups..][..self.groups];
            let is_same = |other: &TraceCounts| {
                let facts =
                    |one: &TraceCounts| (one.format.clone(), one.branches, one.instructions, one.predicted);
                facts(other) == facts(counts)
            };
            let mut others = of_trace.iter().flatten();
            let differs =
                |other: &TaskOutcome| matches!(other, TaskOutcome::Simulated(other) if !is_same(other));
            if others.any(differs) {
                return Err(contradiction(task));
            }
        }
        let there = &mut self.outcomes[at];
        match (&*there, &outcome) {
            (None, _) => {
                *there = Some(outcome);
                return Ok(());
            }
            (Some(TaskOutcome::Simulated(one)), TaskOutcome::Simulated(other)) if one != other => {
                return Err(contradiction(task));
            }
            // One machine could read what another could not.
            (Some(TaskOutcome::Broken(_)), TaskOutcome::Simulated(_)) => *there = Some(outcome),
            _ => {}
        }
        self.repeated += 1;
        Ok(())
    }

    /// Whether there is such a task, with as many predictors.
    fn is_asked(&self, task: SimulationTask, outcome: &TaskOutcome) -> bool {
        let is_there = task.group < self.groups && task.trace < self.outcomes.len() / self.groups;
        let predictors = self.predictors.saturating_sub(task.group * GROUP).min(GROUP);
        is_there
            && !matches!(outcome, TaskOutcome::Simulated(counts) if counts.mispredicted.len() != predictors)
    }

    /// Tasks that were done more than once, or by two.
    pub fn repeated(&self) -> u64 {
        self.repeated
    }

    /// Tasks of which nothing is known.
    pub fn missing(&self) -> usize {
        self.outcomes.iter().filter(|outcome| outcome.is_none()).count()
    }

    /// A trace with all its predictors.
    ///
    /// Panics if there is no such trace.
    pub fn trace(&self, trace: usize) -> WholeTrace {
        let outcomes = &self.outcomes[trace * self.groups..][..self.groups];
        let mut whole: Option<TraceCounts> = None;
        let mut is_whole = true;
        for outcome in outcomes {
            match outcome {
                Some(TaskOutcome::Broken(why)) => return WholeTrace::Broken(why.clone()),
                None => is_whole = false,
                Some(TaskOutcome::Simulated(counts)) => match &mut whole {
                    None => whole = Some(counts.clone()),
                    Some(whole) => {
                        whole.mispredicted.extend(&counts.mispredicted);
                        whole.warning = whole.warning.take().or_else(|| counts.warning.clone());
                    }
                },
            }
        }
        whole.filter(|_| is_whole).map_or(WholeTrace::Missing, WholeTrace::Simulated)
    }
}

fn contradiction(task: SimulationTask) -> String {
    format!(
        "trace {} was simulated twice with different results: it was changed meanwhile, or a machine is faulty",
        task.trace + 1
    )
}

#[cfg(test)]
mod tests;
