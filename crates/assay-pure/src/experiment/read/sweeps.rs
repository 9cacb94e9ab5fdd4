//! `[sweeps.NAME]`: which key of an input is varied, and how.

use toml_edit::{Item, TableLike, Value};

use super::entries::{self, Entry};
use super::reader::{Reader, Table, Wrong};
use super::{Diagnostic, Parsed};
use super::{convert, quantity, schema};
use crate::experiment::diagnostic::nearest;
use crate::sweep::key::{KeyError, SWEEPABLE, SweptKey, inputs_at};
use crate::sweep::spec::{POINTS, REFINE, Scale, SweepSpec, Tolerance};

const MOST_POINTS: i64 = 1000;

/// All sweeps of the file.
pub(super) fn read(reader: &mut Reader, top: &Table) -> Vec<SweepSpec> {
    let entries = entries::entries(reader, top, "sweeps", schema::SWEEP, false);
    entries.iter().filter_map(|entry| read_one(reader, top, entry)).collect()
}

fn read_one(reader: &mut Reader, top: &Table, entry: &Entry) -> Option<SweepSpec> {
    let table = Table::new(&entry.path, Some(entry.items?), &[schema::SWEEP]);
    reader.unknown_keys(&table);
    if !table.has("key") {
        reader.missing(&table, "key");
    }
    let key = reader.read(&table, "key", convert::line);
    let checked = key.and_then(|key| check_key(reader, top, &table, &key));
    let scale = convert::choice(&[("linear", Scale::Linear), ("geometric", Scale::Geometric)]);
    let scale = reader.read(&table, "scale", scale).unwrap_or_default();
    let range = read_range(reader, &table, scale);
    let points = reader.read(&table, "points", convert::whole(2..=MOST_POINTS));
    let refine = reader.read(&table, "refine", convert::whole(0..=MOST_POINTS));
    let tolerance = reader.read(&table, "tolerance", tolerance);
    let (key, takes) = checked?;
    let (from, to, values) = range?;
    let text = |name: &str| {
        let item = table.item(name)?;
        let first = item.as_array().map_or_else(|| item.as_value(), |list| list.get(0))?;
        first.as_str()
    };
    Some(SweepSpec {
        name: entry.name.clone()?,
        description: reader.read(&table, "description", convert::text),
        percent: takes == Takes::Share
            || ["from", "to", "values"].iter().any(|key| text(key).is_some_and(|text| text.contains('%'))),
        key: key.path(),
        from,
        to,
        points: points.map_or(POINTS, |points| points as u32),
        values,
        scale,
        refine: refine.map_or(REFINE, |refine| refine as u32),
        tolerance,
        whole: takes == Takes::Whole,
        variants: reader.list(&table, "variants", convert::line).unwrap_or_default(),
    })
}

/// The key and what it takes; what is wrong with it is noted.
fn check_key(reader: &mut Reader, top: &Table, table: &Table, text: &str) -> Option<(SweptKey, Takes)> {
    let found = SweptKey::parse(text).and_then(|key| takes(top, &key).map(|takes| (key, takes)));
    match found {
        Ok(found) => Some(found),
        Err(error) => {
            let problem = reader.complain_of(table, "key", error.to_string());
            problem.expected = Some(SWEEPABLE.to_owned());
            if let KeyError::NoInput(name, known) = &error {
                problem.nearest = nearest(name, known.iter().map(String::as_str)).map(str::to_owned);
                problem.expected = Some(format!("one of {}", known.join(", ")));
            }
            None
        }
    }
}

/// What a key takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Takes {
    Whole,
    Number,
    Share,
}

/// What a key takes.
///
/// # Errors
/// The file has no such input, or its generator no such key, or it is no number.
fn takes(top: &Table, key: &SweptKey) -> Result<Takes, KeyError> {
    let input = find_input(top, &key.input)?;
    let item = input.get(&key.path[0]);
    let known = schema_key(input, &key.path[0]);
    match (key.path.as_slice(), item, known) {
        ([_, below], Some(item), _) => self::below(item, below, key),
        ([_], Some(item), _) if item.is_table_like() || item.is_array() => {
            Err(KeyError::NoNumber(key.path()))
        }
        ([_], _, Some(known)) if known.expected.starts_with("a whole number") => Ok(Takes::Whole),
        ([_], _, Some(known)) if is_share(known) => Ok(Takes::Share),
        ([_], _, Some(known)) if is_number(known) => Ok(Takes::Number),
        ([_], _, Some(_)) => Err(KeyError::NoNumber(key.path())),
        _ => Err(KeyError::NoKey(key.path())),
    }
}

/// A number of a list takes any; a named one what stands there.
fn below(item: &Item, below: &str, key: &SweptKey) -> Result<Takes, KeyError> {
    let number = |value: Option<&Value>| match value {
        Some(Value::Integer(_)) => Ok(Takes::Whole),
        Some(Value::Float(_)) => Ok(Takes::Number),
        Some(_) => Err(KeyError::NoNumber(key.path())),
        None => Err(KeyError::NoKey(key.path())),
    };
    if let Some(list) = item.as_array() {
        let value = below.parse().ok().and_then(|index: usize| list.get(index));
        return number(value).map(|_| Takes::Number);
    }
    number(item.as_table_like().and_then(|table| table.get(below)).and_then(Item::as_value))
}

fn is_number(known: &schema::Key) -> bool {
    ["a number", "the mean length"].iter().any(|word| known.expected.starts_with(word))
}

fn is_share(known: &schema::Key) -> bool {
    known.expected.contains("a fraction")
}

fn schema_key(input: &dyn TableLike, name: &str) -> Option<&'static schema::Key> {
    let generator = input.get("generator").and_then(Item::as_str);
    let own = schema::GENERATORS.iter().find(|(known, _)| Some(*known) == generator).map(|(_, keys)| *keys);
    let (generated, drawn) =
        if generator.is_some() { (schema::GENERATED, schema::DRAWN) } else { (&[][..], &[][..]) };
    let mut keys = own.unwrap_or_default().iter().chain(generated).chain(drawn).chain(schema::INPUT);
    keys.find(|key| key.name == name)
}

/// The table of an input.
fn find_input<'a>(top: &Table<'a>, name: &str) -> Result<&'a dyn TableLike, KeyError> {
    let inputs = top.item("inputs");
    let mut named: Vec<(String, &'a dyn TableLike)> = Vec::new();
    if let Some(tables) = inputs.and_then(Item::as_table_like) {
        named.extend(tables.iter().filter_map(|(name, item)| Some((name.to_owned(), item.as_table_like()?))));
    } else if let Some(elements) = inputs.and_then(entries::elements) {
        named.extend(elements.into_iter().filter_map(|element| {
            let entries::Element::Table(table) = element else { return None };
            Some((table.get("name")?.as_str()?.to_owned(), table))
        }));
    }
    let found = named.iter().find(|(known, _)| known == name).map(|(_, table)| *table);
    found.ok_or_else(|| {
        KeyError::NoInput(name.to_owned(), named.into_iter().map(|(known, _)| known).collect())
    })
}

/// From, to and the single values; what is wrong is noted.
fn read_range(reader: &mut Reader, table: &Table, scale: Scale) -> Option<(f64, f64, Vec<f64>)> {
    if table.has("values") {
        for other in ["from", "to", "points"].into_iter().filter(|other| table.has(other)) {
            let path = table.path_of(other);
            let problem = reader.complain(&path, format!("`{path}` and `values` exclude each other"));
            problem.expected = Some("a range with its points, or the values one by one".into());
        }
        let mut values = reader.list(table, "values", amount)?;
        values.sort_by(f64::total_cmp);
        let (&from, &to) = values.first().zip(values.last())?;
        if from == to {
            reader.complain_of(table, "values", "fewer than two different values are no sweep");
            return None;
        }
        return in_scale(reader, table, ("values", from), scale).then_some((from, to, values));
    }
    for required in ["from", "to"].into_iter().filter(|required| !table.has(required)) {
        reader.missing(table, required);
    }
    let (from, to) = (reader.read(table, "from", amount), reader.read(table, "to", amount));
    let (from, to) = (from?, to?);
    if from >= to {
        let message = format!("`{}` is {to}, not above `from`, which is {from}", table.path_of("to"));
        reader.complain_of(table, "to", message);
        return None;
    }
    in_scale(reader, table, ("from", from), scale).then_some((from, to, Vec::new()))
}

/// A geometric scale has no 0.
fn in_scale(reader: &mut Reader, table: &Table, (key, least): (&str, f64), scale: Scale) -> bool {
    let fits = scale == Scale::Linear || least > 0.0;
    if !fits {
        let message = format!("`{}` is {least}, but a geometric scale begins above 0", table.path_of(key));
        reader.complain_of(table, key, message).expected =
            Some("a number above 0, or scale = \"linear\"".into());
    }
    fits
}

/// A number, or a text as in "4k", "1 Mi" or "31 %".
fn amount(value: &Value) -> Result<f64, Wrong> {
    match value {
        Value::String(text) => quantity::amount(text.value()).ok_or(Wrong::Unreadable),
        Value::Integer(number) => Ok(*number.value() as f64),
        Value::Float(number) if number.value().is_finite() => Ok(*number.value()),
        Value::Float(_) => Err(Wrong::Range),
        _ => Err(Wrong::Type),
    }
}

/// A width: relative as a text in per cent, else in the key's unit.
fn tolerance(value: &Value) -> Result<Tolerance, Wrong> {
    let found = match value.as_str() {
        Some(text) if text.contains('%') => {
            Tolerance::Relative(quantity::amount(text).ok_or(Wrong::Unreadable)?)
        }
        _ => Tolerance::Absolute(amount(value)?),
    };
    let (Tolerance::Relative(width) | Tolerance::Absolute(width)) = found;
    if width > 0.0 { Ok(found) } else { Err(Wrong::Range) }
}

/// The ends of each range that the key's own reader refuses.
pub(super) fn outside_their_domain(parsed: &Parsed, text: &str) -> Vec<Diagnostic> {
    let mut problems = Vec::new();
    for (index, sweep) in parsed.experiment.sweeps.iter().enumerate() {
        let Ok(key) = SweptKey::parse(&sweep.key) else { continue };
        let grid = sweep.grid();
        for (value, end) in grid.first().into_iter().zip(["from"]).chain(grid.last().into_iter().zip(["to"]))
        {
            let name = |input: &str| sweep.point_name(input, *value);
            let read = inputs_at(text, parsed.spans.file(), &key, (*value, sweep.whole), &name);
            let Err((message, expected)) = read else { continue };
            let end = if sweep.values.is_empty() { end } else { "values" };
            let named = format!("sweeps.{}.{end}", sweep.name);
            let listed = format!("sweeps[{index}].{end}");
            let place = if parsed.spans.locate(&named).is_some() { named } else { listed };
            let message = format!("`{}` cannot be {value}: {message}", sweep.key);
            let problem = parsed.diagnostic(&place, message, None, None);
            problems.push(match expected {
                Some(expected) => problem.with_expected(expected),
                None => problem,
            });
        }
    }
    problems
}
