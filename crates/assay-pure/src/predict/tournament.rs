//! A local and a global predictor, and a third that says whom to believe: the Alpha 21264.
//!
//! Source: R. E. Kessler, "The Alpha 21264 microprocessor", IEEE Micro 19(2), 1999: local, 1024 histories of 10 outcomes
//! and 1024 three-bit counters; global, 4096 two-bit counters by the last 12 outcomes of all conditional branches;
//! choice, 4096 two-bit counters by the same. The paper leaves open how the counters start: ours start in the middle,
//! inclined to taken and to the global side.
//! Known limits: the 21264 indexes histories by pc / 4, we by pc ^ pc >> 2, since x86 has branches at any address.

use super::bimodal::{address_bits, counted};
use super::{Conditionals, DirectionPredictor, Entry, Judged};
use crate::trace::Branch;

/// The names of this family.
pub const ENTRIES: &[Entry] = &[Entry {
    name: "tournament",
    what: "Alpha 21264: local 1024 x 10 outcomes and 1024 x 3 bits, global and choice 4096 x 2 bits by 12 outcomes",
    source: "Kessler, IEEE Micro 19(2), 1999",
    judges: &[Judged::Direction],
    make: || Box::new(Conditionals(Tournament::default())),
}];

const LOCAL_BITS: u32 = 10;
const LOCAL: usize = 1 << LOCAL_BITS;
const GLOBAL_BITS: u32 = 12;
const GLOBAL: usize = 1 << GLOBAL_BITS;

/// Local against global.
#[derive(Clone, Debug)]
pub struct Tournament {
    tables: Box<Tables>,
    path: usize,
}

#[derive(Clone, Debug)]
struct Tables {
    histories: [u16; LOCAL],
    local: [u8; LOCAL],
    /// Choice and global counter, which share their index: choice x 4 + global. From 2 on the choice believes the
    /// global side.
    sides: [u8; GLOBAL],
}

impl Default for Tournament {
    fn default() -> Tournament {
        let tables = Tables { histories: [0; LOCAL], local: [4; LOCAL], sides: [2 * 4 + 2; GLOBAL] };
        Tournament { tables: Box::new(tables), path: 0 }
    }
}

/// Three-bit counters after one more outcome, by counter x 2 + taken.
const LOCAL_NEXT: [u8; 16] = {
    let mut next = [0; 16];
    let mut at = 0;
    while at < 16 {
        let counter = at as u8 / 2;
        next[at] = match at % 2 {
            0 => counter.saturating_sub(1),
            _ if counter == 7 => 7,
            _ => counter + 1,
        };
        at += 1;
    }
    next
};

/// Choice and global counter after one more outcome, by sides x 4 + local says taken x 2 + taken. The choice moves where
/// the two sides differ, toward the one that was right.
const SIDES_NEXT: [u8; 64] = {
    let mut next = [0; 64];
    let mut at = 0;
    while at < 64 {
        let (choice, global) = (at as u8 >> 4, at as u8 >> 2 & 3);
        let (local, taken) = (at & 2 != 0, at & 1 != 0);
        let differ = local != (global >= 2);
        let choice = if differ { counted(choice, local != taken) } else { choice };
        next[at] = choice * 4 + counted(global, taken);
        at += 1;
    }
    next
};

impl Tournament {
    /// Where the branch's history is, where that history's counter is, and what that says.
    #[inline]
    fn local(&self, pc: u64) -> (usize, usize, bool) {
        let at = address_bits(pc) % LOCAL;
        let history = usize::from(self.tables.histories[at]) % LOCAL;
        (at, history, self.tables.local[history] >= 4)
    }
}

impl DirectionPredictor for Tournament {
    #[inline]
    fn predict(&mut self, pc: u64, _: u64) -> bool {
        let (_, _, local) = self.local(pc);
        let sides = self.tables.sides[self.path % GLOBAL];
        let (choice, global) = (sides >= 2 * 4, sides & 2 != 0);
        // Without a branch on the choice: it would be mispredicted where the simulated one is.
        local ^ ((local ^ global) & choice)
    }

    #[inline]
    fn train(&mut self, branch: &Branch, _: bool) {
        let taken = usize::from(branch.taken());
        let (_, history, local) = self.local(branch.pc);
        let sides = &mut self.tables.sides[self.path % GLOBAL];
        *sides = SIDES_NEXT[(usize::from(*sides) * 4 + usize::from(local) * 2 + taken) % 64];
        let counter = &mut self.tables.local[history];
        *counter = LOCAL_NEXT[(usize::from(*counter) * 2 + taken) % 16];
    }

    #[inline]
    fn track(&mut self, branch: &Branch) {
        if branch.class().is_conditional() {
            let taken = branch.taken();
            let (at, history, _) = self.local(branch.pc);
            self.tables.histories[at] = (history << 1 | usize::from(taken)) as u16;
            self.path = self.path << 1 | usize::from(taken);
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
        assert_eq!(LOCAL_NEXT, [0, 1, 0, 2, 1, 3, 2, 4, 3, 5, 4, 6, 5, 7, 6, 7]);
    }

    #[test]
    fn the_choice_moves_only_where_the_sides_differ() {
        let next = |choice: u8, global: u8, local: bool, taken: bool| {
            let at = choice * 16 + global * 4 + u8::from(local) * 2 + u8::from(taken);
            (SIDES_NEXT[usize::from(at)] / 4, SIDES_NEXT[usize::from(at)] % 4)
        };
        for choice in 0..4 {
            assert_eq!(next(choice, 3, true, true), (choice, 3));
            assert_eq!(next(choice, 3, true, false), (choice, 2));
            assert_eq!(next(choice, 0, false, true), (choice, 1));
            assert_eq!(next(choice, 1, false, false), (choice, 0));
        }
        let choices = |global, local, taken| [0, 1, 2, 3].map(|choice| next(choice, global, local, taken).0);
        assert_eq!(choices(2, false, true), [1, 2, 3, 3], "toward the global side, which was right");
        assert_eq!(choices(1, true, false), [1, 2, 3, 3]);
        assert_eq!(choices(2, false, false), [0, 0, 1, 2], "toward the local side");
        assert_eq!(choices(1, true, true), [0, 0, 1, 2]);
    }
}
