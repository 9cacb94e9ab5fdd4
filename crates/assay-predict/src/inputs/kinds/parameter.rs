//! A parameter of a kind: its name, domain, default and explanation.

use super::{Argument, ArgumentError};
use crate::inputs::{Format, NumberType};

/// One parameter.
pub struct Parameter {
    /// As files name it.
    pub name: &'static str,
    /// What it is, in one line that begins with a small letter.
    pub says: &'static str,
    /// The values it takes.
    pub domain: Domain,
    /// Its value where a file gives none.
    pub preset: Preset,
    /// A value as a file could have it.
    pub example: &'static str,
}

/// The values that a parameter takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Domain {
    /// A whole number in this range.
    Whole(i128, i128),
    /// A whole number that the format can hold.
    Value,
    /// A finite number in this range.
    Number(f64, f64),
    /// A fraction from 0 to 1, or a text in per cent.
    Share,
}

/// What stands where a file says nothing.
#[derive(Clone, Copy)]
pub enum Preset {
    /// The file must say it.
    Required,
    /// A whole number.
    Whole(i128),
    /// A number or share.
    Number(f64),
    /// It depends on the type of the numbers; the text says how.
    OfType(fn(NumberType) -> Argument, &'static str),
}

impl Preset {
    /// The value in a format.
    pub(super) fn value(self, format: Format) -> Option<Argument> {
        match self {
            Preset::Required => None,
            Preset::Whole(value) => Some(Argument::Whole(value)),
            Preset::Number(value) => Some(Argument::Number(value)),
            Preset::OfType(value, _) => match format {
                Format::Numbers(number) => Some(value(number)),
                _ => None,
            },
        }
    }

    /// The default in words; nothing where the file must say it.
    pub fn words(self) -> Option<String> {
        match self {
            Preset::Required => None,
            Preset::Whole(value) => Some(value.to_string()),
            Preset::Number(value) => Some(value.to_string()),
            Preset::OfType(_, words) => Some(words.to_owned()),
        }
    }
}

impl Domain {
    /// The domain in words, as experiment files are told what is expected.
    pub fn words(self) -> String {
        match self {
            Domain::Whole(min, i128::MAX) => format!("an integer from {min}"),
            Domain::Whole(min, max) => format!("an integer from {min} to {max}"),
            Domain::Value => "an integer that the format can hold; large ones as a string".to_owned(),
            Domain::Number(f64::MIN, f64::MAX) => "a number".to_owned(),
            Domain::Number(min, f64::MAX) => format!("a number from {min}"),
            Domain::Number(min, max) => format!("a number from {min} to {max}"),
            Domain::Share => "a fraction from 0 to 1, or a string such as \"31 %\"".to_owned(),
        }
    }

    /// Whether a value lies in the domain, in this format.
    pub(super) fn check(
        self,
        name: &'static str,
        value: Argument,
        format: Format,
    ) -> Result<(), ArgumentError> {
        let (lies_within, expected) = match (self, value) {
            (Domain::Whole(min, max), Argument::Whole(value)) => ((min..=max).contains(&value), self.words()),
            (Domain::Value, Argument::Whole(value)) => {
                let Format::Numbers(number) = format else { return Ok(()) };
                let (least, greatest) = number.range();
                let words =
                    format!("an integer from {least} to {greatest}, as format is \"{}\"", number.word());
                ((least..=greatest).contains(&value), words)
            }
            (Domain::Number(min, max), Argument::Number(value)) => {
                ((min..=max).contains(&value), self.words())
            }
            (Domain::Share, Argument::Number(value)) => ((0.0..=1.0).contains(&value), self.words()),
            _ => (false, self.words()),
        };
        if lies_within { Ok(()) } else { Err(ArgumentError::new(name, format!("{name} must be {expected}"))) }
    }
}
