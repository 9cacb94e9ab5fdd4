//! Slurm, as its users speak to it: sbatch and squeue. What a site demands of a job (partition, account, time) is said as for
//! any other job, by sbatch's own variables such as `SBATCH_PARTITION`.

use crate::lead::Unable;
use anyhow::Result;
use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

/// One job.
#[derive(Clone, Copy, Debug)]
pub struct SlurmJob<'a> {
    /// As `squeue` shows it.
    pub name: &'a str,
    /// What the node must have: a feature, or an expression of them.
    pub feature: &'a str,
    /// Where the job's output goes.
    pub log: &'a Path,
    /// What a shell does on the node.
    pub script: &'a str,
}

/// What is under way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JobState {
    /// For this reason.
    Waiting(String),
    /// On this node.
    Running(String),
}

/// Hands a job in and returns its number. It gets a node of its own, and begins anew where the node fails.
///
/// # Errors
/// [`Unable`]: there is no Slurm, or it refuses the job.
pub fn submit(job: SlurmJob<'_>) -> Result<String> {
    let cannot = |why: String| Unable(format!("Slurm did not take the job for {}: {why}", job.feature));
    let mut sbatch = Command::new("sbatch");
    sbatch
        .args(["--parsable", "--exclusive", "--requeue", "--open-mode=append"])
        .arg(format!("--job-name={}", job.name))
        .arg(format!("--constraint={}", job.feature))
        .arg(format!("--output={}", job.log.display()))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = sbatch.spawn().map_err(|error| {
        Unable(format!(
            "cannot start sbatch ({error}): --on slurm is for a machine from which Slurm takes jobs"
        ))
    })?;
    if let Some(mut stdin) = child.stdin.take() {
        // One that ends before it has read all says why itself.
        let _ = stdin.write_all(job.script.as_bytes());
    }
    let ran = child.wait_with_output().map_err(|error| cannot(error.to_string()))?;
    if !ran.status.success() {
        return Err(cannot(String::from_utf8_lossy(&ran.stderr).trim().to_owned()).into());
    }
    let printed = String::from_utf8_lossy(&ran.stdout);
    number(&printed).ok_or_else(|| cannot(format!("sbatch printed `{}`", printed.trim())).into())
}

/// "12;cluster" is 12.
fn number(printed: &str) -> Option<String> {
    let number = printed.trim().split(';').next().unwrap_or_default();
    (!number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())).then(|| number.to_owned())
}

/// Takes a job back; one that has ended stays as it is.
pub fn cancel(number: &str) {
    let _ = Command::new("scancel").arg(number).stderr(Stdio::null()).status();
}

/// The user's jobs that have not ended, by their numbers.
///
/// # Errors
/// Slurm does not answer, in its own words: it may be starting again.
pub fn queue() -> Result<BTreeMap<String, JobState>, String> {
    let ran = Command::new("squeue").args(["--me", "--noheader", "--format=%i|%T|%r|%N"]).output();
    let ran = ran.map_err(|error| format!("squeue: {error}"))?;
    if !ran.status.success() {
        return Err(String::from_utf8_lossy(&ran.stderr).trim().to_owned());
    }
    Ok(String::from_utf8_lossy(&ran.stdout).lines().filter_map(state).collect())
}

fn state(line: &str) -> Option<(String, JobState)> {
    let mut words = line.trim().split('|');
    let (number, state, reason, node) = (words.next()?, words.next()?, words.next()?, words.next()?);
    let state = match state {
        "RUNNING" | "COMPLETING" | "STAGE_OUT" | "SUSPENDED" | "STOPPED" => {
            JobState::Running(node.to_owned())
        }
        _ => JobState::Waiting(reason.to_owned()),
    };
    Some((number.to_owned(), state))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_squeue_and_numbers_of_sbatch_are_read() {
        assert_eq!(state("7|PENDING|Resources|"), Some(("7".into(), JobState::Waiting("Resources".into()))));
        assert_eq!(state("8|RUNNING|None|n2"), Some(("8".into(), JobState::Running("n2".into()))));
        assert_eq!(state("slurm_load_jobs error"), None);
        assert_eq!(
            (number("12\n"), number("12;alpha"), number("refused")),
            (Some("12".into()), Some("12".into()), None)
        );
    }
}
