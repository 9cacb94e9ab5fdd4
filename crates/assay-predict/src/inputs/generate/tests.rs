use super::*;
use crate::inputs::{Format, branches_from_probabilities, decode_varints, digest, floor_from_probabilities};

fn lengths_of(generator: &Generator) -> Vec<f64> {
    generator.expected_lengths().expect("shares that follow by arithmetic")
}

fn p80() -> Vec<f64> {
    vec![80.0, 18.0, 2.0 / 3.0, 2.0 / 3.0, 2.0 / 3.0]
}

/// One of each kind and corner, with the length and the SHA-256 of 1000 values from seed 42.
///
/// Source: a separate implementation in Python (integers of any size, Lemire's rejection written as its definition).
fn golden() -> Vec<(Generator, usize, &'static str)> {
    let halves = vec![0.5, 0.25, 0.125, 0.0625, 0.0625];
    let sparse = vec![0.0, 0.1, 0.0, 0.2, 0.0, 0.0, 0.0, 0.0, 0.0, 0.7];
    vec![
        (
            Generator::Lengths { weights: p80() },
            1257,
            "a6b414dab0d9d0a9c180e911c846589eae5924888a726c8e0ff48f316d3960da",
        ),
        (
            Generator::Lengths { weights: sparse },
            8082,
            "e9dc28969376a93edee8d4643fb148e1466ba2bf7606264a1716d5cc186da1fd",
        ),
        (
            Generator::LogUniform { min_bits: 0, max_bits: 32 },
            2765,
            "5d19c9c4ec1264cc440c44f12aa88e297619203c5f7d7bdb3c082cf3b4d0b67d",
        ),
        (
            Generator::LogUniform { min_bits: 0, max_bits: 64 },
            5029,
            "ffc0a52e37c794cb82df827dbd9fb2ebf8fa941e28e8e62bdc77dcd70740d9ac",
        ),
        (
            Generator::UniformValue { min: 0, max: u64::from(u32::MAX) },
            4939,
            "f9e3975ba4f8178873adfc6ef19d3f4dbf5b008d7406f1e21818056ceaddcffb",
        ),
        (
            Generator::UniformValue { min: 0, max: u64::MAX },
            9506,
            "7fd8142a62d756bd0e6c9e17960f7f6fe50c5232cdc1a00c0e82c74807a193f7",
        ),
        (
            Generator::UniformValue { min: 100, max: 3 << 62 },
            9342,
            "29dad0ee56136d9457eedeeb7e863a485b5ff4cb975b536d8ba2027383eaf723",
        ),
        (
            Generator::UniformLength { min: 1, max: 5 },
            3048,
            "92dbf71dbfecc5cc3572cb7bfa1a3aac3c9de5b36b9328dfe516bd3c73fe2022",
        ),
        (
            Generator::UniformLength { min: 1, max: 10 },
            5578,
            "0d440c82bcf5ff5caf480a3c485f14ea974e52f128b8810be3dc0b26bae84244",
        ),
        (
            Generator::Constant { length: 1 },
            1000,
            "e23713c42d0cd5f8ea4d3207604368904b00746f1fd70469b2a9b1fed82a3242",
        ),
        (
            Generator::Constant { length: 10 },
            10000,
            "3907e25595cd92fa922c51378654dce6d4e05fc314248c99659e28698f8d1e6a",
        ),
        (
            Generator::Bursts { weights: p80(), mean_length: 32.0 },
            1196,
            "7eb50401d64bdd6186d51a9d79312fd2ff5f9b0a0c02792946dee0d4a5fa1ecd",
        ),
        (
            Generator::Bursts { weights: halves, mean_length: 1.0 },
            1999,
            "ee04597f3a5fc32ebef87bb055e3cf58857cd66815c528b8d0a3cfe7f3322111",
        ),
    ]
}

#[test]
fn makes_the_same_bytes_for_ever() {
    for (generator, size, sha256) in golden() {
        let bytes = generator.generate(1000, 42);
        assert_eq!((bytes.len(), digest(&bytes).as_str()), (size, sha256), "{generator:?}");
    }
}

#[test]
fn a_shorter_stream_is_the_beginning_of_a_longer_one_and_another_seed_is_another_stream() {
    for (generator, ..) in golden() {
        let (short, long) = (generator.generate(100, 7), generator.generate(1000, 7));
        assert!(long.starts_with(&short), "{generator:?}");
        assert_ne!(short, generator.generate(100, 8), "{generator:?}");
        assert_eq!(generator.generate(0, 7), Vec::<u8>::new());
    }
}

#[test]
fn makes_as_many_values_as_asked_in_their_shortest_encoding() {
    for (generator, ..) in golden() {
        for seed in 0..20 {
            let bytes = generator.generate(500, seed);
            let values = decode_varints(&bytes).expect("a generated stream is well formed");
            assert_eq!(values.len(), 500);
            let mut again = Vec::new();
            values.iter().for_each(|&value| push_varint(&mut again, value));
            assert_eq!(again, bytes, "{generator:?}, seed {seed}");
        }
    }
}

#[test]
fn keeps_values_within_the_range_asked_for() {
    let ranges = [(5, 5), (0, 1), (100, 3 << 62), (1 << 63, u64::MAX), (u64::MAX, u64::MAX)];
    for (min, max) in ranges {
        let values =
            decode_varints(&Generator::UniformValue { min, max }.generate(1000, 3)).expect("well formed");
        assert!(values.iter().all(|value| (min..=max).contains(value)), "{min}..={max}");
    }
    for (min_bits, max_bits) in [(0, 0), (1, 1), (3, 9), (64, 64)] {
        let generator = Generator::LogUniform { min_bits, max_bits };
        let values = decode_varints(&generator.generate(1000, 3)).expect("well formed");
        let bits = |value: u64| 64 - value.leading_zeros();
        assert!(values.iter().all(|&value| (min_bits..=max_bits).contains(&bits(value))), "{generator:?}");
        assert!([min_bits, max_bits].iter().all(|&end| values.iter().any(|&value| bits(value) == end)));
    }
}

#[test]
fn values_are_uniform_within_their_length() {
    // The mean of n values uniform over low..=high has standard deviation (high - low) / sqrt(12 n).
    for length in 1..=10 {
        let values =
            decode_varints(&Generator::Constant { length }.generate(10_000, 11)).expect("well formed");
        let (low, high) = values_of_length(length as usize);
        let mean = values.iter().map(|&value| value as f64).sum::<f64>() / 10_000.0;
        let (middle, deviation) =
            (low as f64 / 2.0 + high as f64 / 2.0, (high - low) as f64 / 120_000f64.sqrt());
        assert!((mean - middle).abs() < 5.0 * deviation, "length {length}: mean {mean}, middle {middle}");
    }
}

#[test]
fn samples_have_the_lengths_that_were_derived() {
    for (generator, ..) in golden() {
        // Bursts have far fewer independent draws than values: a sample of their shares is tested below.
        if !generator.independent() {
            continue;
        }
        let expected = generator.expected_lengths().expect("shares that follow by arithmetic");
        for seed in 0..5 {
            let mut counts = vec![0.0; expected.len()];
            let lengths =
                Format::Varint.unit_lengths(&generator.generate(20_000, seed)).expect("well formed");
            lengths.iter().for_each(|&length| counts[length as usize - 1] += 1.0);
            for (k, (count, share)) in counts.iter().zip(&expected).enumerate() {
                // Five standard deviations of a binomial, and one value for the rarest.
                let slack = 5.0 * (20_000.0 * share * (1.0 - share)).sqrt() + 1.0;
                assert!(
                    (count - 20_000.0 * share).abs() <= slack,
                    "{generator:?}: {count} of {} bytes",
                    k + 1
                );
            }
        }
    }
}

#[test]
fn bursts_have_the_shares_of_their_weights_and_the_runs_of_their_mean() {
    let bursts = Generator::Bursts { weights: p80(), mean_length: 32.0 };
    let lengths = Format::Varint.unit_lengths(&bursts.generate(1_000_000, 1)).expect("well formed");
    // 31250 draws: the share of one byte has the standard deviation sqrt(.8 × .2 / 31250) × sqrt(2) = .0032, the root
    // of two because bursts vary in length.
    let ones = lengths.iter().filter(|&&length| length == 1).count() as f64 / 1e6;
    assert!((ones - 0.8).abs() < 0.016, "{ones}");
    // A run ends where a burst does and the next draw differs: 32 / (1 - (.8² + .18² + 3 × .00667²)) = 97.72 values.
    // About 10000 runs, each geometric within a class: 1 % standard deviation, and more for the mix: five times 1.5 %.
    let runs = lengths.chunk_by(|a, b| a == b).count() as f64;
    assert!((1e6 / runs - 97.72).abs() < 7.3, "{}", 1e6 / runs);
}

#[test]
fn derives_lengths_means_and_floors_by_arithmetic() {
    let near =
        |found: f64, expected: f64| assert!((found - expected).abs() < 5e-4, "{found} is not {expected}");
    let log_uniform = lengths_of(&Generator::LogUniform { min_bits: 0, max_bits: 32 });
    // 33 bit lengths, of which 0 to 7 take one byte, then seven each, and 29 to 32 take five: 91 / 33 bytes.
    assert_eq!(log_uniform, [8.0, 7.0, 7.0, 7.0, 4.0].map(|count| count / 33.0));
    near(branches_from_probabilities(&log_uniform), 2.758);
    near(floor_from_probabilities(&log_uniform), 0.788);
    let uniform = lengths_of(&Generator::UniformValue { min: 0, max: u64::from(u32::MAX) });
    // (2^7 + 2 (2^14 - 2^7) + ... + 5 (2^32 - 2^28)) / 2^32 = 5 - (2^28 + 2^21 + 2^14 + 2^7) / 2^32 = 4.937.
    near(branches_from_probabilities(&uniform), 4.937);
    near(floor_from_probabilities(&uniform), 0.0625);
    near(floor_from_probabilities(&lengths_of(&Generator::Lengths { weights: p80() })), 0.2333);
    near(floor_from_probabilities(&lengths_of(&Generator::UniformLength { min: 1, max: 5 })), 0.8);
    assert_eq!(lengths_of(&Generator::UniformLength { min: 3, max: 4 }), [0.0, 0.0, 0.5, 0.5]);
    assert_eq!(lengths_of(&Generator::Constant { length: 3 }), [0.0, 0.0, 1.0]);
    assert_eq!(lengths_of(&Generator::UniformValue { min: 127, max: 128 }), [0.5, 0.5]);
    assert_eq!(lengths_of(&Generator::UniformValue { min: 0, max: u64::MAX })[9], 0.5);
    assert_eq!(lengths_of(&Generator::LogUniform { min_bits: 0, max_bits: 0 }), [1.0]);
    let bursts = Generator::Bursts { weights: p80(), mean_length: 9.0 };
    assert_eq!(lengths_of(&bursts), lengths_of(&Generator::Lengths { weights: p80() }));
}

#[test]
fn derived_probabilities_sum_to_one_and_end_with_the_longest_that_occurs() {
    for (generator, ..) in golden() {
        let probabilities = generator.expected_lengths().expect("shares that follow by arithmetic");
        assert!((probabilities.iter().sum::<f64>() - 1.0).abs() < 1e-12, "{generator:?}");
        assert!(*probabilities.last().expect("some length occurs") > 0.0, "{generator:?}");
    }
}

#[test]
fn only_true_bursts_are_not_independent() {
    let bursts = |weights: &[f64], mean_length| Generator::Bursts { weights: weights.to_vec(), mean_length };
    assert!(!bursts(&[1.0, 1.0], 2.0).independent());
    assert!(bursts(&[1.0, 1.0], 1.0).independent());
    assert!(bursts(&[0.0, 1.0], 50.0).independent());
    assert!(Generator::Lengths { weights: p80() }.independent());
}

#[test]
fn refuses_parameters_out_of_their_domain_and_says_which() {
    let weights = |weights: &[f64]| Generator::Lengths { weights: weights.to_vec() }.check();
    assert_eq!(weights(&[]), Err(GeneratorError::WeightCount { have: 0, positive: 0 }));
    assert_eq!(weights(&[0.0; 3]), Err(GeneratorError::WeightCount { have: 3, positive: 0 }));
    assert_eq!(weights(&[1.0; 11]), Err(GeneratorError::WeightCount { have: 11, positive: 11 }));
    assert_eq!(weights(&[1.0, -0.5]), Err(GeneratorError::Weight { index: 1, weight: -0.5 }));
    assert_eq!(weights(&[f64::MAX, f64::MAX]), Err(GeneratorError::Weight { index: 1, weight: f64::MAX }));
    assert!(matches!(weights(&[1.0, f64::NAN]), Err(GeneratorError::Weight { index: 1, .. })));
    for (min_bits, max_bits) in [(5, 4), (0, 65)] {
        let generator = Generator::LogUniform { min_bits, max_bits };
        assert_eq!(generator.check(), Err(GeneratorError::Bits { min_bits, max_bits }));
    }
    assert_eq!(
        Generator::UniformValue { min: 2, max: 1 }.check(),
        Err(GeneratorError::Values { min: 2, max: 1 })
    );
    for (min, max) in [(0, 5), (3, 2), (1, 11)] {
        assert_eq!(Generator::UniformLength { min, max }.check(), Err(GeneratorError::Lengths { min, max }));
    }
    for length in [0, 11] {
        let error = GeneratorError::Lengths { min: length, max: length };
        assert_eq!(Generator::Constant { length }.check(), Err(error));
    }
    for mean_length in [0.99, -1.0, f64::NAN, f64::INFINITY] {
        let generator = Generator::Bursts { weights: vec![1.0], mean_length };
        assert!(matches!(generator.check(), Err(GeneratorError::MeanLength { .. })), "{mean_length}");
    }
    for (generator, ..) in golden() {
        assert_eq!(generator.check(), Ok(()));
    }
}

#[test]
fn errors_say_what_was_given_and_what_is_allowed() {
    let text = |error: GeneratorError| error.to_string();
    assert!(text(GeneratorError::WeightCount { have: 11, positive: 4 }).contains("has 11, 4 above 0"));
    assert!(text(GeneratorError::Weight { index: 1, weight: -0.5 }).contains("-0.5 (number 2)"));
    assert!(text(GeneratorError::Bits { min_bits: 5, max_bits: 70 }).contains("5 and 70"));
    assert!(text(GeneratorError::Lengths { min: 11, max: 11 }).contains("it is 11"));
    assert!(text(GeneratorError::Lengths { min: 3, max: 2 }).contains("3 and 2"));
    assert!(text(GeneratorError::MeanLength { mean_length: 0.5 }).contains("0.5"));
    assert!(text(GeneratorError::Values { min: 2, max: 1 }).contains("min = 2"));
}
