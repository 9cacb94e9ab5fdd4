//! The inputs axis: generated, recorded, or none.

use toml_edit::TableLike;

use super::entries::{self, ListEntry, Names};
use super::reader::{TomlReader, TomlTable};
use super::schema::{self, SchemaKey};
use super::usage::{self, Usages};
use super::{beside, convert, generator, kinds};
use crate::experiment::diagnostic::{self, Diagnostic};
use crate::experiment::spec::{InputSource, InputSpec};
use crate::experiment::usage::Usage;
use crate::inputs::kinds::kind_named;
use crate::inputs::{Format, Generator};
use crate::words;

const UNITS: u64 = 1_000_000;
const MOST_UNITS: i64 = 1_000_000_000;
/// Bytes of a generated input: four times what is read of a recorded one. Before anything is allocated, as what cannot be had
/// ends the lab without a word.
const MOST_BYTES: u64 = 4 << 30;
const WINDOW_UNITS: u64 = 4096;

/// All inputs, each in all of its uses; a single empty one where the file has none, so that a call is measured all the
/// same.
pub(super) fn read(reader: &mut TomlReader, top: &TomlTable) -> (Vec<InputSpec>, Names) {
    let default = usage::read(reader, top, &Usages::default());
    let entries = entries::entries(reader, top, "inputs", schema::INPUT, false);
    let (read, names) = if entries.is_empty() && reader.problems.iter().all(|problem| problem.key != "inputs")
    {
        let none = ListEntry { path: "inputs".into(), name: Some("none".into()), items: None };
        (vec![Some((no_input(), default))], Names::new("input", &[none]))
    } else {
        let inputs: Vec<Option<InputSpec>> = entries.iter().map(|entry| read_input(reader, entry)).collect();
        let inputs = beside::resolve(reader, &entries, inputs);
        let with_uses = |(entry, input): (&ListEntry, Option<InputSpec>)| {
            let uses = read_uses(reader, entry, &default);
            Some((input?, uses))
        };
        let read: Vec<_> = entries.iter().zip(inputs).map(with_uses).collect();
        let names = Names::new("input", &entries);
        // What only stands beside others is not measured by itself.
        let seconds = beside::names(&entries);
        let measured = |read: &Option<(InputSpec, Usages)>| {
            read.as_ref().is_none_or(|(input, _)| !seconds.contains(&input.name))
        };
        (read.into_iter().filter(measured).collect(), names)
    };
    let complete = read.iter().all(Option::is_some);
    let expanded =
        read.into_iter().flatten().flat_map(|(input, uses)| usage::expand(&input, &uses.spanned()));
    let inputs: Vec<InputSpec> = expanded.collect();
    usage::refuse_idle_copies(reader, top, &inputs);
    let names = names.renamed(inputs.iter().map(|input| input.name.clone()).collect(), complete);
    (inputs, names)
}

fn read_uses(reader: &mut TomlReader, entry: &ListEntry, default: &Usages) -> Usages {
    usage::read(reader, &TomlTable::new(&entry.path, entry.items, &[schema::INPUT]), default)
}

fn no_input() -> InputSpec {
    InputSpec {
        name: "none".into(),
        description: None,
        source: InputSource::Empty,
        with: Vec::new(),
        format: Format::Whole,
        window_units: 0,
        production_units: None,
        usage: Usage::default(),
        of: None,
    }
}

fn read_input(reader: &mut TomlReader, entry: &ListEntry) -> Option<InputSpec> {
    let items = entry.items?;
    let (source, table, default) = if items.contains_key("path") {
        let table =
            TomlTable::new(&entry.path, Some(items), &[schema::INPUT, schema::BESIDE, schema::RECORDED]);
        refuse_other_keys(reader, &table, items, "path");
        (read_recorded(reader, &table), table, Format::Bytes)
    } else if items.contains_key("command") {
        let table =
            TomlTable::new(&entry.path, Some(items), &[schema::INPUT, schema::BESIDE, schema::COMMANDED]);
        refuse_other_keys(reader, &table, items, "command");
        (read_command(reader, &table), table, Format::Bytes)
    } else {
        let (source, table) = read_generated(reader, entry, items);
        let default = match &source {
            Some(InputSource::Settings { .. }) => Format::Whole,
            Some(InputSource::Generated { generator, .. }) => generator.format(),
            _ => Format::Varint,
        };
        (source, table, default)
    };
    let format = reader.read(&table, "format", convert::format).unwrap_or(default);
    if default == Format::Whole && format != Format::Whole {
        let path = table.path_of("format");
        let problem = reader.complain(&path, format!("`{path}`: settings have only the format \"whole\""));
        problem.expected = Some("\"whole\", or leave the key out".into());
    }
    let window_units = reader.read(&table, "window_units", convert::whole(0..=MOST_UNITS));
    let production_units = reader.read(&table, "production_units", convert::whole(1..=i64::MAX));
    Some(InputSpec {
        name: entry.name.clone().unwrap_or_default(),
        description: reader.read(&table, "description", convert::text),
        source: source?,
        with: Vec::new(),
        format,
        window_units: window_units.map_or(WINDOW_UNITS, |units| units as u64),
        production_units: production_units.map(|units| units as u64),
        usage: Usage::default(),
        of: None,
    })
}

fn read_recorded(reader: &mut TomlReader, table: &TomlTable) -> Option<InputSource> {
    reader.read(table, "path", convert::line).map(|path| InputSource::Recorded { path })
}

fn read_command(reader: &mut TomlReader, table: &TomlTable) -> Option<InputSource> {
    let units = reader.read(table, "units", convert::whole(1..=MOST_UNITS));
    let seed = reader.read(table, "seed", convert::whole_64).unwrap_or(1);
    let command = reader.list(table, "command", convert::line)?;
    if command.is_empty() {
        let path = table.path_of("command");
        reader.complain_of(table, "command", format!("`{path}` names no program"));
        return None;
    }
    Some(InputSource::Command { command, units: units.map(|units| units as u64), seed })
}

/// Notes keys of generators in an input that is recorded or made by a command, then those that no input has.
fn refuse_other_keys(reader: &mut TomlReader, table: &TomlTable, items: &dyn TableLike, by: &str) {
    for (name, _) in items.iter() {
        let own = by == "command" && schema::COMMANDED.iter().any(|key| key.name == name);
        if (is_generated_key(name) || name == "command" && by == "path") && !own {
            let path = table.path_of(name);
            let problem = reader.complain(&path, format!("`{path}` and `{by}` cannot be used together"));
            problem.expected =
                Some("a generator with its keys, the path of a recorded file, or a command".into());
        }
    }
    reader.unknown_keys(&TomlTable::new(&table.path, Some(items), &all_keys()));
}

/// The keys that some input has.
fn all_keys() -> Vec<&'static [SchemaKey]> {
    let mut keys: Vec<&'static [SchemaKey]> = vec![
        schema::INPUT,
        schema::BESIDE,
        schema::RECORDED,
        &schema::COMMANDED[..1],
        schema::GENERATED,
        schema::DRAWN,
    ];
    keys.extend(schema::generators().map(|(_, keys)| keys));
    keys
}

fn is_generated_key(name: &str) -> bool {
    let keys = schema::generators().flat_map(|(_, keys)| keys);
    keys.chain(schema::GENERATED).chain(schema::DRAWN).any(|key| key.name == name)
}

/// The source of a generated input, and the table with the keys that its generator has.
fn read_generated<'a>(
    reader: &mut TomlReader,
    entry: &ListEntry,
    items: &'a dyn TableLike,
) -> (Option<InputSource>, TomlTable<'a>) {
    let common: &[&'static [SchemaKey]] =
        &[schema::INPUT, schema::BESIDE, schema::RECORDED, schema::GENERATED];
    let table = TomlTable::new(&entry.path, Some(items), common);
    let words: Vec<(&str, (&str, &'static [SchemaKey]))> =
        schema::generators().map(|generator| (generator.0, generator)).collect();
    let chosen = reader.read(&table, "generator", convert::choice(&words));
    let Some((generator, keys)) = chosen else {
        if table.has("generator") {
            name_generators(reader.problems.last_mut().expect("a wrong generator has been noted"));
        } else {
            neither(reader, &table, items);
        }
        return (None, table);
    };
    let drawn = match generator {
        schema::SETTINGS => &[][..],
        // What is made of a table is not repeated.
        _ if generator == schema::KEYS.0 => &schema::DRAWN[..1],
        _ => schema::DRAWN,
    };
    let table = TomlTable::new(&entry.path, Some(items), &[common, &[drawn, keys]].concat());
    refuse_other_generators_keys(reader, &table, items, generator, [keys, drawn]);
    let units = reader.read(&table, "units", convert::whole(1..=MOST_UNITS)).map(|units| units as u64);
    if generator == schema::SETTINGS {
        let units = units.unwrap_or(1);
        let settings = generator::read_settings(reader, &table, units);
        return (settings.map(|settings| InputSource::Settings { settings, units }), table);
    }
    if generator == schema::KEYS.0 {
        return (beside::read_keys(reader, &table, units.unwrap_or(UNITS)), table);
    }
    let kind = kind_named(generator);
    let units = units.unwrap_or(kind.map_or(UNITS, |kind| kind.units));
    let seed = reader.read(&table, "seed", convert::whole_64).unwrap_or(1);
    let distinct_units = read_distinct(reader, &table, units);
    let generator = match kind {
        Some(kind) => kinds::read(reader, &table, kind, distinct_units.unwrap_or(units)).map(Generator::Of),
        None => generator::read(reader, &table, generator),
    };
    if let Some(generator) = &generator {
        let bytes = generator.expected_bytes(units);
        if let Some(why) = too_large(units, bytes) {
            let size =
                ["size", "line_length"].into_iter().find(|key| keys.iter().any(|known| known.name == *key));
            let or_shorter = size.map_or(String::new(), |size| format!(", or for a lower `{size}`"));
            let at = ["units"].into_iter().chain(size).find(|key| table.has(key)).unwrap_or("generator");
            reader.complain(&table.path_of(at), format!("`{}`: {why}{or_shorter}", table.path_of("units")));
        }
    }
    let source = generator.map(|generator| InputSource::Generated { generator, units, seed, distinct_units });
    (source, table)
}

/// Why so many units are too many, if they have more bytes than [`MOST_BYTES`].
pub(super) fn too_large(units: u64, bytes: u128) -> Option<String> {
    let fitting = u128::from(MOST_BYTES) * u128::from(units) / bytes.max(1);
    let told = || words::bytes(u64::try_from(bytes).unwrap_or(u64::MAX));
    let most = words::bytes(MOST_BYTES);
    (bytes > u128::from(MOST_BYTES)).then(|| {
        format!(
            "{units} units are about {}, and a generated input has at most {most}: ask for at most {fitting}",
            told()
        )
    })
}

/// How many units are made and then repeated; `None` where none are.
fn read_distinct(reader: &mut TomlReader, table: &TomlTable, units: u64) -> Option<u64> {
    let distinct = reader.read(table, "distinct_units", convert::whole(1..=MOST_UNITS))? as u64;
    if distinct > units {
        let path = table.path_of("distinct_units");
        let message = format!("`{path}` is {distinct}, but the input has only {units} units");
        reader.complain_of(table, "distinct_units", message);
    }
    Some(distinct)
}

fn name_generators(problem: &mut Diagnostic) {
    let names: Vec<&str> = schema::generators().map(|(name, _)| name).collect();
    problem.expected = Some(format!("one of {}", names.join(", ")));
}

/// Notes that an input says nothing of where its bytes come from, or says it with a misspelt key.
fn neither(reader: &mut TomlReader, table: &TomlTable, items: &dyn TableLike) {
    let misspelt =
        |&(name, _): &(&str, _)| diagnostic::nearest(name, ["generator", "path", "command"]).is_some();
    if items.iter().any(|item| misspelt(&item)) {
        // Which generator's keys are right is not known.
        reader.unknown_keys(&TomlTable::new(&table.path, Some(items), &all_keys()));
        return;
    }
    let problem =
        reader.complain(&table.path, format!("`{}` has no generator, no path and no command", table.path));
    problem.example = Some("generator = \"log_uniform\"".into());
    name_generators(problem);
}

/// Notes keys that only other generators have, then those that no input has.
fn refuse_other_generators_keys(
    reader: &mut TomlReader,
    table: &TomlTable,
    items: &dyn TableLike,
    generator: &str,
    [own, drawn]: [&'static [SchemaKey]; 2],
) {
    let foreign = |name: &str| {
        let mut others = schema::generators().flat_map(|(_, keys)| keys).chain(schema::DRAWN);
        let allowed = own.iter().chain(drawn).any(|key| key.name == name);
        !allowed && others.any(|key| key.name == name)
    };
    for (name, _) in items.iter().filter(|&(name, _)| foreign(name)) {
        let path = table.path_of(name);
        let problem = reader.complain(&path, format!("`{path}` is not a parameter of \"{generator}\""));
        problem.expected =
            Some(format!("only {}", own.iter().map(|key| key.name).collect::<Vec<_>>().join(", ")));
        problem.example = own.last().map(|key| table.example_of(key.name));
    }
    reader.unknown_keys(&TomlTable::new(&table.path, Some(items), &[&[own], &*all_keys()].concat()));
}
