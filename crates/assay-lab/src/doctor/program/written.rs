//! What a program wrote to memory at constant places, and how often.
//!
//! Read from the code that was executed: an instruction that writes to such a place wrote there as often as it was executed.
//! Writes through other addresses (a pointer to the variable, a copy of a whole structure) are not seen.

use super::facts::ProgramFacts;
use super::origin::{FunctionReader, is_local};
use super::stores::Stores;
use crate::examine::names::{FunctionPurpose, purpose};
use iced_x86::{Instruction, InstructionInfoFactory, OpAccess, OpKind};
use std::collections::HashSet;

impl ProgramFacts {
    /// What its own code wrote to memory at constant places.
    pub fn stores(&self) -> &Stores {
        self.stores.get_or_init(|| stores(self))
    }
}

/// Those of a program's own code. Code of functions that read the environment does not count: what it writes is what the
/// environment says, however often.
fn stores(facts: &ProgramFacts) -> Stores {
    let configuring: HashSet<(usize, u64)> = facts
        .calls()
        .iter()
        .filter(|call| purpose(&call.callee) == Some(FunctionPurpose::Environment))
        .filter_map(|call| {
            let place = facts.sites[call.site].seen.place;
            let image = place.image?;
            Some((image, facts.images[image].function(place.address)?.start))
        })
        .collect();
    let mut stores = Stores::default();
    let mut factory = InstructionInfoFactory::new();
    for (&(image, address), &times) in &facts.executed {
        let Some(listing) = facts.listing(image, address) else { continue };
        let start = listing.instructions.first().map_or(0, Instruction::ip);
        let Some(at) = listing.index(address).filter(|_| !configuring.contains(&(image, start))) else {
            continue;
        };
        let instruction = &listing.instructions[at];
        if !writes_memory(&mut factory, instruction) || is_local(instruction) {
            continue;
        }
        let is_table = |address| facts.is_table(image, address);
        match FunctionReader::new(&listing, &is_table).cell(at, 6) {
            Some(cell) => *stores.cells.entry((image, cell)).or_default() += times,
            None => {
                let field = (instruction.memory_displacement64(), instruction.memory_size().size() as u64);
                *stores.fields.entry(field).or_default() += times;
            }
        }
    }
    stores
}

fn writes_memory(factory: &mut InstructionInfoFactory, instruction: &Instruction) -> bool {
    if !(0..instruction.op_count()).any(|operand| instruction.op_kind(operand) == OpKind::Memory) {
        return false;
    }
    let info = factory.info(instruction);
    (0..instruction.op_count()).any(|operand| {
        instruction.op_kind(operand) == OpKind::Memory
            && matches!(
                info.op_access(operand),
                OpAccess::Write | OpAccess::CondWrite | OpAccess::ReadWrite | OpAccess::ReadCondWrite
            )
    })
}
