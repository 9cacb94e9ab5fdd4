use super::super::draw::Draw;
use super::*;
use crate::inputs::{Generator, decode_varints};

const P80: [f64; 5] = [0.8, 0.18, 0.02 / 3.0, 0.02 / 3.0, 0.02 / 3.0];

fn described(generator: &Generator, units: u64) -> Description {
    describe(&generator.generate(units, 42), Format::Varint).expect("a generated stream is well formed")
}

#[track_caller]
fn near(found: Option<f64>, expected: f64, slack: f64) {
    let found = found.expect("enough units");
    assert!((found - expected).abs() < slack, "{found} is not {expected}");
}

#[test]
fn counts_what_can_be_counted_by_hand() {
    // Lengths 1 1 2 2 2 1 3 (the last one padded).
    let bytes = [1, 2, 0x80, 1, 0x81, 1, 0x82, 1, 3, 0x80, 0x80, 0];
    let found = describe(&bytes, Format::Varint).expect("well formed");
    assert_eq!((found.bytes, found.units), (12, 7));
    assert_eq!(found.bytes_per_unit, 12.0 / 7.0);
    assert_eq!(found.branches_per_unit, Some(12.0 / 7.0));
    let classes: Vec<_> = found.classes.iter().map(|class| (class.class, class.count, class.share)).collect();
    assert_eq!(classes, [(1, 3, 3.0 / 7.0), (2, 3, 3.0 / 7.0), (3, 1, 1.0 / 7.0)]);
    assert_eq!(found.mean_run_units, 7.0 / 4.0);
    // Of 7, 3 stop at the first byte (4 go on); of those 4, 3 stop at the second (1 goes on): 3 + 1 wrong guesses.
    assert_eq!(found.floor_misses_per_unit, Some(4.0 / 7.0));
    assert_eq!(found.histories[0].entropy_bits_per_unit, None, "seven units say nothing");
    assert_eq!((found.class_period_units, found.byte_period_bytes), (7, 12));
}

#[test]
fn reproduces_the_floors_of_the_generators() {
    let halves = vec![0.5, 0.25, 0.125, 0.0625, 0.0625];
    // Worked out by hand; see `floor`. A share of 100000 values has a standard deviation of at most .0016.
    for (generator, floor) in [
        (Generator::Lengths { weights: P80.to_vec() }, 0.2333),
        (Generator::Lengths { weights: halves }, 0.9375),
        (Generator::UniformLength { min: 1, max: 5 }, 0.8),
        (Generator::LogUniform { min_bits: 0, max_bits: 32 }, 0.7879),
        (Generator::UniformValue { min: 0, max: u64::from(u32::MAX) }, 0.0625),
        (Generator::Constant { length: 5 }, 0.0),
    ] {
        let found = described(&generator, 100_000);
        near(found.floor_misses_per_unit, floor, 0.008);
        near(found.histories[0].floor_misses_per_unit, floor, 0.008);
    }
}

#[test]
fn finds_no_memory_in_independent_lengths() {
    let found = described(&Generator::UniformLength { min: 1, max: 5 }, 200_000);
    for history in &found.histories {
        near(history.entropy_bits_per_unit, 5f64.log2(), 2e-3);
        assert_eq!(history.contexts, 5u64.pow(history.order));
    }
    // Equal neighbours with probability 1/5: runs of 5/4.
    near(Some(found.mean_run_units), 1.25, 0.01);
}

#[test]
fn finds_the_memory_of_bursts() {
    let found = described(&Generator::Bursts { weights: P80.to_vec(), mean_length: 32.0 }, 500_000);
    // After a value of length k the next is drawn anew once in 32 and else is alike: rows of a transition matrix, whose
    // entropies and floors are weighted by the shares seen.
    let row = |k: usize| -> Vec<f64> {
        P80.iter().enumerate().map(|(j, p)| p / 32.0 + if j == k { 31.0 / 32.0 } else { 0.0 }).collect()
    };
    let entropy = |row: &[f64]| row.iter().map(|p| -p * p.log2()).sum::<f64>();
    let shares: Vec<f64> = found.classes.iter().map(|class| class.share).collect();
    let bits: f64 = shares.iter().enumerate().map(|(k, share)| share * entropy(&row(k))).sum();
    let misses: f64 =
        shares.iter().enumerate().map(|(k, share)| share * floor_from_probabilities(&row(k))).sum();
    // About 15600 draws that change something once in five: 2 % standard deviation.
    for history in &found.histories[1..] {
        near(history.entropy_bits_per_unit, bits, 0.1 * bits);
        near(history.floor_misses_per_unit, misses, 0.1 * misses);
    }
    assert!(found.floor_misses_per_unit.expect("a varint stream") > 0.2 && misses < 0.02);
}

#[test]
fn warns_of_a_stretch_that_repeats() {
    let generator = Generator::LogUniform { min_bits: 0, max_bits: 32 };
    let bytes = generator.generate(1000, 42).repeat(120);
    let found = describe(&bytes, Format::Varint).expect("well formed");
    assert_eq!((found.units, found.class_period_units, found.byte_period_bytes), (120_000, 1000, 2765));
    assert!(found.period_warning().expect("it repeats").contains("every 1000 units (120.0 times)"));
    assert_eq!(found.length_warning(), None);

    let fresh = described(&generator, 120_000);
    assert_eq!(fresh.period_warning(), None);
    assert!(fresh.class_period_units > 119_000);
}

#[test]
fn warns_of_repeated_bytes_but_not_of_lengths_that_are_all_alike() {
    let constant = described(&Generator::Constant { length: 2 }, 5000);
    assert_eq!(constant.class_period_units, 1);
    assert_eq!((constant.period_warning(), constant.length_warning()), (None, None));
    let zeros = describe(&[0; 5000], Format::Varint).expect("well formed");
    assert!(zeros.period_warning().expect("it repeats").contains("bytes repeat every 1 byte"));
}

#[test]
fn warns_of_an_input_short_enough_to_be_learnt() {
    let found = described(&Generator::LogUniform { min_bits: 0, max_bits: 32 }, 10_000);
    assert!(found.length_warning().expect("27650 branches").contains("a predictor memorises them"));
}

#[test]
fn describes_lines_by_the_power_of_two_below_their_length() {
    // Lengths with newline: 1, 4, 7, 8, 16, 3.
    let text = b"\nabc\nabcdef\nabcdefg\nabcdefghijklmno\nxyz";
    let found = describe(text, Format::Lines).expect("any text has lines");
    let classes: Vec<_> = found.classes.iter().map(|class| (class.class, class.count)).collect();
    assert_eq!(classes, [(1, 1), (2, 1), (4, 2), (8, 1), (16, 1)]);
    assert_eq!((found.branches_per_unit, found.floor_misses_per_unit), (None, None));
}

#[test]
fn describes_bytes_by_their_value() {
    let found = describe(&b"abababab".repeat(500), Format::Bytes).expect("bytes are bytes");
    assert_eq!(found.classes.iter().map(|class| class.class).collect::<Vec<_>>(), [97, 98]);
    near(found.histories[0].entropy_bits_per_unit, 1.0, 1e-9);
    near(found.histories[1].entropy_bits_per_unit, 0.0, 1e-9);
    assert_eq!(found.histories[1].floor_misses_per_unit, None);
    assert_eq!(found.class_period_units, 2);
}

#[test]
fn an_empty_input_has_a_description_without_figures() {
    for format in [Format::Varint, Format::Lines, Format::Bytes, Format::Whole] {
        let found = describe(&[], format).expect("nothing is malformed");
        assert_eq!((found.units, found.bytes_per_unit, found.mean_run_units), (0, 0.0, 0.0));
        assert_eq!((found.period_warning(), found.length_warning()), (None, None));
        assert_eq!(found.summary_lines().len(), 1);
    }
}

#[test]
fn no_bytes_whatever_make_the_readers_panic_and_all_agree() {
    let mut draw = Draw::new(2026);
    for turn in 0..3000 {
        // Few distinct bytes, so that long, over-long, truncated and repeated encodings are common.
        let palette = [0, 1, 2, 0x7f, 0x80, 0x80, 0x81, 0xff, b'\n', draw.between(0, 255) as u8];
        let bytes: Vec<u8> =
            (0..draw.between(0, 60)).map(|_| palette[draw.between(0, turn % 10) as usize]).collect();
        let decoded = decode_varints(&bytes);
        assert_eq!(
            Format::Varint.count(&bytes),
            decoded.as_ref().map(|values| values.len() as u64).map_err(|e| *e)
        );
        for format in [Format::Varint, Format::Lines, Format::Bytes, Format::Whole] {
            let found = describe(&bytes, format);
            let windows = format.windows(&bytes, draw.between(0, 5));
            assert_eq!(found.as_ref().err(), windows.as_ref().err());
            let (Ok(found), Ok(windows)) = (found, windows) else { continue };
            assert!(found.summary_lines().iter().all(|line| line.chars().count() <= 80));
            assert_eq!(windows.iter().map(|window| window.units).sum::<u64>(), found.units);
            let end = windows.iter().fold(0, |offset, window| {
                assert_eq!(window.offset, offset);
                assert!(window.units > 0 && window.size > 0);
                let stretch = &bytes[offset as usize..(offset + window.size) as usize];
                assert_eq!(format.count(stretch), Ok(window.units), "a window is whole by itself");
                offset + window.size
            });
            assert_eq!(end, bytes.len() as u64);
        }
    }
}

/// The casebook's recorded stream, which its README describes.
const RECORDED: &[u8] = include_bytes!("../../../../../casebook/varint/inputs/postings.varint");

#[test]
fn the_recorded_stream_is_what_its_readme_says() {
    let readme = include_str!("../../../../../casebook/varint/inputs/README.md");
    assert!(readme.contains(&crate::inputs::digest(RECORDED)));
    let found = describe(RECORDED, Format::Varint).expect("well formed");
    for line in found.summary_lines() {
        assert!(readme.contains(&line), "not in the README: {line}");
    }
    assert_eq!((found.period_warning(), found.length_warning()), (None, None));
}

#[test]
fn the_recorded_stream_is_a_sequence_of_whole_posting_lists() {
    // Each list: how many packages, then as many gaps, which add up to at most the number of the last package.
    let mut values = decode_varints(RECORDED).expect("well formed").into_iter();
    let mut lists = 0;
    while let Some(count) = values.next() {
        let gaps: Vec<u64> = values.by_ref().take(count as usize).collect();
        assert_eq!(gaps.len() as u64, count);
        assert!(gaps.iter().all(|&gap| gap > 0) && gaps.iter().sum::<u64>() <= 63_666);
        lists += 1;
    }
    assert_eq!(lists, 20_825);
}
