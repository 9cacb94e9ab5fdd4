//! Which numbers of an input a sweep can vary, what each takes, and which was meant by a key that leads to none.

use toml_edit::{Item, TableLike, Value};

use super::reader::TomlTable;
use super::{entries, schema};
use crate::experiment::diagnostic::nearest;
use crate::sweep::key::{SWEEPABLE, SweptKey, SweptKeyError};

/// What a key takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Takes {
    /// A whole number.
    Whole,
    /// Any number.
    Number,
    /// A number from 0 to 1, or a text in per cent.
    Share,
}

/// What a key takes.
///
/// # Errors
/// The file has no such input, or its generator no such key, or it is no number.
pub(super) fn takes(top: &TomlTable, key: &SweptKey) -> Result<Takes, SweptKeyError> {
    let input = find_input(top, &key.input)?;
    let item = input.get(&key.path[0]);
    let known = schema_key(input, &key.path[0]);
    match (key.path.as_slice(), item, known) {
        ([_, below], Some(item), _) => self::below(item, below, key),
        ([_], Some(item), _) if item.is_table_like() || item.is_array() => {
            Err(SweptKeyError::NoNumber(key.path()))
        }
        ([_], _, Some(known)) => of_schema(known).ok_or_else(|| SweptKeyError::NoNumber(key.path())),
        _ => Err(SweptKeyError::NoKey(key.path())),
    }
}

/// A number of a list takes any; a named one what stands there.
fn below(item: &Item, below: &str, key: &SweptKey) -> Result<Takes, SweptKeyError> {
    let number = |value: Option<&Value>| match value {
        Some(Value::Integer(_)) => Ok(Takes::Whole),
        Some(Value::Float(_)) => Ok(Takes::Number),
        Some(_) => Err(SweptKeyError::NoNumber(key.path())),
        None => Err(SweptKeyError::NoKey(key.path())),
    };
    if let Some(list) = item.as_array() {
        let value = below.parse().ok().and_then(|index: usize| list.get(index));
        return number(value).map(|_| Takes::Number);
    }
    number(item.as_table_like().and_then(|table| table.get(below)).and_then(Item::as_value))
}

/// What a single value takes, if it is a number.
fn of_schema(known: &schema::SchemaKey) -> Option<Takes> {
    let begins = |words: &[&str]| words.iter().any(|word| known.expected.starts_with(word));
    match known.expected {
        _ if begins(&["an integer"]) => Some(Takes::Whole),
        text if text.contains("a fraction") => Some(Takes::Share),
        _ if begins(&["a number", "the mean length"]) => Some(Takes::Number),
        _ => None,
    }
}

fn schema_key(input: &dyn TableLike, name: &str) -> Option<&'static schema::SchemaKey> {
    schema_keys(input).find(|key| key.name == name)
}

/// The keys that an input may have, by where its bytes come from.
fn schema_keys(input: &dyn TableLike) -> impl Iterator<Item = &'static schema::SchemaKey> {
    let generator = input.get("generator").and_then(Item::as_str);
    let own = schema::generators().find(|(known, _)| Some(*known) == generator).map(|(_, keys)| keys);
    let (generated, drawn) = match generator {
        Some(_) => (schema::GENERATED, schema::DRAWN),
        None if input.contains_key("command") => (schema::COMMANDED, &[][..]),
        None => (&[][..], &[][..]),
    };
    own.unwrap_or_default().iter().chain(generated).chain(drawn).chain(schema::INPUT)
}

/// The tables of all inputs by name.
fn named<'a>(top: &TomlTable<'a>) -> Vec<(String, &'a dyn TableLike)> {
    let inputs = top.item("inputs");
    if let Some(tables) = inputs.and_then(Item::as_table_like) {
        let table = |(name, item): (&str, &'a Item)| Some((name.to_owned(), item.as_table_like()?));
        return tables.iter().filter_map(table).collect();
    }
    let elements = inputs.and_then(entries::elements).into_iter().flatten();
    let table = |element| {
        let entries::Element::Table(table) = element else { return None };
        Some((table.get("name")?.as_str()?.to_owned(), table))
    };
    elements.filter_map(table).collect()
}

/// The table of an input.
fn find_input<'a>(top: &TomlTable<'a>, name: &str) -> Result<&'a dyn TableLike, SweptKeyError> {
    let named = named(top);
    let found = named.iter().find(|(known, _)| known == name).map(|(_, table)| *table);
    found.ok_or_else(|| {
        SweptKeyError::NoInput(name.to_owned(), named.into_iter().map(|(known, _)| known).collect())
    })
}

/// What is expected instead of a key that cannot be swept, and the nearest that can be.
pub(super) fn advice(top: &TomlTable, text: &str, error: &SweptKeyError) -> (String, Option<String>) {
    let written = SweptKey::parse(text);
    let of_input = |input: &str| named(top).into_iter().find(|(name, _)| name == input);
    match (error, written) {
        (SweptKeyError::NoInput(name, known), _) => {
            let near = nearest(name, known.iter().map(String::as_str));
            let path = near.map(|near| text.replacen(name.as_str(), near, 1));
            (format!("an input of the file: {}", known.join(", ")), path)
        }
        (SweptKeyError::NoKey(_) | SweptKeyError::NoNumber(_), Ok(key)) => {
            let numbers = of_input(&key.input).map(|(_, table)| numbers(table)).unwrap_or_default();
            let near = nearest(&key.path.join("."), numbers.iter().map(String::as_str));
            let path = near.map(|near| format!("inputs.{}.{near}", key.input));
            (format!("a number of `{}`: {}", key.input, numbers.join(", ")), path)
        }
        _ => {
            let all = named(top).into_iter().flat_map(|(name, table)| {
                numbers(table).into_iter().map(move |number| format!("inputs.{name}.{number}"))
            });
            let all: Vec<String> = all.collect();
            let end = format!(".{text}");
            let near = all.iter().find(|path| path.ends_with(&end)).cloned();
            let near = near.or_else(|| nearest(text, all.iter().map(String::as_str)).map(str::to_owned));
            (SWEEPABLE.to_owned(), near)
        }
    }
}

/// The numbers of an input that can be swept, by their way down from its table; those of a list that stand there.
fn numbers(input: &dyn TableLike) -> Vec<String> {
    let mut found = Vec::new();
    for key in schema_keys(input).filter(|key| key.name != "seed") {
        let item = input.get(key.name);
        if let Some(list) = item.and_then(Item::as_array) {
            let amounts = list.iter().enumerate().filter(|(_, value)| is_amount(value));
            found.extend(amounts.map(|(index, _)| format!("{}.{index}", key.name)));
        } else if let Some(table) = item.and_then(Item::as_table_like) {
            let amounts = table.iter().filter(|(_, item)| item.as_value().is_some_and(is_amount));
            found.extend(amounts.map(|(name, _)| format!("{}.{name}", key.name)));
        } else if of_schema(key).is_some() {
            found.push(key.name.to_owned());
        }
    }
    found
}

fn is_amount(value: &Value) -> bool {
    matches!(value, Value::Integer(_) | Value::Float(_))
}
