use super::*;

fn input(name: &str) -> CampaignInput {
    CampaignInput {
        name: name.into(),
        digest: String::new(),
        windows: 4,
        iterations: 10,
        warmup: 1,
        samples: 4,
    }
}

fn visit(process: i64, input: &str, at: f64, wall_ns: u64, samples: u32) -> Vec<SampleRow> {
    let sample = |position| SampleRow {
        round: 0,
        process,
        input: input.into(),
        start_window: 0,
        position,
        warmup: position == 0,
        wall_ns,
        cpu_ns: wall_ns,
        units: 1,
        switches: 0,
        pulses: None,
        flagged: None,
        at,
    };
    (0..samples).map(sample).collect()
}

fn seen(spreads: &[(usize, VisitSpread)]) -> Seen {
    Seen {
        spreads: spreads.iter().copied().collect(),
        sample_seconds: vec![2e-4, 1e-3],
        tuned: vec![input("short"), input("long")],
    }
}

const VISITS_DECIDE: VisitSpread =
    VisitSpread { samples: 1e-4, visits: 1e-2, rotations: 1e-5, placements: 4.0 };

#[test]
fn a_sample_costs_what_a_round_takes_without_waking_programs() {
    // Two visits of five samples of 0.2 ms, two of 1 ms: 12 ms of regions, 0.32 ms of waking, and as much again beside regions.
    let samples: Vec<SampleRow> = [(1, "short", 0.1), (2, "short", 0.2), (1, "long", 0.3), (2, "long", 0.4)]
        .into_iter()
        .flat_map(|(process, name, at)| {
            visit(process, name, at, if name == "short" { 200_000 } else { 1_000_000 }, 5)
        })
        .collect();
    let found = sample_seconds(&samples, &[input("short"), input("long")], 0.024_32);
    assert!((found[0] - 4e-4).abs() < 1e-12 && (found[1] - 2e-3).abs() < 1e-12, "{found:?}");
    // Of an input that has no samples yet a guess is made.
    assert_eq!(sample_seconds(&[], &[input("short")], 0.0), [2e-4]);
}

#[test]
fn only_an_input_whose_visits_decide_gets_fewer_samples() {
    let seen = seen(&[(1, VISITS_DECIDE)]);
    assert_eq!(seen.samples(8), [4, 1]);
    assert_eq!(seen.samples(2), [4, 4], "two rounds of one sample are too few pairs");
    assert_eq!(seen.rounds(&[4, 1]), assay_pure::stats::allocation::MOST_ROUNDS);
    assert_eq!(Seen { spreads: BTreeMap::new(), ..seen }.rounds(&[4, 4]), 1);
}

#[test]
fn a_visit_of_one_sample_is_as_much_shorter_as_its_samples_were() {
    let seen = seen(&[]);
    // By hand: 80 us and the mean of 5 · 0.2 ms and 5 · 1 ms; of 5 · 0.2 and 2 · 1 ms.
    assert!((seen.visit_seconds(&[4, 4]) - 3.08e-3).abs() < 1e-12);
    assert!((seen.visit_seconds(&[4, 1]) - 1.58e-3).abs() < 1e-12);
}
