use super::*;

const PHASES: [u64; 4] = [0, 16, 32, 48];

/// What a function's offset is against the variant's own, per rotation.
fn apart(seed: u64, rotations: u32, functions: usize) -> Vec<Vec<u64>> {
    let mut order = SeededChoices::new(seed, &[1]);
    (0..functions).map(|_| (0..rotations).map(|_| 16 * order.below(4)).collect()).collect()
}

/// The offsets of each function at all placements, rotation by rotation.
fn offsets(apart: &[Vec<u64>]) -> Vec<Vec<u64>> {
    let at = |of: &Vec<u64>| {
        of.iter().flat_map(|apart| PHASES.map(|own| (own + apart) % 64)).collect::<Vec<u64>>()
    };
    apart.iter().map(at).collect()
}

/// Times of a program in which `ns` gives a time by rotation, own offset and place in the list.
fn times(rotations: u32, mut ns: impl FnMut(u32, u64, usize) -> f64) -> Vec<PlacedTime> {
    let mut times = Vec::new();
    for rotation in 0..rotations {
        for offset in PHASES {
            let ns = ns(rotation, offset, times.len());
            times.push(PlacedTime { rotation, offset, ns });
        }
    }
    times
}

/// Whole cycles as a caller at `own` and a callee at `other` take them: one more where the caller starts late, one where
/// the callee does.
fn cycles(own: u64, other: u64) -> f64 {
    1.36 + 0.27 * f64::from(u8::from(own >= 32)) + 0.27 * f64::from(u8::from(other >= 32))
}

#[test]
fn the_callee_is_found_among_others() {
    let others = offsets(&apart(7, 16, 60));
    let times = times(16, |_, own, at| cycles(own, others[41][at]));
    let found = companion(&times, &others, 1).expect("exact");
    assert!(found.functions.contains(&41), "{found:?}");
    assert!((found.share - 1.0).abs() < 1e-12 && (found.share_adjusted - 1.0).abs() < 1e-12);
    for (own, other, ns) in &found.times {
        assert!((ns - cycles(*own, *other)).abs() < 1e-9, "{own} {other} {ns}");
    }
}

#[test]
fn eight_rotations_tell_of_one_function_but_not_of_sixty() {
    let others = offsets(&apart(7, 8, 60));
    let times = times(8, |_, own, at| cycles(own, others[41][at]));
    assert_eq!(companion(&times, &others, 1), None, "among so many one fits by chance");
    assert_eq!(companion(&times, &others[41..42], 1).expect("exact").functions, [0]);
}

#[test]
fn functions_that_move_alike_are_named_together() {
    let mut others = offsets(&apart(7, 12, 20));
    // Always 16 bytes behind the third.
    let behind: Vec<u64> = others[2].iter().map(|offset| (offset + 16) % 64).collect();
    others.push(behind);
    let times = times(12, |_, own, at| cycles(own, others[2][at]));
    assert_eq!(companion(&times, &others, 1).expect("exact").functions, [2, 20]);
}

#[test]
fn an_own_start_that_explains_all_needs_no_companion() {
    let others = offsets(&apart(3, 8, 40));
    let times = times(8, |_, own, _| 1.0 + own as f64);
    assert_eq!(companion(&times, &others, 1), None);
}

#[test]
fn a_share_is_the_one_computed_by_hand() {
    // Two groups of two, values (1, 3) and (7, 9): within 2 + 2, about the mean of 5 in all 40. Spare: 4 - 2.
    let values = Values { logs: vec![1.0, 3.0, 7.0, 9.0], total: 40.0 };
    assert_eq!(values.within(&[0, 0, 1, 1]), (4.0, 2));
    // Too few beyond the groups for any statement.
    assert_eq!(values.adjusted(&[0, 0, 1, 1]), None);
    // Twelve values, each of these thrice: within 12, in all 120, spare 10 of 11: 1 - 1.2/(120/11).
    let values = Values { logs: values.logs.repeat(3), total: 120.0 };
    let adjusted = values.adjusted(&[0, 0, 1, 1].repeat(3)).expect("enough");
    assert!((adjusted - 0.89).abs() < 1e-12, "{adjusted}");
}

#[test]
fn rotations_that_reach_different_offsets_name_nothing() {
    let others = offsets(&apart(7, 8, 10));
    let mut times = times(8, |_, own, at| cycles(own, others[4][at]));
    times[5].offset = 8;
    assert_eq!(companion(&times, &others, 1), None);
}

/// How many of `campaigns` name a function where none has a part; each rotation shares an effect of its own.
fn named_by_chance(campaigns: u64, functions: usize, rotation_effect: f64) -> usize {
    let tried = (0..campaigns).filter(|&seed| {
        let mut order = SeededChoices::new(seed, &[2]);
        let shared: Vec<f64> = (0..8).map(|_| order.below(1000) as f64 / 1000.0).collect();
        let times = times(8, |rotation, own, _| {
            let noise = order.below(1000) as f64 / 1000.0;
            (0.01 * own as f64 + rotation_effect * shared[rotation as usize] + 0.1 * noise).exp()
        });
        companion(&times, &offsets(&apart(seed + 1000, 8, functions)), seed).is_some()
    });
    tried.count()
}

#[test]
fn what_each_rotation_shares_is_seldom_taken_for_a_function() {
    // At 5 % at most, 2 of 40 are expected and 6 are 3 standard deviations above.
    let (none, shared) = (named_by_chance(40, 60, 0.0), named_by_chance(40, 60, 1.0));
    assert!(none <= 6 && shared <= 6, "{none} and {shared} of 40");
}
