//! Instructions, branches and mispredictions per unit, for every cell of the as-built links: after the times, and apart from
//! them.
//!
//! Method: each (compiler, flags, variant) runs once more and walks through the inputs between marks (PROTOCOL.md, `trace`):
//! by itself where the kernel counts its events, else under the tracer, or, where that is asked for, in an instrumented build
//! (`logged`). What was found is a fact of artifact, input and method: a repeated campaign finds it in the ledger.
//! The phase has a time of its own; what does not fit is told in its cells, and the next campaign goes on from there.
//! Known limits: the as-built link speaks for all placements of its code, which are the same instructions elsewhere.

mod allocations;
pub mod branch_cost;
pub mod capped;
mod converse;
mod followed;
mod generation;
mod hardware;
mod logged;
pub mod simulate;
mod traced;
mod walks;

use super::CountingSource;
use super::blocks::failed_cells;
use super::placements::{BuildGroup, PlacedLink, Placements};
use super::prepare::PreparedExperiment;
use super::scene::Scene;
use crate::store::{AllocationRow, CountRow, Ledger};
use anyhow::Result;
use assay_link::build::LoggingProgram;
use assay_linux::perf::RefusalContext;
use assay_pure::event::Event;
use assay_pure::experiment::{self, Experiment};
use assay_pure::ledger::{CountWalk, Stage};
use assay_pure::predict;
use assay_pure::protocol::VariantKind;
use assay_pure::verdict::counts::{CountSource, THIS_CPU};
use assay_pure::words;
use converse::{CountedInput, CutShort, Job, NumberedInput, ProgramCounts};
pub use followed::follow;
use hardware::AvailableCounters;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use walks::WalkedStretch;

/// The time for it, seconds: this share of the measuring, within these limits.
const TIME: (f64, f64, f64) = (0.5, 10.0, 30.0);
/// Predictors that this time is for.
const USUAL_PREDICTORS: f64 = 3.0;
/// Stands in a method ahead of predictors that the user named.
const NAMED: &str = "named predictors: ";
/// Units per pass of a long input: some ten thousand mispredictions where there are many. The same for every budget, so that
/// all campaigns find each other's counts.
const UNITS: u64 = 40_000;

/// One program and what is still to be counted of it.
struct OpenProgram<'a> {
    placed: &'a PlacedLink,
    variant: usize,
    inputs: Vec<usize>,
}

/// What the ledger has of a program: a variant on an input that was cut into so many windows.
struct CountedCell {
    variant: String,
    digest: String,
    windows: u64,
}

/// What was executed for a count.
struct CountedProgram<'a> {
    /// Hash of the program that the counts are of.
    artifact: &'a str,
    source: CountSource,
    /// What the reader must know.
    note: Option<&'a str>,
}

/// What is the same for all programs.
struct CountPhase<'a, 's> {
    prepared: &'a PreparedExperiment,
    placements: &'a Placements<'a>,
    scene: &'a mut Scene<'s>,
    /// What the processor counts, or why it does not.
    counters: Result<AvailableCounters, String>,
    predictors: Vec<String>,
    method: String,
    /// Whether programs are counted in instrumented builds, where they can be.
    logs: bool,
    /// The instrumented builds so far, or why there is none.
    logging: HashMap<BuildGroup, Result<LoggingProgram, String>>,
    deadline: Instant,
    done: u64,
    total: u64,
    /// Combined answers by input and kind: the first variant's speak for all that are compiled as it was. Flags may ask for other ones.
    checks: HashMap<(BuildGroup, usize, VariantKind), u64>,
}

/// Counts what the experiment asks for, as far as it is not known and time allows.
///
/// # Errors
/// The ledger cannot be written. What cannot be counted is a failure of its cell.
pub fn count(
    prepared: &PreparedExperiment,
    placements: &Placements<'_>,
    source: CountingSource,
    scene: &mut Scene<'_>,
) -> Result<()> {
    let asked = &prepared.experiment.events;
    if asked.is_empty() {
        return Ok(());
    }
    scene.phase("count");
    let with_misses = asked.contains(&experiment::CountedEvent::BranchMisses);
    if with_misses {
        branch_cost::ensure(scene)?;
    }
    let groups = as_built(prepared, scene.ledger, scene.campaign.id)?;
    let placed = placements.link(&groups, &[], true, scene)?;
    scene.phase("count");
    let seconds = seconds(&prepared.experiment);
    let named = &prepared.experiment.predictors;
    let counters = match source {
        _ if !named.is_empty() => Err("no counters, as predictors are named by --predictor".to_owned()),
        CountingSource::Best => hardware::events(asked, &RefusalContext::here(), &hardware::open_here),
        CountingSource::Traced => Err("traced, as asked by --source traced".to_owned()),
        CountingSource::Instrumented => Err("no counters, as asked by --source instrumented".to_owned()),
    };
    let predictors = match &counters {
        _ if !with_misses => Vec::new(),
        Ok(_) => vec![THIS_CPU.to_owned()],
        Err(_) if !named.is_empty() => named.clone(),
        Err(_) => generation::predictors(&prepared.machine.cpu_id),
    };
    let executed = asked.iter().any(|event| !event.is_of_memory());
    let logs = counters.is_err() && source != CountingSource::Traced;
    let mut phase = CountPhase {
        method: method(logs, &counters, &predictors, !named.is_empty()),
        logs,
        logging: HashMap::new(),
        counters,
        prepared,
        placements,
        scene,
        predictors,
        deadline: Instant::now() + Duration::from_secs_f64(seconds),
        done: 0,
        total: 0,
        checks: HashMap::new(),
    };
    let allocated =
        if asked.iter().any(|event| event.is_of_memory()) { phase.unallocated(&placed)? } else { Vec::new() };
    let open = if executed { phase.open(&placed)? } else { Vec::new() };
    phase.total = allocated.iter().chain(&open).map(|open| open.inputs.len() as u64).sum();
    if !allocated.is_empty() {
        phase.scene.doing("counting allocations");
    }
    phase.count_allocations(&allocated)?;
    if !open.is_empty() {
        let by = match &phase.counters {
            Ok(_) => "by the processor's counters",
            Err(_) if logs => "in an instrumented build",
            Err(_) => "under QEMU, traced",
        };
        phase.scene.doing(format!("counting {by}, at most {}", words::duration(seconds)));
    }
    for one in &open {
        if assay_linux::interrupt::asked() {
            break;
        }
        phase.count(one)?;
    }
    Ok(())
}

/// Compilers and flags whose as-built link was started in this campaign.
fn as_built(prepared: &PreparedExperiment, ledger: &Ledger, campaign: i64) -> Result<Vec<BuildGroup>> {
    let mut groups = Vec::new();
    for process in ledger.processes(campaign)?.iter().filter(|process| process.rotation.is_none()) {
        let compiler = prepared.compilers.iter().position(|compiler| compiler.name == process.compiler);
        let flags = prepared.experiment.flags.iter().position(|set| set.name == process.flags);
        if let (Some(compiler), Some(flags)) = (compiler, flags) {
            let group = BuildGroup { compiler, flags };
            if !groups.contains(&group) {
                groups.push(group);
            }
        }
    }
    Ok(groups)
}

/// Seconds for all counts: predictors beyond the usual three take time of their own.
fn seconds(experiment: &Experiment) -> f64 {
    let usual = (TIME.0 * experiment.budget_seconds).clamp(TIME.1, TIME.2);
    usual * (experiment.predictors.len() as f64 / USUAL_PREDICTORS).max(1.0)
}

/// Whether counts are what a campaign asks for: those of the predictors that it names; where it names none, not those that
/// another campaign has named.
pub fn answers(row: &CountRow, asked: &Experiment) -> bool {
    let named = row.method.contains(NAMED);
    let judges = row.misses.iter().map(|(predictor, _)| predictor);
    named != asked.predictors.is_empty() && (!named || judges.eq(&asked.predictors))
}

/// What must be the same for counts to be used again.
fn method(
    logs: bool,
    counters: &Result<AvailableCounters, String>,
    predictors: &[String],
    named: bool,
) -> String {
    if let Ok(counters) = counters {
        let names: Vec<String> = counters.names().collect();
        return format!("counted, walks of {UNITS} units; events: {}", names.join(", "));
    }
    let name = |name: &String| {
        let definition =
            predict::zoo::describe(name).map(|described| described.definition).unwrap_or_default();
        format!("{name} {definition:016x}")
    };
    let predictors: Vec<String> = predictors.iter().map(name).collect();
    let how = if logs { "logged" } else { "traced" };
    let whose = if named { NAMED } else { "predictors: " };
    format!("{how}, walks of {UNITS} units; {whose}{}", predictors.join(", "))
}

fn numbered<'a>(prepared: &'a PreparedExperiment, inputs: &[usize]) -> Vec<NumberedInput<'a>> {
    inputs.iter().map(|&number| NumberedInput { number, ready: &prepared.inputs[number] }).collect()
}

impl CountPhase<'_, '_> {
    /// What is not in the ledger yet.
    fn open<'p>(&self, placed: &'p [PlacedLink]) -> Result<Vec<OpenProgram<'p>>> {
        self.open_of(placed, |ledger, artifact| {
            let rows = ledger.counts(artifact)?.into_iter().filter(|row| row.method == self.method);
            let cell =
                |row: CountRow| CountedCell { variant: row.variant, digest: row.input, windows: row.windows };
            Ok(rows.map(cell).collect())
        })
    }

    /// The same of allocations.
    fn unallocated<'p>(&self, placed: &'p [PlacedLink]) -> Result<Vec<OpenProgram<'p>>> {
        self.open_of(placed, |ledger, artifact| {
            let rows =
                ledger.allocations(artifact)?.into_iter().filter(|row| row.method == allocations::METHOD);
            let cell = |row: AllocationRow| CountedCell {
                variant: row.variant,
                digest: row.input,
                windows: row.windows,
            };
            Ok(rows.map(cell).collect())
        })
    }

    fn open_of<'p>(
        &self,
        placed: &'p [PlacedLink],
        known: impl Fn(&Ledger, &str) -> Result<Vec<CountedCell>>,
    ) -> Result<Vec<OpenProgram<'p>>> {
        let failed = failed_cells(self.prepared, self.scene.ledger, self.scene.campaign.id)?;
        let mut open = Vec::new();
        for place in placed {
            let known = known(self.scene.ledger, &place.artifact.hash)?;
            for &variant in &self.prepared.runnable {
                let name = &self.prepared.experiment.variants[variant].name;
                let is_open = |input: &usize| {
                    let ready = &self.prepared.inputs[*input];
                    let windows = ready.windows.len() as u64;
                    let is_known = known.iter().any(|counted| {
                        (&counted.variant, &counted.digest, counted.windows)
                            == (name, &ready.row.digest, windows)
                    });
                    !is_known && !failed.contains(&place.group.cell(variant, *input))
                };
                // A walk is hot and independent: it says nothing of cold code, and of others nothing new.
                let is_hot = |input: &usize| self.prepared.experiment.inputs[*input].usage.is_plain();
                let all = 0..self.prepared.inputs.len();
                let inputs: Vec<usize> = all.filter(is_hot).filter(is_open).collect();
                if !inputs.is_empty() {
                    open.push(OpenProgram { placed: place, variant, inputs });
                }
            }
        }
        Ok(open)
    }

    /// Counts what programs allocate.
    fn count_allocations(&mut self, open: &[OpenProgram<'_>]) -> Result<()> {
        if open.is_empty() {
            return Ok(());
        }
        let compilers: Vec<PathBuf> =
            self.prepared.compilers.iter().map(|found| found.path.clone()).collect();
        let library = allocations::HeapLibrary::build(&compilers);
        for one in open {
            if assay_linux::interrupt::asked() {
                break;
            }
            let before = self.done;
            let (rows, stopped) = match &library {
                Ok(library) => {
                    let job = Job {
                        program: &one.placed.artifact.path,
                        variant: &self.prepared.experiment.variants[one.variant].name,
                        inputs: numbered(self.prepared, &one.inputs),
                        most_units: UNITS,
                        predictors: &[],
                        cpu: self.scene.cpu,
                        patience: self.scene.patience,
                        deadline: self.deadline,
                        plugin: None,
                        variables: vec![("LD_PRELOAD".into(), library.path.display().to_string())],
                    };
                    allocations::count(&job, one.placed, &mut || {})
                }
                Err(reason) => (Vec::new(), Some(CutShort::Other(reason.clone()))),
            };
            let left: Vec<usize> =
                one.inputs.iter().copied().filter(|input| rows.iter().all(|(own, _)| own != input)).collect();
            let rows: Vec<AllocationRow> = rows.into_iter().map(|(_, row)| row).collect();
            self.scene.ledger.put_allocations(self.scene.campaign.id, &rows)?;
            if let Some(stopped) = stopped {
                self.fail(one, &left, &self.said(&stopped))?;
            }
            self.advance(before + one.inputs.len() as u64)?;
        }
        Ok(())
    }

    /// Counts one program.
    fn count(&mut self, open: &OpenProgram<'_>) -> Result<()> {
        let before = self.done;
        let logged = self.logs.then(|| self.log(open));
        match logged {
            Some(Ok(outcome)) => self.keep_logged(open, outcome)?,
            Some(Err(why)) => {
                self.execute(open, Some(format!("its instrumented build cannot be counted: {why}")))?;
            }
            None => self.execute(open, None)?,
        }
        self.advance(before + open.inputs.len() as u64)
    }

    /// What its instrumented build has logged.
    fn keep_logged(&mut self, open: &OpenProgram<'_>, outcome: ProgramCounts) -> Result<()> {
        let artifact = &open.placed.artifact.hash;
        let executed = CountedProgram { artifact, source: CountSource::Instrumented, note: None };
        let left = self.keep(open, &executed, &outcome)?;
        let reason = outcome.stopped.map_or_else(String::new, |why| self.said(&why));
        self.fail(open, &left, &reason)
    }

    /// Counts it with the processor's counters or the emulator, a second time in another build where the emulator lacks an
    /// instruction. `refused`: why its instrumented build cannot be counted.
    fn execute(&mut self, open: &OpenProgram<'_>, refused: Option<String>) -> Result<()> {
        let artifact = &open.placed.artifact;
        let source = if self.counters.is_ok() { CountSource::Counted } else { CountSource::Traced };
        let outcome = self.trace(&artifact.path, open, &open.inputs);
        let noted = refused.as_ref().map(|why| format!("traced by the emulator, as {why}"));
        let executed = CountedProgram { artifact: &artifact.hash, source, note: noted.as_deref() };
        let left = self.keep(open, &executed, &outcome)?;
        let Some(stopped) = outcome.stopped.filter(|_| !left.is_empty()) else {
            return Ok(());
        };
        let reason = match stopped {
            CutShort::Instruction(reason) => match self.placements.capped(open.placed.group) {
                Ok(Some((capped, note))) => {
                    let outcome = self.trace(&capped.path, open, &left);
                    let both = noted.map_or_else(|| note.clone(), |why| format!("{why}; {note}"));
                    let executed = CountedProgram { artifact: &capped.hash, source, note: Some(&both) };
                    let left = self.keep(open, &executed, &outcome)?;
                    let why =
                        outcome.stopped.map(|why| format!("{}; and {note}: {}", reason, self.said(&why)));
                    return self.fail(open, &left, &why.unwrap_or(reason));
                }
                Ok(None) => reason,
                Err(failure) => format!("{reason}; built for the emulator it fails: {failure}"),
            },
            other => self.said(&other),
        };
        let both = refused.map_or_else(|| reason.clone(), |why| format!("{reason}; and {why}"));
        self.fail(open, &left, &both)
    }

    fn said(&self, stopped: &CutShort) -> String {
        match stopped {
            CutShort::Late => {
                "the time for counting ran out; the next campaign counts this cell (a larger --budget gives \
                 more time)"
                    .to_owned()
            }
            CutShort::Instruction(reason) | CutShort::Other(reason) => reason.clone(),
        }
    }

    fn advance(&mut self, done: u64) -> Result<()> {
        self.done = done;
        self.scene.tell(Event::Counted { done: self.done, total: self.total });
        Ok(())
    }

    /// Counts one program in its instrumented build.
    fn log(&mut self, open: &OpenProgram<'_>) -> Result<ProgramCounts, String> {
        let placements = self.placements;
        let begun = Instant::now();
        let built = self.logging.entry(open.placed.group);
        let built = built.or_insert_with(|| placements.instrument(open.placed)).clone()?;
        // What is built is built once; the time is for counting.
        self.deadline += begun.elapsed();
        let before = self.done;
        let outcome = self
            .with_job(&built.logging, open, &open.inputs, &mut |job, told| logged::log(job, &built, told));
        if outcome.is_err() {
            self.done = before;
        }
        // A part of a sentence, whose end others write; notes are whole ones.
        outcome.map_err(|why| match built.notes.join(" ").strip_suffix('.') {
            Some(notes) => format!("{why}. {notes}"),
            None => why,
        })
    }

    fn trace(&mut self, program: &Path, open: &OpenProgram<'_>, inputs: &[usize]) -> ProgramCounts {
        let counters = self.counters.clone();
        self.with_job(program, open, inputs, &mut |job, told| match &counters {
            Ok(counters) => hardware::count(job, counters, told),
            Err(_) => traced::trace(job, told),
        })
    }

    fn with_job<T>(
        &mut self,
        program: &Path,
        open: &OpenProgram<'_>,
        inputs: &[usize],
        work: &mut dyn FnMut(&Job<'_>, &mut dyn FnMut()) -> T,
    ) -> T {
        let job = Job {
            program,
            variant: &self.prepared.experiment.variants[open.variant].name,
            inputs: numbered(self.prepared, inputs),
            most_units: UNITS,
            predictors: &self.predictors,
            cpu: self.scene.cpu,
            patience: self.scene.patience,
            deadline: self.deadline,
            plugin: None,
            variables: Vec::new(),
        };
        let (mut done, total, on) = (self.done, self.total, &mut *self.scene.on);
        let mut told = || {
            done += 1;
            on(Event::Counted { done: done.min(total), total });
        };
        work(&job, &mut told)
    }

    /// Keeps what was counted and returns the inputs of which nothing was.
    fn keep(
        &mut self,
        open: &OpenProgram<'_>,
        executed: &CountedProgram<'_>,
        outcome: &ProgramCounts,
    ) -> Result<Vec<usize>> {
        let mut rows = Vec::new();
        let mut left: Vec<usize> = open.inputs.clone();
        for cell in &outcome.cells {
            left.retain(|input| *input != cell.input);
            match self.proven(open.placed.group, cell).and_then(|()| cell.walked.clone()) {
                Ok(walked) => {
                    let row = |walk, stretch| {
                        let mut row = self.row(open, cell.input, executed, walk, stretch);
                        let notes = [row.note.take(), cell.note.clone()];
                        row.note = notes.into_iter().flatten().reduce(|one, other| format!("{one}; {other}"));
                        row
                    };
                    rows.push(row(CountWalk::First, &walked.first));
                    rows.extend(walked.repeated.as_ref().map(|repeated| row(CountWalk::Repeated, repeated)));
                }
                Err(reason) => self.fail(open, &[cell.input], &reason)?,
            }
        }
        self.scene.ledger.put_counts(self.scene.campaign.id, &rows)?;
        Ok(left)
    }

    /// The answers of what was walked through, compared with those of the first variant of the kind.
    fn proven(&mut self, group: BuildGroup, cell: &CountedInput) -> Result<(), String> {
        let check = cell.check;
        let kind = if cell.kind.is_windowed() { VariantKind::Call } else { cell.kind };
        let first = *self.checks.entry((group, cell.input, kind)).or_insert(check);
        if first == check {
            return Ok(());
        }
        Err(format!(
            "its answers while it was counted ({check:016x}) differ from those of the other variants ({first:016x})"
        ))
    }

    fn row(
        &self,
        open: &OpenProgram<'_>,
        input: usize,
        executed: &CountedProgram<'_>,
        walk: CountWalk,
        stretch: &WalkedStretch,
    ) -> CountRow {
        let ready = &self.prepared.inputs[input];
        CountRow {
            id: 0,
            artifact: open.placed.artifact.hash.clone(),
            executed: executed.artifact.to_owned(),
            variant: self.prepared.experiment.variants[open.variant].name.clone(),
            input: ready.row.digest.clone(),
            windows: ready.windows.len() as u64,
            method: self.method.clone(),
            source: executed.source,
            walk,
            units: stretch.units,
            instructions: stretch.executed.instructions,
            branches: stretch.executed.branches,
            conditional: self.counters.is_err().then_some(stretch.executed.conditional),
            cycles: stretch.executed.cycles,
            front_end: match &self.counters {
                Ok(counters) => counters.front_end(&stretch.executed),
                Err(_) => Vec::new(),
            },
            misses: self.predictors.iter().cloned().zip(stretch.executed.misses.iter().copied()).collect(),
            note: self.note(executed.note),
        }
    }

    /// Why it was traced, in which build, and what no trace tells.
    fn note(&self, build: Option<&str>) -> Option<String> {
        let why = self.counters.as_ref().err().map(String::as_str);
        let asked = &self.prepared.experiment.events;
        let cycles = asked.contains(&experiment::CountedEvent::Cycles);
        let no_cycles = (why.is_some() && cycles).then_some("a trace has no cycles");
        let front_end = asked.iter().any(|event| event.is_of_front_end());
        let no_front_end = match &self.counters {
            Ok(counters) => counters.without_front_end.as_deref(),
            Err(_) => front_end.then_some("a trace has no events of the front end"),
        };
        let parts: Vec<&str> = build.into_iter().chain(why).chain(no_cycles).chain(no_front_end).collect();
        (!parts.is_empty()).then(|| parts.join("; "))
    }

    fn fail(&self, open: &OpenProgram<'_>, inputs: &[usize], reason: &str) -> Result<()> {
        for &input in inputs {
            let cell = open.placed.group.cell(open.variant, input);
            let failure = self.prepared.failure(Stage::Count, cell, false, reason.to_owned());
            self.scene.ledger.put_failure(self.scene.campaign.id, &failure)?;
        }
        Ok(())
    }
}
