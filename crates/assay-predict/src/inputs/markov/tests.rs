use super::*;
use crate::inputs::{Format, Generator, decode_varints, digest};

fn markov(contexts: &[(&str, &[f64])], bits: &[f64]) -> Markov {
    let contexts =
        contexts.iter().map(|&(context, weights)| (context.to_owned(), weights.to_vec())).collect();
    Markov { contexts, bits: bits.to_vec() }
}

/// After one byte or three, what comes depends on two and three lengths.
fn order_three() -> Markov {
    markov(
        &[
            ("", &[8.0, 1.0, 1.0]),
            ("1 1", &[1.0, 0.0, 3.0]),
            ("2", &[1.0, 1.0, 1.0]),
            ("3 1", &[0.0, 5.0, 5.5]),
            ("2 3 1", &[1.0]),
        ],
        &[],
    )
}

fn two_bit_lengths() -> Markov {
    let mut bits = vec![1.0, 1.0, 2.0, 4.0, 4.0, 4.0, 4.0, 4.0, 9.0];
    bits.resize(64, 0.0);
    bits.push(1.0);
    markov(&[("", &[3.0, 1.0]), ("1 2", &[1.0, 3.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 2.0])], &bits)
}

/// Source: a separate implementation in Python, which looks each context up by comparing it with the end of the list of
/// all lengths so far.
#[test]
fn makes_the_same_bytes_for_ever() {
    for (markov, size, sha256) in [
        (order_three(), 1853, "30db1975f7e3dced7faa7b112bd484d3816322c9c48d1b1ff23a5432e7857a2c"),
        (two_bit_lengths(), 1896, "439cb964861ac95916a9e040f2bb84d464b1e012cd1c197bda70bc8f00d0df10"),
        (
            markov(&[("", &[1.0])], &[]),
            1000,
            "4990c8ca1f8f1cf464ba25bd1dc548e771f8abd7ac7efd3dab7a69142cdd9b36",
        ),
    ] {
        let bytes = Generator::Markov(markov).generate(1000, 42);
        assert_eq!((bytes.len(), digest(&bytes).as_str()), (size, sha256));
    }
}

#[test]
fn follows_the_longest_context_that_fits() {
    let bytes = Generator::Markov(order_three()).generate(20_000, 7);
    let lengths = Format::Varint.unit_lengths(&bytes).expect("well formed");
    let after = |context: &[u64]| -> Vec<u64> {
        lengths
            .windows(context.len() + 1)
            .filter(|w| w.starts_with(context))
            .map(|w| w[context.len()])
            .collect()
    };
    // "2 3 1" is certain; "3 1" without it never stays at one byte.
    assert!(after(&[2, 3, 1]).iter().all(|&next| next == 1));
    assert!(after(&[1, 3, 1]).iter().all(|&next| next != 1));
    assert!(after(&[2, 3, 1]).len() > 100 && after(&[1, 3, 1]).len() > 100);
    // "1 1": a quarter stays; five standard deviations of a binomial.
    let twice = after(&[1, 1]);
    let stays = twice.iter().filter(|&&next| next == 1).count() as f64;
    let n = twice.len() as f64;
    assert!((stays - n / 4.0).abs() < 5.0 * (n * 3.0 / 16.0).sqrt(), "{stays} of {n}");
    assert!(twice.iter().all(|&next| next != 2));
}

#[test]
fn a_shorter_context_decides_where_the_longer_one_has_no_row() {
    // "1 1" leads to "1 1 1" and has no row of its own: "1" decides, and the start does not.
    let table = markov(&[("", &[1.0]), ("1", &[1.0, 1.0]), ("1 1 1", &[0.0, 1.0])], &[]);
    let bytes = Generator::Markov(table).generate(1000, 3);
    let lengths = Format::Varint.unit_lengths(&bytes).expect("well formed");
    assert!(lengths.windows(4).any(|window| window == [2, 1, 1, 2]));
    assert!(lengths.windows(4).any(|window| window == [2, 1, 1, 1]));
    assert!(lengths.windows(4).all(|window| window != [1; 4]));
}

#[test]
fn values_have_the_bit_lengths_of_their_weights() {
    let values =
        decode_varints(&Generator::Markov(two_bit_lengths()).generate(50_000, 3)).expect("well formed");
    let mut counts = [0.0f64; 65];
    values.iter().for_each(|value| counts[(64 - value.leading_zeros()) as usize] += 1.0);
    // One byte: 1 1 2 4 4 4 4 4 of 24; two bytes: only 8 bits; ten: only 64.
    let one: f64 = counts[..=7].iter().sum();
    for (bits, weight) in [1.0, 1.0, 2.0, 4.0, 4.0, 4.0, 4.0, 4.0].into_iter().enumerate() {
        let share: f64 = weight / 24.0;
        let slack = 5.0 * (one * share * (1.0 - share)).sqrt();
        assert!((counts[bits] - one * share).abs() < slack, "{bits} bits: {} of {one}", counts[bits]);
    }
    assert!(counts[8] > 0.0 && counts[64] > 0.0);
    assert_eq!(counts[9..64].iter().sum::<f64>(), 0.0);
    // The value 0 is the only one without bits, 1 the only one of one bit.
    assert_eq!(counts[1], values.iter().filter(|&&value| value == 1).count() as f64);
}

#[test]
fn a_table_of_one_row_is_independent_and_has_order_zero() {
    assert!(markov(&[("", &[2.0, 1.0])], &[]).independent());
    assert!(markov(&[("", &[2.0, 1.0]), ("1", &[4.0, 2.0])], &[]).independent());
    assert!(!order_three().independent());
    assert_eq!((markov(&[("", &[1.0])], &[]).order(), order_three().order()), (0, 3));
}

#[test]
fn contexts_are_written_in_one_way_only() {
    for lengths in [vec![], vec![1], vec![10, 1, 2], vec![7; LONGEST_CONTEXT]] {
        assert_eq!(parse_context(&write_context(&lengths)), Some(lengths));
    }
    for wrong in [" ", "1 ", " 1", "1  2", "0", "11", "01", "+1", "1,2", "a", &"1 ".repeat(33)] {
        assert_eq!(parse_context(wrong), None, "{wrong:?}");
    }
    assert_eq!(parse_context(&write_context(&[1; LONGEST_CONTEXT + 1])), None);
}

#[test]
fn refuses_tables_that_make_no_stream_and_says_where() {
    let refused =
        |contexts: &[(&str, &[f64])], bits: &[f64]| markov(contexts, bits).check().expect_err("refused");
    let root = ("", &[1.0][..]);
    assert_eq!(refused(&[("1", &[1.0])], &[]), MarkovError::NoRoot);
    assert_eq!(refused(&[root, ("12", &[1.0])], &[]), MarkovError::Context { context: "12".into() });
    for weights in [&[][..], &[0.0], &[-1.0, 2.0], &[f64::NAN], &[f64::INFINITY], &[1.0; 11]] {
        assert_eq!(refused(&[root, ("1", weights)], &[]), MarkovError::Weights { context: "1".into() });
    }
    assert_eq!(refused(&[root], &[1.0; 66]), MarkovError::Bits { have: 66 });
    assert_eq!(refused(&[root], &[1.0, -1.0]), MarkovError::Bits { have: 2 });
    assert_eq!(refused(&[("", &[1.0, 1.0])], &[1.0; 8]), MarkovError::BitsOfLength { length: 2 });
    assert_eq!(order_three().check(), Ok(()));
    assert_eq!(two_bit_lengths().check(), Ok(()));
    assert!(MarkovError::BitsOfLength { length: 2 }.to_string().contains("2 bytes"));
}

#[test]
fn every_bit_length_belongs_to_one_encoded_length() {
    let all: Vec<usize> = (1..=MAX_LENGTH).flat_map(bits_of_length).collect();
    assert_eq!(all, (0..=64).collect::<Vec<_>>());
    for length in 1..=MAX_LENGTH {
        let (min, max) = values_of_length(length);
        let bits = |value: u64| (64 - value.leading_zeros()) as usize;
        assert_eq!((bits(min), bits(max)), (*bits_of_length(length).start(), *bits_of_length(length).end()));
    }
}
