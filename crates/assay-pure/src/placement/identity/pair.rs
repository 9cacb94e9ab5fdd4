//! Two decoded functions, instruction by instruction.

use super::code::{Disassembly, baseless};
use super::data::{OperandPair, ReadExtent};
use super::field::{self, Meaning, fields};
use super::jump_table::JumpTables;
use super::{CodeComparison, NotSame, PairToCompare};
use iced_x86::{FlowControl, Mnemonic, Register};

impl CodeComparison<'_, '_> {
    /// All that tells two functions apart, or keeps it from being told, with offsets in the first of them.
    pub(super) fn pair(
        &mut self,
        job: PairToCompare,
        a: &Disassembly,
        b: &Disassembly,
    ) -> Vec<(u64, NotSame)> {
        let common = a.steps.len().min(b.steps.len());
        let equal = |&index: &usize| field::equal_but_for_fields(self.image, a, b, index);
        if let Some(index) = (0..common).find(|index| !equal(index)) {
            return vec![(a.offset(index), NotSame::Different)];
        }
        if let Some(at) = a.undecodable.into_iter().chain(b.undecodable).min() {
            return vec![(at, NotSame::Unknown("bytes that are not a known instruction".to_owned()))];
        }
        if a.size != b.size {
            return vec![(a.size.min(b.size), NotSame::Different)];
        }
        let mut troubles = Vec::new();
        if a.runs_out() {
            troubles
                .push((a.size, NotSame::Unknown("control runs on past the end of the function".to_owned())));
        }
        let tables = JumpTables::find(self.image, a);
        for dispatch in &tables.dispatches {
            let result =
                tables.certain(self.image, a, dispatch).and_then(|()| self.table(job, a, b, dispatch));
            troubles.extend(result.err().map(|trouble| (a.offset(dispatch.jump), trouble)));
        }
        let unexplained = unexplained_jump(a, b, &tables);
        // What looks like other data may be a jump table then, so there is no saying that it differs.
        let doubtful = unexplained.is_some();
        troubles.extend(unexplained);
        for index in 0..common {
            let result = self.step(job, a, b, index, &tables);
            let may_be_table = doubtful && field::reaches_beyond(a, index);
            troubles.extend(result.err().filter(|_| !may_be_table).map(|trouble| (a.offset(index), trouble)));
        }
        troubles
    }

    /// What two instructions of equal bytes refer to.
    fn step(
        &mut self,
        job: PairToCompare,
        a: &Disassembly,
        b: &Disassembly,
        index: usize,
        tables: &JumpTables,
    ) -> Result<(), NotSame> {
        let at = a.offset(index);
        for (field_a, field_b) in fields(self.image, a, index).iter().zip(&fields(self.image, b, index)) {
            match (field_a.meaning, field_b.meaning) {
                (Meaning::Branch(to_a), Meaning::Branch(to_b)) => {
                    self.target(job, (a, to_a), (b, to_b), at)?
                }
                (Meaning::Address(_), _) if tables.mentions(index) => {}
                (Meaning::Address(to_a), Meaning::Address(to_b)) => {
                    self.memory(job, (a, to_a), (b, to_b), index)?
                }
                (Meaning::Perhaps(first), Meaning::Perhaps(second)) if first == second => {}
                (Meaning::Perhaps(first), Meaning::Perhaps(second)) => {
                    return NotSame::unknown(format!(
                        "{first:#x} and {second:#x} may be addresses or numbers"
                    ));
                }
                _ => return Err(NotSame::Different),
            }
        }
        Ok(())
    }

    /// Two places in code: the same one, relative to the functions' starts, or outside of both.
    pub(super) fn target(
        &mut self,
        job: PairToCompare,
        (a, to_a): (&Disassembly, u64),
        (b, to_b): (&Disassembly, u64),
        at: u64,
    ) -> Result<(), NotSame> {
        match (a.inside(to_a), b.inside(to_b)) {
            (Some(in_a), Some(in_b)) if in_a == in_b => match a.index_at(in_a) {
                Some(_) => Ok(()),
                None => NotSame::unknown("a jump into the middle of an instruction"),
            },
            (None, None) => self.outside(job, at, to_a, to_b),
            _ => Err(NotSame::Different),
        }
    }

    /// Two memory operands whose addresses are known.
    fn memory(
        &mut self,
        job: PairToCompare,
        (a, to_a): (&Disassembly, u64),
        (b, to_b): (&Disassembly, u64),
        index: usize,
    ) -> Result<(), NotSame> {
        let instruction = &a.steps[index].instruction;
        let takes_address = instruction.mnemonic() == Mnemonic::Lea;
        if takes_address && self.image.is_code(to_a) && self.image.is_code(to_b) {
            return self.target(job, (a, to_a), (b, to_b), a.offset(index));
        }
        if a.inside(to_a).is_some() || b.inside(to_b).is_some() {
            return NotSame::unknown("the function reads its own code as data");
        }
        if to_a == to_b {
            return Ok(());
        }
        if takes_address && !instruction.is_ip_rel_memory_operand() {
            return NotSame::unknown(format!("{to_a:#x} and {to_b:#x} may be addresses or numbers"));
        }
        if matches!(instruction.memory_segment(), Register::FS | Register::GS) {
            return NotSame::unknown("data of a thread at other addresses");
        }
        let extent = match field::reaches_beyond(a, index) {
            true => ReadExtent::Object,
            false => ReadExtent::Bytes(instruction.memory_size().size() as u64),
        };
        self.data(OperandPair { a: to_a, b: to_b, extent }, a, b)
    }
}

/// An indirect jump that is no jump table of a known form may still be one, and then data of equal bytes that lies
/// elsewhere leads elsewhere.
fn unexplained_jump(a: &Disassembly, b: &Disassembly, tables: &JumpTables) -> Option<(u64, NotSame)> {
    let jump = (0..a.steps.len()).find(|&index| {
        let instruction = &a.steps[index].instruction;
        instruction.flow_control() == FlowControl::IndirectBranch
            && !instruction.is_ip_rel_memory_operand()
            && !tables.dispatches.iter().any(|dispatch| dispatch.jump == index)
    })?;
    let moved = (0..a.steps.len()).any(|index| {
        let (to_a, to_b) = (baseless(&a.steps[index].instruction), baseless(&b.steps[index].instruction));
        let own_code = to_a.is_some_and(|address| a.inside(address).is_some());
        to_a != to_b && !own_code && !tables.mentions(index) && field::reaches_beyond(a, index)
    });
    let reason = "an indirect jump of no known form, in a function whose data lies elsewhere";
    moved.then(|| (a.offset(jump), NotSame::Unknown(reason.to_owned())))
}
