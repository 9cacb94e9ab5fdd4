//! What a comparison of two files asks of each: names of addresses, what the loader puts into slots, variables of
//! threads, and where something is known to begin.

use super::a64::Endless;
use super::names::{self, Named};
use crate::placement::identity::code;
use crate::placement::identity::image::{Access, LinkedImage};
use crate::placement::layout::{self, LayoutError};
use object::read::elf::{FileHeader as _, ProgramHeader as _, Rela as _, SectionHeader as _};
use object::{Architecture, Object as _, ObjectSymbol as _};
use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::ops::Range;

/// What the loader writes at an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoaderSlot {
    /// The address of a symbol, or what else this relocation makes of it, plus a number.
    Symbol {
        /// Its name.
        name: String,
        /// What is added.
        addend: i64,
        /// Number of the relocation, by the ABI.
        kind: u32,
    },
    /// An address in this file.
    Inside(u64),
    /// What the function at this address returns.
    Resolver(u64),
    /// The offset of a thread's variable that is this far into the file's own.
    Thread(u64),
}

/// A data object with its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Symbol name.
    pub name: String,
    /// Link-time address, or for a thread's variable the offset in the file's own.
    pub address: u64,
    /// Bytes.
    pub size: u64,
}

/// One of the two files.
pub struct FileSide<'e> {
    /// Sections and functions.
    pub image: LinkedImage<'e>,
    /// Whether its code is AArch64.
    pub aarch64: bool,
    /// Its functions with what tells those of one name apart.
    pub named: Vec<Named>,
    names: BTreeMap<u64, Vec<String>>,
    slots: BTreeMap<u64, LoaderSlot>,
    variables: Vec<Variable>,
    threads: Vec<Variable>,
    /// What is to be taken off the offset of a thread's variable from the thread pointer, to find it in the file.
    thread_base: i64,
    /// Written by the loader alone.
    constant: Vec<Range<u64>>,
    pointers: OnceCell<Vec<u64>>,
    known: OnceCell<Vec<u64>>,
    endless: OnceCell<Endless>,
}

impl<'e> FileSide<'e> {
    /// Reads a file, with its symbols from another one if they were split off.
    ///
    /// # Errors
    /// One of the files is no ELF file, or has no function symbols.
    pub fn parse(elf: &'e [u8], symbols: Option<&[u8]>) -> Result<Self, LayoutError> {
        let named = symbols.unwrap_or(elf);
        let image = LinkedImage::parse_with(elf, named)?;
        let names = layout::parse(named)?;
        let segments = Segments::read(elf);
        let aarch64 = layout::parse(elf)?.architecture() == Architecture::Aarch64;
        Ok(Self {
            aarch64,
            named: names::functions(&names),
            names: all_names(&names),
            slots: slots(elf, &image),
            variables: variables(&names, object::SymbolKind::Data),
            threads: variables(&names, object::SymbolKind::Tls),
            thread_base: segments.thread_base(aarch64),
            constant: segments.constant,
            image,
            pointers: OnceCell::new(),
            known: OnceCell::new(),
            endless: OnceCell::new(),
        })
    }

    /// Why nothing can be said of this file, if so.
    pub fn unsuitable(&self) -> Option<String> {
        self.image.unsuitable().filter(|_| !(self.aarch64 && self.image.linked))
    }

    /// All names of an address.
    pub fn names_at(&self, address: u64) -> &[String] {
        self.names.get(&address).map_or(&[], Vec::as_slice)
    }

    /// What the loader writes there.
    pub fn slot(&self, address: u64) -> Option<&LoaderSlot> {
        self.slots.get(&address)
    }

    /// The first address in a range that the loader writes to.
    pub fn next_slot(&self, range: Range<u64>) -> Option<u64> {
        (range.start < range.end).then(|| self.slots.range(range).next().map(|(&address, _)| address))?
    }

    /// The data object that covers an address.
    pub fn variable_at(&self, address: u64) -> Option<&Variable> {
        covering(&self.variables, address)
    }

    /// Whether it has a data object of this name.
    pub fn has_variable(&self, name: &str) -> bool {
        self.variables.iter().any(|variable| variable.name == name)
    }

    /// The variable of a thread at an offset from the thread pointer, and how far into it.
    pub fn thread_variable(&self, from_pointer: i64) -> Option<(&str, u64)> {
        let offset = u64::try_from(from_pointer.checked_sub(self.thread_base)?).ok()?;
        self.thread_variable_in_file(offset)
    }

    /// The variable of a thread at an offset in the file's own.
    pub fn thread_variable_in_file(&self, offset: u64) -> Option<(&str, u64)> {
        let variable = covering(&self.threads, offset)?;
        Some((&variable.name, offset - variable.address))
    }

    /// Whether nothing but the loader writes there.
    pub fn is_constant(&self, address: u64) -> bool {
        let read_only = self.image.section_at(address).is_some_and(|found| found.access != Access::Writable);
        read_only || self.constant.iter().any(|range| range.contains(&address))
    }

    /// Where a stub of the procedure linkage table leads: the slot that it jumps through.
    pub fn stub(&self, address: u64) -> Option<&LoaderSlot> {
        let slot = match self.aarch64 {
            true => super::a64::stub(&self.image, address),
            false => super::x86::stub(&self.image, address),
        };
        self.slot(slot?)
    }

    /// Its functions of AArch64 that never return.
    pub fn endless(&self) -> &Endless {
        self.endless.get_or_init(|| Endless::find(self))
    }

    /// The next address after `address` at which something else may begin.
    pub fn next_known(&self, address: u64) -> Option<u64> {
        let end = self.image.section_at(address)?.end();
        let known = self.known.get_or_init(|| self.all_known());
        let next = known.get(known.partition_point(|&other| other <= address)).copied();
        Some(next.map_or(end, |next| next.min(end)))
    }

    /// The addresses in a range that data holds.
    pub fn pointers_into(&self, range: Range<u64>) -> &[u64] {
        let pointers = self.pointers();
        let first = pointers.partition_point(|&address| address < range.start);
        &pointers[first..pointers.partition_point(|&address| address < range.end).max(first)]
    }

    /// What data holds that is an address, in order.
    fn pointers(&self) -> &[u64] {
        self.pointers.get_or_init(|| {
            let inside = self.slots.values().filter_map(|slot| match slot {
                LoaderSlot::Inside(address) => Some(*address),
                _ => None,
            });
            let mut found: Vec<u64> = inside.collect();
            if self.image.fixed {
                found.extend(self.image.pointers());
            }
            found.sort_unstable();
            found.dedup();
            found
        })
    }

    fn all_known(&self) -> Vec<u64> {
        let mut found: Vec<u64> = match self.aarch64 {
            true => super::a64::mentioned(self),
            false => code::mentioned(&self.image).into_iter().collect(),
        };
        found.extend(self.names.keys());
        found.extend(self.variables.iter().map(|variable| variable.address.saturating_add(variable.size)));
        found.extend(self.pointers());
        found.sort_unstable();
        found.dedup();
        found
    }
}

fn covering(variables: &[Variable], address: u64) -> Option<&Variable> {
    let upto = variables.partition_point(|variable| variable.address <= address);
    // The variables of one place stand together, the longest last; nested ones do not occur.
    variables[..upto].last().filter(|variable| address - variable.address < variable.size)
}

fn variables(file: &object::File, kind: object::SymbolKind) -> Vec<Variable> {
    let symbols = file.symbols().chain(file.dynamic_symbols());
    // `is_definition` knows functions and objects alone, not variables of threads.
    let mut found: Vec<Variable> = symbols
        .filter(|symbol| symbol.kind() == kind && !symbol.is_undefined() && symbol.size() > 0)
        .map(|symbol| Variable {
            name: symbol.name().unwrap_or_default().to_owned(),
            address: symbol.address(),
            size: symbol.size(),
        })
        .collect();
    found.sort_by(|a, b| (a.address, a.size, &b.name).cmp(&(b.address, b.size, &a.name)));
    found.dedup();
    found
}

fn all_names(file: &object::File) -> BTreeMap<u64, Vec<String>> {
    use object::SymbolKind::{File, Section, Tls};
    let mut found: BTreeMap<u64, Vec<String>> = BTreeMap::new();
    for symbol in file.symbols().chain(file.dynamic_symbols()) {
        let name = symbol.name().unwrap_or_default();
        // `$x` and `$d` mark code and data on AArch64; they name nothing.
        let marks = name.is_empty() || name.starts_with('$');
        if symbol.is_definition() && !matches!(symbol.kind(), File | Section | Tls) && !marks {
            let names = found.entry(symbol.address()).or_default();
            if !names.iter().any(|known| known == name) {
                names.push(name.to_owned());
            }
        }
    }
    found
}

/// What the loader writes, or a static program's own start-up code.
fn slots(elf: &[u8], image: &LinkedImage) -> BTreeMap<u64, LoaderSlot> {
    let mut found = listed_slots(elf).unwrap_or_default();
    for address in packed(elf).unwrap_or_default() {
        let to = image.raw_word(address);
        found.extend(to.map(|to| (address, LoaderSlot::Inside(to))));
    }
    found
}

/// The relocations of all sections that are loaded.
fn listed_slots(elf: &[u8]) -> object::Result<BTreeMap<u64, LoaderSlot>> {
    let header = object::elf::FileHeader64::<object::Endianness>::parse(elf)?;
    let endian = header.endian()?;
    let sections = header.sections(endian, elf)?;
    let symbols = sections.symbols(endian, elf, object::elf::SHT_DYNSYM)?;
    let mut found = BTreeMap::new();
    for section in sections.iter() {
        if section.sh_flags(endian).0 & object::elf::SHF_ALLOC.0 == 0 {
            continue;
        }
        let Ok(Some((relocations, _))) = section.rela(endian, elf) else { continue };
        for relocation in relocations {
            let (kind, addend) = (relocation.r_type(endian, false).0, relocation.r_addend(endian));
            let symbol = relocation.symbol(endian, false).and_then(|index| symbols.symbol(index).ok());
            let name = symbol.and_then(|symbol| symbols.symbol_name(endian, symbol).ok()).unwrap_or_default();
            let slot = match std::str::from_utf8(name) {
                Ok("") => unnamed(kind, addend),
                Ok(name) => LoaderSlot::Symbol { name: name.to_owned(), addend, kind },
                Err(_) => continue,
            };
            found.insert(relocation.r_offset(endian), slot);
        }
    }
    Ok(found)
}

/// A relocation without a symbol. System V ABI, supplements for AMD64 (table 4.9) and for AArch64 (section 5.7.16).
fn unnamed(kind: u32, addend: i64) -> LoaderSlot {
    match kind {
        8 | 1027 => LoaderSlot::Inside(addend as u64),
        37 | 1032 => LoaderSlot::Resolver(addend as u64),
        // The module (16, 1028), the offset in it (17, 1029) or from the thread pointer (18, 1030), a descriptor.
        16..=18 | 36 | 1028..=1031 => LoaderSlot::Thread(addend as u64),
        _ => LoaderSlot::Symbol { name: String::new(), addend, kind },
    }
}

/// The places of packed relative relocations, SHT_RELR.
fn packed(elf: &[u8]) -> object::Result<Vec<u64>> {
    let header = object::elf::FileHeader64::<object::Endianness>::parse(elf)?;
    let endian = header.endian()?;
    let mut found = Vec::new();
    for section in header.section_headers(endian, elf)? {
        found.extend(section.relr(endian, elf)?.into_iter().flatten());
    }
    Ok(found)
}

/// What the program headers tell.
#[derive(Default)]
struct Segments {
    constant: Vec<Range<u64>>,
    thread: Option<(u64, u64)>,
}

impl Segments {
    fn read(elf: &[u8]) -> Self {
        let read = || -> object::Result<Self> {
            let header = object::elf::FileHeader64::<object::Endianness>::parse(elf)?;
            let endian = header.endian()?;
            let mut found = Self::default();
            for segment in header.program_headers(endian, elf)? {
                let (start, bytes) = (segment.p_vaddr(endian), segment.p_memsz(endian));
                match segment.p_type(endian) {
                    object::elf::PT_GNU_RELRO => found.constant.push(start..start.saturating_add(bytes)),
                    object::elf::PT_TLS => found.thread = Some((bytes, segment.p_align(endian))),
                    _ => {}
                }
            }
            Ok(found)
        };
        read().unwrap_or_default()
    }

    /// On x86-64 the program's variables end at the thread pointer; on AArch64 they start 16 bytes after it, as far as
    /// their alignment allows. Source: Drepper, ELF handling for thread-local storage, variants I and II.
    fn thread_base(&self, aarch64: bool) -> i64 {
        let Some((bytes, align)) = self.thread else { return 0 };
        let up = |value: u64| value.checked_next_multiple_of(align.max(1)).unwrap_or(value) as i64;
        if aarch64 { up(16) } else { up(bytes).wrapping_neg() }
    }
}
