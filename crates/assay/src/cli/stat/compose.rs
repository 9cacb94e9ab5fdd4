//! From executions to the page: means and spreads, shares, ranges over predictors, counted against traced.

use super::counted;
use super::predictors::SimulatedModel;
use super::source::Choice;
use super::traced;
use super::wanted::{StatRequest, TRACED, is_traceable};
use assay_linux::perf::{CounterEvent, CounterReading, CounterRefusal, RefusalContext};
use assay_pure::command::{CommandEnd, EndedBy, Scope};
use assay_pure::predict::PredictionKind;
use assay_pure::words;
use assay_report::stat::forms::label;
use assay_report::stat::page::{
    Difference, Ends, EventRow, Execution, FigureSource, KindMisses, MispredictionRange, PredictorRow,
    STAT_SCHEMA, StatPage,
};
use assay_report::stat::{Number, Spread};
use std::os::unix::process::ExitStatusExt as _;

/// One execution, either way.
#[derive(Clone, Debug)]
pub enum CommandExecution {
    /// Counted.
    Counted(counted::CountedRun),
    /// Traced.
    Traced(traced::TracedRun),
}

/// What was asked for and decided.
#[derive(Clone, Debug)]
pub struct StatQuestion {
    /// The command.
    pub command: Vec<String>,
    /// As given with `--source`.
    pub asked_source: String,
    /// What was chosen.
    pub choice: Choice,
    /// What was wanted.
    pub wanted: StatRequest,
    /// The predictors simulated.
    pub models: Vec<SimulatedModel>,
    /// Executions asked for.
    pub repeats: u64,
    /// Multiplexed counters are extrapolated.
    pub scale: bool,
    /// Threads are listed.
    pub per_thread: bool,
    /// Why the kernel refuses what it refuses.
    pub conditions: RefusalContext,
    /// What the program was built for.
    pub architecture: Option<String>,
    /// Standard input could be read by one execution only.
    pub input_is_consumed: bool,
}

/// The page of what was executed, in that order.
pub fn compose(question: &StatQuestion, executed: &[CommandExecution]) -> StatPage {
    let counted: Vec<&counted::CountedRun> = executed.iter().filter_map(CommandExecution::counted).collect();
    let traced: Vec<&traced::TracedRun> = executed.iter().filter_map(CommandExecution::traced).collect();
    let mut events = counted_rows(question, &counted);
    events.extend(traced_rows(question, &traced));
    events.extend(refused_rows(question, &counted));
    let predictors: Vec<PredictorRow> = predictor_rows(question, &traced);
    let mut page = StatPage {
        schema: STAT_SCHEMA.to_owned(),
        command: question.command.clone(),
        asked_source: question.asked_source.clone(),
        sources: question.choice.sources.clone(),
        repeats: question.repeats,
        reasons: question.choice.reasons.clone(),
        emulator: traced.first().and_then(|figures| figures.emulator.clone()),
        architecture: question.architecture.clone().filter(|_| !traced.is_empty()),
        events,
        mispredictions: range(&predictors),
        predictors,
        differences: Vec::new(),
        executions: executed.iter().map(execution).collect(),
        threads: traced
            .first()
            .map(|figures| figures.threads.clone())
            .filter(|_| question.per_thread)
            .unwrap_or_default(),
        notes: notes(question, &traced),
    };
    page.differences = differences(&page);
    page
}

impl CommandExecution {
    fn counted(&self) -> Option<&counted::CountedRun> {
        if let CommandExecution::Counted(figures) = self { Some(figures) } else { None }
    }

    fn traced(&self) -> Option<&traced::TracedRun> {
        if let CommandExecution::Traced(figures) = self { Some(figures) } else { None }
    }
}

fn counted_rows(question: &StatQuestion, executions: &[&counted::CountedRun]) -> Vec<EventRow> {
    let Some(first) = executions.first() else { return Vec::new() };
    let row = |(at, (event, _)): (usize, &counted::EventReading)| {
        let read = executions.iter().filter_map(|figures| figures.events.get(at));
        let readings: Result<Vec<CounterReading>, &CounterRefusal> =
            read.map(|(_, reading)| reading.as_ref().copied()).collect();
        match readings {
            Ok(readings) => counted_row(event, &readings, question.scale),
            Err(refusal) => {
                EventRow { reason: Some(refusal.reason(&question.conditions)), ..empty_row(event) }
            }
        }
    };
    first.events.iter().enumerate().map(row).collect()
}

fn empty_row(event: &CounterEvent) -> EventRow {
    EventRow {
        event: event.name.clone(),
        label: event.to_string(),
        source: FigureSource::Counted,
        mode: if event.is_time() { Scope::User } else { event.scope },
        unit: if event.is_time() { "ns" } else { "" }.to_owned(),
        value: None,
        counted_share: None,
        counted_ns: None,
        scaled: false,
        reason: None,
    }
}

/// Executions in which the event had no turn on a counter have no value; a part is shown as the part it is.
fn counted_row(event: &CounterEvent, readings: &[CounterReading], scale: bool) -> EventRow {
    let value = |reading: &CounterReading| match reading.scaled() {
        Some(scaled) if scale && reading.is_multiplexed() => Number::from(scaled.round()),
        _ => Number::from(reading.value),
    };
    let values: Vec<Number> = readings.iter().filter(|reading| reading.was_counted()).map(value).collect();
    let share = readings.iter().map(CounterReading::share).fold(1.0, f64::min);
    let running: f64 = readings.iter().map(|reading| reading.running_ns as f64).sum();
    let scaled = scale && share < 1.0 && !values.is_empty();
    EventRow {
        counted_share: Some(share),
        counted_ns: Some(running / readings.len().max(1) as f64),
        scaled,
        reason: partly(readings, share, scaled),
        value: Spread::of(&values),
        ..empty_row(event)
    }
}

fn partly(readings: &[CounterReading], share: f64, scaled: bool) -> Option<String> {
    let without = readings.iter().filter(|reading| !reading.was_counted()).count();
    if without == readings.len() {
        return Some(if readings.iter().all(|reading| reading.enabled_ns == 0) {
            "the kernel did not count it, as for a program that gains privileges when it starts".to_owned()
        } else {
            "it was never scheduled on a counter: more events than counters".to_owned()
        });
    }
    if share >= 1.0 {
        return None;
    }
    let missing = if without > 0 {
        format!(", and never in {without} of {} executions", readings.len())
    } else {
        String::new()
    };
    let share = words::fraction(share);
    Some(if scaled {
        format!("extrapolated from {share} of the time{missing}")
    } else {
        format!(
            "counted {share} of the time (multiplexed){missing}, so the figure is too low; --scale extrapolates"
        )
    })
}

fn traced_rows(question: &StatQuestion, executions: &[&traced::TracedRun]) -> Vec<EventRow> {
    let mut rows = Vec::new();
    for traced in TRACED.iter().filter(|traced| question.wanted.traced.contains(&traced.name)) {
        let values: Option<Vec<Number>> =
            executions.iter().map(|figures| (traced.of)(&figures.counts).map(Number::from)).collect();
        let Some(value) = values.as_deref().and_then(Spread::of) else {
            if question.wanted.named && !executions.is_empty() {
                let reason =
                    "not observed when only counts are traced; simulate a predictor to see it".to_owned();
                rows.push(EventRow { reason: Some(reason), ..traced_row(traced.name, None) });
            }
            continue;
        };
        rows.push(traced_row(traced.name, Some(value)));
    }
    rows
}

fn traced_row(name: &str, value: Option<Spread>) -> EventRow {
    EventRow {
        event: name.to_owned(),
        label: label(name, FigureSource::Traced),
        source: FigureSource::Traced,
        mode: Scope::User,
        unit: String::new(),
        value,
        counted_share: None,
        counted_ns: None,
        scaled: false,
        reason: None,
    }
}

/// Where nothing was counted: what the kernel refuses, and what was named but is not seen by tracing.
fn refused_rows(question: &StatQuestion, counted: &[&counted::CountedRun]) -> Vec<EventRow> {
    if !counted.is_empty() {
        return Vec::new();
    }
    let row = |event: &CounterEvent| {
        let refusal = question.choice.refused.iter().find(|refusal| refusal.event == event.to_string());
        let reason = match refusal {
            Some(refusal) => refusal.reason(&question.conditions),
            None if question.wanted.named && !is_traceable(event) => {
                "a traced execution has only the emulator's; `--source both` counts it in a second execution"
                    .to_owned()
            }
            None => return None,
        };
        Some(EventRow { reason: Some(reason), ..empty_row(event) })
    };
    question.wanted.events().filter_map(row).collect()
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0u32), |(sum, count), value| (sum + value, count + 1));
    sum / f64::from(count.max(1))
}

fn share(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

fn predictor_rows(question: &StatQuestion, executions: &[&traced::TracedRun]) -> Vec<PredictorRow> {
    let row = |(at, model): (usize, &SimulatedModel)| {
        let all =
            |figures: &&traced::TracedRun| figures.missed.get(at).map_or(0, |missed| missed.iter().sum());
        let totals: Vec<Number> =
            executions.iter().map(|figures| Number::from(all(figures))).collect::<Vec<Number>>();
        let mispredictions = Spread::of(&totals)?;
        let count = mispredictions.mean.value();
        let of = |counts: fn(&traced::TracedRun) -> u64| {
            mean(executions.iter().map(|figures| counts(figures) as f64))
        };
        let kind = |kind: usize, judged: PredictionKind, branches: f64| KindMisses {
            branches,
            mispredictions: model.judges.contains(&judged).then(|| {
                mean(
                    executions
                        .iter()
                        .map(|figures| figures.missed.get(at).map_or(0, |missed| missed[kind]) as f64),
                )
            }),
        };
        let conditional = kind(0, PredictionKind::Direction, of(|figures| figures.counts.conditional));
        Some(PredictorRow {
            predictor: model.name.clone(),
            label: label(&format!("{}-mispredictions", model.name), FigureSource::Simulated),
            what: model.what.clone(),
            confidence: model.confidence.clone(),
            definition: format!("{:016x}", model.definition),
            of_branches: share(count, of(|figures| figures.counts.branches())),
            of_conditional: conditional.mispredictions.map(|missed| share(missed, conditional.branches)),
            mpki: 1000.0 * share(count, of(|figures| figures.counts.instructions)),
            conditional,
            indirect: kind(
                1,
                PredictionKind::Target,
                of(|figures| figures.counts.indirect_jumps + figures.counts.indirect_calls),
            ),
            returns: kind(2, PredictionKind::Return, of(|figures| figures.counts.returns)),
            penalty_cycles: model.penalty,
            lost_cycles: model.penalty.map(|cost| Ends { low: cost.low * count, high: cost.high * count }),
            mispredictions,
        })
    };
    question.models.iter().enumerate().filter_map(row).collect()
}

/// The ends over all rows that have the figure; None if none has.
fn over(rows: &[PredictorRow], ends: impl Fn(&PredictorRow) -> Option<Ends>) -> Option<Ends> {
    let join = |one: Ends, other: Ends| Ends { low: one.low.min(other.low), high: one.high.max(other.high) };
    rows.iter().filter_map(ends).reduce(join)
}

fn range(rows: &[PredictorRow]) -> Option<MispredictionRange> {
    let point = |value: f64| Some(Ends { low: value, high: value });
    Some(MispredictionRange {
        count: over(rows, |row| point(row.mispredictions.mean.value()))?,
        of_branches: over(rows, |row| point(row.of_branches))?,
        of_conditional: over(rows, |row| row.of_conditional.and_then(point)),
        mpki: over(rows, |row| point(row.mpki))?,
        lost_cycles: over(rows, |row| row.lost_cycles),
    })
}

/// Events that were counted whole, or extrapolated on request, and traced.
fn differences(page: &StatPage) -> Vec<Difference> {
    let mut found = Vec::new();
    for row in page.events.iter().filter(|row| row.source == FigureSource::Counted && row.mode == Scope::User)
    {
        let whole = row.scaled || row.counted_share == Some(1.0);
        let Some(value) = row.value.as_ref().filter(|_| whole) else { continue };
        let exact = page.row(&row.event, FigureSource::Traced).and_then(|row| row.value.as_ref());
        let exact = exact.map(|value| Ends { low: value.mean.value(), high: value.mean.value() });
        let simulated = page.mispredictions.filter(|_| row.event == "branch-misses").map(|range| range.count);
        let Some(traced) = exact.or(simulated) else { continue };
        let counted = value.mean.value();
        let relative = |end: f64| (end - counted) / counted;
        found.push(Difference {
            event: row.event.clone(),
            counted,
            traced,
            simulated: exact.is_none(),
            relative: (counted > 0.0)
                .then(|| Ends { low: relative(traced.low), high: relative(traced.high) }),
        });
    }
    found
}

fn execution(executed: &CommandExecution) -> Execution {
    match executed {
        CommandExecution::Counted(figures) => Execution {
            source: FigureSource::Counted,
            code: figures.ending.status.code(),
            signal: figures.ending.status.signal(),
            ended_by: figures.ending.end,
            elapsed_seconds: figures.ending.elapsed.as_secs_f64(),
            user_seconds: Some(figures.ending.user.as_secs_f64()),
            peak_resident_bytes: figures.ending.peak_resident,
            system_seconds: Some(figures.ending.system.as_secs_f64()),
        },
        CommandExecution::Traced(figures) => {
            let CommandEnd { by, code, signal } = figures.ended.end();
            let ended_by = if figures.interrupted { EndedBy::Interrupt } else { by };
            Execution {
                source: FigureSource::Traced,
                code,
                signal,
                ended_by,
                elapsed_seconds: figures.elapsed.as_secs_f64(),
                user_seconds: None,
                peak_resident_bytes: None,
                system_seconds: None,
            }
        }
    }
}

fn notes(question: &StatQuestion, traced: &[&traced::TracedRun]) -> Vec<String> {
    let mut notes: Vec<String> = Vec::new();
    for note in traced.iter().flat_map(|figures| &figures.notes) {
        if !notes.contains(note) {
            notes.push(note.clone());
        }
    }
    if let Some(first) = traced.first() {
        let mut processes: Vec<u32> = first.threads.iter().map(|thread| thread.process).collect();
        processes.dedup();
        if first.threads.len() > 1 && !question.per_thread {
            notes.push(format!(
                "these are sums over {} of {}; --per-thread lists them",
                words::plural(first.threads.len() as u64, "thread"),
                words::plural(processes.len() as u64, "process")
            ));
        }
        if traced.iter().any(|figures| figures.counts != first.counts) {
            notes.push(why_they_differ(question));
        }
    }
    notes
}

fn why_they_differ(question: &StatQuestion) -> String {
    let mut text =
        "each execution was counted exactly, but they differ: time, random numbers (hash seeds, addresses), \
                    threads or files written before make the program take another path"
            .to_owned();
    if question.input_is_consumed {
        text.push_str("; the first execution may also have consumed the standard input");
    }
    text
}
