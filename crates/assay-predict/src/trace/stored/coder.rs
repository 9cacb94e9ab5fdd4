//! Bits to bytes and back: a binary arithmetic coder, and numbers made of coded bits.
//!
//! Method: the interval [low, high] of 32 bits is split in proportion to the probability of a one; leading bytes that both
//! ends share are written (Mahoney's carry-less coder, as his papers on PAQ describe it). Both directions go through the
//! same trait, so that what is written and what is read is decided in one place.

/// Codes a bit that is one with probability `p` / 65536.
pub trait Coder {
    /// Writes `bit` and gives it back, or, when reading, ignores `bit` and gives the one that was written.
    fn bit(&mut self, p: u16, bit: bool) -> bool;
}

/// The writing side.
pub struct Encoder {
    low: u32,
    high: u32,
    /// Whole bytes so far.
    pub out: Vec<u8>,
}

impl Encoder {
    pub fn new() -> Encoder {
        Encoder { low: 0, high: u32::MAX, out: Vec::new() }
    }

    /// Writes as many bytes as are needed to tell the interval, zeros following, and begins anew.
    pub fn finish(&mut self) -> Vec<u8> {
        let mut kept = 32;
        // The shortest number in the interval: zeros at the end need not be written.
        let value = loop {
            kept -= 8;
            let mask = (1u64 << kept) - 1;
            let rounded = (u64::from(self.low) + mask) & !mask;
            if rounded <= u64::from(self.high) || kept == 0 {
                break rounded as u32;
            }
        };
        self.out.extend_from_slice(&value.to_be_bytes()[..4 - kept / 8]);
        (self.low, self.high) = (0, u32::MAX);
        std::mem::take(&mut self.out)
    }
}

/// Where a one ends and a zero begins.
fn middle(low: u32, high: u32, p: u16) -> u32 {
    low + ((u64::from(high - low) * u64::from(p.max(1))) >> 16) as u32
}

impl Coder for Encoder {
    #[inline]
    fn bit(&mut self, p: u16, bit: bool) -> bool {
        let middle = middle(self.low, self.high, p);
        if bit {
            self.high = middle;
        } else {
            self.low = middle + 1;
        }
        while (self.low ^ self.high) >> 24 == 0 {
            self.out.push((self.high >> 24) as u8);
            self.low <<= 8;
            self.high = self.high << 8 | 255;
        }
        bit
    }
}

/// The reading side. Behind the end it reads zeros: any bytes give some bits.
pub struct Decoder<'a> {
    low: u32,
    high: u32,
    value: u32,
    bytes: &'a [u8],
}

impl Decoder<'_> {
    pub fn new(bytes: &[u8]) -> Decoder<'_> {
        let mut decoder = Decoder { low: 0, high: u32::MAX, value: 0, bytes };
        for _ in 0..4 {
            decoder.shift();
        }
        decoder
    }

    fn shift(&mut self) {
        let byte = self.bytes.split_off_first().copied().unwrap_or(0);
        self.value = self.value << 8 | u32::from(byte);
    }
}

impl Coder for Decoder<'_> {
    #[inline]
    fn bit(&mut self, p: u16, _: bool) -> bool {
        let middle = middle(self.low, self.high, p);
        let bit = self.value <= middle;
        if bit {
            self.high = middle;
        } else {
            self.low = middle + 1;
        }
        while (self.low ^ self.high) >> 24 == 0 {
            self.low <<= 8;
            self.high = self.high << 8 | 255;
            self.shift();
        }
        bit
    }
}

/// A probability that follows what happens, by 1 / 2^`RATE` of the way each time.
#[derive(Clone, Copy)]
pub struct Chance<const RATE: u32 = 4>(pub u16);

impl<const RATE: u32> Chance<RATE> {
    pub const EVEN: Self = Chance(1 << 15);

    #[inline]
    pub fn code<C: Coder>(&mut self, coder: &mut C, bit: bool) -> bool {
        let bit = coder.bit(self.0, bit);
        if bit {
            self.0 += (u16::MAX - self.0) >> RATE;
        } else {
            self.0 -= self.0 >> RATE;
        }
        bit
    }
}

/// Small numbers of `2^BITS` values: a tree of chances.
pub struct SymbolCode<const BITS: u32>(Vec<Chance>);

impl<const BITS: u32> SymbolCode<BITS> {
    pub fn new() -> Self {
        SymbolCode(vec![Chance::EVEN; 1 << BITS])
    }

    pub fn code<C: Coder>(&mut self, coder: &mut C, value: u32) -> u32 {
        let mut node = 1;
        for bit in (0..BITS).rev() {
            node = node << 1 | usize::from(self.0[node].code(coder, value >> bit & 1 != 0));
        }
        node as u32 - (1 << BITS)
    }
}

/// Numbers of any size, small ones or ones of a usual size short: the size in bits, then the bits.
pub struct NumberCode {
    size: SymbolCode<7>,
    /// The first bits below the leading one, by size: a tree of chances each.
    upper: Vec<[Chance; 8]>,
}

impl NumberCode {
    pub fn new() -> NumberCode {
        NumberCode { size: SymbolCode::new(), upper: vec![[Chance::EVEN; 8]; 65] }
    }

    pub fn code<C: Coder>(&mut self, coder: &mut C, value: u64) -> u64 {
        let size = self.size.code(coder, 64 - value.leading_zeros()).min(64);
        if size <= 1 {
            return u64::from(size);
        }
        let (mut rest, mut read, mut node) = (size - 1, 1, 1);
        for _ in 0..rest.min(3) {
            rest -= 1;
            let bit = self.upper[size as usize][node].code(coder, value >> rest & 1 != 0);
            node = node << 1 | usize::from(bit);
            read = read << 1 | u64::from(bit);
        }
        for bit in (0..rest).rev() {
            read = read << 1 | u64::from(coder.bit(1 << 15, value >> bit & 1 != 0));
        }
        read
    }

    /// A difference, of either sign, small ones short.
    pub fn code_signed<C: Coder>(&mut self, coder: &mut C, value: i64) -> i64 {
        let folded = self.code(coder, (value << 1 ^ value >> 63) as u64);
        (folded >> 1) as i64 ^ -((folded & 1) as i64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_every_size_come_back() {
        let mut values: Vec<u64> = (0..64).flat_map(|bit| [1 << bit, (1 << bit) - 1, 3 << bit]).collect();
        values.extend([u64::MAX, 0, 12_345_678_901]);
        let signed: Vec<i64> =
            values.iter().flat_map(|&value| [value as i64, -(value as i64 >> 1)]).collect();
        let mut encoder = Encoder::new();
        let mut model = NumberCode::new();
        for _ in 0..3 {
            values.iter().for_each(|&value| assert_eq!(model.code(&mut encoder, value), value));
            signed.iter().for_each(|&value| assert_eq!(model.code_signed(&mut encoder, value), value));
        }
        let bytes = encoder.finish();
        let (mut decoder, mut model) = (Decoder::new(&bytes), NumberCode::new());
        for _ in 0..3 {
            values.iter().for_each(|&value| assert_eq!(model.code(&mut decoder, 0), value));
            signed.iter().for_each(|&value| assert_eq!(model.code_signed(&mut decoder, 0), value));
        }
    }

    #[test]
    fn likely_bits_cost_next_to_nothing_and_extreme_chances_are_safe() {
        let mut encoder = Encoder::new();
        for _ in 0..100_000 {
            encoder.bit(u16::MAX, true);
        }
        let bytes = encoder.finish();
        assert!(bytes.len() < 4, "{} bytes", bytes.len());
        for p in [0, 1, 2, 1 << 15, u16::MAX - 1, u16::MAX] {
            let bits: Vec<bool> =
                (0..2000u32).map(|bit| bit.wrapping_mul(2_654_435_761) >> 31 != 0).collect();
            bits.iter().for_each(|&bit| assert_eq!(encoder.bit(p, bit), bit));
            let bytes = encoder.finish();
            let mut decoder = Decoder::new(&bytes);
            assert!(bits.iter().all(|&bit| decoder.bit(p, false) == bit), "p = {p}");
        }
    }

    #[test]
    fn the_shortest_ending_still_tells_the_bits() {
        for seed in 0..3000u32 {
            let draw = |at: u32| (seed * 40 + at).wrapping_mul(2_654_435_761);
            let coded: Vec<(u16, bool)> =
                (0..seed % 40).map(|at| ((draw(at) >> 8) as u16, draw(at) >> 31 != 0)).collect();
            let mut encoder = Encoder::new();
            coded.iter().for_each(|&(p, bit)| assert_eq!(encoder.bit(p, bit), bit));
            let bytes = encoder.finish();
            let mut decoder = Decoder::new(&bytes);
            assert!(coded.iter().all(|&(p, bit)| decoder.bit(p, false) == bit), "seed {seed}");
        }
    }

    #[test]
    fn a_chance_follows_what_happens_and_stays_open_to_the_other() {
        let mut chance = Chance::<4>::EVEN;
        let mut encoder = Encoder::new();
        (0..500).for_each(|_| assert!(chance.code(&mut encoder, true)));
        assert!(chance.0 > 65_000 && chance.0 < u16::MAX);
        (0..500).for_each(|_| assert!(!chance.code(&mut encoder, false)));
        assert!(chance.0 < 500 && chance.0 > 0);
        let mut symbol = SymbolCode::<3>::new();
        assert!((0..8).all(|value| symbol.code(&mut encoder, value) == value));
    }
}
