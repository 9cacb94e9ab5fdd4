//! The runs of a history: campaigns with their pages and facts, imported files with their figures.

use crate::campaign::compose::{self, rfc3339};
use crate::lead::Misuse;
use crate::store::{CampaignRow, ImportedRow, Ledger, ProcessRow};
use anyhow::Result;
use assay_pure::words;
use assay_report::history::page::{HistoryMachine, HistoryRun};
use assay_report::page::Page;
use serde_json::Value;
use std::collections::BTreeMap;

/// Where a run's figures come from.
pub enum RunData {
    /// A campaign, judged anew.
    Campaign(Box<CampaignData>),
    /// A file.
    Import(ImportedRow),
}

/// A campaign.
pub struct CampaignData {
    /// Its row.
    pub row: CampaignRow,
    /// Its page.
    pub page: Page,
    /// Its launches in the plain link.
    pub as_built: Vec<ProcessRow>,
    /// Functions of these artifacts, as kept.
    pub functions: BTreeMap<String, Value>,
}

/// One run.
pub struct Run {
    /// As shown.
    pub page: HistoryRun,
    /// Its figures and facts.
    pub data: RunData,
}

/// Everything that was read.
pub struct Runs {
    /// The oldest first.
    pub runs: Vec<Run>,
    /// In the order in which they were met.
    pub machines: Vec<HistoryMachine>,
    /// What the reader must know.
    pub warnings: Vec<String>,
    /// A fraction: the newest campaign's.
    pub minimum_effect: f64,
}

/// The margin where no campaign tells one.
const MINIMUM_EFFECT: f64 = 0.01;

impl Runs {
    /// Leaves out what is older than a run.
    ///
    /// # Errors
    /// [`Misuse`]: there is no such run.
    pub fn keep_from(&mut self, id: &str) -> Result<(), Misuse> {
        let Some(first) = self.runs.iter().position(|run| run.page.id == id) else {
            let known: Vec<&str> = self.runs.iter().map(|run| run.page.id.as_str()).collect();
            return Err(Misuse(format!(
                "there is no run {id} in this history; there is: {}",
                known.join(", ")
            )));
        };
        self.runs.drain(..first);
        Ok(())
    }
}

/// Reads all runs of a name.
///
/// # Errors
/// A ledger cannot be read.
pub fn read(ledgers: &[Ledger], name: &str) -> Result<Runs> {
    let mut read =
        Runs { runs: Vec::new(), machines: Vec::new(), warnings: Vec::new(), minimum_effect: MINIMUM_EFFECT };
    let mut unreadable = Vec::new();
    let mut imports = 0;
    for (number, ledger) in ledgers.iter().enumerate() {
        let file =
            ledger.path().file_name().map_or(String::new(), |name| name.to_string_lossy().into_owned());
        let id = |text: String| if number == 0 { text } else { format!("{file}:{text}") };
        for row in ledger.campaigns_of(name)? {
            // One that runs, or was interrupted, may have a figure for half of its contrasts.
            if row.stopped.is_none() {
                continue;
            }
            match compose::page(ledger, row.id) {
                Ok(page) => read.add_campaign(id(row.id.to_string()), ledger, row, page)?,
                Err(error) => unreadable.push(format!("{} ({error:#})", id(row.id.to_string()))),
            }
        }
        for import in ledger.imports_of(name)? {
            imports += 1;
            read.add_import(id(format!("import {}", import.id)), import);
        }
    }
    read.runs.sort_by(|one, other| one.page.unix.total_cmp(&other.page.unix));
    let newest = read.runs.iter().rev().find_map(|run| match &run.data {
        RunData::Campaign(campaign) => Some(campaign.page.campaign.minimum_effect),
        RunData::Import(_) => None,
    });
    read.minimum_effect = newest.unwrap_or(MINIMUM_EFFECT);
    if !unreadable.is_empty() {
        read.warnings
            .push(format!("Campaigns left out because they cannot be read: {}.", unreadable.join(", ")));
    }
    if imports > 0 {
        read.warnings.push(format!(
            "{} of other tools: their placement is unknown and their noise is only seen between files.",
            words::plural(imports, "imported file")
        ));
    }
    Ok(read)
}

impl Runs {
    fn add_campaign(&mut self, id: String, ledger: &Ledger, row: CampaignRow, page: Page) -> Result<()> {
        let fact = |key: &str| row.machine[key].as_str().unwrap_or_default().to_owned();
        let caches: Vec<&str> =
            row.machine["caches"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let memory = row.machine["memory_bytes"]
            .as_f64()
            .map(|bytes| format!("{:.0} GiB", bytes / f64::from(1 << 30)));
        let virtual_machine = row.machine["virtual_machine"].as_bool() == Some(true);
        let mut facts = vec![fact("cpu_id"), caches.join(", "), memory.unwrap_or_default()];
        facts.extend(virtual_machine.then(|| "virtual machine".to_owned()));
        facts.retain(|fact| !fact.is_empty());
        let machine = self.machine(HistoryMachine { name: fact("cpu"), facts });
        let as_built: Vec<ProcessRow> =
            ledger.processes(row.id)?.into_iter().filter(|process| process.rotation.is_none()).collect();
        let mut functions = BTreeMap::new();
        for process in &as_built {
            if !functions.contains_key(&process.artifact) {
                let found = ledger.artifact_functions(&process.artifact)?.unwrap_or(Value::Null);
                functions.insert(process.artifact.clone(), found);
            }
        }
        let sources = row.sources.as_ref();
        let run = HistoryRun {
            id,
            at: rfc3339(row.started_at),
            unix: row.started_at,
            machine,
            compilers: page
                .machine
                .compilers
                .iter()
                .map(|found| format!("{} {}", found.name, found.version))
                .collect(),
            revision: sources.and_then(|sources| sources["revision"].as_str()).map(str::to_owned),
            changed: sources.and_then(|sources| sources["changed"].as_bool()),
            tool: "assay".into(),
        };
        let data = CampaignData { row, page, as_built, functions };
        self.runs.push(Run { page: run, data: RunData::Campaign(Box::new(data)) });
        Ok(())
    }

    fn add_import(&mut self, id: String, import: ImportedRow) {
        let file = &import.file;
        let name = if file.machine.is_empty() { "unknown machine".to_owned() } else { file.machine.clone() };
        let machine = self.machine(HistoryMachine { name, facts: Vec::new() });
        let run = HistoryRun {
            id,
            at: rfc3339(file.measured_at),
            unix: file.measured_at,
            machine,
            compilers: Vec::new(),
            revision: file.revision.clone(),
            changed: None,
            tool: file.tool.clone(),
        };
        self.runs.push(Run { page: run, data: RunData::Import(import) });
    }

    fn machine(&mut self, found: HistoryMachine) -> usize {
        let known = self.machines.iter().position(|machine| *machine == found);
        known.unwrap_or_else(|| {
            self.machines.push(found);
            self.machines.len() - 1
        })
    }
}
