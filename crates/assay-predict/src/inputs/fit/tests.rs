//! Known generators are found again, and data that a table cannot hold are refused. How often either fails: `rates`.

mod rates;

use super::simulate::misses;
use super::*;
use crate::inputs::Generator;

/// The predictors of a quick comparison.
const QUICK: [&str; 2] = ["zen4", "skylake"];

fn recorded(generator: &Generator, units: u64, seed: u64) -> Recorded {
    Recorded::read(&generator.generate(units, seed)).expect("well formed")
}

fn of(lengths: Vec<u8>) -> Recorded {
    let mut bits = [0; 65];
    lengths.iter().for_each(|&length| bits[*bits_of_length(length.into()).end()] += 1);
    Recorded { units: lengths.len() as u64, lengths, bits, padded: 0 }
}

/// Everything that keeps a fit from being used.
fn refusals(recorded: &Recorded) -> Vec<FitRefusal> {
    let mut refusals = structure(recorded);
    if refusals.is_empty() {
        refusals = closeness(recorded, &fit(recorded, MOST_CONTEXTS), &QUICK).refusals();
    }
    refusals
}

fn closeness(recorded: &Recorded, fitted: &Fitted, predictors: &[&str]) -> Closeness {
    let made = |seed| stream(&fitted.markov, recorded.lengths.len() as u64, seed);
    compare(BranchCondition::Length, &recorded.lengths, made, predictors, 0.05).expect("known predictors")
}

/// A stream of draws below a bound, for planted data.
fn dice(seed: u32) -> impl FnMut(u32) -> u32 {
    let mut state = u64::from(seed) * 2 + 1;
    move |bound| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((state >> 33) % u64::from(bound)) as u32
    }
}

#[test]
fn weights_are_recovered_within_sampling_error_and_need_no_memory() {
    let fitted =
        fit(&recorded(&Generator::Lengths { weights: vec![80.0, 18.0, 2.0] }, 100_000, 5), MOST_CONTEXTS);
    assert_eq!((fitted.markov.contexts.len(), fitted.markov.order()), (1, 0));
    for (found, share) in fitted.markov.contexts[""].iter().zip([0.8, 0.18, 0.02f64]) {
        // Five standard deviations of a binomial, and the rounding to four digits.
        let slack = 5.0 * (share * (1.0 - share) / 1e5).sqrt() + 5e-5;
        assert!((found / 100.0 - share).abs() < slack, "{found} is not {share}");
    }
    // -.8 log2 .8 - .18 log2 .18 - .02 log2 .02 = 0.81575 bits.
    assert!((fitted.bits_per_unit - 0.8157).abs() < 0.01, "{}", fitted.bits_per_unit);
}

#[test]
fn bursts_are_a_chain_of_one_length_of_memory() {
    let bursts = Generator::Bursts { weights: vec![80.0, 18.0, 2.0], mean_length: 8.0 };
    let fitted = fit(&recorded(&bursts, 200_000, 5), MOST_CONTEXTS);
    assert_eq!(fitted.markov.order(), 1);
    // A length stays with 7/8 + 1/8 of its own weight: .975, .8975, .8775.
    for (context, stays, visits) in
        [("1", 0.975, 160_000.0), ("2", 0.8975, 36_000.0), ("3", 0.8775, 4000.0f64)]
    {
        let weights = &fitted.markov.contexts[context];
        let found = weights[context.parse::<usize>().expect("a length") - 1] / 100.0;
        // Visits to a length come in bursts, so their number is known to about a tenth: five deviations, and that.
        let slack = 6.0 * (stays * (1.0 - stays) / visits).sqrt();
        assert!((found - stays).abs() < slack, "{context}: {found} is not {stays}");
    }
}

#[test]
fn a_chain_of_two_lengths_of_memory_is_found_with_its_rows() {
    // What comes depends on the one before the last alone, so every row of two lengths is needed.
    let rows = [[6.0, 3.0, 1.0], [1.0, 6.0, 3.0], [3.0, 1.0, 6.0f64]];
    let mut contexts = std::collections::BTreeMap::from([(String::new(), vec![1.0; 3])]);
    for (before, last) in (1..=3).flat_map(|before| (1..=3).map(move |last| (before, last))) {
        contexts.insert(format!("{before} {last}"), rows[before - 1].to_vec());
    }
    let chain = Generator::Markov(Markov { contexts, bits: Vec::new() });
    let fitted = fit(&recorded(&chain, 200_000, 3), MOST_CONTEXTS);
    assert_eq!((fitted.markov.order(), fitted.markov.contexts.len()), (2, 10));
    for (context, weights) in fitted.markov.contexts.iter().filter(|(context, _)| !context.is_empty()) {
        let row = rows[context[..1].parse::<usize>().expect("a length") - 1];
        for (found, weight) in weights.iter().zip(row) {
            // About 22,000 visits each.
            let share = weight / 10.0;
            assert!(
                (found / 100.0 - share).abs() < 5.0 * (share * (1.0 - share) / 20_000.0f64).sqrt(),
                "{context}"
            );
        }
    }
}

#[test]
fn bit_lengths_are_recovered_within_their_encoded_lengths() {
    let found = recorded(&Generator::LogUniform { min_bits: 0, max_bits: 32 }, 330_000, 2);
    let bits = fit(&found, MOST_CONTEXTS).markov.bits;
    assert_eq!(bits.len(), 33);
    // Each of 33 bit lengths 10,000 times: standard deviation 98.5, so 1 %.
    assert!(bits.iter().all(|share| (share / 100.0 * 33.0 - 1.0).abs() < 0.05), "{bits:?}");
}

#[test]
fn a_table_never_exceeds_what_is_asked_and_holds_only_what_was_seen_often() {
    let found = recorded(&Generator::Bursts { weights: vec![1.0; 10], mean_length: 3.0 }, 50_000, 2);
    for most in [1, 2, 5, 30] {
        let fitted = fit(&found, most);
        assert!(fitted.markov.contexts.len() <= most, "{} of {most}", fitted.markov.contexts.len());
        assert_eq!(fitted.markov.check(), Ok(()));
    }
    let fitted = fit(&found, MOST_CONTEXTS);
    for context in fitted.markov.contexts.keys() {
        let context = super::super::markov::parse_context(context).expect("a context");
        let seen = found.lengths.windows(context.len() + 1).filter(|w| w.starts_with(&context)).count();
        assert!(seen as u64 >= LEAST_SEEN, "{context:?} was seen {seen} times");
    }
}

#[test]
fn a_fit_of_what_a_fit_makes_is_the_same_table() {
    let bursts = Generator::Bursts { weights: vec![70.0, 20.0, 10.0], mean_length: 5.0 };
    let first = fit(&recorded(&bursts, 300_000, 1), MOST_CONTEXTS).markov;
    let again = fit(&recorded(&Generator::Markov(first.clone()), 300_000, 9), MOST_CONTEXTS).markov;
    assert_eq!(first.contexts.keys().collect::<Vec<_>>(), again.contexts.keys().collect::<Vec<_>>());
    for (context, weights) in &first.contexts {
        for (one, other) in weights.iter().zip(&again.contexts[context]) {
            assert!((one - other).abs() < 1.0, "{context}: {one} and {other}");
        }
    }
}

#[test]
fn random_streams_are_held() {
    let bursts = Generator::Bursts { weights: vec![80.0, 18.0, 2.0], mean_length: 16.0 };
    for (generator, units) in [
        (Generator::Lengths { weights: vec![80.0, 18.0, 2.0] }, 50_000),
        (Generator::LogUniform { min_bits: 0, max_bits: 32 }, 50_000),
        (Generator::UniformLength { min: 1, max: 5 }, 50_000),
        (Generator::Constant { length: 5 }, 50_000),
        // A burst is what is independent here, so it takes as many times the units.
        (bursts, 200_000),
    ] {
        assert_eq!(refusals(&recorded(&generator, units, 1)), [], "{generator:?}");
    }
}

#[test]
fn runs_that_are_not_geometric_are_held_as_far_as_contexts_reach() {
    // One byte for 4 or for 20 units, then one to three of two bytes.
    let mut draw = dice(3);
    let mut lengths = Vec::new();
    while lengths.len() < 100_000 {
        let ones = if draw(2) == 0 { 4 } else { 20 };
        lengths.extend(vec![1; ones]);
        lengths.extend(vec![2; 1 + draw(3) as usize]);
    }
    let found = of(lengths);
    let fitted = fit(&found, MOST_CONTEXTS);
    assert!(fitted.markov.order() >= 20, "{}", fitted.markov.order());
    let closeness = closeness(&found, &fitted, &QUICK);
    assert_eq!(closeness.refusals(), []);
    assert_eq!(
        (closeness.real_runs.median, closeness.real_runs.p99),
        (closeness.fitted_runs.median, closeness.fitted_runs.p99)
    );
}

#[test]
fn a_long_period_with_a_little_noise_is_refused() {
    // 400 random lengths again and again, one in 200 of them another: no stretch repeats exactly for long, and predictors
    // memorise most of it.
    let mut draw = dice(5);
    let stretch: Vec<u8> = (0..400).map(|_| 1 + draw(3) as u8).collect();
    let lengths =
        (0..50_000).map(|at| if draw(200) == 0 { 1 + draw(3) as u8 } else { stretch[at % 400] }).collect();
    let found = of(lengths);
    assert_eq!(structure(&found), []);
    assert!(!refusals(&found).is_empty());
}

#[test]
fn a_stretch_that_is_memorised_and_a_ramp_are_refused_before_anything_is_fitted() {
    let stretch = recorded(&Generator::LogUniform { min_bits: 0, max_bits: 32 }, 500, 4).lengths;
    assert!(matches!(refusals(&of(stretch.repeat(40)))[..], [FitRefusal::Repeats { period: 500, .. }]));
    let ramp: Vec<u8> =
        (0..20_000u64).map(|at| crate::inputs::varint::encoded_length(at * 100) as u8).collect();
    assert!(matches!(refusals(&of(ramp))[..], [FitRefusal::FewRuns { have: 3, .. }]));
}

#[test]
fn interleaved_fields_are_held_or_refused_by_how_far_apart_they_lie() {
    // Two fields, one always two bytes long and one of any length: a memory of some lengths tells them apart mostly.
    let mut draw = dice(7);
    let near: Vec<u8> = (0..100_000).map(|at| if at % 2 == 0 { 2 } else { 1 + 2 * draw(2) as u8 }).collect();
    assert_eq!(refusals(&of(near)), []);
    // A record of 96 fields, of which 48 have one length each: where a record begins cannot be told from 32 lengths.
    let kinds: Vec<u32> = (0..96).map(|_| draw(4)).collect();
    let far: Vec<u8> = (0..100_000)
        .map(|at| match kinds[at % 96] {
            0 => 1,
            1 => 2,
            _ => 1 + draw(2) as u8,
        })
        .collect();
    let found = of(far);
    assert_eq!(structure(&found), []);
    assert!(!refusals(&found).is_empty());
}

#[test]
fn padded_values_are_counted_and_not_taken_for_shorter_ones() {
    let bytes = [5, 0x80, 0, 0x81, 1, 0xff, 0x80, 0];
    let found = Recorded::read(&bytes).expect("well formed");
    assert_eq!((found.lengths.as_slice(), found.padded, found.units), (&[1, 2, 2, 3][..], 2, 4));
    assert_eq!((found.bits[3], found.bits[8], found.bits.iter().sum::<u64>()), (1, 1, 2));
    // Three bytes come, though no value has so many in its shortest form.
    assert_eq!(fit(&found, 1).markov.check(), Ok(()));
    assert!(Recorded::read(&[0x80]).is_err());
}

#[test]
fn bit_lengths_that_were_seen_rarely_are_left_out_or_alike() {
    let mut found = of(vec![1; 50_000]);
    found.lengths.extend([2; 40]);
    found.bits = [0; 65];
    // 31 zeros are too few to be told, 32 ones are not; of two bytes no bit length was seen often enough.
    (found.bits[0], found.bits[1], found.bits[7]) = (LEAST_SEEN - 1, LEAST_SEEN, 49_937);
    (found.bits[9], found.bits[12]) = (30, 10);
    let bits = fit(&found, MOST_CONTEXTS).markov.bits;
    assert_eq!((bits[0], bits.len()), (0.0, 15));
    assert!((bits[1] / bits[7] * 49_937.0 / 32.0 - 1.0).abs() < 1e-3, "{bits:?}");
    assert!(bits[8..].iter().all(|&share| share > 0.0 && share == bits[8]), "{bits:?}");
}

#[test]
fn of_a_long_stream_the_first_units_are_looked_at_and_all_are_counted() {
    let found = Recorded::read(&[vec![1; MOST_UNITS], vec![0x80, 1, 3]].concat()).expect("well formed");
    assert_eq!((found.lengths.len(), found.units), (MOST_UNITS, MOST_UNITS as u64 + 2));
    assert_eq!((found.bits[1], found.bits[2], found.bits[8]), (MOST_UNITS as u64, 0, 0));
}

#[test]
fn shares_are_rounded_to_four_digits_and_nothing_is_lost() {
    assert_eq!(rounded(&[1, 2, 0, 0]), [33.33, 66.67]);
    assert_eq!(rounded(&[999_999, 1]), [100.0, 0.0001]);
    assert_eq!(rounded(&[0, 5]), [0.0, 100.0]);
}

#[test]
fn predictors_that_nobody_has_are_an_error() {
    assert!(misses(BranchCondition::Length, &[1, 1], &["zen4"], 1).is_ok());
    assert!(compare(BranchCondition::Length, &[1; 64], |_| vec![1; 64], &["zenn4"], 0.05).is_err());
}

#[test]
fn a_mixture_that_changes_as_it_goes_is_refused_for_its_parts() {
    // Few of many bytes, then many, for 10,000 units each: the mean can be met, the parts cannot.
    let mut draw = dice(9);
    let lengths = (0..80_000).map(|at| {
        let kinds = [[8, 9, 10], [3, 6, 10]][at / 10_000 % 2];
        1 + kinds.iter().position(|&below| draw(10) < below).expect("the last is 10") as u8
    });
    let found = refusals(&of(lengths.collect()));
    assert!(found.iter().any(|refusal| matches!(refusal, FitRefusal::Changes { .. })), "{found:?}");
}
