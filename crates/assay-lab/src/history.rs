//! `assay history`: an experiment's contrasts and times over all its campaigns, from the ledgers alone. Each campaign is judged
//! anew by today's rules; where a series changes, what the ledger knows of both sides is compared.

mod alike;
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
use assay_pure::history::{LEVEL, Sensitivity};
use assay_pure::stats::margin::Margin;
use assay_report::history::{HISTORY_SCHEMA, HistoryPage, answer, machines};
use std::path::PathBuf;

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
    /// Machines whose runs are left out, by their names.
    pub leave_out: Vec<String>,
    /// What the newest run must not be.
    pub gate: Option<Gate>,
}

/// Composes the page.
///
/// # Errors
/// [`Misuse`]: no such name, or no such run; or a ledger cannot be read.
pub fn page(asked: &HistoryRequest) -> Result<HistoryPage> {
    let ledgers = open(&asked.ledgers)?;
    let name = match &asked.name {
        Some(name) => name.clone(),
        None => newest(&ledgers)?,
    };
    let mut read = runs::read(&ledgers, &name)?;
    if read.runs.is_empty() {
        return Err(nothing_called(&name, &ledgers)?.into());
    }
    if let Some(since) = &asked.since {
        read.keep_from(since)?;
    }
    read.leave_out(&asked.leave_out)?;
    let sensitivity = Sensitivity { minimum: Margin::of(read.minimum_effect).ln(), ..Sensitivity::default() };
    let mut series = series::all(&read);
    for one in &mut series {
        series::examine(one, &read, &sensitivity);
    }
    let binaries = code::KeptBinaries { store: &asked.store, ledgers: &ledgers };
    causes::tell(&mut series, &read, &binaries);
    let series: Vec<_> = series.into_iter().filter(|one| !one.page.points.is_empty()).collect();
    let alike = alike::compare(&series, &read);
    let gate = asked.gate.map(|gate| gate::judge(gate, &sensitivity, &series, &read, &binaries));
    let mut page = HistoryPage {
        schema: HISTORY_SCHEMA.into(),
        name,
        answer: String::new(),
        next: None,
        warnings: read.warnings.clone(),
        runs: read.runs.iter().map(|run| run.page.clone()).collect(),
        machines: read.machines(),
        series: series.into_iter().map(|one| one.page).collect(),
        minimum_effect: read.minimum_effect,
        level: sensitivity.level,
        gate,
        across: Vec::new(),
        alike,
        alike_level: LEVEL,
        alike_note: None,
        left_out: asked.leave_out.clone(),
    };
    machines::tell(&mut page);
    alike::tell(&mut page);
    (page.answer, page.next) = answer(&page);
    Ok(page)
}

/// Somebody else's ledgers are only read: they stay as they are.
fn open(paths: &[PathBuf]) -> Result<Vec<Ledger>> {
    let open = |(number, path): (usize, &PathBuf)| {
        if number == 0 { Ledger::open(path) } else { Ledger::open_to_read(path) }
    };
    paths.iter().enumerate().map(open).collect()
}

/// The experiments with campaigns of their own (no steps of sweeps), the newest first, and the names of imports.
fn names(ledger: &Ledger) -> Result<Vec<String>> {
    let (mut seen, mut found) = (std::collections::BTreeSet::new(), Vec::new());
    for campaign in ledger.campaigns()? {
        if seen.insert(campaign.experiment.clone()) && !ledger.campaigns_of(&campaign.experiment)?.is_empty()
        {
            found.push(campaign.experiment);
        }
    }
    found.extend(ledger.imported_names()?.into_iter().filter(|name| !seen.contains(name)));
    Ok(found)
}

/// Why a name has no history: it is unknown, or all of it belongs to sweeps or did not end.
fn nothing_called(name: &str, ledgers: &[Ledger]) -> Result<Misuse> {
    let (mut known, mut of_sweeps) = (Vec::new(), false);
    for ledger in ledgers {
        known.extend(names(ledger)?);
        of_sweeps |= ledger.campaigns()?.iter().any(|campaign| campaign.experiment == name);
    }
    if known.iter().any(|other| other == name) {
        return Ok(Misuse(format!(
            "no campaign of `{name}` has ended yet; `assay run` measures one, --resume ends one that was interrupted"
        )));
    }
    if of_sweeps {
        return Ok(Misuse(format!(
            "the campaigns of `{name}` are steps of sweeps, which have no history; `assay report --list` lists them"
        )));
    }
    let known = if known.is_empty() { "nothing".into() } else { known.join(", ") };
    Ok(Misuse(format!("no campaign and no import is called `{name}`; the names are: {known}")))
}

fn newest(ledgers: &[Ledger]) -> Result<String> {
    for ledger in ledgers {
        if let Some(name) = names(ledger)?.into_iter().next() {
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
