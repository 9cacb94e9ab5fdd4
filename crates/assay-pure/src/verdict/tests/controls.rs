//! What the twin control does to verdicts.

use super::*;

#[test]
fn a_difference_where_there_is_none_takes_small_verdicts_back_and_comes_first() {
    let judged = |ratio| {
        judge(
            &[Planted { ratio, twin_shift: 0.05, rotations: 24, ..Planted::default() }.contrast()],
            &VerdictOptions::default(),
        )
    };
    // A shift of half of the rotations reads as half of it.
    for ratio in [1.0, 1.005, 0.95] {
        let judgement = judged(ratio);
        assert_eq!(judgement.twin.verdict, TwinVerdict::Different);
        assert!(judgement.warnings[0].contains("twin control failed"), "{:?}", judgement.warnings);
        let found = &judgement.contrasts[0];
        assert_eq!(found.verdict, Verdict::Undecided, "{ratio}");
        assert!(has(found, Cause::Noise));
    }
    // an effect clearly beyond the twin's difference stands
    let large = judged(1.4);
    assert_eq!(large.contrasts[0].verdict, Verdict::Slower);
    assert!(!has(&large.contrasts[0], Cause::Noise));
}

#[test]
fn a_control_that_holds_raises_no_warning() {
    let judgement =
        judge(&[Planted { rotations: 16, ..Planted::default() }.contrast()], &VerdictOptions::default());
    assert_eq!(judgement.twin.verdict, TwinVerdict::Equivalent, "{}", judgement.twin.statement);
    assert_eq!(judgement.warnings, Vec::<String>::new());
    assert!((judgement.twin.confidence_level - 0.95).abs() < 1e-12);
    assert_eq!(judgement.twin.contrasts[0].rotations, 16);
    assert!(judgement.twin.statement.contains("at 95 %"), "{}", judgement.twin.statement);
}

#[test]
fn a_control_that_carries_every_difference_is_good_enough_and_beside_an_equivalence_it_is_not() {
    let wide = |ratio| Planted { ratio, spread: 0.05, rotations: 6, ..Planted::default() }.contrast();
    let alone = judge(&[wide(1.0)], &VerdictOptions::default());
    assert_eq!(alone.twin.verdict, TwinVerdict::Undecided, "{}", alone.twin.statement);
    let far = judge(&[wide(3.0)], &VerdictOptions::default());
    assert_eq!((far.contrasts[0].verdict, far.twin.verdict), (Verdict::Slower, TwinVerdict::Equivalent));
    assert!(far.twin.statement.contains("less than the smallest difference"), "{}", far.twin.statement);
    assert!(far.twin.ratio.unwrap().log_interval().farthest_from_zero() < 1.0);
}

#[test]
fn the_twin_control_pools_the_rotations_that_all_contrasts_have() {
    let on = |input, candidate| Planted { input, candidate, ..Planted::default() }.contrast();
    let short = Planted { rotations: 4, ..Planted::default() }.contrast();
    let judgement = judge(&[on("a", "x"), on("a", "y"), short.clone()], &VerdictOptions::default());
    let rotations: Vec<usize> = judgement.twin.contrasts.iter().map(|found| found.rotations).collect();
    assert_eq!(rotations, [8, 8, 4]);
    assert!(judgement.twin.ratio.is_some());
    let none = Planted { rotations: 3, ..Planted::default() }.contrast();
    assert_eq!(judge(&[on("a", "x"), none], &VerdictOptions::default()).twin.ratio, None);
}

#[test]
fn what_slows_both_sides_alike_is_no_difference() {
    let planted = Planted { both_shift: 0.3, rotations: 16, ..Planted::default() };
    let judgement = judge(&[planted.contrast()], &VerdictOptions::default());
    assert_eq!(judgement.twin.verdict, TwinVerdict::Equivalent, "{}", judgement.twin.statement);
    assert_eq!(judgement.contrasts[0].verdict, Verdict::Equivalent);
}

#[test]
fn a_failed_twin_on_one_input_leaves_the_others_alone() {
    let on =
        |input, twin_shift| Planted { input, twin_shift, rotations: 16, ..Planted::default() }.contrast();
    let judgement = judge(&[on("bad", 0.05), on("good", 0.0)], &VerdictOptions::default());
    assert_eq!(judgement.twin.contrasts[0].verdict, TwinVerdict::Different);
    assert_eq!(judgement.contrasts[0].verdict, Verdict::Undecided);
    assert_eq!(judgement.twin.pooled, TwinVerdict::Different);
    assert_eq!(judgement.twin.contrasts[1].verdict, TwinVerdict::Equivalent);
    assert_eq!(judgement.contrasts[1].verdict, Verdict::Equivalent);
    assert!(
        judgement.twin.statement.contains("candidate on bad (") && !judgement.twin.statement.contains("good")
    );
}

#[test]
fn an_undecided_twin_is_noted_and_takes_nothing_back() {
    let judgement = judge(
        &[Planted { rotations: 3, ratio: 1.3, ..Planted::default() }.contrast()],
        &VerdictOptions::default(),
    );
    assert_eq!(judgement.twin.verdict, TwinVerdict::Undecided);
    assert!(judgement.notes[0].contains("undecided"), "{:?}", judgement.notes);
    assert_eq!(judgement.contrasts[0].verdict, Verdict::Slower);
}

#[test]
fn what_is_proven_without_being_measured_takes_neither_confidence_nor_the_control_from_others() {
    let slower = Planted { ratio: 1.09, rotations: 16, ..Planted::default() };
    let alone = judge(&[slower.contrast()], &VerdictOptions::default());
    let proven = |input| Planted {
        input,
        rotations: 1,
        rounds: 1,
        identity: Some(CodeIdentity::Proven),
        ..Planted::default()
    };
    let all = [slower.contrast(), proven("second").contrast(), proven("third").contrast()];
    let found = judge(&all, &VerdictOptions::default());
    assert_eq!(found.contrasts[0].code, alone.contrasts[0].code);
    assert_eq!((found.twin.verdict, found.twin.ratio), (TwinVerdict::Equivalent, alone.twin.ratio));
    for proven in &found.contrasts[1..] {
        assert_eq!((proven.verdict, proven.proven, proven.decided), (Verdict::Equivalent, true, true));
        assert!(proven.reasons[0].contains("equivalent by proof"), "{:?}", proven.reasons);
        assert!(!proven.reasons.iter().any(|reason| reason.contains("unknown")), "{:?}", proven.reasons);
    }
    // One whose code is not known to be the same keeps its place in the family.
    let open = Planted { identity: None, ..proven("second") };
    let wider = judge(&[slower.contrast(), open.contrast()], &VerdictOptions::default());
    assert!(wider.contrasts[0].confidence_level >= alone.contrasts[0].confidence_level);
}
