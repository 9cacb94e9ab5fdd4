//! What a branch leaves in the history that tagged tables are looked up with.

use crate::trace::Branch;

/// A kind of history: which branches enter it, and as what.
pub trait HistoryRule {
    /// Bits the registers move by for each branch that enters them.
    fn shift(&self) -> u32;

    /// Bits of the widest footprint in each of the two registers; 0 for a register that is not there.
    fn footprint_bits(&self) -> [u32; 2];

    /// What this branch xors into the newest bits of each register; `None` for one that leaves no trace.
    fn footprints(&mut self, branch: &Branch) -> Option<[u64; 2]>;
}

/// Direction history: every branch moves it by two bits and xors in eight, which mix its direction with its place and,
/// where that says more, with its target. Neighbours overlap, so a branch that is known by six bits of its place takes
/// only two.
#[derive(Clone, Copy, Debug, Default)]
pub struct Directions;

impl HistoryRule for Directions {
    fn shift(&self) -> u32 {
        2
    }

    fn footprint_bits(&self) -> [u32; 2] {
        [8, 0]
    }

    #[inline(always)]
    fn footprints(&mut self, branch: &Branch) -> Option<[u64; 2]> {
        let place = branch.pc ^ branch.pc >> 3;
        let conditional = (place << 1) ^ u64::from(branch.taken());
        let other = place ^ branch.target >> 2 ^ branch.target >> 5;
        let footprint = if branch.class().is_conditional() { conditional } else { other };
        Some([footprint & 0xff, 0])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::BranchClass;

    fn footprint(pc: u64, target: u64, class: BranchClass, taken: bool) -> u64 {
        let branch = Branch::new(pc, target, 0, class, taken, 1);
        Directions.footprints(&branch).expect("every branch leaves one")[0]
    }

    #[test]
    fn a_conditional_branch_leaves_its_direction_and_its_place() {
        let taken = footprint(0x40_1234, 0x40_1300, BranchClass::CONDITIONAL, true);
        let not_taken = footprint(0x40_1234, 0x40_1300, BranchClass::CONDITIONAL, false);
        // 0x1234 ^ 0x40_1234 >> 3 = 0x1234 ^ 0x8_0246 = 0x...1072, doubled: 0x...20e4.
        assert_eq!((taken, not_taken), (0xe5, 0xe4));
        assert_eq!(
            footprint(0x40_1234, 0x999, BranchClass::CONDITIONAL, false),
            not_taken,
            "its target is static"
        );
    }

    #[test]
    fn an_unconditional_branch_leaves_its_place_and_its_target() {
        // 0x72 ^ 0x40_1300 >> 2 = 0x...04c0 ^ 0x40_1300 >> 5 = 0x...98: 0x72 ^ 0xc0 ^ 0x98.
        assert_eq!(footprint(0x40_1234, 0x40_1300, BranchClass::RETURN, true), 0x2a);
        assert_ne!(footprint(0x40_1234, 0x40_1320, BranchClass::RETURN, true), 0x2a);
    }
}
