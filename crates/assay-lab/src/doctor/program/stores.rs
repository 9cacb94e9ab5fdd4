//! What a program wrote to memory at constant places, and how often.
//!
//! Read from the code that was executed: an instruction that writes to such a place wrote there as often as it was executed.
//! Writes through other addresses (a pointer to the variable, a copy of a whole structure) are not seen.

use super::facts::ProgramFacts;
use super::names::{FunctionPurpose, purpose};
use super::origin::{Base, FunctionReader, MemoryCell, is_local};
use iced_x86::{Instruction, InstructionInfoFactory, OpAccess, OpKind};
use std::collections::{BTreeMap, HashSet};

/// Writes that start-up may make: beyond these a place is written while the program works.
const SOME: u64 = 16;
/// Of executions of the branch, the part that writes may be.
const FEW: f64 = 1e-3;

/// Writes of a program.
#[derive(Debug, Default)]
pub struct Stores {
    /// By file and place, with how often.
    cells: BTreeMap<(usize, MemoryCell), u64>,
    /// Writes to a displacement from an address that is not known: file, displacement, size.
    fields: BTreeMap<(u64, u64), u64>,
}

impl Stores {
    /// Those of a program's own code. Code of functions that read the environment does not count: what it writes is what the
    /// environment says, however often.
    pub fn of(facts: &ProgramFacts) -> Stores {
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
                    let field =
                        (instruction.memory_displacement64(), instruction.memory_size().size() as u64);
                    *stores.fields.entry(field).or_default() += times;
                }
            }
        }
        stores
    }

    /// Whether a place stayed as it was while a branch was executed so often.
    pub fn is_steady(&self, image: usize, cell: &MemoryCell, executed: u64) -> bool {
        let limit = SOME.max((executed as f64 * FEW) as u64);
        let written: u64 = self
            .cells
            .iter()
            .filter(|((of, other), _)| *of == image && other.overlaps(cell))
            .map(|(_, times)| times)
            .sum();
        if written > limit {
            return false;
        }
        let Base::Pointed(pointer) = cell.base else { return true };
        // Other pointers may lead there too: then the displacement is the same.
        let through: u64 = self
            .fields
            .iter()
            .filter(|((displacement, size), _)| {
                let same = MemoryCell { base: Base::File, offset: *displacement, size: (*size).max(1) };
                same.overlaps(&MemoryCell { base: Base::File, ..*cell })
            })
            .map(|(_, times)| times)
            .sum();
        let own = MemoryCell { base: Base::File, offset: pointer, size: 8 };
        through <= limit && self.is_steady(image, &own, executed)
    }
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
