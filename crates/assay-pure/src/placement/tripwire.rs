//! A copy of a program that ends at once where it would execute code that another build does not have.
//!
//! Question: does a benchmark, as it really runs on this processor, execute anything of what two builds differ in? Method: all
//! code but that of the functions that are the same in both files is overwritten. At every symbol lies a system call that kills
//! the process group, so that neither a handler of signals nor a pipeline hides it; everywhere else lies a trap. A run that ends
//! well has executed nothing but functions that both files have. Nothing is emulated, so it holds for the instruction sets that
//! this processor chooses, and for as many iterations as are measured.
//! Source: Intel SDM volume 2 (`INT3`, `UD2`), kill(2). Limits: x86-64. The stubs of the linker (`.plt`, `.init`, `.fini`) and the
//! start-up code of the C runtime, which has no sizes, stay as they are: they are the toolchain's. Constants that hand-written
//! assembly keeps in its code without a symbol are overwritten, too.
//! Checked by: programs in tests/tripwire.rs, of each compiler of the machine.

use super::layout::{self, LayoutError};
use object::{Architecture, Object as _, ObjectSection as _, ObjectSymbol as _, SectionKind};
use std::collections::BTreeSet;
use std::ops::Range;

/// `kill(0, SIGKILL)`, which nobody can catch; `ud2` if it is refused.
const KILL: [u8; 12] = [
    0x6a, 0x3e, // push 62 (kill)
    0x58, // pop rax
    0x31, 0xff, // xor edi, edi: the whole process group
    0x6a, 0x09, // push 9 (SIGKILL)
    0x5e, // pop rsi
    0x0f, 0x05, // syscall
    0x0f, 0x0b, // ud2
];
/// `int3`.
const TRAP: u8 = 0xcc;

/// What the linker and the C runtime put into every program, without a size that would make it a function.
const RUNTIME: [&str; 8] = [
    "_init",
    "_fini",
    "_start",
    "deregister_tm_clones",
    "register_tm_clones",
    "__do_global_dtors_aux",
    "frame_dummy",
    "_dl_relocate_static_pie",
];

/// The file with a wire across all code but that at `untouched`, link-time addresses.
///
/// Cost: linear in the size of the file.
///
/// # Errors
/// It is no ELF file, or its instructions are not known.
pub fn tripwire(elf: &[u8], untouched: &[Range<u64>]) -> Result<Vec<u8>, LayoutError> {
    let file = layout::parse(elf)?;
    if file.architecture() != Architecture::X86_64 {
        return Err(LayoutError::UnknownCode { architecture: format!("{:?}", file.architecture()) });
    }
    let entries: BTreeSet<u64> = file.symbols().map(|symbol| symbol.address()).collect();
    let mut kept: Vec<Range<u64>> = untouched.to_vec();
    for symbol in file.symbols().filter(|symbol| symbol.name().is_ok_and(|name| RUNTIME.contains(&name))) {
        let start = symbol.address();
        let next = entries.range(start + 1..).next().copied().unwrap_or(u64::MAX);
        kept.push(start..if symbol.size() > 0 { start + symbol.size() } else { next });
    }
    let mut wired = elf.to_vec();
    for section in file.sections().filter(is_wired) {
        let Some((offset, size)) = section.file_range() else { continue };
        for gap in gaps(section.address()..section.address() + size, &kept) {
            let at = |address: u64| (offset + (address - section.address())) as usize;
            wired[at(gap.start)..at(gap.end)].fill(TRAP);
            let mut starts = entries.range(gap.clone()).copied().peekable();
            while let Some(start) = starts.next() {
                let room = starts.peek().copied().unwrap_or(gap.end) - start;
                if room >= KILL.len() as u64 {
                    wired[at(start)..at(start) + KILL.len()].copy_from_slice(&KILL);
                }
            }
        }
    }
    Ok(wired)
}

fn is_wired<'d>(section: &object::Section<'d, '_>) -> bool {
    let name = section.name().unwrap_or_default();
    let of_the_linker = name.starts_with(".plt") || matches!(name, ".init" | ".fini");
    section.kind() == SectionKind::Text && !of_the_linker
}

/// What of `whole` no range covers, ascending.
fn gaps(whole: Range<u64>, ranges: &[Range<u64>]) -> Vec<Range<u64>> {
    let mut covered: Vec<&Range<u64>> =
        ranges.iter().filter(|range| range.start < whole.end && range.end > whole.start).collect();
    covered.sort_by_key(|range| range.start);
    let (mut from, mut found) = (whole.start, Vec::new());
    for range in covered {
        if range.start > from {
            found.push(from..range.start);
        }
        from = from.max(range.end);
    }
    if from < whole.end {
        found.push(from..whole.end);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_range_covers_is_found_whatever_overlaps() {
        let of = |ranges: &[(u64, u64)]| -> Vec<(u64, u64)> {
            let ranges: Vec<Range<u64>> = ranges.iter().map(|range| range.0..range.1).collect();
            gaps(10..20, &ranges).into_iter().map(|gap| (gap.start, gap.end)).collect()
        };
        assert_eq!(of(&[]), [(10, 20)]);
        assert_eq!(of(&[(0, 12), (11, 14), (13, 13), (16, 17)]), [(14, 16), (17, 20)]);
        assert_eq!(of(&[(5, 30)]), []);
        assert_eq!(of(&[(20, 30), (0, 10)]), [(10, 20)]);
    }
}
