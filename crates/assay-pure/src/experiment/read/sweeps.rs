//! `[sweeps.NAME]`: which key of an input is varied, and how.

use toml_edit::Value;

use super::entries::{self, ListEntry};
use super::parsed::ParsedExperiment;
use super::reader::{TomlReader, TomlTable, WrongValue};
use super::swept::{self, Takes};
use super::{convert, quantity, schema};
use crate::experiment::diagnostic::Diagnostic;
use crate::sweep::key::{SweptKey, SweptValue, inputs_at};
use crate::sweep::scale::Scale;
use crate::sweep::spec::{POINTS, REFINE, SweepSpec, Tolerance};

const MOST_POINTS: i64 = 1000;

/// All sweeps of the file.
pub(super) fn read(reader: &mut TomlReader, top: &TomlTable) -> Vec<SweepSpec> {
    let entries = entries::entries(reader, top, "sweeps", schema::SWEEP, false);
    entries.iter().filter_map(|entry| read_one(reader, top, entry)).collect()
}

fn read_one(reader: &mut TomlReader, top: &TomlTable, entry: &ListEntry) -> Option<SweepSpec> {
    let table = TomlTable::new(&entry.path, Some(entry.items?), &[schema::SWEEP]);
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
fn check_key(
    reader: &mut TomlReader,
    top: &TomlTable,
    table: &TomlTable,
    text: &str,
) -> Option<(SweptKey, Takes)> {
    let found = SweptKey::parse(text).and_then(|key| swept::takes(top, &key).map(|takes| (key, takes)));
    match found {
        Ok(found) => Some(found),
        Err(error) => {
            let (expected, nearest) = swept::advice(top, text, &error);
            let problem = reader.complain_of(table, "key", error.to_string());
            problem.expected = Some(expected);
            problem.nearest = nearest;
            None
        }
    }
}

/// From, to and the single values; what is wrong is noted.
fn read_range(reader: &mut TomlReader, table: &TomlTable, scale: Scale) -> Option<(f64, f64, Vec<f64>)> {
    if table.has("values") {
        for other in ["from", "to", "points"].into_iter().filter(|other| table.has(other)) {
            let path = table.path_of(other);
            let problem = reader.complain(&path, format!("`{path}` and `values` cannot be used together"));
            problem.expected = Some("a range (from, to, points) or a list of values".into());
        }
        let mut values = reader.list(table, "values", amount)?;
        values.sort_by(f64::total_cmp);
        let (&from, &to) = values.first().zip(values.last())?;
        if from == to {
            reader.complain_of(table, "values", "a sweep needs at least two different values");
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
        reader.complain_of(table, "to", message).expected = Some(format!("more than {from}"));
        return None;
    }
    in_scale(reader, table, ("from", from), scale).then_some((from, to, Vec::new()))
}

/// A geometric scale has no 0.
fn in_scale(reader: &mut TomlReader, table: &TomlTable, (key, least): (&str, f64), scale: Scale) -> bool {
    let fits = scale == Scale::Linear || least > 0.0;
    if !fits {
        let message =
            format!("`{}` is {least}, but a geometric scale needs values above 0", table.path_of(key));
        reader.complain_of(table, key, message).expected =
            Some("a number above 0, or scale = \"linear\"".into());
    }
    fits
}

/// A number, or a text as in "4k", "1 Mi" or "31 %".
fn amount(value: &Value) -> Result<f64, WrongValue> {
    match value {
        Value::String(text) => quantity::amount(text.value()).ok_or(WrongValue::Unreadable),
        Value::Integer(number) => Ok(*number.value() as f64),
        Value::Float(number) if number.value().is_finite() => Ok(*number.value()),
        Value::Float(_) => Err(WrongValue::Range),
        _ => Err(WrongValue::Type),
    }
}

/// A width: relative as a text in per cent, else in the key's unit.
fn tolerance(value: &Value) -> Result<Tolerance, WrongValue> {
    let found = match value.as_str() {
        Some(text) if text.contains('%') => {
            Tolerance::Relative(quantity::amount(text).ok_or(WrongValue::Unreadable)?)
        }
        _ => Tolerance::Absolute(amount(value)?),
    };
    let (Tolerance::Relative(width) | Tolerance::Absolute(width)) = found;
    if width > 0.0 { Ok(found) } else { Err(WrongValue::Range) }
}

/// The ends of each range that the key's own reader refuses.
pub(super) fn outside_their_domain(parsed: &ParsedExperiment, text: &str) -> Vec<Diagnostic> {
    let mut problems = Vec::new();
    for (index, sweep) in parsed.experiment.sweeps.iter().enumerate() {
        let Ok(key) = SweptKey::parse(&sweep.key) else { continue };
        let grid = sweep.grid();
        for (value, end) in grid.first().into_iter().zip(["from"]).chain(grid.last().into_iter().zip(["to"]))
        {
            let name = |input: &str| sweep.point_name(input, *value);
            let read = inputs_at(
                text,
                parsed.spans.file(),
                &key,
                SweptValue { at: *value, whole: sweep.whole },
                &name,
            );
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
