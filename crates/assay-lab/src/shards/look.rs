//! What each shard of a question does, from who has its job and from its files. Nothing is changed.

use super::cluster::{Cluster, JobState};
use super::kept::{Shard, ShardedQuestion};
use super::simulation::{RESULT, is_simulation};
use crate::store::{Kept, KeptRow, Ledger};
use crate::view::budget_and_advance;
use assay_linux::private::PrivateFolder;
use assay_pure::ledger::Stopped;
use assay_report::status::{self, STATUS_SCHEMA, ShardProgress, ShardState, ShardStatus, StatusPage};
use std::io;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// The page of a question.
pub fn status(question: &ShardedQuestion, cluster: &dyn Cluster) -> StatusPage {
    let jobs: Vec<&str> = question.shards.iter().map(|shard| shard.job.as_str()).collect();
    // Before the files: a job that has left is then known by the end that it wrote.
    let states = cluster.look(&jobs);
    let shards = question.shards.iter().map(|shard| {
        let state = state(shard, states.get(&shard.job));
        shard_status(question, shard, state)
    });
    let shards: Vec<ShardStatus> = shards.collect();
    StatusPage {
        schema: STATUS_SCHEMA.into(),
        verb: question.verb.clone(),
        name: question.name.clone(),
        cluster: question.cluster.clone().into(),
        folder: question.place.display().to_string(),
        ledger: question.ledger.display().to_string(),
        budget_seconds: question.budget,
        seconds_left: status::seconds_left(&shards, question.budget),
        shards,
    }
}

/// What a verb leaves in a ledger.
pub fn kind_of(verb: &str) -> Kept {
    match verb.split(' ').next() {
        Some("compare") => Kept::Comparison,
        Some("sweep") => Kept::Sweep,
        Some("stages") => Kept::Diary,
        _ => Kept::Campaign,
    }
}

/// One shard in this state.
pub(super) fn shard_status(question: &ShardedQuestion, shard: &Shard, state: ShardState) -> ShardStatus {
    ShardStatus {
        kind: shard.feature.clone(),
        part: shard.part.as_ref().map(|part| part.name.clone()),
        job: shard.job.clone(),
        measured: measured(question, shard, state.is_over()),
        merged: if is_simulation(&question.verb) { shard.file(RESULT).exists() } else { shard.is_merged() },
        state,
    }
}

/// What a shard does, given what its job does; none: that is gone.
pub(super) fn state(shard: &Shard, job: Option<&JobState>) -> ShardState {
    match (shard.ended(), job) {
        (Some(0), _) => ShardState::Ended,
        (Some(code), _) => ShardState::Failed { code, reason: shard.failure(code) },
        (None, Some(JobState::Waiting(reason))) => ShardState::Waiting { reason: reason.clone() },
        (None, Some(JobState::Unknown(why))) => ShardState::Unknown { reason: why.clone() },
        (None, Some(JobState::Running(node))) => {
            ShardState::Running { node: node.clone(), since: since(shard) }
        }
        (None, None) if shard.file("cancelled").exists() => ShardState::Cancelled,
        (None, None) => ShardState::Lost { reason: shard.last_line() },
    }
}

/// Whether a shard has come to its end, whatever it found; what failed before that lacked a file, room or the right version.
pub(super) fn is_done(question: &ShardedQuestion, shard: &Shard) -> bool {
    match shard.ended() {
        None => false,
        Some(0) => true,
        Some(_) if is_simulation(&question.verb) => false,
        Some(_) => {
            let newest = Ledger::open_to_read(&shard.ledger()).and_then(|kept| newest(question, &kept));
            newest.is_ok_and(|row| {
                row.is_some_and(|row| row.stopped.is_some_and(|why| why != Stopped::Interrupted))
            })
        }
    }
}

/// What a shard's ledger was begun with last.
fn newest(question: &ShardedQuestion, ledger: &Ledger) -> anyhow::Result<Option<KeptRow>> {
    Ok(ledger.kept(kind_of(&question.verb))?.into_iter().next())
}

/// When its job began, by the clock of the shared folder: the machine's own may be wrong.
fn since(shard: &Shard) -> Option<f64> {
    let written = std::fs::metadata(shard.file("node")).and_then(|facts| facts.modified()).ok()?;
    Some(written.duration_since(UNIX_EPOCH).ok()?.as_secs_f64())
}

/// How far it has come; none: it has measured nothing, or its ledger cannot be read just now.
fn measured(question: &ShardedQuestion, shard: &Shard, is_over: bool) -> Option<ShardProgress> {
    let path = shard.ledger();
    if is_simulation(&question.verb) || !path.is_file() {
        return None;
    }
    let scratch = if is_over { None } else { Some(copied(&path).ok()?) };
    let ledger = match &scratch {
        Some(scratch) => Ledger::open_to_read(&scratch.path().join(COPY)).ok()?,
        None => Ledger::open_to_read(&path).ok()?,
    };
    let newest = newest(question, &ledger).ok()??;
    let (budget, advance) = budget_and_advance(&ledger, &newest).ok()?;
    Some(ShardProgress {
        rounds: advance.rounds,
        samples: advance.samples,
        seconds: advance.seconds,
        budget_seconds: budget.or(question.budget),
    })
}

/// Name of a copied ledger.
const COPY: &str = "ledger.db";

/// A copy of a ledger that another machine is writing to, byte by byte: SQLite shares an open ledger within one machine only. What
/// is torn, as it changed meanwhile, cannot be read, and is read at the next look.
fn copied(path: &Path) -> io::Result<PrivateFolder> {
    let scratch = PrivateFolder::new(&std::env::temp_dir(), "assay-look-")?;
    let copy = scratch.path().join(COPY);
    std::fs::copy(path, &copy)?;
    let log = |path: &Path| PathBuf::from(format!("{}-wal", path.display()));
    match std::fs::copy(log(path), log(&copy)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(scratch),
    }
}
