//! Functions of x86-64 as lines.

use super::listing::{FieldReference, FunctionListing, Leads, ListedInstruction};
use crate::placement::identity::code::{self, Disassembly, baseless};
use crate::placement::identity::data::ReadExtent;
use crate::placement::identity::field::{self, Meaning};
use crate::placement::identity::image::LinkedImage;
use crate::placement::identity::jump_table::{self, JumpTables};
use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction, Mnemonic, OpKind, Register};
use std::collections::{BTreeMap, BTreeSet};

/// Decodes the function that starts at `entry`.
///
/// # Errors
/// In words: no symbol starts there, or its bytes are not known.
pub fn listing(image: &LinkedImage, entry: u64) -> Result<FunctionListing, String> {
    let code = Disassembly::decode(image, entry)?;
    let tables = JumpTables::find(image, &code);
    let mut through = BTreeMap::new();
    let mut known = Vec::new();
    for dispatch in &tables.dispatches {
        if tables.certain(image, &code, dispatch).is_ok() {
            let entries = jump_table::entries(image, dispatch.table, dispatch.is_relative());
            through.extend(dispatch.mentions.iter().map(|&index| (index, entries.clone())));
            known.push(dispatch.jump);
        }
    }
    let padding = unreachable_padding(&code, &through);
    let kept = (0..code.steps.len()).filter(|index| !padding[*index]);
    let lines = kept.map(|index| line(image, &code, index, &through)).collect();
    let steps = || code.steps.iter().map(|step| &step.instruction);
    let unexplained = (0..code.steps.len()).find(|index| {
        let instruction = &code.steps[*index].instruction;
        instruction.flow_control() == FlowControl::IndirectBranch
            && !instruction.is_ip_rel_memory_operand()
            && !known.contains(index)
    });
    Ok(FunctionListing {
        address: code.address,
        lines,
        undecodable: code.undecodable,
        runs_out: code.runs_out(),
        behind: code.address.wrapping_add(code.bytes.len() as u64),
        reads_offsets: steps().any(reads_offset),
        unexplained: unexplained.map(|index| code.offset(index)),
        bytes: code.bytes,
    })
}

/// Which instructions are padding that stands behind a jump or a return and that nothing leads to.
fn unreachable_padding(code: &Disassembly, through: &BTreeMap<usize, Vec<u64>>) -> Vec<bool> {
    let branches = code.steps.iter().filter(|step| code::branches(&step.instruction));
    let mut targets: BTreeSet<u64> = branches.map(|step| step.instruction.near_branch_target()).collect();
    targets.extend(through.values().flatten());
    let mut found = vec![false; code.steps.len()];
    let mut reachable = true;
    for (index, step) in code.steps.iter().enumerate() {
        let instruction = &step.instruction;
        reachable |= targets.contains(&instruction.ip()) || !code::is_padding(instruction);
        found[index] = !reachable;
        reachable &= !code::ends(instruction);
    }
    found
}

/// The kind of a jump to a target in its own bytes: without `call`, `loop` and `jrcxz`, which have but one form.
fn jump(instruction: &Instruction) -> Option<u32> {
    let direct = instruction.is_jmp_short_or_near() || instruction.is_jcc_short_or_near();
    direct.then(|| instruction.mnemonic() as u32 + u32::from(instruction.has_repne_prefix()) * 0x1_0000)
}

fn reads_offset(instruction: &Instruction) -> bool {
    instruction.mnemonic() == Mnemonic::Movsxd
        && instruction.op1_kind() == OpKind::Memory
        && !instruction.is_ip_rel_memory_operand()
}

fn line(
    image: &LinkedImage,
    code: &Disassembly,
    index: usize,
    through: &BTreeMap<usize, Vec<u64>>,
) -> ListedInstruction {
    let instruction = &code.steps[index].instruction;
    let mut references: Vec<FieldReference> = Vec::new();
    for field in field::fields(image, code, index) {
        let leads = match field.meaning {
            Meaning::Branch(to) => Leads::Code(to),
            Meaning::Address(to) => match through.get(&index) {
                Some(entries) => Leads::Table(entries.clone()),
                None => data(image, code, index, to),
            },
            Meaning::Perhaps(to) => Leads::Perhaps(to),
        };
        references.push(FieldReference { offset: field.offset, mask: mask(field.size), leads });
    }
    references.extend(thread(code, index));
    ListedInstruction {
        at: code.offset(index),
        length: instruction.len(),
        references,
        jump: jump(instruction),
    }
}

fn data(image: &LinkedImage, code: &Disassembly, index: usize, to: u64) -> Leads {
    let instruction = &code.steps[index].instruction;
    let takes_address = instruction.mnemonic() == Mnemonic::Lea;
    if takes_address && !instruction.is_ip_rel_memory_operand() {
        return Leads::Perhaps(to);
    }
    if takes_address && image.is_code(to) {
        return Leads::Code(to);
    }
    let extent = match field::reaches_beyond(code, index) {
        true => ReadExtent::Object,
        false => ReadExtent::Bytes(instruction.memory_size().size() as u64),
    };
    Leads::Data(to, extent)
}

/// `fs:[offset]`, a variable of the thread at an offset that the linker chose.
fn thread(code: &Disassembly, index: usize) -> Option<FieldReference> {
    let step = &code.steps[index];
    let instruction = &step.instruction;
    let alone = (0..instruction.op_count()).any(|operand| instruction.op_kind(operand) == OpKind::Memory)
        && instruction.memory_base() == Register::None
        && instruction.memory_segment() == Register::FS
        && step.constants.displacement_size() >= 4;
    alone.then(|| FieldReference {
        offset: step.constants.displacement_offset(),
        mask: mask(step.constants.displacement_size()),
        leads: Leads::Thread(instruction.memory_displacement64() as i64),
    })
}

fn mask(bytes: usize) -> u64 {
    if bytes >= 8 { u64::MAX } else { (1 << (8 * bytes)) - 1 }
}

/// The slot that a stub jumps through: `jmp [rip+slot]`, perhaps after `endbr64` or pushes of its number.
pub fn stub(image: &LinkedImage, address: u64) -> Option<u64> {
    let end = image.section_at(address)?.end();
    let bytes = image.bytes(address, 16.min(end - address))?;
    for instruction in Decoder::with_ip(64, bytes, address, DecoderOptions::NONE).iter().take(3) {
        match instruction.flow_control() {
            FlowControl::IndirectBranch => return baseless(&instruction),
            FlowControl::Next => {}
            _ => return None,
        }
    }
    None
}
