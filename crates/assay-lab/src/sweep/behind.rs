//! What is behind a step: facts of the points at its two ends, for `assay_pure::sweep::naming`.

use super::asked::SweepSubject;
use super::readings::{MeasuredStep, SweepSteps, SweptSeries};
use crate::campaign::count::branch_cost::machine_key;
use crate::campaign::counted::CampaignCounts;
use crate::campaign::{self, CampaignRequest};
use crate::store::Ledger;
use anyhow::Result;
use assay_linux::machine::Machine;
use assay_pure::event::Event;
use assay_pure::experiment;
use assay_pure::inputs::Description;
use assay_pure::stats::predictor_memory::PredictorMemory;
use assay_pure::sweep::naming::{StepEnd, StepFacts, others_step_too};
use assay_pure::sweep::refine::Why;
use assay_pure::sweep::{Curve, CurveStep, steps};
use std::collections::HashMap;

/// Two-sided level at which a gap between neighbours is more than noise.
pub(super) const GAP_LEVEL: f64 = 0.01;

/// Counts the events of the points at both ends of every step, where the file asks for events. False: interrupted.
///
/// # Errors
/// As of any campaign.
pub(super) fn count(
    family: &SweepSteps,
    subject: &SweepSubject,
    asked: &CampaignRequest,
    machine: &Machine,
    events: &mut dyn FnMut(Event),
) -> Result<bool> {
    if subject.events.is_empty() {
        return Ok(true);
    }
    let ends: Vec<f64> = family
        .series(false)
        .iter()
        .flat_map(|series| &series.measured.curves)
        .flat_map(|curve| steps(&curve.readings, family.spec.scale, GAP_LEVEL))
        .flat_map(|step| [step.from, step.to])
        .collect();
    for step in &family.steps {
        let names: Vec<&str> = step
            .kept
            .points
            .iter()
            .filter(|point| point.why != Why::Again && ends.contains(&point.at))
            .map(|point| point.input.as_str())
            .collect();
        if names.is_empty() {
            continue;
        }
        let mut outline = subject.outline.clone();
        outline.experiment = step.experiment.clone();
        outline.experiment.inputs.retain(|input| names.contains(&input.name.as_str()));
        outline.experiment.events = subject.events.clone();
        outline.experiment.budget_seconds = subject.outline.experiment.budget_seconds;
        campaign::count_afterwards(outline, machine.clone(), asked, step.row.id, events)?;
        if assay_linux::interrupt::asked() {
            return Ok(false);
        }
    }
    Ok(true)
}

/// What is known of the points of a sweep beside their times.
pub(super) struct Background {
    /// By input name.
    descriptions: HashMap<String, Description>,
    /// Of each step's campaign.
    counted: Vec<CampaignCounts>,
    /// What this CPU remembers.
    memory: Option<PredictorMemory>,
}

impl Background {
    /// Reads it from the ledger; `events` as the file asks for.
    ///
    /// # Errors
    /// The ledger cannot be read.
    pub(super) fn of(
        ledger: &Ledger,
        family: &SweepSteps,
        events: &[experiment::CountedEvent],
    ) -> Result<Background> {
        let mut descriptions = HashMap::new();
        let mut counted = Vec::new();
        for step in &family.steps {
            for input in ledger.campaign_inputs(step.row.id)? {
                let description = ledger.input(&input.digest)?.map(|row| row.description);
                let description = description.and_then(|kept| serde_json::from_value(kept).ok());
                descriptions.extend(description.map(|description| (input.name, description)));
            }
            let experiment = experiment::Experiment { events: events.to_vec(), ..step.experiment.clone() };
            counted.push(CampaignCounts::of(ledger, &step.row, &experiment, &step.failures)?);
        }
        let timing = match family.steps.first() {
            Some(step) => ledger.branch_timing(&machine_key(&step.row.machine))?,
            None => None,
        };
        Ok(Background { descriptions, counted, memory: timing.and_then(|timing| timing.memory()) })
    }

    /// The description of an input.
    pub(super) fn description(&self, input: &str) -> Option<&Description> {
        self.descriptions.get(input)
    }

    /// What is known of a step of one of a series' curves.
    pub(super) fn facts(
        &self,
        family: &SweepSteps,
        series: &SweptSeries,
        curve: &Curve,
        step: &CurveStep,
    ) -> StepFacts {
        let change_ns = step.after.exp() - step.before.exp();
        let penalty = self.counted.iter().find_map(CampaignCounts::penalty).map(|penalty| penalty.ns);
        StepFacts {
            before: self.end(family, series, &curve.variant, step.from),
            after: self.end(family, series, &curve.variant, step.to),
            change_ns,
            others_step_too: others_step_too(
                &series.measured.curves,
                curve,
                step,
                family.spec.scale,
                GAP_LEVEL,
            ),
            penalty_ns: penalty,
            memory: self.memory,
        }
    }

    fn end(&self, family: &SweepSteps, series: &SweptSeries, variant: &str, at: f64) -> StepEnd {
        let Some((number, input)) = place(&family.steps, series, at) else { return StepEnd::default() };
        let Some(description) = self.descriptions.get(input) else { return StepEnd::default() };
        let counts = self.counted[number].cells.iter().find(|cell| {
            cell.cell.variant == variant
                && cell.cell.input == input
                && cell.cell.compiler == series.name.compiler
                && cell.cell.flags == series.name.flags
        });
        let distinct = description.class_period_units.min(description.units);
        let fresh = counts.and_then(|counts| counts.fresh_misses);
        // Twice the mispredictions of a first walk, as `verdict::learned` weighs it; where nothing was counted, those of a
        // decoder's loop if lengths are independent.
        let weight = fresh.or(description.floor_misses_per_unit);
        StepEnd {
            bytes: description.bytes,
            distinct_units: distinct,
            tosses: weight.map(|misses| 2.0 * misses * distinct as f64),
            outcomes: description.branches_per_unit.map(|branches| branches * distinct as f64),
            misses: counts.and_then(|counts| counts.modern()).map(|misses| misses.per_unit),
            fresh_misses: fresh,
        }
    }
}

/// The number of the step in which a value was measured, and the name of its input.
fn place<'a>(steps: &'a [MeasuredStep], series: &SweptSeries, at: f64) -> Option<(usize, &'a str)> {
    steps.iter().enumerate().find_map(|(number, step)| {
        let point = step.kept.points.iter().find(|point| point.of == series.name.of && point.at == at)?;
        Some((number, point.input.as_str()))
    })
}
