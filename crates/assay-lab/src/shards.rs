//! One question on several kinds of machines: a job for each, which measures into a ledger of its own and is merged into the
//! user's as it ends. What is under way is in files of a shared folder, so that whoever waits may be killed and come back.
//!
//! A job that is started again, as after a failed node, goes on with its ledger; on another kind of processor it begins anew.

pub mod slurm;

use crate::lead::{Misuse, command};
use crate::store::Ledger;
use anyhow::{Context, Result};
use assay_linux::interrupt;
use assay_pure::words;
use serde::{Deserialize, Serialize};
use slurm::{JobState, SlurmJob};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// What is asked on each kind of machine.
#[derive(Clone, Debug)]
pub struct ShardRequest {
    /// Features that Slurm knows nodes by, a shard each.
    pub features: Vec<String>,
    /// The experiment's name, for folders and jobs.
    pub name: String,
    /// What assay is called with on the node, without a ledger.
    pub words: Vec<String>,
    /// The user's ledger; shards lie beside it, where all nodes must see them.
    pub ledger: PathBuf,
    /// Wait for the jobs of the same question that were handed in before; those that were lost are handed in again.
    pub resume: bool,
}

/// A kind of machine's part.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Shard {
    /// What its node has.
    pub feature: String,
    /// Its job.
    pub job: String,
    /// Its files, without their endings.
    place: PathBuf,
}

impl Shard {
    /// What it measured.
    pub fn ledger(&self) -> PathBuf {
        self.file("db")
    }

    /// What its job printed.
    pub fn log(&self) -> PathBuf {
        self.file("log")
    }

    /// The exit code, once it has ended.
    fn ended(&self) -> Option<u8> {
        std::fs::read_to_string(self.file("end")).ok()?.trim().parse().ok()
    }

    fn file(&self, ending: &str) -> PathBuf {
        let mut name = self.place.clone().into_os_string();
        name.push(".");
        name.push(ending);
        name.into()
    }
}

/// All of one question, as kept in the folder.
#[derive(Debug, Serialize, Deserialize)]
struct ShardedQuestion {
    words: Vec<String>,
    shards: Vec<Shard>,
}

const KEPT: &str = "shards.json";

/// How a shard ended.
#[derive(Clone, Debug, PartialEq)]
pub enum ShardEnd {
    /// With the exit code of `assay run`.
    Ended(u8),
    /// Its job is gone, and nothing says how; the end of its log.
    Lost(String),
    /// It ended, but not all that it measured could be added.
    Unmerged(String),
}

/// Hands the jobs in, or finds those that were.
///
/// # Errors
/// [`Misuse`]: there is nothing to resume. Slurm refuses a job; the folder cannot be written.
pub fn submit(asked: &ShardRequest, tell: &mut dyn FnMut(&str)) -> Result<Vec<Shard>> {
    let beside =
        asked.ledger.canonicalize().with_context(|| format!("finding {}", asked.ledger.display()))?;
    let parent = beside.with_file_name("shards");
    if asked.resume {
        return resume(asked, &parent, tell);
    }
    let folder =
        new_folder(&parent, &asked.name).with_context(|| format!("writing to {}", parent.display()))?;
    let mut kept = ShardedQuestion { words: asked.words.clone(), shards: Vec::new() };
    for (number, feature) in asked.features.iter().enumerate() {
        let place = folder.join(format!("{}-{}", number + 1, plain(feature)));
        let mut shard = Shard { feature: feature.clone(), job: String::new(), place };
        if let Err(refused) = hand_in(asked, &mut shard) {
            // All or none: half of the answer was not asked for.
            kept.shards.iter().for_each(|shard| slurm::cancel(&shard.job));
            // Only where no job was handed in, which would write there.
            let _ = std::fs::remove_dir(&folder);
            return Err(refused);
        }
        kept.shards.push(shard);
        // After each: what is handed in is known, whatever comes of the next.
        keep(&folder, &kept)?;
    }
    Ok(kept.shards)
}

/// One of this moment, which nobody else has.
fn new_folder(parent: &Path, name: &str) -> io::Result<PathBuf> {
    std::fs::create_dir_all(parent)?;
    let mut seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    loop {
        let folder = parent.join(format!("{}-{seconds}", plain(name)));
        match std::fs::create_dir(&folder) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => seconds += 1,
            made => return made.map(|()| folder),
        }
    }
}

/// The newest folder of the same question. What names files elsewhere was not written here.
fn resume(asked: &ShardRequest, parent: &Path, tell: &mut dyn FnMut(&str)) -> Result<Vec<Shard>> {
    let mut folders: Vec<PathBuf> =
        std::fs::read_dir(parent).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    folders.sort_by_key(|folder| std::fs::metadata(folder).and_then(|facts| facts.modified()).ok());
    let same = |kept: &ShardedQuestion| {
        let features = kept.shards.iter().map(|shard| &shard.feature);
        kept.words == asked.words && features.eq(&asked.features)
    };
    let found = folders.iter().rev().find_map(|folder| {
        let text = std::fs::read_to_string(folder.join(KEPT)).ok()?;
        let kept: ShardedQuestion = serde_json::from_str(&text).ok().filter(same)?;
        let own = kept.shards.iter().all(|shard| shard.place.parent() == Some(folder));
        own.then_some((folder, kept))
    });
    let Some((folder, mut kept)) = found else {
        return Err(Misuse(format!(
            "nothing to resume: no jobs of this experiment with the same options and features were handed in from {}; run without \
             --resume",
            parent.display()
        ))
        .into());
    };
    let queue = slurm::queue().map_err(anyhow::Error::msg)?;
    for at in 0..kept.shards.len() {
        let shard = &mut kept.shards[at];
        if shard.ended().is_none() && !queue.contains_key(&shard.job) {
            hand_in(asked, shard)?;
            tell(&format!("{}: handed in again as job {}", shard.feature, shard.job));
            keep(folder, &kept)?;
        }
    }
    Ok(kept.shards)
}

fn keep(folder: &Path, kept: &ShardedQuestion) -> Result<()> {
    let text = serde_json::to_string_pretty(kept)?;
    let draft = folder.join(format!("{KEPT}.draft"));
    std::fs::write(&draft, text)
        .and_then(|()| std::fs::rename(&draft, folder.join(KEPT)))
        .with_context(|| format!("writing to {}", folder.display()))
}

fn hand_in(asked: &ShardRequest, shard: &mut Shard) -> Result<()> {
    let program = std::env::current_exe().context("finding this program")?;
    let name = format!("assay-{}", plain(&asked.name));
    let script = script(&program, &asked.words, shard);
    let job = SlurmJob { name: &name, feature: &shard.feature, log: &shard.log(), script: &script };
    shard.job = slurm::submit(job)?;
    Ok(())
}

/// What a shell does on the node. A stopped job leaves no end: it is handed in again, or lost.
fn script(program: &Path, words: &[String], shard: &Shard) -> String {
    let quoted = |path: &Path| command::quoted(&path.to_string_lossy());
    let words: Vec<String> = words.iter().map(|word| command::quoted(word)).collect();
    let (ledger, end, draft) = (shard.ledger(), shard.file("end"), shard.file("end-draft"));
    format!(
        "#!/bin/sh\n\
         trap 'exit 143' TERM\n\
         measure() {{ {program} run {words} --quiet --ledger {ledger} \"$@\" > /dev/null; code=$?; }}\n\
         if [ -e {ledger} ]; then\n\
         \x20   measure --resume\n\
         \x20   if [ $code -eq 2 ]; then measure; fi\n\
         else\n\
         \x20   measure\n\
         fi\n\
         echo $code > {draft} && mv {draft} {end}\n\
         exit $code\n",
        program = quoted(program),
        words = words.join(" "),
        ledger = quoted(&ledger),
        draft = quoted(&draft),
        end = quoted(&end),
    )
}

/// A name as a folder's.
fn plain(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' }).collect()
}

/// How often the queue is asked for; ends are looked for every second.
const ASKED: Duration = Duration::from_secs(5);
/// A job that ended is gone from the queue a little before its last file is seen on another machine.
const GRACE: u32 = 3;

/// One shard while it is waited for.
struct Waiting<'a> {
    shard: &'a Shard,
    end: Option<ShardEnd>,
    told: String,
    /// Times that the queue did not have it.
    missing: u32,
}

/// Waits until all have ended, and merges each as it does. What has no end was still under way when the user interrupted.
pub fn wait(ledger: &Ledger, shards: &[Shard], tell: &mut dyn FnMut(&str)) -> Vec<(Shard, Option<ShardEnd>)> {
    let mut all: Vec<Waiting<'_>> =
        shards.iter().map(|shard| Waiting { shard, end: None, told: String::new(), missing: 0 }).collect();
    let (mut asked, mut silent) = (None::<Instant>, false);
    while all.iter().any(|one| one.end.is_none()) && !interrupt::asked() {
        let open = || all.iter().filter(|one| one.end.is_none());
        if open().all(|one| one.shard.ended().is_none()) && asked.is_none_or(|last| last.elapsed() >= ASKED) {
            match slurm::queue() {
                Ok(queue) => {
                    silent = false;
                    all.iter_mut().filter(|one| one.end.is_none()).for_each(|one| one.look(&queue, tell));
                }
                Err(why) if !silent => {
                    silent = true;
                    tell(&format!("Slurm does not answer ({why}); still waiting for the jobs"));
                }
                Err(_) => {}
            }
            asked = Some(Instant::now());
        }
        for one in all.iter_mut().filter(|one| one.end.is_none()) {
            if let Some(end) = one.ended() {
                one.end = Some(merge(ledger, one.shard, end, tell));
            }
        }
        if all.iter().any(|one| one.end.is_none()) {
            std::thread::sleep(Duration::from_secs(1));
        }
    }
    all.into_iter().map(|one| (one.shard.clone(), one.end)).collect()
}

impl Waiting<'_> {
    fn look(&mut self, queue: &BTreeMap<String, JobState>, tell: &mut dyn FnMut(&str)) {
        let (shard, missing) = (self.shard, self.missing);
        let Some(state) = queue.get(&shard.job) else {
            self.missing = missing + 1;
            return;
        };
        self.missing = 0;
        let text = match state {
            JobState::Waiting(reason) => format!("{}: job {} waits ({reason})", shard.feature, shard.job),
            JobState::Running(node) => format!("{}: job {} measures on {node}", shard.feature, shard.job),
        };
        if text != self.told {
            tell(&text);
            self.told = text;
        }
    }

    fn ended(&self) -> Option<ShardEnd> {
        let lost = || (self.missing >= GRACE).then(|| ShardEnd::Lost(last_line(&self.shard.log())));
        self.shard.ended().map(ShardEnd::Ended).or_else(lost)
    }
}

/// What a shard measured, also of one that was lost.
fn merge(ledger: &Ledger, shard: &Shard, end: ShardEnd, tell: &mut dyn FnMut(&str)) -> ShardEnd {
    let (feature, path) = (&shard.feature, shard.ledger());
    if !path.is_file() {
        return end;
    }
    match ledger.merge(&path) {
        Ok(merged) if !merged.diverged.is_empty() => {
            ShardEnd::Unmerged("its campaign was continued in your ledger, too".to_owned())
        }
        Ok(merged) => {
            tell(&format!("{feature}: {} added", words::plural(merged.samples, "sample")));
            end
        }
        Err(error) => ShardEnd::Unmerged(format!("{error:#}")),
    }
}

fn last_line(log: &Path) -> String {
    let text =
        std::fs::read(log).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
    text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("it printed nothing").trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    fn shard(folder: &Path) -> Shard {
        Shard { feature: "zen3&big".into(), job: "7".into(), place: folder.join("1-zen3_big") }
    }

    /// Runs a script with a program that notes its words, makes its ledger and ends with the codes in order.
    fn played(folder: &Path, codes: &str, ledger: bool) -> (Vec<String>, Option<u8>) {
        let program = folder.join("it's assay");
        let text = format!(
            "#!/bin/sh\necho \"$@\" >> '{0}/words'\nset -- {codes}\nn=$(wc -l < '{0}/words')\nshift $((n - 1))\nexit $1\n",
            folder.display()
        );
        std::fs::write(&program, text).unwrap();
        let shown = Command::new("chmod").arg("+x").arg(&program).status().unwrap();
        assert!(shown.success());
        let shard = shard(folder);
        if ledger {
            std::fs::write(shard.ledger(), "").unwrap();
        }
        let script = script(&program, &["e.toml".into(), "--input".into(), "a b".into()], &shard);
        Command::new("sh").arg("-c").arg(script).status().unwrap();
        let words = std::fs::read_to_string(folder.join("words")).unwrap();
        (words.lines().map(str::to_owned).collect(), shard.ended())
    }

    #[test]
    fn a_job_measures_goes_on_where_it_was_and_begins_anew_where_nothing_can_go_on() {
        let folder = || tempfile::tempdir().unwrap();
        let new = folder();
        let ledger = shard(new.path()).ledger().display().to_string();
        let measured = format!("run e.toml --input a b --quiet --ledger {ledger}");
        assert_eq!(played(new.path(), "3", false), (vec![measured], Some(3)));
        let again = folder();
        let (words, end) = played(again.path(), "0", true);
        assert!(words.len() == 1 && words[0].ends_with(" --resume") && end == Some(0), "{words:?}");
        let other = folder();
        let (words, end) = played(other.path(), "2 1", true);
        assert!(words.len() == 2 && words[1].ends_with(".db") && end == Some(1), "{words:?}");
    }

    #[test]
    fn a_list_that_names_files_elsewhere_is_not_resumed() {
        let folder = tempfile::tempdir().unwrap();
        let parent = folder.path().canonicalize().unwrap();
        let own = new_folder(&parent, "e").unwrap();
        let asked = |name: &str| ShardRequest {
            features: vec![name.to_owned()],
            name: "e".into(),
            words: vec!["e.toml".into()],
            ledger: parent.join("ledger.db"),
            resume: true,
        };
        let refused = |shard: Shard| {
            let feature = shard.feature.clone();
            keep(&own, &ShardedQuestion { words: vec!["e.toml".into()], shards: vec![shard] }).unwrap();
            resume(&asked(&feature), &parent, &mut |_| {}).unwrap_err().to_string()
        };
        let elsewhere = Shard { place: parent.join("1-zen3"), ..shard(&own) };
        assert!(refused(elsewhere).contains("nothing to resume"));
        // Its own go on, or Slurm does not answer.
        std::fs::write(shard(&own).file("end"), "0").unwrap();
        keep(&own, &ShardedQuestion { words: vec!["e.toml".into()], shards: vec![shard(&own)] }).unwrap();
        if let Err(error) = resume(&asked("zen3&big"), &parent, &mut |_| {}) {
            assert!(!error.to_string().contains("nothing to resume"), "{error}");
        }
    }

    #[test]
    fn a_name_of_any_letters_is_a_file() {
        assert_eq!(plain("zen3&big mem/ä"), "zen3_big_mem__");
    }
}
