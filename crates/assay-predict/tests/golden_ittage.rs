//! Does ITTAGE make the predictions of the programs it was published with?
//!
//! `INRIA` is the predictor of INRIA's own, BSD-3 licensed program (lib/ittage.h of the CBP2025 simulator), compiled by gcc
//! 12 and called as in golden.csv: predict, update at once, all other unconditional branches into the history. Its
//! counts and hashes were taken on 2026-11-21. Golden.csv has another program of the same name and author, that of the
//! championship of 2011, with 16 tables.

use crate::golden::{StreamHash, stream};
use assay_predict::predict::ittage::Ittage;
use assay_predict::predict::{Tally, TargetPredictor, Zoo};

const INRIA: [(&str, u64, u64, u64); 2] = [
    ("CBP-NG/gcc_test", 5439, 261, 0x4376_e10d_9496_43ee),
    ("synthetic_200k", 1060, 973, 0x92fb_1c43_c09a_e2f3),
];

#[test]
fn ittage_makes_the_predictions_of_inrias_program() {
    for (name, judged, missed, expected) in INRIA {
        let stream = stream(name).1;
        let (mut predictor, mut hash, mut predictions) = (Ittage::new(), StreamHash::new(), 0);
        for branch in &stream {
            if branch.class().has_predicted_target() {
                let predicted = predictor.predict(branch.pc);
                predictor.train(branch, predicted);
                hash.take(predicted);
                predictions += 1;
            }
            predictor.track(branch);
        }
        assert_eq!((predictions, hash.value()), (judged, expected), "{name}");
        let mut tally = Tally::new(1);
        Zoo::new(&["ittage"]).expect("a known name").observe(&stream, &mut tally);
        assert_eq!(tally.missed(), [missed], "{name}");
    }
}
