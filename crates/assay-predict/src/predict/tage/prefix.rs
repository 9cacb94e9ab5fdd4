//! The folds of all tables ahead of each of the next branches, a block at once.
//!
//! A fold of the newest L bits is that of all bits without that of the bits older than L; and these are the ones that
//! were there when the history was L bits shorter. So one fold of everything per width, kept for every branch of the past,
//! gives the folds of all lengths. No fold waits for the one of the branch before, as they do in a [`super::FoldSet`]:
//! loops run over branches, eight in each vector instruction, with one and the same shift for all of them.
//! Made for [`Directions`](super::Directions): each branch moves the history by two bits and xors in eight, so bits are
//! **settled** from age 6 on. Folds kept are of settled bits; the six newest are taken from the register itself.
//! Checked: equal to [`Tape::fold`](super::Tape::fold) for all lengths and widths, in the tests below.
#![allow(clippy::needless_range_loop, reason = "columns of several arrays in step, for vector instructions")]

/// Branches whose folds are computed at once.
pub const BLOCK: usize = 64;
/// A number for each of them.
pub type Column = [u16; BLOCK];

/// Different widths at most: as many as a vector has lanes.
const WIDTHS: usize = 8;
/// Bits by which a branch moves the history.
const SHIFT: u32 = 2;
/// Bits that the next branches may still change.
const UNSETTLED: usize = 6;
/// Branches of the past that are kept: two bits each for windows of [`PrefixFolds::REACH`].
const PAST: usize = 2048;
/// Columns of a power of two would all lie in the same few sets of a cache.
const ROOM: usize = 2 * PAST + 96;

/// Folds of all settled bits, for each width and each branch.
pub struct PrefixFolds {
    widths: Vec<u32>,
    mask: [u16; WIDTHS],
    wrap: [u16; WIDTHS],
    /// As they are now.
    folds: [u16; WIDTHS],
    /// The newest eight bits.
    newest: u16,
    /// Ahead of each branch: the folds by width, the bits that are not settled, the youngest settled bit.
    kept: Box<[[u16; ROOM]; WIDTHS]>,
    unsettled: Box<[u16; ROOM]>,
    youngest: Box<[u16; ROOM]>,
    /// Of the block and each width: the fold of all bits.
    all: [Column; WIDTHS],
    /// Where the block begins.
    at: usize,
    /// How long it is.
    length: usize,
}

impl PrefixFolds {
    /// The longest window, bits.
    pub const REACH: usize = 4000;

    /// Of an empty history, for folds of these widths, at most 8 different ones of 5 to 15 bits.
    pub fn new(widths: &[u32]) -> PrefixFolds {
        let mut distinct = widths.to_vec();
        distinct.sort_unstable();
        distinct.dedup();
        assert!(
            distinct.len() <= WIDTHS && distinct.iter().all(|width| (5..16).contains(width)),
            "{distinct:?}"
        );
        let (mut mask, mut wrap) = ([0; WIDTHS], [0; WIDTHS]);
        for (lane, &width) in distinct.iter().enumerate() {
            mask[lane] = ones(width);
            wrap[lane] = 1 << (16 - width + SHIFT);
        }
        PrefixFolds {
            widths: distinct,
            mask,
            wrap,
            folds: [0; WIDTHS],
            newest: 0,
            kept: vec![[0; ROOM]; WIDTHS].try_into().unwrap_or_else(|_| unreachable!("as many as were made")),
            unsettled: Box::new([0; ROOM]),
            youngest: Box::new([0; ROOM]),
            all: [[0; BLOCK]; WIDTHS],
            at: PAST,
            length: 0,
        }
    }

    /// Moves on behind the last block, and over another of as many footprints of eight bits, at most [`BLOCK`].
    #[inline(always)]
    pub fn push(&mut self, footprints: &[u16]) {
        self.at += self.length;
        self.length = footprints.len();
        if self.at + BLOCK > ROOM {
            self.rewind();
        }
        self.keep(footprints);
        let unsettled = block(&self.unsettled, self.at);
        for ((all, kept), &width) in self.all.iter_mut().zip(self.kept.iter()).zip(&self.widths) {
            let settled = block(kept, self.at);
            for n in 0..BLOCK {
                all[n] = laid_over(unsettled[n], width) ^ turned(settled[n], UNSETTLED as u32 % width, width);
            }
        }
    }

    /// Keeps what there is ahead of each branch, and takes its footprint in.
    #[inline(always)]
    fn keep(&mut self, footprints: &[u16]) {
        let mut ahead = [[0; WIDTHS]; BLOCK];
        // In registers: each branch waits for the one before.
        let (mut folds, mut newest) = (self.folds, self.newest);
        for (nth, footprint) in footprints.iter().enumerate() {
            ahead[nth] = folds;
            self.unsettled[self.at + nth] = newest & ones(UNSETTLED as u32);
            self.youngest[self.at + nth] = newest >> UNSETTLED & 1;
            newest = (newest << SHIFT ^ footprint) & 0xff;
            let settled = newest >> UNSETTLED;
            for lane in 0..WIDTHS {
                let fold = folds[lane];
                // The high half of a product is a shift right, by another distance in each lane.
                let wrapped = ((u32::from(fold) * u32::from(self.wrap[lane])) >> 16) as u16;
                folds[lane] = fold << SHIFT & self.mask[lane] ^ wrapped ^ settled;
            }
        }
        (self.folds, self.newest) = (folds, newest);
        for (lane, kept) in self.kept.iter_mut().enumerate().take(self.widths.len()) {
            for (kept, ahead) in kept[self.at..self.at + BLOCK].iter_mut().zip(&ahead) {
                *kept = ahead[lane % WIDTHS];
            }
        }
    }

    /// How to take a fold of the newest `length` bits to `width`.
    ///
    /// Input: `length` from 1 to [`PrefixFolds::REACH`], `width` one of those it was made with.
    pub fn window(&self, length: usize, width: u32) -> FoldWindow {
        let lane = self.widths.iter().position(|known| *known == width).expect("a width it was made with");
        FoldWindow { length, width, lane, turn: (length & !1) as u32 % width }
    }

    /// The fold of a window ahead of each branch of the block; beyond its end anything.
    #[inline(always)]
    pub fn fold(&self, window: &FoldWindow) -> Column {
        let FoldWindow { length, width, lane, turn } = *window;
        let mut folds = [0; BLOCK];
        if length < UNSETTLED {
            let unsettled = block(&self.unsettled, self.at);
            for n in 0..BLOCK {
                folds[n] = laid_over(unsettled[n] & ones(length as u32), width);
            }
            return folds;
        }
        let back = self.at - (length - UNSETTLED) / SHIFT as usize;
        let (all, past) = (&self.all[lane % WIDTHS], block(&self.kept[lane % WIDTHS], back));
        // An odd length is an even one and a bit. No branch on that: between predictions the CPU cannot foresee it.
        let (oldest, odd) = (block(&self.youngest, back), (length % 2) as u16);
        for n in 0..BLOCK {
            folds[n] = all[n] ^ turned(past[n] ^ oldest[n] & odd, turn, width);
        }
        folds
    }

    /// Moves what can still be read to the front.
    #[cold]
    fn rewind(&mut self) {
        let columns = self.kept.iter_mut().chain([&mut *self.unsettled, &mut *self.youngest]);
        columns.for_each(|column| column.copy_within(self.at - PAST..self.at, 0));
        self.at = PAST;
    }
}

/// A fold that is taken: the history's bits and its own.
#[derive(Clone, Copy, Debug)]
pub struct FoldWindow {
    length: usize,
    width: u32,
    lane: usize,
    /// By how much the older bits are turned.
    turn: u32,
}

/// A block of what was kept.
#[inline(always)]
fn block(kept: &[u16; ROOM], from: usize) -> &Column {
    kept[from..from + BLOCK].try_into().expect("as many as a block has")
}

/// Eight bits or fewer laid over the lowest `width` of them.
#[inline(always)]
fn laid_over(bits: u16, width: u32) -> u16 {
    bits & ones(width) ^ bits >> width
}

/// A fold of `width` bits turned by fewer.
#[inline(always)]
fn turned(fold: u16, by: u32, width: u32) -> u16 {
    fold << by & ones(width) ^ fold >> (width - by)
}

#[inline(always)]
fn ones(width: u32) -> u16 {
    (1 << width) - 1
}

#[cfg(test)]
mod tests {
    use super::super::Tape;
    use super::*;

    #[test]
    fn folds_of_all_lengths_and_widths_are_their_definition() {
        let widths = [5, 6, 7, 8, 9, 11, 13, 15];
        let (mut folds, mut tape, mut state) = (PrefixFolds::new(&widths), Tape::new(), 5_u64);
        let lengths: Vec<usize> = (1..40)
            .chain([83, 84, 209, 210, 899, 900, 1001, PrefixFolds::REACH - 1, PrefixFolds::REACH])
            .collect();
        for block in 0..220 {
            // Blocks that are not full, too.
            let length = if block % 5 == 3 { 1 + block % BLOCK } else { BLOCK };
            let footprints: Vec<u16> = (0..length)
                .map(|_| {
                    state =
                        state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    (state >> 40) as u16 & 0xff
                })
                .collect();
            folds.push(&footprints);
            let found: Vec<Column> = widths
                .iter()
                .flat_map(|width| {
                    lengths
                        .iter()
                        .map(|length| folds.fold(&folds.window(*length, *width)))
                        .collect::<Vec<_>>()
                })
                .collect();
            for (n, footprint) in footprints.iter().enumerate() {
                for (at, (width, length)) in widths
                    .iter()
                    .flat_map(|width| lengths.iter().map(move |length| (*width, *length)))
                    .enumerate()
                {
                    let expected = tape.fold(length, width) as u16;
                    assert_eq!(
                        found[at][n], expected,
                        "{length} bits to {width}, branch {n} of block {block}"
                    );
                }
                tape.push(u64::from(*footprint), SHIFT);
            }
        }
    }
}
