//! The kinds of generated inputs beyond varints: one table that the reader of experiment files, sweeps, the lists of the
//! command line and the documents all take their names, domains, defaults and explanations from.
//!
//! A kind is data: its parameters, the formats it can make, and a function from their values, a number of units and a
//! stream of draws to bytes. The bytes of a kind with the same parameters, units and seed never change; a new parameter
//! needs a default that leaves them as they were. A family of kinds is a file.
//!
//! Shares that are asked for are exact counts at random places, not independent draws: so a million values have the 1 % of
//! NaN that were asked for, and not one of 0.97 %.
//!
//! Checked: digests of each kind, those of `uniform`, `permutation`, `booleans`, `few_distinct`, `uniform_floats`, `wide_floats`
//! and `ascending` also by a separate implementation in Python; statistics of samples against closed forms.

mod argument;
mod booleans;
mod bytes;
mod floats;
mod integers;
mod messages;
mod order;
mod parameter;
mod text;

pub use argument::{Argument, ArgumentError, Arguments};
pub(super) use integers::Ranks;
pub use parameter::{Domain, Parameter, Preset};

use super::draw::Draw;
use super::{Format, NumberType};

/// One kind of generated input.
pub struct Kind {
    /// As files name it.
    pub name: &'static str,
    /// What it makes, in one line.
    pub says: &'static str,
    /// The formats it can make; the first is the default.
    pub formats: &'static [Format],
    /// Units where a file does not say how many.
    pub units: u64,
    /// Its parameters, in the order in which they are explained.
    pub parameters: &'static [Parameter],
    /// Whether the parameters go together, with each other, the format and the number of units.
    check: fn(&Arguments, u64) -> Result<(), ArgumentError>,
    /// The bytes.
    make: fn(&Arguments, u64, &mut Draw) -> Vec<u8>,
}

/// The families, each with a heading for lists.
pub const FAMILIES: [(&str, &[Kind]); 7] = [
    ("integers", integers::KINDS),
    ("orders", order::KINDS),
    ("floating point", floats::KINDS),
    ("booleans", booleans::KINDS),
    ("bytes", bytes::KINDS),
    ("text", text::KINDS),
    ("messages", messages::KINDS),
];

/// All kinds, family by family.
pub fn kinds() -> impl Iterator<Item = &'static Kind> {
    FAMILIES.iter().flat_map(|(_, kinds)| *kinds)
}

/// The kind of a name.
pub fn kind_named(name: &str) -> Option<&'static Kind> {
    kinds().find(|kind| kind.name == name)
}

/// Types of whole numbers, the most usual first.
const INTEGERS: &[Format] = &[
    Format::Numbers(NumberType::U32),
    Format::Numbers(NumberType::U64),
    Format::Numbers(NumberType::I32),
    Format::Numbers(NumberType::I64),
    Format::Numbers(NumberType::U16),
    Format::Numbers(NumberType::U8),
];

/// All types of numbers, for kinds of whole numbers that floating point can hold too.
const NUMBERS: &[Format] = &[
    Format::Numbers(NumberType::U32),
    Format::Numbers(NumberType::U64),
    Format::Numbers(NumberType::I32),
    Format::Numbers(NumberType::I64),
    Format::Numbers(NumberType::U16),
    Format::Numbers(NumberType::U8),
    Format::Numbers(NumberType::F32),
    Format::Numbers(NumberType::F64),
];

/// A kind with values for all of its parameters, in one format: what makes bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct InputRecipe {
    kind: &'static Kind,
    arguments: Arguments,
}

impl PartialEq for Kind {
    fn eq(&self, other: &Kind) -> bool {
        self.name == other.name
    }
}

impl std::fmt::Debug for Kind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

impl InputRecipe {
    /// A kind in a format, with the given values; parameters without one have their default.
    ///
    /// # Errors
    /// A format that the kind does not make, a required parameter that is missing, a value outside of its domain.
    pub fn new(
        kind: &'static Kind,
        format: Format,
        mut given: impl FnMut(&Parameter) -> Option<Argument>,
    ) -> Result<InputRecipe, ArgumentError> {
        if !kind.formats.contains(&format) {
            let words: Vec<String> = kind.formats.iter().map(|format| format.word()).collect();
            let message =
                format!("\"{}\" makes {}, not {}", kind.name, crate::words::list(&words), format.word());
            return Err(ArgumentError::new("format", message));
        }
        let mut values = Vec::new();
        for parameter in kind.parameters {
            let value = given(parameter).or_else(|| parameter.preset.value(format));
            let value = value.ok_or_else(|| {
                ArgumentError::new(parameter.name, format!("\"{}\" needs {}", kind.name, parameter.name))
            })?;
            parameter.domain.check(parameter.name, value, format)?;
            values.push((parameter.name, value));
        }
        Ok(InputRecipe { kind, arguments: Arguments { format, values } })
    }

    /// The same for another number of units: what is counted over the whole input goes with it.
    pub fn scaled(&self, from: u64, to: u64) -> InputRecipe {
        let mut scaled = self.clone();
        for (name, value) in &mut scaled.arguments.values {
            if let ("inversions", Argument::Whole(count)) = (*name, value) {
                *count = *count * i128::from(to) / i128::from(from.max(1));
            }
        }
        scaled
    }

    /// The kind.
    pub fn kind(&self) -> &'static Kind {
        self.kind
    }

    /// How its units are found.
    pub fn format(&self) -> Format {
        self.arguments.format
    }

    /// Whether the values go together and are enough for so many units.
    ///
    /// # Errors
    /// The parameter that has to change, and why.
    pub fn check(&self, units: u64) -> Result<(), ArgumentError> {
        (self.kind.check)(&self.arguments, units)
    }

    /// Bytes of a unit on average, or a few more.
    pub(super) fn unit_bytes(&self) -> u64 {
        match self.arguments.format {
            Format::Numbers(number) => number.width() as u64,
            Format::Lines => self.arguments.whole("line_length") as u64,
            Format::Messages(_) => self.arguments.whole("size") as u64 + LONGEST_PREFIX,
            _ => 1,
        }
    }

    /// The bytes of `units` units from `seed`.
    ///
    /// Input: values that [`InputRecipe::check`] takes for this number of units or for a larger one.
    /// Cost: 100 MB in at most 1 s of numbers, 2 s of text, on the developing machine.
    pub fn generate(&self, units: u64, seed: u64) -> Vec<u8> {
        (self.kind.make)(&self.arguments, units, &mut Draw::new(seed))
    }
}

/// Bytes of the longest length of a message.
const LONGEST_PREFIX: u64 = 5;

/// Nothing has to go together.
fn any(_: &Arguments, _: u64) -> Result<(), ArgumentError> {
    Ok(())
}

#[cfg(test)]
pub(in crate::inputs) mod tests;
