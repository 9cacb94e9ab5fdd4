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
use super::sequence::{NumberFacts, SequenceFacts, numbers, record_keys, sequence};
use super::text_facts::{MessageFacts, TextFacts, messages, text};
use super::varint::MAX_LENGTH;
use super::{Format, FormatError, OrderFacts};

/// What an input looks like; filled by [`describe`].
///
/// Each unit belongs to a **class**, which is what a predictor may learn to expect: for varints the encoded length
/// in bytes; for lines the length, newline included, rounded down to a power of two (16 stands for 16 to 31 bytes);
/// for bytes the byte's value; for a whole input its size. For numbers and records it is what [`ClassMeaning`] says.
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
    /// Of numbers and records, what the classes are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub meaning: Option<ClassMeaning>,
    /// Of numbers and records, how sorted they are and how few different ones there are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sequence: Option<SequenceFacts>,
    /// Of numbers, their range and moments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub numbers: Option<NumberFacts>,
    /// Of lines, their words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<TextFacts>,
    /// Of messages, their sizes and what is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub messages: Option<MessageFacts>,
    /// Of numbers and records beside a second input of the same format, the share that is in it. Filled in by whoever has both.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hit_share: Option<f64>,
}

/// What the classes of numbers and records are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClassMeaning {
    /// The number itself, as there are at most 16 different ones: a class is the number's place in the order of its type,
    /// which of numbers without a sign is the number.
    Value,
    /// How each compares with the one before: 0 less, 1 equal, 2 greater, 3 neither. There is one fewer than units.
    Comparison,
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
    match format {
        Format::Numbers(number) => {
            format.count(bytes)?;
            let keys: Vec<Option<u64>> = number.keys(bytes).collect();
            let known: Vec<u64> = keys.iter().copied().flatten().collect();
            let facts = numbers(number, &known, keys.len() - known.len());
            Ok(Description { numbers: Some(facts), ..describe_sequence(bytes, format, &keys, &known) })
        }
        Format::Records(size) => {
            format.count(bytes)?;
            let known = record_keys(bytes, size as usize);
            let keys: Vec<Option<u64>> = known.iter().copied().map(Some).collect();
            Ok(describe_sequence(bytes, format, &keys, &known))
        }
        _ => describe_lengths(bytes, format),
    }
}

/// Numbers or records. Input: the keys of all units, and of those that have one.
fn describe_sequence(bytes: &[u8], format: Format, keys: &[Option<u64>], known: &[u64]) -> Description {
    let sequence = sequence(known);
    let is_number = matches!(format, Format::Numbers(_));
    let by_value = is_number && sequence.distinct <= FEW_VALUES;
    let classes_in_order: Vec<u64> = if by_value {
        keys.iter().map(|key| key.unwrap_or(u64::MAX)).collect()
    } else {
        keys.windows(2).map(|pair| comparison(pair[0], pair[1])).collect()
    };
    let (classes, symbols) = histogram(&classes_in_order);
    let runs = symbols.chunk_by(|a, b| a == b).count();
    // What one branch needs: whether a unit is below the one before, or which of two values it is.
    let branch: Option<Vec<u32>> = match by_value {
        true => (classes.len() == 2).then(|| symbols.clone()),
        false => Some(classes_in_order.iter().map(|&class| u32::from(class == 0)).collect()),
    };
    let of_order = |order| {
        let facts = history(&symbols, classes.len(), order, false);
        let floor = branch.as_ref().and_then(|branch| history(branch, 2, order, true).floor_misses_per_unit);
        // A branch has fewer contexts than there are classes, but one figure without the other would need words.
        OrderFacts { floor_misses_per_unit: floor.filter(|_| facts.entropy_bits_per_unit.is_some()), ..facts }
    };
    Description {
        format,
        bytes: bytes.len() as u64,
        units: keys.len() as u64,
        bytes_per_unit: ratio(bytes.len(), keys.len()),
        histories: ORDERS.map(of_order).collect(),
        mean_run_units: ratio(symbols.len(), runs),
        class_period_units: period(&symbols) as u64,
        byte_period_bytes: period(bytes) as u64,
        branches_per_unit: None,
        floor_misses_per_unit: None,
        classes,
        meaning: Some(if by_value { ClassMeaning::Value } else { ClassMeaning::Comparison }),
        sequence: Some(sequence),
        numbers: None,
        text: None,
        messages: None,
        hit_share: None,
    }
}

/// Numbers of which there are so few different ones are told by their value.
const FEW_VALUES: u64 = 16;

/// How a unit compares with the one before it.
fn comparison(before: Option<u64>, now: Option<u64>) -> u64 {
    match before.zip(now) {
        Some((before, now)) if now < before => 0,
        Some((before, now)) if now == before => 1,
        Some(_) => 2,
        None => 3,
    }
}

/// All other formats: by the lengths of units, or the values of bytes.
fn describe_lengths(bytes: &[u8], format: Format) -> Result<Description, FormatError> {
    let lengths = if format == Format::Bytes { Vec::new() } else { format.unit_lengths(bytes)? };
    let text = matches!(format, Format::Lines | Format::JsonLines).then(|| text(bytes, &lengths));
    let messages = match format {
        Format::Messages(prefix) => Some(messages(bytes, prefix, &lengths)),
        _ => None,
    };
    let classes_in_order = unit_classes(bytes, format, lengths);
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
        meaning: None,
        sequence: None,
        numbers: None,
        text,
        messages,
        hit_share: None,
    })
}

/// Classes below it are counted in a table: all of varints and of bytes.
const SMALL: usize = 256;

/// The class of each unit, in order.
fn unit_classes(bytes: &[u8], format: Format, lengths: Vec<u64>) -> Vec<u64> {
    match format {
        Format::Bytes => bytes.iter().map(|&byte| u64::from(byte)).collect(),
        Format::Varint | Format::Whole => lengths,
        // Lines have hundreds of lengths, and what matters (a copy loop's turns, a buffer's class) goes by magnitude.
        _ => lengths.into_iter().map(|length| 1 << length.ilog2()).collect(),
    }
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
