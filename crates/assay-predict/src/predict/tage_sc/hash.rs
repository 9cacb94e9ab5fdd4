//! Where a branch is looked up: in each table a place for each of two ways, and a tag.
//!
//! Everything is made of exclusive ors, so each part (address, past, path) is folded to its width by itself, and what
//! tables have in common is folded once.

use super::past::{BITS, LANES, LENGTHS, PATH_BITS, Past, TABLES};
use super::tables::BASE;
use crate::predict::tage_sc_l::folds::Shift;

/// Entries of a table in one way, as a binary logarithm.
pub const WAY_LOG: u32 = 10;
/// Ways of a table.
pub const WAYS: usize = 2;
/// Bits of a tag.
pub const TAG_BITS: u32 = 14;
const TAG_MASK: u16 = (1 << TAG_BITS) - 1;
/// All entries of the tagged tables.
pub const ENTRIES: usize = TABLES * (WAYS << WAY_LOG);

/// The entries of a bank, both ways.
const BANK: u16 = (WAYS << WAY_LOG) as u16;
/// Where each bank begins, over and over: which tables use which banks turns by one bank from one branch to another.
const BANKS: [u16; TABLES + LANES] = {
    let mut starts = [0; TABLES + LANES];
    let mut at = 0;
    while at < starts.len() {
        starts[at] = (at % TABLES) as u16 * BANK;
        at += 1;
    }
    starts
};

/// From this table on the path is mixed in the same way.
const ALIKE: u32 = WAY_LOG;
/// Lanes that the tables before that one fill.
const APART: usize = 16;

/// Bits of the path that a table sees: no more than of the past.
const fn path_bits(lane: usize) -> u32 {
    let past = LENGTHS[lane] as u32 * BITS;
    if past < PATH_BITS { past } else { PATH_BITS }
}

/// Places and tags of a branch.
#[derive(Clone)]
pub struct Places {
    /// By way, then by table.
    pub place: [[u16; LANES]; WAYS],
    /// By table.
    pub tag: [u16; LANES],
    /// By how much the address is shifted for a table before it is laid over itself.
    shifts: [Shift; 2],
    mixing: Mixing,
}

/// Folded to the width of an index.
#[inline(always)]
const fn index_part(value: u32) -> u16 {
    (value ^ value >> 10 ^ value >> 20) as u16 & 1023
}

/// Folded to the width of a tag. The number is signed where it is an address: its sign comes down with it.
#[inline(always)]
const fn tag_part(value: i32) -> u16 {
    let folded = value ^ value >> 14;
    (folded ^ folded >> 12) as u16 & TAG_MASK
}

impl Places {
    /// All 0.
    pub fn new() -> Places {
        let distances = |half: usize| {
            std::array::from_fn(|lane| {
                let table = (half * LANES / 2 + lane + 1).min(TABLES) as u32;
                table.abs_diff(WAY_LOG) + 1
            })
        };
        let shifts = [Shift::new(distances(0)), Shift::new(distances(1))];
        Places { place: [[0; LANES]; WAYS], tag: [0; LANES], shifts, mixing: Mixing::new() }
    }

    /// Those of the branch whose address is `word` instructions of four bytes.
    #[inline(always)]
    pub fn find(&mut self, past: &Past, word: u64) {
        let path = past.path();
        let alike = path & ((1 << WAY_LOG) - 1) ^ path >> WAY_LOG;
        let apart = self.mixing.mix(path);
        let bank = (word ^ word >> 4 ^ u64::from(path & ((1 << path_bits(0)) - 1))) % TABLES as u64;
        let banks: &[u16; LANES] = BANKS[bank as usize + 1..].first_chunk().expect("as long as is needed");
        let [for_index, for_tag] = past.folds();
        self.find_tags(&for_tag, word as u32, alike, &apart);
        self.find_places(for_index, word as u32, alike, &apart, banks);
    }

    #[inline(always)]
    fn find_tags(&mut self, folds: &[u16; LANES], word: u32, alike: u32, apart: &[u16; APART]) {
        let signed = (word ^ word >> 2) as i32;
        let by_address = tag_part(signed >> 1 ^ (signed & 1) << 10);
        let common = by_address ^ tag_part(alike as i32);
        for lane in 0..LANES {
            let fold = folds[lane];
            self.tag[lane] = (fold ^ fold >> 14 ^ fold >> 12) & TAG_MASK ^ common;
        }
        let difference = tag_part(alike as i32);
        for lane in 0..APART {
            let mixed = apart[lane];
            let own = (mixed ^ mixed >> 14 ^ mixed >> 12) & TAG_MASK ^ difference;
            self.tag[lane] ^= own & self.mixing.apart[lane];
        }
    }

    #[inline(always)]
    fn find_places(
        &mut self,
        mut index: [u16; LANES],
        word: u32,
        alike: u32,
        apart: &[u16; APART],
        banks: &[u16; LANES],
    ) {
        let folded = word ^ word >> 10 ^ word >> 20;
        let (low, high) = (folded as u16, (folded >> 16) as u16);
        let common = low & 1023 ^ index_part(alike);
        for (half, shift) in self.shifts.iter().enumerate() {
            for lane in 0..LANES / 2 {
                index[half * LANES / 2 + lane] ^= shift.shifted(lane, low, high) & 1023 ^ common;
            }
        }
        let difference = index_part(alike);
        for lane in 0..APART {
            let mixed = apart[lane];
            index[lane] ^= ((mixed ^ mixed >> 10) & 1023 ^ difference) & self.mixing.apart[lane];
        }
        for lane in 0..LANES {
            let place = index[lane] * WAYS as u16 + banks[lane];
            self.place[0][lane] = place;
            self.place[1][lane] = other_way(place, self.tag[lane]);
        }
        self.place.iter_mut().for_each(|way| way[LANES - 1] = BASE as u16);
    }
}

/// Where an entry of this tag goes in the other way, from its place in this one.
#[inline(always)]
pub fn other_way(place: u16, tag: u16) -> u16 {
    place ^ (tag & 255) << 1 ^ 1
}

/// The path as the first tables see it, each mixed in its own way: the parts beyond ten bits are rotated by the table's
/// number and laid over the lowest ten, then all is rotated again.
#[derive(Clone)]
struct Mixing {
    /// All ones in the lanes of these tables.
    apart: [u16; APART],
    /// The bits of the path beyond ten that each sees: the lowest 16, and the highest.
    sees: [u16; APART],
    sees_top: [u16; APART],
    /// Products with these are shifts to the left, and have shifts to the right in their high half.
    left: [u16; APART],
    right: [u16; APART],
}

impl Mixing {
    fn new() -> Mixing {
        let mut mixing = Mixing {
            apart: [0; APART],
            sees: [0; APART],
            sees_top: [0; APART],
            left: [0; APART],
            right: [0; APART],
        };
        for lane in 0..ALIKE as usize - 1 {
            let beyond = path_bits(lane) - WAY_LOG;
            mixing.apart[lane] = !0;
            mixing.sees[lane] = if beyond < 16 { (1 << beyond) - 1 } else { !0 };
            mixing.sees_top[lane] = if beyond > 16 { !0 } else { 0 };
            mixing.left[lane] = 2 << lane;
            mixing.right[lane] = 1 << (16 - WAY_LOG as usize + 1 + lane);
        }
        mixing
    }

    /// The path of each lane, in 15 bits.
    #[inline(always)]
    fn mix(&self, path: u32) -> [u16; APART] {
        let (low, beyond) = (path as u16 & 1023, path >> WAY_LOG);
        let (beyond, top) = (beyond as u16, ((beyond >> 16) as u16).wrapping_neg());
        let mut mixed = [0; APART];
        for lane in 0..APART {
            let (left, right) = (self.left[lane], self.right[lane]);
            let turn = |value: u16| value.wrapping_mul(left) & 1023 ^ high_half(value, right);
            let both = low ^ turn(beyond & self.sees[lane]) ^ top & self.sees_top[lane] & right;
            mixed[lane] = turn(both);
        }
        mixed
    }
}

/// The high half of a product: with 2^(16 - n), a right shift by n.
#[inline(always)]
fn high_half(a: u16, b: u16) -> u16 {
    ((u32::from(a) * u32::from(b)) >> 16) as u16
}
