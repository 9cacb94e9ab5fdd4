//! The tables of a TAGE predictor: what they say of a branch and how they learn, wherever it is looked up.

use super::geometry::{Forget, Geometry, TaggedTable};

/// Set in the tags of entries, so that an entry never written matches nothing.
pub const HELD: u16 = 0x8000;
/// Sets of all tables together, at most: an index of 16 bits cannot miss.
const SETS: usize = 1 << 16;

/// Where a branch is looked up.
pub trait Lookup {
    /// Its set in a table, counted from the first of all sets.
    fn index(&self, table: usize) -> u16;

    /// Its tag in a table, with [`HELD`].
    fn tag(&self, table: usize) -> u16;

    /// Its counter in the base table.
    fn base(&self) -> u32;
}

/// The entries that one index leads to.
#[derive(Clone, Copy)]
pub(super) struct TableSet<const W: usize> {
    pub(super) tags: [u16; W],
    pub(super) counters: [i8; W],
    pub(super) useful: [u8; W],
}

/// Tables of up to W entries per set.
pub struct TageTables<const W: usize> {
    geometry: Geometry,
    /// All tables' sets, one table after the other.
    pub(super) sets: Box<[TableSet<W>; SETS]>,
    pub(super) base: Vec<i8>,
    counter_top: i8,
    useful_top: u8,
    /// How far an unsure longest match is to be mistrusted; from 0 on it is. By whether there is a shorter match.
    pub(super) mistrust: [i8; 2],
    pub(super) pressure: i32,
    until_forget: u32,
    random: u32,
    found: Found,
}

/// What was found for the branch being predicted.
#[derive(Default)]
struct Found {
    /// How many tables are no longer than the longest match; 0 without one. The same of the next match.
    matched: u32,
    alternate: u32,
    longest_taken: bool,
    alternate_taken: bool,
    unsure: bool,
}

impl<const W: usize> TageTables<W> {
    /// Untrained.
    ///
    /// Input: tables of at most W ways, 2^16 sets in all.
    pub fn new(geometry: Geometry) -> TageTables<W> {
        assert!(geometry.tables.iter().all(|table| table.ways <= W), "{geometry:?}");
        let sets: usize = geometry.tables.iter().map(|table| 1 << table.sets_log2).sum();
        assert!(sets <= SETS, "{sets} sets");
        let set = TableSet { tags: [0; W], counters: [0; W], useful: [0; W] };
        let all = vec![set; SETS].into_boxed_slice();
        let until_forget = if let Forget::Period(branches) = geometry.forget { branches } else { u32::MAX };
        TageTables {
            sets: all.try_into().unwrap_or_else(|_| unreachable!("as many as were made")),
            base: vec![0; 1 << geometry.base_log2],
            counter_top: (1 << (geometry.counter_bits - 1)) - 1,
            useful_top: (1 << geometry.useful_bits) - 1,
            mistrust: [0; 2],
            pressure: 0,
            until_forget,
            random: 0x2545_f491,
            found: Found::default(),
            geometry,
        }
    }

    /// How many tables there are.
    pub fn number(&self) -> usize {
        self.geometry.tables.len()
    }

    /// Whether a set has an entry of this tag.
    #[inline(always)]
    pub fn holds(&self, index: u16, tag: u16) -> bool {
        self.sets[index as usize].tags.iter().fold(false, |holds, &held| holds | (held == tag))
    }

    /// The entry with the branch's tag in the longest of the first `matched` tables, which has one.
    #[inline]
    fn entry(&self, at: &impl Lookup, matched: u32) -> (u16, usize) {
        let table = matched as usize - 1;
        let index = at.index(table);
        if W == 1 {
            return (index, 0);
        }
        let tags = &self.sets[index as usize].tags;
        let way = (1..W).fold(0, |way, i| if tags[i] == at.tag(table) { i } else { way });
        (index, way)
    }

    /// The counter that one of the matches goes by; the base table's for a match of 0.
    #[inline]
    fn counter(&mut self, at: &impl Lookup, matched: u32) -> &mut i8 {
        if matched == 0 {
            return &mut self.base[at.base() as usize];
        }
        let (index, way) = self.entry(at, matched);
        &mut self.sets[index as usize].counters[way % W]
    }

    /// What the tables say of a branch that is held by those in `matching`, a bit for each.
    #[inline(always)]
    pub fn predict(&mut self, at: &impl Lookup, matching: u32) -> bool {
        let matched = 32 - matching.leading_zeros();
        self.found.matched = matched;
        if matched == 0 {
            return self.base[at.base() as usize] >= 0;
        }
        let alternate = 32 - (matching ^ 1 << (matched - 1)).leading_zeros();
        let counter = *self.counter(at, matched);
        let alternate_taken = *self.counter(at, alternate) >= 0;
        let unsure = (-1..=0).contains(&counter);
        self.found = Found { matched, alternate, longest_taken: counter >= 0, alternate_taken, unsure };
        let mistrusted = self.mistrust[usize::from(alternate > 0)] >= 0;
        if unsure & mistrusted { alternate_taken } else { counter >= 0 }
    }

    /// Learns what the branch did that was just predicted as `predicted`; tells the tables that gave it an entry.
    #[inline(always)]
    pub fn train(&mut self, at: &impl Lookup, taken: bool, predicted: bool, gave: impl FnMut(usize)) {
        self.until_forget -= 1;
        if self.until_forget == 0 {
            self.period_ends();
        }
        let mut wants_entry = predicted != taken;
        if self.found.matched == 0 {
            if wants_entry {
                self.allocate(at, taken, gave);
            }
            step(&mut self.base[at.base() as usize], taken, 1);
            return;
        }
        let (matched, alternate) = (self.found.matched, self.found.alternate);
        let right = self.found.longest_taken == taken;
        let alternate_right = self.found.alternate_taken == taken;
        if self.found.unsure {
            // Not the entry's fault: it was right, but too new to be believed.
            wants_entry &= !right;
            if right != alternate_right {
                step(&mut self.mistrust[usize::from(alternate > 0)], alternate_right, 15);
            }
            if !right {
                let top = if alternate == 0 { 1 } else { self.counter_top };
                step(self.counter(at, alternate), taken, top);
            }
        }
        if wants_entry && (matched as usize) < self.geometry.tables.len() {
            self.allocate(at, taken, gave);
        }
        let (index, way) = self.entry(at, matched);
        let set = &mut self.sets[index as usize];
        step(&mut set.counters[way % W], taken, self.counter_top);
        let useful = &mut set.useful[way % W];
        let more = (*useful + 1).min(self.useful_top);
        let less = useful.saturating_sub(1);
        let moved = if right { more } else { less };
        *useful = if right == alternate_right { *useful } else { moved };
    }

    #[inline]
    fn draw(&mut self) -> u32 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 17;
        self.random ^= self.random << 5;
        self.random
    }

    /// Gives the branch entries in tables with a longer history than the one that failed.
    fn allocate(&mut self, at: &impl Lookup, taken: bool, mut gave: impl FnMut(usize)) {
        let tables = self.geometry.tables.len();
        let mut table = self.found.matched as usize;
        if self.draw() & 3 == 0 && table + 1 < tables {
            table += 1;
        }
        let (mut found, mut refused) = (0, 0);
        while table < tables && found < self.geometry.allocations as i32 {
            if self.replace(at, table, taken) {
                gave(table);
                found += 1;
                table += 2;
            } else {
                refused += 1;
                table += 1;
            }
        }
        self.pressure = (self.pressure + refused - 2 * found).max(0);
        if let Forget::Pressure(limit) = self.geometry.forget
            && self.pressure >= limit
        {
            self.forget();
        }
    }

    /// A period over: forgets, or just counts on where usefulness is forgotten under pressure.
    #[cold]
    fn period_ends(&mut self) {
        self.until_forget = u32::MAX;
        if let Forget::Period(branches) = self.geometry.forget {
            self.until_forget = branches;
            self.forget();
        }
    }

    /// Puts the branch in the place of an entry of its set that has not been useful; says whether there was one.
    pub(super) fn replace(&mut self, at: &impl Lookup, table: usize, taken: bool) -> bool {
        let ways = self.geometry.tables[table].ways;
        let start = if ways > 1 { self.draw() as usize } else { 0 };
        let tag = at.tag(table);
        let set = &mut self.sets[at.index(table) as usize];
        let free = (0..ways).map(|way| (start + way) % ways).find(|&way| set.useful[way] == 0);
        if let Some(way) = free {
            set.tags[way] = tag;
            set.counters[way] = if taken { 0 } else { -1 };
        }
        free.is_some()
    }

    #[cold]
    pub(super) fn forget(&mut self) {
        for set in self.sets.iter_mut() {
            set.useful.iter_mut().for_each(|useful| *useful >>= 1);
        }
        self.pressure = 0;
    }

    /// What tables and registers would take in hardware, bits.
    pub fn storage_bits(&self) -> u64 {
        let reach =
            |length: fn(&TaggedTable) -> usize| self.geometry.tables.iter().map(length).max().unwrap_or(0);
        let registers = reach(|table| table.length) + reach(|table| table.second);
        self.geometry.storage_bits() + registers as u64 + 2 * 5 + 12
    }
}

/// One up or down, within -`top` - 1 to `top`.
#[inline]
fn step(counter: &mut i8, up: bool, top: i8) {
    let moved = *counter + if up { 1 } else { -1 };
    *counter = moved.clamp(-top - 1, top);
}

impl TageTables<1> {
    /// The tag that a set of one way holds.
    #[inline(always)]
    pub fn tag_at(&self, index: u16) -> u16 {
        self.sets[index as usize].tags[0]
    }
}
