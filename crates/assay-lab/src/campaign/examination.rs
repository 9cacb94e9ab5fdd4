//! What would make a campaign's figures untrue is looked for before anything is measured: work that is not done or done elsewhere,
//! calls that are too short, pages that are touched for the first time, inputs that the predictor memorises.
//!
//! Method: each variant of each as-built link is called on pieces of its inputs and traced for some seconds (`examine`). What a
//! first walk after other work takes longer than later ones tells which inputs may be memorised; only these are simulated, and
//! both must agree. What was seen goes to the ledger; what follows from it ([`findings`]) is decided when the page is made.
//! Known limits: an input that is not used hot, or is longer than the pieces, is not examined for being memorised. A variant that
//! fails while it is examined is not examined: measuring it tells why.

mod findings;
mod outlined;

pub use findings::findings;
pub use outlined::{lay, outlined};

use super::count::simulate::{self, SimulationRequest};
use super::inputs::{self, InputPlaces, ReadyInput};
use super::placements::{BuildGroup, PlacedLink, Placements};
use super::prepare::PreparedExperiment;
use super::scene::Scene;
use crate::examine::called::{self, BuiltProgram, TracingLimits};
use crate::examine::checks::hardest;
use crate::examine::facts::{ExperimentFacts, Notes};
use crate::examine::scratch;
use crate::examine::started::StartOptions;
use crate::store::Ledger;
use anyhow::Result;
use assay_pure::experiment::spec::{InputSource, InputSpec};
use assay_pure::ledger::Stage;
use assay_pure::verdict::learned::learned;
use assay_pure::words;
use std::path::Path;
use std::time::{Duration, Instant};

/// Seconds of tracing: this share of the measuring, within these limits.
const TRACING: (f64, f64, f64) = (0.2, 2.0, 4.0);
/// Seconds of simulating a predictor on the inputs that look memorised.
const SIMULATING: Duration = Duration::from_secs(4);
/// A reply that takes longer is not waited for: measuring will.
const PATIENCE: Duration = Duration::from_secs(3);

/// Examines what a campaign is about to measure, once, and keeps what was seen.
///
/// # Errors
/// The ledger or the store cannot be written.
pub fn examine(
    prepared: &PreparedExperiment,
    placements: &Placements<'_>,
    placed: &[PlacedLink],
    scene: &mut Scene<'_>,
    store: &Path,
) -> Result<()> {
    if scene.ledger.examined(scene.campaign.id)?.is_some() || assay_linux::interrupt::asked() {
        return Ok(());
    }
    scene.phase("examine");
    let scratch = scratch(store)?;
    let experiment = &prepared.experiment;
    let kept = inputs::kept_in(store);
    let places = InputPlaces { folder: &prepared.folder, kept: &kept };
    let mut facts = outlined(experiment, places, &prepared.machine, None)?;
    let laid = lay(experiment, places, scratch.path())?;
    let options = StartOptions { cpu: scene.cpu, patience: scene.patience.min(PATIENCE) };
    let built: Vec<BuiltProgram> = placed
        .iter()
        .filter(|place| place.placement.is_as_built())
        .map(|place| built(prepared, place))
        .collect();
    let programs = startable(prepared, scene, &built)?;
    facts.cells = called::by_itself(&programs, &laid, experiment.clock, &options, scene.on)?.cells;
    let capped = |program: &BuiltProgram| {
        let group = BuildGroup { compiler: program.compiler, flags: program.flags };
        placements.capped(group).ok().flatten().map(|(artifact, _)| artifact.path)
    };
    let seconds = (TRACING.0 * experiment.budget_seconds).clamp(TRACING.1, TRACING.2);
    let mut notes = Notes::default();
    scene.doing(format!("tracing under QEMU, at most {}", words::duration(seconds)));
    let limits = TracingLimits { plugin: None, seconds };
    called::trace_all(limits, &built, &capped, &laid, &options, &mut facts, &mut notes);
    simulate(prepared, scene, &built, &options, store, &mut facts)?;
    if assay_linux::interrupt::asked() {
        return Ok(());
    }
    scene.ledger.put_examined(scene.campaign.id, &serde_json::to_value(&facts)?)?;
    for found in findings(&facts, &experiment.accept) {
        scene.warn(found.sentence());
    }
    Ok(())
}

/// What was seen before a campaign was measured; none where nothing was examined.
///
/// # Errors
/// The ledger cannot be read.
pub fn known(ledger: &Ledger, campaign: i64) -> Result<Option<ExperimentFacts>> {
    let known = ledger.examined(campaign)?;
    // What another version of assay has kept in another form says nothing here.
    Ok(known.and_then(|facts| serde_json::from_value(facts).ok()))
}

fn built(prepared: &PreparedExperiment, place: &PlacedLink) -> BuiltProgram {
    let BuildGroup { compiler, flags } = place.group;
    let name = format!("{}, {}", prepared.compilers[compiler].name, prepared.experiment.flags[flags].name);
    BuiltProgram { name, compiler, flags, path: place.artifact.path.clone() }
}

/// The programs and variants that have not failed so far. Other answers than the baseline's are no reason: they may be why.
fn startable<'a>(
    prepared: &'a PreparedExperiment,
    scene: &Scene<'_>,
    built: &'a [BuiltProgram],
) -> Result<Vec<(&'a BuiltProgram, &'a str)>> {
    let failures = scene.ledger.failures(scene.campaign.id)?;
    let mut found = Vec::new();
    for program in built {
        for &variant in &prepared.runnable {
            let name = prepared.experiment.variants[variant].name.as_str();
            let compiler = &prepared.compilers[program.compiler].name;
            let flags = &prepared.experiment.flags[program.flags].name;
            let is_out = failures.iter().any(|failure| {
                failure.stage != Stage::Agree
                    && failure.variant.as_deref().is_none_or(|of| of == name)
                    && failure.compiler.as_ref().is_none_or(|of| of == compiler)
                    && failure.flags.as_ref().is_none_or(|of| of == flags)
            });
            if !is_out {
                found.push((program, name));
            }
        }
    }
    Ok(found)
}

/// Passes a simulated predictor over the inputs whose first walk takes longer than later ones.
fn simulate(
    prepared: &PreparedExperiment,
    scene: &mut Scene<'_>,
    built: &[BuiltProgram],
    options: &StartOptions,
    store: &Path,
    facts: &mut ExperimentFacts,
) -> Result<()> {
    scene.doing("checking which inputs a predictor memorises");
    let deadline = Instant::now() + SIMULATING;
    let mut counts = Vec::new();
    let mut is_unknown = false;
    for (number, spec) in prepared.experiment.file_inputs().iter().enumerate() {
        let is_hot = |used: &InputSpec| used.file_name() == spec.name && used.usage.is_plain();
        if !prepared.experiment.inputs.iter().any(is_hot) {
            continue;
        }
        let Some(hardest) = hardest(facts, number) else { continue };
        let Some(program) = built.iter().find(|built| built.name == hardest.build) else { continue };
        let mut once = spec.clone();
        if let InputSource::Generated { units, distinct_units, .. } = &mut once.source {
            *units = distinct_units.take().unwrap_or(*units).min(*units);
        }
        let ready: ReadyInput =
            inputs::ready(&once, &prepared.folder, &inputs::kept_in(store), scene.ledger)?;
        let found = simulate::simulate(&SimulationRequest {
            program: &program.path,
            variant: &hardest.variant,
            inputs: &[&ready],
            cpu: options.cpu,
            patience: options.patience,
            deadline,
            plugin: None,
            cpu_id: &prepared.machine.cpu_id,
        });
        is_unknown |= found.is_empty();
        counts.extend(found);
    }
    let memory = simulate::memory(scene.ledger, &scene.campaign.machine)?;
    // Where nothing could be simulated it cannot be told: first walks are slower for cold caches, too.
    facts.learned = (!is_unknown).then(|| learned(&counts, memory));
    Ok(())
}
