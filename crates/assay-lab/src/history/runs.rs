//! The runs of a history: campaigns with their pages and facts, imported files with their figures.

use crate::campaign::bounds;
use crate::campaign::compose::{self, rfc3339};
use crate::campaign::observe::Observed;
use crate::lead::Misuse;
use crate::store::{CampaignInput, CampaignRow, ImportedRow, Ledger, ProcessRow};
use anyhow::Result;
use assay_pure::compare::VisitPlacement;
use assay_pure::experiment::matrix::CellId;
use assay_pure::history::{instructions, processor_name};
use assay_pure::ledger::Stopped;
use assay_pure::words;
use assay_report::history::page::{HistoryLimits, HistoryMachine, HistoryRun};
use assay_report::page::Page;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Where a run's figures come from.
pub enum RunData {
    /// A campaign, judged anew.
    Campaign(Box<CampaignData>),
    /// A file.
    Import(ImportedRow),
}

/// Nanoseconds per unit of each cell, by the program and the input that they are of: equal names are equal contents.
pub type PlacedTimes = BTreeMap<CellId, BTreeMap<String, f64>>;

/// A campaign.
pub struct CampaignData {
    /// Its row.
    pub row: CampaignRow,
    /// Its page.
    pub page: Page,
    /// Its launches in the plain link.
    pub as_built: Vec<ProcessRow>,
    /// Its times at each placement.
    pub times: PlacedTimes,
    /// Which ledger it is in, from 0.
    pub ledger: usize,
}

/// One run.
pub struct RecordedRun {
    /// As shown.
    pub page: HistoryRun,
    /// Which ledger it is in, from 0.
    pub ledger: usize,
    /// Its figures and facts.
    pub data: RunData,
}

/// A machine and what tells it from others.
struct KnownMachine {
    page: HistoryMachine,
    memory: Option<f64>,
}

/// Two machines are one if their memories differ by less than this part: a kernel keeps some of it for itself.
const SAME_MEMORY: f64 = 0.05;

impl KnownMachine {
    fn is(&self, other: &KnownMachine) -> bool {
        let memory = match (self.memory, other.memory) {
            (Some(one), Some(other)) => (one - other).abs() < SAME_MEMORY * one.max(other),
            (one, other) => one == other,
        };
        // The last fact is the memory as shown.
        let facts = |machine: &KnownMachine| {
            let told = machine.page.facts.len() - usize::from(machine.memory.is_some());
            machine.page.facts[..told].to_vec()
        };
        memory && self.page.name == other.page.name && facts(self) == facts(other)
    }
}

/// A campaign that is no run.
#[derive(Clone, Debug, PartialEq)]
pub struct LeftOutRun {
    /// Its number.
    pub id: i64,
    /// When it began, Unix seconds.
    pub began: f64,
    /// "did not end".
    pub why: &'static str,
}

/// Everything that was read.
pub struct RecordedRuns {
    /// The oldest first.
    pub runs: Vec<RecordedRun>,
    /// In the order in which they were met.
    machines: Vec<KnownMachine>,
    /// Campaigns of the first ledger that have no figures.
    pub left_out: Vec<LeftOutRun>,
    /// What the reader must know.
    pub warnings: Vec<String>,
    /// A fraction: the newest campaign's.
    pub minimum_effect: f64,
}

/// The margin where no campaign tells one.
const MINIMUM_EFFECT: f64 = 0.01;

impl RecordedRuns {
    fn empty() -> RecordedRuns {
        RecordedRuns {
            runs: Vec::new(),
            machines: Vec::new(),
            left_out: Vec::new(),
            warnings: Vec::new(),
            minimum_effect: MINIMUM_EFFECT,
        }
    }

    /// Leaves out what is older than a run.
    ///
    /// # Errors
    /// [`Misuse`]: there is no such run.
    pub fn keep_from(&mut self, id: &str) -> Result<(), Misuse> {
        let Some(first) = self.runs.iter().position(|run| run.page.id == id) else {
            let known: Vec<&str> = self.runs.iter().map(|run| run.page.id.as_str()).collect();
            return Err(Misuse(format!(
                "there is no run {id} in this history; it has: {}",
                known.join(", ")
            )));
        };
        self.runs.drain(..first);
        Ok(())
    }

    /// Leaves out what these machines measured.
    ///
    /// # Errors
    /// [`Misuse`]: no run is of a machine of that name, or all are.
    pub fn leave_out(&mut self, hosts: &[String]) -> Result<(), Misuse> {
        let known: BTreeSet<&str> = self.runs.iter().filter_map(|run| run.page.host.as_deref()).collect();
        if let Some(unknown) = hosts.iter().find(|host| !known.contains(host.as_str())) {
            let known = if known.is_empty() {
                "none that is known".into()
            } else {
                words::list(&known.into_iter().collect::<Vec<_>>())
            };
            return Err(Misuse(format!(
                "no run of this history was measured on a machine called `{unknown}`; the machines are: {known}"
            )));
        }
        self.runs.retain(|run| !run.page.host.as_ref().is_some_and(|host| hosts.contains(host)));
        if self.runs.is_empty() {
            return Err(Misuse("all runs are of the machines that were to be left out".into()));
        }
        Ok(())
    }

    /// The machines, as shown.
    pub fn machines(&self) -> Vec<HistoryMachine> {
        self.machines.iter().map(|machine| machine.page.clone()).collect()
    }

    /// The run that a gate judges: the newest campaign of the first ledger, where it has none its newest import.
    pub fn judged(&self) -> Option<usize> {
        let own = |run: &RecordedRun| run.ledger == 0;
        let campaign = |run: &RecordedRun| own(run) && matches!(run.data, RunData::Campaign(_));
        self.runs.iter().rposition(campaign).or_else(|| self.runs.iter().rposition(own))
    }

    /// Whether two runs should have the same series: they are of the same ledger, machine and tool.
    pub fn are_alike(&self, one: usize, other: usize) -> bool {
        let of = |run: &RecordedRun| (run.ledger, run.page.machine, run.page.tool.clone());
        of(&self.runs[one]) == of(&self.runs[other])
    }
}

/// How the ids of further ledgers begin: the file's name, where two have one name the path.
fn prefixes(ledgers: &[Ledger]) -> Vec<String> {
    let name = |ledger: &Ledger| {
        ledger.path().file_name().map_or(String::new(), |name| name.to_string_lossy().into_owned())
    };
    let names: Vec<String> = ledgers.iter().map(name).collect();
    let alone = |name: &String| names[1..].iter().filter(|other| *other == name).count() == 1;
    let prefix = |(number, ledger): (usize, &Ledger)| match number {
        0 => String::new(),
        _ if alone(&names[number]) => format!("{}:", names[number]),
        _ => format!("{}:", ledger.path().display()),
    };
    ledgers.iter().enumerate().map(prefix).collect()
}

/// Reads all runs of a name.
///
/// # Errors
/// A ledger cannot be read.
pub fn read(ledgers: &[Ledger], name: &str) -> Result<RecordedRuns> {
    let mut read = RecordedRuns::empty();
    let (mut unreadable, mut seen) = (Vec::new(), BTreeSet::new());
    let (mut copies, mut imports) = (0, 0);
    for (number, (ledger, prefix)) in ledgers.iter().zip(prefixes(ledgers)).enumerate() {
        for row in ledger.campaigns_of(name)? {
            let left_out = |why| LeftOutRun { id: row.id, began: row.started_at, why };
            // One that runs, or was interrupted, may have a figure for half of its contrasts.
            if matches!(row.stopped, None | Some(Stopped::Interrupted)) {
                read.left_out.extend((number == 0).then(|| left_out("did not end")));
                continue;
            }
            // A campaign begins once: another row of its microsecond is a copy.
            if !seen.insert((
                row.started_at.to_bits(),
                row.finished_at.unwrap_or(0.0).to_bits(),
                row.question.clone(),
            )) {
                copies += 1;
                continue;
            }
            let id = format!("{prefix}{}", row.id);
            let unread = left_out("cannot be read");
            match compose::page_and_samples(ledger, row.id) {
                Ok((page, observed)) => read.add_campaign(id, number, ledger, row, page, &observed)?,
                Err(error) => {
                    read.left_out.extend((number == 0).then_some(unread));
                    unreadable.push(format!("{id} ({error:#})"));
                }
            }
        }
        for import in ledger.imports_of(name)? {
            let at = import.file.measured_at.to_bits();
            if !seen.insert((at, 0, format!("{} {:?}", import.file.digest, import.file.revision))) {
                copies += 1;
                continue;
            }
            imports += 1;
            read.add_import(format!("{prefix}import {}", import.id), number, import);
        }
    }
    read.runs.sort_by(|one, other| one.page.unix.total_cmp(&other.page.unix));
    let newest = read.runs.iter().rev().find_map(|run| match &run.data {
        RunData::Campaign(campaign) => Some(campaign.page.campaign.minimum_effect),
        RunData::Import(_) => None,
    });
    read.minimum_effect = newest.unwrap_or(MINIMUM_EFFECT);
    read.warnings = warnings(&unreadable, copies, imports);
    read.describe_machines();
    Ok(read)
}

fn warnings(unreadable: &[String], copies: u64, imports: u64) -> Vec<String> {
    let mut found = Vec::new();
    if !unreadable.is_empty() {
        found.push(format!("Campaigns left out because they cannot be read: {}.", unreadable.join(", ")));
    }
    if copies > 0 {
        let runs = words::plural(copies, "run");
        found.push(format!("{runs} left out: duplicates that are in more than one ledger."));
    }
    if imports > 0 {
        found.push(format!(
            "{} of other tools: their placement is unknown and their noise is only seen between files.",
            words::plural(imports, "imported file")
        ));
    }
    found
}

impl RecordedRuns {
    fn add_campaign(
        &mut self,
        id: String,
        number: usize,
        ledger: &Ledger,
        row: CampaignRow,
        page: Page,
        observed: &Observed,
    ) -> Result<()> {
        let machine = self.machine(machine_of(&row.machine));
        let processes = ledger.processes(row.id)?;
        let times = placed_times(observed, &processes, &ledger.campaign_inputs(row.id)?);
        let as_built = processes.into_iter().filter(|process| process.rotation.is_none()).collect();
        let sources = row.sources.as_ref();
        let run = HistoryRun {
            id,
            at: rfc3339(row.started_at),
            unix: row.started_at,
            machine,
            host: row.machine["host"].as_str().map(str::to_owned),
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
        let data = CampaignData { row, page, as_built, times, ledger: number };
        self.runs.push(RecordedRun { page: run, ledger: number, data: RunData::Campaign(Box::new(data)) });
        Ok(())
    }

    fn add_import(&mut self, id: String, ledger: usize, import: ImportedRow) {
        let file = &import.file;
        let name = if file.machine.is_empty() { "unknown machine".to_owned() } else { file.machine.clone() };
        let page = HistoryMachine { name, ..HistoryMachine::default() };
        let machine = self.machine(KnownMachine { page, memory: None });
        let run = HistoryRun {
            id,
            at: rfc3339(file.measured_at),
            unix: file.measured_at,
            machine,
            host: None,
            compilers: Vec::new(),
            revision: file.revision.clone(),
            changed: None,
            tool: file.tool.clone(),
        };
        self.runs.push(RecordedRun { page: run, ledger, data: RunData::Import(import) });
    }

    /// Adds to each machine what the newest of its runs that has it says: its instructions, and what limits it.
    fn describe_machines(&mut self) {
        for run in self.runs.iter().rev() {
            let RunData::Campaign(campaign) = &run.data else { continue };
            let machine = &mut self.machines[run.page.machine].page;
            if machine.instructions.is_none() {
                machine.instructions = instructions_of(&campaign.row.machine);
            }
            if machine.limits.is_none() {
                machine.limits = bounds::of(&campaign.row).map(|(limits, _)| HistoryLimits::of(&limits));
            }
        }
    }

    fn machine(&mut self, found: KnownMachine) -> usize {
        let known = self.machines.iter().position(|machine| machine.is(&found));
        known.unwrap_or_else(|| {
            self.machines.push(found);
            self.machines.len() - 1
        })
    }
}

fn placed_times(observed: &Observed, processes: &[ProcessRow], inputs: &[CampaignInput]) -> PlacedTimes {
    let mut found = PlacedTimes::new();
    for (process, input) in processes.iter().flat_map(|one| inputs.iter().map(move |input| (one, input))) {
        let cell = process.cell(&input.name);
        let at = VisitPlacement::of(process.rotation, process.phase_bytes);
        let time = observed.cells.get(&cell).and_then(|cell| cell.get(&at)?.median());
        if let Some(time) = time.filter(|time| time.is_finite() && *time > 0.0) {
            let of = format!("{} {}", process.artifact, input.digest);
            found.entry(cell).or_default().insert(of, time);
        }
    }
    found
}

fn machine_of(kept: &Value) -> KnownMachine {
    let fact = |key: &str| kept[key].as_str().unwrap_or_default().to_owned();
    let caches: Vec<&str> =
        kept["caches"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let memory = kept["memory_bytes"].as_f64();
    let virtual_machine = kept["virtual_machine"].as_bool() == Some(true);
    let mut facts = vec![fact("cpu_id"), caches.join(", ")];
    facts.extend(virtual_machine.then(|| "virtual machine".to_owned()));
    facts.extend(memory.map(|bytes| format!("{:.0} GiB", bytes / f64::from(1 << 30))));
    facts.retain(|fact| !fact.is_empty());
    let caches = caches.into_iter().map(str::to_owned).collect();
    let name = processor_name(&fact("cpu"), &fact("cpu_id"));
    KnownMachine { page: HistoryMachine { name, facts, caches, ..HistoryMachine::default() }, memory }
}

fn instructions_of(kept: &Value) -> Option<String> {
    let flags: Vec<&str> = kept["features"].as_array()?.iter().filter_map(Value::as_str).collect();
    instructions(&flags).map(str::to_owned)
}

#[cfg(test)]
impl RecordedRuns {
    /// So many runs of one machine, a day apart, without figures.
    pub fn of_days(count: usize) -> RecordedRuns {
        let mut read = RecordedRuns::empty();
        for day in 0..count {
            let file = crate::store::NewImport {
                name: "sums".into(),
                tool: "go".into(),
                file: "x".into(),
                digest: day.to_string(),
                machine: "A".into(),
                revision: None,
                notes: Vec::new(),
                measured_at: 86_400.0 * day as f64,
                figures: Vec::new(),
            };
            read.add_import((day + 1).to_string(), 0, ImportedRow { id: day as i64 + 1, file });
        }
        read
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_machine_is_the_same_with_a_little_less_memory_and_another_with_half() {
        let machine = |gib: f64, cpu: &str| {
            let bytes = gib * f64::from(1 << 30);
            machine_of(&json!({"cpu": cpu, "cpu_id": "x", "caches": ["L1"], "memory_bytes": bytes}))
        };
        assert!(machine(15.6, "A").is(&machine(15.4, "A")), "a kernel that keeps more for itself");
        assert!(!machine(15.6, "A").is(&machine(7.8, "A")));
        assert!(!machine(15.6, "A").is(&machine(15.6, "B")));
        assert_eq!(machine(15.6, "A").page.facts, ["x", "L1", "16 GiB"]);
        assert_eq!(machine(15.6, "A").page.caches, ["L1"]);
    }

    #[test]
    fn the_level_of_instructions_is_that_of_the_kept_flags_and_unknown_without_any() {
        let flags =
            json!({"features": ["lm", "cx16", "lahf_lm", "popcnt", "pni", "sse4_1", "sse4_2", "ssse3"]});
        assert_eq!(instructions_of(&flags).as_deref(), Some("x86-64-v2"));
        assert_eq!(instructions_of(&json!({"cpu": "A"})), None, "a ledger from before flags were kept");
    }

    #[test]
    fn ledgers_of_one_name_are_told_apart_by_their_paths() {
        let folder = tempfile::tempdir().unwrap();
        let open = |place: &str| {
            let path = folder.path().join(place);
            Ledger::open(&path).unwrap()
        };
        let found = prefixes(&[open("ledger.db"), open("a/ledger.db"), open("b/ledger.db"), open("ci.db")]);
        assert_eq!((found[0].as_str(), found[3].as_str()), ("", "ci.db:"));
        assert!(found[1].ends_with("a/ledger.db:") && found[2].ends_with("b/ledger.db:"), "{found:?}");
    }
}
