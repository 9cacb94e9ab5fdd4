//! Keys of inputs by path, and an experiment file with another value at one of them.
//!
//! Method: the text is parsed, the value set in its tree, and the whole read again, so that whatever a key means it means at
//! every point, and a value outside its domain is refused by whoever reads that key. Checked: by example.

use std::fmt;

use toml_edit::{ArrayOfTables, DocumentMut, Item, TableLike, Value};

use crate::experiment::spec::{Experiment, InputSpec};

/// A key below `inputs`: the input's name and the way down from its table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SweptKey {
    /// The input.
    pub input: String,
    /// From its table down: `["weights", "1"]`; numbers count from 0.
    pub path: Vec<String>,
}

/// Why a key cannot be swept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SweptKeyError {
    /// It says how is measured, not what.
    HowNotWhat(String),
    /// It has no order, so nothing lies between two of its values.
    NoOrder(String),
    /// It is no key of an input.
    NotOfAnInput(String),
    /// The file has no such input; those it has.
    NoInput(String, Vec<String>),
    /// The way down leads nowhere.
    NoKey(String),
    /// It is there, but no number.
    NoNumber(String),
}

/// What can be swept, in one sentence.
pub const SWEEPABLE: &str = "a number of an input by its path: inputs.NAME.units, .multi_byte, .weights.0, .mean_length, \
                             .distinct_units, .settings.loss";

impl fmt::Display for SweptKeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SweptKeyError::HowNotWhat(key) => {
                write!(f, "`{key}` says how it is measured, not what: it cannot be swept")
            }
            SweptKeyError::NoOrder(key) => {
                write!(
                    f,
                    "`{key}` only draws another sample of the same thing: its values have no order to sweep"
                )
            }
            SweptKeyError::NotOfAnInput(key) => write!(f, "`{key}` is not a key of an input"),
            SweptKeyError::NoInput(input, _) => write!(f, "no input is named `{input}`"),
            SweptKeyError::NoKey(key) => write!(f, "there is nothing at `{key}`"),
            SweptKeyError::NoNumber(key) => write!(f, "`{key}` is not a number"),
        }
    }
}

impl std::error::Error for SweptKeyError {}

impl SweptKey {
    /// Reads a path: `inputs.mixed.weights.1` or `inputs.mixed.weights[1]`.
    ///
    /// # Errors
    /// It does not lead to a key of an input.
    pub fn parse(text: &str) -> Result<SweptKey, SweptKeyError> {
        let plain = text.trim().replace('[', ".").replace(']', "");
        let mut parts = plain.split('.').map(str::to_owned);
        let first = parts.next().unwrap_or_default();
        let how = ["budget", "confidence", "minimum_effect", "placement", "clock", "seed"];
        if how.contains(&first.as_str()) {
            return Err(SweptKeyError::HowNotWhat(text.to_owned()));
        }
        let (input, path) = (parts.next().unwrap_or_default(), parts.collect::<Vec<_>>());
        if first != "inputs" || input.is_empty() || path.is_empty() || path.iter().any(String::is_empty) {
            return Err(SweptKeyError::NotOfAnInput(text.to_owned()));
        }
        if path == ["seed"] {
            return Err(SweptKeyError::NoOrder(text.to_owned()));
        }
        Ok(SweptKey { input, path })
    }

    /// The path in its one form.
    pub fn path(&self) -> String {
        format!("inputs.{}.{}", self.input, self.path.join("."))
    }
}

/// A value of a swept key.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SweptValue {
    /// The number.
    pub at: f64,
    /// It is written as a whole one.
    pub whole: bool,
}

/// The inputs of an experiment file with another value at a key: the input itself and what is made of it by its states and
/// measures, each named after the value.
///
/// Input: the file's text and name, a key that is there, the value, the name for an input at this point. Errors: what the reader says of the value: the first problem, in its words, and what
/// it expected.
pub fn inputs_at(
    text: &str,
    file: &str,
    key: &SweptKey,
    value: SweptValue,
    name: &dyn Fn(&str) -> String,
) -> Result<Vec<InputSpec>, (String, Option<String>)> {
    let mut document: DocumentMut =
        text.parse().map_err(|error: toml_edit::TomlError| (error.to_string(), None))?;
    // The sweeps would be read again at every point of theirs, and claims may speak of other values.
    document.remove("sweeps");
    document.remove("claims");
    set(&mut document, key, value).map_err(|error| (error.to_string(), None))?;
    let read = Experiment::from_toml(&document.to_string(), file);
    let experiment = match read {
        Ok(parsed) => parsed.experiment,
        Err(problems) => {
            let first = problems.into_iter().next();
            return Err(first.map_or((String::new(), None), |problem| (problem.message, problem.expected)));
        }
    };
    let of = |input: &InputSpec| {
        input.name == key.input
            || input.name.strip_prefix(key.input.as_str()).is_some_and(|rest| rest.starts_with('@'))
            // What stands beside others changes these.
            || input.with.iter().any(|second| second.input == key.input)
    };
    let inputs = experiment.inputs.into_iter().filter(of);
    Ok(inputs.map(|input| InputSpec { name: name(&input.name), ..input }).collect())
}

/// Writes a number at a key.
fn set(document: &mut DocumentMut, key: &SweptKey, value: SweptValue) -> Result<(), SweptKeyError> {
    let missing = || SweptKeyError::NoInput(key.input.clone(), Vec::new());
    let table =
        input_table(document.get_mut("inputs").ok_or_else(missing)?, &key.input).ok_or_else(missing)?;
    let number = if value.whole { Value::from(value.at as i64) } else { Value::from(value.at) };
    let nowhere = || SweptKeyError::NoKey(key.path());
    match key.path.as_slice() {
        [name] => {
            table.insert(name, Item::Value(number));
        }
        [name, below] => {
            let item = table.get_mut(name).ok_or_else(nowhere)?;
            if let Some(array) = item.as_array_mut() {
                let index: usize = below.parse().map_err(|_| nowhere())?;
                *array.get_mut(index).ok_or_else(nowhere)? = number;
            } else {
                item.as_table_like_mut().ok_or_else(nowhere)?.insert(below, Item::Value(number));
            }
        }
        _ => return Err(nowhere()),
    }
    Ok(())
}

/// The table of an input in any form that a file may have.
fn input_table<'a>(inputs: &'a mut Item, name: &str) -> Option<&'a mut dyn TableLike> {
    match inputs {
        Item::ArrayOfTables(tables) => listed(tables, name),
        Item::Value(Value::Array(values)) => values
            .iter_mut()
            .filter_map(Value::as_inline_table_mut)
            .find(|table| table.get("name").and_then(Value::as_str) == Some(name))
            .map(|table| table as &mut dyn TableLike),
        other => other.as_table_like_mut()?.get_mut(name)?.as_table_like_mut(),
    }
}

fn listed<'a>(tables: &'a mut ArrayOfTables, name: &str) -> Option<&'a mut dyn TableLike> {
    tables
        .iter_mut()
        .find(|table| table.get("name").and_then(Item::as_str) == Some(name))
        .map(|table| table as &mut dyn TableLike)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::spec::InputSource;
    use crate::inputs::Generator;

    const HEAD: &str =
        "question = \"a\"\nbaseline = \"b\"\nvariants = [\"b\", \"c\"]\nprogram = { sources = [\"p.c\"] }\n";

    fn at(inputs: &str, key: &str, at: f64, whole: bool) -> Result<Vec<InputSpec>, (String, Option<String>)> {
        let key = SweptKey::parse(key).expect("a key");
        inputs_at(&format!("{HEAD}{inputs}"), "e.toml", &key, SweptValue { at, whole }, &|name| {
            format!("{name}!")
        })
    }

    #[test]
    fn sets_a_key_in_every_form_of_the_inputs() {
        for inputs in [
            "[inputs.mixed]\ngenerator = \"log_uniform\"\nunits = 7\n",
            "[[inputs]]\nname = \"mixed\"\ngenerator = \"log_uniform\"\n",
            "inputs = [{ name = \"mixed\", generator = \"log_uniform\" }]\n",
        ] {
            let found = at(inputs, "inputs.mixed.units", 4096.0, true).expect(inputs);
            assert_eq!(found.len(), 1);
            assert_eq!(found[0].name, "mixed!");
            assert!(matches!(found[0].source, InputSource::Generated { units: 4096, .. }), "{found:?}");
        }
    }

    #[test]
    fn sets_one_of_the_numbers_of_a_list() {
        let inputs = "[inputs.mixed]\ngenerator = \"lengths\"\nweights = [80, 18, 2]\n";
        for key in ["inputs.mixed.weights.1", "inputs.mixed.weights[1]"] {
            let found = at(inputs, key, 40.5, false).expect(key);
            let InputSource::Generated { generator: Generator::Lengths { weights }, .. } = &found[0].source
            else {
                panic!("{found:?}")
            };
            assert_eq!(weights, &[80.0, 40.5, 2.0]);
        }
        let (message, _) = at(inputs, "inputs.mixed.weights.3", 1.0, false).expect_err("three numbers");
        assert_eq!(message, "there is nothing at `inputs.mixed.weights.3`");
    }

    #[test]
    fn a_value_outside_the_domain_is_refused_by_whoever_reads_the_key() {
        let inputs = "[inputs.mixed]\ngenerator = \"bursts\"\nweights = [80, 18]\nmean_length = 2\n";
        let (message, expected) = at(inputs, "inputs.mixed.mean_length", 0.5, false).expect_err("below 1");
        assert_eq!(message, "`inputs.mixed.mean_length` is out of range: 0.5");
        assert!(expected.is_some_and(|expected| expected.contains("a number from 1")));
    }

    #[test]
    fn sweeps_and_claims_of_the_file_are_no_part_of_a_point() {
        let inputs = "[inputs.mixed]\ngenerator = \"log_uniform\"\n[sweeps.a]\nkey = \"nonsense\"\n[[claims]]\ntext = 1\n";
        assert_eq!(at(inputs, "inputs.mixed.units", 4.0, true).map(|inputs| inputs.len()), Ok(1));
    }

    #[test]
    fn says_why_a_key_cannot_be_swept() {
        let said = |text: &str| SweptKey::parse(text).expect_err(text).to_string();
        assert_eq!(said("budget"), "`budget` says how it is measured, not what: it cannot be swept");
        assert!(said("placement.rotations").contains("how it is measured"));
        assert!(said("inputs.mixed.seed").contains("no order"));
        for other in ["units", "inputs.mixed", "inputs", "program.flags", "", "inputs..units", "inputs.a."] {
            assert!(said(other).ends_with("is not a key of an input"), "{other}");
        }
    }
}
