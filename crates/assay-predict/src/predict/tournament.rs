//! A local and a global predictor, and a third that says whom to believe: the Alpha 21264.
//!
//! Source: R. E. Kessler, "The Alpha 21264 microprocessor", IEEE Micro 19(2), 1999: local, 1024 histories of 10 outcomes
//! and 1024 three-bit counters; global, 4096 two-bit counters by the last 12 outcomes of all conditional branches;
//! choice, 4096 two-bit counters by the same. The paper leaves open how the counters start: ours start in the middle,
//! inclined to taken and to the global side.
//! Known limits: the 21264 indexes histories by pc / 4, we by pc ^ pc >> 2, since x86 has branches at any address.

use super::block::{BLOCK, Block, BlockPredictor, MISSED};
use super::counters::counted;
use super::histories::OwnHistories;
use super::{Conditionals, PredictionKind, PredictorEntry};

/// The names of this family.
pub const ENTRIES: &[PredictorEntry] = &[PredictorEntry {
    name: "tournament",
    what: "Alpha 21264: local 1024 x 10 outcomes and 1024 x 3 bits, global and choice 4096 x 2 bits by 12 outcomes",
    source: "Kessler, IEEE Micro 19(2), 1999",
    judges: &[PredictionKind::Direction],
    make: || Box::new(Conditionals(Tournament::default())),
}];

const LOCAL_BITS: u32 = 10;
const LOCAL: usize = 1 << LOCAL_BITS;
const GLOBAL_BITS: u32 = 12;
const GLOBAL: usize = 1 << GLOBAL_BITS;

/// Local against global.
#[derive(Clone, Debug)]
pub struct Tournament {
    histories: OwnHistories,
    /// In bits 2:0.
    local: Box<[u8; LOCAL]>,
    /// Choice and global counter, which share their index, in bits 7:6 and 5:4. From 2 on the choice believes the global side.
    sides: Box<[u8; GLOBAL]>,
    path: u64,
}

impl Default for Tournament {
    fn default() -> Tournament {
        Tournament {
            histories: OwnHistories::new(LOCAL as u32),
            local: Box::new([4; LOCAL]),
            sides: Box::new([(2 * 4 + 2) << 4; GLOBAL]),
            path: 0,
        }
    }
}

/// All that follows from choice, global counter, local counter and outcome, by the sides, the local counter and the outcome
/// as they are kept, or-ed: bits 7:0 the sides after it, bits 15:8 the local counter after it, bits 23:16 whether that was
/// mispredicted.
///
/// A look-up and no branch: one on the choice would be mispredicted where the simulated machine is.
static NEXT: [u32; 256] = {
    let mut next = [0; 256];
    let mut at = 0;
    while at < 256 {
        let (choice, global) = (at as u8 >> 6, at as u8 >> 4 & 3);
        let (sides, local, wrong) = followed(choice, global, at as u8 & 7, at & 8 != 0);
        next[at] = (wrong as u32 * MISSED as u32) << 16 | (local as u32) << 8 | (sides as u32) << 4;
        at += 1;
    }
    next
};

/// Choice x 4 + global counter and the local counter after an outcome, and whether it was mispredicted.
const fn followed(choice: u8, global: u8, local: u8, taken: bool) -> (u8, u8, bool) {
    let (local_says, global_says) = (local >= 4, global >= 2);
    let says = if choice >= 2 { global_says } else { local_says };
    // The choice moves where the sides differ, toward the one that was right.
    let choice = if local_says != global_says { counted(choice, global_says == taken) } else { choice };
    let local = match taken {
        true if local == 7 => 7,
        true => local + 1,
        false => local.saturating_sub(1),
    };
    (choice * 4 + counted(global, taken), local, says != taken)
}

impl BlockPredictor for Tournament {
    #[inline(always)]
    fn judge(&mut self, block: &Block, missed: &mut [u8; BLOCK]) {
        let (places, paths) = (self.histories.places(block), block.histories(self.path, 0));
        self.path = block.history_after(self.path);
        block.for_each(missed, |nth, outcome| {
            let own = self.histories.before(places[nth], outcome);
            let local = &mut self.local[usize::from(own) % LOCAL];
            let sides = &mut self.sides[paths[nth] as usize % GLOBAL];
            let next = NEXT[usize::from(*sides | *local | outcome)];
            *sides = next as u8;
            *local = (next >> 8) as u8;
            (next >> 16) as u8
        });
    }

    fn storage_bits(&self) -> u64 {
        let local = LOCAL as u64 * (u64::from(LOCAL_BITS) + 3);
        local + 2 * 2 * GLOBAL as u64 + u64::from(GLOBAL_BITS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_bits_count_by_one_and_saturate() {
        let next = |taken| [0, 1, 2, 3, 4, 5, 6, 7].map(|local| followed(0, 0, local, taken).1);
        assert_eq!(next(true), [1, 2, 3, 4, 5, 6, 7, 7]);
        assert_eq!(next(false), [0, 0, 1, 2, 3, 4, 5, 6]);
    }

    #[test]
    fn the_choice_moves_only_where_the_sides_differ() {
        let choices =
            |global, local, taken| [0, 1, 2, 3].map(|choice| followed(choice, global, local, taken).0 / 4);
        assert_eq!(choices(3, 4, true), [0, 1, 2, 3]);
        assert_eq!(choices(2, 7, false), [0, 1, 2, 3]);
        assert_eq!(choices(0, 3, true), [0, 1, 2, 3]);
        assert_eq!(choices(2, 3, true), [1, 2, 3, 3], "toward the global side, which was right");
        assert_eq!(choices(1, 4, false), [1, 2, 3, 3]);
        assert_eq!(choices(2, 3, false), [0, 0, 1, 2], "toward the local side");
        assert_eq!(choices(1, 4, true), [0, 0, 1, 2]);
    }

    #[test]
    fn the_choice_decides_who_is_believed() {
        // Where it is not taken, to say taken is wrong.
        let says = |choice, global, local| followed(choice, global, local, false).2;
        assert_eq!([0, 1, 2, 3].map(|choice| says(choice, 2, 3)), [false, false, true, true]);
        assert_eq!([0, 1, 2, 3].map(|choice| says(choice, 1, 4)), [true, true, false, false]);
    }
}
