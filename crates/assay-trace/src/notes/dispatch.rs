//! Does the program choose its code by the CPU's features, and does this machine have some that the emulated CPU lacks?
//!
//! Method: an executed `cpuid` outside of the C library and the dynamic linker, which always ask. Limits: a program that
//! reads features without `cpuid` (/proc/cpuinfo, the auxiliary vector) is not seen, nor is AArch64; in a statically linked
//! program the C library's functions are told by their names.

use super::place::{in_file, place};
use crate::{ExecutedBlock, MappedModule};
use assay_pure::words;
use iced_x86::{Decoder, DecoderOptions, Mnemonic};
use std::path::Path;
use std::sync::OnceLock;

/// What programs choose by and QEMU 7.2 to 10 do not emulate: the flag in /proc/cpuinfo and the name in prose.
const LACKING: [(&str, &str); 6] = [
    ("avx512f", "AVX-512"),
    ("amx_tile", "AMX"),
    ("avx_vnni", "AVX-VNNI"),
    ("sha_ni", "SHA"),
    ("gfni", "GFNI"),
    ("vpclmulqdq", "VPCLMULQDQ"),
];

/// Libraries that ask in every program.
const ALWAYS: [&str; 5] = ["ld-linux", "libc.so", "libc-", "libm.so", "libgcc_s"];

/// Functions of glibc that ask, where it is linked into the program.
const OF_LIBC: [&str; 12] = [
    "__libc_start_main",
    "__libc_main",
    "init_cpu_features",
    "update_active",
    "get_common_indices",
    "get_common_cache_info",
    "get_extended_indices",
    "intel_check_word",
    "handle_intel",
    "handle_amd",
    "handle_zhaoxin",
    "_dl_relocate_static_pie",
];

/// A sentence if it does.
pub(crate) fn dispatch(blocks: &[ExecutedBlock], modules: &[MappedModule]) -> Option<String> {
    static FEATURES: OnceLock<Vec<String>> = OnceLock::new();
    by_features(blocks, modules, FEATURES.get_or_init(|| assay_linux::machine::facts().features))
}

/// The same for a machine with these features, as in /proc/cpuinfo.
fn by_features(blocks: &[ExecutedBlock], modules: &[MappedModule], features: &[String]) -> Option<String> {
    let lacking: Vec<&str> = LACKING
        .iter()
        .filter(|(flag, _)| features.iter().any(|feature| feature == flag))
        .map(|(_, name)| *name)
        .collect();
    if lacking.is_empty() {
        return None;
    }
    let asked = modules.iter().filter(|module| !always_asks(&module.path)).find_map(|module| {
        let code = in_file(module.start, (module.end - module.start) as usize, module)?;
        let inside = blocks.iter().filter(|block| (module.start..module.end).contains(&block.pc));
        let asks = inside.filter_map(|block| asks(block, code.get((block.pc - module.start) as usize..)?));
        asks.map(|pc| place(pc, modules)).find(|at| !of_libc(at))
    })?;
    Some(format!(
        "The program asks for the CPU's features, at {asked}: the emulated CPU has AVX2, but not this machine's {}. If the \
         program chooses its code by them, these counts are of code that does not run here.",
        words::list(&lacking)
    ))
}

fn always_asks(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    ALWAYS.iter().any(|always| name.starts_with(always))
}

/// `handle_intel.constprop.0+0x12`?
fn of_libc(at: &str) -> bool {
    let name = at.split(['.', '+']).next().unwrap_or_default();
    OF_LIBC.contains(&name)
}

/// The address of a `cpuid` in the block that this code begins with.
fn asks(block: &ExecutedBlock, code: &[u8]) -> Option<u64> {
    let bytes = code.get(..block.bytes as usize)?;
    // Nearly all blocks have not even its bytes.
    if !bytes.windows(2).any(|pair| pair == [0x0f, 0xa2]) {
        return None;
    }
    let decoder = Decoder::with_ip(64, bytes, block.pc, DecoderOptions::NONE);
    decoder.into_iter().find(|found| found.mnemonic() == Mnemonic::Cpuid).map(|found| found.ip())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file of code that is mapped at 0x1000, and its one block.
    fn program(name: &str, code: &[u8]) -> (tempfile::TempDir, Vec<MappedModule>, Vec<ExecutedBlock>) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join(name);
        std::fs::write(&path, code).expect("a file");
        let module = MappedModule { start: 0x1000, end: 0x2000, file_offset: 0, path };
        let block = ExecutedBlock { pc: 0x1000, bytes: code.len() as u32, instructions: 2, executed: 1 };
        (folder, vec![module], vec![block])
    }

    fn features(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    /// xor %eax,%eax; cpuid
    const ASKS: &[u8] = &[0x31, 0xc0, 0x0f, 0xa2];

    #[test]
    fn a_program_that_asks_is_named_with_what_the_emulated_cpu_lacks() {
        let (_folder, modules, blocks) = program("decode", ASKS);
        let said = by_features(&blocks, &modules, &features(&["avx2", "sha_ni", "avx512f"])).expect("a note");
        assert!(
            said.contains("at decode+0x2:") && said.contains("this machine's AVX-512 and SHA."),
            "{said}"
        );
    }

    #[test]
    fn nothing_is_said_where_the_machine_has_nothing_more_or_only_the_c_library_asks() {
        let (_folder, modules, blocks) = program("decode", ASKS);
        assert_eq!(by_features(&blocks, &modules, &features(&["avx2"])), None);
        let (_folder, modules, blocks) = program("libc.so.6", ASKS);
        assert_eq!(by_features(&blocks, &modules, &features(&["sha_ni"])), None);
        assert!(of_libc("handle_intel.constprop.0+0x12") && !of_libc("handle_input+0x3"));
    }

    #[test]
    fn the_same_bytes_inside_of_a_constant_ask_nothing() {
        // mov $0xa20f,%eax
        let (_folder, modules, blocks) = program("decode", &[0xb8, 0x0f, 0xa2, 0, 0]);
        assert_eq!(by_features(&blocks, &modules, &features(&["sha_ni"])), None);
    }
}
