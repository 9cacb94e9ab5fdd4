//! Values of parameters, and a kind with its values as data: the form that a ledger keeps.

use super::{Domain, InputRecipe, kind_named};
use crate::inputs::{Format, NumberType};
use serde::de::Error as _;
use serde::ser::SerializeMap as _;
use serde_json::{Map, Value};

/// The value of one parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Argument {
    /// A whole number.
    Whole(i128),
    /// A number or share.
    Number(f64),
}

/// The values of all parameters of a kind, and the format that is made.
#[derive(Clone, Debug, PartialEq)]
pub struct Arguments {
    /// The format.
    pub(super) format: Format,
    /// By name, in the order of the table.
    pub(super) values: Vec<(&'static str, Argument)>,
}

/// Why values make no input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArgumentError {
    /// The parameter that has to change.
    pub parameter: &'static str,
    /// Why, in one sentence.
    pub message: String,
}

impl ArgumentError {
    pub(super) fn new(parameter: &'static str, message: String) -> ArgumentError {
        ArgumentError { parameter, message }
    }
}

impl std::fmt::Display for ArgumentError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ArgumentError {}

impl Arguments {
    fn value(&self, name: &str) -> Argument {
        let found = self.values.iter().find(|(known, _)| *known == name);
        found.expect("a kind asks for its own parameters").1
    }

    /// A whole number.
    pub(super) fn whole(&self, name: &str) -> i128 {
        match self.value(name) {
            Argument::Whole(value) => value,
            Argument::Number(_) => unreachable!("{name} is a whole number"),
        }
    }

    /// A number or share.
    pub(super) fn number(&self, name: &str) -> f64 {
        match self.value(name) {
            Argument::Number(value) => value,
            Argument::Whole(value) => value as f64,
        }
    }

    /// The type of the numbers that are made.
    pub(super) fn number_type(&self) -> NumberType {
        match self.format {
            Format::Numbers(number) => number,
            other => unreachable!("{other:?} has no numbers"),
        }
    }

    /// `min` and `max`, or that they are out of order.
    pub(super) fn range(&self) -> Result<(i128, i128), ArgumentError> {
        let (min, max) = (self.whole("min"), self.whole("max"));
        if min > max {
            return Err(ArgumentError::new("max", format!("min is {min}, above max, which is {max}")));
        }
        Ok((min, max))
    }
}

impl InputRecipe {
    /// The values of its parameters, in the order of the table.
    pub fn values(&self) -> impl Iterator<Item = (&'static str, Argument)> + '_ {
        self.arguments.values.iter().copied()
    }
}

impl serde::Serialize for InputRecipe {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("generator", self.kind().name)?;
        map.serialize_entry("format", &self.format())?;
        for (name, value) in &self.arguments.values {
            match *value {
                Argument::Whole(value) if value < 0 => map.serialize_entry(name, &(value as i64))?,
                Argument::Whole(value) => map.serialize_entry(name, &(value as u64))?,
                Argument::Number(value) => map.serialize_entry(name, &value)?,
            }
        }
        map.end()
    }
}

impl<'de> serde::Deserialize<'de> for InputRecipe {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<InputRecipe, D::Error> {
        let map = Map::deserialize(deserializer)?;
        let name = map.get("generator").and_then(Value::as_str).unwrap_or_default();
        let kind =
            kind_named(name).ok_or_else(|| D::Error::custom(format!("there is no generator `{name}`")))?;
        let format = map.get("format").and_then(Value::as_str).and_then(Format::parse);
        let format = format.ok_or_else(|| D::Error::custom("a generator has no format"))?;
        let recipe = InputRecipe::new(kind, format, |parameter| {
            let value = map.get(parameter.name)?;
            match parameter.domain {
                Domain::Whole(..) | Domain::Value => {
                    let whole = value.as_i64().map(i128::from).or_else(|| value.as_u64().map(i128::from));
                    whole.map(Argument::Whole)
                }
                Domain::Number(..) | Domain::Share => value.as_f64().map(Argument::Number),
            }
        });
        recipe.map_err(D::Error::custom)
    }
}
