//! What the comparison asks of a linked file: its sections, functions, objects, and the addresses that its code
//! mentions.

use crate::placement::layout::{self, FunctionPlace, LayoutError};
use object::{
    Architecture, Object as _, ObjectKind, ObjectSection as _, ObjectSymbol as _, SectionFlags, SymbolKind,
};
use std::cell::OnceCell;
use std::collections::BTreeSet;

/// What a section may be used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Neither written nor executed.
    ReadOnly,
    /// Written, perhaps only by the loader.
    Writable,
    /// Executed and not written.
    Code,
}

/// A loaded section.
pub struct LoadedSection<'e> {
    address: u64,
    size: u64,
    /// What it may be used for.
    pub access: Access,
    data: &'e [u8],
}

impl LoadedSection<'_> {
    /// The address after its last byte.
    pub fn end(&self) -> u64 {
        self.address.saturating_add(self.size)
    }
}

/// A data object with its size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Datum {
    /// Link-time address.
    pub address: u64,
    /// Bytes.
    pub size: u64,
}

/// A linked file, parsed.
pub struct LinkedImage<'e> {
    sections: Vec<LoadedSection<'e>>,
    functions: Vec<FunctionPlace>,
    /// The furthest end of each function and all that start before it, so that none is looked for in vain.
    reach: Vec<u64>,
    objects: Vec<Datum>,
    /// Addresses that the loader changes.
    relocated: BTreeSet<u64>,
    unsuitable: Option<String>,
    /// Addresses in instructions are absolute (the file is linked to one place).
    pub fixed: bool,
    /// It is a program or a library, no object file.
    pub linked: bool,
    pub(super) mentioned: OnceCell<BTreeSet<u64>>,
}

impl<'e> LinkedImage<'e> {
    /// Parses a file.
    ///
    /// # Errors
    /// It is no ELF file or has no function symbols.
    pub fn parse(elf: &'e [u8]) -> Result<Self, LayoutError> {
        Self::parse_with(elf, elf)
    }

    /// Parses a file whose symbols stand in another one, `named`: what was split off as debug information.
    ///
    /// # Errors
    /// One of them is no ELF file, or there are no function symbols.
    pub fn parse_with(elf: &'e [u8], named: &[u8]) -> Result<Self, LayoutError> {
        let file = layout::parse(elf)?;
        let functions = layout::functions(named)?;
        let unsuitable = match (file.architecture(), file.kind()) {
            (Architecture::X86_64, ObjectKind::Executable | ObjectKind::Dynamic) => None,
            (Architecture::X86_64, kind) => {
                Some(format!("only linked files can be compared, this is {kind:?}"))
            }
            (other, _) => Some(format!("only x86-64 code can be compared, this is {other:?}")),
        };
        let relocated =
            file.dynamic_relocations().into_iter().flatten().map(|(address, _)| address).collect();
        Ok(Self {
            sections: sections(&file),
            reach: reach(&functions),
            functions,
            objects: objects(&layout::parse(named)?),
            relocated,
            unsuitable,
            fixed: file.kind() == ObjectKind::Executable,
            linked: matches!(file.kind(), ObjectKind::Executable | ObjectKind::Dynamic),
            mentioned: OnceCell::new(),
        })
    }

    /// An image of code at `code.0` and read-only data at `data.0`, for tests with hand-assembled bytes.
    #[cfg(test)]
    pub fn of(
        code: (u64, &'e [u8]),
        data: (u64, &'e [u8]),
        functions: &[(&str, u64, u64)],
        objects: &[Datum],
    ) -> Self {
        let section = |(address, data): (u64, &'e [u8]), access| LoadedSection {
            address,
            size: data.len() as u64,
            access,
            data,
        };
        let place = |&(name, address, size): &(&str, u64, u64)| FunctionPlace {
            name: name.to_owned(),
            address,
            size,
            offset: address % layout::LINE_BYTES,
            alignment: None,
        };
        let functions: Vec<FunctionPlace> = functions.iter().map(place).collect();
        Self {
            sections: vec![section(code, Access::Code), section(data, Access::ReadOnly)],
            reach: reach(&functions),
            functions,
            objects: objects.to_vec(),
            relocated: BTreeSet::new(),
            unsuitable: None,
            fixed: false,
            linked: true,
            mentioned: OnceCell::new(),
        }
    }

    /// Why nothing can be said of this file, if so.
    pub fn unsuitable(&self) -> Option<String> {
        self.unsuitable.clone()
    }

    /// The section that holds `address`.
    pub fn section_at(&self, address: u64) -> Option<&LoadedSection<'e>> {
        self.sections.iter().find(|section| section.address <= address && address < section.end())
    }

    /// Whether `address` is in code.
    pub fn is_code(&self, address: u64) -> bool {
        self.section_at(address).is_some_and(|section| section.access == Access::Code)
    }

    /// `size` bytes of the file's image, all in one section and not changed by the loader.
    pub fn bytes(&self, address: u64, size: u64) -> Option<&'e [u8]> {
        // A relocation changes up to eight bytes from its address on.
        let touched = address.saturating_sub(7)..address.checked_add(size)?;
        if size > 0 && self.relocated.range(touched).next().is_some() {
            return None;
        }
        let section = self.section_at(address)?;
        let start = usize::try_from(address - section.address).ok()?;
        section.data.get(start..start.checked_add(usize::try_from(size).ok()?)?)
    }

    /// Eight bytes of the file as a number, whatever the loader makes of them.
    pub fn raw_word(&self, address: u64) -> Option<u64> {
        let section = self.section_at(address)?;
        let start = usize::try_from(address - section.address).ok()?;
        let bytes = section.data.get(start..start.checked_add(8)?)?;
        bytes.try_into().ok().map(u64::from_le_bytes)
    }

    /// Whether an address is in a section that takes no room in the file, and so is zero at first.
    pub fn is_zero(&self, address: u64) -> bool {
        self.section_at(address).is_some_and(|section| section.data.is_empty())
    }

    /// The words of all data that are addresses inside the file, if they are addresses at all.
    pub fn pointers(&self) -> Vec<u64> {
        let data = self.sections.iter().filter(|section| section.access != Access::Code);
        let words = data.flat_map(|section| {
            let skipped = section.address.wrapping_neg() % 8;
            section.data.get(skipped as usize..).unwrap_or_default().chunks_exact(8)
        });
        let numbers = words.map(|word| word.try_into().map_or(0, u64::from_le_bytes));
        numbers.filter(|&number| self.section_at(number).is_some()).collect()
    }

    /// The function that covers `address`: of those the one that starts last, and of these the longest.
    pub fn function_at(&self, address: u64) -> Option<&FunctionPlace> {
        let upto = self.functions.partition_point(|place| place.address <= address);
        let near = (0..upto).rev().take_while(|&index| self.reach[index] > address);
        let covering =
            near.map(|index| &self.functions[index]).filter(|place| address - place.address < place.size);
        covering.max_by_key(|place| (place.address, place.size))
    }

    /// The data object that covers `address`.
    pub fn object_at(&self, address: u64) -> Option<Datum> {
        let covering = self
            .objects
            .iter()
            .filter(|datum| address.checked_sub(datum.address).is_some_and(|offset| offset < datum.size));
        covering.max_by_key(|datum| (datum.size, datum.address)).copied()
    }

    /// Whether a data object ends at `address`.
    pub fn object_ends_at(&self, address: u64) -> bool {
        self.objects.iter().any(|datum| datum.address.checked_add(datum.size) == Some(address))
    }

    /// Bytes of executable code.
    pub fn code_bytes(&self) -> u64 {
        let code = self.sections.iter().filter(|section| section.access == Access::Code);
        code.fold(0, |sum, section| sum.saturating_add(section.data.len() as u64))
    }

    /// All functions by address.
    pub fn functions(&self) -> &[FunctionPlace] {
        &self.functions
    }

    /// All data objects.
    pub fn objects(&self) -> &[Datum] {
        &self.objects
    }
}

fn reach(functions: &[FunctionPlace]) -> Vec<u64> {
    let ends = functions.iter().scan(0, |furthest: &mut u64, place| {
        *furthest = (*furthest).max(place.address.saturating_add(place.size));
        Some(*furthest)
    });
    ends.collect()
}

fn sections<'e>(file: &object::File<'e>) -> Vec<LoadedSection<'e>> {
    use object::elf::{SHF_ALLOC, SHF_EXECINSTR, SHF_TLS, SHF_WRITE};
    let mut found = Vec::new();
    for section in file.sections() {
        let SectionFlags::Elf { sh_flags, .. } = section.flags() else { continue };
        let has = |flag: object::elf::SectionFlags| sh_flags.0 & flag.0 != 0;
        if !has(SHF_ALLOC) || has(SHF_TLS) {
            continue;
        }
        let access = match (has(SHF_WRITE), has(SHF_EXECINSTR)) {
            (true, _) => Access::Writable,
            (false, true) => Access::Code,
            (false, false) => Access::ReadOnly,
        };
        let data = section.data().unwrap_or_default();
        found.push(LoadedSection { address: section.address(), size: section.size(), access, data });
    }
    found
}

fn objects(file: &object::File) -> Vec<Datum> {
    let symbols = file.symbols().chain(file.dynamic_symbols());
    let data = symbols.filter(|symbol| symbol.kind() == SymbolKind::Data && symbol.is_definition());
    data.filter(|symbol| symbol.size() > 0)
        .map(|symbol| Datum { address: symbol.address(), size: symbol.size() })
        .collect()
}
