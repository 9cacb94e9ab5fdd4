//! What general registers hold, as far as it is an address that the linker chose, or a place in the frame.

use super::frame::{Frame, FramePart, FramePlace};

/// The registers x0 to x30.
pub const REGISTERS: usize = 31;
/// As the base of a load or store, and in sums with a number.
pub const STACK_POINTER: usize = 31;

/// What one register holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Held {
    /// Nothing whose bits depend on where things lie.
    Other,
    /// The page of an `adrp`, or something else, or another page.
    Unclear,
    /// The page that the instruction `by` made.
    Page {
        /// Its address.
        page: u64,
        /// Index of the `adrp`.
        by: usize,
    },
    /// The address that the instruction `by` completed.
    Address {
        /// The address.
        to: u64,
        /// Index of the `adr` or `add`.
        by: usize,
    },
    /// An entry of a table, not widened yet.
    Entry(TableEntry),
    /// Where an entry leads.
    Target(TableTarget),
    /// So far from the thread pointer.
    Thread(i64),
    /// The address of a place in the function's frame.
    Frame(FramePlace),
}

impl Held {
    /// Whether it is, or may be, a part of an address, which says nothing without the other part.
    pub fn is_half(&self) -> bool {
        matches!(self, Held::Unclear | Held::Page { .. } | Held::Thread(_))
    }
}

/// An entry of a table of offsets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableEntry {
    /// Where the table begins.
    pub table: u64,
    /// Index of what completed its address.
    pub by: usize,
    /// Index of the load.
    pub load: usize,
    /// Bytes of an entry.
    pub bytes: u64,
    /// Whether the load widens it with its sign.
    pub signed: bool,
}

/// A place that an entry of a table is added to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableTarget {
    /// The entry.
    pub entry: TableEntry,
    /// What it is added to.
    pub base: u64,
    /// Index of what made that address.
    pub base_by: usize,
    /// By how many bits the entry is shifted first.
    pub shift: u32,
    /// Whether its sign counts.
    pub signed: bool,
}

/// What all registers and the frame hold at one place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldByAll {
    /// x0 to x30.
    pub registers: [Held; REGISTERS],
    /// The frame, and the stack pointer.
    pub frame: Frame,
}

impl HeldByAll {
    /// Nothing that is followed; a part of the frame starts.
    pub fn nothing(part: FramePart) -> Self {
        Self { registers: [Held::Other; REGISTERS], frame: Frame::new(part) }
    }

    /// What a register holds; x31 is zero.
    pub fn get(&self, register: usize) -> Option<Held> {
        self.registers.get(register).copied()
    }

    /// What a register holds that is the base of an access; x31 is the stack pointer.
    pub fn base(&self, register: usize) -> Held {
        self.get(register).unwrap_or(Held::Frame(self.frame.pointer))
    }

    /// What these registers hold, a bit each.
    pub fn among(&self, registers: u32) -> impl Iterator<Item = Held> {
        bits(registers).filter_map(|register| self.get(register))
    }

    /// The places of the frame that these registers hold; x31 is the stack pointer.
    pub fn places(&self, registers: u32) -> impl Iterator<Item = FramePlace> {
        let pointer = Some(Held::Frame(self.frame.pointer)).filter(|_| registers >> STACK_POINTER & 1 == 1);
        self.among(registers).chain(pointer).filter_map(|held| match held {
            Held::Frame(place) => Some(place),
            _ => None,
        })
    }

    /// These registers all hold that then.
    pub fn write(&mut self, registers: u32, made: Held) {
        for register in bits(registers) {
            if let Some(held) = self.registers.get_mut(register) {
                *held = made;
            }
        }
    }

    /// The stack pointer goes where it is not followed. What registers hold of an earlier part of this name is another place.
    pub fn begin(&mut self, part: FramePart) {
        self.frame.begin(part);
        let old = |held: &&mut Held| matches!(held, Held::Frame(place) if place.part == part);
        self.registers.iter_mut().filter(old).for_each(|held| *held = Held::Other);
    }
}

/// The registers of a set, in order.
pub fn bits(mut registers: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let first = (registers != 0).then(|| registers.trailing_zeros())?;
        registers &= registers - 1;
        Some(first as usize)
    })
}

/// Instructions that make one address, and those of them whose address is used in ways that are not followed.
pub struct Makers {
    /// Each leads to an earlier one that makes the same, or to itself.
    same: Vec<usize>,
    used: Vec<bool>,
}

impl Makers {
    /// For so many instructions.
    pub fn new(instructions: usize) -> Self {
        Self { same: (0..instructions).collect(), used: vec![false; instructions] }
    }

    /// The first of those that make the same.
    pub fn first(&self, mut by: usize) -> usize {
        while self.same[by] != by {
            by = self.same[by];
        }
        by
    }

    /// What is held goes where it is not followed.
    pub fn uses(&mut self, held: Held) {
        if let Held::Address { by, .. } | Held::Page { by, .. } = held {
            self.is_used(by);
        }
    }

    /// Its address, or page, goes where it is not followed.
    pub fn is_used(&mut self, by: usize) {
        let first = self.first(by);
        self.used[first] = true;
    }

    /// Whether it goes anywhere.
    pub fn used(&self, by: usize) -> bool {
        self.used[self.first(by)]
    }

    fn unite(&mut self, one: usize, other: usize) -> usize {
        let (one, other) = (self.first(one), self.first(other));
        let (first, second) = (one.min(other), one.max(other));
        self.same[second] = first;
        self.used[first] |= self.used[second];
        first
    }

    /// What a register holds where two ways meet. An address that may be another one is an address no more: whoever uses it
    /// uses both.
    pub fn join(&mut self, one: Held, other: Held) -> Held {
        match (one, other) {
            _ if one == other => one,
            (Held::Page { page, by }, Held::Page { page: same, by: also }) if page == same => {
                Held::Page { page, by: self.unite(by, also) }
            }
            (Held::Address { to, by }, Held::Address { to: same, by: also }) if to == same => {
                Held::Address { to, by: self.unite(by, also) }
            }
            _ => {
                for held in [one, other] {
                    if let Held::Address { by, .. } = held {
                        self.is_used(by);
                    }
                }
                if one.is_half() || other.is_half() { Held::Unclear } else { Held::Other }
            }
        }
    }
}
