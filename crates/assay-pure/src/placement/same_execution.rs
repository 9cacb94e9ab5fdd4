//! Which instructions of two functions are followed while they run, to tell whether both execute the same.
//!
//! Question: two functions of one file have the same loops ([`super::same_loops`]) and differ in what is executed once a call.
//! Do they take the same time? Method: if the loops execute the same instructions in the same order and reach the same
//! addresses, on the whole input, then all that differs is the little that is executed around them. So each instruction
//! of a loop gets a number that is the same in both functions, and so do those of the functions that loops call where they are the
//! same machine code; an emulator then takes a digest of numbers and addresses, and counts what lies around the loops.
//! Limits: x86-64; the loops must be laid out alike and begin at the same offset modulo [`ENTRY_STEP`], so that a linker can
//! bring both to the same places in a line; an instruction whose time depends on the values that it works on (divisions,
//! floating-point arithmetic, repeated string instructions) makes it unknown, as values are not compared; what is executed
//! around the loops is counted, not timed; a function that asks the processor what it is takes the emulator's way. Source:
//! Intel SDM volume 2 as decoded by iced-x86; which instructions take a time that depends on values: Agner Fog, "Instruction
//! tables". Checked: functions of the machine's compilers in tests/identity.rs; what is told of it by times in
//! docs/methodology/calibration.md.

use super::across::side::{FileSide, LoaderSlot};
use super::identity::code::Disassembly;
use super::identity::{Identity, same_code_at};
use super::layout::LayoutError;
use super::same_loops::{ENTRY_STEP, LoopsOfBoth};
use iced_x86::{CpuidFeature, FlowControl, Instruction, Mnemonic, OpKind};
use std::collections::BTreeMap;

/// Calls of calls are followed this deep.
const CALL_DEPTH: u32 = 4;

/// Functions of the C library that a loop may call: they neither divide nor work on floating-point numbers. The emulator's digest
/// takes in what they execute, as they lie at the same addresses in both runs.
const LIBRARY: [&str; 16] = [
    "memcpy",
    "memmove",
    "memset",
    "memcmp",
    "bcmp",
    "memchr",
    "memrchr",
    "rawmemchr",
    "strlen",
    "strnlen",
    "strcmp",
    "strncmp",
    "strchr",
    "strrchr",
    "strchrnul",
    "mempcpy",
];

/// Version of what is followed and compared: what an earlier one found proves nothing by a later one.
pub const RULES: u32 = 1;

/// What executing an instruction means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FollowedRole {
    /// It is in a loop, or in a function that a loop calls: its number, the same in both functions.
    Looped(u32),
    /// It is in the function, around the loops.
    Around,
    /// Executing it ends the comparison: a call around the loops, the target of a jump out of the function, or an instruction
    /// around the loops that may take as long as hundreds of others.
    Leaves,
}

/// The instructions of one function that are followed: link-time addresses and what executing each means.
pub type FollowedCode = BTreeMap<u64, FollowedRole>;

/// What is followed of the functions at the link-time addresses `a` and `b` of a linked file.
///
/// Returns: both, or in words why nothing that they execute would tell.
///
/// # Errors
/// The file is no ELF file or has no function symbols.
pub fn followed(elf: &[u8], a: u64, b: u64) -> Result<Result<[FollowedCode; 2], String>, LayoutError> {
    let file = FileSide::parse(elf, None)?;
    // What may take long on AArch64 is not listed here.
    if let Some(reason) = file.image.unsuitable() {
        return Ok(Err(reason));
    }
    // Entries at other places modulo the step stay apart wherever a linker puts the functions.
    if !(a ^ b).is_multiple_of(ENTRY_STEP) {
        return Ok(Err("they begin at different offsets".into()));
    }
    let Some(loops) = LoopsOfBoth::find(elf, &file, a, b) else {
        return Ok(Err("their loops are not the same".into()));
    };
    if !laid_out_alike(&loops) {
        return Ok(Err("their loops lie at different offsets".into()));
    }
    let mut both = BothFollowed { elf, file: &file, sides: Default::default(), next: 0 };
    Ok(both.take(&loops).map(|()| both.sides))
}

/// Whether each loop's instructions, padding too, lie at the same distances, and both begin where a linker can bring them to the same place.
fn laid_out_alike(loops: &LoopsOfBoth) -> bool {
    let alike = |(one, other): &(Vec<usize>, Vec<usize>)| {
        let distances = |code: &Disassembly, steps: &[usize]| -> Vec<u64> {
            steps.iter().map(|&step| code.offset(step) - code.offset(steps[0])).collect()
        };
        distances(&loops.first, one) == distances(&loops.second, other)
    };
    loops.steps.iter().all(alike) && loops.shared.iter().all(|shared| shared.reaches_the_same(ENTRY_STEP))
}

struct BothFollowed<'e, 'i> {
    elf: &'e [u8],
    file: &'i FileSide<'e>,
    sides: [FollowedCode; 2],
    next: u32,
}

impl BothFollowed<'_, '_> {
    fn take(&mut self, loops: &LoopsOfBoth) -> Result<(), String> {
        for (side, code) in [&loops.first, &loops.second].into_iter().enumerate() {
            self.around(side, code);
        }
        for (one, other) in &loops.steps {
            for (&x, &y) in one.iter().zip(other) {
                let (x, y) = (&loops.first.steps[x].instruction, &loops.second.steps[y].instruction);
                self.looped(x, y, 0)?;
            }
        }
        Ok(())
    }

    /// All of a function as lying around the loops; these are put over it.
    fn around(&mut self, side: usize, code: &Disassembly) {
        for step in &code.steps {
            let instruction = &step.instruction;
            let calls = matches!(
                instruction.flow_control(),
                FlowControl::Call | FlowControl::IndirectCall | FlowControl::Interrupt
            );
            let role = if calls || is_slow(instruction) || depends_on_values(instruction) {
                FollowedRole::Leaves
            } else {
                FollowedRole::Around
            };
            self.sides[side].insert(instruction.ip(), role);
            let jumps = !calls && instruction.op0_kind() == OpKind::NearBranch64;
            let target = jumps.then(|| instruction.near_branch_target());
            if let Some(target) = target.filter(|target| code.inside(*target).is_none()) {
                self.sides[side].insert(target, FollowedRole::Leaves);
            }
        }
    }

    /// An instruction of a loop, or of what it calls, as both have it.
    fn looped(&mut self, x: &Instruction, y: &Instruction, depth: u32) -> Result<(), String> {
        if depends_on_values(x) {
            let name = format!("{:?}", x.mnemonic()).to_lowercase();
            return Err(format!("the time of `{name}` depends on the values that it works on"));
        }
        if needs_another_processor(x) {
            return Err(
                "a loop has instructions that the emulator lacks, so it may choose another one".into()
            );
        }
        match x.flow_control() {
            FlowControl::Interrupt => return Err("a loop interrupts itself".into()),
            FlowControl::Call => self.callee(x.near_branch_target(), y.near_branch_target(), depth)?,
            FlowControl::IndirectCall => return Err("a loop calls a function by its address".into()),
            _ => {}
        }
        let role = FollowedRole::Looped(self.next);
        self.next += 1;
        self.sides[0].insert(x.ip(), role);
        self.sides[1].insert(y.ip(), role);
        Ok(())
    }

    fn is_of_library(&self, at: u64) -> bool {
        let slot = self.file.stub(at);
        matches!(slot, Some(LoaderSlot::Symbol { name, .. }) if LIBRARY.iter().any(|known| name == known))
    }

    /// A function that a loop calls: one function, or two of the same machine code.
    fn callee(&mut self, a: u64, b: u64, depth: u32) -> Result<(), String> {
        if a == b && self.is_of_library(a) {
            return Ok(());
        }
        let known = |side: &FollowedCode, at: u64| match side.get(&at) {
            Some(FollowedRole::Looped(number)) => Some(*number),
            _ => None,
        };
        match (known(&self.sides[0], a), known(&self.sides[1], b)) {
            (Some(one), Some(other)) if one == other => return Ok(()),
            (None, None) => {}
            _ => return Err("two calls of a loop lead to one function".into()),
        }
        if depth == CALL_DEPTH {
            return Err("a loop calls too deep".into());
        }
        let decode = |at| {
            Disassembly::decode(&self.file.image, at)
                .map_err(|_| "a loop calls what is in no file".to_owned())
        };
        let (first, second) = (decode(a)?, decode(b)?);
        let alike = (a ^ b).is_multiple_of(ENTRY_STEP);
        let same = a == b || alike && matches!(same_code_at(self.elf, a, b), Ok(Identity::Identical { .. }));
        if !same || first.undecodable.is_some() || first.steps.len() != second.steps.len() {
            return Err("a loop calls what is not the same".into());
        }
        for (x, y) in first.steps.iter().zip(&second.steps) {
            let (x, y) = (&x.instruction, &y.instruction);
            let leaves = match x.flow_control() {
                FlowControl::IndirectBranch => true,
                FlowControl::ConditionalBranch | FlowControl::UnconditionalBranch => {
                    first.inside(x.near_branch_target()).is_none()
                }
                _ => false,
            };
            if leaves {
                return Err("a loop calls a function that goes on elsewhere".into());
            }
            self.looped(x, y, depth + 1)?;
        }
        Ok(())
    }
}

/// Whether the emulator has no such instruction: a function that chooses its loop by what the processor has takes another one there.
fn needs_another_processor(instruction: &Instruction) -> bool {
    let lacking = |feature: &CpuidFeature| {
        let name = format!("{feature:?}");
        name.starts_with("AVX512") || name.starts_with("AMX")
    };
    instruction.cpuid_features().iter().any(lacking)
}

/// Whether an instruction may take so long that it matters once a call: it waits for all others, asks the hypervisor, locks
/// memory or repeats.
fn is_slow(instruction: &Instruction) -> bool {
    let repeats = instruction.has_rep_prefix() || instruction.has_repne_prefix();
    let exchanges = instruction.mnemonic() == Mnemonic::Xchg && instruction.memory_size().size() > 0;
    repeats && instruction.is_string_instruction()
        || instruction.has_lock_prefix()
        || exchanges
        || instruction.is_privileged()
        || matches!(
            instruction.mnemonic(),
            Mnemonic::Cpuid
                | Mnemonic::Rdtsc
                | Mnemonic::Rdtscp
                | Mnemonic::Rdpid
                | Mnemonic::Rdrand
                | Mnemonic::Rdseed
                | Mnemonic::Pause
                | Mnemonic::Tpause
                | Mnemonic::Umwait
                | Mnemonic::Mfence
                | Mnemonic::Lfence
                | Mnemonic::Sfence
                | Mnemonic::Serialize
                | Mnemonic::Clflush
                | Mnemonic::Clflushopt
                | Mnemonic::Clwb
                | Mnemonic::Xgetbv
                | Mnemonic::Syscall
                | Mnemonic::Xsave
                | Mnemonic::Xsave64
                | Mnemonic::Xsavec
                | Mnemonic::Xsavec64
                | Mnemonic::Xsaveopt
                | Mnemonic::Xsaveopt64
                | Mnemonic::Xrstor
                | Mnemonic::Xrstor64
                | Mnemonic::Xbegin
                | Mnemonic::Ldmxcsr
                | Mnemonic::Emms
        )
}

/// Whether how long an instruction takes depends on more than where it reads and writes.
fn depends_on_values(instruction: &Instruction) -> bool {
    if instruction.has_rep_prefix() || instruction.has_repne_prefix() {
        // Of string instructions; elsewhere the bytes are part of the opcode.
        return instruction.is_string_instruction();
    }
    if matches!(
        instruction.mnemonic(),
        Mnemonic::Div
            | Mnemonic::Idiv
            | Mnemonic::Pdep
            | Mnemonic::Pext
            | Mnemonic::Cpuid
            | Mnemonic::Rdtsc
            | Mnemonic::Rdtscp
            | Mnemonic::Rdrand
            | Mnemonic::Rdseed
            | Mnemonic::Syscall
    ) {
        return true;
    }
    let name = format!("{:?}", instruction.mnemonic());
    let name = name.strip_prefix('V').unwrap_or(&name);
    if name.starts_with('F') {
        // The old floating-point unit, and fused multiplications.
        return true;
    }
    let floats =
        ["ss", "sd", "ps", "pd", "ph", "sh"].iter().any(|end| name.ends_with(end)) || name.starts_with("Cvt");
    let moves =
        ["Mov", "And", "Or", "Xor", "Shuf", "Unpck", "Perm", "Blend", "Broadcast", "Insert", "Extract"];
    floats && !moves.iter().any(|kind| name.starts_with(kind)) && !name.starts_with('P')
}
