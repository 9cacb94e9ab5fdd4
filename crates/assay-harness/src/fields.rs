//! The `key=value` fields of a request.

/// The fields of one line.
#[derive(Default)]
pub(crate) struct RequestFields<'a>(Vec<(&'a str, &'a str)>);

impl<'a> RequestFields<'a> {
    /// Splits what follows the first word of a request; the value of `path` is the rest of the line.
    pub(crate) fn split(text: &'a str) -> Result<Self, String> {
        let mut fields: Vec<(&str, &str)> = Vec::new();
        let mut rest = Some(text);
        while let Some(text) = rest {
            let (part, after) =
                text.split_once(' ').map_or((text, None), |(part, after)| (part, Some(after)));
            let Some((key, mut value)) = part.split_once('=').filter(|(key, _)| !key.is_empty()) else {
                return Err(format!("{part:.100?} is not key=value"));
            };
            if fields.iter().any(|(seen, _)| *seen == key) {
                return Err(format!("the field {key:.100} appears twice"));
            }
            rest = after;
            if key == "path" {
                value = &text["path=".len()..];
                rest = None;
            }
            fields.push((key, value));
        }
        Ok(Self(fields))
    }

    /// The value of a field that may stand.
    pub(crate) fn optional(&self, key: &str) -> Option<&'a str> {
        self.0.iter().find(|(name, _)| *name == key).map(|(_, value)| *value)
    }

    /// The value of a field that must stand.
    pub(crate) fn text(&self, key: &str) -> Result<&'a str, String> {
        self.optional(key).ok_or_else(|| format!("the field {key}= is missing"))
    }

    /// A whole number from `least` to `most`.
    pub(crate) fn number(&self, key: &str, least: u64, most: u64) -> Result<u64, String> {
        let value = self.text(key)?;
        digits(value)
            .filter(|number| (least..=most).contains(number))
            .ok_or_else(|| format!("{key}={value:.100} is not a whole number from {least} to {most}"))
    }
}

/// A number in decimal digits only: `u64::from_str` would also take a `+`.
pub(crate) fn digits(text: &str) -> Option<u64> {
    if text.bytes().all(|byte| byte.is_ascii_digit()) { text.parse().ok() } else { None }
}
