//! Which instruction did the emulator not have?
//!
//! A program that is ended by SIGILL stops in the block that it executed last, and that block ends with the instruction in
//! question. Limits: where blocks were only counted, the block translated last is taken for it, which it is unless the
//! program had executed it before.

use super::place::{in_file, place};
use crate::decode::SeenBlocks;
use crate::{MappedModule, TracedExit};
use assay_pure::trace::channel::BlockRecord;
use assay_pure::trace::classify::{self, Flow, InstructionSet};

/// SIGILL.
const ILLEGAL: i32 = 4;
/// Bytes of the longest instruction.
const LONGEST: usize = 15;

/// A sentence on the first of the `last` blocks that explains the end.
pub(crate) fn lacking(
    code: &SeenBlocks,
    last: &[u32],
    modules: &[MappedModule],
    ended: TracedExit,
) -> Option<String> {
    let sure = ended == TracedExit::Signalled(ILLEGAL);
    if !sure && ended != TracedExit::Unknown {
        return None;
    }
    last.iter().filter_map(|id| code.records().get(*id as usize)).find_map(|record| {
        // QEMU hands on only as much of an instruction as it has understood; the file has all of it.
        let bytes = modules
            .iter()
            .find(|module| (module.start..module.end).contains(&record.last))
            .and_then(|module| in_file(record.last, LONGEST, module))
            .unwrap_or_else(|| record.last_bytes().to_vec());
        let flow = classify::flow(code.architecture(), record.last, &bytes);
        let (name, extension) = classify::name(code.architecture(), &bytes)?;
        let known = extension.contains("AVX512") || extension.contains("AMX");
        if !matches!(flow, Flow::Next | Flow::Unknown) || !(sure || known) {
            return None;
        }
        Some(sentence(code.architecture(), record, &name, &extension, modules))
    })
}

fn sentence(
    architecture: InstructionSet,
    record: &BlockRecord,
    name: &str,
    extension: &str,
    modules: &[MappedModule],
) -> String {
    let of = if extension.is_empty() { String::new() } else { format!(" ({extension})") };
    let flag = match architecture {
        InstructionSet::X86_64 => "-march=x86-64-v3",
        InstructionSet::Aarch64 => "-march=armv8-a",
    };
    format!(
        "{name}{of} at {} is an instruction that the emulator lacks; rebuild with {flag}.",
        place(record.last, modules)
    )
}
