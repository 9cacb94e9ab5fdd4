//! The tagged tables and the base table: which entries a branch finds, and what they learn.
//!
//! Of the tables that hold the branch with its recent past, the one that sees most of it predicts. Two more say something:
//! the one that sees second most (the alternate), and the one that sees most and is more than a guess (the confident).
//! All tables lie in one memory of 28 banks, each branch beginning at another one.

use super::base::BaseTable;
use super::hash::{ENTRIES, Places, TAG_BITS, WAYS};
use super::past::{LANES, PATH_BITS, Past, TABLES};
use crate::predict::tage_sc_l::component::nudge;

/// Entries that 16 bits can name; there are fewer.
const NAMED: usize = 1 << 16;
/// The place where the base table's counter is shown as if it were an entry, so that all voices are read alike.
pub const BASE: usize = ENTRIES;
/// The largest counter of a tagged entry; the smallest is one further from 0.
const COUNTER_TOP: i8 = 3;
/// The largest usefulness.
const USEFUL_TOP: u8 = 3;

/// A direction counter and how useful it has been.
#[derive(Clone, Copy, Default)]
pub struct Entry {
    /// Taken from 0 up.
    pub value: i8,
    /// Protects the entry while not 0.
    pub useful: u8,
}

impl Entry {
    /// Distance from the border between the directions: 0 (a guess) to 3.
    #[inline(always)]
    pub fn sureness(self) -> u8 {
        (if self.value < 0 { !self.value } else { self.value }) as u8
    }
}

/// One of those who say something of a branch.
#[derive(Clone, Copy, Default)]
pub struct Voice {
    /// Number of the table, from 1; 0 for the base table.
    pub table: u32,
    /// Place of the entry.
    pub place: u16,
    /// What it says.
    pub taken: bool,
    /// How sure it is: 0 to 3.
    pub sureness: u8,
}

/// What was found for the branch that is being predicted.
#[derive(Clone)]
pub struct Found {
    /// Where it is looked up.
    pub places: Places,
    base_place: usize,
    /// The voice that sees most of the past.
    pub longest: Voice,
    /// The one that sees second most.
    pub alternate: Voice,
    /// Of those that are more than a guess the one that sees most.
    pub confident: Voice,
}

/// The tables.
pub struct Tables {
    /// By place.
    pub tags: Box<[u16; NAMED]>,
    /// By place.
    pub entries: Box<[Entry; NAMED]>,
    base: BaseTable,
    /// Of the branch that was looked up last.
    pub found: Found,
}

impl Tables {
    /// Of nothing.
    pub fn new() -> Tables {
        Tables {
            tags: vec![0; NAMED].try_into().expect("as many as were asked for"),
            entries: vec![Entry::default(); NAMED]
                .try_into()
                .unwrap_or_else(|_| unreachable!("as many as were asked for")),
            base: BaseTable::new(),
            found: Found {
                places: Places::new(),
                base_place: 0,
                longest: Voice::default(),
                alternate: Voice::default(),
                confident: Voice::default(),
            },
        }
    }

    /// Finds what they say of the branch at this word.
    #[inline(always)]
    pub fn look_up(&mut self, past: &Past, word: u64) {
        self.found.places.find(past, word);
        self.found.base_place = BaseTable::place(word);
        self.entries[BASE].value = self.base.counter(self.found.base_place);
        let matching = [self.matching(0), self.matching(1)];
        let longest = self.first(matching);
        let rest = matching.map(|way| way & !(!0 << longest.table) >> 1);
        self.found.longest = longest;
        self.found.alternate = self.first(rest);
        self.found.confident = if longest.sureness > 0 { longest } else { self.confident(rest) };
    }

    /// The set of tables that hold the branch in this way, a bit for each.
    #[inline(always)]
    fn matching(&self, way: usize) -> u32 {
        let Places { place, tag, .. } = &self.found.places;
        let mut there = [0; LANES];
        for lane in 0..TABLES {
            there[lane] = self.tags[usize::from(place[way][lane])];
        }
        let mut holds = [0; LANES];
        for lane in 0..LANES {
            holds[lane] = u8::from(there[lane] == tag[lane]);
        }
        let mut matching = 0;
        for (nth, eight) in holds.as_chunks::<8>().0.iter().enumerate() {
            // Eight bytes of 0 or 1 become eight bits.
            let bits = u64::from_le_bytes(*eight).wrapping_mul(0x0102_0408_1020_4080) >> 56;
            matching |= (bits as u32) << (8 * nth);
        }
        matching & ((1 << TABLES) - 1)
    }

    /// The voice of the longest of these, in the first of two ways; of none the base table's.
    #[inline(always)]
    fn first(&self, matching: [u32; WAYS]) -> Voice {
        let table = u32::BITS - (matching[0] | matching[1]).leading_zeros();
        let lane = table.wrapping_sub(1) as usize % LANES;
        self.voice(table, usize::from(matching[0] >> lane & 1 == 0))
    }

    /// The voice of the longest of these that is more than a guess; else the base table's, whatever it is.
    fn confident(&self, mut matching: [u32; WAYS]) -> Voice {
        loop {
            let voice = self.first(matching);
            if voice.table == 0 || voice.sureness > 0 {
                return voice;
            }
            let bit = 1 << (voice.table - 1);
            let way = usize::from(matching[0] & bit == 0);
            matching[way] &= !bit;
        }
    }

    /// The voice of a table's entry in this way. Lane 31, before the first table's, is that of the base table.
    #[inline(always)]
    fn voice(&self, table: u32, way: usize) -> Voice {
        let place = self.found.places.place[way][table.wrapping_sub(1) as usize % LANES];
        let entry = self.entries[usize::from(place)];
        Voice { table, place, taken: entry.value >= 0, sureness: entry.sureness() }
    }

    /// The voices learn a direction; `corrected` is whether all together had it right.
    #[inline(always)]
    pub fn learn(&mut self, taken: bool, corrected: bool) {
        let Found { longest, alternate, confident, base_place, .. } = self.found;
        if longest.table == 0 {
            self.base.learn(base_place, taken);
            return;
        }
        // A guess that was wrong would have been better left to others, so these learn too.
        if longest.sureness == 0 && longest.taken != taken {
            if alternate.table != confident.table {
                self.nudge(alternate, taken);
            }
            if confident.table > 0 {
                self.nudge(confident, taken);
            } else {
                self.base.learn(base_place, taken);
            }
        }
        self.nudge(longest, taken);
        if longest.taken != alternate.taken {
            let useful = &mut self.entries[usize::from(longest.place)].useful;
            if longest.taken == taken {
                // The first time counts twice, so that it outlives one ageing.
                *useful = if *useful == 0 { 2 } else { (*useful + 1).min(USEFUL_TOP) };
            } else if corrected {
                *useful = useful.saturating_sub(1);
            }
        }
    }

    #[inline(always)]
    fn nudge(&mut self, voice: Voice, taken: bool) {
        let value = &mut self.entries[usize::from(voice.place)].value;
        *value = nudge(*value, taken, COUNTER_TOP);
    }

    /// All useful entries are less so.
    #[cold]
    pub fn age(&mut self) {
        for entry in &mut self.entries[..ENTRIES] {
            entry.useful = entry.useful.saturating_sub(1);
        }
    }

    /// Bits in hardware: tagged entries, base table, past, path.
    pub fn storage_bits() -> u64 {
        let entry = 3 + 2 + u64::from(TAG_BITS);
        let past = (super::past::LENGTHS[TABLES - 1] as u64) * u64::from(super::past::BITS);
        ENTRIES as u64 * entry + BaseTable::storage_bits() + past + u64::from(PATH_BITS)
    }
}
