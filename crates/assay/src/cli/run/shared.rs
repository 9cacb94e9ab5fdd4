//! `assay run --on slurm`: the same experiment on several kinds of machines.

use super::super::{DONE, FAILED, UNABLE, screen};
use super::RunArguments;
use anyhow::Result;
use assay_lab::history::{self, HistoryRequest};
use assay_lab::shards::{self, Shard, ShardEnd, ShardRequest};
use assay_lab::store::{Kept, Ledger};
use assay_lab::view::{AnyPage, named};
use assay_pure::words;
use assay_report::ink::Ink;
use assay_report::list::Brief;
use assay_report::render_history;
use assay_report::sheet::Sheet;
use std::path::{Path, PathBuf};

/// Who hands work to other machines.
#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cluster {
    /// Jobs of Slurm, each on a node of its own
    Slurm,
}

/// Options that say where results go: each shard has its own ledger, and only the whole is shown. With a value, and without.
const OURS: [&str; 4] = ["--on", "--per", "--ledger", "--store"];
const OUR_FLAGS: [&str; 4] = ["--resume", "--quiet", "-q", "--all"];

/// Measures one experiment on each kind of machine, and shows what they say.
pub fn run(arguments: &RunArguments, experiment: &Path, name: String) -> Result<u8> {
    let given = std::env::args_os().skip_while(|word| word != "run").skip(1);
    let given = given.map(|word| word.to_string_lossy().into_owned());
    let words = words_for_node(given, &arguments.files, experiment);
    let asked = ShardRequest {
        features: arguments.per.clone(),
        name: name.clone(),
        words,
        ledger: arguments.places.ledger.clone(),
        resume: arguments.resume,
    };
    let mut tell = |text: &str| {
        if !arguments.quiet {
            screen::tell(&format!("assay: {text}"));
        }
    };
    let ledger = Ledger::open(&asked.ledger)?;
    let shards = shards::submit(&asked, &mut tell)?;
    let jobs: Vec<&str> = shards.iter().map(|shard| shard.job.as_str()).collect();
    tell(&format!("jobs {}; {} are waited for", jobs.join(", "), shards.len()));
    let ends = shards::wait(&ledger, &shards, &mut tell);
    drop(ledger);
    screen::show(&by_kind(&name, &shards));
    let page = history::page(&HistoryRequest {
        name: Some(name),
        ledgers: vec![asked.ledger.clone()],
        store: arguments.places.store(),
        since: None,
        gate: None,
    });
    // Of one kind of processor there is nothing to compare; of none the shards say why.
    if let Ok(page) = page
        && page.machines.len() > 1
    {
        screen::print("\n");
        screen::show(&render_history(&page, screen::width(), screen::colour(), arguments.all));
    }
    Ok(told(&ends, arguments))
}

/// The answer of each shard that has one.
fn by_kind(name: &str, shards: &[Shard]) -> String {
    let mut sheet = Sheet::new(screen::width(), screen::colour());
    sheet.heading(&format!("{name} on {}", words::plural(shards.len() as u64, "kind of machine")));
    let widest = shards.iter().map(|shard| shard.feature.chars().count()).max().unwrap_or(0);
    for shard in shards {
        let (ink, text) = match answer(shard) {
            Ok((cpu, brief)) => (brief.tone.ink(), format!("{}: {}", cpu, brief.whole)),
            Err(_) => (Ink::Doubt, "no answer".to_owned()),
        };
        sheet.labelled(ink, &format!("{:widest$}  ", shard.feature), &text);
    }
    sheet.into_text()
}

/// The processor that measured a shard, and what it says.
fn answer(shard: &Shard) -> Result<(String, Brief)> {
    let ledger = Ledger::open_to_read(&shard.ledger())?;
    let page = AnyPage::of(&ledger, &named(&ledger, None, &[Kept::Campaign])?)?;
    let cpu = match &page {
        AnyPage::Campaign(page) => page.machine.cpu.clone(),
        _ => String::new(),
    };
    Ok((cpu, page.brief()))
}

/// What the user gave, for the node: the same without what is said of shards, by paths that hold in any folder.
fn words_for_node(
    mut given: impl Iterator<Item = String>,
    files: &[PathBuf],
    experiment: &Path,
) -> Vec<String> {
    let mut found =
        vec![experiment.canonicalize().unwrap_or_else(|_| experiment.to_owned()).display().to_string()];
    while let Some(word) = given.next() {
        let name = word.split('=').next().unwrap_or_default();
        if OURS.contains(&name) {
            if name == word {
                given.next();
            }
        } else if !OUR_FLAGS.contains(&name) && !files.iter().any(|file| file.as_os_str() == word.as_str()) {
            found.push(word);
        }
    }
    found
}

/// Says what became of the shards that did not end well, and what to do.
fn told(ends: &[(Shard, Option<ShardEnd>)], arguments: &RunArguments) -> u8 {
    let mut code = DONE;
    let mut open = Vec::new();
    for (shard, end) in ends {
        let feature = &shard.feature;
        match end {
            Some(ShardEnd::Ended(DONE)) => {}
            Some(ShardEnd::Ended(ended)) => {
                screen::complain(&format!(
                    "assay: {feature}: ended with {ended}; {} says why",
                    shard.log().display()
                ));
                code = if *ended == UNABLE && code != FAILED { UNABLE } else { FAILED };
            }
            Some(ShardEnd::Lost(last)) => {
                screen::complain(&format!(
                    "assay: {feature}: job {} is gone and did not end: {last}. The same with --resume hands it in again",
                    shard.job
                ));
                code = FAILED;
            }
            Some(ShardEnd::Unmerged(why)) => {
                let ledger = shard.ledger();
                screen::complain(&format!(
                    "assay: {feature}: {why}. Then: assay merge {} --ledger {}",
                    ledger.display(),
                    arguments.places.ledger.display()
                ));
                code = FAILED;
            }
            None => open.push(shard.job.as_str()),
        }
    }
    if !open.is_empty() {
        screen::complain(&format!(
            "assay: interrupted. The jobs go on: the same with --resume waits for them, `scancel {}` ends them.",
            open.join(" ")
        ));
        code = FAILED;
    }
    code
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shard_is_asked_the_same_without_what_is_said_of_shards() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("e.toml");
        std::fs::write(&file, "").unwrap();
        let name = file.display().to_string();
        let given = [
            "--on",
            "slurm",
            &name,
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
        let found =
            words_for_node(given.iter().map(|word| (*word).to_owned()), std::slice::from_ref(&file), &file);
        let whole = file.canonicalize().unwrap().display().to_string();
        assert_eq!(found, [whole.as_str(), "--input", "log*", "--budget=5"]);
    }
}
