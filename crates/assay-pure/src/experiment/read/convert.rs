//! From one TOML value to one meaning, each with its domain.

use std::ops::RangeInclusive;

use toml_edit::Value;

use super::quantity;
use super::reader::WrongValue;
use crate::experiment::diagnostic::nearest;
use crate::inputs::Format;

/// A text with something in it.
pub(crate) fn text(value: &Value) -> Result<String, WrongValue> {
    let text = value.as_str().ok_or(WrongValue::Type)?;
    if text.trim().is_empty() {
        return Err(WrongValue::Because("is empty".into()));
    }
    Ok(text.to_owned())
}

/// A text of one line, as command lines and the protocol need it: a path or a flag.
pub(crate) fn line(value: &Value) -> Result<String, WrongValue> {
    let text = text(value)?;
    if text.contains(char::is_control) {
        return Err(WrongValue::Because("contains a control character".into()));
    }
    Ok(text)
}

/// One argument of a compiler. Two in one text would reach the compiler as one it does not know.
pub(crate) fn argument(value: &Value) -> Result<String, WrongValue> {
    let text = line(value)?;
    if text.starts_with('-') && text.contains(" -") {
        return Err(WrongValue::Because("has several flags in one string".into()));
    }
    Ok(text)
}

/// Whether a text may name a variant, an input, a flag set: the letters that the protocol's lines can carry.
pub(crate) fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || "_.:/+-".contains(c))
}

/// The text with everything that a name may not have replaced.
pub fn to_name(text: &str) -> String {
    text.chars().map(|c| if is_name(c.encode_utf8(&mut [0; 4])) { c } else { '-' }).collect()
}

/// A name.
pub(crate) fn name(value: &Value) -> Result<String, WrongValue> {
    let text = text(value)?;
    if is_name(&text) { Ok(text) } else { Err(WrongValue::Because(not_a_name(&text))) }
}

/// Says which letter keeps a text from being a name.
pub(crate) fn not_a_name(text: &str) -> String {
    match text.chars().find(|&c| !is_name(c.encode_utf8(&mut [0; 4]))) {
        Some(letter) => format!("contains {letter:?}, which a name cannot have"),
        None => "is empty".into(),
    }
}

pub(crate) fn truth(value: &Value) -> Result<bool, WrongValue> {
    value.as_bool().ok_or(WrongValue::Type)
}

/// A whole number in a range.
pub(crate) fn whole(range: RangeInclusive<i64>) -> impl Fn(&Value) -> Result<i64, WrongValue> {
    move |value| {
        let number = value.as_integer().ok_or(WrongValue::Type)?;
        if range.contains(&number) { Ok(number) } else { Err(WrongValue::Range) }
    }
}

/// A whole number of 64 bits. TOML's own end at 63, so large ones may be given as a text.
pub(crate) fn whole_64(value: &Value) -> Result<u64, WrongValue> {
    match value {
        Value::Integer(number) => u64::try_from(*number.value()).map_err(|_| WrongValue::Range),
        Value::String(text) => quantity::whole(text.value()).ok_or(WrongValue::Unreadable),
        _ => Err(WrongValue::Type),
    }
}

/// A whole number in a range of up to 64 bits, with or without a sign. Large ones may be given as a text.
pub(crate) fn wide_whole(min: i128, max: i128) -> impl Fn(&Value) -> Result<i128, WrongValue> {
    move |value| {
        let number = match value {
            Value::Integer(number) => i128::from(*number.value()),
            Value::String(text) => {
                let (sign, digits) = match text.value().strip_prefix('-') {
                    Some(digits) => (-1, digits),
                    None => (1, text.value().as_str()),
                };
                sign * i128::from(quantity::whole(digits).ok_or(WrongValue::Unreadable)?)
            }
            _ => return Err(WrongValue::Type),
        };
        if (min..=max).contains(&number) { Ok(number) } else { Err(WrongValue::Range) }
    }
}

/// A finite number in a range; whole ones count too.
pub(crate) fn number_from(min: f64, max: f64) -> impl Fn(&Value) -> Result<f64, WrongValue> {
    move |value| {
        let number = plain_number(value).ok_or(WrongValue::Type)?;
        if (min..=max).contains(&number) { Ok(number) } else { Err(WrongValue::Range) }
    }
}

/// How units are found.
pub(crate) fn format(value: &Value) -> Result<Format, WrongValue> {
    let text = value.as_str().ok_or(WrongValue::Type)?;
    Format::parse(text)
        .ok_or_else(|| WrongValue::Unknown { nearest: nearest(text, Format::words()).map(Into::into) })
}

/// A finite number for which `domain` holds; whole ones count too.
pub(crate) fn number(domain: fn(f64) -> bool) -> impl Fn(&Value) -> Result<f64, WrongValue> {
    move |value| {
        let number = plain_number(value).ok_or(WrongValue::Type)?;
        within(number, domain)
    }
}

/// A finite number, or a text with a per cent sign, for which `domain` holds as a fraction.
pub(crate) fn fraction(domain: fn(f64) -> bool) -> impl Fn(&Value) -> Result<f64, WrongValue> {
    move |value| {
        let fraction = match value.as_str() {
            Some(text) => quantity::fraction(text).ok_or(WrongValue::Unreadable)?,
            None => plain_number(value).ok_or(WrongValue::Type)?,
        };
        within(fraction, domain)
    }
}

/// A time above 0 in seconds.
pub(crate) fn seconds(value: &Value) -> Result<f64, WrongValue> {
    let seconds = match value.as_str() {
        Some(text) => quantity::seconds(text).ok_or(WrongValue::Unreadable)?,
        None => plain_number(value).ok_or(WrongValue::Type)?,
    };
    within(seconds, |seconds| seconds > 0.0)
}

/// A size in memory, bytes.
pub(crate) fn bytes(value: &Value) -> Result<u64, WrongValue> {
    let bytes = match value.as_str() {
        Some(text) => quantity::bytes(text).ok_or(WrongValue::Unreadable)?,
        None => plain_number(value).ok_or(WrongValue::Type)?,
    };
    within(bytes, |bytes| (1.0..=1e12).contains(&bytes)).map(|bytes| bytes as u64)
}

/// One of some words.
pub(crate) fn choice<T: Copy>(words: &[(&str, T)]) -> impl Fn(&Value) -> Result<T, WrongValue> {
    move |value| {
        let text = value.as_str().ok_or(WrongValue::Type)?;
        let unknown = || WrongValue::Unknown {
            nearest: nearest(text, words.iter().map(|&(word, _)| word)).map(Into::into),
        };
        words.iter().find(|&&(word, _)| word == text).map(|&(_, meaning)| meaning).ok_or_else(unknown)
    }
}

fn plain_number(value: &Value) -> Option<f64> {
    value.as_float().or_else(|| value.as_integer().map(|whole| whole as f64))
}

fn within(number: f64, domain: fn(f64) -> bool) -> Result<f64, WrongValue> {
    if number.is_finite() && domain(number) { Ok(number) } else { Err(WrongValue::Range) }
}
