//! What jobs on several machines do: the page of `assay status`, its terminal view, and the sentence that is told while they are
//! waited for.
//!
//! The JSON is an interface (schema "assay.status/1", `schema/status-1.schema.json`, generated from the types).

use super::ink::{Ink, Palette};
use super::sheet::Sheet;
use assay_pure::words;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The verb that simulates: its jobs measure nothing.
pub const SIMULATE: &str = "trace simulate";
/// The value of `schema`.
pub const STATUS_SCHEMA: &str = "assay.status/1";

/// Of more jobs than this, only those that run or did not end well are shown one by one, and at most so many.
const ROWS: usize = 20;

/// One question and its jobs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct StatusPage {
    /// Name and version of this format.
    pub schema: String,
    /// What is done on each machine: `run`, `compare`, `sweep`, `stages`, `trace simulate`.
    pub verb: String,
    /// The experiment's name, or what stands for it.
    pub name: String,
    /// Who has the jobs: `slurm`, or `ssh:` and a file of hosts.
    pub cluster: String,
    /// Where the jobs' files lie.
    pub folder: String,
    /// Where all is merged: a ledger, or the table of a simulation.
    pub ledger: String,
    /// Seconds of measuring that each job may take; absent where that is unknown before it begins.
    pub budget_seconds: Option<f64>,
    /// The jobs.
    pub shards: Vec<ShardStatus>,
    /// Seconds of measuring that may still come once every job has its machine; absent where the budget is unknown.
    pub seconds_left: Option<f64>,
}

/// One job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ShardStatus {
    /// The kind of machine that it needs; empty: any.
    pub kind: String,
    /// Which part of the question; absent where it is not shared out.
    pub part: Option<String>,
    /// Its name among the cluster's jobs.
    pub job: String,
    /// What it does.
    pub state: ShardState,
    /// How far it has come; absent before anything was measured.
    pub measured: Option<ShardProgress>,
    /// What it measured is in the ledger; of a simulation, its results are there to be collected.
    pub merged: bool,
}

/// What a job does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum ShardState {
    /// It waits for a machine.
    Waiting {
        /// In the cluster's words.
        reason: String,
    },
    /// It measures.
    Running {
        /// On this machine.
        node: String,
        /// Since when, Unix seconds; absent where it has only just begun.
        since: Option<f64>,
    },
    /// Nobody answers: it may go on.
    Unknown {
        /// Why.
        reason: String,
    },
    /// It came to its end.
    Ended,
    /// It ended with another code than 0.
    Failed {
        /// The exit code.
        code: u8,
        /// The first line of its last message.
        reason: String,
    },
    /// It was cancelled.
    Cancelled,
    /// It is gone, and nothing says how it ended.
    Lost {
        /// The last that it printed.
        reason: String,
    },
}

/// How far a job has come.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ShardProgress {
    /// Passes over what is measured.
    pub rounds: u64,
    /// Samples, or visits of a comparison.
    pub samples: u64,
    /// Seconds of measuring.
    pub seconds: f64,
    /// Seconds of measuring that it may take; absent where they are unknown.
    pub budget_seconds: Option<f64>,
}

impl ShardState {
    /// Whether nothing more comes of it.
    pub fn is_over(&self) -> bool {
        match self {
            Self::Waiting { .. } | Self::Running { .. } | Self::Unknown { .. } => false,
            Self::Ended | Self::Failed { .. } | Self::Cancelled | Self::Lost { .. } => true,
        }
    }

    /// "job 7 runs on n1".
    pub fn told(&self, job: &str) -> String {
        match self {
            Self::Waiting { reason } => format!("job {job} waits ({reason})"),
            Self::Running { node, .. } => format!("job {job} runs on {node}"),
            Self::Unknown { reason } => format!("job {job} may go on: {reason}"),
            Self::Ended => format!("job {job} ended"),
            Self::Failed { code, reason } => format!("job {job} ended with {code}: {reason}"),
            Self::Cancelled => format!("job {job} was cancelled"),
            Self::Lost { reason } => format!("job {job} is gone and did not end: {reason}"),
        }
    }

    fn ink(&self) -> Ink {
        match self {
            Self::Ended => Ink::Plain,
            Self::Waiting { .. } | Self::Running { .. } => Ink::Bold,
            _ => Ink::Doubt,
        }
    }
}

impl ShardStatus {
    /// "zen4", "zen4, input log".
    pub fn title(&self) -> String {
        self.part.as_ref().map_or_else(|| self.kind.clone(), |part| format!("{}, {part}", self.kind))
    }

    /// Seconds of measuring that may still come.
    fn left(&self, budget: Option<f64>) -> Option<f64> {
        if self.state.is_over() {
            return Some(0.0);
        }
        let (budget, seconds) = match &self.measured {
            Some(found) => (found.budget_seconds.or(budget)?, found.seconds),
            None => (budget?, 0.0),
        };
        Some((budget - seconds).max(0.0))
    }
}

/// Seconds of measuring that may still come once every job has its machine: machines measure at the same time, jobs on one after
/// each other. `budget` is of one that has not begun.
pub fn seconds_left(shards: &[ShardStatus], budget: Option<f64>) -> Option<f64> {
    let (mut by_node, mut most) = (BTreeMap::<&str, f64>::new(), 0.0_f64);
    for one in shards {
        let left = one.left(budget)?;
        match &one.state {
            ShardState::Running { node, .. } => *by_node.entry(node).or_default() += left,
            _ => most = most.max(left),
        }
    }
    Some(by_node.into_values().fold(most, f64::max))
}

/// "1 of 3 jobs is over, 1 waits for a machine; up to 40 s of measuring left".
pub fn whole(shards: &[ShardStatus], budget: Option<f64>) -> String {
    let count = |is_so: fn(&ShardState) -> bool| shards.iter().filter(|one| is_so(&one.state)).count() as u64;
    let all = shards.len() as u64;
    let over = count(ShardState::is_over);
    if over == all {
        let good = count(|state| *state == ShardState::Ended);
        let jobs = words::plural(all, "job");
        return match (good == all, all) {
            (true, 1) => "the job has ended".into(),
            (true, _) => format!("all {jobs} have ended"),
            (false, _) => format!("{jobs}: {good} came to the end, {} did not", all - good),
        };
    }
    let waiting = count(|state| matches!(state, ShardState::Waiting { .. }));
    let mut text = format!("{over} of {} over", words::plural(all, "job"));
    if waiting > 0 {
        text += &format!(", {waiting} waiting for a machine");
    }
    if let Some(left) = seconds_left(shards, budget) {
        let once = if waiting > 0 { ", from when the last one has a machine" } else { "" };
        text += &format!("; up to {} of measuring left{once}", words::duration(left));
    }
    text
}

impl StatusPage {
    /// The page as indented JSON with a newline at its end.
    pub fn to_json(&self) -> String {
        crate::json::written(self)
    }
}

/// The page for a terminal; `now` in seconds since 1970.
pub fn render_status(page: &StatusPage, now: f64, width: usize, palette: impl Into<Palette>) -> String {
    let mut sheet = Sheet::new(width, palette);
    let is = |wanted: fn(&ShardState) -> bool| page.shards.iter().any(|one| wanted(&one.state));
    let failed = is(|state| matches!(state, ShardState::Failed { .. }));
    let gone = is(|state| matches!(state, ShardState::Lost { .. } | ShardState::Cancelled));
    let unmerged = page.shards.iter().any(|one| one.state.is_over() && !one.merged && one.measured.is_some());
    let next = match (gone || failed, unmerged) {
        (true, _) if gone => Some("the same command with --resume hands in again what was lost or cancelled"),
        (true, _) => {
            Some("--resume does not try again what failed: mend it, and hand it in without --resume")
        }
        (false, true) => Some("the same command with --resume adds what has ended to the ledger"),
        (false, false) => None,
    };
    let whole = words::capital(&whole(&page.shards, page.budget_seconds));
    sheet.answer(&format!("{}: {whole}.", page.name), next);
    sheet.gap();
    let is_simulation = page.verb == SIMULATE;
    let is_shown = |one: &&ShardStatus| {
        page.shards.len() <= ROWS || !matches!(one.state, ShardState::Waiting { .. } | ShardState::Ended)
    };
    let shown: Vec<&ShardStatus> = page.shards.iter().filter(is_shown).take(ROWS).collect();
    let name = |one: &ShardStatus| if is_simulation { "shard".to_owned() } else { one.title() };
    let widest = shown.iter().map(|one| name(one).chars().count()).max().unwrap_or(0);
    for one in &shown {
        sheet.labelled(one.state.ink(), &format!("{:widest$}  ", name(one)), &line(one, now, is_simulation));
    }
    let hidden = (page.shards.len() - shown.len()) as u64;
    if hidden > 0 {
        let text = format!("{} not shown here; --json has all.", words::plural(hidden, "more job"));
        sheet.paragraph(Ink::Dim, "", &text);
    }
    sheet.gap();
    sheet.paragraph(Ink::Plain, "", &format!("Their files: {}", page.folder));
    sheet.into_text()
}

/// A job in a sentence.
fn line(one: &ShardStatus, now: f64, is_simulation: bool) -> String {
    let mut text = one.state.told(&one.job);
    if let ShardState::Running { since: Some(since), .. } = &one.state {
        text += &format!(", for {}", words::duration((now - since).max(0.0)));
    }
    if is_simulation {
        return text + if one.merged { "; its results are there" } else { "" };
    }
    text += &match &one.measured {
        None => "; nothing is measured yet".to_owned(),
        Some(found) => {
            let of = found
                .budget_seconds
                .map_or(String::new(), |budget| format!(" of {}", words::duration(budget)));
            let rounds = words::plural(found.rounds, "round");
            format!("; {rounds}, {}{of} of measuring", words::duration(found.seconds))
        }
    };
    match (one.merged, &one.measured) {
        (true, _) => text += "; in the ledger",
        (false, Some(_)) if one.state.is_over() => text += "; not in the ledger yet",
        _ => {}
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shard(kind: &str, state: ShardState, seconds: Option<f64>) -> ShardStatus {
        let measured = seconds.map(|seconds| ShardProgress {
            rounds: 3,
            samples: 1200,
            seconds,
            budget_seconds: Some(60.0),
        });
        let merged = state == ShardState::Ended;
        ShardStatus { kind: kind.into(), part: None, job: "7".into(), state, measured, merged }
    }

    fn running() -> ShardState {
        ShardState::Running { node: "n1".into(), since: Some(1000.0) }
    }

    fn waiting() -> ShardState {
        ShardState::Waiting { reason: "Resources".into() }
    }

    fn page(shards: Vec<ShardStatus>) -> StatusPage {
        StatusPage {
            schema: STATUS_SCHEMA.into(),
            verb: "run".into(),
            name: "sums".into(),
            cluster: "slurm".into(),
            folder: "/lab/shards/sums-1".into(),
            ledger: "/lab/ledger.db".into(),
            budget_seconds: Some(60.0),
            seconds_left: seconds_left(&shards, Some(60.0)),
            shards,
        }
    }

    #[test]
    fn the_schema_is_that_of_the_page() {
        let failed = ShardState::Failed { code: 3, reason: "no gcc".into() };
        let lost = ShardState::Lost { reason: "it printed nothing".into() };
        let unknown = ShardState::Unknown { reason: "no route".into() };
        let mut part = shard("zen4", running(), Some(20.0));
        part.part = Some("input log".into());
        let full = page(vec![
            part,
            shard("a", failed, None),
            shard("b", lost, Some(1.0)),
            shard("c", unknown, None),
            shard("d", ShardState::Cancelled, None),
            shard("e", ShardState::Ended, None),
            shard("f", waiting(), None),
        ]);
        crate::schema::assert_published(STATUS_SCHEMA, &[full], &[page(Vec::new())]);
    }

    #[test]
    fn each_job_is_told_with_its_machine_its_progress_and_what_is_left_of_the_whole() {
        let shown = page(vec![
            shard("zen4", running(), Some(20.0)),
            shard("skylake", ShardState::Ended, Some(60.0)),
            shard("arm", waiting(), None),
        ]);
        let text = render_status(&shown, 1090.0, 120, false);
        assert_eq!(
            text,
            "sums: 1 of 3 jobs over, 1 waiting for a machine; up to 1 min of measuring left, from when the last one has a \
             machine.\n\n\
             zen4     job 7 runs on n1, for 1 min 30 s; 3 rounds, 20 s of 1 min of measuring\n\
             skylake  job 7 ended; 3 rounds, 1 min of 1 min of measuring; in the ledger\n\
             arm      job 7 waits (Resources); nothing is measured yet\n\n\
             Their files: /lab/shards/sums-1\n"
        );
        assert_eq!(shown.seconds_left, Some(60.0));
        let ahead = render_status(&shown, 1000.0 - 3600.0, 120, false);
        assert!(
            ahead.contains("runs on n1, for 0") && !ahead.contains("for -"),
            "a clock that is ahead: {ahead}"
        );
    }

    #[test]
    fn of_a_thousand_jobs_of_a_simulation_those_are_shown_that_run_or_failed() {
        let state = |at: usize| match at {
            0..900 => ShardState::Ended,
            900..910 => running(),
            910 => ShardState::Lost { reason: "node failed".into() },
            _ => waiting(),
        };
        let shards = (0..1000).map(|at| ShardStatus { job: format!("7_{at}"), ..shard("", state(at), None) });
        let mut shown = page(shards.collect());
        (shown.verb, shown.budget_seconds) = ("trace simulate".into(), None);
        let text = render_status(&shown, 1090.0, 120, false);
        assert!(text.starts_with("sums: 901 of 1,000 jobs over, 89 waiting for a machine.\n"), "{text}");
        assert!(text.contains("\nshard  job 7_900 runs on n1, for 1 min 30 s\n"), "{text}");
        assert!(text.contains("\nshard  job 7_910 is gone and did not end: node failed\n"), "{text}");
        assert!(text.contains("989 more jobs not shown here; --json has all."), "{text}");
        assert!(text.lines().count() < 20 && text.contains("--resume hands in again"), "{text}");
    }

    #[test]
    fn what_is_left_is_unknown_where_a_budget_is_and_nothing_where_all_is_over() {
        let one = [shard("zen4", running(), Some(20.0)), shard("arm", waiting(), None)];
        assert_eq!(seconds_left(&one, None), None);
        assert_eq!(seconds_left(&one[..1], None), Some(40.0));
        let two = [shard("a", running(), Some(20.0)), shard("b", running(), None), one[1].clone()];
        assert_eq!(seconds_left(&two, Some(60.0)), Some(100.0), "on one machine, one after the other");
        let lost = [shard("zen4", ShardState::Cancelled, Some(20.0))];
        assert_eq!(seconds_left(&lost, None), Some(0.0));
        assert_eq!(whole(&lost, None), "1 job: 0 came to the end, 1 did not");
        let text = render_status(&page(lost.to_vec()), 0.0, 100, false);
        assert!(text.contains("--resume hands in again") && text.contains("not in the ledger yet"), "{text}");
        let failed = shard("zen4", ShardState::Failed { code: 3, reason: "no gcc".into() }, None);
        let text = render_status(&page(vec![failed]), 0.0, 100, false);
        assert!(text.contains("--resume does not try again what failed"), "{text}");
    }
}
