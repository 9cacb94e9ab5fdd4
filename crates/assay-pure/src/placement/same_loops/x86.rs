//! What the comparison of loops asks of x86-64's instructions. Source: Intel SDM volume 2 as decoded by iced-x86.

use super::{LoopCode, LoopReference, LoopSteps, OneFile, SharedLoop, paired, shared};
use crate::placement::across::side::FileSide;
use crate::placement::identity::code::{Disassembly, baseless, ends, is_padding};
use iced_x86::{FlowControl, Instruction, OpKind};

impl LoopCode for Disassembly {
    fn len(&self) -> usize {
        self.steps.len()
    }

    fn is_whole(&self) -> bool {
        let indirect = |instruction: &Instruction| instruction.flow_control() == FlowControl::IndirectBranch;
        self.undecodable.is_none() && !self.steps.iter().any(|step| indirect(&step.instruction))
    }

    fn offset(&self, index: usize) -> u64 {
        Disassembly::offset(self, index)
    }

    fn index_of(&self, address: u64) -> Option<usize> {
        self.index_at(self.inside(address)?)
    }

    fn is_padding(&self, index: usize) -> bool {
        is_padding(&self.steps[index].instruction)
    }

    fn ends(&self, index: usize) -> bool {
        ends(&self.steps[index].instruction)
    }

    fn references(&self, index: usize) -> Vec<LoopReference> {
        let instruction = &self.steps[index].instruction;
        let to = instruction.near_branch_target();
        match (branches(instruction), instruction.flow_control()) {
            (true, FlowControl::Call) => vec![LoopReference::Callee(to)],
            (true, _) => vec![LoopReference::Jump(to)],
            _ => baseless(instruction).map(LoopReference::Data).into_iter().collect(),
        }
    }

    fn is_alike(&self, index: usize, other: &Self, at: usize) -> bool {
        let (mut one, mut other) = (self.steps[index].instruction, other.steps[at].instruction);
        if branches(&one) && branches(&other) {
            // A short and a long jump of the same condition are the same.
            return one.mnemonic() == other.mnemonic();
        }
        for instruction in [&mut one, &mut other] {
            if baseless(instruction).is_some() {
                instruction.set_memory_displacement64(0);
            }
            instruction.set_next_ip(0);
        }
        one == other
    }
}

fn branches(instruction: &Instruction) -> bool {
    instruction.op0_kind() == OpKind::NearBranch64
}

/// The loops of two functions of one file, at the link-time addresses `a` and `b`, if all are the same: the numbers of their
/// instructions in either function.
pub(in crate::placement) struct LoopsOfBoth {
    pub first: Disassembly,
    pub second: Disassembly,
    /// Of each loop, all that it may execute, padding too.
    pub steps: Vec<(LoopSteps, LoopSteps)>,
    pub shared: Vec<SharedLoop>,
}

impl LoopsOfBoth {
    pub(in crate::placement) fn find(elf: &[u8], file: &FileSide<'_>, a: u64, b: u64) -> Option<LoopsOfBoth> {
        let decode = |entry| Disassembly::decode(&file.image, entry).ok();
        let (first, second) = (decode(a)?, decode(b)?);
        let pairs = paired(&first, &second, &OneFile { elf, file })?;
        let shared = pairs.iter().map(|(one, other)| shared(one, other)).collect();
        let steps = pairs.into_iter().map(|(one, other)| (one.circle, other.circle)).collect();
        Some(LoopsOfBoth { first, second, steps, shared })
    }
}
