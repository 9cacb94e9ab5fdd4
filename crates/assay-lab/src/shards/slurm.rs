//! Slurm, as its users speak to it: sbatch, squeue, scancel. A job that measures gets a node of its own, one that computes a
//! processor; both begin again where the node fails. What a site demands of a job (partition, account, time) is said as for any other job, by sbatch's own variables such
//! as `SBATCH_PARTITION`.

use super::cluster::{Cluster, ClusterJob, JobState, Sight};
use crate::lead::{Misuse, Unable};
use anyhow::Result;
use assay_linux::session::apart;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::io::Write as _;
use std::process::{Command, Stdio};

/// The Slurm that this machine belongs to.
#[derive(Clone, Copy, Debug)]
pub struct Slurm;

/// What Slurm takes at most as one array where it does not say (slurm.conf, MaxArraySize).
const ARRAY: usize = 1001;

impl Slurm {
    fn sbatch(job: &ClusterJob<'_>, array: Option<&[usize]>) -> Result<String> {
        let path = job.log.to_string_lossy();
        let own = if array.is_some() { path.strip_suffix("%a.log").unwrap_or(&path) } else { &path };
        if own.contains(['%', '\\']) {
            return Err(Misuse(format!(
                "{}: Slurm reads `%` and `\\` in the path of a job's output as a pattern; keep what is written there in a folder \
                 without them",
                job.log.display()
            ))
            .into());
        }
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
        let mut child = apart(&mut sbatch).spawn().map_err(|error| {
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
        let job = printed.trim();
        match JobNumber::read(job) {
            Some(_) => Ok(job.to_owned()),
            None => Err(cannot(format!("sbatch printed `{job}`")).into()),
        }
    }
}

impl Cluster for Slurm {
    fn hand_in(&self, job: &ClusterJob<'_>) -> Result<String> {
        Slurm::sbatch(job, None)
    }

    fn array_size(&self) -> Option<usize> {
        let ran = apart(Command::new("scontrol").args(["show", "config"])).output();
        let said = ran.map(|ran| String::from_utf8_lossy(&ran.stdout).into_owned()).unwrap_or_default();
        let told = said.lines().find_map(array_size);
        // Of a site without arrays each job is handed in alone.
        Some(told.unwrap_or(ARRAY)).filter(|size| *size > 1)
    }

    fn hand_in_array(&self, job: &ClusterJob<'_>, numbers: &[usize]) -> Result<Vec<String>> {
        let name = Slurm::sbatch(job, Some(numbers))?;
        let array = JobNumber::read(&name).expect("sbatch's word was read");
        let of =
            |number: &usize| JobNumber { number: &format!("{}_{number}", array.number), ..array }.to_string();
        Ok(numbers.iter().map(of).collect())
    }

    fn look(&self, jobs: &[&str]) -> BTreeMap<String, JobState> {
        let (mut by_cluster, mut found) = (BTreeMap::<Option<&str>, Vec<&str>>::new(), BTreeMap::new());
        for job in jobs.iter().filter_map(|job| JobNumber::read(job)) {
            by_cluster.entry(job.cluster).or_default().push(job.number);
        }
        for (cluster, numbers) in by_cluster {
            let queue = queue(cluster, &numbers);
            for number in numbers {
                let state = match &queue {
                    Ok(queue) => queue.get(number).cloned(),
                    // It may be starting again.
                    Err(why) => Some(JobState::Unknown(format!("Slurm does not answer: {why}"))),
                };
                found.extend(state.map(|state| (JobNumber { number, cluster }.to_string(), state)));
            }
        }
        found
    }

    fn cancelled_by(&self, job: &str) -> String {
        let known = JobNumber::read(job);
        known.map_or(job.to_owned(), |known| JobNumber { number: known.array(), ..known }.to_string())
    }

    fn cancel(&self, job: &str) -> Result<(), String> {
        // A word of another form would be an option: of all of the user's jobs.
        let Some(known) = JobNumber::read(job) else {
            return Err(format!("`{job}` is no number of a job"));
        };
        let mut scancel = Command::new("scancel");
        scancel.args(known.of_cluster()).arg(known.number);
        let ran = apart(&mut scancel).output().map_err(|error| format!("scancel: {error}"))?;
        let said = String::from_utf8_lossy(&ran.stderr).trim().to_owned();
        // A number that is no longer known has ended.
        if ran.status.success() || said.contains(NO_JOB) { Ok(()) } else { Err(said) }
    }
}

/// What Slurm says of a number that it has forgotten.
const NO_JOB: &str = "Invalid job id";

/// A job as sbatch names it: "12", or "12;alpha" of one of several clusters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct JobNumber<'a> {
    number: &'a str,
    cluster: Option<&'a str>,
}

impl<'a> JobNumber<'a> {
    fn read(text: &'a str) -> Option<JobNumber<'a>> {
        let (number, cluster) = match text.split_once(';') {
            Some((number, cluster)) => (number, Some(cluster)),
            None => (text, None),
        };
        let is_name = |name: &str| {
            let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
            name.bytes().all(is_letter) && name.as_bytes().first().is_some_and(u8::is_ascii_alphanumeric)
        };
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        // "12_4" is the job 4 of the array 12.
        let is_job = number
            .split_once('_')
            .map_or_else(|| is_number(number), |(array, job)| is_number(array) && is_number(job));
        (is_job && cluster.is_none_or(is_name)).then_some(JobNumber { number, cluster })
    }

    /// The number of its array, or its own.
    fn array(&self) -> &'a str {
        self.number.split('_').next().unwrap_or_default()
    }

    fn of_cluster(&self) -> Option<String> {
        of_cluster(self.cluster)
    }
}

impl fmt::Display for JobNumber<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.cluster {
            Some(cluster) => write!(f, "{};{cluster}", self.number),
            None => f.write_str(self.number),
        }
    }
}

fn of_cluster(cluster: Option<&str>) -> Option<String> {
    cluster.map(|name| format!("--clusters={name}"))
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

/// Those of these jobs that have not ended, by their numbers, whoever handed them in.
fn queue(cluster: Option<&str>, numbers: &[&str]) -> Result<BTreeMap<String, JobState>, String> {
    let mut squeue = Command::new("squeue");
    squeue.args(of_cluster(cluster)).args(["--noheader", "--array", "--format=%i|%T|%r|%N"]);
    // Arrays are asked for as a whole: a line has no room for thousands of their jobs.
    let arrays: BTreeSet<&str> = numbers.iter().map(|number| JobNumber { number, cluster }.array()).collect();
    squeue.arg(format!("--jobs={}", arrays.into_iter().collect::<Vec<_>>().join(",")));
    let ran = apart(&mut squeue).output().map_err(|error| format!("squeue: {error}"))?;
    if ran.status.success() {
        return Ok(String::from_utf8_lossy(&ran.stdout).lines().filter_map(state).collect());
    }
    let said = String::from_utf8_lossy(&ran.stderr).trim().to_owned();
    // Of one job that it has forgotten, it says so; of several, nothing.
    if said.contains(NO_JOB) { Ok(BTreeMap::new()) } else { Err(said) }
}

fn state(line: &str) -> Option<(String, JobState)> {
    let mut words = line.trim().split('|');
    let (number, state, reason, node) = (words.next()?, words.next()?, words.next()?, words.next()?);
    let state = match state {
        "RUNNING" | "COMPLETING" | "STAGE_OUT" | "SUSPENDED" | "STOPPED" => {
            JobState::Running(node.to_owned())
        }
        // Jobs that are asked for by number may be shown for a while after their end.
        "BOOT_FAIL" | "CANCELLED" | "COMPLETED" | "DEADLINE" | "FAILED" | "NODE_FAIL" | "OUT_OF_MEMORY"
        | "PREEMPTED" | "REVOKED" | "TIMEOUT" => return None,
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
        assert_eq!(state("9|COMPLETED|None|n2"), None);
        for hostile in ["-u me", "--me", "", "7;--me", "7;", "7; a"] {
            assert!(Slurm.cancel(hostile).unwrap_err().contains("is no number of a job"));
        }
        let number = |number, cluster| Some(JobNumber { number, cluster });
        assert_eq!(JobNumber::read("12"), number("12", None));
        assert_eq!(JobNumber::read("12;alpha"), number("12", Some("alpha")));
        assert_eq!(JobNumber::read("12;alpha").unwrap().to_string(), "12;alpha");
        assert_eq!(JobNumber::read("refused"), None);
        assert_eq!(JobNumber::read("12_4;alpha"), number("12_4", Some("alpha")));
        assert_eq!(JobNumber::read("12_"), None);
        assert_eq!(
            state("9_4|PENDING|Priority|"),
            Some(("9_4".into(), JobState::Waiting("Priority".into())))
        );
        let by = |job: &str| Slurm.cancelled_by(job);
        assert_eq!((by("9_4"), by("7"), by("9_4;alpha")), ("9".into(), "7".into(), "9;alpha".into()));
    }

    #[test]
    fn numbers_of_an_array_are_written_as_ranges_and_its_largest_size_is_read() {
        assert_eq!(ranges(&[0, 1, 2, 3, 7, 9, 10]), "0-3,7,9-10");
        assert_eq!(ranges(&[5]), "5");
        assert_eq!(array_size("MaxArraySize            = 1001"), Some(1001));
        assert_eq!(array_size("MaxJobCount             = 10000"), None);
    }
}
