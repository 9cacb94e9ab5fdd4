//! JSON as benchmark libraries write it: several documents in a row, among other lines, with numbers that JSON has not.

use serde::de::DeserializeOwned;
use std::borrow::Cow;

/// Places at which a document may begin that are tried.
const MOST_STARTS: usize = 64;

/// Text in which each bare `NaN`, `Infinity` or the like is `null`.
///
/// A C++ stream prints such numbers as they are, so one counter divided by zero would spoil a whole document.
pub(super) fn without_nan(text: &str) -> Cow<'_, str> {
    const NOT_NUMBERS: [&str; 8] = ["-Infinity", "Infinity", "-NaN", "NaN", "-nan", "nan", "-inf", "inf"];
    let bytes = text.as_bytes();
    let mut replaced: Option<String> = None;
    let (mut at, mut copied, mut quoted) = (0, 0, false);
    while at < bytes.len() {
        match bytes[at] {
            b'\\' if quoted => at += 1,
            b'"' => quoted = !quoted,
            b'-' | b'I' | b'N' | b'n' | b'i' if !quoted => {
                let rest = &bytes[at..];
                let word = NOT_NUMBERS.iter().find(|word| rest.starts_with(word.as_bytes()));
                if let Some(word) = word {
                    // `at` and the end of an ASCII word are borders of characters.
                    let out = replaced.get_or_insert_default();
                    out.push_str(&text[copied..at]);
                    out.push_str("null");
                    at += word.len();
                    copied = at;
                    continue;
                }
            }
            _ => {}
        }
        at += 1;
    }
    match replaced {
        Some(mut out) => {
            out.push_str(&text[copied..]);
            Cow::Owned(out)
        }
        None => Cow::Borrowed(text),
    }
}

/// All documents of a text that holds nothing else, or what is wrong with the first that is broken.
pub(super) fn documents<T: DeserializeOwned>(text: &str) -> Result<Vec<T>, serde_json::Error> {
    serde_json::Deserializer::from_str(&without_nan(text)).into_iter().collect()
}

/// The documents among other lines that hold `key`: each begins a line. With the error of the first that is broken.
pub(super) fn documents_among_lines<T: DeserializeOwned>(
    text: &str,
    key: &str,
) -> (Vec<T>, Option<serde_json::Error>) {
    let text = without_nan(text);
    let (mut found, mut broken, mut at, mut tried) = (Vec::new(), None, 0, 0);
    while let Some(start) = next_start(&text, at) {
        if tried == MOST_STARTS || !text[start..].contains(key) {
            break;
        }
        tried += 1;
        let mut values = serde_json::Deserializer::from_str(&text[start..]).into_iter::<T>();
        match values.next() {
            Some(Ok(value)) => {
                found.push(value);
                at = start + values.byte_offset().max(1);
            }
            Some(Err(error)) => {
                broken = broken.or(Some(error));
                at = start + 1;
            }
            None => break,
        }
    }
    (found, broken)
}

/// The next brace, from `from` on, that is the first character of its line that is not a space.
fn next_start(text: &str, from: usize) -> Option<usize> {
    let mut line = from;
    loop {
        let rest = &text[line..];
        let spaces = rest.bytes().take_while(|byte| *byte == b' ').count();
        if rest.as_bytes().get(spaces) == Some(&b'{') {
            return Some(line + spaces);
        }
        line += rest.find('\n')? + 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn numbers_that_are_none_become_null_outside_of_strings() {
        let text = r#"{"a":NaN,"b":-Infinity,"c":-nan,"d":"NaN \" inf","e":[inf,1,-2e-3],"f":null,"in":-1}"#;
        let found: Vec<Value> = documents(text).unwrap();
        let expected =
            json!({"a":null,"b":null,"c":null,"d":"NaN \" inf","e":[null,1,-2e-3],"f":null,"in":-1});
        assert_eq!(found, [expected]);
        assert!(matches!(without_nan(r#"{"a": "nan"}"#), Cow::Borrowed(_)));
    }

    #[test]
    fn documents_in_a_row_are_all_read() {
        assert_eq!(documents::<Value>("{\"a\":1}\n{\"b\":2}").unwrap(), [json!({"a":1}), json!({"b":2})]);
        assert!(documents::<Value>("{\"a\":1}\n{\"b\":").is_err());
    }

    #[test]
    fn documents_are_found_among_other_lines() {
        let text = "| table {x} |\n{\n  \"results\": [\n    {\n \"r\": 1 }]\n}\ntext\n{\"results\": []}\n{\"no\": 1}\n";
        let (found, broken) = documents_among_lines::<Value>(text, "\"results\"");
        assert_eq!(found, [json!({"results": [{"r": 1}]}), json!({"results": []})]);
        assert!(broken.is_none());
        let (found, broken) = documents_among_lines::<Value>("{ \"results\": [ }\n", "\"results\"");
        assert!(found.is_empty() && broken.is_some());
    }
}
