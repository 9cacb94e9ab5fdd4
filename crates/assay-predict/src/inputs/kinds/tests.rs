use super::*;
use crate::inputs::{Description, describe, digest};

/// A recipe as a file would have it: `kind format name=value ...`.
pub(in crate::inputs) fn recipe(text: &str) -> InputRecipe {
    let mut words = text.split(' ');
    let kind = kind_named(words.next().unwrap()).expect("a kind");
    let format = Format::parse(words.next().unwrap()).expect("a format");
    let given: Vec<(&str, &str)> = words.map(|word| word.split_once('=').expect("name=value")).collect();
    let recipe = InputRecipe::new(kind, format, |parameter| {
        let (_, value) = given.iter().find(|(name, _)| *name == parameter.name)?;
        Some(match parameter.domain {
            Domain::Whole(..) | Domain::Value => Argument::Whole(value.parse().expect("whole")),
            Domain::Number(..) | Domain::Share => Argument::Number(value.parse().expect("a number")),
        })
    });
    assert!(given.iter().all(|(name, _)| kind.parameters.iter().any(|known| known.name == *name)), "{text}");
    recipe.expect(text)
}

fn made(text: &str, units: u64) -> Description {
    let recipe = recipe(text);
    recipe.check(units).expect(text);
    let bytes = recipe.generate(units, 42);
    let found = describe(&bytes, recipe.format()).expect("of its format");
    assert_eq!(found.units, units, "{text}");
    found
}

/// Within one per cent, and what an expectation of 0 allows.
#[track_caller]
fn near(found: f64, expected: f64, around_nothing: f64) {
    let allowed = (0.01 * expected.abs()).max(around_nothing);
    assert!((found - expected).abs() <= allowed, "{found} is not {expected}");
}

/// One of each kind, and of what takes another path. The digest is that of 1000 units (text: 50) from seed 42.
const PINNED: &[(&str, &str)] = &[
    ("uniform u32", "42a5c577cf8d00bc99cee4d99a351d9ef63d4a2480b0da9b124abda4d097afda"),
    ("uniform u64 min=5", "37bee4e21ffafb8129ad657b1a43b8168318c5855806331fea0b51adfcc895e2"),
    ("uniform i64 min=-100 max=100", "5c47819f312c5178cf7cd4a16a829a4a3ec15768084388bbd988ff6ef1a983a8"),
    ("uniform u8", "cf0942baf77e724010e6a1bf3f8cebc7194b70e0cbbbdfe6e2f939e68e9bff19"),
    ("normal u32", "7011cecaa6a1b9ae4de99b7bc2705aa6b68b10abf3cb2ae4690711ee32342b8d"),
    ("normal i32 mean=-5 deviation=2.5", "162426e1c17035fdf70bf05cb3122926f57a8041974f9e53bf9e2cbc1fa0dfce"),
    ("normal f64 mean=0 deviation=1000", "dae6c4dfb2db48692a88882b50e0f6f44026c128e553ad11e4d7c4e211892532"),
    ("zipf u32", "1372eb7b0a5038b87f81b43f216bd86dfd3443984ab7b5151be505190fee566b"),
    (
        "zipf u64 distinct=2000000 exponent=0.8",
        "73e793338a0cc38fd09cfcd0a7adf9db8dfd4898857c9b5a308bb3614a2a4383",
    ),
    (
        "zipf f32 distinct=9 exponent=2 min=-4",
        "34309822cb5f228123d745964e076cad06c9e7db1068a5d1c8cbe47247148a47",
    ),
    ("few_distinct u32", "70799715081b590b80b594213f0e079f4066970ccdea2c6c299fb5e776c89fb9"),
    (
        "few_distinct i32 distinct=3 run_length=4.5",
        "f9e8885895e0f543e85db82d5335d43ad596e7deb9d0437dce7b8f6b7eb26706",
    ),
    ("ascending u32", "f6b2ffab71265e7d708d6436a4a7dbc10ae84c045e48552d71c3ed1170453108"),
    ("ascending i64 min=-7 max=3", "19c0758d80a045269288dd711388e65af07d12a54016873782471f90fba6a69a"),
    ("descending u16", "dabe091e3f55af2b2510e37a4dfcc0f03a13ecf5be7554b2cdf881a09368563d"),
    ("nearly_sorted u32", "f1b6228b473dd6cfe021738b1f841a8d459bf64af16db59a94c5d904ba3bb3d5"),
    (
        "nearly_sorted u64 inversions=400000",
        "af36d4731fb0aba9054f3488e0efb3e8a9d7153eb5eaf053c0b0e7183981582d",
    ),
    ("nearly_sorted f64 inversions=100", "f68954ae1a7dcdfaf2a7130afb9e5ea5b7aafa6c2337a23809b072d2483b364f"),
    ("runs u32", "3a7115986d1ebb6777add1cba0786e948cf8d651388a23372e73fe9aa4c75b74"),
    ("runs i32 length=5 min=-3 max=3", "b1923410f982f00438e7426d477f28d269d7cb888091cc88c1bbb8b17de6fbd1"),
    ("permutation u32", "fd1f9e546c868984ec6c43aebbb975594ade25da8b1372e4cccf5ebf305170af"),
    ("permutation u8", "a866ad8d766a0918e887c4782d9585f12278675584fae454ac07622e9dd13536"),
    ("uniform_floats f64", "f8d2627e96fe67f9d33fd36799a17c94010d7432ff341ecdaa18530af3e468a0"),
    (
        "uniform_floats f32 min=-1 max=1 nan=0.1 denormal=0.1",
        "0df36dd99e40b9541de2c24330d8651621e19a326f0e9e88e0a93c981bb01710",
    ),
    ("wide_floats f64", "3ede156097a7ade407c7f7b323e810b95775bc63f26010569d81593af628e045"),
    (
        "wide_floats f32 negative=0.1 nan=0.01",
        "a74d3cae9abdf4872b1b337bbd73024f31c24189ad947070098c65a577ae9165",
    ),
    ("booleans u8", "732c56a9ad2bd9b6c158e6e33b9373fb1af26e4e644b97c051db3b1a68623170"),
    ("booleans u8 p=0.2 correlation=0.5", "4c334f5b09b99509c9e65f0189dc4e4a13ea9a7873906b7b7507db5fe4a1d431"),
    ("entropy bytes", "cf0942baf77e724010e6a1bf3f8cebc7194b70e0cbbbdfe6e2f939e68e9bff19"),
    ("entropy bytes bits=3.5", "4c4d9457c6c9cf1344f5f315a76d2201a177e670ae3f3c83aa1588275da2792f"),
    ("text lines", "384ff113edc6deb8c603d32276b0527e2451b3bff7109f4b0679639d14fd840f"),
    (
        "text lines words=100 non_ascii=0.3 utf8_bytes=3 exponent=0.7 line_length=100 line_spread=0.1",
        "fb167240d9252219b0846eb4cfcb140dd1f75c300c5f61d20983755297296b66",
    ),
    ("messages messages", "987447dffc54eb88f3bf6f2d3821fcf0451a5b72f2f885ccd7c91f512f45ddd1"),
    (
        "messages messages:varint size=30 spread=1 loss=0.1 loss_burst=3",
        "2a4d9cc36719413684fc47a6d27e886347a7793dcc0867b2b61834f4553c93a7",
    ),
];

#[test]
fn the_same_parameters_units_and_seed_make_the_same_bytes_for_ever() {
    let mut changed = Vec::new();
    for (text, pinned) in PINNED {
        let recipe = recipe(text);
        let units = if matches!(recipe.format(), Format::Lines) { 50 } else { 1000 };
        let units = if *text == "permutation u8" { 256 } else { units };
        recipe.check(units).expect(text);
        let found = digest(&recipe.generate(units, 42));
        if found != *pinned {
            changed.push(format!("    (\"{text}\", \"{found}\"),"));
        }
    }
    assert!(changed.is_empty(), "bytes of these changed:\n{}", changed.join("\n"));
    for kind in kinds() {
        assert!(PINNED.iter().any(|(text, _)| text.starts_with(&format!("{} ", kind.name))), "{}", kind.name);
    }
}

#[test]
fn uniform_integers_fill_their_range_evenly() {
    // Mean (a + b) / 2, standard deviation sqrt((n² - 1) / 12).
    let found = made("uniform u32 min=1000 max=3000", 200_000).numbers.expect("numbers");
    assert_eq!(found.range, Some((1000.0, 3000.0)));
    near(found.mean.unwrap(), 2000.0, 0.0);
    near(found.deviation.unwrap(), 577.6, 0.0);
    near(found.correlation.unwrap(), 0.0, 0.01);
    let signed = made("uniform i32 min=-50 max=49", 200_000).numbers.expect("numbers");
    assert_eq!(signed.range, Some((-50.0, 49.0)));
    near(signed.mean.unwrap(), -0.5, 0.3);
    let whole = made("uniform u64", 100_000);
    near(whole.numbers.unwrap().mean.unwrap(), 9.223_372e18, 0.0);
    // Neighbours of a random sequence: less, equal or greater, half each; mean ascending run 2, n (n - 1) / 4 inversions.
    let sequence = whole.sequence.unwrap();
    near(sequence.ascending_run_units, 2.0, 0.0);
    near(sequence.inversions.unwrap() as f64, 1e5 * 99_999.0 / 4.0, 0.0);
    // The comparison before tells the next: after a fall comes a rise with 2/3. Entropy of thirds: 0.9183 bits; one branch
    // on it misses a third.
    near(whole.histories[1].entropy_bits_per_unit.unwrap(), 0.9183, 0.0);
    near(whole.histories[1].floor_misses_per_unit.unwrap(), 1.0 / 3.0, 0.0);
    near(whole.histories[0].floor_misses_per_unit.unwrap(), 0.5, 0.0);
}

#[test]
fn normal_integers_have_their_mean_and_deviation() {
    for text in [
        "normal u32 mean=1000000 deviation=2500",
        "normal i64 mean=1000000 deviation=2500",
        "normal f64 mean=1000000 deviation=2500",
    ] {
        let found = made(text, 200_000).numbers.expect("numbers");
        near(found.mean.unwrap(), 1e6, 0.0);
        near(found.deviation.unwrap(), 2500.0, 0.0);
    }
    let near_zero = recipe("normal f64 mean=0 deviation=1").generate(10_000, 42);
    assert!(near_zero.chunks_exact(8).all(|bytes| bytes != (-0.0f64).to_le_bytes()));
    // The defaults of each type lie within it.
    for number in NumberType::ALL {
        let found = made(&format!("normal {}", number.word()), 50_000).numbers.expect("numbers");
        let (least, greatest) = number.range();
        // Rounding to whole numbers adds 1/12 to the variance of bytes, 16².
        near(found.deviation.unwrap(), (greatest - least + 1) as f64 / 16.0, 0.0);
    }
}

#[test]
fn frequencies_follow_zipfs_law() {
    // Shares of the first: 1 / H(n, s), by numpy: H(1000, 1) = 7.48547, H(200, 0.7) = 13.54577, H(50, 2) = 1.62513.
    for (text, distinct, exponent, first) in [
        ("zipf u32", 1000, 1.0, 1.0 / 7.485_470_86),
        ("zipf u16 distinct=200 exponent=0.7", 200, 0.7, SUM_07),
        ("zipf i32 distinct=50 exponent=2 min=-3", 50, 2.0, 1.0 / 1.625_132_73),
        ("zipf u8 distinct=256 exponent=0", 256, 0.0, 1.0 / 256.0),
    ] {
        let found = made(text, 200_000).sequence.expect("a sequence");
        assert_eq!(found.distinct, distinct, "{text}");
        near(found.commonest_share, first, if exponent == 0.0 { 6e-4 } else { 0.003 });
        near(found.rank_exponent.expect("enough units"), exponent, 0.05);
    }
}

/// 1 / Σ k^-0.7 for k to 200.
const SUM_07: f64 = 1.0 / 13.5714382;

#[test]
fn many_ranks_are_drawn_with_the_probabilities_of_few() {
    // Rejection, compared with the exact share of the first ranks among two million.
    let ranks = integers::Ranks::new(2_000_000, 1.2);
    let mut draw = Draw::new(5);
    let total: f64 = (1..=2_000_000).map(|rank| f64::from(rank).powf(-1.2)).sum();
    let mut counts = [0u32; 4];
    for _ in 0..400_000 {
        if let Some(count) = counts.get_mut(ranks.draw(&mut draw) as usize) {
            *count += 1;
        }
    }
    for (rank, count) in (1..).zip(counts) {
        let share = f64::from(rank).powf(-1.2) / total;
        // Five standard errors.
        let allowed = 5.0 * (share / 400_000.0).sqrt();
        assert!((f64::from(count) / 400_000.0 - share).abs() < allowed, "rank {rank}: {count}");
    }
    // Every exponent stays within its range.
    for exponent in [0.0, 0.5, 1.0, 3.0] {
        let ranks = integers::Ranks::new(1 << 21, exponent);
        assert!((0..20_000).all(|_| ranks.draw(&mut draw) < 1 << 21), "{exponent}");
    }
}

#[test]
fn few_distinct_values_are_evenly_spaced_and_stay_for_a_while() {
    let found = made("few_distinct u32 distinct=5 min=0 max=100 run_length=8", 200_000);
    let values: Vec<u64> = found.classes.iter().map(|class| class.class).collect();
    assert_eq!(values, [0, 25, 50, 75, 100]);
    near(found.mean_run_units, 8.0, 0.0);
    for class in &found.classes {
        assert_eq!(class.count, 40_000);
    }
    for (distinct, run_length, units) in [
        (4, 8.0, 1_000_000),
        (3, 100.5, 1_000_000),
        (2, 1.5, 100_001),
        (2, 7.0, 700_007),
        (5000, 3.0, 300_000),
        (256, 1.01, 100_000),
    ] {
        let text = format!("few_distinct u32 distinct={distinct} run_length={run_length}");
        let bytes = recipe(&text).generate(units, 42);
        let mut runs: Vec<&[u8]> = bytes.chunks_exact(4).collect();
        runs.dedup();
        let found = units as f64 / runs.len() as f64;
        assert!((found / run_length - 1.0).abs() < 0.005, "{text}: {found}");
    }
    // What comes next is one of the others, each as likely: of four values, the one before the last comes again in a third.
    let bytes = recipe("few_distinct u8 distinct=4 run_length=2 min=0 max=3").generate(400_000, 42);
    let mut stays = bytes;
    stays.dedup();
    let again = stays.windows(3).filter(|three| three[0] == three[2]).count() as f64 / stays.len() as f64;
    assert!((again - 1.0 / 3.0).abs() < 0.005, "{again}");
    let uneven = made("few_distinct u8 distinct=7", 100_000);
    assert!(uneven.classes.iter().all(|class| class.count / 14_285 == 1 && class.count <= 14_286));
    assert_eq!(made("few_distinct u64 distinct=1", 10).sequence.unwrap().distinct, 1);
    assert_eq!(made("few_distinct u8 distinct=256", 100_000).sequence.unwrap().distinct, 256);
}

#[test]
fn orders_are_what_they_are_called() {
    let ascending = made("ascending u32 min=10 max=20", 11);
    assert_eq!(
        (ascending.sequence.as_ref().unwrap().inversions, ascending.sequence.unwrap().distinct),
        (Some(0), 11)
    );
    let wide = made("ascending u64", 1000).numbers.unwrap();
    assert_eq!(wide.range, Some((0.0, u64::MAX as f64)));
    let descending = made("descending i32", 1000);
    assert_eq!(descending.sequence.unwrap().inversions, Some(1000 * 999 / 2));
    let narrow = made("descending u8", 1000);
    assert_eq!(narrow.sequence.unwrap().distinct, 256);
    for inversions in [0, 1, 1000, 30_000_000, 199_990_000] {
        let found = made(&format!("nearly_sorted u32 inversions={inversions}"), 20_000).sequence.unwrap();
        assert_eq!((found.inversions, found.distinct), (Some(inversions), 20_000));
    }
    let permutation = made("permutation u32 min=7", 50_000);
    let sequence = permutation.sequence.unwrap();
    assert_eq!((sequence.distinct, permutation.numbers.unwrap().range), (50_000, Some((7.0, 50_006.0))));
    near(sequence.inversions.unwrap() as f64, 5e4 * 49_999.0 / 4.0, 0.0);
    for length in [2, 3, 32, 1000] {
        let found = made(&format!("runs u32 length={length}"), 60_000).sequence.unwrap();
        near(found.ascending_run_units, f64::from(length), 0.0);
    }
}

#[test]
fn floats_have_the_shares_and_magnitudes_that_were_asked_for() {
    let found = made("uniform_floats f64 min=-2 max=6", 100_000).numbers.unwrap();
    near(found.mean.unwrap(), 2.0, 0.0);
    near(found.deviation.unwrap(), 8.0 / 12f64.sqrt(), 0.0);
    assert_eq!((found.nan_share, found.denormal_share), (Some(0.0), Some(0.0)));
    for text in [
        "uniform_floats f32 nan=0.2 denormal=0.3",
        "wide_floats f64 nan=0.2 denormal=0.3",
        "wide_floats f32 nan=0.2 denormal=0.3",
    ] {
        let found = made(text, 200_000).numbers.unwrap();
        assert_eq!((found.nan_share, found.denormal_share), (Some(0.2), Some(0.3)));
    }
    // Magnitudes from 2^-8 to 2^7, a quarter of them negative.
    let recipe = recipe("wide_floats f32 min_exponent=-8 max_exponent=7 negative=0.25");
    let bytes = recipe.generate(100_000, 42);
    let values: Vec<f32> =
        bytes.chunks_exact(4).map(|number| f32::from_le_bytes(number.try_into().unwrap())).collect();
    let share =
        |wanted: &dyn Fn(f32) -> bool| values.iter().filter(|&&value| wanted(value)).count() as f64 / 1e5;
    assert_eq!(share(&|value| value < 0.0), 0.25);
    near(share(&|value| value.abs() < 1.0), 0.5, 0.0);
    assert!(values.iter().all(|value| (1.0 / 256.0..256.0).contains(&value.abs())));
}

#[test]
fn booleans_have_their_share_and_correlation() {
    for (p, correlation) in [(0.5, 0.0), (0.3, 0.5), (0.5, -1.0), (0.9, 0.9), (0.25, -0.2)] {
        let found = made(&format!("booleans u8 p={p} correlation={correlation}"), 300_000);
        let numbers = found.numbers.unwrap();
        near(numbers.mean.unwrap(), p, 0.0);
        near(numbers.correlation.unwrap(), correlation, 1e-4);
    }
    // One branch on a chain: p (1 - p) (1 - c) wrong each way, if that is the rarer turn.
    let found = made("booleans u8 p=0.5 correlation=0.6", 300_000);
    near(found.histories[1].floor_misses_per_unit.unwrap(), 0.2, 0.0);
    near(found.histories[0].floor_misses_per_unit.unwrap(), 0.5, 0.0);
}

#[test]
fn bytes_have_their_entropy() {
    for bits in [0.5, 2.0, 4.5, 7.5, 8.0] {
        let found = made(&format!("entropy bytes bits={bits}"), 500_000);
        near(found.histories[0].entropy_bits_per_unit.unwrap(), bits, 0.0);
    }
    for bits in [0.01, 0.02, 0.05, 0.1, 0.49, 0.5, 0.9] {
        let found = made(&format!("entropy bytes bits={bits}"), 1_000_000).histories[0]
            .entropy_bits_per_unit
            .unwrap();
        assert!((found / bits - 1.0).abs() < 0.01, "{bits}: {found}");
    }
    assert_eq!(made("entropy bytes bits=0", 100).classes.len(), 1);
}

#[test]
fn text_has_its_words_lines_and_letters() {
    for (words, exponent, length, spread, non_ascii, utf8) in [
        (1000, 1.0, 64, 0.5, 0.0, 2),
        (2000, 0.8, 200, 0.9, 0.1, 2),
        (500, 1.2, 40, 0.0, 0.6, 3),
        (100, 0.5, 80, 0.3, 1.0, 4),
    ] {
        let text = format!(
            "text lines words={words} exponent={exponent} line_length={length} line_spread={spread} non_ascii={non_ascii} \
             utf8_bytes={utf8}"
        );
        let found = made(&text, 10_000);
        near(found.bytes_per_unit, f64::from(length), 0.0);
        let facts = found.text.unwrap();
        assert_eq!(facts.distinct_words, words, "{text}");
        near(facts.rank_exponent.expect("enough words"), exponent, 0.02);
        near(facts.non_ascii_share.expect("UTF-8"), non_ascii, 0.002);
    }
    // Uniform from 32 to 96: standard deviation 64 / sqrt(12), and that of two ends of words.
    let deviation = made("text lines line_spread=0.5", 5_000).text.unwrap().line_deviation;
    assert!((18.4..20.0).contains(&deviation), "{deviation}");
}

#[test]
fn messages_have_their_sizes_and_losses() {
    for (text, size, loss) in [
        ("messages messages size=200 loss=0.05", 200.0, 0.05),
        ("messages messages:u16 size=64 spread=1 loss=0.3 loss_burst=5", 64.0, 0.3),
        ("messages messages:varint size=8 loss=0.5", 8.0, 0.5),
        ("messages messages:u32be size=1000 spread=0", 1000.0, 0.0),
    ] {
        let facts = made(text, 50_000).messages.unwrap();
        near(facts.mean_size, size, 0.0);
        near(facts.missing_share.expect("numbered"), loss, 0.0);
    }
    // Bursts of five in a row on average: numbers jump by 6.
    let recipe = recipe("messages messages:u8 size=8 spread=0 loss=0.2 loss_burst=5");
    let numbers: Vec<u64> = recipe
        .generate(200_000, 42)
        .chunks_exact(9)
        .map(|message| u64::from_le_bytes(message[1..].try_into().unwrap()))
        .collect();
    let jumps: Vec<u64> =
        numbers.windows(2).map(|pair| pair[1] - pair[0] - 1).filter(|&lost| lost > 0).collect();
    near(jumps.iter().sum::<u64>() as f64 / jumps.len() as f64, 5.0, 0.0);
}

#[test]
fn values_that_do_not_go_together_are_refused_with_the_one_to_change() {
    for (text, units, parameter, part) in [
        ("uniform u32 min=5 max=4", 1, "max", "above max"),
        ("normal u8 mean=100 deviation=50", 1, "deviation", "-100 to 300"),
        ("zipf u8 distinct=300", 1, "distinct", "u8 ends at 255"),
        ("few_distinct u32 distinct=12 min=0 max=10", 1, "distinct", "11 values"),
        ("nearly_sorted u8", 300, "max", "300 different"),
        ("nearly_sorted u32 inversions=11", 5, "inversions", "10 pairs"),
        ("permutation u8", 257, "units", "256"),
        ("runs u32 min=3 max=3", 9, "max", "must be above"),
        ("booleans u8 p=0.9 correlation=-0.5", 1, "correlation", "-0.111"),
        ("booleans u8 p=0.5 correlation=1", 1000, "correlation", "none of 1000 units"),
        ("booleans u8 p=0.5 correlation=0.9999", 1000, "correlation", "set p to 0 or 1"),
        ("uniform_floats f64 nan=0.7 denormal=0.7", 1, "denormal", "140 %"),
        ("wide_floats f32 min_exponent=-200", 1, "min_exponent", "-126 to 127"),
        ("messages messages:u8 size=250", 1, "size", "375 bytes"),
        ("messages messages loss=1", 1, "loss", "99 %"),
    ] {
        let error = recipe(text).check(units).expect_err(text);
        assert_eq!(error.parameter, parameter, "{text}");
        assert!(error.message.contains(part), "{}", error.message);
    }
}

#[test]
fn a_value_outside_of_its_domain_is_refused() {
    let kind = kind_named("uniform").expect("a kind");
    let with = |max| {
        InputRecipe::new(kind, Format::Numbers(NumberType::U8), |parameter| {
            (parameter.name == "max").then_some(max)
        })
    };
    assert!(with(Argument::Whole(255)).is_ok());
    let error = with(Argument::Whole(256)).expect_err("a byte ends at 255");
    assert_eq!(
        (error.parameter, error.message.as_str()),
        ("max", "max must be an integer from 0 to 255, as format is \"u8\"")
    );
    assert_eq!(InputRecipe::new(kind, Format::Bytes, |_| None).expect_err("no numbers").parameter, "format");
}

#[test]
fn a_recipe_is_kept_as_data() {
    for (text, _) in PINNED {
        let recipe = recipe(text);
        let kept = serde_json::to_string(&recipe).expect("plain data");
        assert_eq!(serde_json::from_str::<InputRecipe>(&kept).expect("readable"), recipe, "{kept}");
    }
    let kept = serde_json::to_value(recipe("uniform i64 min=-5")).expect("plain data");
    let expected = serde_json::json!({"generator": "uniform", "format": "i64", "min": -5, "max": i64::MAX});
    assert_eq!(kept, expected);
}

#[test]
fn every_kind_is_explained_and_its_examples_lie_in_their_domains() {
    for kind in kinds() {
        assert!(!kind.says.is_empty() && !kind.formats.is_empty() && kind.units > 0, "{}", kind.name);
        for parameter in kind.parameters {
            let (name, value) = parameter.example.split_once(" = ").expect("key = value");
            assert_eq!(name, parameter.name);
            assert!(
                !value.is_empty() && parameter.says.starts_with(char::is_lowercase)
                    || parameter.says.starts_with("Zipf"),
                "{name}"
            );
        }
        assert_eq!(kinds().filter(|other| other.name == kind.name).count(), 1);
    }
}

#[test]
fn the_document_names_every_kind_with_its_parameters() {
    let document = include_str!("../../../../../docs/inputs.md");
    let rows: Vec<&str> = document.lines().filter(|line| line.starts_with('|')).collect();
    for kind in kinds() {
        let named = |row: &&&str| {
            let has = |name: &str| row.contains(&format!("`{name}`"));
            has(kind.name) && kind.parameters.iter().all(|parameter| has(parameter.name))
        };
        assert!(
            rows.iter().find(named).is_some(),
            "docs/inputs.md has no row of {} with its keys",
            kind.name
        );
    }
    for format in Format::words() {
        let named = document.contains(&format!("`{format}`")) || format.contains(':');
        assert!(named, "docs/inputs.md does not name {format}");
    }
}
