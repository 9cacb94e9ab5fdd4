use super::*;
use crate::verdict::observed::{Observation, PairAt, Rotation};

/// A fixed sequence in 0..1 without pattern at small distances.
fn drawn(at: u32) -> f64 {
    (f64::from(at) * 0.618_033_988_749_895 + 0.137).fract()
}

/// A campaign in which each side is slow by a half in such a share of its visits, and the candidate takes `ratio` in both modes.
fn contrast(ratio: f64, slow: [f64; 2]) -> ObservedContrast {
    let side = |process: u32, salt: u32, level: f64, slow: f64| -> Vec<Observation> {
        let visits = (0..6u32).flat_map(|round| {
            let at = 6 * process + round;
            let mode = if drawn(7 * at + salt) < slow { 1.5 } else { 1.0 };
            (0..4).map(move |index| {
                let noise = 1.0 + 0.004 * (drawn(31 * at + 5 * index + salt) - 0.5);
                Observation { round, index, ns_per_unit: level * mode * noise }
            })
        });
        visits.collect()
    };
    let rotation = |rotation: u32| {
        let phases = (0..4u32).map(|phase| {
            let (offset, process) = (u64::from(16 * phase), 4 * rotation + phase);
            let level = [0.36, 0.42, 0.36, 0.39][phase as usize];
            PairAt {
                phase_bytes: 16 * phase,
                candidate_offset: offset,
                baseline_offset: offset,
                candidate: side(process, 3, level * ratio, slow[0]),
                baseline: side(process, 1_000_003, level, slow[1]),
            }
        });
        Rotation { rotation, phases: phases.collect() }
    };
    ObservedContrast {
        candidate: "new".to_owned(),
        baseline: "old".to_owned(),
        input: "text".to_owned(),
        compiler: "gcc-12".to_owned(),
        flags: "O2".to_owned(),
        against: None,
        as_built: None,
        rotations: (0..8).map(rotation).collect(),
        visits: Visits::Process,
        identity: None,
    }
}

fn caused(contrast: &ObservedContrast, code: Option<RatioInterval>) -> Option<CauseEvidence> {
    let options = VerdictOptions::default();
    Some(cause(contrast, &modes_of(contrast, &options)?, code, &options))
}

fn told(contrast: &ObservedContrast) -> Option<CauseEvidence> {
    caused(contrast, None)
}

#[test]
fn each_mode_is_told_as_data_with_what_a_long_run_reports() {
    let found = modes_of(&contrast(1.05, [0.4, 0.2]), &VerdictOptions::default()).expect("two speeds");
    let near =
        |value: f64, expected: f64| assert!((value / expected - 1.0).abs() < 0.01, "{value}, {expected}");
    // The mean over offsets of 0.36, 0.42, 0.36, 0.39 as logarithms is 0.3817.
    near(found.baseline.fast, 0.3817);
    near(found.candidate.fast, 0.3817 * 1.05);
    near(found.candidate.slow.unwrap(), 0.3817 * 1.05 * 1.5);
    near(found.fast.ratio, 1.05);
    near(found.slow.unwrap().ratio, 1.05);
    assert!(found.fast.lower < 1.05 && 1.05 < found.fast.upper && !found.equal_in_each);
    let [more, less] = [found.candidate.slow_share, found.baseline.slow_share];
    assert!((more - 0.4).abs() < 0.08 && (less - 0.2).abs() < 0.08, "{more}, {less}");
    let shares = found.slow_share_difference;
    assert!((shares.difference - (more - less)).abs() < 1e-12 && shares.excludes_zero(), "{shares:?}");
    assert_eq!(
        (found.candidate.visits, found.candidate.offsets.as_slice()),
        (192, [0, 16, 32, 48].as_slice())
    );
    // (0.36 + 0.42 + 0.36 + 0.39) / 4 = 0.3825, half as much again in the slow share.
    near(found.baseline.mean, 0.3825 * (1.0 + less / 2.0));
}

#[test]
fn equal_code_that_changes_its_speed_is_told_to_be_equal_in_each_mode() {
    let found = told(&contrast(1.0, [0.2, 0.3])).expect("two speeds");
    assert_eq!(found.cause, Cause::Modes);
    let evidence = &found.evidence;
    // The mean over offsets of 0.36, 0.42, 0.36, 0.39 as logarithms is 0.3817; half as much again 0.5726.
    assert!(evidence.contains("new runs at 0.382 ns or 0.57"), "{evidence}");
    assert!(
        evidence.contains("of 192 visits") && evidence.contains("in each mode they are equal"),
        "{evidence}"
    );
}

#[test]
fn a_difference_within_a_mode_is_told_beside_the_shares() {
    let both = contrast(1.05, [0.25, 0.25]);
    let evidence = told(&both).unwrap().evidence;
    assert!(evidence.contains("in the fast mode new differs by +5"), "{evidence}");
    assert!(evidence.contains(", in the slow one by +"), "{evidence}");
    assert!(!evidence.contains("they are equal"), "{evidence}");
    assert!(evidence.contains("neither is shown to be slow more often"), "{evidence}");
    let more = told(&contrast(1.0, [0.5, 0.1])).unwrap().evidence;
    assert!(more.contains("one is slow more often than the other"), "{more}");
}

#[test]
fn a_difference_that_the_slow_visits_make_is_their_share() {
    let effect = |ratio| Some(RatioInterval { ratio, lower: ratio - 0.01, upper: ratio + 0.01 });
    let one = contrast(1.0, [0.5, 0.1]);
    let found = caused(&one, effect(1.18)).unwrap();
    assert!(found.share.is_some_and(|share| share > 0.95), "{found:?}");
    assert_eq!(caused(&one, effect(1.001)).unwrap().share, None);
    let real = caused(&contrast(1.1, [0.2, 0.2]), effect(1.1)).unwrap();
    assert!(real.share.is_some_and(|share| share < 0.1), "{real:?}");
}

#[test]
fn a_side_of_one_speed_is_told_beside_one_of_two() {
    let found = told(&contrast(1.0, [0.2, 0.0])).unwrap();
    assert!(found.evidence.contains("old has one speed in all of 192 visits"), "{}", found.evidence);
    assert_eq!(told(&contrast(1.0, [0.0, 0.0])), None);
}
