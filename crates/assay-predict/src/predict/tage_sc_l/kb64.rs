//! The size of 64 KB.

use super::budget::{Budget, Hashes};
use super::corrector_64::Components64;
use super::folds::{LANES, Masks, Narrow, Shift};
use super::history::{Folds, GlobalHistory, mix_path};
use super::tage::PublishedTage;

/// 21 of 36 tables exist: both of a pair in the middle of the histories, where two ways help most.
pub struct Kb64;

/// Folds for the index and, twice, for the tag.
pub struct Folds64 {
    index: Narrow,
    tag: [Narrow; 2],
    /// By how much the address is shifted onto itself.
    shift: Shift,
    tag_mask: [u16; LANES],
}

impl Folds for Folds64 {
    fn new(lengths: [u16; LANES]) -> Folds64 {
        let tag = |less: u16| {
            let mut widths = [12 - less; LANES];
            widths[..SHORT_LANES].fill(8 - less);
            Narrow::new(lengths, widths)
        };
        let shift = Shift::new(Kb64::PAIRS.map(|pair| (2 * pair + 1).abs_diff(10) + 1));
        let mut tag_mask = [0xfff; LANES];
        tag_mask[..SHORT_LANES].fill(0xff);
        Folds64 { index: Narrow::new(lengths, [10; LANES]), tag: [tag(0), tag(1)], shift, tag_mask }
    }

    #[inline(always)]
    fn advance_two(&mut self, older: u16, newer: u16, left: &[Masks; 2]) {
        self.index.advance_two(older, newer, left);
        self.tag[0].advance_two(older, newer, left);
        self.tag[1].advance_two(older, newer, left);
    }

    #[inline(always)]
    fn advance_one(&mut self, bit: u16, left: &Masks) {
        self.index.advance_one(bit, left);
        self.tag[0].advance_one(bit, left);
        self.tag[1].advance_one(bit, left);
    }
}

/// Lanes with short tags.
const SHORT_LANES: usize = 4;
/// Bits of path that an index takes in, at most.
const PATH_BITS: u32 = 27;

impl Budget for Kb64 {
    const TABLES: u32 = 36;
    /// 2, 6, 9 to 22, 24, 26, 28, 32 and 36.
    const EXISTING: u64 = 1 << 1 | 1 << 5 | 0x3fff << 8 | 1 << 23 | 1 << 25 | 1 << 27 | 1 << 31 | 1 << 35;
    const FIRST_LONG: u32 = 13;
    const TAG_BITS: [u32; 2] = [8, 12];
    const BANK_LOG: u32 = 10;
    const BANKS: [u16; 2] = [10, 20];
    /// As many bits as the shortest history of the pool; for the long ones 54 modulo 32, as the reference shifts.
    const BANK_PATH: [u32; 2] = [(1 << 6) - 1, (1 << 22) - 1];
    const PAIRS: [u32; LANES] = [0, 2, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 15, 17, 17, 17];
    const LENGTHS: [u16; LANES] = [6, 12, 26, 37, 54, 78, 112, 161, 232, 335, 482, 695, 1444, 3000, 0, 0];
    const PATH_MASK: u32 = (1 << PATH_BITS) - 1;
    const BASE_LOG: u32 = 13;
    const USEFUL_TOP: u8 = 1;
    const LOOP_LOG: u32 = 5;
    const YIELDS: u64 = 16;
    const STIRRING_TABLE: u32 = 0;
    const UNSURE_IS_USELESS: bool = false;
    type Folds = Folds64;
    type Components = Components64;

    #[inline(always)]
    fn hash(history: &GlobalHistory<Kb64>, pc: u64) -> Hashes {
        let (folds, path) = (history.folds(), history.path());
        let mut paths = [mix_path(path, PATH_BITS, 11, 10) as u16; LANES];
        paths[0] = mix_path(path, 6, 1, 10) as u16;
        paths[1] = mix_path(path, 12, 5, 10) as u16;
        paths[2] = mix_path(path, 26, 9, 10) as u16;
        let (low, high) = (pc as u16, (pc >> 16) as u16);
        let mut hashes = Hashes { index: [0; LANES], tag: [0; LANES] };
        let (index, first, second) = (folds.index.values(), folds.tag[0].values(), folds.tag[1].values());
        for lane in 0..LANES {
            let shifted = folds.shift.shifted(lane, low, high);
            hashes.index[lane] = (low ^ shifted ^ paths[lane] ^ index[lane]) & 1023;
        }
        for lane in 0..LANES {
            hashes.tag[lane] = (low ^ first[lane] ^ second[lane] << 1) & folds.tag_mask[lane];
        }
        hashes
    }

    /// Up to two entries, in different pairs, where usefulness is 0 and the counter is at most a bit sure; surer ones
    /// lose some of it.
    fn allocate(tage: &mut PublishedTage<Kb64>, taken: bool) {
        let mut table = tage.first_candidate();
        let (mut refused, mut settled) = (0, 0);
        while table < Self::TABLES && settled < 2 {
            let mut next = table + 2;
            for way in [table, table ^ 1] {
                let Some(entry) = tage.candidate(way) else { continue };
                if entry.useful != 0 {
                    refused += 1;
                } else if entry.sureness() > 1 {
                    entry.value += if entry.value > 0 { -1 } else { 1 };
                } else {
                    tage.settle(way, taken, 0);
                    settled += 1;
                    next = table + 4;
                    break;
                }
            }
            table = next;
        }
        tage.press(refused - 2 * settled);
    }

    fn age(_useful: u8) -> u8 {
        0
    }
}
