//! Content hashes, by which inputs and artifacts are named.
//!
//! SHA-256 (FIPS 180-4), because a digest stands for the bytes in a ledger that is merged with others' and kept for
//! years: a chance or a made collision must be out of the question. Checked against the standard's own vectors.

use sha2::{Digest, Sha256};

/// Hex digits of a short digest.
const SHORT_LEN: usize = 12;

/// The SHA-256 of `bytes` as 64 lower-case hex digits.
pub fn digest(bytes: &[u8]) -> String {
    let mut hex = String::with_capacity(64);
    for byte in Sha256::digest(bytes) {
        for nibble in [byte >> 4, byte & 15] {
            hex.push(char::from_digit(u32::from(nibble), 16).expect("a nibble is a hex digit"));
        }
    }
    hex
}

/// The first 12 hex digits (48 bits) of a digest, for people to read; the ledger keeps the whole.
///
/// A text shorter than that, or one cut inside a character, is returned whole.
pub fn short_digest(digest: &str) -> &str {
    digest.get(..SHORT_LEN).unwrap_or(digest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reproduces_the_vectors_of_the_standard() {
        // FIPS 180-4 examples; also `printf abc | sha256sum`.
        assert_eq!(digest(b""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
        assert_eq!(digest(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }

    #[test]
    fn shortens_to_twelve_digits_and_leaves_shorter_texts_whole() {
        assert_eq!(short_digest(&digest(b"abc")), "ba7816bf8f01");
        assert_eq!(short_digest("ba78"), "ba78");
        assert_eq!(short_digest("ååååååå"), "åååååå");
        assert_eq!(short_digest("1ååååååå"), "1ååååååå");
    }
}
