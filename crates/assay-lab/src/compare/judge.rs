//! Verdicts of a comparison, from the ledger alone.

use super::code::CodeFindings;
use super::spec::{Method, Spec};
use crate::store::{Ledger, VisitRow};
use anyhow::{Context, Result};
use assay_pure::compare::{PHASES, Side, VisitPlacement, VisitResult, contrasts};
use assay_pure::verdict::{Judgement, ObservedContrast, VerdictOptions, Visits, judge as judge_contrasts};
use std::collections::{BTreeMap, HashMap};

/// Verdicts and what they were made from.
pub struct ComparisonVerdicts {
    /// What every visit gave.
    pub seen: Vec<VisitResult>,
    /// One per benchmark that both sides have.
    pub contrasts: Vec<ObservedContrast>,
    /// The verdicts, in the same order.
    pub judgement: Judgement,
    /// Unit by benchmark.
    pub units: HashMap<String, String>,
    /// What is known of the benchmarks' code.
    pub code: BTreeMap<String, CodeFindings>,
    /// Rounds all of whose visits were made.
    pub rounds: u32,
}

/// Judges what a comparison has so far.
///
/// # Errors
/// The ledger cannot be read, or was filled by another form of assay.
pub fn judge(ledger: &Ledger, comparison: i64, spec: &Spec) -> Result<ComparisonVerdicts> {
    let visits = ledger.visits(comparison)?;
    let sides = ledger.sides(comparison)?;
    let name = |side: usize| sides.get(side).map_or("", |side| side.name.as_str());
    let mut code = BTreeMap::new();
    for (benchmark, found) in ledger.comparison_code(comparison)? {
        let found: CodeFindings = serde_json::from_value(found).with_context(|| {
            format!("comparison {comparison} was made by an incompatible version of assay")
        })?;
        code.insert(benchmark, found);
    }
    let side = |visit: &VisitRow| Side::BOTH[(visit.side as usize).min(1)];
    let seen: Vec<VisitResult> = visits.iter().map(|visit| seen_at(visit, side(visit))).collect();
    let units = units(&visits);
    let mut found = if spec.sides == 2 { contrasts(&seen, [name(0), name(1)]) } else { Vec::new() };
    for contrast in &mut found {
        contrast.visits = visits_of(&units, &contrast.input, spec.method == Method::Placements);
        contrast.identity = code.get(&contrast.input).and_then(CodeFindings::identity);
        if spec.method == Method::Surroundings {
            // The binaries are the same ones throughout, so there is nothing that a build alone would have said.
            contrast.as_built = None;
        }
    }
    let rounds = complete_rounds(&visits, spec);
    let judgement = judged(&found, spec, &visits);
    Ok(ComparisonVerdicts { seen, contrasts: found, judgement, units, code, rounds })
}

/// The verdicts of these contrasts as one family, at the look that these visits allow.
pub(crate) fn judged(contrasts: &[ObservedContrast], spec: &Spec, visits: &[VisitRow]) -> Judgement {
    let options = VerdictOptions {
        margin: spec.minimum_effect,
        confidence: spec.confidence,
        look: spec.look(complete_rounds(visits, spec)),
        looks: spec.looks.len() as u32,
        seconds_per_rotation: seconds_per_rotation(visits, spec),
        over_inputs: false,
        ..VerdictOptions::default()
    };
    judge_contrasts(contrasts, &options)
}

/// Unit by benchmark.
pub(crate) fn units(visits: &[VisitRow]) -> HashMap<String, String> {
    let mut units = HashMap::new();
    for figure in visits.iter().flat_map(|visit| &visit.figures) {
        units.entry(figure.benchmark.clone()).or_insert_with(|| figure.unit.clone());
    }
    units
}

/// What the visits to a benchmark were.
pub(crate) fn visits_of(units: &HashMap<String, String>, benchmark: &str, relinked: bool) -> Visits {
    Visits::Run { unit: units.get(benchmark).cloned().unwrap_or_default(), relinked }
}

/// What a visit gave, as one of a side.
pub(crate) fn seen_at(visit: &VisitRow, side: Side) -> VisitResult {
    let mut figures: Vec<(String, Vec<f64>)> = Vec::new();
    for figure in &visit.figures {
        match figures.last_mut().filter(|(name, _)| *name == figure.benchmark) {
            Some((_, values)) => values.push(figure.value),
            None => figures.push((figure.benchmark.clone(), vec![figure.value])),
        }
    }
    let place = VisitPlacement::of(visit.rotation, visit.phase_bytes);
    VisitResult { round: visit.round, side, place, figures }
}

/// Rounds all of whose visits were made.
pub(crate) fn complete_rounds(visits: &[VisitRow], spec: &Spec) -> u32 {
    let mut by_round: BTreeMap<u32, u64> = BTreeMap::new();
    for visit in visits {
        *by_round.entry(visit.round).or_default() += 1;
    }
    by_round.values().filter(|visits| **visits >= spec.visits_per_round()).count() as u32
}

/// What one more rotation over all rounds would take.
fn seconds_per_rotation(visits: &[VisitRow], spec: &Spec) -> Option<f64> {
    let seconds: f64 = visits.iter().map(|visit| visit.elapsed_ns as f64 / 1e9).sum();
    let per_visit = (!visits.is_empty()).then(|| seconds / visits.len() as f64)?;
    Some(per_visit * PHASES.len() as f64 * f64::from(spec.sides * spec.rounds))
}
