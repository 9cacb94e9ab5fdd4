//! Are two functions of a linked binary the same machine code?
//!
//! Question: if they are, then any difference in their times is placement. Method: both are decoded instruction by
//! instruction; all bytes must be equal but those of relative addresses, and what these lead to must be equal: inside
//! the function the same place, outside the same address, or a callee (or a split-off part) that is the same code in
//! its turn, or read-only data with the same bytes, or a jump table that leads to the same places. Callees are assumed
//! to be the same while they are being compared, which makes recursion no special case: two functions are the same if
//! nothing that can be reached from them tells them apart. Source: Intel SDM volume 2 as decoded by iced-x86; System V
//! ABI, AMD64 supplement. Code of AArch64 is compared as that of two files is, by stricter rules (`across/inside.rs`).
//! Limits: x86-64 and AArch64; what cannot be decided is `Unknown`, never guessed. Functions that only differ in the
//! padding between their blocks are `Different`. Where the size of an object is not known, its end is taken to be the
//! next symbol or the next address that some function mentions, and the note says how many bytes were compared; a
//! pointer ahead of the object that it is used for is not recognised. Checked: hand-assembled functions in this folder;
//! programs of gcc and clang and mutated binaries in tests/identity.rs and tests/aarch64_pairs.rs; the pairs of
//! fixtures/verdicts.

pub(super) mod code;
pub mod data;
mod dispatch;
pub(super) mod field;
mod flow;
pub(super) mod image;
pub(super) mod jump_table;
mod pair;
#[cfg(test)]
mod tests;

use super::across;
use super::layout::{self, LayoutError};
use crate::words::plural;
use code::Disassembly;
use image::LinkedImage;
use object::{Architecture, Object as _};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;

/// Callees are followed this deep; what lies deeper makes the answer `Unknown`.
const CALL_DEPTH: u32 = 4;

/// What the comparison of two functions found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Identity {
    /// The same instructions, and everything that they refer to is the same.
    Identical {
        /// What was taken as equal although it lies at different addresses: callees, data, jump tables.
        note: Option<String>,
    },
    /// They are not.
    Different {
        /// Offset in bytes, from the start of the first function, of the instruction that differs or leads to the
        /// difference.
        at: u64,
    },
    /// It cannot be told.
    Unknown {
        /// Why not.
        reason: String,
    },
}

/// Compares two functions of a linked file by name.
///
/// A name that several functions bear is `Unknown`, since it cannot be told which one is meant.
///
/// # Errors
/// The file is no ELF file, has no function symbols, or none of these names.
pub fn same_code(elf: &[u8], a: &str, b: &str) -> Result<Identity, LayoutError> {
    let functions = layout::functions(elf)?;
    let mut entries = [0; 2];
    for (entry, name) in entries.iter_mut().zip([a, b]) {
        let found: BTreeSet<u64> =
            functions.iter().filter(|place| place.name == name).map(|place| place.address).collect();
        *entry = *found.first().ok_or_else(|| LayoutError::NoFunction { name: name.to_owned() })?;
        if found.len() > 1 {
            return Ok(Identity::Unknown { reason: format!("{} functions are named `{name}`", found.len()) });
        }
    }
    same_code_at(elf, entries[0], entries[1])
}

/// Compares the functions that start at the link-time addresses `a` and `b` of a linked file.
///
/// Cost: linear in the code that the two reach, on x86-64 to a depth of four calls; where read-only data of unknown size is to be
/// compared, all functions of the file are decoded once.
///
/// # Errors
/// The file is no ELF file or has no function symbols.
pub fn same_code_at(elf: &[u8], a: u64, b: u64) -> Result<Identity, LayoutError> {
    if layout::parse(elf)?.architecture() == Architecture::Aarch64 {
        return across::same_code_inside(elf, a, b);
    }
    let image = LinkedImage::parse(elf)?;
    if let Some(reason) = image.unsuitable() {
        return Ok(Identity::Unknown { reason });
    }
    Ok(CodeComparison::new(&image).run(a, b))
}

/// Why something was not found to be the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotSame {
    /// It is not.
    Different,
    /// It cannot be told, and why.
    Unknown(String),
}

impl NotSame {
    /// A doubt as a result.
    pub fn unknown<T>(reason: impl Into<String>) -> Result<T, Self> {
        Err(Self::Unknown(reason.into()))
    }
}

/// What was equal although it lies elsewhere, for the note.
#[derive(Default)]
struct MovedParts {
    callees: usize,
    data_bytes: u64,
    unsized_bytes: u64,
    table_entries: usize,
}

impl MovedParts {
    fn note(&self) -> Option<String> {
        let mut parts = Vec::new();
        if self.callees > 0 {
            parts.push(format!(
                "{} also compared (callees, or parts split off)",
                plural(self.callees as u64, "function")
            ));
        }
        if self.data_bytes > 0 {
            parts.push(format!(
                "{} of read-only data at other addresses compared equal",
                plural(self.data_bytes, "byte")
            ));
        }
        if self.unsized_bytes > 0 {
            parts.push(format!(
                "{} of them up to the next known address, their size being unknown",
                self.unsized_bytes
            ));
        }
        if self.table_entries > 0 {
            parts.push(format!(
                "{} with the same targets",
                plural(self.table_entries as u64, "jump table entry")
            ));
        }
        (!parts.is_empty()).then(|| parts.join("; "))
    }
}

/// One pair of functions to be compared.
#[derive(Clone, Copy)]
struct PairToCompare {
    a: u64,
    b: u64,
    depth: u32,
    /// Offset in the first function of all of the instruction through which this pair is reached.
    root: Option<u64>,
}

/// A comparison under way: the pairs that are assumed to be the same until something tells them apart.
struct CodeComparison<'i, 'e> {
    image: &'i LinkedImage<'e>,
    codes: BTreeMap<u64, Result<Rc<Disassembly>, String>>,
    assumed: BTreeSet<(u64, u64)>,
    waiting: VecDeque<PairToCompare>,
    tally: MovedParts,
}

impl<'i, 'e> CodeComparison<'i, 'e> {
    fn new(image: &'i LinkedImage<'e>) -> Self {
        Self {
            image,
            codes: BTreeMap::new(),
            assumed: BTreeSet::new(),
            waiting: VecDeque::new(),
            tally: MovedParts::default(),
        }
    }

    fn run(mut self, a: u64, b: u64) -> Identity {
        if a == b {
            return Identity::Identical { note: Some("they are one function".to_owned()) };
        }
        self.assumed.insert((a, b));
        self.waiting.push_back(PairToCompare { a, b, depth: 0, root: None });
        let mut unknown = None;
        while let Some(job) = self.waiting.pop_front() {
            match self.functions(job) {
                // A certain difference outweighs any doubt, so doubts wait for the end.
                Some((at, NotSame::Different)) => return Identity::Different { at },
                Some((at, NotSame::Unknown(reason))) => {
                    unknown.get_or_insert(format!("at byte {at}: {reason}"));
                }
                None => {}
            }
        }
        match unknown {
            Some(reason) => Identity::Unknown { reason },
            None => Identity::Identical { note: self.tally.note() },
        }
    }

    /// The first difference of one pair, or its first doubt if there is none.
    fn functions(&mut self, job: PairToCompare) -> Option<(u64, NotSame)> {
        let (a, b) = match (self.code(job.a), self.code(job.b)) {
            (Ok(a), Ok(b)) => (a, b),
            (Err(reason), _) | (_, Err(reason)) => {
                return Some((job.root.unwrap_or(0), NotSame::Unknown(reason)));
            }
        };
        let mut doubt = None;
        for (at, trouble) in self.pair(job, &a, &b) {
            let at = job.root.unwrap_or(at);
            if trouble == NotSame::Different {
                return Some((at, trouble));
            }
            doubt.get_or_insert((at, trouble));
        }
        doubt
    }

    /// The decoded function at `entry`.
    fn code(&mut self, entry: u64) -> Result<Rc<Disassembly>, String> {
        let image = self.image;
        self.codes.entry(entry).or_insert_with(|| Disassembly::decode(image, entry).map(Rc::new)).clone()
    }

    /// Two places outside of the pair being compared, to which control goes or whose address is taken.
    fn outside(&mut self, job: PairToCompare, at: u64, a: u64, b: u64) -> Result<(), NotSame> {
        if a == b {
            return Ok(());
        }
        let (Some(in_a), Some(in_b)) = (self.image.function_at(a), self.image.function_at(b)) else {
            return NotSame::unknown(format!("no function symbol covers {a:#x} and {b:#x}"));
        };
        let starts = (in_a.address, in_b.address);
        if starts.0 == starts.1 || a - starts.0 != b - starts.1 {
            return Err(NotSame::Different);
        }
        if a != starts.0 {
            let (code_a, code_b) = (self.code(starts.0), self.code(starts.1));
            let (code_a, code_b) = (code_a.map_err(NotSame::Unknown)?, code_b.map_err(NotSame::Unknown)?);
            if code_a.index_at(a - starts.0).is_none() || code_b.index_at(b - starts.1).is_none() {
                return NotSame::unknown(format!("{a:#x} or {b:#x} is inside an instruction"));
            }
        }
        // Being the same is symmetric, so the pair may be assumed either way round.
        if self.assumed.contains(&starts) || self.assumed.contains(&(starts.1, starts.0)) {
            return Ok(());
        }
        if job.depth >= CALL_DEPTH {
            return NotSame::unknown(format!("`{}` and `{}` are called too deep", in_a.name, in_b.name));
        }
        self.assumed.insert(starts);
        self.tally.callees += 1;
        let root = Some(job.root.unwrap_or(at));
        self.waiting.push_back(PairToCompare { a: starts.0, b: starts.1, depth: job.depth + 1, root });
        Ok(())
    }
}
