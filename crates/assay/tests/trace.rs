//! Do traced counts equal those derived by hand? The derivations are in the programs, `fixtures/branches`.

use crate::trace_fixtures::{Seen, Target, build, trace, trace_with};
use assay_trace::{ClassCounts, TraceDetail, TraceOptions, TracedExit};

/// Both levels of detail give these counts, and the stream adds up to them.
fn gives(name: &str, target: Target, expected: ClassCounts) {
    let Some((_folder, program)) = build(name, target, &[]) else {
        return;
    };
    let counted = trace(&program, &[], TraceDetail::Counts);
    let thread = &counted.processes[0].threads[0];
    assert_eq!(thread.counts, ClassCounts { taken: None, ..expected }, "{name}, counted");
    assert_eq!(thread.observer, Seen::default());
    let logged = trace(&program, &[], TraceDetail::Branches);
    let process = &logged.processes[0];
    let thread = &process.threads[0];
    assert_eq!(thread.counts, expected, "{name}, every branch");
    assert_eq!(thread.observer.branches, expected.branches());
    assert_eq!(Some(thread.observer.taken), expected.taken);
    assert_eq!(process.ended, TracedExit::Exited(0));
    assert_eq!((logged.processes.len(), process.threads.len()), (1, 1));
    assert_eq!(process.notes, Vec::<String>::new());
}

#[test]
fn a_loop_is_counted_to_the_instruction() {
    let expected = ClassCounts {
        instructions: 2004,
        conditional: 1000,
        taken: Some(999),
        system_calls: 1,
        ..ClassCounts::default()
    };
    gives("loop", Target::X86_64, expected);
    let expected = ClassCounts {
        instructions: 4005,
        conditional: 3000,
        taken: Some(2998),
        system_calls: 1,
        ..ClassCounts::default()
    };
    gives("loop", Target::Aarch64, expected);
}

#[test]
fn a_switch_jumps_indirectly_once_per_round() {
    let expected = ClassCounts {
        instructions: 31_005,
        conditional: 4000,
        taken: Some(3999),
        jumps: 3000,
        indirect_jumps: 4000,
        system_calls: 1,
        ..ClassCounts::default()
    };
    gives("switch", Target::X86_64, expected);
    gives("switch", Target::Aarch64, ClassCounts { instructions: 31_007, ..expected });
}

#[test]
fn recursion_calls_and_returns_as_often_as_the_tree_has_nodes() {
    let expected = ClassCounts {
        instructions: 18_743,
        conditional: 1973,
        taken: Some(987),
        calls: 1973,
        returns: 1973,
        system_calls: 1,
        ..ClassCounts::default()
    };
    gives("recursion", Target::X86_64, expected);
    gives("recursion", Target::Aarch64, ClassCounts { instructions: 15_784, ..expected });
}

#[test]
fn a_repeated_string_instruction_is_one_instruction() {
    let expected = ClassCounts {
        instructions: 46,
        conditional: 10,
        taken: Some(9),
        system_calls: 1,
        ..ClassCounts::default()
    };
    gives("repeat", Target::X86_64, expected);
}

#[test]
fn an_instruction_across_two_pages_is_counted_once() {
    let expected = ClassCounts {
        instructions: 227,
        conditional: 20,
        taken: Some(9),
        jumps: 51,
        calls: 10,
        indirect_jumps: 10,
        returns: 10,
        system_calls: 1,
        ..ClassCounts::default()
    };
    gives("pages", Target::X86_64, expected);
}

#[test]
fn regions_are_counted_from_mark_to_mark() {
    let Some((_folder, program)) = build("regions", Target::X86_64, &[]) else {
        return;
    };
    for detail in [TraceDetail::Counts, TraceDetail::Branches] {
        let traced = trace(&program, &[], detail);
        let regions = &traced.processes[0].regions;
        let found: Vec<_> = regions
            .iter()
            .map(|region| {
                assert_eq!((region.thread, region.variant, region.input), (0, 3, 4));
                (region.pass, region.counts.instructions, region.counts.conditional, region.counts.taken)
            })
            .collect();
        let taken = |count| (detail == TraceDetail::Branches).then_some(count);
        assert_eq!(found, [(5, 205, 100, taken(99)), (6, 405, 200, taken(199))]);
    }
}

#[test]
fn code_that_changes_itself_is_refused_and_code_mapped_anew_is_not() {
    let Some((_folder, program)) = build("changing", Target::X86_64, &[]) else {
        return;
    };
    for detail in [TraceDetail::Counts, TraceDetail::Branches] {
        let options = TraceOptions { detail, ..TraceOptions::default() };
        let refusal = trace_with(&program, &[], options).expect_err("refused");
        assert!(refusal.reason.contains("changes its own code"), "{refusal}");
        assert!(refusal.reason.contains("first at 0x10000001"), "{refusal}");
        let traced = trace(&program, &["anew"], detail);
        assert_eq!(traced.processes[0].ended, TracedExit::Exited(2));
        assert_eq!(traced.processes[0].threads[0].counts.indirect_calls, 2);
    }
}

#[test]
fn a_crash_keeps_what_was_counted() {
    let Some((_folder, program)) = build("crash", Target::X86_64, &[]) else {
        return;
    };
    for detail in [TraceDetail::Counts, TraceDetail::Branches] {
        let traced = trace(&program, &[], detail);
        let process = &traced.processes[0];
        assert_eq!(process.ended, TracedExit::Signalled(11));
        let counts = process.threads[0].counts;
        assert_eq!((counts.instructions, counts.conditional), (24, 10));
    }
}
