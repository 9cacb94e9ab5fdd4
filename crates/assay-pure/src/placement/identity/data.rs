//! Data that two functions of equal code refer to at different addresses.
//!
//! Only what is never written can be compared, and only byte for byte: a table of offsets from itself holds other
//! bytes where it lies elsewhere (and is `Unknown` unless it is a jump table of a known form).

use super::code::Disassembly;
use super::image::{Access, LinkedImage};
use super::{CodeComparison, NotSame};
use iced_x86::{Mnemonic, OpKind};

/// At least so many bytes are compared of data whose size is unknown.
const UNSIZED_BYTES: u64 = 64;

/// How much of the data at an address may be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ReadExtent {
    /// So many bytes.
    Bytes(u64),
    /// All of the object that lies there.
    Object,
}

/// Two operands that correspond.
#[derive(Clone, Copy, Debug)]
pub struct OperandPair {
    /// The first function's address.
    pub a: u64,
    /// The second function's.
    pub b: u64,
    /// How much may be read from there.
    pub extent: ReadExtent,
}

impl CodeComparison<'_, '_> {
    /// Compares what lies at two different addresses.
    pub(super) fn data(
        &mut self,
        reference: OperandPair,
        code_a: &Disassembly,
        code_b: &Disassembly,
    ) -> Result<(), NotSame> {
        let OperandPair { a, b, extent } = reference;
        let access = |address| self.image.section_at(address).map(|section| section.access);
        match (access(a), access(b)) {
            (Some(Access::ReadOnly), Some(Access::ReadOnly)) => {}
            (None, None) if self.image.fixed => return Err(NotSame::Different),
            (Some(Access::ReadOnly), _) | (_, Some(Access::ReadOnly)) => return Err(NotSame::Different),
            _ => {
                return NotSame::unknown(format!(
                    "data at {a:#x} and {b:#x} may change, so it cannot be compared"
                ));
            }
        }
        let offsets = extent == ReadExtent::Object && loads_signed_words(code_a);
        let words = WordMeanings { image: self.image, a: code_a, b: code_b, offsets };
        match extent {
            ReadExtent::Bytes(0) => NotSame::unknown("an operand of unknown size"),
            ReadExtent::Bytes(size) => self.known_size(reference, (a, b), size, &words),
            ReadExtent::Object => self.whole(reference, &words),
        }
    }

    /// `size` bytes from two starts on, of which the reference is or is in a part.
    fn known_size(
        &mut self,
        reference: OperandPair,
        starts: (u64, u64),
        size: u64,
        words: &WordMeanings,
    ) -> Result<(), NotSame> {
        let (first, second) = both(self.image, starts.0, starts.1, size)?;
        match mismatch(first, second) {
            None => {
                self.tally.data_bytes += size;
                Ok(())
            }
            Some(at) => Err(words.judge(reference, first, second, at)),
        }
    }

    /// The object at each address, whose size a symbol tells, or as much as may belong to it.
    fn whole(&mut self, reference: OperandPair, words: &WordMeanings) -> Result<(), NotSame> {
        let OperandPair { a, b, .. } = reference;
        let (Some(object_a), Some(object_b)) = (self.image.object_at(a), self.image.object_at(b)) else {
            return self.unsized_data(reference, words);
        };
        let same_shape = object_a.size == object_b.size && a - object_a.address == b - object_b.address;
        let starts = (object_a.address, object_b.address);
        let result = match same_shape {
            true => self.known_size(reference, starts, object_a.size, words),
            false => Err(NotSame::Different),
        };
        // The address just past an object is also that of the next one.
        if result == Err(NotSame::Different) && self.image.object_ends_at(a) && self.image.object_ends_at(b) {
            return NotSame::unknown(format!(
                "{a:#x} and {b:#x} are the ends of some objects and the starts of others"
            ));
        }
        result?;
        words.no_offsets(reference, object_a.size - (a - object_a.address))
    }

    fn unsized_data(&mut self, reference: OperandPair, words: &WordMeanings) -> Result<(), NotSame> {
        let OperandPair { a, b, .. } = reference;
        let upto_next = |address| self.image.next_known(address).map_or(0, |next| next - address);
        let upto_end = |address| self.image.section_at(address).map_or(0, |section| section.end() - address);
        let (next_a, next_b) = (upto_next(a), upto_next(b));
        // An address that some code mentions may be the middle of this object, so it is no certain end.
        let size = UNSIZED_BYTES.max(next_a).max(next_b).min(upto_end(a)).min(upto_end(b));
        let (first, second) = both(self.image, a, b, size)?;
        let Some(at) = mismatch(first, second) else {
            self.tally.data_bytes += size;
            self.tally.unsized_bytes += size;
            return words.no_offsets(reference, size);
        };
        let text_ended = first[..at].contains(&0) && is_text(first) && is_text(second);
        if at as u64 >= next_a.min(next_b) || text_ended {
            return NotSame::unknown(format!(
                "data of unknown size at {a:#x} and {b:#x} differs after {at} bytes"
            ));
        }
        Err(words.judge(reference, first, second, at))
    }
}

fn both<'e>(image: &LinkedImage<'e>, a: u64, b: u64, size: u64) -> Result<(&'e [u8], &'e [u8]), NotSame> {
    match (image.bytes(a, size), image.bytes(b, size)) {
        (Some(first), Some(second)) => Ok((first, second)),
        _ => NotSame::unknown(format!(
            "{size} bytes at {a:#x} and {b:#x} are not all in the file or change when loaded"
        )),
    }
}

fn mismatch(first: &[u8], second: &[u8]) -> Option<usize> {
    first.iter().zip(second).position(|(a, b)| a != b)
}

/// Whether bytes start with printable text and a zero.
fn is_text(bytes: &[u8]) -> bool {
    let end = bytes.iter().position(|&byte| byte == 0);
    end.is_some_and(|end| {
        bytes[..end].iter().all(|byte| byte.is_ascii_graphic() || byte.is_ascii_whitespace())
    })
}

/// Whether any instruction widens a signed 4-byte word that a register points to: how an offset from a table is read.
fn loads_signed_words(code: &Disassembly) -> bool {
    code.steps.iter().map(|step| &step.instruction).any(|instruction| {
        instruction.mnemonic() == Mnemonic::Movsxd
            && instruction.op1_kind() == OpKind::Memory
            && !instruction.is_ip_rel_memory_operand()
    })
}

/// What the words of data can mean besides their value.
struct WordMeanings<'c> {
    image: &'c LinkedImage<'c>,
    a: &'c Disassembly,
    b: &'c Disassembly,
    /// They may be read as offsets from where the data lies.
    offsets: bool,
}

impl WordMeanings<'_> {
    /// Equal words lead to different places if they are offsets from where they lie. Those that lead to code look like
    /// it to whoever reads them; those that lead to anything in the file, if this function reads words in that way.
    fn no_offsets(&self, reference: OperandPair, size: u64) -> Result<(), NotSame> {
        let (words, _) = both(self.image, reference.a, reference.b, size)?;
        match words.chunks_exact(4).any(|word| self.may_be_offset(reference, word, word)) {
            true => {
                NotSame::unknown(format!("the data at {:#x} may be offsets from where it lies", reference.a))
            }
            false => Ok(()),
        }
    }

    fn may_be_offset(&self, reference: OperandPair, first: &[u8], second: &[u8]) -> bool {
        let leads = |from: u64, word: &[u8]| {
            let offset = word.try_into().map_or(0, i32::from_le_bytes);
            let to = from.wrapping_add_signed(i64::from(offset));
            offset != 0 && (self.image.is_code(to) || (self.offsets && self.image.section_at(to).is_some()))
        };
        leads(reference.a, first) && leads(reference.b, second)
    }

    /// What bytes that differ at `at` mean: they may be addresses of corresponding places in the two functions, or
    /// offsets to places that are the same.
    fn judge(&self, reference: OperandPair, first: &[u8], second: &[u8], at: usize) -> NotSame {
        let word = |bytes: &[u8], size: usize| bytes.chunks(size).nth(at / size).unwrap_or_default().to_vec();
        if self.may_be_offset(reference, &word(first, 4), &word(second, 4)) {
            return NotSame::Unknown(format!(
                "the data at {:#x} may be offsets from where it lies",
                reference.a
            ));
        }
        let inside = |code: &Disassembly, bytes: &[u8]| {
            let address = word(bytes, 8).try_into().map_or(0, u64::from_le_bytes);
            code.inside(address)
        };
        match (inside(self.a, first), inside(self.b, second)) {
            (Some(in_a), Some(in_b)) if self.image.fixed && in_a == in_b => {
                NotSame::Unknown("data that holds addresses in the function's own code".to_owned())
            }
            _ => NotSame::Different,
        }
    }
}
