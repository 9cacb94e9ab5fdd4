//! The size of 8 KB.

use super::budget::{Budget, Hashes};
use super::corrector_8::Components8;
use super::folds::{LANES, Masks, Narrow, Shift, Wide};
use super::history::{Folds, GlobalHistory, mix_path};
use super::tage::PublishedTage;

/// 22 of 30 tables exist.
pub struct Kb8;

/// Folds for the index, whose width differs between even pairs (the first half of the lanes) and odd ones, and, twice,
/// for the tag.
pub struct Folds8 {
    index: (Wide<17>, Wide<19>),
    tag: [Narrow; 2],
    /// By how much the address is shifted onto itself.
    shift: Shift,
    /// All ones in lanes with short tags.
    short: [u32; LANES],
    tag_mask: [u16; LANES],
}

impl Folds8 {
    /// The fold for the index, of each lane and of the pair before it.
    #[inline(always)]
    fn by_lane(&self) -> ([u32; LANES], [u32; LANES]) {
        let (even, odd) = (self.index.0.values(), self.index.1.values());
        let (mut own, mut before) = ([0; LANES], [0; LANES]);
        own[..HALF].copy_from_slice(even);
        own[HALF..].copy_from_slice(odd);
        before[1..HALF].copy_from_slice(&odd[..HALF - 1]);
        before[HALF..].copy_from_slice(even);
        (own, before)
    }
}

const HALF: usize = LANES / 2;

impl Folds for Folds8 {
    fn new(lengths: [u16; LANES]) -> Folds8 {
        let half = |from: usize| std::array::from_fn(|lane| lengths[from + lane]);
        let is_short = |pair: u32| 2 * pair + 1 < Kb8::FIRST_LONG;
        Folds8 {
            index: (Wide::new(half(0)), Wide::new(half(HALF))),
            tag: [Narrow::new(lengths, [13; LANES]), Narrow::new(lengths, [11; LANES])],
            shift: Shift::new(Kb8::PAIRS.map(|pair| (2 * pair + 1).abs_diff(7) + 1)),
            short: Kb8::PAIRS.map(|pair| if is_short(pair) { !0 } else { 0 }),
            tag_mask: Kb8::PAIRS.map(|pair| if is_short(pair) { 0xff } else { 0xfff }),
        }
    }

    #[inline(always)]
    fn advance_two(&mut self, older: u16, newer: u16, left: &[Masks; 2]) {
        self.index.0.advance_two(older, newer, [&left[0][..HALF], &left[1][..HALF]]);
        self.index.1.advance_two(older, newer, [&left[0][HALF..], &left[1][HALF..]]);
        self.tag[0].advance_two(older, newer, left);
        self.tag[1].advance_two(older, newer, left);
    }

    #[inline(always)]
    fn advance_one(&mut self, bit: u16, left: &Masks) {
        self.index.0.advance_one(bit, &left[..HALF]);
        self.index.1.advance_one(bit, &left[HALF..]);
        self.tag[0].advance_one(bit, left);
        self.tag[1].advance_one(bit, left);
    }
}

/// Bits of path that a hash takes in, at most.
const PATH_BITS: u32 = 27;

/// Folded to an index, in its lowest bits.
#[inline(always)]
fn to_index(bits: u32) -> u32 {
    bits ^ bits >> 7 ^ bits >> 14
}

/// The lowest bit goes to place 10, the others down by one.
#[inline(always)]
fn turn(bits: u32) -> u32 {
    bits >> 1 ^ (bits & 1) << 10
}

impl Budget for Kb8 {
    const TABLES: u32 = 30;
    /// 2, 4, 6 to 20, 22, 24, 26, 28 and 30.
    const EXISTING: u64 = 1 << 1 | 1 << 3 | 0x7fff << 5 | 1 << 21 | 1 << 23 | 1 << 25 | 1 << 27 | 1 << 29;
    const FIRST_LONG: u32 = 11;
    const TAG_BITS: [u32; 2] = [8, 12];
    const BANK_LOG: u32 = 7;
    const BANKS: [u16; 2] = [9, 17];
    const BANK_PATH: [u32; 2] = [(1 << 4) - 1, (1 << 29) - 1];
    const PAIRS: [u32; LANES] = [0, 2, 4, 6, 8, 10, 12, 14, 1, 3, 5, 7, 9, 11, 13, 15];
    const LENGTHS: [u16; LANES] = [4, 9, 19, 43, 94, 206, 454, 1000, 6, 13, 29, 63, 139, 306, 674, 0];
    const PATH_MASK: u32 = !0;
    const BASE_LOG: u32 = 12;
    const USEFUL_TOP: u8 = 3;
    const LOOP_LOG: u32 = 3;
    const YIELDS: u64 = 8;
    const STIRRING_TABLE: u32 = 13;
    const UNSURE_IS_USELESS: bool = true;
    type Folds = Folds8;
    type Components = Components8;

    /// All mixing is linear over exclusive or, so each part is folded to the width of the index or tag for itself, and
    /// what does not depend on the lane only once.
    #[inline(always)]
    fn hash(history: &GlobalHistory<Kb8>, pc: u64) -> Hashes {
        let (folds, path, pc) = (history.folds(), history.path(), pc as u32);
        let mut paths = [mix_path(path, PATH_BITS, 11, 7); LANES];
        paths[0] = mix_path(path, 4, 1, 7);
        paths[8] = mix_path(path, 6, 3, 7);
        paths[1] = mix_path(path, 9, 5, 7);
        paths[9] = mix_path(path, 13, 7, 7);
        paths[2] = mix_path(path, 19, 9, 7);
        let by_pc = to_index(pc);
        let (low, high) = (by_pc as u16, (by_pc >> 16) as u16);
        let pc = turn(pc ^ pc >> 2);
        let (pc_short, pc_long) = ((pc ^ pc >> 8) as u16, (pc ^ pc >> 12) as u16);
        let (fold, before) = folds.by_lane();
        let (first, second) = (folds.tag[0].values(), folds.tag[1].values());
        let mut hashes = Hashes { index: [0; LANES], tag: [0; LANES] };
        for lane in 0..LANES {
            let fold_and_path = to_index(fold[lane] ^ paths[lane]) as u16;
            hashes.index[lane] = fold_and_path;
            let tag = turn(before[lane] << 2 ^ fold[lane]) ^ paths[lane];
            let short = folds.short[lane];
            hashes.tag[lane] = (tag ^ tag >> 8 & short ^ tag >> 12 & !short) as u16;
        }
        for lane in 0..LANES {
            let pc = low ^ folds.shift.shifted(lane, low, high);
            hashes.index[lane] = (hashes.index[lane] ^ pc) & 127;
            let short = folds.short[lane] as u16;
            let tag = first[lane] ^ second[lane] << 1;
            let tag = tag ^ tag >> 8 & short ^ tag >> 12 & !short;
            let pc = pc_short & short | pc_long & !short;
            hashes.tag[lane] = (hashes.tag[lane] ^ tag ^ pc) & folds.tag_mask[lane];
        }
        hashes
    }

    /// Up to two entries whose usefulness is 0; a few of them start out protected. Of a pair the second way is tried
    /// only if the first exists, and after a success in the next pair.
    fn allocate(tage: &mut PublishedTage<Kb8>, taken: bool) {
        let mut table = tage.first_candidate();
        let (mut refused, mut firmly, mut settled) = (0, 0, 0);
        'tables: while table < Self::TABLES {
            for second in [0, 1] {
                let way = table ^ second;
                let Some(&mut entry) = tage.candidate(way) else { break };
                if entry.useful == 0 {
                    let protects = tage.roll() & 31 == 0;
                    tage.settle(way, taken, u8::from(protects));
                    settled += 1;
                    if settled == 2 {
                        break 'tables;
                    }
                    table += 2;
                } else {
                    refused += 1;
                    if entry.useful > 1 || entry.sureness() > 0 {
                        firmly += 1;
                    } else if tage.roll() & 7 == 0 {
                        tage.candidate(way).expect("it exists").useful = 0;
                    }
                }
            }
            table += 2;
        }
        tage.press(refused + firmly - 5 * settled);
    }

    fn age(useful: u8) -> u8 {
        useful.saturating_sub(1)
    }
}
