//! What lies at an address of a traced process: bytes of the file that is mapped there, a function of it.

use crate::MappedModule;
use assay_pure::placement::layout::functions;
use std::os::unix::fs::FileExt;

/// At most so many bytes of a module from an address on.
pub(super) fn in_file(pc: u64, size: usize, module: &MappedModule) -> Option<Vec<u8>> {
    let file = std::fs::File::open(&module.path).ok()?;
    let mut bytes = vec![0; size];
    let read = file.read_at(&mut bytes, pc - module.start + module.file_offset).ok()?;
    bytes.truncate(read);
    Some(bytes)
}

/// `function+0x1c`; where no symbol covers it `file+0x1f0`, counted from the beginning of the file.
pub(super) fn place(pc: u64, modules: &[MappedModule]) -> String {
    let of_module = || {
        let module = modules.iter().find(|module| (module.start..module.end).contains(&pc))?;
        let name = module.path.file_name()?.to_string_lossy();
        Some(format!("{name}+{:#x}", pc - module.start + module.file_offset))
    };
    function(pc, modules).or_else(of_module).unwrap_or_else(|| format!("{pc:#x}"))
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
