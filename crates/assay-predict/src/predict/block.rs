//! Conditional branches in blocks of 64: all that predictors without a path or targets look at.
//!
//! A simulation knows outcomes ahead of predictions. So what follows from outcomes and addresses alone (histories, places
//! in tables) is computed for a block in vectors, and only what waits for counters is done branch by branch. Which branches
//! were mispredicted is a word of bits: a site's count is touched where one was, not at every branch.

use super::widest::{Pass, widest};
use crate::trace::Branch;
use std::ops::Range;

/// Branches of a block.
pub const BLOCK: usize = 64;

/// Conditional branches in a row.
#[derive(Clone, Debug)]
pub struct Block {
    /// The low 31 bits of each one's address, which is more than any table is indexed by.
    pub addresses: [u32; BLOCK],
    /// 8 for one that was taken, else 0: what [`super::counters`] shift by.
    pub outcomes: [u8; BLOCK],
    /// The outcomes as bits, the first one's highest; 0 behind the last.
    pub taken: u64,
    /// How many they are, at most [`BLOCK`].
    pub number: usize,
}

/// Predicts which way conditional branches go, from these branches alone.
pub trait BlockPredictor {
    /// Predicts and learns one branch after the other. A bit for each that was mispredicted, the first one's highest.
    fn judge(&mut self, block: &Block) -> u64;

    /// What the tables and registers would take in hardware, bits; 0 for a static rule.
    fn storage_bits(&self) -> u64;
}

/// What a block needs to know of a branch: its address x 2, plus 1 if it was taken.
#[inline(always)]
pub(super) fn key(pc: u64, taken: bool) -> u32 {
    (pc as u32) << 1 | u32::from(taken)
}

/// Writes the key of each of as many. Eight at once: one by one they took 0.2 ns more each.
#[inline(always)]
pub(super) fn write_keys<T: Copy>(keys: &mut [u32], of: &[T], key: impl Fn(T) -> u32) {
    let (eights, rest) = keys.as_chunks_mut::<8>();
    let (of_eights, of_rest) = of.as_chunks::<8>();
    for (keys, of) in eights.iter_mut().zip(of_eights) {
        *keys = of.map(&key);
    }
    for (place, of) in rest.iter_mut().zip(of_rest) {
        *place = key(*of);
    }
}

/// Conditional branches on their way to members, as their source has them.
#[derive(Clone, Copy, Debug)]
pub(super) enum ConditionalStretch<'a> {
    /// Among other branches, at these places. Each member reads them for itself, a block at a time: to write keys for all
    /// members while branches are counted took 0.8 ns a branch, half of it for lines of the first-level cache.
    Placed(&'a [Branch], &'a [u16]),
    /// Events as in [`super::Steps`], and the [`key`] of each.
    Events(&'a [u32], &'a [u32]),
}

/// What is needed of a stretch.
trait BlockSource: Copy {
    fn number(&self) -> usize;

    /// Puts what [`BlockSource::keys`] of this block needs into `room`, while the block before it is not judged yet: what
    /// was just written one by one is not there to be read as vectors.
    fn prepare(&self, block: &Range<usize>, room: &mut [u32; BLOCK]);

    /// Keys of a block's branches.
    fn keys<'a>(&'a self, block: &Range<usize>, room: &'a [u32; BLOCK]) -> &'a [u32; BLOCK];

    fn site(&self, nth: usize) -> usize;
}

#[derive(Clone, Copy)]
struct PlacedBranches<'a>(&'a [Branch], &'a [u16]);

impl BlockSource for PlacedBranches<'_> {
    #[inline(always)]
    fn number(&self) -> usize {
        self.1.len()
    }

    #[inline(always)]
    fn prepare(&self, block: &Range<usize>, room: &mut [u32; BLOCK]) {
        write_keys(&mut room[..block.len()], &self.1[block.clone()], |place| {
            let branch = &self.0[usize::from(place)];
            key(branch.pc, branch.taken())
        });
    }

    #[inline(always)]
    fn keys<'a>(&'a self, _: &Range<usize>, room: &'a [u32; BLOCK]) -> &'a [u32; BLOCK] {
        room
    }

    #[inline(always)]
    fn site(&self, nth: usize) -> usize {
        self.0[usize::from(self.1[nth])].site as usize
    }
}

#[derive(Clone, Copy)]
struct KeyedEvents<'a>(&'a [u32], &'a [u32]);

impl BlockSource for KeyedEvents<'_> {
    #[inline(always)]
    fn number(&self) -> usize {
        self.0.len()
    }

    #[inline(always)]
    fn prepare(&self, block: &Range<usize>, room: &mut [u32; BLOCK]) {
        if block.len() < BLOCK {
            room[..block.len()].copy_from_slice(&self.1[block.clone()]);
        }
    }

    #[inline(always)]
    fn keys<'a>(&'a self, block: &Range<usize>, room: &'a [u32; BLOCK]) -> &'a [u32; BLOCK] {
        <&[u32; BLOCK]>::try_from(&self.1[block.clone()]).unwrap_or(room)
    }

    #[inline(always)]
    fn site(&self, nth: usize) -> usize {
        (self.0[nth] >> 1) as usize
    }
}

impl Block {
    /// Of these branches, at most [`BLOCK`], by their addresses and whether they were taken.
    pub fn new(branches: impl IntoIterator<Item = (u64, bool)>) -> Block {
        let (mut keys, mut number) = ([0; BLOCK], 0);
        for (pc, taken) in branches {
            keys[number] = key(pc, taken);
            number += 1;
        }
        Block::of(&keys, number)
    }

    /// Of the first `number` branches of those that have these keys.
    #[inline(always)]
    fn of(keys: &[u32; BLOCK], number: usize) -> Block {
        let outcomes = keys.map(|key| (key << 3) as u8 & 8);
        let mut taken = 0;
        for eight in outcomes.as_chunks::<8>().0 {
            // Bits 0, 8, .. 56 become bits 63, 62, .. 56: no two products of a bit and a bit are at one place.
            let bits = (u64::from_le_bytes(*eight) >> 3).wrapping_mul(0x8040_2010_0804_0201) >> 56;
            taken = taken << 8 | bits;
        }
        if number < BLOCK {
            taken &= !(u64::MAX >> number);
        }
        Block { addresses: keys.map(|key| key >> 1), outcomes, taken, number }
    }

    /// The 24 outcomes before each branch or more, the newest lowest, where `before` are those before the block. Without the
    /// newest `without`, fewer than 64.
    #[inline(always)]
    pub fn histories(&self, before: u64, without: u32) -> [u32; BLOCK] {
        let mut histories = [0; BLOCK];
        let mut all = u128::from(before) << 64 | u128::from(self.taken);
        all >>= without;
        let (mut history, mut taken) = ((all >> 64) as u32, all as u64);
        for eight in histories.as_chunks_mut::<8>().0 {
            history = history << 8 | (taken >> 56) as u32;
            taken <<= 8;
            for (nth, place) in eight.iter_mut().enumerate() {
                *place = history >> (8 - nth);
            }
        }
        histories
    }

    /// The outcomes after the block, the newest lowest, where `before` are those before it.
    #[inline(always)]
    pub fn history_after(&self, before: u64) -> u64 {
        if self.number == BLOCK {
            self.taken
        } else {
            // Shifted twice, as there may be none.
            before << self.number | self.taken >> 1 >> (BLOCK - 1 - self.number)
        }
    }

    /// Asks for each branch in turn, by its number and outcome: 1 if it is mispredicted, else 0?
    #[inline(always)]
    pub fn for_each(&self, mut judge: impl FnMut(usize, u8) -> u8) -> u64 {
        let mut wrong = 0;
        let mut first = 0;
        // Eight at once, without asking whether there are more.
        while first + 8 <= self.number {
            for nth in first..first + 8 {
                wrong = wrong << 1 | u64::from(judge(nth, self.outcomes[nth % BLOCK]));
            }
            first += 8;
        }
        for nth in first..self.number {
            wrong = wrong << 1 | u64::from(judge(nth, self.outcomes[nth % BLOCK]));
        }
        self.first_highest(wrong)
    }

    /// Bits of all branches, the last one's lowest, as a word in which the first one's is highest.
    #[inline(always)]
    pub fn first_highest(&self, bits: u64) -> u64 {
        if self.number == 0 { 0 } else { bits << (BLOCK - self.number) }
    }
}

impl ConditionalStretch<'_> {
    /// Has a predictor judge them all, and adds one to `missed[site]` for each misprediction.
    pub(super) fn judge<P: BlockPredictor>(self, predictor: &mut P, missed: &mut [u64]) {
        match self {
            Self::Placed(branches, places) => {
                widest(JudgePass { predictor, conditionals: PlacedBranches(branches, places), missed });
            }
            Self::Events(events, keys) => {
                widest(JudgePass { predictor, conditionals: KeyedEvents(events, keys), missed });
            }
        }
    }
}

/// A predictor over a stretch.
struct JudgePass<'a, P, C> {
    predictor: &'a mut P,
    conditionals: C,
    missed: &'a mut [u64],
}

impl<P: BlockPredictor, C: BlockSource> Pass for JudgePass<'_, P, C> {
    #[inline(always)]
    fn run(self) {
        let JudgePass { predictor, conditionals, missed } = self;
        let all = conditionals.number();
        let (mut room, mut next) = ([0; BLOCK], 0..all.min(BLOCK));
        conditionals.prepare(&next, &mut room);
        while !next.is_empty() {
            let these = next;
            let block = Block::of(conditionals.keys(&these, &room), these.len());
            next = these.end..all.min(these.end + BLOCK);
            conditionals.prepare(&next, &mut room);
            let mut wrong = predictor.judge(&block);
            while wrong != 0 {
                let nth = wrong.leading_zeros() as usize;
                missed[conditionals.site(these.start + nth)] += 1;
                wrong &= !(1 << (BLOCK - 1) >> nth);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::BranchClass;

    fn outcomes(number: usize) -> Vec<bool> {
        (0..number).map(|nth| nth * nth % 7 < 3 || nth % 11 == 4).collect()
    }

    /// The newest lowest.
    fn as_bits(outcomes: &[bool]) -> u64 {
        outcomes.iter().fold(0, |bits, taken| bits << 1 | u64::from(*taken))
    }

    #[test]
    fn histories_are_what_shifting_outcome_by_outcome_gives() {
        let all = outcomes(64 + 64);
        let before = as_bits(&all[..64]);
        for number in [0, 1, 7, 8, 9, 33, 63, 64] {
            let block = Block::new(all[64..64 + number].iter().map(|taken| (0x1234, *taken)));
            assert_eq!(
                (block.number, block.taken.count_ones()),
                (number, as_bits(&all[64..64 + number]).count_ones())
            );
            assert_eq!(block.history_after(before), as_bits(&all[number..64 + number]));
            for without in [0, 1, 8, 44, 63] {
                let histories = block.histories(before, without);
                for nth in 0..number {
                    let expected = u128::from(before) << nth | u128::from(as_bits(&all[64..64 + nth]));
                    let differ = histories[nth] ^ (expected >> without) as u32;
                    assert_eq!(differ << 8, 0, "{nth} of {number} without {without}");
                }
            }
        }
    }

    #[test]
    fn each_branch_is_asked_for_once_and_in_order_and_the_first_has_the_highest_bit() {
        for number in [0, 1, 7, 8, 9, 63, 64] {
            let expected = outcomes(number);
            let block = Block::new(expected.iter().map(|taken| (0, *taken)));
            let mut asked = Vec::new();
            let wrong = block.for_each(|nth, outcome| {
                asked.push((nth, outcome));
                outcome >> 3
            });
            let expected: Vec<_> = expected.iter().map(|taken| u8::from(*taken) * 8).enumerate().collect();
            assert_eq!(asked, expected);
            assert_eq!(wrong, block.taken);
        }
    }

    /// Errs at the branches that are not taken.
    struct Optimist;

    impl BlockPredictor for Optimist {
        fn judge(&mut self, block: &Block) -> u64 {
            block.for_each(|_, outcome| 1 - (outcome >> 3))
        }

        fn storage_bits(&self) -> u64 {
            0
        }
    }

    #[test]
    fn mispredictions_are_counted_at_their_sites_in_both_forms_however_long() {
        for number in [0, 1, 63, 64, 65, 128, 200] {
            let outcomes = outcomes(number);
            let branch = |nth: usize| {
                Branch::new(nth as u64, 0, nth as u32 % 5, BranchClass::CONDITIONAL, outcomes[nth], 1)
            };
            let branches: Vec<Branch> = (0..number).map(branch).collect();
            let places: Vec<u16> = (0..number as u16).collect();
            let events: Vec<u32> = branches.iter().map(|of| of.site << 1 | u32::from(of.taken())).collect();
            let keys: Vec<u32> = branches.iter().map(|of| key(of.pc, of.taken())).collect();
            let mut expected = [0; 5];
            for branch in branches.iter().filter(|branch| !branch.taken()) {
                expected[branch.site as usize] += 1;
            }
            let counted = |stretch: ConditionalStretch<'_>| {
                let mut missed = [0; 5];
                stretch.judge(&mut Optimist, &mut missed);
                missed
            };
            assert_eq!(counted(ConditionalStretch::Placed(&branches, &places)), expected);
            assert_eq!(counted(ConditionalStretch::Events(&events, &keys)), expected);
        }
    }
}
