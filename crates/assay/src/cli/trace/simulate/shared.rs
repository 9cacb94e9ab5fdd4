//! A simulation on other machines: handed in, waited for, collected; and what the job of one shard does.

use super::{SimulateArguments, crew, page, show, threads};
use crate::cli::{DONE, FAILED, on, screen, version};
use anyhow::{Context, Result};
use assay_lab::lead::Misuse;
use assay_lab::shards::{self, ClusterName, Collected, SimulationRequest, Waited};
use assay_linux::{interrupt, lock, output};
use assay_pure::simulation::{ShardResult, SimulationPlan, shards_worth, share_out};
use assay_pure::words;
use assay_report::status::ShardState;
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::Path;

/// Where the folder of the jobs is made: where `assay status` looks.
const FOLDER: &str = ".assay/shards";
/// Shards of one reason that are named.
const NAMED: usize = 5;

/// Hands the jobs in, waits, and shows what they came to.
///
/// # Errors
/// As [`shards::submit_simulation`].
pub fn on_machines(
    arguments: &SimulateArguments,
    mut plan: SimulationPlan,
    bytes: &[u64],
    cluster: &ClusterName,
) -> Result<u8> {
    interrupt::catch();
    let predictors = plan.predictors.len();
    let shards = arguments.machines.shards.map_or_else(|| shards_worth(bytes, predictors), NonZeroUsize::get);
    plan.shards = share_out(bytes, predictors, shards);
    let tasks = plan.traces.len() * plan.groups();
    let asked = SimulationRequest {
        words: words_of(&plan),
        plan,
        cluster: cluster.clone(),
        features: arguments.machines.per.clone(),
        folder: FOLDER.into(),
        resume: arguments.machines.resume,
    };
    let mut tell = on::teller(arguments.quiet);
    let handed = shards::submit_simulation(&asked, &mut tell)?;
    let question = &handed.question;
    tell(&format!(
        "{} in {}; their files: {}",
        words::plural(tasks as u64, "task"),
        words::plural(question.shards.len() as u64, "job"),
        question.place.display()
    ));
    let mut collected = Collected::new(question)?;
    let ends = shards::wait(&handed, &mut |shard, _| collected.add(shard), &mut tell);
    collected.add_late(question);
    let page = page(&collected.plan, &collected.gathered)?;
    output::write(&question.ledger, page.to_json().as_bytes())
        .with_context(|| format!("writing {}", question.ledger.display()))?;
    show(arguments, &page);
    complain(&ends);
    Ok(if page.is_whole() { DONE } else { FAILED })
}

/// A simulation as words, by which it is known again.
fn words_of(plan: &SimulationPlan) -> Vec<String> {
    let mut words = plan.traces.clone();
    words.extend(["--predictor".to_owned(), plan.predictors.join(",")]);
    words.extend(plan.from.iter().map(|format| format!("--from={format}")));
    words.extend(plan.stream.iter().map(|stream| format!("--stream={stream}")));
    words
}

/// Says what became of the shards that left no result: of many, by their reasons.
fn complain(ends: &[Waited]) {
    let mut by_reason: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for one in ends {
        let job = &one.shard.job;
        let reason = match (&one.unmerged, &one.state) {
            (Some(unmerged), _) => format!("not counted: {}", unmerged.why),
            (None, ShardState::Ended) => continue,
            (None, ShardState::Failed { code, reason }) => format!("ended with {code}: {reason}"),
            (None, ShardState::Lost { reason }) => format!("gone, and did not end: {reason}"),
            (None, ShardState::Cancelled) => "cancelled".to_owned(),
            (None, _) => "not over yet; `assay status` shows the jobs, `assay cancel` ends them".to_owned(),
        };
        by_reason.entry(reason).or_default().push(format!("{} (job {job})", one.shard.title()));
    }
    for (reason, mut shards) in by_reason {
        let more = shards.len().saturating_sub(NAMED);
        shards.truncate(NAMED);
        if more > 0 {
            shards.push(format!("{more} more"));
        }
        screen::complain(&format!("assay: {}: {reason}", words::list(&shards)));
    }
}

/// Does the tasks of one shard, and leaves what they came to. A trace that cannot be read is a result.
///
/// # Errors
/// There is no such shard; its results cannot be written.
pub fn do_shard(arguments: &SimulateArguments, tasks: &Path, result: &Path) -> Result<u8> {
    let plan = shards::read_plan(tasks)?;
    let number = arguments.shard.number;
    let Some(shard) = plan.shards.get(number) else {
        return Err(Misuse(format!("{} has no shard {number}", tasks.display())).into());
    };
    let _turn = arguments.shard.turn.then(turn).transpose()?;
    let outcomes = crew::all(&plan, shard, threads(arguments), arguments.quiet)?;
    shards::write_result(result, &ShardResult { version: version::of_build(), outcomes })?;
    Ok(DONE)
}

/// Waits for other shards of this user on this machine: each uses all of its processors and memory for its traces.
fn turn() -> Result<std::fs::File> {
    let folder = lock::runtime_folder().context("cannot take turns with other simulations")?;
    let file = lock::open_own(&folder.join("assay-simulating.lock"))?;
    file.lock().context("cannot take turns with other simulations")?;
    Ok(file)
}
