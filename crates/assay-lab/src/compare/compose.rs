//! The page of a comparison, from the ledger alone: so that it can be shown again at any time, with today's rules.

use super::code::{self, CodeFindings};
use super::factors::factors;
use super::judge::{self, ComparisonVerdicts, seen_at};
use super::spec::{Method, Spec};
use crate::campaign::compose::{contrast, rfc3339, twin_of};
use crate::lead::Misuse;
use crate::store::{ComparisonRow, Ledger, SideRow, VisitRow};
use anyhow::{Context, Result};
use assay_pure::compare::{Missing, RunPeak, Side, VisitPlacement, VisitResult, benchmarks, memory_contrast};
use assay_pure::ledger::Stopped;
use assay_pure::stats::mann_whitney::mann_whitney;
use assay_pure::stats::quantile::median;
use assay_report::compare::{
    BuiltSide, COMPARE_SCHEMA, ComparePage, Compared, ComparisonRun, OneSided, PeakMemory, SideFigure,
    SpoiltVisits, answer,
};
use assay_report::gate::GateResult;
use assay_report::page::{PageTwinControl, TwinVerdict};
use std::collections::BTreeMap;

/// Composes the page of a comparison, of the newest one if none is named, with the split of the spread if asked.
///
/// # Errors
/// There is no such comparison, or the ledger cannot be read.
pub fn page(ledger: &Ledger, comparison: Option<i64>, with_factors: bool) -> Result<ComparePage> {
    let Some(row) = ledger.comparison(comparison)? else {
        let known: Vec<String> = ledger.comparison_numbers()?.iter().map(ToString::to_string).collect();
        let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        let asked = comparison.map_or("comparison".to_owned(), |number| format!("comparison {number}"));
        let message =
            format!("there is no {asked} in {}; its comparisons are: {known}", ledger.path().display());
        return Err(Misuse(message).into());
    };
    let spec: Spec = serde_json::from_value(row.asked.clone())
        .with_context(|| format!("comparison {} was made by an incompatible version of assay", row.id))?;
    let judged = judge::judge(ledger, row.id, &spec)?;
    let sides = ledger.sides(row.id)?;
    let visits = ledger.visits(row.id)?;
    let mut page = ComparePage {
        schema: COMPARE_SCHEMA.into(),
        comparison: row.id,
        answer: String::new(),
        build: spec.build.clone(),
        bench: spec.bench.clone(),
        adapter: spec.adapter.clone(),
        method: spec.method,
        sides: sides.iter().map(built).collect(),
        twin_control: twin(&judged),
        memory: memory(&visits, &spec),
        benchmarks: compared(&judged, &spec, seconds(&visits)),
        one_sided: one_sided(&judged, &spec, &sides),
        spoilt: spoilt(&visits, &sides),
        warnings: warnings(&judged, &spec),
        notes: if judged.contrasts.is_empty() { Vec::new() } else { judged.judgement.notes.clone() },
        limits: spec.limits.clone(),
        gate: None,
        factors: with_factors.then(|| {
            factors(
                &judged.seen,
                &Side::BOTH[..spec.sides.min(2) as usize],
                spec.method == Method::Placements,
            )
        }),
        measured: measured(&row, &spec, &judged, &visits, ledger),
    };
    page.gate = spec.gate.as_ref().map(|gates| GateResult::of_comparison(&page, gates));
    page.answer = answer(&page);
    Ok(page)
}

fn built(side: &SideRow) -> BuiltSide {
    let links = side.links.as_array().cloned().unwrap_or_default();
    BuiltSide {
        name: side.name.clone(),
        revision: side.revision.clone(),
        links: links.iter().filter_map(|link| Some(link["output"].as_str()?.to_owned())).collect(),
        text_bytes: links.iter().map(|link| link["text_bytes"].as_u64()).sum(),
    }
}

fn twin(judged: &ComparisonVerdicts) -> PageTwinControl {
    if judged.contrasts.is_empty() {
        let verdict = TwinVerdict::Undecided;
        return PageTwinControl { verdict, ratio: None, lower: None, upper: None, note: None };
    }
    twin_of(&judged.judgement.twin)
}

/// The memory of both commands, where it is known.
fn memory(visits: &[VisitRow], spec: &Spec) -> Option<PeakMemory> {
    let peak = |visit: &VisitRow| {
        let side = *Side::BOTH.get(visit.side as usize)?;
        let place = seen_at(visit, side).place;
        Some(RunPeak { round: visit.round, place, side, bytes: visit.memory.first()?.peak_bytes })
    };
    let usable = visits.iter().filter(|visit| visit.failed.is_none());
    let found = memory_contrast(&usable.filter_map(peak).collect::<Vec<_>>(), spec.confidence)?;
    Some(PeakMemory {
        baseline_bytes: found.baseline,
        candidate_bytes: found.candidate,
        change: found.change,
        differs: found.change.is_some_and(|change| {
            (change.lower > 1.0 || change.upper < 1.0) && spec.minimum_effect.is_exceeded_by(change.ratio)
        }),
    })
}

/// Spent measuring.
fn seconds(visits: &[VisitRow]) -> f64 {
    visits.iter().map(|visit| visit.elapsed_ns as f64 / 1e9).sum()
}

fn compared(judged: &ComparisonVerdicts, spec: &Spec, seconds: f64) -> Vec<Compared> {
    if spec.sides == 1 {
        let all = benchmarks(&judged.seen, &[Side::Baseline]);
        return all.iter().filter_map(|benchmark| alone(judged, &benchmark.name)).collect();
    }
    judged.judgement.contrasts.iter().filter_map(|found| one(judged, found, spec, seconds)).collect()
}

/// A benchmark of the one side there is.
fn alone(judged: &ComparisonVerdicts, benchmark: &str) -> Option<Compared> {
    Some(Compared {
        benchmark: benchmark.into(),
        unit: judged.units.get(benchmark).cloned().unwrap_or_default(),
        baseline: level(&judged.seen, Side::Baseline, benchmark)?,
        candidate: None,
        as_built: None,
        code: None,
        placement_ratio: None,
        u_test_p: None,
        verdict: None,
        proven: false,
        as_built_says: None,
        causes: Vec::new(),
        modes: None,
        reasons: Vec::new(),
        rotations: 0,
        minimum_detectable_effect: None,
        seconds_to_decide: None,
        functions: Vec::new(),
        executed_functions: None,
        code_unknown: None,
    })
}

fn one(
    judged: &ComparisonVerdicts,
    found: &assay_pure::verdict::ContrastVerdict,
    spec: &Spec,
    seconds: f64,
) -> Option<Compared> {
    let shown = contrast(found);
    let code = judged.code.get(&found.input);
    let times = |needed: u32| f64::from(needed) / f64::from(shown.rotations);
    let seconds_to_decide =
        shown.rotations_needed.filter(|_| shown.rotations > 0).map(|needed| seconds * times(needed));
    let mut causes = shown.causes;
    causes.extend(code.map(|code| code::causes(code, found, spec.minimum_effect)).unwrap_or_default());
    Some(Compared {
        benchmark: found.input.clone(),
        unit: judged.units.get(&found.input).cloned().unwrap_or_default(),
        baseline: level(&judged.seen, Side::Baseline, &found.input)?,
        candidate: level(&judged.seen, Side::Candidate, &found.input),
        as_built: shown.as_built,
        code: shown.code,
        placement_ratio: shown.placement_ratio,
        u_test_p: u_test(&judged.seen, &found.input),
        verdict: Some(shown.verdict),
        proven: shown.proven,
        as_built_says: shown.as_built_says,
        causes,
        modes: shown.modes,
        reasons: shown.reasons,
        rotations: shown.rotations,
        minimum_detectable_effect: shown.minimum_detectable_effect,
        seconds_to_decide,
        functions: code.map(|code| code.functions.clone()).unwrap_or_default(),
        executed_functions: code.and_then(|code: &CodeFindings| code.executed),
        code_unknown: code.and_then(|code| code.unknown.clone()),
    })
}

/// What compare.py would say of the runs as built.
fn u_test(seen: &[VisitResult], benchmark: &str) -> Option<f64> {
    let of = |side: Side| -> Vec<f64> {
        let visits = seen.iter().filter(|visit| visit.side == side && visit.place == VisitPlacement::AsBuilt);
        let figures = visits.flat_map(|visit| &visit.figures).filter(|(name, _)| name == benchmark);
        figures.flat_map(|(_, values)| values.iter().copied()).collect()
    };
    mann_whitney(&of(Side::Baseline), &of(Side::Candidate)).map(|found| found.p)
}

/// Medians per placement, and over them.
pub(crate) fn level(seen: &[VisitResult], side: Side, benchmark: &str) -> Option<SideFigure> {
    let mut by_place: BTreeMap<VisitPlacement, Vec<f64>> = BTreeMap::new();
    for visit in seen.iter().filter(|visit| visit.side == side) {
        for (_, values) in visit.figures.iter().filter(|(name, _)| name == benchmark) {
            by_place.entry(visit.place).or_default().extend(values);
        }
    }
    let medians: BTreeMap<VisitPlacement, f64> =
        by_place.into_iter().filter_map(|(place, values)| Some((place, median(&values)?))).collect();
    let as_built = medians.get(&VisitPlacement::AsBuilt).copied();
    let mut placed: Vec<f64> =
        medians.iter().filter(|(place, _)| **place != VisitPlacement::AsBuilt).map(|(_, ns)| *ns).collect();
    if placed.is_empty() {
        placed.extend(as_built);
    }
    placed.sort_by(f64::total_cmp);
    Some(SideFigure { median: median(&placed)?, as_built, best: *placed.first()?, worst: *placed.last()? })
}

fn one_sided(judged: &ComparisonVerdicts, spec: &Spec, sides: &[SideRow]) -> Vec<OneSided> {
    if spec.sides == 1 {
        return Vec::new();
    }
    let name = |side: Side| sides.get(side.number()).map(|side| side.name.clone()).unwrap_or_default();
    let lacking = benchmarks(&judged.seen, &Side::BOTH).into_iter().filter_map(|found| match found.missing {
        Missing::From(Side::Baseline) => Some((found.name, name(Side::Candidate))),
        Missing::From(Side::Candidate) => Some((found.name, name(Side::Baseline))),
        Missing::Nowhere => None,
    });
    lacking.map(|(benchmark, only_in)| OneSided { benchmark, only_in }).collect()
}

fn spoilt(visits: &[VisitRow], sides: &[SideRow]) -> Vec<SpoiltVisits> {
    let mut found: Vec<SpoiltVisits> = Vec::new();
    for (visit, reason) in visits.iter().filter_map(|visit| Some((visit, visit.failed.as_ref()?))) {
        let side = sides.get(visit.side as usize).map(|side| side.name.as_str()).unwrap_or_default();
        match found.iter_mut().find(|known| known.side == side && known.reason == *reason) {
            Some(known) => known.visits += 1,
            None => found.push(SpoiltVisits { side: side.into(), reason: reason.clone(), visits: 1 }),
        }
    }
    found
}

fn warnings(judged: &ComparisonVerdicts, spec: &Spec) -> Vec<String> {
    let mut told = spec.warnings.clone();
    if !judged.contrasts.is_empty() {
        told.extend(judged.judgement.warnings.iter().cloned());
    }
    told
}

fn measured(
    row: &ComparisonRow,
    spec: &Spec,
    judged: &ComparisonVerdicts,
    visits: &[VisitRow],
    ledger: &Ledger,
) -> ComparisonRun {
    ComparisonRun {
        cpu: row.machine["cpu"].as_str().unwrap_or("unknown").into(),
        pinned_cpu: row.pinned_cpu.map(|cpu| cpu as u32),
        started: rfc3339(row.started_at),
        seconds: seconds(visits),
        rounds: judged.rounds,
        rotations: if spec.method == Method::Placements { spec.rotations } else { 0 },
        visits: visits.len() as u64,
        stopped_because: row.stopped.unwrap_or(Stopped::Interrupted),
        minimum_effect: spec.minimum_effect.relative(),
        confidence: spec.confidence,
        seed: spec.seed,
        ledger: Some(ledger.path().display().to_string()),
    }
}
