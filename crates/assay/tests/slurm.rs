//! `assay run --on slurm` by the binary, with a real Slurm where one is installed: a controller and two nodes of different
//! features on this machine, all of this test's own.

use super::robust::lab::{Lab, Running, Said, can_run};
use super::simulate;
use std::collections::BTreeSet;
use std::fs::Permissions;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// What a cluster of one's own takes.
const PROGRAMS: [&str; 5] = ["munged", "slurmctld", "slurmd", "sbatch", "squeue"];

fn is_root() -> bool {
    std::fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0)
}

/// A controller and two nodes; they end with the test.
struct Cluster {
    lab: Lab,
    folder: PathBuf,
}

impl Cluster {
    fn start(name: &str) -> Option<Cluster> {
        if let Some(missing) = PROGRAMS.iter().find(|program| !can_run(program)) {
            eprintln!("skipped: {missing} is not installed (Debian: slurm-wlm)");
            return None;
        }
        if !is_root() {
            eprintln!("skipped: a cluster of one's own takes root");
            return None;
        }
        let lab = Lab::with_program("#include \"good.c\"\n", &["plain", "backward"])?;
        lab.edit(|text| text.replace("budget = 5", "budget = 1"));
        let folder = lab.file(name);
        std::fs::create_dir_all(folder.join("state")).expect("a folder");
        let cluster = Cluster { lab, folder };
        std::fs::write(cluster.conf(), cluster.configuration()).expect("its configuration");
        if let Err(why) = cluster.come_up() {
            eprintln!("skipped: this machine runs no Slurm: {why}");
            return None;
        }
        Some(cluster)
    }

    /// What signs the messages of this cluster alone.
    fn start_munge(&self) -> Result<(), String> {
        let key = self.folder.join("munge.key");
        std::fs::write(&key, [7; 128]).expect("a key");
        std::fs::set_permissions(&key, Permissions::from_mode(0o400)).expect("it is private");
        let word = |name: &str, file: &str| format!("--{name}={}", self.folder.join(file).display());
        let words = [
            "--force".to_owned(),
            word("key-file", "munge.key"),
            word("socket", "munge.socket"),
            word("pid-file", "munged.pid"),
            word("log-file", "munged.log"),
            word("seed-file", "munge.seed"),
        ];
        self.spawn("munged", &words.each_ref().map(String::as_str))
    }

    fn conf(&self) -> PathBuf {
        self.folder.join("slurm.conf")
    }

    /// Ports follow from the process and the number of its clusters, so that two tests do not meet.
    fn configuration(&self) -> String {
        static CLUSTERS: AtomicU32 = AtomicU32::new(0);
        let host = self.host();
        let port = 20_000 + std::process::id() % 1_000 * 40 + CLUSTERS.fetch_add(1, Ordering::Relaxed) * 4;
        let at = self.folder.display();
        format!(
            "ClusterName=t\nSlurmctldHost={host}(127.0.0.1)\nSlurmUser=root\nSlurmctldPort={port}\nAuthType=auth/munge\nAuthInfo=socket={at}/munge.socket\n\
             StateSaveLocation={at}/state\nSlurmdSpoolDir={at}/spool-%n\nSlurmctldPidFile={at}/slurmctld.pid\n\
             SlurmdPidFile={at}/slurmd-%n.pid\nSlurmctldLogFile={at}/ctld.log\nSlurmdLogFile={at}/%n.log\n\
             ProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\nSelectType=select/cons_tres\nMpiDefault=none\n\
             ReturnToService=2\nMaxArraySize=6\nSlurmdParameters=config_overrides\nSlurmctldTimeout=10\nKillWait=2\n\
             NodeName=n1 NodeHostname={host} NodeAddr=127.0.0.1 Port={} CPUs=2 Feature=zen3\n\
             NodeName=n2 NodeHostname={host} NodeAddr=127.0.0.1 Port={} CPUs=2 Feature=skylake\n\
             PartitionName=all Nodes=n1,n2 Default=YES MaxTime=INFINITE State=UP\n",
            port + 1,
            port + 2
        )
    }

    /// What is judged is assay, not whether Slurm runs here.
    fn come_up(&self) -> Result<(), String> {
        self.start_munge()?;
        self.spawn("slurmctld", &[])?;
        self.spawn("slurmd", &["-N", "n1"])?;
        self.spawn("slurmd", &["-N", "n2"])?;
        let deadline = Instant::now() + Duration::from_secs(60);
        while self.said("sinfo", &["-h", "-o", "%T"]).trim() != "idle" {
            if Instant::now() > deadline {
                return Err(format!("its nodes are {}", self.said("sinfo", &["-h", "-o", "%T %E"]).trim()));
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        Ok(())
    }

    fn host(&self) -> String {
        let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        name.trim().split('.').next().unwrap_or_default().to_owned()
    }

    fn spawn(&self, program: &str, words: &[&str]) -> Result<(), String> {
        let status = Command::new(program).env("SLURM_CONF", self.conf()).args(words).status();
        match status {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => Err(format!("{program}: {status}")),
            Err(error) => Err(format!("{program}: {error}")),
        }
    }

    fn said(&self, program: &str, words: &[&str]) -> String {
        let ran = Command::new(program).env("SLURM_CONF", self.conf()).args(words).output().expect("it runs");
        String::from_utf8_lossy(&ran.stdout).into_owned()
    }

    fn wait(&self, what: &str, is_so: impl Fn() -> bool) {
        let deadline = Instant::now() + Duration::from_secs(180);
        while !is_so() {
            assert!(Instant::now() < deadline, "waited in vain for {what}");
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    fn run(&self, words: &[&str]) -> Running {
        let mut command = self.lab.command("run", &[&["experiment.toml", "--on", "slurm"], words].concat());
        command.env("SLURM_CONF", self.conf());
        Running::start(command)
    }

    fn stop(&self, name: &str) {
        let Ok(number) = std::fs::read_to_string(self.folder.join(name)) else { return };
        let _ = Command::new("kill").args(["-9", number.trim()]).status();
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        self.said("scancel", &["--me"]);
        for name in ["slurmctld.pid", "slurmd-n1.pid", "slurmd-n2.pid", "munged.pid"] {
            self.stop(name);
        }
    }
}

fn shards(folder: &Path, ending: &str) -> usize {
    let all = std::fs::read_dir(folder.join("shards")).into_iter().flatten().flatten();
    let files = all.flat_map(|one| std::fs::read_dir(one.path()).into_iter().flatten().flatten());
    files.filter(|file| file.path().extension().is_some_and(|found| found == ending)).count()
}

#[test]
fn each_kind_of_machine_measures_and_all_is_in_one_ledger() {
    let Some(cluster) = Cluster::start("whole") else { return };
    let said: Said = cluster.run(&["--per", "zen3,skylake"]).wait();
    said.assert_code(0);
    assert!(said.page.contains("experiment on 2 kinds of machine"), "{said:?}");
    for word in ["zen3: job", "runs on n1", "runs on n2", "samples added"] {
        said.assert_errors(&[word]);
    }
    assert_eq!(cluster.lab.count("SELECT count(*) FROM campaign WHERE finished_at IS NOT NULL"), 2);
    cluster.lab.assert_ledger_is_whole();
    let folder = cluster.lab.ledger_path().parent().expect("a folder").to_owned();
    assert_eq!(shards(&folder, "end"), 2);
    // Half of what was asked for is not measured.
    let half = cluster.run(&["--per", "zen3,nowhere"]).wait();
    half.assert_code(3);
    half.assert_errors(&["Slurm did not take the job for nowhere"]);
    cluster.wait("the other job to be taken back", || cluster.said("squeue", &["-h"]).trim().is_empty());
    assert_eq!(cluster.lab.count("SELECT count(*) FROM campaign"), 2);
}

#[test]
fn a_node_that_fails_and_a_controller_that_starts_again_lose_nothing() {
    let Some(cluster) = Cluster::start("torn") else { return };
    cluster.lab.edit(|text| text.replace("budget = 1", "budget = 6"));
    let running = cluster.run(&["--per", "zen3"]);
    let folder = cluster.lab.ledger_path().parent().expect("a folder").to_owned();
    cluster.wait("the shard's ledger", || shards(&folder, "db") == 1);
    let rounds = || {
        let all = std::fs::read_dir(folder.join("shards")).into_iter().flatten().flatten();
        let ledger = all.map(|one| one.path().join("1-zen3.db")).find(|path| path.exists());
        let open = ledger.and_then(|path| rusqlite::Connection::open(path).ok());
        open.and_then(|ledger| {
            ledger.query_row("SELECT count(*) FROM round", [], |row| row.get::<_, i64>(0)).ok()
        })
    };
    cluster.wait("its first round", || rounds().is_some_and(|rounds| rounds > 0));
    let before = rounds().expect("rounds");
    // The job is put back into the queue, as when its node fails; then the controller is gone for a moment.
    let job = cluster.said("squeue", &["-h", "-o", "%i"]);
    cluster.spawn("scontrol", &["requeue", job.trim()]).expect("it does");
    cluster.spawn("scontrol", &["shutdown", "slurmctld"]).expect("it does");
    cluster.wait("the controller's end", || !cluster.folder.join("slurmctld.pid").exists());
    cluster.spawn("slurmctld", &[]).expect("it does");
    cluster.wait("the controller", || cluster.said("squeue", &["-h", "-o", "%i"]).trim() == job.trim());
    // Slurm lets a job that failed wait for two minutes, and says so only once the job has left its node.
    cluster.wait("the job to run again", || {
        cluster.said("scontrol", &["update", &format!("JobId={}", job.trim()), "StartTime=now"]);
        std::thread::sleep(Duration::from_millis(500));
        let restarts = cluster.said("scontrol", &["show", "job", job.trim()]);
        let is = |state: &str| restarts.contains(&format!("JobState={state}"));
        restarts.contains("Restarts=1") && (is("RUNNING") || is("COMPLETED"))
    });
    let said = running.wait();
    said.assert_code(0);
    // One campaign, which went on: nothing was measured twice, and no round is missing.
    assert_eq!(cluster.lab.count("SELECT count(*) FROM campaign"), 1, "{said:?}");
    assert!(cluster.lab.count("SELECT count(*) FROM round") > before);
    let gaps = "SELECT count(*) FROM round r WHERE round > 0 AND NOT EXISTS (SELECT 1 FROM round b WHERE b.round = r.round - 1)";
    assert_eq!(cluster.lab.count(gaps), 0);
    cluster.lab.assert_ledger_is_whole();
}

#[test]
fn a_job_that_was_cancelled_is_told_and_handed_in_again() {
    let Some(cluster) = Cluster::start("lost") else { return };
    cluster.lab.edit(|text| text.replace("budget = 1", "budget = 6"));
    let running = cluster.run(&["--per", "zen3"]);
    cluster.wait("the job", || cluster.said("squeue", &["-h", "-o", "%T"]).contains("RUNNING"));
    cluster.said("scancel", &["--me"]);
    let said = running.wait();
    said.assert_code(1);
    said.assert_errors(&["is gone and did not end", "--resume hands it in again"]);
    let again = cluster.run(&["--per", "zen3", "--resume"]).wait();
    again.assert_code(0);
    again.assert_errors(&["zen3: handed in again as job"]);
    // What was cancelled goes on, or, where it held its ledger for a moment longer, begins anew: one comes to its end.
    let ended = "SELECT stopped_because FROM campaign WHERE finished_at IS NOT NULL";
    let ended = cluster.lab.column(ended);
    let failures = cluster.lab.column("SELECT reason FROM failure");
    let own_ends = ended.iter().filter(|why| *why != "interrupted").count();
    assert_eq!(own_ends, 1, "{ended:?}, {failures:?}");
}

#[test]
fn a_simulation_is_handed_in_as_arrays_cancelled_and_gone_on_with_to_the_table_of_one_machine() {
    let Some(cluster) = Cluster::start("arrays") else { return };
    let folder = cluster.lab.file("");
    let traces = simulate::write_traces(&folder, 9);
    let words = ["--predictor", "bimodal,gshare:bits=10..11"];
    let (_, expected, _) = simulate::table(&folder, &traces, &words);
    let assay = |words: &[&str]| {
        let mut command = simulate::command(&folder, words);
        command.env("SLURM_CONF", cluster.conf());
        command
    };
    let mut all = vec!["trace", "simulate"];
    all.extend(traces.iter().map(String::as_str));
    all.extend(words.iter().chain(&["--json", "--on", "slurm", "--shards", "9"]));
    // No node takes a job, so all of them wait.
    let nodes = |state: &str| {
        let state = format!("State={state}");
        cluster.spawn("scontrol", &["update", "NodeName=n1,n2", &state, "Reason=test"]).expect("it does");
    };
    nodes("DRAIN");
    let running = Running::start(assay(&all));
    let queued = || cluster.said("squeue", &["-h", "-r", "-o", "%i"]);
    cluster.wait("nine jobs", || queued().lines().count() == 9);
    let arrays: BTreeSet<String> =
        queued().lines().map(|job| job.split('_').next().unwrap_or_default().to_owned()).collect();
    assert_eq!(arrays.len(), 2, "at most six a time: {}", queued());
    let shown = simulate::said(assay(&["status"]));
    assert!(shown.page.contains("0 of 9 jobs over, 9 waiting for a machine"), "{shown:?}");
    simulate::said(assay(&["cancel"])).assert_code(0);
    let waited = running.wait();
    waited.assert_code(1);
    waited.assert_errors(&["9 tasks in 9 jobs", "4 more: cancelled"]);
    nodes("RESUME");
    all.push("--resume");
    let again = simulate::said(assay(&all));
    again.assert_code(0);
    again.assert_errors(&["handed in again as job"]);
    let found: serde_json::Value = serde_json::from_str(&again.page).expect("JSON");
    assert_eq!(found, expected);
    // Nothing is left to be done: no job is handed in.
    let last = simulate::said(assay(&all));
    last.assert_code(0);
    assert!(!last.errors.contains("handed in again"), "{last:?}");
}
