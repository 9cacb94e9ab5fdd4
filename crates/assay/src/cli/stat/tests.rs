//! Pages of scripted executions: no command is started here.

use super::compose::{CommandExecution, StatQuestion, compose};
use super::predictors;
use super::source::Choice;
use super::traced::scripted::{process, thread, trace};
use super::wanted::StatRequest;
use super::{code_of, counted, exit_code, traced};
use assay_linux::perf::{CommandEnding, CounterEvent, CounterReading, CounterRefusal, RefusalContext};
use assay_report::render_stat;
use assay_report::stat::Number;
use assay_report::stat::page::{EndedBy, Ends, Execution, FigureSource, StatPage};
use assay_trace::TracedExit;
use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;
use std::time::Duration;

const MIXED: [bool; 8] = [true, false, true, true, false, true, true, true];

fn question(sources: &[FigureSource], events: &[&str], predictors: &[&str]) -> StatQuestion {
    let list = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
    let predictors = if predictors.is_empty() { list(&["none"]) } else { list(predictors) };
    StatQuestion {
        command: list(&["./program", "7"]),
        asked_source: "auto".to_owned(),
        choice: Choice {
            sources: sources.to_vec(),
            groups: Vec::new(),
            reasons: Vec::new(),
            refused: Vec::new(),
        },
        wanted: StatRequest::read(&list(events)).unwrap(),
        models: predictors::choose(&predictors, Some("x86-64")).unwrap(),
        repeats: 1,
        scale: false,
        per_thread: false,
        conditions: RefusalContext { paranoid: Some(2), ..RefusalContext::default() },
        architecture: Some("x86-64".to_owned()),
        input_is_consumed: false,
    }
}

fn reading(value: u64, enabled_ns: u64, running_ns: u64) -> CounterReading {
    CounterReading { value, enabled_ns, running_ns }
}

fn whole(value: u64) -> Result<CounterReading, CounterRefusal> {
    Ok(reading(value, 1_000_000, 1_000_000))
}

fn counted(events: &[(&str, Result<CounterReading, CounterRefusal>)]) -> CommandExecution {
    let events =
        events.iter().map(|(name, read)| (name.parse::<CounterEvent>().unwrap(), read.clone())).collect();
    let ending = CommandEnding {
        status: ExitStatus::from_raw(0),
        end: EndedBy::Itself,
        elapsed: Duration::from_millis(200),
        user: Duration::from_millis(150),
        system: Duration::from_millis(10),
        peak_resident: None,
    };
    CommandExecution::Counted(counted::CountedRun { events, ending })
}

fn traced_once(outcomes: &[bool], predictors: &[&str]) -> CommandExecution {
    let trace = trace(vec![process(7, vec![thread(0, outcomes, predictors)], TracedExit::Exited(0))]);
    CommandExecution::Traced(traced::figures(trace, Duration::from_secs(1)))
}

fn mean(page: &StatPage, event: &str, source: FigureSource) -> f64 {
    page.row(event, source).unwrap().value.as_ref().unwrap().mean.value()
}

#[test]
fn traced_figures_carry_both_denominators_and_mpki() {
    // 8 conditionals, 2 not taken; an indirect call, a return; 10 instructions each.
    let predictors = ["always-taken"];
    let page =
        compose(&question(&[FigureSource::Traced], &[], &predictors), &[traced_once(&MIXED, &predictors)]);
    let row = &page.predictors[0];
    assert_eq!(row.mispredictions.mean, Number::Whole(2));
    assert_eq!((row.of_branches, row.of_conditional), (0.2, Some(0.25)));
    assert_eq!(row.mpki, 20.0);
    assert_eq!((row.conditional.branches, row.conditional.mispredictions), (8.0, Some(2.0)));
    assert_eq!((row.indirect.branches, row.indirect.mispredictions), (1.0, None));
    assert_eq!((row.returns.branches, row.returns.mispredictions), (1.0, None));
    assert_eq!(row.label, "simulated/always-taken-mispredictions/");
    assert_eq!(mean(&page, "branches", FigureSource::Traced), 10.0);
    assert_eq!(mean(&page, "taken-branches", FigureSource::Traced), 6.0);
    assert_eq!(mean(&page, "instructions", FigureSource::Traced), 100.0);
    assert_eq!(page.emulator.as_deref(), Some("qemu 7.2.22"));
}

#[test]
fn the_range_spans_all_predictors_and_leaves_out_what_one_does_not_judge() {
    let predictors = ["always-taken", "last-target", "backward-taken"];
    let page =
        compose(&question(&[FigureSource::Traced], &[], &predictors), &[traced_once(&MIXED, &predictors)]);
    let range = page.mispredictions.unwrap();
    // last-target is wrong once, about the indirect call; both static rules twice, as the target lies behind.
    assert_eq!(range.count, Ends { low: 1.0, high: 2.0 });
    assert_eq!(range.of_branches, Ends { low: 0.1, high: 0.2 });
    assert_eq!(range.of_conditional, Some(Ends { low: 0.25, high: 0.25 }));
    assert_eq!(range.mpki, Ends { low: 10.0, high: 20.0 });
    assert_eq!(range.lost_cycles, None);
    assert_eq!(page.predictors[1].of_conditional, None);
}

#[test]
fn lost_cycles_are_mispredictions_times_what_one_costs() {
    let predictors = ["always-taken", "last-target"];
    let mut question = question(&[FigureSource::Traced], &[], &predictors);
    question.models[0].penalty = Some(Ends { low: 15.0, high: 20.0 });
    let page = compose(&question, &[traced_once(&MIXED, &predictors)]);
    assert_eq!(page.predictors[0].lost_cycles, Some(Ends { low: 30.0, high: 40.0 }));
    assert_eq!(page.predictors[1].lost_cycles, None);
    assert_eq!(page.mispredictions.unwrap().lost_cycles, Some(Ends { low: 30.0, high: 40.0 }));
}

#[test]
fn a_shared_counter_shows_its_part_unless_scaling_is_asked_for() {
    let executions = [
        counted(&[("branches", Ok(reading(100, 1000, 500)))]),
        counted(&[("branches", Ok(reading(300, 1000, 750)))]),
    ];
    let mut question = question(&[FigureSource::Counted], &["branches"], &[]);
    let page = compose(&question, &executions);
    let row = page.row("branches", FigureSource::Counted).unwrap();
    assert_eq!(row.value.as_ref().unwrap().values, [Number::Whole(100), Number::Whole(300)]);
    assert_eq!((row.counted_share, row.counted_ns, row.scaled), (Some(0.5), Some(625.0), false));
    assert!(row.reason.as_ref().unwrap().contains("counted 50 % of the time"), "{:?}", row.reason);
    assert!(row.reason.as_ref().unwrap().contains("--scale"));
    question.scale = true;
    let page = compose(&question, &executions);
    let row = page.row("branches", FigureSource::Counted).unwrap();
    assert_eq!(row.value.as_ref().unwrap().values, [Number::Whole(200), Number::Whole(400)]);
    assert!(
        row.scaled && row.reason.as_ref().unwrap().starts_with("extrapolated from 50 %"),
        "{:?}",
        row.reason
    );
}

#[test]
fn scaling_changes_nothing_that_was_counted_whole() {
    let mut question = question(&[FigureSource::Counted], &["branches"], &[]);
    question.scale = true;
    let page = compose(&question, &[counted(&[("branches", whole(123))])]);
    let row = page.row("branches", FigureSource::Counted).unwrap();
    assert_eq!(
        (row.value.as_ref().unwrap().mean, row.scaled, &row.reason),
        (Number::Whole(123), false, &None)
    );
}

#[test]
fn an_event_without_a_turn_has_no_value_and_is_not_zero() {
    let never = [counted(&[("branches", Ok(reading(0, 1000, 0)))])];
    let question = question(&[FigureSource::Counted], &["branches"], &[]);
    let page = compose(&question, &never);
    let row = page.row("branches", FigureSource::Counted).unwrap();
    assert_eq!((&row.value, row.counted_share), (&None, Some(0.0)));
    assert!(row.reason.as_ref().unwrap().contains("never scheduled"), "{:?}", row.reason);
    let gained = compose(&question, &[counted(&[("branches", Ok(reading(0, 0, 0)))])]);
    let row = gained.row("branches", FigureSource::Counted).unwrap();
    assert!(row.value.is_none() && row.reason.as_ref().unwrap().contains("privileges"), "{:?}", row.reason);
    let sometimes = [
        counted(&[("branches", Ok(reading(0, 1000, 0)))]),
        counted(&[("branches", Ok(reading(70, 1000, 1000)))]),
    ];
    let page = compose(&question, &sometimes);
    let row = page.row("branches", FigureSource::Counted).unwrap();
    assert_eq!(row.value.as_ref().unwrap().values, [Number::Whole(70)]);
    assert!(row.reason.as_ref().unwrap().contains("never in 1 of 2"), "{:?}", row.reason);
}

#[test]
fn refused_events_say_why_beside_those_that_were_counted() {
    let refusal = CounterRefusal::new(&"cs".parse().unwrap(), 13);
    let question = question(&[FigureSource::Counted], &["task-clock,cs"], &[]);
    let page = compose(&question, &[counted(&[("task-clock", whole(5_000_000)), ("cs", Err(refusal))])]);
    let row = page.row("context-switches", FigureSource::Counted).unwrap();
    assert!(row.value.is_none() && row.counted_ns.is_none());
    assert!(row.reason.as_ref().unwrap().contains("perf_event_paranoid is 2"), "{:?}", row.reason);
    let clock = page.row("task-clock", FigureSource::Counted).unwrap();
    assert_eq!((clock.unit.as_str(), clock.label.as_str()), ("ns", "task-clock"));
}

#[test]
fn a_traced_page_keeps_what_was_refused_for_programs_that_look_for_it() {
    let mut question = question(&[FigureSource::Traced], &["branches,branch-misses,cs"], &["always-taken"]);
    question.choice.refused = vec![CounterRefusal::new(&"branch-misses".parse().unwrap(), 2)];
    let page = compose(&question, &[traced_once(&MIXED, &["always-taken"])]);
    let misses = page.row("branch-misses", FigureSource::Counted).unwrap();
    assert!(misses.value.is_none() && misses.reason.as_ref().unwrap().contains("ENOENT"));
    let switches = page.row("context-switches", FigureSource::Counted).unwrap();
    assert!(switches.reason.as_ref().unwrap().contains("--source both"), "{:?}", switches.reason);
    assert!(page.row("branches", FigureSource::Counted).is_none(), "it was not refused, and it was traced");
    assert!(page.row("instructions", FigureSource::Traced).is_none(), "it was not asked for");
}

#[test]
fn counted_stands_against_traced_with_its_difference() {
    let predictors = ["always-taken", "last-target"];
    let question = question(&[FigureSource::Counted, FigureSource::Traced], &[], &predictors);
    let events =
        [("branches", whole(8)), ("branch-misses", whole(4)), ("instructions", Ok(reading(50, 1000, 500)))];
    let page = compose(&question, &[counted(&events), traced_once(&MIXED, &predictors)]);
    let names: Vec<&str> = page.differences.iter().map(|row| row.event.as_str()).collect();
    assert_eq!(names, ["branches", "branch-misses"], "a part is not compared");
    assert_eq!(page.differences[0].relative, Some(Ends { low: 0.25, high: 0.25 }));
    assert_eq!(page.differences[1].relative, Some(Ends { low: -0.75, high: -0.5 }));
    assert_eq!((page.differences[0].simulated, page.differences[1].simulated), (false, true));
    let text = render_stat(&page, 120, false);
    assert!(text.contains("Counted and traced, compared") && text.contains("+25.0 %"), "{text}");
}

#[test]
fn equal_traces_are_called_identical_and_others_explained() {
    let predictors = ["always-taken"];
    let mut question = question(&[FigureSource::Traced], &[], &predictors);
    question.repeats = 2;
    let same = compose(&question, &[traced_once(&MIXED, &predictors), traced_once(&MIXED, &predictors)]);
    let branches = same.row("branches", FigureSource::Traced).unwrap().value.as_ref().unwrap();
    assert_eq!((branches.identical, same.notes.len()), (Some(true), 0));
    assert!(render_stat(&same, 120, false).contains("identical"));
    question.input_is_consumed = true;
    let other =
        compose(&question, &[traced_once(&MIXED, &predictors), traced_once(&MIXED[..5], &predictors)]);
    let branches = other.row("branches", FigureSource::Traced).unwrap().value.as_ref().unwrap();
    assert_eq!(branches.identical, Some(false));
    assert!(
        other.notes.iter().any(|note| note.contains("random numbers") && note.contains("standard input"))
    );
    assert_eq!(mean(&other, "branches", FigureSource::Traced), 8.5);
    assert_eq!(other.predictors[0].mispredictions.values, [Number::Whole(2), Number::Whole(2)]);
}

#[test]
fn threads_are_summed_and_listed_when_asked_for() {
    let predictors = ["always-taken"];
    let mut question = question(&[FigureSource::Traced], &[], &predictors);
    let two = || {
        let threads = vec![thread(0, &MIXED, &predictors), thread(1, &MIXED[..3], &predictors)];
        CommandExecution::Traced(traced::figures(
            trace(vec![process(7, threads, TracedExit::Exited(0))]),
            Duration::ZERO,
        ))
    };
    let page = compose(&question, &[two()]);
    assert!(page.threads.is_empty() && page.notes[0].contains("2 threads of 1 process;"), "{:?}", page.notes);
    question.per_thread = true;
    let page = compose(&question, &[two()]);
    assert_eq!(page.threads.iter().map(|row| row.branches).collect::<Vec<_>>(), [10, 5]);
    assert_eq!(page.threads[1].mispredictions, [1]);
    assert!(page.notes.is_empty());
}

#[test]
fn nothing_executed_gives_an_empty_page_and_no_division_by_zero() {
    let page = compose(&question(&[FigureSource::Traced], &[], &["gshare"]), &[]);
    assert!(page.events.is_empty() && page.predictors.is_empty() && page.mispredictions.is_none());
    let empty = traced::figures(trace(Vec::new()), Duration::ZERO);
    let page =
        compose(&question(&[FigureSource::Traced], &[], &["gshare"]), &[CommandExecution::Traced(empty)]);
    assert_eq!((page.predictors[0].of_branches, page.predictors[0].mpki), (0.0, 0.0));
}

#[test]
fn the_exit_code_is_the_commands_own() {
    let ended = |code, signal, ended_by| Execution {
        source: FigureSource::Counted,
        code,
        signal,
        ended_by,
        elapsed_seconds: 1.0,
        user_seconds: None,
        peak_resident_bytes: None,
        system_seconds: None,
    };
    assert_eq!(code_of(&ended(Some(0), None, EndedBy::Itself)), 0);
    assert_eq!(code_of(&ended(Some(7), None, EndedBy::Itself)), 7);
    assert_eq!(code_of(&ended(None, Some(11), EndedBy::Itself)), 139);
    assert_eq!(code_of(&ended(None, Some(15), EndedBy::TimeLimit)), 124);
    assert_eq!(code_of(&ended(None, Some(15), EndedBy::Interrupt)), 130);
    assert_eq!(code_of(&ended(None, None, EndedBy::Itself)), 1);
    let all = [0, 5, 6].map(|code| ended(Some(code), None, EndedBy::Itself));
    assert_eq!(exit_code(&all), 5);
    assert_eq!(exit_code(&[]), 0);
}
