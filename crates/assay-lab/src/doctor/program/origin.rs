//! Where the operands of a condition come from: read backwards, along the one way that leads to it.
//!
//! Method: from a conditional branch to the instruction that set its flags, from there to what last wrote each register it
//! read, until memory, constants or results of calls are reached. It stops where two ways meet, unless the function has a
//! single instruction that writes the register. Addresses are followed as far as they are constant: a static variable, a
//! thread's own, a field of what a static pointer points to. Limit: conditions over what a function was given, and over
//! fields of it, stay unknown.

use super::listing::Listing;
use iced_x86::{FlowControl, Instruction, InstructionInfoFactory, Mnemonic, OpAccess, OpKind, Register};

/// Steps backwards before giving up.
const STEPS: usize = 96;
/// Registers followed one after the other.
const DEPTH: usize = 10;

/// What an address is counted from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Base {
    /// The beginning of the file: a static variable.
    File,
    /// The thread's own storage.
    Thread,
    /// What the memory at this address holds: an entry of the table of addresses, or a static pointer.
    Pointed(u64),
    /// The thread's own storage, at an offset that the memory at this address holds.
    ThreadSlot(u64),
}

/// Memory at a constant place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MemoryCell {
    /// What it is counted from.
    pub base: Base,
    /// Bytes from there.
    pub offset: u64,
    /// How many bytes.
    pub size: u64,
}

impl MemoryCell {
    /// Whether two share a byte.
    pub fn overlaps(&self, other: &MemoryCell) -> bool {
        self.base == other.base
            && self.offset.wrapping_sub(other.offset).min(other.offset.wrapping_sub(self.offset))
                < if self.offset <= other.offset { self.size } else { other.size }
    }
}

/// Where a value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueOrigin {
    /// The instruction itself.
    Constant,
    /// Memory at a constant place.
    Cell(MemoryCell),
    /// Memory at another place, such as an element or a field of what a function was given.
    Memory,
    /// The result of the call of this address; 0 if the call is indirect.
    Call(u64),
    /// What a function was given, what several ways bring, the stack.
    Unknown,
}

/// What a conditional branch depends on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// All that it depends on.
    pub origins: Vec<ValueOrigin>,
    /// It asks whether something of 8 bytes is zero: most often whether there is a pointer.
    pub is_null_check: bool,
    /// The branch is taken if what is compared is equal, or zero.
    pub taken_if_equal: Option<bool>,
}

/// Reads one function.
pub struct FunctionReader<'a> {
    listing: &'a Listing,
    /// Whether an address is in a table that the dynamic linker fills.
    is_table: &'a dyn Fn(u64) -> bool,
}

impl<'a> FunctionReader<'a> {
    /// For a function; `is_table` says whether an address is in a table that the dynamic linker fills.
    pub fn new(listing: &'a Listing, is_table: &'a dyn Fn(u64) -> bool) -> FunctionReader<'a> {
        FunctionReader { listing, is_table }
    }

    /// What the conditional branch at a place of the listing depends on.
    pub fn condition(&self, branch: usize) -> Condition {
        let code = &self.listing.instructions;
        let taken_if_equal = match code[branch].mnemonic() {
            Mnemonic::Je => Some(true),
            Mnemonic::Jne => Some(false),
            _ => None,
        };
        let Some(setter) = self.flag_setter(branch) else {
            return Condition { origins: vec![ValueOrigin::Unknown], is_null_check: false, taken_if_equal };
        };
        let origins = self.read(setter, DEPTH);
        Condition { origins, is_null_check: self.is_null_check(setter), taken_if_equal }
    }

    /// Where the target of an indirect call or jump comes from.
    pub fn target(&self, at: usize) -> Vec<ValueOrigin> {
        let instruction = &self.listing.instructions[at];
        match instruction.op0_kind() {
            OpKind::Memory => vec![self.memory(at, DEPTH)],
            OpKind::Register => self.register(instruction.op0_register(), at, DEPTH),
            _ => vec![ValueOrigin::Unknown],
        }
    }

    fn is_null_check(&self, setter: usize) -> bool {
        let instruction = &self.listing.instructions[setter];
        match instruction.mnemonic() {
            Mnemonic::Test => {
                instruction.op0_kind() == OpKind::Register
                    && instruction.op0_register() == instruction.op1_register()
                    && instruction.op0_register().size() == 8
            }
            Mnemonic::Cmp => {
                let is_zero = instruction.op1_kind() != OpKind::Register
                    && instruction.op1_kind() != OpKind::Memory
                    && instruction.immediate(1) == 0;
                let size = match instruction.op0_kind() {
                    OpKind::Register => instruction.op0_register().size(),
                    _ => instruction.memory_size().size(),
                };
                is_zero && size == 8
            }
            _ => false,
        }
    }

    /// What set the flags that an instruction reads.
    fn flag_setter(&self, at: usize) -> Option<usize> {
        let mut at = at;
        for _ in 0..STEPS {
            at = self.listing.before(at)?;
            let instruction = &self.listing.instructions[at];
            if instruction.flow_control() != FlowControl::Next && is_call(instruction) {
                return None;
            }
            if instruction.rflags_modified() != 0 {
                return Some(at);
            }
        }
        None
    }

    /// Where all that an instruction reads comes from.
    fn read(&self, at: usize, depth: usize) -> Vec<ValueOrigin> {
        let instruction = &self.listing.instructions[at];
        if depth == 0 {
            return vec![ValueOrigin::Unknown];
        }
        if is_zeroing(instruction) {
            return vec![ValueOrigin::Constant];
        }
        let mut factory = InstructionInfoFactory::new();
        let info = factory.info(instruction);
        let mut origins = Vec::new();
        for operand in 0..instruction.op_count() {
            let reads = matches!(
                info.op_access(operand),
                OpAccess::Read | OpAccess::CondRead | OpAccess::ReadWrite | OpAccess::ReadCondWrite
            );
            match instruction.op_kind(operand) {
                OpKind::Register if reads => {
                    origins.extend(self.register(instruction.op_register(operand), at, depth - 1));
                }
                OpKind::Memory if reads => origins.push(self.memory(at, depth - 1)),
                OpKind::Register | OpKind::Memory => {}
                _ => origins.push(ValueOrigin::Constant),
            }
        }
        if instruction.rflags_read() != 0 {
            match self.flag_setter(at) {
                Some(setter) => origins.extend(self.read(setter, depth - 1)),
                None => origins.push(ValueOrigin::Unknown),
            }
        }
        origins
    }

    /// Where the value of a register comes from, as it is ahead of an instruction.
    fn register(&self, register: Register, at: usize, depth: usize) -> Vec<ValueOrigin> {
        if depth == 0 {
            return vec![ValueOrigin::Unknown];
        }
        let Some(writer) = self.writer(register, at) else { return vec![ValueOrigin::Unknown] };
        let instruction = &self.listing.instructions[writer];
        if is_call(instruction) {
            let target = if instruction.is_call_near() { instruction.near_branch_target() } else { 0 };
            return vec![ValueOrigin::Call(target)];
        }
        match instruction.mnemonic() {
            Mnemonic::Pop => vec![ValueOrigin::Unknown],
            Mnemonic::Lea if self.address(writer, depth).is_some() => vec![ValueOrigin::Constant],
            Mnemonic::Lea => {
                let registers = [instruction.memory_base(), instruction.memory_index()];
                let known = registers.into_iter().filter(|register| *register != Register::None);
                known.flat_map(|register| self.register(register, writer, depth - 1)).collect()
            }
            _ => self.read(writer, depth),
        }
    }

    /// What last wrote a register ahead of an instruction.
    fn writer(&self, register: Register, at: usize) -> Option<usize> {
        let full = register.full_register();
        let mut at = at;
        for _ in 0..STEPS {
            let Some(before) = self.listing.before(at) else { return self.only_writer(full, at) };
            at = before;
            if writes(&self.listing.instructions[at], full) {
                return Some(at);
            }
        }
        None
    }

    /// The one instruction of the function that writes a register, if it stands ahead of this one.
    fn only_writer(&self, full: Register, at: usize) -> Option<usize> {
        let is_writer =
            |instruction: &Instruction| instruction.mnemonic() != Mnemonic::Pop && writes(instruction, full);
        let mut writers = self.listing.instructions.iter().enumerate().filter(|(_, code)| is_writer(code));
        let (first, _) = writers.next().filter(|(first, _)| *first < at)?;
        writers.next().is_none().then_some(first)
    }

    /// Where the memory operand of an instruction is, as an origin; a local of the stack is what was last put there.
    pub fn memory(&self, at: usize, depth: usize) -> ValueOrigin {
        if let Some(cell) = self.cell(at, depth) {
            return ValueOrigin::Cell(cell);
        }
        let instruction = &self.listing.instructions[at];
        if !is_local(instruction) {
            return ValueOrigin::Memory;
        }
        let mut before = at;
        for _ in 0..STEPS {
            let Some(next) = self.listing.before(before) else { return ValueOrigin::Unknown };
            before = next;
            let store = &self.listing.instructions[before];
            let is_same = store.op0_kind() == OpKind::Memory
                && store.memory_base() == instruction.memory_base()
                && store.memory_displacement64() == instruction.memory_displacement64()
                && store.memory_index() == Register::None;
            if is_same && store.mnemonic() == Mnemonic::Mov && depth > 0 {
                return match store.op1_kind() {
                    OpKind::Register => one(&self.register(store.op1_register(), before, depth - 1)),
                    _ => ValueOrigin::Constant,
                };
            }
        }
        ValueOrigin::Unknown
    }

    /// The constant place of the memory operand of an instruction.
    pub fn cell(&self, at: usize, depth: usize) -> Option<MemoryCell> {
        let instruction = &self.listing.instructions[at];
        let size = instruction.memory_size().size() as u64;
        let (base, offset) = self.address(at, depth)?;
        Some(MemoryCell { base, offset, size: size.max(1) })
    }

    /// The address that a memory operand names, where it is constant.
    fn address(&self, at: usize, depth: usize) -> Option<(Base, u64)> {
        let instruction = &self.listing.instructions[at];
        if instruction.memory_index() != Register::None || depth == 0 {
            return None;
        }
        let displacement = instruction.memory_displacement64();
        let is_thread = instruction.segment_prefix() == Register::FS;
        match instruction.memory_base() {
            Register::RIP if !is_thread => Some((Base::File, displacement)),
            Register::None if is_thread => Some((Base::Thread, displacement)),
            Register::None => Some((Base::File, displacement)),
            base if is_thread => match self.pointer(base, at, depth - 1)? {
                (Base::Pointed(slot), 0) => Some((Base::ThreadSlot(slot), displacement)),
                _ => None,
            },
            Register::RSP | Register::ESP | Register::RBP => None,
            base => {
                let (base, offset) = self.pointer(base, at, depth - 1)?;
                Some((base, offset.wrapping_add(displacement)))
            }
        }
    }

    /// The constant address that a register holds ahead of an instruction.
    fn pointer(&self, register: Register, at: usize, depth: usize) -> Option<(Base, u64)> {
        let writer = self.writer(register, at).filter(|_| depth > 0)?;
        let instruction = &self.listing.instructions[writer];
        match (instruction.mnemonic(), instruction.op1_kind()) {
            (Mnemonic::Lea, _) => self.address(writer, depth),
            (Mnemonic::Mov, OpKind::Memory) => match self.address(writer, depth)? {
                // The thread's own address stands at its beginning.
                (Base::Thread, 0) => Some((Base::Thread, 0)),
                (Base::File, slot) => Some((Base::Pointed(slot), 0)),
                _ => None,
            },
            (Mnemonic::Mov, OpKind::Register) => self.pointer(instruction.op1_register(), writer, depth - 1),
            (Mnemonic::Mov, kind) if kind != OpKind::Register => Some((Base::File, instruction.immediate(1))),
            (Mnemonic::Add, OpKind::Memory) => self.thread_slot(writer, depth),
            _ => None,
        }
    }

    /// The thread's own address added to an offset from the table, in either order.
    fn thread_slot(&self, add: usize, depth: usize) -> Option<(Base, u64)> {
        let instruction = &self.listing.instructions[add];
        let added = self.address(add, depth)?;
        let before = self.pointer(instruction.op0_register(), add, depth - 1)?;
        match (before, added) {
            ((Base::Pointed(slot), 0), (Base::Thread, 0)) => Some((Base::ThreadSlot(slot), 0)),
            ((Base::Thread, 0), (Base::File, slot)) if (self.is_table)(slot) => {
                Some((Base::ThreadSlot(slot), 0))
            }
            _ => None,
        }
    }
}

/// One origin for several: the least that is known.
fn one(origins: &[ValueOrigin]) -> ValueOrigin {
    match origins {
        [origin] => *origin,
        _ if !origins.is_empty() && origins.iter().all(|origin| *origin == ValueOrigin::Constant) => {
            ValueOrigin::Constant
        }
        _ => {
            let mut telling = origins.iter().filter(|origin| **origin != ValueOrigin::Constant);
            match (telling.next(), telling.next()) {
                (Some(origin), None) => *origin,
                _ => ValueOrigin::Unknown,
            }
        }
    }
}

fn is_call(instruction: &Instruction) -> bool {
    matches!(instruction.flow_control(), FlowControl::Call | FlowControl::IndirectCall)
        && instruction.mnemonic() == Mnemonic::Call
}

/// Whether a memory operand is a local variable on the stack.
pub fn is_local(instruction: &Instruction) -> bool {
    instruction.memory_index() == Register::None
        && matches!(instruction.memory_base(), Register::RSP | Register::RBP)
}

fn is_zeroing(instruction: &Instruction) -> bool {
    matches!(instruction.mnemonic(), Mnemonic::Xor | Mnemonic::Sub | Mnemonic::Pxor)
        && instruction.op0_kind() == OpKind::Register
        && instruction.op1_kind() == OpKind::Register
        && instruction.op0_register() == instruction.op1_register()
}

fn writes(instruction: &Instruction, full: Register) -> bool {
    if is_call(instruction) {
        // The registers that a callee may change, by the System V calling convention.
        return matches!(
            full,
            Register::RAX
                | Register::RCX
                | Register::RDX
                | Register::RSI
                | Register::RDI
                | Register::R8
                | Register::R9
                | Register::R10
                | Register::R11
        ) || full.is_vector_register();
    }
    let mut factory = InstructionInfoFactory::new();
    factory.info(instruction).used_registers().iter().any(|used| {
        let is_write = matches!(
            used.access(),
            OpAccess::Write | OpAccess::CondWrite | OpAccess::ReadWrite | OpAccess::ReadCondWrite
        );
        is_write && used.register().full_register() == full
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: u64 = 0x3000;

    /// What the last instruction, a conditional branch, depends on.
    fn condition(code: &[u8]) -> Condition {
        let listing = Listing::new(code, 0x1000);
        let is_table = |address: u64| address >= TABLE;
        let reader = FunctionReader::new(&listing, &is_table);
        reader.condition(listing.instructions.len() - 1)
    }

    fn cell(base: Base, offset: u64, size: u64) -> ValueOrigin {
        ValueOrigin::Cell(MemoryCell { base, offset, size })
    }

    #[test]
    fn a_static_variable_is_known_however_it_is_compared() {
        // cmp dword [rip+0xff9], 0; je — 7 bytes, so the variable is at 0x2000.
        let found = condition(&[0x83, 0x3d, 0xf9, 0x0f, 0, 0, 0, 0x74, 0x00]);
        assert_eq!(found.origins, [cell(Base::File, 0x2000, 4), ValueOrigin::Constant]);
        assert_eq!((found.is_null_check, found.taken_if_equal), (false, Some(true)));
        // mov eax, [rip+0xffa]; test eax, eax; jne
        let found = condition(&[0x8b, 0x05, 0xfa, 0x0f, 0, 0, 0x85, 0xc0, 0x75, 0x00]);
        assert_eq!(found.origins, [cell(Base::File, 0x2000, 4); 2]);
        // movzx eax, byte [rip+0xff9]; mov [rbp-4], eax; cmp [rbp-4], 3; jg: by way of the stack.
        let found = condition(&[
            0x0f, 0xb6, 0x05, 0xf9, 0x0f, 0, 0, 0x89, 0x45, 0xfc, 0x83, 0x7d, 0xfc, 0x03, 0x7f, 0x00,
        ]);
        assert_eq!(found.origins, [cell(Base::File, 0x2000, 1), ValueOrigin::Constant]);
    }

    #[test]
    fn a_threads_own_variable_is_known_by_its_offset_and_by_its_slot() {
        // cmp byte fs:[-8], 0; je
        let found = condition(&[0x64, 0x80, 0x3c, 0x25, 0xf8, 0xff, 0xff, 0xff, 0x00, 0x74, 0x00]);
        assert_eq!(found.origins[0], cell(Base::Thread, (-8_i64) as u64, 1));
        // mov rax, [rip+0x1ff9]; cmp dword fs:[rax], 0; je
        let found = condition(&[0x48, 0x8b, 0x05, 0xf9, 0x1f, 0, 0, 0x64, 0x83, 0x38, 0x00, 0x74, 0x00]);
        assert_eq!(found.origins[0], cell(Base::ThreadSlot(TABLE), 0, 4));
        // mov rax, [rip+0x1ff9]; add rax, fs:[0]; cmp dword [rax+4], 0; je
        let found = condition(&[
            0x48, 0x8b, 0x05, 0xf9, 0x1f, 0, 0, 0x64, 0x48, 0x03, 0x04, 0x25, 0, 0, 0, 0, 0x83, 0x78, 0x04,
            0x00, 0x74, 0x00,
        ]);
        assert_eq!(found.origins[0], cell(Base::ThreadSlot(TABLE), 4, 4));
    }

    #[test]
    fn what_a_static_pointer_points_to_is_known_and_elements_are_not() {
        // mov rax, [rip+0xff9]; cmp dword [rax+8], 0; je
        let found = condition(&[0x48, 0x8b, 0x05, 0xf9, 0x0f, 0, 0, 0x83, 0x78, 0x08, 0x00, 0x74, 0x00]);
        assert_eq!(found.origins[0], cell(Base::Pointed(0x2000), 8, 4));
        // cmp dword [rdi+8], 0; je
        assert_eq!(condition(&[0x83, 0x7f, 0x08, 0x00, 0x74, 0x00]).origins[0], ValueOrigin::Memory);
        // lea rax, [rip+0xff9]; cmp dword [rax+rcx*4], 0; je
        let found = condition(&[0x48, 0x8d, 0x05, 0xf9, 0x0f, 0, 0, 0x83, 0x3c, 0x88, 0x00, 0x74, 0x00]);
        assert_eq!(found.origins[0], ValueOrigin::Memory);
    }

    #[test]
    fn the_result_of_a_call_is_known_as_such_and_a_pointer_check_too() {
        // call 0x1100; test rax, rax; je
        let found = condition(&[0xe8, 0xfb, 0x00, 0x00, 0x00, 0x48, 0x85, 0xc0, 0x74, 0x00]);
        assert_eq!(found.origins, [ValueOrigin::Call(0x1100); 2]);
        assert!(found.is_null_check);
        // test edi, edi; je
        let found = condition(&[0x85, 0xff, 0x74, 0x00]);
        assert_eq!((found.origins, found.is_null_check), (vec![ValueOrigin::Unknown; 2], false));
        // cmp qword [rip+0xff8], 0; jne
        let found = condition(&[0x48, 0x83, 0x3d, 0xf8, 0x0f, 0, 0, 0, 0x75, 0x00]);
        assert_eq!((found.is_null_check, found.taken_if_equal), (true, Some(false)));
    }

    #[test]
    fn a_register_set_ahead_of_a_loop_is_followed_where_nothing_else_writes_it() {
        // mov ebx, [rip+0xffa]; loop: dec ecx; test ebx, ebx; je end; jmp loop; end: nop
        let mut code =
            vec![0x8b, 0x1d, 0xfa, 0x0f, 0, 0, 0xff, 0xc9, 0x85, 0xdb, 0x74, 0x02, 0xeb, 0xf8, 0x90];
        let of = |code: &[u8]| {
            let listing = Listing::new(code, 0x1000);
            let branch = listing.index(0x100a).expect("the branch");
            FunctionReader::new(&listing, &|_| false).condition(branch).origins
        };
        assert_eq!(of(&code), [cell(Base::File, 0x2000, 4); 2]);
        // ... and not where something does: dec ebx in place of dec ecx.
        code[7] = 0xcb;
        assert_ne!(of(&code), [cell(Base::File, 0x2000, 4); 2]);
    }

    #[test]
    fn cells_overlap_by_their_bytes() {
        let at = |offset, size| MemoryCell { base: Base::File, offset, size };
        assert!(
            at(8, 8).overlaps(&at(12, 4)) && at(12, 4).overlaps(&at(8, 8)) && at(8, 1).overlaps(&at(8, 8))
        );
        assert!(!at(8, 4).overlaps(&at(12, 4)) && !at(12, 4).overlaps(&at(8, 4)));
        assert!(!at(8, 4).overlaps(&MemoryCell { base: Base::Thread, offset: 8, size: 4 }));
    }
}
