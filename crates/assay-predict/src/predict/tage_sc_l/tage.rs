//! The TAGE part: the base table, tagged tables, and how they learn.
//!
//! Of the tables that hold the branch with its recent history, the one with the longest history predicts, unless its
//! counter is new and the second longest (the alternate) has lately done better in such cases. After a misprediction
//! entries with longer histories are allocated in place of ones that are not useful.

use super::base::BaseTable;
use super::budget::Budget;
use super::component::nudge;
use super::dice::Dice;
use super::folds::LANES;
use super::history::GlobalHistory;
use super::lanes::{equal_lanes, lanes};
use crate::predict::DirectionPredictor;
use crate::trace::Branch;

/// Entries that 16 bits can name; both sizes need fewer.
const PLACES: usize = 1 << 16;
/// Failed allocations, less successful ones, at which useful entries grow old.
const PATIENCE: i32 = 1024;
/// The largest counter of a tagged entry; the smallest is one further from 0.
const COUNTER_TOP: i8 = 3;
/// The largest of the counters that say whether new entries yield to the alternate.
const YIELD_TOP: i8 = 15;

/// A direction counter and how useful it has been.
#[derive(Clone, Copy, Default)]
pub struct DirectionCounter {
    /// Taken from 0 up.
    pub value: i8,
    /// Protects the entry while not 0.
    pub useful: u8,
}

impl DirectionCounter {
    /// Distance from the border between the directions: 0 (just allocated) to 3.
    #[inline(always)]
    pub fn sureness(self) -> u8 {
        (if self.value < 0 { !self.value } else { self.value }) as u8
    }

    #[inline(always)]
    fn learn(&mut self, taken: bool) {
        self.value = nudge(self.value, taken, COUNTER_TOP);
    }
}

/// What was found for the branch that is being predicted.
#[derive(Clone, Default)]
pub struct TageLookup {
    places: [[u16; LANES]; 2],
    tags: [u16; LANES],
    base_place: usize,
    longest_place: u16,
    alternate_place: u16,
    /// The table with the longest matching history; 0 if none.
    pub longest_table: u32,
    /// The one with the second longest; 0 if none.
    pub alternate_table: u32,
    /// What the longest, or else the base table, says.
    pub longest: bool,
    /// What the alternate, or else the base table, says.
    pub alternate: bool,
    /// Whether the alternate is more than a guess.
    pub alternate_sure: bool,
    /// How sure the longest, or else the base table, is: 0 to 3.
    pub sureness: u8,
    /// The prediction of these tables.
    pub prediction: bool,
}

/// A TAGE predictor of size B: the "only TAGE" form of the published ones.
pub struct PublishedTage<B: Budget> {
    history: GlobalHistory<B>,
    dice: Dice,
    base: BaseTable,
    tags: Box<[u16; PLACES]>,
    counters: Box<[DirectionCounter; PLACES]>,
    yields: [i8; 16],
    pressure: i32,
    banks: Banks,
    found: TageLookup,
}

impl<B: Budget> Default for PublishedTage<B> {
    fn default() -> Self {
        PublishedTage::new()
    }
}

impl<B: Budget> PublishedTage<B> {
    /// One that has seen nothing.
    pub fn new() -> PublishedTage<B> {
        PublishedTage {
            history: GlobalHistory::default(),
            dice: Dice::default(),
            base: BaseTable::new(B::BASE_LOG),
            tags: vec![0; PLACES].try_into().expect("as many as were asked for"),
            counters: vec![DirectionCounter::default(); PLACES]
                .try_into()
                .unwrap_or_else(|_| unreachable!("as many as were asked for")),
            yields: [0; 16],
            pressure: 0,
            banks: TableLayout::<B>::BANKS,
            found: TageLookup::default(),
        }
    }

    /// What was found for the branch that was predicted last.
    #[inline(always)]
    pub fn found(&self) -> &TageLookup {
        &self.found
    }

    /// The path register.
    #[inline(always)]
    pub fn path(&self) -> u32 {
        self.history.path()
    }

    /// The next pseudo-random number.
    #[inline(always)]
    pub fn roll(&mut self) -> u32 {
        let stirs = B::STIRRING_TABLE != 0;
        let tag = if stirs { self.found.tags[TableLayout::<B>::lane(B::STIRRING_TABLE)] } else { 0 };
        self.dice.roll(self.history.path(), self.history.pushed(), tag)
    }

    /// The prediction for the branch at `pc`.
    #[inline(always)]
    pub fn look_up(&mut self, pc: u64) -> bool {
        self.find_places(pc);
        let matching = self.matching();
        self.judge(pc, matching);
        self.found.prediction
    }

    /// The set of tables that hold the branch: two bits for each lane, in the order of their histories.
    #[inline(always)]
    fn matching(&self) -> u32 {
        let stored = [self.stored(0), self.stored(1)];
        let tags = lanes(|nth| self.found.tags[TableLayout::<B>::ORDER[nth]]);
        equal_lanes(stored, tags) & TableLayout::<B>::EXISTING
    }

    /// The tags that lie where the branch's would, one of each lane's two; 0 where there is no table.
    #[inline(always)]
    fn stored(&self, way: usize) -> [u16; LANES] {
        lanes(|nth| {
            let exists = TableLayout::<B>::EXISTING >> (2 * nth + way) & 1 != 0;
            let place = self.found.places[way][TableLayout::<B>::ORDER[nth]];
            if exists { self.tags[usize::from(place)] } else { 0 }
        })
    }

    #[inline(always)]
    fn find_places(&mut self, pc: u64) {
        let hashes = B::hash(&self.history, pc);
        let path = u64::from(self.history.path());
        let first =
            |pool: usize| ((pc ^ path & u64::from(B::BANK_PATH[pool])) % u64::from(B::BANKS[pool])) as u16;
        let (short, long) = (first(0), first(1));
        let mask = (1 << B::BANK_LOG) - 1;
        let banks = &self.banks;
        for way in 0..2 {
            let skew = if way == 0 { 0 } else { mask };
            for lane in 0..LANES {
                let start = short & !banks.long[lane] | long & banks.long[lane];
                let bank = start + banks.rank[way][lane];
                let wraps = u16::from(bank >= banks.number[lane]).wrapping_neg();
                let bank = bank - (banks.number[lane] & wraps);
                let index = hashes.index[lane] ^ hashes.tag[lane] & skew;
                self.found.places[way][lane] = banks.pool[lane] + (bank << B::BANK_LOG) + index;
            }
        }
        self.found.tags = hashes.tag;
    }

    /// Works out the prediction from the set of matching tables.
    #[inline(always)]
    fn judge(&mut self, pc: u64, matching: u32) {
        let found = &mut self.found;
        found.base_place = self.base.place(pc);
        let base = self.base.counter(found.base_place);
        found.alternate = base > 1;
        found.alternate_sure = base == 0 || base == 3;
        found.longest = found.alternate;
        found.sureness = if found.alternate_sure { 3 } else { 0 };
        found.prediction = found.alternate;
        (found.longest_table, found.alternate_table) = (0, 0);
        if matching == 0 {
            return;
        }
        let longest = matching.ilog2();
        found.longest_table = u32::from(TableLayout::<B>::TABLE[longest as usize]);
        let rest = matching ^ 1 << longest;
        found.longest_place = TableLayout::<B>::place_in(found, longest);
        let longest = self.counters[usize::from(found.longest_place)];
        found.longest = longest.value >= 0;
        found.sureness = longest.sureness();
        if rest != 0 {
            let alternate = rest.ilog2();
            found.alternate_table = u32::from(TableLayout::<B>::TABLE[alternate as usize]);
            found.alternate_place = TableLayout::<B>::place_in(found, alternate);
            let alternate = self.counters[usize::from(found.alternate_place)];
            found.alternate = alternate.value >= 0;
            found.alternate_sure = alternate.sureness() > 0;
        }
        let yields = found.sureness == 0 && self.yields[yield_place(found)] >= 0;
        found.prediction = if yields { found.alternate } else { found.longest };
    }

    /// Learns the direction of the branch that was looked up last, which was finally predicted as `finally`.
    #[inline(always)]
    pub fn learn(&mut self, taken: bool, finally: bool) {
        let found = &self.found;
        let mut allocates = found.prediction != taken && found.longest_table < B::TABLES;
        if found.longest_table != 0 && found.sureness == 0 {
            allocates &= found.longest != taken;
            if found.longest != found.alternate {
                let counter = &mut self.yields[yield_place(found)];
                *counter = nudge(*counter, found.alternate == taken, YIELD_TOP);
            }
        }
        if finally == taken {
            allocates &= self.roll() & 31 == 0;
        }
        if allocates {
            B::allocate(self, taken);
        }
        self.update(taken);
    }

    #[inline(always)]
    fn update(&mut self, taken: bool) {
        let found = &self.found;
        if found.longest_table == 0 {
            self.base.learn(found.base_place, taken);
            return;
        }
        let mut longest = self.counters[usize::from(found.longest_place)];
        if longest.sureness() == 0 && found.longest != taken {
            if found.alternate_table == 0 {
                self.base.learn(found.base_place, taken);
            } else {
                let alternate = &mut self.counters[usize::from(found.alternate_place)];
                let unsure = alternate.sureness() == 0;
                alternate.learn(taken);
                if B::UNSURE_IS_USELESS && (unsure || alternate.sureness() == 0) {
                    alternate.useful = 0;
                }
            }
        }
        let unsure = B::UNSURE_IS_USELESS && longest.sureness() == 0;
        longest.learn(taken);
        if unsure || longest.sureness() == 0 {
            longest.useful = 0;
        }
        self.counters[usize::from(found.longest_place)] = longest;
        self.judge_usefulness(taken);
    }

    #[inline(always)]
    fn judge_usefulness(&mut self, taken: bool) {
        let found = &self.found;
        if found.longest != taken {
            return;
        }
        let place = usize::from(found.longest_place);
        if found.alternate != taken {
            let useful = &mut self.counters[place].useful;
            *useful += u8::from(*useful < B::USEFUL_TOP);
        } else if found.alternate_table != 0 {
            let alternate = self.counters[usize::from(found.alternate_place)];
            if alternate.sureness() == COUNTER_TOP as u8 && self.counters[place].useful == 1 {
                self.counters[place].useful = 0;
            }
        }
    }

    /// The first table to try for a new entry, less one: one or two pairs above the longest match, either way of it.
    #[inline]
    pub fn first_candidate(&mut self) -> u32 {
        let pairs = if self.roll() & 127 < 32 { 2 } else { 1 };
        let table = self.found.longest_table.wrapping_sub(1).wrapping_add(2 * pairs) & 0xffe;
        table ^ self.roll() & 1
    }

    /// The branch's entry in a table, `table` being its number less one, if the table exists.
    #[inline]
    pub fn candidate(&mut self, table: u32) -> Option<&mut DirectionCounter> {
        (table < B::TABLES && B::EXISTING >> table & 1 != 0).then(|| {
            let place = TableLayout::<B>::place(&self.found, table + 1);
            &mut self.counters[usize::from(place)]
        })
    }

    /// Gives the branch the entry in a table that exists, `table` being its number less one.
    #[inline]
    pub fn settle(&mut self, table: u32, taken: bool, useful: u8) {
        let place = usize::from(TableLayout::<B>::place(&self.found, table + 1));
        self.tags[place] = self.found.tags[TableLayout::<B>::lane(table + 1)];
        self.counters[place] = DirectionCounter { value: if taken { 0 } else { -1 }, useful };
    }

    /// Counts what allocation met with; when that has been too much, all useful entries grow old.
    #[inline]
    pub fn press(&mut self, by: i32) {
        self.pressure = (self.pressure + by).max(0);
        if self.pressure >= PATIENCE {
            for counter in &mut self.counters[..TableLayout::<B>::ENTRIES] {
                counter.useful = B::age(counter.useful);
            }
            self.pressure = 0;
        }
    }
}

/// Which of the counters speaks for new entries of such a length, with such an alternate.
#[inline(always)]
fn yield_place(found: &TageLookup) -> usize {
    ((found.longest_table as usize - 1) / 8 * 2 + usize::from(found.alternate_sure)) % 16
}

/// Which bank a branch's table is in. Fields of the predictor instead of constants, because the loop over them is then
/// made of vector instructions instead of being unrolled into single ones.
struct Banks {
    /// All ones in lanes with long tags.
    long: [u16; LANES],
    /// Banks in the lane's pool.
    number: [u16; LANES],
    /// Where the pool begins.
    pool: [u16; LANES],
    /// How many tables before it have their bank in the same pool.
    rank: [[u16; LANES]; 2],
}

/// Where the tables of a size lie.
struct TableLayout<B>(std::marker::PhantomData<B>);

impl<B: Budget> TableLayout<B> {
    /// The first entry of the pool for long tags, which follows the other.
    const LONG_START: u16 = B::BANKS[0] << B::BANK_LOG;
    const ENTRIES: usize = (B::BANKS[0] as usize + B::BANKS[1] as usize) << B::BANK_LOG;

    const BANKS: Banks = {
        let mut banks =
            Banks { long: [0; LANES], number: [0; LANES], pool: [0; LANES], rank: [[0; LANES]; 2] };
        let short = (1u64 << (B::FIRST_LONG - 1)) - 1;
        let mut lane = 0;
        while lane < LANES {
            let is_long = 2 * B::PAIRS[lane] + 1 >= B::FIRST_LONG;
            let pool = if is_long { !short } else { short };
            banks.number[lane] = B::BANKS[is_long as usize];
            if is_long {
                banks.long[lane] = !0;
                banks.pool[lane] = Self::LONG_START;
            }
            let mut way = 0;
            while way < 2 {
                let below = (1u64 << (2 * B::PAIRS[lane] + way as u32)) - 1;
                banks.rank[way][lane] = (B::EXISTING & pool & below).count_ones() as u16;
                way += 1;
            }
            lane += 1;
        }
        banks
    };

    /// The lane of each pair.
    const LANE: [u8; 32] = {
        let mut lanes = [0; 32];
        let mut lane = LANES;
        while lane > 0 {
            lane -= 1;
            if B::LENGTHS[lane] != 0 {
                lanes[B::PAIRS[lane] as usize] = lane as u8;
            }
        }
        lanes
    };

    /// The lanes by growing history, then the unused ones.
    const ORDER: [usize; LANES] = {
        let mut order = [0; LANES];
        let (mut lane, mut unused) = (0, LANES);
        while lane < LANES {
            let (mut shorter, mut other) = (0, 0);
            while other < LANES {
                shorter += (B::LENGTHS[other] != 0 && B::LENGTHS[other] < B::LENGTHS[lane]) as usize;
                other += 1;
            }
            if B::LENGTHS[lane] == 0 {
                unused -= 1;
                shorter = unused;
            }
            order[shorter] = lane;
            lane += 1;
        }
        order
    };

    /// Whether the lanes lie in that order: then none has to be looked up.
    const IN_ORDER: bool = {
        let (mut all, mut lane) = (true, 0);
        while lane < LANES {
            all &= B::LENGTHS[lane] == 0 || Self::ORDER[lane] == lane;
            lane += 1;
        }
        all
    };

    /// The tables of the lanes in that order, two each.
    const TABLE: [u8; 2 * LANES] = {
        let mut tables = [0; 2 * LANES];
        let mut nth = 0;
        while nth < tables.len() {
            tables[nth] = (2 * B::PAIRS[Self::ORDER[nth / 2]] as usize + nth % 2 + 1) as u8;
            nth += 1;
        }
        tables
    };

    /// Which of these exist, a bit for each.
    const EXISTING: u32 = {
        let (mut existing, mut nth) = (0u32, 0);
        while nth < Self::TABLE.len() {
            let is_used = B::LENGTHS[Self::ORDER[nth / 2]] != 0;
            if is_used && B::EXISTING >> (Self::TABLE[nth] - 1) & 1 != 0 {
                existing |= 1 << nth;
            }
            nth += 1;
        }
        assert!(existing.count_ones() == B::EXISTING.count_ones(), "each table has a lane");
        existing
    };

    /// The place in one of these.
    #[inline(always)]
    fn place_in(found: &TageLookup, nth: u32) -> u16 {
        let nth = nth as usize;
        let lane = if Self::IN_ORDER { nth / 2 } else { Self::ORDER[nth / 2 % LANES] };
        found.places[nth % 2][lane % LANES]
    }

    #[inline(always)]
    fn lane(table: u32) -> usize {
        usize::from(Self::LANE[(table - 1) as usize / 2 % 32]) % LANES
    }

    #[inline(always)]
    fn place(found: &TageLookup, table: u32) -> u16 {
        found.places[(table - 1) as usize % 2][Self::lane(table)]
    }
}

impl<B: Budget> DirectionPredictor for PublishedTage<B> {
    #[inline(always)]
    fn predict(&mut self, pc: u64, _target: u64) -> bool {
        self.look_up(pc)
    }

    #[inline(always)]
    fn train(&mut self, branch: &Branch, _predicted: bool) {
        self.learn(branch.taken(), self.found.prediction);
    }

    #[inline(always)]
    fn track(&mut self, branch: &Branch) {
        self.history.push(branch);
    }

    fn storage_bits(&self) -> u64 {
        let counter = 3 + u64::from(B::USEFUL_TOP.count_ones());
        let tagged: u64 = (0..2)
            .map(|pool| (u64::from(B::BANKS[pool]) << B::BANK_LOG) * (u64::from(B::TAG_BITS[pool]) + counter))
            .sum();
        let longest = B::LENGTHS.iter().copied().max().unwrap_or(0);
        let registers = u64::from(longest) + u64::from(B::PATH_MASK.count_ones()) + 10 + 32;
        tagged + self.base.storage_bits() + registers + B::YIELDS * 5
    }
}
