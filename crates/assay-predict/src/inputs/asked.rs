//! What each generator was asked for beside what is found in its bytes, of the default seed and of a million units (text:
//! 50,000): within one per cent, and as docs/inputs.md has it. Found by counting here, not by `describe`.

use super::keys::{KeyShape, keys};
use super::kinds::kinds;
use super::kinds::tests::recipe;
use super::markov::Markov;
use super::varint::varint_lengths;
use super::{Format, Generator, LengthPrefix, NumberType};
use std::collections::HashMap;

const UNITS: u64 = 1_000_000;
const LINES: u64 = 50_000;
const SEED: u64 = 1;

/// One statistic of one generator.
struct AskedStatistic {
    generator: &'static str,
    statistic: &'static str,
    asked: f64,
    found: f64,
}

/// The bytes of a recipe as a file would have it: `kind format name=value ...`.
fn bytes_of(text: &str, units: u64) -> Vec<u8> {
    let recipe = recipe(text);
    recipe.check(units).expect(text);
    recipe.generate(units, SEED)
}

fn u32s(text: &str) -> Vec<u32> {
    numbers(&bytes_of(text, UNITS))
}

fn numbers(bytes: &[u8]) -> Vec<u32> {
    bytes.as_chunks::<4>().0.iter().map(|number| u32::from_le_bytes(*number)).collect()
}

fn mean(values: impl Iterator<Item = f64> + Clone) -> f64 {
    values.clone().sum::<f64>() / values.count() as f64
}

fn deviation(values: impl Iterator<Item = f64> + Clone) -> f64 {
    let centre = mean(values.clone());
    mean(values.map(|value| (value - centre).powi(2))).sqrt()
}

fn share<T>(values: &[T], is: impl Fn(&T) -> bool) -> f64 {
    values.iter().filter(|value| is(value)).count() as f64 / values.len() as f64
}

/// Pairs in the wrong order, by merging.
fn inversions(values: &mut Vec<u32>) -> u64 {
    if values.len() < 2 {
        return 0;
    }
    let mut right = values.split_off(values.len() / 2);
    let mut found = inversions(values) + inversions(&mut right);
    let mut merged = Vec::with_capacity(values.len() + right.len());
    let mut left = values.iter().copied().peekable();
    for value in right {
        while let Some(before) = left.next_if(|before| *before <= value) {
            merged.push(before);
        }
        found += left.len() as u64;
        merged.push(value);
    }
    merged.extend(left);
    *values = merged;
    found
}

/// The exponent under which these counts by rank are most likely: the mean logarithm of a rank is then the expected one.
fn zipf_exponent(counts: &[u64]) -> f64 {
    let units: u64 = counts.iter().sum();
    let logs: Vec<f64> = (1..=counts.len()).map(|rank| (rank as f64).ln()).collect();
    let seen = logs.iter().zip(counts).map(|(log, count)| log * *count as f64).sum::<f64>() / units as f64;
    let expected = |exponent: f64| {
        let weights = logs.iter().map(|log| (-exponent * log).exp());
        let sum: f64 = weights.clone().sum();
        logs.iter().zip(weights).map(|(log, weight)| log * weight).sum::<f64>() / sum
    };
    let (mut low, mut high) = (0.0, 10.0);
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        if expected(middle) > seen { low = middle } else { high = middle }
    }
    low
}

/// How often each value from 0 comes.
fn by_value(values: &[u32], distinct: usize) -> Vec<u64> {
    let mut counts = vec![0; distinct];
    values.iter().for_each(|&value| counts[value as usize] += 1);
    counts
}

fn different(mut values: Vec<u32>) -> f64 {
    values.sort_unstable();
    values.dedup();
    values.len() as f64
}

fn by_frequency<T: std::hash::Hash + Eq>(values: impl Iterator<Item = T>) -> Vec<u64> {
    let mut counts: HashMap<T, u64> = HashMap::new();
    values.for_each(|value| *counts.entry(value).or_default() += 1);
    let mut counts: Vec<u64> = counts.into_values().collect();
    counts.sort_unstable_by(|one, other| other.cmp(one));
    counts
}

fn integers(rows: &mut Vec<AskedStatistic>) {
    let mut row =
        |generator, statistic, asked, found| rows.push(AskedStatistic { generator, statistic, asked, found });
    let of = |values: &[u32]| values.iter().map(|&value| f64::from(value)).collect::<Vec<_>>().into_iter();
    let values = u32s("uniform u32 min=1000 max=3000");
    row("uniform", "mean", 2000.0, mean(of(&values)));
    // sqrt((2001² - 1) / 12)
    row("uniform", "standard deviation", 577.638_872, deviation(of(&values)));
    let values = u32s("normal u32 mean=1000000 deviation=2500");
    row("normal", "mean", 1e6, mean(of(&values)));
    row("normal", "standard deviation", 2500.0, deviation(of(&values)));
    for (text, distinct, exponent) in [
        ("zipf u32 distinct=1000 exponent=0.7", 1000, 0.7),
        ("zipf u32 distinct=1000 exponent=1", 1000, 1.0),
        ("zipf u32 distinct=1000 exponent=1.5", 1000, 1.5),
    ] {
        row("zipf", "exponent, by rank", exponent, zipf_exponent(&by_value(&u32s(text), distinct)));
    }
    let mut values = u32s("few_distinct u32 distinct=16 run_length=8");
    row("few_distinct", "different values", 16.0, different(values.clone()));
    values.dedup();
    row("few_distinct", "values of a run", 8.0, UNITS as f64 / values.len() as f64);
    row("ascending", "inversions", 0.0, inversions(&mut u32s("ascending u32")) as f64);
    let all = (UNITS * (UNITS - 1) / 2) as f64;
    row("descending", "inversions", all, inversions(&mut u32s("descending u32")) as f64);
    for (text, asked) in
        [("nearly_sorted u32 inversions=1000", 1000.0), ("nearly_sorted u32 inversions=100000000000", 1e11)]
    {
        row("nearly_sorted", "inversions", asked, inversions(&mut u32s(text)) as f64);
    }
    let values = u32s("runs u32 length=32");
    let stretches = 1 + values.windows(2).filter(|pair| pair[1] < pair[0]).count();
    row("runs", "values of a stretch", 32.0, UNITS as f64 / stretches as f64);
    let mut values = u32s("permutation u32");
    row("permutation", "different values", UNITS as f64, different(values.clone()));
    row("permutation", "inversions, half of all pairs", all / 2.0, inversions(&mut values) as f64);
    let table = bytes_of("permutation u32", 1000);
    let number = Format::Numbers(NumberType::U32);
    let shape = KeyShape { hit_rate: 0.9, exponent: 1.0 };
    let keys = numbers(&keys(&table, number, shape, UNITS, SEED).expect("keys"));
    row("keys", "hit rate", 0.9, share(&keys, |key| *key < 1000));
    let hits = keys.iter().filter(|key| **key < 1000);
    row("keys", "exponent, by rank", 1.0, zipf_exponent(&by_frequency(hits)));
}

fn floats_and_bytes(rows: &mut Vec<AskedStatistic>) {
    let mut row =
        |generator, statistic, asked, found| rows.push(AskedStatistic { generator, statistic, asked, found });
    let floats = |text: &str| -> Vec<f64> {
        bytes_of(text, UNITS).as_chunks::<8>().0.iter().map(|number| f64::from_le_bytes(*number)).collect()
    };
    let values = floats("uniform_floats f64 min=-2 max=6 nan=0.01 denormal=0.001");
    row("uniform_floats", "share of NaN", 0.01, share(&values, |value| value.is_nan()));
    row("uniform_floats", "share of denormals", 0.001, share(&values, |value| value.is_subnormal()));
    let normal = || values.iter().copied().filter(|value| value.is_normal());
    row("uniform_floats", "mean", 2.0, mean(normal()));
    row("uniform_floats", "standard deviation", 8.0 / 12f64.sqrt(), deviation(normal()));
    let values = floats("wide_floats f64 min_exponent=-100 max_exponent=99 negative=0.25 nan=0.01");
    let numbers: Vec<f64> = values.iter().copied().filter(|value| !value.is_nan()).collect();
    row("wide_floats", "share below 0, without NaN", 0.25, share(&numbers, |value| *value < 0.0));
    row("wide_floats", "share of NaN", 0.01, share(&values, |value| value.is_nan()));
    let exponents = numbers.iter().map(|value| value.abs().log2().floor());
    // Of -100 to 99, evenly: sqrt((200² - 1) / 12).
    row("wide_floats", "standard deviation of exponents", 57.734_305, deviation(exponents));
    let values = bytes_of("booleans u8 p=0.3 correlation=0.5", UNITS);
    let ones = share(&values, |value| *value == 1);
    row("booleans", "share of 1", 0.3, ones);
    let both = values.windows(2).filter(|pair| pair == &[1, 1]).count() as f64 / (UNITS - 1) as f64;
    row("booleans", "correlation", 0.5, (both - ones * ones) / (ones * (1.0 - ones)));
    for (text, bits) in [("entropy bytes bits=0.1", 0.1), ("entropy bytes bits=4.5", 4.5)] {
        let counts = by_frequency(bytes_of(text, UNITS).into_iter());
        let shares = counts.iter().map(|count| *count as f64 / UNITS as f64);
        row("entropy", "bits per byte", bits, shares.map(|share| -share * share.log2()).sum());
    }
}

fn text_and_messages(rows: &mut Vec<AskedStatistic>) {
    let mut row =
        |generator, statistic, asked, found| rows.push(AskedStatistic { generator, statistic, asked, found });
    let text = "text lines words=1000 exponent=1 line_length=64 line_spread=0.5 non_ascii=0.1";
    let bytes = bytes_of(text, LINES);
    let text = std::str::from_utf8(&bytes).expect("UTF-8");
    let lines: Vec<f64> = text.split_inclusive('\n').map(|line| line.len() as f64).collect();
    row("text", "bytes of a line", 64.0, mean(lines.iter().copied()));
    let letters: Vec<char> = text.chars().filter(|letter| !letter.is_whitespace()).collect();
    row("text", "share of non-ASCII letters", 0.1, share(&letters, |letter| !letter.is_ascii()));
    let words = by_frequency(text.split_whitespace());
    row("text", "different words", 1000.0, words.len() as f64);
    row("text", "exponent, by rank", 1.0, zipf_exponent(&words));
    let bytes = bytes_of("messages messages size=200 spread=0.5 loss=0.05 loss_burst=3", UNITS);
    let (mut rest, mut sizes, mut sequence) = (&bytes[..], Vec::new(), Vec::new());
    while let Some((head, body)) = LengthPrefix::U32.read(rest) {
        sizes.push(body as f64);
        sequence.push(u64::from_le_bytes(rest[head..head + 8].try_into().expect("a number")));
        rest = &rest[head + body as usize..];
    }
    row("messages", "bytes of a message", 200.0, mean(sizes.into_iter()));
    let lost: Vec<u64> = sequence.windows(2).map(|pair| pair[1] - pair[0] - 1).collect();
    let missing: u64 = lost.iter().sum();
    row("messages", "share lost", 0.05, missing as f64 / (missing + UNITS) as f64);
    let bursts = lost.iter().filter(|lost| **lost > 0).count();
    row("messages", "lost in a row", 3.0, missing as f64 / bursts as f64);
}

fn varints(rows: &mut Vec<AskedStatistic>) {
    let weights = vec![80.0, 18.0, 2.0];
    for (name, generator) in [
        ("lengths", Generator::Lengths { weights: weights.clone() }),
        ("log_uniform", Generator::LogUniform { min_bits: 0, max_bits: 32 }),
        ("uniform_value", Generator::UniformValue { min: 0, max: 1 << 20 }),
        ("uniform_length", Generator::UniformLength { min: 1, max: 5 }),
        ("constant", Generator::Constant { length: 3 }),
        ("bursts", Generator::Bursts { weights, mean_length: 32.0 }),
    ] {
        let expected = generator.expected_lengths().expect("it follows by arithmetic");
        let asked = (1..).zip(&expected).map(|(length, share)| f64::from(length) * share).sum();
        let found = generator.generate(UNITS, SEED).len() as f64 / UNITS as f64;
        rows.push(AskedStatistic { generator: name, statistic: "bytes of a value", asked, found });
    }
    let weights = [("", vec![1.0, 1.0]), ("1", vec![90.0, 10.0]), ("2", vec![40.0, 60.0])];
    let contexts = weights.into_iter().map(|(context, weights)| (context.to_owned(), weights)).collect();
    let bytes = Generator::Markov(Markov { contexts, bits: Vec::new() }).generate(UNITS, SEED);
    let lengths = varint_lengths(&bytes).expect("a generated stream");
    let after = |first, next| {
        let pairs = lengths.windows(2).filter(|pair| pair[0] == first);
        pairs.clone().filter(|pair| pair[1] == next).count() as f64 / pairs.count() as f64
    };
    // As many leave one byte as two: 0.8 · 10 % and 0.2 · 40 %.
    for (statistic, asked, found) in [
        ("share of one byte", 0.8, share(&lengths, |length| *length == 1)),
        ("share of two bytes after one", 0.1, after(1, 2)),
        ("share of one byte after two", 0.4, after(2, 1)),
    ] {
        rows.push(AskedStatistic { generator: "markov", statistic, asked, found });
    }
}

fn figure(value: f64) -> String {
    let digits = if value == 0.0 { 0 } else { (4 - value.abs().log10().floor() as i32).clamp(0, 9) as usize };
    let text = format!("{value:.digits$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

#[test]
fn what_is_found_in_each_generators_bytes_is_within_one_per_cent_of_what_was_asked_for() {
    let mut rows = Vec::new();
    integers(&mut rows);
    floats_and_bytes(&mut rows);
    text_and_messages(&mut rows);
    varints(&mut rows);
    for kind in kinds() {
        assert!(rows.iter().any(|row| row.generator == kind.name), "nothing is asked of {}", kind.name);
    }
    let document = include_str!("../../../../docs/inputs.md");
    let (mut lines, mut off) = (Vec::new(), Vec::new());
    for AskedStatistic { generator, statistic, asked, found } in rows {
        if (found - asked).abs() > 0.01 * asked {
            off.push(format!("{generator}: {statistic} {found}, not {asked}"));
        }
        lines.push(format!("| `{generator}` | {statistic} | {} | {} |", figure(asked), figure(found)));
    }
    assert!(off.is_empty(), "{}", off.join("\n"));
    let differs = lines.iter().any(|line| !document.contains(line));
    assert!(!differs, "docs/inputs.md should have these rows:\n{}", lines.join("\n"));
}
