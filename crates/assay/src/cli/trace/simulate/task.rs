//! One trace through a group of predictors.

use super::super::info::nonsense;
use super::super::parse_format;
use super::super::read_so_far::ReadSoFar;
use super::super::walk::{TraceRange, walk_beside};
use assay_lab::lead::Misuse;
use assay_pure::predict::{Tally, Zoo};
use assay_pure::simulation::{KINDS, SimulationPlan, SimulationTask, TaskOutcome, TraceCounts};
use assay_pure::trace::Continuity;
use std::collections::BTreeMap;
use std::path::Path;

/// What is kept of a stream that is being read.
struct Going {
    zoo: Zoo,
    tally: Tally,
    continuity: Continuity,
}

/// Does a task. The predictors of the plan are known.
///
/// # Errors
/// [`Misuse`]: the plan names what there is not.
pub fn simulate(
    plan: &SimulationPlan,
    task: SimulationTask,
    so_far: &ReadSoFar,
) -> Result<TaskOutcome, Misuse> {
    let from = plan.from.as_deref().map(parse_format).transpose().map_err(Misuse)?;
    let names = plan.group(task.group);
    fresh(names)?;
    let asked = TraceRange { path: Path::new(&plan.traces[task.trace]), from, stream: plan.stream };
    Ok(match counted(asked, names, so_far) {
        Ok(counts) => TaskOutcome::Simulated(counts),
        Err(Misuse(why)) => TaskOutcome::Broken(why),
    })
}

fn fresh(names: &[String]) -> Result<Going, Misuse> {
    let zoo =
        Zoo::new(names).map_err(|unknown| Misuse(format!("{unknown} (`--predictor help` lists them)")))?;
    Ok(Going { zoo, tally: Tally::new(names.len()), continuity: Continuity::default() })
}

fn counted(asked: TraceRange, names: &[String], so_far: &ReadSoFar) -> Result<TraceCounts, Misuse> {
    let mut found = TraceCounts {
        format: String::new(),
        branches: 0,
        instructions: 0,
        predicted: [0; 3],
        mispredicted: vec![[0; 3]; names.len()],
        warning: None,
    };
    let mut going: BTreeMap<u32, Going> = BTreeMap::new();
    let mut group = None;
    let walked = walk_beside::<Misuse>(asked, so_far, |stored, batch, sites| {
        if batch.branches.is_empty() {
            return Ok(());
        }
        // Streams are read some at a time: those of the group before are complete.
        let now = batch.stream / assay_pure::trace::stored::LIVE;
        if group.replace(now).is_some_and(|before| before != now) {
            std::mem::take(&mut going).values().for_each(|going| add(&mut found, going));
        }
        let stream = match going.entry(batch.stream) {
            std::collections::btree_map::Entry::Occupied(entry) => entry.into_mut(),
            std::collections::btree_map::Entry::Vacant(entry) => entry.insert(fresh(names)?),
        };
        stream.zoo.observe(&batch.branches, &mut stream.tally);
        stream.continuity.observe(sites, &batch.branches, stored.format.longest_gap());
        Ok(())
    })?;
    going.values().for_each(|going| add(&mut found, going));
    found.format = walked.format.name().to_owned();
    walked.broken.map_or(Ok(found), Err)
}

fn add(found: &mut TraceCounts, going: &Going) {
    found.branches += going.tally.branches();
    found.instructions += going.tally.instructions;
    for (at, (kind, _)) in KINDS.iter().enumerate() {
        found.predicted[at] += going.tally.judged(*kind);
        for (sums, missed) in found.mispredicted.iter_mut().zip(going.tally.missed_of(*kind)) {
            sums[at] += missed;
        }
    }
    found.warning = found.warning.take().or_else(|| nonsense(&going.continuity));
}
