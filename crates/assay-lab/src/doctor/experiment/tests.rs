//! Every check on facts that fail it and on facts that pass it, and its thresholds from both sides.

use crate::doctor::experiment::{compose, in_short};
use crate::examine::check::CheckOutcome;
use crate::examine::checks::CHECKS;
use crate::examine::facts::{
    Answers, ExaminedInput, ExecutedCounts, ExperimentFacts, GrowthTimes, Notes, Pages, PlannedSample, Sizes,
    TracedCell,
};
use assay_pure::experiment::{Acceptance, acceptance};
use assay_pure::protocol::VariantKind;
use assay_pure::verdict::learned::Learned;
use assay_report::doctor::{CheckState as State, Examination};

const SIZES: Sizes = Sizes { units: 8192, half_units: 4096, bytes: 8192, half_bytes: 4096 };

/// A variant that reads each byte, in two inputs of which one is longer than any cache.
fn sound() -> ExperimentFacts {
    let input = |name: &str, family: &str, units: u64| ExaminedInput {
        name: name.into(),
        family: family.into(),
        bytes: units,
        is_generated: true,
        units,
        distinct: units,
        windows: units.div_ceil(4096),
        production_units: None,
    };
    let cell = TracedCell {
        variant: "sum".into(),
        input: 1,
        build: "gcc, O2".into(),
        kind: Some(VariantKind::Call),
        answers: Some(Answers { whole: 7, half: Some(3), other: Some(8) }),
        pages: Some(Pages { read: 2, of: 2 }),
        times: Some(GrowthTimes { sizes: SIZES, ns: 2000.0, half_ns: 1000.0 }),
        sample: Some(PlannedSample {
            call_ns: 1000.0,
            units: 4096.0,
            bytes: 4096.0,
            iterations: 200,
            region_ns: 24.0,
        }),
        work: Some(ExecutedCounts {
            per_iteration: None,
            sizes: SIZES,
            passes: vec![16_400, 16_390, 16_390, 16_390, 16_390],
            half: vec![8200, 8200, 8200],
            other: vec![16_395, 16_390, 16_390],
            ahead: None,
            windows: vec![(4096, 8200); 24],
            system_calls: 0,
            calls: vec![("memcpy".into(), 1)],
        }),
        new_pages: Some(0.0),
        ..TracedCell::default()
    };
    ExperimentFacts {
        unit: "byte".into(),
        l1d_bytes: Some(32 << 10),
        l2_bytes: Some(1 << 20),
        inputs: vec![input("short", "a", 4096), input("long", "a", 4_000_000)],
        cells: vec![cell],
        learned: Some(Vec::new()),
        ..ExperimentFacts::default()
    }
}

fn look(name: &str, facts: &ExperimentFacts) -> CheckOutcome {
    let check = CHECKS.iter().find(|check| check.name == name).expect("a check of that name");
    check.run(facts)
}

/// The checks that find something.
fn found(facts: &ExperimentFacts) -> Vec<&'static str> {
    let finding = CHECKS.iter().filter(|check| matches!(check.run(facts), CheckOutcome::Found(_)));
    finding.map(|check| check.name).collect()
}

/// The sound facts with one cell changed.
fn with(change: impl Fn(&mut TracedCell)) -> ExperimentFacts {
    let mut facts = sound();
    change(&mut facts.cells[0]);
    facts
}

fn work(change: impl Fn(&mut ExecutedCounts)) -> ExperimentFacts {
    with(|cell| change(cell.work.as_mut().unwrap()))
}

#[test]
fn the_checks_have_the_names_that_files_accept() {
    assert_eq!(CHECKS.map(|check| check.name), acceptance::CHECKS);
}

#[test]
fn nothing_is_wrong_with_a_sound_experiment() {
    assert_eq!(found(&sound()), [""; 0]);
    let unasked = look("smaller-than-production", &sound());
    assert!(matches!(unasked, CheckOutcome::NotAsked(_)), "{unasked:?}");
}

#[test]
fn code_that_loads_nothing_is_dead() {
    let unread = with(|cell| cell.pages = Some(Pages { read: 0, of: 2 }));
    assert_eq!(found(&unread), ["dead-code"]);
    // What was prepared is read ahead of the calls.
    let prepared = with(|cell| {
        cell.kind = Some(VariantKind::Prepared);
        cell.pages = Some(Pages { read: 0, of: 2 });
    });
    assert!(!found(&prepared).contains(&"dead-code"));
}

#[test]
fn a_loop_that_only_counts_is_dead_whatever_it_answers() {
    let counting = |instructions: f64| {
        with(move |cell| {
            cell.kind = Some(VariantKind::Loop);
            cell.work.as_mut().unwrap().per_iteration = Some(instructions);
        })
    };
    assert_eq!(found(&counting(2.0)), ["dead-code"]);
    // The least work there is: one instruction between counting and jumping back.
    assert_eq!(found(&counting(3.0)), [""; 0]);
}

#[test]
fn code_whose_work_and_time_do_not_grow_is_dead() {
    let flat = |work: u64, ns: f64| {
        with(move |cell| {
            cell.work.as_mut().unwrap().passes = vec![8200 + work; 5];
            cell.times = Some(GrowthTimes { sizes: SIZES, ns: 1000.0 + ns, half_ns: 1000.0 });
        })
    };
    assert_eq!(found(&flat(0, 0.0)), ["dead-code"]);
    // 4 instructions for 4096 units are one in 1024; 4.096 ns for 4096 bytes a thousandth each.
    assert_eq!(found(&flat(3, 4.0)), ["dead-code"]);
    assert_eq!(found(&flat(4, 4.0)), [""; 0], "work grows");
    assert_eq!(found(&flat(3, 4.2)), [""; 0], "a string instruction is one however long it is");
    let shrinks = with(|cell| {
        cell.work.as_mut().unwrap().half = vec![16_300; 3];
        cell.times = Some(GrowthTimes { sizes: SIZES, ns: 2000.0, half_ns: 2500.0 });
    });
    assert_eq!(
        found(&shrinks),
        [""; 0],
        "what is left behind makes the later call on the half the longer one"
    );
}

#[test]
fn without_a_trace_time_alone_tells_dead_code() {
    let untraced = |ns: f64| {
        with(move |cell| {
            (cell.work, cell.pages) = (None, None);
            cell.times = Some(GrowthTimes { sizes: SIZES, ns, half_ns: 2.0 });
        })
    };
    assert_eq!(found(&untraced(2.1)), ["dead-code"]);
    assert_eq!(found(&untraced(900.0)), [""; 0]);
    let shrinks = with(|cell| {
        (cell.work, cell.pages) = (None, None);
        cell.times = Some(GrowthTimes { sizes: SIZES, ns: 2.0, half_ns: 900.0 });
    });
    assert_eq!(found(&shrinks), [""; 0], "time that shrinks depends on something");
    let small = Sizes { units: 2046, half_units: 1023, bytes: 2046, half_bytes: 1023 };
    let jitter = with(|cell| {
        (cell.work, cell.pages) = (None, None);
        cell.times = Some(GrowthTimes { sizes: small, ns: 2.0, half_ns: 2.0 });
    });
    assert!(matches!(look("dead-code", &jitter), CheckOutcome::CannotTell(_)), "too little for the clock");
    let unknown = with(|cell| (cell.work, cell.pages, cell.times) = (None, None, None));
    assert!(matches!(look("dead-code", &unknown), CheckOutcome::CannotTell(_)));
}

#[test]
fn work_ahead_of_a_loop_is_hoisted_and_not_dead() {
    let hoisted = |ahead: u64| {
        with(move |cell| {
            cell.kind = Some(VariantKind::Loop);
            let work = cell.work.as_mut().unwrap();
            (work.passes, work.half) = (vec![5; 5], vec![5; 3]);
            work.ahead = Some((1000 + ahead, 1000));
            cell.times = Some(GrowthTimes { sizes: SIZES, ns: 1.0, half_ns: 1.0 });
        })
    };
    let of_program = |facts: &ExperimentFacts| -> Vec<&str> {
        found(facts).into_iter().filter(|name| *name != "unpaired-sizes").collect()
    };
    assert_eq!(of_program(&hoisted(410)), ["hoisted-work"]);
    assert_eq!(of_program(&hoisted(409)), ["dead-code"], "less than one instruction for ten units");
    let mut copied = hoisted(410);
    copied.cells[0].times = Some(GrowthTimes { sizes: SIZES, ns: 100.0, half_ns: 50.0 });
    assert_eq!(of_program(&copied), [""; 0], "a string instruction is one however long it is");
}

#[test]
fn an_answer_that_is_kept_is_hoisted_work_and_a_set_up_is_not() {
    let kept = |settled: u64, other: Vec<u64>| {
        work(move |work| {
            work.passes = vec![16_400, settled, settled, settled, settled];
            work.other = other.clone();
        })
    };
    assert_eq!(found(&kept(1640, vec![16_400, 1640, 1640])), ["hoisted-work"]);
    assert_eq!(found(&kept(1641, vec![16_400, 1641, 1641])), ["unequal-work"]);
    assert_eq!(found(&kept(1640, vec![1640, 1640, 1640])), [""; 0], "other data bring no new work");
}

#[test]
fn nobody_reads_a_thousand_bytes_in_a_nanosecond() {
    let at = |call_ns: f64| with(move |cell| cell.sample.as_mut().unwrap().call_ns = call_ns);
    assert_eq!(found(&at(4.0)), ["sub-cycle"]);
    assert_eq!(found(&at(4.09)), ["sub-cycle"], "1001 bytes");
    assert!(!found(&at(4.1)).contains(&"sub-cycle"));
    let short = with(|cell| {
        let sample = cell.sample.as_mut().unwrap();
        (sample.bytes, sample.call_ns) = (1000.0, 0.5);
    });
    assert!(!found(&short).contains(&"sub-cycle"), "too short to say");
    let untrue = with(|cell| cell.times.as_mut().unwrap().ns = 340.0);
    assert!(found(&untrue).contains(&"sub-cycle"), "48 instructions per nanosecond");
    assert!(!found(&with(|cell| cell.times.as_mut().unwrap().ns = 342.0)).contains(&"sub-cycle"));
}

#[test]
fn an_answer_that_never_changes_is_not_used() {
    let same = with(|cell| cell.answers = Some(Answers { whole: 7, half: Some(7), other: Some(7) }));
    assert_eq!(found(&same), ["unused-answers"]);
    let by_size = with(|cell| cell.answers = Some(Answers { whole: 7, half: Some(3), other: Some(7) }));
    assert_eq!(found(&by_size), [""; 0]);
    // One piece says nothing, but another input may.
    let mut single = with(|cell| cell.answers = Some(Answers { whole: 7, half: None, other: None }));
    assert!(matches!(look("unused-answers", &single), CheckOutcome::CannotTell(_)));
    let other = TracedCell {
        input: 0,
        answers: Some(Answers { whole: 9, ..Answers::default() }),
        ..single.cells[0].clone()
    };
    single.cells.push(other);
    assert!(matches!(look("unused-answers", &single), CheckOutcome::Clear(_)));
}

#[test]
fn work_that_grows_or_was_done_before_is_unequal() {
    let passes = |passes: [u64; 5], other: [u64; 3]| {
        work(move |work| (work.passes, work.other) = (passes.to_vec(), other.to_vec()))
    };
    let grows = passes([16_000, 16_000, 16_300, 16_600, 16_900], [16_900, 17_000, 17_100]);
    assert_eq!(found(&grows), ["unequal-work"]);
    let by_little = passes([16_000, 16_000, 16_100, 16_200, 16_790], [16_900, 17_000, 17_100]);
    assert_eq!(found(&by_little), [""; 0]);
    let up_and_down = passes([16_000, 16_000, 17_500, 16_500, 16_900], [16_900, 17_000, 17_100]);
    assert_eq!(found(&up_and_down), [""; 0], "it falls in between");
    let tiny = passes([1000, 1000, 1080, 1160, 1255], [1000, 1080, 1160]);
    assert_eq!(found(&tiny), [""; 0], "a branch more or less");
    let tiny = passes([800, 545, 545, 545, 545], [800, 545, 545]);
    assert_eq!(found(&tiny), [""; 0], "a branch more or less");
    let enough = passes([801, 545, 545, 545, 545], [801, 545, 545]);
    assert_eq!(found(&enough), ["unequal-work"]);
    let sorted = passes([20_000, 17_000, 17_000, 17_000, 17_000], [20_000, 17_000, 17_000]);
    assert_eq!(found(&sorted), ["unequal-work"]);
    let nearly = passes([18_800, 17_000, 17_000, 17_000, 17_000], [18_800, 17_000, 17_000]);
    assert_eq!(found(&nearly), [""; 0]);
    let once = passes([20_000, 17_000, 17_000, 17_000, 17_000], [17_000, 17_000, 17_000]);
    assert_eq!(found(&once), [""; 0], "a table that is made once is no work on data");
}

#[test]
fn windows_that_differ_matter_where_a_sample_holds_few() {
    let mixed = |iterations: u64, high: u64| {
        with(move |cell| {
            cell.sample.as_mut().unwrap().iterations = iterations;
            let windows = (0..24).map(|nth| (4096, if nth % 2 == 0 { 8000 } else { high })).collect();
            cell.work.as_mut().unwrap().windows = windows;
        })
    };
    assert_eq!(found(&mixed(15, 13_000)), ["unequal-work"]);
    assert_eq!(found(&mixed(16, 13_000)), [""; 0]);
    assert_eq!(found(&mixed(15, 11_900)), [""; 0]);
    let first = |windows: usize| {
        let mut facts = mixed(15, 13_000);
        facts.cells[0].work.as_mut().unwrap().windows.truncate(windows);
        found(&facts)
    };
    assert_eq!((first(8), first(7)), (vec!["unequal-work"], vec![]), "eight have deciles");
    let mut partial = mixed(15, 8000);
    partial.cells[0].work.as_mut().unwrap().windows.extend([(10, 1000); 24]);
    assert_eq!(found(&partial), [""; 0], "the rest of an input is no window");
}

#[test]
fn what_allocates_reads_files_or_calls_the_system_is_a_set_up() {
    for name in
        ["malloc", "operator new(unsigned long)", "getenv", "fopen", "printf", "rand", "clock_gettime"]
    {
        let facts = work(|work| work.calls = vec![("inner".into(), 9), (name.into(), 1)]);
        assert_eq!(found(&facts), ["setup-inside"], "{name}");
    }
    assert_eq!(found(&work(|work| work.system_calls = 1)), ["setup-inside"]);
    assert_eq!(found(&work(|work| work.calls = vec![("debug_malloc".into(), 9)])), [""; 0]);
}

#[test]
fn a_sample_must_last_a_hundred_empty_regions() {
    let lasts = |iterations: u64| with(move |cell| cell.sample.as_mut().unwrap().iterations = iterations);
    // 24 ns an empty region, 1000 ns a call.
    assert_eq!(found(&lasts(2)), ["too-few-units"]);
    assert_eq!(found(&lasts(3)), [""; 0]);
    let mut beside = lasts(2);
    let slow = TracedCell { variant: "slow".into(), ..beside.cells[0].clone() };
    beside.cells.push(slow);
    beside.cells[1].sample.as_mut().unwrap().call_ns = 1e6;
    let CheckOutcome::Found(told) = look("too-few-units", &beside) else { panic!("not found") };
    assert!(told.len() == 1 && told[0].advice.remedy.contains("`slow` takes 1.00 ms"), "{told:?}");
}

#[test]
fn what_does_nothing_is_not_told_to_have_too_few_units() {
    let dead = with(|cell| {
        cell.pages = Some(Pages { read: 0, of: 2 });
        cell.sample.as_mut().unwrap().iterations = 1;
    });
    assert_eq!(found(&dead), ["dead-code"]);
}

fn learned(input: &str) -> Learned {
    Learned {
        input: input.into(),
        variant: "sum".into(),
        units: 4096,
        tosses: 4096,
        remembered: None,
        in_part: false,
        fresh: 0.5,
        repeated: 0.01,
        predictor: "zen4".into(),
        enough_units: 130_000,
    }
}

#[test]
fn a_memorised_input_is_excused_by_a_longer_one_of_its_family() {
    let facts = |family: &str, units: u64, all: &[&str]| {
        let mut facts = sound();
        facts.inputs[1].family = family.to_owned();
        facts.inputs[1].distinct = units;
        facts.learned = Some(all.iter().map(|input| learned(input)).collect());
        facts
    };
    assert_eq!(found(&facts("a", 4_000_000, &["short"])), [""; 0]);
    assert_eq!(found(&facts("b", 4_000_000, &["short"])), ["memorised"]);
    assert_eq!(found(&facts("a", 4 * 4096 - 1, &["short"])), ["memorised"], "hardly longer");
    let CheckOutcome::Found(both) = look("memorised", &facts("a", 4_000_000, &["short", "long"])) else {
        panic!("a pair that is learned too excuses nothing")
    };
    assert_eq!(both.len(), 2, "{both:?}");
}

#[test]
fn production_is_compared_with_the_units_of_an_input() {
    let production = |units: u64| {
        let mut facts = sound();
        facts.inputs[1].production_units = Some(units);
        facts
    };
    assert_eq!(found(&production(4_000_001)), ["smaller-than-production"]);
    assert_eq!(found(&production(4_000_000)), [""; 0]);
}

#[test]
fn caches_are_left_by_one_input_at_least() {
    let largest = |bytes: u64| {
        let mut facts = sound();
        facts.inputs[1].bytes = bytes;
        facts
    };
    assert_eq!(found(&largest(32 << 10)), ["all-in-l1"]);
    assert_eq!(found(&largest((32 << 10) + 1)), [""; 0]);
    let unknown = ExperimentFacts { l1d_bytes: None, ..largest(1) };
    assert!(matches!(look("all-in-l1", &unknown), CheckOutcome::CannotTell(_)));
}

#[test]
fn one_size_that_caches_hold_has_no_pair() {
    let sizes = |first: u64, second: u64| {
        let mut facts = sound();
        for (input, size) in facts.inputs.iter_mut().zip([first, second]) {
            (input.bytes, input.units) = (size, size);
        }
        facts
    };
    assert_eq!(found(&sizes(100_000, 199_999)), ["unpaired-sizes"]);
    assert_eq!(found(&sizes(100_000, 200_000)), [""; 0]);
    assert_eq!(found(&sizes(2 << 20, 2 << 20)), [""; 0], "no cache holds it");
    assert_eq!(found(&sizes(1 << 20, 1 << 20)), ["unpaired-sizes"], "it is held to the last byte");
    let mut by_bytes = sizes(100_000, 100_000);
    by_bytes.inputs[1].bytes = 250_000;
    assert_eq!(found(&by_bytes), [""; 0], "other bytes for as many units");
    let mut by_units = sizes(100_000, 100_000);
    by_units.inputs[1].units = 250_000;
    assert_eq!(found(&by_units), [""; 0], "more units in as many bytes");
}

#[test]
fn windows_beside_whole_inputs_are_unpaired() {
    let mut facts = sound();
    let whole =
        TracedCell { variant: "loop".into(), kind: Some(VariantKind::Loop), ..facts.cells[0].clone() };
    facts.cells.push(whole);
    assert_eq!(found(&facts), ["unpaired-sizes"]);
    facts.inputs[1].windows = 1;
    assert_eq!(found(&facts), [""; 0]);
}

#[test]
fn what_was_not_traced_cannot_be_told() {
    let mut facts = with(|cell| cell.work = None);
    facts.not_traced = Some("no emulator".into());
    (facts.learned, facts.not_simulated) = (None, Some("no emulator".into()));
    for name in ["hoisted-work", "unequal-work", "setup-inside", "memorised"] {
        assert_eq!(look(name, &facts), CheckOutcome::CannotTell("no emulator".into()), "{name}");
    }
}

/// The page of sound facts with dead code and a small largest input, of which these are accepted.
fn page(accepted: &[&str]) -> (ExperimentFacts, Vec<Acceptance>, Examination) {
    let mut facts = with(|cell| cell.pages = Some(Pages { read: 0, of: 2 }));
    facts.inputs[1].bytes = 9000;
    let accept = accepted.iter().map(|check| Acceptance {
        check: (*check).to_owned(),
        variants: Vec::new(),
        inputs: Vec::new(),
        because: "it is meant".to_owned(),
    });
    let accept: Vec<Acceptance> = accept.collect();
    let page = compose(&facts, &accept, Notes::default(), "e.toml");
    (facts, accept, page)
}

#[test]
fn what_is_accepted_is_shown_last_and_counted_apart() {
    let (facts, accept, page) = page(&["dead-code"]);
    let order: Vec<(&str, bool)> =
        page.findings.iter().map(|finding| (finding.check.as_str(), finding.accepted.is_some())).collect();
    assert_eq!(order, [("all-in-l1", false), ("dead-code", true)]);
    let counted = |name: &str| {
        let check = page.checks.iter().find(|check| check.name == name).expect("a check of that name");
        (check.state, check.findings, check.accepted)
    };
    assert_eq!(counted("dead-code"), (State::Ok, 0, 1));
    assert_eq!(counted("all-in-l1"), (State::Warning, 1, 0));
    assert_eq!(page.answer, "1 problem found: all-in-l1 (all inputs). 1 finding is marked as intended.");
    assert!(page.next.starts_with("add an input several times as large"), "{}", page.next);
    assert_eq!(in_short(&facts, &accept).as_deref(), Some("all-in-l1"), "what needs no program");
    assert!(page.warnings.is_empty());
}

#[test]
fn an_acceptance_that_covers_nothing_is_told() {
    let (facts, accept, page) = page(&["all-in-l1", "sub-cycle"]);
    assert_eq!(page.warnings.len(), 1);
    assert!(page.warnings[0].contains("accepts sub-cycle (it is meant)"), "{:?}", page.warnings);
    assert!(page.answer.starts_with("1 problem found: dead-code (sum on long)."), "{}", page.answer);
    assert_eq!(in_short(&facts, &accept), None);
    assert_eq!(page.findings.last().and_then(|last| last.accepted.as_deref()), Some("it is meant"));
}
