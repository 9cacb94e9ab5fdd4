//! ITTAGE: where does an indirect jump or call go, judged by tagged tables over geometric history lengths?
//!
//! A table without history and eight tables over the last 2 to 300 history bits, each with 1024 entries of a target, an
//! 11-bit tag, a 3-bit confidence and a 2-bit usefulness. The longest match predicts, unless it is weak and
//! the next one is surer. Three history bits per unconditional branch come from its address; a path register of 27
//! bits takes its target.
//!
//! Source: A. Seznec, "A 64-Kbytes ITTAGE indirect branch predictor" (JWAC-2, 2011), and the 64 KB predictor by the same
//! author published by INRIA under BSD-3 in the CBP2025 simulator (lib/ittage.h), whose parameters and order of
//! decisions this follows. Known limits, as there: conditional branches are neither in its history nor judged, even
//! where they are indirect (A32 has such). Checked: equal target by target to that program on the golden streams and on those
//! of random programs (`golden_ittage`). The program of 2011 is another, with 16 tables: docs/methodology/branches.md.

use super::tage::Tape;
use super::{PredictionKind, PredictorEntry, TargetMember, TargetPredictor};
use crate::trace::Branch;

/// The names of this family.
pub const ENTRIES: &[PredictorEntry] = &[PredictorEntry {
    name: "ittage",
    what: "INRIA's ITTAGE of 2018: targets of unconditional indirect branches, 9 tables of 1024, histories to 300 bits",
    source: "Seznec, JWAC-2, 2011; INRIA's program of 2018 (lib/ittage.h of CBP2025), not that of 2011",
    judges: &[PredictionKind::Target],
    make: || Box::new(TargetMember(Ittage::new())),
}];

/// History bits that each table sees; 2 * 150^(i/8) rounded, from the third on.
const LENGTHS: [usize; BANKS] = [0, 2, 7, 13, 24, 46, 86, 160, 300];
const BANKS: usize = 9;
const INDEX_BITS: u32 = 10;
const TAG_BITS: u32 = 11;
/// Bits of the register of targets.
const PATH_BITS: usize = 27;
/// History bits per branch.
const PUSHED: u32 = 3;
/// Misses without a free entry, less twice the entries found, at which all usefulness is halved.
const PATIENCE: i32 = 1024;
const USEFUL_MAX: u8 = 3;

#[derive(Clone, Copy)]
struct TargetEntry {
    target: u64,
    tag: u16,
    /// -4 to 3; above 0 is sure.
    confidence: i8,
    useful: u8,
}

/// A table that matched.
#[derive(Clone, Copy)]
struct Match {
    bank: usize,
    target: u64,
}

/// The 64 KB ITTAGE predictor.
pub struct Ittage {
    entries: Vec<TargetEntry>,
    history: Tape,
    /// History bits so far, as the generator of allocations counts them: downwards.
    pushed: i32,
    path: u32,
    /// Whether an unsure longest match yields to a surer one; -16 to 15, from 0 on it does.
    use_alternate: i8,
    pressure: i32,
    seed: i32,
    /// Of the branch being predicted.
    index: [usize; BANKS],
    tag: [u16; BANKS],
    longest: Option<Match>,
    alternate: Option<Match>,
}

impl Default for Ittage {
    fn default() -> Ittage {
        Ittage::new()
    }
}

impl Ittage {
    /// Untrained.
    pub fn new() -> Ittage {
        // What the tables say before anything was learnt decides some of the first predictions, so it is the source's.
        let entry = TargetEntry { target: 0xdead_beef, tag: 0, confidence: 0, useful: 0 };
        Ittage {
            entries: vec![entry; BANKS << INDEX_BITS],
            history: Tape::new(),
            pushed: 0,
            path: 0,
            use_alternate: 0,
            pressure: 0,
            seed: 0,
            index: [0; BANKS],
            tag: [0; BANKS],
            longest: None,
            alternate: None,
        }
    }

    fn hash(&mut self, pc: u64) {
        let pc = pc as u32;
        for (bank, &length) in LENGTHS.iter().enumerate() {
            let folded = self.history.fold(length, INDEX_BITS);
            let path = mix_path(self.path & ((1 << length.min(PATH_BITS)) - 1), bank as u32);
            let index = pc ^ pc >> (INDEX_BITS.abs_diff(bank as u32) + 1) ^ folded ^ path;
            self.index[bank] = bank << INDEX_BITS | (index & ((1 << INDEX_BITS) - 1)) as usize;
            let tag = pc ^ self.history.fold(length, TAG_BITS) ^ self.history.fold(length, TAG_BITS - 1) << 1;
            self.tag[bank] = (tag & ((1 << TAG_BITS) - 1)) as u16;
        }
    }

    /// The longest match among the first `banks` tables.
    fn find(&self, banks: usize) -> Option<Match> {
        (0..banks).rev().find_map(|bank| {
            let entry = &self.entries[self.index[bank]];
            (entry.tag == self.tag[bank]).then_some(Match { bank, target: entry.target })
        })
    }

    fn entry(&mut self, bank: usize) -> &mut TargetEntry {
        &mut self.entries[self.index[bank]]
    }

    fn confidence(&self, found: Match) -> i8 {
        self.entries[self.index[found.bank]].confidence
    }

    fn draw(&mut self) -> i32 {
        let seed = self.seed.wrapping_add(1) ^ self.path as i32;
        let seed = (seed >> 21).wrapping_add(seed << 11) ^ self.pushed;
        self.seed = (seed >> 10).wrapping_add(seed << 22);
        self.seed
    }

    /// Gives the branch entries in up to two longer tables.
    fn allocate(&mut self, target: u64) {
        let step = if self.draw() & 127 < 32 { 2 } else { 1 };
        let (mut found, mut refused) = (0, 0);
        let mut bank = self.longest.map_or(0, |longest| longest.bank + 1) + step - 1;
        while bank < BANKS && found < 2 {
            let tag = self.tag[bank];
            let entry = self.entry(bank);
            if entry.useful == 0 {
                (entry.tag, entry.target, entry.confidence) = (tag, target, 0);
                found += 1;
                bank += 2;
            } else {
                refused += 1;
                bank += 1;
            }
        }
        self.pressure = (self.pressure + refused - 2 * found).max(0);
        if self.pressure >= PATIENCE {
            self.entries.iter_mut().for_each(|entry| entry.useful >>= 1);
            self.pressure = 0;
        }
    }

    /// Whether the branch that was `predicted` wrongly or not should get an entry in a longer table; learns on the way
    /// whether new entries are to be trusted.
    fn wants_entry(&mut self, target: u64, predicted: u64) -> bool {
        let mut wants = predicted != target && self.longest.is_none_or(|longest| longest.bank < BANKS - 1);
        if let (Some(longest), Some(alternate)) = (self.longest, self.alternate)
            && self.confidence(longest) <= 0
        {
            wants &= longest.target != target;
            if longest.target != alternate.target && (longest.target == target || alternate.target == target)
            {
                step(&mut self.use_alternate, alternate.target == target, 15);
            }
        }
        wants
    }

    /// Moves confidence, usefulness and target of the tables that matched.
    fn learn(&mut self, target: u64) {
        let Some(longest) = self.longest else { return };
        let alternate = self.alternate;
        let right = longest.target == target;
        if !right
            && self.confidence(longest) <= 0
            && let Some(alternate) = alternate.filter(|alternate| alternate.target == target)
        {
            step(&mut self.entry(alternate.bank).confidence, true, 3);
        }
        let entry = self.entry(longest.bank);
        step(&mut entry.confidence, right, 3);
        if !right && entry.confidence < 0 {
            entry.target = target;
        }
        if right && longest.target != alternate.map_or(0, |alternate| alternate.target) {
            entry.useful = (entry.useful + 1).min(USEFUL_MAX);
        }
    }
}

impl TargetPredictor for Ittage {
    fn predict(&mut self, pc: u64) -> u64 {
        self.hash(pc);
        self.longest = self.find(BANKS);
        let Some(longest) = self.longest else {
            self.alternate = None;
            return 0;
        };
        self.alternate = self.find(longest.bank);
        let Some(alternate) = self.alternate else { return longest.target };
        let sure = self.confidence(longest);
        if self.use_alternate < 0 || sure > 0 || sure >= self.confidence(alternate) {
            longest.target
        } else {
            alternate.target
        }
    }

    fn train(&mut self, branch: &Branch, predicted: u64) {
        if self.wants_entry(branch.target, predicted) {
            self.allocate(branch.target);
        }
        self.learn(branch.target);
    }

    #[inline]
    fn track(&mut self, branch: &Branch) {
        if branch.class().is_conditional() {
            return;
        }
        let place = (branch.pc >> 2 ^ branch.pc >> 6) as u32;
        let went = (branch.target >> 2 ^ branch.target >> 6) as u32;
        // The lowest bit goes first, so it ends up as the oldest.
        let bits = place.reverse_bits() >> (32 - PUSHED);
        self.history.push(u64::from(bits), PUSHED);
        self.pushed = self.pushed.wrapping_sub(PUSHED as i32);
        for i in 0..PUSHED {
            self.path = self.path << 1 ^ (went >> i & 127);
        }
        self.path &= (1 << PATH_BITS) - 1;
    }

    fn storage_bits(&self) -> u64 {
        // A target counts 64 bits; hardware would keep fewer, with the region in a table of its own.
        let entries = self.entries.len() as u64 * (64 + u64::from(TAG_BITS) + 3 + 2);
        entries + LENGTHS[BANKS - 1] as u64 + PATH_BITS as u64 + 5 + 11
    }
}

/// One up or down, within -`top` - 1 to `top`.
fn step(counter: &mut i8, up: bool, top: i8) {
    *counter = if up { (*counter + 1).min(top) } else { (*counter - 1).max(-top - 1) };
}

/// The path register's part in the index of a table: its halves added with rotations that differ per table.
fn mix_path(path: u32, bank: u32) -> u32 {
    let rotate = |x: u32| {
        if bank < INDEX_BITS { (x << bank & ((1 << INDEX_BITS) - 1)) + (x >> (INDEX_BITS - bank)) } else { x }
    };
    rotate(path & ((1 << INDEX_BITS) - 1) ^ rotate(path >> INDEX_BITS))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all_useful(useful: u8) -> Ittage {
        let mut predictor = Ittage::new();
        predictor.entries.iter_mut().for_each(|entry| entry.useful = useful);
        predictor.hash(0x40_0000);
        predictor
    }

    #[test]
    fn misses_that_find_no_free_entry_halve_all_usefulness_at_last() {
        let mut predictor = all_useful(3);
        let mut misses = 0;
        while predictor.entries[0].useful == 3 {
            predictor.allocate(0x1234);
            misses += 1;
            assert!(misses < 1000);
        }
        // Eight or nine tables refuse each time, as the first may be passed over: 1024 in all.
        assert!((114..=128).contains(&misses), "{misses}");
        assert!(predictor.entries.iter().all(|entry| entry.useful == 1));
        assert_eq!(predictor.pressure, 0);
    }

    #[test]
    fn each_entry_found_takes_two_refusals_back() {
        let mut predictor = all_useful(0);
        predictor.pressure = 100;
        predictor.allocate(0x1234);
        assert_eq!(predictor.pressure, 96, "two entries");
        assert_eq!(predictor.entries.iter().filter(|entry| entry.target == 0x1234).count(), 2);
        predictor.pressure = 3;
        predictor.allocate(0x1234);
        assert_eq!(predictor.pressure, 0, "never below");
    }

    #[test]
    fn an_entry_is_useful_where_it_is_right_and_no_other_says_the_same() {
        let mut predictor = all_useful(0);
        predictor.entry(4).target = 0x10;
        predictor.longest = Some(Match { bank: 4, target: 0x10 });
        for useful in [1, 2, 3, 3] {
            predictor.learn(0x10);
            assert_eq!(predictor.entry(4).useful, useful, "nothing else matches");
        }
        predictor.entry(4).useful = 0;
        predictor.alternate = Some(Match { bank: 2, target: 0x10 });
        predictor.learn(0x10);
        assert_eq!(predictor.entry(4).useful, 0, "the other says the same");
        predictor.alternate = Some(Match { bank: 2, target: 0x20 });
        predictor.learn(0x20);
        assert_eq!(predictor.entry(4).useful, 0, "it is wrong");
        predictor.learn(0x10);
        assert_eq!(predictor.entry(4).useful, 1);
    }
}
