//! LEB128 varints: seven bits of the value per byte, the lowest first, the high bit set on all but the last byte.
//!
//! The rules by which every decoder of this project accepts or refuses a stream:
//!
//! - **truncated**: the stream ends inside a value, that is, after at most nine bytes that all have the high bit;
//! - **over-long**: the tenth byte of a value is above 1, so the value has more than 64 bits or goes on past ten bytes;
//! - a padded encoding (0x80 0x00 for 0) is accepted and has the value that its bits say.
//!
//! The decoder here is the plainest possible: the faster ones are proven against it. Checked: every boundary value of
//! every length, and against the examples of the DWARF and protobuf documents.

use super::format_error::FormatError;

/// The longest encoding, bytes: ten times seven bits hold 64.
pub const MAX_LENGTH: usize = 10;

/// Bytes of the shortest encoding of `value`, 1 to 10.
pub fn encoded_length(value: u64) -> usize {
    // 0 has no bits but takes a byte.
    let bits = 64 - (value | 1).leading_zeros();
    bits.div_ceil(7) as usize
}

/// The smallest and the largest value whose shortest encoding has `length` bytes, 1 to 10.
pub(super) fn values_of_length(length: usize) -> (u64, u64) {
    let min = if length == 1 { 0 } else { 1 << (7 * (length - 1)) };
    let max = if length == MAX_LENGTH { u64::MAX } else { (1 << (7 * length)) - 1 };
    (min, max)
}

/// Appends the shortest encoding of `value`.
pub fn push_varint(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

/// All values of a stream, in order.
///
/// Errors: `Truncated` and `OverLong` as defined above, with the offset of the offending value's first byte.
pub fn decode_varints(bytes: &[u8]) -> Result<Vec<u64>, FormatError> {
    let mut values = Vec::with_capacity(bytes.len());
    let mut offset = 0;
    while offset < bytes.len() {
        let length = length_at(bytes, offset)?;
        let groups = bytes[offset..offset + length].iter().enumerate();
        values.push(groups.fold(0, |value, (index, byte)| value | u64::from(byte & 0x7f) << (7 * index)));
        offset += length;
    }
    Ok(values)
}

/// Bytes of each value's encoding, in order; errors as in [`decode_varints`].
pub(super) fn varint_lengths(bytes: &[u8]) -> Result<Vec<u64>, FormatError> {
    let mut lengths = Vec::with_capacity(bytes.len());
    let mut offset = 0;
    while offset < bytes.len() {
        let length = length_at(bytes, offset)?;
        lengths.push(length as u64);
        offset += length;
    }
    Ok(lengths)
}

/// Bytes of the encoding that begins at `offset`, which lies within `bytes`.
fn length_at(bytes: &[u8], offset: usize) -> Result<usize, FormatError> {
    for (index, &byte) in bytes[offset..].iter().take(MAX_LENGTH).enumerate() {
        // Nine bytes hold 63 bits: the tenth may add one bit and must be the last.
        if index == MAX_LENGTH - 1 && byte > 1 {
            return Err(FormatError::OverLong { offset: offset as u64 });
        }
        if byte < 0x80 {
            return Ok(index + 1);
        }
    }
    Err(FormatError::Truncated { offset: offset as u64 })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encode(value: u64) -> Vec<u8> {
        let mut bytes = Vec::new();
        push_varint(&mut bytes, value);
        bytes
    }

    #[test]
    fn reproduces_the_examples_of_the_standards() {
        // DWARF 5, table 7.7 (unsigned LEB128); Protocol Buffers' encoding guide: 150 is 96 01.
        for (value, bytes) in [
            (2, &[2][..]),
            (127, &[0x7f]),
            (128, &[0x80, 1]),
            (129, &[0x81, 1]),
            (12857, &[0xb9, 0x64]),
            (150, &[0x96, 0x01]),
        ] {
            assert_eq!(encode(value), bytes);
            assert_eq!(decode_varints(bytes), Ok(vec![value]));
        }
    }

    #[test]
    fn encodes_both_ends_of_every_length_in_that_many_bytes() {
        for length in 1..=MAX_LENGTH {
            let (min, max) = values_of_length(length);
            for value in [min, max] {
                assert_eq!((encode(value).len(), encoded_length(value)), (length, length), "{value}");
                assert_eq!(decode_varints(&encode(value)), Ok(vec![value]));
            }
            if length < MAX_LENGTH {
                assert_eq!(values_of_length(length + 1).0, max + 1);
            }
        }
        assert_eq!(encode(u64::MAX), [255, 255, 255, 255, 255, 255, 255, 255, 255, 1]);
        assert_eq!(encode(1 << 63), [128, 128, 128, 128, 128, 128, 128, 128, 128, 1]);
    }

    #[test]
    fn decodes_a_sequence_in_order() {
        assert_eq!(decode_varints(&[]), Ok(vec![]));
        assert_eq!(decode_varints(&[5, 0x80, 1, 0, 0xff, 0xff, 3]), Ok(vec![5, 128, 0, 65535]));
    }

    #[test]
    fn accepts_padded_encodings_as_their_value() {
        assert_eq!(decode_varints(&[0x80, 0x00]), Ok(vec![0]));
        assert_eq!(decode_varints(&[0x81, 0x80, 0x00, 7]), Ok(vec![1, 7]));
        // Ten bytes whose last adds nothing.
        let mut padded = [0x80; 10];
        padded[9] = 0;
        assert_eq!(decode_varints(&padded), Ok(vec![0]));
    }

    #[test]
    fn refuses_a_stream_that_ends_inside_a_value() {
        for length in 1..MAX_LENGTH {
            let bytes: Vec<u8> = [7, 7, 7].into_iter().chain(vec![0x80; length]).collect();
            assert_eq!(decode_varints(&bytes), Err(FormatError::Truncated { offset: 3 }));
            assert_eq!(varint_lengths(&bytes), Err(FormatError::Truncated { offset: 3 }));
        }
    }

    #[test]
    fn refuses_more_than_sixty_four_bits_and_more_than_ten_bytes() {
        for tenth in 2..=255 {
            let mut bytes = vec![7];
            bytes.extend([0x80; 9]);
            bytes.push(tenth);
            assert_eq!(
                decode_varints(&bytes),
                Err(FormatError::OverLong { offset: 1 }),
                "tenth byte {tenth}"
            );
            bytes.push(0);
            assert_eq!(
                decode_varints(&bytes),
                Err(FormatError::OverLong { offset: 1 }),
                "tenth byte {tenth}"
            );
        }
    }

    #[test]
    fn lengths_and_values_agree_on_where_values_end() {
        let bytes = [5, 0x80, 1, 0x80, 0x80, 0, 0xff, 0xff, 3];
        assert_eq!(varint_lengths(&bytes), Ok(vec![1, 2, 3, 3]));
        assert_eq!(decode_varints(&bytes).map(|values| values.len()), Ok(4));
    }
}
