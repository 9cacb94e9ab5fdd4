//! The padding as an object file, for links whose compiler is not known.
//!
//! Question: what can be put ahead of all code when there is a linker but no assembler? Method: an ELF relocatable file
//! is written by hand, with the one section and symbol of [`super::order::pad_assembly`], for the machine of an object
//! of the same link. Its `.note.gnu.property` is copied, because linkers only grant a property (branch targets, shadow
//! stacks) that every object has. Source: System V ABI, chapter 4. Limits: 64-bit files. Checked: read back here, and
//! linked by GNU ld, gold and lld (`crates/assay/tests/capture.rs`).

use super::layout::{self, LINE_BYTES, LayoutError};
use super::order::{PAD_SECTION, PAD_SYMBOL};
use object::read::elf::FileHeader as _;
use object::{Object as _, ObjectSection as _};

const HEADER_BYTES: u64 = 64;
const SECTION_BYTES: u16 = 64;
const SYMBOL_BYTES: u64 = 24;
const PROPERTY: &str = ".note.gnu.property";

// Kinds and flags of sections, and of the symbol (gABI, figures 4-9, 4-11, 4-16 to 4-18).
const PROGBITS: u32 = 1;
const SYMTAB: u32 = 2;
const STRTAB: u32 = 3;
const NOTE: u32 = 7;
const ALLOCATED: u64 = 2;
const EXECUTABLE: u64 = 4;
const GLOBAL_OBJECT: u8 = 1 << 4 | 1;
const HIDDEN: u8 = 2;

/// An object file that holds one line and `phase_bytes` of padding, aligned to a line.
///
/// Input: `like`, any ELF file of the link, which tells the machine.
///
/// # Errors
/// `like` is no 64-bit ELF file.
pub fn object(like: &[u8], phase_bytes: u32) -> Result<Vec<u8>, LayoutError> {
    let machine = ElfMachine::of(like)?;
    let mut symbols = ByteReader::new(machine.big_endian);
    symbols.zeros(SYMBOL_BYTES);
    let size = LINE_BYTES + u64::from(phase_bytes);
    symbols.u32(1);
    symbols.raw(&[GLOBAL_OBJECT, HIDDEN]);
    symbols.u16(1); // the section of the padding
    symbols.u64(0);
    symbols.u64(size);
    let mut sections = vec![
        ObjectSection {
            flags: ALLOCATED | EXECUTABLE,
            alignment: LINE_BYTES,
            ..ObjectSection::new(PAD_SECTION, PROGBITS, vec![0; size as usize])
        },
        // The stack need not be executable for our sake.
        ObjectSection::new(".note.GNU-stack", PROGBITS, Vec::new()),
        // Its names are the next section; its first global symbol is number 1.
        ObjectSection {
            link: 4,
            info: 1,
            entry: SYMBOL_BYTES,
            ..ObjectSection::new(".symtab", SYMTAB, symbols.bytes)
        },
        ObjectSection::new(".strtab", STRTAB, format!("\0{PAD_SYMBOL}\0").into_bytes()),
    ];
    if let Some(property) = &machine.property {
        let note = ObjectSection::new(PROPERTY, NOTE, property.clone());
        sections.push(ObjectSection { flags: ALLOCATED, alignment: 8, ..note });
    }
    Ok(file(&machine, sections))
}

/// What a linker holds against each object.
struct ElfMachine {
    big_endian: bool,
    number: u16,
    flags: u32,
    property: Option<Vec<u8>>,
}

impl ElfMachine {
    fn of(like: &[u8]) -> Result<Self, LayoutError> {
        let broken = |error: object::Error| LayoutError::NotElf(error.to_string());
        let header = object::elf::FileHeader64::<object::Endianness>::parse(like).map_err(broken)?;
        let endian = header.endian().map_err(broken)?;
        let file = layout::parse(like)?;
        let property = file.section_by_name(PROPERTY).and_then(|section| section.data().ok());
        Ok(Self {
            big_endian: endian == object::Endianness::Big,
            number: header.e_machine.get(endian).0,
            flags: header.e_flags.get(endian).0,
            property: property.map(<[u8]>::to_vec),
        })
    }
}

struct ObjectSection {
    name: &'static str,
    kind: u32,
    flags: u64,
    link: u32,
    info: u32,
    alignment: u64,
    entry: u64,
    content: Vec<u8>,
}

impl ObjectSection {
    fn new(name: &'static str, kind: u32, content: Vec<u8>) -> Self {
        Self { name, kind, flags: 0, link: 0, info: 0, alignment: 1, entry: 0, content }
    }
}

/// Header, contents, table of sections.
fn file(machine: &ElfMachine, mut sections: Vec<ObjectSection>) -> Vec<u8> {
    sections.push(ObjectSection::new(".shstrtab", STRTAB, Vec::new()));
    let mut names = vec![0];
    let mut named_at = Vec::new();
    for section in &sections {
        named_at.push(names.len() as u32);
        names.extend(section.name.bytes().chain([0]));
    }
    sections.last_mut().expect("just pushed").content = names;

    let mut body = ByteReader::new(machine.big_endian);
    body.zeros(HEADER_BYTES);
    let mut placed_at = Vec::new();
    for section in &sections {
        // Lines are enough for any alignment in here.
        body.align(LINE_BYTES);
        placed_at.push(body.bytes.len() as u64);
        body.raw(&section.content);
    }
    body.align(LINE_BYTES);
    let table = body.bytes.len() as u64;
    body.zeros(u64::from(SECTION_BYTES));
    for ((section, name), at) in sections.iter().zip(named_at).zip(placed_at) {
        body.u32(name);
        body.u32(section.kind);
        body.u64(section.flags);
        body.u64(0);
        body.u64(at);
        body.u64(section.content.len() as u64);
        body.u32(section.link);
        body.u32(section.info);
        body.u64(section.alignment);
        body.u64(section.entry);
    }
    let header = header(machine, table, sections.len() as u16 + 1);
    body.bytes[..header.len()].copy_from_slice(&header);
    body.bytes
}

fn header(machine: &ElfMachine, table: u64, sections: u16) -> Vec<u8> {
    let mut header = ByteReader::new(machine.big_endian);
    // 64 bits, byte order, version 1, System V.
    header.raw(&[0x7f, b'E', b'L', b'F', 2, if machine.big_endian { 2 } else { 1 }, 1]);
    header.zeros(9);
    header.u16(1); // relocatable
    header.u16(machine.number);
    header.u32(1);
    header.zeros(16); // entry, program headers
    header.u64(table);
    header.u32(machine.flags);
    header.u16(HEADER_BYTES as u16);
    header.u16(0);
    header.u16(0);
    header.u16(SECTION_BYTES);
    header.u16(sections);
    header.u16(sections - 1);
    header.bytes
}

struct ByteReader {
    big_endian: bool,
    bytes: Vec<u8>,
}

impl ByteReader {
    fn new(big_endian: bool) -> Self {
        Self { big_endian, bytes: Vec::new() }
    }

    fn raw(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    fn zeros(&mut self, count: u64) {
        self.bytes.extend(std::iter::repeat_n(0, count as usize));
    }

    fn align(&mut self, to: u64) {
        self.bytes.resize(self.bytes.len().next_multiple_of(to as usize), 0);
    }

    fn u16(&mut self, value: u16) {
        let bytes = if self.big_endian { value.to_be_bytes() } else { value.to_le_bytes() };
        self.raw(&bytes);
    }

    fn u32(&mut self, value: u32) {
        let bytes = if self.big_endian { value.to_be_bytes() } else { value.to_le_bytes() };
        self.raw(&bytes);
    }

    fn u64(&mut self, value: u64) {
        let bytes = if self.big_endian { value.to_be_bytes() } else { value.to_le_bytes() };
        self.raw(&bytes);
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use object::{ObjectSymbol as _, SectionFlags};

    /// A small ELF file for RISC-V, to copy the machine from.
    pub(in super::super) fn like(big_endian: bool, property: Option<Vec<u8>>) -> Vec<u8> {
        let machine = ElfMachine { big_endian, number: 243, flags: 5, property: None };
        let mut sections = vec![ObjectSection::new(".text", PROGBITS, vec![1])];
        sections.extend(property.map(|bytes| ObjectSection::new(PROPERTY, NOTE, bytes)));
        file(&machine, sections)
    }

    #[test]
    fn the_padding_is_read_back_as_it_was_meant_in_either_byte_order() {
        for big_endian in [false, true] {
            let made = object(&like(big_endian, None), 48).expect("the model is an ELF file");
            let file = object::File::parse(&made[..]).expect("an ELF file");
            assert_eq!(file.kind(), object::ObjectKind::Relocatable);
            assert_eq!(file.architecture(), object::Architecture::Riscv64);
            assert!(matches!(file.flags(), object::FileFlags::Elf { e_flags, .. } if e_flags.0 == 5));
            let section = file.section_by_name(PAD_SECTION).expect("the padding");
            assert_eq!((section.size(), section.align()), (64 + 48, 64));
            assert!(matches!(section.flags(), SectionFlags::Elf { sh_flags, .. } if sh_flags.0 == 6));
            let symbol = file.symbols().find(|symbol| symbol.name() == Ok(PAD_SYMBOL)).expect("its symbol");
            assert_eq!((symbol.address(), symbol.size()), (0, 64 + 48));
            assert_eq!(symbol.section_index(), Some(section.index()));
            assert!(symbol.is_global() && symbol.scope() == object::SymbolScope::Linkage, "hidden");
            assert!(
                file.section_by_name(".note.GNU-stack").is_some() && file.section_by_name(PROPERTY).is_none()
            );
        }
    }

    #[test]
    fn properties_of_the_program_are_kept() {
        let note = vec![4, 0, 0, 0, 9];
        let made = object(&like(false, Some(note.clone())), 0).expect("the model is an ELF file");
        let file = object::File::parse(&made[..]).expect("an ELF file");
        assert_eq!(file.section_by_name(PROPERTY).and_then(|section| section.data().ok()), Some(&note[..]));
    }

    #[test]
    fn a_model_that_is_no_elf_file_is_refused() {
        assert!(matches!(object(b"BC\xC0\xDE", 0), Err(LayoutError::NotElf(_))));
        let mut narrow = like(false, None);
        narrow[4] = 1;
        assert!(matches!(object(&narrow, 0), Err(LayoutError::NotElf(_))), "32 bits");
    }
}
