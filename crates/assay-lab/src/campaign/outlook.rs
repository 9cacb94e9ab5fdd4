//! What a campaign would measure and about how long it would take, without building or measuring anything.

use super::inputs::{InputPlaces, bytes_of, kept_in};
use super::prepare::Outline;
use super::{compose, steps, usage};
use crate::store::Ledger;
use anyhow::Result;
use assay_linux::machine::Machine;
use assay_pure::experiment::spec::{InputSource, InputSpec};
use assay_pure::experiment::{CacheState, Experiment, matrix};
use assay_pure::inputs::digest::digest;
use assay_pure::ledger::Stopped;
use assay_report::page::{self, FailureKind};
use assay_report::plan::{Amount, Estimate, PLAN_SCHEMA, PlanPage};
use std::path::Path;

/// Seconds of one compilation and of one link, two at a time; measured on small C programs, so only about right.
const COMPILE_SECONDS: f64 = 0.25;
const LINK_SECONDS: f64 = 0.03;
/// Nanoseconds to answer one unit, on average over what is usually measured.
const ANSWER_NS: f64 = 6.0;
/// Seconds of one visit: a warm-up sample and the counted ones at a twentieth of a millisecond, and the switch.
pub(crate) const VISIT_SECONDS: f64 = 0.5e-3;

/// Looks ahead. `store` is where what a command prints is kept.
///
/// # Errors
/// A recorded input cannot be read.
pub fn outlook(
    outline: &Outline,
    machine: &Machine,
    runnable: &[usize],
    skipped: &[page::PageFailure],
    ledger: Option<&Ledger>,
    store: &Path,
) -> Result<PlanPage> {
    let experiment = &outline.experiment;
    let compiler_names: Vec<String> =
        outline.compilers.iter().map(|compiler| compiler.name.clone()).collect();
    let last_level = usage::last_level_bytes(&machine.caches);
    let inputs = inputs(
        &experiment.inputs,
        InputPlaces { folder: &outline.folder, kept: &kept_in(store) },
        last_level,
    )?;
    let work = WorkAhead::of(outline, runnable.len() as u64);
    let cached = ledger.map_or(Ok(false), |ledger| measured_before(ledger, &outline.text))?;
    // What a build of its own made is linked again.
    let built = cached && experiment.program.build.is_none();
    let amount = |total| Amount { total, cached: if built { total } else { 0 } };
    Ok(PlanPage {
        schema: PLAN_SCHEMA.into(),
        experiment: experiment.name.clone(),
        question: experiment.question.clone(),
        prediction: experiment.prediction.clone(),
        unit: experiment.unit.clone(),
        baseline: experiment.baseline.clone(),
        variants: compose::variants(experiment),
        compilers: outline.compilers.iter().map(compose::compiler).collect(),
        flag_sets: compose::flag_sets(experiment),
        phases: experiment.placement.phases.clone(),
        rotations: experiment.placement.rotations,
        max_rotations: experiment.placement.max_rotations,
        cells: work.programs * inputs.len() as u64,
        contrasts: matrix::contrasts(experiment, &compiler_names)
            .iter()
            .filter(|contrast| runnable.contains(&contrast.candidate.variant))
            .count() as u64,
        along: experiment.contrasts.along.clone(),
        skipped: skipped.to_vec(),
        compiles: amount(work.compiles),
        links: amount(work.links),
        processes: work.links * runnable.len() as u64,
        // The answers over the whole input and by window, of two object codes.
        answers: work.programs * inputs.len() as u64 * 2,
        budget_seconds: experiment.budget_seconds,
        estimate: work.estimate(experiment, machine, &inputs, last_level, cached),
        seed: experiment.seed,
        inputs,
    })
}

/// How much there is to do.
struct WorkAhead {
    /// Compilations of the program's sources.
    compiles: u64,
    /// Links of all builds.
    links: u64,
    /// Variants in all builds.
    programs: u64,
    /// Visits of a round to each input.
    visits: u64,
}

impl WorkAhead {
    fn of(outline: &Outline, variants: u64) -> WorkAhead {
        let experiment = &outline.experiment;
        let builds = (outline.compilers.len() * experiment.flags.len()) as u64;
        let per_rotation = experiment.placement.phases.len() as u64;
        let placements = u64::from(experiment.placement.rotations) * per_rotation;
        let programs = builds * variants;
        WorkAhead {
            // A build of its own compiles what it likes, once.
            compiles: match experiment.program.build {
                Some(_) => builds,
                None => builds * experiment.program.sources.len() as u64 * 2,
            },
            links: builds * (placements + 1),
            programs,
            visits: programs * (placements + u64::from(super::blocks::AS_BUILT_REPEATS)),
        }
    }

    /// About how long it takes; what was measured before is built and answered already.
    fn estimate(
        &self,
        experiment: &Experiment,
        machine: &Machine,
        inputs: &[page::PageInput],
        last_level: u64,
        cached: bool,
    ) -> Estimate {
        let visit = |(shown, spec)| VISIT_SECONDS + beside_samples_seconds(shown, spec, last_level);
        let visit_seconds: f64 = inputs.iter().zip(&experiment.inputs).map(visit).sum();
        let round_seconds = self.visits as f64 * visit_seconds;
        let rounds = steps::rounds_per_level(
            experiment.budget_seconds,
            round_seconds,
            experiment.placement.max_rotations <= experiment.placement.rotations,
        );
        let once = |seconds: f64| if cached { 0.0 } else { seconds };
        let building = self.compiles as f64 * COMPILE_SECONDS + self.links as f64 * LINK_SECONDS;
        let units: u64 = inputs.iter().map(|input| input.units).sum();
        Estimate {
            build_seconds: once(building / machine.cpus.len().clamp(1, 2) as f64),
            answers_seconds: once((self.programs * 4 * units) as f64 * ANSWER_NS / 1e9),
            first_look_seconds: round_seconds * f64::from(rounds),
            measuring_seconds: experiment.budget_seconds.max(round_seconds),
        }
    }
}

/// Seconds of a visit that no sample shows: what is copied and made cold. Measured on one machine, so only about right.
fn beside_samples_seconds(shown: &page::PageInput, spec: &InputSpec, last_level: u64) -> f64 {
    const COPY_SECONDS_PER_BYTE: f64 = 0.6e-9;
    const FLUSH_SECONDS: f64 = 0.5e-3;
    const COLD_CODE_SECONDS: f64 = 15e-3;
    match spec.usage.state {
        CacheState::Hot => 0.0,
        CacheState::Rotating => {
            let copied = usage::copies(spec.usage, shown.bytes, last_level) * shown.bytes;
            copied as f64 * COPY_SECONDS_PER_BYTE
        }
        CacheState::ColdData => FLUSH_SECONDS,
        CacheState::ColdCode => COLD_CODE_SECONDS,
    }
}

/// Was this very file measured before, so that its binaries are kept?
fn measured_before(ledger: &Ledger, text: &str) -> Result<bool> {
    Ok(ledger
        .campaigns()?
        .iter()
        .any(|campaign| campaign.experiment_text == text && campaign.stopped != Some(Stopped::Interrupted)))
}

fn inputs(specs: &[InputSpec], places: InputPlaces<'_>, last_level: u64) -> Result<Vec<page::PageInput>> {
    specs
        .iter()
        .map(|spec| {
            let bytes = bytes_of(spec, places)?;
            let units = spec.units(&bytes).unwrap_or(0);
            Ok(page::PageInput {
                name: spec.name.clone(),
                digest: digest(&bytes),
                bytes: bytes.len() as u64,
                units: if matches!(spec.source, InputSource::Empty) { 1 } else { units },
                summary: spec.description.clone(),
                recipe: Some(compose::recipe(&spec.source)),
                description: serde_json::Value::Null,
                state: spec.usage.state,
                measure: spec.usage.measure,
                copies: Some(usage::copies(spec.usage, bytes.len() as u64, last_level))
                    .filter(|&copies| copies > 0),
                of: spec.of.clone(),
            })
        })
        .collect()
}

/// A variant that this machine cannot run, as the plan shows it.
pub fn skipped(failure: &crate::store::FailureRow) -> page::PageFailure {
    page::PageFailure {
        kind: FailureKind::Skipped,
        what: failure.variant.clone().or_else(|| failure.compiler.clone()).unwrap_or_default(),
        reason: failure.reason.clone(),
    }
}
