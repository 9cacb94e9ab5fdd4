//! The loop predictor: counts the iterations of loops that always have as many.
//!
//! Four ways, each indexed by another hash of the address. An entry is believed once it has seen the same number often
//! enough, more or less often the longer the loop is.

use super::component::nudge;

/// What is known of a loop.
#[derive(Clone, Copy, Default)]
struct LoopEntry {
    tag: u16,
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

/// A loop predictor with 2^LOG entries.
pub struct Loops {
    log: u32,
    entries: [LoopEntry; 32],
    worth: i8,
    places: [u8; 4],
    tag: u16,
    hit: Option<u8>,
    verdict: Option<bool>,
}

impl Loops {
    /// One that has seen nothing; `log` is 3 to 5.
    pub fn new(log: u32) -> Loops {
        Loops {
            log,
            entries: [LoopEntry::default(); 32],
            worth: -1,
            places: [0; 4],
            tag: 0,
            hit: None,
            verdict: None,
        }
    }

    /// The direction of the branch at `pc`, if it is believed to be that of a loop and loops have been worth it.
    #[inline(always)]
    pub fn predict(&mut self, pc: u64) -> Option<bool> {
        let mask = (1 << (self.log - 2)) - 1;
        let (low, high) = ((pc ^ pc >> 2) & mask, pc >> (self.log - 2));
        self.tag = ((high ^ high >> 10) & 1023) as u16;
        self.hit = None;
        self.verdict = None;
        for way in 0..4 {
            self.places[way] = ((low ^ (high & mask) >> way) << 2) as u8 + way as u8;
        }
        for way in 0..4 {
            let place = self.places[way];
            let entry = &self.entries[usize::from(place) % 32];
            if entry.tag == self.tag {
                self.hit = Some(place);
                let sure = entry.confidence == TOP || u16::from(entry.confidence) * entry.trips > 128;
                self.verdict = sure.then_some(entry.usual ^ (entry.current + 1 == entry.trips));
                break;
            }
        }
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
                    self.settle(usize::from(self.places[way as usize]) % 32, taken);
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
        *entry = LoopEntry { tag: self.tag, age: 7, usual: !taken, ..LoopEntry::default() };
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
        (39 << self.log) + 7
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
