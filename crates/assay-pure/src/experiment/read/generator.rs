//! The parameters of each generator of inputs.

use super::convert;
use super::reader::{TomlReader, TomlTable, WrongValue};
use crate::inputs::markov::{LONGEST_CONTEXT, parse_context};
use crate::inputs::{Generator, Markov, Settings, with_multi_byte};
use std::collections::BTreeMap;

/// The generator of a name that the schema has; `None` if a parameter is missing or wrong, which is noted.
pub(super) fn read(reader: &mut TomlReader, table: &TomlTable, generator: &str) -> Option<Generator> {
    match generator {
        "lengths" => read_weights(reader, table).map(|weights| Generator::Lengths { weights }),
        "log_uniform" => {
            let (min_bits, max_bits) = read_range(reader, table, ["min_bits", "max_bits"], 0..=64, (0, 32))?;
            Some(Generator::LogUniform { min_bits, max_bits })
        }
        "uniform_value" => read_values(reader, table),
        "uniform_length" => {
            let (min, max) = read_range(reader, table, ["min", "max"], 1..=10, (1, 5))?;
            Some(Generator::UniformLength { min, max })
        }
        "constant" => {
            if !table.has("length") {
                reader.missing(table, "length");
            }
            let length = reader.read(table, "length", convert::whole(1..=10))?;
            Some(Generator::Constant { length: length as u32 })
        }
        "bursts" => {
            let weights = read_weights(reader, table);
            if !table.has("mean_length") {
                reader.missing(table, "mean_length");
            }
            let mean_length = reader.read(table, "mean_length", convert::number(|mean| mean >= 1.0))?;
            Some(Generator::Bursts { weights: weights?, mean_length })
        }
        "markov" => read_markov(reader, table),
        other => unreachable!("the schema has a generator {other} that nothing reads"),
    }
}

fn read_weights(reader: &mut TomlReader, table: &TomlTable) -> Option<Vec<f64>> {
    if !table.has("weights") {
        reader.missing(table, "weights");
    }
    let weights = reader.list(table, "weights", convert::number(|weight| weight >= 0.0))?;
    let wrong = if weights.is_empty() {
        "has no weight"
    } else if weights.len() > 10 {
        "has more than 10 weights, but no value has more than 10 bytes"
    } else if !(weights.iter().sum::<f64>() > 0.0 && weights.iter().sum::<f64>().is_finite()) {
        "has no finite sum above 0"
    } else {
        return read_multi_byte(reader, table, weights);
    };
    let path = table.path_of("weights");
    reader.complain_of(table, "weights", format!("`{path}` {wrong}"));
    None
}

/// The weights with the share of values longer than one byte that the file asks for, if it does.
fn read_multi_byte(reader: &mut TomlReader, table: &TomlTable, weights: Vec<f64>) -> Option<Vec<f64>> {
    if !table.has("multi_byte") {
        return Some(weights);
    }
    let share = reader.read(table, "multi_byte", convert::fraction(|share| (0.0..=1.0).contains(&share)))?;
    let rescaled = with_multi_byte(&weights, share);
    if rescaled.is_none() {
        let path = table.path_of("multi_byte");
        let message = format!("`{path}` asks for values longer than one byte, but `weights` has none");
        reader.complain(&path, message).example = Some("weights = [80, 18, 2]".into());
    }
    rescaled
}

fn read_markov(reader: &mut TomlReader, table: &TomlTable) -> Option<Generator> {
    let contexts = read_contexts(reader, table);
    let bits = match table.has("bits") {
        true => reader.list(table, "bits", convert::number(|weight| weight >= 0.0)),
        false => Some(Vec::new()),
    };
    let markov = Markov { contexts: contexts?, bits: bits? };
    // What is wrong with one context alone has been noted; this is what they say together.
    if let Err(error) = markov.check() {
        let at = if table.has("bits") && markov.contexts.contains_key("") { "bits" } else { "contexts" };
        let path = table.path_of(at);
        reader.complain_of(table, at, format!("`{path}`: {error}"));
        return None;
    }
    Some(Generator::Markov(markov))
}

fn read_contexts(reader: &mut TomlReader, table: &TomlTable) -> Option<BTreeMap<String, Vec<f64>>> {
    let Some(item) = table.item("contexts") else {
        reader.missing(table, "contexts");
        return None;
    };
    let path = table.path_of("contexts");
    let Some(items) = item.as_table_like() else {
        reader.complain_of(table, "contexts", WrongValue::Type.sentence(&path, item));
        return None;
    };
    let before = reader.problems.len();
    let mut contexts = BTreeMap::new();
    for (context, item) in items.iter() {
        let path = format!("{path}.{context}");
        let weights: Option<Vec<f64>> = item.as_array().and_then(|values| {
            values.iter().map(|value| convert::number(|weight| weight >= 0.0)(value).ok()).collect()
        });
        let usable = |weights: &Vec<f64>| {
            let sum: f64 = weights.iter().sum();
            weights.len() <= 10 && sum > 0.0 && sum.is_finite()
        };
        if parse_context(context).is_none() {
            let problem = reader.complain_of_key(&path, format!("\"{context}\" is not a valid context"));
            problem.expected =
                Some(format!("at most {LONGEST_CONTEXT} lengths from 1 to 10, separated by single spaces"));
        } else if let Some(weights) = weights.filter(usable) {
            contexts.insert(context.to_owned(), weights);
        } else {
            let message = format!("context \"{context}\" of `{}` has no weights", table.path_of("contexts"));
            let problem = reader.complain(&path, message);
            problem.expected = Some("a list of 1 to 10 numbers, none negative, not all 0".into());
        }
    }
    (reader.problems.len() == before).then_some(contexts)
}

/// The settings of an input that is not drawn, of `units` units.
pub(super) fn read_settings(reader: &mut TomlReader, table: &TomlTable, units: u64) -> Option<Settings> {
    let Some(item) = table.item("settings") else {
        reader.missing(table, "settings");
        return None;
    };
    let path = table.path_of("settings");
    let Some(items) = item.as_table_like() else {
        reader.complain_of(table, "settings", WrongValue::Type.sentence(&path, item));
        return None;
    };
    let before = reader.problems.len();
    let mut values = Vec::new();
    for (name, item) in items.iter() {
        let path = format!("{path}.{name}");
        if !convert::is_name(name) {
            let message = format!("\"{name}\" {}", convert::not_a_name(name));
            reader.complain_of_key(&path, message);
        } else if name == Settings::UNITS {
            let message = format!("`{path}` is set twice: it is also a key of the input itself");
            reader.complain_of_key(&path, message).example = Some(format!("units = {units}"));
        } else {
            match item.as_value().ok_or(WrongValue::Type).and_then(convert::number(|_| true)) {
                Ok(value) => values.push((name.to_owned(), value)),
                Err(wrong) => {
                    let problem = reader.complain(&path, wrong.sentence(&path, item));
                    problem.expected = Some("a finite number".into());
                }
            }
        }
    }
    (reader.problems.len() == before).then(|| Settings::new(values, units))
}

/// Two whole numbers of which the first is not the larger one.
fn read_range(
    reader: &mut TomlReader,
    table: &TomlTable,
    [min, max]: [&'static str; 2],
    domain: std::ops::RangeInclusive<i64>,
    (default_min, default_max): (u32, u32),
) -> Option<(u32, u32)> {
    let mut read = |name, default| match reader.read(table, name, convert::whole(domain.clone())) {
        Some(number) => Some(number as u32),
        None if table.has(name) => None,
        None => Some(default),
    };
    let (low, high) = (read(min, default_min), read(max, default_max));
    let (low, high) = (low?, high?);
    in_order(reader, table, [min, max], low, high)
}

fn read_values(reader: &mut TomlReader, table: &TomlTable) -> Option<Generator> {
    let mut read = |name, default| match reader.read(table, name, convert::whole_64) {
        None if !table.has(name) => Some(default),
        read => read,
    };
    let (min, max) = (read("min", 0), read("max", u64::from(u32::MAX)));
    let (min, max) = in_order(reader, table, ["min", "max"], min?, max?)?;
    Some(Generator::UniformValue { min, max })
}

/// Both numbers, or a note that the smaller one is the larger, at a key that the file has.
fn in_order<T: PartialOrd + std::fmt::Display>(
    reader: &mut TomlReader,
    table: &TomlTable,
    [min, max]: [&'static str; 2],
    low: T,
    high: T,
) -> Option<(T, T)> {
    if low <= high {
        return Some((low, high));
    }
    let at = if table.has(max) { max } else { min };
    let message = format!("`{}`: {min} is {low}, above {max}, which is {high}", table.path_of(at));
    reader.complain_of(table, at, message);
    None
}
