//! Waiting for shards: each is merged as it ends, also what was measured by one that did not end well. And ending them before
//! their time.

use super::HandedIn;
use super::cluster::JobState;
use super::kept::{Shard, ShardedQuestion};
use super::look;
use crate::store::Ledger;
use anyhow::{Context, Result};
use assay_linux::interrupt;
use assay_pure::words;
use assay_report::status::{self, ShardState};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// How often the cluster is asked; ends are looked for every second.
const ASKED: Duration = Duration::from_secs(5);
/// For so long it is asked every second, so that a short job is seen on its machine before it has ended.
const YOUNG: Duration = Duration::from_secs(30);
/// How often it is told what is left, where nothing else is.
const TOLD: Duration = Duration::from_secs(30);
/// A job that ended is gone a little before its last file is seen on another machine.
const GRACE: Duration = Duration::from_secs(15);
/// How long a job that was cancelled may take to end.
const ENDING: Duration = Duration::from_secs(60);
/// Of more shards than this only their numbers are told while they are waited for.
const FEW: usize = 20;

/// Adds what a shard left to where all is merged, and says why not, if it could not all be added. Told of each shard once it is over.
pub type AddShard<'a> = dyn FnMut(&Shard, &mut dyn FnMut(&str)) -> Option<Unmerged> + 'a;

/// What became of a shard.
#[derive(Clone, Debug, PartialEq)]
pub struct Waited {
    /// Which.
    pub shard: Shard,
    /// How it stood at last: what is not over was under way when the user interrupted.
    pub state: ShardState,
    /// Why not all that it measured could be added.
    pub unmerged: Option<Unmerged>,
}

/// Why a shard's ledger was not added.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unmerged {
    /// In words.
    pub why: String,
    /// Another version measured it: the user may add it.
    pub is_foreign: bool,
}

impl Waited {
    fn is_over(&self) -> bool {
        self.state.is_over()
    }
}

/// One shard while it is waited for.
struct Waiting {
    now: Waited,
    /// Since when its job is gone, if nothing says how it ended.
    missing: Option<Instant>,
}

/// Waits until all are over, and adds each as it is.
pub fn wait(handed: &HandedIn, add: &mut AddShard<'_>, tell: &mut dyn FnMut(&str)) -> Vec<Waited> {
    let question = &handed.question;
    let is_few = question.shards.len() <= FEW;
    let start = |shard: &Shard| Waiting {
        now: Waited {
            shard: shard.clone(),
            state: ShardState::Waiting { reason: "just handed in".into() },
            unmerged: None,
        },
        missing: None,
    };
    let mut all: Vec<Waiting> = question.shards.iter().map(start).collect();
    let (began, mut told) = (Instant::now(), Instant::now());
    let mut asked = None::<Instant>;
    while all.iter().any(|one| !one.now.is_over()) && !interrupt::asked() {
        let open = || all.iter().filter(|one| !one.now.is_over());
        let mut news = false;
        let ends = question.ends();
        let has_ended = open().any(|one| ends.contains(&one.now.shard.stem));
        if has_ended || asked.is_none_or(|last| began.elapsed() < YOUNG || last.elapsed() >= ASKED) {
            let jobs: Vec<&str> = open().map(|one| one.now.shard.job.as_str()).collect();
            // Those that have ended are told by their files.
            let states = if has_ended { None } else { Some(handed.cluster.look(&jobs)) };
            for one in all.iter_mut().filter(|one| !one.now.is_over()) {
                if states.is_none() && !ends.contains(&one.now.shard.stem) {
                    continue;
                }
                let is_new = one.look(states.as_ref());
                if is_new && is_few {
                    tell(&format!("{}: {}", one.now.shard.title(), one.now.state.told(&one.now.shard.job)));
                    news = true;
                }
                if one.now.is_over() {
                    one.now.unmerged = add(&one.now.shard, tell);
                }
            }
            if states.is_some() {
                asked = Some(Instant::now());
            }
        }
        let is_open = all.iter().any(|one| !one.now.is_over());
        if is_open && (news || told.elapsed() >= TOLD) {
            tell(&left(question, &all));
            told = Instant::now();
        }
        if is_open {
            std::thread::sleep(Duration::from_secs(1));
        }
    }
    all.into_iter().map(|one| one.now).collect()
}

fn left(question: &ShardedQuestion, all: &[Waiting]) -> String {
    let status = |one: &Waiting| look::shard_status(question, &one.now.shard, one.now.state.clone());
    status::whole(&all.iter().map(status).collect::<Vec<_>>(), question.budget)
}

impl Waiting {
    /// Looks again, at the files alone if nobody was asked; whether there is something new.
    fn look(&mut self, jobs: Option<&BTreeMap<String, JobState>>) -> bool {
        let shard = &self.now.shard;
        let state = look::state(shard, jobs.and_then(|jobs| jobs.get(&shard.job)));
        if matches!(state, ShardState::Lost { .. }) {
            if self.missing.get_or_insert_with(Instant::now).elapsed() < GRACE {
                return false;
            }
        } else {
            self.missing = None;
        }
        let is_new = state.told(&shard.job) != self.now.state.told(&shard.job);
        self.now.state = state;
        is_new
    }
}

/// What adds each shard's ledger to the user's.
pub fn to_ledger<'a>(ledger: &'a Ledger, question: &'a ShardedQuestion) -> Box<AddShard<'a>> {
    Box::new(move |shard, tell| merge(ledger, question, shard, tell))
}

/// Adds what a shard measured, however it ended. Returns why not all of it could be added.
fn merge(
    ledger: &Ledger,
    question: &ShardedQuestion,
    shard: &Shard,
    tell: &mut dyn FnMut(&str),
) -> Option<Unmerged> {
    let path = shard.ledger();
    if !path.is_file() {
        return None;
    }
    let unmerged = |why: String, is_foreign| Some(Unmerged { why, is_foreign });
    // Before it is read: it may end meanwhile.
    let stage = shard.stage();
    match foreign(&path, question) {
        Ok(None) => {}
        Ok(Some(why)) => return unmerged(why, true),
        Err(error) => return unmerged(format!("{error:#}"), false),
    }
    let merged = match ledger.merge(&path) {
        Ok(merged) if !merged.diverged.is_empty() => {
            return unmerged("it was continued in your ledger, too".to_owned(), false);
        }
        Ok(merged) => merged,
        Err(error) => return unmerged(format!("{error:#}"), false),
    };
    // Comparisons have visits instead.
    let what =
        if merged.samples > 0 { words::plural(merged.samples, "sample") } else { "its ledger is".into() };
    tell(&format!("{}: {what} added", shard.title()));
    if let Err(error) = shard.mark_merged(stage) {
        tell(&format!("{}: cannot note that it was added: {error}", shard.title()));
    }
    None
}

/// What another version measured, in words: its samples may mean something else.
fn foreign(path: &std::path::Path, question: &ShardedQuestion) -> Result<Option<String>> {
    let ours = question.version.lines().next().unwrap_or_default().trim_start_matches("assay ");
    let ledger = Ledger::open_to_read(path).with_context(|| format!("reading {}", path.display()))?;
    let versions = ledger.versions()?;
    let other = versions.iter().find(|version| *version != ours);
    Ok(other.map(|other| format!("it was measured by assay {other}, not by {ours}, and is not added")))
}

/// Ends all jobs that have not ended, and adds what they left.
///
/// # Errors
/// A job cannot be marked: the folder cannot be written.
pub fn cancel(handed: &HandedIn, add: &mut AddShard<'_>, tell: &mut dyn FnMut(&str)) -> Result<Vec<Waited>> {
    let question = &handed.question;
    let ends = question.ends();
    let open: Vec<&Shard> = question.shards.iter().filter(|shard| !ends.contains(&shard.stem)).collect();
    let mut by_job: BTreeMap<String, Vec<&Shard>> = BTreeMap::new();
    for shard in &open {
        let mark = shard.file("cancelled");
        std::fs::write(&mark, "").with_context(|| format!("writing {}", mark.display()))?;
        by_job.entry(handed.cluster.cancelled_by(&shard.job)).or_default().push(shard);
    }
    let mut ending = Vec::new();
    for (job, shards) in &by_job {
        if let Err(why) = handed.cluster.cancel(job) {
            // They go on, and come to their own end.
            for shard in shards {
                let _ = std::fs::remove_file(shard.file("cancelled"));
                tell(&format!("{}: job {} is not cancelled: {why}", shard.title(), shard.job));
            }
        } else {
            ending.extend(shards.iter().map(|shard| shard.job.as_str()));
        }
    }
    let begun = Instant::now();
    // What is merged must not be written to any more.
    while !handed.cluster.look(&ending).is_empty() && begun.elapsed() < ENDING && !interrupt::asked() {
        std::thread::sleep(Duration::from_millis(500));
    }
    let jobs: Vec<&str> = open.iter().map(|shard| shard.job.as_str()).collect();
    let states = handed.cluster.look(&jobs);
    let all = question.shards.iter().map(|shard| {
        let state = look::state(shard, states.get(&shard.job));
        let unmerged = if state.is_over() { add(shard, tell) } else { None };
        Waited { shard: shard.clone(), state, unmerged }
    });
    Ok(all.collect())
}
