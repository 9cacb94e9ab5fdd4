//! The log that an instrumented program writes: which words a record has, and where each site lies.
//!
//! Records are bytes, one behind the other. A conditional branch is one byte, its outcome: whoever walks the measured program's
//! code knows which branch it is. Areas of records are 0 before they are written, so a branch that was taken need not be stored. All other records end with a word of 32 bits, little-endian ([`word`]): the site's number in the lower
//! 24 bits, what happened in the upper 8 ([`outcome`]). An indirect jump or call and a return have the address that they went to in
//! front of it ([`TARGET_BYTES`]), but for returns that lead to where a function was called from without fail ([`SiteKind::Quiet`]); a conditional branch that must be told from others its outcome ([`NAMED_BYTES`]); a call of the system
//! what the harness's mark said ([`MARK_BYTES`]). So the last byte of a record says what it is, and is [`FREE`] for a branch that was taken alone. Where nothing may be stored for long, [`END`] is, behind the last record: the next one takes its place, but if that is a branch that was taken. Sites are numbered
//! through all sources of a program, from 1.
//!
//! A program is assembled twice from one text, with records and without, and both files have the same table in
//! [`SECTION`], pairs of an address and a word ([`SiteKind`]). So each address of one is known in the other. Linkers
//! take the section for debugging information: what they leave out of the program has the address 0 there, or, where it is a
//! function that several sources define, that of the one which is kept: the first. So of several lines of one address the first counts.
//! Checked: the numbers are compared with those of the program's side (`log.c`, `stream.c`) by the tests of assay-link.

use object::{Object as _, ObjectSection as _, ObjectSegment as _};
use std::path::PathBuf;

/// The section of the table.
pub const SECTION: &str = ".debug_assay";
/// The variable that names the folder of streams.
pub const STREAMS_VARIABLE: &str = "ASSAY_OUTCOMES";
/// Bytes of a word.
pub const WORD_BYTES: usize = 4;
/// Bytes of the record of an indirect branch or return.
pub const TARGET_BYTES: usize = 12;
/// Where in it its word is.
pub const TARGET_WORD: usize = TARGET_BYTES - WORD_BYTES;
/// Bytes of the record of a conditional branch that names its site.
pub const NAMED_BYTES: usize = 5;
/// Bytes of the record of a call of the system.
pub const MARK_BYTES: usize = BEFORE_BYTES + 36;
/// Bytes ahead of a region that its first mark repeats: no record but a mark's is longer.
pub const BEFORE_BYTES: usize = TARGET_BYTES;
/// Where nothing was stored.
pub const FREE: u8 = 0;
/// Where records end, unless more follow: then a branch that was taken.
pub const END: u8 = 0x40;

/// A record's word.
#[inline]
pub const fn word(site: u32, outcome: u32) -> u32 {
    outcome << 24 | site
}

/// A word's site.
#[inline]
pub const fn site_of(word: u32) -> u32 {
    word & 0xff_ffff
}

/// What a word says of it.
#[inline]
pub const fn outcome_of(word: u32) -> u32 {
    word >> 24
}

/// What happened: a conditional branch's byte, or the upper 8 bits of a record's word.
pub mod outcome {
    /// A conditional branch was taken.
    pub const TAKEN: u32 = 0;
    /// It was not taken.
    pub const NOT_TAKEN: u32 = 1;
    /// An indirect branch or a return went somewhere.
    pub const WENT: u32 = 2;
    /// The system was called.
    pub const SYSTEM_CALL: u32 = 4;
    /// Control came by.
    pub const PASSED: u32 = 8;
    /// A conditional branch that names its site; whether it was taken is in the byte ahead.
    pub const NAMED: u32 = 16;
}

/// What a place of the table is, the lower 8 bits of its word; the upper 24 are the site's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum SiteKind {
    /// A place that control may come to: a label, or behind a call.
    Point = 0,
    /// A conditional branch, whose record is its outcome alone.
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
    /// A conditional branch whose record names it.
    Named = 7,
    /// A return without a record: to where its function was called from.
    Quiet = 8,
}

impl SiteKind {
    /// Numbers of sites are below this.
    pub const MAX_SITES: u32 = 1 << 24;

    fn of(word: u64) -> Option<SiteKind> {
        use SiteKind::{Anchor, Conditional, Indirect, Named, Passage, Point, Quiet, Return, SystemCall};
        [Point, Conditional, Indirect, Return, SystemCall, Anchor, Passage, Named, Quiet]
            .into_iter()
            .find(|kind| *kind as u64 == word & 0xff)
    }
}

/// What the record of a call of the system says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MarkRecord {
    /// What was logged ahead of the region, its end last.
    pub before: [u8; BEFORE_BYTES],
    /// The address of the anchor in the process.
    pub anchor: u64,
    /// Bytes of the stream ahead of this record: a stream that lost one does not fit.
    pub position: u64,
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
    /// From its bytes.
    pub fn from_bytes(bytes: &[u8; MARK_BYTES]) -> MarkRecord {
        let wide =
            |at: usize| u64::from_le_bytes(std::array::from_fn(|byte| bytes[BEFORE_BYTES + at + byte]));
        let narrow = |at: usize| word_at(bytes, BEFORE_BYTES + at);
        MarkRecord {
            before: std::array::from_fn(|byte| bytes[byte]),
            anchor: wide(0),
            position: wide(8),
            what: narrow(16),
            variant: narrow(20),
            input: narrow(24),
            pass: narrow(28),
            word: narrow(32),
        }
    }
}

/// The word at this place.
#[inline]
pub fn word_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(std::array::from_fn(|byte| bytes[at + byte]))
}

/// Where an indirect branch or return went, the beginning of its record.
#[inline]
pub fn target_of(record: &[u8; TARGET_BYTES]) -> u64 {
    u64::from_le_bytes(std::array::from_fn(|byte| record[byte]))
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

/// A program that logs, and what its log means.
#[derive(Clone, Debug)]
pub struct LoggingProgram {
    /// The program that is measured, and that the log speaks of.
    pub plain: PathBuf,
    /// The program that logs.
    pub logging: PathBuf,
    /// Where everything lies in both.
    pub table: PairedTable,
    /// What of it has no records, and why: whole sentences.
    pub notes: Vec<String>,
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
    fn a_mark_is_read_from_its_bytes() {
        let bytes: [u8; MARK_BYTES] = std::array::from_fn(|at| at as u8 + 1);
        let mark = MarkRecord::from_bytes(&bytes);
        assert_eq!(mark.before, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
        assert_eq!((mark.anchor, mark.position), (0x1413_1211_100f_0e0d, 0x1c1b_1a19_1817_1615));
        assert_eq!((mark.what, mark.variant, mark.input), (0x201f_1e1d, 0x2423_2221, 0x2827_2625));
        assert_eq!((mark.pass, mark.word), (0x2c2b_2a29, 0x302f_2e2d));
    }

    #[test]
    fn a_word_is_a_site_and_what_happened() {
        let own = word(0xab_cdef, outcome::WENT);
        assert_eq!((own, site_of(own), outcome_of(own)), (0x02ab_cdef, 0xab_cdef, outcome::WENT));
        assert_eq!(word_at(&own.to_le_bytes(), 0), own);
        // What ends records is told from the last byte of each.
        let last = [
            outcome::TAKEN,
            outcome::NOT_TAKEN,
            outcome::WENT,
            outcome::SYSTEM_CALL,
            outcome::PASSED,
            outcome::NAMED,
        ];
        assert!(!last.contains(&u32::from(END)) && last[2..].iter().all(|last| *last != u32::from(FREE)));
    }

    #[test]
    fn kinds_are_the_lower_bits_of_a_word() {
        assert_eq!(SiteKind::of(7 << 8 | 3), Some(SiteKind::Return));
        assert_eq!(SiteKind::of(99), None);
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
