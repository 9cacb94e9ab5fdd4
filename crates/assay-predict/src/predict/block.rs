//! Conditional branches in blocks of 64: all that predictors without a path or targets look at.
//!
//! A simulation knows outcomes ahead of predictions. So what follows from outcomes and addresses alone (histories, places
//! in tables) is computed for a block in vectors, and only what waits for counters is done branch by branch. Which branches
//! were mispredicted is a byte of each, so that it is counted in vectors, too.

/// Branches of a block.
pub const BLOCK: usize = 64;

/// The bit that says that a branch was mispredicted.
pub const MISSED: u8 = 0x80;

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
    /// Predicts and learns one branch after the other. Of each, [`MISSED`] says in `missed` whether it was mispredicted; other bits,
    /// and what is behind the last one, mean nothing.
    fn judge(&mut self, block: &Block, missed: &mut [u8; BLOCK]);

    /// Whether it knows that since this was last asked nothing was mispredicted, and that it is in the state in which it was then: the
    /// same branches again would change nothing.
    fn rests(&mut self) -> bool {
        false
    }

    /// What the tables and registers would take in hardware, bits; 0 for a static rule.
    fn storage_bits(&self) -> u64;
}

/// What a block needs to know of a branch: its address x 2, plus 1 if it was taken.
#[inline(always)]
pub(super) fn key(pc: u64, taken: bool) -> u32 {
    (pc as u32) << 1 | u32::from(taken)
}

/// Its outcome as a block has it.
#[inline(always)]
pub(super) fn outcome(key: u32) -> u8 {
    (key << 3) as u8 & 8
}

impl Block {
    /// Of these branches, at most [`BLOCK`], by their addresses and whether they were taken.
    pub fn new(branches: impl IntoIterator<Item = (u64, bool)>) -> Block {
        let (mut keys, mut number) = ([0; BLOCK], 0);
        for (pc, taken) in branches {
            keys[number] = key(pc, taken);
            number += 1;
        }
        let mut block = Block::EMPTY;
        block.fill(&keys, number);
        block
    }

    /// None yet.
    pub(super) const EMPTY: Block =
        Block { addresses: [0; BLOCK], outcomes: [0; BLOCK], taken: 0, number: 0 };

    /// Makes it one of the first `number` branches of those that have these keys.
    #[inline(always)]
    pub(super) fn fill(&mut self, keys: &[u32; BLOCK], number: usize) {
        let outcomes = keys.map(outcome);
        let mut taken = 0;
        for eight in outcomes.as_chunks::<8>().0 {
            taken = taken << 8 | together(u64::from_le_bytes(*eight) >> 3);
        }
        for (address, key) in self.addresses.iter_mut().zip(keys) {
            *address = key >> 1;
        }
        (self.outcomes, self.taken) = (outcomes, taken);
        if number < BLOCK {
            self.taken &= !(u64::MAX >> number);
        }
        self.number = number;
    }

    /// The 24 outcomes before each branch or more, the newest lowest, where `before` are those before the block. Without the
    /// newest `without`, fewer than 64.
    #[inline(always)]
    pub fn histories(&self, before: u64, without: u32) -> [u32; BLOCK] {
        let mut histories = [0; BLOCK];
        let all = (u128::from(before) << 64 | u128::from(self.taken)) >> without;
        let (before, taken) = ((all >> 64) as u32, all as u64);
        for (eight, places) in histories.as_chunks_mut::<8>().0.iter_mut().enumerate() {
            // Until behind the eighth. Not one shift of both words: processors of AMD take long for it.
            let behind = 8 * (eight as u32 + 1);
            let history = before.unbounded_shl(behind) | (taken >> (64 - behind)) as u32;
            *places = std::array::from_fn(|nth| history >> (8 - nth));
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

    /// Asks for each branch in turn, by its number and outcome, for the byte that says whether it is mispredicted.
    #[inline(always)]
    pub fn for_each(&self, missed: &mut [u8; BLOCK], mut judge: impl FnMut(usize, u8) -> u8) {
        let (eights, outcomes) = (missed.as_chunks_mut::<8>().0, self.outcomes.as_chunks::<8>().0);
        for (eight, (missed, outcomes)) in eights.iter_mut().zip(outcomes).enumerate() {
            // Eight at once, without asking whether there are more.
            let left = self.number.saturating_sub(8 * eight);
            if left >= 8 {
                for nth in 0..8 {
                    missed[nth] = judge(8 * eight + nth, outcomes[nth]);
                }
            } else {
                for nth in 0..left {
                    missed[nth % 8] = judge(8 * eight + nth, outcomes[nth % 8]);
                }
                break;
            }
        }
    }

    /// A bit for each that was mispredicted, the first one's highest.
    #[inline(always)]
    pub fn missed(&self, missed: &[u8; BLOCK]) -> u64 {
        let mut bits = 0;
        for eight in missed.as_chunks::<8>().0 {
            bits = bits << 8 | together(u64::from_le_bytes(*eight) >> 7);
        }
        bits & !u64::MAX.checked_shr(self.number as u32).unwrap_or(0)
    }
}

/// The lowest bits of eight bytes, that of the lowest byte highest.
#[inline(always)]
fn together(bytes: u64) -> u64 {
    // Bits 0, 8, .. 56 become bits 63, 62, .. 56: no two products of a bit and a bit are at one place.
    (bytes & 0x0101_0101_0101_0101).wrapping_mul(0x8040_2010_0804_0201) >> 56
}

#[cfg(test)]
mod tests {
    use super::*;

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
            let (mut asked, mut missed) = (Vec::new(), [u8::MAX; BLOCK]);
            block.for_each(&mut missed, |nth, outcome| {
                asked.push((nth, outcome));
                // The other bits mean nothing.
                outcome << 4 | 0x55
            });
            let expected: Vec<_> = expected.iter().map(|taken| u8::from(*taken) * 8).enumerate().collect();
            assert_eq!(asked, expected);
            assert_eq!(block.missed(&missed), block.taken);
        }
    }
}
