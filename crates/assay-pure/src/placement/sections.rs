//! Which pieces of code does an object file bring, that a linker may order?
//!
//! Method: its executable sections, one per function where it was compiled with `-ffunction-sections`, with the
//! alignment asked for and the symbols defined there. Limits: link-time optimisation keeps no code in its objects, and
//! is reported as such.

use super::layout::{self, LayoutError};
use object::elf::SHF_EXECINSTR;
use object::{Object, ObjectKind, ObjectSection, ObjectSymbol, SectionFlags, SymbolKind};

/// One section of code of an object file.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct CodeSection {
    /// Section name, as ".text.decode".
    pub name: String,
    /// Alignment in bytes, at least 1.
    pub alignment: u64,
    /// Size in bytes, above 0.
    pub size: u64,
    /// All symbols defined in it, in the order of the table.
    pub symbols: Vec<String>,
    /// Those of them that are functions.
    pub functions: Vec<String>,
}

impl CodeSection {
    /// Whether linkers put it into `.text`, where the padding moves it.
    pub fn is_text(&self) -> bool {
        self.name == ".text" || self.name.starts_with(".text.")
    }
}

/// What an object file holds.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum ObjectCode {
    /// Sections of machine code, in file order, empty ones left out.
    Sections(Vec<CodeSection>),
    /// The compiler's intermediate language; functions come into being in the linker.
    LinkTime,
}

/// Reads the code sections of an object file.
///
/// Errors: neither an ELF object file nor LLVM bitcode.
pub fn code_sections(object: &[u8]) -> Result<ObjectCode, LayoutError> {
    if object.starts_with(b"BC\xC0\xDE") {
        return Ok(ObjectCode::LinkTime);
    }
    let file = layout::parse(object)?;
    if file.kind() != ObjectKind::Relocatable {
        return Err(LayoutError::NotElf("it is not an object file".into()));
    }
    let mut sections = Vec::new();
    for section in file.sections() {
        let Ok(name) = section.name() else { continue };
        if name.starts_with(".gnu.lto_") {
            return Ok(ObjectCode::LinkTime);
        }
        let SectionFlags::Elf { sh_flags, .. } = section.flags() else { continue };
        if !sh_flags.contains(SHF_EXECINSTR) || section.size() == 0 {
            continue;
        }
        let inside = || file.symbols().filter(|symbol| symbol.section_index() == Some(section.index()));
        let named = |symbol: object::Symbol<'_, '_>| {
            symbol.name().ok().filter(|name| !name.is_empty()).map(str::to_owned)
        };
        sections.push(CodeSection {
            name: name.to_owned(),
            alignment: section.align().max(1),
            size: section.size(),
            symbols: inside()
                .filter(|symbol| symbol.kind() != SymbolKind::Section)
                .filter_map(named)
                .collect(),
            functions: inside()
                .filter(|symbol| symbol.kind() == SymbolKind::Text)
                .filter_map(named)
                .collect(),
        });
    }
    Ok(ObjectCode::Sections(sections))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bitcode_is_known_by_its_first_bytes_and_text_is_refused() {
        assert_eq!(code_sections(b"BC\xC0\xDE rest"), Ok(ObjectCode::LinkTime));
        assert!(matches!(code_sections(b"int x;"), Err(LayoutError::NotElf(_))));
    }
}
