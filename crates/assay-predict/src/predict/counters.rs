//! Two-bit counters: they saturate at 0 and 3, start at 2 and say taken from 2 on.
//!
//! Source: J. E. Smith, "A study of branch prediction strategies", ISCA 1981 (strategy 7).
//!
//! A counter that is sure and right stays as it is. Where eight in a row are, nothing is written: a loop's next branch would
//! else wait for what its last one wrote to the same counter, 2 to 3 ns. Whether to look for that is tried by blocks.

use super::block::{BLOCK, Block, MISSED};

/// A two-bit counter after one more outcome.
pub(super) const fn counted(counter: u8, taken: bool) -> u8 {
    if !taken {
        counter.saturating_sub(1)
    } else if counter == 3 {
        3
    } else {
        counter + 1
    }
}

/// The bits of an address that tell branches apart: instructions of four bytes leave the two lowest at 0.
#[inline(always)]
pub(super) fn address_bits(pc: u64) -> usize {
    (pc ^ pc >> 2) as usize
}

/// Room for as many counters as `ROOM`, a power of two. How many of them there are is the business of who finds their
/// places: with room for 2^16 a place of 16 bits needs no check.
#[derive(Clone, Debug)]
pub struct TwoBitCounters<const ROOM: usize> {
    /// Counter xor 2 in bits 5:4, so that room which is never used is never written; bit 7 means nothing.
    counters: Box<[u8; ROOM]>,
    /// In how many blocks it is tried again whether most counters are sure and right.
    calm_in: usize,
    /// How many they were at first.
    unsure: usize,
    /// A counter may have changed since it was last asked.
    moved: bool,
}

/// Blocks that are judged branch by branch without a try, at most.
const UNSURE: usize = 16;

/// Bits of a counter.
const COUNTER: u8 = 0x30;

/// The counter after an outcome, and in bit 7 whether this was mispredicted: the byte at bit (counter as kept) + 8 x outcome.
///
/// A shift and no table, since the next branch may wait for this counter; a shift by 64 or more is one by that much less.
const NEXT: u64 = {
    let mut next = 0;
    let mut at = 0;
    while at < 8 {
        let (counter, taken) = (at as u8 >> 1 ^ 2, at & 1 != 0);
        let wrong = (counter >= 2) != taken;
        let byte = (counted(counter, taken) ^ 2) << 4 | if wrong { MISSED } else { 0 };
        next |= (byte as u64) << (8 * at);
        at += 1;
    }
    next
};

impl<const ROOM: usize> Default for TwoBitCounters<ROOM> {
    fn default() -> Self {
        const { assert!(ROOM.is_power_of_two()) }
        TwoBitCounters { counters: zeros(), calm_in: 0, unsure: 0, moved: false }
    }
}

/// Made where they stay: as an array they would lie on the stack first, where the largest have no room.
pub(super) fn zeros<N: Copy + Default, const NUMBER: usize>() -> Box<[N; NUMBER]> {
    let zeros = vec![N::default(); NUMBER].into_boxed_slice();
    zeros.try_into().unwrap_or_else(|_| unreachable!("as many as were made"))
}

impl<const ROOM: usize> TwoBitCounters<ROOM> {
    /// A branch by the counter at this place, with an outcome of a [`Block`]: the byte that says whether it was mispredicted.
    #[inline(always)]
    pub fn judge_one(&mut self, place: u32, outcome: u8) -> u8 {
        count(&mut self.counters[place as usize % ROOM], outcome)
    }

    /// Whether no counter of a block changed since this was last asked, as far as it is known.
    #[inline(always)]
    pub fn rest(&mut self) -> bool {
        !std::mem::take(&mut self.moved)
    }

    /// A block's branches, each by the counter at its place.
    #[inline(always)]
    pub fn judge(&mut self, places: &[u32; BLOCK], block: &Block, missed: &mut [u8; BLOCK]) {
        // Once, and not behind `self` for each branch: their bytes may be anything's.
        let counters = &mut *self.counters;
        let calm = self.calm_in == 0;
        let sure = block.outcomes.map(|outcome| 0x20 - 2 * outcome);
        let (places_of, sure_of, outcomes_of) =
            (places.as_chunks::<8>().0, sure.as_chunks::<8>().0, block.outcomes.as_chunks::<8>().0);
        let missed_of = missed.as_chunks_mut::<8>().0;
        let mut moved = 0;
        for eight in 0..block.number / 8 {
            let (places, missed) = (&places_of[eight], &mut missed_of[eight]);
            if calm {
                let sure = &sure_of[eight];
                let differ =
                    (0..8).fold(0, |differ, nth| differ | counters[places[nth] as usize % ROOM] ^ sure[nth]);
                if differ & COUNTER == 0 {
                    *missed = [0; 8];
                    continue;
                }
            }
            moved += 1;
            let outcomes = &outcomes_of[eight];
            for nth in 0..8 {
                missed[nth] = count(&mut counters[places[nth] as usize % ROOM], outcomes[nth]);
            }
        }
        self.moved |= moved > 0;
        for nth in block.number & !7..block.number {
            let counter = &mut counters[places[nth] as usize % ROOM];
            let before = *counter;
            missed[nth] = count(counter, block.outcomes[nth]);
            self.moved |= (before ^ *counter) & COUNTER != 0;
        }
        if !calm {
            self.calm_in -= 1;
        } else {
            // Twice as many blocks as last time, where few counters were.
            self.unsure = if moved > block.number / 16 { (2 * self.unsure).clamp(1, UNSURE) } else { 0 };
            self.calm_in = self.unsure;
        }
    }
}

/// A branch by its counter: the byte that says whether it was mispredicted.
#[inline(always)]
fn count(counter: &mut u8, outcome: u8) -> u8 {
    let next = (NEXT >> ((*counter | outcome) & 63)) as u8;
    *counter = next;
    next
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counter_moves_by_one_and_saturates() {
        assert_eq!([0, 1, 2, 3].map(|counter| counted(counter, true)), [1, 2, 3, 3]);
        assert_eq!([0, 1, 2, 3].map(|counter| counted(counter, false)), [0, 0, 1, 2]);
    }
}
