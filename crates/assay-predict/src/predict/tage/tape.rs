//! A history of bits of which only the newest few hundred matter: pushed at one end, read anywhere, folded.
//!
//! Bit 0 is the newest. Pushing moves an origin downwards through a fixed buffer, so that it costs one store and not
//! a shift of the whole register; when the origin reaches the bottom, the part that can still be read is moved to the
//! top. Two kinds of history are made of it: direction history (the pushed bits are all there is) and a path history
//! register, where a footprint wider than the shift is xored into the newest bits: `PHR = (PHR << shift) ^ footprint`.
//!
//! Checked: against a register kept as a list of bits, and folds against the definition, in the tests below.

/// Bytes of the buffer; reads go up to 8 bytes further.
const BYTES: usize = 1024;

/// A history of bits, the newest first.
#[derive(Clone)]
pub struct Tape {
    bytes: [u8; BYTES + 8],
    /// Where bit 0 lies, in bits from the start of the buffer.
    origin: usize,
}

impl Default for Tape {
    fn default() -> Tape {
        Tape::new()
    }
}

impl Tape {
    /// How far back it can be read, bits.
    pub const REACH: usize = 4096;

    /// The most bits one footprint may have.
    pub const FOOTPRINT_BITS: u32 = 57;

    /// An empty history: all bits 0.
    pub fn new() -> Tape {
        Tape { bytes: [0; BYTES + 8], origin: BYTES * 8 - Self::REACH }
    }

    /// Makes the history `shift` bits longer and xors `footprint` into its newest bits.
    ///
    /// Input: `shift` at most 57, `footprint` below 2^57.
    #[inline]
    pub fn push(&mut self, footprint: u64, shift: u32) {
        debug_assert!(shift <= 57 && footprint >> Self::FOOTPRINT_BITS == 0);
        if self.origin < shift as usize {
            self.rewind();
        }
        self.origin -= shift as usize;
        let at = (self.origin >> 3) & (BYTES - 1);
        let word = self.load(at) ^ (footprint << (self.origin & 7));
        self.bytes[at..at + 8].copy_from_slice(&word.to_le_bytes());
    }

    /// The bits from age `age` on, that of age `age` lowest; the lower 57 of them are right.
    ///
    /// Input: `age` + 57 at most [`Tape::REACH`].
    #[inline]
    pub fn bits(&self, age: usize) -> u64 {
        let at = self.origin + age;
        self.load((at >> 3) & (BYTES - 1)) >> (at & 7)
    }

    /// The newest `length` bits folded to `width`: bit i of the result is the xor of all bits whose age is i modulo
    /// `width`.
    ///
    /// Input: `length` at most [`Tape::REACH`] - 57, `width` from 1 to 28. Cost: about length / 40 loads.
    #[inline]
    pub fn fold(&self, length: usize, width: u32) -> u32 {
        // As many whole multiples of the width at a time as one read gives.
        let chunk = (57 / width * width) as usize;
        let mut sum = 0;
        let mut age = 0;
        while age + chunk <= length {
            sum ^= self.bits(age) & ((1 << chunk) - 1);
            age += chunk;
        }
        sum ^= self.bits(age) & ((1 << (length - age)) - 1);
        let mut folded = 0;
        while sum != 0 {
            folded ^= sum as u32 & ((1 << width) - 1);
            sum >>= width;
        }
        folded
    }

    #[inline]
    fn load(&self, at: usize) -> u64 {
        u64::from_le_bytes(self.bytes[at..at + 8].try_into().expect("eight bytes"))
    }

    /// Moves what can still be read to the top.
    #[cold]
    fn rewind(&mut self) {
        let top = BYTES - Self::REACH / 8;
        self.bytes.copy_within(..Self::REACH / 8 + 8, top);
        self.bytes[..top].fill(0);
        self.origin += top * 8;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A generator for tests: a multiplicative congruence, high bits.
    fn draw(state: &mut u64) -> u64 {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        *state >> 7
    }

    /// The definition: a list of bits, the newest first.
    fn push_slowly(bits: &mut Vec<bool>, footprint: u64, shift: u32) {
        bits.splice(0..0, vec![false; shift as usize]);
        bits.truncate(Tape::REACH);
        for (i, bit) in bits.iter_mut().take(57).enumerate() {
            *bit ^= footprint >> i & 1 != 0;
        }
    }

    #[test]
    fn a_tape_is_a_register_that_is_shifted_and_xored() {
        let (mut tape, mut slow, mut state) = (Tape::new(), vec![false; Tape::REACH], 1);
        for step in 0..5000 {
            let shift = [1, 2, 3, 11, 57][step % 5];
            let footprint = draw(&mut state) & ((1 << [1, 16, 30, 57][step % 4]) - 1);
            tape.push(footprint, shift);
            push_slowly(&mut slow, footprint, shift);
            if step % 7 == 0 {
                let age = draw(&mut state) as usize % (Tape::REACH - 57);
                let word = (0..57).fold(0, |word, i| word | (slow[age + i] as u64) << i);
                assert_eq!(tape.bits(age) & ((1 << 57) - 1), word, "step {step}, age {age}");
            }
        }
    }

    #[test]
    fn a_fold_is_the_xor_of_the_bits_of_equal_age_modulo_the_width() {
        let (mut tape, mut slow, mut state) = (Tape::new(), vec![false; Tape::REACH], 2);
        for _ in 0..900 {
            let footprint = draw(&mut state) & 0xffff;
            tape.push(footprint, 3);
            push_slowly(&mut slow, footprint, 3);
        }
        for width in 1..=28 {
            for length in [0, 1, 2, 7, 56, 57, 58, 160, 300, 1101] {
                let mut folded = 0u32;
                for (age, _) in slow[..length].iter().enumerate().filter(|(_, bit)| **bit) {
                    folded ^= 1 << (age as u32 % width);
                }
                assert_eq!(tape.fold(length, width), folded, "{length} bits to {width}");
            }
        }
    }
}
