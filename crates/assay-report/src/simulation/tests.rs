use super::*;
use assay_pure::simulation::{ShardResult, SimulationTask, TaskOutcome, share_out};

fn plan(traces: &[&str], predictors: &[&str]) -> SimulationPlan {
    SimulationPlan {
        version: "assay 1".into(),
        traces: traces.iter().map(|name| (*name).to_owned()).collect(),
        from: None,
        stream: None,
        predictors: predictors.iter().map(|name| (*name).to_owned()).collect(),
        shards: share_out(&vec![1; traces.len()], predictors.len(), 1),
    }
}

fn predictors() -> Vec<SimulatedPredictor> {
    let one = |name: &str, definition, judges| SimulatedPredictor { name: name.into(), definition, judges };
    vec![
        one("gshare:bits=12", 0xabc, &[PredictionKind::Direction]),
        one("tage", 0xdef, &[PredictionKind::Direction]),
        one("return-stack-8", 7, &[PredictionKind::Return]),
    ]
}

fn counts(branches: u64, instructions: u64, missed: [u64; 3]) -> TaskOutcome {
    TaskOutcome::Simulated(TraceCounts {
        format: "sbbt".into(),
        branches,
        instructions,
        predicted: [branches / 2, 0, branches / 10],
        mispredicted: vec![[missed[0], 0, 0], [missed[1], 0, 0], [0, 0, missed[2]]],
        warning: None,
    })
}

fn page(outcomes: Vec<TaskOutcome>) -> SimulationPage {
    let names = ["a.sbbt", "b.sbbt", "c.sbbt"];
    let plan = plan(&names, &["gshare:bits=12", "tage", "return-stack-8"]);
    let outcomes = outcomes.into_iter().enumerate();
    let outcomes = outcomes.map(|(trace, outcome)| (SimulationTask { trace, group: 0 }, outcome));
    let mut gathered = Gathered::new(&plan);
    gathered.add(ShardResult { version: "assay 1".into(), outcomes: outcomes.collect() }).unwrap();
    SimulationPage::of(&plan, &predictors(), &gathered)
}

/// The second trace is ten times as long, and counts as much.
fn whole() -> SimulationPage {
    page(vec![
        counts(1000, 10_000, [100, 50, 1]),
        counts(10_000, 100_000, [500, 900, 0]),
        counts(1000, 10_000, [40, 30, 2]),
    ])
}

#[test]
fn the_schema_is_that_of_the_page() {
    let mut rich =
        page(vec![counts(1000, 10_000, [100, 50, 1]), TaskOutcome::Broken("b.sbbt: byte 7".into())]);
    rich.stream = Some(1);
    rich.traces[0].warning = Some("only 3 % of branches can be reached".into());
    assert_eq!(rich.missing, ["c.sbbt"]);
    crate::schema::assert_published(SIMULATION_SCHEMA, &[rich], &[page(Vec::new())]);
}

#[test]
fn the_mean_is_that_of_the_traces_not_of_their_instructions() {
    let page = whole();
    let found: Vec<(&str, Option<f64>)> =
        page.columns.iter().map(|column| (column.of.as_str(), column.mean_mpki)).collect();
    // By hand: (10 + 5 + 4) / 3; (5 + 9 + 3) / 3; (0.1 + 0 + 0.2) / 3.
    let expected = [("direction", 19.0 / 3.0), ("direction", 17.0 / 3.0), ("return", 0.1)];
    for ((of, mean), (kind, by_hand)) in found.iter().zip(expected) {
        assert!(*of == kind && (mean.unwrap() - by_hand).abs() < 1e-12, "{found:?}");
    }
    // (0.2 + 0.1 + 0.08) / 3 of 500, 5000 and 500 conditional branches.
    assert!((page.columns[0].mean_rate.unwrap() - 0.38 / 3.0).abs() < 1e-12);
}

#[test]
fn a_table_says_which_predictor_has_the_fewest_and_shows_each_trace() {
    let text = render_simulation(&whole(), 120, false);
    assert_eq!(
        text,
        "tage has the fewest: 5.67 mispredictions per 1000 instructions, the arithmetic mean over 3 traces.\n\n\
         mispredictions per 1000 instructions\n\
         \x20 trace      branches  gshare:bits=12  tage  return-stack-8, return\n\
         \x20 ─────────────────────────────────────────────────────────────────\n"
            .to_owned()
            + &text[text.find("  a.sbbt").expect("a row")..]
    );
    assert!(text.contains("mean of 3") && text.contains("12,000"), "{text}");
    let narrow = render_simulation(&whole(), 50, false);
    assert!(narrow.lines().all(|line| line.chars().count() <= 50), "{narrow}");
    assert!(narrow.matches("mean of 3").count() > 1, "{narrow}");
}

#[test]
fn without_instructions_there_is_no_mean_of_mpki_but_one_of_shares() {
    let page = page(vec![
        counts(1000, 10_000, [100, 50, 1]),
        counts(1000, 0, [50, 100, 1]),
        counts(1000, 10_000, [50, 50, 1]),
    ]);
    assert_eq!(
        (page.columns[1].mean_mpki, page.traces[1].instructions, page.traces[1].mpki[1]),
        (None, None, None)
    );
    let text = render_simulation(&page, 120, false);
    assert!(text.contains("13.3 % of the conditional branches mispredicted"), "{text}");
    assert!(text.contains("not all traces tell their instructions"), "{text}");
}

#[test]
fn what_is_broken_or_missing_is_named_and_in_no_mean() {
    let page =
        page(vec![counts(1000, 10_000, [100, 50, 1]), TaskOutcome::Broken("b.sbbt: byte 7: cut".into())]);
    assert_eq!(page.columns[0].mean_mpki, Some(10.0));
    let text = render_simulation(&page, 120, false);
    assert!(text.contains("! b.sbbt: byte 7: cut") && text.contains("--resume does the rest"), "{text}");
}

#[test]
fn one_trace_is_shown_with_a_row_for_each_predictor() {
    let plan = plan(&["a.sbbt"], &["gshare:bits=12", "tage", "return-stack-8"]);
    let mut gathered = Gathered::new(&plan);
    let outcomes = vec![(SimulationTask { trace: 0, group: 0 }, counts(1000, 10_000, [100, 50, 1]))];
    gathered.add(ShardResult { version: "assay 1".into(), outcomes }).unwrap();
    let text = render_simulation(&SimulationPage::of(&plan, &predictors(), &gathered), 100, false);
    assert!(text.starts_with("a.sbbt: sbbt, 1,000 branches, simulated\n\n"), "{text}");
    assert!(text.contains("  tage            direction        500            50"), "{text}");
}

#[test]
fn of_ten_thousand_traces_the_terminal_shows_some_and_says_so() {
    let mut page = whole();
    page.traces = page.traces.iter().cycle().take(10_000).cloned().collect();
    let text = render_simulation(&page, 120, false);
    assert!(
        text.lines().count() < 120 && text.contains("9,900 more traces not shown here; --json has all."),
        "{text}"
    );
}
