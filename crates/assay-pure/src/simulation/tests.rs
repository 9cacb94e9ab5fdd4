use super::*;
use assay_numbers::choices::SeededChoices;
use std::collections::BTreeSet;

fn plan(traces: usize, predictors: usize, shards: usize) -> SimulationPlan {
    let bytes: Vec<u64> = (0..traces as u64).map(|trace| 1000 + trace * trace % 977).collect();
    SimulationPlan {
        version: "assay 1\ncommit: x".into(),
        traces: (0..traces).map(|trace| format!("{trace}.sbbt")).collect(),
        from: None,
        stream: None,
        predictors: (0..predictors).map(|predictor| format!("p{predictor}")).collect(),
        shards: share_out(&bytes, predictors, shards),
    }
}

/// What simulating would come to: a number for each trace and predictor.
fn missed(trace: usize, predictor: usize) -> u64 {
    (trace * 1009 + predictor * 31 + 7) as u64
}

fn done(plan: &SimulationPlan, task: SimulationTask) -> (SimulationTask, TaskOutcome) {
    let first = task.group * GROUP;
    let mispredicted = (0..plan.group(task.group).len()).map(|at| [missed(task.trace, first + at), 0, 1]);
    let counts = TraceCounts {
        format: "sbbt".into(),
        branches: 5_000_000 + task.trace as u64,
        instructions: 30_000_000,
        predicted: [4_000_000, 0, 9],
        mispredicted: mispredicted.collect(),
        warning: None,
    };
    (task, TaskOutcome::Simulated(counts))
}

fn result(plan: &SimulationPlan, shard: usize) -> ShardResult {
    let outcomes = plan.shards[shard].iter().map(|task| done(plan, *task));
    ShardResult { version: plan.version.clone(), outcomes: outcomes.collect() }
}

#[test]
fn every_task_is_in_one_share_and_shares_are_alike() {
    for (traces, predictors, shards) in [(1, 1, 1), (1, 100, 4), (20, 10, 7), (500, 70, 60), (3, 33, 1000)] {
        let plan = plan(traces, predictors, shards);
        let tasks = traces * plan.groups();
        assert_eq!(plan.shards.len(), shards.min(tasks));
        let all: BTreeSet<SimulationTask> = plan.shards.iter().flatten().copied().collect();
        assert_eq!((all.len(), plan.shards.iter().map(Vec::len).sum::<usize>()), (tasks, tasks));
        let (least, most) = (plan.shards.iter().map(Vec::len).min(), plan.shards.iter().map(Vec::len).max());
        assert!(least > Some(0) && most <= least.map(|least| least * 4), "{least:?} to {most:?}");
    }
    // By hand: of 8, 7, 6, 5, 4 the two shares are 8 + 5 + 4 and 7 + 6; a byte more each is for the start.
    let shares = share_out(&[7, 6, 5, 4, 3], 1, 2);
    let traces = |share: &Vec<SimulationTask>| share.iter().map(|task| task.trace).collect::<Vec<_>>();
    assert_eq!((traces(&shares[0]), traces(&shares[1])), (vec![0, 3, 4], vec![1, 2]));
}

#[test]
fn small_work_is_one_shard_and_large_work_at_most_a_thousand() {
    assert_eq!(shards_worth(&[40_000; 20], 10), 1);
    assert_eq!(shards_worth(&[5_000_000; 20], 10), 10);
    assert_eq!(shards_worth(&[2_000_000; 10_000], 100), 1000);
    assert_eq!(shards_worth(&[10_000_000_000; 2], 10), 2, "no more than there are tasks");
    assert_eq!(shards_worth(&[0], 1), 1);
}

#[test]
fn a_thousand_shards_with_duplicates_and_late_ones_are_merged_exactly_once() {
    let plan = plan(2500, 40, 1000);
    assert_eq!(plan.shards.len(), 1000);
    let mut draw = SeededChoices::new(17, &[]);
    // Any order, a third of them twice, and two hundred that come only later.
    let mut order: Vec<usize> = (0..1000).chain((0..1000).filter(|_| draw.below(3) == 0)).collect();
    draw.shuffle(&mut order);
    let is_late = |shard: usize| shard % 5 == 2;
    let mut gathered = Gathered::new(&plan);
    for shard in order.iter().filter(|shard| !is_late(**shard)) {
        gathered.add(result(&plan, *shard)).unwrap();
    }
    let late: usize = (0..1000).filter(|shard| is_late(*shard)).map(|shard| plan.shards[shard].len()).sum();
    assert_eq!(gathered.missing(), late);
    assert!((0..2500).any(|trace| gathered.trace(trace) == WholeTrace::Missing));
    for shard in order.iter().filter(|shard| is_late(**shard)) {
        gathered.add(result(&plan, *shard)).unwrap();
    }
    let twice: usize = order.iter().map(|shard| plan.shards[*shard].len()).sum::<usize>() - 5000;
    assert!(twice > 1000);
    assert_eq!((gathered.missing(), gathered.repeated()), (0, twice as u64));
    for trace in 0..2500 {
        let WholeTrace::Simulated(counts) = gathered.trace(trace) else { panic!("{trace} is not whole") };
        let expected: Vec<[u64; 3]> = (0..40).map(|predictor| [missed(trace, predictor), 0, 1]).collect();
        assert_eq!((counts.mispredicted, counts.branches), (expected, 5_000_000 + trace as u64));
    }
}

#[test]
fn results_that_contradict_each_other_or_belong_elsewhere_are_refused() {
    let plan = plan(3, 40, 1);
    let whole = result(&plan, 0);
    let fresh = || {
        let mut gathered = Gathered::new(&plan);
        gathered.add(whole.clone()).unwrap();
        gathered
    };
    let changed = |change: fn(&mut TraceCounts)| {
        let mut other = whole.clone();
        let TaskOutcome::Simulated(counts) = &mut other.outcomes[2].1 else { panic!("it was simulated") };
        change(counts);
        fresh().add(other)
    };
    assert!(changed(|_| ()).is_ok());
    let changes: [fn(&mut TraceCounts); 2] =
        [|counts| counts.mispredicted[0][0] += 1, |counts| counts.branches += 1];
    for change in changes {
        assert!(changed(change).unwrap_err().contains("trace 2 was simulated twice with different results"));
    }
    assert!(
        changed(|counts| counts.mispredicted.truncate(31)).unwrap_err().contains("of another simulation")
    );
    for (trace, group) in [(3, 0), (0, 2)] {
        let mut other = whole.clone();
        other.outcomes[0].0 = SimulationTask { trace, group };
        assert!(fresh().add(other).unwrap_err().contains("of another simulation"));
    }
    // The groups of one trace must have read the same trace.
    let mut other = whole.clone();
    let TaskOutcome::Simulated(counts) = &mut other.outcomes[1].1 else { panic!("it was simulated") };
    counts.branches += 1;
    assert!(Gathered::new(&plan).add(other).unwrap_err().contains("trace 1"));
}

#[test]
fn a_trace_that_one_machine_could_not_read_is_whole_once_another_has() {
    let plan = plan(2, 1, 1);
    let broken = |task| ShardResult {
        version: plan.version.clone(),
        outcomes: vec![(task, TaskOutcome::Broken("cut".into()))],
    };
    let first = SimulationTask { trace: 0, group: 0 };
    let mut gathered = Gathered::new(&plan);
    gathered.add(broken(first)).unwrap();
    assert_eq!(
        (gathered.trace(0), gathered.trace(1)),
        (WholeTrace::Broken("cut".into()), WholeTrace::Missing)
    );
    gathered.add(result(&plan, 0)).unwrap();
    gathered.add(broken(first)).unwrap();
    assert!(matches!(gathered.trace(0), WholeTrace::Simulated(_)));
    assert_eq!((gathered.missing(), gathered.repeated()), (0, 2));
}
