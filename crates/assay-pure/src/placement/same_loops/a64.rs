//! What the comparison of loops asks of AArch64's instructions. Source: Arm Architecture Reference Manual for A-profile,
//! DDI 0487, chapter C4.

use super::{LoopCode, LoopReference};
use crate::placement::across::a64::{NOP, ends, is_call, is_jump, listing};
use crate::placement::across::listing::{FunctionListing, Leads, equal_but_for_fields};
use crate::placement::across::side::FileSide;

/// A function of AArch64.
pub(super) struct A64Code(FunctionListing);

impl A64Code {
    /// Decodes the function that starts at `entry`; none where that is not possible.
    pub(super) fn decode(file: &FileSide<'_>, entry: u64) -> Option<A64Code> {
        listing(file, entry).ok().map(A64Code)
    }

    fn word(&self, index: usize) -> u32 {
        let at = self.0.lines[index].at as usize;
        self.0.bytes.get(at..at + 4).and_then(|word| word.try_into().ok()).map_or(0, u32::from_le_bytes)
    }
}

impl LoopCode for A64Code {
    fn len(&self) -> usize {
        self.0.lines.len()
    }

    fn is_whole(&self) -> bool {
        self.0.undecodable.is_none() && !(0..self.len()).any(|index| is_jump(self.word(index)))
    }

    fn offset(&self, index: usize) -> u64 {
        self.0.lines[index].at
    }

    fn index_of(&self, address: u64) -> Option<usize> {
        self.0.index_at(self.0.inside(address)?).ok()
    }

    fn is_padding(&self, index: usize) -> bool {
        self.word(index) == NOP
    }

    fn ends(&self, index: usize) -> bool {
        ends(self.word(index))
    }

    fn references(&self, index: usize) -> Vec<LoopReference> {
        let calls = is_call(self.word(index));
        let reference = |leads: &Leads| match *leads {
            Leads::Code(to) if calls => LoopReference::Callee(to),
            Leads::Code(to) => LoopReference::Jump(to),
            Leads::Data(to, _) => LoopReference::Data(to),
            Leads::Thread(offset) => LoopReference::Thread(offset),
            Leads::Nothing => LoopReference::Nothing,
            Leads::Perhaps(_) | Leads::Table(_) | Leads::Unfollowed => LoopReference::Unclear,
        };
        self.0.lines[index].references.iter().map(|found| reference(&found.leads)).collect()
    }

    fn is_alike(&self, index: usize, other: &Self, at: usize) -> bool {
        equal_but_for_fields((&self.0, &self.0.lines[index]), (&other.0, &other.0.lines[at]))
    }
}
