//! What single instructions make of a value: sums with a number, loads and stores at a fixed distance, entries of tables.

use super::super::listing::Leads;
use super::found::Found;
use super::frame::FramePlace;
use super::held::{Held, HeldByAll, REGISTERS, TableTarget};
use super::signed;
use crate::placement::identity::data::ReadExtent;

/// The low twelve bits of an address, in an `add` or in a load.
const LOW: u64 = 0x003f_fc00;

/// `add Xd, Xn, #imm`, perhaps shifted by twelve bits, or `sub`.
pub fn added(index: usize, word: u32, base: Held) -> Found {
    let shifted = word >> 22 & 1 == 1;
    let number = i64::from(word >> 10 & 0xfff) << if shifted { 12 } else { 0 };
    let number = if word >> 30 & 1 == 1 { -number } else { number };
    match base {
        Held::Page { page: from, .. } if !shifted && number >= 0 => {
            Found::address(from.wrapping_add_signed(number), index, LOW)
        }
        Held::Address { to: from, .. } => Found::address(from.wrapping_add_signed(number), index, LOW),
        // The upper half of a distance from the thread pointer, then the lower.
        Held::Thread(from) if shifted => {
            let made = Some(Held::Thread(from.wrapping_add(number)));
            Found { made, ..Found::certain(LOW, Leads::Nothing) }
        }
        Held::Thread(from) => Found::certain(LOW, Leads::Thread(from.wrapping_add(number))),
        Held::Unclear => Found::certain(LOW, Leads::Unfollowed),
        Held::Frame(from) => Found { made: Some(Held::Frame(from.plus(number))), ..Found::default() },
        _ => Found::default(),
    }
}

/// A load or store at a fixed distance from a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// From where the register leads to the first byte.
    pub offset: i64,
    /// Bytes of one register.
    pub bytes: u64,
    /// How many registers.
    pub count: u64,
    /// Whether these are general registers, whole.
    pub whole: bool,
    /// Whether it loads.
    pub loads: bool,
    /// By how much the register that leads there is moved.
    pub moves: i64,
    mask: u64,
}

impl Access {
    /// Decodes one; Arm DDI 0487, C4.1.94. None of exclusive, atomic and unprivileged ones.
    pub fn of(word: u32) -> Option<Self> {
        if word & 0x3a00_0000 == 0x2800_0000 { Self::pair(word) } else { Self::single(word) }
    }

    fn single(word: u32) -> Option<Self> {
        let vector = word >> 26 & 1 == 1;
        let opc = word >> 22 & 3;
        let scale = (word >> 30 | if vector { word >> 21 & 4 } else { 0 }).min(4);
        let distance = signed(word, 12, 9);
        let (offset, moves, mask) = match (word & 0x3b00_0000, word >> 21 & 1, word >> 10 & 3) {
            (0x3900_0000, ..) => (i64::from(word >> 10 & 0xfff) << scale, 0, LOW),
            (0x3800_0000, 0, 0) => (distance, 0, 0x001f_f000),
            (0x3800_0000, 0, 1) => (0, distance, 0),
            (0x3800_0000, 0, 3) => (distance, distance, 0),
            _ => return None,
        };
        Some(Self {
            offset,
            bytes: 1 << scale,
            count: 1,
            whole: !vector && scale == 3 && opc < 2,
            loads: if vector { opc & 1 == 1 } else { opc > 0 },
            moves,
            mask,
        })
    }

    fn pair(word: u32) -> Option<Self> {
        let (vector, loads, size) = (word >> 26 & 1 == 1, word >> 22 & 1 == 1, word >> 30);
        let scale = match (vector, size) {
            (_, 3) => return None,
            (true, size) => 2 + size,
            // It stores tags of memory besides.
            (false, 1) if !loads => return None,
            (false, size) => 2 + size / 2,
        };
        let distance = signed(word, 15, 7) << scale;
        let (offset, moves, mask) = match word >> 23 & 3 {
            1 => (0, distance, 0),
            3 => (distance, distance, 0),
            _ => (distance, 0, 0x003f_8000),
        };
        let whole = !vector && size == 2;
        Some(Self { offset, bytes: 1 << scale, count: 2, whole, loads, moves, mask })
    }

    /// Its registers, in the order of memory.
    pub fn registers(&self, word: u32) -> impl Iterator<Item = u32> {
        [word & 31, word >> 10 & 31].into_iter().take(self.count as usize)
    }

    /// The place of each register, from the first on.
    pub fn places(&self, first: FramePlace) -> impl Iterator<Item = FramePlace> {
        let bytes = self.bytes as i64;
        (0..self.count as i64).map(move |number| first.plus(number * bytes))
    }

    /// What it leads to, where its base is no place of the frame.
    pub fn reached(self, base: Held) -> Found {
        if self.moves != 0 {
            return Found::default();
        }
        let extent = ReadExtent::Bytes(self.bytes * self.count);
        let leads = match base {
            Held::Page { page, .. } if self.mask == LOW => {
                Leads::Data(page.wrapping_add_signed(self.offset), extent)
            }
            Held::Address { to, .. } => Leads::Data(to.wrapping_add_signed(self.offset), extent),
            Held::Thread(pointer) => Leads::Thread(pointer.wrapping_add(self.offset)),
            Held::Unclear => Leads::Unfollowed,
            _ => return Found::default(),
        };
        Found::certain(self.mask, leads)
    }
}

/// Bytes of the entry that a load with an index reads, and whether it widens it with its sign.
pub fn entry_load(word: u32) -> Option<(u64, bool)> {
    let (size, opc) = (word >> 30, word >> 22 & 3);
    let loads = word & 0x3f20_0c00 == 0x3820_0800 && opc != 0 && size < 3;
    loads.then_some((1 << size, opc > 1))
}

/// `add Xd, base, entry`: the register that holds the base, and what is made.
pub fn table_sum(word: u32, held: &HeldByAll) -> Option<(usize, TableTarget)> {
    let (n, m) = ((word >> 5 & 31) as usize, (word >> 16 & 31) as usize);
    let (shift, option) = match word & 0xffe0_0000 {
        0x8b00_0000 => (word >> 10 & 63, None),
        0x8b20_0000 => (word >> 10 & 7, Some(word >> 13 & 7)),
        _ => return None,
    };
    let sum = |base: usize, entry: usize| {
        let (Held::Address { to, by }, Held::Entry(entry)) = (held.get(base)?, held.get(entry)?) else {
            return None;
        };
        let signed = match option {
            None => entry.signed,
            Some(option) if 1 << (option & 3) == entry.bytes => option > 3,
            Some(option) if 1 << (option & 3) > entry.bytes && (option > 3 || !entry.signed) => entry.signed,
            Some(_) => return None,
        };
        Some((base, TableTarget { entry, base: to, base_by: by, shift, signed }))
    };
    sum(n, m).or_else(|| if option.is_none() && shift == 0 { sum(m, n) } else { None })
}

/// `mov Xd, Xm`.
pub fn moved(word: u32) -> Option<usize> {
    let register = (word >> 16 & 31) as usize;
    (word & 0xffe0_ffe0 == 0xaa00_03e0 && register < REGISTERS).then_some(register)
}

/// `add` or `sub` of 64 bits with a number.
pub fn is_add_immediate(word: u32) -> bool {
    word & 0xbf80_0000 == 0x9100_0000
}

/// Where a literal load reads, and how many bytes.
pub fn literal_load(word: u32, at: u64) -> Option<(u64, u64)> {
    if word & 0x3b00_0000 != 0x1800_0000 {
        return None;
    }
    let bytes = match (word >> 26 & 1, word >> 30) {
        (1, size) => 4 << size.min(2),
        (_, 1) => 8,
        // A prefetch.
        (_, 3) => return None,
        _ => 4,
    };
    Some((at.wrapping_add_signed(signed(word, 5, 19) * 4), bytes))
}
