//! `assay history`: an experiment's contrasts and times over all its campaigns, from the ledgers alone. Each campaign is judged
//! anew by today's rules; where a series changes, what the ledger knows of both sides is compared.

mod causes;
mod code;
mod gate;
pub mod import;
mod runs;
mod series;

use crate::lead::Misuse;
use crate::store::Ledger;
use anyhow::Result;
use assay_pure::compare::Gate;
use assay_pure::history::Sensitivity;
use assay_report::history::{HISTORY_SCHEMA, HistoryPage, answer};
use std::path::{Path, PathBuf};

/// What is asked of the ledgers.
#[derive(Clone, Debug)]
pub struct HistoryRequest {
    /// The experiment, or the name of imported files; none: the newest of the first ledger.
    pub name: Option<String>,
    /// Where the rows are; the first one is the user's own.
    pub ledgers: Vec<PathBuf>,
    /// Where binaries may still lie, to compare their code.
    pub store: PathBuf,
    /// Only runs from this one on, by its id.
    pub since: Option<String>,
    /// What the newest run must not be.
    pub gate: Option<Gate>,
}

/// Composes the page.
///
/// # Errors
/// [`Misuse`]: no such name, or no such run; or a ledger cannot be read.
pub fn page(asked: &HistoryRequest) -> Result<HistoryPage> {
    let ledgers: Vec<Ledger> = asked.ledgers.iter().map(|path| Ledger::open(path)).collect::<Result<_>>()?;
    let name = match &asked.name {
        Some(name) => name.clone(),
        None => newest(&ledgers)?,
    };
    let mut read = runs::read(&ledgers, &name)?;
    if read.runs.is_empty() {
        return Err(Misuse(format!(
            "no campaign and no import is called `{name}`; there is: {}",
            names(&ledgers)?.join(", ")
        ))
        .into());
    }
    if let Some(since) = &asked.since {
        read.keep_from(since)?;
    }
    let sensitivity = Sensitivity { minimum: read.minimum_effect.ln_1p(), ..Sensitivity::default() };
    let mut series = series::all(&read);
    for one in &mut series {
        series::examine(one, &read, &sensitivity);
    }
    let binaries = code::Binaries::of(&asked.store);
    causes::tell(&mut series, &read, &binaries);
    let series: Vec<_> = series.into_iter().filter(|one| !one.page.points.is_empty()).collect();
    let gate = asked.gate.map(|gate| gate::judge(gate, &series, &read, &binaries));
    let mut page = HistoryPage {
        schema: HISTORY_SCHEMA.into(),
        name,
        answer: String::new(),
        next: None,
        warnings: read.warnings.clone(),
        runs: read.runs.iter().map(|run| run.page.clone()).collect(),
        machines: read.machines.clone(),
        series: series.into_iter().map(|one| one.page).collect(),
        minimum_effect: read.minimum_effect,
        level: sensitivity.level,
        gate,
    };
    (page.answer, page.next) = answer(&page);
    Ok(page)
}

fn newest(ledgers: &[Ledger]) -> Result<String> {
    for ledger in ledgers {
        if let Some(campaign) = ledger.campaigns()?.into_iter().next() {
            return Ok(campaign.experiment);
        }
        if let Some(name) = ledger.imported_names()?.into_iter().next() {
            return Ok(name);
        }
    }
    let places: Vec<String> = ledgers.iter().map(|ledger| ledger.path().display().to_string()).collect();
    Err(Misuse(format!(
        "{} has no campaigns yet; `assay run` adds one, `assay import` reads the files of other tools",
        places.join(", ")
    ))
    .into())
}

fn names(ledgers: &[Ledger]) -> Result<Vec<String>> {
    let mut all: Vec<String> = Vec::new();
    for ledger in ledgers {
        all.extend(ledger.campaigns()?.into_iter().map(|campaign| campaign.experiment));
        all.extend(ledger.imported_names()?);
    }
    let mut seen = std::collections::BTreeSet::new();
    all.retain(|name| seen.insert(name.clone()));
    Ok(if all.is_empty() { vec!["nothing".into()] } else { all })
}

/// The name of an experiment file's experiment, where a file is given in place of a name.
///
/// # Errors
/// The file is there, but is no experiment.
pub fn name_of(given: &str) -> Result<String> {
    let path = Path::new(given);
    if path.extension().is_none_or(|extension| extension != "toml") || !path.is_file() {
        return Ok(given.to_owned());
    }
    let text = assay_linux::given::read_text(path)?;
    let read = assay_pure::experiment::Experiment::from_toml(&text, given);
    let read = read
        .map_err(|_| Misuse(format!("{given} is no experiment: `assay plan {given}` says what is wrong")))?;
    Ok(read.experiment.name)
}
