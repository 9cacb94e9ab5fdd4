//! One executed branch, and the place in the code that it belongs to.
//!
//! Conventions, the same for every source of streams: the address is that of the branch's first byte; the target of a
//! direct branch is its static one also when it is not taken; the target of an indirect branch is where it went.

use std::fmt;

/// What a branch does with the return address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum BranchKind {
    /// Nothing.
    Jump,
    /// Takes it from where a call left it.
    Return,
    /// Leaves one.
    Call,
}

/// The class of a branch: conditional or not, direct or indirect, jump, return or call.
///
/// The bits are those of SBBT's opcode: bit 0 conditional, bit 1 indirect, bits 3:2 jump, return, call = 0, 1, 2.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BranchClass(u8);

impl BranchClass {
    /// A conditional direct jump: what direction predictors are for.
    pub const CONDITIONAL: BranchClass = BranchClass(0b0001);
    /// A direct jump.
    pub const JUMP: BranchClass = BranchClass(0b0000);
    /// A direct call.
    pub const CALL: BranchClass = BranchClass(0b1000);
    /// A jump through a register or memory.
    pub const INDIRECT_JUMP: BranchClass = BranchClass(0b0010);
    /// A call through a register or memory.
    pub const INDIRECT_CALL: BranchClass = BranchClass(0b1010);
    /// A return.
    pub const RETURN: BranchClass = BranchClass(0b0110);

    /// From its parts.
    pub const fn new(kind: BranchKind, conditional: bool, indirect: bool) -> BranchClass {
        let kind = match kind {
            BranchKind::Jump => 0,
            BranchKind::Return => 1,
            BranchKind::Call => 2,
        };
        BranchClass(kind << 2 | (indirect as u8) << 1 | conditional as u8)
    }

    /// From the four bits, or `None` for a kind that does not exist.
    pub const fn from_bits(bits: u8) -> Option<BranchClass> {
        if bits < 12 { Some(BranchClass(bits)) } else { None }
    }

    /// The four bits.
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// Whether it may fall through.
    pub const fn is_conditional(self) -> bool {
        self.0 & 1 != 0
    }

    /// Whether its target comes from a register or from memory. Returns are.
    pub const fn is_indirect(self) -> bool {
        self.0 & 2 != 0
    }

    /// What it does with the return address.
    pub const fn kind(self) -> BranchKind {
        match self.0 >> 2 {
            0 => BranchKind::Jump,
            1 => BranchKind::Return,
            _ => BranchKind::Call,
        }
    }

    /// Whether it is judged by indirect target predictors: an indirect jump or call, no return.
    pub const fn has_predicted_target(self) -> bool {
        self.is_indirect() && !matches!(self.kind(), BranchKind::Return)
    }
}

impl fmt::Display for BranchClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_conditional() {
            f.write_str("conditional ")?;
        }
        if self.is_indirect() && self.kind() != BranchKind::Return {
            f.write_str("indirect ")?;
        }
        f.write_str(match self.kind() {
            BranchKind::Jump => "jump",
            BranchKind::Return => "return",
            BranchKind::Call => "call",
        })
    }
}

impl fmt::Debug for BranchClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// One executed branch, 24 bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Branch {
    /// Address of the branch's first byte.
    pub pc: u64,
    /// Static target of a direct branch, taken or not; where an indirect one went.
    pub target: u64,
    /// Dense number of the place in the code, from 0, given by whoever makes the stream.
    pub site: u32,
    /// Bits 3:0 class, bit 4 taken, bits 31:5 instructions.
    word: u32,
}

impl Branch {
    /// The most instructions between two branches that a record can say; more are said as this many.
    pub const MAX_INSTRUCTIONS: u32 = (1 << 27) - 1;

    /// From its parts. `instructions` are those since the previous branch, this one included.
    #[inline]
    pub const fn new(
        pc: u64,
        target: u64,
        site: u32,
        class: BranchClass,
        taken: bool,
        instructions: u32,
    ) -> Branch {
        let instructions =
            if instructions > Self::MAX_INSTRUCTIONS { Self::MAX_INSTRUCTIONS } else { instructions };
        Branch::of_bits(pc, target, site, Branch::bits(class, taken), instructions)
    }

    /// The bits that a class and an outcome have in every record, for a reader that keeps them.
    #[inline]
    pub(super) const fn bits(class: BranchClass, taken: bool) -> u32 {
        class.0 as u32 | (taken as u32) << 4
    }

    /// From [`Branch::bits`] and what else there is; `instructions` are fewer than [`Branch::MAX_INSTRUCTIONS`].
    #[inline]
    pub(super) const fn of_bits(pc: u64, target: u64, site: u32, bits: u32, instructions: u32) -> Branch {
        Branch { pc, target, site, word: bits | instructions << 5 }
    }

    /// The same branch executed again: another target, outcome and stretch of instructions.
    #[inline]
    pub const fn again(&self, target: u64, taken: bool, instructions: u32) -> Branch {
        let instructions =
            if instructions > Self::MAX_INSTRUCTIONS { Self::MAX_INSTRUCTIONS } else { instructions };
        Branch { target, word: self.word & 15 | (taken as u32) << 4 | instructions << 5, ..*self }
    }

    /// Its class.
    #[inline]
    pub const fn class(&self) -> BranchClass {
        BranchClass(self.word as u8 & 15)
    }

    /// Whether it was taken; an unconditional branch always is.
    #[inline]
    pub const fn taken(&self) -> bool {
        self.word & 16 != 0
    }

    /// Instructions since the previous branch of the stream, this one included.
    #[inline]
    pub const fn instructions(&self) -> u32 {
        self.word >> 5
    }
}

impl fmt::Debug for Branch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let taken = if self.taken() { "taken" } else { "not taken" };
        write!(
            f,
            "{:#x} -> {:#x} {} {taken} (site {}, {} instructions)",
            self.pc,
            self.target,
            self.class(),
            self.site,
            self.instructions()
        )
    }
}

/// A place in the code that branches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BranchSite {
    /// Address of the branch's first byte, in the process that was traced.
    pub pc: u64,
    /// Length of the branch instruction, bytes; 0 where the source of the stream does not say.
    pub length: u8,
    /// Its class.
    pub class: BranchClass,
    /// The static target of a direct branch.
    pub target: Option<u64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_branch_takes_24_bytes_and_gives_back_its_parts() {
        assert_eq!(size_of::<Branch>(), 24);
        for class in (0..12).filter_map(BranchClass::from_bits) {
            for taken in [false, true] {
                let branch = Branch::new(0x40_1000, 0x40_2000, 7, class, taken, 12_345);
                assert_eq!((branch.class(), branch.taken(), branch.instructions()), (class, taken, 12_345));
            }
        }
    }

    #[test]
    fn a_branch_executed_again_keeps_its_place_and_class() {
        let first = Branch::new(1, 2, 3, BranchClass::CONDITIONAL, true, 4);
        assert_eq!(first.again(5, false, 6), Branch::new(1, 5, 3, BranchClass::CONDITIONAL, false, 6));
        assert_eq!(first.again(2, true, u32::MAX).instructions(), Branch::MAX_INSTRUCTIONS);
    }

    #[test]
    fn a_stretch_too_long_for_the_record_is_said_as_the_longest() {
        let branch = Branch::new(0, 0, 0, BranchClass::JUMP, true, u32::MAX);
        assert_eq!(branch.instructions(), Branch::MAX_INSTRUCTIONS);
        assert_eq!(branch.class(), BranchClass::JUMP);
    }

    #[test]
    fn classes_are_made_of_their_parts_and_unknown_kinds_refused() {
        assert_eq!(BranchClass::new(BranchKind::Return, false, true), BranchClass::RETURN);
        assert_eq!(BranchClass::new(BranchKind::Call, false, true), BranchClass::INDIRECT_CALL);
        assert_eq!(BranchClass::new(BranchKind::Jump, true, false), BranchClass::CONDITIONAL);
        assert_eq!(BranchClass::from_bits(12), None);
        assert!(
            !BranchClass::RETURN.has_predicted_target() && BranchClass::INDIRECT_JUMP.has_predicted_target()
        );
    }
}
