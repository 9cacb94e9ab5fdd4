//! Jump tables: the code that reads them, and where their entries lead.
//!
//! Two forms are known. `lea B,[rip+T]; movsxd R,[B+I*4]; add R,B; jmp R`, whose entries are offsets from the table,
//! and `jmp [T+I*8]`, whose entries are addresses. Which tables `B` can hold is found by following control backwards
//! from the load to every definition, first as if no table led anywhere, then again with all edges that the tables
//! found so add; only if both agree is it certain, because then no execution can have left these edges before.

use super::code::{Disassembly, baseless};
use super::dispatch::Dispatch;
use super::flow::{FlowGraph, is_indirect, writes};
use super::image::{Access, LinkedImage};
use super::{CodeComparison, NotSame, PairToCompare};
use iced_x86::{FlowControl, Mnemonic, OpKind, Register};
use std::collections::BTreeSet;

/// The jump tables of a function.
pub struct JumpTables {
    /// The jumps through them.
    pub dispatches: Vec<Dispatch>,
}

impl JumpTables {
    /// Finds those of the known forms.
    pub fn find(image: &LinkedImage, code: &Disassembly) -> Self {
        let jumps = (0..code.steps.len()).filter(|&index| is_indirect(&code.steps[index].instruction));
        let found =
            jumps.filter_map(|jump| relative(image, code, jump).or_else(|| absolute(image, code, jump)));
        let mut dispatches: Vec<Dispatch> = found.collect();
        for dispatch in &mut dispatches {
            let inside = entries(image, dispatch.table, dispatch.is_relative());
            let indices = inside.iter().filter_map(|&to| code.index_at(code.inside(to)?));
            dispatch.targets = indices.collect();
        }
        Self { dispatches }
    }

    /// Whether an instruction mentions a table, and nothing else is to be compared at its address.
    pub fn mentions(&self, index: usize) -> bool {
        self.dispatches.iter().any(|dispatch| dispatch.mentions.contains(&index))
    }

    /// That a jump really goes through this table, and that the table is used for nothing else.
    ///
    /// # Errors
    /// Why that is not certain.
    pub fn certain(
        &self,
        image: &LinkedImage,
        code: &Disassembly,
        dispatch: &Dispatch,
    ) -> Result<(), NotSame> {
        if !dispatch.is_relative() {
            return Ok(());
        }
        let mut between = dispatch.load + 1..=dispatch.jump;
        let flow = FlowGraph::new(image, code, &self.dispatches);
        if between.any(|index| flow.is_entered(index)) {
            return NotSame::unknown("control enters a jump through a table in its middle");
        }
        if flow.definitions(dispatch.load, dispatch.base).as_ref() != Some(&dispatch.mentions) {
            return NotSame::unknown("which jump table is used is not certain");
        }
        match flow.used_otherwise(dispatch) {
            true => NotSame::unknown("the address of a jump table is used for something else"),
            false => Ok(()),
        }
    }
}

impl Dispatch {
    /// Whether its entries are offsets from where it lies.
    pub fn is_relative(&self) -> bool {
        self.base != Register::None
    }
}

impl CodeComparison<'_, '_> {
    /// Compares where the entries of one jump table lead.
    pub(super) fn table(
        &mut self,
        job: PairToCompare,
        a: &Disassembly,
        b: &Disassembly,
        dispatch: &Dispatch,
    ) -> Result<(), NotSame> {
        let tables: BTreeSet<_> =
            dispatch.mentions.iter().map(|&index| baseless(&b.steps[index].instruction)).collect();
        let (1, Some(&Some(table_b))) = (tables.len(), tables.first()) else {
            return Err(NotSame::Different);
        };
        let entries_a = entries(self.image, dispatch.table, dispatch.is_relative());
        let entries_b = entries(self.image, table_b, dispatch.is_relative());
        if entries_a.is_empty() || entries_a.len() != entries_b.len() {
            return NotSame::unknown(format!(
                "the ends of the jump tables at {:#x} and {table_b:#x} are not certain",
                dispatch.table
            ));
        }
        for (number, (&to_a, &to_b)) in entries_a.iter().zip(&entries_b).enumerate() {
            let own = a.inside(to_a).is_some() && b.inside(to_b).is_some();
            match self.target(job, (a, to_a), (b, to_b), a.offset(dispatch.jump)) {
                // What lies behind a table can look like entries, though hardly like those of this function.
                Err(NotSame::Different) if number > 0 && !own => {
                    return NotSame::unknown(format!(
                        "entry {number} of a jump table leads out of the function"
                    ));
                }
                result => result?,
            }
        }
        self.tally.table_entries += entries_a.len();
        Ok(())
    }
}

/// Where the entries of a table lead: up to the next known address, or the first that leads to no code.
pub fn entries(image: &LinkedImage, table: u64, relative: bool) -> Vec<u64> {
    let read_only = image.section_at(table).is_some_and(|section| section.access == Access::ReadOnly);
    let Some(end) = image.next_known(table).filter(|_| read_only) else { return Vec::new() };
    let bytes = if relative { 4 } else { 8 };
    let mut found = Vec::new();
    let mut at = table;
    while at.saturating_add(bytes) <= end {
        let Some(entry) = image.bytes(at, bytes) else { break };
        let to = match *entry {
            [a, b, c, d] => table.wrapping_add_signed(i64::from(i32::from_le_bytes([a, b, c, d]))),
            _ => entry.try_into().map_or(0, u64::from_le_bytes),
        };
        if !image.is_code(to) {
            break;
        }
        found.push(to);
        at += bytes;
    }
    found
}

/// `jmp [T+I*8]` in a file that is linked to one place.
fn absolute(image: &LinkedImage, code: &Disassembly, jump: usize) -> Option<Dispatch> {
    let instruction = &code.steps[jump].instruction;
    let indexed = instruction.op0_kind() == OpKind::Memory
        && instruction.memory_index() != Register::None
        && instruction.memory_index_scale() == 8
        && !instruction.is_ip_rel_memory_operand();
    let table = baseless(instruction).filter(|_| image.fixed && indexed)?;
    let only = BTreeSet::from([jump]);
    Some(Dispatch {
        jump,
        load: jump,
        uses: only.clone(),
        base: Register::None,
        mentions: only,
        table,
        targets: BTreeSet::new(),
    })
}

/// `movsxd R,[B+I*4]; add R,B; jmp R` (or `add B,R; jmp B`), with the definitions of `B` as far as direct control goes.
fn relative(image: &LinkedImage, code: &Disassembly, jump: usize) -> Option<Dispatch> {
    let through = &code.steps[jump].instruction;
    if through.op0_kind() != OpKind::Register {
        return None;
    }
    let add = last_write(image, code, jump, through.op0_register())?;
    let sum = &code.steps[add].instruction;
    let registers = sum.op0_kind() == OpKind::Register && sum.op1_kind() == OpKind::Register;
    if sum.mnemonic() != Mnemonic::Add || !registers || sum.op0_register() != through.op0_register() {
        return None;
    }
    let (left, right) = (sum.op0_register(), sum.op1_register());
    let (load, base) = [(left, right), (right, left)]
        .into_iter()
        .find_map(|(entry, base)| Some((table_load(image, code, add, entry, base)?, base)))?;
    if last_write(image, code, add, base).is_some_and(|index| index >= load) {
        return None;
    }
    let mentions = FlowGraph::new(image, code, &[]).definitions(load, base)?;
    let tables: BTreeSet<_> =
        mentions.iter().map(|&index| baseless(&code.steps[index].instruction)).collect();
    let table = (*tables.first()?).filter(|_| tables.len() == 1)?;
    Some(Dispatch {
        jump,
        load,
        uses: BTreeSet::from([load, add]),
        base,
        mentions,
        table,
        targets: BTreeSet::new(),
    })
}

/// The `movsxd entry,[base+I*4]` that defines `entry` at `before`.
fn table_load(
    image: &LinkedImage,
    code: &Disassembly,
    before: usize,
    entry: Register,
    base: Register,
) -> Option<usize> {
    let load = last_write(image, code, before, entry)?;
    let instruction = &code.steps[load].instruction;
    let known = instruction.mnemonic() == Mnemonic::Movsxd
        && instruction.op0_register() == entry
        && entry != base
        && instruction.op1_kind() == OpKind::Memory
        && instruction.memory_base() == base
        && instruction.memory_index() != Register::None
        && instruction.memory_index() != base
        && instruction.memory_index_scale() == 4
        && instruction.memory_displacement64() == 0
        && instruction.segment_prefix() == Register::None;
    known.then_some(load)
}

/// The last write of a register before an instruction, in straight-line code.
fn last_write(image: &LinkedImage, code: &Disassembly, before: usize, register: Register) -> Option<usize> {
    for index in (0..before).rev() {
        let instruction = &code.steps[index].instruction;
        if writes(image, instruction, register) {
            return Some(index);
        }
        if instruction.flow_control() != FlowControl::Next {
            return None;
        }
    }
    None
}
