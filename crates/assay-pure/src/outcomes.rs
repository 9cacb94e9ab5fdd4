//! The log that an instrumented program writes: which words a record has, and where each site lies.
//!
//! Records are 32-bit words, little-endian, their own name last: a site's number in the upper 24 bits, what happened in the
//! lower 8 ([`outcome`]). A conditional branch is that word alone; an indirect jump or call and a return have the address that
//! they went to in front of it, two words; a call of the system has [`MARK_WORDS`], with what the harness's mark said. Sites are
//! numbered through all sources of a program, from 1.
//!
//! A program is assembled twice from one text, with records and without, and both files have the same table in
//! [`SECTION`], pairs of an address and a word ([`SiteKind`]). So each address of one is known in the other. Linkers
//! take the section for debugging information: what they leave out of the program has the address 0 there, or, where it is a
//! function that several sources define, that of the one which is kept: the first. So of several lines of one address the first counts.
//! Checked: the numbers are compared with those of the program's side (`log.c`) by the tests of assay-link.

use object::{Object as _, ObjectSection as _, ObjectSegment as _};

/// The section of the table.
pub const SECTION: &str = ".debug_assay";
/// The variable that names the pipe to the lab.
pub const PIPE_VARIABLE: &str = "ASSAY_OUTCOMES";
/// Words of the record of a call of the system.
pub const MARK_WORDS: usize = 10;
/// Words of the record of an indirect branch or return.
pub const TARGET_WORDS: usize = 3;

/// What happened, the lower 8 bits of a record's word.
pub mod outcome {
    /// A conditional branch was not taken.
    pub const NOT_TAKEN: u32 = 0;
    /// It was taken.
    pub const TAKEN: u32 = 1;
    /// An indirect branch or a return went somewhere.
    pub const WENT: u32 = 2;
    /// The system was called.
    pub const SYSTEM_CALL: u32 = 4;
    /// Control came by.
    pub const PASSED: u32 = 8;
}

/// What a place of the table is, the lower 8 bits of its word; the upper 24 are the site's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum SiteKind {
    /// A place that control may come to: a label, or behind a call.
    Point = 0,
    /// A conditional branch.
    Conditional = 1,
    /// An indirect jump or call.
    Indirect = 2,
    /// A return.
    Return = 3,
    /// A call of the system.
    SystemCall = 4,
    /// The place whose address a mark tells, of the program's side.
    Anchor = 5,
    /// A place that control may come to from code without records.
    Passage = 6,
}

impl SiteKind {
    /// Numbers of sites are below this.
    pub const MAX_SITES: u32 = 1 << 24;

    fn of(word: u64) -> Option<SiteKind> {
        use SiteKind::{Anchor, Conditional, Indirect, Passage, Point, Return, SystemCall};
        [Point, Conditional, Indirect, Return, SystemCall, Anchor, Passage]
            .into_iter()
            .find(|kind| *kind as u64 == word & 0xff)
    }
}

/// What the mark of a call of the system says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MarkRecord {
    /// Where the last branch before it went, if that is what its word says.
    pub last_target: u64,
    /// The address of the anchor in the process.
    pub anchor: u64,
    /// The word of the last branch before it; 0: not known.
    pub last: u32,
    /// 0 no mark of the harness, 1 a region begins, 2 ends.
    pub what: u32,
    /// Index of the variant.
    pub variant: u32,
    /// Id of the input.
    pub input: u32,
    /// Which pass.
    pub pass: u32,
    /// Its own word.
    pub word: u32,
}

impl MarkRecord {
    /// From its words.
    pub fn from_words(words: &[u32; MARK_WORDS]) -> MarkRecord {
        let wide = |at: usize| u64::from(words[at]) | u64::from(words[at + 1]) << 32;
        MarkRecord {
            last_target: wide(0),
            anchor: wide(2),
            last: words[4],
            what: words[5],
            variant: words[6],
            input: words[7],
            pass: words[8],
            word: words[9],
        }
    }
}

/// One line of the table, of both programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PairedPlace {
    /// What it is.
    pub kind: SiteKind,
    /// The site's number.
    pub site: u32,
    /// Its address in the program without records, as linked.
    pub plain: u64,
    /// Its address in the one with records.
    pub logging: u64,
}

/// Where everything lies in both programs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PairedTable {
    /// All places but the anchor that both programs have.
    pub places: Vec<PairedPlace>,
    /// The anchor's address as linked.
    pub anchor: u64,
}

/// The table of one file: addresses and words.
fn table(elf: &[u8]) -> Result<Vec<(u64, u64)>, String> {
    let file = object::File::parse(elf).map_err(|error| error.to_string())?;
    let section = file.section_by_name(SECTION).ok_or("the linker left out its table of branches")?;
    let data = section.uncompressed_data().map_err(|error| error.to_string())?;
    let wide = |bytes: &[u8]| u64::from_le_bytes(std::array::from_fn(|at| bytes[at]));
    Ok(data.chunks_exact(16).map(|pair| (wide(&pair[..8]), wide(&pair[8..]))).collect())
}

/// How many places a program's table has; 0 without a table.
///
/// # Errors
/// It is not an ELF file.
pub fn sites(elf: &[u8]) -> Result<usize, String> {
    let file = object::File::parse(elf).map_err(|error| error.to_string())?;
    Ok(file.section_by_name(SECTION).map_or(0, |section| section.size() as usize / 16))
}

/// Reads the tables of both programs.
///
/// # Errors
/// A table is missing, or they are not of the same text.
pub fn pair(plain: &[u8], logging: &[u8]) -> Result<PairedTable, String> {
    let (plain, logging) = (table(plain)?, table(logging)?);
    let is_anchor = |(_, word): &(u64, u64)| SiteKind::of(*word) == Some(SiteKind::Anchor);
    let mut paired = PairedTable::default();
    let apart = || "its tables with and without records differ".to_owned();
    // The program's side lies where its object stands in the link.
    let (anchors, rest): (Vec<_>, Vec<_>) = logging.into_iter().partition(is_anchor);
    let [(anchor, _)] = anchors[..] else { return Err(apart()) };
    paired.anchor = anchor;
    if rest.len() != plain.len() {
        return Err(apart());
    }
    for ((address, word), (other, other_word)) in plain.into_iter().zip(rest) {
        let kind = SiteKind::of(word).ok_or_else(apart)?;
        if other_word != word {
            return Err(apart());
        }
        if address != 0 && other != 0 {
            let site = (word >> 8) as u32;
            paired.places.push(PairedPlace { kind, site, plain: address, logging: other });
        }
    }
    Ok(paired)
}

/// Whether its instructions are known to whoever adds records to it.
///
/// # Errors
/// They are not, or it is not an ELF file.
pub fn may_have_records(elf: &[u8]) -> Result<(), String> {
    let file = object::File::parse(elf).map_err(|error| error.to_string())?;
    match file.architecture() {
        object::Architecture::X86_64 => Ok(()),
        other => Err(format!("only code for x86-64 is instrumented, this is for {other:?}")),
    }
}

/// Whether two programs have the same code at the same addresses.
///
/// # Errors
/// One of them cannot be read.
pub fn same_code(one: &[u8], other: &[u8]) -> Result<bool, String> {
    Ok(code(one)? == code(other)?)
}

/// The sections that hold code: address and bytes.
///
/// # Errors
/// It is not an ELF file.
pub fn code(elf: &[u8]) -> Result<Vec<(u64, &[u8])>, String> {
    let file = object::File::parse(elf).map_err(|error| error.to_string())?;
    let code = file.sections().filter(|section| section.kind() == object::SectionKind::Text);
    code.map(|section| Ok((section.address(), section.data().map_err(|error| error.to_string())?))).collect()
}

/// What a process may execute of a program: first address, the one behind the last, offset in the file.
///
/// # Errors
/// It is not an ELF file.
pub fn executable(elf: &[u8]) -> Result<Vec<(u64, u64, u64)>, String> {
    let file = object::File::parse(elf).map_err(|error| error.to_string())?;
    let is_code = |segment: &object::Segment<'_, '_>| matches!(segment.flags(), object::SegmentFlags::Elf { p_flags, .. } if p_flags.contains(object::elf::PF_X));
    let place = |segment: object::Segment<'_, '_>| {
        (segment.address(), segment.address() + segment.size(), segment.file_range().0)
    };
    Ok(file.segments().filter(is_code).map(place).collect())
}

/// Whether a program is loaded at an address of the system's choice.
///
/// # Errors
/// It is not an ELF file.
pub fn is_position_independent(elf: &[u8]) -> Result<bool, String> {
    let file = object::File::parse(elf).map_err(|error| error.to_string())?;
    Ok(file.kind() == object::ObjectKind::Dynamic)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_read_from_its_words() {
        let words: [u32; MARK_WORDS] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];
        let mark = MarkRecord::from_words(&words);
        assert_eq!((mark.last_target, mark.anchor, mark.last, mark.what), (2 << 32 | 1, 4 << 32 | 3, 5, 6));
        assert_eq!((mark.variant, mark.input, mark.pass, mark.word), (7, 8, 9, 10));
    }

    #[test]
    fn kinds_are_the_lower_bits_of_a_word() {
        assert_eq!(SiteKind::of(7 << 8 | 3), Some(SiteKind::Return));
        assert_eq!(SiteKind::of(7), None);
    }

    #[test]
    fn a_program_for_aarch64_is_refused_by_name() {
        // An ELF header of 64 bytes, little endian, with neither segments nor sections.
        let of = |machine: u16| {
            let mut elf = [0; 64];
            elf[..8].copy_from_slice(b"\x7fELF\x02\x01\x01\x00");
            for (at, word) in [(16, 2), (18, machine), (20, 1), (52, 64), (54, 56), (58, 64)] {
                elf[at..at + 2].copy_from_slice(&word.to_le_bytes());
            }
            may_have_records(&elf)
        };
        assert_eq!(of(62), Ok(()));
        assert_eq!(of(183), Err("only code for x86-64 is instrumented, this is for Aarch64".to_owned()));
        assert!(may_have_records(b"text").is_err());
    }

    #[test]
    fn what_is_no_program_is_told_apart_from_a_program_without_a_table() {
        assert!(pair(b"text", b"text").is_err() && code(b"text").is_err());
        assert!(same_code(b"text", b"text").is_err() && is_position_independent(b"text").is_err());
    }
}
