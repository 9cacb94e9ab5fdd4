//! Does TAGE-SC-L predict each branch of the golden streams as the published program does?

use crate::golden::wild::wild;
use crate::golden::{Golden, STREAMS, StreamHash, golden, golden_bits, stream};
use assay_predict::predict::DirectionPredictor;
use assay_predict::predict::tage_sc_l::{Kb8, Kb64, PublishedTage, TageScL};
use assay_predict::trace::Branch;

/// Runs the predictor as the reference was run, and keeps each prediction.
pub fn run(predictor: &mut impl DirectionPredictor, branches: &[Branch]) -> (Golden, Vec<bool>) {
    let (mut missed, mut hash, mut predictions) = (0, StreamHash::new(), Vec::new());
    for branch in branches {
        if branch.class().is_conditional() {
            let taken = predictor.predict(branch.pc, branch.target);
            predictor.train(branch, taken);
            missed += u64::from(taken != branch.taken());
            hash.take(u64::from(taken));
            predictions.push(taken);
        }
        predictor.track(branch);
    }
    (Golden { predicted: predictions.len() as u64, missed, hash: hash.value() }, predictions)
}

/// Every prediction on the first two streams; count and hash on all.
pub fn equals_the_published<P: DirectionPredictor>(make: fn() -> P, reference: &str) {
    for name in STREAMS {
        let (made, predictions) = run(&mut make(), &stream(name).1);
        if name != "synthetic_2M" {
            let differs = predictions.iter().zip(golden_bits(name, reference)).position(|(a, b)| *a != b);
            assert_eq!(differs, None, "first prediction on {name} that differs");
        }
        assert_eq!(Some(made), golden(name, reference), "{name}");
    }
}

#[test]
fn tage_sc_l_of_64_kb_equals_the_published_one() {
    equals_the_published(TageScL::<Kb64>::new, "TAGE-SC-L-64KB");
}

#[test]
fn tage_of_64_kb_equals_the_published_one() {
    equals_the_published(PublishedTage::<Kb64>::new, "TAGE-SC-L-64KB-Only-TAGE");
}

#[test]
fn tage_sc_l_of_8_kb_equals_the_published_one() {
    equals_the_published(TageScL::<Kb8>::new, "TAGE-SC-L-8KB");
}

#[test]
fn tage_of_8_kb_equals_the_published_one() {
    equals_the_published(PublishedTage::<Kb8>::new, "TAGE-SC-L-8KB-Only-TAGE");
}

/// What the published programs made of the first 60,000 branches of the streams of [`wild`], by seed: mispredictions
/// and hash of the predictions. In the order of 8 KB, its TAGE alone, 64 KB, its TAGE alone. The programs were compiled by
/// gcc 12 and called as for golden.csv, 2026-11-26.
const WILD: [(u64, [(u64, u64); 4]); 10] = [
    (
        1,
        [
            (9694, 0xc53e_c8ad_407c_9b90),
            (18026, 0xae87_9651_8202_274e),
            (5881, 0x160e_99de_9a27_fdff),
            (17700, 0xd7c5_fbb9_d668_3300),
        ],
    ),
    (
        2,
        [
            (17944, 0x82a7_ade1_1c56_7a80),
            (18127, 0x707d_fbae_3f42_b6d7),
            (17690, 0x1939_e87c_2ef2_8e42),
            (18030, 0x5345_567d_afe6_15d4),
        ],
    ),
    (
        3,
        [
            (16811, 0xd228_b510_24b0_35a3),
            (16809, 0x985c_3415_1b2c_48a5),
            (16571, 0x4f9c_0872_1c56_ffab),
            (16814, 0xc815_0a3e_3516_52e2),
        ],
    ),
    (
        4,
        [
            (13729, 0x800b_d59c_c11c_653c),
            (13781, 0x3dda_61cb_2c03_5c24),
            (13182, 0x2a96_c625_cee0_d9fb),
            (13485, 0x258a_c1d9_78fc_d1f2),
        ],
    ),
    (
        6,
        [
            (18832, 0x8ae4_bf28_c936_14d2),
            (19977, 0x4797_31f6_86d7_b17f),
            (18697, 0x7cf1_a2ff_75e0_98db),
            (19941, 0x3e03_330e_9057_939b),
        ],
    ),
    (
        7,
        [
            (14708, 0x6f7e_052b_927d_2138),
            (15020, 0xbe79_75f3_cc9f_7e86),
            (13164, 0x8979_5dfa_988d_577e),
            (14848, 0x5870_1cc3_2d52_88c8),
        ],
    ),
    (
        8,
        [
            (12877, 0xbc51_d5c2_a61b_3850),
            (13118, 0x5de9_fb8f_8344_c13f),
            (12440, 0x1852_4fad_9cf3_5891),
            (12680, 0x19a7_5327_86c4_6871),
        ],
    ),
    (
        9,
        [
            (14832, 0x4e7a_c45b_44d4_5998),
            (14890, 0xbb41_1520_ed4e_7624),
            (14433, 0x6c1c_21d6_d4d7_8461),
            (14973, 0x9d42_3ab5_5b95_676d),
        ],
    ),
    (
        10,
        [
            (13471, 0x0cb2_2530_9877_056e),
            (14113, 0xdfa3_9099_c5a8_5434),
            (12882, 0x832a_9a2f_a6a1_dc47),
            (13684, 0x8f05_b382_c161_3683),
        ],
    ),
    (
        16,
        [
            (18486, 0x217c_9294_f459_0b37),
            (18780, 0x38ee_104f_12c8_eff1),
            (18346, 0x7445_a26e_c7a8_4421),
            (18646, 0x354f_27be_0fe4_fe8b),
        ],
    ),
];

fn equals_the_published_on_wild_streams<P: DirectionPredictor>(make: fn() -> P, column: usize) {
    for (seed, published) in WILD {
        let made = run(&mut make(), &wild(seed, 60_000)).0;
        assert_eq!((made.missed, made.hash), published[column], "stream of seed {seed}");
    }
}

#[test]
fn tage_sc_l_of_8_kb_equals_the_published_one_on_streams_of_random_programs() {
    equals_the_published_on_wild_streams(TageScL::<Kb8>::new, 0);
    equals_the_published_on_wild_streams(PublishedTage::<Kb8>::new, 1);
}

#[test]
fn tage_sc_l_of_64_kb_equals_the_published_one_on_streams_of_random_programs() {
    equals_the_published_on_wild_streams(TageScL::<Kb64>::new, 2);
    equals_the_published_on_wild_streams(PublishedTage::<Kb64>::new, 3);
}

/// Added up from the sizes that gem5 and Scarab give: entries times their bits, table by table.
#[test]
fn the_sizes_take_the_bits_of_their_tables_and_keep_to_the_championships_budgets() {
    // Tagged entries, base table, history, path, random state, counter of failures, weak-entry counters.
    let tage_64 = 10_240 * (8 + 3 + 1) + 20_480 * (12 + 3 + 1) + 8192 + 2048 + 3000 + 27 + 32 + 10 + 16 * 5;
    let tage_8 = 9 * 128 * (8 + 3 + 2) + 17 * 128 * (12 + 3 + 2) + 4096 + 1024 + 1000 + 32 + 32 + 10 + 8 * 5;
    assert_eq!(PublishedTage::<Kb64>::new().storage_bits(), tage_64);
    assert_eq!(PublishedTage::<Kb8>::new().storage_bits(), tage_8);
    // Bias tables and weight; thresholds and choosers; components of 6-bit counters, each with 8 weights; histories.
    let corrector_64 = (3 * 256 + 8) * 6
        + 12
        + 64 * 8
        + 2 * 7
        + 6 * (2 * 2048 + 3 * 1024 + 512 + 128 + 7 * 8)
        + (24 + 256 * 11 + 16 * 16 + 16 * 9 + 8 + 256 * 10);
    let corrector_8 = (3 * 128 + 8) * 6 + 12 + 64 * 8 + 2 * 7 + 6 * (7 * 128 + 4 * 8) + (6 + 16 + 64 * 6 + 8);
    let sizes = [
        (TageScL::<Kb64>::new().storage_bits(), tage_64 + corrector_64 + 32 * 39 + 7, 64),
        (TageScL::<Kb8>::new().storage_bits(), tage_8 + corrector_8 + 8 * 39 + 7, 8),
    ];
    for (bits, expected, kilobytes) in sizes {
        assert_eq!(bits, expected, "of {kilobytes} KB");
        assert!(bits <= kilobytes * 8192 + 2048, "{bits} of {kilobytes} KB and 2048 bits");
    }
}
