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
    histories: Box<[u16; LOCAL]>,
    local: Box<[u8; LOCAL]>,
    global: Box<[u8; GLOBAL]>,
    /// From 2 on the global side is believed.
    choice: Box<[u8; GLOBAL]>,
    path: usize,
}

impl Default for Tournament {
    fn default() -> Tournament {
        Tournament {
            histories: Box::new([0; LOCAL]),
            local: Box::new([4; LOCAL]),
            global: Box::new([2; GLOBAL]),
            choice: Box::new([2; GLOBAL]),
            path: 0,
        }
    }
}

/// A three-bit counter after one more outcome.
#[inline]
fn counted_of_three_bits(counter: u8, taken: bool) -> u8 {
    if taken { (counter + 1).min(7) } else { counter.saturating_sub(1) }
}

impl DirectionPredictor for Tournament {
    #[inline]
    fn predict(&mut self, pc: u64, _: u64) -> bool {
        let history = usize::from(self.histories[address_bits(pc) % LOCAL]) % LOCAL;
        let path = self.path % GLOBAL;
        let (local, global) = (self.local[history] >= 4, self.global[path] >= 2);
        // Without a branch on the choice: it would be mispredicted where the simulated one is.
        local ^ ((local ^ global) & (self.choice[path] >= 2))
    }

    #[inline]
    fn train(&mut self, branch: &Branch, _: bool) {
        let taken = branch.taken();
        let history = usize::from(self.histories[address_bits(branch.pc) % LOCAL]) % LOCAL;
        let path = self.path % GLOBAL;
        let (local, global) = (self.local[history], self.global[path]);
        let choice = self.choice[path];
        let differ = (local >= 4) != (global >= 2);
        let toward_global = counted(choice, (global >= 2) == taken);
        self.choice[path] = if differ { toward_global } else { choice };
        self.local[history] = counted_of_three_bits(local, taken);
        self.global[path] = counted(global, taken);
    }

    #[inline]
    fn track(&mut self, branch: &Branch) {
        if branch.class().is_conditional() {
            let taken = branch.taken();
            let history = &mut self.histories[address_bits(branch.pc) % LOCAL];
            *history = (*history << 1 | u16::from(taken)) % LOCAL as u16;
            self.path = (self.path << 1 | usize::from(taken)) % GLOBAL;
        }
    }

    fn storage_bits(&self) -> u64 {
        let local = LOCAL as u64 * (u64::from(LOCAL_BITS) + 3);
        local + 2 * 2 * GLOBAL as u64 + u64::from(GLOBAL_BITS)
    }
}
