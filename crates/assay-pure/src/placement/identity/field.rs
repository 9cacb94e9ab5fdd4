//! The fields of an instruction that depend on where things lie.

use super::code::{Disassembly, baseless, branches};
use super::image::LinkedImage;
use iced_x86::{Mnemonic, OpKind, Register};

/// What a field holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// The target of a direct branch or call, as an address.
    Branch(u64),
    /// The address of data or code that an operand names.
    Address(u64),
    /// A constant that may be an address, since the file is linked to one place.
    Perhaps(u64),
}

/// One field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// Offset in the instruction, bytes.
    pub offset: usize,
    /// Bytes.
    pub size: usize,
    /// What it holds.
    pub meaning: Meaning,
}

/// The fields of one instruction of a function.
pub fn fields(image: &LinkedImage, code: &Disassembly, index: usize) -> Vec<Field> {
    let step = &code.steps[index];
    let (instruction, constants) = (&step.instruction, &step.constants);
    let mut found = Vec::new();
    let displacement = (constants.displacement_offset(), constants.displacement_size());
    match baseless(instruction).filter(|_| image.fixed || instruction.is_ip_rel_memory_operand()) {
        Some(address) => found.push(field(displacement, Meaning::Address(address))),
        None if image.fixed && displacement.1 >= 4 => {
            found.push(field(displacement, Meaning::Perhaps(instruction.memory_displacement64())));
        }
        None => {}
    }
    let immediate = (constants.immediate_offset(), constants.immediate_size());
    if branches(instruction) {
        found.push(field(immediate, Meaning::Branch(instruction.near_branch_target())));
    } else if image.fixed && immediate.1 >= 4 {
        let constant =
            (0..instruction.op_count()).find(|&operand| is_wide_immediate(instruction.op_kind(operand)));
        found.extend(
            constant.map(|operand| field(immediate, Meaning::Perhaps(instruction.immediate(operand)))),
        );
    }
    found
}

fn field((offset, size): (usize, usize), meaning: Meaning) -> Field {
    Field { offset, size, meaning }
}

fn is_wide_immediate(kind: OpKind) -> bool {
    matches!(kind, OpKind::Immediate32 | OpKind::Immediate32to64 | OpKind::Immediate64)
}

/// Whether two instructions are equal but for fields that depend on where things lie; these may differ in a way that
/// is still to be judged.
pub fn equal_but_for_fields(image: &LinkedImage, a: &Disassembly, b: &Disassembly, index: usize) -> bool {
    let (mut first, mut second) = (a.bytes_of(index).to_vec(), b.bytes_of(index).to_vec());
    if first == second {
        return true;
    }
    for (field_a, field_b) in fields(image, a, index).iter().zip(&fields(image, b, index)) {
        if field_a.size == field_b.size
            && field_a.offset == field_b.offset
            && may_differ(image, field_a, field_b)
        {
            hide(&mut first, field_a);
            hide(&mut second, field_b);
        }
    }
    first == second
}

fn hide(bytes: &mut [u8], field: &Field) {
    if let Some(hidden) = bytes.get_mut(field.offset..field.offset + field.size) {
        hidden.fill(0);
    }
}

fn may_differ(image: &LinkedImage, a: &Field, b: &Field) -> bool {
    let mapped = |address| image.section_at(address).is_some();
    match (a.meaning, b.meaning) {
        (Meaning::Branch(_), Meaning::Branch(_)) | (Meaning::Address(_), Meaning::Address(_)) => true,
        (Meaning::Perhaps(a), Meaning::Perhaps(b)) => mapped(a) && mapped(b),
        _ => false,
    }
}

/// Whether an instruction takes the address of data, or indexes data at a fixed address, so that how much of it is
/// read is not seen.
pub fn reaches_beyond(code: &Disassembly, index: usize) -> bool {
    let instruction = &code.steps[index].instruction;
    instruction.mnemonic() == Mnemonic::Lea || instruction.memory_index() != Register::None
}
