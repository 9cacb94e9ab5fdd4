//! Functions of AArch64 as lines.
//!
//! An address is made by `adrp` and the low twelve bits of a following `add` or load; which register holds a page is
//! followed where control cannot come from elsewhere; what is not followed makes the answer `Unknown`. Source: Arm
//! Architecture Reference Manual for A-profile, DDI 0487, chapter C4 (encodings). Limits: jump tables are not
//! recognised; a function that has one is told by its other code and its table's bytes, or is `Unknown`.

use super::listing::{FieldReference, FunctionListing, Leads, ListedInstruction};
use crate::placement::identity::data::ReadExtent;
use crate::placement::identity::image::LinkedImage;
use std::collections::BTreeSet;

/// Decodes the function that starts at `entry`.
///
/// # Errors
/// In words: no symbol starts there, or its bytes are not known.
pub fn listing(image: &LinkedImage, entry: u64) -> Result<FunctionListing, String> {
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
    let lines =
        Registers::walk(&words, entry).into_iter().enumerate().map(|(index, found)| ListedInstruction {
            at: 4 * index as u64,
            length: 4,
            references: found.into_iter().collect(),
            jump: None,
        });
    let lines = lines.collect();
    let jump = words.iter().position(|&word| word & 0xffff_fc1f == 0xd61f_0000);
    Ok(FunctionListing {
        address: entry,
        bytes: bytes[..4 * words.len()].to_vec(),
        lines,
        undecodable: (place.size % 4 != 0).then_some(place.size & !3),
        runs_out: words.last().is_none_or(|&word| !ends(word) && word & 0xfc00_0000 != 0x9400_0000),
        reads_offsets: words
            .iter()
            .any(|&word| word & 0xffc0_0000 == 0xb980_0000 || word & 0xffe0_0c00 == 0xb8a0_0800),
        unexplained: jump.map(|index| 4 * index as u64),
    })
}

const NOP: u32 = 0xd503_201f;

/// Control never passes it: `b`, `br`, `ret`, `brk`, `udf`.
fn ends(word: u32) -> bool {
    word & 0xfc00_0000 == 0x1400_0000
        || word & 0xfffe_0000 == 0xd61e_0000
        || word & 0xffff_fc1f == 0xd61f_0000
        || word & 0xffff_fc1f == 0xd65f_0000
        || matches!(word, 0xd65f_0bff | 0xd65f_0fff)
        || word & 0xffe0_001f == 0xd420_0000
        || word >> 16 == 0
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

/// What a register holds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RegisterValue {
    /// Anything but the page of an `adrp`.
    Other,
    /// The page of an address.
    Page(u64),
    /// One of several, or another value.
    Perhaps,
}

/// What registers hold while the words of a function are walked through.
struct Registers {
    held: [RegisterValue; 32],
    /// Those that any `adrp` of the function writes.
    written: [bool; 32],
}

impl Registers {
    /// What each word of a function refers to.
    fn walk(words: &[u32], entry: u64) -> Vec<Option<FieldReference>> {
        let mut pages = Self { held: [RegisterValue::Other; 32], written: [false; 32] };
        let mut joins = BTreeSet::new();
        for (index, &word) in words.iter().enumerate() {
            if word & 0x9f00_0000 == 0x9000_0000 {
                pages.written[(word & 31) as usize] = true;
            }
            let address = entry.wrapping_add(4 * index as u64);
            if let Some(FieldReference { leads: Leads::Code(to), .. }) = branch(word, address) {
                joins.insert(to);
            }
        }
        let mut found = Vec::with_capacity(words.len());
        for (index, &word) in words.iter().enumerate() {
            let address = entry.wrapping_add(4 * index as u64);
            let entered = index > 0 && ends(words[index - 1]);
            if joins.contains(&address) || entered {
                pages.join();
            }
            found.push(pages.reference(word, address));
        }
        found
    }

    /// Control may come from elsewhere.
    fn join(&mut self) {
        for (held, written) in self.held.iter_mut().zip(self.written) {
            if written {
                *held = RegisterValue::Perhaps;
            }
        }
    }

    /// What a word refers to, with what the registers hold before it; these are brought up to date.
    fn reference(&mut self, word: u32, address: u64) -> Option<FieldReference> {
        let target = (word & 31) as usize;
        if let Some(found) = branch(word, address) {
            if word & 0xfc00_0000 == 0x9400_0000 {
                self.call();
            }
            return Some(found);
        }
        let immediate = signed(word, 5, 19) << 2 | i64::from(word >> 29 & 3);
        let relative = |leads, mask| Some(FieldReference { offset: 0, mask, leads });
        match word & 0x9f00_0000 {
            // adrp: the page alone tells nothing yet; what uses it does.
            0x9000_0000 => {
                self.held[target] =
                    RegisterValue::Page((address & !0xfff).wrapping_add_signed(immediate << 12));
                return relative(Leads::Nothing, 0x60ff_ffe0);
            }
            // adr
            0x1000_0000 => {
                self.held[target] = RegisterValue::Other;
                let to = address.wrapping_add_signed(immediate);
                return relative(Leads::Data(to, ReadExtent::Object), 0x60ff_ffe0);
            }
            _ => {}
        }
        // A literal load: 4, 8 or 16 bytes, or four that are widened.
        if word & 0x3b00_0000 == 0x1800_0000 {
            let to = address.wrapping_add_signed(signed(word, 5, 19) * 4);
            let bytes = match (word >> 26 & 1, word >> 30) {
                (1, size) => 4 << size.min(2),
                (_, 1) => 8,
                _ => 4,
            };
            self.forget(word);
            return relative(Leads::Data(to, ReadExtent::Bytes(bytes)), 0x00ff_ffe0);
        }
        self.low_bits(word)
    }

    /// The second half of an address, and what else a word does to the registers.
    fn low_bits(&mut self, word: u32) -> Option<FieldReference> {
        let held = self.held[(word >> 5 & 31) as usize];
        let low = u64::from(word >> 10 & 0xfff);
        self.forget(word);
        let (bytes, extent) = if word & 0xffc0_0000 == 0x9100_0000 {
            // add Xd, Xn, #imm12
            (low, ReadExtent::Object)
        } else if word & 0x3b00_0000 == 0x3900_0000 {
            // A load or store with an unsigned offset in units of its size.
            let vector = word >> 26 & 1 == 1;
            let scale = (word >> 30 | if vector { word >> 21 & 4 } else { 0 }).min(4);
            (low << scale, ReadExtent::Bytes(1 << scale))
        } else {
            return None;
        };
        let leads = match held {
            RegisterValue::Other => return None,
            RegisterValue::Perhaps => Leads::Unfollowed,
            RegisterValue::Page(page) => Leads::Data(page.wrapping_add(bytes), extent),
        };
        Some(FieldReference { offset: 0, mask: 0x003f_fc00, leads })
    }

    /// A call changes what the procedure call standard does not keep: all but x19 to x28.
    fn call(&mut self) {
        for (register, held) in self.held.iter_mut().enumerate() {
            if !(19..=28).contains(&register) {
                *held = RegisterValue::Other;
            }
        }
    }

    /// Drops what an instruction may overwrite.
    fn forget(&mut self, word: u32) {
        match word >> 25 & 15 {
            // A call by register; other branches and system instructions write at most the register they name.
            10 | 11 if word & 0xffff_fc1f == 0xd63f_0000 => self.call(),
            // A load or store with an unsigned offset: what it loads, unless that is a vector.
            12..=15 if word & 0x3b00_0000 == 0x3900_0000 => {
                if word >> 26 & 1 == 0 && word >> 22 & 3 != 0 {
                    self.held[(word & 31) as usize] = RegisterValue::Other;
                }
            }
            // Other loads and stores write one or two registers, and perhaps their base or a status.
            4 | 6 | 12 | 14 => {
                for register in [word & 31, word >> 5 & 31, word >> 10 & 31, word >> 16 & 31] {
                    self.held[register as usize] = RegisterValue::Other;
                }
            }
            _ => self.held[(word & 31) as usize] = RegisterValue::Other,
        }
    }
}

/// The slot that a stub jumps through: `adrp x16; ldr x17, [x16, #low]; add; br x17`.
pub fn stub(image: &LinkedImage, address: u64) -> Option<u64> {
    let bytes = image.bytes(address, 16)?;
    let words = words(bytes);
    let (index, to) =
        Registers::walk(&words, address).into_iter().enumerate().find_map(|(index, found)| {
            match found?.leads {
                Leads::Data(to, ReadExtent::Bytes(8)) => Some((index, to)),
                _ => None,
            }
        })?;
    (words[index] & 31 == 17).then_some(to)
}

fn words(bytes: &[u8]) -> Vec<u32> {
    bytes.chunks_exact(4).map(|word| word.try_into().map_or(0, u32::from_le_bytes)).collect()
}

/// Every address that some function mentions.
pub fn mentioned(image: &LinkedImage) -> Vec<u64> {
    let mut found = Vec::new();
    let mut done = 0;
    for place in image.functions() {
        // Symbols of one place, or damaged ones that overlap, are decoded once.
        let start = place.address.max(done);
        let end = place.address.saturating_add(place.size);
        let Some(bytes) = end.checked_sub(start).and_then(|size| image.bytes(start, size)) else { continue };
        done = end;
        let references = Registers::walk(&words(bytes), start).into_iter().flatten();
        found.extend(references.filter_map(|reference| match reference.leads {
            Leads::Data(to, _) => Some(to),
            _ => None,
        }));
    }
    found
}
