//! Jump tables: the code that reads them, and where their entries lead.
//!
//! Two forms are known. `lea B,[rip+T]; movsxd R,[B+I*4]; add R,B; jmp R`, whose entries are offsets from the table,
//! and `jmp [T+I*8]`, whose entries are addresses. Which tables `B` can hold is found by following control backwards
//! from the load to every definition, first as if no table led anywhere, then again with all edges that the tables
//! found so add; only if both agree is it certain, because then no execution can have left these edges before.

use super::code::{Code, baseless, ends};
use super::image::{Access, Image};
use super::{Comparison, Job, Trouble};
use iced_x86::{
    FlowControl, Instruction, InstructionInfoFactory, InstructionInfoOptions, Mnemonic, OpAccess, OpKind,
    Register,
};
use std::collections::{BTreeMap, BTreeSet};

/// A jump through a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dispatch {
    /// Index of the jump.
    pub jump: usize,
    /// Index of the instruction that reads the table.
    load: usize,
    /// The instructions that use the table's address in the known form.
    uses: BTreeSet<usize>,
    /// The register with the table's address, or `None` if the entries are addresses and it is in the jump itself.
    base: Register,
    /// The instructions that mention the table.
    mentions: BTreeSet<usize>,
    /// Where it lies.
    table: u64,
    /// Indices of the instructions that its entries lead to.
    targets: BTreeSet<usize>,
}

/// The jump tables of a function.
pub struct Tables {
    /// The jumps through them.
    pub dispatches: Vec<Dispatch>,
}

impl Tables {
    /// Finds those of the known forms.
    pub fn find(image: &Image, code: &Code) -> Self {
        let jumps = (0..code.steps.len()).filter(|&index| is_indirect(&code.steps[index].instruction));
        let found = jumps.filter_map(|jump| relative(code, jump).or_else(|| absolute(image, code, jump)));
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
    pub fn certain(&self, code: &Code, dispatch: &Dispatch) -> Result<(), Trouble> {
        if !dispatch.is_relative() {
            return Ok(());
        }
        let between = dispatch.load + 1..=dispatch.jump;
        let flow = Flow::new(code, self);
        if between.clone().any(|index| flow.sources.contains_key(&index)) {
            return Trouble::unknown("control enters a jump through a table in its middle");
        }
        if flow.definitions(dispatch.load, dispatch.base).as_ref() != Some(&dispatch.mentions) {
            return Trouble::unknown("which jump table is used is not certain");
        }
        match flow.used_otherwise(self, dispatch) {
            true => Trouble::unknown("the address of a jump table is used for something else"),
            false => Ok(()),
        }
    }
}

impl Dispatch {
    fn is_relative(&self) -> bool {
        self.base != Register::None
    }
}

impl Comparison<'_, '_> {
    /// Compares where the entries of one jump table lead.
    pub(super) fn table(&mut self, job: Job, a: &Code, b: &Code, dispatch: &Dispatch) -> Result<(), Trouble> {
        let tables: BTreeSet<_> =
            dispatch.mentions.iter().map(|&index| baseless(&b.steps[index].instruction)).collect();
        let (1, Some(&Some(table_b))) = (tables.len(), tables.first()) else {
            return Err(Trouble::Different);
        };
        let entries_a = entries(self.image, dispatch.table, dispatch.is_relative());
        let entries_b = entries(self.image, table_b, dispatch.is_relative());
        if entries_a.is_empty() || entries_a.len() != entries_b.len() {
            return Trouble::unknown(format!(
                "the ends of the jump tables at {:#x} and {table_b:#x} are not certain",
                dispatch.table
            ));
        }
        for (number, (&to_a, &to_b)) in entries_a.iter().zip(&entries_b).enumerate() {
            let own = a.inside(to_a).is_some() && b.inside(to_b).is_some();
            match self.target(job, (a, to_a), (b, to_b), a.offset(dispatch.jump)) {
                // What lies behind a table can look like entries, though hardly like those of this function.
                Err(Trouble::Different) if number > 0 && !own => {
                    return Trouble::unknown(format!(
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
fn entries(image: &Image, table: u64, relative: bool) -> Vec<u64> {
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

fn is_indirect(instruction: &Instruction) -> bool {
    instruction.flow_control() == FlowControl::IndirectBranch
}

/// `jmp [T+I*8]` in a file that is linked to one place.
fn absolute(image: &Image, code: &Code, jump: usize) -> Option<Dispatch> {
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
fn relative(code: &Code, jump: usize) -> Option<Dispatch> {
    let through = &code.steps[jump].instruction;
    if through.op0_kind() != OpKind::Register {
        return None;
    }
    let add = last_write(code, jump, through.op0_register())?;
    let sum = &code.steps[add].instruction;
    let registers = sum.op0_kind() == OpKind::Register && sum.op1_kind() == OpKind::Register;
    if sum.mnemonic() != Mnemonic::Add || !registers || sum.op0_register() != through.op0_register() {
        return None;
    }
    let (left, right) = (sum.op0_register(), sum.op1_register());
    let (load, base) = [(left, right), (right, left)]
        .into_iter()
        .find_map(|(entry, base)| Some((table_load(code, add, entry, base)?, base)))?;
    if last_write(code, add, base).is_some_and(|index| index >= load) {
        return None;
    }
    let nothing = Tables { dispatches: Vec::new() };
    let mentions = Flow::new(code, &nothing).definitions(load, base)?;
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
fn table_load(code: &Code, before: usize, entry: Register, base: Register) -> Option<usize> {
    let load = last_write(code, before, entry)?;
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
fn last_write(code: &Code, before: usize, register: Register) -> Option<usize> {
    for index in (0..before).rev() {
        let instruction = &code.steps[index].instruction;
        if writes(instruction, register) {
            return Some(index);
        }
        if instruction.flow_control() != FlowControl::Next {
            return None;
        }
    }
    None
}

/// How control flows in a function.
struct Flow<'c> {
    code: &'c Code,
    /// The jumps that lead to an instruction.
    sources: BTreeMap<usize, BTreeSet<usize>>,
    /// Indirect jumps of no known form.
    unexplained: BTreeSet<usize>,
}

impl<'c> Flow<'c> {
    fn new(code: &'c Code, tables: &Tables) -> Self {
        let mut sources: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
        for (index, step) in code.steps.iter().enumerate() {
            if let Some(to) = direct_target(code, &step.instruction) {
                sources.entry(to).or_default().insert(index);
            }
        }
        let mut unexplained = BTreeSet::new();
        if !tables.dispatches.is_empty() {
            unexplained =
                (0..code.steps.len()).filter(|&index| is_indirect(&code.steps[index].instruction)).collect();
        }
        for dispatch in &tables.dispatches {
            unexplained.remove(&dispatch.jump);
            for &to in &dispatch.targets {
                sources.entry(to).or_default().insert(dispatch.jump);
            }
        }
        Self { code, sources, unexplained }
    }

    /// The `lea register,[rip+T]` that may have set a register before an instruction; none if anything else may have.
    fn definitions(&self, before: usize, register: Register) -> Option<BTreeSet<usize>> {
        let mut found = BTreeSet::new();
        let mut seen = BTreeSet::from([before]);
        let mut waiting = vec![before];
        while let Some(index) = waiting.pop() {
            // Whoever calls the function may have set it.
            if index == 0 {
                return None;
            }
            for previous in self.previous(index) {
                let instruction = &self.code.steps[previous].instruction;
                if !writes(instruction, register) {
                    if seen.insert(previous) {
                        waiting.push(previous);
                    }
                } else if instruction.mnemonic() == Mnemonic::Lea
                    && instruction.op0_register() == register
                    && instruction.is_ip_rel_memory_operand()
                {
                    found.insert(previous);
                } else {
                    return None;
                }
            }
        }
        Some(found)
    }

    fn previous(&self, index: usize) -> BTreeSet<usize> {
        let mut found = self.sources.get(&index).cloned().unwrap_or_default();
        let follows = !ends(&self.code.steps[index - 1].instruction);
        if !found.is_empty() || !follows {
            found.extend(&self.unexplained);
        }
        if follows {
            found.insert(index - 1);
        }
        found
    }

    /// Whether the address of a table may be read by anything but the jumps through it.
    fn used_otherwise(&self, tables: &Tables, dispatch: &Dispatch) -> bool {
        let mut seen = BTreeSet::new();
        let mut waiting: Vec<usize> = dispatch.mentions.iter().map(|index| index + 1).collect();
        while let Some(index) = waiting.pop() {
            if index >= self.code.steps.len() || !seen.insert(index) {
                continue;
            }
            let instruction = &self.code.steps[index].instruction;
            let known = tables.dispatches.iter().any(|other| {
                other.base == dispatch.base
                    && other.mentions == dispatch.mentions
                    && other.uses.contains(&index)
            });
            if !known && reads(instruction, dispatch.base) {
                return true;
            }
            if !writes(instruction, dispatch.base) {
                waiting.extend(self.next(tables, index));
            }
        }
        false
    }

    fn next(&self, tables: &Tables, index: usize) -> Vec<usize> {
        let instruction = &self.code.steps[index].instruction;
        let mut found: Vec<usize> = direct_target(self.code, instruction).into_iter().collect();
        if !ends(instruction) {
            found.push(index + 1);
        }
        let through = tables.dispatches.iter().filter(|dispatch| dispatch.jump == index);
        found.extend(through.flat_map(|dispatch| &dispatch.targets));
        found
    }
}

/// Where a direct jump leads inside the function.
fn direct_target(code: &Code, instruction: &Instruction) -> Option<usize> {
    let jumps = matches!(
        instruction.flow_control(),
        FlowControl::UnconditionalBranch | FlowControl::ConditionalBranch | FlowControl::XbeginXabortXend
    ) && super::code::branches(instruction);
    let to = jumps.then(|| instruction.near_branch_target())?;
    code.index_at(code.inside(to)?)
}

fn accesses(instruction: &Instruction, register: Register, wanted: &[OpAccess]) -> bool {
    let mut factory = InstructionInfoFactory::new();
    let info = factory.info_options(instruction, InstructionInfoOptions::NO_MEMORY_USAGE);
    let full = register.full_register();
    info.used_registers()
        .iter()
        .any(|used| used.register().full_register() == full && wanted.contains(&used.access()))
}

fn reads(instruction: &Instruction, register: Register) -> bool {
    use OpAccess::{CondRead, Read, ReadCondWrite, ReadWrite};
    accesses(instruction, register, &[Read, CondRead, ReadWrite, ReadCondWrite])
}

/// Whether an instruction may change a register; a call keeps only those that the ABI says it keeps.
fn writes(instruction: &Instruction, register: Register) -> bool {
    use OpAccess::{CondWrite, ReadCondWrite, ReadWrite, Write};
    use Register::{R12, R13, R14, R15, RBP, RBX, RSP};
    let calls = matches!(
        instruction.flow_control(),
        FlowControl::Call | FlowControl::IndirectCall | FlowControl::Interrupt
    );
    let kept = [RBX, RBP, RSP, R12, R13, R14, R15].contains(&register.full_register());
    (calls && !kept) || accesses(instruction, register, &[Write, CondWrite, ReadWrite, ReadCondWrite])
}
