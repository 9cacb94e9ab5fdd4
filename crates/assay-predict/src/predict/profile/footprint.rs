//! What a taken branch leaves in a path history register, bit by bit as it was measured.
//!
//! A register moves by a few bits per taken branch and has a footprint xored into its newest: each bit of it is the xor
//! of some bits of the branch's address and of its target. Lists of such bits are the measured fact; they are turned into
//! few rotations and masks, one for each distance that bits travel, because a footprint is made for every taken branch.

use super::super::tage::HistoryRule;
use crate::trace::Branch;

/// A bit that goes into a footprint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bit {
    /// Of the branch's address.
    B(u8),
    /// Of its target.
    T(u8),
}

/// A path history register: what a taken branch xors in, the newest bit first; empty for one that is not there.
pub type Footprint = Vec<Vec<Bit>>;

/// Address bits `bits`, each one a footprint bit of its own.
pub fn place(bits: std::ops::RangeInclusive<u8>) -> Footprint {
    bits.map(|bit| vec![Bit::B(bit)]).collect()
}

/// Target bits `bits`, each one a footprint bit of its own.
pub fn target(bits: std::ops::RangeInclusive<u8>) -> Footprint {
    bits.map(|bit| vec![Bit::T(bit)]).collect()
}

/// The same footprint with one more bit xored into each of its bits from `first` on.
pub fn also(mut footprint: Footprint, first: usize, bits: &[Bit]) -> Footprint {
    for (of, bit) in footprint[first..first + bits.len()].iter_mut().zip(bits) {
        of.push(*bit);
    }
    footprint
}

/// Bits of an address that travel the same distance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Term {
    of_target: bool,
    right: u32,
    mask: u64,
}

/// Path history: only taken branches enter it, each as its footprint in one register or two.
#[derive(Clone, Debug)]
pub struct PathHistory {
    shift: u32,
    bits: [u32; 2],
    terms: [Vec<Term>; 2],
}

impl PathHistory {
    /// Registers that move by `shift` bits per taken branch.
    pub fn new(shift: u32, footprints: [Footprint; 2]) -> PathHistory {
        PathHistory {
            shift,
            bits: footprints.each_ref().map(|footprint| footprint.len() as u32),
            terms: footprints.each_ref().map(terms),
        }
    }
}

impl HistoryRule for PathHistory {
    fn shift(&self) -> u32 {
        self.shift
    }

    fn footprint_bits(&self) -> [u32; 2] {
        self.bits
    }

    #[inline]
    fn footprints(&mut self, branch: &Branch) -> Option<[u64; 2]> {
        branch.taken().then(|| self.terms.each_ref().map(|terms| footprint(terms, branch)))
    }
}

#[inline]
fn footprint(terms: &[Term], branch: &Branch) -> u64 {
    terms.iter().fold(0, |footprint, term| {
        let address = if term.of_target { branch.target } else { branch.pc };
        footprint ^ address.rotate_right(term.right) & term.mask
    })
}

/// One term for each distance and kind of address.
fn terms(footprint: &Footprint) -> Vec<Term> {
    let mut terms: Vec<Term> = Vec::new();
    for (to, bits) in footprint.iter().enumerate() {
        for bit in bits {
            let (of_target, from) = match *bit {
                Bit::B(from) => (false, from),
                Bit::T(from) => (true, from),
            };
            let right = (u32::from(from) + 64 - to as u32) % 64;
            match terms.iter_mut().find(|term| (term.of_target, term.right) == (of_target, right)) {
                Some(term) => term.mask |= 1 << to,
                None => terms.push(Term { of_target, right, mask: 1 << to }),
            }
        }
    }
    terms
}

#[cfg(test)]
mod tests {
    use super::Bit::{B, T};
    use super::*;
    use crate::trace::BranchClass;

    fn taken(pc: u64, target: u64) -> Branch {
        Branch::new(pc, target, 0, BranchClass::JUMP, true, 1)
    }

    /// Each bit of each list looked up by itself.
    fn slowly(footprint: &Footprint, branch: &Branch) -> u64 {
        footprint.iter().enumerate().fold(0, |word, (to, bits)| {
            let bit = bits.iter().fold(0, |sum, bit| {
                sum ^ match *bit {
                    B(from) => branch.pc >> from & 1,
                    T(from) => branch.target >> from & 1,
                }
            });
            word | bit << to
        })
    }

    #[test]
    fn a_footprint_has_each_bit_where_the_list_says() {
        let lists = [
            place(3..=18),
            also(place(4..=19), 2, &[T(0), T(1), T(5)]),
            target(2..=31),
            vec![vec![T(2), T(5), B(3), B(6)], vec![B(40)], vec![T(47), B(0)]],
            vec![],
        ];
        let mut state = 7_u64;
        for _ in 0..200 {
            let mut draw = || {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                state >> 9
            };
            let branch = taken(draw(), draw());
            for list in &lists {
                for other in &lists {
                    let mut rule = PathHistory::new(2, [list.clone(), other.clone()]);
                    let expected = [slowly(list, &branch), slowly(other, &branch)];
                    assert_eq!(rule.footprints(&branch), Some(expected), "{list:?}, {other:?}");
                }
            }
        }
    }

    #[test]
    fn bits_that_travel_together_are_one_term() {
        assert_eq!(terms(&place(3..=18)), [Term { of_target: false, right: 3, mask: 0xffff }]);
        // The target's bits 5 to 6 move to 0 to 1, its bit 0 to 2.
        let list = vec![vec![T(5)], vec![T(6)], vec![T(0)]];
        let expected = [(5, 0b011), (62, 0b100)].map(|(right, mask)| Term { of_target: true, right, mask });
        assert_eq!(terms(&list), expected);
    }

    #[test]
    fn a_branch_that_is_not_taken_leaves_no_trace() {
        let mut rule = PathHistory::new(1, [target(2..=31), place(2..=5)]);
        assert_eq!(rule.footprint_bits(), [30, 4]);
        let branch = Branch::new(0xffff, 0xffff, 0, BranchClass::CONDITIONAL, false, 1);
        assert_eq!(rule.footprints(&branch), None);
        assert_eq!(rule.footprints(&taken(0b10_1000, 0b1101_0000)), Some([0b11_0100, 0b1010]));
    }
}
