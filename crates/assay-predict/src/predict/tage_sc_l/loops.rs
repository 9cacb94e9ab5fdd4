//! The loop predictor: counts the iterations of loops that always have as many.
//!
//! Four ways, each indexed by another hash of the address. An entry is believed once it has seen the same number often
//! enough, more or less often the longer the loop is.

use super::budget::Budget;
use super::component::nudge;
use std::marker::PhantomData;

/// What is known of a loop.
#[derive(Clone, Copy, Default)]
struct LoopEntry {
    /// How often the branch goes the usual way and then once the other; 0 if unknown.
    trips: u16,
    current: u16,
    confidence: u8,
    age: u8,
    usual: bool,
}

/// The largest confidence and age.
const TOP: u8 = 15;
/// Longer loops are not recognised.
const TRIPS: u16 = 1024;
/// The largest counter of whether loops have been worth it.
const WORTH_TOP: i8 = 63;

/// The loop predictor of size B.
pub struct Loops<B> {
    /// Of the entries, in a list of their own: most branches are looked up to find that no entry is theirs.
    tags: [u16; 32],
    entries: [LoopEntry; 32],
    worth: i8,
    pc: u64,
    hit: Option<u8>,
    verdict: Option<bool>,
    size: PhantomData<B>,
}

impl<B: Budget> Default for Loops<B> {
    /// One that has seen nothing.
    fn default() -> Loops<B> {
        Loops {
            tags: [0; 32],
            entries: [LoopEntry::default(); 32],
            worth: -1,
            pc: 0,
            hit: None,
            verdict: None,
            size: PhantomData,
        }
    }
}

impl<B: Budget> Loops<B> {
    /// Where a way has the branch at `pc`.
    #[inline(always)]
    fn place(pc: u64, way: u32) -> usize {
        const { assert!(B::LOOP_LOG >= 3 && B::LOOP_LOG <= 5) };
        let mask = (1 << (B::LOOP_LOG - 2)) - 1;
        let (low, high) = ((pc ^ pc >> 2) & mask, pc >> (B::LOOP_LOG - 2) & mask);
        ((low ^ high >> way) << 2) as usize + way as usize
    }

    #[inline(always)]
    fn tag(pc: u64) -> u16 {
        let high = pc >> (B::LOOP_LOG - 2);
        ((high ^ high >> 10) & 1023) as u16
    }

    /// The direction of the branch at `pc`, if it is believed to be that of a loop and loops have been worth it.
    #[inline(always)]
    pub fn predict(&mut self, pc: u64) -> Option<bool> {
        (self.pc, self.hit, self.verdict) = (pc, None, None);
        let tag = Self::tag(pc);
        let bit = |way: u32| u32::from(self.tags[Self::place(pc, way) % 32] == tag) << way;
        // All four before anything is decided: which of them it is changes from branch to branch.
        let hits = bit(0) | bit(1) | bit(2) | bit(3);
        if hits == 0 {
            return None;
        }
        let place = Self::place(pc, hits.trailing_zeros());
        let entry = &self.entries[place % 32];
        let sure = (entry.confidence == TOP) | (u16::from(entry.confidence) * entry.trips > 128);
        self.hit = Some(place as u8);
        self.verdict = sure.then_some(entry.usual ^ (entry.current + 1 == entry.trips));
        self.verdict.filter(|_| self.worth >= 0)
    }

    /// Learns the direction of the branch that was asked about last, which TAGE predicted as `tage` and all together as
    /// `finally`. `roll` gives pseudo-random numbers.
    #[inline(always)]
    pub fn learn(&mut self, taken: bool, tage: bool, finally: bool, mut roll: impl FnMut() -> u32) {
        if let Some(verdict) = self.verdict
            && verdict != finally
        {
            self.worth = nudge(self.worth, verdict == taken, WORTH_TOP);
        }
        match self.hit {
            Some(place) => self.count(usize::from(place) % 32, taken, tage, roll),
            None if finally != taken => {
                let way = roll() & 3;
                if roll() & 3 == 0 {
                    self.settle(Self::place(self.pc, way) % 32, taken);
                }
            }
            None => {}
        }
    }

    fn settle(&mut self, place: usize, taken: bool) {
        let entry = &mut self.entries[place];
        if entry.age > 0 {
            entry.age -= 1;
            return;
        }
        // Most mispredictions are those of a loop's last iteration.
        *entry = LoopEntry { age: 7, usual: !taken, ..LoopEntry::default() };
        self.tags[place] = Self::tag(self.pc);
    }

    #[inline(always)]
    fn count(&mut self, place: usize, taken: bool, tage: bool, mut roll: impl FnMut() -> u32) {
        let entry = &mut self.entries[place];
        if let Some(verdict) = self.verdict {
            if verdict != taken {
                (entry.trips, entry.age, entry.confidence, entry.current) = (0, 0, 0, 0);
                return;
            }
            if verdict != tage || roll() & 7 == 0 {
                entry.age = (entry.age + 1).min(TOP);
            }
        }
        entry.current = (entry.current + 1) % TRIPS;
        if entry.current > entry.trips {
            (entry.trips, entry.confidence) = (0, 0);
        }
        if taken != entry.usual {
            entry.end(taken);
        }
    }

    /// Bits in hardware.
    pub fn storage_bits(&self) -> u64 {
        (39 << B::LOOP_LOG) + 7
    }
}

impl LoopEntry {
    /// The branch went the unusual way.
    fn end(&mut self, taken: bool) {
        if self.current == self.trips {
            self.confidence = (self.confidence + 1).min(TOP);
            if self.trips < 3 {
                // Too short to be worth an entry.
                (self.usual, self.trips, self.age, self.confidence) = (taken, 0, 0, 0);
            }
        } else {
            self.confidence = 0;
            self.trips = if self.trips == 0 { self.current } else { 0 };
        }
        self.current = 0;
    }
}
