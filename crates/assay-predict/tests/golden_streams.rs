//! Are the golden streams the ones that the reference predictors saw?

use crate::golden::{self, STREAMS, golden, golden_bits, stream, synthetic};

#[test]
fn each_stream_has_as_many_branches_as_the_references_saw() {
    for (name, branches) in STREAMS.into_iter().zip([594_405, 200_000, 2_000_000]) {
        let (sites, stream) = stream(name);
        let conditional = stream.iter().filter(|branch| branch.class().is_conditional()).count() as u64;
        assert_eq!(stream.len(), branches, "{name}");
        assert_eq!(conditional, golden(name, "gshare32").unwrap().predicted, "{name}");
        assert!(stream.iter().all(|branch| sites[branch.site as usize].pc == branch.pc));
    }
}

#[test]
fn the_generator_makes_the_stored_stream_again() {
    let stored = stream("synthetic_200k").1;
    let generated = assay_predict::trace::sbbt::decode(&synthetic::sbbt(200_000)).unwrap().1;
    assert!(stored == generated);
}

#[test]
fn the_bits_of_the_references_make_their_counts_and_hashes() {
    for name in ["CBP-NG/gcc_test", "synthetic_200k"] {
        for predictor in ["gshare32", "TAGE-SC-L-64KB", "TAGE-SC-L-8KB"] {
            let row = golden(name, predictor).unwrap();
            let bits = golden_bits(name, predictor);
            let mut hash = golden::StreamHash::new();
            let mut missed = 0;
            let judged = stream(name).1.into_iter().filter(|branch| branch.class().is_conditional());
            for (branch, predicted) in judged.zip(bits) {
                hash.take(predicted.into());
                missed += u64::from(branch.taken() != predicted);
            }
            assert_eq!((missed, hash.value()), (row.missed, row.hash), "{name} {predictor}");
        }
    }
}
