//! Data that two functions of equal code refer to at different addresses.
//!
//! Only what is never written can be compared, and only byte for byte: a table of offsets from itself holds other
//! bytes where it lies elsewhere (and is `Unknown` unless it is a jump table of a known form).

use super::code::Code;
use super::image::{Access, Image};
use super::{Comparison, Trouble};
use iced_x86::{Mnemonic, OpKind};

/// At least so many bytes are compared of data whose size is unknown.
const UNSIZED_BYTES: u64 = 64;

/// How much of the data may be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// So many bytes.
    Bytes(u64),
    /// All of the object that lies there.
    Object,
}

/// Two operands that correspond.
#[derive(Clone, Copy, Debug)]
pub struct Reference {
    /// The first function's address.
    pub a: u64,
    /// The second function's.
    pub b: u64,
    /// How much may be read from there.
    pub extent: Extent,
}

impl Comparison<'_, '_> {
    /// Compares what lies at two different addresses.
    pub(super) fn data(&mut self, reference: Reference, code_a: &Code, code_b: &Code) -> Result<(), Trouble> {
        let Reference { a, b, extent } = reference;
        let access = |address| self.image.section_at(address).map(|section| section.access);
        match (access(a), access(b)) {
            (Some(Access::ReadOnly), Some(Access::ReadOnly)) => {}
            (None, None) if self.image.fixed => return Err(Trouble::Different),
            (Some(Access::ReadOnly), _) | (_, Some(Access::ReadOnly)) => return Err(Trouble::Different),
            _ => {
                return Trouble::unknown(format!(
                    "data at {a:#x} and {b:#x} may change, so it cannot be compared"
                ));
            }
        }
        let pointers = OwnCode { a: code_a, b: code_b, fixed: self.image.fixed };
        match extent {
            Extent::Bytes(0) => Trouble::unknown("an operand of unknown size"),
            Extent::Bytes(size) => self.known_size(a, b, size, &pointers),
            Extent::Object => {
                self.whole(a, b, &pointers)?;
                if loads_signed_words(code_a) {
                    return Trouble::unknown(format!("the data at {a:#x} may be offsets from where it lies"));
                }
                Ok(())
            }
        }
    }

    fn known_size(&mut self, a: u64, b: u64, size: u64, pointers: &OwnCode) -> Result<(), Trouble> {
        let (first, second) = both(self.image, a, b, size)?;
        match mismatch(first, second) {
            None => {
                self.tally.data_bytes += size;
                Ok(())
            }
            Some(at) => Err(pointers.judge(first, second, at)),
        }
    }

    /// The object at each address, whose size a symbol tells, or as much as may belong to it.
    fn whole(&mut self, a: u64, b: u64, pointers: &OwnCode) -> Result<(), Trouble> {
        let (Some(object_a), Some(object_b)) = (self.image.object_at(a), self.image.object_at(b)) else {
            return self.unsized_data(a, b, pointers);
        };
        let same_shape = object_a.size == object_b.size && a - object_a.address == b - object_b.address;
        let result = match same_shape {
            true => self.known_size(object_a.address, object_b.address, object_a.size, pointers),
            false => Err(Trouble::Different),
        };
        // The address just past an object is also that of the next one.
        if result == Err(Trouble::Different) && self.image.object_ends_at(a) && self.image.object_ends_at(b) {
            return Trouble::unknown(format!(
                "{a:#x} and {b:#x} are the ends of some objects and the starts of others"
            ));
        }
        result?;
        offsets_to_code(self.image, a, b, object_a.size - (a - object_a.address))
    }

    fn unsized_data(&mut self, a: u64, b: u64, pointers: &OwnCode) -> Result<(), Trouble> {
        let upto_next = |address| self.image.next_known(address).map_or(0, |next| next - address);
        let upto_end = |address| self.image.section_at(address).map_or(0, |section| section.end() - address);
        let (next_a, next_b) = (upto_next(a), upto_next(b));
        // An address that some code mentions may be the middle of this object, so it is no certain end.
        let size = UNSIZED_BYTES.max(next_a).max(next_b).min(upto_end(a)).min(upto_end(b));
        let (first, second) = both(self.image, a, b, size)?;
        let Some(at) = mismatch(first, second) else {
            self.tally.data_bytes += size;
            self.tally.unsized_bytes += size;
            return offsets_to_code(self.image, a, b, size);
        };
        let text_ended = first[..at].contains(&0) && is_text(first) && is_text(second);
        if at as u64 >= next_a.min(next_b) || text_ended {
            return Trouble::unknown(format!(
                "data of unknown size at {a:#x} and {b:#x} differs after {at} bytes"
            ));
        }
        Err(pointers.judge(first, second, at))
    }
}

fn both<'e>(image: &Image<'e>, a: u64, b: u64, size: u64) -> Result<(&'e [u8], &'e [u8]), Trouble> {
    match (image.bytes(a, size), image.bytes(b, size)) {
        (Some(first), Some(second)) => Ok((first, second)),
        _ => Trouble::unknown(format!(
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

/// Words that are equal lead to different places if they are offsets from where they lie; those that lead to code
/// look like it.
fn offsets_to_code(image: &Image, a: u64, b: u64, size: u64) -> Result<(), Trouble> {
    let (words, _) = both(image, a, b, size)?;
    let leads_to_code = words.chunks_exact(4).any(|word| {
        let offset = i64::from(i32::from_le_bytes([word[0], word[1], word[2], word[3]]));
        offset != 0
            && image.is_code(a.wrapping_add_signed(offset))
            && image.is_code(b.wrapping_add_signed(offset))
    });
    match leads_to_code {
        true => Trouble::unknown(format!("the data at {a:#x} may be offsets to code from where it lies")),
        false => Ok(()),
    }
}

/// Whether any instruction widens a signed 4-byte word that a register points to: how an offset from a table is read.
fn loads_signed_words(code: &Code) -> bool {
    code.steps.iter().map(|step| &step.instruction).any(|instruction| {
        instruction.mnemonic() == Mnemonic::Movsxd
            && instruction.op1_kind() == OpKind::Memory
            && !instruction.is_ip_rel_memory_operand()
    })
}

/// The two functions, for words in data that may be addresses in them.
struct OwnCode<'c> {
    a: &'c Code,
    b: &'c Code,
    fixed: bool,
}

impl OwnCode<'_> {
    /// What bytes that differ at `at` mean: they may be addresses of corresponding places in the two functions.
    fn judge(&self, first: &[u8], second: &[u8], at: usize) -> Trouble {
        let word = |bytes: &[u8]| -> Option<u64> {
            let start = at - at % 8;
            Some(u64::from_le_bytes(bytes.get(start..start + 8)?.try_into().ok()?))
        };
        let inside = |code: &Code, bytes: &[u8]| word(bytes).and_then(|address| code.inside(address));
        match (inside(self.a, first), inside(self.b, second)) {
            (Some(in_a), Some(in_b)) if self.fixed && in_a == in_b => {
                Trouble::Unknown("data that holds addresses in the function's own code".to_owned())
            }
            _ => Trouble::Different,
        }
    }
}
