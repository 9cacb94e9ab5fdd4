//! Does ITTAGE make the predictions of the programs it was published with?
//!
//! `INRIA` is the predictor of INRIA's own, BSD-3 licensed program (lib/ittage.h of the CBP2025 simulator), compiled by gcc
//! 12 and called as in golden.csv: predict, update at once, all other unconditional branches into the history. Its
//! counts and hashes were taken on 2026-11-21. Golden.csv has another program of the same name and author, that of the
//! championship of 2011, with 16 tables.

use crate::golden::wild::wild;
use crate::golden::{StreamHash, stream};
use assay_predict::predict::ittage::Ittage;
use assay_predict::predict::{PredictionKind, Tally, TargetPredictor, Zoo};
use assay_predict::trace::Branch;

const INRIA: [(&str, u64, u64, u64); 2] = [
    ("CBP-NG/gcc_test", 5439, 261, 0x4376_e10d_9496_43ee),
    ("synthetic_200k", 1060, 973, 0x92fb_1c43_c09a_e2f3),
];

/// What the same program made of the first 60,000 branches of the streams of [`wild`], by seed, 2026-11-26. Their
/// conditional indirect branches were not shown to it.
const INRIA_ON_WILD_STREAMS: [(u64, u64, u64, u64); 8] = [
    (2, 3825, 2787, 0x0fbd_365c_f2d5_5dc1),
    (3, 3297, 2571, 0xeace_305e_95e0_ea5f),
    (4, 3995, 2941, 0x3d2d_230f_e462_0406),
    (6, 2059, 1810, 0x6a5e_b5b9_d5f9_9fa2),
    (7, 2480, 2166, 0x9238_fa98_4571_bd93),
    (8, 2471, 1656, 0xd191_f600_f20e_ca3b),
    (9, 3395, 2630, 0x96c7_5099_777e_6b96),
    (10, 2819, 1782, 0x5f79_699d_60a1_ea40),
];

/// Branches judged, mispredictions, and hash of the predicted targets.
fn run(branches: &[Branch]) -> (u64, u64, u64) {
    let (mut predictor, mut hash) = (Ittage::new(), StreamHash::new());
    let (mut judged, mut missed) = (0, 0);
    for branch in branches {
        if PredictionKind::of(branch.class()) == Some(PredictionKind::Target) {
            let predicted = predictor.predict(branch.pc);
            predictor.train(branch, predicted);
            hash.take(predicted);
            judged += 1;
            missed += u64::from(predicted != branch.target);
        }
        predictor.track(branch);
    }
    (judged, missed, hash.value())
}

#[test]
fn ittage_makes_the_predictions_of_inrias_program() {
    for (name, judged, missed, expected) in INRIA {
        let stream = stream(name).1;
        assert_eq!(run(&stream), (judged, missed, expected), "{name}");
        let mut tally = Tally::new(1);
        Zoo::new(&["ittage"]).expect("a known name").observe(&stream, &mut tally);
        assert_eq!(tally.missed(), [missed], "{name}");
    }
}

#[test]
fn ittage_makes_the_predictions_of_inrias_program_on_streams_of_random_programs() {
    for (seed, judged, missed, expected) in INRIA_ON_WILD_STREAMS {
        let stream = wild(seed, 60_000);
        assert_eq!(run(&stream), (judged, missed, expected), "stream of seed {seed}");
        let mut tally = Tally::new(1);
        Zoo::new(&["ittage"]).expect("a known name").observe(&stream, &mut tally);
        assert_eq!(
            tally.missed(),
            [missed],
            "stream of seed {seed}: conditional indirect branches are not judged"
        );
    }
}
