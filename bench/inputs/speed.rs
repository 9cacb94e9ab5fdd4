//! How long does each generator take for 100 MB?
//!
//! Method: each recipe makes 100 MB at once, which is thrown away, as often as asked. The least CPU time of the thread counts:
//! other work adds to it through caches and a busy sibling thread, never takes from it. The bound is a second for numbers and
//! two for text.
//! Usage: inputs_speed [REPEATS [PART_OF_NAME]]

use assay_predict::inputs::keys::{KeyShape, keys};
use assay_predict::inputs::kinds::{Argument, Domain, InputRecipe, kind_named};
use assay_predict::inputs::{Format, Generator, NumberType};

const BYTES: u64 = 100_000_000;
const SEED: u64 = 1;

/// Recipes as files have them, `kind format name=value ...`; those of one kind take different paths.
const RECIPES: &[&str] = &[
    "uniform u32",
    "uniform u64",
    "uniform u8",
    "uniform i64 min=-100 max=100",
    "normal u32",
    "normal f64",
    "zipf u32",
    "zipf u64 distinct=2000000 exponent=0.8",
    "few_distinct u32",
    "few_distinct u8 run_length=8",
    "ascending u32",
    "descending u64",
    "nearly_sorted u32",
    "nearly_sorted u32 inversions=10000000000",
    "nearly_sorted u32 inversions=100000000000000",
    "nearly_sorted u64 inversions=10000000000000",
    "runs u32",
    "runs u8",
    "runs u64 length=1000",
    "permutation u32",
    "permutation u64",
    "uniform_floats f64",
    "uniform_floats f32 nan=0.1 denormal=0.1",
    "wide_floats f64",
    "wide_floats f32",
    "booleans u8",
    "booleans u8 p=0.2 correlation=0.5",
    "entropy bytes",
    "entropy bytes bits=3.5",
    "entropy bytes bits=0.1",
    "text lines",
    "text lines non_ascii=0.3 utf8_bytes=3",
    "messages messages",
    "messages messages:varint size=30 loss=0.1 loss_burst=3",
];

fn recipe(text: &str) -> InputRecipe {
    let mut words = text.split(' ');
    let kind = kind_named(words.next().expect("a kind")).expect("a kind");
    let format = Format::parse(words.next().expect("a format")).expect("a format");
    let given: Vec<(&str, &str)> = words.map(|word| word.split_once('=').expect("name=value")).collect();
    let recipe = InputRecipe::new(kind, format, |parameter| {
        let (_, value) = given.iter().find(|(name, _)| *name == parameter.name)?;
        Some(match parameter.domain {
            Domain::Whole(..) | Domain::Value => Argument::Whole(value.parse().expect("whole")),
            Domain::Number(..) | Domain::Share => Argument::Number(value.parse().expect("a number")),
        })
    });
    recipe.unwrap_or_else(|error| panic!("{text}: {error:?}"))
}

/// Units of about 100 MB.
fn units(generator: &Generator) -> u64 {
    let of_many = generator.expected_bytes(1_000_000) as u64;
    BYTES * 1_000_000 / of_many.max(1)
}

/// CPU time of this thread, seconds.
fn spent() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux says");
    text.split(' ').next().and_then(|ns| ns.parse::<f64>().ok()).expect("nanoseconds") / 1e9
}

/// Makes the bytes of a row once.
type Make = Box<dyn Fn() -> Vec<u8>>;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let repeats: u32 = arguments.next().map_or(3, |repeats| repeats.parse().expect("REPEATS is a number"));
    let part = arguments.next().unwrap_or_default();
    let table = recipe("permutation u32").generate(100_000, SEED);
    let mut rows: Vec<(String, Make)> = Vec::new();
    for text in RECIPES {
        let recipe = recipe(text);
        let units = units(&Generator::Of(recipe.clone()));
        recipe.check(units).unwrap_or_else(|error| panic!("{text}: {error:?}"));
        rows.push(((*text).to_owned(), Box::new(move || recipe.generate(units, SEED))));
    }
    for exponent in [0.0, 1.0] {
        let (table, shape) = (table.clone(), KeyShape { hit_rate: 0.5, exponent });
        let made =
            move || keys(&table, Format::Numbers(NumberType::U32), shape, BYTES / 4, SEED).expect("keys");
        rows.push((format!("keys u32 hit_rate=0.5 exponent={exponent}"), Box::new(made)));
    }
    let weights = vec![80.0, 18.0, 2.0];
    for generator in [
        Generator::Lengths { weights: weights.clone() },
        Generator::LogUniform { min_bits: 0, max_bits: 32 },
        Generator::UniformValue { min: 0, max: u64::from(u32::MAX) },
        Generator::UniformLength { min: 1, max: 5 },
        Generator::Constant { length: 3 },
        Generator::Bursts { weights, mean_length: 32.0 },
    ] {
        let name = format!("{generator:?}");
        let name = name.split([' ', '{']).next().unwrap_or_default().to_owned();
        let units = units(&generator);
        rows.push((format!("{name} (varints)"), Box::new(move || generator.generate(units, SEED))));
    }
    println!("| 100 MB of | seconds | bound | |\n|---|--:|--:|---|");
    for (name, make) in rows.iter().filter(|(name, _)| name.contains(&part)) {
        let mut least = (f64::INFINITY, 0);
        for _ in 0..repeats.max(1) {
            let before = spent();
            let bytes = make();
            let seconds = spent() - before;
            if seconds < least.0 {
                least = (seconds, bytes.len());
            }
        }
        let seconds = least.0 * BYTES as f64 / least.1.max(1) as f64;
        let bound = if name.starts_with("text") { 2.0 } else { 1.0 };
        let word = if seconds <= bound { "within" } else { "beyond" };
        println!("| `{name}` | {seconds:.2} | {bound} | {word} |");
    }
}
