//! What a sweep would measure and about how long it would take, without building or measuring anything.

use super::asked::{SweepRequest, SweepSubject};
use super::compose;
use crate::campaign::blocks::AS_BUILT_REPEATS;
use crate::campaign::outlook::VISIT_SECONDS;
use crate::campaign::steps::MOST_ROUNDS;
use crate::lead::Misuse;
use anyhow::Result;
use assay_pure::sweep::key::{SweptKey, SweptValue, inputs_at};
use assay_report::sweep::SweepPreview;

/// Looks ahead at every sweep asked for.
///
/// # Errors
/// As of measuring it.
pub fn previews(asked: &SweepRequest) -> Result<Vec<SweepPreview>> {
    asked.subjects()?.iter().map(|subject| preview(asked, subject)).collect()
}

fn preview(asked: &SweepRequest, subject: &SweepSubject) -> Result<SweepPreview> {
    let (spec, experiment) = (&subject.sweep, &subject.outline.experiment);
    let points = spec.grid();
    let key = SweptKey::parse(&spec.key)?;
    let file = asked.campaign.experiment.display().to_string();
    let made =
        inputs_at(&subject.text, &file, &key, SweptValue { at: points[0], whole: spec.whole }, &|name| {
            name.to_owned()
        });
    let inputs = made.map_err(|(message, _)| Misuse(message))?.len() as u64;
    let builds = (subject.outline.compilers.len() * experiment.flags.len()) as u64;
    let placements = u64::from(experiment.placement.rotations) * experiment.placement.phases.len() as u64;
    let cells = experiment.variants.len() as u64 * builds * inputs;
    let round =
        (cells * points.len() as u64 * (placements + u64::from(AS_BUILT_REPEATS))) as f64 * VISIT_SECONDS;
    let most = f64::from(MOST_ROUNDS) * round;
    let all = points.len() as f64 + f64::from(spec.refine);
    let share = experiment.budget_seconds * points.len() as f64 / all;
    Ok(SweepPreview {
        key: compose::key_page(spec),
        variants: experiment.variants.iter().map(|variant| variant.name.clone()).collect(),
        builds,
        inputs_per_point: inputs,
        rotations: experiment.placement.rotations,
        first_seconds: share.min(most).max(round),
        budget_seconds: experiment.budget_seconds.min(most * all / points.len() as f64),
        events: subject.events.iter().map(|event| event.name().to_owned()).collect(),
        points,
    })
}
