//! AArch64, by the bit patterns of its manual.

use super::flow::Flow;
use crate::trace::BranchKind;

/// The signed field of `width` bits from bit `low`, times 4, added to the address.
fn relative(pc: u64, word: u32, low: u32, width: u32) -> u64 {
    let field = i64::from((word << (32 - low - width)) as i32 >> (32 - width));
    pc.wrapping_add_signed(field * 4)
}

pub(super) fn flow(pc: u64, bytes: &[u8]) -> Flow {
    let Some(word) = bytes.first_chunk::<4>().map(|chunk| u32::from_le_bytes(*chunk)) else {
        return Flow::Unknown;
    };
    // B, BL: x00101 imm26
    match word >> 26 {
        0b00_0101 => return Flow::branch(BranchKind::Jump, false, Some(relative(pc, word, 0, 26))),
        0b10_0101 => return Flow::branch(BranchKind::Call, false, Some(relative(pc, word, 0, 26))),
        _ => {}
    }
    // B.cond and BC.cond: 01010100 imm19 o0 cond. Conditions 14 and 15 are "always" and still this instruction.
    // CBZ, CBNZ: x011010x imm19. TBZ, TBNZ: x011011x b40 imm14.
    match word >> 24 {
        0b0101_0100 => return Flow::branch(BranchKind::Jump, true, Some(relative(pc, word, 5, 19))),
        0b0011_0100 | 0b0011_0101 | 0b1011_0100 | 0b1011_0101 => {
            return Flow::branch(BranchKind::Jump, true, Some(relative(pc, word, 5, 19)));
        }
        0b0011_0110 | 0b0011_0111 | 0b1011_0110 | 0b1011_0111 => {
            return Flow::branch(BranchKind::Jump, true, Some(relative(pc, word, 5, 14)));
        }
        _ => {}
    }
    // SVC: 11010100 000 imm16 00001
    if word & 0xffe0_001f == 0xd400_0001 {
        return Flow::SystemCall;
    }
    through_register(word).unwrap_or(Flow::Next)
}

/// 1101011 Z 0 op 11111 0000 A M Rn Rm: op 00 jump, 01 call, 10 return. A says that the address is authenticated; Z that a
/// second register takes part. ERET (op 10 with Z) is none of a program's.
fn through_register(word: u32) -> Option<Flow> {
    if word >> 25 != 0b110_1011 || (word >> 12) & 0x1ff != 0b1_1111_0000 || (word >> 23) & 1 != 0 {
        return None;
    }
    let with_modifier = (word >> 24) & 1 == 1;
    let authenticated = (word >> 11) & 1 == 1;
    if !authenticated && (with_modifier || word & 0x0000_041f != 0) {
        return None;
    }
    let kind = match ((word >> 21) & 3, with_modifier) {
        (0b00, _) => BranchKind::Jump,
        (0b01, _) => BranchKind::Call,
        (0b10, false) => BranchKind::Return,
        _ => return None,
    };
    Some(Flow::branch(kind, false, None))
}

pub(super) fn name(bytes: &[u8]) -> Option<(String, String)> {
    let word = u32::from_le_bytes(*bytes.first_chunk::<4>()?);
    Some((format!("the instruction {word:#010x}"), String::new()))
}

#[cfg(test)]
mod tests {
    use super::super::{InstructionSet, flow};
    use super::*;
    use crate::trace::BranchClass;

    fn at(word: u32) -> Flow {
        flow(InstructionSet::Aarch64, 0x1000, &word.to_le_bytes())
    }

    fn direct(class: BranchClass, target: u64) -> Flow {
        Flow::Branch { class, target: Some(target) }
    }

    fn indirect(class: BranchClass) -> Flow {
        Flow::Branch { class, target: None }
    }

    // Words from GNU as 2.40, -march=armv9-a+hbc where needed.
    #[test]
    fn direct_branches_are_classified_with_their_targets() {
        assert_eq!(at(0x1400_0000), direct(BranchClass::JUMP, 0x1000)); // b .
        assert_eq!(at(0x17ff_ffff), direct(BranchClass::JUMP, 0x0ffc)); // b .-4
        assert_eq!(at(0x9400_0004), direct(BranchClass::CALL, 0x1010)); // bl .+16
        assert_eq!(at(0x5400_0041), direct(BranchClass::CONDITIONAL, 0x1008)); // b.ne .+8
        assert_eq!(at(0x5400_0051), direct(BranchClass::CONDITIONAL, 0x1008)); // bc.ne .+8
        assert_eq!(at(0x54ff_ffc0), direct(BranchClass::CONDITIONAL, 0x0ff8)); // b.eq .-8
        assert_eq!(at(0xb400_0040), direct(BranchClass::CONDITIONAL, 0x1008)); // cbz x0, .+8
        assert_eq!(at(0x35ff_ffe1), direct(BranchClass::CONDITIONAL, 0x0ffc)); // cbnz w1, .-4
        assert_eq!(at(0x3600_0042), direct(BranchClass::CONDITIONAL, 0x1008)); // tbz w2, #0, .+8
        assert_eq!(at(0xb7ff_ffe3), direct(BranchClass::CONDITIONAL, 0x0ffc)); // tbnz x3, #63, .-4
    }

    #[test]
    fn branches_through_registers_are_classified_authenticated_or_not() {
        assert_eq!(at(0xd61f_0200), indirect(BranchClass::INDIRECT_JUMP)); // br x16
        assert_eq!(at(0xd61f_0810 | 1), indirect(BranchClass::INDIRECT_JUMP)); // braaz-shaped
        assert_eq!(at(0xd71f_0a11), indirect(BranchClass::INDIRECT_JUMP)); // braa x16, x17
        assert_eq!(at(0xd71f_0e11), indirect(BranchClass::INDIRECT_JUMP)); // brab x16, x17
        assert_eq!(at(0xd63f_0020), indirect(BranchClass::INDIRECT_CALL)); // blr x1
        assert_eq!(at(0xd63f_083f), indirect(BranchClass::INDIRECT_CALL)); // blraaz x1
        assert_eq!(at(0xd73f_0822), indirect(BranchClass::INDIRECT_CALL)); // blraa x1, x2
        assert_eq!(at(0xd65f_03c0), indirect(BranchClass::RETURN)); // ret
        assert_eq!(at(0xd65f_0bff), indirect(BranchClass::RETURN)); // retaa
        assert_eq!(at(0xd65f_0fff), indirect(BranchClass::RETURN)); // retab
    }

    #[test]
    fn system_calls_and_the_rest_are_no_branches() {
        assert_eq!(at(0xd400_0001), Flow::SystemCall); // svc #0
        assert_eq!(at(0xd420_0000), Flow::Next); // brk #0
        assert_eq!(at(0xd503_201f), Flow::Next); // nop
        assert_eq!(at(0xd69f_03e0), Flow::Next); // eret
        assert_eq!(at(0x5800_0041), Flow::Next); // ldr x1, .+8
        assert_eq!(at(0x1000_0040), Flow::Next); // adr x0, .+8
        assert_eq!(flow(InstructionSet::Aarch64, 0, &[0, 0, 0]), Flow::Unknown);
    }

    #[test]
    fn fields_are_cut_where_the_manual_cuts_them() {
        // tbz w2, #31, .+0x7ffc: bits of the bit's number must not leak into the distance.
        assert_eq!(at(0x36fb_ffe2), direct(BranchClass::CONDITIONAL, 0x1000 + 0x7ffc));
        // b.eq .-0x100000, the farthest
        assert_eq!(at(0x5480_0000), direct(BranchClass::CONDITIONAL, 0x1000_u64.wrapping_sub(0x10_0000)));
    }
}
