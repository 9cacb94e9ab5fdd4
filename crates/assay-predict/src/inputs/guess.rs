//! How the units of a file are probably found, where nobody says it.
//!
//! The file's ending comes first, as `keys.u64` says what it holds. Then what only one format has: lengths that lead from
//! message to message to the very end; text; records of one size (`fit::kind`); encodings of varints of which none is
//! padded. All else is bytes.
//!
//! Known limits: numbers whose bytes all vary, such as random ones, are bytes unless the ending says otherwise; so are short
//! files. Checked: on what each generator makes, and on files with misleading endings.

use super::fit::{RecordingKind, kind};
use super::format::{Format, LengthPrefix};
use super::number::NumberType;
use super::varint::varint_lengths;

/// Fewer messages than this prove nothing.
const FEWEST_MESSAGES: usize = 20;

/// Fewer varints than this prove nothing.
const FEWEST_VARINTS: usize = 100;

/// A guessed format, and what it is guessed from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Guess {
    /// The format.
    pub format: Format,
    /// What speaks for it, as in "guessed from ...".
    pub from: String,
}

/// The format of a file of this name.
pub fn guess(bytes: &[u8], name: &str) -> Guess {
    let of = |format, from: &str| Guess { format, from: from.to_owned() };
    let ending = name.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase()).unwrap_or_default();
    if let Some(format) = by_ending(&ending).filter(|format| format.count(bytes).is_ok()) {
        return of(format, &format!("the ending .{ending}"));
    }
    match kind(bytes) {
        Some(RecordingKind::Text) if begins_json(bytes) && Format::JsonLines.count(bytes).is_ok() => {
            of(Format::JsonLines, "its lines, each one JSON value")
        }
        Some(RecordingKind::Text) => of(Format::Lines, "its bytes, which are text"),
        Some(RecordingKind::Known(what)) => {
            of(Format::Bytes, &format!("its beginning, which is that of {what}"))
        }
        Some(RecordingKind::Records { size, place, byte }) if messages(bytes).is_none() => {
            let format = numbers(size, place, byte).unwrap_or(Format::Records(size as u32));
            let what = format!("byte {} of each {size}, which is nearly always {byte}", place + 1);
            if format.count(bytes).is_ok() {
                of(format, &what)
            } else {
                of(Format::Bytes, "nothing else that fits")
            }
        }
        _ => match messages(bytes) {
            Some(format) => of(format, "lengths that lead from message to message to its end"),
            None if is_varints(bytes) => of(Format::Varint, "encodings of which none is padded or cut off"),
            None => of(Format::Bytes, "nothing else that fits"),
        },
    }
}

fn by_ending(ending: &str) -> Option<Format> {
    match ending {
        "jsonl" | "ndjson" => Some(Format::JsonLines),
        _ => NumberType::ALL.into_iter().find(|number| number.word() == ending).map(Format::Numbers),
    }
}

fn begins_json(bytes: &[u8]) -> bool {
    bytes.first().is_some_and(|first| b"{[".contains(first))
}

/// Numbers whose highest byte hardly varies: small ones without a sign, or floating point of a few magnitudes.
fn numbers(size: usize, place: usize, byte: u8) -> Option<Format> {
    let is_exponent = place + 1 == size && (0x3e..=0x42).contains(&(byte & 0x7f));
    let number = match size {
        2 if byte == 0 => NumberType::U16,
        4 if byte == 0 => NumberType::U32,
        8 if byte == 0 => NumberType::U64,
        4 if is_exponent => NumberType::F32,
        8 if is_exponent => NumberType::F64,
        _ => return None,
    };
    Some(Format::Numbers(number))
}

fn messages(bytes: &[u8]) -> Option<Format> {
    let prefixes = [LengthPrefix::U32, LengthPrefix::U32Be, LengthPrefix::U16, LengthPrefix::U16Be];
    prefixes.into_iter().map(Format::Messages).find(|format| {
        let found = format.unit_lengths(bytes).unwrap_or_default();
        // Zeros are messages of nothing.
        found.len() >= FEWEST_MESSAGES && bytes.len() >= 8 * found.len()
    })
}

fn is_varints(bytes: &[u8]) -> bool {
    let Ok(lengths) = varint_lengths(bytes) else { return false };
    let ends = lengths.iter().scan(0, |end, &length| {
        *end += length as usize;
        Some(bytes[*end - 1] == 0 && length > 1)
    });
    let long = lengths.iter().filter(|&&length| length > 1).count();
    lengths.len() >= FEWEST_VARINTS && 1000 * long >= lengths.len() && !ends.into_iter().any(|padded| padded)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inputs::Generator;
    use crate::inputs::kinds::{Argument, InputRecipe, kind_named};

    fn made(name: &str, format: &str, max: Option<i128>) -> Vec<u8> {
        let format = Format::parse(format).expect("a format");
        let recipe = InputRecipe::new(kind_named(name).expect("a kind"), format, |parameter| {
            max.filter(|_| parameter.name == "max").map(Argument::Whole)
        });
        recipe.expect("good values").generate(4000, 1)
    }

    fn word(bytes: &[u8], name: &str) -> String {
        guess(bytes, name).format.word()
    }

    #[test]
    fn what_generators_make_is_recognised() {
        let varints = Generator::Lengths { weights: vec![80.0, 18.0, 2.0] }.generate(4000, 1);
        for (expected, bytes) in [
            ("varint", varints),
            ("lines", made("text", "lines", None)),
            ("messages", made("messages", "messages", None)),
            ("messages:u16be", made("messages", "messages:u16be", None)),
            ("u32", made("uniform", "u32", Some(1 << 20))),
            ("u64", made("uniform", "u64", Some(1 << 40))),
            ("u32", made("zipf", "u32", None)),
            ("f64", made("uniform_floats", "f64", None)),
            ("bytes", made("uniform", "u64", None)),
            ("bytes", made("entropy", "bytes", None)),
        ] {
            assert_eq!(word(&bytes, "recorded.bin"), expected);
        }
    }

    #[test]
    fn an_ending_says_what_bytes_do_not() {
        let random = made("uniform", "u64", None);
        assert_eq!(
            (word(&random, "keys.u64"), word(&random, "keys.I32"), word(&random, "u64")),
            ("u64".into(), "i32".into(), "bytes".into())
        );
        // Bytes that are not of the format that the ending says.
        assert_eq!(word(b"{\"a\":1}\n{\n", "log.jsonl"), "lines");
        assert_eq!(
            (word(b"{\"a\":1}\n[2]\n", "log"), word(b"{\"a\":1}\n", "x.ndjson")),
            ("json-lines".into(), "json-lines".into())
        );
        assert_eq!((word(b"1\n2\n", "numbers.txt"), word(b"", "empty")), ("lines".into(), "bytes".into()));
        assert!(guess(b"\x7fELF1234", "a.out").from.contains("ELF"));
    }

    #[test]
    fn padded_encodings_and_zeros_are_no_varints() {
        // Padded zeros are the numbers 128 as well.
        assert_eq!(word(&[0x80, 0].repeat(500), "x"), "u16");
        assert_eq!(
            (word(&[0x80, 0, 1].repeat(500), "x"), word(&[0; 4000], "x")),
            ("bytes".into(), "bytes".into())
        );
    }
}
