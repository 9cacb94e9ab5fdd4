//! What lines are as text: words, letters beyond ASCII, how much the length varies. And what messages are: sizes, and
//! numbers that are missing.
//!
//! A word is what stands between white space. The share of letters beyond ASCII is of all characters but white space.
//! Messages that begin with a number of eight bytes, lowest first, which always rises, are taken for numbered.
//! Checked: on texts counted by hand; against what generators were asked for.

use super::format::LengthPrefix;
use super::sequence::rank_exponent;
use std::collections::HashMap;

/// More text than this is described by its beginning.
const LOOKED_AT: usize = 1 << 26;

/// What text is beside the lengths of its lines.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct TextFacts {
    /// Words.
    pub words: u64,
    /// Different ones.
    pub distinct_words: u64,
    /// Zipf's exponent of the words, as of numbers.
    pub rank_exponent: Option<f64>,
    /// The share of characters beyond ASCII, white space left out; `None` if the bytes are not UTF-8.
    pub non_ascii_share: Option<f64>,
    /// Standard deviation of the lines' lengths, bytes.
    pub line_deviation: f64,
}

/// What messages are beside their sizes.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct MessageFacts {
    /// Mean bytes of a message without its length.
    pub mean_size: f64,
    /// Where messages begin with a number that always rises: the share of numbers that are missing.
    pub missing_share: Option<f64>,
}

/// Describes lines. Input: the bytes, and those of each line.
pub(super) fn text(bytes: &[u8], lengths: &[u64]) -> TextFacts {
    let looked_at = &bytes[..bytes.len().min(LOOKED_AT)];
    let mut counts: HashMap<&[u8], usize> = HashMap::new();
    let words = looked_at.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    for word in words {
        *counts.entry(word).or_default() += 1;
    }
    let mut counts: Vec<usize> = counts.into_values().collect();
    counts.sort_unstable_by(|a, b| b.cmp(a));
    let mean = lengths.iter().sum::<u64>() as f64 / lengths.len().max(1) as f64;
    let squares: f64 = lengths.iter().map(|&length| (length as f64 - mean).powi(2)).sum();
    TextFacts {
        words: counts.iter().sum::<usize>() as u64,
        distinct_words: counts.len() as u64,
        rank_exponent: rank_exponent(&counts),
        non_ascii_share: non_ascii(looked_at),
        line_deviation: (squares / lengths.len().max(1) as f64).sqrt(),
    }
}

fn non_ascii(bytes: &[u8]) -> Option<f64> {
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        // Cut off within a character.
        Err(error) if error.error_len().is_none() => {
            std::str::from_utf8(&bytes[..error.valid_up_to()]).ok()?
        }
        Err(_) => return None,
    };
    let space = text.bytes().filter(u8::is_ascii_whitespace).count();
    let ascii = text.bytes().filter(u8::is_ascii).count() - space;
    // Each character has one byte that does not continue another.
    let all = text.bytes().filter(|byte| byte & 0xc0 != 0x80).count() - space;
    Some(if all == 0 { 0.0 } else { (all - ascii) as f64 / all as f64 })
}

/// Describes messages that are of their format.
pub(super) fn messages(bytes: &[u8], prefix: LengthPrefix, lengths: &[u64]) -> MessageFacts {
    let mut offset = 0;
    let mut size = 0;
    let mut first = None;
    // The last number; `None` once one did not rise.
    let mut last = Some(None);
    for &length in lengths {
        let message = &bytes[offset..offset + length as usize];
        offset += length as usize;
        let (head, body) = prefix.read(message).expect("it is of its format");
        size += body;
        let number = message[head..].first_chunk().map(|number| u64::from_le_bytes(*number));
        first = first.or(number);
        last = match (last, number) {
            (Some(before), Some(number)) if before.is_none_or(|before| number > before) => Some(Some(number)),
            _ => None,
        };
    }
    let missing = first.zip(last.flatten()).filter(|_| lengths.len() > 1).map(|(first, last)| {
        let sent = (last - first) as f64 + 1.0;
        (sent - lengths.len() as f64) / sent
    });
    MessageFacts {
        mean_size: size as f64 / lengths.len().max(1) as f64,
        // Numbers that are mostly gaps are no numbers of messages.
        missing_share: missing.filter(|share| *share < 0.995),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_words_and_letters_by_hand() {
        let found = text("a größer b\na\n".as_bytes(), &[13, 2]);
        assert_eq!((found.words, found.distinct_words, found.rank_exponent), (4, 3, None));
        // ö and ß of a, g, r, ö, ß, e, r, b, a.
        assert_eq!(found.non_ascii_share, Some(2.0 / 9.0));
        assert_eq!((found.line_deviation, text(b"\xff\n", &[2]).non_ascii_share), (5.5, None));
    }

    #[test]
    fn missing_numbers_are_counted_where_messages_are_numbered() {
        let of = |numbers: &[u64]| -> Vec<u8> {
            numbers.iter().flat_map(|number| [&[9][..], &number.to_le_bytes(), &[7]].concat()).collect()
        };
        let found = |numbers: &[u64]| messages(&of(numbers), LengthPrefix::U8, &vec![10; numbers.len()]);
        assert_eq!(found(&[5, 6, 8, 9]), MessageFacts { mean_size: 9.0, missing_share: Some(0.2) });
        assert_eq!((found(&[5, 4]).missing_share, found(&[1, 1 << 40]).missing_share), (None, None));
        assert_eq!(messages(&[1, 0, 1, 0], LengthPrefix::U8, &[2, 2]).missing_share, None);
    }
}
