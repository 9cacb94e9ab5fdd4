//! Instructions as far as the front end cares: where they are, how long, where control goes, what fuses.

use iced_x86::{ConditionCode, Decoder, DecoderOptions, FlowControl, Instruction, Mnemonic, OpKind};

/// Where control goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BranchFlow {
    /// To the next instruction.
    Next,
    /// To an offset from the function's start, or to the next instruction.
    Conditional(i64),
    /// To an offset from the function's start.
    Jump(i64),
    /// Somewhere and back.
    Call,
    /// To where a register or a table says, or back to the caller.
    Away,
}

/// What an instruction makes with a conditional jump behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fusion {
    /// Nothing.
    None,
    /// `test`, `and`: one operation with any jump.
    Any,
    /// `cmp`, `add`, `sub`: with those that ask for carry, zero or a signed comparison.
    Compare,
    /// `inc`, `dec`, which leave the carry alone: with those that ask for zero or a signed comparison.
    Count,
}

/// What a conditional jump asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asks {
    /// Nothing: no conditional jump.
    Nothing,
    /// Zero, or a signed comparison.
    Signed,
    /// The carry.
    Carry,
    /// Sign, overflow or parity.
    Flag,
}

/// An instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DecodedInstruction {
    /// Offset in the function, bytes.
    pub at: u64,
    /// Bytes.
    pub bytes: u64,
    /// Where control goes.
    pub flow: BranchFlow,
    /// What it makes with a jump behind it.
    pub fusion: Fusion,
    /// What it asks for.
    pub asks: Asks,
}

impl DecodedInstruction {
    /// Whether this and the conditional jump behind it are one operation on Intel's cores since Sandy Bridge.
    pub fn fuses_with(&self, next: &DecodedInstruction) -> bool {
        match (self.fusion, next.asks) {
            (Fusion::None, _) | (_, Asks::Nothing) => false,
            (Fusion::Any, _) => true,
            (Fusion::Compare, asks) => asks != Asks::Flag,
            (Fusion::Count, asks) => asks == Asks::Signed,
        }
    }
}

/// The instructions of a function that starts at `start`, and the offset of the first bytes that are none.
pub fn operations(bytes: &[u8], start: u64, aarch64: bool) -> (Vec<DecodedInstruction>, Option<u64>) {
    if aarch64 { (words(bytes), None) } else { x86(bytes, start) }
}

fn x86(bytes: &[u8], start: u64) -> (Vec<DecodedInstruction>, Option<u64>) {
    let mut found = Vec::new();
    for instruction in Decoder::with_ip(64, bytes, start, DecoderOptions::NONE).iter() {
        let at = instruction.ip().wrapping_sub(start);
        if instruction.is_invalid() {
            return (found, Some(at));
        }
        found.push(DecodedInstruction {
            at,
            bytes: instruction.len() as u64,
            flow: flow(&instruction, start),
            fusion: fusion(&instruction),
            asks: asks(&instruction),
        });
    }
    (found, None)
}

fn flow(instruction: &Instruction, start: u64) -> BranchFlow {
    let target = || instruction.near_branch_target().wrapping_sub(start) as i64;
    match instruction.flow_control() {
        FlowControl::ConditionalBranch => BranchFlow::Conditional(target()),
        FlowControl::UnconditionalBranch => BranchFlow::Jump(target()),
        FlowControl::Call | FlowControl::IndirectCall => BranchFlow::Call,
        FlowControl::Return | FlowControl::IndirectBranch => BranchFlow::Away,
        _ => BranchFlow::Next,
    }
}

fn fusion(instruction: &Instruction) -> Fusion {
    let kinds = (instruction.op0_kind(), instruction.op1_kind());
    let constant = instruction.op_count() == 2 && !matches!(kinds.1, OpKind::Register | OpKind::Memory);
    // A memory operand against a constant is not fused; neither is one that is written.
    let memory = kinds.0 == OpKind::Memory;
    match instruction.mnemonic() {
        Mnemonic::Test if !(memory && constant) => Fusion::Any,
        Mnemonic::Cmp if !(memory && constant) => Fusion::Compare,
        Mnemonic::And if !memory => Fusion::Any,
        Mnemonic::Add | Mnemonic::Sub if !memory => Fusion::Compare,
        Mnemonic::Inc | Mnemonic::Dec if !memory => Fusion::Count,
        _ => Fusion::None,
    }
}

fn asks(instruction: &Instruction) -> Asks {
    if !instruction.is_jcc_short_or_near() {
        return Asks::Nothing;
    }
    match instruction.condition_code() {
        ConditionCode::e | ConditionCode::ne => Asks::Signed,
        ConditionCode::l | ConditionCode::ge | ConditionCode::le | ConditionCode::g => Asks::Signed,
        ConditionCode::b | ConditionCode::ae | ConditionCode::be | ConditionCode::a => Asks::Carry,
        _ => Asks::Flag,
    }
}

fn words(bytes: &[u8]) -> Vec<DecodedInstruction> {
    let word = |chunk: &[u8]| chunk.try_into().map_or(0, u32::from_le_bytes);
    let operation = |(index, chunk): (usize, &[u8])| {
        let at = 4 * index as u64;
        DecodedInstruction {
            at,
            bytes: 4,
            flow: a64(word(chunk), at as i64),
            fusion: Fusion::None,
            asks: Asks::Nothing,
        }
    };
    bytes.chunks_exact(4).enumerate().map(operation).collect()
}

/// Arm DDI 0487, C4.1.65, branches.
fn a64(word: u32, at: i64) -> BranchFlow {
    let field = |low: u32, bits: u32| {
        let raised = i64::from(word >> low) << (64 - bits);
        at + (raised >> (64 - bits)) * 4
    };
    match word {
        _ if word & 0xfc00_0000 == 0x1400_0000 => BranchFlow::Jump(field(0, 26)),
        _ if word & 0xfc00_0000 == 0x9400_0000 => BranchFlow::Call,
        _ if word & 0xff00_0000 == 0x5400_0000 || word & 0x7e00_0000 == 0x3400_0000 => {
            BranchFlow::Conditional(field(5, 19))
        }
        _ if word & 0x7e00_0000 == 0x3600_0000 => BranchFlow::Conditional(field(5, 14)),
        _ if word & 0xfe00_0000 == 0xd600_0000 => match word >> 21 & 15 {
            1 | 9 => BranchFlow::Call,
            _ => BranchFlow::Away,
        },
        _ => BranchFlow::Next,
    }
}
