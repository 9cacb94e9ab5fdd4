//! A local and a global predictor, and a third that says whom to believe: the Alpha 21264.
//!
//! Source: R. E. Kessler, "The Alpha 21264 microprocessor", IEEE Micro 19(2), 1999: local, 1024 histories of 10 outcomes
//! and 1024 three-bit counters; global, 4096 two-bit counters by the last 12 outcomes of all conditional branches;
//! choice, 4096 two-bit counters by the same. The paper leaves open how the counters start: ours start in the middle,
//! inclined to taken and to the global side.
//! Known limits: the 21264 indexes histories by pc / 4, we by pc ^ pc >> 2, since x86 has branches at any address.

use super::bimodal::{address_bits, counted};
use super::{Conditionals, DirectionPredictor, PredictionKind, PredictorEntry};
use crate::trace::Branch;

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
    tables: Box<TournamentTables>,
    path: usize,
}

#[derive(Clone, Debug)]
struct TournamentTables {
    histories: [u16; LOCAL],
    local: [u8; LOCAL],
    /// Choice and global counter, which share their index: choice x 4 + global. From 2 on the choice believes the
    /// global side.
    sides: [u8; GLOBAL],
}

impl Default for Tournament {
    fn default() -> Tournament {
        let tables =
            TournamentTables { histories: [0; LOCAL], local: [4; LOCAL], sides: [2 * 4 + 2; GLOBAL] };
        Tournament { tables: Box::new(tables), path: 0 }
    }
}

/// All that follows from choice, global counter, local counter and outcome, by sides x 16 + local counter x 2 + taken:
/// bits 3:0 the sides after it, bits 10:8 the local counter after it, bit 15 what was predicted.
///
/// A look-up and no branch: one on the choice would be mispredicted where the simulated machine is.
const NEXT: [u16; 256] = {
    let mut next = [0; 256];
    let mut at = 0;
    while at < 256 {
        let (choice, global) = (at as u8 >> 6, at as u8 >> 4 & 3);
        next[at] = followed(choice, global, at as u8 >> 1 & 7, at & 1 != 0);
        at += 1;
    }
    next
};

/// An element of [`NEXT`].
const fn followed(choice: u8, global: u8, local: u8, taken: bool) -> u16 {
    let (local_says, global_says) = (local >= 4, global >= 2);
    let says = if choice >= 2 { global_says } else { local_says };
    // The choice moves where the sides differ, toward the one that was right.
    let choice = if local_says != global_says { counted(choice, global_says == taken) } else { choice };
    let local = match taken {
        true if local == 7 => 7,
        true => local + 1,
        false => local.saturating_sub(1),
    };
    let sides = choice * 4 + counted(global, taken);
    (says as u16) << 15 | (local as u16) << 8 | sides as u16
}

impl Tournament {
    /// Where the branch's history is, and where that history's counter is.
    #[inline]
    fn local(&self, pc: u64) -> (usize, usize) {
        let at = address_bits(pc) % LOCAL;
        (at, usize::from(self.tables.histories[at]) % LOCAL)
    }

    /// Where in [`NEXT`] the branch is if it is not taken.
    #[inline]
    fn state(&self, pc: u64) -> u8 {
        let (_, history) = self.local(pc);
        self.tables.sides[self.path % GLOBAL] << 4 | self.tables.local[history] << 1
    }
}

impl DirectionPredictor for Tournament {
    #[inline(always)]
    fn predict(&mut self, pc: u64, _: u64) -> bool {
        NEXT[usize::from(self.state(pc))] >> 15 != 0
    }

    #[inline(always)]
    fn train(&mut self, branch: &Branch, _: bool) {
        let next = NEXT[usize::from(self.state(branch.pc) | u8::from(branch.taken()))];
        let (_, history) = self.local(branch.pc);
        self.tables.sides[self.path % GLOBAL] = next as u8;
        self.tables.local[history] = (next >> 8) as u8 & 7;
    }

    #[inline(always)]
    fn track(&mut self, branch: &Branch) {
        if branch.class().is_conditional() {
            let (at, history) = self.local(branch.pc);
            self.tables.histories[at] = (history << 1 | usize::from(branch.taken())) as u16;
            self.path = self.path << 1 | usize::from(branch.taken());
        }
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
        let next = |taken| [0, 1, 2, 3, 4, 5, 6, 7].map(|local| followed(0, 0, local, taken) >> 8 & 0x7f);
        assert_eq!(next(true), [1, 2, 3, 4, 5, 6, 7, 7]);
        assert_eq!(next(false), [0, 0, 1, 2, 3, 4, 5, 6]);
    }

    #[test]
    fn the_choice_moves_only_where_the_sides_differ() {
        let choices = |global, local, taken| {
            [0, 1, 2, 3].map(|choice| followed(choice, global, local, taken) as u8 / 4)
        };
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
        let says = |choice, global, local| followed(choice, global, local, false) >> 15 != 0;
        assert_eq!([0, 1, 2, 3].map(|choice| says(choice, 2, 3)), [false, false, true, true]);
        assert_eq!([0, 1, 2, 3].map(|choice| says(choice, 1, 4)), [true, true, false, false]);
    }
}
