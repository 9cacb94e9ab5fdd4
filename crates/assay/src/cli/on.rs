//! `--on slurm`, `--on ssh:hosts.toml`: the same question on several machines, whatever verb asks it.

use super::run::StoragePaths;
use super::{DONE, FAILED, UNABLE, screen, version};
use anyhow::Result;
use assay_lab::history::{self, HistoryRequest};
use assay_lab::lead::Misuse;
use assay_lab::lead::command::quoted;
use assay_lab::shards::{self, ClusterName, ShardPart, ShardRequest, Waited};
use assay_lab::store::Ledger;
use assay_lab::view::{AnyPage, named};
use assay_pure::words;
use assay_report::ink::Ink;
use assay_report::list::Brief;
use assay_report::render_history;
use assay_report::sheet::Sheet;
use assay_report::status::ShardState;
use std::collections::{BTreeMap, BTreeSet};

/// Heading of options that hand work to other machines.
pub const MACHINES: &str = "Other machines";

/// Who measures instead of this machine.
#[derive(clap::Args, Clone, Debug)]
pub struct OnArguments {
    /// Measure on other machines, a job for each kind: `slurm`, or `ssh:FILE` with a list of hosts
    #[arg(long, value_name = "CLUSTER", help_heading = MACHINES)]
    pub on: Option<ClusterName>,
    /// Kind of machine: a feature of nodes as Slurm knows it, or `kind` in the list of hosts (default: each); can be repeated
    #[arg(long, value_name = "FEATURE", help_heading = MACHINES, requires = "on", value_delimiter = ',')]
    pub per: Vec<String>,
}

/// What is asked of several machines.
pub struct SharedQuestion<'a> {
    /// What assay does there.
    pub verb: &'static str,
    /// The experiment's name, or what stands for it.
    pub name: String,
    /// Seconds of measuring that each machine may take, where that is known.
    pub budget: Option<f64>,
    /// Parts that machines of one kind share out; none: the whole.
    pub parts: Vec<ShardPart>,
    /// Whose words are for these machines, not for that one.
    pub on: &'a OnArguments,
    /// Where the results go.
    pub places: &'a StoragePaths,
    /// Go on with jobs of before.
    pub resume: bool,
    /// Tell no progress.
    pub quiet: bool,
    /// Show all of the history.
    pub all: bool,
    /// Options that write or show the page of one machine, and whether they were given.
    pub of_one: &'a [(&'static str, bool)],
}

/// Options that say where results go: each shard has its own ledger, and only the whole is shown. With a value, and without.
const OURS: [&str; 5] = ["--on", "--per", "--shard-by", "--ledger", "--store"];
const OUR_FLAGS: [&str; 4] = ["--resume", "--quiet", "-q", "--all"];

impl SharedQuestion<'_> {
    /// Hands the jobs in, waits, and shows what the machines say.
    ///
    /// # Errors
    /// [`Misuse`]: an option is of one machine. See [`shards::submit`].
    pub fn run(&self) -> Result<u8> {
        let Some(cluster) = self.on.on.clone() else {
            return Err(Misuse("--on says where: `slurm`, or `ssh:FILE`".into()).into());
        };
        if let Some((option, _)) = self.of_one.iter().find(|(_, given)| *given) {
            return Err(Misuse(format!(
                "{option} is of one machine's page: leave it out, and when all have measured, `assay report` writes each"
            ))
            .into());
        }
        assay_linux::interrupt::catch();
        let given: Vec<String> = std::env::args_os()
            .map(|word| {
                word.into_string().map_err(|word| {
                    Misuse(format!("`{}` is not UTF-8, and a job cannot be told of it", word.display()))
                })
            })
            .collect::<Result<_, _>>()?;
        let asked = ShardRequest {
            verb: self.verb,
            name: self.name.clone(),
            words: words_for_node(given.into_iter(), self.verb, &self.parts),
            budget: self.budget,
            cluster,
            features: self.on.per.clone(),
            parts: self.parts.clone(),
            version: version::of_build(),
            ledger: self.places.ledger.clone(),
            resume: self.resume,
        };
        let ledger = Ledger::open(&asked.ledger)?;
        let mut tell = teller(self.quiet);
        let handed = shards::submit(&asked, &mut tell)?;
        let jobs: Vec<&str> = handed.question.shards.iter().map(|shard| shard.job.as_str()).collect();
        tell(&format!("jobs {}; {} are waited for", jobs.join(", "), jobs.len()));
        let ends = shards::wait(&handed, shards::to_ledger(&ledger, &handed.question).as_mut(), &mut tell);
        drop(ledger);
        screen::show(&answers(&self.name, &handed.question.verb, &ends));
        if self.verb == "run" && self.parts.is_empty() {
            self.show_history();
        }
        Ok(told(&ends, &self.places.ledger))
    }

    /// Of one machine there is nothing to compare; of none the shards say why.
    fn show_history(&self) {
        let page = history::page(&HistoryRequest {
            name: Some(self.name.clone()),
            ledgers: vec![self.places.ledger.clone()],
            store: self.places.store(),
            since: None,
            leave_out: Vec::new(),
            gate: None,
        });
        if let Ok(page) = page
            && (page.machines.len() > 1 || !page.alike.is_empty())
        {
            screen::print("\n");
            screen::show(&render_history(&page, screen::width(), screen::colour(), self.all));
        }
    }
}

/// Tells of progress, unless nobody wants to hear it.
pub fn teller(quiet: bool) -> impl FnMut(&str) {
    move |text| {
        if !quiet {
            screen::tell(&format!("assay: {text}"));
        }
    }
}

/// The answer of each shard that has one, or why it has none.
fn answers(name: &str, verb: &str, ends: &[Waited]) -> String {
    let mut sheet = Sheet::new(screen::width(), screen::colour());
    let kinds: BTreeSet<&str> = ends.iter().map(|one| one.shard.feature.as_str()).collect();
    sheet.heading(&format!("{name} on {}", words::plural(kinds.len() as u64, "kind of machine")));
    let widest = ends.iter().map(|one| one.shard.title().chars().count()).max().unwrap_or(0);
    let mut cpus: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for one in ends {
        let (ink, text) = match (answer(one, verb), &one.unmerged) {
            (_, Some(unmerged)) => (Ink::Doubt, format!("not added: {}", unmerged.why)),
            (Ok((cpu, brief)), None) => {
                cpus.entry(&one.shard.feature).or_default().insert(cpu.clone());
                (brief.tone.ink(), format!("{cpu}: {}", brief.whole))
            }
            (Err(_), None) => match &one.state {
                ShardState::Failed { reason, .. } | ShardState::Lost { reason } => {
                    (Ink::Doubt, format!("no answer: {reason}"))
                }
                _ => (Ink::Doubt, "no answer".to_owned()),
            },
        };
        sheet.labelled(ink, &format!("{:widest$}  ", one.shard.title()), &text);
    }
    // Parts are read as one answer; of two processors they are none.
    let mixed = cpus.into_iter().filter(|(_, cpus)| cpus.len() > 1).map(|(kind, cpus)| {
        let cpus: Vec<String> = cpus.into_iter().collect();
        format!(
            "Machines of the kind {kind} have different processors: {}. Name a narrower kind.",
            words::list(&cpus)
        )
    });
    sheet.warnings(mixed);
    sheet.into_text()
}

/// The processor that measured a shard, and what it says.
fn answer(one: &Waited, verb: &str) -> Result<(String, Brief)> {
    let ledger = Ledger::open_to_read(&one.shard.ledger())?;
    let page = AnyPage::of(&ledger, &named(&ledger, None, &[shards::kind_of(verb)])?)?;
    let cpu = match &page {
        AnyPage::Campaign(page) => page.machine.cpu.clone(),
        AnyPage::Comparison(page) => page.measured.cpu.clone(),
        AnyPage::Sweep(page) => page.machine.cpu.clone(),
        AnyPage::Diary(page) => page.sessions.last().map_or(String::new(), |session| session.cpu.clone()),
    };
    Ok((cpu, page.brief()))
}

/// What the user gave, for the node: the same without what is said of shards. What chooses a part is said anew for each.
fn words_for_node(given: impl Iterator<Item = String>, verb: &str, parts: &[ShardPart]) -> Vec<String> {
    let mut given = given.skip(1);
    for word in verb.split(' ') {
        let _ = given.find(|found| found == word);
    }
    let chosen: BTreeSet<&str> = parts
        .iter()
        .flat_map(|part| part.words.iter())
        .map(String::as_str)
        .filter(|word| word.starts_with("--"))
        .collect();
    let mut found = Vec::new();
    while let Some(word) = given.next() {
        if word == "--" {
            // Commands of the user's, whose words are theirs.
            found.push(word);
            found.extend(given);
            break;
        }
        let name = word.split('=').next().unwrap_or_default();
        if OURS.contains(&name) || chosen.contains(name) {
            if name == word {
                given.next();
            }
        } else if !OUR_FLAGS.contains(&name) || (name == "--all" && verb == "sweep") {
            found.push(word);
        }
    }
    found
}

/// Says what became of the shards that did not end well, and what to do; the exit code of all.
pub fn told(ends: &[Waited], ledger: &std::path::Path) -> u8 {
    let mut code = DONE;
    let mut open = Vec::new();
    for Waited { shard, state, unmerged } in ends {
        let title = shard.title();
        if let Some(unmerged) = unmerged {
            let file = quoted(&shard.ledger().to_string_lossy());
            let all_the_same = if unmerged.is_foreign {
                format!(
                    "; `assay merge {file} --ledger {}` adds it all the same",
                    quoted(&ledger.to_string_lossy())
                )
            } else {
                String::new()
            };
            screen::complain(&format!(
                "assay: {title}: {file} was not added: {}. See what is in it by `assay report --list --ledger {file}`{all_the_same}",
                unmerged.why
            ));
            code = FAILED;
        }
        match state {
            ShardState::Ended | ShardState::Cancelled => {}
            ShardState::Failed { code: ended, .. } => {
                screen::complain(&format!(
                    "assay: {title}: ended with {ended}; {} says why",
                    shard.log().display()
                ));
                code = if *ended == UNABLE && code != FAILED { UNABLE } else { FAILED };
            }
            ShardState::Lost { reason } => {
                screen::complain(&format!(
                    "assay: {title}: job {} is gone and did not end: {reason}. The same with --resume hands it in again",
                    shard.job
                ));
                code = FAILED;
            }
            _ => open.push(shard.job.as_str()),
        }
    }
    if ends.iter().any(|one| one.state == ShardState::Cancelled) {
        screen::complain(
            "assay: cancelled. What was measured is kept: the same command with --resume goes on.",
        );
        code = FAILED;
    }
    if !open.is_empty() {
        let jobs = words::list(&open);
        screen::complain(&format!(
            "assay: {jobs} not over yet. `assay status` shows them, the same command with --resume waits for them, `assay cancel` ends \
             them."
        ));
        code = FAILED;
    }
    code
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(line: &[&str], verb: &str, parts: &[ShardPart]) -> Vec<String> {
        words_for_node(line.iter().map(|word| (*word).to_owned()), verb, parts)
    }

    #[test]
    fn a_shard_is_asked_the_same_without_what_is_said_of_shards() {
        let line = [
            "assay",
            "run",
            "--on",
            "slurm",
            "e.toml",
            "--per=zen3",
            "--per",
            "zen4",
            "--input",
            "log*",
            "--resume",
            "-q",
            "--ledger",
            "x.db",
            "--budget=5",
        ];
        assert_eq!(node(&line, "run", &[]), ["e.toml", "--input", "log*", "--budget=5"]);
        let part = ShardPart { name: "input log".into(), words: vec!["--input".into(), "log".into()] };
        assert_eq!(node(&line, "run", &[part]), ["e.toml", "--budget=5"]);
    }

    #[test]
    fn commands_of_the_user_and_a_verb_of_two_words_stay_as_they_are() {
        let line = ["assay", "compare", "--on", "slurm", "--per", "a", "--", "./x --on y", "--quiet"];
        assert_eq!(node(&line, "compare", &[]), ["--", "./x --on y", "--quiet"]);
        let line = ["assay", "stages", "add", "S.toml", "--on", "slurm", "--stage", "add"];
        assert_eq!(node(&line, "stages add", &[]), ["S.toml", "--stage", "add"]);
        assert_eq!(node(&["assay", "sweep", "e.toml", "--all"], "sweep", &[]), ["e.toml", "--all"]);
    }
}
