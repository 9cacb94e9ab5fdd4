//! Do two linked files load the same code and data at the same addresses?
//!
//! Question: is a repeated link the link that it repeats? Method: all sections that are loaded (SHF_ALLOC) are compared
//! by name, address, size and content. The build-id is left out: it is a hash of the whole file, debug information
//! included. Limits: sections are trusted; a file without a table of sections says nothing. Checked: by planted
//! differences, and by replays of real links (`crates/assay/tests/capture.rs`).

use super::layout::{self, LayoutError};
use object::elf::SHF_ALLOC;
use object::{Object as _, ObjectSection as _, SectionFlags};
use std::collections::BTreeMap;

const BUILD_ID: &str = ".note.gnu.build-id";

type Loaded<'a> = BTreeMap<(String, u64), (u64, &'a [u8])>;

/// The loaded sections in which two files differ, by name; empty if they load the same.
///
/// # Errors
/// Either is no ELF file, or has no section that is loaded.
pub fn differences(one: &[u8], other: &[u8]) -> Result<Vec<String>, LayoutError> {
    let (one, other) = (layout::parse(one)?, layout::parse(other)?);
    let (one, other) = (loaded(&one)?, loaded(&other)?);
    let mut differing: Vec<String> = Vec::new();
    for key in one.keys().chain(other.keys()) {
        if one.get(key) != other.get(key) && !differing.contains(&key.0) {
            differing.push(key.0.clone());
        }
    }
    Ok(differing)
}

/// The section with Go's identity of a build.
pub const GO_IDENTITY: &str = ".note.go.buildid";
/// Sections of Go's programs in which equal code and data still differ, as a line that moved is noted there: the table by which the
/// runtime unwinds a stack and names lines, and the addresses of what lies behind it.
const GO_TABLES: [&str; 3] = [".gopclntab", ".go.module", GO_IDENTITY];
/// Sections behind that table, found by those addresses.
const GO_BEHIND: [&str; 2] = [".typelink", ".itablink"];

/// Whether two programs execute the same code on the same data at the same addresses. Of a Go program the tables are left out from
/// which it tells lines.
pub fn is_same_program(one: &[u8], other: &[u8]) -> bool {
    let Ok(differing) = differences(one, other) else { return false };
    let content = |elf: &[u8], name: &str| {
        let section = layout::parse(elf).ok()?.section_by_name(name)?.data().ok()?.to_vec();
        Some(section)
    };
    let is_go = content(one, GO_TABLES[0]).is_some() && content(other, GO_TABLES[0]).is_some();
    differing.iter().map(String::as_str).all(|name| {
        let moved = || GO_BEHIND.contains(&name) && content(one, name) == content(other, name);
        is_go && (GO_TABLES.contains(&name) || moved())
    })
}

/// Whether the file has a table of symbols, which `strip` removes.
///
/// # Errors
/// It is no ELF file.
pub fn has_symbols(elf: &[u8]) -> Result<bool, LayoutError> {
    Ok(layout::parse(elf)?.section_by_name(".symtab").is_some())
}

fn loaded<'a>(file: &object::File<'a>) -> Result<Loaded<'a>, LayoutError> {
    let mut found = Loaded::new();
    for section in file.sections() {
        let SectionFlags::Elf { sh_flags, .. } = section.flags() else { continue };
        let name = section.name().unwrap_or_default();
        if !sh_flags.contains(SHF_ALLOC) || name == BUILD_ID {
            continue;
        }
        let content = section.data().map_err(|error| LayoutError::NotElf(error.to_string()))?;
        found.insert((name.to_owned(), section.address()), (section.size(), content));
    }
    if found.is_empty() { Err(LayoutError::NoCode) } else { Ok(found) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::placement::pad::{self, tests::like};

    /// A file of one or two loaded sections: a padding, and a note where one is given.
    fn elf(phase: u32, note: Option<&[u8]>) -> Vec<u8> {
        let model = like(false, note.map(<[u8]>::to_vec));
        pad::object(&model, phase).expect("the model is an ELF file")
    }

    #[test]
    fn what_is_loaded_counts_and_nothing_else() {
        let plain = elf(0, Some(b"x"));
        assert_eq!(differences(&plain, &plain), Ok(vec![]));
        assert_eq!(differences(&plain, &elf(16, Some(b"x"))), Ok(vec![".text.assay_pad".to_owned()]), "size");
        assert_eq!(
            differences(&plain, &elf(0, Some(b"y"))),
            Ok(vec![".note.gnu.property".to_owned()]),
            "content"
        );
        assert_eq!(differences(&plain, &elf(0, None)), Ok(vec![".note.gnu.property".to_owned()]), "missing");
        assert_eq!(differences(&elf(0, None), &plain), Ok(vec![".note.gnu.property".to_owned()]), "added");
        // The name of the symbol is not loaded.
        let mut renamed = plain.clone();
        let at = renamed.windows(10).position(|part| part == b"\0assay_pad").expect("its name");
        renamed[at + 1] = b'A';
        assert_eq!(differences(&plain, &renamed), Ok(vec![]));
    }

    #[test]
    fn the_build_id_does_not_count() {
        let named = |bytes: &[u8]| {
            let mut elf = elf(0, Some(bytes));
            let at = elf.windows(18).position(|part| part == b".note.gnu.property").expect("its name");
            elf[at..at + 18].copy_from_slice(b".note.gnu.build-id");
            elf
        };
        assert_eq!(differences(&named(b"one"), &named(b"two")), Ok(vec![]));
    }

    #[test]
    fn a_go_program_is_the_same_where_only_its_lines_moved() {
        let named = |section: &[u8], phase: u32, lines: &[u8]| {
            let mut elf = elf(phase, Some(lines));
            let at = elf.windows(18).position(|part| part == b".note.gnu.property").expect("its name");
            elf[at..at + section.len()].copy_from_slice(section);
            elf
        };
        let go = |phase: u32, lines: &[u8]| named(b".gopclntab\0", phase, lines);
        assert!(is_same_program(&go(0, b"12"), &go(0, b"34")));
        assert!(!is_same_program(&go(0, b"12"), &go(16, b"12")), "its code");
        let other = |lines: &[u8]| named(b".note.go.buildid\0", 0, lines);
        assert!(is_same_program(&other(b"12"), &other(b"12")));
        assert!(!is_same_program(&other(b"12"), &other(b"34")), "Go's note means nothing in another program");
        assert!(!is_same_program(b"text", b"text"), "no program");
    }

    #[test]
    fn a_file_that_loads_nothing_says_nothing() {
        assert_eq!(differences(&like(false, None), &elf(0, None)), Err(LayoutError::NoCode));
        assert!(matches!(differences(b"text", &elf(0, None)), Err(LayoutError::NotElf(_))));
        assert_eq!(has_symbols(&elf(0, None)), Ok(true));
        assert_eq!(has_symbols(&like(false, None)), Ok(false));
    }
}
