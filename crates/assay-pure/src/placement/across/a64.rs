//! Functions of AArch64 as lines.
//!
//! Which addresses its instructions make is found in `a64/addresses.rs`, where jumps through tables lead in
//! `a64/switch.rs`; what is not followed makes the answer `Unknown`. Source: Arm Architecture Reference Manual for
//! A-profile, DDI 0487, chapter C4 (encodings). Limits: a jump through a table without a comparison ahead of it is not
//! understood; its function is told by its other code and its table's bytes, or is `Unknown`.

mod addresses;
mod endless;
mod found;
mod frame;
mod held;
mod offset;
mod operands;
mod switch;
#[cfg(test)]
mod tests;

pub use endless::Endless;

use super::listing::{FieldReference, FunctionListing, Leads, ListedInstruction};
use super::side::FileSide;
use crate::placement::identity::data::ReadExtent;
use crate::placement::identity::image::LinkedImage;

/// Decodes the function that starts at `entry`.
///
/// # Errors
/// In words: no symbol starts there, or its bytes are not known.
pub fn listing(side: &FileSide, entry: u64) -> Result<FunctionListing, String> {
    let image = &side.image;
    let place = image.function_at(entry).filter(|place| place.address == entry);
    let Some(place) = place else { return Err(format!("no function symbol starts at {entry:#x}")) };
    let bytes = image.bytes(entry, place.size).filter(|_| image.is_code(entry));
    let Some(bytes) = bytes else {
        return Err(format!("the bytes of `{}` are not all in the file", place.name));
    };
    let mut words = words(bytes);
    let ended = words.iter().rposition(|&word| word != NOP && word != 0).map_or(0, |last| last + 1);
    if ended > 0 && ends(words[ended - 1]) {
        words.truncate(ended);
    }
    let labels = side.pointers_into(entry..entry.saturating_add(place.size));
    let made = addresses::made(image, &words, entry, labels, side.endless());
    let line = |(index, found): (usize, Option<FieldReference>)| ListedInstruction {
        at: 4 * index as u64,
        length: 4,
        references: found.into_iter().collect(),
        jump: None,
    };
    Ok(FunctionListing {
        address: entry,
        bytes: bytes[..4 * words.len()].to_vec(),
        lines: made.references.into_iter().enumerate().map(line).collect(),
        undecodable: (place.size % 4 != 0).then_some(place.size & !3),
        behind: behind(image, entry.wrapping_add(bytes.len() as u64)),
        runs_out: words.last().is_none_or(|&word| !ends(word) && word & 0xfc00_0000 != 0x9400_0000),
        reads_offsets: words
            .iter()
            .any(|&word| word & 0xffc0_0000 == 0xb980_0000 || word & 0xffe0_0c00 == 0xb8a0_0800),
        unexplained: made.unexplained.map(|index| 4 * index as u64),
    })
}

/// What follows the end of a function, past padding that no symbol covers.
fn behind(image: &LinkedImage, mut end: u64) -> u64 {
    let pads = |at: u64| image.function_at(at).is_none() && image.bytes(at, 4) == Some(&NOP.to_le_bytes());
    while pads(end) {
        end += 4;
    }
    end
}

/// What compilers and linkers fill gaps with.
pub const NOP: u32 = 0xd503_201f;

/// Control never passes it: `b`, `br`, `ret`, `brk`, `udf`.
pub fn ends(word: u32) -> bool {
    word & 0xfc00_0000 == 0x1400_0000
        || is_jump(word)
        || is_return(word)
        || word & 0xffe0_001f == 0xd420_0000
        || word >> 16 == 0
}

/// `bl`, `blr`, and `blr` through an authenticated pointer.
pub fn is_call(word: u32) -> bool {
    word & 0xfc00_0000 == 0x9400_0000 || by_register(word) == Some(1)
}

/// Where a `bl` leads.
fn called(word: u32, at: u64) -> Option<u64> {
    (word & 0xfc00_0000 == 0x9400_0000).then(|| at.wrapping_add_signed(4 * signed(word, 0, 26)))
}

/// `br`, and `br` through an authenticated pointer.
pub fn is_jump(word: u32) -> bool {
    by_register(word) == Some(0)
}

fn is_return(word: u32) -> bool {
    by_register(word).is_some_and(|kind| kind > 1)
}

/// Which branch to a register it is; authenticated ones count as those that are not.
fn by_register(word: u32) -> Option<u32> {
    (word & 0xfe00_0000 == 0xd600_0000).then_some(word >> 21 & 7)
}

fn signed(word: u32, low: u32, bits: u32) -> i64 {
    (i64::from(word >> low) << (64 - bits)) >> (64 - bits)
}

fn code(to: u64, mask: u64) -> Option<FieldReference> {
    Some(FieldReference { offset: 0, mask, leads: Leads::Code(to) })
}

/// Where a word leads whose address is in its own bits, and the bits.
fn branch(word: u32, address: u64) -> Option<FieldReference> {
    let to = |words: i64| address.wrapping_add_signed(4 * words);
    if word & 0x7c00_0000 == 0x1400_0000 {
        return code(to(signed(word, 0, 26)), 0x03ff_ffff);
    }
    if word & 0xff00_0000 == 0x5400_0000 || word & 0x7e00_0000 == 0x3400_0000 {
        return code(to(signed(word, 5, 19)), 0x00ff_ffe0);
    }
    if word & 0x7e00_0000 == 0x3600_0000 {
        return code(to(signed(word, 5, 14)), 0x0007_ffe0);
    }
    None
}

/// The slot that a stub jumps through: `adrp x16; ldr x17, [x16, #low]; add; br x17`.
pub fn stub(image: &LinkedImage, address: u64) -> Option<u64> {
    let words = words(image.bytes(address, 16)?);
    let found = addresses::made(image, &words, address, &[], &Endless::default()).references;
    let (index, to) = found.into_iter().enumerate().find_map(|(index, found)| match found?.leads {
        Leads::Data(to, ReadExtent::Bytes(8)) => Some((index, to)),
        _ => None,
    })?;
    (words[index] & 31 == 17).then_some(to)
}

fn words(bytes: &[u8]) -> Vec<u32> {
    bytes.chunks_exact(4).map(|word| word.try_into().map_or(0, u32::from_le_bytes)).collect()
}

/// Every address that some function mentions.
pub fn mentioned(side: &FileSide) -> Vec<u64> {
    let image = &side.image;
    let mut found = Vec::new();
    let mut done = 0;
    for place in image.functions() {
        // Symbols of one place, or damaged ones that overlap, are decoded once.
        let start = place.address.max(done);
        let end = place.address.saturating_add(place.size);
        let Some(bytes) = end.checked_sub(start).and_then(|size| image.bytes(start, size)) else { continue };
        done = end;
        let labels = side.pointers_into(start..end);
        found.extend(addresses::made(image, &words(bytes), start, labels, side.endless()).mentioned);
    }
    found
}
