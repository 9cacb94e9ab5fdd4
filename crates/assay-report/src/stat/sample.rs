//! Pages that show every key: the input of the golden texts and of the schema's test.

use super::forms::label;
use super::page::*;
use super::spread::{Number, Spread};

pub fn spread(values: &[f64]) -> Spread {
    let values: Vec<Number> = values.iter().map(|&value| value.into()).collect();
    Spread::of(&values).expect("a sample has values")
}

fn counted(event: &str, mode: Scope, values: &[f64]) -> EventRow {
    let suffix = if mode == Scope::User { ":u" } else { "" };
    EventRow {
        event: event.to_owned(),
        label: format!("{event}{suffix}"),
        source: FigureSource::Counted,
        mode,
        unit: String::new(),
        value: Some(spread(values)),
        counted_share: Some(1.0),
        counted_ns: Some(150_123_456.0),
        scaled: false,
        reason: None,
    }
}

fn traced(event: &str, values: &[f64]) -> EventRow {
    EventRow {
        label: label(event, FigureSource::Traced),
        source: FigureSource::Traced,
        counted_share: None,
        counted_ns: None,
        ..counted(event, Scope::User, values)
    }
}

fn predictor(name: &str, missed: &[f64], penalty: Option<(f64, f64)>) -> PredictorRow {
    let all = missed.iter().sum::<f64>() / missed.len() as f64;
    let ends = |low: f64, high: f64| Ends { low, high };
    PredictorRow {
        predictor: name.to_owned(),
        label: label(&format!("{name}-mispredictions"), FigureSource::Simulated),
        what: "tagged tables over path history".to_owned(),
        confidence: penalty.map(|_| "medium".to_owned()),
        definition: "0123456789abcdef".to_owned(),
        mispredictions: spread(missed),
        of_branches: all / 256_402_113.0,
        of_conditional: Some((all - 1200.0) / 214_000_000.0),
        mpki: 1000.0 * all / 1_207_000_111.0,
        conditional: KindMisses { branches: 214_000_000.0, mispredictions: Some(all - 1200.0) },
        indirect: KindMisses { branches: 40_210.0, mispredictions: penalty.map(|_| 1000.0) },
        returns: KindMisses { branches: 20_400_120.0, mispredictions: penalty.map(|_| 200.0) },
        penalty_cycles: penalty.map(|(low, high)| ends(low, high)),
        lost_cycles: penalty.map(|(low, high)| ends(low * all, high * all)),
    }
}

fn execution(source: FigureSource, code: Option<i32>) -> Execution {
    let by_itself = source == FigureSource::Counted;
    Execution {
        source,
        code,
        signal: None,
        ended_by: EndedBy::Itself,
        elapsed_seconds: if by_itself { 0.158 } else { 1.532 },
        user_seconds: by_itself.then_some(0.151),
        peak_resident_bytes: by_itself.then_some(48 << 20),
        system_seconds: by_itself.then_some(0.004),
    }
}

fn traced_events(repeats: usize) -> Vec<EventRow> {
    let same = |value: f64| vec![value; repeats];
    vec![
        traced("branches", &same(256_402_113.0)),
        traced("instructions", &same(1_207_000_111.0)),
        traced("conditional-branches", &same(214_000_000.0)),
        traced("taken-branches", &same(131_200_000.0)),
        traced("direct-jumps", &same(1_541_783.0)),
        traced("direct-calls", &same(20_360_000.0)),
        traced("indirect-jumps", &same(40_000.0)),
        traced("indirect-calls", &same(210.0)),
        traced("returns", &same(20_400_120.0)),
        traced("system-calls", &same(17.0)),
    ]
}

fn range() -> MispredictionRange {
    let ends = |low: f64, high: f64| Ends { low, high };
    MispredictionRange {
        count: ends(8_123_456.0, 9_512_345.0),
        of_branches: ends(0.031_68, 0.037_1),
        of_conditional: Some(ends(0.037_96, 0.044_45)),
        mpki: ends(6.730, 7.881),
        lost_cycles: Some(ends(81_234_560.0, 190_246_900.0)),
    }
}

/// A machine without counters, one execution, three profiles.
pub fn without_counters() -> StatPage {
    let mut refused = counted("branch-misses", Scope::User, &[0.0]);
    refused.value = None;
    refused.counted_share = None;
    refused.counted_ns = None;
    refused.reason =
        Some("this virtual machine is given no performance counters, as most are not (ENOENT)".to_owned());
    let mut events = traced_events(1);
    events.push(refused);
    StatPage {
        schema: STAT_SCHEMA.to_owned(),
        command: vec!["./branchy".to_owned(), "2000".to_owned()],
        asked_source: "auto".to_owned(),
        sources: vec![FigureSource::Traced],
        repeats: 1,
        reasons: vec![
            "branches:u and branch-misses:u cannot be counted: this virtual machine is given no performance counters, \
             as most are not (ENOENT)."
                .to_owned(),
        ],
        emulator: Some("qemu 7.2.22".to_owned()),
        architecture: Some("x86-64".to_owned()),
        events,
        predictors: vec![
            predictor("skylake", &[8_123_456.0], Some((15.0, 20.0))),
            predictor("golden-cove", &[8_700_000.0], Some((16.0, 17.0))),
            predictor("zen4", &[9_512_345.0], Some((11.0, 18.0))),
        ],
        mispredictions: Some(range()),
        differences: Vec::new(),
        executions: vec![execution(FigureSource::Traced, Some(0))],
        threads: Vec::new(),
        notes: Vec::new(),
    }
}

/// Events that were counted: whole, in part, refused, never.
fn counted_events() -> Vec<EventRow> {
    let mut misses = counted("branch-misses", Scope::User, &[8_904_113.0, 8_911_002.0, 8_897_771.0]);
    misses.counted_share = Some(0.42);
    misses.reason = Some(
        "counted 42 % of the time (multiplexed), so the figure is too low; --scale extrapolates".to_owned(),
    );
    let mut clock = counted("task-clock", Scope::User, &[151_200_000.0, 153_900_000.0, 150_100_000.0]);
    clock.unit = "ns".to_owned();
    clock.label = "task-clock".to_owned();
    let mut refused = counted("context-switches", Scope::All, &[0.0]);
    refused.value = None;
    refused.counted_share = None;
    refused.counted_ns = None;
    refused.reason = Some("kernel.perf_event_paranoid is 2, which lets programs without CAP_PERFMON count in user mode at most, which this is not (EACCES)".to_owned());
    let mut never = counted("cache-misses", Scope::User, &[0.0]);
    never.value = None;
    never.counted_share = Some(0.0);
    never.reason = Some("it never had its turn on a counter".to_owned());
    vec![
        counted("branches", Scope::User, &[256_402_130.0, 256_402_131.0, 256_402_130.0]),
        misses,
        counted("instructions", Scope::User, &[1_207_000_200.0, 1_207_000_207.0, 1_207_000_201.0]),
        counted("cycles", Scope::User, &[522_000_200.0, 523_100_207.0, 522_900_201.0]),
        clock,
        counted("page-faults", Scope::All, &[1071.0, 1071.0, 1071.0]),
        refused,
        never,
    ]
}

fn differences() -> Vec<Difference> {
    let ends = |low: f64, high: f64| Ends { low, high };
    vec![
        Difference {
            event: "branches".to_owned(),
            counted: 256_402_130.3,
            traced: ends(256_402_113.0, 256_402_113.0),
            simulated: false,
            relative: Some(ends(-7e-8, -7e-8)),
        },
        Difference {
            event: "branch-misses".to_owned(),
            counted: 8_904_295.3,
            traced: ends(8_123_456.0, 9_512_345.0),
            simulated: true,
            relative: Some(ends(-0.0877, 0.0683)),
        },
    ]
}

fn threads() -> Vec<ThreadRow> {
    vec![
        ThreadRow {
            process: 4711,
            thread: 0,
            program: "./branchy".to_owned(),
            instructions: 1_207_000_000,
            branches: 256_402_000,
            conditional: 213_999_990,
            taken: Some(131_199_994),
            mispredictions: vec![8_123_400, 9_512_300],
        },
        ThreadRow {
            process: 4711,
            thread: 1,
            program: "./branchy".to_owned(),
            instructions: 111,
            branches: 113,
            conditional: 10,
            taken: None,
            mispredictions: vec![56, 45],
        },
    ]
}

/// Everything: counted and traced, repeated, a shared counter, threads, notes.
pub fn rich() -> StatPage {
    let mut events = counted_events();
    events.extend(traced_events(3));
    StatPage {
        asked_source: "both".to_owned(),
        sources: vec![FigureSource::Counted, FigureSource::Traced],
        repeats: 3,
        reasons: Vec::new(),
        events,
        predictors: vec![
            predictor("skylake", &[8_123_456.0; 3], Some((15.0, 20.0))),
            predictor("gshare", &[9_512_345.0, 9_512_340.0, 9_512_360.0], None),
        ],
        differences: differences(),
        executions: vec![
            execution(FigureSource::Counted, Some(0)),
            execution(FigureSource::Traced, Some(0)),
            execution(FigureSource::Counted, Some(1)),
            execution(FigureSource::Traced, Some(1)),
            execution(FigureSource::Counted, Some(1)),
            Execution {
                code: None,
                signal: Some(15),
                ended_by: EndedBy::TimeLimit,
                ..execution(FigureSource::Traced, None)
            },
        ],
        threads: threads(),
        notes: vec!["page-faults in the emulator are its own and are not shown".to_owned()],
        ..without_counters()
    }
}

/// One program, counted alone.
pub fn counted_only() -> StatPage {
    let mut page = rich();
    page.sources = vec![FigureSource::Counted];
    page.asked_source = "auto".to_owned();
    page.events.retain(|row| row.source == FigureSource::Counted);
    page.predictors.clear();
    page.mispredictions = None;
    page.differences.clear();
    page.threads.clear();
    page.emulator = None;
    page.architecture = None;
    page.executions.retain(|execution| execution.source == FigureSource::Counted);
    page
}
