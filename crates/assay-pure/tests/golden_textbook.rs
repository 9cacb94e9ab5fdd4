//! Do the textbook predictors do on whole streams what independent programs did?
//!
//! `gshare-32k` against the organisers' own gshare of CBP-2016 (fixtures/traces): counts, hashes of all predictions, and
//! where bit streams were kept each prediction. The others against a second implementation, written here from the
//! definition as plainly as can be.

mod golden;

use assay_pure::predict::gshare::Gshare32k;
use assay_pure::predict::{DirectionPredictor, Tally, Zoo};
use assay_pure::trace::Branch;
use golden::{STREAMS, StreamHash, golden, golden_bits, stream};

/// What a predictor says of each conditional branch.
fn predictions(predictor: &mut impl DirectionPredictor, stream: &[Branch]) -> Vec<bool> {
    let mut predictions = Vec::new();
    for branch in stream {
        if branch.class().is_conditional() {
            let predicted = predictor.predict(branch.pc, branch.target);
            predictor.train(branch, predicted);
            predictions.push(predicted);
        }
        predictor.track(branch);
    }
    predictions
}

#[test]
fn gshare_32k_makes_the_predictions_of_the_championships_program() {
    for name in STREAMS {
        let stream = stream(name).1;
        let expected = golden(name, "gshare32").expect("golden.csv has it for all streams");
        let predictions = predictions(&mut Gshare32k::default(), &stream);
        let mut hash = StreamHash::new();
        predictions.iter().for_each(|predicted| hash.take(u64::from(*predicted)));
        assert_eq!(predictions.len() as u64, expected.predicted, "{name}");
        assert_eq!(hash.value(), expected.hash, "{name}");
        if name != "synthetic_2M" {
            let bits = golden_bits(name, "gshare32");
            assert_eq!(predictions.iter().zip(&bits).position(|(ours, theirs)| ours != theirs), None);
        }
        let mut tally = Tally::new(1);
        Zoo::new(&["gshare-32k"]).expect("a known name").observe(&stream, &mut tally);
        assert_eq!(tally.missed(), [expected.missed], "{name}");
    }
}
