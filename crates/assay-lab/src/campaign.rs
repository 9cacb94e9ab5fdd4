//! One campaign from an experiment file to verdicts: a list of phases, each a file of its own, each of whose results
//! goes to the ledger before the next begins.

mod alone;
pub mod blocks;
pub mod bounds;
mod companions;
pub mod compose;
pub mod count;
pub mod counted;
pub mod examination;
mod inlined;
mod input_store;
pub mod inputs;
pub mod judge;
pub mod known_code;
mod known_input;
pub mod landing;
pub mod left_out;
mod made;
pub mod measure;
mod moment;
pub mod observe;
pub mod outlook;
pub mod placements;
pub mod prepare;
pub mod prove;
pub mod scene;
pub mod shared;
mod sources;
pub mod start;
pub mod steps;
pub mod unchanged;
mod unoptimised;
mod unregistered;
pub mod usage;
pub mod workspace;

use crate::lead::{self, Begun, Lead, Misuse, Question, Resume, measuring_cpu};
pub use crate::run::retake::MeasuringCore;
use crate::store::{CampaignRow, Led, Ledger, NewCampaign};
use anyhow::{Result, bail};
use assay_linux::machine::Machine;
use assay_pure::event::Event;
use assay_pure::experiment::{CountedEvent, Experiment};
use assay_pure::inputs::digest::digest;
use assay_pure::ledger::Stopped;
use assay_pure::words;
use prepare::{Outline, PreparedExperiment};
use scene::Scene;
use serde_json::json;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;
use unchanged::LinksOfToday;

/// What the command line asks for.
#[derive(Clone, Debug)]
pub struct CampaignRequest {
    /// The experiment file.
    pub experiment: PathBuf,
    /// The ledger.
    pub ledger: PathBuf,
    /// Where inputs and artifacts are kept by content.
    pub store: PathBuf,
    /// A first answer fast.
    pub quick: bool,
    /// What becomes of a campaign of this experiment that was begun before.
    pub resume: Resume,
    /// The processor to measure on.
    pub cpu: Option<usize>,
    /// How long a measured program may take for one reply.
    pub patience: Duration,
    /// Seconds of measuring, instead of the file's.
    pub budget: Option<f64>,
    /// Only inputs whose names match one of these globs.
    pub inputs: Vec<String>,
    /// Only compilers that match these, instead of the file's.
    pub compilers: Vec<String>,
    /// Seed of the plan, instead of the file's.
    pub seed: Option<u64>,
    /// It is one of so many parts of a question, each measured on its own: budget and error are shared out.
    pub one_of: u32,
    /// Nothing is decided by proof.
    pub measured_only: bool,
    /// The variants are examined before they are measured.
    pub examine: bool,
    /// What counts.
    pub source: CountingSource,
    /// Predictors that judge the branches instead of the processor or what stands for it; all known to the zoo.
    pub predictors: Vec<String>,
}

/// What counts instructions and branches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CountingSource {
    /// The processor's counters, else a build that logs its branches, else the emulator.
    #[default]
    Best,
    /// The emulator.
    Traced,
    /// A build that logs its branches, without emulation; the emulator where there can be none, with the reason.
    Instrumented,
}

/// Measuring time of `--quick`, seconds.
const QUICK_SECONDS: f64 = 11.0;

impl CampaignRequest {
    /// Applies the command line's wishes to what the file says.
    ///
    /// # Errors
    /// A filter that leaves no input.
    pub fn apply(&self, experiment: &mut Experiment) -> Result<(), Misuse> {
        if let Some(seed) = self.seed {
            experiment.seed = seed;
        }
        experiment.measured_only = self.measured_only;
        experiment.predictors.clone_from(&self.predictors);
        // Who names predictors asks what they mispredict and what that explains, whatever the file counts.
        let asked = [CountedEvent::Instructions, CountedEvent::BranchMisses];
        for event in asked.into_iter().filter(|_| !self.predictors.is_empty()) {
            if !experiment.events.contains(&event) {
                experiment.events.push(event);
            }
        }
        if self.quick {
            experiment.budget_seconds = experiment.budget_seconds.min(QUICK_SECONDS);
            experiment.placement.max_rotations = experiment.placement.rotations;
        }
        if let Some(budget) = self.budget {
            experiment.budget_seconds = budget;
        }
        if self.one_of > 1 {
            // By Bonferroni's inequality all parts together then err no more often than the whole would.
            let parts = f64::from(self.one_of);
            experiment.budget_seconds /= parts;
            experiment.confidence = 1.0 - (1.0 - experiment.confidence) / parts;
        }
        if !self.inputs.is_empty() {
            let names: Vec<String> = experiment.inputs.iter().map(|input| input.name.clone()).collect();
            experiment.inputs.retain(|input| {
                self.inputs.iter().any(|glob| assay_pure::experiment::pattern::matches(glob, &input.name))
            });
            if experiment.inputs.is_empty() {
                return Err(Misuse(format!(
                    "--input {} matches none of the experiment's inputs: {}",
                    self.inputs.join(" "),
                    names.join(", ")
                )));
            }
        }
        Ok(())
    }
}

/// Checks that of several experiments that are asked for together one was begun, so that they can be resumed.
///
/// # Errors
/// [`Misuse`]: the ledger has no campaign of any of these names. It cannot be read.
pub fn something_begun(ledger: &Ledger, names: &BTreeSet<String>) -> Result<()> {
    /// So many are not named one by one.
    const MANY: usize = 4;
    for name in names {
        if !ledger.campaigns_of(name)?.is_empty() {
            return Ok(());
        }
    }
    let path = ledger.path().display();
    let of = match names.len() {
        MANY.. => format!("any of these {} experiments", names.len()),
        _ => words::list_or(&names.iter().collect::<Vec<_>>()),
    };
    Err(Misuse(format!("nothing to resume: the ledger {path} has no campaign of {of}; run without --resume"))
        .into())
}

/// A campaign that has come to its end, or was interrupted.
#[derive(Debug)]
pub struct EndedCampaign {
    /// Its number in the ledger.
    pub campaign: i64,
    /// Somebody pressed Ctrl-C.
    pub interrupted: bool,
    /// It was at its end before: nothing was measured now.
    pub kept: bool,
}

/// Runs an experiment to its verdicts.
///
/// # Errors
/// [`Misuse`], [`Unable`], a ledger that cannot be written. What a measured program or a compiler does wrong is no
/// error: it is a failed cell.
pub fn run(asked: &CampaignRequest, events: &mut dyn FnMut(Event)) -> Result<EndedCampaign> {
    let outline = prepare::outline(asked)?;
    // Before this process keeps off the measuring processor, which would then be missing from the facts.
    let machine = assay_linux::machine::facts();
    let mut core = MeasuringCore::of_campaign(outline.experiment.budget_seconds);
    run_outline(outline, machine, asked, &mut core, &mut |_, _| Ok(()), events)
}

/// [`run`] of an experiment that was outlined by the caller, who is told the campaign's number as soon as it has one, and may
/// know the measuring core already.
///
/// # Errors
/// As of [`run`]; whatever the caller's part returns.
pub fn run_outline(
    outline: Outline,
    machine: Machine,
    asked: &CampaignRequest,
    core: &mut MeasuringCore,
    begun: &mut dyn FnMut(&Ledger, i64) -> Result<()>,
    events: &mut dyn FnMut(Event),
) -> Result<EndedCampaign> {
    let ledger = lead::open(&asked.ledger, &asked.store)?;
    let cpu = measuring_cpu(asked.cpu)?;
    let prepared = prepare::prepare(outline, machine, &asked.store, &ledger, events)?;
    let lead = match begin_or_resume(asked, &prepared, &ledger, cpu, events)? {
        Begun::UnderWay(lead) => lead,
        Begun::Over(campaign) => return Ok(EndedCampaign { campaign, interrupted: false, kept: true }),
    };
    if asked.resume == Resume::OneOfSeveral && !lead.resumed {
        events(Event::Warning("not measured yet as it is now: it begins".into()));
    }
    let row = row_of(&prepared, &ledger, &lead, events)?;
    begun(&ledger, row.id)?;
    let mut scene =
        Scene { ledger: &ledger, campaign: &row, cpu, patience: asked.patience, on: &mut *events };
    let builder = placements::Placements::compile(&prepared, &mut scene, &asked.store)?;
    let stopped = measure::measure(
        &prepared,
        &builder,
        asked.examine.then_some(asked.store.as_path()),
        &mut scene,
        core,
    )?;
    if ![Stopped::Interrupted, Stopped::Nothing].contains(&stopped) {
        count::count(&prepared, &builder, asked.source, &mut scene)?;
    }
    let stopped = if assay_linux::interrupt::asked() { Stopped::Interrupted } else { stopped };
    lead.end(&ledger, stopped)?;
    events(Event::Finished);
    Ok(EndedCampaign { campaign: row.id, interrupted: stopped == Stopped::Interrupted, kept: false })
}

/// Counts the events of some cells of a campaign that is over: those of the outline's inputs, variants and events.
///
/// # Errors
/// As of [`run`].
pub fn count_afterwards(
    outline: Outline,
    machine: Machine,
    asked: &CampaignRequest,
    campaign: i64,
    events: &mut dyn FnMut(Event),
) -> Result<()> {
    let ledger = lead::open(&asked.ledger, &asked.store)?;
    let cpu = measuring_cpu(asked.cpu)?;
    let Some(row) = ledger.campaign(campaign)? else { bail!("the ledger has no campaign {campaign}") };
    let prepared = prepare::prepare(outline, machine, &asked.store, &ledger, events)?;
    let mut scene = Scene { ledger: &ledger, campaign: &row, cpu, patience: asked.patience, on: events };
    let builder = placements::Placements::compile(&prepared, &mut scene, &asked.store)?;
    count::count(&prepared, &builder, asked.source, &mut scene)
}

fn begin_or_resume(
    asked: &CampaignRequest,
    prepared: &PreparedExperiment,
    ledger: &Ledger,
    cpu: usize,
    events: &mut dyn FnMut(Event),
) -> Result<Begun> {
    let spec = serde_json::to_value(&prepared.experiment)?;
    let compilers: Vec<&str> = prepared.compilers.iter().map(|compiler| compiler.sha256.as_str()).collect();
    let question =
        digest(json!([prepared.text, spec, compilers, prepared.contents()?, cpu]).to_string().as_bytes());
    let of = "of this experiment as it is now (same file, options and compilers)";
    let question = Question { led: Led::Campaign, digest: &question, of, resume: asked.resume != Resume::No };
    let new = || {
        let mut machine = compose::machine_json(&prepared.machine, &prepared.compilers, cpu);
        bounds::keep(&mut machine, &prepared.machine);
        ledger.begin(&NewCampaign {
            experiment: &prepared.experiment.name,
            question: question.digest,
            experiment_text: &prepared.text,
            spec: &spec,
            machine: &machine,
            pinned_cpu: Some(cpu),
            sources: Some(&sources::facts(prepared)),
        })
    };
    let mut is_current = |campaign: i64| {
        events(Event::Phase { name: "build".into() });
        let same = LinksOfToday::of(prepared.into(), &asked.store)?.are_those_of(ledger, campaign)?;
        if !same {
            let text = format!("campaign {campaign} measured other machine code than what is built now");
            events(Event::Warning(text));
        }
        Ok(same)
    };
    match asked.resume {
        Resume::OneOfSeveral => question.begin_or_resume_of_several(ledger, &mut is_current, new),
        Resume::No | Resume::Unfinished => {
            question.begin_or_resume(ledger, &mut is_current, new).map(Begun::UnderWay)
        }
    }
}

/// The campaign as the ledger has it; says so if it goes on.
fn row_of(
    prepared: &PreparedExperiment,
    ledger: &Ledger,
    lead: &Lead,
    events: &mut dyn FnMut(Event),
) -> Result<CampaignRow> {
    if lead.resumed {
        lead.tell(&format!("{} finished rounds", ledger.rounds(lead.id)?.len()), events);
        let began = ledger.machine_of(Led::Campaign, lead.id)?;
        if began.is_some_and(|machine| machine["host"].as_str() != prepared.machine.host.as_deref()) {
            ledger.forget_host(lead.id)?;
        }
    } else {
        prepared.skipped.iter().try_for_each(|failure| ledger.put_failure(lead.id, failure))?;
    }
    let Some(row) = ledger.campaign(lead.id)? else { bail!("the ledger lost the campaign it just began") };
    Ok(row)
}
