//! Slurm, as its users speak to it: sbatch, squeue, scancel. A job that measures gets a node of its own, one that computes a
//! processor; both begin again where the node fails. What a site demands of a job (partition, account, time) is said as for any other job, by sbatch's own variables such
//! as `SBATCH_PARTITION`.

use super::cluster::{Cluster, ClusterJob, JobState, Sight};
use crate::lead::Unable;
use anyhow::Result;
use std::collections::BTreeMap;
use std::io::Write as _;
use std::process::{Command, Stdio};

/// The Slurm that this machine belongs to.
#[derive(Clone, Copy, Debug)]
pub struct Slurm;

/// What Slurm takes at most as one array where it does not say (slurm.conf, MaxArraySize).
const ARRAY: usize = 1001;

impl Slurm {
    fn sbatch(job: &ClusterJob<'_>, array: Option<&[usize]>) -> Result<String> {
        let kind = if job.feature.is_empty() { job.name } else { job.feature };
        let cannot = |why: String| Unable(format!("Slurm did not take the job for {kind}: {why}"));
        let mut sbatch = Command::new("sbatch");
        sbatch
            .args(["--parsable", "--requeue", "--open-mode=append"])
            .args(if job.alone { &["--exclusive"][..] } else { &["--ntasks=1", "--cpus-per-task=1"] })
            .args(array.map(|numbers| format!("--array={}", ranges(numbers))))
            .arg(format!("--job-name={}", job.name))
            .args((!job.feature.is_empty()).then(|| format!("--constraint={}", job.feature)))
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
            let _ = stdin.write_all((job.script)(&Sight::default()).as_bytes());
        }
        let ran = child.wait_with_output().map_err(|error| cannot(error.to_string()))?;
        if !ran.status.success() {
            return Err(cannot(String::from_utf8_lossy(&ran.stderr).trim().to_owned()).into());
        }
        let printed = String::from_utf8_lossy(&ran.stdout);
        number(&printed).ok_or_else(|| cannot(format!("sbatch printed `{}`", printed.trim())).into())
    }
}

impl Cluster for Slurm {
    fn hand_in(&self, job: &ClusterJob<'_>) -> Result<String> {
        Slurm::sbatch(job, None)
    }

    fn array_size(&self) -> Option<usize> {
        let ran = Command::new("scontrol").args(["show", "config"]).output();
        let said = ran.map(|ran| String::from_utf8_lossy(&ran.stdout).into_owned()).unwrap_or_default();
        let told = said.lines().find_map(array_size);
        // Of a site without arrays each job is handed in alone.
        Some(told.unwrap_or(ARRAY)).filter(|size| *size > 1)
    }

    fn hand_in_array(&self, job: &ClusterJob<'_>, numbers: &[usize]) -> Result<Vec<String>> {
        let name = Slurm::sbatch(job, Some(numbers))?;
        Ok(numbers.iter().map(|number| format!("{name}_{number}")).collect())
    }

    fn look(&self, jobs: &[&str]) -> BTreeMap<String, JobState> {
        let queue = queue();
        let known = jobs.iter().filter_map(|job| match &queue {
            Ok(queue) => Some(((*job).to_owned(), queue.get(*job)?.clone())),
            // It may be starting again.
            Err(why) => Some(((*job).to_owned(), JobState::Unknown(format!("Slurm does not answer: {why}")))),
        });
        known.collect()
    }

    fn cancelled_by<'j>(&self, job: &'j str) -> &'j str {
        job.split('_').next().unwrap_or_default()
    }

    fn cancel(&self, job: &str) -> Result<(), String> {
        // A word of another form would be an option: of all of the user's jobs.
        if number(job).as_deref() != Some(job) {
            return Err(format!("`{job}` is no number of a job"));
        }
        let ran = Command::new("scancel").arg(job).output().map_err(|error| format!("scancel: {error}"))?;
        let said = String::from_utf8_lossy(&ran.stderr).trim().to_owned();
        // A number that is no longer known has ended.
        if ran.status.success() || said.contains("Invalid job id") { Ok(()) } else { Err(said) }
    }
}

/// "12;cluster" is 12.
fn number(printed: &str) -> Option<String> {
    let number = printed.trim().split(';').next().unwrap_or_default();
    (!number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())).then(|| number.to_owned())
}

/// "0-3,7" of 0, 1, 2, 3 and 7.
fn ranges(numbers: &[usize]) -> String {
    let follows = |pair: &usize, next: &usize| *next == pair + 1;
    let runs = numbers.chunk_by(follows).map(|run| match run {
        [first, .., last] => format!("{first}-{last}"),
        _ => run[0].to_string(),
    });
    runs.collect::<Vec<_>>().join(",")
}

/// The size in a line of `scontrol show config`.
fn array_size(line: &str) -> Option<usize> {
    let (name, size) = line.split_once('=')?;
    if name.trim() == "MaxArraySize" { size.trim().parse().ok() } else { None }
}

/// The user's jobs that have not ended, by their numbers.
fn queue() -> Result<BTreeMap<String, JobState>, String> {
    let ran = Command::new("squeue").args(["--me", "--noheader", "--array", "--format=%i|%T|%r|%N"]).output();
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
        for hostile in ["-u me", "--me", "", "7;alpha"] {
            assert!(Slurm.cancel(hostile).unwrap_err().contains("is no number of a job"));
        }
        assert_eq!(
            state("9_4|PENDING|Priority|"),
            Some(("9_4".into(), JobState::Waiting("Priority".into())))
        );
        assert_eq!((Slurm.cancelled_by("9_4"), Slurm.cancelled_by("7")), ("9", "7"));
        assert_eq!(
            (number("12\n"), number("12;alpha"), number("refused")),
            (Some("12".into()), Some("12".into()), None)
        );
    }

    #[test]
    fn numbers_of_an_array_are_written_as_ranges_and_its_largest_size_is_read() {
        assert_eq!(ranges(&[0, 1, 2, 3, 7, 9, 10]), "0-3,7,9-10");
        assert_eq!(ranges(&[5]), "5");
        assert_eq!(array_size("MaxArraySize            = 1001"), Some(1001));
        assert_eq!(array_size("MaxJobCount             = 10000"), None);
    }
}
