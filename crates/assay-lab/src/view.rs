//! What the ledger keeps, ready to be shown: for each thing its page, its samples, and the command that measured it.

mod answers;
mod kept;
mod list;
mod lookup;
mod pages;
mod samples;
mod state;

pub use list::{Judge, ListRequest, known_answer, list};
pub use lookup::{Newest, experiment_named, named, named_in_ledger, newest};
pub use pages::AnyPage;
pub use state::{MeasurementState, budget_and_advance, is_measured, state};

use crate::campaign::compose::facts_of;
use crate::campaign::observe::{self, Observed};
use crate::lead::command::quoted;
use crate::store::{ImportedRow, Kept, KeptRow, Led, Ledger, SessionRow, SideRow};
use crate::{campaign, compare, stages, sweep};
use anyhow::{Context, Result};
use assay_pure::stages::Diary;
use assay_pure::sweep::naming::caches;
use assay_report::history::HistoryPage;
use assay_report::html::{AskedFile, RepeatedInput, Repeats, Shown};
use assay_report::page::Page;
use assay_report::stages::page::DiaryPage;
use assay_report::sweep::page::CacheSize;
use assay_report::{ComparePage, SweepPage};
use serde_json::Value;
use std::fmt;
use std::path::{Path, PathBuf};

/// Where one thing of a ledger is shown: `campaign/3`, `sweep/2`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thing {
    /// What it is.
    pub kind: Kept,
    /// Its number.
    pub name: String,
}

impl fmt::Display for Thing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.kind.name(), self.name)
    }
}

impl From<&KeptRow> for Thing {
    fn from(row: &KeptRow) -> Self {
        Self { kind: row.kind, name: row.id.to_string() }
    }
}

/// Keeps what has just been measured as it is shown: its answer for lists, its page for browsers.
///
/// # Errors
/// The ledger cannot be read.
pub fn keep(ledger: &Ledger, kind: Kept, is_it: impl Fn(&KeptRow) -> bool, page: &AnyPage) -> Result<()> {
    if let Some(row) = ledger.kept(kind)?.iter().find(|row| is_it(row)) {
        answers::keep(ledger, row, page.brief());
        let shown = match page {
            AnyPage::Campaign(page) => {
                let clock = samples::clock_of(ledger, row.id)?;
                of_campaign(ledger, row.id, page, observe::observe(ledger, row.id, clock)?)
            }
            AnyPage::Comparison(page) => of_comparison(ledger, page),
            AnyPage::Sweep(page) => of_sweep(ledger, page),
            AnyPage::Diary(page) => of_diary(ledger, &row.name, page),
        };
        // What cannot be shown now is told to who asks for it.
        if let Ok(shown) = shown {
            kept::keep(ledger.path(), row, &shown);
        }
    }
    Ok(())
}

/// Where the pages of a ledger are kept.
pub fn pages_folder(ledger: &Path) -> PathBuf {
    kept::folder_of(ledger)
}

/// A thing with its samples, where that takes no time that one would feel: it was kept so, or has few samples.
///
/// # Errors
/// The ledger cannot be read.
pub fn shown_at_once(ledger: &Ledger, row: &KeptRow) -> Result<Option<Shown>> {
    /// Samples, or visits of a comparison: judging them takes a tenth of a second.
    const FEW: u64 = 20_000;
    if let Some(shown) = kept::get(ledger, row) {
        return Ok(Some(shown));
    }
    if state::samples(ledger, row)? > FEW { Ok(None) } else { composed(ledger, row).map(Some) }
}

/// A thing with its samples.
///
/// # Errors
/// The ledger cannot be read.
pub fn shown(ledger: &Ledger, row: &KeptRow) -> Result<Shown> {
    kept::get(ledger, row).map_or_else(|| composed(ledger, row), Ok)
}

fn composed(ledger: &Ledger, row: &KeptRow) -> Result<Shown> {
    match row.kind {
        Kept::Campaign => {
            let (page, observed) = campaign::compose::page_and_samples(ledger, row.id)?;
            of_campaign(ledger, row.id, &page, observed)
        }
        Kept::Comparison => of_comparison(ledger, &compare::compose::page(ledger, Some(row.id), true)?),
        Kept::Sweep => of_sweep(ledger, &sweep::compose::page(ledger, row.id)?),
        Kept::Diary => of_diary(ledger, &row.name, &diary_page(ledger, &row.name)?.0),
    }
}

/// A history, with what its newest campaign in this ledger is repeated with.
///
/// # Errors
/// The ledger cannot be read.
pub fn of_history(ledger: &Ledger, page: &HistoryPage) -> Result<Shown> {
    let newest = page.runs.iter().rev().find_map(|run| run.id.parse().ok());
    let row = newest.map(|id| ledger.campaign(id)).transpose()?.flatten();
    let shown = Shown { next: page.next.clone(), ..Shown::alone(serde_json::to_value(page)?) };
    let imports = ledger.imports_of(&page.name)?;
    let imported = commands_of(&imports, &page.name);
    let Some(row) = row else {
        return Ok(if imports.is_empty() {
            shown
        } else {
            let repeats = Repeats { inputs: files_of_imports(&imports), ..Repeats::default() };
            Shown { command: Some(imported), repeats: Some(repeats), ..shown }
        });
    };
    let mut repeats = campaign::compose::repeats(ledger, &[row.id])?;
    repeats.inputs.extend(files_of_imports(&imports));
    let commands = ledger
        .command_of(Led::Campaign, row.id)?
        .into_iter()
        .chain((!imports.is_empty()).then_some(imported));
    Ok(Shown {
        command: commands.reduce(|one, other| format!("{one}\n{other}")),
        file: Some(file_of(&row.experiment, &row.experiment_text)),
        repeats: Some(repeats),
        version: ledger.version_of(row.id)?,
        ..shown
    })
}

/// The commands that import these files again, the oldest measurement first.
fn commands_of(imports: &[ImportedRow], name: &str) -> String {
    let one = |import: &ImportedRow| {
        let file = &import.file;
        let mut words =
            vec![format!("assay import {} {} --name {}", file.tool, quoted(&file.file), quoted(name))];
        words.push(format!("--at {}", campaign::compose::rfc3339(file.measured_at)));
        words.extend((!file.machine.is_empty()).then(|| format!("--machine {}", quoted(&file.machine))));
        words.extend(file.revision.as_ref().map(|revision| format!("--revision {}", quoted(revision))));
        words.join(" ")
    };
    imports.iter().map(one).collect::<Vec<_>>().join("\n")
}

fn files_of_imports(imports: &[ImportedRow]) -> Vec<RepeatedInput> {
    let one = |import: &ImportedRow| RepeatedInput {
        name: import.file.file.clone(),
        recipe: Some(format!("imported: {}", import.file.tool)),
        bytes: None,
        digest: import.file.digest.clone(),
    };
    imports.iter().map(one).collect()
}

/// Every sample of a thing as CSV (RFC 4180).
///
/// # Errors
/// The ledger cannot be read.
pub fn samples_csv(ledger: &Ledger, row: &KeptRow) -> Result<String> {
    let all = match row.kind {
        Kept::Campaign => {
            let (page, observed) = campaign::compose::page_and_samples(ledger, row.id)?;
            samples::of_campaign(&page, observed)
        }
        Kept::Comparison => {
            samples::of_comparison(ledger, &compare::compose::page(ledger, Some(row.id), false)?)?
        }
        Kept::Sweep => samples::of_sweep(ledger, &sweep::compose::page(ledger, row.id)?)?,
        Kept::Diary => samples::of_diary(ledger, &diary_page(ledger, &row.name)?.0)?,
    };
    Ok(all.csv())
}

fn of_campaign(ledger: &Ledger, id: i64, page: &Page, observed: Observed) -> Result<Shown> {
    let row = ledger.campaign(id)?.context("the campaign is gone")?;
    let mut samples = samples::of_campaign(page, observed).thinned();
    samples.all = Some(format!("assay report {id} -o samples.csv"));
    let file = file_of(&row.experiment, &row.experiment_text);
    Ok(Shown {
        next: assay_report::answer::next(page),
        samples: Some(samples),
        command: ledger.command_of(Led::Campaign, id)?,
        file: Some(file),
        caches: caches_of(&row.machine),
        version: ledger.version_of(id)?,
        ..Shown::alone(serde_json::to_value(page)?)
    })
}

fn of_comparison(ledger: &Ledger, page: &ComparePage) -> Result<Shown> {
    let id = page.comparison;
    let row = ledger.comparison(Some(id))?.context("the comparison is gone")?;
    let mut samples = samples::of_comparison(ledger, page)?.thinned();
    samples.all = Some(format!("assay report comparison/{id} -o samples.csv"));
    Ok(Shown {
        next: assay_report::compare::next(page),
        samples: Some(samples),
        command: ledger.command_of(Led::Comparison, id)?,
        repeats: Some(Repeats {
            machine: facts_of(&row.machine),
            inputs: files_of(&ledger.sides(id)?),
            ..Repeats::default()
        }),
        caches: caches_of(&row.machine),
        ..Shown::alone(serde_json::to_value(page)?)
    })
}

/// The binaries and files of a comparison's sides, as far as they were identified; one that both sides have once.
fn files_of(sides: &[SideRow]) -> Vec<RepeatedInput> {
    let mut found: Vec<RepeatedInput> = Vec::new();
    for side in sides {
        for file in side.links.as_array().into_iter().flatten() {
            let Some(digest) = file["sha256"].as_str() else { continue };
            let (name, is_linked) = match file["output"].as_str() {
                Some(output) => (format!("{output} of {}", side.name), true),
                None => (file["named"].as_str().unwrap_or_default().to_owned(), false),
            };
            if found.iter().any(|known| known.name == name && known.digest == digest) {
                continue;
            }
            let recipe = is_linked.then(|| "the build, as it was linked".to_owned());
            found.push(RepeatedInput { name, recipe, bytes: None, digest: digest.to_owned() });
        }
    }
    found
}

fn of_sweep(ledger: &Ledger, page: &SweepPage) -> Result<Shown> {
    let id = page.measured.id;
    let first = page.measured.campaigns.first().copied();
    let row = first.map(|campaign| ledger.campaign(campaign)).transpose()?.flatten();
    let mut samples = samples::of_sweep(ledger, page)?.thinned();
    samples.all = Some(format!("assay report sweep/{id} -o samples.csv"));
    let file = row.as_ref().map(|row| file_of(&row.experiment, &row.experiment_text));
    Ok(Shown {
        next: assay_report::sweep::next(page),
        samples: Some(samples),
        command: ledger.command_of(Led::Sweep, id)?,
        file,
        repeats: Some(campaign::compose::repeats(ledger, &page.measured.campaigns)?),
        caches: page.machine.caches.clone(),
        version: first.map(|campaign| ledger.version_of(campaign)).transpose()?.flatten(),
        ..Shown::alone(serde_json::to_value(page)?)
    })
}

fn newest_session(ledger: &Ledger, name: &str) -> Result<SessionRow> {
    ledger.sessions(name)?.pop().with_context(|| format!("nothing of the diary {name} was measured"))
}

/// A diary as its newest session had it, and that session.
fn diary_page(ledger: &Ledger, name: &str) -> Result<(DiaryPage, SessionRow)> {
    let newest = newest_session(ledger, name)?;
    let diary: Diary = serde_json::from_value(newest.spec.clone())
        .with_context(|| format!("the diary {name} was kept by an incompatible version of assay"))?;
    Ok((stages::compose::page(ledger, &diary)?, newest))
}

fn of_diary(ledger: &Ledger, name: &str, page: &DiaryPage) -> Result<Shown> {
    let newest = newest_session(ledger, name)?;
    let mut samples = samples::of_diary(ledger, page)?.thinned();
    samples.all = Some(format!("assay report {} -o samples.csv", quoted(&format!("diary/{name}"))));
    Ok(Shown {
        next: assay_report::stages::next(page),
        samples: Some(samples),
        command: ledger.command_of(Led::Session, newest.comparison)?,
        repeats: Some(repeats_of_session(&newest)),
        caches: caches_of(&newest.machine),
        ..Shown::alone(serde_json::to_value(page)?)
    })
}

/// The machine of a session, and the files that its diary declares.
fn repeats_of_session(session: &SessionRow) -> Repeats {
    let files = session.inputs["files"].as_object().into_iter().flatten();
    let input = |(name, digest): (&String, &Value)| {
        let digest = digest.as_str()?.to_owned();
        Some(RepeatedInput { name: name.clone(), recipe: None, bytes: None, digest })
    };
    let inputs = files.filter_map(input).collect();
    Repeats { machine: facts_of(&session.machine), inputs, ..Repeats::default() }
}

fn file_of(experiment: &str, text: &str) -> AskedFile {
    let name: String = experiment.chars().map(|c| if c == '/' || c.is_control() { '_' } else { c }).collect();
    AskedFile { name: format!("{name}.toml"), text: text.to_owned() }
}

/// The data caches among the facts of a machine, the smallest first.
fn caches_of(machine: &Value) -> Vec<CacheSize> {
    let facts = machine["caches"].as_array().into_iter().flatten();
    let facts: Vec<String> = facts.filter_map(|fact| fact.as_str().map(str::to_owned)).collect();
    caches(&facts).into_iter().map(|cache| CacheSize { name: cache.name, bytes: cache.bytes }).collect()
}
