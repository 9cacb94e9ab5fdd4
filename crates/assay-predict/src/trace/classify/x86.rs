//! x86-64, by iced-x86.

use super::flow::Flow;
use crate::trace::BranchKind;
use iced_x86::{Code, Decoder, DecoderError, DecoderOptions, FlowControl, Instruction, Mnemonic, OpKind};

fn decode(pc: u64, bytes: &[u8]) -> Option<Instruction> {
    let mut decoder = Decoder::with_ip(64, bytes, pc, DecoderOptions::NONE);
    let instruction = decoder.decode();
    (!instruction.is_invalid()).then_some(instruction)
}

pub(super) fn flow(pc: u64, bytes: &[u8]) -> Flow {
    let Some(instruction) = decode(pc, bytes) else {
        return Flow::Unknown;
    };
    let target = match instruction.op0_kind() {
        OpKind::NearBranch16 | OpKind::NearBranch32 | OpKind::NearBranch64 => {
            Some(instruction.near_branch_target())
        }
        _ => None,
    };
    match instruction.flow_control() {
        FlowControl::ConditionalBranch => Flow::branch(BranchKind::Jump, true, target),
        FlowControl::UnconditionalBranch => Flow::branch(BranchKind::Jump, false, target),
        FlowControl::IndirectBranch => Flow::branch(BranchKind::Jump, false, None),
        FlowControl::Return => Flow::branch(BranchKind::Return, false, None),
        FlowControl::IndirectCall => Flow::branch(BranchKind::Call, false, None),
        FlowControl::Call if target.is_some() => Flow::branch(BranchKind::Call, false, target),
        FlowControl::Call if instruction.code() == Code::Syscall => Flow::SystemCall,
        FlowControl::Next if repeats(&instruction) => Flow::Repeat,
        _ => Flow::Next,
    }
}

/// A prefix F2 or F3 that means repetition, in front of an instruction that knows it.
fn repeats(instruction: &Instruction) -> bool {
    instruction.is_string_instruction() && (instruction.has_rep_prefix() || instruction.has_repne_prefix())
}

pub(super) fn whole(bytes: &[u8]) -> bool {
    let mut decoder = Decoder::new(64, bytes, DecoderOptions::NONE);
    let _ = decoder.decode();
    decoder.last_error() != DecoderError::NoMoreBytes
}

pub(super) fn name(bytes: &[u8]) -> Option<(String, String)> {
    let instruction = decode(0, bytes)?;
    if instruction.mnemonic() == Mnemonic::INVALID {
        return None;
    }
    let mnemonic = format!("{:?}", instruction.mnemonic()).to_lowercase();
    let features: Vec<String> =
        instruction.cpuid_features().iter().map(|feature| format!("{feature:?}")).collect();
    Some((mnemonic, features.join(" and ")))
}

/// Looks for F2 or F3, up to three other prefixes, and the opcode of a string instruction at the end of `before`.
pub(super) fn may_follow_repeat(before: &[u8]) -> bool {
    let Some((&opcode, prefixes)) = before.split_last() else {
        return false;
    };
    if !matches!(opcode, 0x6c..=0x6f | 0xa4..=0xa7 | 0xaa..=0xaf) {
        return false;
    }
    for &byte in prefixes.iter().rev().take(4) {
        match byte {
            0xf2 | 0xf3 => return true,
            0x26 | 0x2e | 0x36 | 0x3e | 0x40..=0x4f | 0x64..=0x67 => {}
            _ => return false,
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::super::{InstructionSet, flow, may_follow_repeat, name};
    use super::*;
    use crate::trace::BranchClass;

    fn at(bytes: &[u8]) -> Flow {
        flow(InstructionSet::X86_64, 0x1000, bytes)
    }

    fn direct(class: BranchClass, target: u64) -> Flow {
        Flow::Branch { class, target: Some(target) }
    }

    fn indirect(class: BranchClass) -> Flow {
        Flow::Branch { class, target: None }
    }

    // Bytes from GNU as 2.40.
    #[test]
    fn direct_branches_are_classified_with_their_targets() {
        assert_eq!(at(&[0x75, 0xfe]), direct(BranchClass::CONDITIONAL, 0x1000)); // jne .
        assert_eq!(at(&[0x0f, 0x84, 0x10, 0, 0, 0]), direct(BranchClass::CONDITIONAL, 0x1016)); // je .+22
        assert_eq!(at(&[0xf2, 0x74, 0x00]), direct(BranchClass::CONDITIONAL, 0x1003)); // bnd je .+3
        assert_eq!(at(&[0xe2, 0xfe]), direct(BranchClass::CONDITIONAL, 0x1000)); // loop .
        assert_eq!(at(&[0xe1, 0x02]), direct(BranchClass::CONDITIONAL, 0x1004)); // loope .+4
        assert_eq!(at(&[0xe3, 0x05]), direct(BranchClass::CONDITIONAL, 0x1007)); // jrcxz .+7
        assert_eq!(at(&[0xeb, 0x00]), direct(BranchClass::JUMP, 0x1002)); // jmp .+2
        assert_eq!(at(&[0xe9, 0xfb, 0xff, 0xff, 0xff]), direct(BranchClass::JUMP, 0x1000)); // jmp . (near)
        assert_eq!(at(&[0xe8, 0, 1, 0, 0]), direct(BranchClass::CALL, 0x1105)); // call .+0x105
    }

    #[test]
    fn indirect_branches_are_classified() {
        assert_eq!(at(&[0xff, 0xe0]), indirect(BranchClass::INDIRECT_JUMP)); // jmp *%rax
        assert_eq!(at(&[0x3e, 0xff, 0xe2]), indirect(BranchClass::INDIRECT_JUMP)); // notrack jmp *%rdx
        assert_eq!(at(&[0xff, 0x25, 0, 0, 0, 0]), indirect(BranchClass::INDIRECT_JUMP)); // jmp *(%rip)
        assert_eq!(at(&[0xff, 0xd0]), indirect(BranchClass::INDIRECT_CALL)); // call *%rax
        assert_eq!(at(&[0xff, 0x14, 0xc5, 0, 0, 0, 0]), indirect(BranchClass::INDIRECT_CALL)); // call *0(,%rax,8)
        assert_eq!(at(&[0xc3]), indirect(BranchClass::RETURN)); // ret
        assert_eq!(at(&[0xf3, 0xc3]), indirect(BranchClass::RETURN)); // repz ret
        assert_eq!(at(&[0xc2, 8, 0]), indirect(BranchClass::RETURN)); // ret $8
    }

    #[test]
    fn system_calls_repeats_and_the_rest_are_no_branches() {
        assert_eq!(at(&[0x0f, 0x05]), Flow::SystemCall);
        assert_eq!(at(&[0xf3, 0xa4]), Flow::Repeat); // rep movsb
        assert_eq!(at(&[0xf3, 0x48, 0xab]), Flow::Repeat); // rep stosq
        assert_eq!(at(&[0xf2, 0xae]), Flow::Repeat); // repnz scasb
        assert_eq!(at(&[0xa4]), Flow::Next); // movsb
        assert_eq!(at(&[0xf3, 0x90]), Flow::Next); // pause
        assert_eq!(at(&[0xf3, 0x0f, 0x10, 0xc1]), Flow::Next); // movss: F3 is part of the opcode
        assert_eq!(at(&[0x0f, 0xa2]), Flow::Next); // cpuid
        assert_eq!(at(&[0x0f, 0x0b]), Flow::Next); // ud2
        assert_eq!(at(&[0x06]), Flow::Unknown); // push %es, not in 64 bits
        assert_eq!(at(&[]), Flow::Unknown);
        assert_eq!(at(&[0xe8, 0]), Flow::Unknown); // cut short
    }

    #[test]
    fn each_beginning_of_an_instruction_is_not_whole() {
        // je .+22, call .+0x105, rep stosq, movabs, vpermb
        let instructions: [&[u8]; 5] = [
            &[0x0f, 0x84, 0x10, 0, 0, 0],
            &[0xe8, 0, 1, 0, 0],
            &[0xf3, 0x48, 0xab],
            &[0x48, 0xb8, 1, 2, 3, 4, 5, 6, 7, 8],
            &[0x62, 0xf2, 0x75, 0x48, 0x8d, 0xd0],
        ];
        for bytes in instructions {
            assert!(whole(bytes), "{bytes:x?}");
            assert!((0..bytes.len()).all(|end| !whole(&bytes[..end])), "{bytes:x?}");
        }
        assert!(whole(&[0x06, 0, 0])); // no instruction, however it goes on
    }

    #[test]
    fn an_instruction_is_named_with_its_extension() {
        let named = |bytes: &[u8]| name(InstructionSet::X86_64, bytes);
        // vpermb %zmm0,%zmm1,%zmm2
        let vpermb = named(&[0x62, 0xf2, 0x75, 0x48, 0x8d, 0xd0]);
        assert_eq!(vpermb, Some(("vpermb".to_string(), "AVX512_VBMI".to_string())));
        assert_eq!(named(&[0x06]), None);
    }

    #[test]
    fn the_end_of_a_repeated_instruction_is_seen_from_behind() {
        assert!(may_follow_repeat(&[0x90, 0xf3, 0xa4]));
        assert!(may_follow_repeat(&[0xf3, 0x48, 0xab]));
        assert!(may_follow_repeat(&[0xf2, 0x67, 0x66, 0x48, 0xa7]));
        assert!(!may_follow_repeat(&[0x90, 0xa4]));
        assert!(!may_follow_repeat(&[0xf3, 0x90]));
        assert!(!may_follow_repeat(&[0xa4]));
        assert!(!may_follow_repeat(&[]));
        assert!(!may_follow_repeat(&[0xf3, 0x01, 0xa8, 0xa8]));
    }
}
