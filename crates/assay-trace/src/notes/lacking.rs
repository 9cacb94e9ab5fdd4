//! Which instruction did the emulator not have?
//!
//! A program that is ended by SIGILL stops in the block that it executed last, and that block ends with the instruction in
//! question. Limits: where blocks were only counted, the block translated last is taken for it, which it is unless the
//! program had executed it before.

use crate::decode::SeenBlocks;
use crate::{MappedModule, TracedExit};
use assay_pure::placement::layout::functions;
use assay_pure::trace::channel::BlockRecord;
use assay_pure::trace::classify::{self, Flow, InstructionSet};
use std::os::unix::fs::FileExt;

/// SIGILL.
const ILLEGAL: i32 = 4;

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
        let bytes = in_file(record.last, modules).unwrap_or_else(|| record.last_bytes().to_vec());
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

/// The 15 bytes from an address on, the longest that an instruction can be.
fn in_file(pc: u64, modules: &[MappedModule]) -> Option<Vec<u8>> {
    let module = modules.iter().find(|module| (module.start..module.end).contains(&pc))?;
    let file = std::fs::File::open(&module.path).ok()?;
    let mut bytes = vec![0; 15];
    let read = file.read_at(&mut bytes, pc - module.start + module.file_offset).ok()?;
    bytes.truncate(read);
    Some(bytes)
}

/// `function+0x1c`, or the address where no symbol covers it.
fn place(pc: u64, modules: &[MappedModule]) -> String {
    function(pc, modules).unwrap_or_else(|| format!("{pc:#x}"))
}

fn function(pc: u64, modules: &[MappedModule]) -> Option<String> {
    let module = modules.iter().find(|module| (module.start..module.end).contains(&pc))?;
    let elf = std::fs::read(&module.path).ok()?;
    let address = link_address(&elf, pc - module.start + module.file_offset)?;
    let found = functions(&elf).ok()?;
    let function = found.iter().find(|function| {
        (function.address..function.address.saturating_add(function.size)).contains(&address)
    })?;
    Some(format!("{}+{:#x}", function.name, address - function.address))
}

/// The link-time address of a place in the file, by the program headers (System V ABI, chapter 5): 56 bytes each, of them
/// the type at 0, the offset at 8, the address at 16, the size in the file at 32.
fn link_address(elf: &[u8], offset: u64) -> Option<u64> {
    let word = |at: usize| Some(u64::from_le_bytes(*elf.get(at..)?.first_chunk::<8>()?));
    let half = |at: usize| Some(usize::from(u16::from_le_bytes(*elf.get(at..)?.first_chunk::<2>()?)));
    let headers = usize::try_from(word(32)?).ok()?;
    let (size, count) = (half(54)?, half(56)?);
    (0..count).find_map(|index| {
        let at = headers.checked_add(index * size)?;
        let (begin, length) = (word(at.checked_add(8)?)?, word(at.checked_add(32)?)?);
        let loaded = word(at)? as u32 == 1;
        let inside = loaded && offset >= begin && offset - begin < length;
        inside.then_some(word(at + 16)?.wrapping_add(offset - begin))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_in_a_file_has_the_address_that_its_segment_gives_it() {
        let mut elf = vec![0_u8; 64 + 2 * 56];
        elf[32] = 64;
        elf[54] = 56;
        elf[56] = 2;
        let mut header = |index: usize, kind: u8, offset: u64, address: u64, size: u64| {
            let at = 64 + 56 * index;
            elf[at] = kind;
            elf[at + 8..at + 16].copy_from_slice(&offset.to_le_bytes());
            elf[at + 16..at + 24].copy_from_slice(&address.to_le_bytes());
            elf[at + 32..at + 40].copy_from_slice(&size.to_le_bytes());
        };
        header(0, 4, 0, 0, 0x10000);
        header(1, 1, 0x1000, 0x40_2000, 0x500);
        assert_eq!(link_address(&elf, 0x1010), Some(0x40_2010));
        assert_eq!(link_address(&elf, 0x1500), None);
        assert_eq!(link_address(&elf[..100], 0x1010), None);
        assert_eq!(link_address(&[], 0), None);
    }
}
