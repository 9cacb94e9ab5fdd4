//! One decoded function.

use super::image::{Access, LinkedImage};
use iced_x86::{
    Code as Opcode, ConstantOffsets, Decoder, DecoderOptions, FlowControl, Instruction, OpKind, Register,
};
use std::collections::BTreeSet;

/// One instruction of a function.
pub struct CodeStep {
    /// The decoded instruction; its address is the link-time one.
    pub instruction: Instruction,
    /// Where its displacement and immediates are.
    pub constants: ConstantOffsets,
}

/// A function as instructions.
pub struct Disassembly {
    /// Link-time address of the entry.
    pub address: u64,
    /// Bytes up to the end of the last instruction that is not padding.
    pub size: u64,
    /// The bytes.
    pub bytes: Vec<u8>,
    /// The instructions.
    pub steps: Vec<CodeStep>,
    /// The offset at which bytes are no instruction, if any.
    pub undecodable: Option<u64>,
}

impl Disassembly {
    /// Decodes the function that starts at `entry`.
    ///
    /// # Errors
    /// In words: no symbol starts there, or its bytes are not known.
    pub fn decode(image: &LinkedImage, entry: u64) -> Result<Self, String> {
        let Some(place) = image.function_at(entry) else {
            return Err(format!("no function symbol with a size covers {entry:#x}"));
        };
        if place.address != entry {
            return Err(format!("{entry:#x} is inside `{}`, not its start", place.name));
        }
        if image.section_at(entry).is_none_or(|section| section.access != Access::Code) {
            return Err(format!("`{}` is not in a section of code", place.name));
        }
        let Some(bytes) = image.bytes(entry, place.size) else {
            return Err(format!(
                "the bytes of `{}` are not all in the file, or the loader changes them",
                place.name
            ));
        };
        Ok(Self::from_bytes(entry, bytes))
    }

    fn from_bytes(address: u64, bytes: &[u8]) -> Self {
        let mut decoder = Decoder::with_ip(64, bytes, address, DecoderOptions::NONE);
        let mut steps = Vec::new();
        let mut undecodable = None;
        while decoder.can_decode() {
            let instruction = decoder.decode();
            if instruction.is_invalid() {
                undecodable = Some(instruction.ip().wrapping_sub(address));
                break;
            }
            let constants = decoder.get_constant_offsets(&instruction);
            steps.push(CodeStep { instruction, constants });
        }
        let mut code = Self { address, size: bytes.len() as u64, bytes: bytes.to_vec(), steps, undecodable };
        code.cut_padding();
        code
    }

    /// Drops padding behind an instruction that control does not pass.
    fn cut_padding(&mut self) {
        let kept =
            self.steps.iter().rposition(|step| !is_padding(&step.instruction)).map_or(0, |last| last + 1);
        if kept == self.steps.len()
            || kept == 0
            || self.undecodable.is_some()
            || !ends(&self.steps[kept - 1].instruction)
        {
            return;
        }
        self.size = self.offset(kept);
        self.steps.truncate(kept);
        self.bytes.truncate(self.size as usize);
    }

    /// Offset of the instruction with this index.
    pub fn offset(&self, index: usize) -> u64 {
        self.steps[index].instruction.ip().wrapping_sub(self.address)
    }

    /// The bytes of the instruction with this index.
    pub fn bytes_of(&self, index: usize) -> &[u8] {
        let start = self.offset(index) as usize;
        &self.bytes[start..start + self.steps[index].instruction.len()]
    }

    /// Index of the instruction at an offset from the start; none if there none begins.
    pub fn index_at(&self, offset: u64) -> Option<usize> {
        self.steps.binary_search_by_key(&offset, |step| step.instruction.ip().wrapping_sub(self.address)).ok()
    }

    /// Offset of an address that is inside the function.
    pub fn inside(&self, address: u64) -> Option<u64> {
        address.checked_sub(self.address).filter(|&offset| offset < self.size)
    }

    /// Whether control can run past the end, into whatever follows. A call at the end does not return.
    pub fn runs_out(&self) -> bool {
        let Some(last) = self.steps.last() else { return true };
        let calls = matches!(last.instruction.flow_control(), FlowControl::Call | FlowControl::IndirectCall);
        !(calls || ends(&last.instruction))
    }
}

/// Whether an instruction is what compilers and linkers fill gaps with.
pub fn is_padding(instruction: &Instruction) -> bool {
    instruction.code() == Opcode::Int3 || is_nop(instruction)
}

/// Whether bytes are nothing but padding, from their first on.
pub fn all_padding(bytes: &[u8]) -> bool {
    let mut decoder = Decoder::new(64, bytes, DecoderOptions::NONE);
    decoder.iter().all(|instruction| is_padding(&instruction))
}

fn is_nop(instruction: &Instruction) -> bool {
    use iced_x86::Mnemonic;
    // `xchg ax, ax` is what 66 90 decodes to.
    let exchange = instruction.mnemonic() == Mnemonic::Xchg
        && instruction.op0_kind() == OpKind::Register
        && instruction.op1_kind() == OpKind::Register
        && instruction.op0_register() == instruction.op1_register()
        && instruction.op0_register() == Register::AX;
    instruction.mnemonic() == Mnemonic::Nop || exchange
}

/// Whether control never passes this instruction.
pub fn ends(instruction: &Instruction) -> bool {
    matches!(
        instruction.flow_control(),
        FlowControl::Return
            | FlowControl::UnconditionalBranch
            | FlowControl::IndirectBranch
            | FlowControl::Exception
    ) || instruction.code() == Opcode::Hlt
}

/// Whether an operand is the target of a direct branch or call.
pub fn branches(instruction: &Instruction) -> bool {
    (0..instruction.op_count()).any(|operand| {
        matches!(
            instruction.op_kind(operand),
            OpKind::NearBranch16 | OpKind::NearBranch32 | OpKind::NearBranch64
        )
    })
}

/// The address of a memory operand that names no base register: relative to the instruction, or absolute.
pub fn baseless(instruction: &Instruction) -> Option<u64> {
    if instruction.is_ip_rel_memory_operand() {
        return Some(instruction.ip_rel_memory_address());
    }
    let absolute = (0..instruction.op_count()).any(|operand| instruction.op_kind(operand) == OpKind::Memory)
        && instruction.memory_base() == Register::None
        && instruction.memory_displ_size() >= 4
        && matches!(instruction.memory_segment(), Register::DS | Register::SS | Register::CS | Register::ES);
    absolute.then(|| instruction.memory_displacement64())
}

/// Every address at which something is known to begin: symbols, and what any function's instructions mention.
pub fn mentioned(image: &LinkedImage) -> BTreeSet<u64> {
    let mut found: BTreeSet<u64> = image.functions().iter().map(|place| place.address).collect();
    found.extend(
        image.objects().iter().flat_map(|datum| [datum.address, datum.address.saturating_add(datum.size)]),
    );
    let mut done = 0;
    for place in image.functions() {
        // Symbols of one place, or damaged ones that overlap, are decoded once.
        let start = place.address.max(done);
        let end = place.address.saturating_add(place.size);
        let Some(bytes) = end.checked_sub(start).and_then(|size| image.bytes(start, size)) else { continue };
        done = end;
        for instruction in Decoder::with_ip(64, bytes, start, DecoderOptions::NONE).iter() {
            // An absolute displacement is an address only where the file is linked to one place.
            if image.fixed || instruction.is_ip_rel_memory_operand() {
                found.extend(baseless(&instruction));
            }
        }
    }
    found
}

impl LinkedImage<'_> {
    /// The next address after `address` at which something else may begin: a symbol, an address that some function
    /// mentions, or the end of the section.
    pub fn next_known(&self, address: u64) -> Option<u64> {
        let end = self.section_at(address)?.end();
        let mentioned = self.mentioned.get_or_init(|| mentioned(self));
        let next = mentioned.range(address.checked_add(1)?..).next().copied();
        Some(next.map_or(end, |next| next.min(end)))
    }
}
