//! The inputs axis: generated, recorded, or none.

use toml_edit::TableLike;

use super::entries::{self, Entry, Names};
use super::reader::{Reader, Table};
use super::schema::{self, Key};
use super::{Diagnostic, convert, diagnostic};
use crate::experiment::spec::{InputSource, InputSpec};
use crate::inputs::{Format, Generator};

const UNITS: u64 = 1_000_000;
const MOST_UNITS: i64 = 1_000_000_000;
const WINDOW_UNITS: u64 = 4096;
const FORMATS: &[(&str, Format)] = &[
    ("varint", Format::Varint),
    ("lines", Format::Lines),
    ("bytes", Format::Bytes),
    ("whole", Format::Whole),
];

/// All inputs; a single empty one where the file has none, so that a call is measured all the same.
pub(super) fn read(reader: &mut Reader, top: &Table) -> (Vec<InputSpec>, Names) {
    let entries = entries::entries(reader, top, "inputs", schema::INPUT, false);
    if entries.is_empty() && reader.problems.iter().all(|problem| problem.key != "inputs") {
        let none = Entry { path: "inputs".into(), name: Some("none".into()), items: None };
        let names = Names::new("input", &[none]);
        return (vec![no_input()], names);
    }
    let names = Names::new("input", &entries);
    let inputs = entries.iter().filter_map(|entry| read_input(reader, entry)).collect();
    (inputs, names)
}

fn no_input() -> InputSpec {
    InputSpec {
        name: "none".into(),
        description: None,
        source: InputSource::Empty,
        format: Format::Whole,
        window_units: 0,
    }
}

fn read_input(reader: &mut Reader, entry: &Entry) -> Option<InputSpec> {
    let items = entry.items?;
    let (source, table, format) = if items.contains_key("path") {
        let table = Table::new(&entry.path, Some(items), &[schema::INPUT, schema::RECORDED]);
        refuse_generated_keys(reader, &table, items);
        (read_recorded(reader, &table), table, Format::Bytes)
    } else {
        let (source, table) = read_generated(reader, entry, items);
        (source, table, Format::Varint)
    };
    let format = reader.read(&table, "format", convert::choice(FORMATS)).unwrap_or(format);
    let window_units = reader.read(&table, "window_units", convert::whole(0..=MOST_UNITS));
    Some(InputSpec {
        name: entry.name.clone().unwrap_or_default(),
        description: reader.read(&table, "description", convert::text),
        source: source?,
        format,
        window_units: window_units.map_or(WINDOW_UNITS, |units| units as u64),
    })
}

fn read_recorded(reader: &mut Reader, table: &Table) -> Option<InputSource> {
    reader.read(table, "path", convert::line).map(|path| InputSource::Recorded { path })
}

/// Notes keys of generators in a recorded input, then those that no input has.
fn refuse_generated_keys(reader: &mut Reader, table: &Table, items: &dyn TableLike) {
    for (name, _) in items.iter() {
        if is_generated_key(name) {
            let path = table.path_of(name);
            let problem = reader.complain(&path, format!("`{path}` and `path` exclude each other"));
            problem.expected = Some("a generator with its keys, or the path of a recorded file".into());
        }
    }
    let mut keys: Vec<&'static [Key]> = vec![schema::INPUT, schema::RECORDED, schema::GENERATED];
    keys.extend(schema::GENERATORS.iter().map(|&(_, keys)| keys));
    reader.unknown_keys(&Table::new(&table.path, Some(items), &keys));
}

fn is_generated_key(name: &str) -> bool {
    let mut keys = schema::GENERATORS.iter().flat_map(|&(_, keys)| keys).chain(schema::GENERATED);
    keys.any(|key| key.name == name)
}

/// The source of a generated input, and the table with the keys that its generator has.
fn read_generated<'a>(
    reader: &mut Reader,
    entry: &Entry,
    items: &'a dyn TableLike,
) -> (Option<InputSource>, Table<'a>) {
    let common: &[&'static [Key]] = &[schema::INPUT, schema::RECORDED, schema::GENERATED];
    let table = Table::new(&entry.path, Some(items), common);
    let words: Vec<(&str, (&str, &'static [Key]))> = schema::GENERATORS.iter().map(|&g| (g.0, g)).collect();
    let chosen = reader.read(&table, "generator", convert::choice(&words));
    let Some((generator, keys)) = chosen else {
        if table.has("generator") {
            name_generators(reader.problems.last_mut().expect("a wrong generator has been noted"));
        } else {
            neither(reader, &table, items);
        }
        return (None, table);
    };
    let table =
        Table::new(&entry.path, Some(items), &[schema::INPUT, schema::RECORDED, schema::GENERATED, keys]);
    refuse_other_generators_keys(reader, &table, items, generator, keys);
    let units =
        reader.read(&table, "units", convert::whole(1..=MOST_UNITS)).map_or(UNITS, |units| units as u64);
    let seed = reader.read(&table, "seed", convert::whole_64).unwrap_or(1);
    let generator = read_generator(reader, &table, generator);
    (generator.map(|generator| InputSource::Generated { generator, units, seed }), table)
}

fn name_generators(problem: &mut Diagnostic) {
    let names: Vec<&str> = schema::GENERATORS.iter().map(|&(name, _)| name).collect();
    problem.expected = Some(format!("one of {}", names.join(", ")));
}

/// Notes that an input says nothing of where its bytes come from, or says it with a misspelt key.
fn neither(reader: &mut Reader, table: &Table, items: &dyn TableLike) {
    let misspelt = |&(name, _): &(&str, _)| diagnostic::nearest(name, ["generator", "path"]).is_some();
    if items.iter().any(|item| misspelt(&item)) {
        reader.unknown_keys(table);
        return;
    }
    let problem =
        reader.complain(&table.path, format!("`{}` has neither a generator nor a path", table.path));
    problem.example = Some("generator = \"log_uniform\"".into());
    name_generators(problem);
}

/// Notes keys that only other generators have, then those that no input has.
fn refuse_other_generators_keys(
    reader: &mut Reader,
    table: &Table,
    items: &dyn TableLike,
    generator: &str,
    own: &'static [Key],
) {
    let foreign = |name: &str| {
        let others = schema::GENERATORS.iter().flat_map(|&(_, keys)| keys);
        others.into_iter().any(|key| key.name == name) && !own.iter().any(|key| key.name == name)
    };
    for (name, _) in items.iter().filter(|&(name, _)| foreign(name)) {
        let path = table.path_of(name);
        let problem =
            reader.complain(&path, format!("`{path}` means nothing to the generator \"{generator}\""));
        problem.expected = Some(format!(
            "of its own keys: {}",
            own.iter().map(|key| key.name).collect::<Vec<_>>().join(", ")
        ));
        problem.example = own.last().map(|key| table.example_of(key.name));
    }
    let mut keys: Vec<&'static [Key]> = vec![own, schema::INPUT, schema::RECORDED, schema::GENERATED];
    keys.extend(schema::GENERATORS.iter().map(|&(_, keys)| keys));
    reader.unknown_keys(&Table::new(&table.path, Some(items), &keys));
}

fn read_generator(reader: &mut Reader, table: &Table, generator: &str) -> Option<Generator> {
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
        other => unreachable!("the schema has a generator {other} that nothing reads"),
    }
}

fn read_weights(reader: &mut Reader, table: &Table) -> Option<Vec<f64>> {
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
        return Some(weights);
    };
    let path = table.path_of("weights");
    reader.complain_of(table, "weights", format!("`{path}` {wrong}"));
    None
}

/// Two whole numbers of which the first is not the larger one.
fn read_range(
    reader: &mut Reader,
    table: &Table,
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

fn read_values(reader: &mut Reader, table: &Table) -> Option<Generator> {
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
    reader: &mut Reader,
    table: &Table,
    [min, max]: [&'static str; 2],
    low: T,
    high: T,
) -> Option<(T, T)> {
    if low <= high {
        return Some((low, high));
    }
    let at = if table.has(max) { max } else { min };
    let message = format!("`{}`: {min} is {low} and {max} is {high}", table.path_of(at));
    reader.complain_of(table, at, message);
    None
}
