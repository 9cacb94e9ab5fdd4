//! Keys to be looked up in a table that is another input: so many are in it, the others are not.
//!
//! The table is units of one size: numbers or records. A key that is found is a unit of the table: the k-th of a random order
//! of its different units comes 1 / k^exponent as often as the first. One that is not found is drawn between the least and the
//! greatest number of the table, or where these leave too little room from all of the type; of records from all bytes.
//!
//! Checked: the share that is found, counted; a digest.

use super::draw::{Draw, Selection};
use super::format::Format;
use super::kinds::Ranks;
use std::collections::HashSet;
use std::hash::{BuildHasherDefault, Hasher};

/// What keys are wanted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KeyShape {
    /// The share of keys that are in the table, an exact count.
    pub hit_rate: f64,
    /// How much more often some of them come than others; 0 is all alike.
    pub exponent: f64,
}

/// Why a table has no such keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DrawnKeysError {
    /// Its format has no units of one size.
    Format,
    /// It has no unit, or ends within one.
    Units,
    /// It holds so many of all possible units that others are hardly ever drawn.
    Full,
}

impl std::fmt::Display for DrawnKeysError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            DrawnKeysError::Format => "keys are of a table of numbers or records",
            DrawnKeysError::Units => "the table is empty or not of its format",
            DrawnKeysError::Full => "the table holds nearly all values, so no key can miss it: take a larger format or fewer units",
        })
    }
}

impl std::error::Error for DrawnKeysError {}

/// A key that is not in the table is drawn again so often at most.
const TRIES: u32 = 1000;

/// The bytes of a unit of one size.
pub fn unit_bytes(format: Format) -> Option<usize> {
    match format {
        Format::Numbers(number) => Some(number.width()),
        Format::Records(size) => Some(size as usize),
        _ => None,
    }
}

/// Keys of a table.
///
/// Draws per key: whether it is found; then its rank, or a unit until one is not in the table.
///
/// # Errors
/// The table has no such keys.
pub fn keys(
    table: &[u8],
    format: Format,
    shape: KeyShape,
    units: u64,
    seed: u64,
) -> Result<Vec<u8>, DrawnKeysError> {
    let size = unit_bytes(format).ok_or(DrawnKeysError::Format)?;
    if table.is_empty() || format.count(table).is_err() {
        return Err(DrawnKeysError::Units);
    }
    let known = Known::of(table, size);
    let mut draw = Draw::new(seed);
    // In the order of the table, which is always the same, and not in that of the set.
    let mut met = Known::of(&[], size);
    let mut order: Vec<&[u8]> = table.chunks_exact(size).filter(|unit| met.add(unit)).collect();
    draw.shuffle(&mut order);
    let ranks = Ranks::new(order.len() as u64, shape.exponent);
    let mut hits = Selection::share(shape.hit_rate, units);
    let others = Others::of(&order, format);
    // One behind the other, so that a unit is one access to memory.
    let mut order = order.concat();
    order.extend([0; 8]);
    let mut bytes = Vec::with_capacity(units as usize * size + 8);
    let mut other = Vec::with_capacity(size + 8);
    for _ in 0..units {
        if hits.next(&mut draw) {
            let at = ranks.draw(&mut draw) as usize * size;
            append(&mut bytes, &order[at..], size);
            continue;
        }
        let missing = (0..TRIES).any(|_| {
            other.clear();
            others.draw(&mut draw, size, &mut other);
            !known.has(&other)
        });
        if !missing {
            return Err(DrawnKeysError::Full);
        }
        other.resize(size + 8, 0);
        append(&mut bytes, &other, size);
    }
    Ok(bytes)
}

/// Appends the first `size` bytes of more than that: a short unit by copying eight, which is an instruction.
#[inline]
fn append(bytes: &mut Vec<u8>, from: &[u8], size: usize) {
    match from.first_chunk::<8>() {
        Some(eight) if size <= 8 => {
            bytes.extend_from_slice(eight);
            bytes.truncate(bytes.len() - 8 + size);
        }
        _ => bytes.extend_from_slice(&from[..size]),
    }
}

/// The units of a table, to ask whether one is among them.
enum Known<'a> {
    /// Of at most eight bytes each, as numbers.
    Short(HashSet<u64, BuildHasherDefault<UnitHasher>>),
    Long(HashSet<&'a [u8], BuildHasherDefault<UnitHasher>>),
}

impl<'a> Known<'a> {
    fn of(table: &'a [u8], size: usize) -> Known<'a> {
        let units = table.chunks_exact(size);
        if size <= 8 { Known::Short(units.map(word).collect()) } else { Known::Long(units.collect()) }
    }

    #[inline]
    fn has(&self, unit: &[u8]) -> bool {
        match self {
            Known::Short(known) => known.contains(&word(unit)),
            Known::Long(known) => known.contains(unit),
        }
    }

    /// True: it was not among them.
    fn add(&mut self, unit: &'a [u8]) -> bool {
        match self {
            Known::Short(known) => known.insert(word(unit)),
            Known::Long(known) => known.insert(unit),
        }
    }
}

/// At most eight bytes as a number.
#[inline]
fn word(bytes: &[u8]) -> u64 {
    // Numbers are nearly always of these sizes, whose copies are an instruction.
    if let Ok(four) = bytes.try_into() {
        return u64::from(u32::from_le_bytes(four));
    }
    if let Ok(eight) = bytes.try_into() {
        return u64::from_le_bytes(eight);
    }
    let mut word = [0; 8];
    word[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(word)
}

/// A hash of a few instructions: a table is the user's own, who has no reason to make its units collide.
#[derive(Default)]
struct UnitHasher(u64);

impl Hasher for UnitHasher {
    fn write(&mut self, bytes: &[u8]) {
        bytes.chunks(8).for_each(|part| self.write_u64(word(part)));
    }

    fn write_u64(&mut self, word: u64) {
        // The golden ratio in 2^64; the upper half of the product is mixed best.
        let product = (self.0 ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = product ^ (product >> 32);
    }

    /// All units are of one size.
    fn write_usize(&mut self, _: usize) {}

    fn finish(&self) -> u64 {
        self.0
    }
}

/// Where units that are not in the table come from.
enum Others {
    /// Whole numbers from the least on, so many and one more.
    Whole { least: u64, span: u64 },
    /// Any bytes.
    Bytes,
}

impl Others {
    fn of(order: &[&[u8]], format: Format) -> Others {
        let Format::Numbers(number) = format else { return Others::Bytes };
        if number.is_float() {
            return Others::Bytes;
        }
        let (all_least, all_greatest) = number.range();
        let values = order.iter().flat_map(|unit| number.keys(unit)).flatten();
        // Keys have the order of the numbers; of those with a sign the least is 2^63 less.
        let offset = if all_least < 0 { 1i128 << 63 } else { 0 };
        let (least, greatest) =
            values.fold((u64::MAX, 0), |(least, greatest), key| (least.min(key), greatest.max(key)));
        let (least, greatest) = (i128::from(least) - offset, i128::from(greatest) - offset);
        let room = greatest - least + 1 >= 2 * order.len() as i128;
        let (least, greatest) = if room { (least, greatest) } else { (all_least, all_greatest) };
        Others::Whole { least: least as u64, span: (greatest - least) as u64 }
    }

    fn draw(&self, draw: &mut Draw, size: usize, into: &mut Vec<u8>) {
        match *self {
            Others::Whole { least, span } => {
                let value = least.wrapping_add(draw.between(0, span));
                append(into, &value.to_le_bytes(), size);
            }
            Others::Bytes => {
                while into.len() < size {
                    let some = (size - into.len()).min(8);
                    into.extend_from_slice(&draw.bits().to_le_bytes()[..some]);
                }
            }
        }
    }
}

/// The share of units that are in a table of the same format; `None` of formats without units of one size.
pub fn hit_share(bytes: &[u8], table: &[u8], format: Format) -> Option<f64> {
    let size = unit_bytes(format)?;
    let known = Known::of(table, size);
    let units = bytes.len() / size;
    let hits = bytes.chunks_exact(size).filter(|unit| known.has(unit)).count();
    (units > 0).then(|| hits as f64 / units as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inputs::{NumberType, digest};

    const U32: Format = Format::Numbers(NumberType::U32);

    fn table(units: u32) -> Vec<u8> {
        (0..units).flat_map(|at| (at * 3 + 7).to_le_bytes()).collect()
    }

    #[test]
    fn the_share_of_keys_that_are_found_is_what_was_asked_for() {
        for (format, table) in [
            (U32, table(1000)),
            (Format::Records(12), table(1200)),
            (Format::Numbers(NumberType::F64), table(600)),
        ] {
            for hit_rate in [0.0, 0.3, 0.9, 1.0] {
                let found =
                    keys(&table, format, KeyShape { hit_rate, exponent: 0.0 }, 50_000, 3).expect("keys");
                let share = hit_share(&found, &table, format).expect("of one size");
                assert!((share - hit_rate).abs() <= 0.5 / 50_000.0, "{format:?} {share}");
            }
        }
    }

    #[test]
    fn misses_lie_among_the_hits_where_there_is_room() {
        let shape = KeyShape { hit_rate: 0.0, exponent: 0.0 };
        let found = keys(&table(1000), U32, shape, 1000, 3).expect("keys");
        assert!(
            found
                .chunks_exact(4)
                .all(|key| (7..=3004).contains(&u32::from_le_bytes(key.try_into().unwrap())))
        );
        // All of 0 to 99: others are anywhere.
        let full: Vec<u8> = (0..100u32).flat_map(u32::to_le_bytes).collect();
        let found = keys(&full, U32, shape, 1000, 3).expect("keys");
        assert!(found.chunks_exact(4).all(|key| u32::from_le_bytes(key.try_into().unwrap()) > 99));
        let signed: Vec<u8> = [-9i32, -5, 5, 100].iter().flat_map(|value| value.to_le_bytes()).collect();
        let found = keys(&signed, Format::Numbers(NumberType::I32), shape, 1000, 3).expect("keys");
        assert!(
            found
                .chunks_exact(4)
                .all(|key| (-9..=100).contains(&i32::from_le_bytes(key.try_into().unwrap())))
        );
    }

    #[test]
    fn some_keys_come_more_often_than_others() {
        let found =
            keys(&table(100), U32, KeyShape { hit_rate: 1.0, exponent: 1.0 }, 100_000, 3).expect("keys");
        let facts = crate::inputs::describe(&found, U32).expect("numbers").sequence.expect("a sequence");
        // 1 / H(100) = 0.19277.
        assert!((facts.commonest_share - 0.19277).abs() < 0.006, "{}", facts.commonest_share);
    }

    #[test]
    fn a_table_without_room_or_units_is_refused() {
        let shape = KeyShape { hit_rate: 0.5, exponent: 0.0 };
        let all: Vec<u8> = (0..=255).collect();
        assert_eq!(keys(&all, Format::Numbers(NumberType::U8), shape, 10, 1), Err(DrawnKeysError::Full));
        assert_eq!(keys(&[], U32, shape, 10, 1), Err(DrawnKeysError::Units));
        assert_eq!(keys(b"a\n", Format::Lines, shape, 10, 1), Err(DrawnKeysError::Format));
    }

    #[test]
    fn the_same_table_and_seed_make_the_same_keys_for_ever() {
        let found =
            keys(&table(1000), U32, KeyShape { hit_rate: 0.7, exponent: 1.0 }, 1000, 42).expect("keys");
        assert_eq!(digest(&found), "a3d23583e1e0467caeff28aa76e828bb64f274703517971fb489fe89ced0f3bc");
    }
}
