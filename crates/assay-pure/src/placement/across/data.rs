//! Data of two files: constants by their bytes, named objects by their first contents, addresses in either by what
//! they lead to.

use super::graph::{Graph, NotSame, PairFindings, Tie};
use super::listing::ReadExtent;
use super::node::{DataPair, DataSize};
use super::side::FileSide;

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
        let size = OPEN_BYTES.max(next_a).max(next_b).min(limit);
        let behind = |side: &FileSide<'_>, start: u64| {
            side.image.bytes(start.wrapping_add(certain), size.saturating_sub(certain)).map(<[u8]>::to_vec)
        };
        let differs = match (behind(old, a), behind(new, b)) {
            (Some(first), Some(second)) => first.iter().zip(&second).position(|(a, b)| a != b),
            _ => Some(0),
        };
        match differs.map(|at| certain + at as u64) {
            Some(at) if pair.whole || at < next_a.max(next_b).min(limit) => NotSame::unknown(format!(
                "constants of unknown size at {a:#x} and {b:#x} differ after {at} bytes"
            )),
            _ => Ok(()),
        }
    }

    /// The offset of the first difference in so many bytes.
    fn content(
        &mut self,
        pair: DataPair,
        size: u64,
        found: &mut PairFindings,
    ) -> Result<Option<u64>, NotSame> {
        let table = self.is_offset_table(pair, size);
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
                if !self.either((to_a, to_b), word == other, pair, found)? {
                    return Ok(false);
                }
            }
            return Ok(true);
        }
        Ok(first == second)
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
            Err(NotSame::Different) if equal => {
                NotSame::unknown(format!("the data at {:#x} may be addresses or numbers", pair.a))
            }
            Err(NotSame::Different) => Ok(false),
            result => result.map(|()| true),
        }
    }

    /// Whether all words of both are offsets to code from where they start, or to texts.
    fn is_offset_table(&self, pair: DataPair, size: u64) -> bool {
        let aligned = pair.a.is_multiple_of(4) && pair.b.is_multiple_of(4) && size >= 4;
        aligned
            && [(self.a, pair.a), (self.b, pair.b)].into_iter().all(|(side, start)| {
                let Some(bytes) = side.image.bytes(start, size & !3) else { return false };
                let mut targets =
                    bytes.chunks_exact(4).filter_map(|word| offset_from(start, word)).peekable();
                let leads = |to| side.image.is_code(to) || (pair.offsets && is_text_start(side, to));
                targets.peek().is_some() && targets.all(leads)
            })
    }
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
