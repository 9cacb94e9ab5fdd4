//! Where functions lie in an ELF file: address, size, offset in the 64-byte line.
//!
//! Question: which placements did a link really give? Method: the symbol table, read back from the linked file and
//! never assumed from what the linker was told. Source: System V ABI, ELF-64 object file format. Limits: a stripped
//! file has only its dynamic symbols. Checked: against binaries of every compiler found (tests/build_placement.rs).

use object::read::elf::{FileHeader as _, ProgramHeader as _};
use object::{Object as _, ObjectSection as _, ObjectSymbol as _, SectionKind, SymbolKind};
use std::fmt;

/// Bytes of a cache line, inside which an entry's offset is told.
pub const LINE_BYTES: u64 = 64;

/// One function of a linked binary.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct FunctionPlace {
    /// Symbol name.
    pub name: String,
    /// Link-time virtual address.
    pub address: u64,
    /// Size in bytes.
    pub size: u64,
    /// `address % 64`.
    pub offset: u64,
    /// Alignment in bytes that the compiler asked for; only the object files tell, so `None` in what is read from a
    /// linked file alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alignment: Option<u64>,
}

/// Why a file says nothing of its layout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LayoutError {
    /// It is no ELF file, or a damaged one.
    NotElf(String),
    /// It has no function symbols.
    NoSymbols,
    /// It has no function of this name.
    NoFunction {
        /// The name.
        name: String,
    },
    /// Several functions at different addresses have this name.
    Ambiguous {
        /// The name.
        name: String,
        /// How many.
        count: usize,
    },
    /// It has no executable section.
    NoCode,
    /// Its instructions are not known.
    UnknownCode {
        /// What they are for.
        architecture: String,
    },
    /// The symbols of functions overlap so much that they cannot be right.
    Overlapping,
}

impl fmt::Display for LayoutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotElf(why) => write!(f, "not a readable ELF file: {why}"),
            Self::NoSymbols => write!(f, "no function symbols (is it stripped? link without -s)"),
            Self::NoFunction { name } => write!(f, "no function `{name}`"),
            Self::Ambiguous { name, count } => write!(f, "{count} functions are named `{name}`"),
            Self::NoCode => write!(f, "no executable section"),
            Self::UnknownCode { architecture } => {
                write!(f, "code for {architecture} is not known, only that for x86-64 and AArch64")
            }
            Self::Overlapping => write!(f, "damaged: the symbols of its functions overlap many times over"),
        }
    }
}

impl std::error::Error for LayoutError {}

/// Parses any ELF file.
pub(super) fn parse(elf: &[u8]) -> Result<object::File<'_>, LayoutError> {
    let file = object::File::parse(elf).map_err(|error| LayoutError::NotElf(error.to_string()))?;
    match file.format() {
        object::BinaryFormat::Elf => Ok(file),
        other => Err(LayoutError::NotElf(format!("it is {other:?}"))),
    }
}

/// The functions of a linked file by address: symbols of code that have a size.
///
/// # Errors
/// The file is no ELF file or has none.
pub fn functions(elf: &[u8]) -> Result<Vec<FunctionPlace>, LayoutError> {
    let file = parse(elf)?;
    let mut found: Vec<FunctionPlace> = places(file.symbols());
    if found.is_empty() {
        found = places(file.dynamic_symbols());
    }
    if found.is_empty() {
        return Err(LayoutError::NoSymbols);
    }
    found.sort_by(|a, b| (a.address, &a.name).cmp(&(b.address, &b.name)));
    Ok(found)
}

fn places<'a>(symbols: impl Iterator<Item = impl object::ObjectSymbol<'a>>) -> Vec<FunctionPlace> {
    symbols
        .filter(|symbol| symbol.kind() == SymbolKind::Text && symbol.size() > 0 && symbol.is_definition())
        .map(|symbol| FunctionPlace {
            name: symbol.name().unwrap_or_default().to_owned(),
            address: symbol.address(),
            size: symbol.size(),
            offset: symbol.address() % LINE_BYTES,
            alignment: None,
        })
        .collect()
}

/// Link-time address of the ELF header: that of the symbol `__ehdr_start`.
///
/// # Errors
/// The file is no 64-bit ELF file, or has nothing to load.
pub fn image_base(elf: &[u8]) -> Result<u64, LayoutError> {
    lowest(elf, |_| true, |begin, file_offset| begin.wrapping_sub(file_offset))
}

/// The link-time address of the first segment that is executed.
///
/// # Errors
/// The file is no ELF file, or has no such segment.
pub fn first_code(elf: &[u8]) -> Result<u64, LayoutError> {
    lowest(elf, |flags| flags.contains(object::elf::PF_X), |begin, _| begin)
}

/// The lowest of what is made of the addresses and file offsets of loaded segments with the flags that are wanted.
fn lowest(
    elf: &[u8],
    is_wanted: impl Fn(object::elf::ProgramFlags) -> bool,
    of: impl Fn(u64, u64) -> u64,
) -> Result<u64, LayoutError> {
    let broken = |error: object::Error| LayoutError::NotElf(error.to_string());
    let header = object::elf::FileHeader64::<object::Endianness>::parse(elf).map_err(broken)?;
    let endian = header.endian().map_err(broken)?;
    let segments = header.program_headers(endian, elf).map_err(broken)?;
    segments
        .iter()
        .filter(|segment| {
            segment.p_type(endian) == object::elf::PT_LOAD && is_wanted(segment.p_flags(endian))
        })
        .map(|segment| of(segment.p_vaddr(endian), segment.p_offset(endian)))
        .min()
        .ok_or(LayoutError::NoCode)
}

/// Bytes of executable code in all sections.
///
/// # Errors
/// The file is no ELF file.
pub fn text_bytes(elf: &[u8]) -> Result<u64, LayoutError> {
    let file = parse(elf)?;
    let code = file.sections().filter(|section| section.kind() == SectionKind::Text);
    // The sizes of a damaged file may be anything.
    Ok(code.fold(0, |sum: u64, section| sum.saturating_add(section.size())))
}

/// The address of the symbol `name`, whatever its kind; `None` if the file has no such symbol.
///
/// # Errors
/// The file is no ELF file.
pub fn symbol_address(elf: &[u8], name: &str) -> Result<Option<u64>, LayoutError> {
    let file = parse(elf)?;
    let found = file.symbols().find(|symbol| symbol.is_definition() && symbol.name() == Ok(name));
    Ok(found.map(|symbol| symbol.address()))
}

/// The offsets that a function reached over the phases of a rotation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReachedOffsets {
    /// Distinct offsets in the 64-byte line, ascending.
    pub offsets: Vec<u64>,
    /// Why there are fewer than phases.
    pub note: Option<String>,
}

/// What a function's offsets at each of `phases` phases amount to.
pub fn reached(by_phase: &[u64], phases: usize) -> ReachedOffsets {
    let mut offsets = by_phase.to_vec();
    offsets.sort_unstable();
    offsets.dedup();
    let fewer = offsets.len() < phases && by_phase.len() >= phases;
    let note = fewer.then(|| {
        let alignment = offsets.iter().fold(LINE_BYTES, |all, &offset| if offset == 0 { all } else { 1 << offset.trailing_zeros().min(all.trailing_zeros()) });
        format!(
            "visits {} of {phases} offsets: the function is aligned to {alignment}, which pins its placement in the \
             line",
            offsets.len()
        )
    });
    ReachedOffsets { offsets, note }
}

/// The offsets at which the function named `name` lies in each of `links`, the functions of one rotation's binaries.
///
/// # Errors
/// A link has no such function, or several at different addresses; then use [`reached`] on their offsets.
pub fn phases_reached(name: &str, links: &[&[FunctionPlace]]) -> Result<ReachedOffsets, LayoutError> {
    let mut offsets = Vec::with_capacity(links.len());
    let mut alignment = None;
    for functions in links {
        let function = only(functions, name)?;
        offsets.push(function.offset);
        alignment = alignment.max(function.alignment);
    }
    let mut found = reached(&offsets, links.len());
    if let (Some(_), Some(alignment)) = (&found.note, alignment) {
        let (have, phases) = (found.offsets.len(), links.len());
        found.note =
            Some(format!("visits {have} of {phases} offsets: the compiler aligned it to {alignment} bytes"));
    }
    Ok(found)
}

/// The one function of this name; aliases of one address are one.
fn only<'a>(functions: &'a [FunctionPlace], name: &str) -> Result<&'a FunctionPlace, LayoutError> {
    let mut matching = functions.iter().filter(|function| function.name == name);
    let first = matching.next().ok_or_else(|| LayoutError::NoFunction { name: name.into() })?;
    let others = matching.filter(|other| other.address != first.address).count();
    if others > 0 {
        return Err(LayoutError::Ambiguous { name: name.into(), count: others + 1 });
    }
    Ok(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(name: &str, address: u64, alignment: Option<u64>) -> FunctionPlace {
        FunctionPlace { name: name.into(), address, size: 8, offset: address % LINE_BYTES, alignment }
    }

    #[test]
    fn the_alignment_asked_for_is_named_where_it_is_known() {
        let links = [[place("f", 0, Some(32))], [place("f", 32, Some(32))], [place("f", 64, Some(32))]];
        let found = phases_reached("f", &[&links[0], &links[1], &links[2]]).expect("present in all");
        assert_eq!(found.offsets, [0, 32]);
        assert!(found.note.expect("a note").ends_with("the compiler aligned it to 32 bytes"));
    }

    #[test]
    fn a_name_that_is_missing_or_used_twice_is_refused_and_aliases_are_not() {
        let twice = [place("f", 0, None), place("f", 16, None)];
        let alias = [place("f", 16, None), place("f", 16, None)];
        assert_eq!(phases_reached("g", &[&twice]), Err(LayoutError::NoFunction { name: "g".into() }));
        assert_eq!(
            phases_reached("f", &[&twice]),
            Err(LayoutError::Ambiguous { name: "f".into(), count: 2 })
        );
        assert_eq!(phases_reached("f", &[&alias]).expect("one address").offsets, [16]);
    }

    #[test]
    fn says_when_an_alignment_keeps_a_function_from_moving() {
        assert_eq!(reached(&[48, 0, 16, 32], 4), ReachedOffsets { offsets: vec![0, 16, 32, 48], note: None });
        let half = reached(&[0, 32, 32, 0], 4);
        assert_eq!(half.offsets, [0, 32]);
        assert!(half.note.unwrap().contains("visits 2 of 4 offsets: the function is aligned to 32"));
        assert!(reached(&[0, 0, 0, 0], 4).note.unwrap().contains("aligned to 64"));
    }

    #[test]
    fn complains_about_what_is_no_elf_file() {
        assert!(matches!(functions(b"not an ELF"), Err(LayoutError::NotElf(_))));
        assert!(matches!(image_base(&[0x7f, b'E', b'L', b'F']), Err(LayoutError::NotElf(_))));
    }
}
