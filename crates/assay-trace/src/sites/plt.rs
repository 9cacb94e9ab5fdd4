//! Names of the stubs through which a file calls functions of other files (the procedure linkage table).
//!
//! No symbol names them; each jumps through a slot of memory that a relocation names. Read for x86-64, from the code of the
//! sections whose names begin with `.plt`; stubs of other machines, and of functions chosen at run time (IFUNC) have no name.

use iced_x86::{Decoder, DecoderOptions, Mnemonic, OpKind, Register};
use object::{Object as _, ObjectSection as _, ObjectSymbol as _, ObjectSymbolTable as _};
use std::collections::HashMap;

/// A stub: its addresses and the function that it is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stub {
    /// Its first address.
    pub start: u64,
    /// The address after its last.
    pub end: u64,
    /// The function, without a version.
    pub function: String,
}

/// The stubs of a file, in the order of their addresses.
pub fn stubs(file: &object::File<'_>) -> Vec<Stub> {
    if file.architecture() != object::Architecture::X86_64 {
        return Vec::new();
    }
    let slots = slots(file);
    let mut found = Vec::new();
    for section in file.sections() {
        let is_table = section.name().is_ok_and(|name| name.starts_with(".plt"));
        if let (true, Ok(code)) = (is_table, section.data()) {
            found.extend(of_section(code, section.address(), &slots));
        }
    }
    found.sort_by_key(|stub: &Stub| stub.start);
    found
}

/// The names of the slots that the dynamic linker fills, by address.
fn slots(file: &object::File<'_>) -> HashMap<u64, String> {
    let Some(symbols) = file.dynamic_symbol_table() else { return HashMap::new() };
    let named = file.dynamic_relocations().into_iter().flatten().filter_map(|(address, relocation)| {
        let object::RelocationTarget::Symbol(index) = relocation.target() else { return None };
        let name = symbols.symbol_by_index(index).ok()?.name().ok().filter(|name| !name.is_empty())?;
        Some((address, super::names::demangle(name)))
    });
    named.collect()
}

/// Each stub ends with its jump; what comes after it and does nothing (padding, a push for the resolver) begins the next.
fn of_section(code: &[u8], address: u64, slots: &HashMap<u64, String>) -> Vec<Stub> {
    let mut decoder = Decoder::with_ip(64, code, address, DecoderOptions::NONE);
    let (mut found, mut start) = (Vec::new(), address);
    while decoder.can_decode() {
        let instruction = decoder.decode();
        if instruction.is_invalid() {
            break;
        }
        // Stubs are aligned to 8 or 16 bytes.
        if instruction.ip().is_multiple_of(8) {
            start = instruction.ip();
        }
        let is_jump = instruction.mnemonic() == Mnemonic::Jmp && instruction.op0_kind() == OpKind::Memory;
        if is_jump
            && instruction.memory_base() == Register::RIP
            && let Some(function) = slots.get(&instruction.memory_displacement64())
        {
            found.push(Stub { start, end: instruction.next_ip(), function: function.clone() });
        }
    }
    found
}

/// The stub that holds an address.
pub fn at(stubs: &[Stub], address: u64) -> Option<&Stub> {
    let after = stubs.partition_point(|stub| stub.start <= address);
    stubs.get(after.checked_sub(1)?).filter(|stub| address < stub.end)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As GNU ld makes them: `endbr64; bnd jmp [rip+x]; nop` of .plt.sec, and `jmp [rip+x]; push 0; jmp` of .plt.
    #[test]
    fn a_stub_is_named_by_the_slot_that_it_jumps_through() {
        let mut code = vec![0xf3, 0x0f, 0x1e, 0xfa, 0xf2, 0xff, 0x25, 0x05, 0x00, 0x00, 0x00];
        code.extend([0x0f, 0x1f, 0x44, 0x00, 0x00]);
        code.extend([0xff, 0x25, 0x0a, 0x00, 0x00, 0x00, 0x68, 0, 0, 0, 0, 0xe9, 0, 0, 0, 0]);
        // The slots: behind the first jump (0x100b) 5 bytes, behind the second (0x1016) 10 bytes.
        let slots = HashMap::from([(0x1010, "getenv".to_owned()), (0x1020, "malloc".to_owned())]);
        let found = of_section(&code, 0x1000, &slots);
        let names: Vec<_> = found.iter().map(|stub| (stub.start, stub.end, stub.function.as_str())).collect();
        assert_eq!(names, [(0x1000, 0x100b, "getenv"), (0x1010, 0x1016, "malloc")]);
        let name = |address| at(&found, address).map(|stub| stub.function.as_str());
        assert_eq!(
            [name(0xfff), name(0x1004), name(0x100b), name(0x1010)],
            [None, Some("getenv"), None, Some("malloc")]
        );
    }
}
