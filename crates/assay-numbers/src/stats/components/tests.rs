//! The split compared with other programs' splits of the same numbers, and with what was planted.

use super::*;
use crate::choices::SeededChoices;

/// Numbers that another program can make too. Unbalanced: processes and repetitions vary, one visit is missing.
fn numbers(balanced: bool) -> Vec<Repetition> {
    let mut all = Vec::new();
    for (side, placement, round) in
        (0..2u32).flat_map(|s| (0..5u32).flat_map(move |k| (0..3u32).map(move |r| (s, k, r))))
    {
        if !balanced && (side, placement, round) == (1, 4, 2) {
            continue;
        }
        for process in 0..(if balanced { 2 } else { 1 + (side + placement + round) % 2 }) {
            for _ in 0..(if balanced { 2 } else { 1 + (placement + 2 * round + process) % 3 }) {
                let part = |number: u32, of: u32| f64::from(number % of) / f64::from(of);
                let value = 0.02 * f64::from(side)
                    + 0.08 * part(placement * 37 + side * 11, 17)
                    + 0.02 * part(round * 29, 13)
                    + 0.04 * part((side * 5 + placement * 3 + round) * 41 + process * 7, 19)
                    + 0.02 * part(all.len() as u32 * 7919, 101);
                all.push(Repetition { value, side, placement, round, process });
            }
        }
    }
    all
}

fn assert_variances(found: &VarianceComponents, expected: [f64; 5], tolerance: f64) {
    let sources = [
        VarianceSource::Side,
        VarianceSource::Placement,
        VarianceSource::Round,
        VarianceSource::Process,
        VarianceSource::Rest,
    ];
    assert_eq!(found.shares.iter().map(|share| share.source).collect::<Vec<_>>(), sources);
    for (share, expected) in found.shares.iter().zip(expected) {
        assert!((share.variance / expected - 1.0).abs() < tolerance, "{share:?}, not {expected}");
    }
}

#[test]
fn agrees_with_reml_on_balanced_data() {
    // statsmodels 0.15.0: MixedLM.from_formula('y ~ 1', d, groups='one', vc_formula={side: '0+C(s)', placement: '0+C(s*10+k)',
    // round: '0+C(r)', process: '0+C(s*1000+k*100+r*10+p)'}).fit(reml=True, method='lbfgs'); its search ends at 4 digits
    let reml =
        [0.0001542687640788, 0.0006974139220268, 7.518751845897e-06, 0.0001452562310173, 4.926181184987e-05];
    let found = components(&numbers(true), 0.95).unwrap();
    assert_variances(&found, reml, 6e-4);
    // numpy 2.4.6: dense projections by pinv of the design up to each source, their traces, and a linear system
    let dense = [
        0.00015430243681085194,
        0.0006974144553979274,
        7.51559395143569e-06,
        0.0001452601256978552,
        4.926118354409135e-05,
    ];
    assert_variances(&found, dense, 1e-9);
    assert!(found.notes.is_empty());
    assert!((found.total - dense.iter().sum::<f64>()).abs() < 1e-12);
    assert!((found.shares[1].share - dense[1] / found.total).abs() < 1e-9);
}

#[test]
fn agrees_with_dense_matrices_on_unbalanced_data() {
    // numpy 2.4.6, as above
    let dense = [
        0.0001466828226079671,
        0.0006514665989558783,
        -3.34027956737698e-06,
        0.00016124573501589436,
        4.695800457322605e-05,
    ];
    let found = components(&numbers(false), 0.95).unwrap();
    assert_variances(&found, dense, 1e-9);
    assert_eq!(found.shares[2].share, 0.0);
    let truncated = |note: &Note| matches!(note, Note::Truncated { source: VarianceSource::Round, variance } if *variance < 0.0);
    assert!(found.notes.iter().any(truncated), "{:?}", found.notes);
}

#[test]
fn intervals_agree_with_dense_matrices() {
    // numpy 2.4.6 and scipy 1.17.1: the dense fit above, repeated without each placement; the formulas of the module
    let balanced = [
        (0.0, 1.0),
        (0.161037856501116, 0.9930741392563764),
        (0.0, 0.05612420523491904),
        (0.0, 0.38480801552497856),
        (0.0, 0.13337126055804852),
    ];
    let unbalanced = [
        (0.0, 1.0),
        (0.2221290657728089, 0.9637286157726868),
        (0.0, 0.07998159366163607),
        (0.0, 0.4984648490197287),
        (0.0, 0.13727531538573545),
    ];
    for (expected, all) in [(balanced, numbers(true)), (unbalanced, numbers(false))] {
        let found = components(&all, 0.95).unwrap();
        for (share, (lower, upper)) in found.shares.iter().zip(expected) {
            let (least, most) = share.interval.unwrap();
            assert!(
                (least - lower).abs() < 1e-8 && (most - upper).abs() < 1e-8,
                "{share:?}, not {lower} {upper}"
            );
        }
    }
    // The difference of the two sides, with t = 0.5.
    let fit = VarianceFit::new(&processes_of(&numbers(true))).unwrap();
    let (least, most) = fit.range_of_two_sides(0.5).unwrap();
    assert!(
        (least - 0.12394515921083771).abs() < 1e-9 && (most - 0.37696700785594844).abs() < 1e-9,
        "{least} {most}"
    );
}

#[test]
fn an_estimate_that_is_cut_off_at_zero_may_still_be_above_it() {
    let fit = |rest: f64| VarianceFit {
        variances: vec![(VarianceSource::Placement, 1.0), (VarianceSource::Rest, rest)],
        within: Vec::new(),
        two_sides: None,
    };
    let left_out = [-0.02, 0.0, -0.01, -0.03].map(fit);
    // By hand: deviations from -0.015 squared are 0.0005 in all, 3/4 of it 0.000375, its root times 2 is 0.0387298.
    let (lower, upper) = interval(&fit(-0.01), &left_out, 1, 2.0);
    assert_eq!(lower, 0.0);
    assert!((upper - 0.0287298).abs() < 1e-7, "{upper}");
}

#[test]
fn order_and_numbering_and_an_added_constant_do_not_matter() {
    let plain = components(&numbers(false), 0.9).unwrap();
    let mut turned = numbers(false);
    turned.reverse();
    for one in &mut turned {
        one.value += 3.0;
        one.placement = 70 - one.placement * 10;
        one.process += 1000 * one.round;
        one.round += 5;
    }
    let found = components(&turned, 0.9).unwrap();
    for (one, other) in plain.shares.iter().zip(&found.shares) {
        assert!((one.variance - other.variance).abs() < 1e-12, "{one:?} {other:?}");
        let ((a, b), (c, d)) = (one.interval.unwrap(), other.interval.unwrap());
        assert!((a - c).abs() < 1e-6 && (b - d).abs() < 1e-6, "{one:?} {other:?}");
    }
}

#[test]
fn a_larger_confidence_widens_the_intervals_and_each_holds_its_share() {
    let (narrow, wide) =
        (components(&numbers(true), 0.8).unwrap(), components(&numbers(true), 0.99).unwrap());
    for (one, other) in narrow.shares.iter().zip(&wide.shares) {
        let ((a, b), (c, d)) = (one.interval.unwrap(), other.interval.unwrap());
        assert!(c <= a && b <= d && a <= one.share && one.share <= b, "{one:?} {other:?}");
        assert!(d - c > b - a, "{one:?} {other:?}");
    }
}

#[test]
fn sources_that_the_visits_do_not_tell_apart_are_one() {
    let of = |keep: &dyn Fn(&Repetition) -> bool| -> Vec<Repetition> {
        numbers(true).into_iter().filter(|one| keep(one)).collect()
    };
    let sources =
        |found: &VarianceComponents| found.shares.iter().map(|share| share.source).collect::<Vec<_>>();
    // One side: the rest is as it is.
    let found = components(&of(&|one| one.side == 0), 0.95).unwrap();
    assert_eq!(
        sources(&found),
        [VarianceSource::Placement, VarianceSource::Round, VarianceSource::Process, VarianceSource::Rest]
    );
    assert!(found.notes.iter().all(|note| matches!(note, Note::Truncated { .. })));
    // One value per process: process and rest are one.
    let mut seen = BTreeSet::new();
    let first: Vec<Repetition> = numbers(true)
        .into_iter()
        .filter(|one| seen.insert((one.side, one.placement, one.round, one.process)))
        .collect();
    let found = components(&first, 0.95).unwrap();
    assert_eq!(sources(&found).last(), Some(&VarianceSource::Process));
    assert!(
        found.notes.contains(&Note::Within { source: VarianceSource::Rest, other: VarianceSource::Process })
    );
    // One process per placement: it is in the placement, and there is but one round.
    let found = components(&of(&|one| one.round == 0 && one.process == 0), 0.95).unwrap();
    assert_eq!(sources(&found), [VarianceSource::Side, VarianceSource::Placement, VarianceSource::Rest]);
    assert_eq!(
        found.notes[0],
        Note::Within { source: VarianceSource::Process, other: VarianceSource::Placement }
    );
    // Each placement in a round of its own.
    let found = components(&of(&|one| one.round == one.placement % 3), 0.95).unwrap();
    assert!(
        found
            .notes
            .contains(&Note::Within { source: VarianceSource::Round, other: VarianceSource::Placement })
    );
}

#[test]
fn what_cannot_be_split_is_refused() {
    let few: Vec<Repetition> = numbers(true).into_iter().filter(|one| one.placement < 3).collect();
    assert_eq!(components(&few, 0.95), Err(ComponentsError::TooFewPlacements { have: 3, need: 4 }));
    let mut seen = BTreeSet::new();
    let single: Vec<Repetition> =
        numbers(true).into_iter().filter(|one| seen.insert((one.side, one.placement))).collect();
    assert_eq!(components(&single, 0.95), Err(ComponentsError::NothingRepeated { values: 10 }));
    let equal: Vec<Repetition> =
        numbers(true).into_iter().map(|one| Repetition { value: 1.0, ..one }).collect();
    assert_eq!(components(&equal, 0.95), Err(ComponentsError::NoVariance));
    let mut odd = numbers(true);
    odd[7].value = f64::INFINITY;
    assert_eq!(components(&odd, 0.95), Err(ComponentsError::NotFinite { at: 7 }));
    assert!(matches!(components(&numbers(true), 1.0), Err(ComponentsError::Confidence(_))));
}

#[test]
fn the_sentence_names_the_largest_first() {
    let share = |source, share| SourceShare { source, variance: share, share, interval: None };
    let shares = vec![
        share(VarianceSource::Side, 0.03),
        share(VarianceSource::Placement, 0.71),
        share(VarianceSource::Round, 0.004),
        share(VarianceSource::Process, 0.146),
        share(VarianceSource::Rest, 0.11),
    ];
    let found = VarianceComponents { shares, total: 1.0, notes: Vec::new() };
    assert_eq!(
        found.sentence("decode/64", "compiler"),
        "placement explains 71 % of the variance of decode/64, the process 15 %, the rest 11 %, the compiler 3 %, \
         the round 0.4 %"
    );
    let note = Note::Within { source: VarianceSource::Rest, other: VarianceSource::Process };
    assert_eq!(
        note.sentence("compiler"),
        "The rest cannot be separated from the process here; the share includes both."
    );
}

/// A draw from the standard normal distribution: the sum of twelve uniform ones, less six.
fn normal(order: &mut SeededChoices) -> f64 {
    (0..12).map(|_| order.below(1 << 32) as f64 / 4294967296.0).sum::<f64>() - 6.0
}

/// Levels of each source.
struct Shape {
    placements: u32,
    rounds: u32,
    repetitions: u32,
}

/// Planted variances: side and round as given, to the digit, the others drawn.
fn planted(order: &mut SeededChoices, variances: [f64; 5], shape: &Shape) -> Vec<Repetition> {
    let [side, placement, round, process, rest] = variances.map(f64::sqrt);
    let draws: Vec<f64> = (0..shape.rounds).map(|_| normal(order)).collect();
    let mean = draws.iter().sum::<f64>() / f64::from(shape.rounds);
    let spread =
        (draws.iter().map(|draw| (draw - mean).powi(2)).sum::<f64>() / f64::from(shape.rounds - 1)).sqrt();
    let mut all = Vec::new();
    for s in 0..2 {
        for k in 0..shape.placements {
            let of_placement = placement * normal(order);
            for r in 0..shape.rounds {
                let of_round = round * (draws[r as usize] - mean) / spread;
                let of_process = process * normal(order);
                for _ in 0..shape.repetitions {
                    let of_side = side * (if s == 0 { 1.0 } else { -1.0 }) * std::f64::consts::FRAC_1_SQRT_2;
                    let value = of_side + of_placement + of_round + of_process + rest * normal(order);
                    all.push(Repetition { value, side: s, placement: k, round: r, process: 0 });
                }
            }
        }
    }
    all
}

/// How often each interval holds the planted share, and the mean of the estimated variances.
fn held(seed: u64, variances: [f64; 5], shape: &Shape, times: usize) -> ([f64; 5], [f64; 5]) {
    let mut order = SeededChoices::new(seed, &[]);
    let total: f64 = variances.iter().sum();
    let (mut hits, mut means) = ([0.0; 5], [0.0; 5]);
    for _ in 0..times {
        let found = components(&planted(&mut order, variances, shape), 0.95).expect("a split");
        for (at, share) in found.shares.iter().enumerate() {
            let (lower, upper) = share.interval.expect("an interval");
            let truth = variances[at] / total;
            hits[at] += f64::from(lower <= truth + 1e-12 && truth <= upper + 1e-12) / times as f64;
            means[at] += share.variance / times as f64;
        }
    }
    (hits, means)
}

#[test]
fn planted_variances_are_found_on_average() {
    let shape = Shape { placements: 16, rounds: 4, repetitions: 3 };
    let variances = [0.2, 0.3, 0.1, 0.2, 0.2];
    let (hits, means) = held(12, variances, &shape, 60);
    for (found, planted) in means.iter().zip(variances) {
        assert!((found / planted - 1.0).abs() < 0.15, "{means:?}");
    }
    assert!(hits.iter().all(|held| *held > 0.85), "{hits:?}");
}

/// Slow lane: `cargo test --release -p assay-numbers -- --ignored`.
#[test]
#[ignore = "a simulation of some minutes without optimisation"]
fn intervals_of_shares_hold_what_was_planted() {
    let cases = [
        ([0.02, 0.7, 0.02, 0.16, 0.1], 16),
        ([0.2, 0.3, 0.1, 0.2, 0.2], 16),
        ([0.2, 0.3, 0.1, 0.2, 0.2], 32),
        ([0.0, 0.3, 0.1, 0.3, 0.3], 16),
        ([0.5, 0.01, 0.04, 0.05, 0.4], 16),
    ];
    for (at, (variances, placements)) in cases.into_iter().enumerate() {
        let (hits, means) =
            held(at as u64, variances, &Shape { placements, rounds: 4, repetitions: 3 }, 1000);
        println!("{placements} placements, {variances:?}: held {hits:.3?}, mean {means:.4?}");
        assert!(hits.iter().all(|held| *held > 0.88), "{variances:?} {placements}: {hits:?}");
    }
}
