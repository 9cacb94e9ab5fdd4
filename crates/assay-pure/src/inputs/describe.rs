//! What an input looks like to a decoder and its branch predictor: how long its units are, what their order gives
//! away, whether it repeats.
//!
//! The order of lengths decides what a branchy decoder costs, more than their shares do: on Zen 4 the same shares
//! took a third of the time in bursts, and a short input that repeats is memorised. So the description has both,
//! and the floors of mispredictions that follow from them (see `floor` and `history`). The method is exact counting;
//! the only estimate is the entropy, whose correction `history` describes.

use super::floor::floor_from_probabilities;
use super::history::{ORDERS, history};
use super::period::period;
use super::varint::MAX_LENGTH;
use super::{Format, FormatError, OrderFacts};

/// What an input looks like; filled by [`describe`].
///
/// Each unit belongs to a **class**, which is what a predictor may learn to expect: for varints the encoded length
/// in bytes; for lines the length, newline included, rounded down to a power of two (16 stands for 16 to 31 bytes);
/// for bytes the byte's value; for a whole input its size.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Description {
    /// How the units were found, and so what the classes are.
    pub format: Format,
    /// Bytes.
    pub bytes: u64,
    /// Units.
    pub units: u64,
    /// Mean bytes per unit; 0 for an empty input.
    pub bytes_per_unit: f64,
    /// The classes that occur, rising, with their shares: the length histogram.
    pub classes: Vec<ClassShare>,
    /// Entropy and floors when the classes of the last 0, 1, 2 and 3 units are known.
    pub histories: Vec<OrderFacts>,
    /// Mean number of neighbouring units of one class; 0 for an empty input.
    pub mean_run_units: f64,
    /// Smallest p such that the classes repeat every p units: `units`, or by chance a few less, if they do not.
    pub class_period_units: u64,
    /// Smallest p such that the bytes repeat every p bytes: `bytes`, or by chance a few less, if they do not.
    pub byte_period_bytes: u64,
    /// Branches per unit of a loop over a varint's bytes, which is bytes per unit; `None` for other formats.
    pub branches_per_unit: Option<f64>,
    /// Least mispredictions per unit of that loop for any predictor, were the lengths independent: below it, a
    /// predictor must have used the order of the lengths. `None` for other formats.
    pub floor_misses_per_unit: Option<f64>,
}

/// One row of a histogram.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ClassShare {
    /// The class, in the unit that [`Description`] gives for the format.
    pub class: u64,
    /// Units of this class.
    pub count: u64,
    /// `count` over all units.
    pub share: f64,
}

/// Describes `bytes` as units of `format`.
///
/// Errors: a malformed varint, with its offset.
/// Cost: a few passes and about 30 bytes of memory per byte; 30 to 80 ms for a million varints on the developing machine.
/// Checked: floors and entropies against hand-derived values of every generator.
pub fn describe(bytes: &[u8], format: Format) -> Result<Description, FormatError> {
    let classes_in_order = unit_classes(bytes, format)?;
    let units = classes_in_order.len();
    let (classes, symbols) = histogram(&classes_in_order);
    let loops = format == Format::Varint;
    let runs = symbols.chunk_by(|a, b| a == b).count();
    let bytes_per_unit = ratio(bytes.len(), units);
    Ok(Description {
        format,
        bytes: bytes.len() as u64,
        units: units as u64,
        bytes_per_unit,
        histories: ORDERS.map(|order| history(&symbols, classes.len(), order, loops)).collect(),
        mean_run_units: ratio(units, runs),
        class_period_units: period(&symbols) as u64,
        byte_period_bytes: period(bytes) as u64,
        branches_per_unit: loops.then_some(bytes_per_unit),
        floor_misses_per_unit: loops.then(|| floor_from_probabilities(&by_length(&classes))),
        classes,
    })
}

/// Classes below it are counted in a table: all of varints and of bytes.
const SMALL: usize = 256;

/// The class of each unit, in order.
fn unit_classes(bytes: &[u8], format: Format) -> Result<Vec<u64>, FormatError> {
    Ok(match format {
        Format::Bytes => bytes.iter().map(|&byte| u64::from(byte)).collect(),
        Format::Varint | Format::Whole => format.unit_lengths(bytes)?,
        // Lines have hundreds of lengths, and what matters (a copy loop's turns, a buffer's class) goes by magnitude.
        Format::Lines => format.unit_lengths(bytes)?.into_iter().map(|length| 1 << length.ilog2()).collect(),
    })
}

/// The histogram by rising class, and each unit's class as an index into it.
fn histogram(classes_in_order: &[u64]) -> (Vec<ClassShare>, Vec<u32>) {
    let mut counts = std::collections::BTreeMap::new();
    let mut small = [0usize; SMALL];
    // Neighbours are often alike: one look-up per run.
    for run in classes_in_order.chunk_by(|a, b| a == b) {
        match small.get_mut(run[0] as usize) {
            Some(count) => *count += run.len(),
            None => *counts.entry(run[0]).or_insert(0usize) += run.len(),
        }
    }
    counts.extend((0..).zip(small).filter(|&(_, count)| count > 0));
    let classes: Vec<u64> = counts.keys().copied().collect();
    let mut places = [0u32; SMALL];
    for (place, &class) in (0..).zip(&classes).filter(|(_, class)| **class < SMALL as u64) {
        places[class as usize] = place;
    }
    let symbol = |class: &u64| match places.get(*class as usize) {
        Some(place) => *place,
        None => classes.binary_search(class).expect("every class was counted") as u32,
    };
    let symbols = classes_in_order.iter().map(symbol).collect();
    let share = |(&class, &count): (&u64, &usize)| ClassShare {
        class,
        count: count as u64,
        share: ratio(count, classes_in_order.len()),
    };
    (counts.iter().map(share).collect(), symbols)
}

/// Counts by encoded length: index 0 for one byte.
fn by_length(classes: &[ClassShare]) -> [f64; MAX_LENGTH] {
    let mut counts = [0.0; MAX_LENGTH];
    for class in classes {
        counts[class.class as usize - 1] = class.count as f64;
    }
    counts
}

/// `a / b`, and 0 where there is nothing to divide by.
fn ratio(a: usize, b: usize) -> f64 {
    if b == 0 { 0.0 } else { a as f64 / b as f64 }
}

#[cfg(test)]
mod tests;
