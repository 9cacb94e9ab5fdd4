//! The newest bits of a history, folded to the width of an index or a tag, for all tables of a predictor at once.
//!
//! A fold of width w is the xor of all bits of the history whose age is equal modulo w (P. Michaud's cyclic registers,
//! "A PPM-like, tag-based branch predictor", JILP 7, 2005). When the history moves by some bits, a fold is rotated by
//! as many, the new footprint is xored in and the bits that leave its window are xored out. Here each table's folds
//! are 16-bit lanes of three arrays and all move together; shifts by a lane's own distance are multiplications by
//! powers of two (low half left, high half right), for which the oldest vector instructions suffice. The
//! footprint's fold comes from a table by four of its bits at a time, so that lengths shorter than a footprint and
//! widths that differ between tables cost nothing. The bits that leave are read from the register 16 at a time.
//!
//! Checked: equal to [`Tape::fold`] after every push, for all combinations in the tests below.

use super::Tape;

/// Folds per table: of the index and two of the tag.
pub const FOLDS: usize = 3;

/// How a table sees one history: its newest `length` bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HistoryWindow {
    /// Bits it sees of the first register.
    pub length: usize,
    /// Bits it sees of the second, if there is one.
    pub second: usize,
    /// Widths of its folds, at most 16 bits each.
    pub widths: [u32; FOLDS],
}

/// A number per table.
type Lanes<const N: usize> = [u16; N];

/// What four bits of a footprint change: the folds, and the bits about to leave.
#[derive(Clone, Copy)]
struct FoldRow<const N: usize> {
    folds: [Lanes<N>; FOLDS],
    leaving: Lanes<N>,
}

/// How the bits of one register that leave the windows get out of the folds.
struct Leave<const N: usize> {
    /// Each window's oldest 16 bits, the oldest highest; behind them whatever came since they were read.
    bits: Lanes<N>,
    lengths: [usize; N],
    /// What moves a bit to its place in a fold, and the part of it that wraps around.
    place: [Lanes<N>; FOLDS],
    wrap: [Lanes<N>; FOLDS],
}

/// The folds of up to N tables over one register or two that move together, and the registers.
pub struct FoldSet<const N: usize> {
    folds: [Lanes<N>; FOLDS],
    mask: [Lanes<N>; FOLDS],
    wrap: [Lanes<N>; FOLDS],
    leave: [Leave<N>; 2],
    /// Pushes until the leaving bits are read again.
    until_read: u32,
    shift: u32,
    two: bool,
    /// 16 rows per four bits of the footprints.
    rows: Vec<[FoldRow<N>; 16]>,
    /// How many of them are for the first register.
    first_rows: usize,
    tapes: [Tape; 2],
}

impl<const N: usize> FoldSet<N> {
    /// The second register's bit 0 counts as one of this age, so that the registers do not cancel each other.
    pub const SECOND_AGE: usize = 5;

    /// Empty histories that move by `shift` bits per push.
    ///
    /// Input: at most N windows, no longer than [`Tape::REACH`] - 57; `shift` from 1 to 8, less than any width;
    /// footprints of at most 57 bits. A length of 0 is a register that a table does not see.
    pub fn new(windows: &[HistoryWindow], shift: u32, footprint_bits: [u32; 2]) -> FoldSet<N> {
        assert!(windows.len() <= N && (1..=8).contains(&shift), "{} tables, shift {shift}", windows.len());
        let mut folds = FoldSet {
            folds: [[0; N]; FOLDS],
            mask: [[0; N]; FOLDS],
            wrap: [[0; N]; FOLDS],
            leave: [Leave::new(), Leave::new()],
            until_read: 1,
            shift,
            two: windows.iter().any(|window| window.second > 0),
            rows: Vec::new(),
            first_rows: footprint_bits[0].div_ceil(4) as usize,
            tapes: [Tape::new(), Tape::new()],
        };
        for (table, window) in windows.iter().enumerate() {
            for (fold, &width) in window.widths.iter().enumerate() {
                assert!((shift + 1..=16).contains(&width), "a fold of {width} bits");
                folds.mask[fold][table] = ones(width);
                folds.wrap[fold][table] = power(16 - width + shift);
            }
            for (register, leave) in folds.leave.iter_mut().enumerate() {
                leave.prepare(table, window, register);
            }
        }
        for (register, bits) in footprint_bits.into_iter().enumerate() {
            let rows = (0..bits.div_ceil(4))
                .map(|nibble| std::array::from_fn(|value| row(windows, register, nibble as usize, value)));
            folds.rows.extend(rows);
        }
        folds
    }

    /// The folds of all tables: those for the index, then those for the tag.
    #[inline]
    pub fn lanes(&self) -> &[[u16; N]; FOLDS] {
        &self.folds
    }

    /// The first register.
    pub fn tape(&self) -> &Tape {
        &self.tapes[0]
    }

    /// Moves the registers on and xors a footprint into each.
    #[inline(always)]
    pub fn push(&mut self, footprints: [u64; 2]) {
        self.until_read -= 1;
        if self.until_read == 0 {
            self.read_leaving();
        }
        let mut change = FoldRow::NONE;
        let (first, second) = self.rows.split_at(self.first_rows);
        change.add(first, footprints[0]);
        self.tapes[0].push(footprints[0], self.shift);
        self.leave[0].drop_from(&mut change, self.shift);
        if self.two {
            let mut other = FoldRow::NONE;
            other.add(second, footprints[1]);
            self.tapes[1].push(footprints[1], self.shift);
            self.leave[1].drop_from(&mut other, self.shift);
            change.merge(&other);
        }
        let rotate = power(self.shift);
        for fold in 0..FOLDS {
            for i in 0..N {
                let lane = self.folds[fold][i];
                let moved = lane.wrapping_mul(rotate) ^ change.folds[fold][i];
                self.folds[fold][i] = moved & self.mask[fold][i] ^ high(lane, self.wrap[fold][i]);
            }
        }
    }

    /// Reads the bits that the next pushes move out of the windows.
    fn read_leaving(&mut self) {
        self.until_read = 16 / self.shift;
        for (leave, tape) in self.leave.iter_mut().zip(&self.tapes) {
            for (bits, &length) in leave.bits.iter_mut().zip(&leave.lengths) {
                *bits = match length {
                    0..16 => (tape.bits(0) << (16 - length)) as u16,
                    _ => tape.bits(length - 16) as u16,
                };
            }
        }
    }
}

impl<const N: usize> FoldRow<N> {
    const NONE: FoldRow<N> = FoldRow { folds: [[0; N]; FOLDS], leaving: [0; N] };

    #[inline(always)]
    fn merge(&mut self, other: &FoldRow<N>) {
        for fold in 0..FOLDS {
            for i in 0..N {
                self.folds[fold][i] ^= other.folds[fold][i];
            }
        }
        for i in 0..N {
            self.leaving[i] ^= other.leaving[i];
        }
    }

    /// What a footprint changes.
    #[inline(always)]
    fn add(&mut self, rows: &[[FoldRow<N>; 16]], footprint: u64) {
        let mut rest = footprint;
        for rows in rows {
            self.merge(&rows[(rest & 15) as usize]);
            rest >>= 4;
        }
    }
}

impl<const N: usize> Leave<N> {
    fn new() -> Leave<N> {
        Leave { bits: [0; N], lengths: [0; N], place: [[0; N]; FOLDS], wrap: [[0; N]; FOLDS] }
    }

    fn prepare(&mut self, table: usize, window: &HistoryWindow, register: usize) {
        let (length, age) = window.register(register);
        assert!(length + 57 <= Tape::REACH, "a window of {length} bits");
        self.lengths[table] = length;
        if length > 0 {
            for (fold, &width) in window.widths.iter().enumerate() {
                let place = ((length + age) % width as usize) as u32;
                self.place[fold][table] = power(place);
                self.wrap[fold][table] = power(16 - width + place);
            }
        }
    }

    /// Adds to a change what one push moves out, and moves the leaving bits on.
    #[inline(always)]
    fn drop_from(&mut self, change: &mut FoldRow<N>, shift: u32) {
        let (rotate, top) = (power(shift), power(shift));
        for fold in 0..FOLDS {
            for i in 0..N {
                let out = high(self.bits[i], top);
                change.folds[fold][i] ^=
                    out.wrapping_mul(self.place[fold][i]) ^ high(out, self.wrap[fold][i]);
            }
        }
        for i in 0..N {
            self.bits[i] = self.bits[i].wrapping_mul(rotate) ^ change.leaving[i];
        }
    }
}

impl HistoryWindow {
    /// Bits seen of a register, and the age that its bit 0 counts as.
    fn register(&self, register: usize) -> (usize, usize) {
        [(self.length, 0), (self.second, FoldSet::<1>::SECOND_AGE)][register]
    }
}

/// The high half of a product: a shift right where one factor is a power of two.
#[inline]
fn high(a: u16, b: u16) -> u16 {
    ((u32::from(a) * u32::from(b)) >> 16) as u16
}

/// Two to the `exponent`; 0 from 16 on, so that a multiplication by it gives nothing.
fn power(exponent: u32) -> u16 {
    1u16.checked_shl(exponent).unwrap_or(0)
}

fn ones(width: u32) -> u16 {
    ((1u32 << width) - 1) as u16
}

/// What four bits of a register's footprint change.
fn row<const N: usize>(
    windows: &[HistoryWindow],
    register: usize,
    nibble: usize,
    value: usize,
) -> FoldRow<N> {
    let mut row = FoldRow::NONE;
    for (table, window) in windows.iter().enumerate() {
        let (length, age) = window.register(register);
        for place in (0..4).filter(|bit| value >> bit & 1 != 0).map(|bit| nibble * 4 + bit) {
            if place < length {
                for (fold, &width) in window.widths.iter().enumerate() {
                    row.folds[fold][table] ^= power(((place + age) % width as usize) as u32);
                }
                // The window's oldest bit is the highest of those about to leave.
                if place + 16 >= length {
                    row.leaving[table] ^= power((place + 16 - length) as u32);
                }
            }
        }
    }
    row
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draw(state: &mut u64) -> u64 {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        *state >> 7
    }

    fn rotate(x: u32, by: u32, width: u32) -> u16 {
        let by = by % width;
        ((x << by | x >> (width - by)) & ((1 << width) - 1)) as u16
    }

    /// Pushes footprints of all widths and compares every lane with the fold taken from the tapes.
    fn assert_folds_are_their_definition(windows: &[HistoryWindow], shift: u32, bits: [u32; 2]) {
        let mut folds = FoldSet::<8>::new(windows, shift, bits);
        let mut state = u64::from(shift) + 17;
        for step in 0..700 {
            folds.push(bits.map(|bits| draw(&mut state) & ((1 << bits) - 1)));
            for (table, window) in windows.iter().enumerate() {
                for (fold, &width) in window.widths.iter().enumerate() {
                    let first = folds.tapes[0].fold(window.length, width) as u16;
                    let second = folds.tapes[1].fold(window.second, width);
                    let second = rotate(second, FoldSet::<8>::SECOND_AGE as u32, width);
                    let (lane, name) =
                        (folds.lanes()[fold][table], format!("step {step}, {window:?}, {width}"));
                    assert_eq!(lane, first ^ second, "{name}");
                }
            }
        }
        assert!(
            windows.iter().enumerate().all(|(i, _)| folds.lanes()[0][i] != 0 || folds.lanes()[1][i] != 0)
        );
    }

    fn windows(lengths: &[(usize, usize)]) -> Vec<HistoryWindow> {
        let widths = [[9, 12, 11], [10, 16, 15], [16, 8, 7], [11, 13, 4], [12, 15, 14]];
        let windows = lengths.iter().zip(widths.iter().cycle());
        windows.map(|(&(length, second), &widths)| HistoryWindow { length, second, widths }).collect()
    }

    #[test]
    fn one_register_is_folded_as_defined_for_every_shift() {
        for shift in 1..=3 {
            let lengths = [(3, 0), (4, 0), (11, 0), (22, 0), (58, 0), (186, 0), (528, 0), (1000, 0)];
            for bits in [1, 2, 3, 10, 16] {
                assert_folds_are_their_definition(&windows(&lengths), shift, [bits, 0]);
            }
        }
    }

    #[test]
    fn a_footprint_longer_than_a_window_is_cut() {
        assert_folds_are_their_definition(
            &windows(&[(6, 0), (11, 0), (18, 0), (29, 0), (100, 0)]),
            1,
            [30, 0],
        );
    }

    #[test]
    fn two_registers_share_their_folds_without_cancelling() {
        let lengths = [(6, 6), (11, 11), (18, 18), (32, 28), (57, 28), (100, 28)];
        assert_folds_are_their_definition(&windows(&lengths), 1, [30, 4]);
    }
}
