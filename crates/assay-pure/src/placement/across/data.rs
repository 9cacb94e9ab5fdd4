//! Data of two files: constants by their bytes, named objects by their first contents, addresses in either by what
//! they lead to.

use super::graph::{Graph, PairFindings, Tie};
use super::node::{DataPair, DataSize};
use super::side::{FileSide, LoaderSlot};
use crate::placement::identity::NotSame;
use crate::placement::identity::data::ReadExtent;
use std::ops::Range;

/// At least so many bytes are looked at of data whose size is unknown.
const OPEN_BYTES: u64 = 64;

/// How a place is referred to.
#[derive(Clone, Copy, Debug)]
pub struct Referral {
    /// How much of it may be read.
    pub extent: ReadExtent,
    /// What follows if it is not the same.
    pub tie: Tie,
    /// Whoever refers to it reads offsets from tables.
    pub offsets: bool,
    /// Its end must be certain.
    pub whole: bool,
}

impl Graph<'_, '_> {
    /// Compares two stretches of data.
    pub fn data(&mut self, pair: DataPair, found: &mut PairFindings) -> Result<(), NotSame> {
        match pair.shape {
            DataSize::Sized(first, second) if first != second => Err(NotSame::Different),
            DataSize::Sized(size, _) => match (self.a.image.is_zero(pair.a), self.b.image.is_zero(pair.b)) {
                (true, true) => Ok(()),
                (false, false) => match self.content(pair, size, found)? {
                    None => Ok(()),
                    Some(_) => Err(NotSame::Different),
                },
                _ => Err(NotSame::Different),
            },
            DataSize::Open => self.open(pair, found),
        }
    }

    /// Constants whose size is not known.
    fn open(&mut self, pair: DataPair, found: &mut PairFindings) -> Result<(), NotSame> {
        let DataPair { a, b, .. } = pair;
        let (old, new) = (self.a, self.b);
        let upto_next = |side: &FileSide, address| side.next_known(address).map_or(0, |next| next - address);
        let upto_end = |side: &FileSide, address| {
            side.image.section_at(address).map_or(0, |section| section.end() - address)
        };
        let (next_a, next_b) = (upto_next(old, a), upto_next(new, b));
        let limit = upto_end(old, a).min(upto_end(new, b));
        let certain = next_a.min(next_b).min(limit);
        let text = (text_at(old, a), text_at(new, b));
        if let (Some(first), Some(second)) = text {
            // A text ends at its zero; what looks like one and goes on behind it is told by its bytes up to there.
            if first == second && !pair.whole {
                return Ok(());
            }
        }
        if self.content(pair, certain, found)?.is_some() {
            return Err(NotSame::Different);
        }
        if next_a == next_b && self.is_offset_table(pair, certain) {
            return Ok(());
        }
        // An address that something refers to may be the middle of this object, so it is no certain end.
        let least = if pair.whole { OPEN_BYTES } else { 0 };
        let size = least.max(next_a).max(next_b).min(limit);
        match self.behind(pair, certain..size, found) {
            Some(at) => NotSame::unknown(format!(
                "constants of unknown size at {a:#x} and {b:#x} differ after {at} bytes"
            )),
            None => Ok(()),
        }
    }

    /// The offset of the first difference in what may no longer belong to an object. What pointers there lead to may be none of
    /// its business, so that it differs only makes it unknown.
    fn behind(&mut self, pair: DataPair, part: Range<u64>, found: &mut PairFindings) -> Option<u64> {
        let mut at = part.start;
        while at < part.end {
            let (a, b) = (pair.a.wrapping_add(at), pair.b.wrapping_add(at));
            let (step, same) = match (self.a.slot(a).cloned(), self.b.slot(b).cloned()) {
                (Some(first), Some(second)) => (8, self.slots(&first, &second, Tie::Perhaps, found).is_ok()),
                (None, None) => {
                    let step = step(a, b, part.end - at);
                    let (first, second) = (self.a.image.bytes(a, step), self.b.image.bytes(b, step));
                    (step, first.is_some() && first == second)
                }
                _ => return Some(at),
            };
            if !same {
                return Some(at);
            }
            at += step;
        }
        None
    }

    /// The offset of the first difference in so many bytes.
    fn content(
        &mut self,
        pair: DataPair,
        size: u64,
        found: &mut PairFindings,
    ) -> Result<Option<u64>, NotSame> {
        let table = !pair.read && self.is_offset_table(pair, size);
        let mut at = 0;
        while at < size {
            let (a, b) = (pair.a.wrapping_add(at), pair.b.wrapping_add(at));
            let step = match (self.a.slot(a).cloned(), self.b.slot(b).cloned()) {
                (Some(first), Some(second)) => {
                    match self.slots(&first, &second, Tie::Part, found) {
                        Err(NotSame::Different) => return Ok(Some(at)),
                        result => result?,
                    }
                    8
                }
                (None, None) => {
                    let step = step(a, b, size - at);
                    if !self.words((a, b), step, pair, table, found)? {
                        return Ok(Some(at));
                    }
                    step
                }
                _ => return Ok(Some(at)),
            };
            at += step;
        }
        Ok(None)
    }

    /// Whether up to eight bytes are the same.
    fn words(
        &mut self,
        (a, b): (u64, u64),
        size: u64,
        pair: DataPair,
        table: bool,
        found: &mut PairFindings,
    ) -> Result<bool, NotSame> {
        let (Some(first), Some(second)) = (self.a.image.bytes(a, size), self.b.image.bytes(b, size)) else {
            return NotSame::unknown(format!("{size} bytes at {a:#x} and {b:#x} are not all in the file"));
        };
        if size == 8 && self.a.image.fixed && self.b.image.fixed {
            let (first, second) = (number(first), number(second));
            let mapped = |side: &FileSide, to| side.image.section_at(to).is_some();
            if mapped(self.a, first) && mapped(self.b, second) {
                if first != second && self.is_inside() {
                    return addresses_or_numbers(pair);
                }
                return self.either((first, second), first == second, pair, found);
            }
        }
        if table && size.is_multiple_of(4) {
            for (word, other) in first.chunks_exact(4).zip(second.chunks_exact(4)) {
                let (to_a, to_b) = (offset_from(pair.a, word), offset_from(pair.b, other));
                let (Some(to_a), Some(to_b)) = (to_a, to_b) else {
                    if word != other {
                        return Ok(false);
                    }
                    continue;
                };
                if word != other && self.is_inside() {
                    return addresses_or_numbers(pair);
                }
                if !self.either((to_a, to_b), word == other, pair, found)? {
                    return Ok(false);
                }
            }
            return Ok(true);
        }
        Ok(first == second || (size == 8 && self.are_locations((a, first), (b, second))))
    }

    /// Whether two words are line and column of places in Rust's source of which only the line differs. A panic prints it; a line
    /// that is added anywhere above shifts it.
    fn are_locations(&self, (a, first): (u64, &[u8]), (b, second): (u64, &[u8])) -> bool {
        first[4..] == second[4..]
            && [(self.a, a), (self.b, b)].into_iter().all(|(side, at)| ends_location(side, at))
    }

    /// Numbers that lead somewhere if they are addresses.
    fn either(
        &mut self,
        (a, b): (u64, u64),
        equal: bool,
        pair: DataPair,
        found: &mut PairFindings,
    ) -> Result<bool, NotSame> {
        let tie = if equal { Tie::Perhaps } else { Tie::Part };
        let referral = Referral { extent: ReadExtent::Object, tie, offsets: false, whole: false };
        match self.place(a, b, referral, found) {
            Err(NotSame::Different) if equal => addresses_or_numbers(pair),
            Err(NotSame::Different) => Ok(false),
            result => result.map(|()| true),
        }
    }

    /// Whether all words of both are offsets from where they start: to code, to named objects or to texts.
    fn is_offset_table(&self, pair: DataPair, size: u64) -> bool {
        let aligned = pair.a.is_multiple_of(4) && pair.b.is_multiple_of(4) && size >= 4;
        aligned
            && [(self.a, pair.a), (self.b, pair.b)].into_iter().all(|(side, start)| {
                let Some(bytes) = side.image.bytes(start, size & !3) else { return false };
                let mut targets =
                    bytes.chunks_exact(4).filter_map(|word| offset_from(start, word)).peekable();
                let variable = |address| side.variable_at(address);
                // What LLVM makes of a table of pointers to constants.
                let by_name = variable(start).is_some_and(|table| table.name.starts_with("reltable."));
                let leads = |to| {
                    side.image.is_code(to)
                        || variable(to).is_some_and(|object| object.address == to)
                        || by_name
                        || (pair.offsets && is_text_start(side, to))
                };
                targets.peek().is_some() && targets.all(leads)
            })
    }
}

/// Words that lead to the same places if they are addresses, and are not the same if they are numbers; or the other way round.
fn addresses_or_numbers<T>(pair: DataPair) -> Result<T, NotSame> {
    NotSame::unknown(format!("the data at {:#x} may be addresses or numbers", pair.a))
}

/// Eight, four or one bytes, as both addresses are aligned.
fn step(a: u64, b: u64, rest: u64) -> u64 {
    match (a | b) % 8 {
        0 if rest >= 8 => 8,
        0 | 4 if rest >= 4 => 4,
        _ => 1,
    }
}

fn number(bytes: &[u8]) -> u64 {
    bytes.try_into().map_or(0, u64::from_le_bytes)
}

/// Where a word leads as an offset; none if it is zero.
fn offset_from(start: u64, word: &[u8]) -> Option<u64> {
    let offset = word.try_into().map_or(0, i32::from_le_bytes);
    (offset != 0).then(|| start.wrapping_add_signed(i64::from(offset)))
}

/// Whether a word is the end of a `core::panic::Location`: behind a pointer to the name of a Rust file, and its length.
fn ends_location(side: &FileSide, at: u64) -> bool {
    let Some(&LoaderSlot::Inside(name)) = side.slot(at.wrapping_sub(16)) else { return false };
    let length = side.image.bytes(at.wrapping_sub(8), 8).map_or(0, number);
    (4..=PATH_BYTES).contains(&length)
        && side.image.bytes(name, length).is_some_and(|name| name.ends_with(b".rs"))
}

/// The longest name of a file.
const PATH_BYTES: u64 = 4096;
/// The longest text that is looked for.
const TEXT_BYTES: u64 = 1 << 16;

/// Text with its final zero, at an address in constants.
fn text_at<'e>(side: &FileSide<'e>, address: u64) -> Option<&'e [u8]> {
    let end = side.image.section_at(address)?.end();
    let slot = side.next_slot(address..end).unwrap_or(end);
    let bytes = side.image.bytes(address, (slot - address).min(TEXT_BYTES))?;
    let zero = bytes.iter().position(|&byte| byte == 0).filter(|&zero| zero > 0)?;
    let text = std::str::from_utf8(&bytes[..zero]).ok()?;
    let printable = |letter: char| !letter.is_control() || letter.is_ascii_whitespace() || letter == '\u{1b}';
    text.chars().all(printable).then(|| &bytes[..=zero])
}

/// Whether a text starts at an address, and not in the middle of another.
pub fn is_text_start(side: &FileSide, address: u64) -> bool {
    let before = side.image.bytes(address.wrapping_sub(1), 1);
    let starts =
        before.is_none_or(|byte| byte == [0]) || side.next_known(address.wrapping_sub(1)) == Some(address);
    starts && text_at(side, address).is_some()
}
