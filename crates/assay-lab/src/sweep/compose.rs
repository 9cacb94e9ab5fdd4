//! The page of a sweep, from the ledger alone: so that it can be shown again at any time, with today's rules.

use super::behind::{Background, GAP_LEVEL};
use super::readings::{self, SweepSteps, SweptSeries};
use crate::campaign::compose::{rfc3339, twin_of};
use crate::campaign::judge::{self, LookOfPlan};
use crate::store::{Ledger, SweepRow};
use anyhow::{Result, bail};
use assay_pure::experiment::{CountedEvent, Experiment};
use assay_pure::ledger::Stage;
use assay_pure::sweep::confirm::is_confirmed;
use assay_pure::sweep::naming::{Behind, Cache, behind, caches};
use assay_pure::sweep::refine::{self, SweptPair, narrowing};
use assay_pure::sweep::{Curve, CurveStep, Reading, SweepSpec, Winner, crossovers, steps, zones};
use assay_pure::words;
use assay_report::page::{FailureKind, MedianInterval, PageFailure, RatioInterval, TwinVerdict};
use assay_report::sweep::answer::{answer, sentence};
use assay_report::sweep::page::{
    CacheSize, CrossoverPage, CurvePage, Limit, MeasuredPoint, PageSweepKey, PairPage, RatioAt, SeriesPage,
    StepCause, StepPage, SweepMachine, SweepPage, SweepRun, TimeAt, ZonePage,
};
use assay_report::sweep::{SWEEP_SCHEMA, value};

/// Composes the page of a sweep.
///
/// # Errors
/// There is no such sweep, or the ledger cannot be read.
pub fn page(ledger: &Ledger, sweep: i64) -> Result<SweepPage> {
    let Some(row) = ledger.sweep(Some(sweep))? else {
        bail!("the ledger {} has no sweep {sweep}", ledger.path().display());
    };
    let family = readings::family(ledger, &row)?;
    let Some(experiment) = family.experiment() else {
        bail!("sweep {sweep} was stopped before its first step began");
    };
    let events: Vec<CountedEvent> = serde_json::from_value(row.asked["events"].clone()).unwrap_or_default();
    let background = Background::of(ledger, &family, &events)?;
    let machine = machine(&family);
    let twin = twin(ledger, &family)?;
    let series: Vec<SeriesPage> = family
        .series(true)
        .iter()
        .map(|series| series_page(&family, series, experiment, &background, &machine))
        .collect();
    let mut page = SweepPage {
        schema: SWEEP_SCHEMA.into(),
        experiment: experiment.name.clone(),
        question: experiment.question.clone(),
        answer: String::new(),
        unit: experiment.unit.clone(),
        baseline: experiment.baseline.clone(),
        key: key_page(&family.spec),
        measured: measured(ledger, &row, &family, experiment, twin.as_ref().map(|twin| twin.0)),
        warnings: warnings(&family, &series, twin),
        points: points(&family, &background),
        machine,
        series,
        failures: failures(&family),
    };
    page.answer = answer(&page);
    Ok(page)
}

/// What is varied, as shown.
pub fn key_page(spec: &SweepSpec) -> PageSweepKey {
    PageSweepKey {
        sweep: spec.name.clone(),
        description: spec.description.clone(),
        path: spec.key.clone(),
        label: spec.label().to_owned(),
        from: spec.from,
        to: spec.to,
        scale: spec.scale,
        percent: spec.percent,
        whole: spec.whole,
        refine: spec.refine,
    }
}

fn measured(
    ledger: &Ledger,
    row: &SweepRow,
    family: &SweepSteps,
    experiment: &Experiment,
    twin: Option<TwinVerdict>,
) -> SweepRun {
    SweepRun {
        id: row.id,
        started: rfc3339(row.started_at),
        elapsed_seconds: row.finished_at.map(|end| end - row.started_at),
        seconds: family.measured_seconds(),
        budget_seconds: row.asked["budget_seconds"].as_f64().unwrap_or_default(),
        rotations: experiment.placement.rotations,
        stopped_because: row.stopped,
        campaigns: family.steps.iter().map(|step| step.row.id).collect(),
        minimum_effect: experiment.minimum_effect.relative(),
        confidence: experiment.confidence,
        twin,
        ledger: ledger.path().display().to_string(),
    }
}

fn machine(family: &SweepSteps) -> SweepMachine {
    let row = family.steps.first().map(|step| &step.row);
    let facts: Vec<String> = row
        .and_then(|row| row.machine["caches"].as_array())
        .into_iter()
        .flatten()
        .filter_map(|fact| fact.as_str().map(str::to_owned))
        .collect();
    SweepMachine {
        cpu: row.and_then(|row| row.machine["cpu"].as_str()).unwrap_or_default().to_owned(),
        caches: caches(&facts)
            .into_iter()
            .map(|cache| CacheSize { name: cache.name, bytes: cache.bytes })
            .collect(),
        pinned_cpu: row.and_then(|row| row.pinned_cpu).map(|cpu| cpu as u32),
    }
}

/// The worst of the steps' twin controls, and what it says.
fn twin(ledger: &Ledger, family: &SweepSteps) -> Result<Option<(TwinVerdict, String)>> {
    let mut worst: Option<(TwinVerdict, String)> = None;
    let rank = |verdict| match verdict {
        TwinVerdict::Equivalent => 0,
        TwinVerdict::Undecided => 1,
        TwinVerdict::Different => 2,
    };
    for step in family.steps.iter().filter(|step| !step.nothing()) {
        let compilers: Vec<String> = step.row.machine["compilers"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|compiler| compiler["name"].as_str().map(str::to_owned))
            .collect();
        let judged = judge::judge_observed(
            &step.experiment,
            &compilers,
            ledger,
            step.row.id,
            &step.observed,
            LookOfPlan::ONLY,
        )?;
        let found = twin_of(&judged.1.twin);
        if worst.as_ref().is_none_or(|(known, _)| rank(found.verdict) > rank(*known)) {
            worst = Some((found.verdict, found.note.unwrap_or_default()));
        }
    }
    Ok(worst)
}

fn warnings(family: &SweepSteps, series: &[SeriesPage], twin: Option<(TwinVerdict, String)>) -> Vec<String> {
    let mut warnings: Vec<String> = twin
        .into_iter()
        .filter(|(verdict, _)| *verdict == TwinVerdict::Different)
        .map(|(_, note)| note)
        .collect();
    let disturbed = family.steps.iter().map(|step| &step.observed).max_by_key(|observed| observed.flagged);
    warnings.extend(disturbed.map(|observed| observed.interruptions()).unwrap_or_default());
    warnings.extend(shared_points(series));
    warnings
}

/// Points at which no campaign of any series had the core for itself.
fn shared_points(series: &[SeriesPage]) -> Option<String> {
    let ratios = || series.iter().flat_map(|series| &series.pairs).flat_map(|pair| &pair.ratios);
    let values = |wanted: &dyn Fn(&RatioAt) -> bool| {
        let mut values: Vec<f64> = ratios().filter(|ratio| wanted(ratio)).map(|ratio| ratio.at).collect();
        values.sort_by(f64::total_cmp);
        values.dedup();
        values.len()
    };
    let (shared, all) = (values(&|ratio| ratio.shared), values(&|_| true));
    (shared > 0).then(|| {
        format!(
            "The sibling thread was busy in every campaign at {shared} of {all} points, which slows code that uses the whole core. \
             Raise --budget, measure at a quieter time, or choose another core with --cpu N"
        )
    })
}

fn points(family: &SweepSteps, background: &Background) -> Vec<MeasuredPoint> {
    let mut points: Vec<MeasuredPoint> = Vec::new();
    for step in &family.steps {
        for point in &step.kept.points {
            if points.iter().any(|known| known.at == point.at) {
                continue;
            }
            let description = background.description(&point.input);
            points.push(MeasuredPoint {
                at: point.at,
                why: point.why,
                step: step.kept.step,
                bytes: description.map(|description| description.bytes),
                units: description.map(|description| description.units),
            });
        }
    }
    points.sort_by(|a, b| a.at.total_cmp(&b.at));
    points
}

fn failures(family: &SweepSteps) -> Vec<PageFailure> {
    let mut failures: Vec<PageFailure> = Vec::new();
    for found in
        family.steps.iter().flat_map(|step| &step.failures).filter(|found| found.stage != Stage::Count)
    {
        let place = [&found.variant, &found.input, &found.compiler, &found.flags];
        let what: Vec<&str> = place.into_iter().flatten().map(String::as_str).collect();
        let skipped = found.stage == Stage::Skipped;
        let failure = PageFailure {
            kind: if skipped { FailureKind::Skipped } else { FailureKind::Failed },
            what: what.join(", "),
            reason: found.reason.clone(),
        };
        if !failures.contains(&failure) {
            failures.push(failure);
        }
    }
    failures
}

fn series_page(
    family: &SweepSteps,
    series: &SweptSeries,
    experiment: &Experiment,
    background: &Background,
    machine: &SweepMachine,
) -> SeriesPage {
    let curve = |curve: &Curve| {
        let found = steps(&curve.readings, family.spec.scale, GAP_LEVEL);
        let alpha = 1.0 - experiment.confidence;
        let mut times: Vec<&Reading> = curve.readings.iter().chain(&curve.left_out).collect();
        times.sort_by(|a, b| a.at.total_cmp(&b.at));
        CurvePage {
            variant: curve.variant.clone(),
            times: times.iter().map(|reading| time(reading, alpha)).collect(),
            steps: found
                .iter()
                .map(|step| step_page(family, series, curve, step, background, machine, experiment))
                .collect(),
        }
    };
    SeriesPage {
        input: series.name.of.clone(),
        compiler: series.name.compiler.clone(),
        flags: series.name.flags.clone(),
        curves: series.measured.curves.iter().map(curve).collect(),
        pairs: series
            .measured
            .pairs
            .iter()
            .map(|pair| pair_page(&family.spec, &series.measured, pair, experiment))
            .collect(),
    }
}

fn time(reading: &Reading, alpha: f64) -> TimeAt {
    let half = reading.half_width(alpha);
    let ns = |log: f64| log.exp();
    let (median, lower, upper) =
        (ns(reading.estimate), ns(reading.estimate - half), ns(reading.estimate + half));
    TimeAt { at: reading.at, ns_per_unit: MedianInterval { median, lower, upper } }
}

fn pair_page(
    spec: &SweepSpec,
    measured: &refine::MeasuredSoFar,
    pair: &SweptPair,
    experiment: &Experiment,
) -> PairPage {
    let (margin, alpha) = (experiment.minimum_effect, 1.0 - experiment.confidence);
    let left_out = pair.left_out.iter().map(|reading| (reading, Winner::Unclear));
    let kept = pair.readings.iter().map(|reading| (reading, zones::winner(reading, margin, alpha)));
    let mut ratios: Vec<(&Reading, Winner)> = kept.chain(left_out).collect();
    ratios.sort_by(|a, b| a.0.at.total_cmp(&b.0.at));
    let ratios = ratios.into_iter().map(|(reading, winner)| {
        let half = reading.half_width(alpha);
        RatioAt {
            at: reading.at,
            ratio: RatioInterval {
                ratio: reading.estimate.exp(),
                lower: (reading.estimate - half).exp(),
                upper: (reading.estimate + half).exp(),
            },
            winner,
            campaigns: reading.seen.campaigns,
            shared: reading.seen.shared,
        }
    });
    let mut found = PairPage {
        candidate: pair.candidate.clone(),
        baseline: pair.baseline.clone(),
        note: String::new(),
        ratios: ratios.collect(),
        crossovers: crossover_pages(spec, measured, pair, experiment.confidence),
        zones: zones::zones(&pair.readings, margin, alpha)
            .iter()
            .map(|zone| ZonePage {
                winner: zone.winner,
                from: zone.from,
                to: zone.to,
                lowest_ratio: zone.estimates.0.exp(),
                highest_ratio: zone.estimates.1.exp(),
            })
            .collect(),
        campaigns_differ_by: pair.between.map(|between| between.variance.sqrt()),
    };
    found.note = sentence(&key_page(spec), &found, experiment.minimum_effect.relative());
    found
}

fn crossover_pages(
    spec: &SweepSpec,
    measured: &refine::MeasuredSoFar,
    pair: &SweptPair,
    confidence: f64,
) -> Vec<CrossoverPage> {
    let shown = |found: assay_pure::sweep::Crossover| {
        // The candidate's time rises past the baseline's: the baseline is faster above.
        let (below, above) =
            if found.rising { (&pair.candidate, &pair.baseline) } else { (&pair.baseline, &pair.candidate) };
        let wanted_width = spec.wanted_width(found.at);
        let wide = found.upper - found.lower > wanted_width * (1.0 + 1e-9);
        // Whatever the step would be, line or middle.
        let open =
            [1, 2].iter().any(|&step| !narrowing(spec, measured, pair, &found, step, confidence).is_empty());
        CrossoverPage {
            at: found.at,
            lower: found.lower,
            upper: found.upper,
            faster_below: below.clone(),
            faster_above: above.clone(),
            wanted_width,
            limited_by: wide.then_some(if open { Limit::Points } else { Limit::Noise }),
            confirmed: is_confirmed(&pair.readings, &found),
        }
    };
    crossovers(&pair.readings, 0.0, spec.scale, confidence).into_iter().map(shown).collect()
}

fn step_page(
    family: &SweepSteps,
    series: &SweptSeries,
    curve: &Curve,
    step: &CurveStep,
    background: &Background,
    machine: &SweepMachine,
    experiment: &Experiment,
) -> StepPage {
    let facts = background.facts(family, series, curve, step);
    let caches: Vec<Cache> =
        machine.caches.iter().map(|cache| Cache { name: cache.name.clone(), bytes: cache.bytes }).collect();
    let found = behind(&facts, &caches);
    let unit = &experiment.unit;
    let (cause, why) = match &found {
        Behind::Cache(cache) => (
            StepCause::Cache,
            format!(
                "{} ({}): the working set grows from {} to {}",
                cache.name,
                words::bytes(cache.bytes),
                words::bytes(facts.before.bytes),
                words::bytes(facts.after.bytes)
            ),
        ),
        Behind::Memory { units, misses, remembered } => (
            StepCause::PredictorMemory,
            format!(
                "the branch predictor's memory, about {}{}{}",
                words::plural(rounded(*units), unit),
                misses.map_or(String::new(), |misses| format!(": {}", go_from(misses))),
                remembered.map_or(String::new(), |outcomes| format!(
                    " (this CPU memorises about {} outcomes)",
                    words::count(outcomes)
                ))
            ),
        ),
        Behind::Mispredictions { misses } => (StepCause::Mispredictions, go_from(*misses)),
        Behind::Unexplained => (StepCause::Unexplained, "unexplained".to_owned()),
    };
    let key = key_page(&family.spec);
    let note = format!(
        "{} to {} ({}) from {} of {}: {why}",
        words::time(step.before.exp()),
        words::time(step.after.exp()),
        words::change(step.change.exp()),
        value::span(&key, step.from, step.to),
        key.label
    );
    StepPage {
        from: step.from,
        to: step.to,
        before_ns: step.before.exp(),
        after_ns: step.after.exp(),
        cause,
        note,
    }
}

fn go_from(misses: (f64, f64)) -> String {
    format!("mispredictions go from {} to {}", words::short(misses.0), words::short(misses.1))
}

/// Two figures are enough for where a memory ends.
fn rounded(units: u64) -> u64 {
    let unit = 10u64.pow(units.max(1).ilog10().saturating_sub(1));
    (units + unit / 2) / unit * unit
}
