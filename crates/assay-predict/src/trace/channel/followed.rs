//! The file by which a few functions are followed while they run: what the lab asks, and the digest that the plugin takes.
//!
//! The lab writes the head and one entry per instruction, then starts the emulator with the plugin's argument
//! `followed=FILE`; the plugin writes the words from [`LOADED`] on, as it goes. One thread alone is followed.

/// The first word: "ASSAYFOL".
pub const MAGIC_WORD: u64 = u64::from_le_bytes(*b"ASSAYFOL");

/// u64: [`MAGIC_WORD`].
pub const MAGIC: usize = 0;
/// u64: link-time address of the program's first segment that is executed.
pub const FIRST_CODE: usize = 8;
/// u64: how many entries there are.
pub const ENTRIES: usize = 16;
/// u64: 1 when the plugin has read all this.
pub const LOADED: usize = 64;
/// u64: the digest of what the loops executed and which addresses they reached, first half.
pub const DIGEST: usize = 72;
/// u64: its second half.
pub const SECOND_DIGEST: usize = 80;
/// u64: instructions executed in loops and in what they call.
pub const LOOPED: usize = 88;
/// u64: instructions of the function executed around its loops.
pub const AROUND: usize = 96;
/// u64: how often what is followed was left otherwise than by returning.
pub const LEFT: usize = 104;
/// u64: threads beyond the first that executed what is followed.
pub const THREADS: usize = 112;
/// u64: 1 while the last instruction of the table that was executed is in a loop.
pub const INSIDE: usize = 120;
/// Where the entries begin, in ascending order of addresses.
pub const FIRST_ENTRY: usize = 4096;
/// Bytes per entry: u64 link-time address, u64 role.
pub const ENTRY_SIZE: usize = 16;

/// Role: around the loops.
pub const ROLE_AROUND: u64 = 0;
/// Role: leaves what is followed.
pub const ROLE_LEAVES: u64 = 1;
/// Role: in a loop; its number is added.
pub const ROLE_LOOPED: u64 = 2;

/// Size of the file for so many entries, bytes.
pub fn size(entries: usize) -> usize {
    FIRST_ENTRY + entries * ENTRY_SIZE
}

/// A digest of a sequence of words: other words, or the same in another order, give another one but by chance of 2^-128.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Digest {
    /// The two halves, mixed by different constants.
    pub halves: [u64; 2],
}

impl Digest {
    /// Odd constants: the golden ratio's, and one of SplitMix64 (Steele, Lea and Flood 2014).
    const FACTORS: [u64; 2] = [0x9e37_79b9_7f4a_7c15, 0xbf58_476d_1ce4_e5b9];

    /// Takes one more word.
    pub fn take(&mut self, word: u64) {
        for (half, factor) in self.halves.iter_mut().zip(Digest::FACTORS) {
            *half = ((*half ^ word).wrapping_mul(factor)).rotate_left(29) ^ factor;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(words: &[u64]) -> Digest {
        let mut digest = Digest::default();
        words.iter().for_each(|&word| digest.take(word));
        digest
    }

    #[test]
    fn other_words_or_another_order_give_another_digest() {
        let all = [&[][..], &[0], &[0, 0], &[1], &[1, 0], &[0, 1], &[1 << 63], &[1 << 63, 1 << 63], &[2, 1]];
        let digests: Vec<Digest> = all.iter().map(|words| of(words)).collect();
        for (at, one) in digests.iter().enumerate() {
            assert_eq!(*one, of(all[at]));
            assert!(
                digests[..at]
                    .iter()
                    .all(|other| other.halves[0] != one.halves[0] && other.halves[1] != one.halves[1])
            );
        }
        // A million addresses, one of which is another: both halves tell.
        let long: Vec<u64> = (0..1_000_000).map(|at| 0x40_0000_0000 + 8 * at).collect();
        let mut other = long.clone();
        other[3] += 64;
        assert!(of(&long).halves.iter().zip(of(&other).halves).all(|(one, other)| *one != other));
    }
}
