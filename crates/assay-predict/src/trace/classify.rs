//! What does the last instruction of a block do to the flow of control?
//!
//! Method: the instruction's bytes alone, by iced-x86 or by AArch64's bit patterns (Arm ARM DDI 0487, C4.1 "Branches,
//! Exception Generating and System instructions"). Limits: AArch64's `br` through x16 or x17 in a linker's stub is an
//! indirect jump like any other. Checked by: bytes from assemblers (GNU as), in the tests of each architecture.

mod aarch64;
mod flow;
mod x86;

pub use flow::Flow;

/// The instruction set of a traced program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum InstructionSet {
    /// x86-64.
    X86_64,
    /// 64-bit Arm.
    Aarch64,
}

impl InstructionSet {
    /// The kernel's and QEMU's name for it.
    pub fn name(self) -> &'static str {
        match self {
            InstructionSet::X86_64 => "x86_64",
            InstructionSet::Aarch64 => "aarch64",
        }
    }
}

/// The flow after the instruction that these bytes, at address `pc`, begin with.
pub fn flow(architecture: InstructionSet, pc: u64, bytes: &[u8]) -> Flow {
    match architecture {
        InstructionSet::X86_64 => x86::flow(pc, bytes),
        InstructionSet::Aarch64 => aarch64::flow(pc, bytes),
    }
}

/// Whether these bytes are a whole instruction, or none; `false` where the instruction that they begin has more.
pub fn whole(architecture: InstructionSet, bytes: &[u8]) -> bool {
    match architecture {
        InstructionSet::X86_64 => x86::whole(bytes),
        InstructionSet::Aarch64 => bytes.len() >= 4,
    }
}

/// The name of the instruction and the extension of the instruction set that it belongs to, as `vpermb` of `AVX512_VBMI`;
/// `None` where the bytes are no instruction. AArch64's instructions are not named: their bytes are given as a number.
pub fn name(architecture: InstructionSet, bytes: &[u8]) -> Option<(String, String)> {
    match architecture {
        InstructionSet::X86_64 => x86::name(bytes),
        InstructionSet::Aarch64 => aarch64::name(bytes),
    }
}

/// Whether a block that follows these bytes may follow an x86 string instruction that repeats itself.
pub fn may_follow_repeat(before: &[u8]) -> bool {
    x86::may_follow_repeat(before)
}
