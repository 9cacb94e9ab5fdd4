//! Long histories folded into a few bits, all lengths in one pass.
//!
//! A fold of width w over the newest L bits of history is the exclusive or of their chunks of w bits. When bits come in
//! at the young end it is rotated, the new bits enter at its low end, and those that are now older than L leave where
//! they stand. All folds are lanes of arrays, so that a compiler can do them with vector instructions; a right shift by
//! another distance in each lane is the high half of a product. The bits about to leave are kept for each length in a
//! register of 16 bits that is refilled from the tape every few branches.
//!
//! Source: P. Michaud, "A PPM-like, tag-based branch predictor" (JILP 7, 2005) for the folding; the lanes are ours.
//! Checked: against folds computed anew from all bits, for both sizes.

/// Lengths of history at most, each a lane.
pub const LANES: usize = 16;

/// All bits of the history, in the order in which they came; the newest few thousand are remembered.
#[derive(Clone, Debug)]
struct FoldTape {
    bytes: [u8; FoldTape::BYTES + 8],
    written: u64,
    /// Where the next bit will be.
    at: usize,
}

impl FoldTape {
    const BYTES: usize = 2048;
    /// Bits that are kept, more than the longest history.
    const PAST: usize = 3968;

    /// Appends the lowest `count` of these bits, at most 16, the first one lowest; the others are 0.
    #[inline(always)]
    fn append(&mut self, bits: u16, count: u32) {
        if self.at + 32 > 8 * Self::BYTES {
            self.rewind();
        }
        let byte = self.at / 8;
        let word = u32::from(self.bytes[byte]) & !(!0 << (self.at % 8)) | u32::from(bits) << (self.at % 8);
        self.bytes[byte..byte + 4].copy_from_slice(&word.to_le_bytes());
        self.at += count as usize;
        self.written += u64::from(count);
    }

    /// The 16 bits from the one that came `age` bits ago on; those that have not come are 0.
    #[inline(always)]
    fn sixteen_from(&self, age: u16) -> u16 {
        let at = self.at - usize::from(age);
        let byte = (at / 8) % Self::BYTES;
        let word = u32::from_le_bytes(self.bytes[byte..byte + 4].try_into().expect("four bytes"));
        (word >> (at % 8)) as u16
    }

    #[cold]
    fn rewind(&mut self) {
        let from = (self.at - Self::PAST) / 8;
        self.bytes.copy_within(from.., 0);
        self.at -= 8 * from;
    }
}

/// For each length, the bits that will leave it next, the next one lowest.
#[derive(Clone, Debug)]
pub struct Leaving {
    tape: FoldTape,
    lengths: [u16; LANES],
    next: [u16; LANES],
    /// Where bits enter so short a history that they may leave before the next refill, by the newest two, the newest
    /// lowest.
    enters: [[u16; LANES]; 4],
    /// All ones in the lanes of so short histories.
    short: [u16; LANES],
    /// The bits since the last refill, and how many.
    fresh: u16,
    count: u32,
}

/// Bits as lanes of all zeros or all ones.
pub type Masks = [u16; LANES];

impl Leaving {
    /// Nothing has come yet. A length of 0 is an unused lane; the others are at least 2 and at most 3900.
    pub fn new(lengths: [u16; LANES]) -> Leaving {
        let short = |length: u16| length <= 16;
        let bit = |length: u16, back: u16| if (2..=16).contains(&length) { 1 << (length - back) } else { 0 };
        Leaving {
            tape: FoldTape { bytes: [0; FoldTape::BYTES + 8], written: 0, at: FoldTape::PAST },
            lengths,
            next: [0; LANES],
            enters: [0, 1, 2, 3].map(|newest: u16| {
                lengths.map(|length| ((newest & 1) * bit(length, 1)) | ((newest >> 1) * bit(length, 2)))
            }),
            short: lengths.map(|length| if short(length) { !0 } else { 0 }),
            fresh: 0,
            count: 0,
        }
    }

    /// How many bits have come.
    pub fn pushed(&self) -> u64 {
        self.tape.written + u64::from(self.count)
    }

    /// Takes in two bits, the older one first: those that leave each length with the older one, and with the newer.
    #[inline(always)]
    pub fn advance_two(&mut self, older: u16, newer: u16) -> [Masks; 2] {
        self.note(older | newer << 1, 2);
        // A look-up: of a mask by each bit the compiler makes a branch on the bit.
        let enters = &self.enters[usize::from(older << 1 | newer) % 4];
        let mut left = [[0; LANES]; 2];
        for lane in 0..LANES {
            let next = self.next[lane];
            left[0][lane] = (next & 1).wrapping_neg();
            left[1][lane] = (next >> 1 & 1).wrapping_neg();
            self.next[lane] = next >> 2 | enters[lane];
        }
        left
    }

    /// Takes in one bit: those that leave each length.
    #[inline(always)]
    pub fn advance_one(&mut self, bit: u16) -> Masks {
        self.note(bit, 1);
        let enters = &self.enters[usize::from(bit) % 2];
        let mut left = [0; LANES];
        for lane in 0..LANES {
            let next = self.next[lane];
            left[lane] = (next & 1).wrapping_neg();
            self.next[lane] = next >> 1 | enters[lane];
        }
        left
    }

    #[inline(always)]
    fn note(&mut self, bits: u16, count: u32) {
        if self.count + count > 16 {
            self.refill();
        }
        self.fresh |= bits << self.count;
        self.count += count;
    }

    fn refill(&mut self) {
        self.tape.append(self.fresh, self.count);
        (self.fresh, self.count) = (0, 0);
        // All of them before one is stored: what is stored one by one and then read as a vector waits for the stores.
        let old: [u16; LANES] = std::array::from_fn(|lane| self.tape.sixteen_from(self.lengths[lane]));
        for lane in 0..LANES {
            let short = self.short[lane];
            self.next[lane] = self.next[lane] & short | old[lane] & !short;
        }
    }
}

/// The high half of a product: with 2^(16 - n), a right shift by n.
#[inline(always)]
fn high_half(a: u16, b: u16) -> u16 {
    ((u32::from(a) * u32::from(b)) >> 16) as u16
}

/// Shifts a number of 32 bits right, by another distance in each lane, and keeps the lowest 16 bits: products in place of
/// shifts.
#[derive(Clone, Debug)]
pub struct Shift {
    /// For distances below 17: the low half comes down, and the high half after it.
    down: [u16; LANES],
    after: [u16; LANES],
    /// For longer ones: the high half comes down.
    far: [u16; LANES],
}

impl Shift {
    /// Distances of 1 to 31.
    pub fn new(distances: [u32; LANES]) -> Shift {
        Shift {
            down: distances.map(|by| if by < 16 { 1 << (16 - by) } else { 0 }),
            after: distances.map(|by| if by <= 16 { 1 << (16 - by) } else { 0 }),
            far: distances.map(|by| if by > 16 { 1 << (32 - by) } else { 0 }),
        }
    }

    /// The number with these halves, shifted.
    #[inline(always)]
    pub fn shifted(&self, lane: usize, low: u16, high: u16) -> u16 {
        high_half(low, self.down[lane])
            | high.wrapping_mul(self.after[lane])
            | high_half(high, self.far[lane])
    }
}

/// One fold for each length, of up to 15 bits, each of its own width.
#[derive(Clone, Debug)]
pub struct Narrow {
    values: [u16; LANES],
    mask: [u16; LANES],
    /// Products with these have the rotated-out bits in their high half, for a step of one and of two bits.
    carry: [[u16; LANES]; 2],
    /// Where the bit that leaves stands, after a step of no and of one further bit.
    leaves: [[u16; LANES]; 2],
}

impl Narrow {
    /// Of no history. Unused lanes have length 0; widths are 3 to 15.
    pub fn new(lengths: [u16; LANES], widths: [u16; LANES]) -> Narrow {
        let mut fold =
            Narrow { values: [0; LANES], mask: [0; LANES], carry: [[0; LANES]; 2], leaves: [[0; LANES]; 2] };
        for lane in (0..LANES).filter(|lane| lengths[*lane] != 0) {
            let (length, width) = (lengths[lane], widths[lane]);
            fold.mask[lane] = (1 << width) - 1;
            fold.carry[0][lane] = 1 << (16 - (width - 1));
            fold.carry[1][lane] = 1 << (16 - (width - 2));
            fold.leaves[0][lane] = 1 << (length % width);
            fold.leaves[1][lane] = 1 << ((length + 1) % width);
        }
        fold
    }

    /// The folds.
    #[inline(always)]
    pub fn values(&self) -> &[u16; LANES] {
        &self.values
    }

    /// Takes in two bits.
    #[inline(always)]
    pub fn advance_two(&mut self, older: u16, newer: u16, left: &[Masks; 2]) {
        let young = older << 1 | newer;
        for lane in 0..LANES {
            let value = self.values[lane];
            let carried = high_half(value, self.carry[1][lane]);
            self.values[lane] = (value << 2 ^ young) & self.mask[lane]
                ^ carried
                ^ left[0][lane] & self.leaves[1][lane]
                ^ left[1][lane] & self.leaves[0][lane];
        }
    }

    /// Takes in one bit.
    #[inline(always)]
    pub fn advance_one(&mut self, bit: u16, left: &Masks) {
        for lane in 0..LANES {
            let value = self.values[lane];
            let carried = high_half(value, self.carry[0][lane]);
            self.values[lane] =
                (value << 1 ^ bit) & self.mask[lane] ^ carried ^ left[lane] & self.leaves[0][lane];
        }
    }
}

/// Half of the lanes' folds, all of the width W, 16 to 31 bits.
#[derive(Clone, Debug)]
pub struct Wide<const W: u32> {
    values: [u32; LANES / 2],
    used: [u32; LANES / 2],
    leaves: [[u32; LANES / 2]; 2],
}

impl<const W: u32> Wide<W> {
    const MASK: u32 = (1 << W) - 1;

    /// Of no history. Unused lanes have length 0.
    pub fn new(lengths: [u16; LANES / 2]) -> Wide<W> {
        let place = |length: u16, step: u32| {
            if length == 0 { 0 } else { 1 << ((u32::from(length) + step) % W) }
        };
        Wide {
            values: [0; LANES / 2],
            used: lengths.map(|length| if length == 0 { 0 } else { Self::MASK }),
            leaves: [lengths.map(|length| place(length, 0)), lengths.map(|length| place(length, 1))],
        }
    }

    /// The folds.
    #[inline(always)]
    pub fn values(&self) -> &[u32; LANES / 2] {
        &self.values
    }

    /// Takes in two bits; `left` begins with this half's lanes.
    #[inline(always)]
    pub fn advance_two(&mut self, older: u16, newer: u16, left: [&[u16]; 2]) {
        let young = u32::from(older << 1 | newer);
        let spread = |mask: u16| mask as i16 as u32;
        for lane in 0..LANES / 2 {
            let value = self.values[lane];
            self.values[lane] = (value << 2 ^ young) & self.used[lane]
                ^ value >> (W - 2)
                ^ spread(left[0][lane]) & self.leaves[1][lane]
                ^ spread(left[1][lane]) & self.leaves[0][lane];
        }
    }

    /// Takes in one bit; `left` begins with this half's lanes.
    #[inline(always)]
    pub fn advance_one(&mut self, bit: u16, left: &[u16]) {
        for lane in 0..LANES / 2 {
            let value = self.values[lane];
            self.values[lane] = (value << 1 ^ u32::from(bit)) & self.used[lane]
                ^ value >> (W - 1)
                ^ (left[lane] as i16 as u32) & self.leaves[0][lane];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::predict::tage_sc_l::{Budget, Kb8, Kb64};

    /// The exclusive or of the chunks of `width` bits of the newest `length` bits, newest lowest.
    fn folded(bits: &[u16], length: u16, width: u32) -> u32 {
        let newest_first = bits.iter().rev().chain(std::iter::repeat(&0)).take(usize::from(length));
        newest_first.enumerate().fold(0, |fold, (at, bit)| fold ^ u32::from(*bit) << (at as u32 % width))
    }

    /// Random bits in steps of one and two, in no regular order; calls `check` after each step.
    fn advance(steps: usize, mut step: impl FnMut(&[u16]), mut check: impl FnMut(&[u16])) {
        let (mut seed, mut bits) = (88_172_645_463_325_252u64, Vec::new());
        for at in 0..steps {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            let new = [(seed >> 20 & 1) as u16, (seed >> 21 & 1) as u16];
            let new = if seed >> 40 & 7 == 0 { &new[..1] } else { &new[..] };
            bits.extend_from_slice(new);
            step(new);
            if at < 100 || at % 37 == 0 {
                check(&bits);
            }
        }
    }

    fn narrow_folds_equal_their_definition(lengths: [u16; LANES], widths: [u16; LANES]) {
        let state = std::cell::RefCell::new((Leaving::new(lengths), Narrow::new(lengths, widths)));
        let step = |new: &[u16]| {
            let (leaving, folds) = &mut *state.borrow_mut();
            match *new {
                [bit] => folds.advance_one(bit, &leaving.advance_one(bit)),
                [older, newer] => folds.advance_two(older, newer, &leaving.advance_two(older, newer)),
                _ => unreachable!("one or two bits"),
            }
        };
        advance(5000, step, |bits| {
            assert_eq!(state.borrow().0.pushed(), bits.len() as u64);
            for lane in 0..LANES {
                let expected = folded(bits, lengths[lane], u32::from(widths[lane]));
                assert_eq!(
                    u32::from(state.borrow().1.values()[lane]),
                    expected,
                    "lane {lane} after {}",
                    bits.len()
                );
            }
        });
    }

    #[test]
    fn narrow_folds_of_all_lengths_equal_their_definition() {
        for width in [3, 7, 8, 10, 11, 12, 13, 15] {
            narrow_folds_equal_their_definition(Kb64::LENGTHS, [width; LANES]);
            narrow_folds_equal_their_definition(Kb8::LENGTHS, [width; LANES]);
        }
        let widths = std::array::from_fn(|lane| 3 + lane as u16 % 13);
        let lengths = [2, 3, 4, 14, 15, 16, 17, 18, 31, 32, 33, 63, 64, 65, 3900, 0];
        narrow_folds_equal_their_definition(lengths, widths);
    }

    #[test]
    fn shifted_lanes_equal_the_shifted_number() {
        let distances = std::array::from_fn(|lane| 1 + 2 * lane as u32);
        let even = std::array::from_fn(|lane| if lane == 15 { 16 } else { 2 + 2 * lane as u32 });
        for distances in [distances, even] {
            let shift = Shift::new(distances);
            for number in [0x8000_0001u32, 0xffff_ffff, 0x1234_5678, 0x0001_8000] {
                for lane in 0..LANES {
                    let shifted = shift.shifted(lane, number as u16, (number >> 16) as u16);
                    assert_eq!(
                        shifted,
                        (number >> distances[lane]) as u16,
                        "{number:#x} >> {}",
                        distances[lane]
                    );
                }
            }
        }
    }

    #[test]
    fn wide_folds_of_all_lengths_equal_their_definition() {
        let lengths = Kb8::LENGTHS;
        let half = |from: usize| std::array::from_fn(|lane| lengths[from + lane]);
        let state = std::cell::RefCell::new((
            Leaving::new(lengths),
            Wide::<17>::new(half(0)),
            Wide::<19>::new(half(LANES / 2)),
        ));
        let step = |new: &[u16]| {
            let (leaving, low, high) = &mut *state.borrow_mut();
            if let [bit] = *new {
                let left = leaving.advance_one(bit);
                low.advance_one(bit, &left[..LANES / 2]);
                high.advance_one(bit, &left[LANES / 2..]);
            } else {
                let left = leaving.advance_two(new[0], new[1]);
                low.advance_two(new[0], new[1], [&left[0][..LANES / 2], &left[1][..LANES / 2]]);
                high.advance_two(new[0], new[1], [&left[0][LANES / 2..], &left[1][LANES / 2..]]);
            }
        };
        advance(5000, step, |bits| {
            for lane in 0..LANES / 2 {
                assert_eq!(
                    state.borrow().1.values()[lane],
                    folded(bits, lengths[lane], 17),
                    "even pair {lane}"
                );
                let odd = lengths[LANES / 2 + lane];
                assert_eq!(state.borrow().2.values()[lane], folded(bits, odd, 19), "odd pair {lane}");
            }
        });
    }
}
