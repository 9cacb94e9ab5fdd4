//! The straight stretch of code that one side of a branch begins with, and whose text it was made from.

use super::image::{FunctionCode, ModuleImage, SourceFrame};
use super::instruction::{Instruction, InstructionFlow};
use assay_pure::trace::hints::{BranchSide, Split, TextPlace};

/// Instructions of a block that are looked at.
const LONGEST: usize = 48;
/// Blocks that are nothing but a jump, one after the other.
const HOPS: usize = 3;

/// A condition's copy in the machine code: what tells its text from that of other copies.
pub struct ConditionCopy<'a> {
    /// The condition and its sides.
    pub split: &'a Split,
    /// The file they are in.
    pub file: &'a str,
    /// Which copy of the function.
    pub copy: Option<u64>,
    /// The executed branches of this copy.
    pub branches: &'a [u64],
}

impl ConditionCopy<'_> {
    /// Whose text an instruction is; `None` where the debug information leaves it open.
    fn place(&self, frames: &[SourceFrame]) -> Option<TextPlace> {
        let own =
            frames.iter().find(|frame| frame.copy == self.copy && frame.file.as_deref() == Some(self.file));
        match own {
            Some(frame) if frame.at.line == 0 => None,
            Some(frame) => self.split.place(frame.at),
            None => Some(TextPlace::Elsewhere),
        }
    }
}

/// The block that begins at an address, with its last instruction; empty where the code is not known.
pub fn block(code: &FunctionCode, start: u64) -> &[Instruction] {
    let Some(first) = code.index(start) else { return &[] };
    let mut end = first;
    for instruction in code.instructions[first..].iter().take(LONGEST) {
        if instruction.address != start && code.targets.contains_key(&instruction.address) {
            break;
        }
        end += 1;
        if !matches!(instruction.flow, InstructionFlow::Next | InstructionFlow::Call(_)) {
            break;
        }
    }
    &code.instructions[first..end]
}

/// What the side of a branch that begins at `start` says of itself.
pub fn side(image: &ModuleImage, copy: &ConditionCopy<'_>, start: u64) -> BranchSide {
    let mut at = start;
    for _ in 0..HOPS {
        let code = image.code(at);
        let block = block(&code, at);
        let places = places(image, copy, block);
        let telling = |place: &TextPlace| matches!(place, TextPlace::Yes | TextPlace::No);
        if let Some(target) = lone_jump(block).filter(|_| !places.iter().any(telling)) {
            at = target;
            continue;
        }
        let end = block.last().map(|last| last.address).filter(|last| copy.branches.contains(last));
        let only_branch =
            end.is_some() && block.iter().filter(|instruction| !instruction.is_nop).count() == 1;
        return BranchSide { block: at, places, ends_in: end, only_branch };
    }
    BranchSide { block: start, ..BranchSide::default() }
}

fn places(image: &ModuleImage, copy: &ConditionCopy<'_>, block: &[Instruction]) -> Vec<TextPlace> {
    let (Some(first), Some(last)) = (block.first(), block.last()) else { return Vec::new() };
    let marked = image.marked_addresses(first.address, last.end());
    let mut places: Vec<TextPlace> =
        marked.into_iter().filter_map(|address| copy.place(&image.frames(address))).collect();
    places.sort_unstable();
    places.dedup();
    places
}

/// Where a block goes that does nothing else.
fn lone_jump(block: &[Instruction]) -> Option<u64> {
    let mut telling = block.iter().filter(|instruction| !instruction.is_nop);
    match (telling.next()?.flow, telling.next()) {
        (InstructionFlow::Jump(target), None) => Some(target),
        _ => None,
    }
}

/// Whether a block is entered only from the conditional branch before it or from conditional branches to it, so that it
/// belongs to that side alone.
pub fn is_one_sided(code: &FunctionCode, start: u64, branch: u64) -> bool {
    let Some(first) = code.index(start) else { return false };
    let [conditional, unconditional] = code.targets.get(&start).copied().unwrap_or_default();
    let before = first.checked_sub(1).map(|before| &code.instructions[before]);
    let follows = before.is_some_and(|before| {
        before.end() == start && !matches!(before.flow, InstructionFlow::Jump(_) | InstructionFlow::Away)
    });
    let follows_branch = before.is_some_and(|before| before.address == branch);
    if follows_branch { conditional + unconditional == 0 } else { unconditional == 0 && !follows }
}

#[cfg(test)]
mod tests {
    use super::super::instruction::{ModuleCode, decode};
    use super::*;

    /// 0: je 6 | 2: nop; 3: jne 8 | 5: ret | 6: jmp 2 | 8: nop; 9: ret
    const BYTES: [u8; 10] = [0x74, 0x04, 0x90, 0x75, 0x03, 0xc3, 0xeb, 0xfa, 0x90, 0xc3];

    fn code() -> FunctionCode {
        FunctionCode::new(decode(ModuleCode::X86_64, &BYTES, 0))
    }

    fn addresses(block: &[Instruction]) -> Vec<u64> {
        block.iter().map(|instruction| instruction.address).collect()
    }

    #[test]
    fn a_block_ends_with_a_branch_or_before_a_target() {
        let code = code();
        assert_eq!(addresses(block(&code, 0)), [0]);
        assert_eq!(addresses(block(&code, 2)), [2, 3]);
        assert_eq!(addresses(block(&code, 6)), [6]);
        assert_eq!(addresses(block(&code, 8)), [8, 9]);
        assert_eq!(addresses(block(&code, 1)), [0_u64; 0]);
        // nop; (target) nop; jmp to 1
        let looped = FunctionCode::new(decode(ModuleCode::X86_64, &[0x90, 0x90, 0xeb, 0xfd], 0));
        assert_eq!(addresses(block(&looped, 0)), [0]);
    }

    #[test]
    fn a_block_that_is_only_a_jump_says_where_it_goes() {
        let code = code();
        assert_eq!(lone_jump(block(&code, 6)), Some(2));
        assert_eq!(lone_jump(block(&code, 2)), None);
        assert_eq!(lone_jump(&[]), None);
    }

    #[test]
    fn a_block_that_others_run_into_belongs_to_no_side() {
        let code = code();
        assert!(!is_one_sided(&code, 2, 0), "the jump at 6 goes there too");
        assert!(is_one_sided(&code, 5, 3));
        assert!(is_one_sided(&code, 6, 0), "after a return, only jumped to by its branch");
        assert!(is_one_sided(&code, 8, 3));
        assert!(!is_one_sided(&code, 1, 0), "in the middle of an instruction");
        // je 3; nop; (3) ret: the other side falls into the target.
        let joined = FunctionCode::new(decode(ModuleCode::X86_64, &[0x74, 0x01, 0x90, 0xc3], 0));
        assert!(!is_one_sided(&joined, 3, 0));
    }
}
