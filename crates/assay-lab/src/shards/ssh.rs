//! A handful of hosts, reached by the user's own ssh. A job is a shell in a session of its own, so that it outlives the
//! connection; its name is the host, the process, and when that began, so that no later process is taken for it.
//!
//! Jobs on one host wait for each other as all labs of one user do. Nobody begins a job again after its host failed: `--resume`
//! does.

use super::cluster::{Cluster, ClusterJob, JobState, Sight};
use crate::lead::command::quoted;
use crate::lead::{Misuse, Unable};
use anyhow::Result;
use assay_linux::given;
use assay_linux::session::apart;
use assay_pure::words;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Hosts, as the user's file lists them.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ssh {
    /// The command that reaches a host, words between blanks; the host's name is put behind it.
    #[serde(default = "plain_ssh")]
    ssh: String,
    /// The hosts, in the order in which they are asked.
    #[serde(rename = "host", default)]
    hosts: Vec<SshHost>,
    /// The folder of the file.
    #[serde(skip)]
    folder: PathBuf,
}

/// One of them.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct SshHost {
    /// As ssh knows it.
    name: String,
    /// What it is one of; its own name where nothing is said.
    kind: Option<String>,
    /// What the folder of this file is called on the host, where it has another name there.
    folder: Option<PathBuf>,
    /// The program `assay` on the host; the one that runs here where nothing is said.
    assay: Option<PathBuf>,
}

/// No question can be answered where nobody sits.
fn plain_ssh() -> String {
    "ssh -o BatchMode=yes -o ConnectTimeout=10".into()
}

impl SshHost {
    fn kind(&self) -> &str {
        self.kind.as_deref().unwrap_or(&self.name)
    }
}

impl Ssh {
    /// Reads the list.
    ///
    /// # Errors
    /// [`Misuse`]: it cannot be read, or lists no host that ssh could reach.
    pub fn read(file: &Path) -> Result<Ssh, Misuse> {
        const EXAMPLE: &str = "a list of hosts has for each\n  [[host]]\n  name = \"node1\"\n  kind = \"zen4\"  # if several are alike";
        let wrong = |why: String| Misuse(format!("{}: {why}\n{EXAMPLE}", file.display()));
        let text = given::read_text(file).map_err(|error| wrong(error.to_string()))?;
        let mut found: Ssh = toml_edit::de::from_str(&text).map_err(|error| wrong(error.to_string()))?;
        if found.hosts.is_empty() {
            return Err(wrong("it lists no host".into()));
        }
        // ssh would take the one for an option; the other parts the name of a job.
        if let Some(bad) = found.hosts.iter().find(|host| {
            host.name.is_empty() || host.name.starts_with('-') || host.name.contains([' ', '/', '\n'])
        }) {
            return Err(wrong(format!("`{}` is no name of a host", bad.name)));
        }
        if found.ssh.split_whitespace().next().is_none() {
            return Err(wrong("`ssh` names no command".into()));
        }
        found.folder = file.parent().map(Path::to_owned).unwrap_or_default();
        Ok(found)
    }

    /// What a shell on the host prints for a script. The error says whether the host was reached at all.
    fn ask(&self, host: &str, script: &str) -> Result<String, String> {
        let mut words = self.ssh.split_whitespace();
        let program = words.next().unwrap_or_default();
        let mut ssh = Command::new(program);
        ssh.args(words).arg(host).arg("sh -s");
        ssh.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child =
            apart(&mut ssh).spawn().map_err(|error| format!("cannot start {program}: {error}"))?;
        if let Some(mut stdin) = child.stdin.take() {
            // One that ends before it has read all says why itself.
            let _ = stdin.write_all(script.as_bytes());
        }
        let ran = child.wait_with_output().map_err(|error| format!("{program}: {error}"))?;
        if ran.status.success() {
            return Ok(String::from_utf8_lossy(&ran.stdout).into_owned());
        }
        let said = String::from_utf8_lossy(&ran.stderr).trim().to_owned();
        Err(if said.is_empty() { format!("{program} {host}: {}", ran.status) } else { said })
    }

    /// Host and process of a job, if it is one that a host of the list can have. The file that names it may be anybody's.
    fn parted<'j>(&self, job: &'j str) -> Option<(&'j str, &'j str)> {
        let (host, process) = job.split_once('/')?;
        let is_listed = self.hosts.iter().any(|known| known.name == host);
        (is_listed && is_process(process)).then_some((host, process))
    }

    /// How a host sees the shared files.
    fn sight(&self, host: &SshHost) -> Sight {
        Sight {
            moved: host.folder.clone().map(|there| (self.folder.clone(), there)),
            program: host.assay.clone(),
        }
    }
}

impl Cluster for Ssh {
    /// Hosts of the kind are asked in turn; one that cannot be reached is passed over.
    fn hand_in(&self, job: &ClusterJob<'_>) -> Result<String> {
        let is_wanted = |host: &&SshHost| {
            job.feature.is_empty() || job.feature.split('|').any(|kind| kind == host.kind())
        };
        let alike: Vec<&SshHost> = self.hosts.iter().filter(is_wanted).collect();
        if alike.is_empty() {
            let known = words::list(&self.kinds());
            return Err(
                Misuse(format!("no host is of the kind {}: the list has {known}", job.feature)).into()
            );
        }
        let mut refused = Vec::new();
        for at in 0..alike.len() {
            let host = alike[(job.turn + at) % alike.len()];
            let sight = self.sight(host);
            match self.ask(&host.name, &launcher(&(job.script)(&sight), &sight.of(job.log))) {
                Ok(said) => match started(&said) {
                    Some(process) => return Ok(format!("{}/{process}", host.name)),
                    None => refused.push(format!("{}: it printed `{}`", host.name, said.trim())),
                },
                Err(why) => refused.push(format!("{}: {why}", host.name)),
            }
        }
        Err(Unable(format!("no host took the job for {}: {}", job.feature, refused.join("; "))).into())
    }

    fn look(&self, jobs: &[&str]) -> BTreeMap<String, JobState> {
        let (mut by_host, mut found) = (BTreeMap::<&str, Vec<&str>>::new(), BTreeMap::new());
        for job in jobs.iter().filter(|job| !job.is_empty()) {
            match self.parted(job) {
                Some((host, process)) => by_host.entry(host).or_default().push(process),
                // Its host may have left the list while it goes on.
                None => drop(found.insert((*job).to_owned(), JobState::Unknown(unlisted(job)))),
            }
        }
        for (host, processes) in by_host {
            let said = self.ask(host, &watcher(&processes));
            for process in processes {
                let state = match &said {
                    Ok(alive) if alive.lines().any(|line| line == process) => {
                        JobState::Running(host.to_owned())
                    }
                    Ok(_) => continue,
                    Err(why) => JobState::Unknown(format!("{host} does not answer: {why}")),
                };
                found.insert(format!("{host}/{process}"), state);
            }
        }
        found
    }

    fn cancel(&self, job: &str) -> Result<(), String> {
        let Some((host, process)) = self.parted(job) else {
            return Err(unlisted(job));
        };
        let number = process.split(':').next().unwrap_or_default();
        // All that the shell started, too. Debian's sh takes no `--` before the number.
        let script = format!("{}if is {}; then kill -TERM -{number}; fi\n", IS, quoted(process));
        self.ask(host, &script).map(|_| ()).map_err(|why| format!("{host}: {why}"))
    }

    fn kinds(&self) -> Vec<String> {
        let mut kinds: Vec<String> = Vec::new();
        for host in &self.hosts {
            if !kinds.iter().any(|kind| kind == host.kind()) {
                kinds.push(host.kind().to_owned());
            }
        }
        kinds
    }
}

/// Whether `PROCESS:BEGAN` still runs, as a function of the shell: fields 3 and 22 of its stat are its state and when it began.
const IS: &str = "is() { set -- \"$1\" $(cat \"/proc/${1%%:*}/stat\" 2>/dev/null); [ -n \"${23}\" ] && [ \"${23}\" = \"${1##*:}\" ] && [ \"$4\" != Z ]; }\n";

fn watcher(processes: &[&str]) -> String {
    let each = processes.iter().map(|process| quoted(process)).collect::<Vec<_>>().join(" ");
    format!("{IS}for job in {each}; do if is \"$job\"; then echo \"$job\"; fi; done\n")
}

/// Starts a script that outlives the connection, and prints its process and when that began.
fn launcher(script: &str, log: &Path) -> String {
    let quoted = |path: &Path| quoted(&path.to_string_lossy());
    let (file, folder) = (log.with_extension("sh"), log.parent().unwrap_or(Path::new(".")));
    format!(
        "[ -d {folder} ] || {{ echo \"it does not see \"{folder}: see folder in the list of hosts >&2; exit 1; }}\n\
         cat > {file} <<'END OF THE JOB' || exit 1\n{script}END OF THE JOB\n\
         setsid sh {file} < /dev/null >> {log} 2>&1 &\n\
         set -- $! $(cat /proc/$!/stat)\n\
         echo \"started $1:${{23:-0}}\"\n",
        folder = quoted(folder),
        file = quoted(&file),
        log = quoted(log),
    )
}

fn started(said: &str) -> Option<&str> {
    // What a login prints comes before it.
    let process = said.lines().rev().find_map(|line| line.strip_prefix("started "))?;
    is_process(process).then_some(process)
}

fn unlisted(job: &str) -> String {
    format!("`{job}` is no job of a host in the list")
}

/// Whether this is `PROCESS:BEGAN`, of a process that a job can be: 1 stands for all in a call of kill.
fn is_process(text: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    text.split_once(':').is_some_and(|(number, began)| {
        digits(began) && digits(number) && number.parse::<u32>().is_ok_and(|number| number > 1)
    })
}

#[cfg(test)]
mod tests;
