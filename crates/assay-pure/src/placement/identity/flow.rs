//! How control and registers flow in one function.

use super::code::{Disassembly, branches, ends};
use super::dispatch::Dispatch;
use super::image::LinkedImage;
use iced_x86::{
    FlowControl, Instruction, InstructionInfoFactory, InstructionInfoOptions, Mnemonic, OpAccess, Register,
};
use std::collections::{BTreeMap, BTreeSet};

/// Callees are looked into so deep for whether they keep a register.
const KEEPS_DEPTH: u32 = 3;

/// How control flows in a function.
pub struct FlowGraph<'c> {
    image: &'c LinkedImage<'c>,
    code: &'c Disassembly,
    /// The jumps that lead to an instruction.
    sources: BTreeMap<usize, BTreeSet<usize>>,
    /// Indirect jumps of no known form.
    unexplained: BTreeSet<usize>,
    dispatches: &'c [Dispatch],
}

impl<'c> FlowGraph<'c> {
    /// The flow that direct jumps and these jump tables make.
    pub fn new(image: &'c LinkedImage<'c>, code: &'c Disassembly, dispatches: &'c [Dispatch]) -> Self {
        let mut sources: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
        for (index, step) in code.steps.iter().enumerate() {
            if let Some(to) = direct_target(code, &step.instruction) {
                sources.entry(to).or_default().insert(index);
            }
        }
        let mut unexplained = BTreeSet::new();
        if !dispatches.is_empty() {
            unexplained =
                (0..code.steps.len()).filter(|&index| is_indirect(&code.steps[index].instruction)).collect();
        }
        for dispatch in dispatches {
            unexplained.remove(&dispatch.jump);
            for &to in &dispatch.targets {
                sources.entry(to).or_default().insert(dispatch.jump);
            }
        }
        Self { image, code, sources, unexplained, dispatches }
    }

    /// Whether a jump leads to an instruction.
    pub fn is_entered(&self, index: usize) -> bool {
        self.sources.contains_key(&index)
    }

    /// The `lea register,[rip+T]` that may have set a register before an instruction; none if anything else may have.
    pub fn definitions(&self, before: usize, register: Register) -> Option<BTreeSet<usize>> {
        let mut found = BTreeSet::new();
        let mut seen = BTreeSet::from([before]);
        let mut waiting = vec![before];
        while let Some(index) = waiting.pop() {
            // Whoever calls the function may have set it.
            if index == 0 {
                return None;
            }
            for previous in self.previous(index) {
                let instruction = &self.code.steps[previous].instruction;
                if !writes(self.image, instruction, register) {
                    if seen.insert(previous) {
                        waiting.push(previous);
                    }
                } else if instruction.mnemonic() == Mnemonic::Lea
                    && instruction.op0_register() == register
                    && instruction.is_ip_rel_memory_operand()
                {
                    found.insert(previous);
                } else {
                    return None;
                }
            }
        }
        Some(found)
    }

    fn previous(&self, index: usize) -> BTreeSet<usize> {
        let mut found = self.sources.get(&index).cloned().unwrap_or_default();
        let follows = !ends(&self.code.steps[index - 1].instruction);
        if !found.is_empty() || !follows {
            found.extend(&self.unexplained);
        }
        if follows {
            found.insert(index - 1);
        }
        found
    }

    /// Whether the address of a table may be read by anything but the jumps through it.
    pub fn used_otherwise(&self, dispatch: &Dispatch) -> bool {
        let mut seen = BTreeSet::new();
        let mut waiting: Vec<usize> = dispatch.mentions.iter().map(|index| index + 1).collect();
        while let Some(index) = waiting.pop() {
            if index >= self.code.steps.len() || !seen.insert(index) {
                continue;
            }
            let instruction = &self.code.steps[index].instruction;
            let known = self.dispatches.iter().any(|other| {
                other.base == dispatch.base
                    && other.mentions == dispatch.mentions
                    && other.uses.contains(&index)
            });
            if !known && reads(instruction, dispatch.base) {
                return true;
            }
            if !writes(self.image, instruction, dispatch.base) {
                waiting.extend(self.next(index));
            }
        }
        false
    }

    fn next(&self, index: usize) -> Vec<usize> {
        let instruction = &self.code.steps[index].instruction;
        let mut found: Vec<usize> = direct_target(self.code, instruction).into_iter().collect();
        if !ends(instruction) {
            found.push(index + 1);
        }
        let through = self.dispatches.iter().filter(|dispatch| dispatch.jump == index);
        found.extend(through.flat_map(|dispatch| &dispatch.targets));
        found
    }
}

/// Where a direct jump leads inside the function.
fn direct_target(code: &Disassembly, instruction: &Instruction) -> Option<usize> {
    let jumps = matches!(
        instruction.flow_control(),
        FlowControl::UnconditionalBranch | FlowControl::ConditionalBranch | FlowControl::XbeginXabortXend
    ) && branches(instruction);
    let to = jumps.then(|| instruction.near_branch_target())?;
    code.index_at(code.inside(to)?)
}

fn accesses(instruction: &Instruction, register: Register, wanted: &[OpAccess]) -> bool {
    let mut factory = InstructionInfoFactory::new();
    let info = factory.info_options(instruction, InstructionInfoOptions::NO_MEMORY_USAGE);
    let full = register.full_register();
    info.used_registers()
        .iter()
        .any(|used| used.register().full_register() == full && wanted.contains(&used.access()))
}

fn reads(instruction: &Instruction, register: Register) -> bool {
    use OpAccess::{CondRead, Read, ReadCondWrite, ReadWrite};
    accesses(instruction, register, &[Read, CondRead, ReadWrite, ReadCondWrite])
}

/// Whether an instruction is an indirect jump.
pub fn is_indirect(instruction: &Instruction) -> bool {
    instruction.flow_control() == FlowControl::IndirectBranch
}

/// Whether an instruction may change a register.
pub fn writes(image: &LinkedImage, instruction: &Instruction, register: Register) -> bool {
    may_write(image, instruction, register, KEEPS_DEPTH)
}

fn may_write(image: &LinkedImage, instruction: &Instruction, register: Register, depth: u32) -> bool {
    use OpAccess::{CondWrite, ReadCondWrite, ReadWrite, Write};
    use Register::{R12, R13, R14, R15, RBP, RBX, RSP};
    // What the ABI says a call keeps.
    let kept = [RBX, RBP, RSP, R12, R13, R14, R15].contains(&register.full_register());
    let changes = match instruction.flow_control() {
        FlowControl::Call => !kept && !keeps(image, instruction.near_branch_target(), register, depth),
        FlowControl::IndirectCall | FlowControl::Interrupt => !kept,
        _ => false,
    };
    changes || accesses(instruction, register, &[Write, CondWrite, ReadWrite, ReadCondWrite])
}

/// Whether a callee keeps a register that it need not keep: gcc looks into callees for that (-fipa-ra), and so keeps
/// the address of a table in such a register across a call.
fn keeps(image: &LinkedImage, callee: u64, register: Register, depth: u32) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return false };
    let Ok(code) = Disassembly::decode(image, callee) else { return false };
    let stays = |instruction: &Instruction| match instruction.flow_control() {
        FlowControl::IndirectBranch => false,
        FlowControl::UnconditionalBranch | FlowControl::ConditionalBranch => {
            direct_target(&code, instruction).is_some()
        }
        _ => true,
    };
    code.undecodable.is_none()
        && !code.runs_out()
        && code
            .steps
            .iter()
            .all(|step| stays(&step.instruction) && !may_write(image, &step.instruction, register, depth))
}
