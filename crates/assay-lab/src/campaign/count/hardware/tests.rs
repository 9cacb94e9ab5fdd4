//! Counting for real, with the kernel's own events in the place of the processor's: they need no performance counter.

use super::*;
use crate::campaign::inputs::ReadyInput;
use crate::store::InputRow;
use assay_pure::inputs::{Format, describe};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// Per byte of its input `touch` writes to one page, and `twice` to two, that it did not have before.
const PROGRAM: &str = r#"
#include <assay.h>
#include <sys/mman.h>
static uint64_t pages(size_t size, size_t each)
{
    for (size_t i = 0; i < size * each; i++) {
        volatile char *page = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        *page = 1;
        munmap((void *)page, 4096);
    }
    return size;
}
static uint64_t touch(const uint8_t *data, size_t size) { (void)data; return pages(size, 1); }
static uint64_t twice(const uint8_t *data, size_t size) { (void)data; return pages(size, 2); }
ASSAY_VARIANT("touch", touch)
ASSAY_VARIANT("twice", twice)
ASSAY_MAIN()
"#;

/// The program, built; None where gcc is missing.
fn program(folder: &Path) -> Option<PathBuf> {
    let (source, program) = (folder.join("pages.c"), folder.join("pages"));
    std::fs::write(&source, PROGRAM).expect("written");
    let harness = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../harness");
    let built = Command::new("gcc")
        .args(["-O1", "-D_GNU_SOURCE", "-o"])
        .args([&program, &source])
        .arg("-I")
        .arg(harness)
        .output();
    match built {
        Ok(output) if output.status.success() => Some(program),
        Ok(output) => panic!("{}", String::from_utf8_lossy(&output.stderr)),
        Err(error) => {
            println!("skipped: gcc cannot be started: {error}");
            None
        }
    }
}

fn input(folder: &Path, bytes: usize) -> ReadyInput {
    let (content, file) = (vec![7; bytes], folder.join("input"));
    std::fs::write(&file, &content).expect("written");
    let description = describe(&content, Format::Bytes).expect("bytes");
    let row = InputRow {
        digest: "d".into(),
        bytes: bytes as u64,
        recipe: serde_json::Value::Null,
        format: "bytes".into(),
        description: serde_json::Value::Null,
    };
    let windows = Format::Bytes.windows(&content, 100).expect("windows");
    ReadyInput { name: "i".into(), row, description, file, windows }
}

fn software(names: [&str; 3]) -> Vec<CounterEvent> {
    names.map(|name| name.parse().expect("perf's name")).to_vec()
}

fn outcome(program: &Path, variant: &str, input: &ReadyInput, events: &[CounterEvent]) -> ProgramCounts {
    let counters =
        AvailableCounters { events: events.to_vec(), of_front_end: Vec::new(), without_front_end: None };
    outcome_of(program, variant, input, &counters)
}

fn outcome_of(
    program: &Path,
    variant: &str,
    input: &ReadyInput,
    counters: &AvailableCounters,
) -> ProgramCounts {
    let job = Job {
        program,
        variant,
        inputs: [0, 1].map(|number| NumberedInput { number, ready: input }).to_vec(),
        most_units: 400,
        predictors: &[],
        cpu: 0,
        patience: Duration::from_secs(60),
        deadline: Instant::now() + Duration::from_secs(600),
        plugin: None,
        variables: Vec::new(),
    };
    let mut told = 0;
    let found = count(&job, counters, &mut || told += 1);
    assert_eq!(told, found.cells.len());
    found
}

#[test]
fn what_a_program_does_per_unit_is_counted_without_the_conversation() {
    let folder = tempfile::tempdir().expect("a folder");
    let events = software(["page-faults:u", "minor-faults:u", "page-faults:u"]);
    if let Err(refusal) = open_here(&events) {
        return println!("skipped: {refusal}");
    }
    let Some(program) = program(folder.path()) else { return };
    let input = input(folder.path(), 1000);
    let mut checks = Vec::new();
    for (variant, each) in [("touch", 1), ("twice", 2)] {
        let found = outcome(&program, variant, &input, &events);
        assert_eq!((found.stopped, found.cells.len()), (None, 2));
        // The second input is the first again, under another number: the program knows the conversation by now.
        let walked = found.cells[1].walked.as_ref().expect("counted");
        let repeated = walked.repeated.as_ref().expect("a short input is walked through again");
        // 1000 units are walked through six times: the first pass, three more, then two.
        assert_eq!((walked.first.units, repeated.units), (1000, 2000));
        for stretch in [&walked.first, repeated] {
            let PassCounts { instructions, branches, conditional, cycles, front_end, misses } =
                &stretch.executed;
            for counted in [instructions, branches, &misses[0]] {
                let expected = each * stretch.units;
                assert!(counted.abs_diff(expected) <= 50, "{variant}: {counted}, not {expected}");
            }
            assert_eq!((misses.len(), *conditional, *cycles, front_end.len()), (1, 0, None, 0));
        }
        checks.push((found.cells[1].kind, found.cells[1].check));
    }
    assert_eq!(checks[0], checks[1], "both answered the same requests");
}

#[test]
fn events_of_the_front_end_have_a_walk_of_their_own_beside_the_others() {
    let folder = tempfile::tempdir().expect("a folder");
    let events = software(["page-faults:u"; 3]);
    if let Err(refusal) = open_here(&events) {
        return println!("skipped: {refusal}");
    }
    let Some(program) = program(folder.path()) else { return };
    let input = input(folder.path(), 1000);
    let stand_in = |event| (event, events[0].clone());
    let of_front_end =
        vec![stand_in(experiment::CountedEvent::DecodedOps), stand_in(experiment::CountedEvent::ItlbMisses)];
    let counters = AvailableCounters { events: events.clone(), of_front_end, without_front_end: None };
    let found = outcome_of(&program, "twice", &input, &counters);
    let walked = found.cells[1].walked.as_ref().expect("counted");
    for stretch in [&walked.first, walked.repeated.as_ref().expect("walked through again")] {
        let expected = 2 * stretch.units;
        let kept = counters.front_end(&stretch.executed);
        let names: Vec<&str> = kept.iter().map(|(event, _)| event.name()).collect();
        assert_eq!(names, ["decoded-ops", "itlb-misses"]);
        for counted in kept.iter().map(|(_, count)| *count).chain([stretch.executed.instructions]) {
            assert!(counted.abs_diff(expected) <= 50, "{counted}, not {expected}");
        }
    }
}

#[test]
fn a_front_end_that_fails_in_the_program_leaves_what_was_counted_and_says_why() {
    let folder = tempfile::tempdir().expect("a folder");
    let events = software(["page-faults:u"; 3]);
    if let Err(refusal) = open_here(&events) {
        return println!("skipped: {refusal}");
    }
    let Some(program) = program(folder.path()) else { return };
    let input = input(folder.path(), 1000);
    // No processor has this one: it is the largest number there is.
    let refused = "rffffffffffffffff".parse().expect("a raw event");
    let of_front_end = vec![(experiment::CountedEvent::DecodedOps, refused)];
    let counters = AvailableCounters { events, of_front_end, without_front_end: None };
    let found = outcome_of(&program, "touch", &input, &counters);
    assert_eq!((found.stopped.is_none(), found.cells.len()), (true, 2), "the second input is counted too");
    for cell in &found.cells {
        let walked = cell.walked.as_ref().expect("counted");
        assert!(walked.first.executed.instructions > 0 && walked.first.executed.front_end.is_empty());
        let note = cell.note.as_ref().expect("a reason");
        assert!(note.starts_with("without events of the front end: rffffffffffffffff"), "{note}");
    }
}

#[test]
fn a_front_end_that_is_not_counted_takes_nothing_else_with_it_and_says_why() {
    use experiment::CountedEvent;
    let conditions = RefusalContext { virtual_machine: true, ..RefusalContext::default() };
    let asked = [CountedEvent::Cycles, CountedEvent::OpCacheOps];
    // ENOENT, to all that a processor has of its own.
    let only_general = |events: &[CounterEvent]| match events.iter().find(|event| event.name.contains("ops"))
    {
        Some(event) => Err(CounterRefusal::new(event, 2)),
        None => Ok(()),
    };
    let found = events(&asked, &conditions, &only_general).expect("the rest is counted");
    assert_eq!(found.names().collect::<Vec<_>>(), [WORK[0], WORK[1], CYCLES]);
    let reason = found.without_front_end.expect("a reason");
    // The name itself is known on some processors only.
    let known = "op-cache-ops".parse::<CounterEvent>().is_ok();
    let expected = if known {
        "op-cache-ops:u cannot be counted: "
    } else {
        "this CPU is not known to count op-cache-ops"
    };
    assert!(reason.starts_with(expected), "{reason}");
    assert_eq!(events(&[CountedEvent::Cycles], &conditions, &only_general).unwrap().without_front_end, None);
}

#[test]
fn a_refusal_by_the_kernel_is_said_with_its_event() {
    let folder = tempfile::tempdir().expect("a folder");
    let Some(program) = program(folder.path()) else { return };
    let input = input(folder.path(), 10);
    // No processor has this one: it is the largest number there is.
    let events = software(["page-faults:u", "page-faults:u", "rffffffffffffffff"]);
    let found = outcome(&program, "touch", &input, &events);
    assert!(found.cells.is_empty());
    let Some(CutShort::Other(reason)) = found.stopped else { panic!("{:?}", found.stopped) };
    assert!(reason.starts_with("rffffffffffffffff"), "{reason}");
    assert!(reason.contains("cannot be counted in the program: "), "{reason}");
}

#[test]
fn a_variant_that_is_not_there_is_said_to_be_missing() {
    let folder = tempfile::tempdir().expect("a folder");
    let Some(program) = program(folder.path()) else { return };
    let input = input(folder.path(), 10);
    let found = outcome(&program, "thrice", &input, &[]);
    let reason = CutShort::Other("the program does not register `thrice`".to_owned());
    assert_eq!((found.cells.len(), found.stopped), (0, Some(reason)));
}

#[test]
fn the_processors_events_are_chosen_only_where_all_of_them_are_counted() {
    let conditions = RefusalContext { virtual_machine: true, ..RefusalContext::default() };
    let names = |counters: AvailableCounters| {
        let own = counters.events.iter().map(ToString::to_string);
        own.collect::<Vec<_>>()
    };
    let granted = |_: &[CounterEvent]| Ok(());
    let misses = [experiment::CountedEvent::BranchMisses];
    assert_eq!(names(events(&misses, &conditions, &granted).unwrap()), [WORK[0], WORK[1], MISSES]);
    assert_eq!(names(events(&[], &conditions, &granted).unwrap()), WORK);
    let all = names(events(&experiment::CountedEvent::ALL, &conditions, &granted).unwrap());
    assert_eq!(all, [WORK[0], WORK[1], CYCLES, MISSES]);
    // ENOENT
    let without_misses = |events: &[CounterEvent]| match events.get(2) {
        Some(event) => Err(CounterRefusal::new(event, 2)),
        None => Ok(()),
    };
    assert!(events(&[], &conditions, &without_misses).is_ok());
    let reason = events(&misses, &conditions, &without_misses).unwrap_err();
    let expected = "without counters, as branch-misses:u cannot be counted: this virtual machine has no \
                    performance counters";
    assert!(reason.starts_with(expected), "{reason}");
}

#[test]
fn cycles_stand_between_work_and_mispredictions() {
    let with = executed(&[8, 2, 12, 1], true);
    assert_eq!((with.instructions, with.branches, with.cycles, with.misses), (8, 2, Some(12), vec![1]));
    let without = executed(&[8, 2, 1], false);
    assert_eq!((without.cycles, without.misses), (None, vec![1]));
}
