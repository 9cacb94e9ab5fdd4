//! Does TAGE-SC of 192 KB predict each branch of the golden streams as the published program does?

use crate::golden::wild::wild;
use crate::golden_tage_sc_l::{equals_the_published, run};
use assay_predict::predict::DirectionPredictor;
use assay_predict::predict::tage_sc::TageSc;

#[test]
fn tage_sc_of_192_kb_equals_the_published_one() {
    equals_the_published(TageSc::new, "2025static");
}

/// What the published program made of the first 60,000 branches of the streams of [`wild`]: seed, mispredictions, hash of
/// the predictions. It was compiled by gcc 12 and called as for golden.csv, 2026-11-28.
const WILD: [(u64, u64, u64); 10] = [
    (1, 4381, 0xbaa0_ce5c_904f_edb1),
    (2, 17522, 0xf91a_787d_1701_4a62),
    (3, 16393, 0xf8d3_5d35_02d7_796d),
    (4, 12520, 0xbd9d_c6a5_b390_3dab),
    (6, 18694, 0x2eaf_0779_a645_ed5e),
    (7, 13294, 0x5121_f9ac_6fbf_abbe),
    (8, 11702, 0x28ba_472b_8674_80d9),
    (9, 14122, 0xfd65_3425_086b_6498),
    (10, 12370, 0x5a2e_7467_885e_fe4b),
    (16, 17962, 0x397a_47a2_badc_5d77),
];

#[test]
fn tage_sc_of_192_kb_equals_the_published_one_on_streams_of_random_programs() {
    for (seed, missed, hash) in WILD {
        let made = run(&mut TageSc::new(), &wild(seed, 60_000)).0;
        assert_eq!((made.missed, made.hash), (missed, hash), "stream of seed {seed}");
    }
}

/// The published program prints what it counts, part by part; each is added up here from its tables.
#[test]
fn the_size_adds_up_to_the_published_one_and_keeps_to_the_championships_budget() {
    // Tagged entries, base table, past, path, pressure, counters of guesses, counter of misses, random numbers.
    let tage =
        28 * 2 * 1024 * (3 + 2 + 14) + 32_768 + 2 * 16_384 + 5000 + 27 + 12 + 21 * (7 * 64 + 1) + 8 + 36;
    assert_eq!(tage, 1_169_584);
    // Thresholds, biases by address, by what is said, by who says it.
    let biases = 2 * 11 * 32 + 15 + 6 * 2 * 2048 + 6 * 2 + 6 * (128 + 64 + 512);
    assert_eq!(biases, 29_531);
    // Rows of 5, 4, 1 and 1 tables and one of half the size, and their histories.
    let global = 6 * (11 * 2048 + 1024) + 53 + 11 + 10 + 12;
    assert_eq!(global, 141_398);
    // Four tables, iterations and places, weights.
    let iterations = 6 * 4 * 2048 + 4 * 11 + 2 * 10 + 2 * 14 + 2 * 6 * 32;
    assert_eq!(iterations, 49_628);
    // Rows of 4, 4, 3 and 3 tables, their histories, weights.
    let local = 6 * 14 * 2048 + 128 * 25 + 32 * 30 + 16 * 45 + 32 * 17 + 2 * 6 * 32;
    assert_eq!(local, 177_840);
    let total = tage + biases + global + iterations + local;
    assert_eq!(total, 1_567_981);
    assert_eq!(TageSc::new().storage_bits(), total);
    assert!(total <= 192 * 8192);
}
