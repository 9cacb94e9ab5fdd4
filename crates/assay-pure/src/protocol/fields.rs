//! The `key=value` fields of one line, by key, each read as what it must be.

use super::error::{Problem, ProtocolError, printable};

/// Keys whose value is the rest of the line, spaces included.
const REST_OF_LINE: [&str; 3] = ["reason", "path", "unavailable"];

/// The fields of one line, in the order in which they stand.
pub(super) struct Fields<'a> {
    line: &'a str,
    pairs: Vec<(&'a str, &'a str)>,
}

impl<'a> Fields<'a> {
    /// Splits `text`, the part of `line` after its words. Unknown keys are kept and never asked for.
    pub(super) fn split(line: &'a str, text: &'a str) -> Result<Self, ProtocolError> {
        let mut pairs: Vec<(&str, &str)> = Vec::new();
        let mut rest = (!text.is_empty()).then_some(text);
        while let Some(text) = rest {
            let part = text.split(' ').next().unwrap_or(text);
            let Some((key, value)) = part.split_once('=').filter(|(key, _)| !key.is_empty()) else {
                return Err(ProtocolError::new(line, Problem::NotAField { part: printable(part) }));
            };
            if pairs.iter().any(|(seen, _)| *seen == key) {
                return Err(ProtocolError::new(line, Problem::Repeated { field: printable(key) }));
            }
            if REST_OF_LINE.contains(&key) {
                pairs.push((key, &text[key.len() + 1..]));
                break;
            }
            pairs.push((key, value));
            rest = text.get(part.len() + 1..);
        }
        Ok(Self { line, pairs })
    }

    /// The value of `field` where it stands.
    pub(super) fn optional(&self, field: &'static str) -> Option<&'a str> {
        self.pairs.iter().find(|(key, _)| *key == field).map(|(_, value)| *value)
    }

    /// The value of `field`, which must stand.
    pub(super) fn text(&self, field: &'static str) -> Result<&'a str, ProtocolError> {
        self.optional(field).ok_or_else(|| ProtocolError::new(self.line, Problem::Missing { field }))
    }

    /// A whole number in decimal digits, without sign.
    pub(super) fn number<T: std::str::FromStr>(&self, field: &'static str) -> Result<T, ProtocolError> {
        let value = self.text(field)?;
        digits(value).ok_or_else(|| self.wrong(field, value, "a whole number in range"))
    }

    /// A finite number of nanoseconds, at least 0.
    pub(super) fn nanoseconds(&self, field: &'static str) -> Result<f64, ProtocolError> {
        let value = self.text(field)?;
        let plain = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
        let parsed = if plain { value.parse::<f64>().ok().filter(|ns| ns.is_finite()) } else { None };
        parsed.ok_or_else(|| self.wrong(field, value, "a number of nanoseconds"))
    }

    /// An answer: exactly 16 lower-case hexadecimal digits.
    pub(super) fn answer(&self, field: &'static str) -> Result<u64, ProtocolError> {
        let value = self.text(field)?;
        let shaped = value.len() == 16 && value.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        let parsed = if shaped { u64::from_str_radix(value, 16).ok() } else { None };
        parsed.ok_or_else(|| self.wrong(field, value, "16 hexadecimal digits"))
    }

    /// `0` or `1`.
    pub(super) fn flag(&self, field: &'static str) -> Result<bool, ProtocolError> {
        match self.text(field)? {
            "0" => Ok(false),
            "1" => Ok(true),
            value => Err(self.wrong(field, value, "0 or 1")),
        }
    }

    /// The error for a field whose value is not what it must be.
    pub(super) fn wrong(&self, field: &'static str, value: &str, expected: &'static str) -> ProtocolError {
        ProtocolError::new(self.line, Problem::Value { field, value: printable(value), expected })
    }
}

/// A number in decimal digits only: `u64::from_str` would also take a `+`.
pub(super) fn digits<T: std::str::FromStr>(text: &str) -> Option<T> {
    let only_digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if only_digits { text.parse().ok() } else { None }
}
