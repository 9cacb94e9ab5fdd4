//! How units are found in an input's bytes, and how the bytes are cut into windows at unit borders.
//!
//! A unit is what every figure is divided by, so the count must be exact, and a window must never end inside one:
//! a decoder handed half a varint would refuse it. Malformed input is an error with the place, found before
//! anything is measured. An empty input has no units and no windows, in every format.

use super::format_error::FormatError;
use super::number::NumberType;
use super::varint::{decode_varints, push_varint, varint_lengths};

/// How units are found. Files, commands and the ledger have its [word](Format::word).
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum Format {
    /// LEB128: a unit ends at a byte without the high bit.
    Varint,
    /// A unit is a line, its newline included; the last line may lack it.
    Lines,
    /// A unit is one byte.
    Bytes,
    /// The whole input is one unit.
    Whole,
    /// A unit is a number of this type, lowest byte first.
    Numbers(NumberType),
    /// A unit is so many bytes, at least one.
    Records(u32),
    /// A unit is a message behind its length, which counts what follows it.
    Messages(LengthPrefix),
    /// A unit is a line with one JSON value.
    JsonLines,
}

/// How the length of a message is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LengthPrefix {
    /// One byte.
    U8,
    /// Two bytes, the lowest first.
    U16,
    /// Four bytes, the lowest first.
    U32,
    /// Two bytes, the highest first.
    U16Be,
    /// Four bytes, the highest first.
    U32Be,
    /// LEB128, as in streams of Protocol Buffers.
    Varint,
}

/// The largest record, bytes.
const LARGEST_RECORD: u32 = 1 << 20;

/// The words of formats without a size of their own, for messages and choices.
const WORDS: [(&str, Format); 17] = [
    ("varint", Format::Varint),
    ("lines", Format::Lines),
    ("json-lines", Format::JsonLines),
    ("bytes", Format::Bytes),
    ("u8", Format::Numbers(NumberType::U8)),
    ("u16", Format::Numbers(NumberType::U16)),
    ("u32", Format::Numbers(NumberType::U32)),
    ("u64", Format::Numbers(NumberType::U64)),
    ("i32", Format::Numbers(NumberType::I32)),
    ("i64", Format::Numbers(NumberType::I64)),
    ("f32", Format::Numbers(NumberType::F32)),
    ("f64", Format::Numbers(NumberType::F64)),
    ("messages", Format::Messages(LengthPrefix::U32)),
    ("messages:u8", Format::Messages(LengthPrefix::U8)),
    ("messages:u16", Format::Messages(LengthPrefix::U16)),
    ("messages:varint", Format::Messages(LengthPrefix::Varint)),
    ("whole", Format::Whole),
];

/// Words that are rarely wanted, so that no list names them.
const RARE_WORDS: [(&str, Format); 3] = [
    ("messages:u32", Format::Messages(LengthPrefix::U32)),
    ("messages:u16be", Format::Messages(LengthPrefix::U16Be)),
    ("messages:u32be", Format::Messages(LengthPrefix::U32Be)),
];

/// All formats in one line.
pub const FORMATS: &str = "varint, lines, json-lines, bytes, u8, u16, u32, u64, i32, i64, f32, f64, records:K (of K bytes), \
                           messages (behind a length: messages:u8, :u16, :u32, :u16be, :u32be, :varint), whole";

impl From<Format> for String {
    fn from(format: Format) -> String {
        format.word()
    }
}

impl TryFrom<String> for Format {
    type Error = String;

    fn try_from(word: String) -> Result<Format, String> {
        Format::parse(&word).ok_or_else(|| format!("there is no format `{word}`"))
    }
}

/// A stretch of an input handed to one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Window {
    /// First byte.
    pub offset: u64,
    /// Bytes.
    pub size: u64,
    /// Units within.
    pub units: u64,
}

impl Format {
    /// As files, commands and the ledger name it.
    pub fn word(self) -> String {
        match self {
            Format::Records(size) => format!("records:{size}"),
            other => {
                let known = WORDS.iter().chain(&RARE_WORDS).find(|(_, format)| *format == other);
                known.map(|(word, _)| (*word).to_owned()).expect("every format has a word")
            }
        }
    }

    /// The format of a word.
    pub fn parse(word: &str) -> Option<Format> {
        if let Some(size) = word.strip_prefix("records:") {
            let size = size.parse().ok().filter(|size| (1..=LARGEST_RECORD).contains(size))?;
            return Some(Format::Records(size));
        }
        WORDS.iter().chain(&RARE_WORDS).find(|(known, _)| *known == word).map(|(_, format)| *format)
    }

    /// The words of all formats that have no size of their own.
    pub fn words() -> impl Iterator<Item = &'static str> {
        WORDS.iter().map(|(word, _)| *word)
    }

    /// What one unit is called.
    pub fn unit_word(self) -> &'static str {
        match self {
            Format::Varint => "varint",
            Format::Lines | Format::JsonLines => "line",
            Format::Bytes => "byte",
            Format::Whole => "input",
            Format::Numbers(number) => number.word(),
            Format::Records(_) => "record",
            Format::Messages(_) => "message",
        }
    }

    /// Whether a unit of this name in an experiment file contradicts the format: `line` where bytes are counted. A name that
    /// says nothing of formats, such as `key`, never does.
    pub fn contradicts(self, unit: &str) -> bool {
        let unit = unit.to_ascii_lowercase();
        let numbers =
            |types: &[NumberType]| matches!(self, Format::Numbers(number) if types.contains(&number));
        let agrees = match unit.as_str() {
            "line" => matches!(self, Format::Lines | Format::JsonLines),
            "varint" => self == Format::Varint,
            "byte" => matches!(self, Format::Bytes | Format::Numbers(NumberType::U8) | Format::Records(1)),
            "record" => {
                matches!(self, Format::Records(_) | Format::Lines | Format::JsonLines | Format::Messages(_))
            }
            "message" | "packet" => {
                matches!(self, Format::Messages(_) | Format::Lines | Format::JsonLines | Format::Records(_))
            }
            "number" | "integer" | "value" => {
                matches!(self, Format::Numbers(_) | Format::Varint | Format::Lines)
            }
            "float" | "single" => numbers(&[NumberType::F32, NumberType::F64]),
            "double" => numbers(&[NumberType::F64]),
            word => match NumberType::ALL.iter().find(|number| number.word() == word) {
                Some(number) => {
                    self == Format::Numbers(*number) || *number == NumberType::U8 && self == Format::Bytes
                }
                None => true,
            },
        };
        // One call of the whole is counted as a call, whatever is in it.
        !agrees && self != Format::Whole
    }

    /// The format that a unit of this name is counted by, where there is one.
    pub fn of_unit(unit: &str) -> Option<Format> {
        match unit {
            "line" => Some(Format::Lines),
            "message" => Some(Format::Messages(LengthPrefix::U32)),
            "byte" => Some(Format::Bytes),
            "double" => Some(Format::Numbers(NumberType::F64)),
            word => Format::parse(word).filter(|format| *format != Format::Whole),
        }
    }

    /// Cuts `bytes` into consecutive windows of `window_units` units; the last has what is left, at least one unit.
    ///
    /// Input: any bytes; `window_units` 0 asks for one window over everything. `Whole` is always one window of one unit.
    /// Returns windows that together cover every byte once, in order; none for an empty input.
    /// Errors: a varint that is truncated or over-long, with its offset.
    /// Cost: one pass, eight bytes of memory per unit.
    pub fn windows(&self, bytes: &[u8], window_units: u64) -> Result<Vec<Window>, FormatError> {
        let lengths = self.unit_lengths(bytes)?;
        let all = lengths.len().max(1);
        let units = if window_units == 0 {
            all
        } else {
            usize::try_from(window_units).map_or(all, |units| units.min(all))
        };
        let mut offset = 0;
        let cut = |chunk: &[u64]| {
            let size = chunk.iter().sum();
            offset += size;
            Window { offset: offset - size, size, units: chunk.len() as u64 }
        };
        Ok(lengths.chunks(units).map(cut).collect())
    }

    /// Units in `bytes`; errors as in [`Format::windows`].
    pub fn count(&self, bytes: &[u8]) -> Result<u64, FormatError> {
        match *self {
            Format::Bytes => Ok(bytes.len() as u64),
            Format::Numbers(number) => equal_units(bytes, number.width()),
            Format::Records(size) => equal_units(bytes, size as usize),
            _ => Ok(self.unit_lengths(bytes)?.len() as u64),
        }
    }

    /// Bytes of each unit, in order.
    pub(super) fn unit_lengths(&self, bytes: &[u8]) -> Result<Vec<u64>, FormatError> {
        Ok(match self {
            Format::Varint => varint_lengths(bytes)?,
            Format::Lines => {
                bytes.split_inclusive(|&byte| byte == b'\n').map(|line| line.len() as u64).collect()
            }
            Format::Bytes => vec![1; bytes.len()],
            Format::Whole if bytes.is_empty() => vec![],
            Format::Whole => vec![bytes.len() as u64],
            Format::Numbers(number) => {
                vec![number.width() as u64; equal_units(bytes, number.width())? as usize]
            }
            Format::Records(size) => vec![u64::from(*size); equal_units(bytes, *size as usize)? as usize],
            Format::Messages(prefix) => message_lengths(bytes, *prefix)?,
            Format::JsonLines => json_line_lengths(bytes)?,
        })
    }
}

/// Units of one size.
fn equal_units(bytes: &[u8], size: usize) -> Result<u64, FormatError> {
    match bytes.len() % size {
        0 => Ok((bytes.len() / size) as u64),
        over => Err(FormatError::Remainder { size: size as u64, over: over as u64 }),
    }
}

/// Bytes of each message with its length.
fn message_lengths(bytes: &[u8], prefix: LengthPrefix) -> Result<Vec<u64>, FormatError> {
    let mut lengths = Vec::new();
    let mut offset = 0;
    while offset < bytes.len() {
        let rest = &bytes[offset..];
        let (head, body) =
            prefix.read(rest).ok_or(FormatError::CutMessage { offset: offset as u64, bytes: None })?;
        let length = (head as u64).checked_add(body).filter(|&length| length <= rest.len() as u64);
        let length = length.ok_or(FormatError::CutMessage { offset: offset as u64, bytes: Some(body) })?;
        lengths.push(length);
        offset += length as usize;
    }
    Ok(lengths)
}

impl LengthPrefix {
    /// Bytes of the length that `bytes` begins with, and of what follows it; `None` if it is cut off.
    pub fn read(self, bytes: &[u8]) -> Option<(usize, u64)> {
        let whole = |size: usize| {
            let head = bytes.get(..size)?;
            Some((size, head.iter().rev().fold(0u64, |value, &byte| value << 8 | u64::from(byte))))
        };
        let highest_first = |size: usize| {
            let head = bytes.get(..size)?;
            Some((size, head.iter().fold(0u64, |value, &byte| value << 8 | u64::from(byte))))
        };
        match self {
            LengthPrefix::U8 => whole(1),
            LengthPrefix::U16 => whole(2),
            LengthPrefix::U32 => whole(4),
            LengthPrefix::U16Be => highest_first(2),
            LengthPrefix::U32Be => highest_first(4),
            LengthPrefix::Varint => {
                let end = bytes.iter().take(10).position(|&byte| byte < 0x80)?;
                let value = decode_varints(&bytes[..=end]).ok()?;
                Some((end + 1, value[0]))
            }
        }
    }

    /// Appends a length.
    pub(super) fn write(self, bytes: &mut Vec<u8>, length: u64) {
        match self {
            LengthPrefix::U8 => bytes.push(length as u8),
            LengthPrefix::U16 => bytes.extend_from_slice(&(length as u16).to_le_bytes()),
            LengthPrefix::U32 => bytes.extend_from_slice(&(length as u32).to_le_bytes()),
            LengthPrefix::U16Be => bytes.extend_from_slice(&(length as u16).to_be_bytes()),
            LengthPrefix::U32Be => bytes.extend_from_slice(&(length as u32).to_be_bytes()),
            LengthPrefix::Varint => push_varint(bytes, length),
        }
    }

    /// The longest message that it can count.
    pub fn longest(self) -> u64 {
        match self {
            LengthPrefix::U8 => u64::from(u8::MAX),
            LengthPrefix::U16 | LengthPrefix::U16Be => u64::from(u16::MAX),
            _ => u64::from(u32::MAX),
        }
    }
}

/// Bytes of each line, each of which holds one JSON value (<https://jsonlines.org>).
fn json_line_lengths(bytes: &[u8]) -> Result<Vec<u64>, FormatError> {
    let mut offset = 0;
    let length = |(number, line): (u64, &[u8])| {
        let place = offset;
        offset += line.len() as u64;
        match serde_json::from_slice::<serde::de::IgnoredAny>(line) {
            Ok(_) => Ok(line.len() as u64),
            Err(_) => Err(FormatError::NotJson { line: number, offset: place }),
        }
    };
    (1..).zip(bytes.split_inclusive(|&byte| byte == b'\n')).map(length).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(offset: u64, size: u64, units: u64) -> Window {
        Window { offset, size, units }
    }

    #[test]
    fn cuts_varints_at_unit_borders_and_leaves_the_rest_to_the_last_window() {
        // Values of 1, 2, 3, 1 and 2 bytes.
        let bytes = [5, 0x80, 1, 0x80, 0x80, 1, 6, 0x81, 1];
        let windows = Format::Varint.windows(&bytes, 2);
        assert_eq!(windows, Ok(vec![window(0, 3, 2), window(3, 4, 2), window(7, 2, 1)]));
        assert_eq!(Format::Varint.count(&bytes), Ok(5));
    }

    #[test]
    fn gives_one_window_when_asked_for_none_or_for_more_than_there_is() {
        let bytes = [5, 0x80, 1];
        for window_units in [0, 2, 3, u64::MAX] {
            assert_eq!(Format::Varint.windows(&bytes, window_units), Ok(vec![window(0, 3, 2)]));
        }
    }

    #[test]
    fn a_line_has_its_newline_and_the_last_may_lack_it() {
        let text = b"one\n\nthree\nx";
        let windows = Format::Lines.windows(text, 1);
        assert_eq!(windows, Ok(vec![window(0, 4, 1), window(4, 1, 1), window(5, 6, 1), window(11, 1, 1)]));
        assert_eq!(Format::Lines.count(b"one\n"), Ok(1));
    }

    #[test]
    fn bytes_are_cut_by_number_and_the_whole_never() {
        assert_eq!(Format::Bytes.windows(b"abcde", 3), Ok(vec![window(0, 3, 3), window(3, 2, 2)]));
        assert_eq!(Format::Bytes.count(b"abcde"), Ok(5));
        assert_eq!(Format::Whole.windows(b"abcde", 1), Ok(vec![window(0, 5, 1)]));
        assert_eq!(Format::Whole.count(b"abcde"), Ok(1));
    }

    #[test]
    fn numbers_and_records_are_cut_at_their_size() {
        let bytes: Vec<u8> = (0..24).collect();
        let numbers = Format::Numbers(NumberType::U32);
        assert_eq!(numbers.windows(&bytes, 4), Ok(vec![window(0, 16, 4), window(16, 8, 2)]));
        assert_eq!((numbers.count(&bytes), Format::Records(12).count(&bytes)), (Ok(6), Ok(2)));
        assert_eq!(Format::Records(12).windows(&bytes, 1), Ok(vec![window(0, 12, 1), window(12, 12, 1)]));
        let over = numbers.count(&bytes[..22]).expect_err("two bytes are left");
        assert_eq!(over, FormatError::Remainder { size: 4, over: 2 });
        assert_eq!(over.to_string(), "the input ends with 2 bytes, fewer than the 4 of a unit");
    }

    #[test]
    fn a_message_ends_where_its_length_says() {
        let two = |head: &[u8], other: &[u8]| [head, b"abc", other].concat();
        for (prefix, bytes, sizes) in [
            (LengthPrefix::U8, two(&[3], &[0]), [4, 1]),
            (LengthPrefix::U16, two(&[3, 0], &[0, 0]), [5, 2]),
            (LengthPrefix::U16Be, two(&[0, 3], &[0, 0]), [5, 2]),
            (LengthPrefix::U32, two(&[3, 0, 0, 0], &[0; 4]), [7, 4]),
            (LengthPrefix::U32Be, two(&[0, 0, 0, 3], &[0; 4]), [7, 4]),
            (LengthPrefix::Varint, two(&[0x83, 0], &[0]), [5, 1]),
        ] {
            let format = Format::Messages(prefix);
            let expected = vec![window(0, sizes[0], 1), window(sizes[0], sizes[1], 1)];
            assert_eq!(format.windows(&bytes, 1), Ok(expected), "{prefix:?}");
            let mut head = Vec::new();
            prefix.write(&mut head, 3);
            assert_eq!(prefix.read(&head), Some((head.len(), 3)));
        }
        let format = Format::Messages(LengthPrefix::U8);
        assert_eq!(format.count(&[1, 7, 2, 7]), Err(FormatError::CutMessage { offset: 2, bytes: Some(2) }));
        let format = Format::Messages(LengthPrefix::U32);
        assert_eq!(format.count(&[0, 0, 0]), Err(FormatError::CutMessage { offset: 0, bytes: None }));
    }

    #[test]
    fn each_line_of_json_lines_is_one_value() {
        assert_eq!(Format::JsonLines.windows(b"{\"a\":1}\n[2]\r\n3", 2).map(|found| found.len()), Ok(2));
        let wrong = Format::JsonLines.count(b"{}\n{\n").expect_err("the second is cut off");
        assert_eq!(wrong, FormatError::NotJson { line: 2, offset: 3 });
        assert!(Format::JsonLines.count(b"1 2\n").is_err() && Format::JsonLines.count(b"\n").is_err());
    }

    #[test]
    fn every_format_is_read_from_its_word() {
        for word in Format::words().chain(["records:1", "records:48", "messages:u16be", "messages:u32be"]) {
            assert_eq!(Format::parse(word).map(Format::word).as_deref(), Some(word));
            assert!(word.contains(':') || FORMATS.contains(word), "{word}");
        }
        assert_eq!(Format::parse("messages:u32").map(Format::word).as_deref(), Some("messages"));
        for wrong in ["records", "records:0", "records:-1", "records:9999999", "u33", "", "messages:u64"] {
            assert_eq!(Format::parse(wrong), None, "{wrong}");
        }
        // What ledgers of before have.
        assert_eq!(serde_json::to_value(Format::Varint).expect("a word"), "varint");
        assert_eq!(serde_json::from_str::<Format>("\"lines\"").ok(), Some(Format::Lines));
    }

    #[test]
    fn a_unit_of_another_format_contradicts() {
        let u32s = Format::Numbers(NumberType::U32);
        for (format, unit, contradicts) in [
            (Format::Bytes, "line", true),
            (Format::JsonLines, "line", false),
            (u32s, "byte", true),
            (u32s, "u64", true),
            (u32s, "u32", false),
            (u32s, "number", false),
            (u32s, "key", false),
            (u32s, "double", true),
            (Format::Numbers(NumberType::F64), "float", false),
            (Format::Records(16), "message", false),
            (Format::Records(16), "varint", true),
            (Format::Lines, "record", false),
            (Format::Whole, "line", false),
            (Format::Varint, "u8", true),
        ] {
            assert_eq!(format.contradicts(unit), contradicts, "{format:?} by {unit}");
        }
    }

    #[test]
    fn an_empty_input_has_no_units_and_no_windows() {
        for format in [Format::Varint, Format::Lines, Format::Bytes, Format::Whole] {
            assert_eq!(format.count(&[]), Ok(0));
            for window_units in [0, 1, 4096] {
                assert_eq!(format.windows(&[], window_units), Ok(vec![]));
            }
        }
    }

    #[test]
    fn malformed_varints_are_an_error_with_their_offset() {
        assert_eq!(Format::Varint.windows(&[1, 2, 0x80], 4), Err(FormatError::Truncated { offset: 2 }));
        assert_eq!(Format::Varint.count(&[0xff; 12]), Err(FormatError::OverLong { offset: 0 }));
        assert!(FormatError::Truncated { offset: 2 }.to_string().contains("byte 2"));
        assert!(FormatError::OverLong { offset: 9 }.to_string().contains("byte 9"));
    }
}
