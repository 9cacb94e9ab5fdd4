//! A short stream repeated to a long one: few distinct units in a large working set.
//!
//! What a predictor can memorise is set by the distinct units, what a cache can hold by all of them; repeating keeps
//! the two apart. Checked: against the stream written out unit by unit.

use super::Format;

/// A stream of `distinct` units, at least 1, repeated from its first until there are `units`.
///
/// Panics if `stream` is no such stream of the format.
/// Cost: one pass over the stream, one copy of what is returned.
pub fn repeated(stream: &[u8], format: Format, distinct: u64, units: u64) -> Vec<u8> {
    let (times, rest) = (units / distinct, (units % distinct) as usize);
    let lengths = format.unit_lengths(stream).expect("a generated stream is well formed");
    assert_eq!(lengths.len() as u64, distinct, "the stream has as many units as its caller says");
    let tail: u64 = lengths[..rest].iter().sum();
    let mut bytes = stream.repeat(times as usize);
    bytes.extend_from_slice(&stream[..tail as usize]);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inputs::{Generator, describe};

    #[test]
    fn repeats_whole_units_until_there_are_enough() {
        // Values of 1, 2 and 3 bytes.
        let stream = [5, 0x80, 1, 0x80, 0x80, 1];
        assert_eq!(repeated(&stream, Format::Varint, 3, 3), stream);
        assert_eq!(repeated(&stream, Format::Varint, 3, 5), [&stream[..], &stream[..3]].concat());
        assert_eq!(repeated(&stream, Format::Varint, 3, 7), [&stream[..], &stream, &stream[..1]].concat());
        assert_eq!(repeated(&[7], Format::Varint, 1, 4), [7; 4]);
    }

    #[test]
    fn the_description_finds_the_period_and_the_units() {
        let generator = Generator::LogUniform { min_bits: 0, max_bits: 32 };
        let bytes = repeated(&generator.generate(700, 3), Format::Varint, 700, 10_000);
        let found = describe(&bytes, Format::Varint).expect("well formed");
        assert_eq!((found.units, found.class_period_units), (10_000, 700));
        assert!(found.period_warning().is_some_and(|text| text.contains("every 700 units (14.3 times)")));
    }
}
