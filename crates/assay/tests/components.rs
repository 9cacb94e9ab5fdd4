//! Budgets by component, of a program whose parts have known numbers of branches.

use crate::trace_fixtures;
use assay_pure::predict::Zoo;
use assay_report::sites::components::RowKind;
use assay_trace::sites::components::{BudgetRow, BudgetSums, ComponentBudget, ComponentSpecs, of_trace};
use assay_trace::sites::{Watch, gather};
use assay_trace::{Trace, TraceOptions, command};
use std::process::Command;

const TIMES: u64 = 700;

/// Builds and traces `parts.c`; `None`, with a printed reason, where this machine can't. The folder keeps
/// the program, which is read when the trace is.
fn parts(flags: &[&str]) -> Option<(Trace<Watch>, tempfile::TempDir)> {
    let folder = tempfile::tempdir().expect("a folder");
    let program = folder.path().join("parts");
    let source = trace_fixtures::root().join("fixtures/components/parts.c");
    let built = Command::new("cc").args(flags).arg(source).arg("-o").arg(&program).status();
    if !built.is_ok_and(|status| status.success()) {
        println!("skipped: there is no C compiler that knows {flags:?}");
        return None;
    }
    let options =
        TraceOptions { plugin: Some(trace_fixtures::plugin().to_owned()), ..TraceOptions::default() };
    let line = [program.into_os_string(), TIMES.to_string().into()];
    match command(&line, &options, || Watch::new(Zoo::new(&["bimodal"]).expect("a known name"))) {
        Ok(trace) => Some((trace, folder)),
        Err(refusal) => {
            println!("skipped: {refusal}");
            None
        }
    }
}

fn budget(trace: &Trace<Watch>, words: &[&str]) -> ComponentBudget {
    let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    of_trace(trace, &ComponentSpecs::parse(&words).expect("components"))
}

fn row<'a>(budget: &'a ComponentBudget, name: &str) -> &'a BudgetRow {
    budget.rows.iter().find(|row| row.name == name).expect("the row is there")
}

#[test]
fn inlined_code_belongs_to_what_was_inlined_and_calls_are_counted_from_outside() {
    let Some((trace, _folder)) = parts(&["-O2", "-g", "-fcf-protection=none"]) else { return };
    let found = budget(&trace, &["look=look", "get=get"]);
    let (look, get) = (row(&found, "look"), row(&found, "get"));
    // look: twice by way of get, once in main.
    assert_eq!((look.sums.jumps, look.sums.branches, look.called), (9 * TIMES, 9 * TIMES, 0));
    assert_eq!((get.sums.jumps, get.sums.returns, get.sums.branches), (4 * TIMES, 2 * TIMES, 6 * TIMES));
    assert_eq!(get.called, 2 * TIMES, "once directly, once through a pointer");
    assert!(look.sums.instructions >= 9 * TIMES && get.sums.instructions >= 2 * 4 * TIMES);
    // Named first, get has what was inlined into main as little as before, and look nothing of get's own.
    let together = budget(&trace, &["all=look,get"]);
    assert_eq!((together.rows[0].sums.branches, together.rows[0].called), (15 * TIMES, 2 * TIMES));
    let outer = budget(&trace, &["get=get"]);
    assert_eq!(outer.rows[0].sums.branches, (6 + 6) * TIMES, "look is in get where no glob names look");
}

#[test]
fn the_rows_add_up_to_the_total_of_the_trace() {
    let Some((trace, _folder)) = parts(&["-O2", "-g"]) else { return };
    let gathered = gather(&trace, false);
    let counts: Vec<_> = trace.processes.iter().flat_map(|process| &process.threads).collect();
    let branches: u64 = counts.iter().map(|thread| thread.counts.branches()).sum();
    let instructions: u64 = counts.iter().map(|thread| thread.counts.instructions).sum();
    let missed: u64 = gathered.seen.iter().map(|seen| seen.missed[0]).sum();
    for words in [vec![], vec!["look=look", "get=get", "libc=malloc,free"], vec!["all=*:*"]] {
        let found = budget(&trace, &words);
        let mut sum = BudgetSums::default();
        found.rows.iter().for_each(|row| sum.add(&row.sums));
        assert_eq!(sum, found.total);
        assert_eq!((sum.branches, sum.instructions, sum.missed), (branches, instructions, vec![missed]));
        let total = &found.total;
        let classes = total.conditional + total.jumps + total.calls + total.returns;
        assert_eq!(classes + total.indirect_jumps + total.indirect_calls, total.branches);
        for row in &found.rows {
            let parts: u64 = row.parts.iter().map(|part| part.branches).sum();
            assert_eq!(parts, row.sums.branches, "{}", row.name);
        }
    }
    let all = budget(&trace, &["all=*:*"]);
    let unattributed = all.rows.last().expect("a row");
    assert_eq!((all.rows[0].sums.branches, unattributed.kind), (branches, RowKind::Unattributed));
}

#[test]
fn code_without_a_name_is_given_to_no_neighbour_but_may_be_named_by_its_file() {
    let Some((trace, _folder)) = parts(&["-O2", "-g"]) else { return };
    let found = budget(&trace, &["malloc=malloc", "free=free,cfree", "typo=mallok"]);
    assert_eq!(row(&found, "malloc").called, TIMES);
    assert_eq!(found.idle.iter().filter(|glob| glob.starts_with("typo")).count(), 1, "{:?}", found.idle);
    let nameless = |budget: &ComponentBudget| {
        let parts = budget.rows.last().map(|row| row.parts.clone()).unwrap_or_default();
        let of_libc = parts.into_iter().filter(|part| part.name == "libc.so.6 (no symbol)");
        of_libc.map(|part| part.branches).sum::<u64>()
    };
    let by_file = budget(&trace, &["libc=libc.so.6:*"]);
    assert_eq!(nameless(&by_file), 0);
    let named = row(&found, "malloc").sums.branches + row(&found, "free").sums.branches;
    assert!(row(&by_file, "libc").sums.branches >= named + nameless(&found));
    if nameless(&found) == 0 {
        println!("skipped: the C library has all its symbols here");
    }
}
