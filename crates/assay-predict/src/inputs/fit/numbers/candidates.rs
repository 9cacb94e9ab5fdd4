//! The generators that may have made recorded numbers, each with the parameters that can be read off them.
//!
//! Whole parameters are exact. Others are rounded to four digits, for a table that a person reads: what was 0.3 is 0.3, or
//! what chance made of it. The exponent of Zipf's law is that of maximum likelihood for ranks counted from the least value.
//! Checked: what was asked of each generator is found again.

use super::RecordedNumbers;
use super::statistics::Statistics;
use crate::inputs::fit::four_digits;
use crate::inputs::kinds::{Argument, InputRecipe, kind_named};
use crate::inputs::sequence::exponent_of;
use crate::inputs::{Format, NumberType};
use Argument::{Number, Whole};

/// Ranks of more values take long to sum.
const MOST_RANKS: i128 = 1 << 20;

/// More distinct values are not few.
const FEW: u64 = 4096;

/// All that are worth a try, the simplest first.
pub(super) fn candidates(recorded: &RecordedNumbers, real: &Statistics) -> Vec<InputRecipe> {
    let mut found = List { number: recorded.number, units: recorded.keys.len() as u64, recipes: Vec::new() };
    if let Some((min, max)) = whole_range(recorded.number, real) {
        booleans(&mut found, real, (min, max));
        orders(&mut found, real, (min, max));
        distributions(&mut found, real, (min, max));
    }
    if recorded.number.is_float() {
        floats(&mut found, recorded, real);
    }
    found.recipes
}

/// Recipes that go together with the format and the number of units.
struct List {
    number: NumberType,
    units: u64,
    recipes: Vec<InputRecipe>,
}

impl List {
    fn add(&mut self, name: &str, values: &[(&str, Argument)]) {
        let kind = kind_named(name).expect("a generator of the table");
        let value = |wanted: &str| values.iter().find(|(name, _)| *name == wanted).map(|&(_, value)| value);
        let recipe = InputRecipe::new(kind, Format::Numbers(self.number), |parameter| value(parameter.name));
        self.recipes.extend(recipe.ok().filter(|recipe| recipe.check(self.units).is_ok()));
    }
}

/// The least and the greatest, if all are whole numbers that generators of integers can make.
fn whole_range(number: NumberType, real: &Statistics) -> Option<(i128, i128)> {
    let (first, last) = (*real.sorted.first()?, *real.sorted.last()?);
    if real.sorted.len() < real.units {
        return None;
    }
    if number.is_float() {
        let (least, greatest) = number.range();
        let fits = |&key: &u64| {
            let value = number.value(key);
            value.fract() == 0.0 && value >= least as f64 && value <= greatest as f64
        };
        return real
            .sorted
            .iter()
            .all(fits)
            .then(|| (number.value(first) as i128, number.value(last) as i128));
    }
    // Keys have the order of the numbers; of those with a sign the least is 2^63 less.
    let offset = if number.range().0 < 0 { 1i128 << 63 } else { 0 };
    Some((i128::from(first) - offset, i128::from(last) - offset))
}

fn booleans(found: &mut List, real: &Statistics, (min, max): (i128, i128)) {
    if found.number == NumberType::U8 && min >= 0 && max <= 1 {
        let p = four_digits(real.numbers.mean.unwrap_or(0.0));
        let correlation = four_digits(real.numbers.correlation.unwrap_or(0.0).clamp(-1.0, 1.0));
        // Rounded or of few, it may lie beyond what such a share allows.
        let least = 1.0 - 1.0 / p.max(1.0 - p);
        found.add("booleans", &[("p", Number(p)), ("correlation", Number(correlation.max(least)))]);
    }
}

fn orders(found: &mut List, real: &Statistics, (min, max): (i128, i128)) {
    if min == max {
        return;
    }
    let ends = [("min", Whole(min)), ("max", Whole(max))];
    found.add("ascending", &ends);
    found.add("descending", &ends);
    if real.sequence.distinct == found.units {
        found.add("permutation", &ends[..1]);
    }
    if !found.number.is_float() {
        found.add("uniform", &ends);
    }
}

fn distributions(found: &mut List, real: &Statistics, (min, max): (i128, i128)) {
    let ends = [("min", Whole(min)), ("max", Whole(max))];
    let facts = &real.sequence;
    if facts.distinct <= FEW {
        // Of independent draws one is the same as the last once in so many; runs that are asked for end with another value.
        let independent = 1.0 / (1.0 - 1.0 / facts.distinct.max(2) as f64);
        let is_independent = facts.distinct == 1 || (real.equal_run / independent - 1.0).abs() < 0.02;
        let stays = if is_independent { 1.0 } else { real.equal_run };
        let distinct = ("distinct", Whole(i128::from(facts.distinct)));
        let run_length = ("run_length", Number(four_digits(stays.max(1.0))));
        found.add("few_distinct", &[&[distinct, run_length], &ends[..]].concat());
    }
    let length = ("length", Whole(facts.ascending_run_units.round() as i128));
    found.add("runs", &[&[length], &ends[..]].concat());
    normal(found, real);
    zipf(found, real, (min, max));
    // Last: with half of all pairs in the wrong order it is any permutation.
    if let Some(inversions) = facts.inversions {
        let inversions = ("inversions", Whole(i128::from(inversions)));
        found.add("nearly_sorted", &[&[inversions], &ends[..]].concat());
    }
}

fn normal(found: &mut List, real: &Statistics) {
    let (Some(mean), Some(deviation)) = (real.numbers.mean, real.numbers.deviation) else { return };
    // Digits of the mean that are far below the deviation say nothing.
    let decimals = (3.0 - deviation.max(1e-9).log10().floor()).clamp(0.0, 9.0) as usize;
    let mean = format!("{mean:.decimals$}").parse().expect("a number that was just written");
    found.add("normal", &[("mean", Number(mean)), ("deviation", Number(four_digits(deviation)))]);
}

fn zipf(found: &mut List, real: &Statistics, (min, max): (i128, i128)) {
    if max - min >= MOST_RANKS {
        return;
    }
    let logs: Vec<f64> = (1..=max - min + 1).map(|rank| (rank as f64).ln()).collect();
    let rank = |key: u64| match found.number.is_float() {
        true => (found.number.value(key) - min as f64) as usize,
        false => (key - real.sorted[0]) as usize,
    };
    let mean = real.sorted.iter().map(|&key| logs[rank(key)]).sum::<f64>() / real.sorted.len() as f64;
    let exponent = Number(four_digits(exponent_of(&logs, mean).min(10.0)));
    let values = [("distinct", Whole(max - min + 1)), ("exponent", exponent), ("min", Whole(min))];
    found.add("zipf", &values);
}

fn floats(found: &mut List, recorded: &RecordedNumbers, real: &Statistics) {
    let number = recorded.number;
    let least_normal =
        if number == NumberType::F32 { f64::from(f32::MIN_POSITIVE) } else { f64::MIN_POSITIVE };
    let normal =
        || real.sorted.iter().map(|&key| number.value(key)).filter(|value| value.abs() >= least_normal);
    let (Some(least), Some(greatest)) = (normal().next(), normal().next_back()) else { return };
    let share = |share: Option<f64>| Number(four_digits(share.unwrap_or(0.0)));
    let special = [("nan", share(real.numbers.nan_share)), ("denormal", share(real.numbers.denormal_share))];
    let ends = [("min", Number(four_digits(least))), ("max", Number(four_digits(greatest)))];
    found.add("uniform_floats", &[ends, special].concat());
    let (low, high) = normal().fold((i32::MAX, i32::MIN), |(low, high), value| {
        let exponent = (value.to_bits() >> 52 & 0x7ff) as i32 - 1023;
        (low.min(exponent), high.max(exponent))
    });
    let negative = real.sorted.iter().filter(|&&key| number.value(key) < 0.0).count();
    let wide = [
        ("min_exponent", Whole(low.into())),
        ("max_exponent", Whole(high.into())),
        ("negative", Number(four_digits(negative as f64 / real.sorted.len() as f64))),
    ];
    found.add("wide_floats", &[&wide[..], &special].concat());
}
