//! Machine code as text, and where it can go on: x86-64 and AArch64.
//!
//! Sources: x86-64 by iced-x86; AArch64 text by yaxpeax-arm, its branches by the encodings of the Arm ARM (DDI 0487),
//! section C4.1.93 "Branches, Exception Generating and System instructions".

use iced_x86::{Decoder, DecoderOptions, FlowControl, Formatter as _, IntelFormatter};
use yaxpeax_arch::{Decoder as _, U8Reader};
use yaxpeax_arm::armv8::a64::ARMv8;

/// What a module's code is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModuleCode {
    /// x86-64.
    X86_64,
    /// AArch64.
    Aarch64,
    /// Another, whose code is not read.
    Other,
}

/// Where code goes on after an instruction, by the instruction alone, as addresses in the file.
///
/// [`BranchFlow`](assay_pure::placement::facts::BranchFlow) has offsets in one function and no callee; `BlockEnding` in
/// `decode` tells classes of branches apart and has no target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InstructionFlow {
    /// To the next one.
    Next,
    /// There or to the next one.
    Conditional(u64),
    /// There.
    Jump(u64),
    /// There, and then to the next one.
    Call(u64),
    /// Unknown from the instruction alone: returns, indirect jumps, traps.
    Away,
}

/// An instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// Its address.
    pub address: u64,
    /// Bytes.
    pub length: u8,
    /// Where code goes on.
    pub flow: InstructionFlow,
    /// It does nothing: padding.
    pub is_nop: bool,
}

impl Instruction {
    /// The address after it.
    pub fn end(&self) -> u64 {
        self.address.wrapping_add(u64::from(self.length))
    }
}

/// The instructions of a stretch of code, up to the first bytes that are none.
pub fn decode(architecture: ModuleCode, code: &[u8], address: u64) -> Vec<Instruction> {
    match architecture {
        ModuleCode::X86_64 => decode_x86(code, address),
        ModuleCode::Aarch64 => {
            let words = code.chunks_exact(4).map(|bytes| [bytes[0], bytes[1], bytes[2], bytes[3]]);
            let addresses = (0..).map(|nth: u64| address.wrapping_add(4 * nth));
            words
                .zip(addresses)
                .map(|(bytes, address)| {
                    let word = u32::from_le_bytes(bytes);
                    let flow = a64_flow(word, address);
                    Instruction { address, length: 4, flow, is_nop: word == 0xd503_201f }
                })
                .collect()
        }
        ModuleCode::Other => Vec::new(),
    }
}

/// One instruction as text: Intel's syntax for x86-64, Arm's for AArch64; a direct branch names its target's address.
pub fn text(architecture: ModuleCode, code: &[u8], address: u64) -> Option<String> {
    match architecture {
        ModuleCode::X86_64 => text_x86(code, address),
        ModuleCode::Aarch64 => {
            let word = u32::from_le_bytes(code.get(..4)?.try_into().ok()?);
            Some(text_a64(word, address))
        }
        ModuleCode::Other => None,
    }
}

fn decode_x86(code: &[u8], address: u64) -> Vec<Instruction> {
    let mut decoder = Decoder::with_ip(64, code, address, DecoderOptions::NONE);
    let mut found = Vec::new();
    while decoder.can_decode() {
        let instruction = decoder.decode();
        if instruction.is_invalid() {
            break;
        }
        let target = instruction.near_branch_target();
        let flow = match instruction.flow_control() {
            FlowControl::ConditionalBranch => InstructionFlow::Conditional(target),
            FlowControl::UnconditionalBranch => InstructionFlow::Jump(target),
            FlowControl::Call if instruction.is_call_near() => InstructionFlow::Call(target),
            // A call of the system is a call without a target.
            FlowControl::Call
            | FlowControl::Next
            | FlowControl::IndirectCall
            | FlowControl::XbeginXabortXend => InstructionFlow::Next,
            FlowControl::Interrupt | FlowControl::IndirectBranch | FlowControl::Return => {
                InstructionFlow::Away
            }
            FlowControl::Exception => InstructionFlow::Away,
        };
        let is_nop = matches!(instruction.mnemonic(), iced_x86::Mnemonic::Nop);
        let length = u8::try_from(instruction.len()).unwrap_or(15);
        found.push(Instruction { address: instruction.ip(), length, flow, is_nop });
    }
    found
}

fn text_x86(code: &[u8], address: u64) -> Option<String> {
    let instruction = Decoder::with_ip(64, code, address, DecoderOptions::NONE).decode();
    if instruction.is_invalid() {
        return None;
    }
    let mut formatter = IntelFormatter::new();
    let options = formatter.options_mut();
    options.set_hex_prefix("0x");
    options.set_hex_suffix("");
    options.set_uppercase_hex(false);
    options.set_branch_leading_zeros(false);
    options.set_rip_relative_addresses(true);
    options.set_show_branch_size(false);
    options.set_space_after_operand_separator(true);
    options.set_small_hex_numbers_in_decimal(true);
    let mut text = String::new();
    formatter.format(&instruction, &mut text);
    Some(text)
}

const CONDITIONS: [&str; 16] =
    ["eq", "ne", "hs", "lo", "mi", "pl", "vs", "vc", "hi", "ls", "ge", "lt", "gt", "le", "al", "nv"];

/// A field of signed words from an instruction, as a target.
fn a64_target(word: u32, address: u64, low: u32, bits: u32) -> u64 {
    let field = i64::from((word << (32 - low - bits)) as i32 >> (32 - bits));
    address.wrapping_add_signed(field * 4)
}

fn a64_flow(word: u32, address: u64) -> InstructionFlow {
    if word & 0xfc00_0000 == 0x1400_0000 {
        InstructionFlow::Jump(a64_target(word, address, 0, 26))
    } else if word & 0xfc00_0000 == 0x9400_0000 {
        InstructionFlow::Call(a64_target(word, address, 0, 26))
    } else if word & 0xff00_0000 == 0x5400_0000 || word & 0x7e00_0000 == 0x3400_0000 {
        // B.cond and BC.cond; CBZ and CBNZ.
        InstructionFlow::Conditional(a64_target(word, address, 5, 19))
    } else if word & 0x7e00_0000 == 0x3600_0000 {
        InstructionFlow::Conditional(a64_target(word, address, 5, 14))
    } else if word & 0xfe00_0000 == 0xd600_0000 {
        // Bits 24:21: 1 and 9 are calls through a register; the others jump or return.
        if matches!(word >> 21 & 0b111, 1) { InstructionFlow::Next } else { InstructionFlow::Away }
    } else if word & 0xffff_0000 == 0 || word & 0xffe0_001f == 0xd420_0000 {
        // UDF, BRK.
        InstructionFlow::Away
    } else {
        InstructionFlow::Next
    }
}

fn text_a64(word: u32, address: u64) -> String {
    let register = |wide: bool| {
        let number = word & 31;
        match (wide, number) {
            (true, 31) => "xzr".to_owned(),
            (false, 31) => "wzr".to_owned(),
            (true, _) => format!("x{number}"),
            (false, _) => format!("w{number}"),
        }
    };
    match a64_flow(word, address) {
        InstructionFlow::Jump(target) => format!("b {target:#x}"),
        InstructionFlow::Call(target) => format!("bl {target:#x}"),
        InstructionFlow::Conditional(target) => {
            let not = if word & 1 << 24 == 0 { "" } else { "n" };
            if word & 0xff00_0000 == 0x5400_0000 {
                let consistent = if word & 16 == 0 { "b" } else { "bc" };
                format!("{consistent}.{} {target:#x}", CONDITIONS[(word & 15) as usize])
            } else if word & 0x7e00_0000 == 0x3400_0000 {
                format!("cb{not}z {}, {target:#x}", register(word >> 31 != 0))
            } else {
                let bit = (word >> 31) << 5 | word >> 19 & 31;
                format!("tb{not}z {}, #{bit}, {target:#x}", register(bit > 31))
            }
        }
        InstructionFlow::Next | InstructionFlow::Away => {
            let bytes = word.to_le_bytes();
            let decoded =
                <ARMv8 as yaxpeax_arch::Arch>::Decoder::default().decode(&mut U8Reader::new(&bytes));
            decoded.map_or_else(|_| format!(".inst {word:#010x}"), |instruction| instruction.to_string())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes and texts as GNU objdump 2.40 has them (`-d`, `-M intel`).
    #[test]
    fn x86_branches_are_read_and_named() {
        let cases: [(&[u8], InstructionFlow, &str); 8] = [
            (&[0x76, 0x1b], InstructionFlow::Conditional(0x13c0), "jbe 0x13c0"),
            (&[0x0f, 0x85, 0x00, 0x01, 0, 0], InstructionFlow::Conditional(0x14a9), "jne 0x14a9"),
            (&[0xeb, 0xde], InstructionFlow::Jump(0x1383), "jmp 0x1383"),
            (&[0xe8, 0x1b, 0xff, 0xff, 0xff], InstructionFlow::Call(0x12c3), "call 0x12c3"),
            (&[0xff, 0xd0], InstructionFlow::Next, "call rax"),
            (&[0xff, 0xe0], InstructionFlow::Away, "jmp rax"),
            (&[0xc3], InstructionFlow::Away, "ret"),
            (&[0x83, 0xff, 0x07], InstructionFlow::Next, "cmp edi, 7"),
        ];
        for (code, flow, expected) in cases {
            let found = decode(ModuleCode::X86_64, code, 0x13a3);
            assert_eq!((found.len(), found[0].flow), (1, flow), "{expected}");
            assert_eq!(found[0].end(), 0x13a3 + code.len() as u64);
            assert_eq!(text(ModuleCode::X86_64, code, 0x13a3).as_deref(), Some(expected));
        }
        assert_eq!(decode(ModuleCode::X86_64, &[0x0f, 0x0b], 0)[0].flow, InstructionFlow::Away);
        assert_eq!(decode(ModuleCode::X86_64, &[0x0f, 0x05], 0)[0].flow, InstructionFlow::Next);
    }

    #[test]
    fn what_is_no_instruction_ends_the_code() {
        assert_eq!(decode(ModuleCode::X86_64, &[0x90, 0x06, 0x90], 0).len(), 1);
        assert_eq!(text(ModuleCode::X86_64, &[0x06], 0), None);
        assert_eq!(decode(ModuleCode::Aarch64, &[0x1f, 0x20, 0x03, 0xd5, 0], 0).len(), 1);
        assert_eq!(text(ModuleCode::Aarch64, &[0, 0], 0), None);
        assert_eq!(decode(ModuleCode::Other, &[0x90], 0), []);
        assert_eq!(text(ModuleCode::Other, &[0x90], 0), None);
    }

    /// Words and texts as GNU objdump 2.40 has them.
    #[test]
    fn a64_branches_are_read_and_named() {
        let cases = [
            (0x1400_0003, InstructionFlow::Jump(0x100c), "b 0x100c"),
            (0x17ff_ffff, InstructionFlow::Jump(0xffc), "b 0xffc"),
            (0x97ff_fff0, InstructionFlow::Call(0xfc0), "bl 0xfc0"),
            (0x5400_0089, InstructionFlow::Conditional(0x1010), "b.ls 0x1010"),
            (0x54ff_ffe1, InstructionFlow::Conditional(0xffc), "b.ne 0xffc"),
            (0xb400_0060, InstructionFlow::Conditional(0x100c), "cbz x0, 0x100c"),
            (0x3500_007f, InstructionFlow::Conditional(0x100c), "cbnz wzr, 0x100c"),
            (0x3618_0041, InstructionFlow::Conditional(0x1008), "tbz w1, #3, 0x1008"),
            (0xb71f_ffe2, InstructionFlow::Conditional(0xffc), "tbnz x2, #35, 0xffc"),
            (0xd61f_0200, InstructionFlow::Away, "br x16"),
            (0xd63f_0020, InstructionFlow::Next, "blr x1"),
            (0xd65f_03c0, InstructionFlow::Away, "ret"),
            (0xd73f_0811, InstructionFlow::Next, "blraa x0, x17"),
            (0xd420_0020, InstructionFlow::Away, "brk #0x1"),
        ];
        for (word, flow, expected) in cases {
            let code = u32::to_le_bytes(word);
            assert_eq!(decode(ModuleCode::Aarch64, &code, 0x1000)[0].flow, flow, "{expected}");
            assert_eq!(text(ModuleCode::Aarch64, &code, 0x1000).as_deref(), Some(expected));
        }
    }

    #[test]
    fn padding_is_known_as_such() {
        assert!(decode(ModuleCode::X86_64, &[0x66, 0x0f, 0x1f, 0x44, 0, 0], 0)[0].is_nop);
        assert!(decode(ModuleCode::Aarch64, &0xd503_201f_u32.to_le_bytes(), 0)[0].is_nop);
        assert!(!decode(ModuleCode::X86_64, &[0xc3], 0)[0].is_nop);
    }
}
