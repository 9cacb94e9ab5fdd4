//! A stored stream being read: the same few calls for every format, a bounded stretch at a time.
//!
//! Known limits: at most [`MAX_SITES`] places that branch; a file with more is refused, so that no file, however it was
//! made, takes more memory than that many sites and one batch.

use super::{Branch, BranchClass, BranchSite};
use std::collections::HashMap;
use std::fmt;
use std::io::{self, Read};

/// Branches that a batch of an imported stream holds at most: 96 KB, which stay in a second-level cache until they are used.
pub const BATCH: usize = 4096;
/// Sites that a stored trace may have, over all its streams.
pub const MAX_SITES: usize = 1 << 21;

/// Where in a stored trace something is wrong. Bytes are counted after decompression of the whole file, if there was one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TracePlace {
    /// Byte, from 0.
    Byte(u64),
    /// Line, from 1.
    Line(u64),
    /// Block of our own format, from 0, and the byte at which it begins.
    Block {
        /// Which.
        number: u64,
        /// Its first byte.
        byte: u64,
    },
}

impl fmt::Display for TracePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TracePlace::Byte(byte) => write!(f, "byte {byte}"),
            TracePlace::Line(line) => write!(f, "line {line}"),
            TracePlace::Block { number, byte } => write!(f, "block {number} at byte {byte}"),
        }
    }
}

/// What is wrong with a stored trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TraceFault {
    /// There is nothing in the file.
    Empty,
    /// It does not begin as the format does.
    Format {
        /// The format that was expected.
        expected: &'static str,
    },
    /// Another version of the format.
    Version {
        /// The version found.
        found: u64,
    },
    /// It ends too early: after so many branches.
    Cut {
        /// Branches that are there.
        have: u64,
        /// Branches that the file promised, where it did.
        promised: Option<u64>,
    },
    /// It goes on after what should be the end.
    Trailing,
    /// A field has a value that it cannot have.
    Field {
        /// The field.
        name: &'static str,
        /// Its value.
        value: u64,
    },
    /// A word of a text that is not understood.
    Word {
        /// What was expected.
        expected: &'static str,
        /// What was found, shortened.
        found: String,
    },
    /// More of something than a reader keeps in memory.
    TooMany {
        /// Of what.
        what: &'static str,
        /// The limit.
        limit: u64,
    },
    /// The checksum is not that of the content.
    Checksum,
    /// SBBT whose fields are where MBPlib put them before 2023.
    StaleSbbt,
    /// Reading or decompressing failed.
    Read {
        /// What the system or the decompressor said.
        message: String,
    },
}

impl fmt::Display for TraceFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TraceFault::Empty => f.write_str("the file is empty"),
            TraceFault::Format { expected } => write!(f, "this is not {expected}"),
            TraceFault::Version { found } => write!(f, "unknown format version {found}"),
            TraceFault::Cut { have, promised: Some(promised) } => {
                write!(f, "the file ends after {have} of {promised} branches")
            }
            TraceFault::Cut { have, promised: None } => {
                write!(f, "the file was cut off; the {have} branches before are whole")
            }
            TraceFault::Trailing => f.write_str("the file continues after its end"),
            TraceFault::Field { name, value } => write!(f, "{name} cannot be {value:#x}"),
            TraceFault::Word { expected, found } => write!(f, "expected {expected}, found `{found}`"),
            TraceFault::TooMany { what, limit } => write!(f, "more than {limit} {what}"),
            TraceFault::Checksum => f.write_str("the checksum does not match the content: the file is damaged"),
            TraceFault::StaleSbbt => f.write_str(
                "this is SBBT as MBPlib wrote it before 2023, with its fields in other places (MBPlib reads such files wrongly \
                 without reporting it); read it as `sbbt-stale`",
            ),
            TraceFault::Read { message } => f.write_str(message),
        }
    }
}

/// What is wrong with a stored trace, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceError {
    /// Where.
    pub place: TracePlace,
    /// What.
    pub fault: TraceFault,
}

impl TraceError {
    /// From its parts.
    pub fn new(place: TracePlace, fault: TraceFault) -> TraceError {
        TraceError { place, fault }
    }

    /// At a byte.
    pub(super) fn at_byte(byte: u64, fault: TraceFault) -> TraceError {
        TraceError::new(TracePlace::Byte(byte), fault)
    }

    /// The system's own error, at a byte.
    pub(super) fn read(byte: u64, error: &io::Error) -> TraceError {
        TraceError::at_byte(byte, TraceFault::Read { message: error.to_string() })
    }
}

impl fmt::Display for TraceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.fault == TraceFault::Empty {
            return self.fault.fmt(f);
        }
        write!(f, "{}: {}", self.place, self.fault)
    }
}

impl std::error::Error for TraceError {}

/// A stretch of one stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Batch {
    /// Number of the stream; 0 in formats that know only one.
    pub stream: u32,
    /// The branches, in order.
    pub branches: Vec<Branch>,
}

/// A stored trace, read from front to back.
pub trait TraceSource {
    /// Puts the next branches into `batch`, in place of what it holds; `false` at the end of the trace, with none.
    ///
    /// # Errors
    /// Anything wrong with the file. `batch` then holds the good branches before that place; nothing comes after.
    fn next(&mut self, batch: &mut Batch) -> Result<bool, TraceError>;

    /// The sites of a stream that were named so far; [`Branch::site`] counts into it.
    fn sites(&self, stream: u32) -> &[BranchSite];

    /// Whether the stream says how many instructions lie between its branches.
    fn has_instructions(&self) -> bool {
        true
    }
}

/// Bytes on their way from a reader to a parser, with the place they came from.
pub(super) struct TraceBytes<R> {
    inner: R,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    position: u64,
}

/// Bytes that a parser may ask for at once.
const WINDOW: usize = 1 << 16;

impl<R: Read> TraceBytes<R> {
    pub(super) fn new(inner: R) -> TraceBytes<R> {
        TraceBytes { inner, buffer: vec![0; WINDOW], start: 0, end: 0, position: 0 }
    }

    /// The place of the next byte.
    pub(super) fn position(&self) -> u64 {
        self.position
    }

    /// The next bytes, `wanted` of them or as many as there are; nothing is consumed.
    pub(super) fn peek(&mut self, wanted: usize) -> Result<&[u8], TraceError> {
        assert!(wanted <= WINDOW, "parsers ask for small pieces");
        if self.end - self.start < wanted {
            self.fill(wanted)?;
        }
        let have = (self.end - self.start).min(wanted);
        Ok(&self.buffer[self.start..self.start + have])
    }

    fn fill(&mut self, wanted: usize) -> Result<(), TraceError> {
        self.buffer.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        while self.end < wanted {
            match self.inner.read(&mut self.buffer[self.end..]) {
                Ok(0) => break,
                Ok(count) => self.end += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(TraceError::read(self.position + self.end as u64, &error)),
            }
        }
        Ok(())
    }

    /// Goes over bytes that were peeked at.
    pub(super) fn consume(&mut self, count: usize) {
        assert!(count <= self.end - self.start, "only what was seen is consumed");
        self.start += count;
        self.position += count as u64;
    }

    /// Whole records that are at hand, at least one if the input has one; nothing is consumed.
    pub(super) fn records<const N: usize>(&mut self) -> Result<&[[u8; N]], TraceError> {
        self.peek(N)?;
        Ok(self.buffer[self.start..self.end].as_chunks().0)
    }

    /// The next `N` bytes, or `None` where the input ends before.
    pub(super) fn array<const N: usize>(&mut self) -> Result<Option<[u8; N]>, TraceError> {
        let bytes: Option<[u8; N]> = self.peek(N)?.try_into().ok();
        if bytes.is_some() {
            self.consume(N);
        }
        Ok(bytes)
    }
}

/// A little-endian word at an offset.
#[inline]
pub(super) fn word(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(*bytes[at..].first_chunk().expect("the caller has looked"))
}

/// Dense numbers for the sites of an imported stream: one per address and class, in the order of first appearance.
#[derive(Default)]
pub(super) struct Sites {
    list: Vec<BranchSite>,
    numbers: HashMap<(u64, u8), u32>,
    /// The last site seen for each low part of the address: most look-ups end here.
    recent: Vec<RecentSite>,
}

/// A site that was seen lately, and whether all is known of it: a slot of its own, so that a look-up reads one line.
#[derive(Clone, Copy)]
struct RecentSite {
    pc: u64,
    number: u32,
    class: Option<BranchClass>,
    is_complete: bool,
}

const NOBODY: RecentSite = RecentSite { pc: 0, number: 0, class: None, is_complete: false };

/// Slots, 256 KB: the programs of the championships have up to 20,000 sites in use.
const RECENT: usize = 1 << 14;

impl Sites {
    /// The site of a branch; its target is kept if it is direct and was taken.
    #[inline]
    pub(super) fn number(
        &mut self,
        pc: u64,
        length: u8,
        class: BranchClass,
        taken: bool,
        target: u64,
    ) -> Result<u32, TraceFault> {
        // `&` and `|`: whether the branch was taken must not decide a jump of ours, which would be mispredicted as often.
        match self.recent.get((pc ^ pc >> 14) as usize % RECENT) {
            Some(site) if (site.pc == pc) & (site.class == Some(class)) & (site.is_complete | !taken) => {
                Ok(site.number)
            }
            _ => self.look_up(pc, length, class, taken.then_some(target)),
        }
    }

    #[cold]
    fn look_up(
        &mut self,
        pc: u64,
        length: u8,
        class: BranchClass,
        target: Option<u64>,
    ) -> Result<u32, TraceFault> {
        let fresh = self.list.len() as u32;
        let number = *self.numbers.entry((pc, class.bits())).or_insert(fresh);
        if number == fresh {
            if self.list.len() == MAX_SITES {
                return Err(TraceFault::TooMany { what: "places that branch", limit: MAX_SITES as u64 });
            }
            self.list.push(BranchSite { pc, length, class, target: None });
        }
        let site = &mut self.list[number as usize];
        if site.target.is_none() && !class.is_indirect() {
            site.target = target;
        }
        let is_complete = class.is_indirect() || site.target.is_some();
        self.recent.resize(RECENT, NOBODY);
        self.recent[(pc ^ pc >> 14) as usize % RECENT] =
            RecentSite { pc, number, class: Some(class), is_complete };
        Ok(number)
    }

    pub(super) fn list(&self) -> &[BranchSite] {
        &self.list
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_input_gives_what_is_there_and_says_where_it_is() {
        let bytes: Vec<u8> = (0..200_000u32).map(|byte| byte as u8).collect();
        let mut input = TraceBytes::new(&bytes[..]);
        assert_eq!(input.array::<3>().unwrap(), Some([0, 1, 2]));
        assert_eq!(input.position(), 3);
        for _ in 0..10 {
            let seen = input.peek(WINDOW).unwrap().len().min(19_999);
            input.consume(seen);
        }
        assert_eq!(input.position(), 199_993);
        assert_eq!(input.peek(100).unwrap(), &bytes[199_993..]);
        assert_eq!(input.array::<8>().unwrap(), None);
        assert_eq!(input.position(), 199_993);
    }

    #[test]
    fn sites_are_told_apart_by_address_and_class_and_learn_their_target_when_taken() {
        let mut sites = Sites::default();
        let far = 8 + ((RECENT as u64) << 30);
        assert_eq!(sites.number(8, 2, BranchClass::CONDITIONAL, false, 0), Ok(0));
        assert_eq!(sites.number(far, 2, BranchClass::CONDITIONAL, true, 1), Ok(1));
        assert_eq!(sites.number(8, 2, BranchClass::RETURN, true, 5), Ok(2));
        assert_eq!(sites.number(8, 2, BranchClass::CONDITIONAL, true, 9), Ok(0));
        assert_eq!(sites.number(8, 2, BranchClass::CONDITIONAL, true, 10), Ok(0));
        assert_eq!(
            sites.list()[0],
            BranchSite { pc: 8, length: 2, class: BranchClass::CONDITIONAL, target: Some(9) }
        );
        assert_eq!(sites.list()[2].target, None);
    }

    #[test]
    fn an_error_says_the_place_and_the_fault() {
        let error = TraceError::at_byte(24, TraceFault::Field { name: "the class", value: 13 });
        assert_eq!(error.to_string(), "byte 24: the class cannot be 0xd");
        let error = TraceError::new(TracePlace::Line(3), TraceFault::Empty);
        assert_eq!(error.to_string(), "the file is empty");
        let place = TracePlace::Block { number: 2, byte: 900 };
        assert_eq!(
            TraceError::new(place, TraceFault::Checksum).to_string().split(':').next(),
            Some("block 2 at byte 900")
        );
    }
}
