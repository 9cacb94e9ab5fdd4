//! How units are found in an input's bytes, and how the bytes are cut into windows at unit borders.
//!
//! A unit is what every figure is divided by, so the count must be exact, and a window must never end inside one:
//! a decoder handed half a varint would refuse it. Malformed input is an error with the place, found before
//! anything is measured. An empty input has no units and no windows, in every format.

use super::format_error::FormatError;
use super::varint::varint_lengths;

/// How units are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// LEB128: a unit ends at a byte without the high bit.
    Varint,
    /// A unit is a line, its newline included; the last line may lack it.
    Lines,
    /// A unit is one byte.
    Bytes,
    /// The whole input is one unit.
    Whole,
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
        match self {
            Format::Bytes => Ok(bytes.len() as u64),
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
        })
    }
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
