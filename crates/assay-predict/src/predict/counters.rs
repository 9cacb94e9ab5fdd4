//! Two-bit counters: they saturate at 0 and 3, start at 2 and say taken from 2 on.
//!
//! Source: J. E. Smith, "A study of branch prediction strategies", ISCA 1981 (strategy 7).

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
}

/// The counter after an outcome, and in bit 7 whether this was mispredicted: the byte at bit (counter as kept) + 8 x outcome.
///
/// A shift and no table, since the next branch may wait for this counter; a shift by 64 or more is one by that much less.
const NEXT: u64 = {
    let mut next = 0;
    let mut at = 0;
    while at < 8 {
        let (counter, taken) = (at as u8 >> 1 ^ 2, at & 1 != 0);
        let wrong = (counter >= 2) != taken;
        next |= (((counted(counter, taken) ^ 2) << 4 | (wrong as u8) << 7) as u64) << (8 * at);
        at += 1;
    }
    next
};

impl<const ROOM: usize> Default for TwoBitCounters<ROOM> {
    fn default() -> Self {
        const { assert!(ROOM.is_power_of_two()) }
        TwoBitCounters { counters: zeros() }
    }
}

/// Made where they stay: as an array they would lie on the stack first, where the largest have no room.
pub(super) fn zeros<N: Copy + Default, const NUMBER: usize>() -> Box<[N; NUMBER]> {
    let zeros = vec![N::default(); NUMBER].into_boxed_slice();
    zeros.try_into().unwrap_or_else(|_| unreachable!("as many as were made"))
}

impl<const ROOM: usize> TwoBitCounters<ROOM> {
    /// A branch by the counter at this place: 1 if it was mispredicted, else 0. The outcome is that of a [`super::Block`].
    #[inline(always)]
    pub fn judge(&mut self, place: u32, outcome: u8) -> u8 {
        let counter = &mut self.counters[place as usize % ROOM];
        *counter = (NEXT >> ((*counter | outcome) & 63)) as u8;
        *counter >> 7
    }
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
